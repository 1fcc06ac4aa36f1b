"""MaxEnt and Posterior for a release in partitions: knowledge is checked once, rows are built where the data are."""

from __future__ import annotations

import copy
import itertools
import math
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import xlogy

from .._utils.errors import Inaccurate, StatementError, TableError, join_names, pluralize, short_repr
from .._utils.files import path_of, removed_if_killed
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.parallel import Executor, OutOfCoreExecutor, executor_for
from .._utils.progress import progress_bar
from .._utils.validation import (
    check_bool,
    check_callable,
    check_instance,
    check_int,
    check_label,
    check_optional_bool,
    is_several,
)
from ..releases.partitioned import PartitionedRelease, ReleasePart
from ..solvers.answer import Status
from ..solvers.backends import find
from ..solvers.certificate import Certificate
from ..solvers.form import LinearForm
from ..solvers.monitor import Callback, Monitor
from ..solvers.partitions_certificate import PartitionedSolution, PointPart, price_multipliers, solve_partitioned
from ..sources.base import Source, as_source
from ..sources.invariants import NamedPeople
from ..sources.parser import read_statement
from ..sources.statements import Probability
from ..terms.partitioned import GlobalMarginals, PartSpace
from ..terms.people import OTHERS, People
from ..terms.rows import Rows
from ..terms.space import Space
from .explain import largest_first, prices_of
from .partitioned_system import BroadcastSource, PartitionedSpace, PosedInParts, groups_of, own_space, posed_in_parts
from .system import ConstraintGroup, KnowledgeBase

__all__ = [
    "PartitionedMaxEnt",
    "PartitionedPosterior",
    "surest_of",
]

# QI tuples as users name them, by their numbers.


def numbers_of_tuples(asked: object, qi: Sequence[str], tuples: pd.MultiIndex) -> np.ndarray:
    """Find QI tuples among those of a release.

    Parameters
    ----------
    asked : DataFrame, MultiIndex, or list of tuples
        Of a table its QI columns; of one attribute the values will do.
    qi : sequence of str
    tuples : MultiIndex
        All of them.

    Raises
    ------
    StatementError
        If they are no tuples, or nobody has one.
    """
    what = (
        f"q={short_repr(asked)}: the QI tuples that are asked for are expected, a table with the columns {list(qi)}, a list "
        "of tuples, or a description {attribute: value}"
    )
    if isinstance(asked, pd.DataFrame):
        if not set(qi) <= set(asked.columns):
            raise StatementError(what)
        listed = list(asked[list(qi)].itertuples(index=False, name=None))
    elif isinstance(asked, str | pd.Series) or not is_several(asked):
        raise StatementError(what)
    else:
        listed = [one if isinstance(one, tuple) else (one,) for one in asked]
    if not listed or any(len(one) != len(qi) for one in listed):
        raise StatementError(what)
    codes = []
    for i, level in enumerate(tuples.levels):
        try:
            codes.append(pd.Index(level, dtype=object).get_indexer(pd.Index([one[i] for one in listed], dtype=object)))
        except TypeError:  # a list in a tuple, say
            raise StatementError(what) from None
    own = pd.MultiIndex.from_arrays([np.asarray(one) for one in tuples.codes])
    at = own.get_indexer(pd.MultiIndex.from_arrays(codes))
    if (strangers := np.flatnonzero(at < 0)).size:
        nobody = [listed[i] for i in strangers.tolist()]
        raise StatementError(f"nobody in the release has the {', '.join(qi)} {join_names(nobody)}")
    return np.asarray(at)


# What is asked of an answer in partitions: functions of one partition, and how their results are added up.


#: Coefficients on p of something that is asked, shape (1, terms).
Row = Callable[[Space], sp.csr_array]


class Event:
    """P(value | given) or P(value | who), as a function from a space to its coefficients that can be sent."""

    def __init__(self, value: object, given: Mapping[str, object] | None, who: object) -> None:
        self.value, self.given, self.who = value, given, who

    def __call__(self, space: Space) -> sp.csr_array:
        """The coefficients on p, shape (1, terms)."""
        return space.row(self.value, self.given, self.who)


def added(some: Sequence[np.ndarray]) -> np.ndarray:
    """Add up the results of some partitions."""
    return np.sum(some, axis=0)


def expectation_in(part: ReleasePart, point: PointPart, row: Row, surroundings: GlobalMarginals) -> np.ndarray:
    """A partition's share of a linear expression of p."""
    space = PartSpace.around(part, surroundings)
    counts = np.concatenate([point.counts, np.zeros(len(space) - space.n_own)])
    return (row(space) @ counts) / space.n_records


def table_of(part: ReleasePart, point: PointPart, surroundings: GlobalMarginals, numbers: np.ndarray) -> np.ndarray:
    """N P(q, s), records, of QI tuples by their numbers in the whole, ascending: a partition's share."""
    codes = own_space(part, surroundings).codes
    at = np.searchsorted(numbers, part.q_numbers)
    place = np.where(numbers[np.minimum(at, len(numbers) - 1)] == part.q_numbers, at, -1)[codes["q"]]
    asked, n_values = place >= 0, len(part.sensitive_values)
    key = place[asked] * n_values + codes["s"][asked]
    return np.bincount(key, point.counts[asked], len(numbers) * n_values).reshape(len(numbers), n_values)


def people_in(part: ReleasePart, point: PointPart, surroundings: GlobalMarginals) -> np.ndarray:
    """N P(i, s), records, of all named people: a partition's share."""
    codes, n_values = own_space(part, surroundings).codes, len(part.sensitive_values)
    n = len(surroundings.names)
    found = np.bincount(codes["who"] * n_values + codes["s"], point.counts, (n + 1) * n_values)
    return found.reshape(n + 1, n_values)[:n]


def entropy_of(part: ReleasePart, point: PointPart, surroundings: GlobalMarginals) -> np.ndarray:
    """A partition's share of the entropy, nats."""
    space = own_space(part, surroundings)
    p = point.counts / space.n_records
    return np.array(xlogy(p, space.multiplicities).sum() - xlogy(p, p).sum())


def terms_table(part: ReleasePart, point: PointPart, surroundings: GlobalMarginals) -> pd.DataFrame:
    """The terms of a partition as a table: labels, expected records, and the probability."""
    space = own_space(part, surroundings)
    axes: Mapping[str, tuple[np.ndarray, pd.Index]] = {
        column: space.axes.of_column(column) for column in [*["who"][: len(space.people)], *part.columns]
    }
    found = {column: _column(codes, values) for column, (codes, values) in axes.items()}
    records, name = point.counts, space.term
    return pd.DataFrame({**found, f"N {name}": records, name: records / space.n_records})


def _column(codes: np.ndarray, values: pd.Index) -> Any:
    """The labels of terms along one column; texts are written once each."""
    if pd.api.types.is_string_dtype(values) and values.is_unique:
        return pd.Categorical.from_codes(codes, values)
    return values.take(codes).array


# Numbers of groups that have terms in several partitions: sums are brought together, some groups at a time.
#
# Each partition adds up its own terms by group and value. Groups are divided by their numbers into as many ranges as
# there are partitions; what all of these have of one range meets in one place, is asked there, and only the answer goes
# on.


class GroupTable(NamedTuple):
    """What some groups have.

    Attributes
    ----------
    numbers : ndarray of int
        Of the groups in the whole, ascending.
    records : ndarray
        Of each in the whole.
    counts : csr_array, shape (groups, sensitive values)
        N P(group, s), records.
    """

    numbers: np.ndarray
    records: np.ndarray
    counts: sp.csr_array


class Measured:
    """A measure of probabilities, as a function of a table of counts.

    Parameters
    ----------
    measure : callable
        Of probabilities, people, and the numbers of groups. One that holds something of every group has a method
        ``between(first, end)``, the same measure for these groups alone, so that only that is sent.
    """

    def __init__(self, measure: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]) -> None:
        self.measure = measure

    def between(self, first: int, end: int) -> Measured:
        """The measure of the groups from `first` to before `end`."""
        of_some = getattr(self.measure, "between", None)
        return self if of_some is None else Measured(of_some(first, end))

    def __call__(self, table: GroupTable) -> Any:
        """What the measure gives."""
        return self.measure(table.counts.toarray() / table.records[:, None], table.records, table.numbers)


def by_group(
    measured: Measured,
    executor: Executor,
    parts: Sequence[Any],
    points: Sequence[Any],
    surroundings: GlobalMarginals,
    n_tuples: int,
) -> list[Any]:
    """Handles of what is measured of every range of groups, all of whose terms are added up."""
    n_groups, n_ranges = n_tuples + len(surroundings.names), len(parts)
    edges = np.linspace(0, n_groups, n_ranges + 1).astype(np.int64)
    divided = executor.map(tables_of, parts, points, common=(surroundings, n_tuples, edges))
    ranges = [executor.map(taken, [table] * n_ranges, range(n_ranges)) for table in divided]
    functions = [measured.between(first, end) for first, end in itertools.pairwise(edges.tolist())]
    return executor.map(asked_together, functions, *ranges)


def tables_of(
    part: ReleasePart, point: PointPart, surroundings: GlobalMarginals, n_tuples: int, edges: np.ndarray
) -> list[GroupTable]:
    """What a partition has of every range of groups."""
    space = own_space(part, surroundings)
    groups, numbers = groups_of(part, space, n_tuples)
    order = np.argsort(numbers, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    shape = len(numbers), len(part.sensitive_values)
    entries = point.counts, (place[groups.of_term], space.codes["s"])
    table, numbers, records = sp.coo_array(entries, shape=shape).tocsr(), numbers[order], groups.records[order]
    ends = np.searchsorted(numbers, edges)
    return [GroupTable(numbers[a:b], records[a:b], sp.csr_array(table[a:b])) for a, b in itertools.pairwise(ends)]


def taken(tables: Sequence[GroupTable], i: int) -> GroupTable:
    """One of some tables."""
    return tables[i]


def asked_together(function: Callable[[GroupTable], Any], *tables: GroupTable) -> Any:
    """What a function gives of the sum of tables that share groups."""
    numbers, first = np.unique(np.concatenate([table.numbers for table in tables]), return_index=True)
    records = np.concatenate([table.records for table in tables])[first]
    total = sp.csr_array((len(numbers), tables[0].counts.shape[1]))
    for table in tables:
        at = np.searchsorted(numbers, table.numbers)
        placing = sp.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(len(numbers), len(at)))
        total = total + placing @ table.counts
    return function(GroupTable(numbers, records, sp.csr_array(total)))


# Shadow prices of the statements of a model in partitions, as a table.


def refuse_leaving_out(leave_one_out: object) -> None:
    """Say what to do in place of leaving statements out one by one."""
    if check_bool(leave_one_out, "leave_one_out"):
        raise StatementError(
            "of a release in partitions no statement is left out by itself; solve the model without each that "
            "matters, model.copy().remove(label).solve(), and compare the entropies"
        )


def price_table(
    parts: Sequence[Any],
    points: Sequence[Any],
    shared: LinearForm,
    multipliers: np.ndarray,
    n_records: float,
    executor: Executor,
) -> pd.DataFrame:
    """List the statements with their prices, see :meth:`maxent_cvx.PartitionedPosterior.prices`.

    Parameters
    ----------
    parts, points, shared, multipliers, n_records, executor
        As of :func:`~maxent_cvx.solvers.partitions_certificate.price_multipliers`.
    """
    found = price_multipliers(parts, points, shared, multipliers, n_records, executor)
    if found is None:
        raise Inaccurate(
            "the knowledge determines some counts in other ways than by statements of 0, some counts are nearly 0, or "
            "the answer is not precise enough for prices; solve the release in memory, or with a smaller tolerance, "
            "solve(tolerance=1e-12)"
        )
    return largest_first(prices_of(shared, found, n_records))


# The surest inferences of an answer in partitions.


#: From P(s | .), shape (groups, sensitive values), to one number of each group, and the position of its label.
Chooser: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Surest:
    """The n largest probabilities, one of each group; or the one that a function chooses of each."""

    def __init__(self, n: int, of: Chooser | None = None) -> None:
        self.n, self.of = n, of

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
        """Those of some groups."""
        if self.of is not None:
            largest, s = self.of(p)
        else:
            s = p.argmax(axis=1) if p.size else np.zeros(len(p), dtype=np.int64)
            largest = p[np.arange(len(p)), s]
        return self._first(pd.DataFrame({"number": numbers, "s": s, "P": largest, "people": people}))

    def combined(self, some: list[pd.DataFrame]) -> pd.DataFrame:
        """Those of all groups."""
        return self._first(pd.concat(some, ignore_index=True))

    def _first(self, table: pd.DataFrame) -> pd.DataFrame:
        order = np.lexsort((table["number"], -table["people"], -table["P"]))
        return table.iloc[order[: self.n]]


class Reduced(Protocol):
    """An answer in partitions, as :class:`~maxent_cvx.PartitionedPosterior` is one."""

    release: PartitionedRelease

    @property
    def known_people(self) -> People:
        """Who is known by name."""
        ...

    def reduce(self, measure: Callable[..., Any], combine: Callable[..., Any]) -> Any:
        """Measure the probabilities of some groups at a time."""
        ...


def surest_of(
    post: Reduced,
    n: int,
    of: Chooser | None = None,
    values: pd.Index | None = None,
) -> pd.DataFrame:
    """The surest inferences, as :meth:`maxent_cvx.PartitionedPosterior.top`, or those that a function chooses.

    Parameters
    ----------
    post : PartitionedPosterior
    n : int
        How many.
    of : callable, optional
        Chooses one inference of each group; by default its largest probability.
    values : Index, optional
        The labels that its positions are of.
    """
    surest, labels = Surest(n, of), post.release.sensitive_values if values is None else values
    return labelled(post.reduce(surest, surest.combined), post.release, post.known_people, labels)


def labelled(found: pd.DataFrame, release: PartitionedRelease, people: People, s: pd.Index) -> pd.DataFrame:
    """Label values, and groups by their numbers: QI tuples, and where people are named, who they are."""
    number, n_tuples = found["number"].to_numpy(), len(release.quasi_identifiers)
    place = np.where(number >= n_tuples, number - n_tuples, len(people))  # of a person among the names
    tuples = np.where(number >= n_tuples, np.append(people.q, 0)[place], number)
    labels = release.quasi_identifiers[tuples].to_frame(index=False)
    if len(people):
        labels.insert(0, "who", np.append(people.names.to_numpy(dtype=object), OTHERS)[place])
    values = s[found["s"].to_numpy()].to_frame(index=False)
    table = values.assign(P=found["P"].to_numpy(), people=found["people"].to_numpy())
    return table.set_index(pd.MultiIndex.from_frame(labels) if labels.shape[1] > 1 else pd.Index(labels.iloc[:, 0]))


# An answer in partitions as a folder of files, which is there as a whole or not at all.


def write_parts(
    folder: object, executor: Executor, parts: Sequence[Any], points: Sequence[Any], surroundings: GlobalMarginals
) -> None:
    """Write a file a partition into a hidden folder, and give it its name when all are complete.

    Parameters
    ----------
    folder : str or path
    executor : Executor
    parts, points : sequence of handles
    surroundings : Surroundings
        Those that know who is named.

    Raises
    ------
    TableError
        If there is something of that name, or the files cannot be written.
    """
    target = path_of(folder)
    if target.exists() or target.is_symlink():
        raise TableError(f"{str(target)!r} is there already; name a folder that is not, or remove it first")
    draft = target.absolute().with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with removed_if_killed(draft):
            draft.mkdir()
            files = [draft / f"part-{i:05d}.parquet" for i in range(len(parts))]
            executor.gather(executor.map(write_part, parts, points, files, common=(surroundings,)))
            os.rename(draft, target)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise TableError(f"the folder {str(target)!r} cannot be written: {error}") from error
        raise


def write_part(part: ReleasePart, point: PointPart, file: Path, surroundings: GlobalMarginals) -> None:
    """Write the terms of one partition."""
    import pyarrow as pa

    table = terms_table(part, point, surroundings)
    try:
        table.to_parquet(file, index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"Parquet cannot store the labels of the release: {' '.join(str(error).split())}; before the release is "
            "made, turn the column into text, or into numbers of one type"
        ) from error


# The posterior of a model in partitions: it stays where it was computed, and answers questions from there.


T = TypeVar("T")


class PartitionedPosterior(ReprMixin):
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
    >>> from maxent_cvx.releases.partitioned import divided
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
        whole: PartitionedSpace,
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
        >>> from maxent_cvx.releases.partitioned import divided
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
        >>> from maxent_cvx.releases.partitioned import divided
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
        >>> from maxent_cvx.releases.partitioned import divided
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
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(divided(release, 3)).add("P(Breast Cancer | Gender=male) = 0").solve()
        >>> round(post.reduce(lambda p, people, numbers: float(p.max(initial=0.0)), max), 6)
        1.0
        """
        check_callable(measure, "measure")
        check_callable(combine, "combine")
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
        >>> from maxent_cvx.releases.partitioned import divided
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
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(divided(release, 3)).add("P(Breast Cancer | Gender=male) = 0").solve().top(2).round(2))
                               Disease    P  people
        Gender Degree
        female junior    Breast Cancer  1.0       1
               college   Breast Cancer  0.5       2
        """
        check_int(n, "n", 1)
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
        >>> from maxent_cvx.releases.partitioned import divided
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
        >>> from maxent_cvx.releases.partitioned import divided
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
            f"<PartitionedPosterior over {pluralize(len(self._parts), 'partition')}: {self.status} in {self.iterations} "
            f"iterations; {self.certificate}>"
        )


#: Rows of knowledge that partitions can share. Every iteration sends one number a row and partition, and the driver
#: factorises a matrix with as many rows and columns: beyond this, 3 GB.
MOST_SHARED = 20_000


class PartitionedMaxEnt(ReprMixin):
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
    >>> from maxent_cvx.releases.partitioned import divided
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
        check_instance(release, PartitionedRelease, "release")
        self.release, self._described = release, people
        self._executor: Executor = executor_for(client)
        facts = tuple([NamedPeople()][: len(self._whole.people)])
        told: dict[str, ConstraintGroup] = {fact.label: self._whole.told(fact, None) for fact in facts}
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
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(divided(release, 3)).add("P(Flu | Gender=male) <= 0.4")
        >>> model = model.add(lambda space: space.conditional("s", given="Gender") <= 0.9, label="nobody is sure")
        >>> list(model.knowledge)
        ['P(Flu | Gender=male) <= 0.4', 'nobody is sure']
        """
        if label is not None and (not isinstance(label, str) or not label):
            raise StatementError(f"label={short_repr(label)}: a label is a text, to be shown in tables and errors")
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
            base.add(told, label)
        if (n_rows := sum(told.n_rows for told in base.groups.values())) > MOST_SHARED:
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
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.MaxEnt(divided(release, 2)).add("P(Flu | Gender=male) = 0.4", label="rumour").remove("rumour")
        <PartitionedMaxEnt: 0 rows of knowledge from 0 sources, over 2 partitions>
        """
        check_label(label, "label of the model's knowledge", self.knowledge)
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
        >>> from maxent_cvx.releases.partitioned import divided
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
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(divided(release, 3)).add("P(Flu | Gender=male) ~ 0.4 +- 0.1")
        >>> print(model.describe())
                                              source  rows by           note
        label
        P(Flu | Gender=male) ~ 0.4 +- 0.1  Statement     1     soft: sd 0.1
        """
        found = []
        for told in self._held.groups.values():
            assert isinstance(told, BroadcastSource)
            costs = dict.fromkeys(f"soft: {rows.penalty}" for rows in told.rows if rows.penalty is not None)
            by = ", ".join(column for column in self.release.qi if column in told.columns)
            found.append((type(told.source).__name__, told.n_rows, by, "; ".join([*costs][:3])))
        index = pd.Index(list(self._held.groups), name="label")
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
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(divided(release, 2)).add("P(Flu | Gender=male) = 0.3").solve()
        >>> post.certificate.holds, round(post.prob("Flu", given={"Gender": "female"}), 6)
        (True, 0.3)
        """
        check_bool(allow_inaccurate, "allow_inaccurate")
        find("DUAL_NEWTON").check(options)
        if threads is not None:
            check_int(threads, "threads", 1)
        check_bool(verbose, "verbose")
        check_optional_bool(progress, "progress")
        if callback is not None:
            check_callable(callback, "callback")
        if scratch is not None:
            if client is not None:
                raise StatementError("workers of a client have folders of their own; leave scratch or client out")
            self._work_on(OutOfCoreExecutor(scratch, threads))
        elif client is not None or threads is not None:
            self._work_on(executor_for(client, threads))
        begun = time.perf_counter()
        with progress_bar(None, "solve", False if verbose else progress, unit="iteration") as bar:
            told = callback if verbose or progress is False else bar.following(callback)
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
        every, n_facts = list(self._held.groups.values()), len(self._held.facts)
        return every[:n_facts], every[n_facts:]

    def _work_on(self, executor: Executor) -> None:
        """Do all that follows elsewhere; what was counted is kept."""
        self._executor = executor
        self._whole.move_to(executor)

    @cached_property
    def _whole(self) -> PartitionedSpace:
        return PartitionedSpace(self.release, self._described, self._executor)

    @cached_property
    def _space(self) -> PartSpace:
        """The space of no partition, by which labels are held."""
        return PartSpace.around(self._whole.empty, self._whole.surroundings(frozenset()))

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.describe(), "sources")]

    def __repr__(self) -> str:
        n_rows = sum(told.n_rows for told in self._held.knowledge.values())
        return (
            f"<PartitionedMaxEnt: {pluralize(n_rows, 'row')} of knowledge from {pluralize(len(self.knowledge), 'source')}, "
            f"over {pluralize(self.release.n_partitions, 'partition')}>"
        )
