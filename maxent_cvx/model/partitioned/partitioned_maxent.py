"""A model of a release in partitions: knowledge is checked at once, and emitted where the partitions are."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from os import PathLike
from typing import Any, Self

import pandas as pd

from ...display import FirstRows, Shown
from ...errors import Inaccurate, StatementError, amount, arguments, shown
from ...solvers.backends.registry import find
from ...solvers.monitoring.monitor import Callback, Monitor
from ...solvers.partitioned.solve import solve_partitioned
from ...sources import NamedPeople, Source, as_source, read_statement
from ...system.executors import Executor, executor_for
from ...system.out_of_core import OutOfCoreExecutor
from ...system.progress import progress_bar
from ...terms.partitioned.part_space import PartSpace
from ...terms.rows import Rows
from ...views.partitioned.partitioned_release import PartitionedRelease
from ..emitted_rows import EmittedRows
from ..iteration_bar import also_shown
from ..knowledge_base import KnowledgeBase
from ..labelling import new_label
from .partitioned_posterior import PartitionedPosterior
from .posed import PosedInParts, posed_in_parts
from .told_source import ToldSource
from .whole import Whole

__all__ = ["MOST_SHARED", "PartitionedMaxEnt"]

#: Rows of knowledge that partitions can share. Every iteration sends one number a row and partition, and the driver
#: factorises a matrix with as many rows and columns: beyond this, 3 GB.
MOST_SHARED = 20_000


class PartitionedMaxEnt(Shown):
    """max H(Q, S, B), subject to everything published and known, of a release whose buckets are in partitions.

    What is said means what it means in a model of the whole release in memory, and has the same answer: P(given), and
    which groups occur, are those of the whole. Statements, sources and functions of the space are taken that use
    ``space.marginal``, ``conditional``, ``prob``, ``described`` and ``records_described``. What cannot be divided is
    an error in one sentence: rows about single buckets, convex constraints, priors.

    Parameters
    ----------
    release : PartitionedRelease
    people : dict of dict, or DataFrame, optional
        The QI values of people who are known by name, as of :class:`maxent_cvx.MaxEnt`.
    client : distributed.Client, optional
        Whose workers hold the partitions; by default threads of this process.

    Raises
    ------
    UnknownName, StatementError
        If it is no release in partitions; if nobody in it is as described, or a description is not complete.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.views.partitioned.partitioned_release import divided
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(divided(release, 2)).add("P(Breast Cancer | Gender=male) = 0")
    >>> model
    <PartitionedMaxEnt: 1 row of knowledge from 1 source, over 2 partitions>
    >>> round(model.solve().prob("Flu", given={"Gender": "male"}), 3)
    0.389
    """

    def __init__(
        self,
        release: PartitionedRelease,
        people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
        client: Any = None,
    ) -> None:
        arguments.instance(release, PartitionedRelease, "release")
        self.release, self._described = release, people
        self._executor: Executor = executor_for(client)
        facts = tuple([NamedPeople()][: len(self._whole.people)])
        told: dict[str, EmittedRows] = {fact.label: self._whole.told(fact, None) for fact in facts}
        self._held = KnowledgeBase.of(self._space, facts, told)

    def add(self, *sources: Any, label: str | None = None) -> Self:
        """Add what the adversary knows; nothing is added if anything is wrong with it.

        Parameters
        ----------
        *sources
            As of :meth:`maxent_cvx.MaxEnt.add`: statements, also as text, sources, functions from the space.
        label : str, optional
            The name to hold it under (one source at a time). By default a statement's own text.

        Returns
        -------
        PartitionedMaxEnt
            The model itself.

        Raises
        ------
        DuplicateLabel
            If other knowledge has the label.
        UnknownName, StatementError, BadProbability, LabelMismatch
            If a source does not fit the release, or cannot be divided among partitions.

        Warns
        -----
        RepeatedStatement
            If the model holds the same statement already; then nothing changes.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(divided(release, 3)).add("P(Flu | Gender=male) <= 0.4")
        >>> model = model.add(lambda space: space.conditional("s", given="Gender") <= 0.9, label="nobody is sure")
        >>> list(model.knowledge)
        ['P(Flu | Gender=male) <= 0.4', 'nobody is sure']
        """
        if label is not None and (not isinstance(label, str) or not label):
            raise StatementError(f"label={shown(label)}: a label is a text, to be shown in tables and errors")
        if label is not None and len(sources) != 1:
            raise StatementError(f"label={label!r} names one piece of knowledge, and {len(sources)} are given")
        base = self._held.draft()
        for given in sources:
            if isinstance(given, Rows):
                raise StatementError(
                    f"the rows of {given.label} are over the terms of one space, and cannot be divided among "
                    "partitions; give a function that makes them of the space of each: lambda space: ..."
                )
            source = read_statement(given) if isinstance(given, str) else as_source(given)
            told = self._whole.told(source, label)
            if (name := new_label(base, told, label)) is not None:
                is_numbered = label is None and name != source.label  # "your own (2)"
                base.hold(name, told.named(name) if is_numbered and base.calls_like(told) else told)
        if (n_rows := sum(told.n_rows for told in base.emitted.values())) > MOST_SHARED:
            raise StatementError(
                f"the model would share {n_rows:,} rows among its partitions, and up to {MOST_SHARED:,} can be; "
                "say less, or of fewer groups"
            )
        self._held = base
        return self

    def remove(self, label: str) -> Self:
        """Take a source out by its label; returns the model itself.

        Parameters
        ----------
        label : str
            One of ``model.knowledge``.

        Returns
        -------
        PartitionedMaxEnt

        Raises
        ------
        UnknownName
            If no knowledge has the label.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.MaxEnt(divided(release, 2)).add("P(Flu | Gender=male) = 0.4", label="rumour").remove("rumour")
        <PartitionedMaxEnt: 0 rows of knowledge from 0 sources, over 2 partitions>
        """
        arguments.known_label(label, "label of the model's knowledge", self.knowledge)
        self._held = self._held.without(label)
        return self

    def copy(self) -> Self:
        """Copy the model; adding to one copy leaves the other alone.

        Returns
        -------
        PartitionedMaxEnt

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(divided(release, 2)).add("P(Flu | Gender=male) <= 0.4")
        >>> more = model.copy().add("P(HIV | Gender=male) <= 0.4")
        >>> len(model.knowledge), len(more.knowledge)
        (1, 2)
        """
        return copy.copy(self)  # everything held is immutable, and what was counted is true of both

    @property
    def knowledge(self) -> dict[str, Source]:
        """What the adversary knows beyond the published release, by label."""
        return {label: told.source for label, told in self._held.knowledge.items()}

    def describe(self) -> pd.DataFrame:
        """List the sources that partitions share rows of.

        Returns
        -------
        DataFrame
            A row a source, by label: its kind, how many rows it emits, which quasi-identifiers it labels them by, and
            what it costs to miss soft ones.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(divided(release, 3)).add("P(Flu | Gender=male) ~ 0.4 +- 0.1")
        >>> print(model.describe())
                                              source  rows by           note
        label
        P(Flu | Gender=male) ~ 0.4 +- 0.1  Statement     1     soft: sd 0.1
        """
        found = []
        for told in self._held.emitted.values():
            assert isinstance(told, ToldSource)
            costs = dict.fromkeys(f"soft: {rows.penalty}" for rows in told.rows if rows.penalty is not None)
            by = ", ".join(column for column in self.release.qi if column in told.columns)
            found.append((type(told.source).__name__, told.n_rows, by, "; ".join([*costs][:3])))
        index = pd.Index(list(self._held.emitted), name="label")
        return pd.DataFrame(found, columns=["source", "rows", "by", "note"], index=index)

    def solve(
        self,
        client: Any = None,
        threads: int | None = None,
        *,
        scratch: str | PathLike[str] | None = None,
        allow_inaccurate: bool = False,
        time_limit: float = math.inf,
        callback: Callback | None = None,
        verbose: bool = False,
        progress: bool | None = None,
        **options: Any,
    ) -> PartitionedPosterior:
        """Find the maximum-entropy distribution, partition by partition, and certify it.

        Parameters
        ----------
        client : distributed.Client, optional
            Whose workers do it; by default that of the model, or threads of this process.
        threads : int, optional
            Without a client: how many partitions are worked on at a time, by default one a processor.
        scratch : str or path, optional
            Without a client: a folder for what is not worked on, in files that are gone with the answer. Memory is then
            that of the partitions at work.
        allow_inaccurate : bool
            Return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`, too.
        time_limit : float
            Seconds after which the solver stops, compared between iterations.
        callback : callable
            Called once an iteration with a :class:`maxent_cvx.solvers.Iteration`; if it returns True, the solve stops.
        verbose : bool
            Print a line an iteration.
        progress : bool, optional
            Show iterations as a progress bar; by default on a terminal or in a notebook, unless they are printed.
        **options
            ``tolerance`` (records) and ``max_iterations``.

        Returns
        -------
        PartitionedPosterior

        Raises
        ------
        Infeasible
            If the knowledge is found to contradict the published data or itself.
        Inaccurate
            If the answer is not certified.
        StatementError, UnknownName
            If a source says other things of different partitions; if an option is none, or `threads` no number of
            them; if a client and a scratch folder are given.
        TableError
            If the scratch folder cannot be written to.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(divided(release, 2)).add("P(Flu | Gender=male) = 0.3").solve()
        >>> post.certificate.holds, round(post.prob("Flu", given={"Gender": "female"}), 6)
        (True, 0.3)
        """
        arguments.flag(allow_inaccurate, "allow_inaccurate")
        find("DUAL_NEWTON").check(options)
        if threads is not None:
            arguments.whole(threads, "threads", 1)
        arguments.flag(verbose, "verbose")
        arguments.optional_flag(progress, "progress")
        if callback is not None:
            arguments.function(callback, "callback")
        if scratch is not None:
            if client is not None:
                raise StatementError("workers of a client have folders of their own; leave scratch or client out")
            self._work_on(OutOfCoreExecutor(scratch, threads))
        elif client is not None or threads is not None:
            self._work_on(executor_for(client, threads))
        begun = time.perf_counter()
        with progress_bar(None, "solve", False if verbose else progress, unit="iteration") as bar:
            told = callback if verbose or progress is False else also_shown(bar, callback)
            monitor = Monitor(verbose=verbose, time_limit=time_limit, callback=told)
            whole = copy.copy(self._whole)  # the model may move elsewhere, and the answer stays
            posed = posed_in_parts(whole, *self._sources)
            solution = solve_partitioned(
                posed.parts, posed.shared, self.release.n_records, whole.executor, monitor=monitor, **options
            )
        if not solution.certificate.holds and not allow_inaccurate:
            raise Inaccurate(
                f"the answer is not certified: {solution.certificate}; {solution.status} in {solution.iterations} "
                "iterations. Knowledge that contradicts what is published, or itself, has no answer: take some out, "
                "make it vague, or solve with allow_inaccurate=True to see how far it is off"
            )
        pose = partial(posed_in_parts, whole, *self._sources)
        return PartitionedPosterior(whole, solution, posed.shared, time.perf_counter() - begun, pose)

    def _posed(self) -> PosedInParts:
        """What is to be solved."""
        return posed_in_parts(self._whole, *self._sources)

    @property
    def _sources(self) -> tuple[list[Any], list[Any]]:
        """The facts beside what is published, and what is known."""
        every, n_facts = list(self._held.emitted.values()), len(self._held.facts)
        return every[:n_facts], every[n_facts:]

    def _work_on(self, executor: Executor) -> None:
        """Do all that follows elsewhere; what was counted is kept."""
        self._executor = executor
        self._whole.move_to(executor)

    @cached_property
    def _whole(self) -> Whole:
        return Whole(self.release, self._described, self._executor)

    @cached_property
    def _space(self) -> PartSpace:
        """The space of no partition, by which labels are held."""
        return PartSpace.around(self._whole.empty, self._whole.surroundings(frozenset()))

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.describe(), "sources")]

    def __repr__(self) -> str:
        n_rows = sum(told.n_rows for told in self._held.knowledge.values())
        return (
            f"<PartitionedMaxEnt: {amount(n_rows, 'row')} of knowledge from {amount(len(self.knowledge), 'source')}, "
            f"over {amount(self.release.n_partitions, 'partition')}>"
        )
