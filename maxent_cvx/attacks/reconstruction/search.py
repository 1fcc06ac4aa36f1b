"""All records that tables have in common, up to a limit, and what is in every one of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import Inaccurate, NotDecided
from .enumeration import MOST_ENTRIES, TableRows, enumerated
from .integer_program import IntegerProgram
from .table_rows import program_of

__all__ = ["Found", "search"]

#: Gives the next point of a program, checked, or None if there is none.
Solve = Callable[[IntegerProgram, np.ndarray | None], np.ndarray | None]
#: Seconds after which integer programs are tried beside the enumeration, and the solutions from which on it goes on
#: nevertheless: programs take longer the more solutions they have to exclude.
ENUMERATION_SECONDS, MANY = 3.0, 20


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Attributes
    ----------
    people : ndarray of int, shape (solutions, types)
        How many people have each type of record, one row a solution, all different.
    stopped : str
        Which limit ended the search; empty if there are no other solutions.
    certain : ndarray of int, one a type
        How many people have it in every solution, listed or not; zeros if that was not decided.
    decided : bool
        Whether it was.
    """

    people: np.ndarray
    stopped: str
    certain: np.ndarray
    decided: bool


def search(
    rows: TableRows, limit: int, seconds: float, check: Callable[[np.ndarray], None], solve: Solve
) -> Found | None:
    """Find solutions; None if there is none.

    The tables are enumerated. Where that takes long, or there are more than the limit, integer programs decide what is
    certain: each further solution has to miss one of the records that all others have in common, and the last program,
    which has no point, proves that these are in every solution.

    Parameters
    ----------
    rows : TableRows
    limit : int
    seconds : float
        Of wall time.
    check : function
        Raises if records do not have all the tables.
    solve : function

    Raises
    ------
    NotDecided
        If the time is over before there is any.
    """
    begun = time.perf_counter()
    tables = enumerated(rows) if rows.matrix.size <= MOST_ENTRIES else None
    found: dict[bytes, np.ndarray] = {}

    def enumerate_until(end: float) -> bool:
        """Enumerate tables; whether there are no others."""
        for people in tables or ():
            for one in people[: limit + 1]:
                if one.tobytes() not in found:
                    check(one)
                    found[one.tobytes()] = one
            if len(found) > limit or time.perf_counter() - begun > end:
                return False
        return tables is not None

    if seconds > 0 and enumerate_until(min(ENUMERATION_SECONDS, seconds)):
        people = np.array(list(found.values()))
        return Found(people, "", people.min(axis=0), True) if found else None
    program, core = program_of(rows), np.zeros(len(rows.upper), dtype=np.int64)
    decided = complete = False
    try:
        if not found:
            if (first := solve(program, None)) is None:
                return None
            _add(found, first)
        core = np.min(list(found.values()), axis=0)
        while core.any():
            narrower = program.copy()
            having = _add_other(narrower, core, len(core), within=True)
            other = solve(narrower, having)
            if other is None:
                break
            _add(found, other)
            core = np.minimum(core, other)
        decided = True
        if len(found) <= limit:
            many = tables is not None and len(found) >= MANY
            complete = enumerate_until(seconds) if many else _add_all(program, found, limit, solve)
    except NotDecided:
        if not found:
            raise
    listed = np.array(list(found.values())[:limit])
    stopped = f"limit={limit}" if len(found) > limit else f"time_limit={seconds:g}"
    return Found(listed, "" if complete else stopped, core * decided, decided)


def _add_all(program: IntegerProgram, found: dict[bytes, np.ndarray], limit: int, solve: Solve) -> bool:
    """Look for further solutions, up to the limit; say whether there are no others."""
    for one in found.values():
        _add_other(program, one, len(one))
    while len(found) <= limit:
        other = solve(program, None)
        if other is None:
            return True
        _add(found, other)
        _add_other(program, other, len(other))
    return False


def _add(found: dict[bytes, np.ndarray], other: np.ndarray) -> None:
    """Add a solution of a program that excludes those before."""
    if other.tobytes() in found:
        raise Inaccurate("HiGHS found the same records again, although they were excluded; use classes of values")
    found[other.tobytes()] = other


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
