"""What becomes of a random model: its answer, or that it has none, against an oracle of extended precision.

It is a module of its own, apart from the one that is run: workers import it.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath as mp
import numpy as np

from maxent_cvx import Inaccurate, Infeasible, MaxEnt, Posterior, SolverError

from ..support.oracle import Oracle, oracle
from .drawing.drawn import Drawn
from .drawing.models import drawn

__all__ = ["Outcome", "judged", "outcome"]

#: Counts below are taken from the multipliers.
TINY = 1e-150
#: What adding up the counts of a group costs, where answers are compared: a probability.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Outcome:
    """What became of one model.

    Attributes
    ----------
    word : str
        "answered", "refused", "infeasible", "wrong", "exceeded", or "no table" if no model was drawn.
    known : bool
        Whether the truth is known.
    error, bound : float
        Of an answer, the largest error of a probability, and what the certificate says of it.
    moves : float
        How far half a unit in the last place of typed numbers moves the exact answer: a probability.
    proved : bool
        Whether the bound is one for the rows as typed.
    said : str
        The first words of an error.
    """

    word: str
    known: bool = False
    error: float = np.nan
    bound: float = np.nan
    moves: float = np.nan
    proved: bool = False
    said: str = ""


def judged(case: Drawn, **options: object) -> Outcome:
    """Solve a model, and compare with the oracle."""
    try:
        post = case.model.solve(**options)  # type: ignore[arg-type]
    except (Inaccurate, Infeasible, SolverError) as error:
        return _without_answer(case, error)
    if case.contradictory:
        return Outcome("wrong", known=True, bound=post.certificate.bound, said="an answer, and there is none")
    soft = case.model.form.penalties is not None  # then the answer may be far from the table
    exact = oracle(case.posed, _begin(case.model, post) if soft else case.table, case.support)
    certificate = post.certificate
    if exact is None:
        return Outcome("answered", bound=certificate.bound)
    error = _error(post, exact)
    word = "exceeded" if error > certificate.bound + ROUNDING else "answered"
    return Outcome(word, True, error, certificate.bound, exact.moves, certificate.backward == 0)


def _without_answer(case: Drawn, error: Exception) -> Outcome:
    """Judge an error: a contradiction is wrong where the rows, exactly as typed, have an answer."""
    contradiction, said = isinstance(error, Infeasible), str(error).split("\n")[0][:100]
    if case.contradictory:
        return Outcome("infeasible" if contradiction else "refused", known=True, said=said)
    exact = oracle(case.posed, case.table, case.support)
    if exact is None:
        return Outcome("infeasible" if contradiction else "refused", said=said)
    return Outcome("wrong" if contradiction else "refused", known=True, moves=exact.moves, said=said)


def _begin(model: MaxEnt, post: Posterior) -> list[mp.mpf]:
    """A positive table to look for the exact answer from: the counts, or, less than doubles can be, w exp(A' m - 1)."""
    form = model.form
    exponent = form.exponent(form.transformed_multipliers(np.concatenate(list(post.multipliers.values()))))
    return [mp.mpf(x) if x > TINY else mp.exp(mp.mpf(e)) for x, e in zip(post.counts, exponent, strict=True)]


def _error(post: Posterior, exact: Oracle) -> float:
    """The largest error of any P(s | q), and of any P(s | who)."""
    space = post.space
    group, n = space.groups
    key = group * len(space.view.sensitive_values) + space.codes["s"]
    off: dict[int, object] = {}
    for k, have, want in zip(key.tolist(), post.counts.tolist(), exact.counts, strict=True):
        off[k] = off.get(k, 0) + (have - want)  # type: ignore[operator]
    return float(max(abs(v) / int(n[k // len(space.view.sensitive_values)]) for k, v in off.items()))  # type: ignore[arg-type]


def outcome(kind: str, seed: int) -> Outcome:
    """Draw a model, and judge it."""
    case = drawn(kind, seed)
    return Outcome("no table") if case is None else judged(case)
