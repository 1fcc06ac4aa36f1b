"""The integer program of published tables: how many people have each type of record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...errors import StatementError, TableError
from .integer_program import IntegerProgram
from .median_rows import add_median
from .record_types import RecordTypes
from .statistic import Interval, Statistic

__all__ = ["checked_against", "program_of"]

#: People beyond which solutions are not told apart, each person by a switch: HiGHS' precision of a switch, 1e-6, times
#: their number is the error of a count, and has to be far below one person.
MOST_PEOPLE = 10_000


def program_of(statistics: Sequence[Statistic], types: RecordTypes) -> IntegerProgram:
    """Build low <= A n <= high, n the people of each type, with further variables for medians.

    Raises
    ------
    UnknownName, StatementError, TableError
        If the domain has no such attribute or value, nothing limits the number of people, or no mean or median of so
        many numbers is as stated.
    """
    masks = np.array([types.mask(one) for one in statistics])
    low, high = _counts(statistics, masks)
    if not masks.all(axis=1).any() or not np.isfinite(people := high[masks.all(axis=1)].min()):
        raise StatementError(
            "how many people there are is not published; add Statistic({}, count=...), at least a limit"
        )
    if people > MOST_PEOPLE:
        raise TableError(f"there may be {people:.0f} people; of at most {MOST_PEOPLE} is it decided: a block at a time")
    high = np.minimum(high, people)
    program = IntegerProgram(np.where(masks, high[:, None], people).min(axis=0).astype(np.int64))
    program.add((np.arange(len(types)), masks.astype(float)), low=low, high=high)
    for statistic, mask, least, most in zip(statistics, masks, low, high, strict=True):
        if statistic.mean is not None or statistic.median is not None:
            _add_numbers(program, statistic, types, mask, (max(int(least), 1), int(most)))
    return program


def checked_against(statistics: Sequence[Statistic], types: RecordTypes, people: np.ndarray) -> Statistic | None:
    """The first statistic that these people do not have, computed with integers and fractions from the tables alone."""
    for statistic in statistics:
        mask = types.mask(statistic)
        n = int(people[mask].sum())
        if statistic.count is not None and not statistic.count[0] <= n <= (
            n if statistic.count[1] is None else statistic.count[1]
        ):
            return statistic
        if statistic.mean is None and statistic.median is None:
            continue
        if not n:
            return statistic
        numbers, unit = types.numbers(statistic.of)
        each = np.sort(np.repeat(numbers[mask], people[mask])).tolist()
        mean, median = Fraction(sum(each), n) * unit, Fraction(each[(n - 1) // 2] + each[n // 2], 2) * unit
        for said, found in ((statistic.mean, mean), (statistic.median, median)):
            if said is not None and not said[0] <= found <= said[1]:
                return statistic
    return None


def _counts(statistics: Sequence[Statistic], masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most people of each statistic, by all that are about the same people."""
    said = [one.count or (0, None) for one in statistics]
    low = np.array([least for least, _ in said], dtype=float)
    high = np.array([math.inf if most is None else most for _, most in said])
    _, same = np.unique(masks, axis=0, return_inverse=True)
    same = same.ravel()
    best_low, best_high = np.zeros(same.max() + 1), np.full(same.max() + 1, np.inf)
    np.maximum.at(best_low, same, low)
    np.minimum.at(best_high, same, high)
    return best_low[same], best_high[same]


def _add_numbers(
    program: IntegerProgram, statistic: Statistic, types: RecordTypes, mask: np.ndarray, count: tuple[int, int]
) -> None:
    """Add the rows of a mean and a median, of somebody at least."""
    numbers, unit = types.numbers(statistic.of)
    at, of_them = np.flatnonzero(mask), numbers[mask]
    program.add((at, np.ones(len(at))), low=count[0])
    if not len(at) or count[0] > count[1]:
        return  # nobody can be as described, which that row contradicts
    if statistic.mean is not None:
        _add_mean(program, at, of_them, _in_unit(statistic.mean, unit), count, statistic)
    if statistic.median is not None:
        low, high = _in_unit(statistic.median, unit)
        least, most = math.ceil(2 * low), math.floor(2 * high)
        if least > most:
            raise _impossible(statistic, "median")
        add_median(program, at, of_them, least, most, count)


def _in_unit(interval: Interval, unit: Fraction) -> Interval:
    return interval[0] / unit, interval[1] / unit


def _add_mean(
    program: IntegerProgram,
    at: np.ndarray,
    numbers: np.ndarray,
    mean: Interval,
    count: tuple[int, int],
    statistic: Statistic,
) -> None:
    """Add a row for the sum of the numbers of so many people, or two for what each is above and below the mean."""
    low, high = mean
    if count[0] == count[1]:
        least, most = math.ceil(count[0] * low), math.floor(count[0] * high)
        if least > most:
            raise _impossible(statistic, "mean")
        program.add((at, numbers), low=least, high=most)
        return
    program.add((at, low.denominator * numbers - low.numerator), low=0)
    program.add((at, high.denominator * numbers - high.numerator), high=0)


def _impossible(statistic: Statistic, what: str) -> StatementError:
    return StatementError(
        f"{statistic!r}: no {what} of so many such numbers is exactly this; was it rounded? say so, decimals=..."
    )
