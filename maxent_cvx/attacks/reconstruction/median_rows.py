"""Rows that say that a median lies between two numbers: those of the lower and the upper of the two in the middle."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .integer_program import IntegerProgram

__all__ = ["add_median"]


def add_median(
    program: IntegerProgram, types: np.ndarray, numbers: np.ndarray, least: int, most: int, count: tuple[int, int]
) -> None:
    """Add least <= a + b <= most, a and b the numbers in the middle, a = b of an odd number of people.

    Parameters
    ----------
    program : IntegerProgram
    types : ndarray of int
        The places of the types of records that the median is over.
    numbers : ndarray of int
        Theirs, in their unit.
    least, most : int
        Of twice the median, in that unit.
    count : (int, int)
        The least and the most people, at least one.

    Notes
    -----
    Of an odd, known number n: at most (n - 1) / 2 people are below, and as many above. Otherwise F_k people have at
    most the k-th number, and two switches say whether the lower one (A_k) and the upper one (B_k) in the middle are at
    most that: A_k = 1 if and only if 2 F_k >= n, and B_k if and only if 2 F_k >= n + 1. Clauses of one A and one B each
    keep their sum between the two numbers.
    """
    ones = np.ones(len(types))
    if count[0] == count[1] and count[0] % 2:
        half = (count[0] - 1) // 2
        program.add((types, ones * (2 * numbers < least)), high=half)
        program.add((types, ones * (2 * numbers > most)), high=half)
        return
    levels, level = np.unique(numbers, return_inverse=True)
    size = len(levels)
    each, before = sp.eye_array(size), sp.eye_array(size, k=-1)
    at_most = program.variables(size, count[1])
    lower, upper = program.variables(size), program.variables(size)
    of_level = sp.coo_array((ones, (level, np.arange(len(types)))), (size, len(types)))
    program.add((at_most, each - before), (types, -of_level), low=0, high=0)
    for switch in (lower, upper):
        program.add((switch, each - before), low=np.r_[0, np.zeros(size - 1)])
    program.add((upper, each), (lower, -each), high=0)
    _add_switches(program, at_most, lower, upper, count)
    _add_clauses(program, lower, upper, levels, least, most)


def _add_switches(
    program: IntegerProgram, at_most: np.ndarray, lower: np.ndarray, upper: np.ndarray, count: tuple[int, int]
) -> None:
    """Add what the switches mean: which counts of people turn them on, and off."""
    each, n = sp.eye_array(len(at_most)), count[1]
    if count[0] == n:  # even: on from n / 2 people, and from one more
        for switch, from_ in ((lower, n // 2), (upper, n // 2 + 1)):
            program.add((at_most, each), (switch, -from_ * each), low=0)
            program.add((at_most, each), (switch, -(n - from_ + 1) * each), high=from_ - 1)
        return
    everybody = sp.coo_array((np.ones(len(at_most)), (np.arange(len(at_most)), np.zeros(len(at_most), dtype=int))))
    last = at_most[-1:]
    for switch, more in ((lower, 0), (upper, 1)):  # 2 F - n is from -n to n
        excess = ((at_most, 2 * each), (last, -everybody))
        program.add(*excess, (switch, -(n + more) * each), low=-n)
        program.add(*excess, (switch, -(n + 1 - more) * each), high=more - 1)


def _add_clauses(
    program: IntegerProgram, lower: np.ndarray, upper: np.ndarray, levels: np.ndarray, least: int, most: int
) -> None:
    """Add that the sum of the two numbers is from least to most, by one clause for each value of the lower one."""
    end = len(levels) - 1
    # The lower one is levels[k + 1] or more, so that the upper one is at most the rest.
    rest = np.searchsorted(levels, most - levels, side="right") - 1
    program.add((upper, np.eye(1, len(levels), max(rest[0], 0))), low=1 if rest[0] >= 0 else 2)
    _add_pairs(program, lower[:end], upper, rest[1:], low=1)
    # The lower one is levels[k] or less, so that the upper one is not below the rest.
    short = np.searchsorted(levels, least - levels, side="left") - 1
    _add_pairs(program, lower, upper, short, high=1)


def _add_pairs(
    program: IntegerProgram, first: np.ndarray, second: np.ndarray, partner: np.ndarray, low: int = 0, high: int = 2
) -> None:
    """Add low <= x + y <= high for each x in first and its partner in second, y = 0 where there is none (-1)."""
    if not len(first):
        return
    has = np.flatnonzero(partner >= 0)
    pairs = sp.coo_array((np.ones(len(has)), (has, partner[has])), (len(first), len(second)))
    program.add((first, sp.eye_array(len(first))), (second, pairs), low=low, high=high)
