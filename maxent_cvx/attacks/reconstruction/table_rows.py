"""The rows of published tables: how many people have each type of record, as whole numbers between two limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from ...errors import StatementError, TableError
from .enumeration import FREE, Median, TableRows
from .integer_program import IntegerProgram
from .median_rows import add_median
from .record_types import RecordTypes
from .statistic import Interval, Statistic

__all__ = ["Checks", "program_of", "rows_of"]

#: People beyond which solutions are not told apart, each person by a switch: HiGHS' precision of a switch, 1e-6, times
#: their number is the error of a count, and has to be far below one person.
MOST_PEOPLE = 10_000

#: Coefficients, and the least and the most of each row.
Rows = tuple[np.ndarray, np.ndarray | list[int], np.ndarray | list[int]]


def rows_of(statistics: Sequence[Statistic], types: RecordTypes) -> TableRows:
    """Build low <= A n <= high, n the people of each type, and the medians.

    Raises
    ------
    UnknownName, StatementError, TableError
        If the domain has no such attribute or value, nothing limits the number of people, or no mean or median of so
        many numbers is as stated.
    """
    masks = np.array([types.mask(one) for one in statistics])
    of_numbers = np.array([one.mean is not None or one.median is not None for one in statistics])
    low, high = _counts(statistics, masks)
    low = np.where(of_numbers, np.maximum(low, 1), low)  # a mean or a median is of somebody
    people = _most_people(masks, high)
    high = np.minimum(high, people)
    rows: list[Rows] = [(masks.astype(np.int64), low, high), (np.ones((1, len(types)), dtype=np.int64), [0], [people])]
    medians: list[Median] = []
    for number in np.flatnonzero(of_numbers).tolist():
        count = int(low[number]), int(high[number])
        if masks[number].any() and count[0] <= count[1]:  # else a row of a count is contradictory
            rows += _of_numbers(statistics[number], types, masks[number], count, medians)
    matrix, lows, highs = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return TableRows(
        matrix,
        lows.astype(np.int64),
        highs.astype(np.int64),
        np.where(masks, high[:, None], people).min(axis=0).astype(np.int64),
        np.arange(len(matrix)) <= len(masks),
        medians,
    )


def program_of(rows: TableRows) -> IntegerProgram:
    """Build the integer program of the rows, with further variables for medians."""
    program = IntegerProgram(rows.upper.copy())
    low = np.where(rows.low == -FREE, -np.inf, rows.low.astype(float))
    high = np.where(rows.high == FREE, np.inf, rows.high.astype(float))
    program.add((np.arange(len(rows.upper)), rows.matrix.astype(float)), low=low, high=high)
    for one in rows.medians:
        add_median(program, one.types, one.numbers, one.least, one.most, one.count)
    return program


class Checks:
    """Whether people have all statistics, computed with integers and fractions from the tables alone."""

    def __init__(self, statistics: Sequence[Statistic], types: RecordTypes) -> None:
        self._each = [
            (one, types.mask(one), types.numbers(one.of) if one.mean is not None or one.median is not None else None)
            for one in statistics
        ]

    def wrong(self, people: np.ndarray) -> Statistic | None:
        """The first statistic that these people do not have."""
        for statistic, mask, numbers in self._each:
            n = int(people[mask].sum())
            if statistic.count is not None and not statistic.count[0] <= n <= (
                n if statistic.count[1] is None else statistic.count[1]
            ):
                return statistic
            if numbers is None:
                continue
            if not n:
                return statistic
            multiples, unit = numbers
            each = np.sort(np.repeat(multiples[mask], people[mask])).tolist()
            mean, median = Fraction(sum(each), n) * unit, Fraction(each[(n - 1) // 2] + each[n // 2], 2) * unit
            for said, found in ((statistic.mean, mean), (statistic.median, median)):
                if said is not None and not said[0] <= found <= said[1]:
                    return statistic
        return None


def _most_people(masks: np.ndarray, high: np.ndarray) -> int:
    """The most people that counts allow: of everybody, or of groups that contain every type together.

    Raises
    ------
    StatementError, TableError
        If there is no such number, or it is too large.
    """
    limited = np.flatnonzero(np.isfinite(high))
    covers, index = np.unique(masks[limited], axis=0, return_index=True)
    limits = high[limited][index]
    if not covers.any(axis=0).all():
        raise StatementError(
            "how many people there are is not published; add Statistic({}, count=...), at least a limit, or counts "
            "of groups that contain everybody together"
        )
    # Groups with weights y >= 0 that sum to 1 or more for every type have at least as many people as there are.
    patterns = np.unique(covers, axis=1).astype(float)
    weight = linprog(limits, A_ub=-patterns.T, b_ub=-np.ones(patterns.shape[1])).x
    total = limits.sum()
    if weight is not None and (least := (weight @ patterns).min()) > 0.5:
        # The weights are rounded: divided by the least sum they are enough, and the limit is not too small.
        total = min(total, weight @ limits / least * (1 + 1e-9))
    if (people := int(total)) > MOST_PEOPLE:
        raise TableError(f"there may be {people} people; of at most {MOST_PEOPLE} is it decided: a block at a time")
    return people


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


def _of_numbers(
    statistic: Statistic, types: RecordTypes, mask: np.ndarray, count: tuple[int, int], medians: list[Median]
) -> list[Rows]:
    """The rows of a mean and a median, of somebody at least; the median is listed, too, for its rows are not enough."""
    numbers, unit = types.numbers(statistic.of)
    found: list[Rows] = []
    if statistic.mean is not None:
        found += _mean(_in_unit(statistic.mean, unit), numbers, mask, count, statistic)
    if statistic.median is not None:
        low, high = _in_unit(statistic.median, unit)
        least, most = math.ceil(2 * low), math.floor(2 * high)
        if least > most:
            raise _impossible(statistic, "median")
        # At most half of the people are below it, and at most half above.
        outside = np.stack([2 * numbers < least, 2 * numbers > most])
        found.append((np.where(mask, 2 * outside - 1, 0), [-FREE] * 2, [0] * 2))
        medians.append(Median(np.flatnonzero(mask), numbers[mask], least, most, count))
    return found


def _in_unit(interval: Interval, unit: Fraction) -> Interval:
    return interval[0] / unit, interval[1] / unit


def _mean(
    mean: Interval, numbers: np.ndarray, mask: np.ndarray, count: tuple[int, int], statistic: Statistic
) -> list[Rows]:
    """A row for the sum of the numbers of so many people, or two for what each is above and below the mean."""
    low, high = mean
    if count[0] == count[1]:
        least, most = math.ceil(count[0] * low), math.floor(count[0] * high)
        if least > most:
            raise _impossible(statistic, "mean")
        return [(np.where(mask, numbers, 0)[None, :], [least], [most])]
    # The means of at most so many whole numbers next to both limits: fractions of small denominators, since products
    # with those of many decimals do not fit into 64 bits.
    low = min(Fraction(math.ceil(n * low), n) for n in range(count[0], count[1] + 1))
    high = max(Fraction(math.floor(n * high), n) for n in range(count[0], count[1] + 1))
    if low > high:
        raise _impossible(statistic, "mean")
    return [
        (np.where(mask, side.denominator * numbers - side.numerator, 0)[None, :], [least], [most])
        for side, least, most in ((low, 0, FREE), (high, -FREE, 0))
    ]


def _impossible(statistic: Statistic, what: str) -> StatementError:
    return StatementError(
        f"{statistic!r}: no {what} of so many such numbers is exactly this; was it rounded? say so, decimals=..."
    )
