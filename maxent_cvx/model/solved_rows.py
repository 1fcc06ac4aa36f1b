"""A table of many solves: each warm from one before, chains of them in parallel, and no row is lost where one fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import pandas as pd

from ..errors import Infeasible, SolverError, amount
from ..system.parallel import Workers
from ..system.progress import progress_bar

__all__ = ["Cases", "solved_rows"]


class Cases(Protocol):
    """What is solved, by number, and what is told of each."""

    def about(self, i: int) -> dict[str, Any]:
        """The columns that say which it is."""
        ...

    def solved(self, i: int, before: Any) -> Any:
        """Its posterior, begun with that of the case before, None for the first of a chain."""
        ...

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """The columns that say what was found."""
        ...


class Row(NamedTuple):
    """A row of the table, by the number of the case; where there is no answer, the error that says why."""

    number: int
    columns: dict[str, Any]
    error: SolverError | None = None


def solved_rows(
    cases: Cases,
    chains: Sequence[Sequence[int]],
    what: str,
    workers: Workers = Workers(),  # noqa: B008  (it cannot be changed)
    progress: bool | None = None,
) -> list[dict[str, Any]]:
    """Solve cases, and give a row of each, in the order of their numbers.

    Beside what the cases tell, a row has "status": that of the answer, "infeasible", or "failed" without one; and
    "message", why there is no answer, or "".

    Parameters
    ----------
    cases : Cases
    chains : sequence of sequences of int
        Every case once. Cases of a chain are solved one after another, each begun with the answer before it. What is
        answered depends on the chains, and not on the workers.
    what : str
        Written before the progress bar.
    workers : Workers
        Among whom the chains are divided.
    progress : bool, optional
        Whether the bar is shown; by default on a terminal or in a notebook.

    Raises
    ------
    SolverError
        The first one, if no case came to an end.
    BaseException
        Whatever else is raised, an interrupt too. If some rows are finished, they are in its attribute ``finished``, a
        DataFrame, and a note says so.
    """
    found: dict[int, Row] = {}
    try:
        for row in progress_bar(_each(cases, chains, workers), what, progress, total=sum(map(len, chains))):
            found[row.number] = row
    except BaseException as error:
        if found:
            error.finished = pd.DataFrame([found[i].columns for i in sorted(found)])  # type: ignore[attr-defined]
            error.add_note(f"{amount(len(found), 'row is', 'rows are')} finished: the attribute finished of this error")
        raise
    rows = [found[i] for i in sorted(found)]
    if rows and all(row.error for row in rows):
        raise next(row.error for row in rows if row.error)
    return [row.columns for row in rows]


def _each(cases: Cases, chains: Sequence[Sequence[int]], workers: Workers) -> Iterator[Row]:
    """Give each row as soon as it is there; from other processes, as soon as its chain is."""
    if workers.is_this_process or (len(chains) == 1 and workers.cluster is None):
        return chain.from_iterable(_along(cases, one) for one in chains)
    return chain.from_iterable(workers.map(_finished, cases, ((one,) for one in chains)))


def _finished(cases: Cases, numbers: Sequence[int]) -> list[Row]:
    """The rows of a chain."""
    return list(_along(cases, numbers))


def _along(cases: Cases, numbers: Sequence[int]) -> Iterator[Row]:
    """Go along a chain."""
    before = None
    for i in numbers:
        about = cases.about(i)
        try:
            post = cases.solved(i, before)
        except Infeasible as error:
            yield Row(i, {**about, "status": "infeasible", "message": str(error)})
        except SolverError as error:
            yield Row(i, {**about, "status": "failed", "message": str(error)}, error)
        else:
            yield Row(i, {**about, "status": str(post.status), **cases.measured(i, post), "message": ""})
            before = post
