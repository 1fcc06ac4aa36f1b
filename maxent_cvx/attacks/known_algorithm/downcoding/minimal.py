"""A release that is minimal in its hierarchies: no group of it can be refined and still have k records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....errors import Infeasible, StatementError, TableError, shown, whole
from ....views.generalized import Hierarchies, coverage
from .cells import Cells
from .column import Column

__all__ = ["Minimal", "minimal_columns"]


@dataclass(frozen=True)
class Minimal:
    """What is known of any algorithm that generalises as little as k records a group allow, along hierarchies.

    No records of a group can be generalised less, by one level of one attribute, so that all groups that this leaves
    have k records: fewer than k are below any one child of a group's node; or, if there are fewer than 2 k records in
    the group, not all of them are. That is all that minimality says of groups that do not overlap.

    Attributes
    ----------
    k : int

    Raises
    ------
    StatementError
        If `k` is no whole number of at least 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.attacks.Minimal(5)
    Minimal(k=5)
    """

    k: int

    def __post_init__(self) -> None:
        whole(self.k, "k", 1)


def minimal_columns(cells: Cells, a: int, k: int, nodes: Hierarchies) -> np.ndarray:
    """P(exact value | group) if the release is minimal for k; exact.

    Raises
    ------
    Infeasible
        If it is not, whatever the values are.
    StatementError
        If an attribute has no hierarchy.
    TableError
        If nodes of a hierarchy overlap, or a cell is no node.
    """
    if (cells.size < k).any():
        raise Infeasible(f"a group has fewer than k={k} records; has the release another k?")
    found = cells.prior(a)
    for i, name in enumerate(cells.release.qi):
        if name not in nodes:
            raise StatementError(
                f"a release is minimal in hierarchies: pass one of {name!r}, hierarchies={{{name!r}: ...}}"
            )
        tree = _masks(cells, i, nodes)
        prior = cells.prior(i)
        for group, n in enumerate(cells.size.tolist()):
            shares = _shares(int(n), k, prior[group], _children(cells.covered[i][group], tree, name))
            if i == a:
                found[group] = shares
    return found


def _masks(cells: Cells, a: int, nodes: Hierarchies) -> np.ndarray:
    """What each node of an attribute stands for, values included; larger ones first."""
    name, values = cells.release.qi[a], cells.values[a]
    masks = coverage(list(nodes[name]), values, name, nodes[name])
    masks = np.unique(np.concatenate([masks, np.eye(len(values), dtype=bool)]), axis=0)
    both = masks.astype(int) @ masks.T.astype(int)
    size = masks.sum(axis=1)
    if (apart := (both > 0) & (both < np.minimum(size[:, None], size))).any():
        one, other = (list(values[masks[i]]) for i in np.argwhere(apart)[0])
        raise TableError(
            f"nodes of the hierarchy of {name!r} overlap, {shown(one)} and {shown(other)}; a tree is expected"
        )
    return masks[np.argsort(-size, kind="stable")]


def _children(covered: np.ndarray, tree: np.ndarray, name: str) -> np.ndarray:
    """The nodes one level below a cell, shape (nodes, values)."""
    if not (tree == covered).all(axis=1).any():
        raise TableError(f"a cell of {name!r} is no node of its hierarchy; pass the one that was published with")
    below = tree[(tree <= covered).all(axis=1) & (tree < covered).any(axis=1)]
    inside = (below[:, None] <= below).all(axis=2) & ~np.eye(len(below), dtype=bool)
    return np.asarray(below[~inside.any(axis=1)])


def _shares(n: int, k: int, prior: np.ndarray, children: np.ndarray) -> np.ndarray:
    """P(value) of a record of a group."""
    if not len(children):
        return prior
    p = children @ prior
    most = np.full(len(p), n - 1 if n < 2 * k else k - 1)
    law = Column(n, p, np.zeros(len(p), dtype=int), most).law([])
    if not law.weight.sum():
        raise Infeasible(f"no table makes this release minimal for k={k}: a group of {n} records can be refined")
    below = law.expected[0] / n
    return np.asarray((below / p) @ (children * prior))
