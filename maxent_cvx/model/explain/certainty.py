"""Certain inferences: probabilities that knowledge forces to 0 or 1, and what forces each."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...solvers.explain import ForcingSets, forcing_rows, zeros_by_bounds
from ...solvers.monitoring.deadline import check_time
from ...solvers.program.linear_form import LinearForm
from ...sources.statements.statement import Event, conditions
from ...system.progress import progress_bar
from ...tables.selection import choose
from ...terms.people import OTHERS
from ...terms.space import Space
from ..adversary import Adversary

__all__ = ["Key", "Subjects", "certain_table", "follows_for_others", "name_of", "subjects"]

#: Rows of knowledge whose consequences are derived one by one, from the last; statements come last.
MOST_ROWS = 2_000
#: Terms with fewer records than this are candidates for zeros, as answers are not exact; a proof decides.
MAYBE_ZERO = 1e-5


#: What an inference says: the kind of those whom it is about, which of them, the position of s, and 0 or 1.
Key = tuple[str, int, int, float]


class Subjects(NamedTuple):
    """Whom inferences of one kind are about.

    Attributes
    ----------
    kind : str
        "q", everybody with a QI tuple, named or not; "who", a named person; "others", those with a QI tuple who have
        no name, where some have one.
    code : ndarray of int, one a term
        The position of the QI tuple or of the name; `len(people)` where a term is about nobody of this kind.
    people : ndarray of int
        How many people each is.
    """

    kind: str
    code: np.ndarray
    people: np.ndarray


class Inference(NamedTuple):
    """P(s | q), P(s | i), or P(s | the others with q), that may be 0 or 1.

    Attributes
    ----------
    name : str
    group : (str, int)
        Whom it is about: their kind, and which of them.
    value : int
        The position of s.
    probability : float
    people : int
        How many they are.
    terms : ndarray of int
        The terms that must be empty.
    """

    name: str
    group: tuple[str, int]
    value: int
    probability: float
    people: int
    terms: np.ndarray

    @property
    def key(self) -> Key:
        """What it says, but for the name."""
        return *self.group, self.value, self.probability


def certain_table(model: Adversary, counts: np.ndarray, progress: bool | None) -> pd.DataFrame:
    """List certain inferences with their reasons, see :meth:`maxent_cvx.Posterior.certain`."""
    space, problem = model.space, model.posed.hard
    if np.isnan(problem.closed_form.counts).any():  # releases of the same people force something by themselves
        problem = problem.relax_published()
    form = problem.form
    found = list(_inferences(space, counts < MAYBE_ZERO))
    known = np.arange(form.n_facts, form.shape[0])
    because = _forced_by_one(found, known[-MOST_ROWS:], form, space.n_records)
    sets = ForcingSets(form)
    # Where P(s | q) is 1, it follows that the others are 0.
    said = {found[i].group for i in because if found[i].probability == 1}
    keys = {found[i].key for i in because}

    def follows(inference: Inference) -> bool:
        """Whether it follows from one that is listed: another value has 1, or it is true of all with the QI tuple."""
        kind, whom = inference.group
        if inference.group in said and inference.probability == 0:
            return True
        return follows_for_others(inference.key, keys) or (kind == "others" and ("q", whom) in said)

    rest = sorted(set(range(len(found))) - set(because), key=lambda i: (-found[i].probability, i))
    for i in progress_bar(rest, "certain", progress):
        if follows(found[i]):
            continue
        check_time()
        terms = np.zeros(len(space), dtype=bool)
        terms[found[i].terms] = True
        reason = sets.forcing(terms)
        if reason is None and (rows := forcing_rows(problem, terms)) is not None:
            sets.add(reason := rows)
        if reason is not None:
            because[i] = reason
            keys.add(found[i].key)
            if found[i].probability == 1:
                said.add(found[i].group)
    table = [
        (found[i].name, found[i].probability, found[i].people, [form.name(row) for row in because[i]])
        for i in sorted(because)
        if not follows(found[i])
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
    for row, zeros in zeros_by_bounds(form, known, n_records) if found else ():
        for forced in np.flatnonzero(np.bincount(of, ~zeros[terms]) == 0):
            because.setdefault(int(forced), np.array([row]))
    return because


def subjects(space: Space) -> Iterator[Subjects]:
    """Give everybody of each QI tuple, then each named person, then the others of the QI tuples that have names."""
    q, n_q = space.codes["q"], space.view.n_q
    yield Subjects("q", q, n_q)
    if len(space.people):
        who, unnamed = space.codes["who"], space.people.unnamed
        yield Subjects("who", who, np.ones(len(space.people), dtype=int))
        yield Subjects("others", np.where((who == len(space.people)) & (unnamed < n_q)[q], q, len(n_q)), unnamed)


def follows_for_others(key: Key, said: Container[Key]) -> bool:
    """Whether an inference about the others of a QI tuple follows from the same one about everybody with it."""
    return key[0] == "others" and ("q", *key[1:]) in said


def _inferences(space: Space, empty: np.ndarray) -> Iterator[Inference]:
    """Give each inference that may be 0 or 1; where a bucket allows one value, nothing was open."""
    s, n_s = space.codes["s"], len(space.view.sensitive_values)
    for kind, code, people in subjects(space):
        size = len(people)
        terms = np.flatnonzero(code < size)
        if not len(terms):
            continue
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
            whom, value = int(group[i]), int(pairs[i] % n_s)
            name = name_of(space, kind, whom, value)
            yield Inference(name, (kind, whom), value, float(one[i]), int(people[whom]), terms)


def name_of(space: Space, kind: str, group: int, value: int) -> str:
    """Name an inference as a statement would be; no statement involves the others of a QI tuple, who are named thus.

    "P(Flu | Gender=male)" is about everybody who is male, "P(Flu | Alice)" about Alice, and
    "P(Flu | (others), Gender=male)" about those who are male and have no name.
    """
    view = space.view
    label = view.sensitive_values[value]
    several = len(view.sensitive) > 1
    values = zip(view.sensitive, label, strict=True) if several else [(None, label)]
    sensitive = frozenset((name, choose(one, "the sensitive value")) for name, one in values)
    if kind == "who":
        return str(Event(sensitive, who=frozenset([space.people.names[group]])))
    given = frozenset(
        (name, choose(one, name)) for name, one in zip(view.qi, view.quasi_identifiers[group], strict=True)
    )
    if kind == "others":
        return f"P({conditions(sensitive)} | {', '.join(filter(None, [OTHERS, conditions(given)]))})"
    return str(Event(sensitive, given))
