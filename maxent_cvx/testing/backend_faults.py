"""What is wrong with a solver's answer, in words: the mistakes that everybody makes once."""

from __future__ import annotations

import numpy as np

from ..model.posterior import Posterior
from ..solvers.answer import Answer
from ..solvers.program.linear_form import LinearForm

__all__ = ["far", "fault"]

#: Answers that are as close to each other as this, relative to the largest count, are the same but for precision.
SAME = 1e-3


def far(post: Posterior, counts: np.ndarray) -> float:
    """The largest |P(s, b | q) - P'(s, b | q)| between a posterior and other counts of its terms."""
    q, n_q = post.space.groups
    return float((np.abs(post.counts - counts) / n_q[q]).max())


def fault(form: LinearForm, answer: Answer | None, exact: np.ndarray) -> str:
    """Say what is wrong with an answer to a whole problem without zeros, if it is one of the usual mistakes.

    Parameters
    ----------
    form : LinearForm
    answer : Answer, optional
        What the backend returned for it.
    exact : ndarray
        The counts that are right.

    Returns
    -------
    str
        Empty if nothing can be said.
    """
    if answer is None:
        return ""
    x, m = answer.counts, answer.multipliers
    if x is None or m is None:
        return f"it returns no answer, {answer.status.value}: {answer.message}"
    if not _same(x, exact):
        if _same(x * exact.sum(), exact):
            return f"the counts are shares, which sum to 1; records x = N p are expected, which sum to {exact.sum():g}"
        worst, off = int(np.abs(x - exact).argmax()), form.residual(np.maximum(x, 0.0))
        row = int(off.argmax())
        broken = f"; the row {form.name(row)!r} is off by {off[row]:.2g}" if off[row] > SAME else "; all rows hold"
        return f"a count is {x[worst]:.6g} records and {exact[worst]:.6g} is exact{broken}"
    exponent, own = form.exponent(m), form.matrix.T @ m
    with np.errstate(over="ignore"):
        if _same(np.exp(exponent), exact):
            return ""
        if _same(np.exp(form.exponent(-m)), exact):
            return "the multipliers have the other sign: x = w exp(A' m - 1) holds with -m"
        if _same(np.exp(exponent + 1), exact):
            return "the multipliers are those of x = w exp(A' m); x = w exp(A' m - 1) is expected"
        if _same(np.exp(own - 1), exact):
            return "the multipliers are those of x = exp(A' m - 1), without the weights w: the objective has them"
    return "the counts are right, and the multipliers are not: x = w exp(A' m - 1) does not hold"


def _same(x: np.ndarray, exact: np.ndarray) -> bool:
    return bool(np.abs(x - exact).max() <= SAME * exact.max())
