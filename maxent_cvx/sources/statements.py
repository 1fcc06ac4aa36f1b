"""Statements: comparisons of P(...), E(...) and Count(...) with numbers, their texts, and their rows."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import (
    BadProbability,
    LabelMismatch,
    MaxEntError,
    StatementError,
    join_names,
    short_repr,
    unknown_name,
)
from .._utils.formatting import (
    DAY_PATTERN,
    NUMBER_PATTERN,
    ReprMixin,
    format_combination,
    format_number,
    format_value,
)
from .._utils.tables import Choice, choose, group_codes, repeated
from .._utils.validation import check_instance, check_mapping, check_number, check_str, is_several
from ..releases.base import OUTSIDE
from ..solvers.sparse import csr
from ..terms.axes import refuse_exact_values_in_cells, values_named
from ..terms.rows import AbsoluteValue, NonStrict, Penalty, Rows
from .base import Source
from .cvxpy_constraints import values_of
from .numbers import whole_sums, written_fractions

if TYPE_CHECKING:
    from ..terms.space import Space

#: The notation of "equal", "at most" and "at least" in hard and in soft statements.
RELATIONS = {False: ("=", "<=", ">="), True: ("~", "<~", ">~")}
#: Text that is read as an attribute, a relation and a number unless it is in quotes.
RANGE = re.compile(rf"(.*[^\s<>≤≥])\s*([<>≤≥])\s*(-?{NUMBER_PATTERN}|{DAY_PATTERN})")


class ExactRow(NamedTuple):
    """Coefficients on p as rational numbers; those of all other terms are 0."""

    terms: np.ndarray  # ascending
    place: np.ndarray  # one per term: the position of its coefficient among the distinct ones
    factors: list[Fraction]  # the distinct coefficients

    def parts(self, of_term: np.ndarray, n: int) -> list[ExactRow]:
        """Split the terms into n parts, given the number of the part of each; terms with -1 are in none."""
        order = np.argsort(of_term, kind="stable")
        ends = np.searchsorted(of_term[order], np.arange(n + 1))
        return [ExactRow(self.terms[at], self.place[at], self.factors) for at in np.split(order, ends)[1:-1]]

    def rounded(self, n_terms: int) -> sp.csr_array:
        """Return the coefficients in double precision, shape (1, terms)."""
        data = np.array(self.factors, dtype=float)[self.place]
        row = csr(data, self.terms, np.array([0, len(data)]), (1, n_terms))
        row.eliminate_zeros()
        return row


@dataclass(frozen=True)
class Event:
    """P(value | given), P(value | a person), or the expected number of several people with the value."""

    value: frozenset[tuple[str | None, Choice]]
    given: frozenset[tuple[str, Choice]] = frozenset()  # QI attributes and their values
    who: frozenset[Any] | None = None  # names of people, instead of `given`

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest possible value: 0, and 1 or the number of people."""
        return 0, 1 if self.who is None else len(self.who)

    @property
    def people(self) -> str:
        """The described people: conditions, or names; empty for everybody in the release."""
        return conditions(self.given) if self.who is None else ", ".join(sorted(map(_attribute, self.who)))

    def __str__(self) -> str:
        value, people = conditions(self.value), self.people
        if self.who is not None and len(self.who) > 1:
            return f"#({value}: {people})"
        return f"P({value} | {people})" if people else f"P({value})"

    def row(self, space: Space) -> sp.csr_array:
        """Return the coefficients on p, shape (1, terms)."""
        return self.exact(space).rounded(len(space))

    def exact(self, space: Space) -> ExactRow:
        """Return the coefficients on p as rational numbers."""
        value: object = {name: choice for name, choice in self.value if name is not None}
        value = value or next(choice for _, choice in self.value)
        given = dict(sorted(self.given, key=lambda condition: condition[0])) if self.who is None else None
        terms, people = space.matching(value, given, self.who)
        # P(given) is a number of people divided by N, and the coefficient of each of them its inverse.
        return ExactRow(terms, np.zeros(len(terms), dtype=np.int64), [Fraction(space.n_records, people)])


@dataclass(frozen=True, eq=False, repr=False)
class Statement(Source):
    """low <= sum_k a_k P(value_k | given_k) <= high: knowledge about distributions or people, exact or vague.

    Created by comparing :func:`P` or :func:`Count`; two statements are equal if they are equivalent up to the order of
    terms.
    Each event becomes sum P(Qv, Q-, S, B) / P(Qv) over the other QI attributes Q- and the buckets, with P(Qv) from the
    release (Privacy-MaxEnt, sections 4.1 and 4.5); or, for people i with QI tuples q, sum P(i, q, S, B) / P(i), with
    P(i) = 1/N (section 6).

    Attributes
    ----------
    terms : frozenset of (Event, float)
        Events and their coefficients.
    low, high : float
        The values as typed; either may be infinite.
    penalty : Penalty, optional
        The cost of violating a soft statement; see :func:`maxent_cvx.soft`.
    where : str
        The place of its text, such as "gossip.txt, line 3", for errors; ignored in comparisons.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> statement = mx.P("Flu", given={"Gender": "male"}) <= 0.3
    >>> statement.label, statement.high
    ('P(Flu | Gender=male) <= 0.3', 0.3)
    >>> statement == (0.3 >= mx.P(["Flu"], given={"Gender": "male"}))
    True
    """

    terms: frozenset[tuple[Event, float]]
    low: float
    high: float
    where: str = ""
    penalty: Penalty | None = None

    @cached_property
    def label(self) -> str:
        """The statement in the notation of :func:`maxent_cvx.read_knowledge`."""
        equal, at_most, at_least = RELATIONS[self.penalty is not None]
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{combination(self.terms)} is anything"
        positive, negative, zero = self.terms, frozenset[tuple[Event, float]](), "0"
        if {self.low, self.high} <= {0.0, -math.inf, math.inf}:  # write P(..) - 2 P(..) <= 0 as P(..) <= 2 P(..)
            positive = frozenset(term for term in self.terms if term[1] > 0) or self.terms
            negative = frozenset((event, -a) for event, a in self.terms - positive)
            zero = combination(negative) if negative else "0"
        expression = combination(positive)
        low, high = (format_number(side) if side else zero for side in (self.low, self.high))
        if self.low == self.high:
            text = f"{expression} {equal} {high}"
        elif math.isinf(self.low):
            text = f"{expression} {at_most} {high}"
        elif math.isinf(self.high):
            text = f"{expression} {at_least} {low}"
        else:
            text = f"{format_number(self.low)} {at_most} {expression} {at_most} {format_number(self.high)}"
        if (cost := self.penalty) is None:
            return text
        sd, weight, delta = (
            "" if side is None else format_number(float(side)) for side in (cost.sd, cost.weight, cost.delta)
        )
        return f"{text}, weight {weight}" if weight else f"{text} +- {sd}" + f", delta {delta}" * bool(delta)

    def __str__(self) -> str:
        return self.label

    @cached_property  # compared with all statements of a model whenever knowledge is added or removed
    def key(self) -> tuple[frozenset[tuple[Event, float]], float, float, Penalty | None]:
        """The statement in a normal form: ``a <= b`` is ``b >= a``."""
        first = min(self.terms, key=lambda term: str(term[0]))
        if first[1] > 0:
            return self.terms, self.low + 0.0, self.high + 0.0, self.penalty
        return frozenset((event, -a) for event, a in self.terms), -self.high + 0.0, -self.low + 0.0, self.penalty

    @property
    def identity(self) -> Statement:
        """The statement itself; equal statements have the same key."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statement) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def same_as(self, other: object) -> bool:
        """Return whether `other` is an equal statement, in any order of terms.

        Parameters
        ----------
        other : object

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> (mx.P("Flu") <= 2 * mx.P("HIV")).same_as(2 * mx.P("HIV") - mx.P("Flu") >= 0)
        True
        """
        return self == other

    def softened(self, penalty: Penalty) -> Statement:
        """Return a copy that may be violated at a cost."""
        _check_cost(self, penalty)
        if math.isinf(self.low) and math.isinf(self.high):
            raise StatementError(f"{self} cannot be violated, so it has no cost; give it a finite side")
        return replace(self, penalty=penalty)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self} is a statement for model.add() and has no truth value. "
            "Python evaluates 'low <= P(...) <= high' as two comparisons; write P(...).between(low, high)"
        )

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row; none if the statement allows every value."""
        if math.isinf(self.low) and math.isinf(self.high):
            return
        try:
            yield from self._rows(space)
        except MaxEntError as error:
            if not self.where:
                raise
            raise type(error)(f"{self.where}: {error}") from None

    def _rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row, or one per finite side of a quotient."""
        if space.view.generalized:
            for event, _ in self.terms:
                refuse_exact_values_in_cells(space.view, dict(event.given))
        ratios = [event for event, _ in self.terms if isinstance(event, ExpectedNumber) and event.is_ratio(space)]
        if not ratios:
            events = [(event.exact(space), Fraction(a)) for event, a in self.terms]
            yield exact_row(space, self.label, events, self.low, self.high, self.penalty)
            return
        if len(self.terms) > 1 or self.penalty is not None:
            ratios[0].exact(space)  # raises an error: only a single hard quotient can be linearised
        (event,), ((_, a),) = ratios, self.terms
        sides = ((True, self.low), (False, self.high))[: 1 if self.low == self.high else 2]
        for is_low, side in sides:
            if math.isfinite(side):
                value = Fraction(side) / Fraction(a)
                relation = "=" if len(sides) == 1 else ">=" if is_low == (a > 0) else "<="
                ends = -math.inf if relation == "<=" else 0.0, math.inf if relation == ">=" else 0.0
                # A text of its own, since its side, its price and its violation are not those of the mean.
                label = (
                    f"({combination([(event, 1.0)], -float(value))}) P({event.people or 'in the release'}) {relation} 0"
                )
                yield exact_row(space, label, [(event.excess(value, space), Fraction(1))], *ends)


def exact_row(
    space: Space,
    label: str,
    events: list[tuple[ExactRow, Fraction]],
    low: float,
    high: float,
    penalty: Penalty | None = None,
) -> Rows:
    """Sum events times their factors as rational numbers and round once, so that coefficients cancel exactly."""
    touched = events[0][0].terms
    if len(events) > 1:
        touched = np.unique(np.concatenate([row.terms for row, _ in events]))
    places = np.zeros((len(events), len(touched)), dtype=np.int64)  # 0: the event does not involve the term
    for place, (row, _) in zip(places, events, strict=True):
        at = slice(None) if row.terms is touched else np.searchsorted(touched, row.terms)
        place[at] = row.place + 1
    # Coefficients are summed once for terms with the same coefficients in all events.
    pattern = group_codes([*places], [len(row.factors) + 1 for row, _ in events])
    example = np.empty(int(pattern.max(initial=-1)) + 1, dtype=np.int64)
    example[pattern] = np.arange(len(pattern))
    total = []
    for column in places[:, example].T.tolist():
        parts = [a * row.factors[at - 1] for at, (row, a) in zip(column, events, strict=True) if at]
        a = sum(parts, Fraction(0))
        total.append(a if abs(a) > CANCELLED * max(map(abs, parts), default=0) else Fraction(0))
    data = np.array([float(a) for a in total], dtype=float)[pattern]
    matrix = csr(data, touched, np.array([0, len(touched)]), (1, len(space)))
    terms = matrix.indices  # the same array, not a copy, if there is one coefficient
    of_each = [terms] if len(total) == 1 else [terms[pattern == i] for i in range(len(total))]
    typed = tuple((a, at) for a, at in zip(total, of_each, strict=True) if a)
    if not data.all():
        matrix = matrix.copy()  # so that `terms` is not overwritten
        matrix.eliminate_zeros()
    sides = np.array([low]), np.array([high])
    return Rows(matrix, *sides, label, view=space.view, typed=typed, exact=True, penalty=penalty)


def _check_cost(statement: Statement | ParametricStatement, penalty: Penalty) -> None:
    """Check that a statement has no cost yet, and that the new one is a single number."""
    if statement.penalty is not None:
        raise StatementError(f"{statement.label} is soft already; give its cost once")
    if penalty.n_rows is not None:
        raise StatementError(f"{statement.label} is a single statement, whose cost must be a number, not an array")


def conditions(chosen: Iterable[tuple[str | None, Choice]]) -> str:
    """Format values of attributes: ``Gender=male, Age in [20, 30)``; without an attribute, the values only."""
    return ", ".join(
        _alone(choice) if name is None else f"{_attribute(name)}{choice.after_name}"
        for name, choice in sorted(chosen, key=lambda condition: condition[0] or "")
    )


def _alone(choice: Choice) -> str:
    """Format values without an attribute, in quotes if they could be parsed as a range."""
    text = str(choice)
    return f'"{text}"' if len(choice.values or ()) == 1 and RANGE.fullmatch(text) and text[0] != '"' else text


def given_text(given: Mapping[str, Choice]) -> str:
    """Format conditions as part of a label: `` given edu=college``, or an empty string."""
    return f" given {conditions(given.items())}" if given else ""


def _attribute(name: object) -> str:
    """Format the name of an attribute or a person, in quotes if it could be parsed as a relation."""
    if not isinstance(name, str):
        return format_value(name)
    return f'"{name}"' if re.fullmatch(r"[^\"\\]*[<>≤≥][^\"\\]*", name) else format_value(name)


def combination(terms: Iterable[tuple[Event, float]], constant: float = 0.0) -> str:
    """Format a linear combination: ``P(Flu) - 2 P(HIV) + 0.1``, events in alphabetical order."""
    ordered = sorted(((a, str(event)) for event, a in terms), key=lambda part: (part[0] < 0, part[1]))
    return format_combination(ordered, format_number(constant) if constant else "")


# Linear combinations of probabilities, and their comparisons, which return statements.

NOT_LINEAR = (
    "a product of two probabilities is not linear, so maximum entropy cannot use it; multiply by a number, or replace "
    "one of the two by its value"
)
ODDS_RATIO = (
    "a ratio of two ratios is not convex in the probabilities, so maximum entropy cannot use it; if one of the two is "
    "known, an odds ratio is linear: with P(b) = v, an odds ratio of P(a) to P(b) of c is P(a) == c * v / (1 - v + c * v)"
)
#: The tolerance for roundoff when a value is compared with the largest possible one.
ROUNDING = 1e-12
#: Coefficients that cancel up to the roundoff of the typed factors, such as 1 - 0.6 * 10 / 6, are 0.
CANCELLED = Fraction(1, 2**50)


@dataclass(frozen=True, eq=False)
class Probability(NonStrict, ReprMixin):
    """A linear combination of probabilities P(value | given), plus a constant.

    Created by :func:`~maxent_cvx.P` and :func:`~maxent_cvx.Count`, and by sums, differences and multiples of these.

    Attributes
    ----------
    terms : dict of Event to float
        The events and their coefficients.
    constant : float
        The constant summand.

    Examples
    --------
    >>> from maxent_cvx import P
    >>> more = P("Flu", given={"Gender": "male"}) - P("Flu", given={"Gender": "female"})
    >>> more >= 0.1
    <Statement: P(Flu | Gender=male) - P(Flu | Gender=female) >= 0.1>
    >>> abs(more) <= 0.1
    <Statement: -0.1 <= P(Flu | Gender=male) - P(Flu | Gender=female) <= 0.1>
    >>> more.attainable()
    (-1.0, 1.0)
    """

    terms: Mapping[Event, float]
    constant: float = 0.0

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
        factor = check_number(factor, "the factor of a probability")
        return Probability({e: factor * c for e, c in self.terms.items()}, factor * self.constant)

    __rmul__ = __mul__

    @overload
    def __truediv__(self, divisor: float) -> Probability: ...

    @overload
    def __truediv__(self, divisor: Probability) -> Ratio: ...

    def __truediv__(self, divisor: Probability | float) -> Probability | Ratio:
        if isinstance(divisor, Probability):
            return Ratio(self, divisor)
        if (divisor := check_number(divisor, "the divisor of a probability")) == 0:
            raise BadProbability("the divisor of a probability must not be 0")
        return self * (1 / divisor)

    def __rtruediv__(self, other: float) -> Ratio:
        return Ratio(_combination(other), self)

    def __neg__(self) -> Probability:
        return self * -1

    def __sub__(self, other: Probability | float) -> Probability:
        return self + -_combination(other)

    def __rsub__(self, other: Probability | float) -> Probability:
        return -self + other

    def __abs__(self) -> AbsoluteValue:
        return AbsoluteValue(str(self), partial(self.about, 0.0))

    # -- statements ------------------------------------------------------------------------------

    def __eq__(self, other: Probability | float) -> Statement:  # type: ignore[override]
        return self._state(other, "=")

    def __le__(self, other: Probability | float) -> Statement:
        return self._state(other, "<=")

    def __ge__(self, other: Probability | float) -> Statement:
        return self._state(other, ">=")

    def __float__(self) -> float:  # CVXPY calls it for parameter == P(...)
        raise StatementError(f"{self} is not a number; write it on the left: P(...) <= parameter")

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is a probability without a truth value; compare it with a number")

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def same_as(self, other: object) -> bool:
        """Return whether `other` is the same combination (``==`` returns a statement instead).

        Parameters
        ----------
        other : object

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
        """Return the statement ``|self - value| <= eps``; sides outside the possible range are left out.

        Parameters
        ----------
        value : float
            A probability, or a number of people of a :func:`~maxent_cvx.Count`.
        eps : float
            The largest deviation from `value`, in the same unit; not negative (Privacy-MaxEnt, section 4.5).

        Raises
        ------
        BadProbability
            If the value is impossible, or eps is negative.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> P("Flu").about(0.2, eps=0.1), P("Flu").about(0.05, eps=0.1)
        (<Statement: 0.1 <= P(Flu) <= 0.3>, <Statement: P(Flu) <= 0.15>)
        """
        value, eps = check_number(value, "the value"), check_number(eps, "eps")
        if eps < 0:
            raise BadProbability(f"eps must not be negative: {eps:.12g}")
        self._attainable(value)
        least, most = self.attainable()
        low, high = (float(Decimal(repr(value)) + Decimal(repr(off))) for off in (-eps, eps))  # 0.2 + 0.1 is 0.3
        return self._statement(low if low > least else -math.inf, high if high < most else math.inf)

    def softly(
        self, value: float, *, sd: float | None = None, weight: float | None = None, delta: float | None = None
    ) -> Statement:
        """Return a soft ``self = value`` with cost, in nats, (self - value)^2 / (2 sd^2) or weight abs(self - value).

        Parameters
        ----------
        value : float
            Any number; a noisy measurement may be negative, for example.
        sd, weight, delta : float, optional
            As in :func:`maxent_cvx.soft`: one of `sd` and `weight`.

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
            raise StatementError(f"softly needs a number; for a CVXPY parameter, write mx.soft({self} == ..., sd=...)")
        return self.missable(value, value, Penalty(sd, weight, delta))

    def missable(self, low: float, high: float, penalty: Penalty) -> Statement:
        """Return the statement ``low <= self <= high``, which may be violated at a cost.

        Parameters
        ----------
        low, high : float
            Any numbers; a side may be infinite.
        penalty : Penalty
            The cost.

        Raises
        ------
        StatementError, BadProbability
            If the combination contains no probability, both sides are infinite, low is above high, or an argument has
            the wrong type.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from maxent_cvx import P
        >>> P("Flu").missable(0.1, 0.3, mx.soft(P("Flu") == 0.2, sd=0.05).penalty)
        <Statement: 0.1 <~ P(Flu) <~ 0.3 +- 0.05>
        """
        low, high = (
            side if isinstance(side, float) and math.isinf(side) else check_number(side, f"the {name} value")
            for side, name in ((low, "lower"), (high, "upper"))
        )
        _check_order(self, low, high)
        return self._statement(low, high).softened(check_instance(penalty, Penalty, "penalty"))

    def between(self, low: float, high: float) -> Statement:
        """Return the statement ``low <= self <= high``, which Python cannot overload.

        Parameters
        ----------
        low, high : float
            Probabilities, or numbers of people of a :func:`~maxent_cvx.Count`.

        Raises
        ------
        BadProbability
            If one of them is impossible, or low is above high.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> P("Flu", given={"Gender": "male"}).between(0.2, 0.4)
        <Statement: 0.2 <= P(Flu | Gender=male) <= 0.4>
        """
        low, high = check_number(low, "the lower value"), check_number(high, "the upper value")
        _check_order(self, low, high)
        self._attainable(low)
        self._attainable(high)
        return self._statement(low, high)

    def anything(self) -> Statement:
        """Return the statement that allows every value."""
        return self._statement(-math.inf, math.inf)

    def _state(self, other: Probability | float, relation: str) -> Statement:
        if is_parametric(other):
            return ParametricStatement(self, relation, other)  # type: ignore[return-value]  # it is added like one
        difference = self - _combination(other)
        value = -difference.constant
        remainder = Probability({event: c for event, c in difference.terms.items() if c != 0})
        if not remainder.terms:
            raise StatementError(
                f"{self} {relation} {other}: the probabilities cancel, so no statement about them is left"
            )
        remainder._attainable(value)
        low = -math.inf if relation == "<=" else value
        high = math.inf if relation == ">=" else value
        return remainder._statement(low, high)

    def attainable(self) -> tuple[float, float]:
        """The least and the largest value of the combination if its probabilities were independent."""
        ends = [sorted(a * end if end else 0.0 for end in event.ends) for event, a in self.terms.items() if a]
        return self.constant + sum(low for low, _ in ends), self.constant + sum(high for _, high in ends)

    def _attainable(self, value: float) -> None:
        low, high = self.attainable()
        if not low - ROUNDING <= value <= high + ROUNDING:
            raise BadProbability(f"{self} must be between {low:.12g} and {high:.12g}, not {value:.15g}")

    def _statement(self, low: float, high: float) -> Statement:
        """Make a statement, with the constant moved to the values."""
        terms = frozenset((event, a) for event, a in self.terms.items() if a != 0)
        if not terms:
            raise StatementError(f"{self} contains no probability, so the statement has no effect; compare P(...)")
        if not all(math.isfinite(a) for _, a in terms):
            raise BadProbability(f"{self} has a coefficient that overflows in double precision")
        if self.constant:  # as decimal numbers: 0.3 - 0.1 is 0.2
            low, high = (
                float(Decimal(repr(float(side))) - Decimal(repr(float(self.constant)))) for side in (low, high)
            )
        return Statement(terms, low, high)

    def __str__(self) -> str:
        return combination(self.terms.items(), self.constant)

    __repr__ = __str__


def _check_order(expression: Probability | Ratio, low: float, high: float) -> None:
    """Raise BadProbability if the lower value is above the upper one."""
    if low > high:
        raise BadProbability(f"{expression} between {low:.12g} and {high:.12g}: swap the two")


def _combination(value: object) -> Probability:
    """Read an operand, which must be a probability or a number."""
    if isinstance(value, Probability):
        return value
    if isinstance(value, Real | np.number) and not isinstance(value, bool):
        return Probability({}, check_number(value, "the value"))
    raise StatementError(
        f"a probability can only be compared with a number or another P(...), not with a {type(value).__name__}; for a "
        "Series of values, use space.marginal(...) or space.conditional(...), which align labels"
    )


@dataclass(frozen=True, eq=False)
class Ratio(NonStrict):
    """a / b for linear combinations of probabilities, such as a relative risk, or odds.

    Comparisons with numbers are linear: as b is not negative, ``a / b <= c`` is ``a - c b <= 0``. If b = 0, this
    requires a = 0, and ``a / b >= c`` requires nothing.

    Attributes
    ----------
    numerator, denominator : Probability
        Combinations of probabilities, or of expected numbers; the denominator is never negative.

    Raises
    ------
    StatementError
        If the denominator can be negative, or the ratio is not compared with a number.
    BadProbability
        If the denominator is 0.

    Examples
    --------
    A relative risk, and odds:

    >>> from maxent_cvx import P
    >>> men, women = P("Flu", given={"Gender": "male"}), P("Flu", given={"Gender": "female"})
    >>> (men / women).between(1.2, 1.5)
    <RatioStatement: 1.2 <= P(Flu | Gender=male) / P(Flu | Gender=female) <= 1.5>
    >>> men / (1 - men) <= 1
    <Statement: 2 P(Flu | Gender=male) <= 1>
    """

    numerator: Probability
    denominator: Probability

    def __post_init__(self) -> None:
        least, most = self.denominator.attainable()
        if least == most == 0:
            raise BadProbability(f"the denominator of {self} must not be 0; divide by a probability or another number")
        if least < -ROUNDING:
            raise StatementError(f"{self} has a denominator that can be negative, so it is not a linear statement")

    def __mul__(self, factor: float) -> Ratio:
        return Ratio(self.numerator * factor, self.denominator)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Ratio:
        if isinstance(divisor, Ratio | Probability):
            raise StatementError(ODDS_RATIO)
        return Ratio(self.numerator / divisor, self.denominator)

    def __le__(self, other: float) -> Statement:
        return self._excess(other) <= 0

    def __ge__(self, other: float) -> Statement:
        return self._excess(other) >= 0

    def __eq__(self, other: float) -> Statement:  # type: ignore[override]
        return self._excess(other) == 0

    def __bool__(self) -> bool:
        raise TypeError(f"{self} is a ratio without a truth value; compare it with a number")

    def between(self, low: float, high: float) -> RatioStatement:
        """Return the statement ``low <= a / b <= high``, which has two linear rows.

        Parameters
        ----------
        low, high : float
            Numbers.

        Raises
        ------
        StatementError, BadProbability
            If one of them is not a number, or low is above high.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> (P("Flu", given={"Gender": "male"}) / P("Flu")).between(0.5, 2).low
        0.5
        """
        return RatioStatement(self, low, high)

    def about(self, value: float, eps: float) -> RatioStatement:
        """Return the statement ``|a / b - value| <= eps``.

        Parameters
        ----------
        value, eps : float
            Numbers; eps is not negative.

        Raises
        ------
        StatementError, BadProbability
            As in :meth:`between`.

        Examples
        --------
        >>> from maxent_cvx import P
        >>> statement = (P("Flu", given={"Gender": "male"}) / P("Flu")).about(1.5, eps=0.25)
        >>> statement.low, statement.high
        (1.25, 1.75)
        """
        value, eps = check_number(value, "the value"), check_number(eps, "eps")
        return RatioStatement(self, value - eps, value + eps)

    def _excess(self, other: object) -> Probability:
        """Return a - c b, which has the sign of a / b - c."""
        if isinstance(other, Ratio | Probability):
            raise StatementError(ODDS_RATIO)
        return self.numerator - check_number(other, "the number to compare a ratio with") * self.denominator

    def __str__(self) -> str:
        sides = (self.numerator, self.denominator)
        return " / ".join(f"{side}" if len(side.terms) + bool(side.constant) == 1 else f"({side})" for side in sides)

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class RatioStatement(Source):
    """a - high b <= 0 <= a - low b: low <= a / b <= high, where b is not negative.

    Created by :meth:`Ratio.between` and :meth:`Ratio.about`.

    Attributes
    ----------
    ratio : Ratio
        The quotient a / b.
    low, high : float
        The values as typed.
    where : str
        The place of its text, "gossip.txt, line 3", for errors; ignored in comparisons.

    Examples
    --------
    >>> from maxent_cvx import P
    >>> print((P("Flu", given={"Gender": "male"}) / P("Flu", given={"Gender": "female"})).between(2, 3))
    2 <= P(Flu | Gender=male) / P(Flu | Gender=female) <= 3
    """

    ratio: Ratio
    low: float
    high: float
    where: str = ""

    def __post_init__(self) -> None:
        check_instance(self.ratio, Ratio, "ratio")
        for name, what in (("low", "the lower value"), ("high", "the upper value")):
            object.__setattr__(self, name, check_number(getattr(self, name), what))
        _check_order(self.ratio, self.low, self.high)

    @property
    def label(self) -> str:
        """The statement's own text."""
        return f"{format_number(self.low)} <= {self.ratio} <= {format_number(self.high)}"

    @property
    def identity(self) -> Hashable:
        """The ratio and its sides."""
        sides = (self.ratio.numerator, self.ratio.denominator)
        return RatioStatement, *((frozenset(side.terms.items()), side.constant) for side in sides), self.low, self.high

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the row of each side."""
        for side in (self.ratio >= self.low, self.ratio <= self.high):
            yield from replace(side, where=self.where).rows(space)

    def __str__(self) -> str:
        return self.label


# P(...) and Count(...): the notation of probabilities.


def P(value: object, given: Mapping[str, object] | None = None, who: object = None) -> Probability:
    """Return P(value | given) or P(value | who), for comparisons with numbers or other probabilities.

    Parameters
    ----------
    value : object
        A sensitive value, a list of values ("or"), or ``{attribute: value}`` for some of several sensitive attributes.
    given : dict, optional
        A mapping of QI attributes to values, lists of values, or :class:`pandas.Interval`. None means everybody.
    who : str or int, optional
        The name of a person of the model, instead of `given`; see :class:`maxent_cvx.MaxEnt`.

    Returns
    -------
    Probability
        ``P(..) == 0.3``, ``<=``, ``>=``, ``.about(0.3, eps=0.05)`` and ``.between(0.2, 0.4)`` are statements for
        ``model.add``, as are comparisons of sums and multiples of probabilities. The number on the right may be a
        :class:`cvxpy.Parameter`, whose current value is used by every solve.

    Raises
    ------
    StatementError
        If the arguments are invalid. Whether names exist is checked when the statement is added to a model.

    Notes
    -----
    Privacy-MaxEnt, sections 4.1, 4.5 and 6 (kinds 1 and 2). The probability of a person is that of the maximum-entropy
    answer. It may differ from the probability over the possible worlds in which the knowledge is true, see
    :func:`Count`: if Alice of Fig. 4 has breast cancer or HIV, as in the last example, she has breast cancer in 5/7 of
    the worlds, but with probability .731 in the maximum-entropy answer.

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
    condition, sensitive = frozenset(read_given(given).items()), _sensitive(value)
    if who is None:
        return Probability({Event(sensitive, condition): 1.0})
    if given is not None:
        raise StatementError(f"pass either given or who, not both, as the QI of {short_repr(who)} are known")
    names = read_names(who)
    if not isinstance(who, str | Integral):
        raise StatementError(f"P({conditions(sensitive)} | ...) needs one person; for several, write Count(...)")
    return Probability({Event(sensitive, who=names): 1.0})


def Count(value: object, who: Iterable[object]) -> Probability:
    """Return the expected number of some people with a value, sum_i P(value | i), for comparisons with numbers.

    A statement only restricts the mean over possible worlds: if two people have the value in every world, the mean is
    two, but the converse is not true. See the notes.

    Parameters
    ----------
    value : object
        As in :func:`P`.
    who : list of str or int
        Distinct names of people.

    Returns
    -------
    Probability
        From 0 to the number of people. ``Count(...) == 1`` is a statement for ``model.add``, as with :func:`P`.

    Raises
    ------
    StatementError
        If the arguments are invalid.

    Notes
    -----
    Privacy-MaxEnt, section 6 (kind 3). The paper models knowledge about people by such rows. They are
    **necessary, not sufficient**: "Alice or Bob, but not both" fixes a mean, but does not exclude that both have the
    value, or neither. Moreover, the entropy of P(i, q, s, b) is maximised, not that of the possible worlds, in which
    a record belongs to one person only. The probabilities over the worlds in which the knowledge is true are different:
    if two of Alice, Bob and Charlie have HIV, then Bob of Fig. 4 is one of them with probability 1/3 and Charlie with
    2/3; the maximum-entropy answer is .382 and .618.

    Examples
    --------
    >>> from maxent_cvx import Count
    >>> Count("HIV", who=["Alice", "Bob", "Charlie"]) >= 2
    <Statement: #(HIV: Alice, Bob, Charlie) >= 2>

    The value x occurs once in Alice's bucket of three people, and once in Bob's bucket of six. Either Alice or Bob has
    it, but not both: Alice has it in 1/3 x 5/6 of all worlds and Bob in 2/3 x 1/6, which is 5/7 and 2/7 of the
    remaining worlds. The rows give another answer:

    >>> import maxent_cvx as mx, pandas as pd
    >>> table = pd.DataFrame({"Q": list("ABCDEFGHI"), "S": list("xyzxuvwyz"), "Bucket": [1] * 3 + [2] * 6})
    >>> release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="Bucket")
    >>> model = mx.MaxEnt(release, people={"Alice": {"Q": "A"}, "Bob": {"Q": "D"}})
    >>> model.add(Count("x", who=["Alice", "Bob"]) == 1).solve().people()["x"].round(3).to_dict()
    {'Alice': 0.585, 'Bob': 0.415}
    """
    return Probability({Event(_sensitive(value), who=read_names(who)): 1.0})


def _sensitive(value: object) -> frozenset[tuple[str | None, Choice]]:
    """Read a sensitive value, or {attribute: value}."""
    if isinstance(value, tuple):
        raise StatementError(
            f"the sensitive value = {short_repr(value)} could mean several values, the interval between two, or one value of "
            "each of several sensitive attributes; write a list of values, pandas.Interval(low, high, closed='both'), or "
            "a dictionary {attribute: value}"
        )
    if not isinstance(value, Mapping):
        return frozenset({(None, choose(value, "the sensitive value"))})
    if not value:
        raise StatementError("P({}) does not name a sensitive attribute; write P({attribute: value})")
    return frozenset((name, choose(chosen, name)) for name, chosen in value.items())


def read_given(given: Mapping[str, object] | None) -> dict[str, Choice]:
    """Read conditions, {attribute: value, list of values or interval}."""
    read = check_mapping({} if given is None else given, "given", "{attribute: value}")
    return {name: choose(chosen, name) for name, chosen in read.items()}


def read_names(who: object) -> frozenset[object]:
    """Read the name of one person, or of several."""
    names = [who] if isinstance(who, str) or not is_several(who) else list(who)
    if strange := [name for name in names if not isinstance(name, str | Integral) or isinstance(name, bool)]:
        raise StatementError(f"a person's name (who) must be a string or an integer, not {short_repr(strange[0])}")
    if not names:
        raise StatementError("who must name at least one person, not []")
    if len(distinct := frozenset(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise StatementError(f"who names {twice!r} twice; name each person once")
    return distinct


def E(
    attribute: str,
    given: Mapping[str, object] | None = None,
    who: object = None,
    values: Mapping[Any, float] | pd.Series | None = None,
) -> Probability:
    """Return the mean E(attribute | given) = sum_s x(s) P(s | given) of a number, for comparisons with numbers.

    Parameters
    ----------
    attribute : str
        A sensitive attribute; or a quasi-identifier, if `given` contains a sensitive value.
    given : dict, optional
        A mapping of attributes to values, lists of values, or :class:`pandas.Interval`. None means everybody.
    who : str or int, optional
        The name of a person, instead of `given`; as in :func:`P`.
    values : dict or Series, optional
        The number x of each value, in any unit. By default, the values themselves, which must be numbers.

    Returns
    -------
    Probability
        A linear combination of probabilities, which can be added to others and to P(...), multiplied by numbers, and
        compared. ``E(..) == 42.9``, ``.about(42.9, eps=0.5)`` and ``.between(40, 45)`` are statements for
        ``model.add``. If the values are numbers themselves, the notation of :func:`maxent_cvx.read_knowledge` is
        ``E(income | edu=college)``.

    Raises
    ------
    StatementError, BadProbability, LabelMismatch
        If the arguments are invalid, or a value has two numbers. Names and the types of values are checked when it is
        added to a model.

    Notes
    -----
    The mean among people with a sensitive value is E[x 1] / P, and P is known if the view publishes the count of the
    value. Otherwise ``E(age | ill=yes) == 50`` is the row E[(age - 50) 1] = 0, which is linear; it can only be compared
    with a number, and its price is per unit of 50 times P(yes). The same applies to a group of a population, for which
    the mean is over the people in the release.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> weeks = {"Flu": 1, "Pneumonia": 3, "Breast Cancer": 20, "HIV": 50, "Lung Cancer": 30}
    >>> mean = mx.E("Disease", given={"Gender": "male"}, values=weeks) == 15.5
    >>> mean
    <Statement: E(Disease | Gender=male) = 15.5>
    >>> post = mx.MaxEnt(release).add(mean).solve()
    >>> of_men = post.space.conditional("Disease", given="Gender").xs("male", level="Gender").value(post)
    >>> round(sum(weeks[disease] * share for disease, share in of_men.items()), 6)
    15.5

    The mean age of the ill, whose number is unknown: if it is at least 70, only the oldest is ill.

    >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 70]}), qi="age", sa="ill", sa_values=["no", "yes"])
    >>> model = mx.MaxEnt(view).add(mx.E("age", given={"ill": "yes"}) >= 70)
    >>> low, high = model.bounds("P(yes | age=40)")
    >>> low >= 0, high < 1e-9
    (True, True)
    """
    name = check_str(attribute, "attribute")
    (event,) = P({name: "any"}, given=given, who=who).terms  # P(...) checks and reads `given` and `who`
    mean = ExpectedNumber(frozenset(), event.given, event.who, name)
    if values is None:
        return Probability({mean: 1.0})
    if not isinstance(values, Mapping | pd.Series):
        raise StatementError(f"values must be a dictionary {{value: number}} or a Series, not {short_repr(values)}")
    if isinstance(values, pd.Series) and values.index.has_duplicates:
        raise LabelMismatch(f"the numbers of {name} repeat {join_names(repeated(values.index))}")
    if not len(values):
        raise StatementError("values={} contains no number; give one per sensitive value")
    numbers = frozenset((value, check_number(x, f"the number of {format_value(value)}")) for value, x in values.items())
    return Probability({replace(mean, numbers=numbers): 1.0})


@dataclass(frozen=True)
class ExpectedNumber(Event):
    """E(attribute | given): a sum of the probabilities of its values times their numbers."""

    attribute: str = ""  # a sensitive attribute, or a quasi-identifier
    numbers: frozenset[tuple[object, float]] | None = None  # the number of each value; None for the value itself

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest of the numbers, if they are given."""
        if self.numbers is None:
            return -math.inf, math.inf
        numbers = [x for _, x in self.numbers]
        return min(numbers), max(numbers)

    def __str__(self) -> str:
        condition = f" | {self.people}" if self.people else ""
        return f"E({format_value(self.attribute)}{condition})"

    def exact(self, space: Space) -> ExactRow:
        """Return the coefficients on p as rational numbers."""
        members, share = self._among(space)
        if share is None:
            raise StatementError(
                f"the number of people in {self} is unknown, so it is not a linear expression; compare it with a "
                "number, in a separate statement that is not soft"
            )
        return self._products(space, members, Fraction(0), 1 / share if share else Fraction(0))

    def is_ratio(self, space: Space) -> bool:
        """Return whether it is a quotient of linear expressions, as the number of people in it is unknown."""
        return self._among(space)[1] is None

    def excess(self, value: Fraction, space: Space) -> ExactRow:
        """Return the coefficients of (E(attribute | given) - value) P(given), linear even if P(given) is unknown."""
        return self._products(space, self._among(space)[0], self._written(space, value), Fraction(1))

    def _written(self, space: Space, value: Fraction) -> Fraction:
        """Return the mean of at most N of the numbers that a double stands for, or else the double."""
        # Partitions have different terms, but the same labels.
        *_, places = whole_sums(np.unique(self._numbers(space)[1]), -np.inf, np.inf)
        if places is None or not value:
            return value
        unit = 10**places
        nearest = (value * unit).limit_denominator(space.n_records) / unit
        return nearest if abs(nearest - value) <= abs(value) / 2**48 else value

    def total_row(self, space: Space) -> sp.csr_array:
        """Return the coefficients of E(attribute | given) P(given) on p, shape (1, terms)."""
        return self.excess(Fraction(0), space).rounded(len(space))

    def people_row(self, space: Space) -> sp.csr_array:
        """Return the coefficients of P(given) on p, shape (1, terms)."""
        members = self._among(space)[0]
        return ExactRow(members, np.zeros(len(members), dtype=np.int64), [Fraction(1)]).rounded(len(space))

    def _products(self, space: Space, members: np.ndarray, value: Fraction, unit: Fraction) -> ExactRow:
        """Return the coefficients (x - value) * unit of some terms."""
        codes, of_each = self._numbers(space)
        different, place = np.unique(of_each[codes[members]], return_inverse=True)
        return ExactRow(members, place, [(number - value) * unit for number in written_fractions(different)])

    def _among(self, space: Space) -> tuple[np.ndarray, Fraction | None]:
        """Return the terms of the described people, and their share; None if it is unknown."""
        view = space.view
        everybody = frozenset() if self.attribute in view.qi else self._anything(space)
        having = frozenset(item for item in self.given if item[0] in view.sensitive)
        if self.attribute in view.qi and not having:
            raise StatementError(
                f"{self} is known, as {self.attribute!r} is a quasi-identifier; condition on a sensitive value, "
                f"E({self.attribute!r}, given={{{view.sensitive[0]!r}: ...}})"
            )
        space.view.tell_apart(dict(self.given))  # the existence of such people is checked below
        event = Event(having or everybody, self.given - having, self.who)
        terms, _, (unit,) = event.exact(space)
        if not len(terms) or (not having and view.inside.all()):
            return terms, 1 / unit if len(terms) else Fraction(0)
        if event.given or self.who is not None or view.n_s is None:  # the members of the release are unknown, too
            return terms, None
        counted = values_named(view, dict(having)) if having else view.inside
        return terms, Fraction(int(view.n_s[counted].sum()), space.n_records)

    def _anything(self, space: Space) -> frozenset[tuple[str | None, Choice]]:
        """Return a choice of all values of the attribute that people in the release can have."""
        if self.attribute not in space.view.sensitive:
            kinds = "sensitive attribute or quasi-identifier"
            raise unknown_name(kinds, self.attribute, [*space.view.sensitive, *space.view.qi])
        values = space.axes.of_column(self.attribute)[1]
        return _sensitive({self.attribute: [value for value in values if value != OUTSIDE]})

    def _numbers(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return the value of every term, and the number of each value; 0 for people outside the release, who have none."""
        codes, all_values = space.axes.of_column(self.attribute)
        inside = np.asarray(all_values != OUTSIDE)
        values, of_each = all_values[inside], np.zeros(len(all_values))
        if self.numbers is None:
            # As objects, so that the types of the values decide, not the dtype of the column.
            if strange := [x for x in values if isinstance(x, bool) or not isinstance(x, Real | Decimal)]:
                raise StatementError(
                    f"the values of {self.attribute!r} must be numbers; otherwise pass the number of each: "
                    f"E({self.attribute!r}, values={{{short_repr(strange[0])}: ..., ...}})"
                )
            of_each[inside] = np.array(values, dtype=float)
            if not np.isfinite(of_each).all():
                raise BadProbability(f"a value of {self.attribute!r} is not finite, so the mean is undefined")
        else:
            number_of = dict(self.numbers)
            for value in number_of:
                if value not in all_values:
                    raise unknown_name(f"value of {self.attribute!r}", value, values)
            if missing := [value for value in values if value not in number_of]:
                raise LabelMismatch(
                    f"values must have a number for each value of {self.attribute!r}, but lack {join_names(missing)}; "
                    "add them, with 0 for values that do not count"
                )
            of_each[inside] = [number_of[value] for value in values]
        return codes, of_each


def is_parametric(value: object) -> bool:
    """Return whether a value is a CVXPY expression, without importing CVXPY."""
    return callable(getattr(value, "is_affine", None)) and callable(getattr(value, "parameters", None))


class ParametricStatement(Source):
    """sum_k a_k P(value_k | given_k) = r, <= r, or >= r, where r is a CVXPY parameter or an expression of some."""

    # Created by comparing :func:`maxent_cvx.P` with a :class:`cvxpy.Parameter` on the right.

    def __init__(self, left: Any, relation: str, value: Any, penalty: Penalty | None = None) -> None:
        if value.variables() or value.size != 1:
            raise StatementError(
                f"{left} can only be compared with a number or a scalar CVXPY Parameter, not {short_repr(value)}; for "
                "vectors, write a function of the space"
            )
        self.left, self.relation, self.value, self.penalty = left, relation, value, penalty

    @property
    def label(self) -> str:
        """The text of the statement, with the names of the parameters."""
        softly = "" if self.penalty is None else f", softly ({self.penalty})"
        return f"{self.left} {self.relation} {self.value}{softly}"

    @property
    def identity(self) -> Hashable:
        """The expression, the relation, the value with its parameters, and the cost."""
        terms = frozenset(self.left.terms.items()), self.left.constant
        return (
            terms,
            self.relation,
            str(self.value),
            tuple(parameter.id for parameter in self._parameters),
            self.penalty,
        )

    @property
    def _parameters(self) -> list[Any]:
        """The parameters of the value."""
        return self.value.parameters()

    def now(self) -> Statement:
        """Return the statement at the current values of the parameters."""
        values_of(self._parameters, self.label)  # raises if a parameter has no value
        value = float(self.value.value)
        if self.penalty is None:
            return self.left._state(value, self.relation)
        low = -math.inf if self.relation == "<=" else value
        return self.left.missable(low, math.inf if self.relation == ">=" else value, self.penalty)

    def softened(self, penalty: Penalty) -> ParametricStatement:
        """Return a copy that may be violated at a cost."""
        _check_cost(self, penalty)
        return ParametricStatement(self.left, self.relation, self.value, penalty)

    def _side(self, space: Space) -> Any:
        """Return the CVXPY expression of the side; None for a mean equal to c, whose row is (x - c) p = 0."""
        if any(isinstance(event, ExpectedNumber) and event.is_ratio(space) for event in self.left.terms):
            return None
        return self.value + (0.0 - self.left.constant)

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the row of the statement at the current values of the parameters."""
        for rows in self.now().rows(space):
            yield replace(rows, label=self.label)
