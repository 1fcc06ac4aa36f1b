"""Statements: what somebody says about linear combinations of probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...errors import MaxEntError
from ...solvers.rows.sparse import compact
from ...tables.coding import group_codes
from ...tables.selection import Choice, written
from ...terms.blocks.wording import decimal
from ...terms.penalty import Penalty
from ...terms.rows import Rows
from ..base import Source
from .soft_text import RELATIONS, cost_text

if TYPE_CHECKING:
    from ...terms.space import Space

__all__ = ["Event", "Statement", "combination"]

#: Of an event: for every term the place of its coefficient among the different ones, these, and the event's own.
Exact = tuple[np.ndarray, list[Fraction], Fraction]


@dataclass(frozen=True)
class Event:
    """P(value | given), P(value | a person), or how many of several people have the value: what a statement is about.

    Attributes
    ----------
    value : frozenset of (str or None, Choice)
        Sensitive attributes and their values; None where the user did not name the attribute.
    given : frozenset of (str, Choice)
        QI attributes and their values.
    who : frozenset, optional
        Names of people, who are the condition instead of `given`.
    """

    value: frozenset[tuple[str | None, Choice]]
    given: frozenset[tuple[str, Choice]] = frozenset()
    who: frozenset[Any] | None = None

    @property
    def least(self) -> float:
        """What it can be at least: 0."""
        return 0

    @property
    def most(self) -> float:
        """What it can be at most: 1, or the number of people."""
        return 1 if self.who is None else len(self.who)

    def __str__(self) -> str:
        value, given = conditions(self.value), conditions(self.given)
        if self.who is not None:
            given = ", ".join(sorted(map(written, self.who)))
            if len(self.who) > 1:
                return f"#({value}: {given})"
        return f"P({value} | {given})" if given else f"P({value})"

    def row(self, space: Space) -> sp.csr_array:
        """Coefficients on p, shape (1, terms)."""
        value: object = {name: choice for name, choice in self.value if name is not None}
        value = value or next(choice for _, choice in self.value)
        if self.who is not None:
            return space.row(value, who=self.who)
        return space.row(value, dict(sorted(self.given, key=lambda condition: condition[0])))

    def is_ratio(self, space: Space) -> bool:
        """Whether it is a quotient of two linear expressions, and no linear expression."""
        return False

    def less(self, value: Fraction, space: Space) -> tuple[np.ndarray, list[Fraction]]:
        """Coefficients of (event - value) P(given), as of `exact`."""
        raise NotImplementedError

    def exact(self, space: Space) -> tuple[np.ndarray, list[Fraction]]:
        """Coefficients on p in rational numbers: for every term its place among the different ones, the first being 0.

        P(given) is a number of people by N, the coefficient of each of them its inverse.
        """
        row, n = self.row(space), space.n_records
        place = np.zeros(len(space), dtype=np.uint8)  # a byte a term: of large models, this takes most of the time
        place[row.indices] = 1
        return place, [Fraction(0), Fraction(n) / round(n / row.data[0]) if row.nnz else Fraction(0)]


@dataclass(frozen=True, eq=False)
class Statement(Source):
    """low <= sum_k a_k P(value_k | given_k) <= high: knowledge of distributions or of people, exact or vague.

    Made by comparing :func:`P` or :func:`Count`; two statements are equal if they say the same in any order.
    Each event becomes sum P(Qv, Q-, S, B) / P(Qv) over the rest Q- of the QI attributes and the
    buckets, with P(Qv) from the release (Privacy-MaxEnt, sections 4.1 and 4.5); or, of people i with
    QI tuples q, sum P(i, q, S, B) / P(i), with P(i) = 1/N (section 6).

    Attributes
    ----------
    terms : frozenset of (Event, float)
        Events and their coefficients.
    low, high : float
        The values as typed; a side may be infinite.
    penalty : Penalty, optional
        What it costs to miss the values, of a soft statement; see :func:`maxent_cvx.soft`.
    where : str
        Where it was read, "gossip.txt, line 3", for errors; it is no part of what is said.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> said = mx.P("Flu", given={"Gender": "male"}) <= 0.3
    >>> said.label, said.high
    ('P(Flu | Gender=male) <= 0.3', 0.3)
    >>> said == (0.3 >= mx.P(["Flu"], given={"Gender": "male"}))
    True
    """

    terms: frozenset[tuple[Event, float]]
    low: float
    high: float
    where: str = ""
    penalty: Penalty | None = None

    def __str__(self) -> str:
        return self._said + cost_text(self.penalty)

    @property
    def _said(self) -> str:
        equal, at_most, at_least = RELATIONS[self.penalty is not None]
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{combination(self.terms)} is anything"
        left, right = self.terms, frozenset[tuple[Event, float]]()
        if {self.low, self.high} <= {0.0, -math.inf, math.inf}:  # P(..) - 2 P(..) <= 0 reads better as P(..) <= 2 P(..)
            left = frozenset(term for term in self.terms if term[1] > 0) or self.terms
            right = frozenset((event, -a) for event, a in self.terms - left)
        expression, zero = combination(left), combination(right) if right else "0"
        if self.low == self.high:
            return f"{expression} {equal} {zero if self.high == 0 else f'{decimal(self.high)}'}"
        if math.isinf(self.low):
            return f"{expression} {at_most} {zero if self.high == 0 else f'{decimal(self.high)}'}"
        if math.isinf(self.high):
            return f"{expression} {at_least} {zero if self.low == 0 else f'{decimal(self.low)}'}"
        return f"{decimal(self.low)} {at_most} {expression} {at_most} {decimal(self.high)}"

    def __repr__(self) -> str:
        return f"<Statement: {self}>"

    @property
    def label(self) -> str:
        """The statement's own text."""
        return str(self)

    @property
    def key(self) -> tuple[frozenset[tuple[Event, float]], float, float, Penalty | None]:
        """What the statement says, whichever way round it was written: ``a <= b`` is ``b >= a``."""
        first = min(self.terms, key=lambda term: str(term[0]))
        if first[1] > 0:
            return self.terms, self.low + 0.0, self.high + 0.0, self.penalty
        return frozenset((event, -a) for event, a in self.terms), -self.high + 0.0, -self.low + 0.0, self.penalty

    @property
    def identity(self) -> Statement:
        """The statement: two are equal if they say the same."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statement) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def same_as(self, other: object) -> bool:
        """Whether `other` is a statement that says the same.

        Parameters
        ----------
        other : object

        Returns
        -------
        bool

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> (mx.P("Flu") <= 2 * mx.P("HIV")).same_as(2 * mx.P("HIV") - mx.P("Flu") >= 0)
        True
        """
        return self == other

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self} is a statement for model.add(), not true or false. "
            "Python reads 'low <= P(...) <= high' as two comparisons: write P(...).between(low, high)"
        )

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row; vagueness that allows everything emits none.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            low <= sum_k a_k P(value_k | given_k) <= high, as typed, in rational numbers that are rounded once.

        Raises
        ------
        UnknownName
            If the view has no such attribute or value, or the model names nobody so.
        StatementError
            If nobody is as described, or the statement cannot be one of this view.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> said = mx.P("Flu", given={"Gender": "male"}) <= 0.3
        >>> [(rows.relation, rows.high.tolist(), rows.matrix.shape) for rows in said.rows(mx.MaxEnt(release).space)]
        [('<=', [0.3], (1, 27))]
        """
        if math.isinf(self.low) and math.isinf(self.high):
            return
        try:
            told = self._told(space)
        except MaxEntError as error:
            if not self.where:
                raise
            raise type(error)(f"{self.where}: {error}") from None
        for label, events, low, high in told:
            matrix, typed = _added_up(events, len(space))
            sides = np.array([low]), np.array([high])
            yield Rows(matrix, *sides, label, view=space.view, typed=typed, exact=True, penalty=self.penalty)

    def _told(self, space: Space) -> list[tuple[str, list[Exact], float, float]]:
        """Each row with its name, its events with their coefficients, and its sides."""
        ratios = [event for event, _ in self.terms if event.is_ratio(space)]
        if not ratios:
            events = [(*event.exact(space), Fraction(a)) for event, a in self.terms]
            return [(str(self), events, self.low, self.high)]
        if len(self.terms) > 1 or self.penalty is not None:
            ratios[0].exact(space)  # which is refused
        ((event, a),) = self.terms
        if self.low == self.high:
            return [(str(self), [(*event.less(Fraction(self.low) / Fraction(a), space), Fraction(1))], 0.0, 0.0)]
        found = []
        for is_low, side in ((True, self.low), (False, self.high)):
            if math.isfinite(side):
                label = str(replace(self, high=math.inf) if is_low else replace(self, low=-math.inf))
                above = is_low == (a > 0)
                rest = [(*event.less(Fraction(side) / Fraction(a), space), Fraction(1))]
                found.append((label, rest, *((0.0, math.inf) if above else (-math.inf, 0.0))))
        return found


def _added_up(events: list[Exact], n_terms: int) -> tuple[sp.csr_array, tuple[tuple[Fraction, np.ndarray], ...]]:
    """Add up coefficients as rational numbers, and round once: what cancels is gone, and no other rounding is left."""
    touched = np.flatnonzero(np.logical_or.reduce([place != 0 for place, _, _ in events]))
    # A statement is about few of the terms: only these are looked at.
    places = [place[touched].astype(np.int64, copy=False) for place, _, _ in events]
    pattern = group_codes(places, [len(factors) for _, factors, _ in events])
    example = np.empty(int(pattern.max(initial=-1)) + 1, dtype=np.int64)
    example[pattern] = np.arange(len(pattern))
    total = [
        sum((a * factors[place[at]] for (_, factors, a), place in zip(events, places, strict=True)), Fraction(0))
        for at in example.tolist()
    ]
    data = np.array([float(a) for a in total], dtype=float)[pattern]
    matrix = compact(sp.csr_array((data, touched, [0, len(touched)]), shape=(1, n_terms)))
    terms = matrix.indices  # the same array, not a copy, where there is one coefficient
    of_each = [terms] if len(total) == 1 else [terms[pattern == i] for i in range(len(total))]
    typed = tuple((a, at) for a, at in zip(total, of_each, strict=True) if a)
    if not data.all():
        matrix = matrix.copy()  # in place the terms would be written over
        matrix.eliminate_zeros()
    return matrix, typed


def conditions(chosen: Iterable[tuple[str | None, Choice]]) -> str:
    """Write what attributes are: ``Gender=male, Age in [20, 30)``; of no attribute, the values only."""
    return ", ".join(
        f"{'' if name is None else written(name) + (' ' if choice.interval is not None else '=')}{choice}"
        for name, choice in sorted(chosen, key=lambda condition: condition[0] or "")
    )


def combination(terms: Iterable[tuple[Event, float]], constant: float = 0.0) -> str:
    """Write a linear combination: ``P(Flu) - 2 P(HIV) + 0.1``, events in alphabetical order."""
    ordered = sorted(((str(event), a) for event, a in terms), key=lambda term: (term[1] < 0, term[0]))
    parts = [(a < 0, event if abs(a) == 1 else f"{decimal(abs(a))} {event}") for event, a in ordered]
    if constant or not parts:
        parts.append((constant < 0, decimal(abs(constant))))
    first, *others = parts
    return "".join(["-" * first[0] + first[1], *(f" {'-' if minus else '+'} {part}" for minus, part in others)])
