"""The maximum-entropy answer in extended precision, with every typed number taken for the rational that it is.

Nothing of the package's numerics is used: terms, published counts and statements are read, and all the rest is done
in :class:`fractions.Fraction` (which rows depend on which) and in mpmath with :data:`DIGITS` digits (Newton's method on
the dual, over every choice of inequalities that may be active). What comes out satisfies the optimality conditions to
:data:`SOLVED`, and an interior point that does is the optimum, however it was found.

A soft row is in one of a few states (:func:`states`): on the quadratic part of its cost, an equation with v m added to
its value; on a linear part, where its multiplier m is the slope and belongs to the weights; where the cost has a kink,
an equation whose multiplier must be within the slopes; or it costs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath as mp
import numpy as np

from maxent_cvx import MaxEnt, Statement
from maxent_cvx.terms.rows import Penalty

__all__ = ["Oracle", "exact_rows", "oracle"]

#: Decimal digits: coefficients of 1e-9 to 1e9 lose some 40 where rows nearly depend on each other.
DIGITS = 80
#: Residuals of the optimality conditions, people, below which an answer is the answer.
SOLVED = mp.mpf(10) ** -50
#: Most steps of Newton's method.
STEPS = 60


@dataclass(frozen=True)
class Row:
    """low <= coefficients @ x <= high, exactly, x in people; None for an open side."""

    coefficients: tuple[Fraction, ...]
    low: Fraction | None
    high: Fraction | None
    off: Fraction = Fraction(0)
    #: Of a soft row, the variance and the largest slope (None: infinite) of its cost, in the unit of its sides.
    cost: tuple[Fraction, Fraction | None] | None = None

    @property
    def is_equation(self) -> bool:
        return self.cost is None and self.low is not None and self.low == self.high


@dataclass(frozen=True)
class State:
    """Where a row that is no hard equation may be: which equation it then is, or which multiplier it has."""

    row: Row
    #: The value of a x + variance * m, if the row is active.
    side: Fraction | None = None
    variance: Fraction = Fraction(0)
    #: The multiplier, if it is known.
    multiplier: Fraction | None = None
    #: Bounds of the multiplier, if the row is active.
    least: Fraction | None = None
    most: Fraction | None = None
    #: Bounds of the value.
    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def equation(self) -> Row:
        return Row(self.row.coefficients, self.side, self.side, self.row.off)

    def allows(self, m: mp.mpf | None, value: mp.mpf) -> bool:
        inside = _between(self.low, value, self.high)
        return inside and (m is None or _between(self.least, m, self.most))


def states(row: Row) -> Iterator[State]:
    """Every state of a row that is no hard equation."""
    if row.cost is None:
        yield State(row, low=row.low, high=row.high)
        if row.low is not None:
            yield State(row, row.low, least=Fraction(0))
        if row.high is not None:
            yield State(row, row.high, most=Fraction(0))
        return
    v, u = row.cost
    if row.low is None or row.low != row.high:
        yield State(row, multiplier=Fraction(0), low=row.low, high=row.high)
    elif not v:  # a kink: the multiplier is anything within the slopes
        yield State(row, row.low, least=-u, most=u)
    for sign, side in ((1, row.low), (-1, row.high)):
        if side is None:
            continue
        within = (Fraction(0), u) if sign > 0 else (None if u is None else -u, Fraction(0))
        if v:
            yield State(row, side, v, least=within[0], most=within[1])
        elif row.low != row.high:
            yield State(row, side, least=within[0], most=within[1])
        if u is not None:
            beyond = side - sign * v * u
            yield State(row, multiplier=sign * u, **({"high": beyond} if sign > 0 else {"low": beyond}))


@dataclass(frozen=True)
class Oracle:
    """The exact answer, P(s | q) of every QI tuple and value, and how far half a unit in the last place moves it.

    Attributes
    ----------
    counts : list of mpf
    moves : float
        The largest change of any P(s | q), to first order, when every typed number moves half a unit in its last place.
    """

    counts: list[mp.mpf]
    moves: float


def exact_rows(model: MaxEnt) -> list[Row]:
    """Read the rows of a model: counts of people as they are, statements as they were typed, own rows as they stand."""
    space, n = model.space, model.view.n_records
    rows = [
        Row(tuple(Fraction(int(a != 0)) for a in line), Fraction(round(side * n)), Fraction(round(side * n)))
        for fact in model.facts
        for block in fact.rows(space)
        for line, side in zip(block.matrix.toarray(), block.low, strict=True)
    ]
    for source in model.knowledge.values():
        if isinstance(source, Statement):
            rows.append(_statement(model, source))
            continue
        for block in source.rows(space):
            for line, *sides in zip(block.matrix.toarray(), block.low, block.high, strict=True):
                exact = [None if np.isinf(side) else Fraction(side) for side in sides]
                off = sum(map(_half_unit, line), Fraction(0)) + max(map(_half_unit, sides))
                rows.append(Row(tuple(Fraction(a) / n for a in line), *exact, off=off))
    return rows


def _statement(model: MaxEnt, statement: Statement) -> Row:
    """Read a statement: sum_k a_k (people of event k in the terms) / (people that it is about).

    Factors that cancel up to 2^-50 cancel, as the certificate says.
    """
    space, view = model.space, model.view
    parts, off = [[Fraction(0)] for _ in range(len(space))], Fraction(0)
    for event, a in statement.terms:
        about = 1 if event.who is not None else int(view.n_q[space.described(dict(event.given))].sum())
        for j in event.row(space).indices:
            parts[j].append(Fraction(a) / about)
        off += _half_unit(a)  # of a probability of at most 1
    total = [a if abs(a := sum(of_term)) > max(map(abs, of_term)) / 2**50 else Fraction(0) for of_term in parts]
    sides = [None if np.isinf(side) else Fraction(side) for side in (statement.low, statement.high)]
    off += max(_half_unit(side) for side in (statement.low, statement.high))
    return Row(tuple(total), *sides, off=off, cost=None if statement.penalty is None else _cost(statement.penalty))


def _cost(penalty: Penalty) -> tuple[Fraction, Fraction | None]:
    """The variance and the largest slope, exactly as typed."""
    if penalty.sd is None:
        return Fraction(0), Fraction(float(penalty.weight))  # type: ignore[arg-type]
    variance = Fraction(float(penalty.sd)) ** 2
    return variance, None if penalty.delta is None else Fraction(float(penalty.delta)) / variance


def _half_unit(typed: float) -> Fraction:
    """Half a unit in the last place of a typed number; whole numbers up to a thousand are meant as they are."""
    exact = np.isinf(typed) or (typed == np.rint(typed) and abs(typed) <= 1000)
    return Fraction(0) if exact else Fraction(float(np.spacing(abs(typed)))) / 2


def oracle(model: MaxEnt, near: Sequence[float | mp.mpf], support: np.ndarray | None = None) -> Oracle | None:
    """Solve a model that has an interior answer; `near` is a positive table that satisfies it but for rounding.

    Where some terms are 0 in every solution, `support` says which are not, and `near` is positive there.
    Returns None where the rows, taken for exact rationals, contradict each other, or leave no interior point that is
    found from `near`.
    """
    kept = np.arange(len(model.space)) if support is None else np.flatnonzero(support)
    with mp.workdps(DIGITS):
        near = [near[j] for j in kept]
        rows = [replace(row, coefficients=tuple(row.coefficients[j] for j in kept)) for row in exact_rows(model)]
        rows = [row for row in rows if row.cost is None or any(row.coefficients)]  # other costs are constants
        equations = independent([row for row in rows if row.is_equation])
        if equations is None:
            return None
        weights = [mp.mpf(float(w)) for w in (model.space.weights * model.space.prior_density)[kept]]
        for chosen in _choices([row for row in rows if not row.is_equation], near):
            active = [state for state in chosen if state.side is not None]
            system = independent([*equations, *(state.equation for state in active if not state.variance)])
            if system is None or len(system) < len(equations) + sum(not state.variance for state in active):
                continue  # dependent ones: another choice has the answer, too
            point = _solved(equations, chosen, near, weights)
            if point is None:
                continue
            x, multipliers = point
            of = dict(zip(map(id, active), multipliers[len(equations) :], strict=True))
            if all(state.allows(of.get(id(state)), _value(state.row, x)) for state in chosen):
                moves = _moves(model, kept, equations, chosen, x)
                counts = [mp.mpf(0)] * len(model.space)
                for j, count in zip(kept.tolist(), x, strict=True):
                    counts[j] = count
                return Oracle(counts, moves)
        return None


def _choices(ranges: Sequence[Row], near: Sequence[float | mp.mpf]) -> Iterator[tuple[State, ...]]:
    """Every choice of states; those of inactive rows first, and of soft rows those that suit the value at `near`."""
    options = []
    for row in ranges:
        value = _value(row, [mp.mpf(x) for x in near])
        options.append(sorted(states(row), key=lambda state: not _between(state.low, value, state.high)))
    yield from (
        tuple(option[i] for option, i in zip(options, places, strict=True))
        for places in sorted(itertools.product(*(range(len(option)) for option in options)), key=sum)
    )


def _solved(
    equations: Sequence[Row], chosen: Sequence[State], near: Sequence[float | mp.mpf], weights: Sequence[mp.mpf]
) -> tuple[list[mp.mpf], list[mp.mpf]] | None:
    """The answer in given states: known multipliers tilt the weights, w exp(a m)."""
    tilt = [mp.mpf(0)] * len(weights)
    for state in chosen:
        if state.multiplier:
            for j, a in enumerate(state.row.coefficients):
                if a:
                    tilt[j] += _mpf(a * state.multiplier)
    log_weights = [mp.log(w) + t for w, t in zip(weights, tilt, strict=True)]
    active = [state for state in chosen if state.side is not None]
    rows = [*equations, *(state.equation for state in active)]
    return newton(rows, near, log_weights, [Fraction(0)] * len(equations) + [state.variance for state in active])


def _value(row: Row, x: Sequence[mp.mpf]) -> mp.mpf:
    return mp.fsum(_mpf(a) * y for a, y in zip(row.coefficients, x, strict=True) if a)


def _between(low: Fraction | None, value: mp.mpf, high: Fraction | None) -> bool:
    room = SOLVED * (1 + abs(value))
    return (low is None or value >= _mpf(low) - room) and (high is None or value <= _mpf(high) + room)


def _mpf(number: Fraction) -> mp.mpf:
    return mp.mpf(number.numerator) / number.denominator


def independent(rows: Sequence[Row]) -> list[Row] | None:
    """Keep the rows that do not depend on those before them; None if one that does has another value."""
    kept: list[Row] = []
    reduced: list[tuple[int, list[Fraction]]] = []
    for row in rows:
        vector = [*row.coefficients, row.low or Fraction(0)]
        for pivot, other in reduced:
            if factor := vector[pivot]:
                vector = [a - factor * b for a, b in zip(vector, other, strict=True)]
        pivot = next((j for j, a in enumerate(vector[:-1]) if a), None)
        if pivot is None:
            if vector[-1]:
                return None
            continue
        vector = [a / vector[pivot] for a in vector]
        reduced.append((pivot, vector))
        kept.append(row)
    return kept


def newton(
    rows: Sequence[Row], near: Sequence[float | mp.mpf], log_weights: Sequence[mp.mpf], variances: Sequence[Fraction]
) -> tuple[list[mp.mpf], list[mp.mpf]] | None:
    """Maximise sum x log(w / x) over A x + v m = b, from a point that nearly satisfies it; x and the multipliers m.

    Newton's method for infeasible points, on x and the multipliers at once (Boyd and Vandenberghe, section 10.3).
    """
    if not rows:
        return [mp.exp(log_w - 1) for log_w in log_weights], []
    scales = [max(map(abs, row.coefficients)) for row in rows]
    matrix = mp.matrix([[_mpf(a / c) for a in row.coefficients] for row, c in zip(rows, scales, strict=True)])
    side = mp.matrix([_mpf(row.low / c) for row, c in zip(rows, scales, strict=True)])  # type: ignore[operator]
    variance = [_mpf(v / c**2) for v, c in zip(variances, scales, strict=True)]
    m, n = matrix.rows, matrix.cols
    support = [[j for j in range(n) if matrix[i, j]] for i in range(m)]
    x, dual = [mp.mpf(v) for v in near], [mp.mpf(0)] * m

    def residual(x: list[mp.mpf], dual: list[mp.mpf]) -> tuple[list[mp.mpf], list[mp.mpf]]:
        slope = [mp.log(x[j]) - log_weights[j] + 1 for j in range(n)]
        for i in range(m):
            for j in support[i]:
                slope[j] -= matrix[i, j] * dual[i]
        value = [mp.fsum(matrix[i, j] * x[j] for j in support[i]) + variance[i] * dual[i] for i in range(m)]
        return slope, [side[i] - value[i] for i in range(m)]

    def size(parts: tuple[list[mp.mpf], list[mp.mpf]]) -> mp.mpf:
        return mp.sqrt(mp.fsum(v * v for part in parts for v in part))

    now = residual(x, dual)
    for _ in range(STEPS):
        if size(now) < SOLVED:
            return x, [value / _mpf(c) for value, c in zip(dual, scales, strict=True)]
        slope, missing = now
        system = mp.matrix(m, m)
        for i in range(m):
            for k in range(i + 1):
                both = [j for j in support[i] if matrix[k, j]]
                system[i, k] = system[k, i] = mp.fsum(matrix[i, j] * matrix[k, j] * x[j] for j in both)
            system[i, i] += variance[i]
        right = mp.matrix([missing[i] + mp.fsum(matrix[i, j] * x[j] * slope[j] for j in support[i]) for i in range(m)])
        try:
            step = mp.cholesky_solve(system, right)
        except (ValueError, ZeroDivisionError):
            return None
        move = [-slope[j] * x[j] for j in range(n)]
        for i in range(m):
            for j in support[i]:
                move[j] += x[j] * matrix[i, j] * step[i]
        length = min([mp.mpf(1), *(-mp.mpf("0.9") * x[j] / move[j] for j in range(n) if move[j] < 0)])
        while True:
            there = [x[j] + length * move[j] for j in range(n)], [dual[i] + length * step[i] for i in range(m)]
            after = residual(*there)
            if size(after) <= (1 - mp.mpf("0.01") * length) * size(now):
                break
            length /= 2
            if length < mp.mpf(10) ** -12:
                return None
        (x, dual), now = there, after
    return None


def _moves(
    model: MaxEnt, kept: np.ndarray, equations: Sequence[Row], chosen: Sequence[State], x: list[mp.mpf]
) -> float:
    """How far the answer moves, to first order, when typed numbers move half a unit in the last place."""
    active = [state for state in chosen if state.side is not None]
    rows = [*equations, *(state.equation for state in active)]
    matrix = mp.matrix([[_mpf(a) for a in row.coefficients] for row in rows])
    weighted = mp.matrix([[matrix[i, j] * x[j] for j in range(len(x))] for i in range(len(rows))])
    system = weighted * matrix.T
    for i, state in enumerate(active, len(equations)):
        system[i, i] += _mpf(state.variance)
    inverse = system**-1
    directions = [(weighted.T * inverse[:, i], row.off) for i, row in enumerate(rows) if row.off]
    for state in chosen:
        if state.multiplier:  # a slope that moves relatively by the unit roundoff
            along = mp.matrix([_mpf(a) * x[j] for j, a in enumerate(state.row.coefficients)])
            along -= weighted.T * (inverse * (matrix * along))
            directions.append((along, abs(state.multiplier) * Fraction(2) ** -52))
    space = model.space
    q, s = space.groups[0][kept], space.codes["s"][kept]
    n_s = int(space.codes["s"].max()) + 1
    worst: dict[int, mp.mpf] = {}
    for along, off in directions:
        of_pair: dict[int, mp.mpf] = {}
        for j in range(len(x)):
            key = int(q[j]) * n_s + int(s[j])
            of_pair[key] = of_pair.get(key, mp.mpf(0)) + along[j]
        for key, change in of_pair.items():
            worst[key] = worst.get(key, mp.mpf(0)) + abs(change) * _mpf(off) / int(space.groups[1][key // n_s])
    return float(max(worst.values(), default=mp.mpf(0)))
