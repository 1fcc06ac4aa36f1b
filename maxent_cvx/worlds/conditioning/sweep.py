"""All worlds in which sentences are true, by dynamic programming over the buckets that the sentences link.

Bucket after bucket, everybody who may be in it is put there, with a value, or left for a later one. What was done
matters only by who is still to come, by what is left of the sentences, and, inside a bucket, by how many places of each
kind and class are taken; so many states are enough. All weights are positive, and added up as logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import GroupTooLarge
from ..sentences.residuals import FALSE, TRUE, Residuals
from .links import in_line
from .places import Place

__all__ = ["TRANSITION", "Conditioned", "conditioned"]

#: Steps of the lattice (see worlds/linked.py) that a transition of a state takes as long as.
TRANSITION = 20.0
#: People who may still be in several buckets at once: a bit of an integer each.
MOST_WAITING = 62


@dataclass(frozen=True, eq=False)
class Conditioned:
    """What the worlds with true sentences say.

    Attributes
    ----------
    log_total : float
        The logarithm of what they count together; -inf if there are none.
    shares : list of ndarray, shape (people here, classes)
        One a place: the probability that a person is here and has a value of the class.
    taken : list of tuple
        One a place: how many of each kind, and of each class, in its states, and their probabilities.
    """

    log_total: float
    shares: list[np.ndarray]
    taken: list[tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(eq=False)
class _Step:
    """Transitions between two layers of states."""

    source: np.ndarray
    target: np.ndarray
    log_factor: np.ndarray
    value: np.ndarray | None  # the class that the person gets; -1 where not put here; None: a bucket is closed
    who: tuple[int, int] = (-1, -1)  # the place, and which of its people


@dataclass(eq=False)
class _States:
    """A layer: what is left of the sentences, who waits for a later bucket, and the state inside the bucket."""

    residual: np.ndarray
    waiting: np.ndarray
    local: np.ndarray

    def merged(self) -> tuple[_States, np.ndarray]:
        """The distinct states, and which of them each is."""
        code = np.zeros(len(self.residual), dtype=np.int64)
        for column in (self.residual, self.waiting, self.local):
            kinds, which = np.unique(column, return_inverse=True)
            code = np.unique(code * len(kinds) + which.reshape(-1), return_inverse=True)[1].reshape(-1)
        first = np.unique(code, return_index=True)[1]
        return _States(self.residual[first], self.waiting[first], self.local[first]), code


class _Inside:
    """States inside a bucket: how many of each kind and class are taken, as rows that are added when they are met."""

    def __init__(self, place: Place) -> None:
        self.most = np.concatenate([place.room, place.left])
        self.kinds = len(place.room)
        self.rows = np.zeros((1, len(self.most)), dtype=np.int64)

    def add(self, kind: int, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One more of a kind, with a value of a class: where every state is now, and gets to, or -1 without room."""
        n = len(self.rows)
        one = np.zeros((len(classes), len(self.most)), dtype=np.int64)
        one[:, kind] = 1
        one[np.arange(len(classes)), self.kinds + classes] = 1
        moved = (self.rows[:, None] + one).reshape(-1, len(self.most))
        fits = (moved <= self.most).all(axis=1)
        every, at = np.unique(np.concatenate([self.rows, moved[fits]]), axis=0, return_inverse=True)
        at = at.reshape(-1)
        to = np.full(len(moved), -1)
        to[fits] = at[n:]
        self.rows = every
        return at[:n], to.reshape(n, len(classes))


class _Sweep:
    """The forward pass, step by step."""

    def __init__(self, places: list[Place], residuals: Residuals, root: int, limit: float) -> None:
        self.places, self.residuals, self.limit, self.cost = places, residuals, limit, 0.0
        last: dict[int, int] = {}
        first: dict[int, int] = {}
        for at, place in enumerate(places):
            for person in place.people.tolist():
                first.setdefault(person, at)
                last[person] = at
        self.first, self.last = first, last
        self.bit: dict[int, int] = {}
        self.free = list(range(MOST_WAITING))
        self.states = _States(np.array([root]), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
        self.log_weight = np.zeros(1)
        self.steps: list[_Step] = []
        self.before = [self.log_weight]
        self.closed: list[tuple[np.ndarray, np.ndarray]] = []

    def run(self) -> bool:
        """Go through all places; whether any world is left."""
        for at, place in enumerate(self.places):
            inside = _Inside(place)
            for i in range(len(place.people)):
                self._put(at, i, inside)
            self._close(at, inside)
        return len(self.states.residual) > 0

    def _put(self, at: int, i: int, inside: _Inside) -> None:
        """Put a person into a bucket, with every class of values, or leave them for a later one."""
        place = self.places[at]
        person, kind = int(place.people[i]), int(place.kind[i])
        alone = self.first[person] == self.last[person]
        classes = np.flatnonzero(np.isfinite(place.log_prior[kind]) & (place.left > 0))
        self._allow(at, len(self.states.local) * (len(classes) + 1.0) + len(inside.rows) * (len(classes) + 1.0))
        bit = self._bit(person, at, alone)
        stay, move = inside.add(kind, classes)
        states = self.states
        waits = np.ones(len(states.local), dtype=bool) if alone else (states.waiting & bit) > 0
        here, c = np.nonzero((move[states.local] >= 0) & waits[:, None])
        left, which = np.unique(states.residual, return_inverse=True)
        residual = self.residuals.table(left, person, place.classes[classes])[which.reshape(-1)[here], c]
        true = residual != FALSE
        here, c, residual = here[true], c[true], residual[true]
        away = np.flatnonzero(~waits if self.last[person] == at else np.ones(len(waits), dtype=bool))
        self._go(
            _States(
                np.concatenate([residual, states.residual[away]]),
                np.concatenate([states.waiting[here] & ~bit, states.waiting[away]]),
                np.concatenate([move[states.local[here], c], stay[states.local[away]]]),
            ),
            np.concatenate([here, away]),
            np.concatenate([place.log_prior[kind, classes[c]], np.zeros(len(away))]),
            np.concatenate([classes[c], np.full(len(away), -1)]),
            (at, i),
        )
        reached, local = np.unique(self.states.local, return_inverse=True)
        inside.rows, self.states.local = inside.rows[reached], local.reshape(-1)
        if self.last[person] == at and not alone:
            self.free.append(self.bit.pop(person))

    def _close(self, at: int, inside: _Inside) -> None:
        """Weigh what is inside a bucket, and forget it."""
        u, c = inside.rows[:, : inside.kinds], inside.rows[:, inside.kinds :]
        reached = np.unique(self.states.local)
        log_weight = np.full(len(inside.rows), -np.inf)
        log_weight[reached] = self.places[at].weight(u[reached], c[reached])
        self.closed.append((inside.rows, self.states.local))
        possible = np.flatnonzero(np.isfinite(log_weight[self.states.local]))
        states = _States(self.states.residual[possible], self.states.waiting[possible], np.zeros_like(possible))
        self._go(states, possible, log_weight[self.states.local[possible]], None, (at, -1))

    def _go(
        self,
        states: _States,
        source: np.ndarray,
        log_factor: np.ndarray,
        value: np.ndarray | None,
        who: tuple[int, int],
    ) -> None:
        """Take a step, and put equal states together."""
        self.states, target = states.merged()
        self.steps.append(_Step(source, target, log_factor, value, who))
        self.log_weight = _log_sums(target, self.log_weight[source] + log_factor, len(self.states.local))
        self.before.append(self.log_weight)

    def _bit(self, person: int, at: int, alone: bool) -> int:
        """The bit of somebody who may be in several buckets, set in all states when the first of them is reached."""
        if alone:
            return 0
        if self.first[person] == at:
            if not self.free:
                raise GroupTooLarge(
                    f"more than {MOST_WAITING} people whom the sentences link may each be in several buckets at once; "
                    "write fewer sentences, or describe fewer people"
                )
            self.bit[person] = self.free.pop()
            self.states.waiting = self.states.waiting | (1 << self.bit[person])
        return 1 << self.bit[person]

    def _allow(self, at: int, transitions: float) -> None:
        """Refuse what takes longer than is allowed."""
        self.cost += TRANSITION * transitions
        if self.cost > self.limit:
            raise GroupTooLarge(
                f"the sentences link {len(self.first)} people in {len(self.places)} buckets too closely for an exact "
                f"answer: at bucket {at + 1}, with {len(self.states.local)} states, it takes {self.cost:.1g} steps "
                f"(2e7 a second), and {self.limit:.0e} are allowed; allow more with limit=, write sentences about "
                "fewer people, or ask worlds.sample(...) or worlds.sample_linkage(...)"
            )


def conditioned(places: list[Place], residuals: Residuals, root: int, limit: float) -> Conditioned:
    """The worlds in which a sentence is true.

    Parameters
    ----------
    places : list of Place
        In any order.
    residuals : Residuals
    root : int
        The number of the sentence.
    limit : float
        Steps that are allowed.

    Raises
    ------
    GroupTooLarge
        If it takes more.
    """
    order = _in_line(places, residuals, root)
    sweep = _Sweep([places[i] for i in order], residuals, root, limit)
    shares = [np.zeros((len(place.people), len(place.classes))) for place in sweep.places]
    if not sweep.run():
        return Conditioned(-np.inf, [], [])
    assert (sweep.states.residual == TRUE).all()
    log_total = float(sweep.log_weight[0])
    taken: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    after = np.zeros(1)
    for step, before in zip(reversed(sweep.steps), reversed(sweep.before[:-1]), strict=True):
        on = step.log_factor + after[step.target]
        share = np.exp(before[step.source] + on - log_total)
        at, i = step.who
        if step.value is None:
            rows, local = sweep.closed[at]
            kinds = len(sweep.places[at].room)
            mass = np.bincount(local[step.source], share, len(rows))
            taken.append((rows[:, :kinds], rows[:, kinds:], mass))
        else:
            here = step.value >= 0
            shares[at][i] = np.bincount(step.value[here], share[here], len(sweep.places[at].classes))
        after = _log_sums(step.source, on, len(before))
    back = np.argsort(order)
    return Conditioned(log_total, [shares[i] for i in back], [taken[::-1][i] for i in back])


def _in_line(places: list[Place], residuals: Residuals, root: int) -> np.ndarray:
    """An order in which places that sentences link, or that share somebody, are near each other."""
    held = residuals.held[root]
    groups = [residuals.people_of[part] for part in held[2:]] if len(held) > 2 else [residuals.people_of[root]]
    links = [(at, ("person", person)) for at, place in enumerate(places) for person in place.people.tolist()]
    about = {(at, ("sentence", n)) for at, (_, person) in links for n, group in enumerate(groups) if person in group}
    every = [*links, *about]
    number = {link: i for i, link in enumerate(dict.fromkeys(link for _, link in every))}
    entries = (np.ones(len(every)), ([at for at, _ in every], [number[link] for _, link in every]))
    return in_line(sp.csr_array(entries, shape=(len(places), len(number))))


def _log_sums(index: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    """log(sum(exp(x))) over the entries of each index from 0 to n - 1."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, index, x)
    finite = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return finite + np.log(np.bincount(index, np.exp(x - finite[index]), n))
