"""The maximum-entropy answer in extended precision, with every typed number taken for the rational that it is.

Nothing of the package's numerics is used: terms, published counts and statements are read, and all the rest is done
in :class:`fractions.Fraction` (which rows depend on which) and in mpmath with :data:`DIGITS` digits (Newton's method on
the dual, over every choice of inequalities that may be active). What comes out satisfies the optimality conditions to
:data:`SOLVED`, and an interior point that does is the optimum, however it was found.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp
import numpy as np

from maxent_cvx import MaxEnt, Statement

__all__ = ["Oracle", "exact_rows", "oracle"]

#: Decimal digits: coefficients of 1e-9 to 1e9 lose some 40 where rows nearly depend on each other.
DIGITS = 80
#: Residuals of the optimality conditions, people, below which an answer is the answer.
SOLVED = mp.mpf(10) ** -50
#: Most steps of Newton's method.
STEPS = 200


@dataclass(frozen=True)
class Row:
    """low <= coefficients @ x <= high, exactly, x in people; None for an open side."""

    coefficients: tuple[Fraction, ...]
    low: Fraction | None
    high: Fraction | None
    off: Fraction = Fraction(0)

    @property
    def is_equation(self) -> bool:
        return self.low is not None and self.low == self.high


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
    """Read a statement: sum_k a_k (people of event k in the terms) / (people that it is about)."""
    space, view = model.space, model.view
    total, off = [Fraction(0)] * len(space), Fraction(0)
    for event, a in statement.terms:
        about = 1 if event.who is not None else int(view.n_q[space.described(dict(event.given))].sum())
        for j in event.row(space).indices:
            total[j] += Fraction(a) / about
        off += _half_unit(a)  # of a probability of at most 1
    sides = [None if np.isinf(side) else Fraction(side) for side in (statement.low, statement.high)]
    return Row(tuple(total), *sides, off=off + max(_half_unit(side) for side in (statement.low, statement.high)))


def _half_unit(typed: float) -> Fraction:
    """Half a unit in the last place of a typed number; whole numbers up to a thousand are meant as they are."""
    exact = np.isinf(typed) or (typed == np.rint(typed) and abs(typed) <= 1000)
    return Fraction(0) if exact else Fraction(float(np.spacing(abs(typed)))) / 2


def oracle(model: MaxEnt, near: Sequence[float]) -> Oracle | None:
    """Solve a model that has an interior answer; `near` is a positive table that satisfies it but for rounding.

    Returns None where the rows, taken for exact rationals, contradict each other, or leave no interior point that is
    found from `near`.
    """
    with mp.workdps(DIGITS):
        rows = exact_rows(model)
        equations = independent([row for row in rows if row.is_equation])
        if equations is None:
            return None
        ranges = [row for row in rows if not row.is_equation]
        weights = [mp.mpf(float(w)) for w in model.space.weights * model.space.prior_density]
        for sides in sorted(itertools.product((0, -1, 1), repeat=len(ranges)), key=lambda s: sum(map(abs, s))):
            if any(
                (row.low if side > 0 else row.high) is None for row, side in zip(ranges, sides, strict=True) if side
            ):
                continue
            tight = [
                Row(row.coefficients, *[row.low if side > 0 else row.high] * 2, off=row.off)
                for row, side in zip(ranges, sides, strict=True) if side
            ]  # fmt: skip
            active = independent([*equations, *tight])
            if active is None or len(active) < len(equations) + len(tight):
                continue
            found = newton(active, near, weights)
            if found is None:
                continue
            x, multipliers = found
            signs = [side for side in sides if side]
            of_tight = multipliers[len(equations) :]
            if any(side * m < -SOLVED for side, m in zip(signs, of_tight, strict=True)):
                continue
            if all(_holds(row, x) for row in ranges):
                return Oracle(x, _moves(model, active, x))
        return None


def _holds(row: Row, x: list[mp.mpf]) -> bool:
    value = mp.fsum(_mpf(a) * y for a, y in zip(row.coefficients, x, strict=True) if a)
    return (row.low is None or value >= _mpf(row.low) - SOLVED) and (
        row.high is None or value <= _mpf(row.high) + SOLVED
    )


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
    rows: Sequence[Row], near: Sequence[float], weights: Sequence[mp.mpf]
) -> tuple[list[mp.mpf], list[mp.mpf]] | None:
    """Maximise sum x log(w / x) over equations, from a point that nearly satisfies them.

    Newton's method for infeasible points, on x and the multipliers at once (Boyd and Vandenberghe, section 10.3).
    """
    matrix = mp.matrix([[_mpf(a / max(map(abs, row.coefficients))) for a in row.coefficients] for row in rows])
    side = mp.matrix([_mpf(row.low / max(map(abs, row.coefficients))) for row in rows])
    m, n = matrix.rows, matrix.cols
    support = [[j for j in range(n) if matrix[i, j]] for i in range(m)]
    x, dual = [mp.mpf(float(v)) for v in near], [mp.mpf(0)] * m

    def residual(x: list[mp.mpf], dual: list[mp.mpf]) -> tuple[list[mp.mpf], list[mp.mpf]]:
        slope = [mp.log(x[j] / weights[j]) + 1 for j in range(n)]
        for i in range(m):
            for j in support[i]:
                slope[j] -= matrix[i, j] * dual[i]
        return slope, [side[i] - mp.fsum(matrix[i, j] * x[j] for j in support[i]) for i in range(m)]

    def size(parts: tuple[list[mp.mpf], list[mp.mpf]]) -> mp.mpf:
        return mp.sqrt(mp.fsum(v * v for part in parts for v in part))

    now = residual(x, dual)
    for _ in range(STEPS):
        if size(now) < SOLVED:
            return x, dual
        slope, missing = now
        system = mp.matrix(m, m)
        for i in range(m):
            for k in range(i + 1):
                both = [j for j in support[i] if matrix[k, j]]
                system[i, k] = system[k, i] = mp.fsum(matrix[i, j] * matrix[k, j] * x[j] for j in both)
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


def _moves(model: MaxEnt, rows: Sequence[Row], x: list[mp.mpf]) -> float:
    """How far the answer moves, to first order, when typed numbers move half a unit in the last place."""
    matrix = mp.matrix([[_mpf(a) for a in row.coefficients] for row in rows])
    weighted = mp.matrix([[matrix[i, j] * x[j] for j in range(len(x))] for i in range(len(rows))])
    space = model.space
    q, s = space.groups[0], space.codes["s"]
    n_s = int(s.max()) + 1
    worst: dict[int, mp.mpf] = {}
    inverse = (weighted * matrix.T) ** -1
    for i, row in enumerate(rows):
        if not row.off:
            continue
        along = weighted.T * inverse[:, i]
        of_pair: dict[int, mp.mpf] = {}
        for j in range(len(x)):
            key = int(q[j]) * n_s + int(s[j])
            of_pair[key] = of_pair.get(key, mp.mpf(0)) + along[j]
        for key, change in of_pair.items():
            worst[key] = worst.get(key, mp.mpf(0)) + abs(change) * _mpf(row.off) / int(space.groups[1][key // n_s])
    return float(max(worst.values(), default=mp.mpf(0)))
