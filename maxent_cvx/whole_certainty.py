"""What is certain because people have one value each, whole: beyond what linear rows can say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .certainty import event_of
from .errors import Infeasible, SolverError
from .solvers.presolve import remaining
from .solvers.run import contradiction, presolved
from .solvers.whole import never_filled

if TYPE_CHECKING:
    from .posterior import Posterior

__all__ = ["whole_certain_table"]


def whole_certain_table(post: Posterior, seconds: float) -> pd.DataFrame:
    """List what whole assignments force, see :meth:`maxent_cvx.Posterior.certain`."""
    model, space = post.model, post.space
    if model.convex:
        raise SolverError("whole assignments satisfy linear rows, and the model holds a convex constraint of your own")
    form, closed_form = model.form, model.invariants.closed_form(space)
    try:
        smaller = presolved(form, closed_form, space.n_records)
    except Infeasible as error:
        raise contradiction(form, closed_form, space.n_records) or error from None
    settled = np.where(smaller.fixed, smaller.counts, 0.0)
    # Where buckets are untouched and do not overlap, every term can be filled.
    bucket = form.bucket[1]
    open_before = (np.bincount(bucket, form.known.touched | smaller.fixed | np.isnan(closed_form[0])) == 0)[bucket]
    asked = ~smaller.fixed & ~open_before
    empty, undecided = smaller.empty.copy(), np.zeros(len(space), dtype=bool)
    if asked.any():
        part = form.parts(~smaller.fixed)[1]
        left = ~smaller.fixed & np.isin(part, part[asked])
        rest = remaining(form, left, form.speak_of(left), form.sums(settled))
        found = never_filled(rest, asked[left], seconds)
        empty[left] |= found[0]
        undecided[left] |= found[1]
    return _table(post, empty, undecided)


def _table(post: Posterior, empty: np.ndarray, undecided: np.ndarray) -> pd.DataFrame:
    """Write what is certain of each group and value that had a choice, and what was not decided."""
    space = post.space
    people, n_values = space.groups[1], len(space.view.sensitive_values)
    pairs, of = np.unique(space.cells, return_inverse=True)
    filled = np.bincount(of, ~empty & ~undecided) > 0
    maybe = np.bincount(of, undecided) > 0
    owner = pairs // n_values
    choices = np.bincount(owner)
    may_be = np.bincount(owner, filled | maybe)
    one = filled & (may_be[owner] == 1) & (choices[owner] > 1)
    zero = ~filled & ~maybe & (np.bincount(owner, one)[owner] == 0)
    open_ = maybe & ~filled
    p = np.bincount(of, post.counts) / people[owner]
    rows = []
    for i in np.flatnonzero(one | zero | open_):
        term = space.first_of_group[owner[i]]
        whom = (0, int(space.codes["q"][term]))
        if len(space.people) and space.codes["who"][term] < len(space.people):
            whom = (1, int(space.codes["who"][term]))
        name = str(event_of(space, *whom, int(pairs[i] % n_values)))
        certain = np.nan if open_[i] else float(one[i])
        rows.append((name, certain, float(p[i]), int(people[owner[i]]), not open_[i]))
    columns = ["inference", "probability", "posterior", "people", "decided"]
    return pd.DataFrame(rows, columns=columns).set_index("inference")
