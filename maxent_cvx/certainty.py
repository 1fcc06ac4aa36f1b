"""Certain inferences: probabilities that knowledge forces to 0 or 1, and what forces each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from .progress import progress_bar
from .selection import choose
from .solvers.forcing import forced_by, forcing
from .solvers.linear_form import LinearForm
from .sources.statement import Event
from .space import Space

if TYPE_CHECKING:
    from .posterior import Posterior

__all__ = ["certain_table", "event_of"]

#: Rows that are tried one by one; statements come last.
MOST = 2_000
#: Terms with fewer people may be empty: an answer that is not exact leaves some there. Proof decides.
SMALL = 1e-5


class Inference(NamedTuple):
    """P(s | q), or P(s | i), that may be 0 or 1.

    Attributes
    ----------
    event : Event
    group : (int, int)
        Whom it is about: the QI tuples or the people, and which of them.
    probability : float
    people : int
        How many they are.
    terms : ndarray of int
        The terms that must be empty.
    """

    event: Event
    group: tuple[int, int]
    probability: float
    people: int
    terms: np.ndarray


def certain_table(post: Posterior, progress: bool | None) -> pd.DataFrame:
    """List certain inferences with their reasons, see :meth:`maxent_cvx.Posterior.certain`."""
    model, space = post.model, post.space
    form, closed_form = model.form, model.invariants.closed_form(space)
    if np.isnan(closed_form[0]).any():  # releases of the same people force something by themselves
        form = form.doubting()
        closed_form = closed_form[0], closed_form[1][: form.n_published]
    found = list(_inferences(space, post.counts < SMALL))
    known = np.arange(form.n_facts, form.shape[0])
    because = _forced_by_one(found, known[-MOST:], form, space.n_records)
    sets: list[np.ndarray] = []
    # Where P(s | q) is 1, that the others are 0 goes without saying.
    said = {found[i].group for i in because if found[i].probability == 1}
    rest = sorted(set(range(len(found))) - set(because), key=lambda i: (-found[i].probability, i))
    for i in progress_bar(rest, "certain", progress):
        if found[i].group in said:
            continue
        terms = np.zeros(len(space), dtype=bool)
        terms[found[i].terms] = True
        for some in (*sets, known):  # a set that forces one thing often forces others: few rows are quickly asked
            rows = forcing(form.among(some), terms, closed_form, space.n_records)
            if rows is not None:
                because[i] = reason = some[rows - form.n_facts]
                if not any(np.array_equal(reason, other) for other in sets):
                    sets.append(reason)
                if found[i].probability == 1:
                    said.add(found[i].group)
                break
    table = [
        (str(found[i].event), found[i].probability, found[i].people, [form.name(row) for row in because[i]])
        for i in sorted(because)
        if found[i].probability == 1 or found[i].group not in said
    ]
    columns = ["inference", "probability", "people", "because"]
    return pd.DataFrame(table, columns=columns).set_index("inference")


def _forced_by_one(
    found: list[Inference], known: np.ndarray, form: LinearForm, n_records: float
) -> dict[int, np.ndarray]:
    """What a single statement forces, seen from bounds: by far the most; its row, by the number of the inference."""
    because: dict[int, np.ndarray] = {}
    of = np.repeat(np.arange(len(found)), [len(inference.terms) for inference in found])
    terms = np.concatenate([np.empty(0, dtype=int), *(inference.terms for inference in found)])
    for row in known if found else ():
        zeros = forced_by(form, np.array([row]), n_records)
        for forced in np.flatnonzero(np.bincount(of, ~zeros[terms]) == 0):
            because.setdefault(int(forced), np.array([row]))
    return because


def _inferences(space: Space, empty: np.ndarray) -> Iterator[Inference]:
    """Give each P(s | q) and P(s | person) that may be 0 or 1; where a bucket allows one value, nothing was open."""
    view, s, n_s = space.view, space.codes["s"], len(space.view.sensitive_values)
    axes = [(space.codes["q"], len(view.n_q), view.n_q)]
    if len(space.people):
        axes.append((space.codes["who"], len(space.people), np.ones(len(space.people), dtype=int)))
    for axis, (code, size, people) in enumerate(axes):
        terms = np.flatnonzero(code < size)
        order = terms[np.argsort(code[terms] * n_s + s[terms], kind="stable")]
        pairs, start = np.unique(code[order] * n_s + s[order], return_index=True)
        group = pairs // n_s
        is_empty = np.minimum.reduceat(empty[order], start)
        several = (np.bincount(group) > 1)[group]
        one = several & ~is_empty & (np.bincount(group, ~is_empty, size)[group] == 1)
        first, last = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
        end = np.append(start, len(order))
        for i in np.flatnonzero(is_empty | one):
            own = order[end[i] : end[i + 1]]
            terms = own if is_empty[i] else np.setdiff1d(order[end[first[i]] : end[last[i]]], own)
            whom = int(group[i])
            event = event_of(space, axis, whom, int(pairs[i] % n_s))
            yield Inference(event, (axis, whom), float(one[i]), int(people[whom]), terms)


def event_of(space: Space, axis: int, group: int, value: int) -> Event:
    """Name an inference as a statement would."""
    view = space.view
    label = view.sensitive_values[value]
    several = len(view.sensitive) > 1
    values = zip(view.sensitive, label, strict=True) if several else [(None, label)]
    sensitive = frozenset((name, choose(one, "the sensitive value")) for name, one in values)
    if axis == 1:
        return Event(sensitive, who=frozenset([space.people.names[group]]))
    given = zip(view.qi, view.quasi_identifiers[group], strict=True)
    return Event(sensitive, frozenset((name, choose(one, name)) for name, one in given))
