"""Independent parts of a problem, each solved by itself: none waits for the hardest, none blurs another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .answer import Answer, Status
from .backends.registry import Backend
from .program.linear_form import LinearForm
from .tolerances import ATTEMPTS

__all__ = ["solve_by_components"]

#: From the best end to the worst.
WORST = (Status.OPTIMAL, Status.INACCURATE, Status.LIMIT, Status.FAILED, Status.INFEASIBLE)


def solve_by_components(backend: Backend, form: LinearForm, start: np.ndarray, **options: Any) -> Answer:
    """Solve every independent part, and put the answers together.

    Iterations are those of the part that took most; the log tells the parts apart.
    """
    divided = list(_divide(form))
    if len(divided) == 1:
        return backend.solve(form, start, **options)
    counts, multipliers, proofs, log, answers = np.zeros(form.shape[1]), np.zeros(form.shape[0]), [], [], []
    for number, (rows, terms) in enumerate(divided):
        part = form.select(rows)
        part = replace(part, matrix=sp.csr_array(part.matrix[:, terms]), weights=form.weights[terms])
        answer = backend.solve(part, start[rows], **options)
        answers.append(answer)
        if answer.counts is None or answer.multipliers is None:
            return answer
        counts[terms], multipliers[rows] = answer.counts, answer.multipliers
        for proof in answer.proofs:
            whole = np.zeros(form.shape[0])
            whole[rows] = proof
            proofs.append(whole)
        log += [{"part": number, **line} for line in answer.log]
    return Answer(
        max((answer.status for answer in answers), key=WORST.index),
        counts,
        multipliers,
        max(answer.iterations for answer in answers),
        sum(answer.compile_seconds for answer in answers),
        sum(answer.solve_seconds for answer in answers),
        "; ".join(dict.fromkeys(answer.message for answer in answers)),
        proofs,
        log,
    )


def _divide(form: LinearForm) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows and the terms of every part, the largest first; a row without terms goes with the last."""
    of_row, of_term = form.components()
    size = np.bincount(of_term, minlength=max(of_row.max(initial=0), of_term.max(initial=0)) + 1)
    order = np.argsort(-size, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    n = min(int(np.count_nonzero(size)), ATTEMPTS.most_components)
    row, term = np.minimum(rank[of_row], n - 1), np.minimum(rank[of_term], n - 1)
    for part in range(n):
        yield np.flatnonzero(row == part), np.flatnonzero(term == part)
