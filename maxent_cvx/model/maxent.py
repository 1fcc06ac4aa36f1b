"""The model: a published view and everything an adversary knows, under one entropy objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..display import FirstRows, as_html
from ..errors import SolverError, StatementError, amount, arguments, shown
from ..priors import QIDistribution
from ..solvers import Certificate, find
from ..solvers.monitoring.deadline import within
from ..solvers.monitoring.monitor import Callback, Monitor
from ..solvers.solving.contradiction import conflict_table
from ..solvers.solving.solve import solve
from ..sources import published_sources
from ..system.progress import progress_bar
from ..terms.people import People
from ..views import GroupedRelease, ReleaseSeries, View
from ..views.partitioned.partitioned_release import PartitionedRelease
from .certifying import certified, certified_by
from .explain.relaxation import Relaxation, least_relaxation
from .intervals.bounded import BoundedAdversary
from .iteration_bar import also_shown
from .partitioned.partitioned_maxent import PartitionedMaxEnt
from .posterior import Posterior
from .time_limits import seconds_for
from .warm_start import first_multipliers

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["MaxEnt"]

#: Seconds of a solve after which its progress is shown.
SHORT = 1.0


class MaxEnt(BoundedAdversary):
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
            raise StatementError(f"prior must be a QIDistribution, not {shown(prior)}")
        if prior is not None and isinstance(view, GroupedRelease):
            raise StatementError(
                "a prior is of people's values, and of a population it is open who has one; make the release without"
            )
        published = published_sources(view)  # checks a view of somebody's own, before people are looked for in it
        super().__init__(view, People.of(people, view), prior, published)

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
        arguments.flag(presolve, "presolve")
        arguments.flag(allow_inaccurate, "allow_inaccurate")
        arguments.flag(polish, "polish")
        arguments.optional_flag(progress := options.pop("progress", None), "progress")
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
            arguments.mapping(priority, "priority", "{label: number}")
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
        size = f"{amount(self.view.n_records, 'person', 'people')}, {amount(len(self.space), 'term')} {self.space.term}"
        return as_html(f"<MaxEnt: {size}>", FirstRows(self.describe(), "sources"))
