"""Certain inferences: probabilities that knowledge forces to 0 or 1, and what forces each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tqdm import tqdm

from .selection import choose
from .solvers.forcing import forced_by, forcing
from .sources.statement import Event
from .space import Space

if TYPE_CHECKING:
    from .posterior import Posterior

__all__ = ["certain_table"]

#: Terms with fewer people may be empty: an answer that is not exact leaves some there. Proof decides.
SMALL = 1e-5


def certain_table(post: Posterior, progress: bool | None) -> pd.DataFrame:
    """List certain inferences with their reasons, see :meth:`maxent_cvx.Posterior.certain`."""
    model, space = post.model, post.space
    form, closed_form = model.form, model.invariants.closed_form(space)
    found = list(_inferences(space, post.counts < SMALL))
    known = np.arange(form.n_facts, form.shape[0])
    sets: list[np.ndarray] = []
    because: list[np.ndarray | None] = [None] * len(found)
    # What a single statement forces is by far the most, and is seen from bounds.
    of = np.repeat(np.arange(len(found)), [len(terms) for *_, terms in found])
    terms_of = np.concatenate([np.empty(0, dtype=int), *(terms for *_, terms in found)])
    for row in known if found else ():
        zeros = forced_by(form, np.array([row]), space.n_records)
        for forced in np.flatnonzero(np.bincount(of, ~zeros[terms_of]) == 0):
            because[forced] = np.array([row]) if because[forced] is None else because[forced]
    rest = [i for i, reason in enumerate(because) if reason is None]
    for i in tqdm(rest, desc="certain", disable=None if progress is None else not progress):
        terms = np.zeros(len(space), dtype=bool)
        terms[found[i][3]] = True
        for some in (*sets, known):  # a set that forces one thing often forces others: few rows are quickly asked
            part = form.select(np.concatenate([np.arange(form.n_facts), some]))
            rows = forcing(part, terms, closed_form, space.n_records)
            if rows is not None:
                because[i] = reason = some[rows - form.n_facts]
                if not any(np.array_equal(reason, other) for other in sets):
                    sets.append(reason)
                break
    names = {i: form.name(i) for reason in because if reason is not None for i in reason}
    table = [
        (str(event), probability, people, [names[i] for i in reason])
        for (event, probability, people, _), reason in zip(found, because, strict=True)
        if reason is not None
    ]
    columns = ["inference", "probability", "people", "because"]
    return pd.DataFrame(table, columns=columns).set_index("inference")


def _inferences(space: Space, empty: np.ndarray) -> Iterator[tuple[Event, float, int, np.ndarray]]:
    """Give each P(s | q) and P(s | person) that is 0 or 1 with the people it is about, and the terms to be empty.

    Where P(s | q) is 1, that the others are 0 goes without saying; where a bucket allows one value only, nothing
    was open.
    """
    view, s, n_s = space.view, space.codes["s"], space.view.n_sb.shape[0]
    axes = [(space.codes["q"], len(view.n_q), view.n_q)]
    if len(space.people):
        axes.append((space.codes["who"], len(space.people), np.ones(len(space.people), dtype=int)))
    for axis, (code, size, people) in enumerate(axes):
        terms = np.flatnonzero(code < size)
        key = code[terms] * n_s + s[terms]
        order = terms[np.argsort(key, kind="stable")]
        pairs, start = np.unique(code[order] * n_s + s[order], return_index=True)
        is_empty = np.minimum.reduceat(empty[order], start) if len(order) else np.zeros(0, dtype=bool)
        left = np.bincount(pairs // n_s, ~is_empty, size)
        one = left[pairs // n_s] == 1
        several = (np.bincount(pairs // n_s, minlength=size) > 1)[pairs // n_s]
        parts = np.split(order, start[1:])
        by_group = np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(pairs // n_s)) + 1)
        of_group = (
            dict(zip(pairs[[group[0] for group in by_group]] // n_s, by_group, strict=True)) if len(pairs) else {}
        )
        for i in np.flatnonzero((is_empty & ~one) | (~is_empty & one & several)):
            group, value = divmod(int(pairs[i]), n_s)
            others = parts[i] if is_empty[i] else np.concatenate([parts[j] for j in of_group[group] if j != i])
            yield _event(space, axis, group, value), float(not is_empty[i]), int(people[group]), others


def _event(space: Space, axis: int, group: int, value: int) -> Event:
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
