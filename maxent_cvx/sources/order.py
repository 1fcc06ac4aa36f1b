"""Monotone knowledge: a probability or a mean that increases or decreases along an attribute."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, join_names, short_repr
from .._utils.tables import choose
from .._utils.validation import check_bool, check_instance, check_label, check_list, check_str
from ..terms.axes import ordered_values, refuse_exact_values_in_cells
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source
from .numbers import known_members
from .statements import Event, ExpectedNumber, Probability, exact_row, given_text, read_given

#: The maximum number of values of a given order in a label.
MOST_STEPS = 8


class Monotone(Source):
    """``P(s | a = v) <= P(s | a = v')``, or ``>=``, for consecutive values v, v' of an attribute a.

    Parameters
    ----------
    of : Probability
        ``P("yes")``, ``E("income")``, or a linear combination of these, to be conditioned on each value of the
        attribute.
    along : str
        A quasi-identifier with ordered values.
    increasing : bool
        Whether it is nondecreasing along the values; otherwise it is nonincreasing.
    given : dict, optional
        Further conditions, as in :func:`P`.
    order : list, optional
        The values in order, if they are neither numbers nor ordered categories; an entry may be a group, as a list of
        values or a :class:`pandas.Interval`. Unlisted values are not compared.

    Raises
    ------
    StatementError, UnknownName
        If an argument is invalid; when added to a model, if the values have no order, or fewer than two of them have
        people, or if a mean refers to a release of a population, whose members are unknown.

    Notes
    -----
    A value without people is skipped, and its neighbours are compared with each other.
    P(s | a = v) is linear, as P(a = v) is known (Privacy-MaxEnt, section 4.1).

    Examples
    --------
    The probability of the disease does not decrease with smoking. Two of four people are ill, and the heaviest smoker
    has at least the probability of any other:

    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"smoke": [0, 10, 20, 40]})
    >>> view = mx.QITable(people, qi="smoke", sa="ill", sa_distribution=pd.Series({"no": 2, "yes": 2}))
    >>> rises = mx.Monotone(mx.P("yes"), along="smoke")
    >>> model = mx.MaxEnt(view).add(rises)
    >>> [tuple(round(end, 3) for end in model.bounds(mx.P("yes", given={"smoke": n}))) for n in (0, 40)]
    [(0.0, 0.5), (0.5, 1.0)]
    """

    def __init__(
        self,
        of: Probability,
        along: str,
        increasing: bool = True,
        *,
        given: Mapping[str, object] | None = None,
        order: Sequence[object] | None = None,
    ) -> None:
        self.of = check_instance(of, Probability, "of", "write P('yes') or E('income')")
        self.along, self.increasing = check_str(along, "along"), check_bool(increasing, "increasing")
        if strange := [event for event in of.terms if type(event) not in (Event, ExpectedNumber)]:
            raise StatementError(f"{strange[0]} cannot be conditioned on each value; write P(...) or E(...)")
        if named := [event for event in of.terms if event.who is not None]:
            raise StatementError(f"{named[0]} is about named people, not about the values of {along!r}; omit who")
        self.given = read_given(given)
        self.order = None
        if order is not None:
            self.order = tuple(choose(value, along) for value in check_list(order, "order", "values"))
        if fixed := [name for event in of.terms for name, _ in event.given if name == along or name in self.given]:
            raise StatementError(f"{fixed[0]!r} is a condition of {of} already; give it once")
        if along in self.given:
            raise StatementError(f"{along!r} cannot be both `along` and a condition of {of}; remove the condition")

    @property
    def label(self) -> str:
        """The claim, and the order of the values if given."""
        if self.order is None:
            return self._claim
        steps = [str(choice) for choice in self.order]
        shortened = [*steps[:2], "...", steps[-1]] if len(steps) > MOST_STEPS else steps
        return f"{self._claim}, from {' to '.join(shortened)}"

    @property
    def _claim(self) -> str:
        """Return the claim without the order, which is in the names of the rows."""
        verb = "fall" if self.increasing else "rise"
        return f"{self.of} does not {verb} along {self.along}{given_text(self.given)}"

    @property
    def identity(self) -> Hashable:
        """All arguments."""
        of, given = frozenset(self.of.terms.items()), frozenset(self.given.items())
        return Monotone, of, given, self.along, self.increasing, self.order

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per value except the first: the difference from the previous value."""
        view = space.view
        check_label(self.along, f"quasi-identifier of the {view.noun}", view.qi)
        codes, values = space.axes.of_column(self.along)
        place, steps = self._ordered(space, values)
        present, known = np.zeros(len(steps), dtype=np.int64), []
        for event, a in self.of.terms.items():
            if isinstance(event, ExpectedNumber):
                known_members(view, str(event))
            condition = dict(event.given) | self.given
            for i in range(len(steps)) if view.generalized else ():
                refuse_exact_values_in_cells(view, {**condition, self.along: values[place == i].tolist()})
            n = np.bincount(place[place >= 0], space.records_by(self.along, condition)[place >= 0], len(steps))
            present += n > 0
            # At a value of n people, the coefficients of P(s | given) are multiplied by n(given) / n.
            row = replace(event, given=frozenset(condition.items())).exact(space)
            known.append(
                (
                    row.parts(place[codes[row.terms]], len(steps)),
                    Fraction(a) * space.records_described(condition),
                    n.astype(int).tolist(),
                )
            )
        with_people = np.flatnonzero(present == len(self.of.terms)).tolist()
        if len(with_people) < 2:
            raise StatementError(f"{self.label}: fewer than two values have people; remove conditions, or group values")
        rows, sides = [], (0.0, np.inf) if self.increasing else (-np.inf, 0.0)
        for before, later in pairwise(with_people):
            # Rational coefficients, so that other statements about the same values imply a step exactly.
            events = [(parts[i], sign * a / n[i]) for i, sign in ((later, 1), (before, -1)) for parts, a, n in known]
            rows.append(exact_row(space, f"{self._claim}: {steps[later]} after {steps[before]}", events, *sides))
        if not any(row.matrix.nnz for row in rows):
            raise StatementError(f"{self.label}: {self.of} is 0 at all values, so the statement has no effect")
        yield from (row for row in rows if row.matrix.nnz)

    def _ordered(self, space: Space, values: pd.Index) -> tuple[np.ndarray, list[str]]:
        """Return the position of every value in the order, or -1, and the name of each position."""
        if self.order is None:
            if not isinstance(values, pd.CategoricalIndex) and any(isinstance(value, str) for value in values):
                raise StatementError(
                    f"the values of {self.along!r} are strings, whose order is unknown; pass "
                    f"order=[{short_repr(values[0])}, ...]"
                )
            ordered = ordered_values(space.axes, self.along)
            return ordered.get_indexer(values), [str(value) for value in ordered]
        place = np.full(len(values), -1)
        for i, choice in enumerate(self.order):
            mask = choice.mask(values, self.along)
            if (place[mask] >= 0).any():
                raise StatementError(f"order of {self.along!r} repeats {join_names(values[mask & (place >= 0)])}")
            place[mask] = i
        return place, [str(choice) for choice in self.order]
