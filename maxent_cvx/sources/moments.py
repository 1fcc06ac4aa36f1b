"""Published moments: means, variances, covariances, correlations and quantiles of numeric values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import BadProbability, StatementError, pluralize, short_repr
from .._utils.formatting import format_value
from .._utils.tables import numbers_of, ranges
from .._utils.validation import (
    check_float,
    check_in,
    check_int,
    check_label,
    check_list,
    check_number,
    check_str,
    is_several,
)
from ..terms.axes import values_named
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source
from .numbers import (
    LARGEST,
    design_matrix,
    known_members,
    numbers_of_values,
    read_numbers,
    responses,
    whole_sums,
    written_fractions,
    written_numbers,
)
from .statements import Event, ExactRow, Probability, conditions, given_text, read_given

# Cov(x, y) of a quasi-identifier x and a sensitive number y, as an expression for comparisons.


def Covariance(
    x: str, y: Mapping[Any, float] | pd.Series | str, given: Mapping[str, object] | None = None
) -> Probability:
    """Return Cov(x, y | given) = E[(x - E x) y | given] of a known number x and a sensitive number y, for comparisons.

    Parameters
    ----------
    x : str
        A numeric quasi-identifier, "age"; an indicator, "sex=F"; or a product of these.
    y : dict, Series or str
        The number of each sensitive value, ``{"yes": 1}``, and 0 for all others; or the name of a numeric sensitive
        attribute.
    given : dict, optional
        A mapping of QI attributes to values, lists of values, or :class:`pandas.Interval`. None means everybody.

    Returns
    -------
    Probability
        A linear combination of probabilities, like :func:`P`: ``Covariance("age", {"yes": 1}) >= 0`` means that on
        average the ill are at least as old as the others.

    Raises
    ------
    StatementError, BadProbability
        If the arguments are invalid. Names and the types of values are checked when it is added to a model.

    Notes
    -----
    E[xy] - E[x] E[y] is linear in P since E[x] is known from the quasi-identifiers. The divisor is n; the covariance
    with divisor n - 1 is n / (n - 1) times as large.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [20, 40, 60, 80]})
    >>> view = mx.QITable(people, qi="age", sa="ill", sa_distribution=pd.Series({"no": 2, "yes": 2}))
    >>> elder = mx.Covariance("age", {"yes": 1})
    >>> elder >= 8
    <Statement: Cov(age, yes) >= 8>
    >>> least, most = mx.MaxEnt(view).bounds(elder)                  # of those aged 60 and 80: (10 + 30) / 4
    >>> round(least, 9), round(most, 9)
    (-10.0, 10.0)
    >>> mx.MaxEnt(view).add(elder == 10).solve().conditional()["yes"].round(6).to_list()
    [0.0, 0.0, 1.0, 1.0]
    """
    of = y if isinstance(y, str) else frozenset(read_numbers(y, "y").items())
    condition = frozenset(read_given(given).items())
    return Probability({ExpectedProduct(frozenset(), condition, None, check_str(x, "x"), of): 1.0})


@dataclass(frozen=True)
class ExpectedProduct(Event):
    """Cov(x, y | given): a sum of (x - E x) y over people."""

    x: str = ""  # a column, as in a regression
    y: str | frozenset[tuple[object, float]] = ""  # a sensitive attribute, or the number of each value

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest possible value, which are infinite."""
        return -math.inf, math.inf

    def __str__(self) -> str:
        if isinstance(self.y, str):
            y = format_value(self.y)
        else:
            y = " + ".join(
                sorted(format_value(value) if a == 1 else f"{a:g} {format_value(value)}" for value, a in self.y)
            )
        condition = conditions(self.given)
        return f"Cov({self.x}, {y} | {condition})" if condition else f"Cov({self.x}, {y})"

    def exact(self, space: Space) -> ExactRow:
        """Return the coefficients on p as rational numbers."""
        known_members(space.view, "a covariance")
        people = space.view.n_q * space.described(dict(self.given))
        different, of_tuple = np.unique(design_matrix(space.view, [self.x])[:, 0], return_inverse=True)
        number = np.bincount(of_tuple, people, len(different)).astype(np.int64).tolist()
        x = written_fractions(different)
        n = sum(number)
        mean = sum((k * label for k, label in zip(number, x, strict=True)), Fraction(0)) / n
        values, of_value = np.unique(
            responses(space.view, self.y if isinstance(self.y, str) else dict(self.y)), return_inverse=True
        )
        y = written_fractions(values)
        q, s = space.codes["q"], space.codes["s"]
        terms = np.flatnonzero(people[q] > 0)
        place = of_tuple[q[terms]] * len(y) + of_value[s[terms]]
        return ExactRow(terms, place, [Fraction(space.n_records, n) * (a - mean) * b for a in x for b in y])


# Statistics as bounds on sums over the described people.


@dataclass(frozen=True, eq=False)
class Sum:
    """low <= sum of weights over people <= high."""

    name: str
    weights: np.ndarray  # one per term of the described people
    low: float
    high: float


def rows_of_sums(
    sums: Sequence[Sum], terms: np.ndarray, space: Space, label: str, *, exact: bool = False, remedy: str = ""
) -> Rows:
    """Convert sums over people, whose terms are given, to rows."""
    weights = np.array([total.weights for total in sums])
    row, at = np.nonzero(weights)
    entries = weights[row, at] * float(space.n_records), (row, terms[at])
    matrix = sp.csr_array(entries, shape=(len(sums), len(space)))
    low, high = np.array([(total.low, total.high) for total in sums], dtype=float).T
    names = pd.Index([total.name for total in sums])
    return Rows(matrix, low, high, label, names, space.view, exact=exact, remedy=remedy)


@dataclass(frozen=True, eq=False)
class Subjects:
    """The described people, and the numbers of a statistic."""

    terms: np.ndarray  # the terms of the described people
    x: np.ndarray  # the number of each of these terms
    n: int | None  # the number of people; None if unknown, since it depends on sensitive values


def subjects(
    space: Space, of: str | None, given: Mapping[str, object], values: Mapping[Any, float] | pd.Series | None
) -> Subjects:
    """Find the described people and their numbers."""
    view = space.view
    having = {name: choice for name, choice in given.items() if name in view.sensitive}
    of_tuples = {name: choice for name, choice in given.items() if name not in having}
    space.view.tell_apart(of_tuples)
    tuples, people = space.described(of_tuples), space.records_described(of_tuples)
    mask = values_named(view, having) if having else view.inside
    terms = np.flatnonzero(tuples[space.codes["q"]] & mask[space.codes["s"]])
    if not len(terms):
        raise StatementError(f"nobody can have {conditions(read_given(given).items())}")
    n: int | None = None
    if mask.all():
        n = people
    elif people == space.n_records and view.n_s is not None:
        n = int(view.n_s[mask].sum())
    return Subjects(terms, _numbers(space, of, values, known=bool(mask.all()) and not having)[terms], n)


def _numbers(space: Space, of: str | None, values: Mapping[Any, float] | pd.Series | None, known: bool) -> np.ndarray:
    """Return the number of every term."""
    view = space.view
    if of is None:
        if len(view.sensitive) > 1:
            raise StatementError(
                "the view has several sensitive attributes; pass of=, the attribute of the statistic, one of "
                f"{list(view.sensitive)}"
            )
        of = view.sensitive[0]
    if of in view.sensitive:
        return numbers_of_values(view, of, values)[space.codes["s"]]
    check_label(of, "sensitive attribute or quasi-identifier", [*view.sensitive, *view.qi])
    if known:
        raise StatementError(
            f"{of!r} is a quasi-identifier, whose statistics are known; condition on a sensitive value: "
            f"given={{{view.sensitive[0]!r}: ...}}"
        )
    codes, level = space.axes.of_column(of)
    return numbers_of(level.rename(of), values).astype(float)[codes]


# Quantiles as counts of people below and above a value.
#
# Of n numbers x in order, x(1) <= ... <= x(n), a value v lies from x(i) to x(j), i <= j, exactly if
#
#     #(x <= v) >= i        and        #(x < v) <= j - 1.
#
# A quantile that is one of the numbers has i = j, and these two rows are equivalent to it. A quantile between two
# neighbours, j = i + 1, is a disjunction: (x(i), x(j)) is one of several pairs (a, b) of values between which v lies in
# the given proportion. The rows are common to all these pairs: they use the least and the largest a, and b.
#
# If n is unknown, with q = s/t, the conditions on the integers # and n are of the form t # >= s n.

#: Names of methods of numpy.quantile(x, q, method=...), and the position of their value as a function of h = (n - 1) q.
METHODS = ("linear", "lower", "higher", "midpoint", "inverted_cdf", "averaged_inverted_cdf")
#: Two numbers are equal if they differ by less, relative to the largest number: interpolation rounds.
ROUNDING = 1e-12
#: Advice for an impossible quantile.
REMEDY = "check whether it was rounded (decimals) or computed in another way (method)"


@dataclass(frozen=True)
class Quantile:
    """``numpy.quantile(x, q, method=method)`` lies in [low, high]."""

    q: Fraction
    method: str  # one of METHODS
    low: float
    high: float
    label: str
    remedy: str = REMEDY  # advice if it is impossible

    def rows(self, people: Subjects, space: Space) -> Rows:
        """Return the linear conditions that it implies."""
        x = people.x
        if people.n is None:
            if not self._contains(x).any() and not (x.min() < self.low and x.max() > self.high):
                raise self._unattainable(x)
            return self._rows(self._of_any_number(x), people, space, self.label)
        first, last = self._places(people.n)
        if first < last:
            pairs = self._pairs(people)
            (least, least_next), (most, most_next) = pairs.min(axis=0), pairs.max(axis=0)
            counts = [*_between(x, first, least, most), *_between(x, last, least_next, most_next)]
        elif self._contains(x).any():
            counts = _between(x, first, self.low, self.high)
        else:
            raise self._unattainable(x)
        return self._rows(counts, people, space, self.label)

    def alternatives(self, people: Subjects, space: Space) -> list[Rows]:
        """Return the rows of each pair of neighbours between which the quantile may lie; one pair is true."""
        if people.n is None or len(set(self._places(people.n))) == 1:
            return [self.rows(people, space)]
        first, last = self._places(people.n)
        alternatives = []
        for a, b in self._pairs(people).tolist():
            counts = [*_between(people.x, first, a, a), *_between(people.x, last, b, b)]
            alternatives.append(self._rows(counts, people, space, f"{self.label}, between {a:.12g} and {b:.12g}"))
        return alternatives

    def _places(self, n: int) -> tuple[int, int]:
        """Return the positions, from 1, of the two of n sorted numbers between which it lies."""
        if self.method == "inverted_cdf":
            return (max(math.ceil(self.q * n), 1),) * 2
        if self.method == "averaged_inverted_cdf":
            return max(math.ceil(self.q * n), 1), min(math.floor(self.q * n) + 1, n)
        h = self.q * (n - 1)
        lower, higher = math.floor(h) + 1, math.ceil(h) + 1
        return {"lower": (lower, lower), "higher": (higher, higher)}.get(self.method, (lower, higher))

    def _pairs(self, people: Subjects) -> np.ndarray:
        """Return the possible values of the two neighbours, shape (pairs, 2), for a known number of people."""
        assert people.n is not None
        h = self.q * (people.n - 1)
        part = float(h - math.floor(h)) if self.method == "linear" else 0.5
        values = np.unique(people.x)
        # For each lower neighbour a, the upper ones b >= a with low <= (1 - part) a + part b <= high are consecutive.
        off = _rounding(values)
        ends = [(side - (1 - part) * values) / part for side in (self.low - off, self.high + off)]
        start = np.maximum(np.searchsorted(values, ends[0], "left"), np.arange(len(values)))
        stop = np.searchsorted(values, ends[1], "right")
        number = np.maximum(stop - start, 0)
        if not number.any():
            raise self._unattainable(values)
        return np.column_stack([np.repeat(values, number), values[ranges(start, number)]])

    def _contains(self, x: np.ndarray) -> np.ndarray:
        """Mark the numbers in [low, high]."""
        off = _rounding(x)
        return (x >= self.low - off) & (x <= self.high + off)

    def _of_any_number(self, x: np.ndarray) -> list[Sum]:
        """Return its implications for an unknown number n of people: with q = s/t, in integers t # and s n."""
        q, unit = self.q, Fraction(1, self.q.denominator)
        at_least, at_most = {
            "inverted_cdf": (Fraction(0), -unit if q else Fraction(0)),
            "averaged_inverted_cdf": (Fraction(0), Fraction(0)),
            "lower": (unit - q, -q),
            "higher": (1 - q, 1 - q - unit),
        }.get(self.method, (unit - q, 1 - q - unit))
        counts = [_count(x, "<=", self.high, at_least, math.inf, q), _count(x, "<", self.low, -math.inf, at_most, q)]
        if q or at_least < 1:
            counts.append(_count(x, "<=", self.high, 1, math.inf))  # the group has people
        return counts

    def _unattainable(self, x: np.ndarray) -> StatementError:
        return StatementError(
            f"{self.label}: this is impossible for the described people, whose values are {x.min():.12g} to "
            f"{x.max():.12g}; {self.remedy}"
        )

    def _rows(self, counts: list[Sum], people: Subjects, space: Space, label: str) -> Rows:
        """Convert counts to rows, without those that are always true."""
        is_exact = people.n is not None or self.q == 0
        rows = rows_of_sums(counts, people.terms, space, label, exact=is_exact)
        least, most = np.array([(total.weights.min(), total.weights.max()) for total in counts]).T
        # Conditions such as 0 <= #(x < least) <= i - 1 are always true.
        always = (least == 0) & (most == 0) & (rows.low <= 0) & (rows.high >= 0)
        if people.n is not None:
            always |= (least == most) & (least * people.n >= rows.low) & (least * people.n <= rows.high)
        return rows.at(np.flatnonzero(~always))


def _between(x: np.ndarray, place: int, low: float, high: float) -> list[Sum]:
    """Require that the number at a position in order, from 1, is between low and high."""
    return [_count(x, "<=", high, place, math.inf), _count(x, "<", low, -math.inf, place - 1)]


def _count(
    x: np.ndarray, relation: str, value: float, low: Fraction | float, high: Fraction | float, share: Fraction | int = 0
) -> Sum:
    """Bound a count: low <= #(x <= value, or x < value) - share n <= high, people."""
    off = _rounding(x)
    is_counted = x <= value + off if relation == "<=" else x < value - off
    what = f"{relation} {value:.12g}"
    if share:
        what = f"share of numbers {what}"
    else:  # two neighbours have conditions on the same count
        side, n = ("at least", low) if math.isfinite(low) else ("at most", high)
        what = f"{side} {pluralize(int(n), 'number')} {what}"
    return Sum(what, is_counted - float(share), float(low), float(high))


def _rounding(x: np.ndarray) -> float:
    """Return the rounding error of a statistic computed from numbers."""
    return ROUNDING * float(np.abs(x).max(initial=0.0))


# Differences between published and computed numbers.

#: The largest mean and standard deviation, whose squares are doubles.
LARGEST_MOMENT = 1e150
#: The error of a statistic published in double precision, relative to the largest number in its computation. A sum of n
#: numbers is off by at most n unit roundoffs of 1.1e-16 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
#: ed., section 4.2), so this suffices for some millions.
COMPUTED = 1e-9


def half_unit(value: float, decimals: object, what: str) -> float:
    """Return half a unit of the last decimal of a rounded number; 0 if it is not rounded."""
    if decimals is None:
        return 0.0
    places = check_int(decimals, "decimals", -15, 15)
    if abs(round(value, places) - value) > 1e-9 * 10.0**-places + 1e-12 * abs(value):
        raise BadProbability(f"{what} must have at most {places} decimals, not {value:.12g}")
    return 0.5 * 10.0**-places


# Published correlations of a quasi-identifier and a sensitive number.


def _check_enough(source: PublishedCorrelation | PublishedMoments, n: int) -> None:
    """Check that the published standard deviation of n people is defined."""
    if n <= source.ddof:
        raise StatementError(f"{source.label}: {n} people have no standard deviation with ddof={source.ddof}")


class PublishedCorrelation(Source):
    """``E[(x - E x) y] = r sd(x) sd(y)``: Pearson's correlation r of a known number x and a sensitive number y.

    Parameters
    ----------
    r : float
        From -1 to 1.
    of : (str, dict or str)
        x and y. x is a numeric quasi-identifier, an indicator "sex=F", or a product of these; y is the number of each
        sensitive value, ``{"low": 1}``, and 0 for all others, or the name of a numeric sensitive attribute.
    sd : float, optional
        The standard deviation of y, without which a correlation is not linear. By default, it is computed from the
        published numbers of people with each value.
    ddof : int
        The divisor of the sum of squares in `sd` is n - ddof: 1 as in pandas and R, 0 as in NumPy. It does not affect
        the correlation.
    given : dict, optional
        The group, by quasi-identifiers, as in :func:`P`. None means everybody.
    decimals, sd_decimals : int, optional
        The number of decimals to which `r` and `sd` are rounded. None means double precision.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid; when added to a model, if the standard deviation is unknown, x is constant, or the
        members of the release are unknown.
    UnknownName, TableError
        When added to a model, if it does not have the attribute or value, or values are not numbers.

    Notes
    -----
    E x and sd(x) are known from the quasi-identifiers. The mean of y is not needed: E[(x - E x) y] is the covariance.
    If x and y are integers, n^2 times it is an integer, to which the interval is rounded inwards. Prices and
    contradictions are stated for n^2 times the covariance, not for `r`.
    If y is 0 or 1 with a published mean m, sd is sqrt(m (1 - m)) with ddof=0.

    Examples
    --------
    Two of four people are ill, and the correlation with age is 4 / sqrt(20) = 0.894, the largest possible:

    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [20, 40, 60, 80]})
    >>> view = mx.QITable(people, qi="age", sa="ill", sa_distribution=pd.Series({"no": 2, "yes": 2}))
    >>> correlation = mx.PublishedCorrelation(0.894, ("age", {"yes": 1}), decimals=3)
    >>> mx.MaxEnt(view).add(correlation).solve().conditional()["yes"].round(3).to_list()
    [0.0, 0.0, 1.0, 1.0]
    """

    _can_be_recomputed = False

    def __init__(
        self,
        r: float,
        of: tuple[str, Mapping[Any, float] | pd.Series | str],
        *,
        sd: float | None = None,
        ddof: int = 1,
        given: Mapping[str, object] | None = None,
        decimals: int | None = None,
        sd_decimals: int | None = None,
    ) -> None:
        self.r = check_float(r, "r", -1.0, 1.0)
        if not isinstance(of, tuple | list) or len(of) != 2:
            raise StatementError(f"of must be a pair such as ('age', {{'low': 1}}), not {short_repr(of)}")
        self.x = check_str(of[0], "the first of the pair")
        self.y = of[1] if isinstance(of[1], str) else read_numbers(of[1], "the second of the pair")
        self.sd = None if sd is None else check_float(sd, "sd", 0.0)
        self.ddof, self.given = check_int(ddof, "ddof", 0), read_given(given)
        if sd is None and sd_decimals is not None:
            raise StatementError("sd_decimals can only be given with sd; omit it")
        self.half = half_unit(self.r, decimals, "r"), half_unit(self.sd or 0.0, sd_decimals, "sd")

    @property
    def label(self) -> str:
        """The two numbers, the group and the correlation."""
        return f"correlation of {self.x} and {written_numbers(self.y)}{given_text(self.given)}: {self.r:.12g}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row, n^2 times the covariance, which is an integer if x and y are integers."""
        view = space.view
        known_members(view, "a correlation")
        people = view.n_q * space.described(self.given)
        n = int(people.sum())
        values_of_x, y = design_matrix(view, [self.x])[:, 0], responses(view, self.y)
        if np.ptp(values_of_x[people > 0]) == 0:
            raise StatementError(f"{self.label} is undefined, as {self.x!r} is the same for everybody")
        x = np.where(people > 0, values_of_x - people @ values_of_x / n, 0.0)
        sd_x, (low, high) = float(np.sqrt(people @ x**2 / n)), self._deviations(space, y, n)
        ends = [max(self.r - self.half[0], -1.0), min(self.r + self.half[0], 1.0)]
        products = [r * sd for r in ends for sd in (low, high)]
        off = COMPUTED * (people @ np.abs(x) / n) * np.abs(y).max(initial=0.0)
        # n^2 times the covariance is the sum of (n x - sum x) y, an integer if x and y are integers.
        weights = n * values_of_x[space.codes["q"]] - float(people @ values_of_x)
        data = np.where(people[space.codes["q"]] > 0, weights, 0.0) * y[space.codes["s"]]
        ends = [(side * sd_x) * n**2 for side in (min(products), max(products))]
        data, least, most, places = whole_sums(data, ends[0] - off * n**2, ends[1] + off * n**2)
        covariance = Sum("n^2 times the covariance", data, least, most)
        yield rows_of_sums([covariance], np.arange(len(space)), space, self.label, exact=places is not None)

    def _deviations(self, space: Space, y: np.ndarray, n: int) -> tuple[float, float]:
        """Return bounds on the standard deviation of y, with ddof=0."""
        view = space.view
        if self.sd is not None:
            _check_enough(self, n)
            by = np.sqrt((n - self.ddof) / n)
            return by * max(self.sd - self.half[1], 0.0), by * (self.sd + self.half[1])
        if view.n_s is None or n != view.n_records:
            raise StatementError(
                f"{self.label}: a correlation is only linear if the standard deviation of the sensitive number is "
                "known; pass sd=... (if the number is 0 or 1 with mean m, it is the root of m (1 - m))"
            )
        mean = view.n_s @ y / n
        return (float(np.sqrt(view.n_s @ (y - mean) ** 2 / n)),) * 2


# Published means and standard deviations of a sensitive number, or of a quasi-identifier in a class.


class PublishedMoments(Source):
    """``E[x] = m`` and ``E[(x - m)^2] = (n - ddof) / n sd^2``: a published mean m and standard deviation sd.

    Parameters
    ----------
    mean : float
        The mean, in the unit of the numbers.
    sd : float, optional
        The standard deviation, in the same unit.
    of : str, optional
        The attribute x: a sensitive attribute, or a quasi-identifier if `given` contains a sensitive value, such as
        "age" given {"Disease": "Flu"}. By default, the only sensitive attribute.
    given : dict, optional
        The group, as in :func:`P`; conditions may include sensitive attributes.
    values : dict or Series, optional
        The number of each value; by default, the values themselves.
    ddof : int
        The divisor of the sum of squares is n - ddof: 1 as in pandas, R and spreadsheets' STDEV, 0 as in NumPy.
    decimals : int or (int, int), optional
        The number of decimals to which both, or the mean and the standard deviation, are rounded. None means double
        precision.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid; when added to a model, if the group is empty, or too small for `ddof`.
    UnknownName, TableError
        When added to a model, if it does not have the attribute or value, or values are not numbers.

    Notes
    -----
    A standard deviation is linear because the mean is published: E[(x - m)^2] is the variance plus the square of the
    rounding error of m, which is at most half a unit of its last decimal. If the size of the group is unknown, such as
    for a class without a published count, rows are multiplied by it, E[(x - m) 1] = 0, which remains exact.
    Bounds on sums of integers, or of numbers with few decimals, are rounded inwards to such numbers. Prices and
    contradictions are stated for the sums, not for the mean and the standard deviation.

    Examples
    --------
    According to "Table 1" of a paper, patients with the disease were 70.0 (14.1) years old. Their number is not
    published; among these four people, they must be the two oldest:

    >>> import maxent_cvx as mx, pandas as pd
    >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 60, 80]}), qi="age", sa="ill", sa_values=["no", "yes"])
    >>> moments = mx.PublishedMoments(70.0, 14.1, of="age", given={"ill": "yes"}, decimals=1)
    >>> mx.MaxEnt(view).add(moments).bounds(mx.P("yes", given={"age": 60}), integer=True)
    (1.0, 1.0)
    """

    _can_be_recomputed = False

    def __init__(
        self,
        mean: float,
        sd: float | None = None,
        *,
        of: str | None = None,
        given: Mapping[str, object] | None = None,
        values: Mapping[Any, float] | pd.Series | None = None,
        ddof: int = 1,
        decimals: int | tuple[int, int] | None = None,
    ) -> None:
        self.mean = check_float(mean, "the mean", -LARGEST_MOMENT, LARGEST_MOMENT)
        self.sd = None if sd is None else check_float(sd, "sd", 0.0, LARGEST_MOMENT)
        self.of, self.given = None if of is None else check_str(of, "of"), read_given(given)
        self.values, self.ddof = values, check_int(ddof, "ddof", 0)
        places = decimals if isinstance(decimals, tuple | list) else (decimals, decimals)
        if len(places) != 2:
            raise BadProbability(
                f"decimals must be an integer, or one for the mean and one for sd, got {short_repr(decimals)}"
            )
        self.half = half_unit(self.mean, places[0], "the mean"), half_unit(self.sd or 0.0, places[1], "sd")

    @property
    def label(self) -> str:
        """The statistics, their attribute, and the group."""
        kind = "mean" if self.sd is None else "mean and sd"
        numbers = f"{self.mean:.12g}" + ("" if self.sd is None else f" ({self.sd:.12g})")
        return f"{kind}{f' of {format_value(self.of)}' if self.of else ''}{given_text(self.given)}: {numbers}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the rows of the mean and the standard deviation."""
        people = subjects(space, self.of, self.given, self.values)
        if people.n is None:
            yield self._of_unknown_number(people, space)
            return
        if self.sd is not None:
            _check_enough(self, people.n)
        yield rows_of_sums(self._sums(people, people.n), people.terms, space, self.label)

    def _sums(self, people: Subjects, n: int) -> list[Sum]:
        """Return the sum and the sum of squares for a known number of people; integers if the summands are."""
        x, (h, _) = people.x, self._halves(people)
        w, least, most, places = whole_sums(x, n * (self.mean - h), n * (self.mean + h))
        sums = [Sum("sum", w, least, most)]
        if self.sd is None:
            return sums
        low, high = ((n - self.ddof) * variance for variance in self._variances(people))
        if places is not None and least == most and not self._are_equal(people):
            unit = 100.0**places
            squares = whole_sums(w**2, low * unit + least**2 / n, high * unit + least**2 / n)
            if squares[3] == 0:
                return [*sums, Sum("sum of squares", *squares[:3])]
        square = self._squares(people, n)
        return [*sums, Sum("sum of squares about the mean", square, low, high + n * h**2 if high else 0.0)]

    def _of_unknown_number(self, people: Subjects, space: Space) -> Rows:
        """Return rows for an unknown n: sum (x - m) = 0 and sum ((x - m)^2 - sd^2) = -ddof sd^2."""
        x, (h, _) = people.x, self._halves(people)
        sums = [Sum("people", np.ones(len(x)), 1.0 + self.ddof * (self.sd is not None), np.inf)]
        if exact := self._whole_differences(people, space.n_records):
            return rows_of_sums([*sums, *exact], people.terms, space, self.label)
        sums += [
            Sum("mean, low", x - (self.mean - h), 0.0, np.inf),
            Sum("mean, high", x - (self.mean + h), -np.inf, 0.0),
        ]
        if self.sd is not None:
            square, (least, most) = self._squares(people, space.n_records), self._variances(people)
            sums += [
                Sum("sd, low", square - least, -self.ddof * least, np.inf),
                Sum("sd, high", square - most - (h**2 if most else 0.0), -np.inf, -self.ddof * most),
            ]
        return rows_of_sums(sums, people.terms, space, self.label)

    def _whole_differences(self, people: Subjects, n: int) -> list[Sum]:
        """Return the sums in integers if the mean, and then the variance, is close to only one possible fraction."""
        # The mean of at most n integers is a fraction with a denominator up to n; two such fractions are 1 / n^2 apart.
        w, _, _, places = whole_sums(people.x, -np.inf, np.inf)
        if places is None or self.half != (0.0, 0.0):
            return []
        unit, (h, off) = 10.0**places, self._halves(people)
        mean = nearest_fraction(self.mean * unit, h * unit, n)
        if mean is None:
            return []
        difference = mean.denominator * w - mean.numerator
        sums = [Sum("mean", difference, 0.0, 0.0)]
        if self.sd is None:
            return sums
        by = (mean.denominator * unit) ** 2
        variance = nearest_fraction(self.sd**2 * by, (2 * self.sd * off + off**2) * by, n)
        if variance is None:
            return []
        c, d = variance.numerator, variance.denominator
        return [*sums, Sum("sd", d * difference**2 - c, float(-self.ddof * c), float(-self.ddof * c))]

    def _halves(self, people: Subjects) -> tuple[float, float]:
        """Return the largest errors of the mean and the standard deviation."""
        size = float(np.abs(people.x).max()), float(np.abs(people.x - self.mean).max())
        return max(self.half[0], COMPUTED * size[0]), max(self.half[1], COMPUTED * max(size))

    def _variances(self, people: Subjects) -> tuple[float, float]:
        """Return bounds on the square of the standard deviation; exactly 0 for equal numbers."""
        assert self.sd is not None
        off = self._halves(people)[1]
        return max(self.sd - off, 0.0) ** 2, 0.0 if self._are_equal(people) else (self.sd + off) ** 2

    def _are_equal(self, people: Subjects) -> bool:
        """Return whether the standard deviation is 0 up to roundoff, and not rounded to 0."""
        return self.half[1] == 0 and self.sd is not None and self.sd <= self._halves(people)[1]

    def _squares(self, people: Subjects, n: int) -> np.ndarray:
        """Return (x - m)^2; 0 for equal numbers near m, from which n numbers differ by at most sqrt(n) roundoffs."""
        off = np.abs(people.x - self.mean)
        nearest = 2 * np.sqrt(n) * self._halves(people)[1] if self._are_equal(people) else 0.0
        return np.where(off <= nearest, 0.0, off) ** 2


def nearest_fraction(value: float, off: float, n: int) -> Fraction | None:
    """Return the fraction with a denominator up to n within `off` of a value; None if it is not unique."""
    fraction = Fraction(value).limit_denominator(n)
    near = abs(fraction - Fraction(value)) <= Fraction(off)
    return fraction if near and 2 * off < 1 / n**2 and abs(value) * n < LARGEST else None


# Published quantiles of a sensitive number, or of a quasi-identifier in a class.

NAMES = {Fraction(0): "min", Fraction(1, 2): "median", Fraction(1): "max"}
#: The largest denominator of a fraction that a float may stand for: 0.333... is a third.
DENOMINATORS = 1000


class PublishedQuantile(Source):
    """``#(x <= v) >= i`` and ``#(x < v) <= i - 1``: the i-th smallest number x of the n people in a group is v.

    Parameters
    ----------
    value : float or list of float
        The published quantile v, in the unit of the numbers; or several, in the order of `q`.
    q : float or Fraction, or list of these
        The level, from 0 (minimum) to 1 (maximum); 1/2 is the median.
    given : dict, optional
        The group, as in :func:`P`; conditions may include sensitive attributes, ``{"Disease": "Flu"}``.
    of : str, optional
        The attribute x: a sensitive attribute, or a quasi-identifier if `given` contains a sensitive value. By default,
        the only sensitive attribute.
    values : dict or Series, optional
        The number of each value; by default, the values themselves.
    method : {"linear", "lower", "higher", "midpoint", "inverted_cdf", "averaged_inverted_cdf"}
        The method of :func:`numpy.quantile` for the quantile: "linear" is the default of NumPy, pandas, R and
        spreadsheets (the median of an even number of people is the mean of the middle two); "lower" is the lower of the
        two neighbours; "inverted_cdf" is the smallest number whose cumulative share is at least q
        (PERCENTILE_DISC in SQL); "averaged_inverted_cdf" is the default of SAS.
    decimals : int, optional
        The number of decimals to which the quantile is rounded; None means not rounded.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid; when added to a model, if the quantile is impossible.
    UnknownName, TableError
        When added to a model, if it does not have the attribute or value, or values are not numbers.

    Notes
    -----
    Two linear rows are equivalent to a quantile that is one of the numbers: the minimum, the maximum, the lower median,
    or the median of an odd number of people. A quantile between two neighbours is a disjunction over all pairs of
    values with v between them. Its rows are a relaxation, the conditions common to all pairs; ``model.bounds(...,
    integer=True)`` tries the pairs, which is exact if the number of people is known.

    If the size n of the group is unknown, the rows are multiplied by n, and exact for integer numbers of people; for
    two neighbours, they only require that one is at most v and the other at least v.

    Examples
    --------
    Three people earn 20, 30 or 40 each, and their median is 30: so at most one earns 20, and at most one earns 40.

    >>> import maxent_cvx as mx, pandas as pd
    >>> view = mx.QITable(pd.DataFrame({"age": [25, 41, 47]}), qi="age", sa="income", sa_values=[20, 30, 40])
    >>> model = mx.MaxEnt(view).add(mx.PublishedQuantile(30))
    >>> model.solve().conditional().iloc[0].round(3).to_list()
    [0.333, 0.333, 0.333]
    >>> model.bounds(mx.P(20), integer=True)
    (0.0, 0.3333333333333333)
    >>> mx.PublishedQuantile([20, 30, 40], q=[0, 0.5, 1], of="income").label
    'min, median and max of income are 20, 30 and 40'
    """

    _can_be_recomputed = False

    def __init__(
        self,
        value: float | Sequence[float],
        q: float | Fraction | Sequence[float | Fraction] = 0.5,
        *,
        given: Mapping[str, object] | None = None,
        of: str | None = None,
        values: Mapping[Any, float] | pd.Series | None = None,
        method: str = "linear",
        decimals: int | None = None,
    ) -> None:
        values_of_q = check_list(value, "value", "quantiles") if is_several(value) else [value]
        shares = check_list(q, "q", "shares of the people") if is_several(q) else [q]
        self._values = [check_number(number, "the quantile") for number in values_of_q]
        self._q = [as_fraction(number) for number in shares]
        self.value, self.q = (
            several if is_several(given) else several[0] for given, several in ((value, self._values), (q, self._q))
        )
        if len(self._values) != len(self._q) or not self._values:
            raise StatementError(f"value and q must have the same length, not {len(self._values)} and {len(self._q)}")
        if [v for _, v in sorted(zip(self._q, self._values, strict=True))] != sorted(self._values):
            raise BadProbability("quantiles must not decrease as q increases; check the order of value and q")
        self.given, self.of = read_given(given), None if of is None else check_str(of, "of")
        self.values, self.method = values, check_in(method, "method", METHODS)
        for number in self._values:
            half_unit(number, decimals, "the quantile")
        self.decimals = decimals

    @property
    def label(self) -> str:
        """The quantiles, their attribute, and the group."""
        kinds = [NAMES.get(q, f"{float(q):g}-quantile") for q in self._q]
        of = f" of {format_value(self.of)}" if self.of else ""
        verb = "is" if len(kinds) == 1 else "are"
        numbers = [f"{value:.12g}" for value in self._values]
        return f"{_listed(kinds)}{of}{given_text(self.given)} {verb} {_listed(numbers)}"

    @property
    def identity(self) -> Hashable:
        """The arguments if the values are numbers themselves; otherwise, every source is different."""
        if self.values is not None:
            return id(self)
        fields = tuple(self._values), tuple(self._q), frozenset(self.given.items()), self.of, self.method, self.decimals
        return PublishedQuantile, *fields

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the linear conditions, which count the people below and above."""
        people = subjects(space, self.of, self.given, self.values)
        for quantile in self._quantiles():
            yield quantile.rows(people, space)

    def alternatives(self, space: Space) -> list[list[Rows]]:
        """Return the cases of the disjunction, one of which is true; each is linear.

        Parameters
        ----------
        space : Space
            The terms of the model.

        Returns
        -------
        list of list of Rows
            One list per pair of neighbours with the value between them; for several quantiles, one per combination of
            such pairs.

        Raises
        ------
        UnknownName, TableError, StatementError
            As in :meth:`rows`.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [25, 41]}), qi="age", sa="income", sa_values=[20, 30, 40])
        >>> [rows.label for (rows,) in mx.PublishedQuantile(30).alternatives(mx.MaxEnt(view).space)]
        ['median is 30, between 20 and 40', 'median is 30, between 30 and 30']
        """
        people = subjects(space, self.of, self.given, self.values)
        choices = [quantile.alternatives(people, space) for quantile in self._quantiles()]
        return [list(rows) for rows in itertools.product(*choices)]

    def _quantiles(self) -> Iterator[Quantile]:
        """Yield each quantile, with the interval of its value and its label."""
        of = f" of {format_value(self.of)}" if self.of else ""
        for value, q in zip(self._values, self._q, strict=True):
            half = half_unit(value, self.decimals, "the quantile")
            label = f"{NAMES.get(q, f'{float(q):g}-quantile')}{of}{given_text(self.given)} is {value:.12g}"
            yield Quantile(q, self.method, value - half, value + half, label)


def _listed(texts: Sequence[str]) -> str:
    """Join texts as in a sentence: "a, b and c"."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def as_fraction(q: object) -> Fraction:
    """Convert a share of the people, from 0 to 1, to the rational number that it represents."""
    if isinstance(q, Fraction):
        fraction = q
    else:
        typed = check_float(q, "q", 0.0, 1.0)
        fraction = Fraction(typed).limit_denominator(DENOMINATORS)
        fraction = fraction if float(fraction) == typed else Fraction(np.format_float_positional(typed))
    if not 0 <= fraction <= 1:
        raise BadProbability(f"q must be a number from 0 to 1, got {q}")
    if fraction.denominator > 10**6:
        raise StatementError(f"q must be a share with at most six decimals, or a Fraction, got {q}")
    return fraction
