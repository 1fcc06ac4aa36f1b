"""MaxEnt and Posterior for a partitioned release: knowledge is checked once, and rows are built in the partitions."""

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
from operator import getitem, methodcaller
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Inaccurate, StatementError, TableError, join_names, pluralize, short_repr
from .._utils.files import path_of, removed_if_killed
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.parallel import Executor, OutOfCoreExecutor, executor_for
from .._utils.progress import progress_bar
from .._utils.tables import plain_index
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
from ..solvers.partitions import added
from ..solvers.partitions_certificate import PartitionedSolution, PointPart, price_multipliers, solve_partitioned
from ..sources.base import ConstraintGroup, Source
from ..sources.invariants import NamedPeople
from ..terms.partitioned import GlobalMarginals, PartSpace
from ..terms.people import OTHERS, People
from ..terms.rows import Rows
from ..terms.space import Space
from .explain import largest_first, prices_of
from .partitioned_system import (
    BroadcastSource,
    PartitionedProblem,
    PartitionedSpace,
    groups_of,
    own_space,
    partitioned_problem,
)
from .posterior import NOBODY_NAMED, counts_by_value, entropy_of, expression_of, value_of
from .system import KnowledgeBase

T = TypeVar("T")


def numbers_of_tuples(chosen: object, qi: Sequence[str], tuples: pd.MultiIndex) -> np.ndarray:
    """Return the positions, among all QI tuples, of the tuples in a table, an index or a list."""
    expected = (
        f"q must be a table with the columns {list(qi)}, a list of tuples, or a dict {{attribute: value}}, got "
        f"{short_repr(chosen)}"
    )
    listed: list[Any] = []
    if isinstance(chosen, pd.DataFrame):
        if set(qi) <= set(chosen.columns):
            listed = list(chosen[list(qi)].itertuples(index=False, name=None))
    elif is_several(chosen) and not isinstance(chosen, str | pd.Series):
        listed = [labels if isinstance(labels, tuple) else (labels,) for labels in chosen]
    if not listed or any(len(labels) != len(qi) for labels in listed):
        raise StatementError(expected)
    codes = []
    for i, level in enumerate(tuples.levels):
        try:
            codes.append(
                pd.Index(level, dtype=object).get_indexer(pd.Index([labels[i] for labels in listed], dtype=object))
            )
        except TypeError:  # unhashable labels
            raise StatementError(expected) from None
    by_codes = pd.MultiIndex.from_arrays([np.asarray(codes_of_level) for codes_of_level in tuples.codes])
    numbers = by_codes.get_indexer(pd.MultiIndex.from_arrays(codes))
    if (unknown := np.flatnonzero(numbers < 0)).size:
        nobody = [listed[i] for i in unknown.tolist()]
        raise StatementError(f"nobody in the release has the {', '.join(qi)} {join_names(nobody)}")
    return np.asarray(numbers)


# Functions of one partition and its part of an answer, whose results are summed over partitions.


def expectation_in(
    part: ReleasePart, point: PointPart, marginals: GlobalMarginals, row: Callable[[Space], sp.csr_array]
) -> np.ndarray:
    """Return the contribution of a partition to a linear expression of p."""
    space = PartSpace.around(part, marginals)
    counts = np.concatenate([point.counts, np.zeros(len(space) - space.n_own)])
    return (row(space) @ counts) / space.n_records


def in_own_space(
    part: ReleasePart, point: PointPart, marginals: GlobalMarginals, function: Callable[..., T], *arguments: Any
) -> T:
    """Return a function of the space and the counts of a partition."""
    return function(own_space(part, marginals), point.counts, *arguments)


def table_of(space: Space, counts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return N P(q, s), records, of QI tuples with ascending global numbers."""
    part, n = cast("ReleasePart", space.view), len(numbers)
    at = np.searchsorted(numbers, part.q_numbers)
    place = np.where(numbers[np.minimum(at, n - 1)] == part.q_numbers, at, n)  # n: tuples not requested
    return counts_by_value(space, counts, place[space.codes["q"]], n + 1)[:n]


def people_in(space: Space, counts: np.ndarray) -> np.ndarray:
    """Return N P(i, s), records, of all named people."""
    return counts_by_value(space, counts, space.codes["who"], len(space.people) + 1)[:-1]


def terms_table(space: Space, counts: np.ndarray) -> pd.DataFrame:
    """Return the terms as a table: labels, expected records, and probability."""
    axes: Mapping[str, tuple[np.ndarray, pd.Index]] = {
        column: space.axes.of_column(column) for column in [*["who"][: len(space.people)], *space.view.columns]
    }
    labels = {column: _column(codes, values) for column, (codes, values) in axes.items()}
    return beside(labels, {f"N {space.term}": counts, space.term: counts / space.n_records})


def beside(labels: Mapping[Any, Any], numbers: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return a table of labels and numbers, or raise if an attribute has the name of a column of numbers."""
    if clash := [name for name in labels if name in numbers]:
        raise TableError(f"an attribute is named {clash[0]!r}, like a column of the answer; rename it")
    return pd.DataFrame({**labels, **numbers})


def _column(codes: np.ndarray, values: pd.Index) -> Any:
    """Return the labels of terms in one column, as a Categorical for strings to save memory."""
    if pd.api.types.is_string_dtype(values) and values.is_unique:
        return pd.Categorical.from_codes(codes, values)
    return values.take(codes).array


# Measures of groups that have terms in several partitions.
#
# Each partition sums its terms by group and value. The groups are divided by number into as many ranges as there are
# partitions; the sums of each range are collected from all partitions and measured, and only the results are sent on.


class GroupTable(NamedTuple):
    """Groups with ascending global numbers, and their records with each sensitive value."""

    numbers: np.ndarray  # one per group
    records: np.ndarray  # one per group: total over all partitions
    counts: sp.csr_array  # N P(group, s), shape (groups, sensitive values)


def tables_of(space: Space, counts: np.ndarray, n_tuples: int, edges: np.ndarray) -> list[GroupTable]:
    """Return the contributions of a partition to all ranges of groups."""
    part = cast("ReleasePart", space.view)
    groups, numbers = groups_of(part, space, n_tuples)
    order = np.argsort(numbers, kind="stable")
    entries = counts, (np.argsort(order)[groups.of_term], space.codes["s"])
    table = sp.csr_array(entries, shape=(len(numbers), len(part.sensitive_values)))
    numbers, records = numbers[order], groups.records[order]
    ends = np.searchsorted(numbers, edges)
    return [GroupTable(numbers[a:b], records[a:b], sp.csr_array(table[a:b])) for a, b in itertools.pairwise(ends)]


def measured_together(measure: Callable[[np.ndarray, np.ndarray, np.ndarray], Any], *tables: GroupTable) -> Any:
    """Return the value of a measure at the sum of tables, which may share groups."""
    of_each = np.concatenate([table.numbers for table in tables])
    numbers, first, at = np.unique(of_each, return_index=True, return_inverse=True)
    records = np.concatenate([table.records for table in tables])[first]
    placing = sp.csr_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(len(numbers), len(at)))
    total = placing @ sp.vstack([table.counts for table in tables])
    return measure(total.toarray() / records[:, None], records, numbers)


# The most certain inferences of an answer in partitions.


#: Maps P(s | .), shape (groups, sensitive values), to one number per group, and the position of its label.
Chooser: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def surest_in(p: np.ndarray, people: np.ndarray, numbers: np.ndarray, n: int, of: Chooser | None) -> pd.DataFrame:
    """Return the n largest probabilities, with one candidate per group: its largest, or the one that `of` chooses."""
    if of is not None:
        largest, s = of(p)
    else:
        s = p.argmax(axis=1) if p.size else np.zeros(len(p), dtype=np.int64)
        largest = p[np.arange(len(p)), s]
    return first_of([pd.DataFrame({"number": numbers, "s": s, "P": largest, "people": people})], n)


def first_of(tables: list[pd.DataFrame], n: int) -> pd.DataFrame:
    """Return the first n rows of several tables, sorted by probability, then by people, then by number."""
    table = pd.concat(tables, ignore_index=True)
    return table.iloc[np.lexsort((table["number"], -table["people"], -table["P"]))[:n]]


def surest_of(
    post: PartitionedPosterior, n: int, of: Chooser | None = None, values: pd.Index | None = None
) -> pd.DataFrame:
    """Return the n most certain inferences: the largest probability per group, or the choice of `of` from `values`."""
    surest = post.reduce(partial(surest_in, n=n, of=of), partial(first_of, n=n))
    labels = post.release.sensitive_values if values is None else values
    return labelled(surest, post.release, post.known_people, labels)


def labelled(surest: pd.DataFrame, release: PartitionedRelease, people: People, s: pd.Index) -> pd.DataFrame:
    """Label values, and groups given by number: QI tuples, with names if people are named."""
    number, n_tuples = surest["number"].to_numpy(), len(release.quasi_identifiers)
    place = np.where(number >= n_tuples, number - n_tuples, len(people))  # position among the names
    tuples = np.where(number >= n_tuples, np.append(people.q, 0)[place], number)
    labels = release.quasi_identifiers[tuples].to_frame(index=False)
    if len(people):
        labels.insert(0, "who", np.append(people.names.to_numpy(dtype=object), OTHERS)[place])
    values = s[surest["s"].to_numpy()].to_frame(index=False)
    table = beside(dict(values.items()), {name: surest[name].to_numpy() for name in ("P", "people")})
    return table.set_index(pd.MultiIndex.from_frame(labels) if labels.shape[1] > 1 else pd.Index(labels.iloc[:, 0]))


def write_parts(
    folder: object, executor: Executor, parts: Sequence[Any], points: Sequence[Any], marginals: GlobalMarginals
) -> None:
    """Write one file per partition into a hidden folder, which is renamed when all files are complete."""
    target = path_of(folder)
    if target.exists() or target.is_symlink():
        raise TableError(f"{str(target)!r} already exists; choose another folder, or remove it first")
    draft = target.absolute().with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with removed_if_killed(draft):
            draft.mkdir()
            files = [draft / f"part-{i:05d}.parquet" for i in range(len(parts))]
            executor.gather(executor.map(write_part, parts, points, files, common=(marginals,)))
            os.rename(draft, target)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise TableError(f"the folder {str(target)!r} cannot be written: {error}") from error
        raise


def write_part(part: ReleasePart, point: PointPart, file: Path, marginals: GlobalMarginals) -> None:
    """Write the terms of one partition."""
    import pyarrow as pa

    table = in_own_space(part, point, marginals, terms_table)
    try:
        table.to_parquet(file, index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"Parquet cannot store the labels of the release: {' '.join(str(error).split())}; before making the "
            "release, convert the column to text, or to numbers of one type"
        ) from error


class PartitionedPosterior(ReprMixin):
    """The maximum-entropy distribution over the terms of all partitions, stored in the partitions.

    Parameters
    ----------
    whole : PartitionedSpace
        Handles of the partitions, and the marginals of the whole release.
    solution : PartitionedSolution
    shared : LinearForm
        The rows that partitions share.
    seconds : float
        Time of the solve.
    pose : callable
        Rebuilds the solved problem, partition by partition.

    Attributes
    ----------
    release : PartitionedRelease
    certificate : Certificate
        Bound on the error of every P(s | q), as in :class:`maxent_cvx.Posterior`.
    status : Status
    iterations : int
    solve_seconds : float
    log : DataFrame
        One row per iteration.
    multipliers : dict of str to ndarray
        Multipliers of the rows that partitions share, by label.

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
        pose: Callable[[], PartitionedProblem],
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
        """The multipliers m of shared rows by label, where N p = w exp(A' m - 1)."""
        return self._shared.by_label(self._multipliers)

    @property
    def view(self) -> PartitionedRelease:
        """The release of the posterior."""
        return self.release

    @property
    def names_people(self) -> bool:
        """Whether the model names people."""
        return len(self._whole.people.names) > 0

    @property
    def known_people(self) -> People:
        """The people named in the model."""
        return self._whole.people

    def conditional(self, q: Iterable[object] | pd.DataFrame | Mapping[str, object]) -> pd.DataFrame:
        """Return P(s | q) of given QI tuples: one row per tuple, one column per sensitive value.

        Parameters
        ----------
        q : DataFrame, MultiIndex, list of tuples, or dict
            The QI tuples, a table with the QI columns, or values of attributes, ``{"Gender": "male", "Age": 40}``.

        Returns
        -------
        DataFrame

        Raises
        ------
        UnknownName, StatementError
            If nobody has a given tuple or the given values.

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
        if isinstance(q, Mapping):
            chosen = np.flatnonzero(self._whole.described_tuples(q))
        else:
            chosen = numbers_of_tuples(q, release.qi, release.quasi_identifiers)
        numbers, place = np.unique(chosen, return_inverse=True)
        table = self._sum(table_of, numbers) / release.n_q[numbers, None]
        index = plain_index(release.quasi_identifiers[numbers[place]].remove_unused_levels())
        return pd.DataFrame(table[place], index=index, columns=release.sensitive_values)

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> float:
        """Return P(value | given), or P(value | who), under the posterior, or the value of a combination of ``P(...)``.

        Parameters
        ----------
        value, given, who
            See :meth:`maxent_cvx.Posterior.prob`.

        Returns
        -------
        float
            A probability; for several people in `who`, their expected number with the value.

        Raises
        ------
        UnknownName, StatementError
            See :meth:`maxent_cvx.Space.prob`.

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
        expression = expression_of(value, given, who, self.release)
        if expression is None:
            return self._expectation(methodcaller("row", value, given, who))  # can be sent to other processes
        return value_of(expression, self._expectation)

    def people(self) -> pd.DataFrame:
        """Return P(s | i) for every named person i: one row per person, one column per sensitive value.

        Returns
        -------
        DataFrame

        Raises
        ------
        StatementError
            If the model has no named people.

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
            raise StatementError(NOBODY_NAMED)
        table = self._sum(people_in)
        return pd.DataFrame(table, index=names, columns=self.release.sensitive_values)

    @cached_property
    def entropy(self) -> float:
        """H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), nats, as in :class:`maxent_cvx.Posterior`."""
        return float(self._sum(entropy_of))

    def reduce(self, measure: Callable[[np.ndarray, np.ndarray, np.ndarray], T], combine: Callable[[list[T]], T]) -> T:
        """Measure P(s | .) of all distinguishable groups of people, block by block, in the partitions.

        Parameters
        ----------
        measure : callable
            A function of the probabilities of a block of groups, shape (groups, sensitive values), the number of people
            in each, and the numbers of the groups: QI tuples as in ``release.quasi_identifiers``, then named people.
        combine : callable
            A function that combines a list of results of `measure` into the result for all of their groups.

        Returns
        -------
        object
            The result of `combine`.

        Raises
        ------
        StatementError
            If `measure` or `combine` is not callable.

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
        executor, n_ranges = self._executor, len(self._parts)
        n_tuples = len(self.release.quasi_identifiers)
        edges = np.linspace(0, n_tuples + len(self.known_people), n_ranges + 1).astype(np.int64)
        divided = self._map(tables_of, n_tuples, edges)
        ranges = [executor.map(getitem, [tables] * n_ranges, range(n_ranges)) for tables in divided]
        # A measure with data for every group has a method that returns a measure with the data of a range only.
        of_range = getattr(measure, "between", lambda first, end: measure)
        measures = [of_range(first, end) for first, end in itertools.pairwise(edges.tolist())]
        return cast("T", executor.reduce(combine, executor.map(measured_together, measures, *ranges)))

    def prices(self, leave_one_out: bool = False) -> pd.DataFrame:
        """Return the shadow price of every statement: ``dH / d(value)``, nats per unit of its value as typed.

        Parameters
        ----------
        leave_one_out : bool
            Not supported for partitioned releases.

        Returns
        -------
        DataFrame
            One row per statement, the largest price first, with columns `side` and `price`, see
            :meth:`maxent_cvx.Posterior.prices`. If statements imply each other, prices are one of many solutions;
            otherwise, with up to 1,000,000 counts and without soft statements, the finite prices equal those of a model
            in memory.

        Raises
        ------
        StatementError
            If `leave_one_out` is True.
        Inaccurate
            In a release of more than 1,000,000 counts, if the knowledge determines counts in other ways than by
            statements of 0, or some counts are nearly 0: infinite prices are then supported in memory only.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx.releases.partitioned import divided
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> statements = "P(Flu | Gender=male) <= 0.25", "P(HIV | Degree=college) >= 0.25"
        >>> print(mx.MaxEnt(divided(release, 2)).add(*statements).solve().prices().round(3))
                                        side  price
        statement
        P(HIV | Degree=college) >= 0.25   >= -1.072
        P(Flu | Gender=male) <= 0.25      <=  0.783
        """
        if check_bool(leave_one_out, "leave_one_out"):
            raise StatementError(
                "leave_one_out=True is not supported for partitioned releases; solve the model without a statement, "
                "model.copy().remove(label).solve(), and compare the entropies"
            )
        parts, n_records = self._pose().parts, self.release.n_records
        multipliers = price_multipliers(parts, self._points, self._shared, self._multipliers, n_records, self._executor)
        if multipliers is None:
            raise Inaccurate(
                "the knowledge determines some counts in other ways than by statements of 0, some counts are nearly 0, "
                "or the answer is not precise enough for prices; solve the release in memory, or with a smaller "
                "tolerance, solve(tolerance=1e-12)"
            )
        return largest_first(prices_of(self._shared, multipliers, n_records))

    def top(self, n: int = 20) -> pd.DataFrame:
        """Return the most certain inferences: the largest P(s | .), one per group of people.

        Parameters
        ----------
        n : int
            The number of rows.

        Returns
        -------
        DataFrame
            One row per QI tuple or named person, the largest first: the value, its probability `P`, and the number of
            `people`.

        Raises
        ------
        StatementError
            If `n` is not a positive integer.
        TableError
            If a sensitive attribute is named `P` or `people`, like a column of the table.

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
        """Write the terms to a folder, one Parquet file per partition.

        There is one row per term: its labels, ``N P(q, s, b)``, records, and ``P(q, s, b)``. The folder is created when
        all of its files are complete. The workers of a cluster must have access to it.

        Parameters
        ----------
        folder : str or path
            A folder that does not exist yet.

        Raises
        ------
        TableError
            If the folder exists, the files cannot be written, or an attribute has the name of a column of numbers; then
            no file remains.

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
        write_parts(folder, self._executor, self._parts, self._points, self._whole.marginals(frozenset()))

    def to_frame(self) -> pd.DataFrame:
        """Return all terms in one table, which must fit into memory, with the columns of :meth:`to_parquet`.

        Returns
        -------
        DataFrame

        Raises
        ------
        TableError
            If an attribute has the name of a column of numbers.

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
        tables = self._executor.gather(self._map(terms_table))
        labels = [column for column in tables[0] if isinstance(tables[0][column].dtype, pd.CategoricalDtype)]
        plain = [table.astype({column: table[column].cat.categories.dtype for column in labels}) for table in tables]
        return pd.concat(plain, ignore_index=True)

    def _expectation(self, row: Callable[[Space], sp.csr_array]) -> float:
        """Return the value of a linear expression of p, given a function from a space to its coefficients."""
        common = self._whole.marginals(self._whole.columns_of(row)), row
        shares = self._executor.map(expectation_in, self._parts, self._points, common=common)
        return float(self._executor.reduce(added, shares).sum())

    def _map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Map a function of the space and the counts of a partition over partitions, and return handles."""
        common = self._whole.marginals(frozenset()), function, *arguments
        return self._executor.map(in_own_space, self._parts, self._points, common=common)

    def _sum(self, function: Callable[..., Any], *arguments: Any) -> np.ndarray:
        """Return the sum of a function, as in :meth:`_map`, over partitions."""
        return np.asarray(self._executor.reduce(added, self._map(function, *arguments)))

    def __repr__(self) -> str:
        return (
            f"<PartitionedPosterior over {pluralize(len(self._parts), 'partition')}: {self.status} in {self.iterations} "
            f"iterations; {self.certificate}>"
        )


#: Maximum number of rows of knowledge that partitions share. Every iteration sends one number per row and partition,
#: and the driver factorises a square matrix of this size, at most 3 GB.
MOST_SHARED = 20_000


class PartitionedMaxEnt(ReprMixin):
    """Maximise H(Q, S, B), subject to the release and the knowledge, for a release whose buckets are in partitions.

    Statements have the same meaning as in a model of the whole release in memory, and the answer is the same: P(given)
    and the occurring groups are those of the whole release. Statements, sources and functions of the space may use
    ``space.marginal``, ``conditional``, ``prob``, ``described`` and ``records_described``. Rows about single buckets or
    terms (``space.p``), convex constraints and priors cannot be divided, and raise an error.

    Parameters
    ----------
    release : PartitionedRelease
    people : dict of dict, or DataFrame, optional
        The QI values of named people, as in :class:`maxent_cvx.MaxEnt`.
    client : distributed.Client, optional
        The Dask client whose workers store the partitions; by default threads of this process.

    Raises
    ------
    UnknownName, StatementError
        If `release` is not partitioned; if the QI values of a person are incomplete, or match nobody.

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
        self.release = release
        self._whole = PartitionedSpace(release, people, executor_for(client))
        facts = tuple([NamedPeople()][: len(self._whole.people)])
        emitted: dict[str, ConstraintGroup] = {fact.label: self._whole.broadcast(fact, None) for fact in facts}
        space = PartSpace.around(self._whole.empty, self._whole.marginals(frozenset()))
        self._held = KnowledgeBase.of(space, facts, emitted)

    def add(self, *sources: Any, label: str | None = None) -> Self:
        """Add knowledge of the adversary; if any of it is invalid, nothing is added.

        Parameters
        ----------
        *sources
            Statements, also as text, sources, or functions of the space, see :meth:`maxent_cvx.MaxEnt.add`.
        label : str, optional
            The label of a single source. By default the text of a statement.

        Returns
        -------
        PartitionedMaxEnt
            The model itself.

        Raises
        ------
        DuplicateLabel
            If other knowledge has the label.
        UnknownName, StatementError, BadProbability, LabelMismatch
            If a source does not match the release, or cannot be divided among partitions.

        Warns
        -----
        RepeatedStatement
            If the model already contains the same statement; it then does not change.

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
        if rows := [knowledge for knowledge in sources if isinstance(knowledge, Rows)]:
            raise StatementError(
                f"the rows of {rows[0].label} belong to one space, and cannot be divided among partitions; pass a "
                "function that builds them in each partition, lambda space: ..."
            )
        base = self._held.adding(sources, label, self._whole.broadcast)
        if (n_rows := sum(group.n_rows for group in base.groups.values())) > MOST_SHARED:
            raise StatementError(
                f"at most {MOST_SHARED:,} rows of knowledge are supported for partitioned releases, got {n_rows:,}; "
                "add fewer statements, or rows of fewer groups"
            )
        self._held = base
        return self

    def remove(self, label: str) -> Self:
        """Remove a source by its label.

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
        """Copy the model; later changes of one copy do not affect the other.

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
        return copy.copy(self)  # the attributes are immutable, apart from cached counts that are equal for both

    @property
    def knowledge(self) -> dict[str, Source]:
        """The knowledge of the adversary beyond the release, by label."""
        return {label: emitted.source for label, emitted in self._held.knowledge.items()}

    def describe(self) -> pd.DataFrame:
        """List the sources of the model.

        Returns
        -------
        DataFrame
            One row per source, by label: its kind, the number of its rows, the quasi-identifiers in their labels, and
            the cost of violated soft rows.

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
        table = []
        for group in self._held.groups.values():
            assert isinstance(group, BroadcastSource)
            costs = dict.fromkeys(f"soft: {rows.penalty}" for rows in group.rows if rows.penalty is not None)
            by = ", ".join(column for column in self.release.qi if column in group.columns)
            table.append((type(group.source).__name__, group.n_rows, by, "; ".join([*costs][:3])))
        index = pd.Index(list(self._held.groups), name="label")
        return pd.DataFrame(table, columns=["source", "rows", "by", "note"], index=index)

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
            The Dask client whose workers solve the model; by default that of the model, or threads of this process.
        threads : int, optional
            Without a client, the number of partitions processed at a time, by default one per processor.
        scratch : str or path, optional
            Without a client, a folder for the results of partitions that are not being processed, in files that are
            deleted with the answer. Only the partitions being processed are then in memory.
        allow_inaccurate : bool
            Also return an answer that is not certified to :data:`maxent_cvx.solvers.ACCURACY`.
        time_limit : float
            Seconds after which the solver stops, checked between iterations.
        callback : callable
            Called once per iteration with a :class:`maxent_cvx.solvers.Iteration`; if it returns True, the solve stops.
        verbose : bool
            Print one line per iteration.
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
            If a source differs between partitions; if an option or `threads` is invalid; if both a client and a scratch
            folder are given.
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
        check_optional_bool(progress, "progress")
        monitor = Monitor(verbose=verbose, time_limit=time_limit, callback=callback)
        if scratch is not None:
            if client is not None:
                raise StatementError(
                    "scratch cannot be combined with client, whose workers have their own folders; omit one of them"
                )
            self._whole.move_to(OutOfCoreExecutor(scratch, threads))
        elif client is not None or threads is not None:
            self._whole.move_to(executor_for(client, threads))
        begun = time.perf_counter()
        with progress_bar(None, "solve", False if verbose else progress, unit="iteration") as bar:
            if not verbose and progress is not False:
                monitor.callback = bar.following(callback)
            whole = copy.copy(self._whole)  # the answer keeps this executor if that of the model changes
            groups: list[Any] = list(self._held.groups.values())
            n_facts = len(self._held.facts)
            pose = partial(partitioned_problem, whole, groups[:n_facts], groups[n_facts:])
            posed = pose()
            solution = solve_partitioned(
                posed.parts, posed.shared, self.release.n_records, whole.executor, monitor=monitor, **options
            )
        if not solution.certificate.holds and not allow_inaccurate:
            remedy = (
                "If the knowledge contradicts the release or itself, no answer exists: remove statements, add tolerances "
                "(+- eps), or solve with allow_inaccurate=True to see the violation"
            )
            if solution.status is Status.LIMIT:
                remedy = f"Allow more {'time' if monitor.stopped else 'iterations'}, or pass allow_inaccurate=True"
            stopped = monitor.stopped and f", stopped {monitor.stopped}"
            raise Inaccurate(
                f"the answer is not certified: {solution.certificate}; {solution.status} in {solution.iterations} "
                f"iterations{stopped}. {remedy}"
            )
        return PartitionedPosterior(whole, solution, posed.shared, time.perf_counter() - begun, pose)

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.describe(), "sources")]

    def __repr__(self) -> str:
        n_rows = sum(emitted.n_rows for emitted in self._held.knowledge.values())
        return (
            f"<PartitionedMaxEnt: {pluralize(n_rows, 'row')} of knowledge from {pluralize(len(self.knowledge), 'source')}, "
            f"over {pluralize(self.release.n_partitions, 'partition')}>"
        )
