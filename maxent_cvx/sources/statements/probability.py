"""Linear combinations of probabilities, and the comparisons that turn them into statements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real

import numpy as np

from ...display import Shown
from ...errors import BadProbability, StatementError, arguments, number
from ...terms.penalty import Penalty
from .parametric_statement import ParametricStatement, is_parametric
from .statement import Event, Statement, combination

__all__ = ["Probability"]

NOT_LINEAR = (
    "a product or quotient of two probabilities is not linear, so maximum entropy cannot use it; "
    "multiply by a number, or state one of the two as a value"
)
#: Rounding that is forgiven when a value is compared with the largest attainable one.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Probability(Shown):
    """A linear combination of probabilities P(value | given), plus a constant.

    Made by :func:`~maxent_cvx.P` and :func:`~maxent_cvx.Count`, and by sums, differences and multiples of these.

    Attributes
    ----------
    terms : dict of Event to float
        The events, and the coefficient of each.
    constant : float
        Added to it.

    Examples
    --------
    >>> from maxent_cvx import P
    >>> more = P("Flu", given={"Gender": "male"}) - P("Flu", given={"Gender": "female"})
    >>> more >= 0.1
    <Statement: P(Flu | Gender=male) - P(Flu | Gender=female) >= 0.1>
    >>> more.attainable()
    (-1.0, 1.0)
    """

    terms: Mapping[Event, float]
    constant: float = 0.0

    # NumPy arrays and pandas objects on the left leave the comparison to us, and are refused.
    __array_ufunc__ = None
    __pandas_priority__ = 10_000

    # -- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: Probability | float) -> Probability:
        other = _combination(other)
        terms = dict(self.terms)
        for event, coefficient in other.terms.items():
            terms[event] = terms.get(event, 0.0) + coefficient
        return Probability(terms, self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: float) -> Probability:
        if isinstance(factor, Probability):
            raise StatementError(NOT_LINEAR)
        factor = number(factor, "the factor of a probability")
        return Probability({e: factor * c for e, c in self.terms.items()}, factor * self.constant)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Probability:
        if isinstance(divisor, Probability):
            raise StatementError(NOT_LINEAR)
        if (divisor := number(divisor, "the divisor of a probability")) == 0:
            raise BadProbability("the divisor of a probability must not be 0")
        return self * (1 / divisor)

    def __rtruediv__(self, other: object) -> Probability:
        raise StatementError(NOT_LINEAR)

    def __neg__(self) -> Probability:
        return self * -1

    def __sub__(self, other: Probability | float) -> Probability:
        return self + -_combination(other)

    def __rsub__(self, other: Probability | float) -> Probability:
        return -self + other

    # -- statements ------------------------------------------------------------------------------

    def __eq__(self, other: Probability | float) -> Statement:  # type: ignore[override]
        return self._state(other, "=")

    def __le__(self, other: Probability | float) -> Statement:
        return self._state(other, "<=")

    def __ge__(self, other: Probability | float) -> Statement:
        return self._state(other, ">=")

    def __lt__(self, other: object) -> Statement:
        raise StatementError("a strict < has no maximum-entropy answer of its own; write <=")

    def __gt__(self, other: object) -> Statement:
        raise StatementError("a strict > has no maximum-entropy answer of its own; write >=")

    def __ne__(self, other: object) -> Statement:  # type: ignore[override]
        raise StatementError("'not equal' is not linear knowledge; write <= or >=")

    def __float__(self) -> float:  # CVXPY asks for it: parameter == P(...)
        raise StatementError(f"{self} is no number; write it on the left: P(...) <= parameter")

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is a probability to be compared, not true or false")

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def same_as(self, other: object) -> bool:
        """Whether `other` is the same combination (``==`` makes a statement instead).

        Parameters
        ----------
        other : object

        Returns
        -------
        bool

        Examples
        --------
        >>> from maxent_cvx import P
        >>> (P("Flu") + P("HIV")).same_as(P("HIV") + P("Flu"))
        True
        """
        if not isinstance(other, Probability):
            return False
        return dict(self.terms) == dict(other.terms) and self.constant == other.constant

    def about(self, value: float, eps: float) -> Statement:
        """``|self - value| <= eps``; a side that lies outside what is possible says nothing, and is left out.

        Parameters
        ----------
        value : float
            A probability, or a number of people of a :func:`~maxent_cvx.Count`.
        eps : float
            The vagueness, in the same unit; not negative (Privacy-MaxEnt, section 4.5).

        Returns
        -------
        Statement

        Raises
        ------
        BadProbability
            If the value cannot be attained, or eps is negative.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> P("Flu").about(0.2, eps=0.1), P("Flu").about(0.05, eps=0.1)
        (<Statement: 0.1 <= P(Flu) <= 0.3>, <Statement: P(Flu) <= 0.15>)
        """
        value, eps = number(value, "the value"), number(eps, "eps")
        if eps < 0:
            raise BadProbability(f"eps must not be negative: {eps:.12g}")
        self._attainable(value)
        least, most = self.attainable()
        low, high = (float(Decimal(repr(value)) + Decimal(repr(off))) for off in (-eps, eps))  # 0.2 + 0.1 is 0.3
        return self._statement(low if low > least else -math.inf, high if high < most else math.inf)

    def softly(
        self, value: float, *, sd: float | None = None, weight: float | None = None, delta: float | None = None
    ) -> Statement:
        """``self = value``, but for a cost, nats: (self - value)^2 / (2 sd^2), or weight abs(self - value).

        Parameters
        ----------
        value : float
            Any number, as a noisy measurement may give: below 0 for example.
        sd, weight, delta : float, optional
            As of :func:`maxent_cvx.soft`: one of `sd` and `weight`.

        Returns
        -------
        Statement

        Raises
        ------
        StatementError, BadProbability
            If an argument cannot be read.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> P("Flu", given={"Gender": "male"}).softly(0.3, sd=0.05)
        <Statement: P(Flu | Gender=male) ~ 0.3 +- 0.05>
        >>> P("Flu").softly(0.3, weight=50), P("Flu").softly(0.3, sd=0.05, delta=0.1)
        (<Statement: P(Flu) ~ 0.3, weight 50>, <Statement: P(Flu) ~ 0.3 +- 0.05, delta 0.1>)
        """
        if is_parametric(value):
            raise StatementError(f"softly takes a number; with a CVXPY parameter write mx.soft({self} == ..., sd=...)")
        value = number(value, "the value")
        if not math.isfinite(value):
            raise BadProbability(f"the value is {value:.12g}; a number is expected")
        return self.missable(value, value, Penalty(sd, weight, delta))

    def missable(self, low: float, high: float, penalty: Penalty) -> Statement:
        """``low <= self <= high``, which can be missed at a cost.

        Parameters
        ----------
        low, high : float
            Any numbers; a side may be infinite.
        penalty : Penalty
            What it costs.

        Returns
        -------
        Statement

        Raises
        ------
        StatementError, BadProbability
            If there is no probability in the combination, both sides are infinite, low is above high, or one of the
            arguments is something else.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx import P
        >>> P("Flu").missable(0.1, 0.3, mx.soft(P("Flu") == 0.2, sd=0.05).penalty)
        <Statement: 0.1 <~ P(Flu) <~ 0.3 +- 0.05>
        """
        low, high = (
            side if isinstance(side, float) and math.isinf(side) else number(side, f"the {name} value")
            for side, name in ((low, "lower"), (high, "upper"))
        )
        if low > high:
            raise BadProbability(f"{self} between {low:.12g} and {high:.12g}: swap the two")
        arguments.instance(penalty, Penalty, "what it costs to miss a statement")
        said = self._statement(low, high)
        if math.isinf(low) and math.isinf(high):
            raise StatementError(f"{said} cannot be missed, and costs nothing: give it a finite side")
        return replace(said, penalty=penalty)

    def between(self, low: float, high: float) -> Statement:
        """The statement ``low <= self <= high``, which Python does not let anybody write in this way.

        Parameters
        ----------
        low, high : float
            Probabilities, or numbers of people of a :func:`~maxent_cvx.Count`.

        Returns
        -------
        Statement

        Raises
        ------
        BadProbability
            If one of them cannot be attained, or low is above high.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> P("Flu", given={"Gender": "male"}).between(0.2, 0.4)
        <Statement: 0.2 <= P(Flu | Gender=male) <= 0.4>
        """
        low, high = number(low, "the lower value"), number(high, "the upper value")
        if low > high:
            raise BadProbability(f"{self} between {low:.12g} and {high:.12g}: swap the two")
        self._attainable(low)
        self._attainable(high)
        return self._statement(low, high)

    def anything(self) -> Statement:
        """The statement that says nothing."""
        return self._statement(-math.inf, math.inf)

    def _state(self, other: Probability | float, relation: str) -> Statement:
        if is_parametric(other):
            return ParametricStatement(self, relation, other)  # type: ignore[return-value]  # it is added like one
        difference = self - _combination(other)
        value = -difference.constant
        left = Probability({event: c for event, c in difference.terms.items() if c != 0})
        if not left.terms:
            raise StatementError(f"{self} {relation} {other}: both sides are the same, which says nothing")
        left._attainable(value)
        low = -math.inf if relation == "<=" else value
        high = math.inf if relation == ">=" else value
        return left._statement(low, high)

    def attainable(self) -> tuple[float, float]:
        """The least and the largest value of the combination, were its probabilities independent."""
        ends = [sorted(a * end if end else 0.0 for end in (e.least, e.most)) for e, a in self.terms.items() if a]
        return self.constant + sum(low for low, _ in ends), self.constant + sum(high for _, high in ends)

    def _attainable(self, value: float) -> None:
        low, high = self.attainable()
        if not low - ROUNDING <= value <= high + ROUNDING:
            raise BadProbability(f"{self} cannot be {value:.12g}: it lies between {low:.12g} and {high:.12g}")

    def _statement(self, low: float, high: float) -> Statement:
        """Move the constant to the values."""
        terms = frozenset((event, a) for event, a in self.terms.items() if a != 0)
        if not terms:
            raise StatementError(f"{self} holds no probability, so nothing is said; compare P(...)")
        if not all(math.isfinite(a) for _, a in terms):
            raise BadProbability(f"{self}: a coefficient is too large to be a number")
        return Statement(terms, low - self.constant, high - self.constant)

    def __str__(self) -> str:
        return combination(self.terms.items(), self.constant)

    __repr__ = __str__


def _combination(value: object) -> Probability:
    """Read an operand: a probability or a number; anything else is refused by name."""
    if isinstance(value, Probability):
        return value
    if isinstance(value, Real | np.number) and not isinstance(value, bool):
        return Probability({}, number(value, "the value"))
    raise StatementError(
        f"a probability is compared with a {type(value).__name__}; a number or another P(...) is expected. "
        "For a whole Series of values use space.marginal(...) or space.conditional(...), which align labels"
    )
