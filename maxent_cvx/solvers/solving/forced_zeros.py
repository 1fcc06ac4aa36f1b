"""Implied zeros that bound propagation does not find: searched for before a solve, and after it."""

from __future__ import annotations

import numpy as np

from ..answer import Answer
from ..dual.vanishing_terms import facial_reduction
from ..parameters.size_limits import ATTEMPT_SIZES
from ..presolve.reduce import reduce
from ..presolve.reduced import Reduced
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..proofs import local_proofs, support_proof

__all__ = ["zeros_after_solve", "zeros_before_solve"]


def zeros_before_solve(problem: Problem, smaller: Reduced) -> Reduced:
    """Fix terms that the knowledge alone forces to zero, where there is much knowledge, before the solve.

    New zeros may force further ones, but few: on Adult a second round takes as long as the first, and finds next to
    none. Newton's method would prove zeros, too, but one after the other. Where no term is in two published rows, as of
    people of whom no values are published, it does so in less time than the linear programs take, and nothing is done.
    """
    form = smaller.form
    if form.shape[0] - form.n_facts < ATTEMPT_SIZES.much_knowledge:
        return smaller
    if np.diff(problem.form.published_by_term.indptr).max(initial=0) <= 1:
        return smaller
    upper = smaller.proved_zeros(problem.form, map(form.extend_to_soft, local_proofs(form.hard)))
    if not np.isfinite(upper).any():
        return smaller
    return reduce(problem, np.minimum(upper, smaller.upper_bounds_of_zeros))


def zeros_after_solve(form: LinearForm, smaller: Reduced, answer: Answer, *, by_linear_program: bool) -> np.ndarray:
    """Find terms that are nearly zero in an uncertified answer and can be proved zero.

    Parameters
    ----------
    form : LinearForm
        The original problem.
    smaller : Reduced
    answer : Answer
        The answer to the reduced problem.
    by_linear_program : bool
        Whether to find all implied zeros by a linear program if the answer suggests none.

    Returns
    -------
    ndarray, one a term
        Upper bounds of the zeros, records; infinite for all other terms.
    """
    assert answer.counts is not None
    hard, extended = smaller.form.hard, smaller.form.extend_to_soft
    upper = smaller.proved_zeros(form, [*answer.proofs, extended(facial_reduction(hard, answer.counts))])
    if by_linear_program and not np.isfinite(upper).any():
        return smaller.proved_zeros(form, [extended(support_proof(hard))])
    return upper
