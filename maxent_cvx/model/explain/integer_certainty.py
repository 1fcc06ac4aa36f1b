"""What every integer solution agrees on: certain because each record has exactly one value, beyond linear rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...errors import Infeasible, SolverError
from ...solvers.explain import contradiction
from ...solvers.intervals import without_knowledge
from ...solvers.linear import never_filled, settle_integers
from ...solvers.presolve.reduce import remaining
from ...solvers.solving.presolving import presolved
from ...terms.space import Space
from ..adversary import Adversary
from .certainty import Key, Subjects, follows_for_others, name_of, subjects

__all__ = ["integer_certain_table"]

#: What an inference says: of whom, which value, and how probable that is.
KEY = ["kind", "group", "value", "probability"]


def integer_certain_table(model: Adversary, counts: np.ndarray, seconds: float) -> pd.DataFrame:
    """List what all integer solutions agree on, see :meth:`maxent_cvx.Posterior.certain`."""
    if model.convex:
        raise SolverError("whole assignments satisfy linear rows, and the model holds a convex constraint of your own")
    problem = model.posed.hard
    form = problem.form
    try:
        reduced = settle_integers(presolved(problem))
    except Infeasible as error:
        raise contradiction(problem) or error from None
    # Where no knowledge involves a bucket and buckets do not overlap, some assignment fills any term.
    candidates = ~reduced.fixed & ~without_knowledge(problem, reduced)
    empty, undecided = reduced.zeros.copy(), np.zeros(len(counts), dtype=bool)
    if candidates.any():
        component = form.components(~reduced.fixed)[1]
        left = ~reduced.fixed & np.isin(component, component[candidates])
        fixed_counts = np.where(reduced.fixed, reduced.counts, 0.0)
        rest = remaining(form, left, form.rows_involving(left), form.matvec(fixed_counts))
        found = never_filled(rest, candidates[left], seconds)
        empty[left] |= found[0]
        undecided[left] |= found[1]
    return _table(model.space, counts, empty, undecided)


def _table(space: Space, counts: np.ndarray, empty: np.ndarray, undecided: np.ndarray) -> pd.DataFrame:
    """Write what is certain of everybody who had a choice, and what was not decided."""
    found = pd.concat([_of(space, counts, whom, empty, undecided) for whom in subjects(space)], ignore_index=True)
    keys: list[Key] = list(found[KEY].itertuples(index=False, name=None))
    said = {key for key, decided in zip(keys, found["decided"], strict=True) if decided}
    found = found[np.array([not follows_for_others(key, said) for key in keys], dtype=bool)]
    names = [name_of(space, kind, group, value) for kind, group, value in found[KEY[:3]].itertuples(index=False)]
    index = pd.Index(names, dtype=object, name="inference")
    return found.set_index(index)[["probability", "posterior", "people", "decided"]]


def _of(space: Space, counts: np.ndarray, whom: Subjects, empty: np.ndarray, undecided: np.ndarray) -> pd.DataFrame:
    """What is certain, or not decided, of everybody of one kind: what the terms of all of them say together."""
    code, n_values = whom.code, len(space.view.sensitive_values)
    terms = np.flatnonzero(code < len(whom.people))
    pairs, of = np.unique(code[terms] * n_values + space.codes["s"][terms], return_inverse=True)
    n, owner = len(pairs), pairs // n_values
    filled = np.bincount(of, ~empty[terms] & ~undecided[terms], n) > 0
    maybe = np.bincount(of, undecided[terms], n) > 0
    choices = np.bincount(owner, minlength=len(whom.people))
    may_be = np.bincount(owner, filled | maybe, len(whom.people))
    one = filled & (may_be[owner] == 1) & (choices[owner] > 1)
    zero = ~filled & ~maybe & (np.bincount(owner, one, len(whom.people))[owner] == 0)
    open_ = maybe & ~filled
    listed = one | zero | open_
    people = whom.people[owner]
    p = np.bincount(of, counts[terms], n) / people
    return pd.DataFrame(
        {
            "kind": whom.kind, "group": owner, "value": pairs % n_values,
            "probability": np.where(open_, np.nan, one.astype(float)), "posterior": p, "people": people,
            "decided": ~open_,
        }
    )[listed]  # fmt: skip
