"""Exact conditioning of one group on sentences: a dynamic program over the tuples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import GroupTooLarge, Infeasible, join_names
from .._utils.tables import group_codes
from .._utils.validation import check_number
from .groups import STATES, Groups, Lattice, falling, forward_weights, shares
from .sentences import FALSE, TRUE, PersonKnowledge, Residuals, Sentence


def contradiction(sentences: Sequence[Sentence], possible: Callable[[list[Sentence]], bool]) -> Infeasible:
    """Make an error about contradictory sentences, which names an irreducible set of them."""
    clash = list(dict.fromkeys(sentences))
    for candidate in list(clash):
        if not possible(without := [other for other in clash if other is not candidate]):
            clash = without
    written = [str(sentence) for sentence in clash]
    verdict = "cannot be true" if len(clash) == 1 else "cannot all be true, although every proper subset can,"
    error = Infeasible(
        f"{join_names(written)} {verdict} in a possible world of these people; correct or remove "
        f"{'the sentence' if len(clash) == 1 else 'one of the sentences'}"
    )
    error.conflict = pd.DataFrame(index=pd.Index(written, dtype=object, name="statement"))
    return error


@dataclass(frozen=True, eq=False)
class Slot:
    """A bucket that can contain several of the named people, or all buckets that can contain only one of them."""

    # Values are grouped into classes. A state of a bucket is the number u of named people of each kind in it, and the
    # number c of them with a value of each class. Its weight is that of all worlds in this state, where people and
    # places of equal kinds are distinguished.

    people: np.ndarray  # the named people who can be in it
    kind: np.ndarray  # the kind of each of them; people of one kind have the same quasi-identifiers
    capacity: np.ndarray  # the number of its records for each kind
    classes: np.ndarray  # the value of each class; -1 for the class of all values outside the sentences
    left: np.ndarray  # the number of its records with a value of each class
    log_prior: np.ndarray  # (kinds, classes): the logarithm of the factor of a person with a value
    others: np.ndarray  # (values,): the distribution of the values in class -1
    log_rest: Callable[[np.ndarray, np.ndarray], np.ndarray]  # the logarithm of the weight of the other records

    def weight(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return the log weight of states: the choices of the people's records times the others' weight."""
        return falling(self.capacity, u) + self.log_rest(u, c)

    def of_values(self, share: np.ndarray) -> np.ndarray:
        """Convert shares of classes, shape (people, classes), to shares of values, (people, values)."""
        of_value = np.zeros((len(share), len(self.others)))
        mentioned = self.classes >= 0
        of_value[:, self.classes[mentioned]] = share[:, mentioned]
        return of_value + share[:, ~mentioned].sum(axis=1, keepdims=True) * self.others


def closed_form(left: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return `log_rest` for equally likely worlds: (N - k)! / prod (m - c)!, as a share of all worlds."""
    size = np.array([left.sum()])

    def log_rest(u: np.ndarray, c: np.ndarray) -> np.ndarray:
        return falling(left, c) - falling(size, c.sum(axis=-1, keepdims=True))

    return log_rest


@dataclass(frozen=True, eq=False)
class ResidualGroup:
    """A bucket with a prior, in which named people take some tuples and places of values."""

    # u and c are the numbers of taken tuples per signature and of taken places per value. Either tuples are assigned to
    # values, once for all c with the same u, or values to tuples, once for all u with the same c, whichever takes fewer
    # steps.

    log_prior: np.ndarray  # (signatures, values)
    tuples: np.ndarray  # n, the number of tuples of each signature
    places: np.ndarray  # m, the number of places of each value
    name: object  # the name of the bucket
    limit: float  # the maximum number of steps

    def slot(
        self,
        people: np.ndarray,
        kind: np.ndarray,
        signature: np.ndarray,
        capacity: np.ndarray,
        classes: np.ndarray,
        n_values: int,
    ) -> Slot:
        """Return the slot of the bucket for named people, given the signature and the records of each kind of people."""
        of_kind = np.eye(len(self.tuples), dtype=np.int64)[signature]  # kinds x signatures
        return Slot(
            people=people,
            kind=kind,
            capacity=capacity,
            classes=classes,
            left=self.places,
            log_prior=self.log_prior[signature],
            others=np.zeros(n_values),
            log_rest=lambda u, c: self.log_weights(u @ of_kind, c),
        )

    def log_weights(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return the logarithm of the sum over the others' worlds of the product of their priors, up to a constant."""
        log_weight = np.empty(len(u))
        if self._to_values(u, c):
            for rows, patterns, which in _alike(u):
                log_factor = np.stack([self.log_prior[self._others(pattern)] for pattern in patterns])
                log_weight[rows] = _gathered(log_factor, self.places, self.places - c[rows], which)
            return log_weight
        for rows, patterns, which in _alike(c):
            log_factor = np.stack([self.log_prior[:, self._left(pattern)].T for pattern in patterns])
            log_weight[rows] = _gathered(log_factor, self.tuples, self.tuples - u[rows], which)
        # Convert from worlds in which places of a value are distinguished and tuples of a signature are not.
        return log_weight + falling(self.places, c) - falling(self.tuples, u)

    def shares(self, u: np.ndarray, c: np.ndarray, share: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
        """Return P(t : x) of the others if named people take u, and c with the probabilities `share`."""
        others, p = self._others(u), np.full(self.log_prior.shape, np.nan)
        if not len(others):
            return p
        if self._to_values(np.broadcast_to(u, (len(c), len(u))), c):
            # All c at once: the end states of the lattice are the places that c leaves, weighted by the share of c.
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
        """Return the signature of each remaining tuple."""
        return np.repeat(np.arange(len(self.tuples)), self.tuples - u)

    def _left(self, c: np.ndarray) -> np.ndarray:
        """Return the value of each remaining place."""
        return np.repeat(np.arange(len(self.places)), self.places - c)

    def _to_values(self, u: np.ndarray, c: np.ndarray) -> bool:
        """Return whether it takes fewer steps to assign tuples to values than values to tuples."""
        with np.errstate(over="ignore"):
            cost = [
                len(np.unique(counts, axis=0)) * float(np.prod(kinds + 1.0)) * len(kinds)
                for counts, kinds in ((u, self.places), (c, self.tuples))
            ]
        if min(cost) > self.limit:
            raise GroupTooLarge(
                f"{self.name!r}, with {int(self.places.sum())} tuples of {len(self.tuples)} signatures, "
                f"{len(self.places)} values, and {len(u)} states of named people, takes {min(cost):.1g} steps (2e7 per "
                f"second), but limit is {self.limit:.0e}; increase limit=, write sentences about fewer people, or "
                "sample the worlds of a single group with worlds.sample(...)"
            )
        return cost[0] <= cost[1]


def _alike(counts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield, for each sum of a row, the rows with this sum, the distinct ones, and each row's position in these."""
    size = counts.sum(axis=1)
    for total in np.unique(size):
        rows = np.flatnonzero(size == total)
        distinct, which = np.unique(counts[rows], axis=0, return_inverse=True)
        yield rows, distinct, which.reshape(-1)


def _gathered(log_factor: np.ndarray, kinds: np.ndarray, remaining: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Assign items of several groups to kinds of places; return the weight of each row's state, `remaining` places."""
    lattice = Lattice(kinds)
    layers = lattice.layers()
    log_weight = np.empty(len(remaining))
    for part in np.array_split(np.arange(len(log_factor)), 1 + len(log_factor) * int(np.prod(kinds + 1)) // STATES):
        rows = np.flatnonzero(np.isin(which, part))
        if len(rows):
            before = forward_weights(log_factor[part], lattice, layers)
            log_weight[rows] = before[which[rows] - part[0], remaining[rows] @ lattice.stride]
    return log_weight


# The weight of all worlds in which sentences are true, by dynamic programming over the buckets that they link.
#
# In each bucket, every person who can be in it is either placed there, with a value, or left for a later bucket. A
# state consists of the people who are still waiting, the residual of the sentences, and, inside a bucket, the numbers
# of taken places of each kind and class; nothing else of the past matters. All weights are positive, and added as
# logarithms.


#: The duration of a transition of a state, in steps of a lattice.
TRANSITION = 20.0
#: The duration of one number of a reached state of a bucket, in steps of a lattice; it takes up to 40 bytes.
NUMBER = 6.0
#: The maximum number of people who can be in several later buckets at the same time, each a bit of an integer.
MOST_WAITING = 62


@dataclass(frozen=True, eq=False)
class Conditioned:
    """The distribution over the worlds in which the sentences are true."""

    log_total: float  # the logarithm of their total weight; -inf without such worlds
    shares: list[np.ndarray]  # for each slot, P(person is there with a value of the class), (people, classes)
    taken: list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # for each slot, its states u and c and their probabilities


@dataclass(eq=False)
class _Step:
    """Transitions between two layers of states."""

    source: np.ndarray
    target: np.ndarray
    log_factor: np.ndarray
    value: np.ndarray | None  # the class of the person's value, -1 if not placed here; None if a bucket is closed
    who: tuple[int, int]  # the place, and the position of the person in it


@dataclass(eq=False)
class _States:
    """A layer: the residual of the sentences, the people waiting for a later bucket, and the state of the bucket."""

    residual: np.ndarray
    waiting: np.ndarray
    local: np.ndarray

    def merged(self) -> tuple[_States, np.ndarray]:
        """Return the distinct states, and the position of each state among them."""
        columns = [np.unique(column, return_inverse=True) for column in (self.residual, self.waiting, self.local)]
        code = group_codes([which for _, which in columns], [len(kinds) for kinds, _ in columns])
        first = np.unique(code, return_index=True)[1]
        return _States(self.residual[first], self.waiting[first], self.local[first]), code


class _Inside:
    """The reached states of a bucket, one row each: the numbers of taken records of each kind and each class."""

    def __init__(self, place: Slot) -> None:
        self.most = np.concatenate([place.capacity, place.left])
        self.kinds = len(place.capacity)
        self.rows = np.zeros((1, len(self.most)), dtype=np.int64)

    def add(self, kind: int, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add one person, for each class; return the new number of every state and its successors, -1 if full."""
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
    """The forward pass over the buckets."""

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
        """Process all places; return whether there is a world."""
        for at, place in enumerate(self.places):
            inside = _Inside(place)
            for i in range(len(place.people)):
                self._put(at, i, inside)
            self._close(at, inside)
        return len(self.states.residual) > 0

    def _put(self, at: int, i: int, inside: _Inside) -> None:
        """Place a person in a bucket, with a value of each class, or leave the person for a later bucket."""
        place = self.places[at]
        person, kind = int(place.people[i]), int(place.kind[i])
        alone = self.first[person] == self.last[person]
        classes = np.flatnonzero(np.isfinite(place.log_prior[kind]) & (place.left > 0))
        steps = TRANSITION * len(self.states.local) + NUMBER * len(inside.rows) * len(inside.most)
        self._allow(at, steps * (len(classes) + 1.0))
        bit = self._bit(person, at, alone)
        # `stay` renumbers local states, as rows may have been inserted; `move` is the state with the person here.
        stay, move = inside.add(kind, classes)
        states = self.states
        waits = np.ones(len(states.local), dtype=bool) if alone else (states.waiting & bit) > 0
        placed, c = np.nonzero((move[states.local] >= 0) & waits[:, None])
        # Many states share a residual, which is evaluated once per value. A false residual ends its worlds at once.
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
        """Multiply by the weight of the local state of a bucket, and drop this state."""
        u, c = inside.rows[:, : inside.kinds], inside.rows[:, inside.kinds :]
        reached = np.unique(self.states.local)
        log_weight = np.full(len(inside.rows), -np.inf)
        log_weight[reached] = self.places[at].weight(u[reached], c[reached])
        self.closed.append((inside.rows, self.states.local))
        # Outside the bucket, only residuals and waiting people matter, so all local states become one.
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
        """Take a step, and merge equal states."""
        self.states, target = states.merged()
        self.steps.append(_Step(source, target, log_factor, value, who))
        self.log_weight = log_sums(target, self.log_weight[source] + log_factor, len(self.states.local))
        self.before.append(self.log_weight)

    def _bit(self, person: int, at: int, alone: bool) -> int:
        """Return the bit of a person who can be in several buckets, which all states set at the first of them."""
        if alone:
            return 0
        if self.first[person] == at:
            if not self.free:
                raise GroupTooLarge(
                    f"the sentences link more than {MOST_WAITING} people who can be in several buckets; write fewer "
                    "sentences, or describe fewer people"
                )
            self.bit[person] = self.free.pop()
            self.states.waiting = self.states.waiting | (1 << self.bit[person])
        return 1 << self.bit[person]

    def _allow(self, at: int, steps: float) -> None:
        """Check that the total number of steps is within the limit."""
        self.cost += steps
        if self.cost > self.limit:
            raise GroupTooLarge(
                f"the sentences link {len(self.first)} people in {len(self.places)} buckets too closely for an exact "
                f"answer: at bucket {at + 1}, with {len(self.states.local)} states, it takes {self.cost:.1g} steps "
                f"(2e7 per second), but limit is {self.limit:.0e}; increase limit=, write sentences about fewer people,"
                " or sample the worlds of a single group with worlds.sample(...)"
            )


def conditioned(places: list[Slot], residuals: Residuals, root: int, limit: float) -> Conditioned:
    """Compute the distribution over the worlds in which the sentence `root` is true."""
    order = _in_line(places, residuals, root)
    sweep = _Sweep([places[i] for i in order], residuals, root, limit)
    shares = [np.zeros((len(place.people), len(place.classes))) for place in sweep.places]
    if not sweep.run():
        return Conditioned(-np.inf, [], [])
    assert (sweep.states.residual == TRUE).all()
    log_total = float(sweep.log_weight[0])
    # The backward pass: the share of all worlds that pass through a transition is
    # (weight before its source) x (its own weight) x (weight after its target) / (total weight).
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
    """Order places such that those with a common person or sentence are close (reverse Cuthill-McKee)."""
    # The number of states is exponential in the number of sentences and people that are open at the same time.
    sentences = residuals.held[root][2:] or (root,)
    groups = [residuals.people_of[sentence] for sentence in sentences]
    people = np.unique(np.concatenate([place.people for place in places]))
    here = np.array([np.isin(people, place.people) for place in places])  # places x people
    mentions = np.array([[person in group for person in people.tolist()] for group in groups])  # sentences x people
    # The nodes of the graph are the places, followed by the people and the sentences to which they are linked.
    links = np.pad(np.hstack([here, here @ mentions.T]), ((0, len(people) + len(groups)), (len(places), 0)))
    order = sp.csgraph.reverse_cuthill_mckee(sp.csr_array(links), symmetric_mode=False)
    return np.asarray(order[order < len(places)])


def log_sums(index: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    """Return log(sum(exp(x))) over the entries of each index from 0 to n - 1."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, index, x)
    finite = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return finite + np.log(np.bincount(index, np.exp(x - finite[index]), n))


def known_posterior(group: pd.DataFrame, values: Sequence[Hashable], knowledge: object, limit: float) -> pd.DataFrame:
    """Return P(t : x) given the sentences, see :func:`maxent_cvx.worlds.posterior`."""
    single, signature, column = Groups.single(group, values)
    known = PersonKnowledge.of(knowledge, group.index, group.columns, "tuple of the group")
    single.check_worlds()
    with np.errstate(divide="ignore"):
        residual_group = ResidualGroup(
            np.log(single.prior), single.tuples.data, single.values.data, "the group", check_number(limit, "limit")
        )
    of_kind, kind = np.unique(signature[known.people], return_inverse=True)
    capacity = residual_group.tuples[of_kind]
    slot = residual_group.slot(known.people, kind.reshape(-1), of_kind, capacity, column, group.shape[1])
    u = np.bincount(signature[known.people], minlength=len(residual_group.tuples))
    residuals = Residuals()

    def having(sentences: list[Sentence]) -> Conditioned:
        true = residuals.every(residuals.of(sentence, known.positions) for sentence in sentences)
        return conditioned([slot], residuals, true, residual_group.limit)

    worlds = having(known.sentences)
    if np.isinf(worlds.log_total):
        raise contradiction(known.sentences, lambda some: np.isfinite(having(some).log_total))
    _, c, share = worlds.taken[0]
    possible = share > 0
    log_weight = residual_group.log_weights(np.broadcast_to(u, (int(possible.sum()), len(u))), c[possible])
    table = np.zeros(group.shape)
    table[:, column] = residual_group.shares(u, c[possible], share[possible], log_weight)[signature]
    table[known.people] = slot.of_values(worlds.shares[0])
    return pd.DataFrame(table, index=group.index, columns=group.columns)
