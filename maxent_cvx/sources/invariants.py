"""The invariants of a release: the marginals of the terms that each kind of view publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import MaxEntError, StatementError, TableError, join_names, short_repr
from .._utils.tables import check_total
from .._utils.validation import check_instance
from ..releases.base import BucketView, View, check_roles
from ..releases.generalized import GroupedRelease
from ..releases.qi_table import QITable
from ..releases.series import ReleaseSeries
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source

# The contract of views, checked when a model is made from a user-defined view.

#: The roles of every view, which come first.
FIRST = ("q", "s")


def check_consistent(view: View) -> None:
    """Check that terms, labels and counts of a view are consistent."""
    name = type(view).__name__
    _check_labels(view, name)
    n_q = _counts(view.n_q, len(view.quasi_identifiers), f"n_q of a {name}", "QI tuple")
    if (n_q == 0).any():
        nobody = view.quasi_identifiers[n_q == 0]
        raise TableError(f"n_q of a {name} is 0 for {join_names(nobody)}; remove these QI tuples")
    n_s = view.n_s
    if n_s is not None:
        n_s = _counts(n_s, len(view.sensitive_values), f"n_s of a {name}", "sensitive value")
        if n_s.sum() != n_q.sum():
            raise TableError(f"n_s of a {name} counts {n_s.sum()} records, but n_q counts {n_q.sum()}; they must agree")
    _check_terms(view, name)
    published = view.published
    if not isinstance(published, Mapping) or not all(isinstance(by, tuple) for by in published):
        raise TableError(f"published of a {name} must be a dictionary {{tuple of roles: Series of counts}}")
    space, has_q, has_s = Space.of(view), False, False
    for by, counts in published.items():
        counted = _check_table(space, by, counts, f"the table by {by!r} that a {name} publishes")
        columns = set(space.axes.columns(by))
        if set(view.qi) <= columns:
            _check_sums(space, counted, "q", n_q, f"n_q and the table by {by!r} of a {name}")
            has_q = True
        if set(view.sensitive) <= columns and n_s is not None:
            _check_sums(space, counted, "s", n_s, f"n_s and the table by {by!r} of a {name}")
            has_s = True
    if not has_q:
        raise TableError(
            f"published of a {name} must have a table by 'q', without which P(s | q) is undefined; add ('q',): "
            "pd.Series(n_q, quasi_identifiers), or, for one attribute, a Series indexed by its values"
        )
    if n_s is not None and not has_s:
        raise TableError(f"a {name} has n_s, but published has no table by 's'; add ('s',), or set n_s to None")


def _check_labels(view: View, name: str) -> None:
    """Check the columns and the labels of every role."""
    for attribute, columns in (("qi", view.qi), ("sensitive", view.sensitive)):
        if not isinstance(columns, tuple) or not columns or not all(isinstance(column, str) for column in columns):
            raise TableError(f"{attribute} of a {name} must be a tuple of column names, not {short_repr(columns)}")
    if not isinstance(view.quasi_identifiers, pd.MultiIndex):
        raise TableError(
            f"quasi_identifiers of a {name} must be a MultiIndex with one level per attribute, not a "
            f"{type(view.quasi_identifiers).__name__}: pd.MultiIndex.from_frame(table[list(qi)])"
        )
    axes = view.axes
    if tuple(axes)[:2] != FIRST:
        raise TableError(f"axes of a {name} must begin with 'q' and 's', not {join_names(axes)}")
    expected = {"q": (view.qi, view.quasi_identifiers), "s": (view.sensitive, view.sensitive_values)}
    for role, (expected_columns, index) in expected.items():
        if tuple(axes[role][0]) != expected_columns or not (
            isinstance(index, pd.Index) and index.equals(axes[role][1])
        ):
            raise TableError(f"axes[{role!r}] of a {name} must be {list(expected_columns)} and the view's labels")
    players = [column for columns_of_role, _ in axes.values() for column in columns_of_role]
    if len(set(players)) < len(players):
        raise TableError(f"each column of a {name} must have one role; several have {join_names(players, 20)}")
    check_roles({role: tuple(columns_of_role) for role, (columns_of_role, _) in axes.items()})
    for role, (columns_of_role, index) in axes.items():
        if not isinstance(index, pd.Index) or list(index.names) != list(columns_of_role):
            named = list(index.names) if isinstance(index, pd.Index) else short_repr(index)
            raise TableError(f"the labels of {role!r} of a {name} are named {named}, not {list(columns_of_role)}")
        if index.has_duplicates or index.to_frame().isna().to_numpy().any() or not len(index):
            mistake = f"repeats {join_names(index[index.duplicated()])}" if index.has_duplicates else "has NaN"
            raise TableError(f"the index of {role!r} of a {name} {mistake if len(index) else 'is empty'}")
        if isinstance(index, pd.MultiIndex) and any(level.has_duplicates for level in index.levels):
            raise TableError(f"a level of the index of {role!r} of a {name} repeats values; make it from_frame(...)")


def _counts(values: object, n: int, what: str, of: str) -> np.ndarray:
    """Read nonnegative integer counts, one per label."""
    counts = np.asarray(values)
    if counts.shape != (n,) or counts.dtype.kind not in "iuf":
        raise TableError(f"{what} must be {n} counts, one per {of}, not {short_repr(values)} of shape {counts.shape}")
    if (bad := ~(np.isfinite(counts) & (counts >= 0) & (counts == np.rint(counts)))).any():
        raise TableError(f"{what} must contain counts of records, integers of at least 0, not {counts[bad][0]:.12g}")
    check_total(counts.sum(dtype=float), f"{what} counts")
    return counts.astype(np.int64)


def _check_terms(view: View, name: str) -> None:
    """Check that terms() contains each term once, with codes of existing labels, in order."""
    terms, roles = view.terms(), tuple(view.axes)
    if not isinstance(terms, dict) or set(terms) != set(roles):
        raise TableError(f"terms() of a {name} must give codes of {join_names(roles)}, not {short_repr(terms)}")
    n = {np.shape(code) for code in terms.values()}
    if len(n) > 1 or len(next(iter(n))) != 1 or not next(iter(n))[0]:
        raise TableError(f"terms() of a {name} must give one code per term for every role, not arrays of shapes {n}")
    for role in roles:
        code, size = terms[role], len(view.axes[role][1])
        if not isinstance(code, np.ndarray) or code.dtype.kind not in "iu" or code.min() < 0 or code.max() >= size:
            raise TableError(f"terms() of a {name} must number {role!r} from 0 to {size - 1}, as an array of integers")
    order = [*roles[2:], *FIRST]
    index = pd.MultiIndex.from_arrays([terms[role] for role in order])
    if not (index.is_monotonic_increasing and index.is_unique):
        raise TableError(f"terms() of a {name} must give each term once, sorted by {', then '.join(order)}")


def _check_table(space: Space, by: tuple[str, ...], counts: object, what: str) -> np.ndarray:
    """Check a published table against the terms; return each label's count, divided among its terms."""
    if not isinstance(counts, pd.Series):
        raise TableError(f"{what} must be a Series of counts, not {short_repr(counts)}")
    try:
        block = space.marginal(list(by))
    except MaxEntError as error:
        raise TableError(f"{what} is not valid: {error}") from error
    names, expected = list(counts.index.names), list(block.index.names)
    if names != expected:
        raise TableError(f"the index of {what} must have the names {expected}, not {names}")
    n = _counts(counts.to_numpy(), len(counts), what, "label")
    labels = counts.index
    if labels.has_duplicates:
        raise TableError(f"{what} repeats {join_names(labels[labels.duplicated()].unique())}; give one count per label")
    known = labels.isin(block.index)
    if (lost := ~known & (n > 0)).any():
        raise TableError(f"{what} counts {n[lost].sum()} records of {join_names(labels[lost])}, which have no term")
    if not known.all():
        raise TableError(f"{what} contains 0 for {join_names(labels[~known])}, which have no term; remove them")
    if len(missing := block.index[~block.index.isin(labels)]):
        raise TableError(f"{what} lacks {join_names(missing)}, which have terms; add 0, or remove the terms")
    if not labels.equals(block.index):
        raise TableError(
            f"{what} must be in the order of the labels of the view, the last varying fastest, from {block.index[0]!r} "
            f"to {block.index[-1]!r}; sort it, e.g. with .sort_index()"
        )
    if n.sum() != space.n_records:
        raise TableError(f"{what} counts {n.sum()} records, but n_q counts {space.n_records}; they must agree")
    share = n / np.diff(block.matrix.indptr)
    return share[block.matrix.tocsc().indices]


def _check_sums(space: Space, shares: np.ndarray, role: str, expected: np.ndarray, what: str) -> None:
    """Check that the counts of a table, divided among its terms, add up to expected counts."""
    off = np.abs(np.bincount(space.codes[role], shares, len(expected)) - expected) > 0.5
    if off.any():
        labels = space.view.axes[role][1]
        raise TableError(f"{what} are inconsistent: they have different counts of {join_names(labels[off])}")


# The rows that a published view implies, which are the first source of every model.


class PublishedRows(Source):
    """Rows that the published data imply, possibly with a closed form of the solution without other knowledge.

    The first rows must be those of people's quasi-identifiers, which are never part of an irreducible infeasible
    subsystem if the published data contradict themselves.
    """

    _counts_records = True

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return the maximum-entropy solution without other knowledge: one count per term, one multiplier per row.

        By default, it is unknown.

        Parameters
        ----------
        space : Space
            The terms of a model of the view.

        Returns
        -------
        counts : ndarray, one per term
            Records; NaN without a closed form. If there is one, the published data are consistent.
        multipliers : ndarray, one per row
            As `multipliers` of :class:`maxent_cvx.Posterior`; without a closed form, a starting point.
        """
        return np.full(len(space), np.nan), np.zeros(sum(len(rows) for rows in self.rows(space)))  # type: ignore[misc,arg-type]

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Return the smallest and the largest total of some terms, in records, without other knowledge.

        It is called only if there is a closed form.

        Parameters
        ----------
        space : Space
        at : ndarray of int
            Positions of terms: those of some QI tuples with some values, in every bucket.

        Returns
        -------
        low, high : float
            Numbers of records.

        Raises
        ------
        StatementError
            If the class has a closed form, but does not define this method.
        """
        name = type(self).__name__
        raise StatementError(f"{name} has a closed form but no closed_bounds(space, at); define both or neither")

    def closed_bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply :meth:`closed_bounds` to each of several groups of terms, by default one after the other.

        Parameters
        ----------
        space : Space
        at : ndarray of int
            Positions of terms, for each group as in :meth:`closed_bounds`.
        group : ndarray of int
            The group of each position.
        n_groups : int

        Returns
        -------
        low, high : ndarray, one per group
            Numbers of records; 0 for a group without terms.
        """
        ends = np.zeros((2, n_groups))
        order = np.argsort(group, kind="stable")
        groups, start = np.unique(group[order], return_index=True)
        for number, terms in zip(groups, np.split(at[order], start)[1:], strict=True):
            ends[:, number] = self.closed_bounds(space, terms)
        return ends[0], ends[1]


# The default source of a view: its published counts.


def counted_rows(space: Space, by: Sequence[str], counts: pd.Series) -> Rows:
    """Equate a marginal with published counts, one row per label."""
    block = space.marginal(list(by))
    if not block.index.equals(counts.index):
        return block == counts / space.n_records
    p = counts.to_numpy() / space.n_records  # mostly in the order of the rows, so that no label is looked up
    return Rows(block.matrix, p, p, block.label, block.index, space.view)


class PublishedCounts(PublishedRows):
    """sum P(terms with a label) = n(label) / N, for every label of the tables that a view publishes.

    The default for every class of views that does not register other sources, see
    :func:`~maxent_cvx.sources.published_sources`.

    Parameters
    ----------
    view : View
    tables : sequence of tuple of str, optional
        Keys of ``view.published``; by default all, those by QI tuple first.

    Examples
    --------
    For a release, the rows are those of :class:`~maxent_cvx.BucketInvariants`, which also has the closed form:

    >>> import maxent_cvx as mx
    >>> from maxent_cvx.sources import PublishedCounts
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> [rows.label for rows in PublishedCounts(release).rows(mx.MaxEnt(release).space)]
    ['P(Gender, Degree, Bucket)', 'P(Disease, Bucket)']
    """

    def __init__(self, view: View, tables: Sequence[tuple[str, ...]] | None = None) -> None:
        check_instance(view, View, "view")
        self.view = view
        if tables is None:  # those that count people by QI tuple first
            tables = sorted(view.published, key=lambda by: "q" not in by and not set(view.qi) <= set(by))
        self.tables = tuple(tables)

    @property
    def label(self) -> str:
        """The name of this source in models; if it has only some of the tables, with their roles."""
        if len(self.tables) == len(self.view.published):
            return "published counts"
        return f"published counts by {'; '.join(', '.join(by) for by in self.tables)}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per label with a positive count; the others are :class:`PublishedZeros`."""
        for by in self.tables:
            counts = self.view.published[by]
            rows, occurs = counted_rows(space, by, counts), counts.to_numpy() > 0
            yield rows if occurs.all() else rows.at(occurs)

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution for a single table, in which all terms of a label are equally probable; else NaN.

        Returns
        -------
        counts : ndarray, one per term
            Records: the weight of the term, divided by that of all terms with the label, times n(label). NaN if there
            are several tables, or labels with count 0.
        multipliers : ndarray, one per row
            With x = w exp(A' multipliers - 1) for the rows A x = b in records; for several tables, the multipliers of
            the first table alone, and 0 for the others.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.sources import PublishedCounts
        >>> table = mx.QITable(mx.datasets.load_hospital(), qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
        >>> source, space = PublishedCounts(table), mx.MaxEnt(table).space
        >>> source.closed_form(space)[0].tolist()                     # half of four women, half of six men
        [2.0, 2.0, 3.0, 3.0]
        >>> source.closed_bounds(space, space.row("Flu", {"Gender": "male"}).indices)
        (0.0, 6.0)
        """
        counts = [self.view.published[by].to_numpy() for by in self.tables]
        row = self._rows_of(space)
        share = counts[0] / np.bincount(row, space.weights)
        others = np.zeros(sum(int((n > 0).sum()) for n in counts[1:]))
        alone = len(self.view.published) == 1 and bool((share > 0).all())
        shares = space.weights * share[row] if alone else np.full(len(space), np.nan)
        return shares, np.concatenate([np.log(share[share > 0]) + 1, others])

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Return the smallest and the largest total, from the capacity of each label or bucket."""
        low, high = self._bounds_of_each(space, at, np.zeros(len(at), dtype=np.int64), 1)
        return float(low[0]), float(high[0])

    def closed_bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute :meth:`closed_bounds` of several groups of terms at once."""
        if type(self).closed_bounds is not PublishedCounts.closed_bounds:  # a subclass that only overrides this one
            return super().closed_bounds_of_each(space, at, group, n_groups)
        return self._bounds_of_each(space, at, group, n_groups)

    def _bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bound the people in some terms of each label: none to all of its people, or all if it has no other term."""
        row, n = self._rows_of(space), self.view.published[self.tables[0]].to_numpy()
        pairs, n_terms = np.unique(group * len(n) + row[at], return_counts=True)
        whose, label = np.divmod(pairs, len(n))
        all_of_them = n_terms == np.bincount(row, minlength=len(n))[label]
        return np.bincount(whose, n[label] * all_of_them, n_groups), np.bincount(whose, n[label], n_groups)

    def _rows_of(self, space: Space) -> np.ndarray:
        """Return the label of each term in the first table; every term has one."""
        return space.marginal(list(self.tables[0])).matrix.tocsc().indices


class PublishedZeros(Source):
    """sum P(terms with a label) = 0, for every published label with count 0."""

    # Like some knowledge, these rows force terms to be 0, and link no terms; hence they are a separate source.

    label = "published zeros"

    def __init__(self, view: View) -> None:
        self.view = view

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per label with count 0."""
        for by, counts in self.view.published.items():
            if (nobody := counts.to_numpy() == 0).any():
                yield counted_rows(space, by, counts).at(nobody)


# The sources of a published view, with which every model of it begins.


@singledispatch
def published_sources(view: View) -> tuple[PublishedRows, *tuple[Source, ...]]:
    """Return the sources of a view itself; those that link few terms, such as those of a bucket, come first.

    This is a ``functools.singledispatch`` function: a class of views that publishes more than counts, or has a closed
    form for them, registers its sources with ``@published_sources.register(MyView)``. Subclasses inherit them.

    Parameters
    ----------
    view : View

    Returns
    -------
    tuple
        A :class:`PublishedRows`, and possibly other sources. By default the published counts of the view, after a check
        of its properties.

    Raises
    ------
    TableError, StatementError
        If the view violates the contract of :class:`maxent_cvx.View`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.sources import published_sources
    >>> people = mx.datasets.load_hospital()
    >>> table = mx.QITable(people, qi="Gender", sa="Disease", sa_distribution=people["Disease"].value_counts())
    >>> [source.label for source in published_sources(table)]
    ['quasi-identifiers', 'published distribution']
    """
    check_consistent(view)
    zeros = any((counts == 0).any() for counts in view.published.values())
    return PublishedCounts(view), *[PublishedZeros(view)][:zeros]


# The invariants of published buckets (Privacy-MaxEnt, section 5.2).


class BucketInvariants(PublishedCounts):
    """sum_s P(q, s, b) = P(q, b) and sum_q P(q, s, b) = P(s, b), for every q and s of every bucket b.

    These rows are sound, complete, and concise except for one row per bucket (Theorems 1 to 3): they imply every
    linear equation that is true of all assignments of the bucket's values to its people, and no other. They do not
    imply that everybody has exactly one value, which is not such an equation. In a bucket with counterfeits, the counts
    of values are upper bounds.

    Parameters
    ----------
    release : Release

    Raises
    ------
    StatementError
        If `release` is not a Release.

    Notes
    -----
    Privacy-MaxEnt, Eqs. (4), (5) and (6). The zero-invariants (6) need no rows: such terms do not exist.

    Examples
    --------
    Every model of a release contains them as its first source. This one has nine pairs (q, b), and nine (s, b):

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> source, space = mx.BucketInvariants(release), mx.MaxEnt(release).space
    >>> [(rows.label, rows.relation, len(rows)) for rows in source.rows(space)]
    [('P(Gender, Degree, Bucket)', '==', 9), ('P(Disease, Bucket)', '==', 9)]
    """

    label = "published buckets"

    def __init__(self, release: BucketView) -> None:
        check_instance(release, BucketView, "release", "create one with Release.from_buckets(...)")
        super().__init__(release, [("q", "bucket"), ("s", "bucket")])
        self.release = release

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the QI-invariants, then the SA-invariants."""
        of_people, of_values = super().rows(space)
        yield of_people
        at_most = self.release.at_most
        yield replace(of_values, low=np.where(at_most, -np.inf, of_values.low)) if at_most.any() else of_values

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return P(q, s, b) = P(q, b) P(s, b) / P(b), the solution without other knowledge (Eq. (9)).

        A named person with QI tuple q has the share 1 / n(q) of it, like everybody with q.

        Parameters
        ----------
        space : Space
            The terms of a model of the release.

        Returns
        -------
        counts : ndarray, one per term
            N P(q, s, b), records; NaN in buckets with counterfeits.
        multipliers : ndarray, one per row of :meth:`rows`
            With x = w exp(A' multipliers - 1) for the rows A x = b in records: log n(q, b) + 1 for
            QI-invariants, minus log n(q) if somebody with q is named, and log(n(s, b) / n(b)) for SA-invariants.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> counts, _ = mx.BucketInvariants(release).closed_form(mx.MaxEnt(release).space)
        >>> counts[:4].round(2).tolist()                # people in the terms of bucket 1
        [0.25, 0.5, 0.25, 0.5]
        """
        release = self.release
        n_b = np.asarray(release.n_qb.sum(axis=0))
        in_sb = np.log(release.n_sb.data / n_b[release.n_sb.indices])
        among = np.where(space.people.unnamed < release.n_q, release.n_q, 1)
        in_qb = np.log(release.n_qb.data / among[release.n_qb.nonzero()[0]])
        multipliers = np.concatenate([in_qb + 1, in_sb])
        q, s, b = (space.codes[axis] for axis in ("q", "s", "bucket"))
        of_q, of_s = (np.asarray(table[axis, b]).ravel() for table, axis in ((release.n_qb, q), (release.n_sb, s)))
        counts = of_q.astype(float) * of_s / n_b[b]  # the product of two counts may be above 2^63
        return np.where(release.with_counterfeits[b], np.nan, counts * space.weights / among[q]), multipliers

    def _bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        q, s, bucket = (space.codes[axis][at] for axis in ("q", "s", "bucket"))
        tables = (self.release.n_qb, q), (self.release.n_sb, s)
        sides = [(code, np.asarray(table[code, bucket]).ravel()) for table, code in tables]
        return _frechet_bounds(group, n_groups, bucket, np.asarray(self.release.n_qb.sum(axis=0)), sides)


def _frechet_bounds(
    group: np.ndarray,
    n_groups: int,
    bucket: np.ndarray,
    n_b: np.ndarray,
    sides: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the bounds on the records of a rectangle of people and values in each bucket, for each group of terms.

    `sides` are, for people and for values, their codes in every term, and their numbers of records in its bucket.
    """
    # In a bucket of n(b) records, between max(0, n(Q) + n(S) - n(b)) and min(n(Q), n(S)) of the n(Q) people in Q have
    # one of the n(S) values in S (Frechet).
    rectangles, rectangle = np.unique(group * len(n_b) + bucket, return_inverse=True)
    n = []
    for code, records in sides:
        first = np.unique(rectangle * (code.max(initial=0) + 1) + code, return_index=True)[1]  # each code once
        n.append(np.bincount(rectangle[first], records[first], len(rectangles)))
    whose, bucket_of = np.divmod(rectangles, len(n_b))
    least = np.maximum(n[0] + n[1] - n_b[bucket_of], 0)
    return np.bincount(whose, least, n_groups), np.bincount(whose, np.minimum(*n), n_groups)


@published_sources.register(BucketView)
def _bucket_sources(release: BucketView) -> tuple[BucketInvariants]:
    return (BucketInvariants(release),)


# The invariants of generalised groups, and of the population of their people.


class GroupInvariants(PublishedCounts):
    """sum_q P(q, s, b) = P(s, b), for every value s of every group b; the sum is over the QI tuples that b covers."""

    label = "published groups"

    def __init__(self, release: GroupedRelease) -> None:
        super().__init__(release, [("s", "bucket")])
        self.release = release

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return NaN, as there is no closed form when groups share possible people, and initial multipliers."""
        b = self.release.n_sb.nonzero()[1]
        covered = np.asarray(self.release.cover @ self.release.n_q)
        return np.full(len(space), np.nan), np.log(self.release.n_sb.data / covered[b]) + 1


class Population(PublishedCounts):
    """sum_{s, b} P(q, s, b) = P(q): the people of the population, in any group or in none."""

    label = "population"

    def __init__(self, release: GroupedRelease) -> None:
        super().__init__(release, [("q",)])


@published_sources.register(GroupedRelease)
def _group_sources(release: GroupedRelease) -> tuple[GroupInvariants, Population]:
    return GroupInvariants(release), Population(release)


# The hard constraints of named people, besides those of the view: each of them has one record.


class NamedPeople(Source):
    """sum_{s, b} P(i, q, s, b) = 1 / N for every named person i with QI tuple q."""

    # Together with the QI- and SA-invariants of all people, these rows have the solution of a table with a pseudonym
    # for every record. A person with a unique QI tuple needs no row, as the QI-invariant implies it. Privacy-MaxEnt,
    # section 6; the paper omits the invariants.

    _counts_records = True
    label = "named people"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per person."""
        everybody, people = space.marginal("who"), space.people
        alike = people.unnamed + np.bincount(people.q, minlength=len(people.unnamed))  # records of every QI tuple
        yield everybody.at(alike[people.q] > 1) == 1 / space.n_records


# The zeros of a prior, which are zeros of the posterior.


class PriorZeros(Source):
    """P(signature, x) = 0 for every value x whose prior probability p(signature : x) is 0."""

    # The other entries of a prior are not rows, but the reference of the divergence. Probabilistic Inference
    # Protection, Definition 2: a posterior with a finite divergence from the prior is 0 at these values.

    label = "prior"

    def __init__(self, attributes: tuple[str, ...]) -> None:
        self.attributes = attributes

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per signature and value."""
        if space.prior is None or space.prior.all():
            return
        values = space.marginal([*self.attributes, "s"])
        first = values.matrix.indices[values.matrix.indptr[:-1]]  # all terms of a row have the same prior
        zeros = (values == 0.0).at(np.flatnonzero(space.prior[first] == 0))
        yield replace(zeros, remedy="change the prior, in which this is impossible (e.g. with smoothing=...)")


# Knowledge without a published table: everybody's QI, and possibly the distribution of the values (section V.D).


class QIConstraints(PublishedCounts):
    """sum_x P(q, x) = P(q), for every QI tuple q."""

    # Published rules, Eq. (8).

    label = "quasi-identifiers"

    def __init__(self, table: QITable) -> None:
        super().__init__(table, [("q",)])
        self.table = table

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return P(q, x) = P(q) / |SA|, the solution without other knowledge."""
        n_q = self.table.n_q
        among = np.where(space.people.unnamed < n_q, n_q, 1)
        share = n_q / len(self.table.possible) / among
        return space.weights * share[space.codes["q"]], np.log(share) + 1


class SAConstraints(PublishedCounts):
    """sum_q P(q, x) = P(x), for every sensitive value x, if their distribution is published."""

    # Published rules, Eq. (9). Terms of values with count 0 do not exist.

    label = "published distribution"

    def __init__(self, table: QITable) -> None:
        super().__init__(table, [("s",)])


@published_sources.register(QITable)
def _table_sources(table: QITable) -> tuple[QIConstraints, *tuple[SAConstraints, ...]]:
    return QIConstraints(table), *([] if table.n_s is None else [SAConstraints(table)])


#: Advice for releases that contradict each other.
REMEDY = "correct it, give people with new values new pseudonyms, or remove it"


class SeriesConstraints(PublishedCounts):
    """sum_s P(i, s) = 1/n, for every person i; and sum_{i in b} P(i, s) = #_b(s)/n, for buckets that do not overlap."""

    # These are the buckets of the first release, and those of other releases that are a part of one of them, or have
    # only new people. All other buckets are :class:`OtherRelations`; together they are equivalent to the constraints of
    # the paper. For buckets with counterfeits, the counts are upper bounds.
    # Re-publishing, Eqs. (4) and (6); with P(i, s) = P(s | i)/n and n people in total. The zero constraints (3) need no
    # rows: such terms do not exist.

    label = "published releases"

    def __init__(self, series: ReleaseSeries) -> None:
        super().__init__(series, [("q",)])
        self.series = series

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the one constraints, then the relation constraints of every release."""
        yield from super().rows(space)
        for relations, inside in zip(_relations(space, self.series), self.series.apart[1], strict=True):
            yield relations.rows(space, inside)

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return P(s | i) = #_b(s)/|b| for people in a single bucket b, all of whose people are in no other bucket."""
        series, q = self.series, space.codes["q"]
        block, inside = series.apart
        present = series.buckets >= 0
        counts, multipliers = np.full(len(space), np.nan), [np.ones(len(series.persons))]
        alone = np.bincount(block, present.sum(axis=0) > 1) == 0
        for u, relations in enumerate(_relations(space, series)):
            bucket, n_buckets = series.buckets[u], len(relations.names)
            size = np.bincount(bucket[present[u]], minlength=n_buckets)
            share = relations.number / size[relations.bucket]
            terms = relations.terms[alone[block[q[relations.terms]]]]
            terms = terms[~relations.with_counterfeits[bucket[q[terms]]]]
            counts[terms] = share[relations.row_of(terms)]
            known = np.bincount(bucket[present[u]], present[:u, present[u]].any(axis=0), n_buckets) > 0
            first = ~known & ~relations.with_counterfeits
            multipliers.append(np.where(first[relations.bucket], np.log(share), 0.0)[inside[u][relations.bucket]])
        return counts, np.concatenate(multipliers)

    def _bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        ends, q = np.zeros((2, n_groups)), space.codes["q"][at]
        for bucket_of, relations in zip(self.series.buckets, _relations(space, self.series), strict=True):
            present = np.flatnonzero(bucket_of[q] >= 0)
            row = relations.row_of(at[present])
            n_b = np.bincount(relations.bucket, relations.number, len(relations.names))
            sides = (q[present], np.ones(len(present))), (row, relations.number[row])
            ends += _frechet_bounds(group[present], n_groups, bucket_of[q[present]], n_b, sides)
        return ends[0], ends[1]


class OtherRelations(Source):
    """sum_{i in b} P(i, s) = #_b(s)/n, for the buckets b that overlap with those of earlier releases."""

    # Re-publishing, Eq. (6).

    label = "published again"

    def __init__(self, series: ReleaseSeries) -> None:
        self.series = series

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the relation constraints that are not part of :class:`SeriesConstraints`."""
        for relations, inside in zip(_relations(space, self.series), self.series.apart[1], strict=True):
            yield relations.rows(space, ~inside)


class _Relations(NamedTuple):
    """The relation constraints of one release: one row per value of each bucket."""

    label: str
    terms: np.ndarray  # the terms of people in the release, and the row of each term
    row: np.ndarray
    bucket: np.ndarray  # the bucket of each row
    value: np.ndarray
    number: np.ndarray
    names: pd.Index  # the names of the buckets
    with_counterfeits: np.ndarray  # which buckets have more values than people

    def row_of(self, terms: np.ndarray) -> np.ndarray:
        """Return the row of each of some terms."""
        return self.row[np.searchsorted(self.terms, terms)]

    def rows(self, space: Space, inside: np.ndarray) -> Rows:
        """Build the constraints of some buckets."""
        relations = np.flatnonzero(inside[self.bucket])
        where = (np.ones(len(self.terms)), (self.row, self.terms))
        matrix = sp.csr_array(sp.csr_array(where, shape=(len(self.bucket), len(space)))[relations])
        high = self.number[relations] / space.n_records
        low = np.where(self.with_counterfeits[self.bucket[relations]], -np.inf, high)
        s = space.view.sensitive_values[self.value[relations]].to_flat_index()
        index = pd.MultiIndex.from_arrays([self.names[self.bucket[relations]], s], names=["bucket", "value"])
        return Rows(matrix, low, high, self.label, index, space.view, remedy=REMEDY)


def _relations(space: Space, series: ReleaseSeries) -> Iterator[_Relations]:
    """Yield the relation constraints of each release."""
    n_values, q, s = len(series.sensitive_values), space.codes["q"], space.codes["s"]
    for u, release in enumerate(series.releases):
        bucket, value, number = series.values_in(u)
        terms = np.flatnonzero(series.buckets[u, q] >= 0)
        key = series.buckets[u, q[terms]] * n_values + s[terms]
        row = np.searchsorted(bucket * n_values + value, key)
        label = f"release {u + 1}"
        yield _Relations(label, terms, row, bucket, value, number, release.buckets, release.with_counterfeits)


@published_sources.register(ReleaseSeries)
def _series_sources(series: ReleaseSeries) -> tuple[SeriesConstraints, OtherRelations]:
    return SeriesConstraints(series), OtherRelations(series)
