"""MaxEnt: a release and everything that an adversary knows, under one entropy objective."""

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
from .._utils.files import path_of, write_beside
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
from .bounds import bounds_of, of_combinations, of_conditionals, of_table, require_attained
from .explain import Relaxation, least_relaxation
from .partitioned import PartitionedMaxEnt
from .posterior import ABOUT, Posterior, seconds_for
from .program import in_html, in_words, latex, model_of_problem, read_solution
from .storage import StoredModel, decoding, model_of_parts, read_model, read_terms, same_system, save_model
from .system import KnowledgeBase, RowBlocks

if TYPE_CHECKING:
    import cvxpy as cp


class MaxEnt:
    """max H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), subject to the release and to what the adversary knows.

    Parameters
    ----------
    view : View
        The release. Its invariants are the model's first source. A release in partitions gives a
        :class:`PartitionedMaxEnt`.
    people : dict of dict, or DataFrame, optional
        The QI values of people who are known by name, so that statements can be about ``P("Flu", who="Alice")``:
        ``{"Alice": {"Gender": "male", "Degree": "college"}}``, or a table of them indexed by name. The objective is
        then H(I, Q, S, B), where i is a person (section 6).
    prior : QIDistribution, optional
        What is believed of people before the release, p(s : x) for the signatures s of one attribute set. The objective
        is then -sum P(q, s, b) log(P(q, s, b) / p(q : s)), the relative entropy. Values that the prior rules out stay
        impossible. See the notes.

    Raises
    ------
    UnknownName, StatementError
        If nobody in the release matches a description, or a description is incomplete.

    Warns
    -----
    LargeModel
        If there are so many named people that the model needs gigabytes of memory. Name only people about whom
        something is known.

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
    everybody has exactly one record and one value: the values of a bucket, and knowledge about people
    (:func:`maxent_cvx.Count`), are met on average only. With a prior, :func:`maxent_cvx.worlds.posterior` is exact.
    In a group of two the odds here are the square root of the exact ones, and the largest probability of a group is
    mostly too small, so that a decision based on it mostly understates the risk. Not always, if values repeat: let the
    values be a, b, c, c, the prior of one tuple .4, 0, .6, and that of three others .2, .2, .6. No exact probability
    is above .5, and the largest one here is .562. Use :func:`maxent_cvx.worlds.r_robustness`.
    """

    def __new__(
        cls,
        view: View | PartitionedRelease,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        prior: QIDistribution | None = None,
    ) -> Any:
        """Make a model; of a partitioned release a :class:`PartitionedMaxEnt`."""
        if not isinstance(view, PartitionedRelease):
            return super().__new__(cls)
        if prior is not None:
            raise StatementError("a prior cannot be divided among partitions yet; solve the release in memory")
        return PartitionedMaxEnt(view, people)

    def __getnewargs__(self) -> tuple[View]:
        return (self.view,)  # for copies, which call __new__

    def __init__(
        self,
        view: View,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        prior: QIDistribution | None = None,
    ) -> None:
        if not isinstance(view, View):
            raise StatementError(
                f"MaxEnt needs a release, not a {type(view).__name__}; make one with Release.from_buckets(...)"
            )
        if people is not None and isinstance(view, ReleaseSeries):
            raise StatementError("people of a series are named by their pseudonyms, P(value, who=...); omit people=")
        if prior is not None:
            check_instance(prior, QIDistribution, "prior")
            if isinstance(view, GroupedRelease):
                raise StatementError("a prior needs to know who is in the release; make the release without population")
        published = published_sources(view)  # checks a view of the user's own class before people are looked up in it
        self._set_up(view, People.of(people, view), prior, published)

    def _set_up(
        self,
        view: View,
        people: People,
        prior: QIDistribution | None,
        published: tuple[PublishedRows, *tuple[Source, ...]],
    ) -> None:
        """Build the rows of the release and of named people; the constructor and :meth:`load` end here."""
        self.view = view
        self.prior = prior
        self.invariants: PublishedRows = published[0]
        self.space = Space.of(view, people, prior)
        self.facts: list[Source] = [*published, *[NamedPeople()][: len(people)]]
        if len({fact.label for fact in self.facts}) < len(self.facts):
            raise DuplicateLabel(f"two sources of the invariants of a {type(view).__name__} have the same label")
        groups = {fact.label: build_rows(fact, self.space) for fact in self.facts}
        if prior is not None and (self.space.prior == 0).any():  # type: ignore[union-attr]
            zeros = PriorZeros(prior.attribute_set())
            groups[zeros.label] = build_rows(zeros, self.space, zeros.label)
        self._held = KnowledgeBase.of(self.space, tuple(self.facts), groups)

    def add(self, *sources: Any, label: str | None = None) -> Self:
        """Add what the adversary knows; if anything is wrong with it, the model does not change.

        Parameters
        ----------
        *sources
            Statements (``P("Flu", given={"Gender": "male"}) <= 0.3``, or as text,
            ``"P(Flu | Gender=male) <= 0.3"``), sources such as
            :class:`~maxent_cvx.StrongestAssociations`, rows (``model.space.marginal(...) == series``),
            CVXPY constraints on ``model.space.p``, or functions from the space to any of these.
        label : str, optional
            The name of the knowledge, of one source at a time. By default a statement's own text.

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
            If the model contains the same knowledge already; then nothing changes.

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
        """Remove a source by its label; returns the model itself.

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
            If it is the zeros of the prior.

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
        self._hold(self._base.without(label))
        return self

    def copy(self) -> Self:
        """Copy the model; sources are shared, and adding to one copy leaves the other alone.

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
        """Copy the model without one row of its knowledge, by its number among the rows of `form`.

        Parameters
        ----------
        row : int
            From ``model.form.n_facts`` on: rows before it are published.

        Raises
        ------
        StatementError
            If there is no such row.

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
            raise StatementError("the model has no rows of knowledge to leave out")
        row = check_int(row, "row", n_facts, n_rows - 1)
        return self._with(self._base.without_row(row))

    def without_convex(self, number: int) -> Self:
        """Copy the model without one of its convex constraints, by its number in :attr:`convex`."""
        return self._with(self._base.without_convex(number))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, for :meth:`load`: the release, people, the prior, and all knowledge.

        Knowledge is stored as its rows, under its labels, so that the loaded model has the same answer to the last
        digit. Statements come back as statements; functions and other sources come back as their rows, and what depends
        on CVXPY parameters as it is now. The file is read again and compared before it replaces an existing one, and it
        contains a checksum, by which any change is detected.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StatementError
            If the model has a convex constraint of CVXPY, which cannot be saved; the message says what to do.
        TableError
            If labels would not come back from a file as they are, or if the file cannot be written; an existing file is
            then unchanged.

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
        data = save_model(self.space, self.prior, self._base.knowledge)
        again = self._made_of(read_model(BytesIO(data), "the saved model"))
        if not same_system(self.form, again.form):
            raise TableError(
                f"the model of this {self.view.noun} would not come back from the file as it is; please report this, "
                "with the types of its columns"
            )
        write_beside(target, lambda draft: draft.write_bytes(data))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TableError
            If it is not such a file, or has been damaged, cut, or edited since; if the class of its view is not
            defined here. The checksum is not a signature: a forged file is a model like any other.

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
        parts = read_model(path, what)
        with decoding(what, "make the model again"):
            model = cls._made_of(parts)
            model.form  # noqa: B018 - rows that do not fit together are found here
        return model

    @classmethod
    def _made_of(cls, parts: StoredModel) -> Self:
        """Make a model of its parts."""
        model = object.__new__(cls)
        model._set_up(parts.view, parts.people, parts.prior, published_sources(parts.view))
        groups = parts.knowledge_over(model.space)
        built = model._base.groups
        model._hold(model._base.with_knowledge({label: group or built[label] for label, group in groups.items()}))
        return model

    def _hold(self, base: KnowledgeBase) -> None:
        """Take other knowledge, and forget what a subclass has derived from that before."""
        self._held = base
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]:
            delattr(self, name)

    def _with(self, base: KnowledgeBase) -> Self:
        """Copy the model with other knowledge."""
        twin = copy.copy(self)
        twin._hold(base)
        return twin

    @property
    def _base(self) -> KnowledgeBase:
        """All sources, at the values that CVXPY parameters have now."""
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
        """What the adversary knows beyond the release, by label; the zeros of a prior come first."""
        return {label: group.source for label, group in self._base.knowledge.items()}

    def describe(self) -> pd.DataFrame:
        """List the sources.

        Returns
        -------
        DataFrame
            One row per source, by label: its class, how many rows it has, how many terms they involve, and a note on
            rows without terms (such a row is true of any distribution, or contradictory), on convex constraints, and on
            the cost of missing soft rows.

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
        """All rows as one sparse system over records."""
        return self._base.form

    @property
    def posed(self) -> Problem:
        """The optimization problem: the rows, the closed form of the release alone, groups of terms, convex constraints."""
        return self._base.posed

    @property
    def blocks(self) -> RowBlocks:
        """The rows as the sources built them, in the order of :attr:`form`."""
        return self._base.blocks

    @property
    def ruled_out(self) -> range:
        """The rows of `form` for the zeros of the prior; without them the prior would be another one."""
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
        """The least and the largest value of a probability over every distribution that satisfies the rows.

        The posterior lies inside; how far the interval reaches on either side is what maximum entropy adds.

        Parameters
        ----------
        asked : Probability, str, or several; optional
            ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination. By default
            every P(s | q).
        integer : bool
            Over whole assignments only: everybody has exactly one value, which linear rows do not imply. Only those
            independent parts of the model that the probability involves are considered: another may have none.
        exact : bool, optional
            Whether every end must be attained by some distribution. If not, linear programs are left out, and an end
            may be further outside. The default is True for given probabilities; for every P(s | q), it is True in
            independent parts of the model of up to 5,000 counts after presolve.
        time_limit : float, optional
            Seconds, in total, or with `integer` for each probability. No limit by default, but 60 with `integer`.
        progress : bool, optional
            Show a progress bar over several; by default on a terminal or in a notebook.

        Returns
        -------
        (low, high), or a DataFrame with these columns and one row each for several
            Probabilities, never narrower than the truth. An exact end exceeds by at most 1e-6 records what is attained
            by counts that satisfy every row up to the feasibility tolerance of HiGHS, 1e-10 records; statements that
            differ by less (a coefficient of 1e-9 beside 1) may restrict the probability further. For every P(s | q),
            the rows are labelled by QI attributes and sensitive value, impossible values are left out, and a column
            `exact` lists which ends are exact: "both", "low", "high" or "neither".

        Raises
        ------
        Infeasible
            If the knowledge contradicts the release or itself.
        Inaccurate, SolverError
            If a program has no precise answer, or with `integer` if a constraint of the model is not linear.
        NotDecided
            If the time is over.
        UnknownName, StatementError
            If `asked` is not a probability of this view.

        Notes
        -----
        Buckets without knowledge have a closed form. Elsewhere most ends are those of the bucket alone, and are attained
        if all other buckets can make up for the change in the knowledge: one factorization decides this for all ends.
        The remaining ends take linear programs, each of which may decide several. Soft rows may be missed, and bound
        nothing. With convex constraints each end takes a conic program (CLARABEL), whose point and dual values give
        half-spaces that contain the feasible set; the ends are those of linear programs over these, proved in the same
        way, and are exact if the conic program's point is no further than 1e-6 records.

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
        self._check_linear(integer)
        if asked is None:
            query = of_conditionals(self.space)
            ends = bounds_of(query, self, integer, seconds, progress, exact)
            table = pd.DataFrame(ends.value.T, columns=["low", "high"], index=query.index)
            return table.assign(exact=np.array(["neither", "low", "high", "both"])[ends.is_exact.T @ [1, 2]])
        several = list(asked) if is_several(asked) and not isinstance(asked, str) else [asked]
        probabilities: list[Any] = [read_probability(one) if isinstance(one, str) else one for one in several]
        if strangers := [one for one in probabilities if not isinstance(one, Probability)]:
            raise StatementError(f"bounds takes probabilities such as P('Flu'), not {short_repr(strangers[0])}")
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
        """The least and the largest count of every suppressed or rounded cell of a table: a disclosure audit.

        The intruder knows everything in the model, and the table, which need not be added.

        Parameters
        ----------
        table : PublishedTable
        integer : bool
            Over whole tables only: people are whole, in all cells at once.
        time_limit : float, optional
            Seconds, for all cells together, or with `integer` for each. No limit by default, but 60 with `integer`.
        progress : bool, optional
            Show a progress bar; by default on a terminal or in a notebook.

        Returns
        -------
        DataFrame
            One row per cell that is not published as it is, by the attributes of the table: `low` and `high`, people,
            and whether the cell is `certain`, so that only one whole number is possible.

        Raises
        ------
        Infeasible
            If the table contradicts itself, or the model.
        Inaccurate, SolverError, NotDecided
            As :meth:`bounds`.
        StatementError, UnknownName
            If `table` is not a table of the people of this model.

        Notes
        -----
        The audit of suppression patterns in statistical disclosure control (Hundepool et al., 2012, chapter 4). The
        exact programs are integer; their linear relaxation, which is the default here and in other tools, gives
        intervals that are never too narrow.

        Examples
        --------
        One small cell is suppressed, and its row has a total:

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
        self._check_linear(integer)
        is_known = any(source.identity == table.identity for source in self.knowledge.values())
        label = "audited table" if table.label in self.knowledge else None  # another table by the same attributes
        model = self if is_known else self.copy().add(table, label=label)
        cells = np.flatnonzero(table.cells["low"].to_numpy() < table.cells["high"].to_numpy())
        query = of_table(table, self.space, cells)
        low, high = bounds_of(query, model, integer, seconds, progress).value
        # Bounds are proved up to 1e-6 people: an end that is so near to a whole number is taken for it.
        certain = np.floor(high + 1e-6) <= np.ceil(low - 1e-6)
        return pd.DataFrame({"low": low, "high": high, "certain": certain}, index=query.index)

    def _check_linear(self, integer: bool) -> None:
        if integer and self.convex:
            raise SolverError("bounds of whole assignments are of linear rows, and the model has convex constraints")

    @property
    def constraints(self) -> dict[str, list[cp.Constraint]]:
        """The CVXPY constraints of every source over ``space.counts``, by its label, in the order of the model.

        Those of the release come first, in records; all others are in the unit of their values. A source of your own
        that gives CVXPY constraints is listed with these. Soft sources have no constraints, see :attr:`objective`.

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
        """Maximize sum entr(counts) - costs of the soft sources: N H(p) - N log N - costs, nats.

        With named people or a prior, w, it is sum entr(counts) + log(w)' counts - costs. The cost of each soft source
        is an expression of its own that carries the source's label; ``model.objective.format_labeled()`` prints them.

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

        It can be printed, changed, and solved with any CVXPY solver; :meth:`read` takes a solved one back. N times the
        posterior's entropy is its value plus N log N and the costs.

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
        """Read a solved CVXPY problem over the model's variable as a posterior, certified like any other.

        Parameters
        ----------
        problem : cvxpy.Problem
            Made of :attr:`objective` and :attr:`constraints`, and solved. Constraints of your own may have been added
            and those of knowledge left out, as may costs of soft sources: the posterior is then of the changed model.
        allow_inaccurate : bool
            Also return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`.

        Returns
        -------
        Posterior
            Its multipliers are CVXPY's dual values; where these are too rough for a certificate, they are those of the
            default solver, and the distance from its answer bounds the error.

        Raises
        ------
        StatementError
            If the objective is another one, there are further variables, or published constraints are lacking.
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
            "auto", a name that ``maxent-cvx solvers`` lists, or a solver of your own, as for
            :func:`maxent_cvx.solvers.register`. The default takes convex constraints, too; if its answer to these is
            not certified, CLARABEL and SCS are tried, and ``post.solver`` names the one that was used.
        presolve : bool
            Remove forced terms (zeros, above all), redundant rows, and buckets that no knowledge involves, and
            aggregate interchangeable terms, before the solver sees the problem. Ignored with a convex constraint:
            DUAL_NEWTON always presolves the linear problems that approximate it, other solvers get such a model as it
            is.
        allow_inaccurate : bool
            Also return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`.
        warm_start : Posterior, optional
            An earlier answer to nearly the same model, on the same release. The dual solvers start from its
            multipliers; conic solvers ignore it.
        polish : bool
            Continue from the solver's answer with DUAL_NEWTON, which makes a rough one precise.
        time_limit : float
            Seconds after which the solve stops: assembling the rows, presolve, the solver and the certificate together.
            The time is checked between iterations and between steps of the others, each of which may take seconds
            in models of millions of terms. All but the solver may take a tenth more, and at least a second. An answer
            that is certified by then is returned; any other is an error, or with `allow_inaccurate` is returned with
            its certificate, which bounds nothing if the time was too short.
        callback : callable
            Called once an iteration with a :class:`maxent_cvx.solvers.Iteration`, by DUAL_NEWTON and DUAL_LBFGS; if it
            returns True, the solve stops as if the time were over.
        **options
            ``verbose=True`` prints the solve: one line per iteration, or, for a solver that reports none, one at the
            end; the same lines are in the posterior's ``log``.
            ``progress`` shows iterations as a progress bar: by default after one second, on a terminal or in a
            notebook. All others are passed to the solver: those of DUAL_NEWTON are ``tolerance`` (records) and
            ``max_iterations``. Conic solvers get the tolerances that the certificate needs, and stricter ones in a
            second call if the first answer is not certified; tolerances among the options, by CVXPY's names, are used
            instead, in one call.

        Raises
        ------
        Infeasible
            If the knowledge contradicts the release or itself.
        Inaccurate
            If the answer is not certified.
        NotDecided
            If the time is over before the solver has started.
        SolverError
            If the solver stops without an answer, is not installed, or cannot take the model, `time_limit` or
            `callback`.
        UnknownName, StatementError
            If there is no such solver or option, or `warm_start` belongs to another release.

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
        """Bound how far given counts are from the maximum-entropy answer, as the certificate of :meth:`solve` does.

        Parameters
        ----------
        counts : array or Series
            N P(q, s, b), records, one per term in the order of ``model.space.index``; a Series is aligned by its index.
        multipliers : dict, optional
            By label of rows, as in ``Posterior.multipliers``; by default those of the default solver. A model with
            convex constraints takes none: counts are certified by their distance from its answer.

        Raises
        ------
        TableError, SolverError
            If there is not one number for each term and each row; if multipliers are given for a model with convex
            constraints, or it has no certified answer.

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

        Together they cannot hold, and without any one of them the others can. The release, and the presence of named
        people, are hard constraints and not part of it, unless they contradict each other, as the releases of a series
        may. One set is found; there may be others.

        Parameters
        ----------
        time_limit : float, optional
            Seconds; by default there is no limit.

        Returns
        -------
        DataFrame
            One row per statement, by its label, the largest move first: `low` and `high` as typed, `least` and `most`
            that the value can be if the others of the set hold, and the `move` from one to the other, all in the unit
            of the value. Empty if the knowledge is consistent.

        Raises
        ------
        NotDecided, SolverError
            If the time is over; if a linear program does not come to an end.

        Notes
        -----
        For a CVXPY constraint that is convex and not affine, `least` is the least value of its left side if the other
        statements hold (or `most` the largest value of its right side, in ``cp.sum(cp.entr(p)) >= 1``), and the other
        end is NaN. An even power of a single expression, ``x**2 <= c``, is listed as the two rows that it is,
        ``|x| <= sqrt(c)``, times its slope at the limit. The table is also empty if a contradiction of convex
        constraints could not be proved. Soft rows contradict nothing.

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

        All changes are listed; nothing else in the package changes what was typed. Only hard rows are relaxed, as soft
        rows may be missed anyway.

        Parameters
        ----------
        priority : dict, optional
            By label, the cost of moving a source's rows by one record, or 1 / N of the unit of a convex constraint: 1 by
            default, more for firm knowledge, ``math.inf`` for what must not move.
        time_limit : float, optional
            Seconds; by default there is no limit.

        Returns
        -------
        Relaxation
            ``.changes``, a table, and ``.model``, a copy in which the rows that had to move are that much wider. If
            several changes are equally small, one of them. With convex constraints everything that moves does so by
            1e-4 of the move and 1e-6 records more than the least, so that the constraints hold strictly.

        Raises
        ------
        Infeasible
            If the rows that must not move are contradictory.
        UnknownName, BadProbability
            If there is no such label, or a priority is not above 0.
        NotDecided, SolverError
            If the time is over; if a program does not finish.

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

        A source of up to a dozen rows is written in full, a larger one as a family with its size.

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
        sources = f"{len(self._base.groups)} source{'s' * (len(self._base.groups) > 1)}"
        return f"<MaxEnt: {len(self.space)} terms, {self.form.shape[0]} rows from {sources}>"

    def _repr_html_(self) -> str:
        return in_html(self)


def certify_counts(
    model: MaxEnt, counts: npt.ArrayLike | pd.Series, multipliers: Mapping[str, np.ndarray]
) -> Certificate:
    """Bound how far counts are from the answer of a model, by given multipliers."""
    if model.convex:
        raise SolverError(
            "multipliers certify linear rows only, and the model has user-defined convex constraints; leave multipliers out"
        )
    x, form = _in_records(model.space, counts), model.form
    m = form.transformed_multipliers(_by_row(form.by_label(np.zeros(form.shape[0])), multipliers))
    settled = presolved(model.posed).settled_for(x)
    return certify(form, model.posed.groups, x, form.project_to_dual_cone(m), settled)


def certify_by(model: MaxEnt, counts: npt.ArrayLike | pd.Series, solved: Posterior) -> Certificate:
    """Bound how far counts are from the answer of a model, by an answer that is certified already."""
    # There are two bounds, and the smaller one is given: that of the multipliers of the answer, which do not prove the
    # zeros that were found during the solve, and the distance of the counts from the answer plus the answer's bound.
    # Multipliers of convex constraints are not kept, so that there is only the second one where there are any.
    found = by_distance(solved.certificate, solved.counts, _in_records(model.space, counts), model.posed)
    if model.convex:
        return found
    return min(certify_counts(model, counts, solved.multipliers), found, key=lambda one: one.bound)


def _in_records(space: Space, counts: npt.ArrayLike | pd.Series) -> np.ndarray:
    """One finite number of records for each term, in the order of the space."""
    if isinstance(counts, pd.Series):
        at = counts.index.get_indexer(space.index) if counts.index.is_unique else np.array([-1])
        if len(counts) != len(space) or (at < 0).any():
            raise TableError(f"counts must be labelled by the {len(space)} terms of the model, each once")
        counts = counts.to_numpy()[at]
    return check_array(counts, "counts", len(space), TableError)


def _by_row(expected: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """One multiplier per row, from arrays by label."""
    if not isinstance(given, Mapping) or set(given) != set(expected):
        raise TableError(f"multipliers must be a dictionary with arrays for {join_names(list(expected))}")
    for label, zeros in expected.items():
        array = np.asarray(given[label])
        if array.shape != zeros.shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise TableError(f"the multipliers of {label!r} must be {len(zeros)} finite numbers")
    return np.concatenate([np.asarray(given[label], dtype=float) for label in expected])


def first_multipliers(model: MaxEnt, earlier: Posterior) -> np.ndarray:
    """Where a warm solve starts: the multipliers of an earlier posterior, and 0 for new knowledge."""
    check_instance(earlier, Posterior, "warm_start")
    if not earlier.multipliers:
        raise StatementError("warm_start has no multipliers, as they are not saved; solve its model again")
    if earlier.space.view is not model.view:
        raise StatementError("warm_start is a posterior of another release; it must be of the model's own")
    known, rows = earlier.multipliers, model.blocks.by_label
    before = {} if earlier.model is None else earlier.model.blocks.by_label
    default = model.form.by_label(model.posed.start)
    start = [
        value if label not in known else _matching(known[label], value, before.get(label), rows[label])
        for label, value in default.items()
    ]
    return model.form.transformed_multipliers(np.concatenate(start))


def _matching(known: np.ndarray, default: np.ndarray, before: Rows | None, now: Rows) -> np.ndarray:
    """Take multipliers over from the rows that had a label to those that have it now, by the rows' names."""
    if len(known) == 0 or before is now:
        return known if before is now else default
    if before is not None and before.index is not None and now.index is not None and before.index.is_unique:
        at = before.index.get_indexer(now.index)
        return np.where(at >= 0, known[at], default)
    return known if len(known) == len(default) else default


def load_posterior(path: str | PathLike[str], verify: bool = False) -> Posterior:
    """Read a posterior that :meth:`Posterior.save` wrote.

    The checksum in the file detects damage. It is not a signature: whoever forges a file can compute its checksum, and
    the certificate in it is then whatever the forger wrote. Files of version 0.2.0 can be
    read; to convert a file of version 0.1.0, load and save it with version 0.2.0.

    Parameters
    ----------
    path : str or path
    verify : bool
        Make the model again from the view and the knowledge in the file, solve it, and certify the counts of the file
        against it. This proves that they are the maximum-entropy answer to ``post.model.knowledge``, up to the bound of
        the new certificate. It does not prove who wrote the file, nor that the view and the knowledge in it are those
        that you expect: compare ``post.space.view`` and ``post.model.knowledge``. Nor does it check `solver`,
        `iterations` and the seconds.

    Returns
    -------
    Posterior
        Without its model, its multipliers and its log. With `verify` it has a model, the multipliers of the new solve,
        and the new certificate.

    Raises
    ------
    TableError
        If it is not such a file, or has been damaged, cut, or edited since. With `verify` also if the file claims a
        certificate that its counts do not have, or lacks the knowledge, as files of version 0.2.0 do, and those of
        models with convex constraints.
    Infeasible, SolverError
        With `verify`: if the model in the file has no answer, or none is found.

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
    space, counts, about, parts = read_terms(path, what)
    with decoding(what, "solve and save again"):
        if unknown := about.keys() - {"certificate", *ABOUT}:
            raise TableError(f"it has unknown fields: {join_names(sorted(unknown))}")
        written = about["certificate"]
        forced = check_int(written.pop("forced"), "forced", 0)
        loaded = Posterior(
            space,
            counts,
            # The numbers of a certificate are non-negative, and may be infinite, as seconds are.
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
            f"{what} does not contain the knowledge of its model ({reason}), so that its counts cannot be certified; "
            "make the model, and compare with model.certify(post.counts)"
        )
    with decoding(what, "solve and save again"):
        model = MaxEnt._made_of(model_of_parts(space.view, space.people, parts))
        model.form  # noqa: B018 - rows that do not fit together are found here
    solved = model.solve()
    certificate = certify_by(model, counts, solved)
    if loaded.certificate.holds and not certificate.holds:
        raise TableError(
            f"{what} claims a certificate that its counts do not have: {certificate}; they are not the maximum-entropy "
            "answer to the view and the knowledge in the file. Solve and save again"
        )
    return replace(loaded, space=model.space, certificate=certificate, multipliers=solved.multipliers, model=model)
