"""What leaves of a tree with monotonic constraints say: some have their shares clipped, and count nobody."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import StatementError

__all__ = ["counts_of_leaves", "is_monotone"]

#: Shares nearer than this are equal: what is left of rounding a sum of a few doubles below 1.
SAME = 1e-9
#: Halvings until an interval of width 1/2 is as short as doubles allow.
HALVINGS = 60


def is_monotone(tree: Any) -> bool:
    """Whether a fitted classifier's tree was grown under monotonic constraints."""
    constraints = getattr(tree, "monotonic_cst", None)
    return constraints is not None and bool(np.any(np.asarray(constraints) != 0))


def counts_of_leaves(tree: Any, leaf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound how many people of each leaf have each of two classes, from what is published of a monotone tree.

    A node's impurity is that of its people, k and n - k of them, though it does not say which of the classes is which.
    Its shares are clipped to lie between bounds, the middles of the shares of both sides of splits above it (as
    scikit-learn has it): shares that are none of these are not clipped, and count people.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier
    leaf : ndarray of int
        Numbers of its leaves.

    Returns
    -------
    least, most : ndarray
        Counts, shape (leaves, 2); equal where they are certain.

    Raises
    ------
    StatementError
        If an impurity is not that of any number of people.
    """
    fitted = tree.tree_
    people = fitted.n_node_samples.astype(float)
    fewer = _fewer(fitted.impurity, people, tree.criterion == "gini")
    first = fitted.value[:, 0, 0] / fitted.value[:, 0, :].sum(axis=1)
    sure = ~_at_a_bound(fitted, first, fewer / people, np.asarray(tree.monotonic_cst))
    exact = np.rint(first * people)
    if (np.abs(exact - first * people)[sure] > 1e-6 * people[sure]).any():
        raise StatementError("the tree's leaves do not count people; fit it without class_weight and sample_weight")
    least, most = np.where(sure, exact, fewer)[leaf], np.where(sure, exact, people - fewer)[leaf]
    total = people[leaf]
    return np.column_stack([least, total - most]), np.column_stack([most, total - least])


def _fewer(impurity: np.ndarray, people: np.ndarray, gini: bool) -> np.ndarray:
    """How many people of a node have the class that fewer have, counts."""
    low, high = np.zeros(len(impurity)), np.full(len(impurity), 0.5)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        less = _impurity(middle, gini) < impurity
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    found = np.rint((low + high) / 2 * people)
    if (np.abs(_impurity(found / people, gini) - impurity) > SAME).any():
        raise StatementError(
            "the impurities of the tree's nodes are not those of whole people; fit it without class_weight and "
            "sample_weight"
        )
    return found


def _impurity(share: np.ndarray, gini: bool) -> np.ndarray:
    """The impurity of two classes, one of which has this share; entropy is in bits."""
    other = 1 - share
    if gini:
        return 2 * share * other
    inside = (share > 0) & (other > 0)
    p, q = np.where(inside, share, 0.5), np.where(inside, other, 0.5)
    return np.where(inside, -p * np.log2(p) - q * np.log2(q), 0.0)


def _at_a_bound(fitted: Any, shares: np.ndarray, fewer: np.ndarray, constraints: np.ndarray) -> np.ndarray:
    """Mark the nodes whose share is what a split above it may clip to."""
    left, right = fitted.children_left, fitted.children_right
    inner = np.flatnonzero(left >= 0)
    parent = np.full(len(left), -1)
    parent[left[inner]], parent[right[inner]] = inner, inner
    middles = np.full((len(left), 4), np.nan)
    split = inner[constraints[fitted.feature[inner]] != 0]
    a, b = fewer[left[split]], fewer[right[split]]
    middles[split] = np.column_stack([a + b, a + 1 - b, 1 - a + b, 2 - a - b]) / 2
    found, above = np.zeros(len(left), dtype=bool), parent.copy()
    while (above >= 0).any():
        found |= (above >= 0) & (np.abs(middles[above] - shares[:, None]) <= SAME).any(axis=1)
        above = np.where(above >= 0, parent[above], -1)
    return found
