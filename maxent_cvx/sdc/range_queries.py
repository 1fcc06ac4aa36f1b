"""Range queries: sums over enough records, and their implications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import GroupTooLarge, Inaccurate, Infeasible, SolverError, StatementError, TableError, pluralize
from .._utils.tables import as_numbers, ranges
from .._utils.validation import check_array, check_in, check_int, check_number, check_seed
from ..measures.equivocation import in_units
from ..model.maxent import MaxEnt
from ..releases.qi_table import QITable
from ..solvers.linear import LinearProgram
from ..sources.base import Source
from ..terms.rows import Rows
from ..terms.space import Space
from .techniques import DomainTechnique, Known, Published, check_confidential, draws, numeric_domain

#: The tolerance for the roundoff of sums, relative to the largest one.
ROUNDING = 1e-9
NO_RECORDS = "no records between {:g} and {:g} have these sums; pass the published sums"


def half_overlapping_bounds(sums: np.ndarray, half: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound the records in each block b_0, ..., b_k, given the sums of b_0 + b_1, b_1 + b_2, ...

    The sum t of b_0 determines all others: the sum of b_j is c_j + (-1)^j t with c_0 = 0, c_(j+1) = S_j - c_j. As every
    sum is between l low and l high, t is bounded, and so is the sum of every block. A record is at most the sum of its
    block minus the lowest possible values of the others. These bounds are attained.

    Parameters
    ----------
    sums : ndarray, shape (k,)
        S_j, the sums of the 2l records in two neighbouring blocks.
    half : int
        l, the number of records in a block.
    low, high : float
        The smallest and the largest value of the domain.

    Returns
    -------
    low, high : ndarray, shape (k + 1,)
        Bounds of each record in a block.

    Raises
    ------
    Infeasible
        If no records have these sums.
    TableError, BadProbability
        If the sums, `low` or `high` are not numbers, or `low` is above `high`.
    StatementError
        If `half` is not an integer of at least 1.

    Notes
    -----
    CAE, section 5 (query restriction); O(k), instead of two linear programs per record.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.half_overlapping_bounds([12, 4], half=1, low=0, high=10)          # two sums of two records
    (array([8., 2., 0.]), array([10.,  4.,  2.]))
    """
    sums, low, high = _checked(sums, low, high)
    check_int(half, "half", 1)
    offset, sign = block_sums(sums)
    ends = np.sort(sign * (np.array([[half * low], [half * high]]) - offset), axis=0)
    least, most = ends[0].max(), ends[1].min()
    slack = ROUNDING * max(np.abs(sums).max(initial=0.0), half * max(abs(low), abs(high)))
    if least > most + slack:
        raise Infeasible(NO_RECORDS.format(low, high))
    block = np.sort(offset + sign * np.array([[least], [max(most, least)]]), axis=0)
    return np.maximum(low, block[0] - (half - 1) * high), np.minimum(high, block[1] - (half - 1) * low)


def block_sums(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return c_j = S_(j-1) - S_(j-2) + ... and (-1)^j of the sums c_j + (-1)^j t of all blocks."""
    sign = (-1.0) ** np.arange(len(sums) + 1)
    return np.concatenate([[0.0], -sign[1:] * np.cumsum(sign[:-1] * sums)]), sign


def _checked(sums: Any, low: float, high: float) -> tuple[np.ndarray, float, float]:
    """Read the sums and the ends of the domain."""
    low, high = check_number(low, "low"), check_number(high, "high")
    if low > high:
        raise TableError(f"low={low:g} is above high={high:g}; swap the two")
    return as_numbers(sums, "sums").astype(float), low, high


def record_bounds(system: Any, sums: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound every record by linear programming: min and max r_i over all low <= r <= high with A r = sums.

    Parameters
    ----------
    system : array or sparse array, shape (queries, records)
        A, the multiplicity of each record in each query.
    sums : ndarray, shape (queries,)
    low, high : float
        The smallest and the largest value of the domain.

    Returns
    -------
    low, high : ndarray, shape (records,)

    Raises
    ------
    Infeasible
        If no records have these sums.
    TableError, BadProbability
        If the system, the sums, `low` or `high` are not numbers, or their shapes do not match.
    SolverError
        If the solver stops without an answer.

    Notes
    -----
    CAE, section 5 (query restriction), for any system of queries. Records in the same queries have the same bounds, and
    share two linear programs (HiGHS).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.record_bounds([[1, 1, 0], [0, 1, 1]], [12, 4], low=0, high=10)
    (array([8., 2., 0.]), array([10.,  4.,  2.]))
    """
    answers, low, high = _checked(sums, low, high)
    try:
        matrix = sp.csc_array(system)
        matrix = matrix if np.iscomplexobj(matrix.data) else matrix.astype(float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"system must be a matrix of numbers, queries by records: {error}") from error
    if np.iscomplexobj(matrix.data) or not np.isfinite(matrix.data).all():
        raise TableError("system must contain finite numbers, the multiplicity of each record in each query")
    if matrix.ndim != 2 or answers.shape != matrix.shape[:1]:
        raise TableError(f"sums must have one number for each of {matrix.shape[0]} queries, not shape {answers.shape}")
    matrix.sum_duplicates()
    ends = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    columns = [matrix.indices[start:end].tobytes() + matrix.data[start:end].tobytes() for start, end in ends]
    kind = pd.factorize(np.array(columns, dtype=object))[0]
    first = np.unique(kind, return_index=True)[1]
    span = high - low or 1.0  # records are low + span x, with x from 0 to 1
    target = (answers - low * np.asarray(matrix.sum(axis=1))) / span
    bounds = np.empty((2, len(first)))
    program = LinearProgram(sp.csr_array(matrix), target, target, upper=float(high > low))
    for at, record in enumerate(first):
        for side, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(matrix.shape[1])
            cost[record] = sign
            best = program.minimum(cost)
            if best.infeasible:
                raise Infeasible(NO_RECORDS.format(low, high))
            if not best.found:
                raise SolverError(f"the bounds of record {record} were not found: {best.message}")
            bounds[side, at] = low + span * best.x[record]
    return bounds[0][kind], bounds[1][kind]


#: The maximum number of entries of a table of blocks and values in memory.
TABLE = 2**20
#: Steps of Newton's method or bisection; the tolerance of means of values from 0 to 1, and of nats.
STEPS, SAME, GAP = 200, 1e-14, 1e-12
#: The tolerance of an answer, relative to the range of the values and the size of the block.
ACCURACY = 1e-9


def most_entropic(
    values: np.ndarray, allowed: np.ndarray, offset: np.ndarray, sign: np.ndarray, half: int
) -> np.ndarray:
    """Maximise sum_b l H_b(m_b) over t; H_b: largest entropy over allowed values with mean (c_b + (-1)^b t) / l."""
    # The distribution of largest entropy with a mean is p(d) ~ exp(lambda d), and H_b'(m) = -lambda. So the objective
    # is concave in t, and Newton's method, inside a bracket, finds the zero of its derivative -sum_b (-1)^b lambda_b.
    start, span = values[0], (values[-1] - values[0]) or 1.0
    z = (values - start) / span
    center, rate = (offset / half - start) / span, sign / (half * span)
    lowest = np.where(allowed, z, np.inf).min(axis=1)
    highest = np.where(allowed, z, -np.inf).max(axis=1)
    ends = np.sort((np.array([lowest, highest]) - center) / rate, axis=0)
    low, high = ends[0].max(), ends[1].min()
    if low > high + ACCURACY * half * span:
        raise Infeasible("no records within the bounds have these sums; pass the published sums")
    tilt, t, slope = np.zeros(len(offset)), (low + high) / 2, 0.0
    for _ in range(STEPS):
        mean = np.clip(center + rate * t, lowest, highest)
        tilt, p, variance = _tilted(z, allowed, mean, lowest, highest, tilt)
        free = variance > 0
        slope = -float((half * rate * tilt)[free].sum())
        low, high = (t, high) if slope > 0 else (low, t)
        if abs(slope) * (high - low) <= GAP * half * len(offset) or high - low <= SAME * half * span:
            break
        with np.errstate(divide="ignore"):
            t = t + slope / float((half * rate[free] ** 2 / variance[free]).sum())
        if not low < t < high:
            t = (low + high) / 2
    off = np.abs(p @ z - (center + rate * t)).max()
    if off > ACCURACY or (abs(slope) * (high - low) > ACCURACY * half * len(offset) and high - low > ACCURACY * span):
        raise Inaccurate(
            f"the maximum-entropy solution misses the sums by {off * half * span:.3g}; use distribution='uniform'"
        )
    return p


def _tilted(
    z: np.ndarray, allowed: np.ndarray, mean: np.ndarray, lowest: np.ndarray, highest: np.ndarray, tilt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lambda, the probabilities ~ exp(lambda z) of allowed values, and the variance, for each block's mean."""
    # If the mean is the least or the largest allowed value, all records have this value, and the variance is 0.
    p, variance = np.zeros(allowed.shape), np.zeros(len(mean))
    tilt = tilt.copy()
    at_end = (mean - lowest <= SAME) | (highest - mean <= SAME)
    nearest = np.where(highest - mean <= SAME, highest, lowest)
    p[at_end] = (allowed & (z == nearest[:, None]))[at_end]
    inside = np.flatnonzero(~at_end)
    at_once = max(TABLE // len(z), 1)
    for first in range(0, len(inside), at_once):
        rows = inside[first : first + at_once]
        tilt[rows], p[rows], variance[rows] = _newton(z, allowed[rows], mean[rows], tilt[rows])
    return tilt, p, variance


def _newton(
    z: np.ndarray, allowed: np.ndarray, mean: np.ndarray, tilt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Apply Newton's method to the mean, which increases with lambda, inside growing brackets."""
    below, above = np.full(len(mean), -np.inf), np.full(len(mean), np.inf)
    exponent = np.where(allowed, 0.0, -np.inf)
    for _ in range(STEPS):
        weight = tilt[:, None] * z + exponent
        weight = np.exp(weight - weight.max(axis=1, keepdims=True))
        p = weight / weight.sum(axis=1, keepdims=True)
        off = p @ z - mean
        variance = (p * (z - (p @ z)[:, None]) ** 2).sum(axis=1)
        if (np.abs(off) <= SAME).all():
            break
        below, above = np.where(off < 0, tilt, below), np.where(off > 0, tilt, above)
        reach = 2 + 2 * np.abs(tilt)
        moved = tilt - np.clip(off / np.maximum(variance, 1e-300), -reach, reach)
        with np.errstate(invalid="ignore"):
            outside = (moved <= below) | (moved >= above)
            middle = (below + above) / 2
        tilt = np.where(outside & np.isfinite(middle), middle, moved)
    return tilt, p, variance


class WindowSums(Source):
    """N sum_s s (P(b_j, s) + P(b_(j+1), s)) = S_j: the sum over every window of two blocks equals its answer.

    Parameters
    ----------
    sums : ndarray, shape (windows,)
        S_j, in the unit of the values. The QI tuples of the view are the blocks in order, with one more block than windows.

    Notes
    -----
    CAE, section 5 (query restriction), with the equations as expectations.

    Examples
    --------
    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> blocks = pd.DataFrame({"block": [0, 1, 2]})
    >>> table = mx.QITable(blocks, qi="block", sa="Salary", sa_values=[50, 80, 110])
    >>> post = mx.MaxEnt(table).add(mx.sdc.WindowSums(np.array([160.0, 170.0]))).solve()
    >>> means = post.conditional() @ [50, 80, 110]
    >>> (means + means.shift(-1)).round(2).to_list()[:2]
    [160.0, 170.0]
    """

    def __init__(self, sums: np.ndarray) -> None:
        self.sums = check_array(sums, "sums")

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per window; see :meth:`maxent_cvx.Source.rows`."""
        value = space.n_records * _numbers(space)[space.codes["s"]]
        blocks = len(space.view.quasi_identifiers)
        of_block = sp.csr_array((value, (space.codes["q"], np.arange(len(space)))), shape=(blocks, len(space)))
        windows = sp.diags_array([1.0, 1.0], offsets=[0, 1], shape=(len(self.sums), blocks))
        index = pd.RangeIndex(1, len(self.sums) + 1, name="query")
        yield Rows(sp.csr_array(windows @ of_block), self.sums, self.sums, "range sum", index, space.view)


class WithinBounds(Source):
    """sum of P(b, s) over s < L_b and s > U_b = 0: no record has a value outside its bounds.

    Parameters
    ----------
    low, high : ndarray, shape (blocks,)
        L and U for the records of every block, in the unit of the values.

    Examples
    --------
    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> blocks = pd.DataFrame({"block": [0, 1, 2]})
    >>> table = mx.QITable(blocks, qi="block", sa="Salary", sa_values=[50, 80, 110])
    >>> bounds = mx.sdc.WithinBounds(low=np.array([50, 80, 80]), high=np.array([80, 80, 110]))
    >>> print(mx.MaxEnt(table).add(bounds).solve().conditional().round(2))
    Salary  50   80   110
    block
    0       0.5  0.5  0.0
    1       0.0  1.0  0.0
    2       0.0  0.5  0.5
    """

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self.low, self.high = low, high

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per block with excluded values; see :meth:`maxent_cvx.Source.rows`."""
        value, block = _numbers(space)[space.codes["s"]], space.codes["q"]
        outside = np.flatnonzero((value < self.low[block]) | (value > self.high[block]))
        blocks, row = np.unique(block[outside], return_inverse=True)
        matrix = sp.csr_array((np.ones(len(outside)), (row, outside)), shape=(len(blocks), len(space)))
        nobody = np.zeros(len(blocks))
        yield Rows(matrix, nobody, nobody, "bounds of block", pd.Index(blocks, name="block"), space.view)


def _numbers(space: Space) -> np.ndarray:
    """Return the sensitive values."""
    return space.view.sensitive_values.to_numpy(dtype=float)


#: The maximum number of probabilities of a table of blocks and values.
MOST_ENTRIES = 10**8


class Steps:
    """The values and sums as integer numbers of steps above the least value, in which sums are exact.

    Attributes
    ----------
    values, sums : ndarray
        The domain, from 0; and the sum of each query, minus that of as many least values.
    least, one : float
        The least value, and a step, in the unit of the values.
    slack : float
        The tolerance for the roundoff of a bound, less than the distance to another value.
    """

    def __init__(self, published: RangeSums) -> None:
        domain, size = published.domain, published.size
        _, units, unit = in_units(domain, f"the values of {published.confidential!r}")
        step = int(np.gcd.reduce(units)) or 1
        self.values, self.least = (units // step).astype(float), float(domain[0])
        self.one = float(unit.width(np.array([step]))[0])
        self.sums = np.rint((published.table["sum"].to_numpy(dtype=float) - size * self.least) / self.one)
        gap = float(np.diff(self.values).min(initial=np.inf))
        self.slack = min(0.25 + ROUNDING * size * self.values[-1], gap / 4)


@dataclass(frozen=True, eq=False, repr=False)
class RangeSums(Published):
    """The answers: one row per query, with the `first` and `last` of its records in `order`, and the `sum`.

    Attributes
    ----------
    table, confidential, domain : DataFrame, str, Index
        As in :class:`~maxent_cvx.sdc.Published`.
    order : Index
        The labels of the records, in shuffled order.
    size : int
        Q, the number of records per query.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
    >>> answers = mx.sdc.RangeQueries(size=2).publish(people, confidential="Salary")
    >>> answers.table["sum"].to_list()
    [130, 160, 190]
    >>> print(answers.bounds.sort_index())                    # at most 80 for the first two, at least 80 for the others
        low   high
    0  80.0  110.0
    1  50.0   80.0
    2  50.0   80.0
    3  80.0  110.0
    """

    order: pd.Index
    size: int

    @cached_property
    def block(self) -> np.ndarray:
        """The block of Q/2 records of each record, in `order`; -1 for records outside all queries."""
        number = np.arange(len(self.order)) // (self.size // 2)
        return np.where(number <= len(self.table), number, -1)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The least and the largest possible value, `low` and `high`, of each record, by label."""
        inside, span = self.block >= 0, self._steps.values[-1]
        low, high = half_overlapping_bounds(self._steps.sums, self.size // 2, 0.0, span)
        least, most = np.where(inside, low[self.block], 0.0), np.where(inside, high[self.block], span)
        ends = {"low": self._steps.least + self._steps.one * least, "high": self._steps.least + self._steps.one * most}
        return pd.DataFrame(ends, index=self.order)

    @cached_property
    def maxent(self) -> pd.DataFrame:
        """P(value | block), one row per block: maximum entropy within the bounds, with the equations as expectations.

        Raises
        ------
        GroupTooLarge
            If the table would not fit into memory.
        """
        if (entries := (len(self.table) + 1) * len(self.domain)) > MOST_ENTRIES:
            raise GroupTooLarge(
                f"{len(self.table) + 1} blocks of {len(self.domain)} values have {entries:.1e} probabilities, but at "
                f"most {MOST_ENTRIES:.0e} are supported; round the values, or use sums of more records"
            )
        steps = self._steps
        low, high = half_overlapping_bounds(steps.sums, self.size // 2, 0.0, steps.values[-1])
        allowed = (steps.values >= low[:, None] - steps.slack) & (steps.values <= high[:, None] + steps.slack)
        offset, sign = block_sums(steps.sums)
        p = most_entropic(steps.values, allowed, offset, sign, self.size // 2)
        return pd.DataFrame(p, index=pd.RangeIndex(len(p), name="block"), columns=self.domain)

    @property
    def model(self) -> MaxEnt:
        """The model with the posterior :attr:`maxent`, for more knowledge, bounds, or another solver.

        Its QI tuples are the blocks, and its sources are "range sums" and "bounds". General solvers find the same
        solution as :attr:`maxent`, with more time and memory.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
        >>> answers = mx.sdc.RangeQueries(size=2).publish(people, confidential="Salary")
        >>> model = answers.model
        >>> list(model.describe().index)
        ['quasi-identifiers', 'range sums', 'bounds']
        >>> bool(abs(model.solve().conditional() - answers.maxent).max(axis=None) < 1e-4)
        True
        """
        column = "block" if self.confidential != "block" else "block of records"
        inside = self.block >= 0
        people = pd.DataFrame({column: self.block[inside]})
        table = QITable(people, qi=column, sa=self.confidential, sa_values=self.domain)
        model = MaxEnt(table).add(WindowSums(self.table["sum"].to_numpy(dtype=float)), label="range sums")
        low, high = self.bounds[inside].groupby(self.block[inside]).first().to_numpy().T
        return model.add(WithinBounds(low - self.slack, high + self.slack), label="bounds")

    @property
    def slack(self) -> float:
        """The tolerance of rounded bounds, in the unit of the values, less than the distance to another value."""
        return self._steps.slack * self._steps.one

    @cached_property
    def _steps(self) -> Steps:
        return Steps(self)


DISTRIBUTIONS = ("uniform", "maxent")
#: The largest sum that is exact in floating point.
EXACT = 2**53


@dataclass(frozen=True)
class RangeQueries(DomainTechnique):
    """``p_i = sum over r of Mo of [L_r <= d_i <= U_r] / (|Mo| |{d in D: L_r <= d <= U_r}|)``, from sums of Q records.

    Parameters
    ----------
    size : int
        Q = 2l, even: each query sums Q records of the shuffled table, half of which are also in the previous query. The
        floor(2 n / Q) - 1 queries are linearly independent.
    seed : int
        The random seed of the shuffling.
    distribution : {"uniform", "maxent"}
        The inference from the equations: bounds L and U of every record, with all values of the domain in between
        equally likely, as in the paper; or the distribution of maximum entropy over these values that satisfies the
        equations in expectation.

    Raises
    ------
    StatementError
        If an argument is out of range.
    TableError, Inaccurate, GroupTooLarge
        From `infer`: if the labels of the population are not those of the records; if there is no value between the
        bounds of a record because of roundoff; with ``distribution="maxent"``, if there are too many blocks and values.

    Notes
    -----
    CAE, section 5, algorithm 2. That algorithm uses the probability 1 / (U - L + 1), which is correct if the domain
    consists of consecutive integers. Users know the records of their queries, so the population is a DataFrame with the
    labels of the table; a QITable, which has no labels, suffices if everybody matches. The maximum-entropy
    distribution is computed by Newton's method in one dimension, as all sums of half windows follow from the first.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
    >>> technique = mx.sdc.RangeQueries(size=2)
    >>> answers = technique.publish(people, confidential="Salary")
    >>> answers.table["sum"].tolist()
    [130, 160, 190]
    >>> technique.infer(answers, known={"Age": 37}, population=people[["Age"]]).to_dict()
    {50: 0.25, 80: 0.5, 110: 0.25}
    """

    size: int
    seed: int = 0
    distribution: str = "uniform"

    _published_as = RangeSums

    def __post_init__(self) -> None:
        if check_int(self.size, "size", 2) % 2:
            raise StatementError(f"size must be even, as queries overlap by half of their records, got {self.size}")
        check_seed(self.seed)
        check_in(self.distribution, "distribution", DISTRIBUTIONS)

    def publish(self, table: pd.DataFrame, confidential: str) -> RangeSums:
        """Shuffle the records and answer all queries; parameters as in :meth:`Technique.publish`.

        Raises
        ------
        TableError, UnknownName, StatementError
            If the table lacks the attribute, has missing values or duplicate labels, has fewer records than a query, or
            the attribute is not numeric.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
        >>> answers = mx.sdc.RangeQueries(size=2).publish(people, confidential="Salary")
        >>> print(answers.table)
               first  last  sum
        query
        1          0     1  130
        2          1     2  160
        3          2     3  190
        """
        check_confidential(table, confidential)
        domain = numeric_domain(table[confidential])
        if table.index.has_duplicates:
            raise TableError("queries refer to records by label, so labels must be unique; reset the index")
        if (largest := float(np.abs(domain.to_numpy(dtype=float)).max())) * self.size > EXACT:
            raise TableError(
                f"the sums of column {confidential!r}, with values up to {largest:g}, are not exact; round the values"
            )
        half, blocks = self.size // 2, 2 * len(table) // self.size
        if blocks < 2:
            raise TableError(
                f"the table has {pluralize(len(table), 'record')}, fewer than size={self.size}; use a smaller size"
            )
        order = draws("RangeQueries", self.seed).permutation(len(table))
        values = as_numbers(table[confidential].iloc[order[: blocks * half]], confidential)
        of_block = values.reshape(blocks, half).sum(axis=1)
        first = half * np.arange(blocks - 1)
        answers = pd.DataFrame(
            {"first": first, "last": first + self.size - 1, "sum": of_block[:-1] + of_block[1:]},
            index=pd.RangeIndex(1, blocks, name="query"),
        )
        return RangeSums(answers, confidential, domain, table.index[order], self.size)

    def _shares(self, published: RangeSums, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """Return the mean over the matching records."""
        if isinstance(population, QITable) and not person.matching.all():
            raise TableError("queries refer to records by label, but a QITable has no labels; pass a DataFrame")
        everybody = population.index if isinstance(population, pd.DataFrame) else published.order
        matching = everybody[person.matching] if isinstance(population, pd.DataFrame) else everybody
        at = published.order.get_indexer(matching)
        if (at < 0).any() or len(everybody) != len(published.order) or everybody.has_duplicates:
            raise TableError(
                f"the labels of the population of {len(everybody)} differ from those of the {len(published.order)} "
                "records; pass the other attributes of the same table, with its index"
            )
        domain = published.domain.to_numpy(dtype=float)
        if self.distribution == "maxent":  # the distribution of the record's block; uniform outside blocks
            block, p = published.block[at], published.maxent.to_numpy()
            records = np.bincount(block[block >= 0], minlength=len(p))
            return (records @ p + (block < 0).sum() / len(domain)) / len(at)
        # All values between the record's bounds are equally likely.
        low, high = published.bounds.to_numpy()[at].T
        first = np.searchsorted(domain, low - published.slack)
        end = np.searchsorted(domain, high + published.slack, side="right")
        if (end <= first).any():
            n = int((end <= first).sum())
            raise Inaccurate(f"{pluralize(n, 'record has', 'records have')} no value of the domain between the bounds")
        alike, records = np.unique(first * (len(domain) + 1) + end, return_counts=True)
        first, end = np.divmod(alike, len(domain) + 1)
        share = np.repeat(records / (end - first) / len(at), end - first)
        return np.bincount(ranges(first, end - first), share, len(domain))
