"""The posterior: what an adversary infers, with the proof of how near it is to the maximum-entropy answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike

import numpy as np
import pandas as pd
from scipy.special import xlogy

from ..errors import StatementError, arguments
from ..solvers import Certificate, Solution, Status
from ..solvers.monitoring.deadline import within
from ..solvers.program.linear_form import LinearForm
from ..tables.coding import group_codes
from ..terms.space import Space
from .adversary import Adversary
from .explain.certainty import certain_table
from .explain.integer_certainty import integer_certain_table
from .explain.prices import price_table
from .explain.solved import model_of
from .measure import Measure
from .rendering import posterior_as_html
from .storage.models import knowledge_parts
from .storage.storage import write_terms
from .term_distribution import TermDistribution
from .time_limits import seconds_for

__all__ = ["Posterior"]

#: Fields that are stored as they are.
ABOUT = ("status", "solver", "iterations", "compile_seconds", "solve_seconds")


@dataclass(frozen=True, eq=False)
class Posterior(TermDistribution):
    """The maximum-entropy distribution over the terms, and how it was found.

    Attributes
    ----------
    space : Space
        The terms.
    counts : ndarray
        N P(q, s, b), records, one a term.
    certificate : Certificate
        How far any P(s | q), or P(s | i) of a named person i, can be from the maximum-entropy answer, recomputed from
        the rows. What possible worlds say, exactly, is another answer: see the notes of :class:`maxent_cvx.MaxEnt`.
    status : Status
        Why the solver stopped.
    solver, iterations : str, int
    compile_seconds, solve_seconds : float
        Time to hand the problem over, and to solve it.
    log : DataFrame
        A row an iteration: the largest row residual and the gap of the inequalities (records), the dual function (nats
        of all records), terms proved empty so far, seconds since the solve began, and how many independent parts of the
        problem were not solved yet. Of a solver that takes them one after another, with the number of the part; of one
        that tells no iterations, a row a part, with its status. Empty if presolve has found everything.
    multipliers : dict of str to ndarray
        For every label of rows, their multipliers m, where N p = exp(A' m - 1) and each row is scaled so
        that its largest coefficient on the counts is 1. What ``warm_start`` begins with; not saved.
    model : MaxEnt or None
        The model as it was when it was solved; not saved.

    Examples
    --------
    Who rules breast cancer out of men knows what Grace (female, junior) has, and something of Iris:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release, people={"Iris": {"Gender": "female", "Degree": "graduate"}}).add(
    ...     "P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) = 0.4").solve()
    >>> post.people().round(2).loc["Iris", ["Flu", "HIV"]].to_dict(), round(post.prob("Flu", {"Gender": "male"}), 6)
    ({'Flu': 0.3, 'HIV': 0.35}, 0.4)
    >>> print(post.prices().round(3))
                                       side  price
    statement
    P(Breast Cancer | Gender=male) = 0    =    inf
    P(Flu | Gender=male) = 0.4            = -0.265
    >>> print(post.certain(progress=False)[["probability", "people"]].head(2))
                                                     probability  people
    inference
    P(Pneumonia | Degree=college, Gender=female)             0.0       2
    P(Breast Cancer | Degree=junior, Gender=female)          1.0       1
    """

    certificate: Certificate
    status: Status
    solver: str
    iterations: int
    compile_seconds: float
    solve_seconds: float
    log: pd.DataFrame = field(default_factory=pd.DataFrame)
    multipliers: Mapping[str, np.ndarray] = field(default_factory=dict)
    model: Adversary | None = None

    @classmethod
    def of(cls, space: Space, solution: Solution, form: LinearForm, model: Adversary | None = None) -> Posterior:
        """Label a solution with the terms of its space and the rows of its form.

        Parameters
        ----------
        space : Space
            The terms.
        solution : Solution
            A certified answer, as the solvers give it.
        form : LinearForm
            The rows that it satisfies.
        model : Adversary, optional
            What the rows are of.

        Returns
        -------
        Posterior

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> from maxent_cvx.solvers.solving.solve import solve
        >>> model = mx.MaxEnt(release)
        >>> solution = solve(model.posed, mx.solvers.find("DUAL_NEWTON"))
        >>> mx.Posterior.of(model.space, solution, model.form).joint().equals(model.solve().joint())
        True
        """
        answer = solution.answer
        assert answer.counts is not None
        assert answer.multipliers is not None
        return cls(
            space, np.maximum(answer.counts, 0.0), solution.certificate, answer.status, solution.solver,
            answer.iterations, answer.compile_seconds, answer.solve_seconds,
            pd.DataFrame(answer.log), form.by_label(form.original_multipliers(answer.multipliers)), model,
        )  # fmt: skip

    @cached_property
    def relative_entropy(self) -> float:
        """D(P || prior) = sum P(q, s, b) log(P(q, s, b) / (P(q, b) p(q : s))), nats: what was minimised, with a prior.

        Raises
        ------
        StatementError
            If the model has no prior, or the posterior was loaded from a file without `verify`.
        """
        if self.model is None or self.space.prior is None:
            raise StatementError("there is no prior to compare with; solve a model with one, MaxEnt(view, prior=...)")
        p, codes = self.counts / self.space.n_records, self.space.codes
        others = [codes[role] for role in codes if role != "s"]
        of_tuple = group_codes(others, [int(code.max()) + 1 for code in others])
        share = np.bincount(of_tuple, p)[of_tuple]  # P(q, b)
        return float((xlogy(p, p) - xlogy(p, share) - xlogy(p, self.space.prior)).sum())

    @property
    def objective(self) -> float:
        """``N H(p) - sum of penalties``, nats: what was maximised; of a prior ``-N D(p || prior)`` less these.

        ``model.problem.value`` is this divided by N, the number of records; with a prior, it lacks the constant
        sum P(q, b) log P(q, b) of D.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Flu | Gender=male) ~ 0.5 +- 0.05").solve()
        >>> round(10 * post.entropy, 3), round(float(post.penalties.sum()), 3), round(post.objective, 3)
        (31.149, 0.479, 30.669)
        """
        costs = float(self.penalties.sum())
        if self.space.prior is not None:
            return -self.space.n_records * self.relative_entropy - costs
        return self.space.n_records * self.entropy - costs

    @cached_property
    def penalties(self) -> pd.Series:
        """What each soft row costs where the answer misses it, nats: a Series by label, empty if all rows are hard.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.

        Examples
        --------
        Of two statements that cannot both hold, the more precise one prevails:

        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) ~ 0.2 +- 0.02", "P(Flu | Gender=male) ~ 0.4 +- 0.04")
        >>> model.solve().penalties.round(2).to_dict()
        {'P(Flu | Gender=male) ~ 0.2 +- 0.02': 2.24, 'P(Flu | Gender=male) ~ 0.4 +- 0.04': 7.77}
        """
        form = model_of(self).form
        names = [form.name(row) for row in range(form.n_hard, form.shape[0])]
        index = pd.Index(names, dtype=object, name="statement")
        return pd.Series(form.costs(self.counts), index=index, name="penalty", dtype=float)

    def prices(
        self,
        leave_one_out: bool = False,
        measure: Measure | None = None,
        *,
        time_limit: float = math.inf,
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """``dH / d(value)`` of every statement, nats: its shadow price, for a unit of its value as typed.

        A statement with a price of 0 says nothing that the others do not; the larger the price, the more a small change
        of the value matters.

        Parameters
        ----------
        leave_one_out : bool
            Solve again without each statement, too.
        measure : callable, or dict or list of callables, optional
            With `leave_one_out`: from a posterior to a number, or to several by name; by default the entropy.
        time_limit : float
            Seconds for each solve without a statement, as of :meth:`MaxEnt.solve`.
        progress : bool, optional
            Show a progress bar of these solves; by default on a terminal or in a notebook.

        Returns
        -------
        DataFrame
            A row a statement, the largest price first: `side`, which of its sides is active ("=", ">=", "<=", or ""
            of an inactive inequality; "~" of a soft statement), and `price`. Widening a vague statement by eps on its
            active side raises the entropy by eps times the size of the price, to first order. Infinite where the
            statement forces zeros: there the entropy rises faster than any multiple of eps. Statements that repeat
            each other share a price.
            With `leave_one_out` also the measure `without` the statement, and the `change` from with it; NaN for what
            a prior rules out, which is no statement that can be left out. Of several numbers these are
            "without[label]" and so on, of several measures "without name". Where a solve fails they are NaN, and
            `message` says why. With a prior it is the entropy relative to
            it that prices are of. With soft statements it is the objective per record, entropy less the costs divided
            by N; the price of a soft statement is the slope of its cost, where the answer misses it, divided by N.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.
        Inaccurate, SolverError
            If the answer has no multipliers to the precision that is needed, or a constraint is not linear; if each
            solve without a statement fails, the first one's error.

        Notes
        -----
        An interrupt, or an error of a measure, has what is measured until then in its attribute ``finished``.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) <= 0.25", "P(HIV | Degree=college) >= 0.25")
        >>> prices = model.solve().prices(leave_one_out=True)
        >>> print(prices[["side", "price", "without", "change"]].round(3))
                                        side  price  without  change
        statement
        P(HIV | Degree=college) >= 0.25   >= -1.072    3.222   0.065
        P(Flu | Gender=male) <= 0.25      <=  0.783    3.182   0.026
        """
        return price_table(self, leave_one_out, measure, time_limit, progress)

    def certain(
        self, progress: bool | None = None, *, integer: bool = False, time_limit: float | None = None
    ) -> pd.DataFrame:
        """P(s | q), or P(s | i) of a named person, that knowledge forces to 0 or 1, and what forces each.

        P(s | q) is about everybody with q, named or not. Where some of them are named, the others are distinguishable
        from these: what is certain of them alone is listed as "P(Flu | (others), Gender=female)", unless it is so of
        everybody with q. That is no statement, and cannot be added or asked as one.

        Only what was open before: what the published data alone leave no choice of is not listed, nor, where
        P(s | q) = 1, that the other values have 0. What could not be proved is not listed either. Of a series also what
        the releases force, and of a population what its groups do: then published rows are among the reasons. Soft rows
        force nothing: what is certain follows from the hard rows alone.

        Parameters
        ----------
        progress : bool, optional
            Show a progress bar; by default on a terminal or in a notebook.
        integer : bool
            What is certain because everybody has exactly one value, which linear rows do not say: then also of the
            published data alone, and without reasons.
        time_limit : float, optional
            Seconds; by default there is no limit, but 60 for whole assignments.

        Returns
        -------
        DataFrame
            A row an inference, "P(Flu | Gender=female, Degree=junior)": its `probability`, 0 or 1, the number of
            `people` it is about, and `because`, a list of statements that force it, together with the published
            data, while any of them can be spared. That they do is shown by bounds, or by multipliers that are
            checked against the raw rows. With `integer` instead `posterior`, what maximum entropy says, and
            `decided`: False, and a probability of NaN, where the time was over.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.
        Infeasible
            With `integer`: if there is no whole assignment.
        NotDecided
            Without `integer`: if the time is over. With it, what is open is listed as such.

        Notes
        -----
        Without `integer` these are certainties of the linear rows. With it they hold in every assignment of a value to
        each record, and of a record to each name, that satisfies the rows as they are typed: a probability of 0.3 is
        then three of ten people, and of one person it is impossible.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
        >>> certain = post.certain(progress=False)
        >>> certain.index[certain["probability"] == 1].tolist()
        ['P(Breast Cancer | Degree=junior, Gender=female)']
        >>> certain["because"].iloc[0]
        ['P(Breast Cancer | Gender=male) = 0']
        """
        arguments.optional_flag(progress, "progress")
        arguments.flag(integer, "integer")
        seconds, model = seconds_for(time_limit, integer), model_of(self)
        if integer:
            return integer_certain_table(model, self.counts, seconds)
        with within(seconds):
            return certain_table(model, self.counts, progress)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the posterior to a Parquet file, for :func:`load_posterior` and for any other program.

        A row a term: its labels, and in records the published ``N P(q,b)`` and ``N P(s,b)`` and the inferred
        ``N P(q,s,b)``. The file is written beside the one that is there and replaces it when it is complete, so that
        nobody ever reads half of one, whatever happens. It contains a checksum, by which damage is found; the checksum
        is not a signature, so that a file from somebody else may be forged. The file also contains the knowledge of the
        model, with which ``load_posterior(path, verify=True)`` certifies the posterior again: do not hand it to
        somebody who may not see what the adversary knows.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TableError
            If a column holds labels that would not come back from a Parquet file as they are, such as tuples or
            numbers of several types, or if the file cannot be written; what was there before is unchanged.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, pathlib, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mx.MaxEnt(release).solve().save(pathlib.Path(folder, "post.parquet"))
        ...     table = pd.read_parquet(pathlib.Path(folder, "post.parquet"))
        >>> table.columns.tolist()
        ['Gender', 'Degree', 'Disease', 'Bucket', 'N P(q,b)', 'N P(s,b)', 'N P(q,s,b)']
        """
        about = {"certificate": self.certificate.to_dict(), **{name: getattr(self, name) for name in ABOUT}}
        model = self.model
        parts = None if model is None else knowledge_parts(model.prior, model._base.knowledge)
        write_terms(path, self.space, self.counts, about, parts)

    def __repr__(self) -> str:
        return (
            f"<Posterior: H = {self.entropy:.6f} nats over {len(self.space)} terms, {self.status} by {self.solver} in "
            f"{self.iterations} iterations; {self.certificate}>"
        )

    def _repr_html_(self) -> str:
        how = f"{self.status} by {self.solver}"
        return posterior_as_html(self.space.view, self.conditional(), self.entropy, self.certificate, how)
