"""Tables drawn by chains that swap values within blocks, where there are too many to ask of each."""

from __future__ import annotations

import numpy as np

from ...errors import Inaccurate
from .black_box import BlackBox

__all__ = ["swapped"]

#: Chains, each from a table of its own; and batches of each, whose means tell its standard error.
CHAINS, BATCHES = 4, 10
#: The share of a chain that is left out in the beginning.
BURN_IN = 0.2
#: How often a block is dealt anew: only so chains come from one kind of tables to another that has little in common.
ANEW = 1 / 3
#: Tables that the search for a first one asks of, for each person; the records by which a worse one may be worse.
PATIENCE, TEMPERATURE = 50, 0.5


def swapped(box: BlackBox, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Estimate P(s | q) by the Metropolis algorithm.

    A proposal deals the values of one random block anew, every third time; else it swaps the values of a random pair of
    a block, and of another with probability 1/2, and so on. It is as likely as its reverse, and is accepted with
    probability P(new) P(release | new) / (P(old) P(release | old))).

    Parameters
    ----------
    box : BlackBox
    n : int
        Tables that are asked of, all chains together.
    rng : Generator

    Returns
    -------
    p, standard_error : ndarray, shape (tuples, values)
        The standard error is the larger one of what batches and of what chains differ by; at least one table in all
        that chains moved to, where something between 0 and 1 is estimated.

    Raises
    ------
    Inaccurate
        If no first table is found, or a chain never moves.
    """
    search = min(PATIENCE * len(box.people), n)
    chains = [_chain(box, n // CHAINS, search, rng) for _ in range(CHAINS)]
    means = np.stack([found for found, _ in chains])
    of_batches = means.reshape(-1, *means.shape[2:]).std(axis=0, ddof=1) / np.sqrt(len(means) * means.shape[1])
    of_chains = means.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(CHAINS)
    baseline = box.people.baseline()
    least = np.where((baseline > 0) & (baseline < 1), 1 / sum(moves for _, moves in chains), 0.0)
    return means.mean(axis=(0, 1)), np.maximum.reduce([of_batches, of_chains, least])


def _chain(box: BlackBox, n: int, search: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """The mean P(s | q) of each batch of one chain, and how often it moved."""
    numbers = np.arange(len(box.people.view.sensitive_values))
    state, weight = _first(box, search, rng)
    burn_in, moves = int(n * BURN_IN), 0
    size = -(-(n - burn_in) // BATCHES)
    sums = np.zeros((BATCHES, len(box.people), len(numbers)))
    taken = np.zeros(BATCHES)
    for step in range(n):  # sequential by nature
        other = _proposal(box, state, rng)
        likelihood = box.ask(other)[0]
        if np.log(rng.random()) + weight < likelihood:
            moves += 1
            state, weight = other, likelihood
        if step >= burn_in:
            batch = (step - burn_in) // size
            sums[batch] += state[:, None] == numbers
            taken[batch] += 1
    if not moves:
        raise Inaccurate(f"in {n} attempts no swap of values leaves the release as it is: its tables cannot be sampled")
    kept = taken > 0
    means = [box.people.by_tuple(one / k) for one, k in zip(sums[kept], taken[kept], strict=True)]
    return np.stack(means), moves


def _first(box: BlackBox, search: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Search a table of which the release can be, and its logarithmic weight: swaps bring its release nearer."""
    people = box.people
    order = np.lexsort((rng.random(len(people)), people.block))
    state = np.empty_like(people.value)
    state[np.argsort(people.block, kind="stable")] = people.value[order]
    weight, off = box.ask(state)
    for _ in range(search):
        if weight > -np.inf:
            return state, weight
        other = _proposal(box, state, rng)
        likelihood, distance = box.ask(other)
        if distance <= off or rng.random() < np.exp((off - distance) / TEMPERATURE):
            state, weight, off = other, likelihood, distance
    raise Inaccurate(
        f"no table was found in {search} attempts of which the algorithm makes this release: its "
        "parameters may be others, or such tables are too rare to be sampled; a larger n= searches longer"
    )


def _proposal(box: BlackBox, state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal a block anew, or swap the values of a random pair of a block, once or more often."""
    other = state.copy()
    if rng.random() < ANEW:
        members = np.flatnonzero(box.people.block == rng.choice(box.people.block))
        other[members] = rng.permutation(other[members])
        return other
    for _ in range(rng.geometric(0.5)):
        one = rng.integers(len(state))
        two = rng.choice(np.flatnonzero(box.people.block == box.people.block[one]))
        other[[one, two]] = other[[two, one]]
    return other
