"""Mondrian: generalised groups of k records, cut at medians (LeFevre, DeWitt and Ramakrishnan, 2006)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from .._utils.errors import TableError
from .._utils.tables import Microdata, check_columns, factorize
from .._utils.validation import check_int
from ..releases.generalized import label_of
from ..releases.release import Release
from ..worlds.worst_case import Safety
from .anatomy import SafeGroups


@dataclass(frozen=True, eq=False)
class Scales:
    """The QI of records as positions on scales."""

    codes: np.ndarray  # (records, attributes)
    levels: list[pd.Index]  # the distinct values of each attribute, sorted
    place: np.ndarray  # (records, attributes): numbers and dates, or the ranks of other values
    width: np.ndarray  # the range of each attribute in the whole table

    @classmethod
    def of(cls, table: pd.DataFrame, qi: tuple[str, ...]) -> Self:
        """Read the columns of a table."""
        columns = [factorize(table[name]) for name in qi]
        place = np.column_stack([_positions(level)[code] for code, level in columns])
        width = np.maximum(np.ptp(place, axis=0), 1e-300)
        return cls(np.column_stack([code for code, _ in columns]), [level for _, level in columns], place, width)

    def cuts(self, records: np.ndarray, k: int) -> Iterator[np.ndarray]:
        """Yield the cuts of a group with k records on both sides, in the order of trial, as masks of the lower side."""
        if len(records) < 2 * k:
            return
        places = self.place[records]
        for attribute in np.argsort(-np.ptp(places, axis=0) / self.width, kind="stable"):
            column = places[:, attribute]
            median = np.median(column)
            for low in (column <= median, column < median):  # ties at the median are on the lower or the upper side
                if k <= low.sum() <= len(records) - k:
                    yield low


def has_scale(level: pd.Index) -> bool:
    """Return whether the values of an attribute are numbers, except booleans and decimals, or times."""
    # Arrow's dates are objects of the datetime module, which are no ends of intervals.
    return level.dtype.kind in "iufM" and level.dtype.type is not date


def _positions(level: pd.Index) -> np.ndarray:
    """Return the positions of values on their scale; ranks if they have none."""
    if not has_scale(level):
        return np.arange(len(level), dtype=float)
    return np.asarray(
        (level - level[0]) / pd.Timedelta(days=1) if isinstance(level, pd.DatetimeIndex) else level, float
    )


def mondrian(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    k: int,
    l: int | None = None,
    id: str | None = None,
    safe: tuple[float, int] | None = None,
) -> Release:
    """Publish a table with generalised QI, so that each combination of QI occurs in at least k records.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names.
    k : int
        Minimum number of people per group (k-anonymity).
    l : int, optional
        Minimum number of different sensitive values per group (distinct l-diversity).
    id : str, optional
        The column of pseudonyms, for a :class:`maxent_cvx.ReleaseSeries`.
    safe : tuple of float and int, optional
        (c, k): no value has a probability of c or more for an adversary who knows k basic implications, see
        :func:`maxent_cvx.attacks.worst_case`. This holds against an adversary who knows the release alone, and not
        against one who also knows the algorithm, see the notes.

    Returns
    -------
    Release
        With generalised QI, see :meth:`maxent_cvx.Release.from_generalized`.

    Raises
    ------
    TableError
        If the whole table has fewer than k records or l values, or is not safe as one group.
    UnknownName
        If the table lacks a column.

    Notes
    -----
    `l` and `safe` are not kept against an adversary who also knows this algorithm, its parameters and everybody's
    exact quasi-identifiers. If a group was not cut, this adversary infers that a cut would have violated the condition
    (the minimality attack), and a probability can then be c or more without any implication.
    :func:`maxent_cvx.attacks.minimality` computes these probabilities.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame(
    ...     {"Age": [21, 25, 38, 44, 52, 60], "Disease": ["Flu", "HIV", "Flu", "Cancer", "HIV", "Flu"]}
    ... )
    >>> release = mx.anonymize.mondrian(people, qi="Age", sa="Disease", k=3, l=2)
    >>> print(mx.MaxEnt(release).solve().conditional().round(2))
    Disease   Cancer   Flu   HIV
    Age
    [21, 38]    0.00  0.67  0.33
    [44, 60]    0.33  0.33  0.33

    If the second person is known not to have HIV, the flu becomes certain. With `safe` the table is not cut:

    >>> mx.attacks.worst_case(release, k=1)["disclosure"].item()
    1.0
    >>> mx.anonymize.mondrian(people, qi="Age", sa="Disease", k=3, l=2, safe=(0.9, 1)).buckets.to_list()
    ['Age=[21, 60]']

    A group is (0.7, 0)-safe if no value has a share of 0.7 or more. This group was not cut because a half would not
    have been safe, and an adversary who knows the algorithm infers more about the people of age 21:

    >>> from functools import partial
    >>> five = pd.DataFrame({"Age": [21, 21, 35, 35, 35], "Disease": ["Flu", "Flu", "HIV", "HIV", "Flu"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="Disease", k=2, safe=(0.7, 0))
    >>> release = algorithm(five)
    >>> mx.attacks.worst_case(release, k=0)["disclosure"].item()
    0.6
    >>> mx.attacks.minimality(release, algorithm, population=five).table.loc[21, "Flu"].item()
    0.75
    """
    if id is not None:
        check_columns(table, {"id": (id,)}, "the table")
    published = mondrian_table(table, qi=qi, sa=sa, k=k, l=l, safe=safe)
    if id is not None:
        published[id] = table[id]
    release = Release.from_generalized(published, qi=qi, sa=sa, id=id)
    assert isinstance(release, Release)
    return release


def mondrian_table(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    k: int,
    l: int | None = None,
    safe: tuple[float, int] | None = None,
) -> pd.DataFrame:
    """Generalise a table as :func:`mondrian` does.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names.
    k, l : int
        As in :func:`mondrian`.
    safe : tuple of float and int, optional
        (c, k) as in :func:`mondrian`, whose notes describe the adversary.

    Returns
    -------
    DataFrame
        The QI and sensitive columns, indexed like the table. Numbers and dates become the closed Interval of their group,
        other values the set of values of their group, or "*" if these are all values; a common value of the group is kept.
        In a file a set is "{a, b}", as :meth:`maxent_cvx.Release.from_generalized` reads it.

    Raises
    ------
    TableError
        If the whole table has fewer than k records or l values, or is not safe as one group.
    UnknownName
        If the table lacks a column.

    Notes
    -----
    A group is cut at the median of the attribute with the widest range, relative to the whole table, or else of the next
    attribute, if both halves have k records and l values (the strict variant), and if all groups together are then
    (c, k)-safe, since implications may link people of different groups. Values that are neither numbers nor dates are
    ordered by name, or by category.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame(
    ...     {"Age": [21, 25, 38, 44, 52, 60], "Disease": ["Flu", "HIV", "Flu", "Cancer", "HIV", "Flu"]}
    ... )
    >>> print(mx.anonymize.mondrian_table(people, qi="Age", sa="Disease", k=3, l=2))
            Age Disease
    0  [21, 38]     Flu
    1  [21, 38]     HIV
    2  [21, 38]     Flu
    3  [44, 60]  Cancer
    4  [44, 60]     HIV
    5  [44, 60]     Flu
    """
    data = Microdata.of_people(table, qi, sa)
    if check_int(k, "k", 1, error=TableError) > len(table):
        raise TableError(f"k must be at most {len(table)}, the number of records in the table, got {k}")
    s, values = data.values()
    if l is not None and check_int(l, "l", 1, error=TableError) > len(values):
        raise TableError(f"l must be at most {len(values)}, the number of sensitive values in the table, got {l}")
    scales = Scales.of(table, data.qi)
    pending, groups = [np.arange(len(table))], []
    safety = Safety.read(safe)
    safe_groups = None if safety is None else SafeGroups(s, safety)

    def allowed(halves: list[np.ndarray]) -> bool:
        enough = l is None or all(len(np.unique(s[half])) >= l for half in halves)
        return enough and (safe_groups is None or safe_groups.cut(halves))

    while pending:  # sequential: whether a cut is safe depends on all groups so far
        records = pending.pop()
        for low in scales.cuts(records, k):
            if allowed(halves := [records[low], records[~low]]):
                pending += halves
                break
        else:
            groups.append(records)
    columns = {name: np.empty(len(table), dtype=object) for name in data.qi}
    for records in groups:
        for i, name in enumerate(data.qi):
            cell = _cell(np.unique(scales.codes[records, i]), scales.levels[i])
            columns[name][records] = [cell] * len(records)
    return pd.DataFrame(columns, table.index).assign(**{name: table[name] for name in data.sa})


class ValueSet(frozenset[object]):
    """The values of a group; their text, as in a file, is one that is read."""

    @cached_property
    def _text(self) -> str:
        return label_of(self)

    def __str__(self) -> str:
        return self._text


def _cell(codes: np.ndarray, level: pd.Index) -> object:
    """Generalise the values of a group to one cell."""
    if len(codes) == 1:
        value = level[codes[0]]
        return float(value) if isinstance(value, np.floating) else value  # as the ends of intervals
    if has_scale(level):
        return pd.Interval(level[codes[0]], level[codes[-1]], closed="both")
    return "*" if len(codes) == len(level) else ValueSet(level[codes])
