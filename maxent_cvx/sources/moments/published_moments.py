"""Published means and standard deviations: of a sensitive number, or of a quasi-identifier in a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, StatementError, arguments, number
from ...tables.selection import choose, written
from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source
from ..numbers.whole_sums import LARGEST, whole_sums
from .rounding import COMPUTED, half_unit
from .subjects import Subjects, among, subjects

__all__ = ["PublishedMoments"]


class PublishedMoments(Source):
    """``E[x] = m`` and ``E[(x - m)^2] = (n - ddof) / n sd^2``: a mean, and the standard deviation about it.

    Parameters
    ----------
    mean : float
        In the unit of the numbers.
    sd : float, optional
        The standard deviation, in the same unit.
    of : str, optional
        What they are of: a sensitive attribute, or a quasi-identifier of those who have a sensitive value, "age" given
        {"Disease": "Flu"}. By default the only sensitive attribute.
    given : dict, optional
        Of whom, as of :func:`P`; sensitive attributes may be among the conditions.
    values : dict or Series, optional
        The number that each value stands for; by default they are numbers themselves.
    ddof : int
        The sum of squares was divided by n - ddof: 1 as pandas, R and spreadsheets' STDEV do, 0 as NumPy does.
    decimals : int or (int, int), optional
        To how many decimals both, or the mean and the standard deviation, are rounded. None: they are published as they
        were computed, in double precision.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read; when added to a model, if nobody is as described, or too few for `ddof`.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are no numbers.

    Notes
    -----
    A standard deviation is linear because the mean is published: about m, E[(x - m)^2] is the variance plus the square
    of what m is off by, at most half a unit of its last decimal. Where it is not known how many are as described, as in
    a class of which no count is published, rows are multiplied by their number, E[(x - m) 1] = 0, and as exact.

    Examples
    --------
    The "Table 1" of a paper: those ill were 70.0 (14.1) years old. How many there are is not told; of these four people
    they are the two elder ones:

    >>> import maxent_cvx as mx, pandas as pd
    >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 60, 80]}), qi="age", sa="ill", sa_values=["no", "yes"])
    >>> told = mx.PublishedMoments(70.0, 14.1, of="age", given={"ill": "yes"}, decimals=1)
    >>> mx.MaxEnt(view).add(told).bounds(mx.P("yes", given={"age": 60}), integer=True)
    (1.0, 1.0)
    """

    def __init__(
        self,
        mean: float,
        sd: float | None = None,
        *,
        of: str | None = None,
        given: Mapping[str, object] | None = None,
        values: Mapping[object, float] | pd.Series | None = None,
        ddof: int = 1,
        decimals: int | tuple[int, int] | None = None,
    ) -> None:
        self.mean = number(mean, "the mean")
        self.sd = None if sd is None else arguments.real(sd, "sd", 0.0)
        self.of = None if of is None else arguments.text(of, "of")
        chosen = arguments.mapping({} if given is None else given, "given", "{attribute: value}")
        self.given = {name: choose(one, name) for name, one in chosen.items()}
        self.values, self.ddof = values, arguments.whole(ddof, "ddof", 0)
        places = decimals if isinstance(decimals, tuple | list) else (decimals, decimals)
        if len(places) != 2:
            raise BadProbability(
                f"decimals={decimals!r}: a whole number, or one of the mean and one of sd, is expected"
            )
        self.half = half_unit(self.mean, places[0], "the mean"), half_unit(self.sd or 0.0, places[1], "sd")

    @property
    def label(self) -> str:
        """What they are of, and of whom."""
        kind = "mean" if self.sd is None else "mean and sd"
        told = f"{self.mean:.12g}" + ("" if self.sd is None else f" ({self.sd:.12g})")
        return f"{kind}{f' of {written(self.of)}' if self.of else ''}{among(self.given)}: {told}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the rows of the mean, and of the standard deviation.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            low <= sum x <= high, and of the squares, whole numbers if those summed are whole; of an unknown number of
            people, sums of differences.

        Raises
        ------
        UnknownName, TableError
            If the view has no such attribute or value, or values are no numbers.
        StatementError
            If nobody is as described, or too few for `ddof`, or it is known of quasi-identifiers.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [25, 41]}), qi="age", sa="income", sa_values=[20, 30, 40])
        >>> (rows,) = mx.PublishedMoments(30, 14.14, decimals=(0, 2)).rows(mx.MaxEnt(view).space)
        >>> [rows.name(i) for i in range(len(rows))]
        ['mean and sd: 30 (14.14): sum', 'mean and sd: 30 (14.14): sum of squares about the mean']
        >>> rows.low.round(2).tolist(), rows.high.round(2).tolist()     # 14.135^2, and 14.145^2 + 2 (1/2)^2
        ([59.0, 199.8], [61.0, 200.58])
        """
        people = subjects(space, self.of, self.given, self.values)
        if people.n is None:
            yield self._of_unknown_number(people, space)
            return
        if self.sd is not None and people.n <= self.ddof:
            raise StatementError(f"{self.label}: {people.n} people have no standard deviation with ddof={self.ddof}")
        yield self._rows(self._sums(people, people.n), people, space)

    def _sums(self, people: Subjects, n: int) -> list[Sum]:
        """Of a known number of people: the sum, and that of squares; whole numbers, if those summed are whole."""
        x, (h, _) = people.x, self._halves(people)
        w, least, most, places = whole_sums(x, n * (self.mean - h), n * (self.mean + h))
        found = [Sum("sum", w, least, most)]
        if self.sd is None:
            return found
        low, high = ((n - self.ddof) * variance for variance in self._variances(people))
        if places is not None and least == most and not self._are_equal(people):
            unit = 100.0**places
            squares = whole_sums(w**2, low * unit + least**2 / n, high * unit + least**2 / n)
            if squares[3] == 0:
                return [*found, Sum("sum of squares", *squares[:3])]
        square = self._squares(people, n)
        return [*found, Sum("sum of squares about the mean", square, low, high + n * h**2 if high else 0.0)]

    def _of_unknown_number(self, people: Subjects, space: Space) -> Rows:
        """The same with n among the unknowns, sum (x - m) = 0 and sum ((x - m)^2 - sd^2) = -ddof sd^2."""
        x, (h, _) = people.x, self._halves(people)
        found = [Sum("people", np.ones(len(x)), 1.0 + self.ddof * (self.sd is not None), np.inf)]
        if exact := self._whole_differences(people, space.n_records):
            return self._rows([*found, *exact], people, space)
        found += [
            Sum("mean, low", x - (self.mean - h), 0.0, np.inf),
            Sum("mean, high", x - (self.mean + h), -np.inf, 0.0),
        ]
        if self.sd is not None:
            square, (least, most) = self._squares(people, space.n_records), self._variances(people)
            found += [
                Sum("sd, low", square - least, -self.ddof * least, np.inf),
                Sum("sd, high", square - most - (h**2 if most else 0.0), -np.inf, -self.ddof * most),
            ]
        return self._rows(found, people, space)

    def _whole_differences(self, people: Subjects, n: int) -> list[Sum]:
        """The same in whole numbers: the mean, and then the variance, is the only fraction near that it can be.

        The mean of n whole numbers at most is a fraction with a denominator up to n; two of them are 1 / n^2 apart.
        """
        w, _, _, places = whole_sums(people.x, -np.inf, np.inf)
        if places is None or self.half != (0.0, 0.0):
            return []
        unit, (h, off) = 10.0**places, self._halves(people)
        mean = nearest_fraction(self.mean * unit, h * unit, n)
        if mean is None:
            return []
        difference = mean.denominator * w - mean.numerator
        found = [Sum("mean", difference, 0.0, 0.0)]
        if self.sd is None:
            return found
        by = (mean.denominator * unit) ** 2
        variance = nearest_fraction(self.sd**2 * by, (2 * self.sd * off + off**2) * by, n)
        if variance is None:
            return []
        c, d = variance.numerator, variance.denominator
        return [*found, Sum("sd", d * difference**2 - c, float(-self.ddof * c), float(-self.ddof * c))]

    def _halves(self, people: Subjects) -> tuple[float, float]:
        """How far mean and standard deviation may be off."""
        size = float(np.abs(people.x).max()), float(np.abs(people.x - self.mean).max())
        return max(self.half[0], COMPUTED * size[0]), max(self.half[1], COMPUTED * max(size))

    def _variances(self, people: Subjects) -> tuple[float, float]:
        """The least and the largest square of the standard deviation; of equal numbers 0, without any rounding."""
        assert self.sd is not None
        off = self._halves(people)[1]
        return max(self.sd - off, 0.0) ** 2, 0.0 if self._are_equal(people) else (self.sd + off) ** 2

    def _are_equal(self, people: Subjects) -> bool:
        """Whether the standard deviation is 0 but for rounding, and not rounded to 0."""
        return self.half[1] == 0 and self.sd is not None and self.sd <= self._halves(people)[1]

    def _squares(self, people: Subjects, n: int) -> np.ndarray:
        """(x - m)^2; of equal numbers 0 at what m is but for rounding, which n numbers are off by sqrt(n) at most."""
        off = np.abs(people.x - self.mean)
        nearest = 2 * np.sqrt(n) * self._halves(people)[1] if self._are_equal(people) else 0.0
        return np.where(off <= nearest, 0.0, off) ** 2

    def _rows(self, told: list[Sum], people: Subjects, space: Space) -> Rows:
        """Rows of sums over people."""
        weights = np.array([one.weights for one in told])
        row, at = np.nonzero(weights)
        data = weights[row, at] * space.n_records
        matrix = sp.csr_array((data, (row, people.terms[at])), shape=(len(told), len(space)))
        low, high = (np.array([getattr(one, side) for one in told], dtype=float) for side in ("low", "high"))
        return Rows(matrix, low, high, self.label, pd.Index([one.name for one in told]), space.view)


@dataclass(frozen=True, eq=False)
class Sum:
    """low <= sum of what each person adds <= high.

    Attributes
    ----------
    name : str
    weights : ndarray
        One a term of those as described.
    low, high : float
    """

    name: str
    weights: np.ndarray
    low: float
    high: float


def nearest_fraction(value: float, off: float, n: int) -> Fraction | None:
    """The only fraction with a denominator up to n that is within `off` of a value; None if it is not the only one."""
    found = Fraction(value).limit_denominator(n)
    near = abs(found - Fraction(value)) <= Fraction(off)
    return found if near and 2 * off < 1 / n**2 and abs(value) * n < LARGEST else None
