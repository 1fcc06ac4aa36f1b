"""P(...): probabilities as people write them, and the arithmetic that turns them into statements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Real

import numpy as np

from ...errors import BadProbability, StatementError, number, shown
from ...tables.selection import Choice, choose
from ...terms.penalty import Penalty
from .parametric_statement import ParametricStatement, is_parametric
from .statement import Event, Statement, combination, conditions

__all__ = ["Count", "P", "Probability"]

NOT_LINEAR = (
    "a product or quotient of two probabilities is not linear, so maximum entropy cannot use it; "
    "multiply by a number, or state one of the two as a value"
)
#: Rounding that is forgiven when a value is compared with the largest attainable one.
ROUNDING = 1e-12


def P(value: object, given: Mapping[str, object] | None = None, who: object = None) -> Probability:
    """P(value | given), or P(value | who), to be compared with a number or with other probabilities.

    Parameters
    ----------
    value : object
        A sensitive value, a list of values ("or"), or ``{attribute: value}``: of several sensitive
        attributes, any that are named.
    given : dict, optional
        QI attribute to a value, a list of values, or a :class:`pandas.Interval`. None: among everybody.
    who : str or int, optional
        Instead, the name of a person: one whom the model names, see :class:`maxent_cvx.MaxEnt`.

    Returns
    -------
    Probability
        ``P(..) == 0.3``, ``<=``, ``>=``, ``.about(0.3, eps=0.05)`` and ``.between(0.2, 0.4)`` are
        statements for ``model.add``; so are comparisons of sums and multiples of probabilities. The number on the right
        may be a :class:`cvxpy.Parameter`: every solve takes the value that it has then.

    Raises
    ------
    StatementError
        If the arguments cannot be read. Whether names exist is checked when a model gets the statement.

    Notes
    -----
    Privacy-MaxEnt, sections 4.1, 4.5 and 6 (kinds 1 and 2). A probability of a person is that of the maximum-entropy
    answer. It need not be that of the possible worlds in which the knowledge is true, see :func:`Count`: if Alice of
    Fig. 4 has breast cancer or HIV, as in the last example, it is breast cancer in 5/7 of the worlds, and the answer
    is .731.

    Examples
    --------
    >>> from maxent_cvx import P
    >>> P("Flu", given={"Gender": "male"}) == 0.3
    <Statement: P(Flu | Gender=male) = 0.3>
    >>> P("HIV", given={"Gender": "male"}) <= 2 * P("Flu", given={"Gender": "female"})
    <Statement: P(HIV | Gender=male) <= 2 P(Flu | Gender=female)>
    >>> P(["Flu", "HIV"]).about(0.5, eps=0.1)
    <Statement: 0.4 <= P(Flu or HIV) <= 0.6>
    >>> P(["Breast Cancer", "HIV"], who="Alice") == 1
    <Statement: P(Breast Cancer or HIV | Alice) = 1>
    """
    if given is not None and not isinstance(given, Mapping):
        raise StatementError(f"given must be a dictionary {{attribute: value}}, not {shown(given)}")
    if given is not None and who is not None:
        raise StatementError(f"the QI of {shown(who)} are known: they need not be given; leave one of the two out")
    sensitive = _sensitive(value)
    if who is not None:
        names = _names(who)
        if len(names) != 1 or not isinstance(who, str | Integral):
            raise StatementError(
                f"P({conditions(sensitive)} | ...) is about one person; of several, write Count(value, who=[...])"
            )
        return Probability({Event(sensitive, who=names): 1.0})
    given_values = frozenset((name, choose(chosen, name)) for name, chosen in (given or {}).items())
    return Probability({Event(sensitive, given_values): 1.0})


def Count(value: object, who: Iterable[object]) -> Probability:
    """How many of some people have a value, sum_i P(value | i), to be compared with a number.

    It is the expected number, the mean over possible worlds, and nothing else of them: that two have it in
    every world implies that two have it on the average, but not the other way round. See the notes.

    Parameters
    ----------
    value : object
        As of :func:`P`.
    who : list of str or int
        Names of people, each once.

    Returns
    -------
    Probability
        Between 0 and the number of people. ``Count(...) == 1`` is a statement for ``model.add``, as of :func:`P`.

    Raises
    ------
    StatementError
        If the arguments cannot be read.

    Notes
    -----
    Privacy-MaxEnt, section 6 (kind 3). The paper lists such rows as the model of what is known of people. They are
    **necessary, not sufficient**: "Alice or Bob, but not both" fixes a mean, and leaves it open that both have the
    value, or none. And what is maximised is the entropy of P(i, q, s, b), not that of the possible worlds, in which
    nobody else has the record that one person has. Over the worlds in which the knowledge is true the probabilities
    are others: if two of Alice, Bob and Charlie have HIV, then Bob of Fig. 4 is one of them with probability 1/3 and
    Charlie with 2/3; the maximum-entropy answer is .382 and .618.

    Examples
    --------
    >>> from maxent_cvx import Count
    >>> Count("HIV", who=["Alice", "Bob", "Charlie"]) >= 2
    <Statement: #(HIV: Alice, Bob, Charlie) >= 2>

    One x is in Alice's bucket of three, and one in Bob's of six. Alice or Bob has it, but not both: of the worlds
    1/3 x 5/6 are Alice's and 2/3 x 1/6 are Bob's, 5/7 and 2/7 of those that are left. The rows give another answer:

    >>> import maxent_cvx as mx, pandas as pd
    >>> table = pd.DataFrame({"Q": list("ABCDEFGHI"), "S": list("xyzxuvwyz"), "Bucket": [1] * 3 + [2] * 6})
    >>> release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="Bucket")
    >>> model = mx.MaxEnt(release, people={"Alice": {"Q": "A"}, "Bob": {"Q": "D"}})
    >>> model.add(Count("x", who=["Alice", "Bob"]) == 1).solve().people()["x"].round(3).to_dict()
    {'Alice': 0.585, 'Bob': 0.415}
    """
    return Probability({Event(_sensitive(value), who=_names(who)): 1.0})


def _sensitive(value: object) -> frozenset[tuple[str | None, Choice]]:
    """Read a sensitive value, or {attribute: value}."""
    if not isinstance(value, Mapping):
        return frozenset({(None, choose(value, "the sensitive value"))})
    if not value:
        raise StatementError("P({}) names no sensitive attribute; write P({attribute: value})")
    return frozenset((name, choose(chosen, name)) for name, chosen in value.items())


def _names(who: object) -> frozenset[object]:
    """Read the name of one person, or of several."""
    names = [who] if isinstance(who, str) or not isinstance(who, Iterable) else list(who)
    if strange := [name for name in names if not isinstance(name, str | Integral) or isinstance(name, bool)]:
        raise StatementError(f"who={shown(strange[0])}: a person's name is a text or a whole number")
    if not names:
        raise StatementError("who=[] names nobody; name at least one person")
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise StatementError(f"{twice[0]!r} is named twice; a person counts once")
    return frozenset(names)


@dataclass(frozen=True, eq=False)
class Probability:
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
        StatementError
            If there is no probability in the combination, or both sides are infinite.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx import P
        >>> P("Flu").missable(0.1, 0.3, mx.soft(P("Flu") == 0.2, sd=0.05).penalty)
        <Statement: 0.1 <~ P(Flu) <~ 0.3 +- 0.05>
        """
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
