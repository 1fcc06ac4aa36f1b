"""Rows, which every information source returns: labelled constraints low <= (linear expression of p) <= high."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import BadProbability, StatementError, pluralize, short_repr
from .._utils.formatting import MOST_ROWS, ReprMixin, TablePreview
from .._utils.validation import check_array, check_instance, check_int, check_number, check_positions, is_text
from ..solvers.parameters import PLACES
from ..solvers.sparse import canonical, condensed

# Comparisons.


def strict(sign: str) -> str:
    """Return the message about a strict inequality."""
    return f"a strict {sign} has no maximum-entropy answer of its own; write {sign}="


class NonStrict:
    """Base class of expressions that are compared by ``==``, ``<=`` and ``>=`` only, which return knowledge."""

    # NumPy arrays and pandas objects on the left defer to the operators of these classes, which may raise an error.
    __array_ufunc__ = None
    __pandas_priority__ = 10_000

    def __lt__(self, other: object) -> NoReturn:
        raise StatementError(strict("<"))

    def __gt__(self, other: object) -> NoReturn:
        raise StatementError(strict(">"))

    def __ne__(self, other: object) -> NoReturn:
        raise StatementError("!= is not a linear constraint; write <= or >=")


@dataclass(frozen=True, eq=False)
class AbsoluteValue(NonStrict):
    """``abs(x)``, which only has upper bounds: |x| <= c is linear, |x| >= c is not convex."""

    label: str
    within: Callable[[Any], Any]  # returns the knowledge ``-c <= x <= c`` for c

    def __le__(self, most: object) -> Any:
        return self.within(most)

    def __ge__(self, other: object) -> NoReturn:
        raise StatementError(
            f"|{self.label}| >= ... is not convex, so the knowledge has no unique answer; choose a side, >= c or <= -c, "
            "without the absolute value"
        )

    __gt__ = __ge__
    __eq__ = __ge__
    __ne__ = __ge__

    def __bool__(self) -> bool:
        raise TypeError(f"|{self.label}| has no truth value; compare it with values")

    def __repr__(self) -> str:
        return f"<|{self.label}|>"


# Costs of violating rows, which turn knowledge into evidence.

#: The least standard deviation, weight or delta, in the unit of the value; the largest is its reciprocal. Their
#: squares, times the squares of numbers of records, neither overflow nor underflow in double precision.
LEAST = 1e-60


@dataclass(frozen=True)
class Penalty:
    r"""The cost, nats, of a deviation r from a value, in the unit of the value: r^2 / (2 sd^2), or weight \|r\|.

    With `delta` it is Huber's cost: quadratic up to \|r\| = delta, linear beyond. The maximum-entropy objective N H(p)
    is, up to Stirling's formula, the logarithm of the number of tables with frequencies p. A cost of r^2 / (2 sd^2) is
    minus the log-likelihood of a value observed with Gaussian noise, and weight \|r\| that with Laplace noise of
    scale 1 / weight, so the answer is the maximum a posteriori table.

    Parameters
    ----------
    sd : float or ndarray, one per row, optional
        Standard deviation, in the unit of the value.
    weight : float or ndarray, one per row, optional
        Nats per unit of the value.
    delta : float or ndarray, one per row, optional
        The \|r\| beyond which the cost is linear, in the unit of the value.

    Raises
    ------
    StatementError
        If not exactly one of `sd` and `weight` is given, or `delta` without `sd`.
    BadProbability
        If one of them is not above 0, or too large to be squared in double precision.

    Examples
    --------
    :func:`maxent_cvx.soft` constructs it from its arguments; a function of the space may return rows with a penalty:

    >>> from maxent_cvx.terms.rows import Penalty
    >>> print(Penalty(sd=0.05, delta=0.1))
    sd 0.05, delta 0.1
    """

    sd: float | np.ndarray | None = None
    weight: float | np.ndarray | None = None
    delta: float | np.ndarray | None = None

    def __post_init__(self) -> None:
        if (self.sd is None) == (self.weight is None):
            raise StatementError(
                "a soft statement needs either a standard deviation (sd) or a cost in nats per unit (weight), not both"
            )
        if self.delta is not None and self.sd is None:
            raise StatementError("delta can only be given with sd, because the cost of a weight is linear already")
        for name, value in self._given.items():
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
                object.__setattr__(self, name, check_number(value, name))
            numbers = np.atleast_1d(getattr(self, name))
            if (bad := ~((numbers >= LEAST) & (numbers <= 1 / LEAST))).any():
                raise BadProbability(
                    f"{name} must be a number from {LEAST:g} to {1 / LEAST:g}, not {numbers[bad][0]:.12g}"
                )

    def variance_and_slope(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the variance sd^2 and the largest slope of the cost of each of n rows, in the unit of the value."""
        if self.sd is None:
            assert self.weight is not None
            return np.zeros(n), np.broadcast_to(np.asarray(self.weight, dtype=float), n)
        variance = np.broadcast_to(np.asarray(self.sd, dtype=float) ** 2, n)
        return variance, np.full(n, np.inf) if self.delta is None else np.asarray(self.delta, dtype=float) / variance

    def at(self, rows: np.ndarray) -> Penalty:
        """Select the costs of some rows."""
        chosen = {name: side[rows] if isinstance(side, np.ndarray) else side for name, side in self._given.items()}
        return Penalty(**chosen)

    def same_as(self, other: object) -> bool:
        """Return whether another penalty is equal."""
        if not isinstance(other, Penalty) or self._given.keys() != other._given.keys():
            return False
        return all(np.array_equal(np.ravel(side), np.ravel(other._given[name])) for name, side in self._given.items())

    @property
    def n_rows(self) -> int | None:
        """The number of rows with costs; None if all rows have the same cost."""
        return max((side.size for side in self._given.values() if isinstance(side, np.ndarray)), default=None)

    @property
    def _given(self) -> dict[str, float | np.ndarray]:
        """The arguments that are not None, by name."""
        return {name: side for name in ("sd", "weight", "delta") if (side := getattr(self, name)) is not None}

    def __str__(self) -> str:
        texts = []
        for name, side in self._given.items():
            low, high = np.min(side, initial=np.inf), np.max(side, initial=-np.inf)
            texts.append(f"{name} {low:.12g}" + ("" if low == high else f" to {high:.12g}"))
        return ", ".join(texts)


@dataclass(frozen=True, eq=False)
class Rows(ReprMixin):
    """Labelled linear rows over the terms: ``low <= matrix @ p <= high``.

    An equation has ``low == high``; an inequality has an infinite side. The solver's form, residuals, vague versions
    and multipliers are derived from the rows in the same way for all sources.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
        Coefficients on the probabilities p.
    low, high : ndarray, shape (rows,)
        The values as given.
    label : str
        The common name of the rows: "P(q, b)", or the text of a statement.
    index : Index, optional
        The label of each row; None for a single row without one.
    view : Release, optional
        The view whose terms the columns refer to; a model rejects rows of another view.
    typed : tuple of (Fraction, ndarray), optional
        For a single row, its distinct coefficients before rounding, each with its terms.
    remedy : str
        Advice if other knowledge contradicts the rows and they can be neither made vague nor removed.
    penalty : Penalty, optional
        The cost of violating a row; None for hard rows, which are satisfied exactly.
    exact : bool
        Whether coefficients and sides are exact, not rounded by a source.

    Raises
    ------
    StatementError
        If the shapes of the arrays differ, or the label is not a string.
    BadProbability
        If a number is NaN, a coefficient is infinite, or a low side is above its high side.

    Examples
    --------
    Comparing a block with a number returns rows, which can be added to a model:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> rows = mx.MaxEnt(release).space.conditional("Disease", given="Gender") <= 0.45
    >>> len(rows), rows.relation, rows.name(2)
    (10, '<=', 'P(Disease | Gender): Flu, female')
    >>> round(mx.MaxEnt(release).add(rows).solve().prob("Flu", given={"Gender": "male"}), 3)
    0.306
    """

    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    label: str
    index: pd.Index | None = None
    view: object = None
    typed: tuple[tuple[Fraction, np.ndarray], ...] | None = None
    remedy: str = ""
    exact: bool = False
    penalty: Penalty | None = None

    def __post_init__(self) -> None:
        check_instance(self.matrix, sp.csr_array, "the matrix of rows")
        object.__setattr__(self, "matrix", condensed(self.matrix))
        if not is_text(self.label):
            raise StatementError(f"the label of rows must be a string, not {short_repr(self.label)}")
        if self.penalty is not None:
            check_instance(self.penalty, Penalty, f"the penalty of {self.label}")
            if self.penalty.n_rows not in (None, len(self)):
                raise StatementError(f"{self.label} needs one cost per row, {len(self)}, not {self.penalty.n_rows}")
        for name in ("low", "high"):
            value = getattr(self, name)
            fits = isinstance(value, np.ndarray) and value.shape == self.matrix.shape[:1]
            if not fits or value.dtype.kind not in "fiu":
                raise StatementError(
                    f"{name} of {self.label} must be an array of {self.matrix.shape[0]} numbers, one per row, not "
                    f"{short_repr(value)} of shape {np.shape(value) if isinstance(value, np.ndarray) else ()}"
                )
        if self.index is not None and (not isinstance(self.index, pd.Index) or len(self.index) != self.matrix.shape[0]):
            raise StatementError(f"the index of {self.label} must have {self.matrix.shape[0]} labels, one per row")
        if not np.isfinite(self.matrix.data).all():
            raise BadProbability(
                f"{self.label} has an infinite coefficient, or NaN; every coefficient must be a number"
            )
        if not ((self.low < np.inf) & (self.high > -np.inf)).all():
            raise BadProbability(
                f"{self.label} contains NaN, or a lower side of infinity or an upper one of -infinity; every value must be "
                "a number, or infinity for a side that is not limited"
            )
        if (bad := self.low > self.high).any():
            first = int(bad.argmax())
            raise BadProbability(
                f"the lower side of {self.name(first)}, {self.low[first]:.12g}, is above its upper side, "
                f"{self.high[first]:.12g}; swap the two"
            )

    def __bool__(self) -> bool:
        raise TypeError(
            f"rows of {self.label} are knowledge for model.add() and have no truth value. Python evaluates "
            "'low <= block <= high' as two comparisons; write block.between(low, high)"
        )

    def __len__(self) -> int:
        return self.matrix.shape[0]

    @property
    def relation(self) -> str:
        """The relation between expression and value, if it is the same for all rows, or "between"; "~" if soft."""
        if np.array_equal(self.low, self.high):
            relation = "=="
        elif np.isneginf(self.low).all():
            relation = "<="
        else:
            relation = ">=" if np.isposinf(self.high).all() else "between"
        return relation if self.penalty is None else relation.replace("==", "~").replace("=", "~")

    def __repr__(self) -> str:
        size = f"{pluralize(len(self), 'row')} ({self.relation}) of {pluralize(self.matrix.shape[1], 'term')}"
        return f"<Rows: {self.label}; {size}>"

    def _tables(self) -> Iterable[TablePreview]:
        first = range(min(MOST_ROWS, len(self)))
        sides = {"low": self.low[: len(first)], "high": self.high[: len(first)]}
        names = pd.Index([self.name(i) for i in first], name="row")
        table = pd.DataFrame({**sides, "terms": np.diff(self.matrix.indptr)[: len(first)]}, index=names)
        return [TablePreview(table, "rows", len(self))]

    def at(self, rows: np.ndarray) -> Rows:
        """Select some of the rows, by a mask or by position.

        Parameters
        ----------
        rows : ndarray of bool or of int

        Raises
        ------
        StatementError
            If `rows` is neither a mask nor positions.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> rows = mx.MaxEnt(release).space.marginal("Disease") <= 0.25
        >>> rows.at(rows.index == "Flu").name(0)
        'P(Disease): Flu'
        """
        rows = check_positions(rows, "rows", len(self))
        index = None if self.index is None else self.index[rows]
        penalty = None if self.penalty is None else self.penalty.at(rows)
        typed, low, high = self.typed if len(rows) else None, self.low[rows], self.high[rows]
        return replace(self, matrix=self.matrix[rows], low=low, high=high, index=index, typed=typed, penalty=penalty)

    def name(self, i: int) -> str:
        """Return the label of row `i`, computed on demand, since a release has tens of thousands of rows.

        Parameters
        ----------
        i : int
            The position, from 0; negative numbers count from the end.

        Raises
        ------
        StatementError
            If the row does not exist.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> (mx.MaxEnt(release).space.marginal(["q", "Bucket"]) == release.p_qb).name(0)
        'P(Gender, Degree, Bucket): female, college, 1'
        """
        check_int(i, "the number of a row", -len(self), len(self) - 1)
        if self.index is None:
            return self.label if len(self) == 1 else f"{self.label} [{i + 1}]"
        at = self.index[i]
        return f"{self.label}: {', '.join(map(str, at)) if isinstance(at, tuple) else at}"

    def same_as(self, other: Rows) -> bool:
        """Return whether other rows are equal in matrix, order, values and penalty.

        Parameters
        ----------
        other : Rows

        Raises
        ------
        StatementError
            If `other` is not a Rows.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> block = mx.MaxEnt(release).space.marginal("Disease")
        >>> (block <= 0.3).same_as(block <= 0.3), (block <= 0.3).same_as(block <= 0.4)
        (True, False)
        """
        check_instance(other, Rows, "other")
        mine, others = ((m.indptr, m.indices, m.data) for m in map(canonical, (self.matrix, other.matrix)))
        if self.matrix.shape != other.matrix.shape or not all(map(np.array_equal, mine, others)):
            return False
        same_costs = self.penalty.same_as(other.penalty) if self.penalty else other.penalty is None
        return same_costs and np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high)

    def residual(self, p: np.ndarray) -> np.ndarray:
        """Return the violation of each row at `p`, >= 0, in the unit of its value.

        Parameters
        ----------
        p : ndarray, one per term
            Probabilities P(q, s, b).

        Returns
        -------
        ndarray, one per row

        Raises
        ------
        StatementError
            If `p` does not have one number per term.

        Examples
        --------
        The violation of a statement by the solution of a model without knowledge:

        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).solve()
        >>> rows = post.space.conditional("Disease", given="Gender") <= 0.3
        >>> rows.residual(post.counts / post.space.n_records).max().round(4).item()
        0.0056
        """
        p = check_array(p, "p", self.matrix.shape[1])
        value = self.matrix @ p
        return np.maximum(np.maximum(self.low - value, value - self.high), 0.0)


def rounded_to_integers(side: np.ndarray) -> np.ndarray:
    """Round the counts that are integers up to roundoff; return the others unchanged."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= PLACES * np.abs(side), nearest, side)
