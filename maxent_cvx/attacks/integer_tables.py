"""Integer n with low <= A n <= high and given medians: all of them, or up to a limit, and the entries common to all.

:func:`enumerated` branches on one entry of n at a time; its end proves that there are no other tables. :func:`search`
continues with integer programs, solved by HiGHS, if that takes long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.special import gammaln

from .._utils.errors import Inaccurate, NotDecided, SolverError
from .._utils.tables import ranges
from ..solvers.linear import ANY_GAP

# Enumeration of all integer tables that satisfy the rows of published statistics, by branching on one type at a time.
#
# Many partial tables are extended together, as rows of an array. A partial table is dropped as soon as a row cannot be
# satisfied any more by the contributions of the remaining types, each up to its own limit, or all together up to the
# number of people remaining in the smallest group that contains them. All numbers are integers, so the end of the
# search proves that there are no other tables.


#: Largest number of partial tables that are extended together.
BATCH = 4_000
#: Number of types after which the search can be interrupted.
STEPS = 64
#: Represents a missing limit of a row; sums of rows are far below it.
FREE = 2**61
#: Largest number of entries of the matrix of rows for which tables are enumerated: 64 MB of bounds.
MOST_ENTRIES = 2 * 10**6

#: Partial tables, each the last chosen value and the previous partial table: (type, values, parents, previous).
_Trail = tuple[int, np.ndarray, np.ndarray, Any]


@dataclass(frozen=True, eq=False)
class Median:
    """least <= a + b <= most for the two middle numbers a, b of at least one person; a = b if their number is odd."""

    types: np.ndarray  # the types of records in the group
    numbers: np.ndarray  # the number of each type
    least: int
    most: int
    most_people: int

    def holds(self, people: np.ndarray) -> np.ndarray:
        """Mark the tables with this median, given the people of each type, shape (tables, types)."""
        levels, level = np.unique(self.numbers, return_inverse=True)
        of_level = np.zeros((len(people), len(levels)), dtype=np.int64)
        np.add.at(of_level.T, level, people[:, self.types].T)
        at_most = of_level.cumsum(axis=1)
        n = at_most[:, -1:]
        # The k-th smallest number is the first level that at least k people do not exceed; the middle ones have
        # k = (n + 1) // 2 and n // 2 + 1.
        total = levels[(at_most < (n + 1) // 2).sum(axis=1).clip(max=len(levels) - 1)]
        total = total + levels[(at_most < n // 2 + 1).sum(axis=1).clip(max=len(levels) - 1)]
        return np.asarray((n[:, 0] > 0) & (self.least <= total) & (total <= self.most))


@dataclass(frozen=True, eq=False)
class TableRows:
    """low <= matrix @ n <= high, 0 <= n <= upper, where n is the number of people of each type, and medians."""

    matrix: np.ndarray  # (rows, types)
    low: np.ndarray  # ``-FREE`` if there is no limit
    high: np.ndarray  # ``FREE`` if there is no limit
    upper: np.ndarray  # one per type
    counts: np.ndarray  # mask of the rows that count people
    medians: list[Median]


def enumerated(rows: TableRows) -> Iterator[np.ndarray]:
    """Yield all tables, in arrays of shape (tables, types); empty arrays allow the search to be interrupted."""
    # Depth-first over the types of records, breadth-first within a batch: each entry of the stack is a set of partial
    # tables of one depth, stored as their row sums and a linked list (trail) from which the tables are rebuilt.
    order = _order(rows)
    at = np.empty(len(order), dtype=np.int64)
    checked: dict[int, list[Median]] = {}
    at[order] = np.arange(len(order))
    for median in rows.medians:
        checked.setdefault(int(at[median.types].max()), []).append(median)
    bounds = _Bounds(rows, order)
    start = np.zeros((1, len(rows.matrix)), dtype=np.int64)
    stack: list[tuple[int, np.ndarray, _Trail | None]] = [(0, start[bounds.possible(0, start)], None)]
    while stack:
        depth, sums, trail = stack.pop()
        while depth < len(order) and len(sums):
            type_ = int(order[depth])
            least, most = bounds.range(depth, type_, sums)
            number = (most - least + 1).clip(min=0)
            if len(sums) > 1 and number.sum() > BATCH:  # too many children for the memory: postpone the second half
                half = len(sums) // 2
                stack.append((depth, sums[half:], _part(trail, np.arange(half, len(sums)))))
                sums, trail = sums[:half], _part(trail, np.arange(half))
                continue
            if most.any() or least.any() or depth == len(order) - 1:  # else the type has no people in any table
                parent = np.repeat(np.arange(len(sums)), number)
                value = ranges(least, number)
                sums = sums[parent] + value[:, None] * rows.matrix[:, type_]
                is_possible = bounds.possible(depth + 1, sums)
                trail = (type_, value[is_possible], parent[is_possible], trail)
                sums = sums[is_possible]
            for median in checked.get(depth, ()):  # checked as soon as all its types are set
                is_possible = median.holds(_tables(trail, len(order), len(sums)))
                sums, trail = sums[is_possible], _part(trail, np.flatnonzero(is_possible))
            depth += 1
            if depth % STEPS == 0 and depth < len(order):
                yield np.zeros((0, len(order)), dtype=np.int64)
        yield _tables(trail, len(order), len(sums))


def _part(trail: _Trail | None, which: np.ndarray) -> _Trail | None:
    if trail is None:
        return None
    type_, value, parent, before = trail
    return type_, value[which], parent[which], before


def _tables(trail: _Trail | None, n_types: int, n: int) -> np.ndarray:
    """Return the people of each type, shape (tables, types); 0 for types that are not reached."""
    people, which = np.zeros((n, n_types), dtype=np.int64), np.arange(n)
    while trail is not None and n:
        type_, value, parent, trail = trail
        people[:, type_], which = value[which], parent[which]
    return people


class _Bounds:
    """Bounds on the contributions of the remaining types to each row."""

    def __init__(self, rows: TableRows, order: np.ndarray) -> None:
        matrix, upper = rows.matrix[:, order], rows.upper[order]
        n_rows, n = matrix.shape
        self.rows = rows
        # For every depth, least and largest contributions of the types from there on, and their extreme coefficients.
        self.box, self.coefficient = np.zeros((2, 2, n + 1, n_rows), dtype=np.int64)
        extremes = np.stack([np.minimum(matrix, 0), np.maximum(matrix, 0)]) * upper
        self.box[:, :n] = extremes[:, :, ::-1].cumsum(axis=2)[:, :, ::-1].transpose(0, 2, 1)
        # For each row, the row that counts the smallest group with all its types.
        count = np.flatnonzero(rows.counts)
        uncovered = (matrix != 0).astype(np.int32) @ (matrix[count] == 0).astype(np.int32).T
        size = np.where(uncovered == 0, (matrix[count] != 0).sum(axis=1), n + 1)
        self.group = count[size.argmin(axis=1)]
        inside = matrix[self.group] != 0
        for k, (ufunc, neutral) in enumerate(((np.minimum, FREE), (np.maximum, -FREE))):
            extreme = ufunc.accumulate(np.where(inside, matrix, neutral)[:, ::-1], axis=1)[:, ::-1]
            self.coefficient[k, :n] = np.where(np.abs(extreme) == FREE, 0, extreme).T

    def range(self, depth: int, type_: int, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest number of people of the type at this depth, by each row alone."""
        rows, a = self.rows, self.rows.matrix[:, type_]
        has = np.flatnonzero(a)
        low = rows.low[has] - sums[:, has] - self.box[1, depth + 1, has]
        high = rows.high[has] - sums[:, has] - self.box[0, depth + 1, has]
        a = a[has]
        # low <= a n <= high; a negative coefficient exchanges the ends. -(x // -a) is x / a rounded up.
        first, last = np.where(a > 0, low, high), np.where(a > 0, high, low)
        least = (-(first // -a)).max(axis=1, initial=0)
        return least, (last // a).min(axis=1, initial=int(rows.upper[type_]))

    def possible(self, depth: int, sums: np.ndarray) -> np.ndarray:
        """Mark the partial tables whose rows can all be satisfied by the types from a depth on, given their sums."""
        rows = self.rows
        # The remaining contribution to a row is bounded by its types' own limits (box), and by the people who remain in
        # its smallest group times the extreme coefficients; the tighter bound is used.
        fewest = (rows.low[self.group] - sums[:, self.group]).clip(min=0)
        most = (rows.high[self.group] - sums[:, self.group]).clip(min=0)
        smallest, largest = self.coefficient[:, depth]
        add_least = np.maximum(self.box[0, depth], np.where(smallest > 0, fewest, most) * smallest)
        add_most = np.minimum(self.box[1, depth], np.where(largest > 0, most, fewest) * largest)
        return np.asarray(((sums + add_least <= rows.high) & (sums + add_most >= rows.low)).all(axis=1))


def _order(rows: TableRows) -> np.ndarray:
    """Return the types in the order of branching: group by group, first the groups with the fewest tables."""
    # Inside a group, types with large coefficients come first, since small ones can complete a sum more finely.
    inside, n = rows.matrix[rows.counts] != 0, rows.high[rows.counts].astype(float)
    exact = np.zeros(len(inside))
    for row, low, high in zip(rows.matrix[~rows.counts], rows.low[~rows.counts], rows.high[~rows.counts], strict=True):
        if high - low < FREE:  # a sum divides the number of tables by about the number of possible sums
            same = ((row != 0) <= inside).all(axis=1)
            exact[same] = np.maximum(exact[same], np.log1p(np.ptp(row) * n[same] / (high - low + 1)))
    weight = np.abs(rows.matrix[~rows.counts]).max(axis=0, initial=0)
    is_unplaced, order = np.ones(inside.shape[1], dtype=bool), []
    while is_unplaced.any():
        size = (inside & is_unplaced).sum(axis=1)
        tables = gammaln(size + n) - gammaln(n + 1) - gammaln(np.maximum(size, 1)) - exact
        group = int(np.where(size > 0, tables, np.inf).argmin())
        types = np.flatnonzero(inside[group] & is_unplaced)
        order.append(types[np.argsort(-weight[types], kind="stable")])
        is_unplaced[types] = False
    return np.concatenate(order)


# Integer programs with small integer coefficients, solved by HiGHS through SciPy: low <= A x <= high, x integer.


@dataclass
class IntegerProgram:
    """Variables 0 <= x <= upper and rows, both of which can be added; all numbers are integers."""

    upper: np.ndarray  # one per variable
    _entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    _sides: list[np.ndarray] = field(default_factory=list)

    def copy(self) -> Self:
        """Return a copy of the program."""
        return type(self)(self.upper.copy(), list(self._entries), list(self._sides))

    def variables(self, number: int, upper: int = 1) -> np.ndarray:
        """Add variables, and return their positions."""
        self.upper = np.concatenate([self.upper, np.full(number, upper)])
        return np.arange(len(self.upper) - number, len(self.upper))

    def add(self, *parts: tuple[np.ndarray, Any], low: Any = -np.inf, high: Any = np.inf) -> None:
        """Add rows: low <= sum over parts of coefficients @ x[places] <= high."""
        blocks = [
            (places, sp.coo_array(np.atleast_2d(by) if isinstance(by, np.ndarray) else by)) for places, by in parts
        ]
        rows, first = blocks[0][1].shape[0], sum(map(len, self._sides))
        for places, block in blocks:
            row, column = block.coords
            self._entries.append((row + first, places[column], block.data))
        self._sides.append(np.column_stack([np.broadcast_to(np.asarray(side, float), rows) for side in (low, high)]))

    def solve(self, until: float, towards: np.ndarray | None = None) -> np.ndarray | None:
        """Return a feasible point; None if there is none."""
        if (seconds_left := until - time.perf_counter()) <= 0:
            raise NotDecided("the time limit was reached")
        row, column, value = map(np.concatenate, zip(*self._entries, strict=True))
        sides, n = np.concatenate(self._sides), len(self.upper)
        at = row.astype(np.int32), column.astype(np.int32)  # older SciPy refuses indices of 64 bits
        matrix = sp.csc_array(sp.coo_array((value.astype(float), at), (len(sides), n)))
        cost = np.zeros(n)
        cost[[] if towards is None else towards] = 1.0
        answer = milp(
            cost,
            integrality=np.ones(n, dtype=np.int64),
            bounds=Bounds(np.zeros(n), self.upper.astype(float)),
            constraints=LinearConstraint(matrix, sides[:, 0], sides[:, 1]),
            options={"time_limit": seconds_left, "mip_rel_gap": ANY_GAP},
        )
        if answer.status == 2:
            return None
        if answer.x is not None:
            return np.rint(answer.x).astype(np.int64)
        if answer.status == 1:
            raise NotDecided("the time limit was reached")
        raise SolverError(f"HiGHS found no records: {answer.message}")


# Rows by which a median lies between two numbers, with switches for the lower and the upper middle number.


def add_median(program: IntegerProgram, median: Median) -> None:
    """Add least <= a + b <= most, where a and b are the middle numbers, a = b for an odd number of people."""
    types, n = median.types, median.most_people
    # For every level, the people with at most this number, and whether the lower and upper middle one are among them.
    levels, level = np.unique(median.numbers, return_inverse=True)
    size = len(levels)
    each, before = sp.eye_array(size), sp.eye_array(size, k=-1)
    at_most = program.variables(size, n)
    lower, upper = program.variables(size), program.variables(size)
    of_level = sp.coo_array((np.ones(len(types)), (level, np.arange(len(types)))), (size, len(types)))
    program.add((at_most, each - before), (types, -of_level), low=0, high=0)
    for switch in (lower, upper):
        program.add((switch, each - before), low=0)
    program.add((upper, each), (lower, -each), high=0)
    # Switches are on from half of the people, and from one more if there is none in the middle; 2 F - N is from -n to n.
    excess = ((at_most, 2 * each), (at_most[-1:], -np.ones((size, 1))))
    for switch, more in ((lower, 0), (upper, 1)):
        program.add(*excess, (switch, -(n + more) * each), low=-n)
        program.add(*excess, (switch, -(n + 1 - more) * each), high=more - 1)
    # Clauses of two switches, the second of which counts as 0 without a partner. If the lower number is above
    # levels[k - 1], the upper one is at most the rest; if it is at most levels[k], the upper one is at least the rest.
    fits = np.searchsorted(levels, median.most - levels, side="right") - 1
    program.add((lower, before), (upper, _partners(fits)), low=1)
    short = np.searchsorted(levels, median.least - levels, side="left") - 1
    program.add((lower, each), (upper, _partners(short)), high=1)


def _partners(partner: np.ndarray) -> sp.coo_array:
    """Return a square matrix with a 1 in each row, in the column of its partner; none for a negative partner."""
    has = np.flatnonzero(partner >= 0)
    return sp.coo_array((np.ones(len(has)), (has, partner[has])), (len(partner), len(partner)))


def program_of(rows: TableRows) -> IntegerProgram:
    """Build the integer program of the rows, with further variables for medians."""
    program = IntegerProgram(rows.upper.copy())
    low = np.where(rows.low == -FREE, -np.inf, rows.low.astype(float))
    high = np.where(rows.high == FREE, np.inf, rows.high.astype(float))
    program.add((np.arange(len(rows.upper)), rows.matrix.astype(float)), low=low, high=high)
    for median in rows.medians:
        add_median(program, median)
    return program


# All solutions up to a limit, and the records that are in every solution.


#: Seconds of enumeration before integer programs are tried, and the number of solutions with which the enumeration
#: continues afterwards, because programs take longer the more solutions they exclude.
ENUMERATION_SECONDS, MANY = 3.0, 20


@dataclass(frozen=True, eq=False)
class Solutions:
    """The result of a search."""

    people: np.ndarray  # (solutions, types)
    stopped: str  # the limit that ended the search; empty if there are no other solutions
    certain: np.ndarray  # one per type: the people in every solution, listed or not; zeros if not decided
    decided: bool  # whether `certain` was decided


def search(rows: TableRows, limit: int, seconds: float, check: Callable[[np.ndarray], None]) -> Solutions | None:
    """Find solutions, each of which is checked; return None if there are none."""
    # The tables are enumerated. If that takes long, or there are more than the limit, integer programs decide which
    # records are certain: each further solution must lack one of the records that all previous solutions share, and the
    # last program, which is infeasible, proves that the remaining records are in every solution.
    begun = time.perf_counter()
    tables = enumerated(rows) if rows.matrix.size <= MOST_ENTRIES else None
    solutions: dict[bytes, np.ndarray] = {}

    def enumerate_until(end: float) -> bool:
        """Enumerate tables; return whether the enumeration is complete."""
        for people in tables or ():
            for solution in people[: limit + 1]:
                if solution.tobytes() not in solutions:
                    check(solution)
                    solutions[solution.tobytes()] = solution
            if len(solutions) > limit or time.perf_counter() - begun > end:
                return False
        return tables is not None

    def solve(program: IntegerProgram, towards: np.ndarray | None = None) -> np.ndarray | None:
        """Return the next solution of a program, which excludes the previous ones; None if there is none."""
        if (point := program.solve(begun + seconds, towards)) is None:
            return None
        check(people := point[: len(rows.upper)])
        if people.tobytes() in solutions:
            raise Inaccurate("HiGHS found the same records again, although they were excluded; use classes of values")
        solutions[people.tobytes()] = people
        return people

    def add_all() -> bool:
        """Find further solutions, up to the limit; return whether there are no others."""
        for solution in solutions.values():
            _add_other(program, solution)
        while len(solutions) <= limit:
            if (other := solve(program)) is None:
                return True
            _add_other(program, other)
        return False

    if seconds > 0 and enumerate_until(min(ENUMERATION_SECONDS, seconds)):
        people = np.array(list(solutions.values()))
        return Solutions(people, "", people.min(axis=0), True) if solutions else None
    program, core = program_of(rows), np.zeros(len(rows.upper), dtype=np.int64)
    decided = complete = False
    try:
        if not solutions and solve(program) is None:
            return None
        core = np.min(list(solutions.values()), axis=0)
        while core.any():
            narrower = program.copy()
            having = _add_other(narrower, core, within=True)
            if (other := solve(narrower, having)) is None:
                break
            core = np.minimum(core, other)
        decided = True
        if len(solutions) <= limit:
            many = tables is not None and len(solutions) >= MANY
            complete = enumerate_until(seconds) if many else add_all()
    except NotDecided:
        if not solutions:
            raise
    listed = np.array(list(solutions.values())[:limit])
    stopped = f"limit={limit}" if len(solutions) > limit else f"time_limit={seconds:g}"
    return Solutions(listed, "" if complete else stopped, core * decided, decided)


def _add_other(program: IntegerProgram, people: np.ndarray, within: bool = False) -> np.ndarray:
    """Require a solution that lacks one of these people or, unless `within`, has more people."""
    # A switch for the k-th person with a record must be on if at least k people have it. If not all are on, one of the
    # people is missing. Other solutions in which nobody is missing are larger.
    which = np.repeat(np.arange(len(people)), people)
    kth = ranges(np.ones_like(people), people)
    on = program.variables(len(which))
    identity = sp.eye_array(len(which))
    program.add((which, identity), (on, -sp.diags_array((program.upper[which] - kth + 1).astype(float))), high=kth - 1)
    all_on = (on, np.ones(len(on)))
    if within:
        program.add(all_on, high=len(which) - 1)
        return on
    larger = program.variables(1)
    program.add(all_on, (larger, -np.ones(1)), high=len(which) - 1)
    program.add((np.arange(len(people)), np.ones(len(people))), (larger, -np.full(1, len(which) + 1.0)), low=0)
    return on
