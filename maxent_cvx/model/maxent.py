"""MaxEnt: a release and everything that an adversary knows, under one entropy objective."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._utils.errors import DuplicateLabel, SolverError, StatementError, TableError, join_names, pluralize, short_repr
from .._utils.files import path_of, write_beside
from .._utils.formatting import TablePreview, as_html
from .._utils.progress import progress_bar
from .._utils.validation import check_bool, check_instance, check_int, check_label, check_mapping, check_optional_bool
from ..priors import QIDistribution
from ..releases.base import View
from ..releases.generalized import GroupedRelease
from ..releases.partitioned import PartitionedRelease
from ..releases.series import ReleaseSeries
from ..solvers.attempts import presolved
from ..solvers.backends import find
from ..solvers.certificate import Certificate, certify
from ..solvers.form import LinearForm, Problem
from ..solvers.monitor import Callback, Monitor, within
from ..solvers.solve import conflict_table, solve
from ..sources.base import Source, as_source
from ..sources.invariants import NamedPeople, PriorZeros, PublishedRows, published_sources
from ..sources.parser import read_probability, read_statement
from ..sources.statements import Probability
from ..sources.tables import PublishedTable
from ..terms.people import People
from ..terms.rows import Rows
from ..terms.space import Space
from .bounds import bounds_of, of_combinations, of_conditionals, of_table
from .explain import Relaxation, least_relaxation
from .partitioned import PartitionedMaxEnt
from .posterior import Posterior, seconds_for
from .storage import WRITER, StoredModel, decoding, read_model, read_verified, same_system, sealed_model, verified
from .system import KnowledgeBase, RowBlocks, StoredSource, also_shown, build_rows, unique_label

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = [
    "MaxEnt",
    "certified_by",
]

# What an adversary knows: what a view publishes, and labelled sources, which are added and removed.


# Certify counts from anywhere against a model.


def certified(model: MaxEnt, counts: npt.ArrayLike | pd.Series, multipliers: Mapping[str, np.ndarray]) -> Certificate:
    """Bound how far counts are from the maximum-entropy answer of a model."""
    if model.convex:
        raise SolverError("what is certified has linear rows, and the model holds a convex constraint of your own")
    x, form = in_records(model.space, counts), model.form
    m = form.transformed_multipliers(of_rows(form.by_label(np.zeros(form.shape[0])), multipliers))
    settled = presolved(model.posed).settled_for(x)
    return certify(form, model.posed.groups, x, form.project_to_dual_cone(m), settled)


def certified_by(model: MaxEnt, counts: npt.ArrayLike | pd.Series, solved: Posterior) -> Certificate:
    """Bound how far counts are from the answer of a model, by an answer that is certified already."""
    # There are two bounds, and the smaller one is given: that of the multipliers of the answer, which do not prove
    # the zeros that were found during the solve, and the distance of the counts from the answer, plus its own bound.
    found = certified(model, counts, solved.multipliers)
    near, groups = solved.certificate, model.posed.groups
    apart = np.abs(np.maximum(in_records(model.space, counts), 0.0) - solved.counts)
    bound = near.bound + float((np.bincount(groups.of_term, apart, len(groups.records)) / groups.records).max())
    if found.bound <= bound:
        return found
    return replace(found, moved=near.moved + float(apart.max()), gap=near.gap, bound=bound, backward=near.backward)


def in_records(space: Space, counts: npt.ArrayLike | pd.Series) -> np.ndarray:
    """One finite number of records for each term, in the order of the space."""
    if isinstance(counts, pd.Series):
        at = counts.index.get_indexer(space.index) if counts.index.is_unique else np.array([-1])
        if len(counts) != len(space) or (at < 0).any():
            raise TableError(f"counts must be labelled by the {len(space)} terms of the model, each once")
        counts = counts.to_numpy()[at]
    try:
        found = np.asarray(counts, dtype=float)
    except (OverflowError, TypeError, ValueError):
        raise TableError(f"counts must be {len(space)} numbers of records, not {short_repr(counts)}") from None
    if found.shape != (len(space),) or not np.isfinite(found).all():
        raise TableError(f"counts must be {len(space)} finite numbers of records, one a term, not {short_repr(counts)}")
    return found


def of_rows(expected: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """One multiplier a row, from arrays by label."""
    if not isinstance(given, Mapping) or set(given) != set(expected):
        labels = join_names(list(expected))
        raise TableError(f"multipliers must be arrays by label, of {labels}, not {short_repr(given)}")
    found = []
    for label, zeros in expected.items():
        one = np.asarray(given[label])
        if one.shape != zeros.shape or one.dtype.kind not in "fiu" or not np.isfinite(one).all():
            raise TableError(f"the multipliers of {label!r} must be {len(zeros)} finite numbers, not {short_repr(one)}")
        found.append(one.astype(float))
    return np.concatenate(found)


# What is certain of probabilities and of the cells of tables, as methods of a model.


#: What a table is called that is asked about, if the model holds another one by the same attributes.
AUDITED = "audited table"

#: Which ends of an interval are attained: neither is 0, the low one 1, the high one 2, both 3.
EXACT = ("neither", "low", "high", "both")

#: People: an end of an interval that is so near to a whole number is taken for it, as bounds are proved up to this.
ROUNDOFF = 1e-6


# Where a solve begins that is handed an earlier answer: its multipliers, row by row where rows have names.


def first_multipliers(model: MaxEnt, earlier: Posterior) -> np.ndarray:
    """Begin with an earlier posterior's multipliers; new knowledge begins with 0."""
    if not isinstance(earlier, Posterior):
        raise StatementError(f"warm_start must be a posterior of this release, not a {type(earlier).__name__}")
    if not earlier.multipliers:
        raise StatementError("warm_start has no multipliers: they are not saved with a posterior; solve it again")
    if earlier.space.view is not model.view:
        raise StatementError("warm_start is a posterior of another release; start from one of this release")
    default = model.form.by_label(model.posed.start)
    known, rows = earlier.multipliers, model.blocks.by_label
    before = {} if earlier.model is None else earlier.model.blocks.by_label
    written = np.concatenate(
        [
            value if label not in known else by_rows(known[label], value, before.get(label), rows[label])
            for label, value in default.items()
        ]
    )
    return model.form.transformed_multipliers(written)


def by_rows(known: np.ndarray, default: np.ndarray, before: Rows | None, now: Rows) -> np.ndarray:
    """Take multipliers from the rows that had a label to those that have it now, row by row where they have names."""
    if len(known) == 0 or before is now:
        return known if before is now else default
    if before is not None and before.index is not None and now.index is not None and before.index.is_unique:
        at = before.index.get_indexer(now.index)
        return np.where(at >= 0, known[at], default)
    return known if len(known) == len(default) else default


#: Seconds of a solve after which its progress is shown.
SHORT = 1.0


class MaxEnt:
    """max H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), subject to everything published and known.

    Parameters
    ----------
    view : View
        What is published. Its invariants are the model's first source. Of a release in partitions a
        :class:`PartitionedMaxEnt` is made.
    people : dict of dict, or DataFrame, optional
        The QI values of people who are known by name, so that statements can involve ``P("Flu", who="Alice")``:
        ``{"Alice": {"Gender": "male", "Degree": "college"}}``, or a table of them indexed by name. What is
        maximised is then H(I, Q, S, B), i being a person (section 6).
    prior : QIDistribution, optional
        What is believed of people before anything is published, p(s : x) for the signatures s of one attribute set.
        Then -sum P(q, s, b) log(P(q, s, b) / p(q : s)) is maximised: the least relative entropy. What the prior holds
        to be impossible stays so. See the notes.

    Raises
    ------
    UnknownName, StatementError
        If nobody in the release is as described, or a description is not complete.

    Warns
    -----
    LargeModel
        If people are so many that the model needs gigabytes of memory. Name only those of whom something is known.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx import P
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
    >>> round(model.solve().prob("Flu", given={"Gender": "female"}), 6)
    0.3

    Notes
    -----
    Privacy-MaxEnt, Definition 3.1.

    The answer is certified to be the maximum-entropy one. That is **not** the posterior over possible worlds, in which
    everybody has exactly one record and one value: what a bucket holds, and what is known of people
    (:func:`maxent_cvx.Count`), is met on the average only. With a prior :func:`maxent_cvx.worlds.posterior` is exact.
    In a group of two the odds are here the square root of the exact ones, and the largest probability of a group is
    mostly too small: who decides by it whether to publish mostly understates the risk. Not always, where values
    repeat: let the values be a, b, c, c, the prior of one tuple .4, 0, .6, and that of three others .2, .2, .6. No
    exact probability is above .5, and the largest one here is .562. Ask :func:`maxent_cvx.worlds.r_robustness`.
    """

    def __new__(
        cls,
        view: View | PartitionedRelease,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        prior: QIDistribution | None = None,
    ) -> Any:
        """Make a model; of a release in partitions a :class:`PartitionedMaxEnt`."""
        if not isinstance(view, PartitionedRelease):
            return super().__new__(cls)
        if prior is not None:
            raise StatementError("a prior cannot be divided among partitions yet; solve the release in memory")
        return PartitionedMaxEnt(view, people)

    def __getnewargs__(self) -> tuple[View]:
        """What :meth:`__new__` needs to make a copy."""
        return (self.view,)

    def __init__(
        self,
        view: View,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        prior: QIDistribution | None = None,
    ) -> None:
        if not isinstance(view, View):
            raise StatementError(
                f"MaxEnt needs a published view, not a {type(view).__name__}; make one with Release.from_buckets(...)"
            )
        if people is not None and isinstance(view, ReleaseSeries):
            raise StatementError(
                "the people of a series have names, their pseudonyms: P(value, who=...); leave people out"
            )
        if prior is not None and not isinstance(prior, QIDistribution):
            raise StatementError(f"prior must be a QIDistribution, not {short_repr(prior)}")
        if prior is not None and isinstance(view, GroupedRelease):
            raise StatementError(
                "a prior is of people's values, and of a population it is open who has one; make the release without"
            )
        published = published_sources(view)  # checks a view of somebody's own, before people are looked for in it
        self._set_up(view, People.of(people, view), prior, published)

    def _set_up(
        self,
        view: View,
        people: People,
        prior: QIDistribution | None = None,
        published: tuple[PublishedRows, *tuple[Source, ...]] | None = None,
    ) -> None:
        """Emit the rows of the release and of named people; both constructors end here."""
        self.view = view
        self.prior = prior
        self.invariants: PublishedRows
        self.invariants, *others = published_sources(view) if published is None else published
        self.space = Space.of(view, people, prior)
        self.facts: list[Source] = [self.invariants, *others, *[NamedPeople()][: len(people)]]
        if len({fact.label for fact in self.facts}) < len(self.facts):
            raise DuplicateLabel(f"two sources of what a {type(view).__name__} says have one label; give each its own")
        emitted = {fact.label: build_rows(fact, self.space) for fact in self.facts}
        if prior is not None and (self.space.prior == 0).any():  # type: ignore[union-attr]
            zeros = PriorZeros(prior.attribute_set())
            emitted[zeros.label] = build_rows(zeros, self.space, zeros.label)
        self._held = KnowledgeBase.of(self.space, tuple(self.facts), emitted)

    def add(self, *sources: Any, label: str | None = None) -> Self:
        """Add what the adversary knows; nothing is added if anything is wrong with it.

        Parameters
        ----------
        *sources
            Statements (``P("Flu", given={"Gender": "male"}) <= 0.3``, or as text,
            ``"P(Flu | Gender=male) <= 0.3"``), sources such as
            :class:`~maxent_cvx.StrongestAssociations`, rows (``model.space.marginal(...) == series``),
            CVXPY constraints on ``model.space.p``, or functions from the space to any of these.
        label : str, optional
            The name to hold it under (one source at a time). By default a statement's own text.

        Returns
        -------
        MaxEnt
            The model itself.

        Raises
        ------
        DuplicateLabel
            If other knowledge has the label.
        UnknownName, StatementError, BadProbability, LabelMismatch
            If a source does not fit the view.

        Warns
        -----
        RepeatedStatement
            If the model holds the same knowledge already; then nothing changes.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release)
        >>> model = model.add("P(Breast Cancer | Gender=male) = 0", mx.P("Flu", given={"Gender": "male"}) <= 0.4)
        >>> model = model.add(lambda space: space.conditional("s", given="q") <= 0.9, label="nobody is sure")
        >>> list(model.knowledge)
        ['P(Breast Cancer | Gender=male) = 0', 'P(Flu | Gender=male) <= 0.4', 'nobody is sure']
        """
        if label is not None and (not isinstance(label, str) or not label):
            raise StatementError(f"label={short_repr(label)}: a label is a text, to be shown in tables and errors")
        if label is not None and len(sources) != 1:
            raise StatementError(f"label={label!r} names one piece of knowledge, and {len(sources)} are given")
        base = self._base.draft()
        for given in sources:
            source = read_statement(given) if isinstance(given, str) else as_source(given)
            emitted = build_rows(source, self.space, label)
            if (name := unique_label(base, emitted, label)) is not None:
                is_numbered = label is None and name != source.label  # "your own (2)"
                base.hold(name, emitted.named(name) if is_numbered and base.calls_like(emitted) else emitted)
        self._hold(base)
        return self

    def remove(self, label: str) -> Self:
        """Take a source out by its label; returns the model itself.

        Parameters
        ----------
        label : str
            One of ``model.knowledge``.

        Returns
        -------
        MaxEnt
            The model itself.

        Raises
        ------
        UnknownName
            If no knowledge has the label: what is published cannot be taken out.
        StatementError
            If it is what the prior rules out.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4", label="rumour")
        >>> model.remove("rumour")
        <MaxEnt: 27 terms, 18 rows from 1 source>
        """
        check_label(label, "label of the model's knowledge", self.knowledge)
        if isinstance(self.knowledge[label], PriorZeros):
            raise StatementError("the prior is no knowledge that comes and goes; make a model without prior=")
        self._hold(self._base.without(label))
        return self

    def copy(self) -> Self:
        """Copy the model; sources are shared, and adding to one copy leaves the other alone.

        Returns
        -------
        MaxEnt

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
        >>> more = model.copy().add("P(Flu | Gender=male) <= 0.4")
        >>> len(model.knowledge), len(more.knowledge)
        (1, 2)
        """
        twin = copy.copy(self)  # everything held is immutable
        twin._hold(self._base)
        return twin

    def without_row(self, row: int) -> Self:
        """Copy the model without one row of its knowledge, by its number among the rows of `form`.

        Parameters
        ----------
        row : int
            From ``model.form.n_facts`` on: rows before it are published.

        Returns
        -------
        MaxEnt

        Raises
        ------
        StatementError
            If it is no number of such a row.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) <= 0.4", "P(HIV | Gender=male) >= 0.1")
        >>> list(model.without_row(model.form.n_facts).knowledge)
        ['P(HIV | Gender=male) >= 0.1']
        """
        n_facts, n_rows = self.form.n_facts, self.form.shape[0]
        if n_rows == n_facts:
            raise StatementError("the model holds no rows of knowledge, so that there is none to leave out")
        row = check_int(row, "row", n_facts, n_rows - 1)
        twin = self.copy()
        twin._hold(self._base.without_row(row))
        return twin

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, for :meth:`load`: what is published, people, the prior, and all knowledge.

        Knowledge is stored as its rows, by its labels, so that the model that is loaded has the same answer to the last
        digit. Statements come back as statements; what was a function, or any other source, comes back as the rows that
        it emitted, and what depends on CVXPY parameters as it is now. The file replaces one that is there when it is
        complete and was read again and compared, and it holds a checksum, by which any change is found.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StatementError
            If the model holds a convex constraint of CVXPY, which no file can hold; the message says what to do.
        TableError
            If labels would not come back from a file as they are, or if the file cannot be written; what was there
            before is unchanged.

        Examples
        --------
        >>> import maxent_cvx as mx, pathlib, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "model.parquet"))
        ...     again = mx.MaxEnt.load(pathlib.Path(folder, "model.parquet"))
        >>> list(again.knowledge), (again.solve().counts == model.solve().counts).all().item()
        (['P(Flu | Gender=male) = 0.3'], True)
        """
        found = path_of(path)
        data = sealed_model(self.space, self.prior, self._base.knowledge)
        again = self._made_of(read_model(verified(BytesIO(data), "what was written", WRITER), "what was written"))
        if not same_system(self.form, again.form):
            raise TableError(
                f"the model of this {self.view.noun} would not come back from the file as it is; report this, with "
                "the types of its columns"
            )
        write_beside(found, lambda draft: draft.write_bytes(data))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        MaxEnt

        Raises
        ------
        TableError
            If the file is not one, or not as it was written: damaged, cut, or edited; if it is of a view of one's own
            whose class is not defined here. The checksum is not a signature: a forged file is a model like any other.

        Examples
        --------
        >>> import maxent_cvx as mx, pathlib, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add(lambda space: space.conditional("s", given="q") <= 0.9)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "model.parquet"))
        ...     again = mx.MaxEnt.load(pathlib.Path(folder, "model.parquet"))
        >>> again.add("P(HIV | Gender=male) <= 0.3").describe()[["source", "rows"]].iloc[1:].values.tolist()
        [['Custom', 22], ['Statement', 1]]
        """
        stored, what = read_verified(path, WRITER), repr(str(path_of(path)))
        parts = read_model(stored, what)
        with decoding(what, "make the model again"):
            model = cls._made_of(parts)
            model.form  # noqa: B018 - rows that do not fit together are found here
        return model

    @classmethod
    def _made_of(cls, parts: StoredModel) -> Self:
        """Make a model of its parts."""
        model = object.__new__(cls)
        model._set_up(parts.view, parts.people, parts.prior)
        own = model._base.emitted
        facts = {fact.label: own[fact.label] for fact in model.facts}
        knowledge = {label: entry or own[label] for label, entry in parts.entries(model.space).items()}
        model._hold(KnowledgeBase.of(model.space, tuple(model.facts), facts | knowledge))
        return model

    def _hold(self, base: KnowledgeBase) -> None:
        """Hold other sources, and forget what a subclass has derived from those before."""
        self._held = base
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]:
            delattr(self, name)

    @property
    def _base(self) -> KnowledgeBase:
        """What is held, at the values that CVXPY parameters have now."""
        if (now := self._held.at_parameters()) is not self._held:
            self._hold(now)
        return self._held

    def at_rest(self) -> Self:
        """Copy the model as it is; a CVXPY parameter that gets another value does not change the copy.

        Returns
        -------
        MaxEnt

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> rumour = cp.Parameter(value=0.3, name="rumour")
        >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == rumour)
        >>> before = model.at_rest()
        >>> rumour.value = 0.4
        >>> [round(one.solve().prob("Flu", given={"Gender": "male"}), 6) for one in (before, model)]
        [0.3, 0.4]
        """
        twin = copy.copy(self)
        twin._hold(self._base.at_rest())
        return twin

    @property
    def knowledge(self) -> dict[str, Source]:
        """What the adversary knows beyond the published view, by label; what a prior rules out, first."""
        return {label: emitted.source for label, emitted in self._base.knowledge.items()}

    def describe(self) -> pd.DataFrame:
        """List the sources.

        Returns
        -------
        DataFrame
            A row a source, by label: its kind, how many rows it emits, how many terms they touch, and
            a note on rows that touch none (such a row is true of any distribution, or contradictory), and on what it
            costs to miss soft ones.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4").describe())
                                              source  rows  terms note
        label
        published buckets           BucketInvariants    18     27
        P(Flu | Gender=male) = 0.4         Statement     1      3
        """
        found = []
        for entry in self._base.emitted.values():
            touched = np.concatenate([np.empty(0, int), *(rows.matrix.indices for rows in entry.rows)])
            empty = sum(int((np.diff(rows.matrix.indptr) == 0).sum()) for rows in entry.rows)
            costs = dict.fromkeys(f"soft: {rows.penalty}" for rows in entry.rows if rows.penalty is not None)
            none = f"{empty} redundant: no such record can exist" * bool(empty)
            notes = [none, "convex" * bool(entry.convex), *itertools.islice(costs, 3), "..." * (len(costs) > 3)]
            n_rows = sum(map(len, entry.rows))
            kind = entry.source.kind if isinstance(entry.source, StoredSource) else type(entry.source).__name__
            found.append((kind, n_rows, len(np.unique(touched)), "; ".join(filter(None, notes))))
        index = pd.Index(list(self._base.emitted), name="label")
        return pd.DataFrame(found, columns=["source", "rows", "terms", "note"], index=index)

    @property
    def form(self) -> LinearForm:
        """All rows as one sparse system over records."""
        return self._base.form

    @property
    def posed(self) -> Problem:
        """The optimization problem: the rows, the closed form of the published ones, QI tuples, convex constraints."""
        return self._base.posed

    @property
    def blocks(self) -> RowBlocks:
        """The rows as the sources emitted them, in the order of :attr:`form`."""
        return self._base.blocks

    @property
    def ruled_out(self) -> range:
        """The rows of `form` that say what the prior rules out; without them the prior would be another one."""
        return self._base.ruled_out

    @property
    def convex(self) -> list[Any]:
        """Constraints of the user's own that are convex and not affine."""
        return self._base.convex

    def bounds(
        self,
        asked: Probability | str | Iterable[Probability | str] | None = None,
        integer: bool = False,
        *,
        exact: bool | None = None,
        time_limit: float | None = None,
        progress: bool | None = None,
    ) -> tuple[float, float] | pd.DataFrame:
        """Bound a probability over every distribution that satisfies the rows: what is known for certain of it.

        The posterior lies inside; how far the interval reaches on either side is what maximum entropy adds.

        Parameters
        ----------
        asked : Probability, str, or several; optional
            ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination. By default
            every P(s | q).
        integer : bool
            Over whole assignments only: everybody has exactly one value, which linear rows do not say. Only those
            independent parts of the model that the probability is about are asked: another may have none.
        exact : bool, optional
            Whether every end must be attained by some distribution. If not, linear programs are left out, and an end
            may be further outside. By default of what is asked for; and of every P(s | q) in independent parts of the
            model of up to 5,000 counts after presolve.
        time_limit : float, optional
            Seconds: for all together, or with `integer` for each. By default there is no limit, but 60 with `integer`.
        progress : bool, optional
            Show a progress bar over several; by default on a terminal or in a notebook.

        Returns
        -------
        (low, high), or a DataFrame with these columns and a row each for several
            Probabilities, never narrower than the truth: an exact end is outside by no more than 1e-6 records. Of
            every P(s | q) by QI attributes and sensitive value; a value that nobody with q can have is left out. There,
            a column `exact` says which ends are: "both", "low", "high" or "neither".

        Raises
        ------
        Infeasible
            If the knowledge contradicts the published data or itself.
        Inaccurate, SolverError
            If a linear program has no precise answer, or a constraint of the model is not linear.
        NotDecided
            If the time is over.
        UnknownName, StatementError
            If something else than a probability of this view is asked for.

        Notes
        -----
        Buckets without knowledge have a closed form. Elsewhere most ends are those of the bucket alone, and attained if
        all other buckets can make up for what that changes in the knowledge: one factorization answers it for all ends.
        What is left takes linear programs, which many ends share as long as that answers several of them. Soft rows may
        be missed, and bound nothing.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release)
        >>> low, high = model.bounds("P(Flu | Gender=male)")
        >>> round(low, 6), round(high, 6)
        (0.166667, 0.5)
        >>> print(model.add("P(Breast Cancer | Gender=male) = 0").bounds().loc["female"].round(3).head(5))
                                low  high exact
        Degree   Disease
        college  Breast Cancer  0.5   0.5  both
                 Flu            0.0   0.5  both
                 HIV            0.0   0.5  both
                 Lung Cancer    0.0   0.5  both
                 Pneumonia      0.0   0.0  both
        """
        check_bool(integer, "integer")
        check_optional_bool(exact, "exact")
        seconds = seconds_for(time_limit, integer)
        check_optional_bool(progress, "progress")
        self._check_linear()
        if asked is None:
            every = of_conditionals(self.space)
            ends = bounds_of(every, self, integer, seconds, progress, exact)
            table = pd.DataFrame(ends.value.T, columns=["low", "high"], index=every.index)
            return table.assign(exact=np.array(EXACT)[ends.is_exact.T @ [1, 2]])
        together = list(asked) if isinstance(asked, Iterable) and not isinstance(asked, str) else [asked]
        combinations = [read_probability(a) if isinstance(a, str) else a for a in together]
        if strange := [a for a in combinations if not isinstance(a, Probability)]:
            raise StatementError(f"bounds are of probabilities such as P('Flu'), not of {short_repr(strange[0])}")
        several = of_combinations(combinations, self.space)
        found = bounds_of(several, self, integer, seconds, progress, exact is not False).value
        if isinstance(asked, Probability | str):
            return float(found[0, 0]), float(found[1, 0])
        return pd.DataFrame(found.T, columns=["low", "high"], index=several.index)

    def audit(
        self,
        table: PublishedTable,
        integer: bool = False,
        *,
        time_limit: float | None = None,
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Find the feasibility interval of every cell of a table that is suppressed or rounded: a disclosure audit.

        What an intruder can work out who knows all that the model holds, and the table, which need not be added.

        Parameters
        ----------
        table : PublishedTable
        integer : bool
            Over whole tables only: people are whole, in all cells at once.
        time_limit : float, optional
            Seconds: for all cells together, or with `integer` for each. By default there is no limit, but 60 with
            `integer`.
        progress : bool, optional
            Show a progress bar; by default on a terminal or in a notebook.

        Returns
        -------
        DataFrame
            A row a cell that is not published as it is, by the attributes of the table: `low` and `high`, people, and
            whether the cell is `certain`, only one whole number being between.

        Raises
        ------
        Infeasible
            If the table contradicts itself, or what else the model holds.
        Inaccurate, SolverError, NotDecided
            As :meth:`bounds`.
        StatementError, UnknownName
            If it is no table, or none of the people of this model.

        Notes
        -----
        The audit of suppression patterns in statistical disclosure control (Hundepool et al., 2012, chapter 4). Its
        programs would be integer; their linear relaxation, which is solved here and as a rule elsewhere, gives
        intervals that are never too narrow.

        Examples
        --------
        One cell was small. It is in a row and a column with totals, and nothing else was suppressed:

        >>> import maxent_cvx as mx, pandas as pd
        >>> cells = [("North", "Flu", "<5"), ("North", "Cold", 20), ("North", "*", 22)]
        >>> table = mx.PublishedTable(pd.DataFrame(cells, columns=["Region", "Disease", "n"]))
        >>> print(mx.MaxEnt(table.to_view(sa="Disease")).audit(table))
                        low  high  certain
        Region Disease
        North  Flu      2.0   2.0     True
        """
        check_instance(table, PublishedTable, "table")
        check_bool(integer, "integer")
        seconds = seconds_for(time_limit, integer)
        check_optional_bool(progress, "progress")
        self._check_linear()
        held = any(source.identity == table.identity for source in self.knowledge.values())
        model = self if held else self.copy().add(table, label=None if table.label not in self.knowledge else AUDITED)
        cells = np.flatnonzero(table.cells["low"].to_numpy() < table.cells["high"].to_numpy())
        asked = of_table(table, self.space, cells)
        low, high = bounds_of(asked, model, integer, seconds, progress).value
        certain = np.floor(high + ROUNDOFF) <= np.ceil(low - ROUNDOFF)
        return pd.DataFrame({"low": low, "high": high, "certain": certain}, index=asked.index)

    def _check_linear(self) -> None:
        """Refuse what linear programs cannot do."""
        if self.convex:
            raise SolverError("bounds are linear programs, and the model holds a convex constraint of your own")

    @property
    def problem(self) -> cp.Problem:
        """The plain :class:`cvxpy.Problem`, over ``space.counts``, to print, extend, or solve with any CVXPY solver.

        Its value is the posterior's entropy, in nats; with a prior H + sum p log(prior).

        Rows are in records; a constraint a block of rows, labelled.
        """
        return self._base.problem

    def solve(
        self,
        solver: str | object = "auto",
        *,
        presolve: bool = True,
        allow_inaccurate: bool = False,
        warm_start: Posterior | None = None,
        polish: bool = False,
        time_limit: float = math.inf,
        callback: Callback | None = None,
        **options: Any,
    ) -> Posterior:
        """Find the maximum-entropy distribution, and certify it.

        Parameters
        ----------
        solver : str or object
            "auto", or a name that ``maxent-cvx solvers`` lists; or a solver of one's own, as
            :func:`maxent_cvx.solvers.register` takes it. The default takes convex constraints, too; where it does not
            certify its answer to these, CLARABEL and SCS are tried, and ``post.solver`` says which it was.
        presolve : bool
            Remove forced terms (zeros, above all), redundant rows, and buckets that no knowledge involves, and
            aggregate interchangeable terms, before the solver sees the problem. With a convex constraint it says
            nothing: DUAL_NEWTON always presolves the problems of rows that stand for it, other solvers get such a model
            as it is.
        allow_inaccurate : bool
            Return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`, too.
        warm_start : Posterior, optional
            An earlier answer to nearly the same model, on the same release: its multipliers are where
            the dual solvers begin. Conic solvers cannot use it.
        polish : bool
            Go on from the solver's answer with DUAL_NEWTON, which makes a rough one precise.
        time_limit : float
            Seconds after which the solve stops: stacking the rows, presolve, the solver and the certificate together.
            The time is compared between iterations and between steps of the others, each of which may take seconds
            in models of millions of terms. All but the solver may take a tenth more, and at least a second. An answer
            that is certified by then is returned, any other is an error, or with `allow_inaccurate` returned with its
            certificate, which bounds nothing where the time was not enough.
        callback : callable
            Called once an iteration with a :class:`maxent_cvx.solvers.Iteration`, by DUAL_NEWTON and DUAL_LBFGS; if it
            returns True, the solve stops as if the time were over.
        **options
            ``verbose=True`` prints the solve: a line an iteration of all independent parts together or, of a solver
            that takes them one after another, a line a part; the same lines are in the posterior's ``log``.
            ``progress`` says whether its iterations are shown as a progress bar: by default if it takes longer than a
            second, on a terminal or in a notebook. All others are passed to the solver: those of
            DUAL_NEWTON are ``tolerance`` (records) and ``max_iterations``. Conic solvers are given tolerances that the
            certificate needs, and stricter ones in a second call where the first answer is not certified; tolerances
            among the options are used instead, by the names that CVXPY has for them, in one call.

        Returns
        -------
        Posterior

        Raises
        ------
        Infeasible
            If the knowledge contradicts the published data or itself.
        Inaccurate
            If the answer is not certified.
        NotDecided
            If the time is over before the solver has begun.
        SolverError
            If the solver stops without an answer, is not installed, or cannot take the model, `time_limit` or
            `callback`.
        UnknownName, StatementError
            If there is no such solver or option, or `warm_start` is of another release.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
        >>> post.status.value, post.certificate.holds, round(post.prob("Breast Cancer", {"Degree": "junior"}), 6)
        ('optimal', True, 1.0)
        """
        check_bool(presolve, "presolve")
        check_bool(allow_inaccurate, "allow_inaccurate")
        check_bool(polish, "polish")
        check_optional_bool(progress := options.pop("progress", None), "progress")
        monitor = Monitor(verbose=options.pop("verbose", False), time_limit=time_limit, callback=callback)
        backend = find(solver)
        backend.check(options)
        with (
            within(monitor.seconds_left),
            progress_bar(
                None, "solve", False if monitor.verbose else progress, unit=" iterations", leave=False, delay=SHORT
            ) as bar,
        ):
            start, asked = None if warm_start is None else first_multipliers(self, warm_start), self.at_rest()
            if bar.shown is not None and getattr(backend, "takes_callback", False):
                monitor.callback = also_shown(bar, callback)
            solution = solve(
                asked.posed, backend, presolve=presolve, polish=polish, allow_inaccurate=allow_inaccurate, start=start,
                monitor=monitor, **options,
            )  # fmt: skip
        return Posterior.of(self.space, solution, asked.form, asked)

    def certify(
        self, counts: npt.ArrayLike | pd.Series, multipliers: Mapping[str, np.ndarray] | None = None
    ) -> Certificate:
        """Bound how far counts from anywhere are from the maximum-entropy answer, as of an answer of :meth:`solve`.

        Parameters
        ----------
        counts : array or Series
            N P(q, s, b), records, one a term in the order of ``model.space.index``; a Series is aligned by that index.
        multipliers : dict, optional
            By label of rows, as in ``Posterior.multipliers``; by default those that the default solver finds.

        Returns
        -------
        Certificate

        Raises
        ------
        TableError, SolverError
            If there is not a number for each term and each row; if a constraint of the model is not linear.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
        >>> counts = 10 * model.solve().joint().round(4)                 # from a table that somebody has printed
        >>> model.certify(counts).bound < 0.01
        True
        """
        if multipliers is None:
            return certified_by(self, counts, self.solve())
        return certified(self, counts, multipliers)

    def diagnose(self, time_limit: float | None = None) -> pd.DataFrame:
        """Find statements that contradict each other, or the published data: an irreducible infeasible subsystem (IIS).

        All of them together cannot hold, and without any one of them the others can. The published data, and that
        named people are there, are hard constraints and no part of it, unless they contradict each other, as the
        releases of a series may. One set is found; there may be others.

        Parameters
        ----------
        time_limit : float, optional
            Seconds; by default there is no limit.

        Returns
        -------
        DataFrame
            A row a statement, by its label, with the largest move first: `low` and `high` as typed, `least` and
            `most` that it could be where the others of the set hold, and the `move` that it would take from the
            one to the other, all in the unit of its value. Empty if the knowledge is consistent.

        Raises
        ------
        NotDecided, SolverError
            If the time is over; if a linear program does not come to an end.

        Notes
        -----
        Of a CVXPY constraint that is convex and not affine, `least` is the least value of its left side where the other
        statements hold (or `most` the largest value of its right side, in ``cp.sum(cp.entr(p)) >= 1``), and the other
        end is NaN. The table is empty, too, if a contradiction of convex constraints could not be proved. Soft rows
        contradict nothing.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(HIV) <= 0.5", "P(Flu | Gender=male) <= 0.2")
        >>> model = model.add("P(Flu | Gender=female) <= 0.2")  # three of six men and four women have the flu
        >>> print(model.diagnose().round(3))
                                       low  high  least  most   move
        statement
        P(Flu | Gender=female) <= 0.2 -inf   0.2  0.450   0.5  0.250
        P(Flu | Gender=male) <= 0.2   -inf   0.2  0.367   0.5  0.167
        """
        with within(seconds_for(time_limit)):
            table = conflict_table(self.posed)
        if table is None:
            return pd.DataFrame(columns=["low", "high", "least", "most", "move"], dtype=float).rename_axis("statement")
        return table

    def relax(self, priority: Mapping[str, float] | None = None, time_limit: float | None = None) -> Relaxation:
        """Find the elastic relaxation: the least total change that makes contradictory knowledge consistent.

        What has changed is listed. Nothing else in the package changes what was typed. Soft rows, which may be missed
        as they are, stay as they are: the relaxation is of the hard rows alone.

        Parameters
        ----------
        priority : dict, optional
            By label, what it costs to move a source's rows by one record: 1 unless given, more for what is held
            firmly, ``math.inf`` for what must not move.
        time_limit : float, optional
            Seconds; by default there is no limit.

        Returns
        -------
        Relaxation
            ``.changes``, a table, and ``.model``, a copy in which what had to move is that much wider.
            Where several changes are equally small, one of them.

        Raises
        ------
        Infeasible
            If what must not move is contradictory in itself.
        UnknownName, BadProbability
            If a priority is of no label, or is not above 0.
        NotDecided, SolverError
            If the time is over; if a linear program does not come to an end, or a constraint is not linear.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) >= 0.6")
        >>> print(model.relax().changes[["low", "new_low", "move"]].round(3))
                                     low  new_low  move
        statement
        P(Flu | Gender=male) >= 0.6  0.6      0.5   0.1
        """
        if priority is not None:
            check_mapping(priority, "priority", "{label: number}")
        if self.convex:
            raise SolverError("only linear knowledge is relaxed, and the model holds a convex constraint of your own")
        with within(seconds_for(time_limit)):
            wider, changes = least_relaxation(self._base, priority or {})
        twin = self.copy()
        twin._hold(wider)
        return Relaxation(twin, changes)

    def __repr__(self) -> str:
        sources = f"{len(self._base.emitted)} source{'s' * (len(self._base.emitted) > 1)}"
        return f"<MaxEnt: {len(self.space)} terms, {self.form.shape[0]} rows from {sources}>"

    def _repr_html_(self) -> str:
        size = f"{pluralize(self.view.n_records, 'person', 'people')}, {pluralize(len(self.space), 'term')} {self.space.term}"
        return as_html(f"<MaxEnt: {size}>", TablePreview(self.describe(), "sources"))
