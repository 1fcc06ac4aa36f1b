"""Sums over all ways to deal items to places, by dynamic programming over how many of each kind of place are left.

The weight of a way is a product, a factor for every item and the kind of place it gets; the sum over all ways is a
permanent whose columns repeat. What was dealt to the first j items matters only by how many places of each kind are
taken, so that prod(m + 1) states are enough, where there are N! / prod(m!) ways. All is done in logarithms: no factor
is too small, and 0 is -inf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Lattice", "dealt", "log_sum", "shares"]

#: Numbers held at once, for one layer of states of some groups.
AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Lattice:
    """The states: how many places of each kind are taken, 0 to m each, as one number in mixed radix.

    Attributes
    ----------
    places : ndarray of int
        m, the places of each kind.
    """

    places: np.ndarray

    @property
    def stride(self) -> np.ndarray:
        """What one place more of each kind adds to a state's number."""
        return np.concatenate([[1], np.cumprod(self.places[:-1] + 1)]).astype(np.int64)

    def layers(self) -> list[np.ndarray]:
        """The states with 0, 1, ..., N places taken."""
        taken = np.zeros(1, dtype=np.int64)
        for m in self.places:
            taken = (np.arange(m + 1)[:, None] + taken).ravel()
        order = np.argsort(taken, kind="stable")
        return np.split(order, np.cumsum(np.bincount(taken))[:-1])

    def neighbours(self, states: np.ndarray, step: int) -> np.ndarray:
        """The states with one place more (`step` 1) or less (-1) of each kind, shape (states, kinds).

        One that does not exist has the number of states.
        """
        digit = states[:, None] // self.stride % (self.places + 1)
        inside = digit < self.places if step > 0 else digit > 0
        return np.where(inside, states[:, None] + step * self.stride, np.prod(self.places + 1))

    def moved(self, states: np.ndarray, takes: np.ndarray, step: int) -> np.ndarray:
        """As :meth:`neighbours`, with so many places of each kind more or less at once, shape (states, ways)."""
        digit = states[:, None] // self.stride % (self.places + 1)
        after = digit[:, None] + step * takes
        inside = ((after >= 0) & (after <= self.places)).all(axis=2)
        return np.where(inside, states[:, None] + step * (takes @ self.stride), np.prod(self.places + 1))


def shares(
    log_factor: np.ndarray, places: np.ndarray, log_ends: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The total weight of all ways, and the share of it in which each item has each kind of place.

    Parameters
    ----------
    log_factor : ndarray, shape (groups, items, kinds)
        Of groups with the same numbers of places.
    places : ndarray of int, shape (kinds,)
        Places of each kind; their sum is the number of items, or more with `log_ends`.
    log_ends : ndarray, shape (states,), optional
        What it counts, as a logarithm, that the items have taken these places, and left the others. By default all
        places are taken.

    Returns
    -------
    log_total : ndarray, shape (groups,)
        Its logarithm; -inf where no way has a weight.
    share : ndarray, shape (groups, items, kinds)
        Sums to 1 over the kinds; NaN where no way has a weight.
    """
    n_groups, n_items, n_kinds = log_factor.shape
    lattice = Lattice(places)
    layers = lattice.layers()
    n_states = int(np.prod(places + 1))
    before = dealt(log_factor, lattice, layers)
    after = np.full_like(before, -np.inf)
    if log_ends is None:
        after[:, n_states - 1] = 0.0
    else:
        after[:, :n_states] = log_ends
    total = log_sum(before[:, layers[n_items]] + after[:, layers[n_items]])[0]
    share = np.zeros_like(log_factor)
    scale = np.where(np.isfinite(total), total, np.nan)[:, None]
    for item in reversed(range(n_items)):
        for states in _some(layers[item], n_groups * n_kinds):
            at = lattice.neighbours(states, 1)
            after[:, states], of_kind, of_all = log_sum(after[:, at] + log_factor[:, item, None, :])
            through = np.exp(before[:, states] + after[:, states] - scale) / np.maximum(of_all, 1.0)
            share[:, item] += np.einsum("gs,gsk->gk", through, of_kind)
    return total, share


def dealt(log_factor: np.ndarray, lattice: Lattice, layers: list[np.ndarray]) -> np.ndarray:
    """The weight of all ways to deal the items so that they take the places of each state, logarithms.

    Returns
    -------
    ndarray, shape (groups, states + 1)
        Of the states with as many places taken as there are items, or fewer: those of the first items. The last is of
        states that do not exist.
    """
    n_groups, _, n_kinds = log_factor.shape
    before = np.full((n_groups, int(np.prod(lattice.places + 1)) + 1), -np.inf)
    before[:, 0] = 0.0
    for item, layer in enumerate(layers[1 : log_factor.shape[1] + 1]):
        for states in _some(layer, n_groups * n_kinds):
            at = lattice.neighbours(states, -1)
            before[:, states], *_ = log_sum(before[:, at] + log_factor[:, item, None, :])
    return before


def log_sum(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log(sum(exp(x))) over the last axis, the terms relative to the largest, and their sum, 1 at least.

    Of nothing but -inf -inf, and both others are 0.
    """
    top = x.max(axis=-1)
    term = np.exp(x - np.where(np.isfinite(top), top, 0.0)[..., None])
    total = term.sum(axis=-1)
    with np.errstate(divide="ignore"):
        return top + np.log(total), term, total


def _some(states: np.ndarray, width: int) -> list[np.ndarray]:
    """Cut a layer so that its parts are held at once."""
    return np.array_split(states, 1 + len(states) * width // AT_ONCE)
