"""Exact conditioning of one group on sentences: a dynamic program over the tuples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import GroupTooLarge, Infeasible, join_names
from .._utils.validation import check_number
from .groups import STATES, Groups, Lattice, forward_weights, impossible, shares, some_world
from .sentences import FALSE, TRUE, PersonKnowledge, Residuals, Sentence

__all__ = [
    "Conditioned",
    "ResidualGroup",
    "Slot",
    "closed_form",
    "conditioned",
    "contradiction",
    "known_posterior",
    "parts",
]

# Sentences that cannot all be true, by name.


def contradiction(sentences: Sequence[Sentence], possible: Callable[[list[Sentence]], bool]) -> Infeasible:
    """The error that no world has all sentences true, with some that clash, of which none can be spared."""
    clash = list(dict.fromkeys(sentences))
    for candidate in list(clash):
        if not possible(without := [other for other in clash if other is not candidate]):
            clash = without
    written = [str(sentence) for sentence in clash]
    verdict = "cannot be true" if len(clash) == 1 else "cannot all be true, though any of them can be spared"
    error = Infeasible(
        f"{join_names(written)} {verdict}: no possible world of the groups in which these people may be has it so; correct "
        f"{'the sentence' if len(clash) == 1 else 'one of the sentences'}, or leave it out"
    )
    error.conflict = pd.DataFrame(index=pd.Index(written, dtype=object, name="statement"))
    return error


# Where named people may be: a bucket, as those of them see it who may be one of its records.


@dataclass(frozen=True, eq=False)
class Slot:
    """A bucket in which some of the people may be; or all those together in which only one of them may be."""

    # Its values are in classes. Of the worlds of a bucket only how many of the named people are in it matters, of which
    # kind, and how many of them have a value of each class: `weight` is that of all its worlds with these, people and
    # places being told apart.

    people: np.ndarray  # who may be here
    kind: np.ndarray  # people of one kind have the same quasi-identifiers
    capacity: np.ndarray  # how many records each kind has here
    classes: np.ndarray  # the value that each class consists of, -1 for a class of values that no sentence mentions
    left: np.ndarray  # how many records have a value of it
    log_prior: np.ndarray  # (kinds, classes): logarithms of what a person's value counts
    others: np.ndarray  # (values,): how the values of class -1 are distributed among those who have one
    log_rest: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def weight(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The logarithm of what a state counts: the ways for the people to be records here, times the others'."""
        return falling(self.capacity, u) + self.log_rest(u, c)

    def of_values(self, share: np.ndarray) -> np.ndarray:
        """Shares of classes, shape (people, classes), as shares of values, (people, values)."""
        of_value = np.zeros((len(share), len(self.others)))
        mentioned = self.classes >= 0
        of_value[:, self.classes[mentioned]] = share[:, mentioned]
        return of_value + share[:, ~mentioned].sum(axis=1, keepdims=True) * self.others


def falling(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """log(prod n (n - 1) ... (n - k + 1)), the product over the last axis of k: ways to draw without replacement."""
    # Summed factor by factor: a difference of two log-factorials of thousands would lose digits.
    most = int(k.max(initial=0))
    with np.errstate(divide="ignore"):
        factor = np.log(np.maximum(n[:, None] - np.arange(most), 0.0))
    sums = np.concatenate([np.zeros((len(n), 1)), np.cumsum(factor, axis=1)], axis=1)
    return np.asarray(sums[np.arange(len(n)), k].sum(axis=-1))


def closed_form(left: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """What the others count where all worlds are equally likely: (N - k)! / prod (m - c)!, as a share of all worlds."""
    size = np.array([left.sum()])

    def log_rest(u: np.ndarray, c: np.ndarray) -> np.ndarray:
        return falling(left, c) - falling(size, c.sum(axis=-1, keepdims=True))

    return log_rest


# What the others of a bucket count when some of its tuples and places are taken by named people, with a prior.


@dataclass(frozen=True, eq=False)
class ResidualGroup:
    """A bucket with a prior, of which n tuples of each signature and m places of each value are to be dealt."""

    # Either tuples are dealt to values, once for all that people may have taken, or values to tuples, for each of it
    # once: whichever takes fewer steps.

    log_prior: np.ndarray  # (signatures, values)
    tuples: np.ndarray  # n and m
    places: np.ndarray  # n and m
    name: object  # what the bucket is called
    limit: float  # steps that are allowed

    def log_weights(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The sum over all worlds of the others, of the product of their priors, as a logarithm but for a constant."""
        log_weight = np.empty(len(u))
        if self._to_values(u, c):
            for rows, patterns, which in _alike(u):
                log_factor = np.stack([self.log_prior[self._others(pattern)] for pattern in patterns])
                log_weight[rows] = _gathered(log_factor, self.places, self.places - c[rows], which)
            return log_weight
        for rows, patterns, which in _alike(c):
            log_factor = np.stack([self.log_prior[:, self._left(pattern)].T for pattern in patterns])
            log_weight[rows] = _gathered(log_factor, self.tuples, self.tuples - u[rows], which)
        # Dealt are the single places of a value, which are told apart, to the signatures; tuples are told apart.
        return log_weight + falling(self.places, c) - falling(self.tuples, u)

    def shares(self, u: np.ndarray, c: np.ndarray, share: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
        """P(t : x) of the others, where named people have taken u, and c with probabilities `share`."""
        others, p = self._others(u), np.full(self.log_prior.shape, np.nan)
        if not len(others):
            return p
        if self._to_values(np.broadcast_to(u, (len(c), len(u))), c):
            # All c at once: an end state of the lattice is the places that c leaves, weighted by the share of c.
            lattice = Lattice(self.places)
            log_ends = np.full(int(np.prod(self.places + 1)), -np.inf)
            log_ends[(self.places - c) @ lattice.stride] = np.log(share) - log_weight
            _, of_each = shares(self.log_prior[others][None], self.places, log_ends)
            p[others] = of_each[0]
            return p
        total = np.zeros_like(self.log_prior)
        remaining = self.tuples - u
        has_tuples = remaining > 0
        for part in np.array_split(np.arange(len(c)), 1 + len(c) * int(np.prod(remaining + 1)) // STATES):
            values = np.stack([self._left(pattern) for pattern in c[part]])
            _, of_each = shares(self.log_prior[has_tuples][:, values].transpose(1, 2, 0), remaining[has_tuples])
            np.add.at(total.T, (values[:, :, None], np.flatnonzero(has_tuples)), share[part][:, None, None] * of_each)
        p[has_tuples] = total[has_tuples] / remaining[has_tuples, None]
        return p

    def _others(self, u: np.ndarray) -> np.ndarray:
        """The signatures of the tuples that are left, one per tuple."""
        return np.repeat(np.arange(len(self.tuples)), self.tuples - u)

    def _left(self, c: np.ndarray) -> np.ndarray:
        """The values that are left, one per place."""
        return np.repeat(np.arange(len(self.places)), self.places - c)

    def _to_values(self, u: np.ndarray, c: np.ndarray) -> bool:
        """Whether it takes fewer steps to deal tuples to values; refuse what takes too many."""
        cost = []
        for counts, kinds in ((u, self.places), (c, self.tuples)):
            cost.append(len(np.unique(counts, axis=0)) * float(np.prod(kinds + 1.0)) * len(kinds))
        if min(cost) > self.limit:
            raise GroupTooLarge(
                f"{self.name!r}, {int(self.places.sum())} tuples of {len(self.tuples)} signatures with "
                f"{len(self.places)} values, of which named people may take some in {len(u)} ways, takes "
                f"{min(cost):.1g} steps (2e7 a second), and {self.limit:.0e} are allowed; allow more with limit=, "
                "write sentences about fewer people, or sample the worlds of a single group with worlds.sample(...)"
            )
        return cost[0] <= cost[1]


def _alike(counts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The distinct rows with one sum at a time."""
    size = counts.sum(axis=1)
    for total in np.unique(size):
        rows = np.flatnonzero(size == total)
        distinct, which = np.unique(counts[rows], axis=0, return_inverse=True)
        yield rows, distinct, which.reshape(-1)


def _gathered(log_factor: np.ndarray, kinds: np.ndarray, remaining: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Deal the items of several groups to kinds of places, and look up those that are to be taken, one state a row."""
    lattice = Lattice(kinds)
    layers = lattice.layers()
    log_weight = np.empty(len(remaining))
    for part in np.array_split(np.arange(len(log_factor)), 1 + len(log_factor) * int(np.prod(kinds + 1)) // STATES):
        rows = np.flatnonzero(np.isin(which, part))
        if len(rows):
            before = forward_weights(log_factor[part], lattice, layers)
            log_weight[rows] = before[which[rows] - part[0], remaining[rows] @ lattice.stride]
    return log_weight


# What hangs together through links between two kinds of things, such as people and buckets.


def parts(links: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the parts that hang together: of every row, and of every column, of a table of links."""
    _, label = sp.csgraph.connected_components(_graph(links), directed=False)
    rows, columns = np.split(label, links.shape[:1])
    return rows, columns


def in_line(links: sp.csr_array) -> np.ndarray:
    """An order of the rows in which those with common columns are near each other (reverse Cuthill-McKee)."""
    order = sp.csgraph.reverse_cuthill_mckee(_graph(links), symmetric_mode=False)
    return np.asarray(order[order < links.shape[0]])


def _graph(links: sp.csr_array) -> sp.csr_array:
    """The graph of which rows and columns are the nodes, and entries the edges."""
    row, column = sp.coo_array(links).coords
    n = sum(links.shape)
    return sp.csr_array((np.ones(len(row)), (row, links.shape[0] + column)), shape=(n, n))


# All worlds in which sentences are true, by dynamic programming over the buckets that the sentences link.
#
# Bucket after bucket, everybody who may be in it is put there, with a value, or left for a later one. What was done
# matters only by who is still to come, by what is left of the sentences, and, inside a bucket, by how many places of
# each kind and class are taken; so many states are enough. All weights are positive, and added up as logarithms.


#: Steps of the lattice (see worlds/linked.py) that a transition of a state takes as long as.
TRANSITION = 20.0
#: People who may still be in several buckets at once: a bit of an integer each.
MOST_WAITING = 62


@dataclass(frozen=True, eq=False)
class Conditioned:
    """What the worlds with true sentences say."""

    log_total: float  # the logarithm of what they count together; -inf if there are none
    shares: list[np.ndarray]  # (people here, classes)
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

    def __init__(self, place: Slot) -> None:
        self.most = np.concatenate([place.capacity, place.left])
        self.kinds = len(place.capacity)
        self.rows = np.zeros((1, len(self.most)), dtype=np.int64)

    def add(self, kind: int, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One more of a kind, with a value of a class: where every state is now, and gets to, or -1 without capacity."""
        n = len(self.rows)
        step = np.zeros((len(classes), len(self.most)), dtype=np.int64)
        step[:, kind] = 1
        step[np.arange(len(classes)), self.kinds + classes] = 1
        moved = (self.rows[:, None] + step).reshape(-1, len(self.most))
        fits = (moved <= self.most).all(axis=1)
        every, at = np.unique(np.concatenate([self.rows, moved[fits]]), axis=0, return_inverse=True)
        at = at.reshape(-1)
        to = np.full(len(moved), -1)
        to[fits] = at[n:]
        self.rows = every
        return at[:n], to.reshape(n, len(classes))


class _Sweep:
    """The forward pass, step by step."""

    def __init__(self, places: list[Slot], residuals: Residuals, root: int, limit: float) -> None:
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
        # `stay` renumbers local states, since new rows may have been inserted; `move` is the state with the person here.
        stay, move = inside.add(kind, classes)
        states = self.states
        waits = np.ones(len(states.local), dtype=bool) if alone else (states.waiting & bit) > 0
        placed, c = np.nonzero((move[states.local] >= 0) & waits[:, None])
        # Many states share a residual: each is evaluated once per value. A false residual ends its worlds at once.
        residuals, which = np.unique(states.residual, return_inverse=True)
        residual = self.residuals.table(residuals, person, place.classes[classes])[which.reshape(-1)[placed], c]
        true = residual != FALSE
        placed, c, residual = placed[true], c[true], residual[true]
        # At the last bucket of a person, states in which the person is still waiting have no continuation.
        away = np.flatnonzero(~waits if self.last[person] == at else np.ones(len(waits), dtype=bool))
        self._go(
            _States(
                np.concatenate([residual, states.residual[away]]),
                np.concatenate([states.waiting[placed] & ~bit, states.waiting[away]]),
                np.concatenate([move[states.local[placed], c], stay[states.local[away]]]),
            ),
            np.concatenate([placed, away]),
            np.concatenate([place.log_prior[kind, classes[c]], np.zeros(len(away))]),
            np.concatenate([classes[c], np.full(len(away), -1)]),
            (at, i),
        )
        reached, local = np.unique(self.states.local, return_inverse=True)  # drop local states that no state uses
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
        # Outside the bucket only residuals and waiting people matter: all local states become one.
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
        self.log_weight = log_sums(target, self.log_weight[source] + log_factor, len(self.states.local))
        self.before.append(self.log_weight)

    def _bit(self, person: int, at: int, alone: bool) -> int:
        """The bit of somebody who may be in several buckets, set in all states when the first of them is reached."""
        if alone:
            return 0
        if self.first[person] == at:
            if not self.free:
                raise GroupTooLarge(
                    f"more than {MOST_WAITING} people linked by the sentences may each be in several buckets at once; "
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
                f"(2e7 a second), and {self.limit:.0e} are allowed; allow more with limit=, write sentences "
                "about fewer people, or sample the worlds of a single group with worlds.sample(...)"
            )


def conditioned(places: list[Slot], residuals: Residuals, root: int, limit: float) -> Conditioned:
    """The worlds in which a sentence is true."""
    order = _in_line(places, residuals, root)
    sweep = _Sweep([places[i] for i in order], residuals, root, limit)
    shares = [np.zeros((len(place.people), len(place.classes))) for place in sweep.places]
    if not sweep.run():
        return Conditioned(-np.inf, [], [])
    assert (sweep.states.residual == TRUE).all()
    log_total = float(sweep.log_weight[0])
    # The backward pass: a transition's share of all worlds is (weight of the ways to its source) x (its own weight) x
    # (weight of the ways on from its target) / (total weight).
    slots: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    after = np.zeros(1)
    for step, before in zip(reversed(sweep.steps), reversed(sweep.before[:-1]), strict=True):
        on = step.log_factor + after[step.target]
        share = np.exp(before[step.source] + on - log_total)
        at, i = step.who
        if step.value is None:
            rows, local = sweep.closed[at]
            kinds = len(sweep.places[at].capacity)
            mass = np.bincount(local[step.source], share, len(rows))
            slots.append((rows[:, :kinds], rows[:, kinds:], mass))
        else:
            has_value = step.value >= 0
            shares[at][i] = np.bincount(step.value[has_value], share[has_value], len(sweep.places[at].classes))
        after = log_sums(step.source, on, len(before))
    back = np.argsort(order)
    return Conditioned(log_total, [shares[i] for i in back], [slots[::-1][i] for i in back])


def _in_line(places: list[Slot], residuals: Residuals, root: int) -> np.ndarray:
    """An order in which places that sentences link, or that share somebody, are near each other."""
    # The number of states is exponential in the number of sentences and people that are open at a time.
    parts = residuals.held[root]
    groups = [residuals.people_of[part] for part in parts[2:]] if len(parts) > 2 else [residuals.people_of[root]]
    links = [(at, ("person", person)) for at, place in enumerate(places) for person in place.people.tolist()]
    about = {(at, ("sentence", n)) for at, (_, person) in links for n, group in enumerate(groups) if person in group}
    every = [*links, *about]
    number = {link: i for i, link in enumerate(dict.fromkeys(link for _, link in every))}
    entries = (np.ones(len(every)), ([at for at, _ in every], [number[link] for _, link in every]))
    return in_line(sp.csr_array(entries, shape=(len(places), len(number))))


def log_sums(index: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    """log(sum(exp(x))) over the entries of each index from 0 to n - 1."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, index, x)
    finite = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return finite + np.log(np.bincount(index, np.exp(x - finite[index]), n))


def known_posterior(group: pd.DataFrame, values: Sequence[Hashable], knowledge: object, limit: float) -> pd.DataFrame:
    """P(t : x) given the sentences, see :func:`maxent_cvx.worlds.posterior`."""
    single, signature, column = Groups.single(group, values)
    known = PersonKnowledge.of(knowledge, group.index, group.columns, "tuple of the group")
    if not some_world(single.prior > 0, single.tuples.data, single.values.data):
        raise impossible(single.names)
    with np.errstate(divide="ignore"):
        residual_group = ResidualGroup(
            np.log(single.prior), single.tuples.data, single.values.data, "the group", check_number(limit, "limit")
        )
    place, u = _place(known.people, signature, column, residual_group, group.shape[1])
    residuals = Residuals()

    def having(sentences: list[Sentence]) -> Conditioned:
        true = residuals.every(residuals.of(sentence, known.positions) for sentence in sentences)
        return conditioned([place], residuals, true, residual_group.limit)

    worlds = having(known.sentences)
    if np.isinf(worlds.log_total):
        raise contradiction(known.sentences, lambda some: np.isfinite(having(some).log_total))
    _, c, share = worlds.taken[0]
    possible = share > 0
    log_weight = residual_group.log_weights(np.broadcast_to(u, (int(possible.sum()), len(u))), c[possible])
    table = np.zeros(group.shape)
    table[:, column] = residual_group.shares(u, c[possible], share[possible], log_weight)[signature]
    table[known.people] = place.of_values(worlds.shares[0])
    return pd.DataFrame(table, index=group.index, columns=group.columns)


def _place(
    named: np.ndarray, signature: np.ndarray, column: np.ndarray, residual_group: ResidualGroup, n_values: int
) -> tuple[Slot, np.ndarray]:
    """The group, as those see it whom sentences name; and how many of them have each signature."""
    of_kind, kind = np.unique(signature[named], return_inverse=True)
    capacity = np.bincount(kind.reshape(-1), minlength=len(of_kind))
    signatures = np.eye(len(residual_group.tuples), dtype=np.int64)[of_kind]
    place = Slot(
        people=named,
        kind=kind.reshape(-1),
        capacity=capacity,
        classes=column,
        left=residual_group.places,
        log_prior=residual_group.log_prior[of_kind],
        others=np.zeros(n_values),
        log_rest=lambda u, c: residual_group.log_weights(u @ signatures, c),
    )
    return place, capacity @ signatures
