"""Counterfactual inference: P(s | q) from a publication, and from the same publication without a person's own record.

An adversary may infer a person's value from a law of the population, such as "smokers fall ill", which the records of
others show as well. The effect of the person's own record is the difference of two posteriors: one from the
publication, and one from the publication that would have been made without the record.

Removing a record (q, s) from bucket b lowers three counts by one: those of q and of s in b, and the number n(Q) of
people in every group Q that contains q. Statements P(s | Q) = v then require v (n(Q) - 1) people instead of v n(Q).
All records are computed at once, in two steps. With the multipliers of the knowledge fixed, the buckets are
independent, and only bucket b changes: its counts are scaled to the new totals (iterative proportional fitting, exact
in a bucket). If the knowledge still holds, this is the answer: the multipliers satisfy the optimality conditions of
the new problem. Otherwise the violations r of the rows are removed by one Newton step of the multipliers, S^-1 r, where
S is the Schur complement of the knowledge; that is the derivative of the answer with respect to the right-hand sides.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from .._utils.errors import MaxEntError, StatementError, TableError, join_names, one_line, short_repr
from .._utils.progress import progress_bar
from .._utils.tables import Microdata, densely, group_codes, plain_index, ranges
from .._utils.validation import check_dataframe, check_instance, check_int, check_optional_bool
from ..model.explain import model_of
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..releases.base import OUTSIDE, BucketView, View
from ..releases.generalized import coverage
from ..releases.qi_table import QITable
from ..releases.readers import cell_positions, read_cells
from ..releases.series import ReleaseSeries
from ..solvers.sparse import pattern
from ..sources.associations import StrongestAssociations
from ..sources.base import Source
from ..sources.invariants import PriorZeros
from ..sources.statements import Event, Statement
from ..terms.rows import Rows
from ..terms.space import Space

#: Methods by which `without` was computed.
CLOSED, FIRST_ORDER, SOLVED = "closed form", "first order", "solved"
#: Default number of records for which the model is solved again.
SOLVES = 100
#: Records: totals and rows of knowledge that are violated by less count as satisfied.
MET = 1e-9
#: Largest number of iterations of proportional fitting in a bucket. It converges fast unless a count tends to zero.
MOST_SCALINGS = 2000
#: Number of iterations between two tests of convergence.
SCALINGS = 10
#: Records: terms with fewer count as zero.
EMPTY = 1e-10
#: Relative to the largest: smaller eigenvalues of the Schur complement count as zero, since some rows are dependent.
DEPENDENT = 1e-10
#: Terms of their buckets, events of knowledge and values, summed over the kinds of records computed at a time; 250 MB.
NUMBERS = 2_000_000


def counterfactual(
    post: Posterior,
    original: pd.DataFrame,
    publish: Callable[[pd.DataFrame], View | MaxEnt] | None = None,
    *,
    solves: int = SOLVES,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Compute P(s | q) for every record, from the publication and from the same publication without this record.

    Parameters
    ----------
    post : Posterior
        The adversary's posterior from the publication, with any knowledge.
    original : DataFrame
        The original records, with the release's QI and sensitive columns, and its bucket column unless `publish` is
        given or all people with the same QI are in one bucket. For a generalized release, pass the generalized records,
        or the exact ones if each is in one cell; cells of a hierarchy are not recognized.
    publish : callable, optional
        The publisher's method: a function from a table to a view, or to a model with its knowledge. It is called with
        the original table without one record, and the model is solved again for every distinct record. The record's
        person is found in the view by attribute names: attributes that the view lacks are unknown, and attributes that
        it adds may have any value. By default the record is removed from its bucket or group, or from the counts of a
        :class:`~maxent_cvx.QITable`.
    solves : int
        Number of distinct records for which the model is solved again if knowledge matters: first those without a
        first-order answer, then those with the largest differences, and last those that seem to contradict the
        knowledge. Contradictions take long to prove, so at most a tenth of `solves` is used for the last kind, unless
        `solves` suffices for all records.
    progress : bool, optional
        Show a progress bar while models are solved; by default on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        One row per record, indexed as `original`: the true `value`; its probability `with` and `without` the record;
        their `difference`; the `largest` absolute difference over all values, and the value that attains it,
        `of_value`; the record's `group`, its QI tuple, and `bucket` (None without buckets); `how` the probability
        without the record was computed; `error`, its certified error if a model was solved, otherwise NaN; and
        `because`, the reason if knowledge cannot be read without the record or the number is missing, otherwise "".

    Raises
    ------
    StatementError
        If `post` is not a Posterior or was loaded from a file without `verify`; if the model names people; for a series,
        whose pseudonyms are unique, and a population, of which the people in the release are unknown; if `publish` is
        missing but required, or does not return a view of the same sensitive attribute by some of the QI; or if the
        knowledge contains published numbers that cannot be computed again (moments, correlations, quantiles, trees, rule
        lists, answered queries, randomized responses).
    UnknownName, TableError
        If the original records lack a column, or are not the people of the release; if a rounded table was published
        with random rounding.

    Notes
    -----
    Without the record (q, s), the probability is P'(s | q) of the smaller publication if another person has the tuple
    q, or a cell of it covers q. Otherwise it is the share of s among the other records of the bucket or, if the bucket
    has none or is unknown, among the other n - 1 records.

    Statements and associations remain as typed: the same P(s | Q) for a group that has lost a record. Published tables,
    rules and regressions, and noisy counts (with the same noise), are computed again. Knowledge that cannot be read any
    more, because its group has vanished or it contradicts other knowledge, is named in `because`; probabilities that
    depend on it are NaN.

    `how` is "closed form" if the knowledge still holds with the same multipliers, or the tuple is unique; the number is
    then exact, given the posterior. It is "solved" if the model was solved without the record; the number is certified.
    Otherwise it is "first order", which is exact in the record's bucket and linear in the multipliers of the knowledge;
    no theorem bounds its error, and `error` is NaN. In random tables of 6 to 40 people the error was below 0.012 for
    nine in ten such records, and at most 0.3; it falls with the square of the number of people. A larger `solves`
    certifies more records. Models with other knowledge than statements and associations are solved for every distinct
    record. Whether the knowledge contradicts the smaller publication is known only for solved records.

    Kasiviswanathan and Smith, On the "semantics" of differential privacy (2014), compare the two posteriors; Annamalai,
    Gadotti and Rocher (USENIX Security 2024) measure attacks by the gap between people in and out of the data.

    Examples
    --------
    The adversary knows that men do not have breast cancer. Grace's own record discloses her breast cancer, whereas
    Allen's flu is partly disclosed by the records of others:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital().set_index("Name")
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> table = mx.measures.counterfactual(post, hospital)
    >>> table.loc[["Allen", "Grace"], ["value", "with", "without", "difference"]].round(3)
                   value   with  without  difference
    Name
    Allen            Flu  0.444     0.25       0.194
    Grace  Breast Cancer  1.000     0.00       1.000
    """
    kinds = without_each(post, original, publish, solves=solves, progress=progress)
    return kinds.table(original.index)


# ----------------------------------------------------------------------------------------------------- kinds of records


class Counterfactual:
    """P(s | q) with and without a record, by kind of record: records of a kind have equal tuple, value and bucket.

    Attributes
    ----------
    kind, first : ndarray
        One per record: its kind. One per kind: the position of a record.
    q, s, b : ndarray
        One per kind: positions of its QI tuple, value and bucket; -1 without buckets.
    tuples : MultiIndex
        One per kind: QI values, by which it is found in a publication without the record.
    p, without : ndarray, shape (kinds, values)
        P(s | q) with the record, and without it.
    how, error, because : ndarray
        One per kind: see :func:`counterfactual`.
    is_checked, is_doubtful : ndarray of bool
        One per kind: whether it is decided if the knowledge holds without the record, and whether a row of knowledge
        cannot hold, to first order.
    """

    def __init__(self, post: Posterior, original: pd.DataFrame, publishes: bool) -> None:
        """Number the distinct records, by exact QI instead of cells if the records are published again."""
        self.view = view = post.view
        bucket = getattr(view, "bucket", None)
        # The cell of a generalised record determines its group.
        is_given = bucket is not None and bucket in original.columns and not view.generalized
        if view.generalized:
            original = read_cells(view, original)
        data = Microdata(original, view.qi, view.sensitive, bucket if is_given else None)
        (group, tuples), (value, values) = data.tuples(), data.values()
        q, s = cell_positions(view, tuples)[group], view.sensitive_values.get_indexer(values)[value]
        b = np.full(len(original), -1)
        if isinstance(view, BucketView):
            if is_given:
                b = view.buckets.get_indexer(pd.Index(original[bucket]))
            elif (np.diff(view.n_qb.indptr) == 1).all():
                b = np.where(q >= 0, view.n_qb.indices[q], -1)
            elif not publishes:
                raise TableError(
                    f"the original records lack the column {bucket!r}, and people with the same {', '.join(view.qi)} are "
                    "in several buckets; pass the table with its buckets"
                )
        p = post.table / view.n_q[:, None]
        is_stranger = (q < 0) | (s < 0) | ((b < 0) & (is_given and not publishes))
        if len(original) != view.n_records or is_stranger.any() or not _has_counts(view, q, s, b):
            cells_of = "; or a record is in several cells: pass the generalized table" if view.generalized else ""
            raise TableError(
                f"the {len(original)} original records are not the {view.n_records} people of the {view.noun}; pass the "
                f"table that was published, with its buckets{cells_of}"
            )
        own, tuples = (group, tuples) if publishes else (q, view.quasi_identifiers)
        self.kind = group_codes([own, q, s, b + 1], [len(tuples), len(view.n_q), p.shape[1], int(b.max()) + 2])
        self.first = first = np.unique(self.kind, return_index=True)[1]
        self.q, self.s, self.b, self.tuples, self.p = q[first], s[first], b[first], tuples[own[first]], p[q[first]]
        n = len(first)
        self.without: np.ndarray = np.full(self.p.shape, np.nan)
        self.how, self.because = np.full(n, SOLVED, dtype=object), np.full(n, "", dtype=object)
        self.error, self.is_checked = np.full(n, np.nan), np.zeros(n, dtype=bool)
        self.is_doubtful = np.zeros(n, dtype=bool)

    @cached_property
    def n_kind(self) -> np.ndarray:
        """Number of records of every kind."""
        return np.bincount(self.kind, minlength=len(self.q))

    @property
    def largest(self) -> np.ndarray:
        """The largest |with - without| of every kind; NaN if there is no number."""
        return np.asarray(np.abs(self.p - self.without).max(axis=1))

    def table(self, index: pd.Index) -> pd.DataFrame:
        """Return the table of :func:`counterfactual`."""
        view, each = self.view, np.arange(len(self.q))
        group = plain_index(view.quasi_identifiers).to_numpy()
        values = view.sensitive_values.to_numpy()
        p, without = self.p[each, self.s], self.without[each, self.s]
        of_value = values[np.abs(self.p - self.without).argmax(axis=1)].astype(object)
        of_value[np.isnan(self.largest)] = None
        bucket = np.full(len(each), None, dtype=object)
        if isinstance(view, BucketView) and (self.b >= 0).all():
            bucket = view.buckets.to_numpy()[self.b]
        columns = {
            "value": values[self.s], "with": p, "without": without, "difference": p - without,
            "largest": self.largest, "of_value": of_value, "group": group[self.q], "bucket": bucket,
            "how": self.how, "error": self.error, "because": self.because,
        }  # fmt: skip
        return pd.DataFrame({name: column[self.kind] for name, column in columns.items()}, index=index)


def without_each(
    post: Posterior,
    original: pd.DataFrame | None,
    publish: Callable[[pd.DataFrame], View | MaxEnt] | None = None,
    *,
    solves: int = SOLVES,
    progress: bool | None = None,
    urgent: Callable[[Counterfactual], np.ndarray] | None = None,
) -> Counterfactual:
    """Compute :func:`counterfactual` for every kind; `urgent` is the priority of solving a kind, -inf for never."""
    check_instance(post, Posterior, "post")
    check_int(solves, "solves", 0)
    check_optional_bool(progress, "progress")
    if publish is not None and not callable(publish):
        raise StatementError("publish must be a function from a table to a view")
    model = model_of(post)
    if len(model.space.people):
        raise StatementError("the model names people, whose records cannot be distinguished; solve it without people=")
    if isinstance(model.view, ReleaseSeries):
        raise StatementError(
            "the pseudonyms of a series are unique, so nothing can be inferred about a person without the person's "
            "record; use one of the releases of the series"
        )
    if not model.view.inside.all():
        raise StatementError("it is unknown which people are in the release; make the release without population")
    if publish is None and not isinstance(model.view, BucketView | QITable):
        raise StatementError(
            f"publish is required for a {model.view.noun}, because its publication without a record is unknown; "
            "pass a function from a table to a view"
        )
    if original is None:
        raise StatementError("the original records are needed; pass original, the table with its buckets")
    check_dataframe(original, "the original records")
    kinds = Counterfactual(post, original, publish is not None)
    knowledge = _knowledge(model, recomputes=publish is None)
    if publish is None and model.view.generalized:
        # Knowledge refers to the cells, in the form in which the release has them.
        cells = model.view.quasi_identifiers[kinds.q[kinds.kind]]
        original = original.assign(**{name: cells.get_level_values(name).to_numpy() for name in model.view.qi})
    chosen = np.arange(len(kinds.q))
    if publish is None and (rows := _statement_rows(model, knowledge)) is not None:
        _by_multipliers(kinds, post, rows)
        waiting = np.flatnonzero(~kinds.is_checked)
        size = np.nan_to_num(kinds.largest, nan=-1.0) if urgent is None else urgent(kinds)
        waiting = waiting[size[waiting] > -np.inf]
        # First kinds without a number, then kinds with a large difference. Proofs of contradictions take longest.
        rank = np.where(np.isnan(kinds.without[:, 0]), 0, np.where(kinds.how == CLOSED, 2, 1))
        rank[kinds.is_doubtful] = np.where(kinds.how == CLOSED, 4, 3)[kinds.is_doubtful]
        chosen = waiting[np.lexsort((-size[waiting], rank[waiting]))]
        if len(chosen) > solves:
            chosen = chosen[(rank[chosen] < 3) | (np.cumsum(rank[chosen] >= 3) <= solves // 10)][:solves]
    for kind in progress_bar(chosen.tolist(), "without each record", progress):
        _solve(kinds, kind, model, knowledge, original, publish)
    return kinds


def _knowledge(model: MaxEnt, *, recomputes: bool) -> dict[str, Source]:
    """Return the knowledge of the adversary, by label, in a form that can be read without a record."""
    knowledge: dict[str, Source] = {}
    for label, source in model.knowledge.items():
        if recomputes and not source._can_be_recomputed:
            raise StatementError(
                f"{label!r} cannot be computed again without a record; let publish return a model with all knowledge"
            )
        if not isinstance(source, PriorZeros):  # a model with the prior adds them
            is_mined = isinstance(source, StrongestAssociations)
            knowledge[label] = KeptAssociations(source, model.space) if is_mined else source  # type: ignore[arg-type]
    return knowledge


def _has_counts(view: View, q: np.ndarray, s: np.ndarray, b: np.ndarray) -> bool:
    """Return whether records have the published counts of tuples and values, in every bucket."""
    if (b < 0).all():
        counts = [(q, view.n_q), (s, view.n_s)]
        return all(n is None or np.array_equal(np.bincount(at, minlength=len(n)), n) for at, n in counts)
    if (b < 0).any():
        return False
    assert isinstance(view, BucketView)
    ones = np.ones(len(q), dtype=np.int64)
    lacking_q, lacking_s = (
        n - sp.csr_array((ones, (at, b)), shape=n.shape) for at, n in ((q, view.n_qb), (s, view.n_sb))
    )
    return bool(  # values without a person may be counterfeits
        abs(lacking_q).max() == 0 and lacking_s.min() >= 0 and not lacking_s[:, ~view.with_counterfeits].sum()
    )


def _fallback(kinds: Counterfactual, chosen: np.ndarray) -> np.ndarray:
    """Return P(s) of kinds with a unique tuple: shares of the bucket's other records, or of all others; NaN if none."""
    view, s = kinds.view, kinds.s[chosen]
    n_s = np.bincount(kinds.s, kinds.n_kind, len(view.sensitive_values))  # of the records, since it may be unpublished
    others = np.tile(n_s.astype(float), (len(chosen), 1))
    b = kinds.b[chosen]
    if isinstance(view, BucketView):
        of_bucket = view.n_sb.T.tocsr()[b].toarray().astype(float)
        # A bucket without other people vanishes, with its counterfeits.
        has_others = (b >= 0) & (np.asarray(view.n_qb.sum(axis=0))[b] > 1)
        others = np.where(has_others[:, None], of_bucket, others)
    others[np.arange(len(chosen)), s] -= 1
    with np.errstate(invalid="ignore"):
        return others / others.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------------------------- one record: the model solved again


def _solve(
    kinds: Counterfactual,
    kind: int,
    model: MaxEnt,
    knowledge: dict[str, Source],
    original: pd.DataFrame,
    publish: Callable[[pd.DataFrame], View | MaxEnt] | None,
) -> None:
    """Publish without a record of a kind, add the knowledge, solve, and certify."""
    view, at = kinds.view, kinds.first[kind]
    kinds.how[kind], kinds.because[kind], kinds.without[kind] = SOLVED, "", np.nan
    is_alone = view.n_q[kinds.q[kind]] == 1
    if is_alone:
        kinds.without[kind], kinds.how[kind] = _fallback(kinds, np.array([kind]))[0], CLOSED
    if view.n_records == 1:
        kinds.because[kind] = "nobody is left"
        return
    others = original.iloc[np.arange(len(original)) != at]
    try:
        published = _view_without(kinds, kind) if publish is None else publish(others)
    except MaxEntError as error:
        kinds.because[kind] = str(one_line(str(error)))
        return
    _check_published(published, view)
    try:
        smaller = published if isinstance(published, MaxEnt) else MaxEnt(published, prior=model.prior)
        for name, source in knowledge.items() if smaller is not published else ():
            smaller.add(source._without(at, original, view), label=name)
        solved = smaller.solve()
        hers = _tuples_of(solved.view, dict(zip(view.qi, kinds.tuples[kind], strict=True)), original)
    except MaxEntError as error:
        kinds.because[kind] = str(one_line(str(error)))
        return
    counts = pd.Series(solved.table[hers].sum(axis=0), solved.view.sensitive_values)
    n_with_tuples = solved.view.n_q[hers].sum()
    people = n_with_tuples - counts.get(OUTSIDE, 0.0)
    if people > EMPTY:
        kinds.without[kind] = counts.reindex(view.sensitive_values, fill_value=0.0).to_numpy() / people
        kinds.how[kind], kinds.error[kind] = SOLVED, min(solved.certificate.bound * n_with_tuples / people, 1.0)
    elif hers.any() or solved.view.generalized:  # no cell with other people covers the tuple
        kinds.without[kind], kinds.how[kind] = _fallback(kinds, np.array([kind]))[0], CLOSED
    elif not is_alone:
        kinds.because[kind] = "the publication without the record lacks the record's quasi-identifiers"


def _check_published(other: object, view: View) -> None:
    """Raise StatementError unless given a view or model of the same sensitive attribute by some of the QI."""
    published = other.view if isinstance(other, MaxEnt) else other
    if not isinstance(published, View):
        raise StatementError(
            f"publish must return a release or another view, or a model of one, not {short_repr(published)}"
        )
    if published.sensitive != view.sensitive or not {*published.qi} & {*view.qi}:
        raise StatementError(
            f"publish must return a view of {join_names(view.sensitive)} by some of {join_names(view.qi)}, not of "
            f"{join_names(published.sensitive)} by {join_names(published.qi)}"
        )


def _tuples_of(view: View, record: dict[str, object], original: pd.DataFrame) -> np.ndarray:
    """Mark the QI tuples of a view that a record may have, according to their common attributes."""
    tuples = view.quasi_identifiers
    of_both = [i for i, name in enumerate(view.qi) if name in record]
    equal = [np.asarray(tuples.get_level_values(i) == record[view.qi[i]]) for i in of_both]
    hers = np.logical_and.reduce(equal)
    if view.generalized and not hers.any():
        for i in of_both:
            name, cells = view.qi[i], tuples.levels[i]
            domain = pd.Index(original[name].unique())
            in_cell = coverage(list(cells), domain, name, {})[:, domain.get_loc(record[name])]
            equal.append(in_cell[tuples.codes[i]])
        hers = np.logical_and.reduce(equal[len(of_both) :])
    return hers


def _view_without(kinds: Counterfactual, kind: int) -> View:
    """Return the release, or the table of people, without a record of a kind."""
    view, q, s, b = kinds.view, kinds.q[kind], kinds.s[kind], kinds.b[kind]
    if isinstance(view, QITable):
        other = copy.copy(view)
        n_q = view.n_q - (np.arange(len(view.n_q)) == q)
        other.quasi_identifiers, other._n_q = view.quasi_identifiers[n_q > 0], n_q[n_q > 0]
        other._n_s = None if view.n_s is None else view.n_s - (np.arange(len(view.n_s)) == s)
        vars(other).pop("published", None)
        return other
    assert isinstance(view, BucketView)
    n_qb, n_sb = view.n_qb.copy(), view.n_sb.copy()
    n_qb[q, b] -= 1
    n_sb[s, b] -= 1
    is_left, is_bucket = np.asarray(n_qb.sum(axis=1)) > 0, np.asarray(n_qb.sum(axis=0)) > 0
    # A value that no remaining person has is still a possible value, because it is generally known.
    n_qb, n_sb = sp.csr_array(n_qb[is_left][:, is_bucket]), sp.csr_array(n_sb[:, is_bucket])
    n_qb.eliminate_zeros()
    n_sb.eliminate_zeros()
    return replace(
        view,
        quasi_identifiers=view.quasi_identifiers[is_left],
        buckets=view.buckets[is_bucket],
        n_qb=n_qb,
        n_sb=n_sb,
        persons=None,
    )


class KeptAssociations(Source):
    """P(S | Q) = n(Q, S) / n(Q) of associations mined from all records, for a view of fewer people."""

    def __init__(self, source: StrongestAssociations, space: Space) -> None:
        self.label, self.tuples = source.label, space.view.quasi_identifiers  # type: ignore[misc]
        members, values, shares, names = zip(*source._strongest(space), strict=True)
        self.members = sp.csr_array(sp.vstack(members))  # 1 for every QI tuple of a group Q
        self.values, self.shares, self.names = map(np.concatenate, (values, shares, names))

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row per association."""
        members = self.members
        if space.view.quasi_identifiers is not self.tuples:
            at = self.tuples.get_indexer(space.view.quasi_identifiers)
            members = sp.csr_array(members[:, at])
        n = members @ space.view.n_q
        if (is_gone := n == 0).any():
            raise StatementError(f"{self.names[is_gone.argmax()]}: nobody is in this group any more")
        joint = space.joint(members, self.values)
        matrix = sp.csr_array(sp.diags_array(space.n_records / n) @ joint)
        yield Rows(matrix, self.shares, self.shares, self.label, pd.Index(self.names), space.view)


# ----------------------------------------------------------------------------------- all records: by the multipliers


@dataclass(frozen=True, eq=False)
class StatementRows:
    """Rows of statements as functions of events e: low <= sum_e a_e n(S_e, Q_e) / n(Q_e) <= high."""

    low: np.ndarray
    high: np.ndarray
    row: np.ndarray  # one per event: its row, and its coefficient
    a: np.ndarray
    members: sp.csr_array  # events x QI tuples: 1 for those in Q_e
    terms: sp.csr_array  # events x terms: 1 for people in Q_e with a value in S_e
    names: list[str]


def _statement_rows(model: MaxEnt, knowledge: dict[str, Source]) -> StatementRows | None:
    """Return the rows if all knowledge consists of statements about groups, else None."""
    space, view = model.space, model.view
    if not isinstance(view, BucketView) or view.with_counterfeits.any() or model.convex:
        return None
    bounds: list[tuple[float, float]] = []  # one per row
    names: list[str] = []
    events: list[tuple[int, float]] = []  # one per event: its row, and its coefficient
    members, terms = [sp.csr_array((0, len(view.n_q)))], [sp.csr_array((0, len(space)))]
    for source in knowledge.values():
        if isinstance(source, KeptAssociations):
            events += [(len(names) + i, 1.0) for i in range(len(source.names))]
            bounds += [(share, share) for share in source.shares.tolist()]
            names += source.names.tolist()
            members.append(source.members)
            terms.append(pattern(space.joint(source.members, source.values)))
        elif isinstance(source, Statement) and source.penalty is None:
            for event, coefficient in source.terms:
                if type(event) is not Event or event.who is not None:
                    return None
                events.append((len(names), coefficient))
                members.append(sp.csr_array(space.described(dict(event.given))[None].astype(float)))
                terms.append(pattern(event.row(space)))
            bounds.append((source.low, source.high))
            names.append(source.label)
        else:
            return None
    low, high = np.array(bounds, dtype=float).reshape(-1, 2).T
    row, a = np.array(events, dtype=float).reshape(-1, 2).T
    every = sp.csr_array(sp.vstack(members)), sp.csr_array(sp.vstack(terms))
    return StatementRows(low, high, row.astype(int), a, *every, names)


def _by_multipliers(kinds: Counterfactual, post: Posterior, rows: StatementRows) -> None:
    """Compute all kinds by proportional fitting in their bucket, and one Newton step of the multipliers."""
    response = _Response(post, rows)
    n_numbers = np.cumsum(np.diff(response.first)[kinds.b] + len(rows.row) + kinds.p.shape[1])
    for chosen in np.split(np.arange(len(kinds.q)), np.flatnonzero(np.diff(n_numbers // NUMBERS)) + 1):
        without, is_exact, is_valid, blamed = response.of(kinds, chosen)
        kinds.without[chosen] = np.where(is_valid[:, None], without, np.nan)
        kinds.how[chosen] = np.where(is_exact, CLOSED, FIRST_ORDER)
        kinds.is_checked[chosen] = is_exact
        kinds.is_doubtful[chosen] = blamed >= 0
        reason = np.array(["", *(f"{name} cannot hold without this record, to first order" for name in rows.names)])
        no_number = np.where(blamed >= 0, reason[blamed + 1], "there is no first-order answer")
        kinds.because[chosen] = np.where(is_valid, "", no_number + "; a larger solves= decides")
    n_of_tuple = kinds.view.n_q[kinds.q]
    alone = np.flatnonzero(n_of_tuple == 1)
    kinds.without[alone], kinds.how[alone] = _fallback(kinds, alone), CLOSED
    # A group of one person vanishes with this person. Other rows may be contradictory, which is decided by a solve.
    kinds.because[alone] = "nobody is left" if kinds.view.n_records == 1 else ""
    gone = np.flatnonzero(rows.members @ kinds.view.n_q == 1)
    event, q = sp.csr_array(rows.members[gone]).tocoo().coords
    row_of_tuple = np.full(len(kinds.view.n_q), -1)
    row_of_tuple[q] = rows.row[gone[event]]
    hers = np.flatnonzero(row_of_tuple[kinds.q] >= 0)
    names = [rows.names[row] for row in row_of_tuple[kinds.q[hers]].tolist()]
    kinds.because[hers] = [f"{name}: nobody is in this group any more" for name in names]
    kinds.is_checked[hers] = True


class _Response:
    """The change of the answer of a model if a record is removed."""

    def __init__(self, post: Posterior, rows: StatementRows) -> None:
        view, codes = post.view, post.space.codes
        assert isinstance(view, BucketView)
        self.view, self.rows, self.x, self.prior = view, rows, post.counts, post.space.prior
        self.q, self.s, self.b = codes["q"], codes["s"], codes["bucket"]
        self.first = np.searchsorted(self.b, np.arange(len(view.buckets) + 1))  # terms are sorted by bucket
        self.n_qb = np.asarray(view.n_qb[self.q, self.b]).ravel().astype(float)
        self.n_sb = np.asarray(view.n_sb[self.s, self.b]).ravel().astype(float)
        self.n_e = rows.members @ view.n_q.astype(float)
        self.events_of_term = sp.csr_array(rows.terms.T)
        self.events_of_tuple = sp.csr_array(rows.members.T)
        self.value_e = rows.terms @ self.x
        # Rows with a multiplier: equations, and inequalities that hold with equality. All are scaled to records.
        n_rows = len(rows.low)
        value = self.of_events(self.value_e, self.n_e)
        size = np.zeros(n_rows)
        np.maximum.at(size, rows.row, self.n_e / np.maximum(np.abs(rows.a), 1e-300))
        at_low, at_high = ((np.abs(value - side) * size < 1e-6) for side in (rows.low, rows.high))
        self.active = np.flatnonzero(at_low | at_high)
        self.side = np.where(at_low, rows.low, rows.high)[self.active]
        self.size = size
        shape = (n_rows, len(rows.row))
        weights = sp.csr_array((rows.a * size[rows.row] / self.n_e, (rows.row, np.arange(shape[1]))), shape=shape)
        A = sp.csr_array((weights @ rows.terms)[self.active])
        self.rows_of_term = sp.csr_array(A.T)
        self._set_up_schur(A, post)
        self.is_open = self._open_zeros()

    def of_events(self, value: np.ndarray, n: np.ndarray) -> np.ndarray:
        """Return values of the rows, from the people with the value and all people of every event."""
        rows = self.rows
        total = np.zeros((*value.shape[:-1], len(rows.low)))
        with np.errstate(divide="ignore", invalid="ignore"):
            np.add.at(total.T, rows.row, (rows.a * np.where(n > 0, value / n, 0.0)).T)
        return total

    def _set_up_schur(self, A: sp.csr_array, post: Posterior) -> None:
        """Compute T = D A' minus its projection on the buckets' equations, and the Schur complement S = A T."""
        n_terms = len(self.x)
        touched = np.unique(self.b[np.diff(self.rows_of_term.indptr) > 0])
        at = np.flatnonzero(np.isin(self.b, touched) & (self.x > EMPTY))
        published = model_of(post).form.published[:, at]
        published = published[np.flatnonzero(np.diff(published.indptr))]
        D = sp.diags_array(self.x[at])
        DA = sp.csc_array(D @ sp.csr_array(A[:, at]).T)
        parts = []
        if len(at) and A.shape[0]:
            H = sp.csc_array(published @ D @ published.T)
            # Each bucket has a redundant equation: a tiny multiple of the diagonal makes H regular.
            factors = splu(H + sp.diags_array(1e-11 * H.diagonal()))
            for start in range(0, A.shape[0], 100):
                block = DA[:, start : start + 100]
                z = factors.solve((published @ block).toarray())
                z[np.abs(z) < 1e-15] = 0.0
                parts.append(block - D @ (published.T @ sp.csc_array(z)))
        T = sp.hstack(parts, format="coo") if parts else sp.coo_array((len(at), A.shape[0]))
        self.T = sp.csr_array((T.data, (at[T.coords[0]], T.coords[1])), shape=(n_terms, A.shape[0]))
        S = (A @ self.T).toarray()
        eigenvalues, vectors = np.linalg.eigh((S + S.T) / 2)
        kept = eigenvalues > DEPENDENT * max(eigenvalues.max(initial=0.0), 1.0)
        self.inverse = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
        self.S = S
        self.n_qs = post.table
        shape = self.n_qs.size, n_terms
        pair = sp.csr_array((np.ones(n_terms), (post.space.cells, np.arange(n_terms))), shape=shape)
        self.by_pair = sp.csr_array(pair @ self.T)  # the derivative of n(q, s) by the multipliers

    def _open_zeros(self) -> np.ndarray:
        """Mark the buckets with a zero that rows of several buckets imply together and that may vanish with a record.

        Zeros that follow from stated ones and the totals of a bucket remain: they follow if people with some QI tuples
        are as many as the values that remain for them, and a record among these lowers both numbers.
        """
        rows, zero = self.rows, self.x <= EMPTY
        least = np.bincount(rows.row, rows.a < 0, len(rows.low)) == 0
        states_zero = least & (rows.high <= 0)
        stated = np.zeros(len(self.x), dtype=bool) if self.prior is None else self.prior == 0
        stated |= rows.terms[np.flatnonzero(states_zero[rows.row])].sum(axis=0) > 0
        # P(S | Q) = 1 states that nobody in Q has another value: terms of Q are zero if not terms of the event.
        single = np.bincount(rows.row, minlength=len(rows.low)) == 1
        certain = np.flatnonzero(single[rows.row] & (rows.low[rows.row] >= 1) & (rows.a == 1))
        stated |= rows.members[certain].sum(axis=0)[self.q] > rows.terms[certain].sum(axis=0)
        marked = np.zeros(len(self.view.buckets), dtype=bool)
        marked[self.b[zero & ~stated]] = True
        is_tied = np.zeros(len(marked), dtype=bool)
        is_tied[self.b[np.diff(self.T.indptr) > 0]] = True
        return marked & is_tied

    def of(self, kinds: Counterfactual, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return P(s | q) without a record of each kind; whether it is exact, or exists; and a violated row or -1."""
        q, s, b = kinds.q[chosen], kinds.s[chosen], kinds.b[chosen]
        n, rows = len(chosen), self.rows
        length = np.diff(self.first)[b]
        flat, kind = ranges(self.first[b], length), np.repeat(np.arange(n), length)
        target = self.n_qb[flat] - (self.q[flat] == q[kind]), self.n_sb[flat] - (self.s[flat] == s[kind])
        sizes = len(self.view.n_q), len(self.view.sensitive_values)
        groups = [
            group_codes([kind, code[flat]], [n, size]) for code, size in zip((self.q, self.s), sizes, strict=True)
        ]
        x, converged = _scaled(self.x[flat], groups, target, kind, n)
        # The new values of the rows of knowledge: people with the value, and all people, of every event.
        change = (
            sp.csr_array((x - self.x[flat], (kind, np.arange(len(flat)))), shape=(n, len(flat)))
            @ self.events_of_term[flat]
        )
        people = self.n_e - self.events_of_tuple[q].toarray()
        value = self.of_events(self.value_e + change.toarray(), people)
        missed = (self.side - value[:, self.active]) * self.size[self.active]
        # An inequality that held with equality keeps its multiplier, as long as that has the right sign.
        steps = missed @ self.inverse
        steps[np.abs(missed).max(axis=1, initial=0.0) < MET] = 0.0
        # The part that multipliers cannot correct: rows that depend on each other, or on the totals of the buckets.
        uncorrected = np.abs(missed - steps @ self.S)
        in_range = uncorrected.max(axis=1, initial=0.0) < 1e-6 + 1e-4 * np.abs(missed).max(axis=1, initial=0.0)
        blamed = np.full(n, -1)
        if uncorrected.shape[1]:
            blamed = np.where(converged & ~in_range, self.active[uncorrected.argmax(axis=1)], -1)
        hers = np.flatnonzero(self.q[flat] == q[kind])
        own = hers[self.s[flat[hers]] == s[kind[hers]]]  # one term per record
        is_exact = converged & (steps == 0).all(axis=1) & ~self.is_open[b] & (self.x[flat[own]] > EMPTY)
        # In the record's bucket the new multipliers act exactly, in others to first order.
        log_factor = np.zeros(len(flat))
        entries = self.rows_of_term[flat]
        term = np.repeat(np.arange(len(flat)), np.diff(entries.indptr))
        np.add.at(log_factor, term, entries.data * steps[kind[term], entries.indices])
        with np.errstate(over="ignore"):
            x, converged_again = _scaled(x * np.exp(np.clip(log_factor, -500, 500)), groups, target, kind, n)
        n_s = len(self.view.sensitive_values)
        moved = self._linear(
            self.by_pair, (q[:, None] * n_s + np.arange(n_s)).ravel(), np.repeat(np.arange(n), n_s), steps
        )
        counts = self.n_qs[q] + moved.reshape(n, n_s)
        linear = self._linear(self.T, flat[hers], kind[hers], steps)
        np.add.at(counts, (kind[hers], self.s[flat[hers]]), x[hers] - self.x[flat[hers]] - linear)
        inactive = np.setdiff1d(np.arange(len(rows.low)), self.active)
        slack = np.minimum(value - rows.low, rows.high - value)[:, inactive]
        with np.errstate(divide="ignore", invalid="ignore"):
            without = counts / (self.view.n_q[q] - 1)[:, None]
        is_valid = converged & converged_again & in_range & (slack >= -MET).all(axis=1)
        is_valid &= (counts >= -1e-7).all(axis=1)
        without[np.abs(without) < MET] = 0.0
        return without, is_exact & is_valid, is_valid, blamed

    @staticmethod
    def _linear(matrix: sp.csr_array, at: np.ndarray, of: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Compute matrix[at] @ steps[of], row by row."""
        entries = matrix[at]
        row = np.repeat(np.arange(len(at)), np.diff(entries.indptr))
        return np.bincount(row, entries.data * steps[of[row], entries.indices], len(at))


def _scaled(
    x: np.ndarray, groups: Iterable[np.ndarray], targets: tuple[np.ndarray, np.ndarray], of: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Scale counts to the totals of tuples and values in every bucket; also return which of n buckets met them."""
    x, met, previous = x.copy(), np.zeros(n, dtype=bool), np.full(n, np.inf)
    at, part, (q, s), (to_q, to_s) = np.arange(len(x)), x, groups, targets
    for _ in range(0, MOST_SCALINGS, SCALINGS):
        for group, to in ((q, to_q), (s, to_s)) * SCALINGS:
            total = np.bincount(group, part)[group]
            part = part * np.divide(to, total, out=np.zeros(len(part)), where=total > 0)
        off = np.maximum(np.abs(np.bincount(q, part)[q] - to_q), np.abs(np.bincount(s, part)[s] - to_s))
        start = np.flatnonzero(np.diff(of, prepend=-1))  # one per bucket
        bucket, worst = of[start], np.maximum.reduceat(off, start)
        met[bucket] = worst < MET / 10
        # The distance stagnates if no counts have these totals; the slowest convergence, as 1 / k, changes it by more.
        is_still = np.abs(worst - previous[bucket]) < SCALINGS / (10 * MOST_SCALINGS) * previous[bucket]
        done = met[bucket] | is_still
        previous[bucket] = worst
        if done.any():  # drop finished buckets, and the numbers of their groups, since a few buckets take long
            is_left = ~np.repeat(done, np.diff(start, append=len(of)))
            x[at[~is_left]] = part[~is_left]
            at, part, of, to_q, to_s = (each[is_left] for each in (at, part, of, to_q, to_s))
            if not len(at):
                break
            q, s = densely(q[is_left]), densely(s[is_left])
    x[at] = part
    return x, met
