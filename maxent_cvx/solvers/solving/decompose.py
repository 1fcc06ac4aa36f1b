"""Independent components of a problem, each solved by itself.

A component then takes no more iterations than it needs, and a hard one does not make the others less precise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..answer import Answer, Status
from ..backends.registry import Backend
from ..parameters.size_limits import ATTEMPT_SIZES
from ..program.linear_form import LinearForm

__all__ = ["solve_by_components"]

#: Every status, from the best to the worst.
BEST_TO_WORST = (Status.OPTIMAL, Status.INACCURATE, Status.LIMIT, Status.FAILED, Status.INFEASIBLE)


def solve_by_components(backend: Backend, form: LinearForm, start: np.ndarray, **options: Any) -> Answer:
    """Solve every independent component, and assemble the answers.

    Parameters
    ----------
    backend : Backend
    form : LinearForm
    start : ndarray, one a row
        Multipliers to start from.
    **options
        The backend's.

    Returns
    -------
    Answer
        With the worst status of any component and the iterations of the component that took most; times are added up.
        A line of the log has the number of its component as "part". A component without an answer ends it all: its
        answer is returned.
    """
    components = list(_components(form))
    if len(components) == 1:
        return backend.solve(form, start, **options)
    counts, multipliers, proofs, log, answers = np.zeros(form.shape[1]), np.zeros(form.shape[0]), [], [], []
    for number, (rows, terms) in enumerate(components):
        component = form.select(rows)
        matrix = sp.csr_array(component.matrix[:, terms])
        answer = backend.solve(replace(component, matrix=matrix, weights=form.weights[terms]), start[rows], **options)
        answers.append(answer)
        if answer.counts is None or answer.multipliers is None:
            return answer
        counts[terms], multipliers[rows] = answer.counts, answer.multipliers
        for proof in answer.proofs:
            extended = np.zeros(form.shape[0])
            extended[rows] = proof
            proofs.append(extended)
        log += [{"part": number, **line} for line in answer.log]
    return Answer(
        max((answer.status for answer in answers), key=BEST_TO_WORST.index),
        counts,
        multipliers,
        max(answer.iterations for answer in answers),
        sum(answer.compile_seconds for answer in answers),
        sum(answer.solve_seconds for answer in answers),
        "; ".join(dict.fromkeys(answer.message for answer in answers)),
        proofs,
        log,
    )


def _components(form: LinearForm) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows and terms of each component, the largest first; small ones, and rows without terms, form the last."""
    of_row, of_term = form.components()
    size = np.bincount(of_term, minlength=max(of_row.max(initial=0), of_term.max(initial=0)) + 1)
    order = np.argsort(-size, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    n = min(int(np.count_nonzero(size)), ATTEMPT_SIZES.most_components)
    row, term = np.minimum(rank[of_row], n - 1), np.minimum(rank[of_term], n - 1)
    for component in range(n):
        yield np.flatnonzero(row == component), np.flatnonzero(term == component)
