"""Confidential attribute equivocation (CAE): the entropy of a confidential value, exactly or to within a window."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import xlogy

from .._utils.errors import BadProbability, GroupTooLarge, TableError, short_repr
from .._utils.formatting import ReprMixin
from .._utils.tables import as_list, as_numbers, numbers_of
from .._utils.validation import check_instance, check_int, check_number
from ..model.posterior import Posterior
from .disclosure import NEGLIGIBLE, of_those_inside
from .events import COARSE, ROUNDING

#: Widths in one batch, the fewest for which a batch is faster than single widths, runs evaluated at once for a batch,
#: and numbers in a table of least entropies. These sizes fit into the caches.
TOGETHER, FEWEST, AT_ONCE, TABLE = 64, 16, 2**17, 2**22
#: Replaces 0 in logarithms whose product with 0 must be 0.
TINY = 1e-300


def least_entropy(units: np.ndarray, p: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Compute H(eps), the least -sum q log2 q over partitions into runs, of probabilities q, no wider than eps."""
    entropies = np.empty((len(p), len(widths)))
    most = int((np.arange(len(units)) - np.searchsorted(units, units - widths[-1:].max(initial=0))).max()) + 1
    together = min(AT_ONCE // most, TOGETHER) if most * FEWEST <= AT_ONCE else 1
    for first in range(0, len(widths), together):
        at_widths = slice(first, min(first + together, len(widths)))
        at_once = max(min(TABLE // len(units), AT_ONCE // most) // (at_widths.stop - first), 1)
        for start in range(0, len(p), at_once):
            rows = slice(start, start + at_once)
            entropies[rows, at_widths] = _together(units, p[rows], widths[at_widths])
    return entropies


def _together(units: np.ndarray, p: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Compute H of several distributions at several widths together."""
    n = len(units)
    begins = np.searchsorted(units, units - widths[:, None])  # the first value in a window that ends at value i
    widest, narrowest = begins[-1].tolist(), begins[0].tolist()
    cumulated = np.concatenate([np.zeros((1, len(p))), p.T.cumsum(axis=0)])
    least = np.zeros((n + 1, len(p), len(widths)))  # least entropies of the first i values
    places = np.arange(n)[:, None]
    for i in range(n):
        wide, narrow = widest[i], narrowest[i]
        last = information(cumulated[i + 1] - cumulated[wide : i + 1])[:, :, None]
        best = (least[narrow : i + 1] + last[narrow - wide :]).min(axis=0)
        if wide < narrow:  # runs that fit into the wider windows only
            outside = (places[wide:narrow] < begins[:, i])[:, None, :]
            reached = least[wide:narrow] + last[: narrow - wide]
            np.copyto(reached, np.inf, where=outside)
            np.minimum(best, reached.min(axis=0), out=best)
        least[i + 1] = best
    return least[n]


def information(q: np.ndarray) -> np.ndarray:
    """Compute -q log2 q, in bits; 0 for q = 0."""
    return -q * np.log2(np.maximum(q, TINY))


def cover(units: np.ndarray, p: np.ndarray, width: int) -> np.ndarray:
    """Return the first value of every run of a partition with the least entropy, in increasing order."""
    begins = np.searchsorted(units, units - width)
    cumulated = np.concatenate([[0.0], p.cumsum()])
    least = np.zeros(len(units) + 1)
    chosen = np.empty(len(units), dtype=np.int64)
    for i, begin in enumerate(begins.tolist()):
        entropy = least[begin : i + 1] + information(cumulated[i + 1] - cumulated[begin : i + 1])
        best = int(entropy.argmin())
        chosen[i], least[i + 1] = begin + best, entropy[best]
    starts = [int(chosen[-1])]
    while starts[-1]:
        starts.append(int(chosen[starts[-1] - 1]))
    return np.array(starts[::-1])


def cost(units: np.ndarray, width: int) -> int:
    """Return the number of runs evaluated for one width, to which the time is proportional."""
    return int((np.arange(1, len(units) + 1) - np.searchsorted(units, units - width)).sum())


# The breakpoints of a non-increasing step function, from all candidates or by bisection.


#: Bits: entropies that differ by less are equal up to rounding.
SAME = 1e-11
#: Largest numbers of runs evaluated for a curve by bisection, and for an exact curve, which takes less time per run;
#: either takes a minute or two.
BREAKPOINTS_MOST_RUNS, MOST_EXACT = 3 * 10**10, 8 * 10**10


@dataclass(frozen=True, eq=False)
class Steps:
    """Points of the curve H(eps); `is_open` marks the intervals between them in which H is undetermined."""

    width: np.ndarray
    entropy: np.ndarray
    is_open: np.ndarray


def stepwise(width: np.ndarray, entropy: np.ndarray) -> Steps:
    """Return a curve without undetermined intervals."""
    return Steps(width, entropy, np.zeros(len(width) - 1, dtype=bool))


def differences(units: np.ndarray, most: int) -> np.ndarray | None:
    """Return the distinct differences of two values, increasing, with 0; None if more than `most` are positive."""
    if len(units) - 1 > most:  # the number of differences from the first value alone
        return None
    distances = np.zeros(1, dtype=np.int64)
    at_once = max(2**20 // len(units), 1)
    for i in range(0, len(units), at_once):
        apart = units[None, i:] - units[i : i + at_once, None]
        distances = np.union1d(distances, apart[apart > 0])
        if len(distances) > most + 1:
            return None
    return distances


def refined(units: np.ndarray, entropy: Callable[[np.ndarray], np.ndarray], evaluations: int) -> Steps:
    """Evaluate H at all possible changes or, if these are too many, bisect where most of the area is undetermined."""
    span = int(units[-1] - units[0])
    changes = differences(units, evaluations)
    if changes is not None and len(changes) * cost(units, span) <= MOST_EXACT:
        return _changes(stepwise(changes, entropy(changes)))
    if min(TOGETHER, evaluations) * cost(units, span // 2) > BREAKPOINTS_MOST_RUNS:
        raise GroupTooLarge(
            f"the exact curve of {len(units)} distinct values takes too long; use .at(eps), or round the values"
        )
    width = np.array([0, span], dtype=np.int64)
    entropies, evaluations_left, runs = entropy(width), evaluations - 2, BREAKPOINTS_MOST_RUNS
    while evaluations_left > 0:
        gap, drop = np.diff(width), -np.diff(entropies)
        open_ = np.flatnonzero((gap > 1) & (drop > SAME))
        worst = open_[np.argsort(-(gap * drop)[open_], kind="stable")][: min(TOGETHER, evaluations_left)]
        middle = np.sort(width[worst] + gap[worst] // 2)
        runs -= sum(cost(units, int(number)) for number in middle)
        if not len(worst) or runs < 0:
            break
        width, at = np.unique(np.concatenate([width, middle]), return_index=True)
        entropies = np.concatenate([entropies, entropy(middle)])[at]
        evaluations_left -= len(middle)
    return _changes(Steps(width, entropies, (np.diff(width) > 1) & (-np.diff(entropies) > SAME)))


def _changes(steps: Steps) -> Steps:
    """Drop the widths at which H does not change, except the ends of undetermined intervals."""
    ends = np.append(steps.is_open, True) | np.insert(steps.is_open, 0, True)
    is_change = ends | np.insert(-np.diff(steps.entropy) > SAME, 0, True)
    at = np.flatnonzero(is_change)
    return Steps(steps.width[at], steps.entropy[at], steps.is_open[at[1:] - 1])


# Equivocation of distributions with few possible values, which differ between distributions.


#: Numbers in a table that fits into the caches.
OWN_VALUES_TABLE = 2**21


def own_curves(units: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact curves of distributions with k possible values each, which differ between distributions."""
    k = p.shape[1]
    late, early = np.tril_indices(k, -1)
    widths = np.sort(np.c_[np.zeros(len(p), dtype=np.int64), units[:, late] - units[:, early]], axis=1)
    entropy = np.empty(widths.shape)
    at_once = max(OWN_VALUES_TABLE // (widths.shape[1] * (k + 1)), 1)
    for start in range(0, len(p), at_once):
        rows = slice(start, start + at_once)
        entropy[rows] = _least(units[rows], p[rows], widths[rows])
    return widths, entropy


def _least(units: np.ndarray, p: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Compute H of every row at its own widths."""
    cumulated = np.c_[np.zeros(len(p)), p.cumsum(axis=1)]
    least = np.zeros((p.shape[1] + 1, *widths.shape))
    for i in range(p.shape[1]):
        least[i + 1] = np.inf
        for j in range(i, -1, -1):
            last = information(cumulated[:, i + 1] - cumulated[:, j])[:, None]
            fits = (units[:, i] - units[:, j])[:, None] <= widths
            np.minimum(least[i + 1], np.where(fits, least[j] + last, np.inf), out=least[i + 1])
    return least[-1]


# Numbers as integer multiples of a decimal unit, so that 0.8 - 0.5 <= 0.3 holds.


#: Significant decimal digits that every float preserves, and that a long integer may exceed.
DIGITS = sys.float_info.dig
#: Range of floats whose products with powers of ten, and whose differences, do not overflow or underflow.
SMALLEST, LARGEST = 1e-285, 1e300
#: Integers below this are exact as floats.
EXACT = 2**53


def scaled(numbers: Any, digits: int) -> Any:
    """Multiply by 10^digits; positive powers of ten are exact as floats."""
    return numbers * 10.0**digits if digits > 0 else numbers / 10.0**-digits


@dataclass(frozen=True)
class Units:
    """The unit 10^-digits, of which all differences of values are integer multiples."""

    digits: int

    def of(self, width: float) -> int:
        """Convert a width to units; round it if the unit is a decimal fraction, since it comes from rounded numbers."""
        if isinstance(width, numbers.Integral) and self.digits == 0:
            return int(width)
        width = float(width)
        if self.digits == 0:
            return math.floor(float(f"{width:.{DIGITS}g}"))
        return round(scaled(width, self.digits))

    def window(self, eps: float, span: int) -> int:
        """Convert the width of a window to units, at most the span of the values."""
        # If eps is far beyond the span, its multiple of the unit may be too large for an integer.
        return span if eps > 2 * float(self.width(np.array([span]))[0]) else min(self.of(eps), span)

    def width(self, units: np.ndarray) -> np.ndarray:
        """Convert multiples of the unit to numbers, each the float nearest to the decimal."""
        return scaled(units, -self.digits)


def in_units(values: Iterable[object], what: str) -> tuple[np.ndarray, np.ndarray, Units]:
    """Return numbers as read, their differences from the least as integer multiples of a unit, and the unit."""
    numbers = as_numbers(values, what)
    if not len(numbers):
        raise TableError(f"{what} must contain at least one number")
    if numbers.dtype != float:
        least, most = int(numbers.min()), int(numbers.max())
        if most - least > np.iinfo(np.int64).max:
            raise TableError(f"{what} range from {least} to {most}, too far for exact differences; round the numbers")
        return numbers, (numbers - least).astype(np.int64), Units(0)
    if (numbers == np.rint(numbers)).all() and np.abs(numbers).max() <= EXACT:
        return numbers, (numbers - numbers.min()).astype(np.int64), Units(0)
    size = np.abs(numbers[numbers != 0])
    if size.min() < SMALLEST or size.max() > LARGEST:
        raise TableError(
            f"{what} contain {size.min():g} or {size.max():g}, but sizes must be from {SMALLEST:g} to {LARGEST:g}; use "
            "another unit"
        )
    digits = DIGITS - math.ceil(math.log10(size.max()))
    units = np.rint(scaled(numbers, digits)).astype(np.int64)
    return numbers, units - units.min(), Units(digits)


#: Largest number of runs evaluated for all distributions, which takes some minutes.
MOST_RUNS = 10**11
#: Largest number of distinct differences for which distributions are evaluated together.
MOST_DIFFERENCES = 20_000


def widths_asked(at: object) -> list[float]:
    """Read one or several values of eps."""
    return list({_name(eps): eps for eps in map(_checked, as_list(at))}.values())


def _checked(eps: Any) -> Any:
    """Check the width of a window."""
    if check_number(eps, "eps") < 0:
        raise BadProbability(f"eps, the width of a window, must not be negative, got {short_repr(eps)}")
    return eps


def _name(eps: float) -> str:
    """Return the column name of an eps."""
    return f"H({float(eps):.15g})"


def areas(units: np.ndarray, unit: Units, p: np.ndarray, at: Sequence[float]) -> pd.DataFrame:
    """Compute H(0), the exact area, eps_max, 1 / H(0), and H(eps) for the given eps, one row per distribution."""
    order = np.argsort(units, kind="stable")
    distinct, start = np.unique(units[order], return_index=True)
    p = np.add.reduceat(p[:, order], start, axis=1)  # several values may represent the same number
    distinct, p = distinct[p.any(axis=0)], p[:, p.any(axis=0)]
    support = (p > 0).sum(axis=1)
    changes = differences(distinct, MOST_DIFFERENCES)
    together = np.inf if changes is None else len(p) * len(changes) * cost(distinct, int(np.ptp(distinct)))
    separately = (support.astype(float) ** 4 / 4).sum()  # runs if each distribution has its own curve
    if (runs := min(together, separately)) > MOST_RUNS:
        raise GroupTooLarge(
            f"the equivocation of {len(p)} distributions of {len(distinct)} values requires {runs:.1e} runs, and "
            f"at most {MOST_RUNS:.0e} are allowed; round the values with values={{value: number}}"
        )
    of_eps = [unit.window(eps, int(np.ptp(distinct))) for eps in at]
    measured = np.empty((len(p), 3 + len(at)))
    if together <= separately:
        assert changes is not None
        entropy = least_entropy(distinct, p, changes)
        possible = p > 0
        reach = distinct[-1 - possible[:, ::-1].argmax(axis=1)] - distinct[possible.argmax(axis=1)]
        measured[:] = _measured(np.broadcast_to(changes, entropy.shape), entropy, reach, unit, of_eps)
    else:
        for k in np.unique(support):
            rows = np.flatnonzero(support == k)
            columns = np.nonzero(p[rows])[1].reshape(-1, k)
            values = distinct[columns]
            widths, entropy = own_curves(values, np.take_along_axis(p[rows], columns, axis=1))
            measured[rows] = _measured(widths, entropy, values[:, -1] - values[:, 0], unit, of_eps)
    table = pd.DataFrame(measured, columns=["initial", "area", "eps_max", *map(_name, at)])
    initial = table["initial"].to_numpy()
    table.insert(3, "disclosure_risk", np.divide(1.0, initial, out=np.full(len(p), np.inf), where=initial > 0))
    return table


def _measured(
    widths: np.ndarray, entropy: np.ndarray, reach: np.ndarray, unit: Units, of_eps: Sequence[int]
) -> np.ndarray:
    """Compute H(0), the area, eps_max, and H(eps) of curves whose changes are all known."""
    entropy = np.where(widths >= reach[:, None], 0.0, entropy)
    area = (entropy[:, :-1] * np.diff(unit.width(widths), axis=1)).sum(axis=1)
    last = [(widths <= eps).sum(axis=1, keepdims=True) - 1 for eps in of_eps]
    return np.column_stack(
        [entropy[:, 0], area, unit.width(reach), *(np.take_along_axis(entropy, at, axis=1)[:, 0] for at in last)]
    )


#: Default of the largest number of widths at which the entropy of a curve is evaluated.
EVALUATIONS = 5_000
#: Largest number of runs evaluated for one answer, which takes a minute or two.
EQUIVOCATION_MOST_RUNS = 4 * 10**10
#: Largest number of points of a grid.
MOST_STEPS = 10**6


@dataclass(frozen=True, eq=False)
class Equivocation(ReprMixin):
    """H(eps), the entropy in bits of a number that need only be known to within a window of width eps.

    Attributes
    ----------
    distribution : Series
        The probability of every possible value, by value in increasing order.
    step : float or None
        The step of the grid on which the curve is evaluated; None for the exact curve.
    evaluations : int
        Largest number of widths at which the entropy is evaluated.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> cae = mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25])         # thousand a year
    >>> cae
    <Equivocation: 3 values, H(0) = 1.5 bits, 0 from eps = 30>
    >>> cae.distribution.to_dict()
    {77: 0.5, 80: 0.25, 107: 0.25}
    >>> cae.initial, round(cae.disclosure_risk, 3), cae.eps_max, round(cae.area, 3), cae.exact
    (1.5, 0.667, 30.0, 26.405, True)
    """

    distribution: pd.Series
    step: float | None
    evaluations: int
    _units: np.ndarray
    _unit: Units

    @cached_property
    def initial(self) -> float:
        """H(0) = -sum p log2 p, the entropy of the value itself, in bits."""
        p = self.distribution.to_numpy()
        return float(-xlogy(p, p).sum() / math.log(2)) if len(p) > 1 else 0.0

    @property
    def disclosure_risk(self) -> float:
        """DR = 1 / H(0), per bit; infinite if the value is certain (Eq. (1), after Oganian and Domingo-Ferrer)."""
        return 1 / self.initial if self.initial > 0 else math.inf

    @cached_property
    def eps_max(self) -> float:
        """The least eps for which H(eps) = 0: the distance of the largest and the smallest possible value."""
        return float(self._unit.width(np.array([self._span]))[0])

    @property
    def curve(self) -> pd.DataFrame:
        """The changes of H, or its values on the grid: `epsilon`, and `entropy` in bits from there to the next row.

        H is a non-increasing, right-continuous step function, which can change only if eps is the difference of two
        values. If not :attr:`exact`, the rows are the evaluated eps, and H may be smaller between them.

        Returns
        -------
        DataFrame
            One row per change or point of the grid: `epsilon`, in the unit of the values, from 0 on, and `entropy`.

        Raises
        ------
        GroupTooLarge
            If the computation takes too long.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> cae = mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25])         # thousand a year
        >>> print(cae.curve.round(3).to_string(index=False))
         epsilon  entropy
             0.0    1.500
             3.0    0.811
            30.0    0.000
        """
        return pd.DataFrame({"epsilon": self._steps.width, "entropy": self._steps.entropy})

    @property
    def area(self) -> float:
        """The integral of H from 0 to eps_max, in bits x the unit of the values.

        With a step, this is the sum of step * H over the grid, as in the paper. Otherwise, if the curve is not
        :attr:`exact`, it is the middle of :attr:`area_bounds`.

        Returns
        -------
        float
            The area, in bits x the unit of the values.

        Raises
        ------
        GroupTooLarge
            If the curve takes too long.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> cae = mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25])         # thousand a year
        >>> round(cae.area, 3)                 # 3 * 1.5 + 27 * 0.811
        26.405
        >>> round(mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25], step=10).area, 3)
        31.226
        """
        return self.area_bounds[1] if self.step is not None else sum(self.area_bounds) / 2

    @cached_property
    def area_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the exact area, which are equal if it is known."""
        if self.step is not None:
            area = self.step * float(self._steps.entropy.sum())
            return max(area - self.step * self.initial, 0.0), area
        width, entropy, open_ = np.diff(self._steps.width), self._steps.entropy, self._steps.is_open
        return float(width @ np.where(open_, entropy[1:], entropy[:-1])), float(width @ entropy[:-1])

    @property
    def exact(self) -> bool:
        """Whether all changes of H are known, and no step is used.

        This is the case if there are at most `evaluations` distinct differences and their evaluation is feasible:
        5,000 differences of 5,000 values take a minute, 10,000 of 10,000 are too many.
        """
        return self.step is None and not self._steps.is_open.any()

    def at(self, eps: float | Iterable[float]) -> float | np.ndarray:
        """Compute H(eps), in bits; an array for several eps.

        Parameters
        ----------
        eps : float or several
            Widths of the window, in the unit of the values.

        Returns
        -------
        float or ndarray
            H(eps), in bits: a float for one eps, an array for several.

        Raises
        ------
        BadProbability
            If an eps is negative, or not a finite number.
        GroupTooLarge
            If the computation takes too long.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> cae = mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25])         # thousand a year
        >>> cae.at([0, 2.9, 3, 30]).round(3)
        array([1.5  , 1.5  , 0.811, 0.   ])
        """
        listed = as_list(eps)
        widths, at = np.unique([self._width(width) for width in listed], return_inverse=True)
        self._afford(widths)
        entropies = self._entropy(widths)[at]
        return float(entropies[0]) if len(listed) == 1 and listed[0] is eps else entropies

    def grouping(self, eps: float) -> pd.DataFrame:
        """Return the partition with the entropy H(eps): the possible answers of an intruder, and their probabilities.

        Parameters
        ----------
        eps : float
            The width of the window, in the unit of the values.

        Returns
        -------
        DataFrame
            One row per run of values: `low`, `high`, `middle` (the answer), number of `values`, `probability`.

        Raises
        ------
        BadProbability, GroupTooLarge
            See :meth:`at`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> cae = mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25])         # thousand a year
        >>> print(cae.grouping(3).to_string(index=False))
         low  high  middle  values  probability
          77    80    78.5       2         0.75
         107   107   107.0       1         0.25
        """
        width = self._width(eps)
        self._afford(np.array([width]))
        p, values = self.distribution.to_numpy(), self.distribution.index.to_numpy()
        start = cover(self._units, p, width)
        end = np.append(start[1:], len(p))
        low, high = values[start], values[end - 1]
        middle = low / 2 + high / 2
        return pd.DataFrame(
            {
                "low": low,
                "high": high,
                "middle": middle,
                "values": end - start,
                "probability": np.add.reduceat(p, start),
            }
        )

    def __repr__(self) -> str:
        n = len(self.distribution)
        return (
            f"<Equivocation: {n} value{'s' * (n != 1)}, H(0) = {self.initial:.6g} bits, 0 from eps = {self.eps_max:g}>"
        )

    @property
    def _span(self) -> int:
        return int(self._units[-1] - self._units[0])

    def _width(self, eps: object) -> int:
        """Return the width of a window in units."""
        return self._unit.window(_checked(eps), self._span)

    def _entropy(self, widths: np.ndarray) -> np.ndarray:
        """Compute H at increasing widths."""
        inside = widths < self._span
        positive = least_entropy(self._units, self.distribution.to_numpy()[None], widths[inside])[0]
        return np.concatenate([positive, np.zeros(len(widths) - len(positive))])

    def _afford(self, widths: np.ndarray) -> None:
        """Raise GroupTooLarge if the evaluation of H at the widths takes too long."""
        if (runs := sum(cost(self._units, int(width)) for width in widths)) > EQUIVOCATION_MOST_RUNS:
            raise GroupTooLarge(
                f"H({self._unit.width(widths[-1:])[0]:g}) of {len(self._units)} distinct values requires {runs:.1e} "
                f"runs, and at most {EQUIVOCATION_MOST_RUNS:.0e} are allowed; use a smaller eps, or round the values"
            )

    @cached_property
    def _steps(self) -> Steps:
        """The curve, exact or on a grid."""
        if self.step is None:
            steps = refined(self._units, self._entropy, self.evaluations)
            return replace(steps, width=self._unit.width(steps.width))
        n_steps, changes = self.eps_max / self.step, differences(self._units, self.evaluations)
        most = self.evaluations if changes is None else MOST_STEPS
        if n_steps >= most:
            raise GroupTooLarge(
                f"step={self.step:g}: the grid up to {self.eps_max:g} would have {n_steps:.12g} points, and at most "
                f"{most} are allowed; use a larger step, or omit it for the exact curve"
            )
        grid = self.step * np.arange(max(math.ceil(round(n_steps, 9)), int(self._span > 0)) + 1)
        if changes is None:
            return stepwise(grid, np.asarray(self.at(grid)))
        self._afford(changes)
        last = np.searchsorted(changes, [self._width(eps) for eps in grid], side="right") - 1  # the last change of H
        return stepwise(grid, self._entropy(changes)[last])


def equivocation(
    values: Iterable[float] | pd.Series | Mapping[float, float],
    probabilities: Iterable[float] | None = None,
    step: float | None = None,
    *,
    evaluations: int = EVALUATIONS,
) -> Equivocation:
    """Compute H(eps), the least entropy in bits over all ways to cover the values by windows of width eps.

    In H(0), Shannon's entropy, "50 or 107" is as uncertain as "77 or 80"; the area under H(eps) distinguishes them.

    Parameters
    ----------
    values : list of numbers; or Series or dict
        Values of the confidential attribute, in any order; equal ones are merged. A Series or dict without
        `probabilities` contains the probability of every value, as returned by :meth:`maxent_cvx.sdc.Technique.infer`.
    probabilities : list of numbers, optional
        Probabilities of the values, in the same order. They must sum to 1; rounding errors are removed by dividing by the
        sum. Values with probability 0 are impossible and omitted; 1e-12 counts as possible.
    step : float, optional
        Evaluate only eps = 0, step, 2 step, ..., as in the paper; by default the curve is exact.
    evaluations : int
        The curve is exact up to this number of distinct differences of two values. With more, eps is bisected at most
        this number of times where H is not yet known to be constant, first where most of the area is undetermined.

    Returns
    -------
    Equivocation
        With ``.initial``, ``.curve``, ``.area``, ``.eps_max``, ``.at(eps)``, ``.grouping(eps)``; results that take time
        are computed when they are first read.

    Raises
    ------
    TableError
        If the values are not finite numbers, or their number differs from that of the probabilities.
    BadProbability
        If probabilities are missing, are invalid, or do not sum to 1; or the step is not above 0.
    StatementError
        If `evaluations` is not an integer of at least 2.

    Notes
    -----
    See Confidential Attribute Equivocation, sections 3 and 4; the formula in section 3 says "maximised", but the text
    and the appendix say "minimum", which is computed here. One eps takes O(n w) time for n values with at most w of
    them in a window: 100,000 values and windows of a thousand take a second. Values and eps are compared in fifteen
    significant digits of the largest possible value, integers exactly: 0.8 and 0.5 are within 0.3 of each other.

    Examples
    --------
    >>> cae = equivocation([1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05])
    >>> print(cae.curve.round(3).to_string(index=False))
     epsilon  entropy
         0.0    1.319
         1.0    1.054
         2.0    0.811
         6.0    0.610
         7.0    0.286
         8.0    0.000
    >>> round(cae.area, 3)
    6.514
    >>> print(cae.grouping(5).round(2).to_string(index=False))
     low  high  middle  values  probability
       1     3     2.0       2         0.25
       8     9     8.5       2         0.75
    """
    if probabilities is None:
        if not isinstance(values, pd.Series | Mapping):
            raise BadProbability(
                "probabilities are missing: give one for each value, or a Series of probabilities by value, not "
                f"{short_repr(values)}"
            )
        known = values if isinstance(values, pd.Series) else pd.Series(dict(values), dtype=object)
        values, probabilities = known.index, known.array
    are_series = isinstance(values, pd.Series) and isinstance(probabilities, pd.Series)
    if are_series and not values.index.equals(probabilities.index):  # type: ignore[union-attr]
        raise TableError("values and probabilities are Series with different labels; bring them into the same order")
    p = as_numbers(probabilities, "probabilities").astype(float)
    numbers = as_numbers(values, "values")
    if len(p) != len(numbers):
        raise TableError(
            f"there are {len(numbers)} values but {len(p)} probabilities; give one probability for each value"
        )
    slack = COARSE if getattr(probabilities, "dtype", None) in (np.float32, np.float16) else ROUNDING
    if len(p) and ((p < 0).any() or abs(p.sum() - 1) > slack):
        violation = f"the smallest is {p.min():.12g}" if (p < 0).any() else f"they sum to {p.sum():.12g}"
        raise BadProbability(
            f"probabilities must not be negative and must sum to 1, but {violation}; divide them by their sum"
        )
    if step is not None and check_number(step, "step") <= 0:
        raise BadProbability(f"step must be above 0, or None for the exact curve, got {step!r}")
    possible = p > 0
    numbers, units, unit = in_units(numbers[possible], "values")
    p = p[possible] / p.sum()
    distinct, first, which = np.unique(units, return_index=True, return_inverse=True)
    merged = np.bincount(which, p)
    index = pd.Index(numbers[first], name=getattr(values, "name", None))
    return Equivocation(
        pd.Series(merged, index, name="probability"),
        None if step is None else float(step),
        check_int(evaluations, "evaluations", 2),
        distinct,
        unit,
    )


def individual_equivocation(
    post: Posterior, at: float | Iterable[float] = (), values: Mapping[Any, float] | pd.Series | None = None
) -> pd.DataFrame:
    """Compute H(eps) of P(s | q), least entropy in bits over windows of width eps, per row of ``post.inferences()``.

    Parameters
    ----------
    post : Posterior
        A posterior with one sensitive attribute.
    at : float or several
        Values of eps for which H(eps) is also computed, in one column each.
    values : dict or Series, optional
        The number that each sensitive value represents; by default the values are numbers themselves.

    Returns
    -------
    DataFrame
        Indexed as ``post.inferences()``: the number of `people` in a row; `initial`, H(0), in bits; `area`, in bits x
        the unit of the values; `eps_max`, the distance between the largest and the smallest possible value;
        `disclosure_risk`, 1 / H(0), infinite if the value is certain; and "H(eps)" for every eps in `at`. Probabilities
        below 1e-9 count as zero. The area of a release is the mean area, weighted by people.

    Raises
    ------
    StatementError
        If `post` is not a Posterior.
    TableError
        If the values are not numbers, or one is missing; or the view has several sensitive attributes.
    BadProbability
        If an eps is negative, or not a number.
    GroupTooLarge
        If the computation takes too long.

    Notes
    -----
    The results equal those of :func:`equivocation`, exactly, but are computed for all people at once: in O(k^4) for a
    person with k possible values, or O(v^2 d) with v values of the release and d distinct differences if that is less.
    For a population (:class:`maxent_cvx.GroupedRelease`), the people in the release are measured.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [20, 20, 30, 30], "Salary": [50, 52, 50, 107], "Bucket": [1, 1, 2, 2]})
    >>> release = mx.Release.from_buckets(people, qi="Age", sa="Salary", bucket="Bucket")
    >>> table = mx.measures.individual_equivocation(mx.MaxEnt(release).solve(), at=5)
    >>> print(table[["people", "initial", "area", "eps_max", "H(5)"]].round(3))       # 50 and 52 are nearly the same
         people  initial  area  eps_max  H(5)
    Age
    20        2      1.0   2.0      2.0   0.0
    30        2      1.0  57.0     57.0   1.0
    """
    check_instance(post, Posterior, "post")
    conditional, people = of_those_inside(post)
    if conditional.columns.nlevels > 1:
        raise TableError("equivocation is defined for one sensitive attribute, but the release has several")
    eps = widths_asked(at)
    p = np.where(conditional.to_numpy() > NEGLIGIBLE, conditional.to_numpy(), 0.0)
    possible = np.flatnonzero(p.any(axis=0))  # impossible values must not decide the unit in which numbers are compared
    labels = conditional.columns.take(possible)
    _, units, unit = in_units(numbers_of(labels, values), f"the values of {labels.name!r}")
    table = areas(units, unit, p[:, possible], eps).set_axis(conditional.index)
    table.insert(0, "people", people)
    return table
