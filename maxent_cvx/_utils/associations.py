"""Mining of associations between QI values and the sensitive attribute.

An association Q => S ("positive") has confidence P(S | Q) and support n(Q, S); Q => not S
("negative") has confidence 1 - P(S | Q) and support n(Q, not S). Q sets some of the QI attributes.
(Privacy-MaxEnt, section 4.4.)
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .errors import StatementError, TableError, pluralize, short_repr
from .formatting import MOST_ROWS, ReprMixin, TablePreview, format_value
from .tables import Microdata, as_list, densely, names, places_of
from .validation import check_bool, check_int, is_several

# The lattice of QI patterns: records counted over every subset of the QI attributes, level by level.
#
# A pattern Q sets some of the attributes. A decision that applies to a pattern and to all patterns that set more
# attributes (for example "too few records") closes the pattern: nothing below it is counted (the Apriori principle).


@dataclass(frozen=True, eq=False)
class Cube:
    """Records counted over one subset of the QI attributes."""

    attributes: tuple[int, ...]  # positions of the attributes in `qi`
    group: np.ndarray
    first: np.ndarray  # one per pattern: a QI tuple that matches it
    counts: np.ndarray  # shape (patterns, columns): the counts, summed over the pattern's tuples
    closed: np.ndarray  # shape (patterns, kinds): closed by a pattern that sets fewer attributes
    parents: Mapping[tuple[int, ...], np.ndarray]

    def __len__(self) -> int:
        return len(self.first)


def cubes(
    qi: Sequence[str],
    tuples: pd.MultiIndex,
    counts: np.ndarray,
    closes: Callable[[Cube], np.ndarray],
    sizes: Iterable[int] | None = None,
) -> Iterator[Cube]:
    """Count over the subsets of the attributes, small ones first; subsets of a size are in order of their names."""
    sizes = set(range(1, len(qi) + 1)) if sizes is None else set(sizes)
    by_name = sorted(range(len(qi)), key=qi.__getitem__)
    everything = np.zeros(len(tuples), dtype=np.int32)
    above: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    for size in range(1, max(sizes) + 1):
        level: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        for subset in combinations(by_name, size):
            parents = [subset[:i] + subset[i + 1 :] for i in range(size)] if size > 1 else []
            if any(parent not in above for parent in parents):
                continue
            group, first = _split(above[subset[:-1]][0] if parents else everything, tuples, subset[-1])
            closed, at = np.zeros((len(first), 1), dtype=bool), {}
            for parent in parents:
                at[parent] = above[parent][0][first]
                closed = closed | above[parent][1][at[parent]] | (at[parent] < 0)[:, None]
            out = np.asarray(closed.all(axis=1))
            if out.any():  # the remaining patterns are renumbered; -1 stays -1
                number = np.append(np.where(out, -1, np.cumsum(~out) - 1), -1)
                group, first = number[group].astype(np.int32), first[~out]
                closed, at = closed[~out], {parent: of[~out] for parent, of in at.items()}
            if not len(first):
                continue
            inside = group >= 0
            where = (np.ones(inside.sum(), dtype=counts.dtype), (group[inside], np.flatnonzero(inside)))
            sums = sp.csr_array(where, shape=(len(first), len(tuples))) @ counts
            cube = Cube(subset, group, first, np.asarray(sums), closed, at)
            if size in sizes:
                yield cube
            after = closed | closes(cube)
            if not after.all():
                done = after.all(axis=1)
                level[subset] = (np.where(inside & ~done[group], group, -1).astype(np.int32), after)
        above = level


def sizes_of(attributes: int | Iterable[int] | None, n_attributes: int) -> list[int]:
    """Return the permitted numbers of QI attributes in a pattern; None permits any number."""
    sizes = list(range(1, n_attributes + 1))
    if attributes is None:
        return sizes
    requested = as_list(attributes)
    whole_ones = all(isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in requested)
    if not requested or not whole_ones or not set(requested) <= set(sizes):
        raise StatementError(
            f"attributes={short_repr(attributes)}: an association can set 1 to {n_attributes} of the QI attributes"
        )
    return sorted({int(size) for size in requested})


def _split(group: np.ndarray, tuples: pd.MultiIndex, attribute: int) -> tuple[np.ndarray, np.ndarray]:
    """Split patterns by one more attribute; return the pattern of each QI tuple, and one tuple of each pattern."""
    inside = np.flatnonzero(group >= 0)
    size = len(tuples.levels[attribute])
    finer = np.full(len(group), -1, dtype=np.int32)
    key = group[inside].astype(np.int64) * size + np.asarray(tuples.codes[attribute])[inside]
    finer[inside] = number = densely(key)
    first = np.empty(int(number.max(initial=-1)) + 1, dtype=np.int64)
    first[number[::-1]] = inside[::-1]
    return finer, first


# The members and the names of patterns.


def members(mined: Sequence[Cube], cube: np.ndarray, pattern: np.ndarray, n_tuples: int) -> sp.csr_array:
    """Mark which distinct QI tuples match each of the given patterns, shape (patterns, tuples)."""
    rows, columns = [np.empty(0, dtype=int)], [np.empty(0, dtype=int)]
    for i in np.unique(cube):
        at = np.flatnonzero(cube == i)
        which, tuples = places_of(mined[i].group, pattern[at])
        rows.append(at[which])
        columns.append(tuples)
    where = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.ones(len(where[0])), where), shape=(len(cube), n_tuples))


def pattern_names(
    qi: Sequence[str], tuples: pd.MultiIndex, mined: Sequence[Cube], cube: np.ndarray, pattern: np.ndarray
) -> np.ndarray:
    """Return the names of patterns, such as "Gender=male, Degree=college"."""
    names = np.empty(len(cube), dtype=object)
    values = [
        np.array([f"{name}={format_value(value)}" for value in level], dtype=object)
        for name, level in zip(qi, tuples.levels, strict=True)
    ]
    for i in np.unique(cube):
        at = np.flatnonzero(cube == i)
        first = mined[i].first[pattern[at]]
        texts = [values[j][np.asarray(tuples.codes[j])[first]] for j in mined[i].attributes]
        names[at] = texts[0]
        for text in texts[1:]:
            names[at] = names[at] + ", " + text
    return names


@dataclass(frozen=True, eq=False)
class Associations(ReprMixin):
    """All associations with enough support, positive and negative, strongest first.

    Order: confidence, then support, both descending, then fewer attributes, then names (attribute
    names, their values, the sensitive value; those of a Categorical in the order of its categories). The first K
    associations are among the first K + 1.

    Attributes
    ----------
    qi, sensitive : tuple of str
        The mined attributes.
    min_support : int
        The smallest permitted support of an association, in records.
    tuples, sensitive_values : MultiIndex, Index
        The distinct QI tuples and sensitive values of the records.
    n_tuple, n_value : ndarray
        Numbers of records with each distinct QI tuple, and with each sensitive value.
    cubes : tuple of Cube
        The records counted over those subsets of the attributes that have enough support.
    has_negative : bool
        Whether associations Q => not S were mined.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> mined = mx.mine_associations(hospital, qi="Gender", sa="Disease", min_support=2)
    >>> len(mined.positive), len(mined.negative)
    (3, 10)
    >>> print(mined.table(positive=1, negative=1))
                                   rule  attributes  confidence  support
    0                Gender=male => Flu           1         0.5        3
    1  Gender=male => not Breast Cancer           1         1.0        6
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    min_support: int
    tuples: pd.MultiIndex
    sensitive_values: pd.Index
    n_tuple: np.ndarray
    n_value: np.ndarray
    cubes: tuple[Cube, ...]
    has_negative: bool = True

    @cached_property
    def positive(self) -> np.ndarray:
        """Ranked Q => S: a record array of (cube, group, s, n_q, support)."""
        return self._rank(negative=False)

    @cached_property
    def negative(self) -> np.ndarray:
        """Ranked Q => not S: a record array of (cube, group, s, n_q, support)."""
        if not self.has_negative:
            raise StatementError("only positive associations were mined; mine again with negative=True")
        return self._rank(negative=True)

    def _rank(self, negative: bool) -> np.ndarray:
        """Return the sorted associations of one sign."""
        parts = [np.empty(0, dtype=RANKED)]
        for i, cube in enumerate(self.cubes):
            n_q = cube.counts.sum(axis=1)
            support = n_q[:, None] - cube.counts if negative else cube.counts
            group, s = np.nonzero(support >= self.min_support)
            part = np.empty(len(group), dtype=RANKED)
            part["cube"], part["group"], part["s"] = i, group, s
            part["n_q"], part["support"] = n_q[group], support[group, s]
            parts.append(part)
        ranked = np.concatenate(parts)
        # Cubes are in the order of (number of attributes, names), and groups and values are sorted, so that the
        # position decides the last three keys. Equal fractions divide to equal floats, so that ties are preserved.
        order = np.lexsort((np.arange(len(ranked)), -ranked["support"], -(ranked["support"] / ranked["n_q"])))
        return ranked[order]

    def top(self, positive: int | None, negative: int | None) -> Iterator[tuple[np.ndarray, bool]]:
        """Yield the strongest associations of each sign; None selects all of them."""
        for sign, number, ranked in (("positive", positive, self.positive), ("negative", negative, self.negative)):
            if number is not None and check_int(number, sign, 0) > len(ranked):
                raise StatementError(
                    f"{number} {sign} associations are requested, but only {len(ranked)} have a support of "
                    f"{self.min_support} records or more; request fewer, or lower the minimum support"
                )
            yield ranked[:number], sign == "negative"

    def members(self, ranked: np.ndarray) -> sp.csr_array:
        """Mark which distinct QI tuples match each association, shape (associations, tuples)."""
        return members(self.cubes, ranked["cube"], ranked["group"], len(self.tuples))

    def first(self, ranked: np.ndarray) -> np.ndarray:
        """Return the position of one distinct QI tuple that matches each association."""
        starts = np.cumsum([0, *map(len, self.cubes)])
        first_tuples = np.concatenate([np.empty(0, dtype=np.int64), *(cube.first for cube in self.cubes)])
        return first_tuples[starts[ranked["cube"]] + ranked["group"]]

    def table(self, positive: int | None = None, negative: int | None = None) -> pd.DataFrame:
        """Return a table of the strongest associations."""
        parts = [self._listed(ranked, is_negative) for ranked, is_negative in self.top(positive, negative)]
        return pd.concat(parts, ignore_index=True)

    def _listed(self, ranked: np.ndarray, is_negative: bool) -> pd.DataFrame:
        """Return a table of some associations of one sign."""
        condition, value = self.names(ranked)
        sizes = np.array([len(cube.attributes) for cube in self.cubes], dtype=int)[ranked["cube"]]
        return pd.DataFrame(
            {
                "rule": condition + (" => not " if is_negative else " => ") + value,
                "attributes": sizes,
                "confidence": ranked["support"] / ranked["n_q"],
                "support": ranked["support"],
            }
        )

    def first_rows(self, positive: int | None = None, negative: int | None = None) -> TablePreview:
        """Return a preview of the strongest associations, the given number of each sign, positive ones first."""
        lists = [(self.positive[:positive], False)]
        if self.has_negative:
            lists.append((self.negative[:negative], True))
        n_shown = MOST_ROWS // len(lists)
        first = pd.concat([self._listed(ranked[:n_shown], sign) for ranked, sign in lists], ignore_index=True)
        return TablePreview(first, "associations", sum(len(ranked) for ranked, _ in lists))

    def _tables(self) -> Iterable[TablePreview]:
        return [self.first_rows()]

    def __repr__(self) -> str:
        signs = [f"{len(self.positive)} positive"] + [f"{len(self.negative)} negative"] * self.has_negative
        return (
            f"<Associations: {' and '.join(signs)} of ({', '.join(self.qi)}) => {', '.join(self.sensitive)}, each with "
            f"a support of at least {pluralize(self.min_support, 'record')} of {int(self.n_tuple.sum())}>"
        )

    def names(self, ranked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the name of each association's condition ("Gender=male, Degree=college"), and its sensitive value."""
        conditions = pattern_names(self.qi, self.tuples, self.cubes, ranked["cube"], ranked["group"])
        return conditions, value_names(self.sensitive, self.sensitive_values)[ranked["s"]]


#: One ranked association: the combination of QI values, the sensitive value, and the counts.
RANKED = np.dtype([("cube", "i4"), ("group", "i8"), ("s", "i4"), ("n_q", "i8"), ("support", "i8")])


def value_names(sensitive: Sequence[str], values: pd.Index) -> np.ndarray:
    """Return names of the sensitive values: "Flu", or for several attributes "Disease=Flu, Salary=high"."""
    if not isinstance(values, pd.MultiIndex):
        return np.array([format_value(value) for value in values], dtype=object)
    texts = [
        ", ".join(f"{name}={format_value(part)}" for name, part in zip(sensitive, value, strict=True))
        for value in values
    ]
    return np.array(texts, dtype=object)


# Mining of associations between QI values and the sensitive attribute (Privacy-MaxEnt, section 4.4).

#: The column of the frequency of each combination of values; no attribute has this name.
COUNT = "\0 records"


def mine_associations(
    table: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    min_support: int = 3,
    attributes: int | Iterable[int] | None = None,
    negative: bool = True,
) -> Associations:
    """Mine every association of every subset of the QI attributes, positive and negative.

    Parameters
    ----------
    table : DataFrame, or iterable of DataFrame
        One row per person. A table larger than memory can be given in pieces, by a generator that reads them one at
        a time, ``(pd.read_parquet(file) for file in files)``. Only the frequency of each combination of values is
        kept in memory.
    qi, sa
        Column names.
    min_support : int
        The smallest support of an association, in records.
    attributes : int or list of int, optional
        The numbers T of QI attributes that an association may set; None permits any number.
    negative : bool
        Whether to mine associations Q => not S, too.

    Returns
    -------
    Associations
        ``.table(positive, negative)`` lists the strongest; :class:`~maxent_cvx.StrongestAssociations` accepts it.

    Raises
    ------
    UnknownName, TableError
        If a column does not exist or cannot be used in its role.
    StatementError
        If `min_support` or `attributes` is out of range.

    Notes
    -----
    Privacy-MaxEnt, section 4.4. The distinct QI tuples are counted once for each of the 2^k - 1 subsets of k
    attributes. Patterns are skipped if a pattern that sets fewer attributes has too little support already.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease", min_support=2)
    >>> len(mined.positive), len(mined.negative)
    (4, 32)
    >>> print(mined.table(positive=3, negative=1).round(2))
                                   rule  attributes  confidence  support
    0                Gender=male => Flu           1         0.5        3
    1    Gender=female => Breast Cancer           1         0.5        2
    2             Degree=college => HIV           1         0.4        2
    3  Gender=male => not Breast Cancer           1         1.0        6
    """
    check_bool(negative, "negative")
    data, records = _read(table, names(qi, "qi"), names(sa, "sa"))
    check_int(min_support, "min_support", 1)
    sizes = sizes_of(attributes, len(data.qi))
    q, tuples = data.tuples()
    s, values = data.values()
    of_pair = np.bincount(q * len(values) + s, records, len(tuples) * len(values))
    counts = of_pair.astype(np.int64).reshape(len(tuples), -1)
    n_each = counts.sum(axis=1), counts.sum(axis=0)

    def too_few(cube: Cube) -> np.ndarray:
        """Mark the patterns and values below which no association has enough support."""
        n_q = cube.counts.sum(axis=1, keepdims=True)
        most = np.maximum(cube.counts, n_q - cube.counts) if negative else cube.counts
        return np.asarray(most < min_support)

    mined = tuple(cubes(data.qi, tuples, counts, too_few, sizes))
    return Associations(data.qi, data.sa, min_support, tuples, values, *n_each, mined, negative)


def _read(
    table: pd.DataFrame | Iterable[pd.DataFrame], qi: tuple[str, ...], sa: tuple[str, ...]
) -> tuple[Microdata, np.ndarray]:
    """Return the records and their counts; combinations of values that occur in several pieces are merged."""
    if isinstance(table, str | pd.Series) or not is_several(table):
        raise TableError(f"table must be a DataFrame of records, or an iterable of its pieces, not {short_repr(table)}")
    if isinstance(table, pd.DataFrame):
        return Microdata.of_people(table, qi, sa), np.ones(len(table), dtype=np.int64)
    columns = [*qi, *sa]
    records: pd.DataFrame | None = None
    for piece in table:
        if not isinstance(piece, pd.DataFrame):
            raise TableError(
                f"table must be a pandas DataFrame, or an iterable of DataFrames, not a {type(table).__name__} of "
                f"{short_repr(piece)}"
            )
        if piece.empty and set(columns) <= set(piece.columns):
            continue
        frame = Microdata.of_people(piece, qi, sa).frame[columns]
        pieces = pd.concat([*[records][: records is not None], frame.assign(**{COUNT: 1})], ignore_index=True)
        number = pieces.groupby(columns, sort=False, observed=True).ngroup().to_numpy()
        first = pieces.iloc[np.unique(number, return_index=True)[1]]  # values keep their types
        records = first.assign(**{COUNT: np.bincount(number, pieces[COUNT]).astype(np.int64)})
    if records is None:
        raise TableError("the pieces of table contain no records; at least one is needed")
    return Microdata(records[columns], qi, sa), records[COUNT].to_numpy()
