"""Reconstruction of records from published tables (Garfinkel, Abowd and Martindale)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ...errors import Inaccurate, Infeasible, NotDecided, arguments
from ...sources import PublishedTable
from ...system.progress import progress_bar
from .integer_program import IntegerProgram
from .record_types import RecordTypes
from .result import Reconstruction, reconstruction_of
from .search import search
from .statistic import Statistic, statistics_of
from .table_rows import Checks, rows_of

__all__ = ["reconstruct"]


def reconstruct(
    tables: Statistic | PublishedTable | Iterable[Statistic | PublishedTable],
    domain: Mapping[str, Iterable[object]] | pd.DataFrame,
    limit: int = 10,
    *,
    time_limit: float = 60.0,
    progress: bool | None = None,
) -> Reconstruction:
    """All n >= 0, integer, with low <= A n <= high: how many people have each record, given what tables say of them.

    Every solution is compared with the tables in integers and fractions before it is listed. Solutions are enumerated
    in integers: if the enumeration ends, that there are no others is proved. Where it does not end, that there are no
    others, and what is certain, rests on integer programs that HiGHS found to have no solution; it works in double
    precision, on rows of small integers.

    Parameters
    ----------
    tables : list of Statistic and PublishedTable
        One has to say, or to limit, how many people there are; or several do together whose groups contain everybody.
    domain : dict or DataFrame
        The values that each attribute can have; or the records that are possible, a row each.
    limit : int
        How many solutions are listed, at most. What is certain refers to all of them, nevertheless.
    time_limit : float
        Seconds of wall time.
    progress : bool, optional
        Show how many solutions were checked and integer programs solved, as a progress bar; by default on a terminal or
        in a notebook.

    Returns
    -------
    Reconstruction

    Raises
    ------
    Infeasible
        If no records have all the tables.
    NotDecided
        If none are found in the time. If it ends later, the result says that it is not complete.
    StatementError, UnknownName, TableError, BadProbability
        If an argument cannot be read, or the tables and the domain do not fit.
    Inaccurate, SolverError
        If HiGHS fails.

    Notes
    -----
    Garfinkel, Abowd and Martindale, "Understanding database reconstruction attacks on public data", Communications of
    the ACM 62(3), 2019, 46-53: a fictional block of seven people, found by a SAT solver over people in the order of
    their ages. Here people have no order: what is unknown is how many have each type of record, so that every multiset
    is found once. That some records are certain where others are not is the question of Liu et al.,
    "Generate-then-verify", arXiv:2504.21199.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.attacks import Statistic

    Four people, of whom a small cell is suppressed. The sum of all ages and that of the women's, 140 / 3 = 46.7, leave
    25 years for the man, and the median 74 for the eldest woman, whatever the ages of the other two are:

    >>> tables = [Statistic({}, 4, mean=41.25, median=33), Statistic({"sex": "F"}, 3, mean=46.7, decimals=1),
    ...           Statistic({"age": range(30, 60)}, 2), Statistic({"age": range(70, 80)}, "<2")]
    >>> found = mx.attacks.reconstruct(tables, domain={"age": range(20, 80), "sex": ["F", "M"]}, limit=3)
    >>> print(found)
    reconstruction of 4 people: 3 solutions, not complete (limit=3); 2 records certain
    >>> found.certain.to_dict("records")
    [{'age': 25, 'sex': 'M'}, {'age': 74, 'sex': 'F'}]
    """
    limit = arguments.whole(limit, "limit", 1)
    seconds = arguments.seconds(time_limit, "time_limit")
    arguments.optional_flag(progress, "progress")
    statistics, types = statistics_of(tables), RecordTypes.read(domain)
    rows, checks, until = rows_of(statistics, types), Checks(statistics, types), time.perf_counter() + seconds

    def check(people: np.ndarray) -> None:
        if (wrong := checks.wrong(people)) is not None:
            raise Inaccurate(f"the records found do not have {wrong!r}; use classes of values, or fewer people")
        bar.update()

    def solve(narrower: IntegerProgram, towards: np.ndarray | None) -> np.ndarray | None:
        point = narrower.solve(until, towards)
        if point is None:
            return None
        check(people := point[: len(types)])
        return people

    try:
        with progress_bar(None, "reconstruct", progress, unit=" steps") as bar:
            found = search(rows, limit, seconds, check, solve)
    except NotDecided as error:
        raise NotDecided(
            f"no records were found in {seconds:.3g} seconds, nor that there are none; give more, time_limit=..., or "
            "a smaller domain"
        ) from error
    if found is None:
        raise Infeasible(
            "no records have all the tables; was something rounded, decimals=..., or noisy, count=(least, most), or "
            "does the domain lack values?"
        )
    return reconstruction_of(types.frame, found)
