"""Random small microdata, and what a reader of pandas would compute from it without this package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import maxent_cvx as mx

#: Values of one attribute: text, numbers, both, truth values; "ranked" becomes an ordered Categorical.
PALETTES = {
    "text": ["y", "x", "z"],
    "whole": [3, 1, 20],
    "real": [0.5, -1.0, 2.0],
    "mixed": [1, "a", 2.5],
    "truth": [True, False],
    "ranked": ["low", "mid", "high"],
}
#: Bucket names whose order as text, as numbers and of first appearance all differ.
BUCKETS = {"whole": [10, 2, 1, 3], "text": ["b10", "b2", "b1", "b3"]}


@st.composite
def microdata(draw: st.DrawFn, palettes: Sequence[str] = tuple(PALETTES), max_qi: int = 2) -> pd.DataFrame:
    """Draw a table with QI columns (A, B, ...), a sensitive column S and a bucket column K.

    1 to 4 buckets of 1 to 5 people; the QI columns share their values, so that a mix-up of two of
    them does not show in the labels.
    """
    kind_q, kind_s = draw(st.sampled_from(palettes)), draw(st.sampled_from(palettes))
    value_q, value_s = st.sampled_from(PALETTES[kind_q]), st.sampled_from(PALETTES[kind_s])
    columns = list("ABC"[: draw(st.integers(1, max_qi))])
    names = draw(st.permutations(BUCKETS[draw(st.sampled_from(sorted(BUCKETS)))]))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    people = [
        (*(draw(value_q) for _ in columns), draw(value_s), name)
        for name, size in zip(names, sizes, strict=False)
        for _ in range(size)
    ]
    frame = pd.DataFrame(people, columns=[*columns, "S", "K"])
    for column, kind in [*((column, kind_q) for column in columns), ("S", kind_s)]:
        if kind == "ranked":
            frame[column] = pd.Categorical(frame[column], categories=PALETTES[kind], ordered=True)
    return frame


def quasi(frame: pd.DataFrame) -> list[str]:
    """The QI columns of a drawn table."""
    return [column for column in "ABC" if column in frame]


def publish(frame: pd.DataFrame) -> mx.Release:
    """Publish a drawn table."""
    return mx.Release.from_buckets(frame, qi=quasi(frame), sa="S", bucket="K")


@st.composite
def assignments(draw: st.DrawFn, frame: pd.DataFrame) -> pd.DataFrame:
    """Another table with the same published data: sensitive values change hands within buckets (Definition 5.3)."""
    source = np.arange(len(frame))
    for name in frame["K"].unique():
        bucket = np.flatnonzero(frame["K"] == name)
        source[bucket] = draw(st.permutations(list(bucket)))
    return frame.assign(S=frame["S"].array.take(source))


@st.composite
def tables_and_assignments(
    draw: st.DrawFn, palettes: Sequence[str] = tuple(PALETTES)
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table, and one of the assignments that its release allows."""
    frame = draw(microdata(palettes))
    return frame, draw(assignments(frame))


def possible(frame: pd.DataFrame) -> set[tuple]:
    """The terms, in full: within a bucket, anybody could have had any of the sensitive values (Eq. (6))."""
    people = list(zip(*(frame[column] for column in quasi(frame)), strict=True))
    rows = list(zip(people, frame["S"], frame["K"], strict=True))
    return {(*q, s, k) for q, _, k in rows for _, s, other in rows if k == other}


def tally(frame: pd.DataFrame, columns: Sequence[str]) -> dict[tuple, int]:
    """Count the records of every combination of values that occurs in the columns."""
    counts: dict[tuple, int] = {}
    for row in zip(*(frame[column] for column in columns), strict=True):
        counts[row] = counts.get(row, 0) + 1
    return counts


def rank(column: pd.Series) -> dict[object, int]:
    """The order of a column's values: the Categorical's own, else numbers in order, then text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return {value: i for i, value in enumerate(column.cat.categories)}
    ordered = sorted(set(column), key=lambda value: (isinstance(value, str), value))
    return {value: i for i, value in enumerate(ordered)}


def tuples(index: pd.Index) -> list[tuple]:
    """The labels of an index, each as a tuple."""
    return list(index) if isinstance(index, pd.MultiIndex) else [(label,) for label in index]


def expand(by: Sequence[str], frame: pd.DataFrame) -> list[str]:
    """Write roles as the columns that play them, each column once."""
    roles = {"q": quasi(frame), "s": ["S"], "bucket": ["K"]}
    return list(dict.fromkeys(column for name in by for column in roles.get(name, [name])))


def project(labels: set[tuple], columns: Sequence[str], frame: pd.DataFrame) -> set[tuple]:
    """The parts of full labels (QI, S, K) that belong to some columns."""
    at = [[*quasi(frame), "S", "K"].index(column) for column in columns]
    return {tuple(label[i] for i in at) for label in labels}
