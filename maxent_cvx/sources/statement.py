"""Statements: what somebody says about linear combinations of probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..errors import BadProbability
from ..rows import Rows
from ..selection import Choice
from .base import Source

if TYPE_CHECKING:
    from ..space import Space

__all__ = ["Event", "Statement", "combination", "number"]


@dataclass(frozen=True)
class Event:
    """P(value | given), one conditional probability: what statements are made of."""

    value: Choice
    given: frozenset[tuple[str, Choice]]

    def __str__(self) -> str:
        if not self.given:
            return f"P({self.value})"
        conditions = (
            f"{name} {choice}" if choice.interval is not None else f"{name}={choice}"
            for name, choice in sorted(self.given, key=lambda condition: condition[0])
        )
        return f"P({self.value} | {', '.join(conditions)})"

    def row(self, space: Space) -> sp.csr_array:
        """Coefficients on p, shape (1, terms)."""
        return space.row(self.value, dict(self.given))


@dataclass(frozen=True)
class Statement(Source):
    """low <= sum_k a_k P(value_k | given_k) <= high: distribution knowledge, exact or vague.

    Made by comparing :func:`P`; two statements are equal if they say the same in any order.
    Each event becomes sum P(Qv, Q-, S, B) / P(Qv) over the rest Q- of the QI attributes and the
    buckets, with P(Qv) from the release (Privacy-MaxEnt, sections 4.1 and 4.5).

    Attributes
    ----------
    terms : frozenset of (Event, float)
        Events and their coefficients.
    low, high : float
        The values as typed; a side may be infinite.
    """

    terms: frozenset[tuple[Event, float]]
    low: float
    high: float

    def __str__(self) -> str:
        left, right = self.terms, frozenset[tuple[Event, float]]()
        if {self.low, self.high} <= {0.0, -math.inf, math.inf}:  # P(..) - 2 P(..) <= 0 reads better as P(..) <= 2 P(..)
            left = frozenset(term for term in self.terms if term[1] > 0) or self.terms
            right = frozenset((event, -a) for event, a in self.terms - left)
        expression, zero = combination(left), combination(right) if right else "0"
        if self.low == self.high:
            return f"{expression} = {zero if self.high == 0 else f'{self.high:.12g}'}"
        if math.isinf(self.low):
            return f"{expression} <= {zero if self.high == 0 else f'{self.high:.12g}'}"
        if math.isinf(self.high):
            return f"{expression} >= {zero if self.low == 0 else f'{self.low:.12g}'}"
        return f"{self.low:.12g} <= {expression} <= {self.high:.12g}"

    def __repr__(self) -> str:
        return f"<Statement: {self}>"

    @property
    def label(self) -> str:
        """The statement's own text."""
        return str(self)

    def same_as(self, other: object) -> bool:
        """Whether `other` is a statement that says the same."""
        return isinstance(other, Statement) and self == other

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self} is a statement for model.add(), not true or false. "
            "Python reads 'low <= P(...) <= high' as two comparisons: write P(...).between(low, high)"
        )

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row; vagueness that allows everything emits none."""
        if math.isinf(self.low) and math.isinf(self.high):
            return
        matrix = sum(
            (coefficient * event.row(space) for event, coefficient in self.terms), start=sp.csr_array((1, len(space)))
        )
        yield Rows(sp.csr_array(matrix), np.array([self.low]), np.array([self.high]), str(self))


def combination(terms: Iterable[tuple[Event, float]], constant: float = 0.0) -> str:
    """Write a linear combination: ``P(Flu) - 2 P(HIV) + 0.1``, events in alphabetical order."""
    ordered = sorted(((str(event), a) for event, a in terms), key=lambda term: (term[1] < 0, term[0]))
    parts = [(a < 0, event if abs(a) == 1 else f"{abs(a):.12g} {event}") for event, a in ordered]
    if constant or not parts:
        parts.append((constant < 0, f"{abs(constant):.12g}"))
    first, *others = parts
    return "".join(["-" * first[0] + first[1], *(f" {'-' if minus else '+'} {part}" for minus, part in others)])


def number(value: object, what: str) -> float:
    """Read a finite number, or say what was found instead."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(value, bool | np.bool_ | str) or not math.isfinite(found):
        raise BadProbability(f"{what} must be a finite number, not {value!r}")
    return found
