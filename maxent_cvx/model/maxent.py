"""MaxEnt: the maximum-entropy model of a release and an adversary's knowledge."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._utils.errors import (
    DuplicateLabel,
    Inaccurate,
    NotDecided,
    SolverError,
    StatementError,
    TableError,
    join_names,
    short_repr,
)
from .._utils.files import path_of
from .._utils.progress import progress_bar
from .._utils.validation import (
    check_array,
    check_bool,
    check_instance,
    check_int,
    check_label,
    check_mapping,
    check_optional_bool,
    check_seconds,
    check_str,
    is_several,
)
from ..priors import QIDistribution
from ..releases.base import View
from ..releases.generalized import GroupedRelease
from ..releases.partitioned import PartitionedRelease
from ..releases.series import ReleaseSeries
from ..solvers.answer import Status
from ..solvers.attempts import presolved
from ..solvers.backends import find
from ..solvers.certificate import Certificate, by_distance, certify
from ..solvers.convex_solve import conflict_table
from ..solvers.form import LinearForm, Problem
from ..solvers.monitor import Callback, Monitor, within
from ..solvers.solve import solve
from ..sources.base import Source, build_rows, kind_of
from ..sources.invariants import NamedPeople, PriorZeros, PublishedRows, published_sources
from ..sources.parser import read_probability
from ..sources.statements import Probability
from ..sources.tables import PublishedTable
from ..terms.people import People
from ..terms.rows import Rows
from ..terms.space import Space
from . import storage
from .bounds import bounds_of, of_combinations, of_conditionals, of_table, require_attained
from .explain import Relaxation, least_relaxation
from .partitioned import PartitionedMaxEnt
from .posterior import ABOUT, Posterior, seconds_for
from .program import in_html, in_words, latex, model_of_problem, read_solution
from .system import KnowledgeBase, RowBlocks

if TYPE_CHECKING:
    import cvxpy as cp


class MaxEnt:
    """Maximise H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), subject to the release and the adversary's knowledge.

    Parameters
    ----------
    view : View
        The release. Its invariants are the model's first source. A partitioned release makes a
        :class:`PartitionedMaxEnt`.
    people : dict of dict, or DataFrame, optional
        The QI values of named people, so that statements can refer to ``P("Flu", who="Alice")``:
        ``{"Alice": {"Gender": "male", "Degree": "college"}}``, or a table indexed by name. The objective is then
        H(I, Q, S, B), where i is a person (section 6).
    prior : QIDistribution, optional
        The adversary's beliefs before the release, p(s : x) for the signatures s of one attribute set. The objective
        is then -sum P(q, s, b) log(P(q, s, b) / p(q : s)), the relative entropy. Values with prior probability 0 remain
        impossible. See the notes.

    Raises
    ------
    UnknownName, StatementError
        If the QI values of a named person match nobody in the release, or are incomplete.

    Warns
    -----
    LargeModel
        If there are so many named people that the model needs gigabytes of memory. Name only the people to whom
        the knowledge refers.

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

    The answer is certified to be the maximum-entropy distribution. It is **not** the posterior over possible worlds, in
    which everybody has exactly one record and one value: the values of a bucket, and knowledge about people
    (:func:`maxent_cvx.Count`), are matched in expectation only. With a prior, :func:`maxent_cvx.worlds.posterior` is
    exact. In a group of two the odds here are the square root of the exact ones, and the largest probability of a group
    is usually too small, so that a decision based on it usually understates the risk. There are exceptions if values
    repeat: for the values a, b, c, c, the prior .4, 0, .6 for one tuple, and .2, .2, .6 for three others, no exact
    probability is above .5, but the largest one here is .562. Use :func:`maxent_cvx.worlds.r_robustness`.
    """

    def __new__(
        cls,
        view: View | PartitionedRelease,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        prior: QIDistribution | None = None,
    ) -> Any:
        """Create a model, or a :class:`PartitionedMaxEnt` for a partitioned release."""
        if not isinstance(view, PartitionedRelease):
            return super().__new__(cls)
        if prior is not None:
            raise StatementError("prior is not supported for partitioned releases; use a release in memory")
        return PartitionedMaxEnt(view, people)

    def __getnewargs__(self) -> tuple[View]:
        return (self.view,)  # copies call __new__

    def __init__(
        self,
        view: View,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        prior: QIDistribution | None = None,
    ) -> None:
        if not isinstance(view, View):
            raise StatementError(
                f"MaxEnt expects a release, got a {type(view).__name__}; make one with Release.from_buckets(...)"
            )
        if people is not None and isinstance(view, ReleaseSeries):
            raise StatementError("a series names people by their pseudonyms, P(value, who=...); omit people=")
        if prior is not None:
            check_instance(prior, QIDistribution, "prior")
            if isinstance(view, GroupedRelease):
                raise StatementError("prior is not supported with a population; make the release without population")
        published = published_sources(view)  # validates a user-defined view before people are looked up in it
        self._set_up(view, People.of(people, view), prior, published)

    def _set_up(
        self,
        view: View,
        people: People,
        prior: QIDistribution | None,
        published: tuple[PublishedRows, *tuple[Source, ...]],
    ) -> None:
        """Build the rows of the release and of named people, for the constructor and :meth:`load`."""
        self.view = view
        self.prior = prior
        self.invariants: PublishedRows = published[0]
        self.space = Space.of(view, people, prior)
        self.facts: list[Source] = [*published, *[NamedPeople()][: len(people)]]
        if len({fact.label for fact in self.facts}) < len(self.facts):
            raise DuplicateLabel(f"two invariants of a {type(view).__name__} have the same label; labels must differ")
        groups = {fact.label: build_rows(fact, self.space) for fact in self.facts}
        if prior is not None and (self.space.prior == 0).any():  # type: ignore[union-attr]
            zeros = PriorZeros(prior.attribute_set())
            groups[zeros.label] = build_rows(zeros, self.space, zeros.label)
        self._held = KnowledgeBase.of(self.space, tuple(self.facts), groups)

    def add(self, *sources: Any, label: str | None = None) -> Self:
        """Add knowledge of the adversary; if any of it is invalid, the model does not change.

        Parameters
        ----------
        *sources
            Statements (``P("Flu", given={"Gender": "male"}) <= 0.3``, or as text,
            ``"P(Flu | Gender=male) <= 0.3"``), sources such as
            :class:`~maxent_cvx.StrongestAssociations`, rows (``model.space.marginal(...) == series``),
            CVXPY constraints on ``model.space.p``, or functions from the space to any of these but text.
        label : str, optional
            The label of the knowledge, for a single source. By default the text of the statement.

        Returns
        -------
        MaxEnt
            The model itself.

        Raises
        ------
        DuplicateLabel
            If other knowledge has the label.
        UnknownName, StatementError, BadProbability, LabelMismatch
            If a source does not match the view.

        Warns
        -----
        RepeatedStatement
            If the model already contains the same knowledge; it then does not change.

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
        self._hold(self._base.adding(sources, label, lambda source, name: build_rows(source, self.space, name)))
        return self

    def remove(self, label: str) -> Self:
        """Remove a source by its label.

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
            If no knowledge has the label; the release cannot be removed.
        StatementError
            If the label belongs to the zeros of the prior.

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
            raise StatementError("the zeros of the prior cannot be removed; make a model without prior=")
        self._hold(self._held.without(label))  # also if a parameter has no value
        return self

    def copy(self) -> Self:
        """Copy the model; the copies share their sources, but adding to one does not change the other.

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
        return self._with(self._base)

    def without_row(self, row: int) -> Self:
        """Copy the model without one row of knowledge, by its position among the rows of `form`.

        Parameters
        ----------
        row : int
            At least ``model.form.n_facts``; the rows before it are published.

        Raises
        ------
        StatementError
            If the row does not exist.

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
            raise StatementError("the model has no rows of knowledge to remove")
        row = check_int(row, "row", n_facts, n_rows - 1)
        return self._with(self._base.without_row(row))

    def without_convex(self, number: int) -> Self:
        """Copy the model without one of its convex constraints, by its position in :attr:`convex`."""
        return self._with(self._base.without_convex(number))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, for :meth:`load`: the release, people, the prior, and all knowledge.

        Knowledge is stored as labelled rows, so that the loaded model has the same answer to the last digit. Statements
        that can be written as text are restored as statements; everything else is restored as its rows, at the current
        values of CVXPY parameters. The new file is read and compared with the model before it replaces an existing one.
        It contains a checksum that detects any change.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StatementError
            If the model has a convex CVXPY constraint, which cannot be saved.
        TableError
            If a file cannot represent the labels exactly, or if the file cannot be written; an existing file is then
            unchanged.

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
        target = path_of(path)
        data = storage.save_model(self.space, self.prior, self._base.knowledge)
        again = self._made_of(*storage.read_model(BytesIO(data), "the saved model"))
        is_same = storage.same_system(self.form, again.form)
        storage.write_verified(target, data, f"model of this {self.view.noun}", is_same=is_same)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TableError
            If the file does not contain a model, or was damaged, truncated or edited; if the class of its view is not
            defined. The checksum is not a signature, and does not detect forged files.

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
        what = repr(str(path_of(path)))
        parts = storage.read_model(path, what)
        with storage.decoding(what, "make the model again"):
            return cls._made_of(*parts)

    @classmethod
    def _made_of(cls, view: View, people: People, parts: dict[str, Any], entries: pd.DataFrame) -> Self:
        """Return the model with the given view, people, and stored prior and knowledge."""
        model = object.__new__(cls)
        model._set_up(view, people, storage.read_prior(parts["prior"]), published_sources(view))
        groups = storage.knowledge_groups(parts, entries, model.space)
        built = model._base.groups
        model._hold(model._base.with_knowledge({label: group or built[label] for label, group in groups.items()}))
        model.form  # noqa: B018 - detects inconsistent rows
        return model

    def _hold(self, base: KnowledgeBase) -> None:
        """Replace the knowledge, and discard the properties that a subclass cached."""
        self._held = base
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]:
            delattr(self, name)

    def _with(self, base: KnowledgeBase) -> Self:
        """Return a copy of the model with other knowledge."""
        twin = copy.copy(self)
        twin._hold(base)
        return twin

    @property
    def _base(self) -> KnowledgeBase:
        """All sources, at the current values of CVXPY parameters."""
        if (now := self._held.at_parameters()) is not self._held:
            self._hold(now)
        return self._held

    def at_rest(self) -> Self:
        """Copy the model at the current values of CVXPY parameters; later values do not change the copy.

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
        return self._with(self._base.at_rest())

    @property
    def knowledge(self) -> dict[str, Source]:
        """The adversary's knowledge beyond the release, by label; the zeros of a prior come first."""
        return {label: group.source for label, group in self._held.knowledge.items()}

    def describe(self) -> pd.DataFrame:
        """List the sources.

        Returns
        -------
        DataFrame
            One row per source, by label: its class, its number of rows, the number of terms in them, and a note on
            rows without terms (such a row is satisfied by every distribution, or contradictory), on convex constraints,
            and on the cost of violated soft rows.

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
        table = []
        for group in self._base.groups.values():
            terms = np.concatenate([np.empty(0, int), *(rows.matrix.indices for rows in group.rows)])
            empty = sum(int((np.diff(rows.matrix.indptr) == 0).sum()) for rows in group.rows)
            costs = dict.fromkeys(f"soft: {rows.penalty}" for rows in group.rows if rows.penalty is not None)
            redundant = f"{empty} redundant: no such record can exist" * bool(empty)
            notes = [redundant, "convex" * bool(group.convex), *itertools.islice(costs, 3), "..." * (len(costs) > 3)]
            table.append((kind_of(group.source), group.n_rows, len(np.unique(terms)), "; ".join(filter(None, notes))))
        index = pd.Index(list(self._base.groups), name="label")
        return pd.DataFrame(table, columns=["source", "rows", "terms", "note"], index=index)

    @property
    def form(self) -> LinearForm:
        """All rows as one sparse system over counts of records."""
        return self._base.form

    @property
    def posed(self) -> Problem:
        """The optimization problem: rows, closed form of the release alone, groups of terms, convex constraints."""
        return self._base.posed

    @property
    def blocks(self) -> RowBlocks:
        """The rows as the sources built them, in the order of :attr:`form`."""
        return self._base.blocks

    @property
    def ruled_out(self) -> range:
        """The rows of `form` for the zeros of the prior, which cannot be removed without changing the prior."""
        return self._base.ruled_out

    @property
    def convex(self) -> list[Any]:
        """User-defined constraints that are convex and not affine."""
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
        """Bound a probability over all distributions that satisfy the rows.

        The posterior lies between the bounds. The width of the interval shows how much the posterior depends on the
        maximum-entropy principle.

        Parameters
        ----------
        asked : Probability, str, or several; optional
            ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination. By default
            every P(s | q).
        integer : bool
            Consider only integer assignments, in which everybody has exactly one value; linear rows do not imply this.
            Only independent parts of the model that the probability involves are considered; others may be infeasible.
        exact : bool, optional
            Whether every bound must be attained by a distribution. If False, linear programs are skipped, and a bound
            may be wider. The default is True for given probabilities; for every P(s | q), it is True in
            independent parts of the model of up to 5,000 counts after presolve.
        time_limit : float, optional
            Seconds, in total, or for each probability if `integer`. By default 60 if `integer`, otherwise no limit.
        progress : bool, optional
            Show a progress bar if there are several probabilities; by default on a terminal or in a notebook.

        Returns
        -------
        (low, high), or a DataFrame with these columns and one row per probability
            Bounds that are never too narrow. An exact bound is within 1e-6 records of a value that is attained
            by counts that satisfy every row up to the feasibility tolerance of HiGHS, 1e-10 records; statements that
            differ by less (a coefficient of 1e-9 beside 1) may restrict the probability further. For every P(s | q),
            the rows are labelled by QI attributes and sensitive value, impossible values are omitted, and a column
            `exact` specifies which bounds are exact: "both", "low", "high" or "neither".

        Raises
        ------
        Infeasible
            If the knowledge contradicts the release or itself.
        Inaccurate, SolverError
            If a program cannot be solved precisely; if `integer` and the model has convex constraints.
        NotDecided
            If the time limit is reached.
        UnknownName, StatementError
            If `asked` is not a probability of this view.

        Notes
        -----
        Buckets without knowledge have a closed form. In other buckets most bounds equal those of the bucket alone. They
        are attained if all other buckets can compensate the change in the knowledge: one factorization decides this for
        all bounds. The remaining bounds require linear programs, each of which may decide several. Soft rows may be
        violated, and have no effect. With convex constraints each bound requires a conic program (CLARABEL). Its point
        and dual values define half-spaces that contain the feasible set; the bounds are those of linear programs over
        the half-spaces, proved in the same way, and are exact if the conic program's point is within 1e-6 records.

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
        check_optional_bool(exact, "exact")
        seconds = self._seconds_of_bounds(integer, time_limit, progress)
        if asked is None:
            query = of_conditionals(self.space)
            ends = bounds_of(query, self, integer, seconds, progress, exact)
            table = pd.DataFrame(ends.value.T, columns=["low", "high"], index=query.index)
            return table.assign(exact=np.array(["neither", "low", "high", "both"])[ends.is_exact.T @ [1, 2]])
        several = list(asked) if is_several(asked) and not isinstance(asked, str) else [asked]
        probabilities: list[Any] = [read_probability(item) if isinstance(item, str) else item for item in several]
        if strangers := [item for item in probabilities if not isinstance(item, Probability)]:
            raise StatementError(f"bounds expects probabilities such as P('Flu'), got {short_repr(strangers[0])}")
        query = of_combinations(probabilities, self.space)
        ends = bounds_of(query, self, integer, seconds, progress, exact is not False)
        if exact is not False:
            require_attained(query, ends)
        value = ends.value
        if isinstance(asked, Probability | str):
            return float(value[0, 0]), float(value[1, 0])
        return pd.DataFrame(value.T, columns=["low", "high"], index=query.index)

    def audit(
        self,
        table: PublishedTable,
        integer: bool = False,
        *,
        time_limit: float | None = None,
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Bound the count of every suppressed or rounded cell of a table: a disclosure audit.

        The intruder is assumed to know the model and the table, which need not be added to the model.

        Parameters
        ----------
        table : PublishedTable
        integer : bool
            Consider only integer tables: whole people in all cells at once.
        time_limit : float, optional
            Seconds for all cells, or for each cell if `integer`. By default 60 if `integer`, otherwise no limit.
        progress : bool, optional
            Show a progress bar; by default on a terminal or in a notebook.

        Returns
        -------
        DataFrame
            One row per suppressed or rounded cell, by the attributes of the table: `low` and `high`, people,
            and whether the cell is `certain`, that is, only one integer is possible.

        Raises
        ------
        Infeasible
            If the table contradicts itself, or the model.
        Inaccurate, SolverError, NotDecided
            See :meth:`bounds`.
        StatementError, UnknownName
            If `table` is not a table of the people of this model.

        Notes
        -----
        This is the audit of suppression patterns in statistical disclosure control (Hundepool et al., 2012, chapter 4).
        The exact programs are integer; their linear relaxation, the default here and in other tools, returns
        intervals that are never too narrow.

        Examples
        --------
        One small cell is suppressed, but the total of its row is published:

        >>> import maxent_cvx as mx, pandas as pd
        >>> cells = [("North", "Flu", "<5"), ("North", "Cold", 20), ("North", "*", 22)]
        >>> table = mx.PublishedTable(pd.DataFrame(cells, columns=["Region", "Disease", "n"]))
        >>> print(mx.MaxEnt(table.to_view(sa="Disease")).audit(table))
                        low  high  certain
        Region Disease
        North  Flu      2.0   2.0     True
        """
        check_instance(table, PublishedTable, "table")
        seconds = self._seconds_of_bounds(integer, time_limit, progress)
        is_known = any(source.identity == table.identity for source in self.knowledge.values())
        label = "audited table" if table.label in self.knowledge else None  # a different table, same attributes
        model = self if is_known else self.copy().add(table, label=label)
        cells = np.flatnonzero(table.cells["low"].to_numpy() < table.cells["high"].to_numpy())
        query = of_table(table, self.space, cells)
        low, high = bounds_of(query, model, integer, seconds, progress).value
        # Bounds are proved up to 1e-6 people, so a bound within 1e-6 of an integer is rounded to it.
        certain = np.floor(high + 1e-6) <= np.ceil(low - 1e-6)
        return pd.DataFrame({"low": low, "high": high, "certain": certain}, index=query.index)

    def _seconds_of_bounds(self, integer: bool, time_limit: float | None, progress: bool | None) -> float:
        """Check the common arguments of :meth:`bounds` and :meth:`audit`, and return the time limit in seconds."""
        check_optional_bool(progress, "progress")
        if check_bool(integer, "integer") and self.convex:
            raise SolverError("integer=True requires linear constraints, but the model has convex ones; remove them")
        return seconds_for(time_limit, integer)

    @property
    def constraints(self) -> dict[str, list[cp.Constraint]]:
        """The CVXPY constraints of every source over ``space.counts``, by label, in the order of the model.

        The constraints of the release come first, in records; all others are in the unit of their values. User-defined
        sources of CVXPY constraints are included. Soft sources have no constraints, see :attr:`objective`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3", "P(HIV) ~ 0.2 +- 0.05")
        >>> for label, constraints in model.constraints.items():
        ...     print(label, [constraint.size for constraint in constraints])
        published buckets [9, 9]
        P(Flu | Gender=male) = 0.3 [1]
        P(HIV) ~ 0.2 +- 0.05 []
        """
        return {label: list(several) for label, several in self._base.program.constraints.items()}

    @property
    def objective(self) -> cp.Maximize:
        """Maximization of sum entr(counts) - costs of the soft sources: N H(p) - N log N - costs, nats.

        With named people or a prior, w, it is sum entr(counts) + log(w)' counts - costs. The cost of each soft source
        is a separate expression with the source's label; ``model.objective.format_labeled()`` prints the labels.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).add("P(HIV) ~ 0.2 +- 0.05").objective.format_labeled())
        maximize Sum(entr(counts), None, False) + -(P(HIV) ~ 0.2 +- 0.05)
        """
        return self._base.program.objective

    @property
    def problem(self) -> cp.Problem:
        """The :class:`cvxpy.Problem` of :attr:`objective` and all :attr:`constraints`, in the model's order.

        It can be printed, changed, and solved with any CVXPY solver; :meth:`read` converts a solved problem into a
        posterior. N times the entropy of the posterior equals the value of the problem plus N log N and the costs.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3").problem)
        maximize Sum(entr(counts), None, False)
        subject to published buckets: A @ counts == [1. 1. 2. 3. 2. 1.]
                   published buckets: A @ counts == [1. 1. 2. 1. 1. 1. 1. 1. 1.]
                   P(Flu | Gender=male) = 0.3: A @ counts == 0.3
        """
        return self._base.program.problem

    def read(self, problem: cp.Problem, allow_inaccurate: bool = False) -> Posterior:
        """Convert a solved CVXPY problem over the model's variable into a certified posterior.

        Parameters
        ----------
        problem : cvxpy.Problem
            A solved problem with :attr:`objective` and :attr:`constraints`. User-defined constraints may be added;
            knowledge and costs of soft sources may be removed. The posterior is then that of the changed model.
        allow_inaccurate : bool
            Also return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`.

        Returns
        -------
        Posterior
            Its multipliers are CVXPY's dual values; if these are too inaccurate for a certificate, they are those of the
            default solver, and the distance from its answer bounds the error.

        Raises
        ------
        StatementError
            If the problem has another objective or further variables, or lacks published constraints.
        SolverError, Inaccurate
            If the problem is not solved; if the answer is not certified.

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
        >>> mine = model.space.prob("HIV", given={"Gender": "male"}) <= 0.1
        >>> problem = cp.Problem(model.objective, [*model.problem.constraints, mine])
        >>> value = problem.solve(solver="CLARABEL")
        >>> post = model.read(problem)
        >>> post.certificate.holds, round(post.prob("HIV", given={"Gender": "male"}), 6)
        (True, 0.1)
        """
        check_bool(allow_inaccurate, "allow_inaccurate")
        model = model_of_problem(self, self._base.program, problem).at_rest()
        solution = read_solution(model, problem)
        post = Posterior.of(self.space, solution, model.form, model)
        if not post.certificate.holds:  # dual values can be much less precise than the counts; soft rows have none
            with suppress(Inaccurate, NotDecided):  # the default solver has no certified answer, either
                solved = model.solve()
                certificate = certify_by(model, np.asarray(model.space.counts.value), solved)
                if certificate.bound < post.certificate.bound:
                    post = replace(
                        post,
                        certificate=certificate,
                        multipliers=solved.multipliers,
                        convex_multipliers=solved.convex_multipliers,
                    )
        if not post.certificate.holds and not allow_inaccurate:
            raise Inaccurate(
                f"the solution of the problem is not certified: {post.certificate}; solve it with stricter tolerances, as in "
                "problem.solve('CLARABEL', tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12), or pass "
                "allow_inaccurate=True"
            )
        return post

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
            "auto", a name listed by ``maxent-cvx solvers``, or a user-defined solver, see
            :func:`maxent_cvx.solvers.register`. The default also supports convex constraints; if its answer to these is
            not certified, CLARABEL and SCS are tried, and ``post.solver`` is the name of the solver that was used.
        presolve : bool
            Remove fixed terms (mostly zeros), redundant rows, and buckets without knowledge, and aggregate
            interchangeable terms, before the solve. Ignored for models with convex constraints: DUAL_NEWTON always
            presolves the linear problems that approximate them, and other solvers receive the original problem.
        allow_inaccurate : bool
            Also return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`.
        warm_start : Posterior, optional
            An earlier answer to nearly the same model, on the same release. The dual solvers start from its
            multipliers; conic solvers ignore it.
        polish : bool
            Continue from the solver's answer with DUAL_NEWTON, to make it precise.
        time_limit : float
            Seconds for assembling the rows, presolve, the solver and the certificate together. The time is checked
            between iterations, and between steps of the other stages, each of which may take seconds in models with
            millions of terms. The other stages may exceed the limit by a tenth of it, or by a second if that is more.
            An answer that is certified by then is returned. Any other answer raises an error or, with
            `allow_inaccurate`, is returned with its certificate, whose bound is not informative if the time was too
            short.
        callback : callable
            Called once per iteration with a :class:`maxent_cvx.solvers.Iteration`, by DUAL_NEWTON and DUAL_LBFGS; if it
            returns True, the solve stops as if the time limit were reached.
        **options
            ``verbose=True`` prints one line per iteration, or one line at the end for a solver that does not report
            iterations; the posterior's ``log`` contains the same lines.
            ``progress`` shows iterations as a progress bar: by default after one second, on a terminal or in a
            notebook. All other options are passed to the solver: DUAL_NEWTON supports ``tolerance`` (records) and
            ``max_iterations``. Conic solvers are called with the tolerances that the certificate requires, and with
            stricter ones in a second call if the first answer is not certified. Tolerances among the options, under
            CVXPY's names, replace both in a single call.

        Raises
        ------
        Infeasible
            If the knowledge contradicts the release or itself.
        Inaccurate
            If the answer is not certified.
        NotDecided
            If the time limit is reached before the solver has started.
        SolverError
            If the solver stops without an answer, is not installed, or does not support the model, `time_limit` or
            `callback`.
        UnknownName, StatementError
            If the solver or an option is unknown, or `warm_start` belongs to another release.

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
        bar = progress_bar(
            None, "solve", False if monitor.verbose else progress, unit=" iterations", leave=False, delay=1.0
        )
        with within(monitor.seconds_left), bar:
            start = None if warm_start is None else first_multipliers(self, warm_start)
            model = self.at_rest()
            if bar.shown is not None and getattr(backend, "takes_callback", False):
                monitor.callback = bar.following(callback)
            solution = solve(
                model.posed, backend, presolve=presolve, polish=polish, allow_inaccurate=allow_inaccurate, start=start,
                monitor=monitor, **options,
            )  # fmt: skip
        return Posterior.of(self.space, solution, model.form, model)

    def certify(
        self, counts: npt.ArrayLike | pd.Series, multipliers: Mapping[str, np.ndarray] | None = None
    ) -> Certificate:
        """Bound the distance of counts from the maximum-entropy answer, as the certificate of :meth:`solve` does.

        Parameters
        ----------
        counts : array or Series
            N P(q, s, b), records, one per term in the order of ``model.space.index``; a Series is aligned by its index.
        multipliers : dict, optional
            Multipliers by label, as in ``Posterior.multipliers``; by default those of the default solver. They are not
            supported with convex constraints, where counts are certified by their distance from the model's answer.

        Raises
        ------
        TableError, SolverError
            If the number of counts or multipliers is wrong; if multipliers are given for a model with convex
            constraints, or the model has no certified answer.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
        >>> counts = 10 * model.solve().joint().round(4)                 # from a printed table
        >>> model.certify(counts).bound < 0.01
        True
        """
        if multipliers is None:
            return certify_by(self, counts, self.solve())
        return certify_counts(self, counts, multipliers)

    def diagnose(self, time_limit: float | None = None) -> pd.DataFrame:
        """Find statements that contradict each other, or the release: an irreducible infeasible subsystem (IIS).

        The statements of the set cannot all hold, but the remaining ones can if any one of them is removed. The
        release and the presence of named people are not part of the set, unless they contradict each other, as the
        releases of a series may. One set is found; there may be others.

        Parameters
        ----------
        time_limit : float, optional
            Seconds; by default there is no limit.

        Returns
        -------
        DataFrame
            One row per statement, by label, the largest move first: `low` and `high` as typed, the bounds `least` and
            `most` of the value if the others of the set hold, and the `move` that would make the statement consistent
            with them, all in the unit of the value. Empty if the knowledge is consistent.

        Raises
        ------
        NotDecided, SolverError
            If the time limit is reached; if a linear program cannot be solved.

        Notes
        -----
        For a CVXPY constraint that is convex and not affine, `least` is the least value of its left side if the other
        statements hold (or `most` is the largest value of the concave side, as in ``cp.sum(cp.entr(p)) >= 1``), and the
        other bound is NaN. An even power of a single expression, ``x**2 <= c``, is listed as the two rows
        ``|x| <= sqrt(c)``, times its slope at the limit. The table is also empty if a contradiction of convex
        constraints could not be proved. Soft rows are never part of a contradiction.

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

        All changes are listed; nothing else in the package changes statements as typed. Only hard rows are relaxed,
        because soft rows may be violated anyway.

        Parameters
        ----------
        priority : dict, optional
            By label, the cost of moving a source's rows by one record, or a convex constraint by 1 / N of its unit:
            1 by default, larger for more reliable knowledge, ``math.inf`` for knowledge that must not move.
        time_limit : float, optional
            Seconds; by default there is no limit.

        Returns
        -------
        Relaxation
            ``.changes``, a table, and ``.model``, a copy in which the rows are widened by these changes. If several
            relaxations are equally small, one of them is returned. With convex constraints each move is increased by
            1e-4 of its size and 1e-6 records, so that the constraints hold strictly.

        Raises
        ------
        Infeasible
            If the rows that must not move are contradictory.
        UnknownName, BadProbability
            If a label is unknown, or a priority is not positive.
        NotDecided, SolverError
            If the time limit is reached; if a program cannot be solved.

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
        with within(seconds_for(time_limit)):
            wider, changes = least_relaxation(self._base, priority or {})
        return Relaxation(self._with(wider), changes)

    def latex(self) -> str:
        r"""Write the program as LaTeX formulas, in an ``align*`` environment.

        A source of up to a dozen rows is written in full, a larger one as a family of rows with its size.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).add("P(Flu | Gender=male) <= 0.3").latex().splitlines()[-3])
        & P ( \text{Flu} \mid \text{Gender} = \text{male} ) \le 0.3 \\
        """
        return latex(self)

    def __str__(self) -> str:
        return in_words(self)

    def __repr__(self) -> str:
        groups = self._held.groups.values()  # also if a parameter has no value
        sources = f"{len(groups)} source{'s' * (len(groups) > 1)}"
        return f"<MaxEnt: {len(self.space)} terms, {sum(group.n_rows for group in groups)} rows from {sources}>"

    def _repr_html_(self) -> str:
        return in_html(self)


def certify_counts(
    model: MaxEnt, counts: npt.ArrayLike | pd.Series, multipliers: Mapping[str, np.ndarray]
) -> Certificate:
    """Bound the distance of counts from the answer of a model, by given multipliers."""
    if model.convex:
        raise SolverError(
            "multipliers are not supported for models with user-defined convex constraints; omit multipliers"
        )
    x, form = _in_records(model.space, counts), model.form
    m = form.transformed_multipliers(_by_row(form.by_label(np.zeros(form.shape[0])), multipliers))
    settled = presolved(model.posed).settled_for(x)
    return certify(form, model.posed.groups, x, form.project_to_dual_cone(m), settled)


def certify_by(model: MaxEnt, counts: npt.ArrayLike | pd.Series, solved: Posterior) -> Certificate:
    """Bound the distance of counts from the answer of a model, by a certified answer."""
    # Return the smaller of two bounds: the bound of the multipliers of the answer, which do not prove the zeros that
    # were detected during the solve, and the distance of the counts from the answer plus the answer's bound. Only the
    # second is available with convex constraints, whose multipliers are not stored.
    distant = by_distance(solved.certificate, solved.counts, _in_records(model.space, counts), model.posed)
    if model.convex:
        return distant
    return min(certify_counts(model, counts, solved.multipliers), distant, key=lambda certificate: certificate.bound)


def _in_records(space: Space, counts: npt.ArrayLike | pd.Series) -> np.ndarray:
    """Return the counts as a finite array, one per term, in the order of the space."""
    if isinstance(counts, pd.Series):
        at = counts.index.get_indexer(space.index) if counts.index.is_unique else np.array([-1])
        if len(counts) != len(space) or (at < 0).any():
            raise TableError(f"counts must be labelled by the {len(space)} terms of the model, each once")
        counts = counts.to_numpy()[at]
    return check_array(counts, "counts", len(space), TableError)


def _by_row(expected: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return one multiplier per row, from arrays by label."""
    if not isinstance(given, Mapping) or set(given) != set(expected):
        raise TableError(f"multipliers must be a dictionary with arrays for {join_names(list(expected))}")
    sizes = {label: len(zeros) for label, zeros in expected.items()}
    return np.concatenate([check_array(given[i], f"the multipliers of {i!r}", n, TableError) for i, n in sizes.items()])


def first_multipliers(model: MaxEnt, earlier: Posterior) -> np.ndarray:
    """Return the start of a warm solve: the multipliers of an earlier posterior, and the defaults of new knowledge."""
    check_instance(earlier, Posterior, "warm_start")
    if not earlier.multipliers:
        raise StatementError("warm_start has no multipliers, because they are not saved; solve its model again")
    if earlier.space.view is not model.view and not earlier.space.index.equals(model.space.index):
        raise StatementError("warm_start is a posterior of another release; it must belong to the model's release")
    known, rows = earlier.multipliers, model.blocks.by_label
    before = {} if earlier.model is None else earlier.model.blocks.by_label
    default = model.form.by_label(model.posed.start)
    start = [
        value if label not in known else _matching(known[label], value, before.get(label), rows[label])
        for label, value in default.items()
    ]
    return model.form.transformed_multipliers(np.concatenate(start))


def _matching(known: np.ndarray, default: np.ndarray, before: Rows | None, now: Rows) -> np.ndarray:
    """Transfer multipliers from the earlier to the current rows of a label, by the names of the rows."""
    if len(known) == 0 or before is now:
        return known if before is now else default
    if before is not None and before.index is not None and now.index is not None and before.index.is_unique:
        at = before.index.get_indexer(now.index)
        return np.where(at >= 0, known[at], default)
    return known if len(known) == len(default) else default


def load_posterior(path: str | PathLike[str], verify: bool = False) -> Posterior:
    """Read a posterior that :meth:`Posterior.save` wrote.

    The checksum in the file detects damage. It is not a signature: a forged file, with any certificate, can have a
    valid checksum. Files of version 0.2.0 can be read; to convert a file of version 0.1.0, load and save it with
    version 0.2.0.

    Parameters
    ----------
    path : str or path
    verify : bool
        Rebuild the model from the view and the knowledge in the file, solve it, and certify the counts of the file
        against it. This proves that the counts are the maximum-entropy answer to ``post.model.knowledge``, up to the
        bound of the new certificate. It does not prove who wrote the file, or that it contains the view and the
        knowledge that you expect: compare ``post.space.view`` and ``post.model.knowledge``. Sources other than
        statements consist of the rows in the file, and their labels prove nothing. `status`, `solver`, `iterations` and
        the seconds are not checked either.

    Returns
    -------
    Posterior
        The posterior without its model, its multipliers and its log. With `verify` it has a model, the multipliers of
        the new solve, and the new certificate.

    Raises
    ------
    TableError
        If the file does not contain a posterior, or was damaged, truncated or edited. With `verify`, also if the counts
        do not satisfy the certificate in the file, or if the file lacks the knowledge, as do files of version 0.2.0 and
        of models with convex constraints.
    Infeasible, SolverError
        With `verify`, if the model in the file is infeasible or cannot be solved.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.MaxEnt(release).add("P(HIV | Gender=male) = 0.1").solve().save(pathlib.Path(folder, "post.parquet"))
    ...     post = mx.load_posterior(pathlib.Path(folder, "post.parquet"), verify=True)
    >>> round(post.prob("Flu", given={"Gender": "male"}), 6), post.certificate.holds
    (0.320859, True)
    >>> list(post.model.knowledge)
    ['P(HIV | Gender=male) = 0.1']
    """
    check_bool(verify, "verify")
    what = repr(str(path_of(path)))
    space, counts, about, parts = storage.read_terms(path, what)
    with storage.decoding(what, "solve and save again"):
        if unknown := about.keys() - {"certificate", *ABOUT}:
            raise TableError(f"it has unknown fields: {join_names(sorted(unknown))}")
        written = about["certificate"]
        forced = check_int(written.pop("forced"), "forced", 0)
        loaded = Posterior(
            space,
            counts,
            # The numbers of a certificate are, like seconds, non-negative and possibly infinite.
            Certificate(forced=forced, **{name: check_seconds(value, name) for name, value in written.items()}),
            Status(about["status"]),
            check_str(about["solver"], "solver"),
            check_int(about["iterations"], "iterations", 0),
            check_seconds(about["compile_seconds"], "compile_seconds"),
            check_seconds(about["solve_seconds"], "solve_seconds"),
        )
    if not verify:
        return loaded
    if not isinstance(parts, dict | None):
        raise TableError(f"{what} is damaged: its model is a {type(parts).__name__}; solve and save again")
    reason = "an earlier version of maxent_cvx wrote it" if parts is None else parts.get("missing")
    if parts is None or reason is not None:
        raise TableError(
            f"{what} does not contain the knowledge of its model ({reason}), so its counts cannot be certified; "
            "make the model again and call model.certify(post.counts)"
        )
    with storage.decoding(what, "solve and save again"):
        model = MaxEnt._made_of(space.view, space.people, parts, storage.read_value(parts["entries"]))
    solved = model.solve()
    certificate = certify_by(model, counts, solved)
    if loaded.certificate.holds and not certificate.holds:
        raise TableError(
            f"the counts in {what} do not satisfy the certificate in the file: {certificate}; they are not the "
            "maximum-entropy answer to the view and the knowledge in the file. Solve and save again"
        )
    return replace(loaded, space=model.space, certificate=certificate, multipliers=solved.multipliers, model=model)
