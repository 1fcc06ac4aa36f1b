"""Independent components of a problem, each solved by itself.

A component then takes no more iterations than it needs, and a hard one does not make the others less precise. Those of
a method that goes step by step are solved together, one step of each at a time, and are logged as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..answer import Answer, Status
from ..backends.registry import Backend
from ..monitoring.monitor import Monitor
from ..monitoring.together import solved_together
from ..parameters.size_limits import ATTEMPT_SIZES
from ..program.linear_form import LinearForm

__all__ = ["in_one_call", "solve_by_components"]

#: Every status, from the best to the worst.
BEST_TO_WORST = (Status.OPTIMAL, Status.INACCURATE, Status.LIMIT, Status.FAILED, Status.INFEASIBLE)


def solve_by_components(
    backend: Backend, form: LinearForm, start: np.ndarray, monitor: Monitor | None = None, **options: Any
) -> Answer:
    """Solve every independent component, and assemble the answers.

    Parameters
    ----------
    backend : Backend
    form : LinearForm
    start : ndarray, one a row
        Multipliers to start from.
    monitor : Monitor, optional
        Is told every iteration, and may stop the solve.
    **options
        The backend's.

    Returns
    -------
    Answer
        With the worst status of any component and the iterations of the component that took most; times are added up.
        A line of the log is one iteration of all components together; of a backend that solves one after another, it
        has the number of its component as "part", from 1. A component without an answer ends it all: its answer is
        returned.
    """
    monitor = monitor or Monitor()
    components = list(_components(form))
    if len(components) == 1:
        del components  # numbers of every row and term, which the solve needs not hold
        return in_one_call(backend, form, start, monitor, **options)
    if (steps := getattr(backend, "steps", None)) is not None:
        begun = monitor.seconds
        answers, log = solved_together(
            [steps(_part(form, *each), start[each[0]], **options) for each in components], monitor
        )
        seconds = [monitor.seconds - begun]
    else:
        answers, log = [], []
        for number, (rows, terms) in enumerate(components, start=1):
            watching = monitor.of_part(number, len(components))
            answer = in_one_call(backend, _part(form, rows, terms), start[rows], watching, **options)
            answers.append(answer)
            log += [{"part": number, **line} for line in answer.log]
            if answer.counts is None or answer.multipliers is None:
                break
        seconds = [answer.solve_seconds for answer in answers]
    return _assembled(form, components, answers, log, sum(seconds))


def in_one_call(backend: Backend, form: LinearForm, start: np.ndarray, monitor: Monitor, **options: Any) -> Answer:
    """Solve a problem as a whole; of a backend without a log, how it ended is logged as one line."""
    answer = backend.solve(form, start, monitor=monitor, **options)
    line: Mapping[str, Any] = answer.log[-1] if answer.log else {"iteration": answer.iterations}
    if not answer.log:
        residual = np.nan if answer.counts is None else float(form.residual(answer.counts).max(initial=0.0))
        line = {**line, "residual": residual, "seconds": monitor.seconds, "status": str(answer.status)}
        answer = replace(answer, log=[line])
    if getattr(backend, "steps", None) is None:
        monitor.end_part({**line, "status": str(answer.status)})
    return answer


def _assembled(
    form: LinearForm,
    components: list[tuple[np.ndarray, np.ndarray]],
    answers: list[Answer],
    log: list[Any],
    seconds: float,
) -> Answer:
    """One answer of those of all components."""
    counts, multipliers, proofs = np.zeros(form.shape[1]), np.zeros(form.shape[0]), []
    for (rows, terms), answer in zip(components, answers, strict=False):
        if answer.counts is None or answer.multipliers is None:
            return answer
        counts[terms], multipliers[rows] = answer.counts, answer.multipliers
        for proof in answer.proofs:
            extended = np.zeros(form.shape[0])
            extended[rows] = proof
            proofs.append(extended)
    return Answer(
        max((answer.status for answer in answers), key=BEST_TO_WORST.index),
        counts,
        multipliers,
        max(answer.iterations for answer in answers),
        sum(answer.compile_seconds for answer in answers),
        seconds,
        "; ".join(dict.fromkeys(answer.message for answer in answers)),
        proofs,
        log,
    )


def _part(form: LinearForm, rows: np.ndarray, terms: np.ndarray) -> LinearForm:
    """The problem of one component."""
    return form.select(rows).select_terms(terms)


def _components(form: LinearForm) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows and terms of each component, the largest first; the others, and rows without terms, form the last.

    Components without knowledge are no hard ones: they are among the others, all of them together.
    """
    of_row, of_term = form.components()
    size = np.bincount(of_term, minlength=max(of_row.max(initial=0), of_term.max(initial=0)) + 1)
    restricted = np.bincount(of_row[form.n_published :], minlength=len(size)) > 0
    order = np.lexsort((-size, ~restricted))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    n_own = np.count_nonzero(restricted & (size > 0))
    n = min(int(n_own + (np.count_nonzero(size) > n_own)), ATTEMPT_SIZES.most_components)
    row, term = np.minimum(rank[of_row], n - 1), np.minimum(rank[of_term], n - 1)
    for component in range(n):
        yield np.flatnonzero(row == component), np.flatnonzero(term == component)
