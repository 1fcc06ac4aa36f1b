"""Posterior: the maximum-entropy distribution over the terms, with its certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import xlogy

from .._utils.errors import StatementError, pluralize
from .._utils.formatting import TablePreview, as_html
from .._utils.tables import group_codes, plain_index
from .._utils.validation import check_bool, check_optional_bool, check_seconds
from ..releases.base import View
from ..releases.series import ReleaseSeries
from ..solvers.answer import ConvexMultipliers, Status
from ..solvers.certificate import Certificate, Solution
from ..solvers.form import LinearForm
from ..solvers.monitor import within
from ..sources.parser import OPEN, read_expression
from ..sources.statements import (
    ROUNDING,
    Event,
    ExpectedNumber,
    ParametricStatement,
    Probability,
    Ratio,
    RatioStatement,
    Statement,
)
from ..terms.axes import level_of
from ..terms.people import People
from ..terms.space import Space
from .explain import certain_table, integer_certain_table, model_of, price_table
from .measure import Measure
from .storage import knowledge_parts, write_terms

if TYPE_CHECKING:
    from .maxent import MaxEnt

#: The message if the model does not have a named person.
NOBODY_NAMED = "the model has no named people; name them with MaxEnt(release, people={name: {...}})"
#: Fields that are stored in a file unchanged.
ABOUT = ("status", "solver", "iterations", "compile_seconds", "solve_seconds")


@dataclass(frozen=True, eq=False)
class Posterior:
    """The maximum-entropy distribution over the terms, with its certificate.

    Attributes
    ----------
    space : Space
        The terms.
    counts : ndarray
        N P(q, s, b), records, one per term.
    certificate : Certificate
        Bound on the error of any P(s | q), or P(s | i) for a named person i, relative to the maximum-entropy answer,
        recomputed from the rows. The posterior over possible worlds may differ: see the notes of
        :class:`maxent_cvx.MaxEnt`.
    status : Status
        Reason why the solver stopped.
    solver, iterations : str, int
    compile_seconds, solve_seconds, certify_seconds : float
        Time to compile the problem, to solve it, and to certify the answer; the last is not saved.
    tolerance : float
        The tolerance passed to a conic solver; NaN for other solvers, and not saved.
    log : DataFrame
        One row per iteration: the largest row residual and the gap of the inequalities (records), the dual function
        of the problem after presolve (nats of all records), terms proved empty so far, and seconds since the start. A
        solver that does not report iterations has one row, with its status. Empty if presolve solved the whole problem.
    multipliers : dict of str to ndarray
        The multipliers m of the rows of each label, where N p = exp(A' m - 1) and each row is scaled so
        that its largest coefficient on the counts is 1. They are the start for ``warm_start``; not saved.
    model : MaxEnt or None
        A copy of the model at the time of the solve; not saved.
    convex_multipliers : dict of str to tuple of arrays
        For every convex constraint ``expression <= 0``, by label, the multipliers t >= 0 of its entries, nats of all
        records per unit of the expression, and subgradients G: N p = w exp(A' m - G' t - 1), with weights w. Not saved.

    Examples
    --------
    If men cannot have breast cancer, Grace (female, junior) has it, and Iris's probabilities change:

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

    space: Space
    counts: np.ndarray
    certificate: Certificate
    status: Status
    solver: str
    iterations: int
    compile_seconds: float
    solve_seconds: float
    log: pd.DataFrame = field(default_factory=pd.DataFrame)
    multipliers: Mapping[str, np.ndarray] = field(default_factory=dict)
    model: MaxEnt | None = None
    certify_seconds: float = math.nan
    tolerance: float = math.nan
    convex_multipliers: Mapping[str, ConvexMultipliers] = field(default_factory=dict)

    @property
    def view(self) -> View:
        """The release, or other view, of the posterior."""
        return self.space.view

    @property
    def known_people(self) -> People:
        """The people named in the model."""
        return self.space.people

    def joint(self) -> pd.Series:
        """Return P(q, s, b) over the terms, probabilities, labelled by QI attributes, sensitive attribute and bucket.

        Without buckets it is P(q, s). If people are named, it is P(i, q, s, b): the first label is "who", which is
        "(others)" for unnamed people.

        Returns
        -------
        Series
            One entry per term, in the order of :attr:`maxent_cvx.Space.index`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).solve().joint().head(3).round(3))
        Gender  Degree   Disease        Bucket
        female  college  Breast Cancer  1         0.025
                         Flu            1         0.050
                         Pneumonia      1         0.025
        Name: P(q, s, b), dtype: float64
        """
        return pd.Series(self.counts / self.space.n_records, index=self.space.index, name=self.space.term)

    @cached_property
    def table(self) -> np.ndarray:
        """N P(q, s), records, shape (QI tuples, sensitive values)."""
        return counts_by_value(self.space, self.counts, self.space.codes["q"], len(self.space.view.quasi_identifiers))

    def conditional(self) -> pd.DataFrame:
        """Return P(s | q) = sum_b P(q, s, b) / P(q): one row per QI tuple, one column per sensitive value.

        Nothing is renormalised: rows sum to 1 up to the certificate's residual.
        (Privacy-MaxEnt, section 3.1.)

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
        >>> print(post.conditional()[["Breast Cancer", "Flu"]].round(2))
        Disease             Breast Cancer   Flu
        Gender Degree
        female college                0.5  0.17
               graduate               0.0  0.33
               junior                 1.0  0.00
        male   college                0.0  0.44
               graduate               0.0  0.33
               high school            0.0  0.33
        """
        view = self.space.view
        index = plain_index(view.quasi_identifiers)
        return pd.DataFrame(self.table / view.n_q[:, None], index=index, columns=view.sensitive_values)

    def people(self) -> pd.DataFrame:
        """Return P(s | i) for every named person i, or everybody in a series: one row per person, one column per value.

        Nothing is renormalised, as in :meth:`conditional`. (Privacy-MaxEnt, section 6; Re-publishing, Problem 2.1.)

        Raises
        ------
        StatementError
            If nobody is named in the model.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> iris = {"Iris": {"Gender": "female", "Degree": "graduate"}}
        >>> mx.MaxEnt(release, people=iris).solve().people().loc["Iris"].round(3).to_dict()
        {'Breast Cancer': 0.0, 'Flu': 0.333, 'HIV': 0.333, 'Lung Cancer': 0.333, 'Pneumonia': 0.0}
        """
        people, view = self.space.people, self.space.view
        if isinstance(view, ReleaseSeries):
            return pd.DataFrame(self.table, index=view.persons, columns=view.sensitive_values)
        if not len(people):
            raise StatementError(NOBODY_NAMED)
        who = self.space.codes["who"]
        table = counts_by_value(self.space, self.counts, who, len(people) + 1)[:-1]  # the last are those without a name
        return pd.DataFrame(table, index=people.names, columns=view.sensitive_values)

    def inferences(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return P(s | .) for every distinguishable group: :meth:`conditional`, and :meth:`people` for named people.

        Returns
        -------
        DataFrame
            Probabilities. If people are named, one row per person, and one for the unnamed people of each QI tuple. The
            first level of the index is "who", with "(others)" for unnamed people.
        ndarray
            The number of people in each row.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> allen = {"Allen": {"Gender": "male", "Degree": "college"}}
        >>> table, people = mx.MaxEnt(release, people=allen).add("P(Flu | Allen) = 0").solve().inferences()
        >>> print(table[["Flu"]].round(3).assign(people=people).tail(4))
        Disease                        Flu  people
        who      Gender Degree
        (others) male   college      0.423       2
                        graduate     0.333       1
                        high school  0.289       2
        Allen    male   college      0.000       1
        """
        if not len(self.space.people):
            return self.conditional(), self.space.view.n_q
        group, people = self.space.groups
        index = self.space.axes.labels(["who", "q"], self.space.first_of_group)
        table = counts_by_value(self.space, self.counts, group, len(people)) / people[:, None]
        return pd.DataFrame(table, index=index, columns=self.space.view.sensitive_values), people

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> float:
        """Return P(value | given), or P(value | who), under the posterior, or the value of a combination of ``P(...)``.

        Parameters
        ----------
        value, given, who
            See :meth:`maxent_cvx.Space.prob`. `value` alone may also be a combination, ``P("Flu") - P("HIV")``, or a
            ratio, ``P("Flu") / P("HIV")``, also as text: ``"P(Flu | Gender=male)"``.

        Returns
        -------
        float
            A probability; for several people in `who`, their expected number with the value.

        Raises
        ------
        UnknownName, StatementError
            See :meth:`maxent_cvx.Space.prob`; also if the denominator of a ratio is 0.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4").solve()
        >>> round(post.prob("Flu", given={"Gender": "male"}), 6), round(post.prob(mx.P("Flu") - mx.P("HIV")), 6)
        (0.4, 0.1)
        """
        expression, p = expression_of(value, given, who, self.space.view), self.counts / self.space.n_records
        if expression is None:
            return float((self.space.row(value, given, who) @ p)[0])
        return value_of(expression, lambda row: float((row(self.space) @ p)[0]))

    @cached_property
    def entropy(self) -> float:
        """H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), nats (Eq. (3)); H(I, Q, S, B) if people are named.

        For a series, H(S | I) = -sum P(i) P(s | i) log P(s | i) (Re-publishing, Eq. (1)).

        Naming people adds no knowledge, but makes records distinguishable: H rises by sum P(q) log n(q).
        """
        return entropy_of(self.space, self.counts)

    @classmethod
    def of(cls, space: Space, solution: Solution, form: LinearForm, model: MaxEnt | None = None) -> Posterior:
        """Label a solution with the terms of its space and the rows of its form.

        Parameters
        ----------
        space : Space
            The terms.
        solution : Solution
            A certified answer of a solver.
        form : LinearForm
            The rows that the solution satisfies.
        model : MaxEnt, optional
            The model of the rows.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> from maxent_cvx.solvers.solve import solve
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
            solution.certify_seconds, answer.tolerance, answer.convex,
        )  # fmt: skip

    @cached_property
    def relative_entropy(self) -> float:
        """D(P || prior) = sum P(q, s, b) log(P(q, s, b) / (P(q, b) p(q : s))), nats: the objective with a prior.

        With named people the terms are P(i, q, s, b), and those of a person are compared with P(q, b) / n(q) p(q : s).

        Raises
        ------
        StatementError
            If the model has no prior, or the posterior was loaded from a file without `verify`.
        """
        if self.model is None or self.space.prior is None:
            raise StatementError("relative_entropy requires a prior; solve a model with one, MaxEnt(view, prior=...)")
        space = self.space
        p, codes, named = self.counts / space.n_records, space.codes, len(space.people) > 0
        others = [codes[role] for role in codes if role != "s" and not (named and role == "who")]
        of_tuple = group_codes(others, [int(code.max()) + 1 for code in others])
        share = np.bincount(of_tuple, p)[of_tuple]  # P(q, b)
        if named:  # the release does not determine the bucket of a person: a priori all people with a tuple are alike
            share = share * space.multiplicities / space.view.n_q[codes["q"]]
        return float((xlogy(p, p) - xlogy(p, share) - xlogy(p, self.space.prior)).sum())

    @property
    def objective(self) -> float:
        """The objective ``N H(p) - sum of penalties``, nats; with a prior ``-N D(p || prior)`` minus the penalties.

        ``model.problem.value`` is this minus N log N, where N is the number of records; with a prior, it also omits a
        constant of D: N times sum P(q, b) log P(q, b), and if people are named, the part of their tuples.

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
        """The cost of each violated soft row, nats: a Series by label, empty if all rows are hard.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.

        Examples
        --------
        If two statements contradict each other, the more precise one prevails:

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
        """Return the shadow price of every statement: ``dH / d(value)``, nats per unit of its value as typed.

        A statement with a price of 0 does not change the answer; the larger the price, the larger the effect of a small
        change of the value.

        Parameters
        ----------
        leave_one_out : bool
            Also solve the model without each statement.
        measure : callable, or dict or list of callables, optional
            With `leave_one_out`, maps a posterior to a number, or to several by name; by default the entropy.
        time_limit : float
            Seconds for each solve without a statement, as in :meth:`MaxEnt.solve`.
        progress : bool, optional
            Show a progress bar of these solves; by default on a terminal or in a notebook.

        Returns
        -------
        DataFrame
            One row per statement, the largest price first: the active `side` ("=", ">=", "<=", "" for an inactive
            inequality, "~" for a soft statement) and the `price`. Widening an inequality by eps on its active side
            increases the entropy by eps times the absolute price, to first order. The price is infinite if the
            statement forces zeros: the entropy then increases faster than any multiple of eps. If statements imply each
            other, given the release, the answer depends on them together only, and their prices are one of many
            solutions; statements that repeat each other share a price.
            With `leave_one_out` also the measure `without` the statement, and the `change` from the measure with it;
            NaN for the zeros of a prior, which cannot be removed. The columns are "without[label]" etc. for several
            numbers, and "without name" for several measures. If a solve fails they are NaN, and `message` contains the
            reason. With a prior, prices are derivatives of the entropy relative to it. With soft statements they are
            derivatives of the objective per record, the entropy minus the costs divided by N; the price of a soft
            statement is the slope of its cost at the answer, divided by N. A convex statement has one price per entry
            of its left side, >= 0 for ``expression <= c`` and <= 0 for ``entropy >= h``. The price is infinite if a sum
            of squares or a divergence must be 0, and NaN if a norm must be. A ratio, ``a / b >= c``, and a mean of
            people whose number is unknown are listed as linear rows, such as ``a >= c b``, with the prices of these.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.
        Inaccurate, SolverError
            If the multipliers of the answer are not precise enough; if every solve without a statement fails (the
            first error).

        Notes
        -----
        If the computation is interrupted, or a measure fails, the exception's attribute ``finished`` contains the
        finished rows.

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
        """List every P(s | q), or P(s | i) of a named person, that knowledge forces to 0 or 1, with the reasons.

        P(s | q) refers to everybody with q, named or not. If some of them are named, they are distinguishable from the
        unnamed ones: a certainty about the unnamed ones alone is listed as "P(Flu | (others), Gender=female)", unless
        it applies to everybody with q. This label is not a statement, and cannot be added to a model.

        Only inferences that the release does not determine are listed, and only if they could be proved. A count of at
        most 1e-9 of what the release permits, or of one record if that is more, is 0. If P(s | q) = 1, the zeros of the
        other values are not listed. For a series, certainties that follow from the combination of releases are also
        listed, and for a population those that follow from its groups: the reasons then include published rows, and are
        empty if the buckets of a person have only one value in common. Soft rows and convex constraints are ignored,
        except for the zeros of the constraints' references, such as those of a divergence; the list remains valid with
        the other constraints.

        Parameters
        ----------
        progress : bool, optional
            Show a progress bar; by default on a terminal or in a notebook.
        integer : bool
            List the certainties in integer assignments, in which everybody has exactly one value; linear rows do not
            imply this. They include certainties of the release alone, except about people with only one possible value,
            and have no reasons.
        time_limit : float, optional
            Seconds. By default 60 if `integer`, otherwise no limit.

        Returns
        -------
        DataFrame
            One row per inference, "P(Flu | Gender=female, Degree=junior)": its `probability`, 0 or 1, the number of
            `people` to whom it applies, and `because`, an irreducible list of statements that force it with the
            release, as proved by bounds or by multipliers that are checked against the raw rows. With `integer`,
            instead of `because`, the maximum-entropy probability `posterior`, and `decided`: False, with a probability
            of NaN, if the time limit was reached.

        Raises
        ------
        StatementError
            If the posterior was loaded from a file without `verify`.
        Infeasible
            With `integer`, if no assignment of values to records satisfies the rows.
        NotDecided
            Without `integer`, if the time limit is reached. With it, undecided inferences are listed as such.

        Notes
        -----
        Without `integer`, certainties follow from the linear rows. With it, they hold in every assignment of a value to
        each record, and of a record to each name, that satisfies the rows as typed: a probability of 0.3 then means
        three of ten people, and is impossible for one person.

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
        check_optional_bool(progress, "progress")
        check_bool(integer, "integer")
        seconds, model = seconds_for(time_limit, integer), model_of(self)
        if integer:
            return integer_certain_table(model, self.counts, seconds)
        with within(seconds):
            return certain_table(model, self.counts, progress)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the posterior to a Parquet file, for :func:`load_posterior` and for any other program.

        There is one row per term: its labels and, in records, the published ``N P(q,b)`` and ``N P(s,b)`` and the
        inferred ``N P(q,s,b)``. An existing file is replaced in one step, when the new one is complete. A checksum
        detects damage, but is not a signature, so files of unknown origin may be forged. The file also contains the
        knowledge of the model, with which ``load_posterior(path, verify=True)`` certifies the posterior again: do not
        share the file with people who must not see this knowledge.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TableError
            If Parquet does not support the labels of a column, such as tuples or numbers of several types, or if the
            file cannot be written; an existing file is then unchanged.

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
        parts = None if model is None else knowledge_parts(model.space, model.prior, model._base.knowledge)
        write_terms(path, self.space, self.counts, about, parts)

    def __repr__(self) -> str:
        return (
            f"<Posterior: H = {self.entropy:.6f} nats over {len(self.space)} terms, {self.status} by {self.solver} in "
            f"{self.iterations} iterations; {self.certificate}>"
        )

    def _repr_html_(self) -> str:
        view, first = self.space.view, self.conditional()
        if len(view.sensitive) == 1:
            first.columns = pd.Index([f"{view.sa} = {value}" for value in first.columns])
        size = f"{pluralize(len(view.quasi_identifiers), 'QI tuple')}, {pluralize(view.n_records, 'person', 'people')}"
        certified = "certified" if self.certificate.holds else "not certified"
        return as_html(
            f"<P({', '.join(view.sensitive)} | {', '.join(view.qi)}): {size}\nH = {self.entropy:.6f} nats · {self.status} "
            f"by {self.solver}, {certified}: every P(s | q) within {self.certificate.bound:.1e}>",
            TablePreview(first, "QI tuples"),
        )


def expression_of(value: object, given: object, who: object, view: Any) -> Probability | Ratio | None:
    """Read a combination or a ratio of ``P(...)``, also from a text; None for sensitive values."""
    if isinstance(value, str) and OPEN.search(value):
        levels = [level_of(view.sensitive_values, i)[1] for i in range(len(view.sensitive))]
        if not any(value in level for level in levels):
            value = read_expression(value)
    if isinstance(value, Statement | RatioStatement | ParametricStatement):
        raise StatementError(
            f"{value} is a statement, which has no probability; pass the expression that it compares, such as P(...)"
        )
    if not isinstance(value, Probability | Ratio):
        return None
    if given is not None or who is not None:
        raise StatementError(f"given and who must be omitted, because {value} contains its own condition")
    return value


#: Returns the value of a row of coefficients on p, given the function that makes the row for a space.
Expectation = Callable[[Callable[[Space], sp.csr_array]], float]


def value_of(expression: Probability | Ratio, expectation: Expectation) -> float:
    """Return the value of a combination or a ratio, given a function that returns the value of a row."""
    if isinstance(expression, Probability):
        return expression.constant + sum(_event_value(event, expectation) * a for event, a in expression.terms.items())
    divisor = value_of(expression.denominator, expectation)
    if divisor <= ROUNDING:
        raise StatementError(f"{expression} is undefined, because {expression.denominator} is 0 in the answer")
    return value_of(expression.numerator, expectation) / divisor


def _event_value(event: Event, expectation: Expectation) -> float:
    """Return the value of a probability or a mean, which is a quotient, as the number of people may be unknown."""
    if not isinstance(event, ExpectedNumber):
        return expectation(event.row)
    if (people := expectation(event.people_row)) <= ROUNDING:
        raise StatementError(f"{event} is undefined, because it is the mean of nobody in the answer")
    return expectation(event.total_row) / people


def counts_by_value(space: Space, counts: np.ndarray, group: np.ndarray, size: int) -> np.ndarray:
    """Sum the counts by group and sensitive value, given the group of each term: shape (groups, sensitive values)."""
    n_values = len(space.view.sensitive_values)
    return np.bincount(group * n_values + space.codes["s"], counts, size * n_values).reshape(size, n_values)


def entropy_of(space: Space, counts: np.ndarray) -> float:
    """Return the entropy of the terms, nats, or the contribution of one partition to it."""
    p = counts / space.n_records
    return float(xlogy(p, space.multiplicities).sum() - xlogy(p, p).sum())


def seconds_for(time_limit: float | None, integer: bool = False) -> float:
    """Return a time limit in seconds: by default 60 for integer programs, otherwise infinity."""
    if time_limit is None:
        return 60.0 if integer else math.inf
    return check_seconds(time_limit, "time_limit")
