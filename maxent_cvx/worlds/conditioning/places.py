"""Where named people may be: a bucket, as those of them see it who may be one of its records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Place", "closed_form", "falling"]


@dataclass(frozen=True, eq=False)
class Place:
    """A bucket in which some of the people may be; or all those together in which only one of them may be.

    Its values are in classes. Of the worlds of a bucket only how many of the named people are in it matters, of which
    kind, and how many of them have a value of each class: `weight` is that of all its worlds with these, people and
    places being told apart.

    Attributes
    ----------
    people : ndarray of int
        Who may be here.
    kind : ndarray of int, one a person
        People of one kind have the same quasi-identifiers.
    room : ndarray of int, one a kind
        How many records each kind has here.
    classes : ndarray of int
        The value that each class consists of, -1 for a class of values that no sentence mentions.
    left : ndarray of int, one a class
        How many records have a value of it.
    log_prior : ndarray, shape (kinds, classes)
        Logarithms of what a person's value counts.
    others : ndarray, shape (values,)
        How the values of class -1 are distributed among those who have one.
    log_rest : function
        From how many of each kind, shape (states, kinds), and of each class, (states, classes), to the logarithm of
        what all others count.
    """

    people: np.ndarray
    kind: np.ndarray
    room: np.ndarray
    classes: np.ndarray
    left: np.ndarray
    log_prior: np.ndarray
    others: np.ndarray
    log_rest: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def weight(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The logarithm of what a state counts: the ways for the people to be records here, times the others'."""
        return falling(self.room, u) + self.log_rest(u, c)

    def of_values(self, share: np.ndarray) -> np.ndarray:
        """Shares of classes, shape (people, classes), as shares of values, (people, values)."""
        found = np.zeros((len(share), len(self.others)))
        mentioned = self.classes >= 0
        found[:, self.classes[mentioned]] = share[:, mentioned]
        return found + share[:, ~mentioned].sum(axis=1, keepdims=True) * self.others


def falling(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """log(prod n (n - 1) ... (n - k + 1)), the product over the last axis of k: ways to draw without replacement.

    Summed factor by factor: a difference of two log-factorials of thousands would lose digits.
    """
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
