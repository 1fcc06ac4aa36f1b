"""Rules in files, and in the tables of other programs."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from typing import Any

import pandas as pd

from .. import arguments
from ..errors import RulesLeftOut, StatementError, TableError, listing, shown, unknown_name
from ..system.files import write_beside
from ..tables.columns import names
from .thresholds import exact

__all__ = ["SCORES", "read_items", "read_rules", "write_rules"]

#: The columns of a rule's published scores.
SCORES = ("support", "confidence")
#: What a file has to say of its rules, or else the reader.
NEEDED = ("qi", "sa", "support", "confidence")


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
        except json.JSONDecodeError as error:
            raise TableError(f"the first line of {str(path)!r} is no description of rules: {error}") from error
    for name in SCORES:
        if isinstance(held.get(name), str):  # a fraction
            held[name] = Fraction(held[name])
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
        table = pd.read_csv(
            path, skiprows=1 if held else 0, keep_default_na=False, na_values=[""], encoding="utf-8", dtype=str
        )
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise TableError(f"{str(path)!r} is no table of rules: {' '.join(str(error).split())}") from error
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
        several = ([one] if isinstance(one, str | int) else one for one in (held, said))
        held, said = (one if one is None else list(one) for one in several)
    return bool(held == said)


def read_items(rules: pd.DataFrame, qi: tuple[str, ...], sa: tuple[str, ...], separator: str) -> pd.DataFrame:
    """Read rules of items "attribute_value", as mlxtend has them, into a column an attribute.

    Warns
    -----
    RulesLeftOut
        If rules that are not of the form QI => SA say something of the sensitive attribute. Rules among QI say
        nothing that those who know everybody's QI do not know.
    """
    columns = ["antecedents", "consequents", *SCORES]
    if not isinstance(rules, pd.DataFrame) or (missing := [name for name in columns if name not in rules.columns]):
        found = shown(rules) if not isinstance(rules, pd.DataFrame) else f"a table without {', '.join(missing)}"
        raise TableError(f"what association_rules returns is expected, with {', '.join(columns)}, not {found}")
    known = {item: _read_item(item, (*qi, *sa), separator) for items in ("antecedents", "consequents")
             for some in rules[items] for item in some}  # fmt: skip
    kept, left_out = [], Counter[str]()
    for left, right, *scores in rules[columns].itertuples(index=False):
        given, then = dict(known[item] for item in left), dict(known[item] for item in right)
        if given.keys() <= set(qi) and then.keys() == set(sa):
            kept.append({**given, **then, **dict(zip(SCORES, scores, strict=True))})
        elif (given.keys() | then.keys()) & set(sa):
            left_out["sensitive values on the left" if given.keys() & set(sa) else "QI on the right"] += 1
    if left_out:
        kinds = ", ".join(f"{count} with {kind}" for kind, count in left_out.items())
        warnings.warn(f"{left_out.total()} rules are not read ({kinds}): only QI => SA is", RulesLeftOut, stacklevel=3)
    return pd.DataFrame(kept, columns=[*qi, *sa, *SCORES], dtype=object)


def _read_item(item: object, attributes: tuple[str, ...], separator: str) -> tuple[str, str]:
    """Read one item, "attribute_value"."""
    fits = [name for name in attributes if isinstance(item, str) and item.startswith(name + separator)]
    if len(fits) > 1:
        raise StatementError(
            f"the item {item!r} may be of {listing(fits)}; name items by another separator, "
            "pandas.get_dummies(..., prefix_sep='='), and pass separator='='"
        )
    for name in fits:
        return name, str(item)[len(name + separator) :]
    error = unknown_name(f"item 'attribute{separator}value' of {', '.join(attributes)}", item, [])
    raise StatementError(
        f"{str(error).partition(';')[0]}; name every attribute in qi or sa, and what stands between in separator="
    )
