"""Rules in CSV files, with a first line that says what they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from typing import Any

import pandas as pd

from ..errors import StatementError, TableError, arguments, listing, shown
from ..system.files import write_beside
from ..tables.columns import names
from .scores import SCORES
from .thresholds import exact

__all__ = ["ARGUMENTS", "read_rules", "write_rules"]

#: What a file has to say of its rules, or else the reader.
NEEDED = ("qi", "sa", "support", "confidence")
#: All that a file may say of them: the arguments of RuleSet, without the table.
ARGUMENTS = (*NEEDED, "strict", "complete", "attributes")


def write_rules(table: pd.DataFrame, said: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write a first line that says what the rules are, then a row a rule.

    Parameters
    ----------
    table : DataFrame
        A row a rule; the empty text in a column of an attribute that is not set.
    said : dict
        By the names of RuleSet's arguments; ``qi`` and ``sa`` as lists, thresholds exactly.
    path : str or path-like
    """
    for column in (*said["qi"], *said["sa"]):
        if (table[column] == "").any():
            raise TableError(
                f"the empty text is a value of {column!r}, which a file cannot tell from an attribute that is not set; "
                "give that value a name"
            )
    first = {name: _written(value) if name in SCORES else value for name, value in said.items()}
    text = f"# {json.dumps(first)}\n{table.to_csv(index=False)}"
    write_beside(path, lambda draft: draft.write_text(text, encoding="utf-8"))


def read_rules(path: str | PathLike[str], said: dict[str, Any]) -> dict[str, Any]:
    """Read the arguments of a RuleSet from a file, with those that a user adds.

    Raises
    ------
    TableError
        If there is no such file.
    StatementError
        If an argument is missing, or is not what the file says.
    """
    for role in ("qi", "sa"):
        if said.get(role) is not None:
            names(said[role], role)
    first = arguments.text_of_file(path, "path").partition("\n")[0]
    held: dict[str, Any] = {}
    if first.startswith("# {"):
        try:
            held = json.loads(first[2:])
            for name in SCORES:
                if isinstance(held.get(name), str):
                    held[name] = Fraction(held[name])
        except (ValueError, ZeroDivisionError, RecursionError) as error:
            reason = " ".join(str(error).split())
            raise TableError(f"the first line of {str(path)!r} does not describe rules: {reason}") from error
        if unknown := held.keys() - set(ARGUMENTS):
            raise TableError(
                f"the first line of {str(path)!r} describes rules by {listing(sorted(unknown))}; expected are "
                f"{listing(ARGUMENTS, 20)}"
            )
    for name, value in said.items():
        if name in held and not _agree(name, held[name], value):
            convention = (
                ": rules that were mined by >= are other rules than those mined by >, and so are the patterns that are "
                "no rules"
                if name == "strict"
                else ""
            )
            raise StatementError(
                f"{str(path)!r} says {name}={held[name]!r}, and {name}={shown(value)} is asked for{convention}; "
                "leave it out"
            )
    told = held | said
    if missing := [name for name in NEEDED if name not in told]:
        raise StatementError(
            f"{str(path)!r} does not say what {listing(missing)} of its rules is; pass it: {missing[0]}=..."
        )
    # An empty cell is an attribute that is not set; "NA" and "007" are values, whatever they look like.
    try:
        rows = pd.read_csv(
            path, skiprows=1 if held else 0, header=None, keep_default_na=False, na_values=[""], encoding="utf-8",
            dtype=str,
        )  # fmt: skip
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise TableError(f"{str(path)!r} is no table of rules: {' '.join(str(error).split())}") from error
    header = rows.iloc[0]  # which pandas would make different, Gender and Gender.1
    if (twins := header[header.notna() & header.duplicated()]).size:
        raise TableError(f"{str(path)!r} has more than one column named {listing(twins.unique())}; rename all but one")
    table = rows[1:].set_axis(pd.Index(header.fillna("").tolist()), axis=1).reset_index(drop=True)
    for name in (name for name in SCORES if name in table):
        table[name] = pd.to_numeric(table[name], errors="coerce").astype(float)
    return {"table": table, **told}


def _written(threshold: Fraction) -> float | str:
    """A threshold as a number if that says it exactly, else as a fraction."""
    return float(threshold) if Fraction(str(float(threshold))) == threshold else str(threshold)


def _agree(name: str, held: Any, said: Any) -> bool:
    """Whether what a user says is what a file says; that some rules are not all can be said of any."""
    if name in SCORES:
        return exact(held, name) == exact(said, name)
    if name == "complete":
        return bool(held) or not said
    if name in ("qi", "sa", "attributes"):
        lists = ([one] if isinstance(one, str | int) else one for one in (held, said))
        held, said = (one if one is None else list(one) for one in lists)
    return bool(held == said)
