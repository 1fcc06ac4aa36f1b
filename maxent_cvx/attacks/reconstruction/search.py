"""All records that tables have in common, up to a limit, and what is in every one of them, by integer programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import Inaccurate, NotDecided
from .integer_program import IntegerProgram

__all__ = ["Found", "search"]

#: Gives the next point of a program, checked, or None if there is none.
Solve = Callable[[IntegerProgram, np.ndarray | None], np.ndarray | None]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes
    ----------
    people : ndarray of int, shape (solutions, types)
        How many people have each type of record, one row a solution, all different.
    complete : bool
        Whether there are no others.
    certain : ndarray of int, one a type
        How many people have it in every solution, listed or not; zeros if that was not decided.
    decided : bool
        Whether it was.
    """

    people: np.ndarray
    complete: bool
    certain: np.ndarray
    decided: bool


def search(program: IntegerProgram, n_types: int, limit: int, solve: Solve) -> Found | None:
    """Find solutions; None if there is none.

    What is certain comes first: each further solution has to miss one of the records that all others have in common,
    and the last program, which has no point, proves that these are in every solution. Only then others are looked for.

    Raises
    ------
    NotDecided
        If the time is over before there is any.
    """
    if (first := solve(program, None)) is None:
        return None
    found = [first]
    core, decided = first.copy(), False
    try:
        while core.any():
            narrower = program.copy()
            having = _add_other(narrower, core, n_types, within=True)
            if (other := solve(narrower, having)) is None:
                break
            _append(found, other)
            core = np.minimum(core, other)
        decided = True
        complete = _add_all(program.copy(), found, n_types, limit, solve)
    except NotDecided:
        complete = False
    return Found(np.array(found[:limit]), complete, core * decided, decided)


def _add_all(program: IntegerProgram, found: list[np.ndarray], n_types: int, limit: int, solve: Solve) -> bool:
    """Look for further solutions, up to the limit; say whether there are no others."""
    for one in found:
        _add_other(program, one, n_types)
    while len(found) <= limit:
        if (other := solve(program, None)) is None:
            return True
        _append(found, other)
        _add_other(program, other, n_types)
    return False


def _append(found: list[np.ndarray], other: np.ndarray) -> None:
    if any((other == one).all() for one in found):
        raise Inaccurate("HiGHS found the same records again, although they were excluded; use classes of values")
    found.append(other)


def _add_other(program: IntegerProgram, people: np.ndarray, n_types: int, within: bool = False) -> np.ndarray:
    """Ask for a solution that misses one of these people, or, unless they have to be missed, has more of them.

    A switch for the k-th person with a record must be on if k people or more have it. If not all are on, one of the
    people is missed. Other solutions that miss nobody are larger.

    Returns
    -------
    ndarray of int
        The places of the switches.
    """
    types = np.flatnonzero(people)
    which = np.repeat(types, people[types])
    kth = np.arange(len(which)) - np.repeat(np.cumsum(people[types]) - people[types], people[types]) + 1
    on = program.variables(len(which))
    each = sp.eye_array(len(which))
    program.add((which, each), (on, -sp.diags_array((program.upper[which] - kth + 1).astype(float))), high=kth - 1)
    all_on = (on, np.ones(len(on)))
    if within:
        program.add(all_on, high=len(which) - 1)
        return on
    larger = program.variables(1)
    program.add(all_on, (larger, -np.ones(1)), high=len(which) - 1)
    program.add((np.arange(n_types), np.ones(n_types)), (larger, -np.full(1, len(which) + 1.0)), low=0)
    return on
