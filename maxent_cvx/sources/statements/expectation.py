"""E(...): the mean of a number that sensitive values are, or stand for, among people as described."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, LabelMismatch, StatementError, listing, number, shown, unknown_name
from ...errors.arguments import text
from ...tables.selection import Choice, written
from ...terms.events import values_named
from .events import P
from .probability import Probability
from .statement import Event, conditions

if TYPE_CHECKING:
    from ...terms.space import Space

__all__ = ["E", "ExpectedNumber"]


def E(
    attribute: str,
    given: Mapping[str, object] | None = None,
    who: object = None,
    values: Mapping[object, float] | pd.Series | None = None,
) -> Probability:
    """E(attribute | given) = sum_s x(s) P(s | given), the mean of a number, to be compared with a number.

    Parameters
    ----------
    attribute : str
        A sensitive attribute; or a quasi-identifier, of those who have a sensitive value.
    given : dict, optional
        Attribute to a value, a list of values, or a :class:`pandas.Interval`. None: among everybody.
    who : str or int, optional
        Instead, the name of a person, as of :func:`P`.
    values : dict or Series, optional
        The number x that each value stands for, in any unit. By default the values themselves, which must be numbers.

    Returns
    -------
    Probability
        A linear combination of probabilities: it is added to others and to P(...), multiplied by numbers, and
        compared. ``E(..) == 42.9``, ``.about(42.9, eps=0.5)`` and ``.between(40, 45)`` are statements for
        ``model.add``. In the notation of :func:`maxent_cvx.read_knowledge` it is ``E(income | edu=college)``, where the
        values are numbers themselves.

    Raises
    ------
    StatementError, BadProbability, LabelMismatch
        If the arguments cannot be read, or numbers are given twice for a value. Whether names exist, and values are
        numbers, is checked when a model gets it.

    Notes
    -----
    A mean among those who have a sensitive value is E[x 1] / P, of which P is known where the view counts the value.
    Elsewhere ``E(age | ill=yes) == 50`` is the row E[(age - 50) 1] = 0, which is linear; it is compared with a number
    only, and its price is per unit of 50 times P(yes).

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> weeks = {"Flu": 1, "Pneumonia": 3, "Breast Cancer": 20, "HIV": 50, "Lung Cancer": 30}
    >>> told = mx.E("Disease", given={"Gender": "male"}, values=weeks) == 15.5
    >>> told
    <Statement: E(Disease | Gender=male) = 15.5>
    >>> post = mx.MaxEnt(release).add(told).solve()
    >>> of_men = post.space.conditional("Disease", given="Gender").xs("male", level="Gender").value(post)
    >>> round(sum(weeks[disease] * share for disease, share in of_men.items()), 6)
    15.5

    The mean age of the ill, of whom it is not known how many there are: 70 at least means the eldest only.

    >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 70]}), qi="age", sa="ill", sa_values=["no", "yes"])
    >>> model = mx.MaxEnt(view).add(mx.E("age", given={"ill": "yes"}) >= 70)
    >>> low, high = model.bounds("P(yes | age=40)")
    >>> low >= 0, high < 1e-9
    (True, True)
    """
    name = text(attribute, "attribute")
    of_people = next(iter(P({name: "any"}, given=given, who=who).terms))
    if values is None:
        return Probability({ExpectedNumber(frozenset(), of_people.given, of_people.who, name): 1.0})
    if not isinstance(values, Mapping | pd.Series):
        raise StatementError(f"values must be a dictionary {{value: number}} or a Series, not {shown(values)}")
    if isinstance(values, pd.Series) and values.index.has_duplicates:
        raise LabelMismatch(f"the numbers of {name} repeat {listing(values.index[values.index.duplicated()].unique())}")
    if not len(values):
        raise StatementError("values={} gives no number; give one for each sensitive value")
    numbers = frozenset((value, number(x, f"the number of {written(value)}")) for value, x in values.items())
    return Probability({ExpectedNumber(frozenset(), of_people.given, of_people.who, name, numbers): 1.0})


@dataclass(frozen=True)
class ExpectedNumber(Event):
    """E(attribute | given): a sum over its values, each times a number.

    Attributes
    ----------
    attribute : str
        A sensitive attribute, or a quasi-identifier.
    numbers : frozenset of (value, float), optional
        What each value stands for; None for the value itself.
    """

    attribute: str = ""
    numbers: frozenset[tuple[object, float]] | None = None

    @property
    def least(self) -> float:
        """The smallest of the numbers, where they are told."""
        return -math.inf if self.numbers is None else min(x for _, x in self.numbers)

    @property
    def most(self) -> float:
        """The largest of the numbers, where they are told."""
        return math.inf if self.numbers is None else max(x for _, x in self.numbers)

    def __str__(self) -> str:
        given = conditions(self.given) if self.who is None else ", ".join(sorted(map(written, self.who)))
        return f"E({written(self.attribute)} | {given})" if given else f"E({written(self.attribute)})"

    def row(self, space: Space) -> sp.csr_array:
        """Coefficients on p, shape (1, terms)."""
        place, factors = self.exact(space)
        row = sp.csr_array(np.array([float(factor) for factor in factors])[place][None])
        row.eliminate_zeros()
        return row

    def exact(self, space: Space) -> tuple[np.ndarray, list[Fraction]]:
        """Coefficients on p in rational numbers: for every term its place among the different ones."""
        there, share = self._among(space)
        if share is None:
            raise StatementError(
                f"how many people have {self._condition()} is not known, and so {self} is no linear expression; "
                "compare it with a number only, in a statement of its own"
            )
        return self._products(space, there, Fraction(0), 1 / share if share else Fraction(0))

    def is_ratio(self, space: Space) -> bool:
        """Whether it is a quotient of two linear expressions: how many have the sensitive value is not known."""
        return self._among(space)[1] is None

    def less(self, value: Fraction, space: Space) -> tuple[np.ndarray, list[Fraction]]:
        """Coefficients of (E(attribute | given) - value) P(given), which is linear whatever P(given) is."""
        return self._products(space, self._among(space)[0], value, Fraction(1))

    def _products(
        self, space: Space, there: np.ndarray, value: Fraction, unit: Fraction
    ) -> tuple[np.ndarray, list[Fraction]]:
        """(x - value) times a unit at some terms: their places among the different coefficients, the first being 0."""
        different, at = np.unique(self._of_terms(space), return_inverse=True)
        factors = [Fraction(0), *((Fraction(float(one)) - value) * unit for one in different)]
        return np.where(there, at + 1, 0), factors

    def _condition(self) -> str:
        return conditions(self.given)

    def _among(self, space: Space) -> tuple[np.ndarray, Fraction | None]:
        """Mark the terms of those as described, and tell their share; None where it is not known."""
        view = space.view
        if self.attribute not in view.qi:
            self._anything(space)
        having = frozenset(one for one in self.given if one[0] in view.sensitive)
        if self.attribute in view.qi and not having:
            raise StatementError(
                f"{self} is known: {self.attribute!r} is a quasi-identifier; condition on a sensitive value, "
                f"E({self.attribute!r}, given={{{view.sensitive[0]!r}: ...}})"
            )
        space.axes.tell_apart(dict(self.given))  # whether anybody is so is asked below
        event = Event(having or self._anything(space), self.given - having, self.who)
        place, (_, unit) = event.exact(space)
        if not having or not unit:
            return place > 0, 1 / unit if unit else Fraction(0)
        if event.given or view.n_s is None:
            return place > 0, None
        return place > 0, Fraction(int(view.n_s[values_named(view, dict(having))].sum()), space.n_records)

    def _anything(self, space: Space) -> frozenset[tuple[str | None, Choice]]:
        """Any value of the attribute."""
        if self.attribute not in space.view.sensitive:
            kinds = "sensitive attribute or quasi-identifier"
            raise unknown_name(kinds, self.attribute, [*space.view.sensitive, *space.view.qi])
        every = list(self._values(space)[1])
        return next(iter(P({self.attribute: every}).terms)).value

    def _values(self, space: Space) -> tuple[np.ndarray, pd.Index]:
        """Codes of the attribute for each term, and what they stand for."""
        return space.axes.of_column(self.attribute)

    def _of_terms(self, space: Space) -> np.ndarray:
        """The number of every term."""
        codes, values = self._values(space)
        if self.numbers is None:
            kinds = values.categories if isinstance(values, pd.CategoricalIndex) else values
            if not pd.api.types.is_numeric_dtype(kinds) or pd.api.types.is_bool_dtype(kinds):
                raise StatementError(
                    f"the values of {self.attribute!r} are no numbers; say what each stands for: "
                    f"E({self.attribute!r}, values={{{shown(values[0])}: ..., ...}})"
                )
            numbers = np.array(values, dtype=float)
            if not np.isfinite(numbers).all():
                raise BadProbability(f"a value of {self.attribute!r} is no finite number, so that it has no mean")
        else:
            told = dict(self.numbers)
            if strange := [value for value in told if value not in values]:
                raise unknown_name(f"value of {self.attribute!r}", strange[0], values)
            if missing := [value for value in values if value not in told]:
                raise LabelMismatch(
                    f"the numbers of {self.attribute!r} lack {listing(missing)}; one for each is needed"
                )
            numbers = np.array([told[value] for value in values])
        return numbers[codes]
