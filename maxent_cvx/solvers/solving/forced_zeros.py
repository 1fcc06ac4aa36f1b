"""Terms that are empty in every solution although bounds leave them open: looked for before a solve, and after it."""

from __future__ import annotations

import numpy as np

from ..answer import Answer
from ..linear.facial_reduction import facial_reduction
from ..linear.support import local_proofs, support_proof
from ..presolve.reduce import Reduced, reduce
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..size_limits import ATTEMPT_SIZES

__all__ = ["zeros_after_solve", "zeros_before_solve"]


def zeros_before_solve(problem: Problem, smaller: Reduced) -> Reduced:
    """Take out terms that much knowledge empties by itself, many of them because of others, before any solver begins.

    Newton's method proves them as it goes, one after the other.
    """
    while smaller.form.shape[0] - smaller.form.n_facts >= ATTEMPT_SIZES.much_knowledge:
        most = smaller.proved(problem.form, local_proofs(smaller.form))
        if not np.isfinite(most).any():
            break
        smaller = reduce(problem, np.minimum(most, smaller.most))
    return smaller


def zeros_after_solve(form: LinearForm, smaller: Reduced, answer: Answer, *, last: bool) -> np.ndarray:
    """Terms that an answer which is not certified leaves nearly empty, and that are; or, at last, any that are.

    Returns
    -------
    ndarray, one a term
        The most people that each can hold; infinite where nothing is proved.
    """
    assert answer.counts is not None
    most = smaller.proved(form, [*answer.proofs, facial_reduction(smaller.form, answer.counts)])
    if last and not np.isfinite(most).any():
        return smaller.proved(form, [support_proof(smaller.form)])
    return most
