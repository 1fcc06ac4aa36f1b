"""Generalised groups of a population: who is in which of them is not known, nor perhaps who is in any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..display import FirstRows
from ..errors import TableError, unknown_name
from ..tables.coding import distinct, factorize, ranges, sort_distinct, tally
from ..tables.columns import check_no_count, count_column, counted
from .base import View, attach
from .generalized import Hierarchies, coverage, label_of, read_hierarchies
from .showing import first_groups
from .storable import labels_of, positions, taken

__all__ = ["OUTSIDE", "GroupedRelease", "group_names", "population_groups"]

#: The sensitive value, and the bucket, of people of the population who are not in the release.
OUTSIDE = "(not in the release)"
#: Pairs of groups and QI tuples that are looked at at a time.
CHUNK = 20_000_000


class GroupedRelease(View):
    """Groups of a generalised release, and the population (a voter list) that its people are from; terms P(q, s, b).

    A term is possible if the group b covers q and holds s. People of the population who are not in the release have
    the value "(not in the release)", so that P(s | q) is the probability that somebody with q is in it and has s.

    Attributes
    ----------
    bucket : str
        The column of the groups.
    buckets : Index
        Their names, "Age=[20, 29], Sex=*".
    n_sb : csr_array
        Records of each value in each group, counts.
    cover : csr_array
        1 for the population's QI tuples that each group covers, shape (groups, QI tuples).

    Parameters
    ----------
    qi, sensitive : tuple of str
        Column names.
    quasi_identifiers : MultiIndex
        The population's distinct QI tuples.
    n_q : ndarray
        People of the population with each of them, counts.
    sensitive_values, buckets : Index
        The values and the groups of the release.
    n_sb, cover : csr_array
        As above, of the release alone.

    See Also
    --------
    Release.from_generalized : Makes one from tables.

    Examples
    --------
    Two records of a group of people in their twenties, and a voter list of three such people and a fourth:

    >>> import maxent_cvx as mx, pandas as pd
    >>> records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
    >>> voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    >>> release = mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)
    >>> release
    <GroupedRelease: 2 records in 1 groups, of a population of 4 people; 4 distinct (Age), 3 values of 'Disease'>
    >>> print(mx.MaxEnt(release).solve().conditional().round(3))
    Disease    Flu    HIV  (not in the release)
    Age
    21       0.333  0.333                 0.333
    24       0.333  0.333                 0.333
    28       0.333  0.333                 0.333
    45       0.000  0.000                 1.000
    """

    noun: ClassVar[str] = "release"
    stored_as: ClassVar[str] = "GroupedRelease"

    def __init__(
        self,
        qi: tuple[str, ...],
        sensitive: tuple[str, ...],
        quasi_identifiers: pd.MultiIndex,
        n_q: np.ndarray,
        sensitive_values: pd.Index,
        buckets: pd.Index,
        n_sb: sp.csr_array,
        cover: sp.csr_array,
    ) -> None:
        self.qi, self.sensitive, self.bucket = qi, sensitive, str(buckets.name)
        self.quasi_identifiers, self._n_q = quasi_identifiers, n_q
        outside = int(n_q.sum()) - int(n_sb.sum())
        if outside:
            row = sp.csr_array(([outside], ([0], [n_sb.shape[1]])), shape=(1, n_sb.shape[1] + 1))
            wider = sp.csr_array((n_sb.data, n_sb.indices, n_sb.indptr), shape=(n_sb.shape[0], n_sb.shape[1] + 1))
            n_sb = sp.csr_array(sp.vstack([wider, row], format="csr"))
            cover = sp.csr_array(sp.vstack([cover, sp.csr_array(np.ones((1, len(n_q))))], format="csr"))
            buckets = pd.Index([*buckets, OUTSIDE], name=buckets.name)
            sensitive_values = pd.Index([*sensitive_values, OUTSIDE], name=sensitive_values.name)
        self.sensitive_values, self.buckets, self.n_sb, self.cover = sensitive_values, buckets, n_sb, cover

    @property
    def n_q(self) -> np.ndarray:
        """People of the population with each QI tuple, counts."""
        return self._n_q

    @property
    def n_s(self) -> np.ndarray:
        """People of the population with each value, counts."""
        return np.asarray(self.n_sb.sum(axis=1))

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, groups."""
        return {**super().axes, "bucket": ((self.bucket,), self.buckets)}

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """People of every QI tuple in the population, and records of every value in every group."""
        s, b = self.n_sb.nonzero()
        index = self.quasi_identifiers if len(self.qi) > 1 else self.quasi_identifiers.get_level_values(0)
        n_sb = pd.Series(self.n_sb.data, attach(self.sensitive_values, s, self.buckets, b), name="N P(s,b)")
        return {("q",): pd.Series(self._n_q, index, name="N P(q)"), ("s", "bucket"): n_sb}

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms P(q, s, b) that can be non-zero: b covers q, and holds s.

        Returns
        -------
        dict
            Codes of "q", "s" and "bucket", one of each a term, sorted by bucket, then q, then s.

        Examples
        --------
        See :meth:`View.terms`.
        """
        by_bucket = self.n_sb.tocsc()
        b, q = self.cover.nonzero()
        width = np.diff(by_bucket.indptr)[b]
        start = by_bucket.indptr[b]
        at = ranges(start, width)
        found = {"q": np.repeat(q, width), "s": by_bucket.indices[at].astype(np.int64), "bucket": np.repeat(b, width)}
        order = np.lexsort((found["s"], found["q"], found["bucket"]))
        return {role: code[order].astype(np.int64) for role, code in found.items()}

    def members(self) -> sp.csr_array | None:
        """People of each QI tuple in each group, if that is known: if one group covers each, and is full.

        Returns
        -------
        csr_array or None
            Counts, shape (QI tuples, groups).

        Examples
        --------
        A release whose groups are known is a :class:`Release`; this one's are not, as the list has a third person:

        >>> import maxent_cvx as mx, pandas as pd
        >>> records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
        >>> voters = pd.DataFrame({"Age": [21, 24, 28]})
        >>> mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters).members() is None
        True
        """
        covered = np.asarray(self.cover @ self._n_q)
        if (covered != self.n_sb.sum(axis=0)).any() or (self.cover.sum(axis=0) != 1).any():
            return None
        return sp.csr_array((sp.diags_array(self._n_q.astype(float)) @ self.cover.T).astype(np.int64))

    def to_frames(self) -> dict[str, Any]:
        """Write the population, the values and the groups, and by their positions what each group holds and covers."""
        count = next(n for n in ("Count", "count", "_count", "__count") if n not in self.columns)
        (s, in_b), (b, q) = self.n_sb.nonzero(), self.cover.nonzero()
        return {
            "population": self.quasi_identifiers.to_frame(index=False).assign(**{count: self._n_q}),
            "values": self.sensitive_values.to_frame(index=False),
            "groups": self.buckets.to_frame(index=False),
            "held": pd.DataFrame({"value": s, "group": in_b, "records": self.n_sb.data}),
            "covered": pd.DataFrame({"group": b, "tuple": q}),
            "count": count,
        }

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Make the groups of a population again."""
        table = pd.DataFrame
        population, values, groups, held, covered, count = taken(
            frames, cls, population=table, values=table, groups=table, held=table, covered=table, count=str
        )
        if len(values.columns) != 1 or len(groups.columns) != 1:
            raise TableError("the values and the groups of a GroupedRelease are one column each")
        qi = tuple(name for name in population.columns if name != count)
        people, n_q = counted(population, {"qi": qi}, count, "the population")
        code, tuples = sort_distinct(people[list(qi)])
        if n_q is None or len(people) != len(tuples):
            raise TableError(f"the population of a GroupedRelease has a row a QI tuple, and their number in {count!r}")
        sizes = {"value": len(values), "group": len(groups)}
        s, in_b = positions(held, sizes, "what the groups hold")
        b, q = positions(covered, {"group": len(groups), "tuple": len(tuples)}, "what the groups cover")
        records = count_column(held["records"], "what the groups hold") if "records" in held.columns else None
        n_sb = tally(s, in_b, (len(values), len(groups)), records)
        ones = np.ones(len(b), dtype=np.int64)
        cover = sp.csr_array(tally(b, code[q], (len(groups), len(tuples)), ones).astype(float))
        name = labels_of(values.iloc[:, 0])
        at = np.argsort(code)
        return cls(qi, (str(name.name),), tuples, n_q[at], name, labels_of(groups.iloc[:, 0]), n_sb, cover)

    def _tables(self) -> Iterable[FirstRows]:
        return [first_groups(self.buckets, self.n_sb, self.cover, self.n_q, self.sensitive_values)]

    def __repr__(self) -> str:
        inside = self.n_sb.sum() - (self.n_sb[[-1]].sum() if OUTSIDE in self.buckets else 0)
        return (
            f"<GroupedRelease: {int(inside)} records in {len(self.buckets) - (OUTSIDE in self.buckets)} groups, of a "
            f"population of {self.n_records} people; {len(self.quasi_identifiers)} distinct ({', '.join(self.qi)}), "
            f"{self.n_sb.shape[0]} values of {', '.join(map(repr, self.sensitive))}>"
        )


def group_names(texts: pd.DataFrame) -> pd.Series:
    """Name the group of every record, "Age=[20, 29], Sex=*"; two groups that are written alike are numbered."""
    code, groups = sort_distinct(texts)
    names = [", ".join(f"{name}={cell}" for name, cell in zip(texts, group, strict=True)) for group in groups]
    again = pd.Series(names).groupby(names).cumcount()
    names = [f"{name} ({times + 1})" if times else name for name, times in zip(names, again, strict=True)]
    return pd.Series(np.array(names, dtype=object)[code], index=texts.index)


def population_groups(
    table: pd.DataFrame,
    group: pd.Series,
    qi: tuple[str, ...],
    sa: tuple[str, ...],
    population: pd.DataFrame,
    count: str | None,
    hierarchies: Mapping[str, object],
    each: np.ndarray | None = None,
) -> GroupedRelease:
    """Find whom of a population the groups of generalised records may hold.

    Parameters
    ----------
    table : DataFrame
        The records.
    group : Series
        The name of each one's group.
    qi, sa, population, count, hierarchies
        See :meth:`maxent_cvx.Release.from_generalized`.
    each : ndarray, optional
        How many people each record stands for.
    """
    people, alike = counted(population, {"qi": qi}, count, "the population")
    if count is not None and alike is None:
        raise unknown_name("column of the population (given as count)", count, people.columns)
    if count is None:
        check_no_count(people, {"qi": qi, "sa": sa}, "the population")
    b, buckets = factorize(group)
    first = np.unique(b, return_index=True)[1]
    cells = table[list(qi)].iloc[first]
    tuples, n_q, cover = groups_of(cells, people[list(qi)], alike, read_hierarchies(hierarchies))
    s, values = distinct(table[list(sa)])
    if OUTSIDE in values:
        raise TableError(
            f"{OUTSIDE!r} is a value of {sa[0]!r}, and stands for not being in the release; rename the value"
        )
    n_sb = tally(s, b, (len(values), len(buckets)), each)
    size, able = n_sb.sum(axis=0), cover @ n_q
    if (few := able < size).any():
        raise TableError(
            f"the group {buckets[int(few.argmax())]!r} holds {int(size[few][0])} records, and the population has "
            f"{int(able[few][0])} people for it: the records are of other people"
        )
    within = n_q[np.asarray(cover.sum(axis=0)) > 0].sum()
    if within < size.sum():
        raise TableError(f"there are {int(size.sum())} records, and {int(within)} people for them in the population")
    return GroupedRelease(qi, sa, tuples, n_q, values, buckets, n_sb, cover)


def groups_of(
    cells: pd.DataFrame, population: pd.DataFrame, count: np.ndarray | None, hierarchies: Hierarchies
) -> tuple[pd.MultiIndex, np.ndarray, sp.csr_array]:
    """Count the population's QI tuples, and find which of them each group covers.

    Parameters
    ----------
    cells : DataFrame
        A row a group, a column an attribute: generalised values.
    population : DataFrame
    count : ndarray, optional
        How many people each row of it stands for.
    hierarchies

    Raises
    ------
    TableError
        If a generalised value stands for nobody, or a group for nobody's combination of values.
    """
    code, tuples = sort_distinct(population)
    n_q = np.bincount(code, count, len(tuples)).astype(np.int64)
    masks = []
    for i, attribute in enumerate(cells):
        labels = np.array([label_of(cell) for cell in cells[attribute]], dtype=object)
        _, first, number = np.unique(labels, return_index=True, return_inverse=True)
        nodes = hierarchies.get(str(attribute), {})
        level = coverage([cells[attribute].iloc[at] for at in first], tuples.levels[i], str(attribute), nodes)
        masks.append((number, level, np.asarray(tuples.codes[i])))
    step, parts = max(CHUNK // max(len(tuples), 1), 1), []
    for low in range(0, len(cells), step):
        inside = np.ones((min(step, len(cells) - low), len(tuples)), dtype=bool)
        for number, level, codes in masks:
            inside &= level[number[low : low + step]][:, codes]
        if (nobody := ~inside.any(axis=1)).any():
            group = cells.iloc[low + int(nobody.argmax())]
            name = ", ".join(f"{attribute}={label_of(cell)}" for attribute, cell in group.items())
            raise TableError(f"nobody in the population is covered by the group {name!r}; the records are of others")
        parts.append(sp.csr_array(inside.astype(float)))
    return tuples, n_q, sp.csr_array(sp.vstack(parts, format="csr"))
