"""Confidential attribute equivocation (CAE): the entropy of a number that need only be known to within a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import xlogy

from ...display import Shown
from ...errors import BadProbability, GroupTooLarge, TableError, number, shown, whole
from ...tables.numbers import as_numbers, one_or_several
from .breakpoints import Steps, differences, refined, stepwise
from .covering import cost, cover, least_entropy
from .units import Units, in_units

__all__ = ["Equivocation", "equivocation"]

#: How far the sum of probabilities may be from 1; of short floats.
ROUNDING, COARSE = 1e-9, 1e-3
#: Widths at which the entropy of one curve is evaluated by default.
EVALUATIONS = 5_000
#: The most runs that are evaluated for one answer: a minute or two.
MOST_RUNS = 4 * 10**10
#: The most points of a grid.
MOST_STEPS = 10**6


@dataclass(frozen=True, eq=False)
class Equivocation(Shown):
    """H(eps), the entropy, bits, of a number that need only be known to within a window of width eps.

    Attributes
    ----------
    distribution : Series
        The probability of every value that is possible, by value, increasing.
    step : float or None
        The step of the grid on which the curve is evaluated; None is exactly.
    evaluations : int
        The most widths at which the entropy is evaluated.

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
        """H(0) = -sum p log2 p, the entropy of the value itself, bits."""
        p = self.distribution.to_numpy()
        return float(-xlogy(p, p).sum() / math.log(2)) if len(p) > 1 else 0.0

    @property
    def disclosure_risk(self) -> float:
        """DR = 1 / H(0), per bit; infinite if the value is certain (Eq. (1), after Oganian and Domingo-Ferrer)."""
        return 1 / self.initial if self.initial > 0 else math.inf

    @cached_property
    def eps_max(self) -> float:
        """The least eps for which H(eps) = 0: how far apart the largest and the smallest possible value are."""
        return float(self._unit.width(np.array([self._span]))[0])

    @property
    def curve(self) -> pd.DataFrame:
        """Where H changes: `epsilon`, and `entropy`, bits, from there up to the next row; or both on the grid.

        H is a right-continuous step function, which never rises and can change only where eps is the difference of
        two values. If not :attr:`exact`, the rows are those eps for which H was found, and in between it may be less.

        Returns
        -------
        DataFrame
            A row a change, or a point of the grid: `epsilon`, in the unit of the values, from 0 on, and `entropy`.

        Raises
        ------
        GroupTooLarge
            If that takes too long.

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
        return pd.DataFrame({"epsilon": self._epsilon, "entropy": self._steps.entropy})

    @property
    def area(self) -> float:
        """The integral of H from 0 to eps_max, bits x the unit of the values.

        With a step the sum step * H over the grid, as in the paper. Else, if not :attr:`exact`, the middle of
        :attr:`area_bounds`.

        Returns
        -------
        float
            Bits x the unit of the values.

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
        """What the exact area is at least and at most; the same, where it is known."""
        if self.step is not None:
            area = self.step * float(self._steps.entropy.sum())
            return max(area - self.step * self.initial, 0.0), area
        width, entropy, open_ = np.diff(self._epsilon), self._steps.entropy, self._steps.is_open
        return float(width @ np.where(open_, entropy[1:], entropy[:-1])), float(width @ entropy[:-1])

    @property
    def exact(self) -> bool:
        """Whether every eps where H changes is known, without a step.

        It is, if at most `evaluations` differences are distinct, and if these do not mean too many runs to try: 5,000
        differences of 5,000 values are not too many, a minute's work; 10,000 of 10,000 are.
        """
        return self.step is None and not self._steps.is_open.any()

    def at(self, eps: float | Iterable[float]) -> float | np.ndarray:
        """H(eps), bits; of several eps an array.

        Parameters
        ----------
        eps : float or several
            Widths of the window, in the unit of the values.

        Returns
        -------
        float or ndarray
            H(eps), bits: a float of one eps, an array of several.

        Raises
        ------
        BadProbability
            If an eps is negative, or no finite number.
        GroupTooLarge
            If that takes too long.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> cae = mx.measures.equivocation([77, 80, 107], [0.5, 0.25, 0.25])         # thousand a year
        >>> cae.at([0, 2.9, 3, 30]).round(3)
        array([1.5  , 1.5  , 0.811, 0.   ])
        """
        listed = one_or_several(eps)
        asked, at = np.unique([self._width(one) for one in listed], return_inverse=True)
        self._afford(asked)
        found = self._entropy(asked)[at]
        return float(found[0]) if len(listed) == 1 and listed[0] is eps else found

    def grouping(self, eps: float) -> pd.DataFrame:
        """The partition that has the entropy H(eps): what the intruder would answer, and how sure that is.

        Parameters
        ----------
        eps : float
            The width of the window, in the unit of the values.

        Returns
        -------
        DataFrame
            A row a run of values: `low`, `high`, `middle` (the answer), how many `values`, `probability`.

        Raises
        ------
        BadProbability, GroupTooLarge
            As :meth:`at`.

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
        """How many units wide a window is, at most as wide as all values."""
        if number(eps, "eps") < 0:
            raise BadProbability(f"eps={shown(eps)}: the width of a range is expected, 0 or more")
        if eps > 2 * self.eps_max:  # type: ignore[operator]
            return self._span
        return min(self._unit.of(eps), self._span)  # type: ignore[arg-type]

    def _entropy(self, widths: np.ndarray) -> np.ndarray:
        """H of increasing widths."""
        inside = widths < self._span
        found = least_entropy(self._units, self.distribution.to_numpy()[None], widths[inside])[0]
        return np.concatenate([found, np.zeros(len(widths) - len(found))])

    def _afford(self, widths: np.ndarray) -> None:
        """Refuse what would take too long."""
        if (runs := sum(cost(self._units, int(width)) for width in widths)) > MOST_RUNS:
            raise GroupTooLarge(
                f"H({self._unit.width(widths[-1:])[0]:g}) of {len(self._units)} distinct values means {runs:.1e} runs "
                f"to try, of which {MOST_RUNS:.0e} are allowed; ask for a smaller eps, or round the values"
            )

    @cached_property
    def _steps(self) -> Steps:
        """The curve: widths in units, or on the grid as they are."""
        if self.step is None:
            return refined(self._units, self._entropy, self.evaluations)
        n_steps, every = self.eps_max / self.step, differences(self._units, self.evaluations)
        most = self.evaluations if every is None else MOST_STEPS
        if n_steps >= most:
            raise GroupTooLarge(
                f"step={self.step:g}: {n_steps:.12g} of them fit into {self.eps_max:g}, and {most} are allowed; take a "
                "longer step, or leave it out for the exact curve"
            )
        grid = self.step * np.arange(max(math.ceil(round(n_steps, 9)), int(self._span > 0)) + 1)
        if every is None:
            return stepwise(grid, np.asarray(self.at(grid)))
        self._afford(every)
        last = np.searchsorted(every, [self._width(eps) for eps in grid], side="right") - 1  # where H changed last
        return stepwise(grid, self._entropy(every)[last])

    @property
    def _epsilon(self) -> np.ndarray:
        width = self._steps.width
        return width if self.step is not None else self._unit.width(width)


def equivocation(
    values: Iterable[float] | pd.Series | Mapping[float, float],
    probabilities: Iterable[float] | None = None,
    step: float | None = None,
    *,
    evaluations: int = EVALUATIONS,
) -> Equivocation:
    """H(eps) = least entropy, in bits, over all ways to cover the values by windows of width eps.

    H(0) is Shannon's entropy, which takes 50 or 107 for as uncertain as 77 or 80; the area under H(eps) does not.

    Parameters
    ----------
    values : list of numbers; or Series or dict
        Of the confidential attribute, in any order; equal ones are put together. A Series or dictionary alone has the
        probability of every value, by value, as :meth:`maxent_cvx.sdc.Technique.infer` gives it.
    probabilities : list of numbers, optional
        Of the values, in their order; they sum to 1, and what rounding left is taken out by dividing by the sum. Values
        with a probability of 0 are impossible, and left out; 1e-12 is possible, and a solver may mean 0.
    step : float, optional
        Look at eps = 0, step, 2 step, ... only, as the paper does; by default the curve is exact.
    evaluations : int
        The curve is exact while so many differences of two values are distinct. Beyond, eps is bisected wherever H
        is not yet known to be constant, where most of the area is open first, and for so many eps at most.

    Returns
    -------
    Equivocation
        With ``.initial``, ``.curve``, ``.area``, ``.eps_max``, ``.at(eps)``, ``.grouping(eps)``; what takes time is
        found when it is asked for.

    Raises
    ------
    TableError
        If values are no finite numbers, or not as many as probabilities.
    BadProbability
        If probabilities are missing, are none, or do not sum to 1; or the step is not above 0.
    StatementError
        If `evaluations` is not an integer of at least 2.

    Notes
    -----
    Confidential Attribute Equivocation, sections 3 and 4; the display in section 3 says "maximised", the text and the
    appendix "minimum". O(n w) for one eps, n values of which a window holds w: 100,000 values and windows of a
    thousand take a second. Values, and eps, are compared in fifteen significant digits of the largest possible value,
    whole numbers exactly: 0.8 and 0.5 are within 0.3 of each other.

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
                f"probabilities are missing: one for each value, or a Series of them by value, not {shown(values)}"
            )
        known = values if isinstance(values, pd.Series) else pd.Series(dict(values), dtype=object)
        values, probabilities = known.index, known.array
    both = isinstance(values, pd.Series) and isinstance(probabilities, pd.Series)
    if both and not values.index.equals(probabilities.index):  # type: ignore[union-attr]
        raise TableError("values and probabilities are Series of different labels; bring them into one order")
    p = as_numbers(probabilities, "probabilities").astype(float)
    numbers = as_numbers(values, "values")
    if len(p) != len(numbers):
        raise TableError(f"there are {len(numbers)} values and {len(p)} probabilities; one each is expected")
    slack = COARSE if getattr(probabilities, "dtype", None) in (np.float32, np.float16) else ROUNDING
    if len(p) and ((p < 0).any() or abs(p.sum() - 1) > slack):
        what = f"the smallest is {p.min():.12g}" if (p < 0).any() else f"they sum to {p.sum():.12g}"
        raise BadProbability(f"probabilities: {what}; none below 0 and a sum of 1 are expected, divide by the sum")
    if step is not None and number(step, "step") <= 0:
        raise BadProbability(f"step={step!r}: a number above 0 is expected, or None for the exact curve")
    possible = p > 0
    numbers, units, unit = in_units(numbers[possible], "values")
    p = p[possible] / p.sum()
    distinct, first, which = np.unique(units, return_index=True, return_inverse=True)
    merged = np.bincount(which, p)
    index = pd.Index(numbers[first], name=getattr(values, "name", None))
    return Equivocation(
        pd.Series(merged, index, name="probability"),
        None if step is None else float(step),
        whole(evaluations, "evaluations", 2),
        distinct,
        unit,
    )
