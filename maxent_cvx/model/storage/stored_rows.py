"""Rows in a file: their coefficients as one long table, everything else of a block beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import TableError
from ...terms.penalty import Penalty
from ...terms.rows import Rows
from ...views import View
from .labels import index_of
from .stored_views import read_value, write_value

__all__ = ["Blocks", "read_blocks", "write_blocks"]

#: Fields of :class:`Rows` that are not stored as they are: in the long table, by their levels, or not at all.
APART = ("matrix", "index", "typed", "view")
#: The field of soft rows, and what it is made of, each a number, a number a row, or None.
PENALTY, COSTS = "penalty", [field.name for field in dataclasses.fields(Penalty)]
#: Blocks in a file: the long table of coefficients, the table of what each row has, and what each block has.
Blocks = tuple[pd.DataFrame, pd.DataFrame, list[dict[str, Any]]]


def write_blocks(blocks: Sequence[Rows]) -> Blocks:
    """Write rows down; every field of :class:`Rows` that holds a number a row is a column of the second table.

    Raises
    ------
    TableError
        If a label of a row is of a type that would not come back as it is.
    """
    entries, numbers, said = [], [], []
    for rows in blocks:
        entries.append(_entries(rows))
        own = {field.name: getattr(rows, field.name) for field in dataclasses.fields(rows) if field.name not in APART}
        costs = own.pop(PENALTY)
        own |= {f"{PENALTY} {name}": getattr(costs, name, None) for name in COSTS}
        arrays = {name: value for name, value in own.items() if isinstance(value, np.ndarray)}
        if odd := [
            name for name, value in arrays.items() if value.shape != (len(rows),) or value.dtype.kind not in "fiub"
        ]:
            raise TableError(
                f"{odd[0]} of {rows.label!r} is not a number for each row, which no file of a model can hold"
            )
        numbers.append(pd.DataFrame(arrays).astype(float))
        said.append(
            {
                "rows": len(rows),
                "entries": len(entries[-1]),
                "arrays": {name: str(value.dtype) for name, value in arrays.items()},
                "index": None if rows.index is None else _index_parts(rows.index, rows.label),
                "typed": None if rows.typed is None else [str(a) for a, _ in rows.typed],
                "of_view": rows.view is not None,
                "fields": {k: write_value(v, f"{k} of {rows.label}") for k, v in own.items() if k not in arrays},
            }
        )
    empty = pd.DataFrame(
        {"row": np.empty(0, int), "term": np.empty(0, int), "coefficient": np.empty(0), "typed": np.empty(0, int)}
    )
    starts = np.cumsum([0, *(len(rows) for rows in blocks)])
    shifted = [one.assign(row=one["row"] + start) for one, start in zip(entries, starts, strict=False)]
    sides = pd.concat(numbers, ignore_index=True) if numbers else pd.DataFrame({"low": np.empty(0)})
    return pd.concat([empty, *shifted], ignore_index=True), sides, said


def read_blocks(stored: Blocks, n_terms: int, view: View) -> Iterator[Rows]:
    """Make the rows again that :func:`write_blocks` wrote down, one block after the other."""
    entries, numbers, said = stored
    row = entry = 0
    for one in said:
        first, row = row, row + one["rows"]
        start, entry = entry, entry + one["entries"]
        own = entries.iloc[start:entry]
        place, term, a, typed = (own[name].to_numpy() for name in ("row", "term", "coefficient", "typed"))
        kept = (typed < 0) | (a != 0)  # a coefficient that was typed and is below the smallest number has no entry
        indptr = np.concatenate([[0], np.cumsum(np.bincount(place[kept] - first, minlength=one["rows"]))])
        matrix = sp.csr_array((a[kept], term[kept], indptr), shape=(one["rows"], n_terms))
        matrix.check_format()  # SciPy computes with positions outside of the matrix, and reads anything there
        table = numbers.iloc[first:row]
        yield Rows(
            matrix=matrix,
            index=None if one["index"] is None else _index(one["index"]),
            typed=None if one["typed"] is None else _typed(one["typed"], term, typed),
            view=view if one["of_view"] else None,
            **_soft(
                {name: table[name].to_numpy().astype(dtype) for name, dtype in one["arrays"].items()}
                | {name: read_value(value) for name, value in one["fields"].items()}
            ),
        )


def _soft(fields: dict[str, Any]) -> dict[str, Any]:
    """Make the penalty of soft rows again from its numbers."""
    costs = {name: fields.pop(f"{PENALTY} {name}") for name in COSTS}
    return {**fields, PENALTY: None if all(one is None for one in costs.values()) else Penalty(**costs)}


def _entries(rows: Rows) -> pd.DataFrame:
    """The coefficients of a block, row by row; of a row as it was typed, also which of the different ones each is."""
    place = np.repeat(np.arange(len(rows)), np.diff(rows.matrix.indptr))
    found = pd.DataFrame({"row": place, "term": rows.matrix.indices, "coefficient": rows.matrix.data, "typed": -1})
    if rows.typed is None:
        return found
    number = np.repeat(np.arange(len(rows.typed)), [len(terms) for _, terms in rows.typed])
    terms = np.concatenate([np.empty(0, dtype=int), *(terms for _, terms in rows.typed)])
    of_term = pd.Series(number, index=terms)
    found["typed"] = of_term.reindex(found["term"], fill_value=-1).to_numpy()
    lost = np.setdiff1d(terms, found["term"])
    gone = pd.DataFrame({"row": 0, "term": lost, "coefficient": 0.0, "typed": of_term.reindex(lost).to_numpy()})
    return pd.concat([found, gone], ignore_index=True) if len(gone) else found


def _typed(written: list[str], term: np.ndarray, typed: np.ndarray) -> tuple[tuple[Fraction, np.ndarray], ...]:
    """The different coefficients of a row, and the terms that each is of."""
    return tuple((Fraction(a), np.sort(term[typed == i])) for i, a in enumerate(written))


def _index_parts(index: pd.Index, label: str) -> dict[str, Any]:
    """Write the names of rows down, a column a level."""
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    frame = pd.DataFrame({str(i): pd.Series(level.array, dtype=level.dtype) for i, level in enumerate(levels)})
    names = write_value(list(index.names), f"names of {label}")
    return {
        "labels": write_value(frame, f"names of {label}"),
        "names": names,
        "levels": isinstance(index, pd.MultiIndex),
    }


def _index(parts: dict[str, Any]) -> pd.Index:
    """Make the names of rows again."""
    frame, names = read_value(parts["labels"]), read_value(parts["names"])
    if parts["levels"]:
        return pd.MultiIndex.from_arrays([index_of(frame[name]) for name in frame], names=names)
    return index_of(frame["0"]).rename(names[0])
