"""The posterior of a model in partitions: it stays where it was computed, and answers questions from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from os import PathLike
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from ...display import Shown
from ...errors import StatementError, amount, arguments
from ...solvers import Certificate, Status
from ...solvers.partitioned.solve import PartitionedSolution
from ...solvers.program.linear_form import LinearForm
from ...sources import Probability
from ...terms.people import People
from .asked_tuples import numbers_of_tuples
from .asking import Event, added, entropy_of, expectation_in, people_in, table_of, terms_table
from .by_group import Measured, by_group
from .posed import PosedInParts
from .price_table import price_table, refuse_leaving_out
from .surest import surest_of
from .whole import Whole
from .writing import write_parts

__all__ = ["PartitionedPosterior"]

T = TypeVar("T")


class PartitionedPosterior(Shown):
    """The maximum-entropy distribution over the terms of all partitions, each of which holds its own.

    Parameters
    ----------
    whole : Whole
        What is known of all partitions, and their handles.
    solution : PartitionedSolution
        As the solver gives it.
    shared : LinearForm
        The rows that partitions share.
    seconds : float
        What it took.
    pose : callable
        It makes the problem that was solved again, partition by partition.

    Attributes
    ----------
    release : PartitionedRelease
        What is published.
    certificate : Certificate
        How far any P(s | q) can be from the maximum-entropy answer, as of :class:`maxent_cvx.Posterior`.
    status : Status
    iterations : int
    solve_seconds : float
    log : DataFrame
        A row an iteration.
    multipliers : dict of str to ndarray
        Of the rows that partitions share, by label.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.views.partitioned.partitioned_release import divided
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(divided(release, 2)).add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> print(post.conditional([("female", "junior"), ("male", "college")]).round(2))
    Disease         Breast Cancer   Flu   HIV  Lung Cancer  Pneumonia
    Gender Degree
    female junior             1.0  0.00  0.00          0.0       0.00
    male   college            0.0  0.44  0.17          0.0       0.39
    """

    def __init__(
        self,
        whole: Whole,
        solution: PartitionedSolution,
        shared: LinearForm,
        seconds: float,
        pose: Callable[[], PosedInParts],
    ) -> None:
        self._pose = pose
        self._whole, self._shared, self._executor = whole, shared, whole.executor
        self._parts, self._points = whole.parts, list(solution.points)
        self.release, self._multipliers = whole.release, solution.multipliers
        self.certificate: Certificate = solution.certificate
        self.status: Status = solution.status
        self.iterations, self.solve_seconds = solution.iterations, seconds
        self.log = pd.DataFrame(solution.log)

    @property
    def multipliers(self) -> dict[str, np.ndarray]:
        """Of every label of shared rows, their multipliers m, where N p = w exp(A' m - 1)."""
        return self._shared.by_label(self._multipliers)

    @property
    def names_people(self) -> bool:
        """Whether the model knows somebody by name."""
        return len(self._whole.people.names) > 0

    @property
    def known_people(self) -> People:
        """Who is known by name."""
        return self._whole.people

    def conditional(self, q: Iterable[object] | pd.DataFrame | Mapping[str, object]) -> pd.DataFrame:
        """P(s | q) of some QI tuples, probabilities: a row a tuple, a column a sensitive value.

        Parameters
        ----------
        q : DataFrame, MultiIndex, list of tuples, or dict
            The QI tuples that are asked for, of a table its QI columns; or all that are as described,
            ``{"Gender": "male", "Age": 40}``.

        Returns
        -------
        DataFrame

        Raises
        ------
        UnknownName, StatementError
            If nobody has such a tuple, or is as described.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(divided(release, 3)).solve()
        >>> post.conditional({"Gender": "female"})["Flu"].round(3).to_dict()
        {('female', 'college'): 0.417, ('female', 'graduate'): 0.333, ('female', 'junior'): 0.0}
        """
        release = self.release
        numbers, place = np.unique(self._numbers(q), return_inverse=True)
        table = self._reduced(table_of, self._whole.surroundings(frozenset()), numbers) / release.n_q[numbers, None]
        index: pd.Index = release.quasi_identifiers[numbers[place]].remove_unused_levels()
        index = index if len(release.qi) > 1 else index.get_level_values(0)
        return pd.DataFrame(table[place], index=index, columns=release.sensitive_values)

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> float:
        """P(value | given), or P(value | who), under the posterior; or the value of a combination of ``P(...)``.

        Parameters
        ----------
        value, given, who
            As of :meth:`maxent_cvx.Posterior.prob`.

        Returns
        -------
        float
            A probability; of several people in `who` the expected number with the value.

        Raises
        ------
        UnknownName, StatementError
            As :meth:`maxent_cvx.Space.prob`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(divided(release, 2)).add("P(Flu | Gender=male) = 0.4").solve()
        >>> round(post.prob("Flu", given={"Gender": "male"}), 6), round(post.prob(mx.P("Flu") - mx.P("HIV")), 6)
        (0.4, 0.1)
        """
        if not isinstance(value, Probability):
            return self._value(Event(value, given, who))
        if given is not None or who is not None:
            raise StatementError(f"{value} says already what is given; leave the other argument out")
        return value.constant + sum(self._value(event.row) * a for event, a in value.terms.items())

    def people(self) -> pd.DataFrame:
        """P(s | i) for every named person i: a row a person, a column a sensitive value.

        Returns
        -------
        DataFrame

        Raises
        ------
        StatementError
            If the model names nobody.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> iris = {"Iris": {"Gender": "female", "Degree": "graduate"}}
        >>> mx.MaxEnt(divided(release, 2), people=iris).solve().people().loc["Iris"].round(3).to_dict()
        {'Breast Cancer': 0.0, 'Flu': 0.333, 'HIV': 0.333, 'Lung Cancer': 0.333, 'Pneumonia': 0.0}
        """
        names = self._whole.people.names
        if not len(names):
            raise StatementError("the model names nobody; say who is known with MaxEnt(release, people={name: {...}})")
        table = self._reduced(people_in, self._whole.surroundings(frozenset()))
        return pd.DataFrame(table, index=names, columns=self.release.sensitive_values)

    @cached_property
    def entropy(self) -> float:
        """H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), nats, as of :class:`maxent_cvx.Posterior`."""
        return float(self._reduced(entropy_of, self._whole.surroundings(frozenset())))

    def reduce(self, measure: Callable[[np.ndarray, np.ndarray, np.ndarray], T], combine: Callable[[list[T]], T]) -> T:
        """Measure P(s | .) of all who are distinguishable, some at a time, where partitions are.

        Parameters
        ----------
        measure : callable
            Of some of them, from their probabilities, shape (groups, sensitive values), how many people each group is,
            and the numbers of the groups: of QI tuples those of ``release.quasi_identifiers``, then named people.
        combine : callable
            From a list of what it gives to the same of all of them together.

        Returns
        -------
        object
            What `combine` gives.

        Raises
        ------
        StatementError
            If one of them is no function.

        Examples
        --------
        The largest probability of all:

        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(divided(release, 3)).add("P(Breast Cancer | Gender=male) = 0").solve()
        >>> round(post.reduce(lambda p, people, numbers: float(p.max(initial=0.0)), max), 6)
        1.0
        """
        arguments.function(measure, "measure")
        arguments.function(combine, "combine")
        n_tuples = len(self.release.quasi_identifiers)
        known = self._whole.surroundings(frozenset())
        found = by_group(Measured(measure), self._executor, self._parts, self._points, known, n_tuples)
        return cast("T", self._executor.reduce(combine, found))

    def prices(self, leave_one_out: bool = False) -> pd.DataFrame:
        """``dH / d(value)`` of every statement, nats: its shadow price, for a unit of its value as typed.

        Parameters
        ----------
        leave_one_out : bool
            Of a posterior in memory only: each statement is left out by its label, ``model.remove(label)``, and solved.

        Returns
        -------
        DataFrame
            As of :meth:`maxent_cvx.Posterior.prices`: a row a statement, the largest price first, `side` and `price`.
            Statements that imply each other share a price, in one of the many ways that there are.

        Raises
        ------
        StatementError
            If statements are to be left out.
        Inaccurate
            If the knowledge determines counts in other ways than by statements of 0, or some counts are nearly 0, in a
            release of more than 1,000,000 counts: which prices are infinite is then found in memory only.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> said = "P(Flu | Gender=male) <= 0.25", "P(HIV | Degree=college) >= 0.25"
        >>> print(mx.MaxEnt(divided(release, 2)).add(*said).solve().prices().round(3))
                                        side  price
        statement
        P(HIV | Degree=college) >= 0.25   >= -1.072
        P(Flu | Gender=male) <= 0.25      <=  0.783
        """
        refuse_leaving_out(leave_one_out)
        parts, n_records = self._pose().parts, self.release.n_records
        return price_table(parts, self._points, self._shared, self._multipliers, n_records, self._executor)

    def top(self, n: int = 20) -> pd.DataFrame:
        """The surest inferences: those P(s | .) that are largest, one of each group of people.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        DataFrame
            A row a QI tuple, or named person: the value, its probability `P`, and how many `people` it is; the
            largest first.

        Raises
        ------
        StatementError
            If `n` is no number of rows.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(divided(release, 3)).add("P(Breast Cancer | Gender=male) = 0").solve().top(2).round(2))
                               Disease    P  people
        Gender Degree
        female junior    Breast Cancer  1.0       1
               college   Breast Cancer  0.5       2
        """
        arguments.whole(n, "n", 1)
        return surest_of(self, n)

    def to_parquet(self, folder: str | PathLike[str]) -> None:
        """Write the terms to a folder, a Parquet file a partition, each where the partition is.

        A row a term: its labels, ``N P(q, s, b)``, records, and ``P(q, s, b)``. The folder appears when all of its
        files are complete. Workers of a cluster must see it, too.

        Parameters
        ----------
        folder : str or path
            That is not there yet.

        Raises
        ------
        TableError
            If there is something of that name, or the files cannot be written; then nothing is left of them.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, pathlib, tempfile
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mx.MaxEnt(divided(release, 2)).solve().to_parquet(pathlib.Path(folder, "posterior"))
        ...     table = pd.read_parquet(pathlib.Path(folder, "posterior"))
        >>> table.columns.tolist(), len(table), round(float(table["P(q, s, b)"].sum()), 6)
        (['Gender', 'Degree', 'Disease', 'Bucket', 'N P(q, s, b)', 'P(q, s, b)'], 27, 1.0)
        """
        write_parts(folder, self._executor, self._parts, self._points, self._whole.surroundings(frozenset()))

    def to_frame(self) -> pd.DataFrame:
        """All terms in one table, as :meth:`to_parquet` writes them: of as many as fit into memory.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.views.partitioned.partitioned_release import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi="Gender", sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(divided(release, 2)).solve().to_frame().head(2).round(3))
           Gender        Disease  Bucket  N P(q, s, b)  P(q, s, b)
        0  female  Breast Cancer       1          0.25       0.025
        1  female            Flu       1          0.50       0.050
        """
        common = (self._whole.surroundings(frozenset()),)
        tables = self._executor.gather(self._executor.map(terms_table, self._parts, self._points, common=common))
        labels = [column for column in tables[0] if isinstance(tables[0][column].dtype, pd.CategoricalDtype)]
        plain = [table.astype({column: table[column].cat.categories.dtype for column in labels}) for table in tables]
        return pd.concat(plain, ignore_index=True)

    def _value(self, row: Any) -> float:
        """The value of a linear expression of p, by a function from a space to its coefficients."""
        columns = self._whole.asked(row)
        return float(self._reduced(expectation_in, row, self._whole.surroundings(columns)).sum())

    def _reduced(self, function: Any, *common: Any) -> np.ndarray:
        """Add up what a function of a partition and its answer gives."""
        executor = self._executor
        return np.asarray(executor.reduce(added, executor.map(function, self._parts, self._points, common=common)))

    def _numbers(self, q: Any) -> np.ndarray:
        """The numbers of the QI tuples that are asked for."""
        if isinstance(q, Mapping):
            return np.flatnonzero(self._whole.described_tuples(q))
        return numbers_of_tuples(q, self.release.qi, self.release.quasi_identifiers)

    def __repr__(self) -> str:
        return (
            f"<PartitionedPosterior over {amount(len(self._parts), 'partition')}: {self.status} in {self.iterations} "
            f"iterations; {self.certificate}>"
        )
