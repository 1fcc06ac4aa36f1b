r"""The null space of the published rows: cycles of a graph whose vertices are the rows and whose edges are the terms.

In every release a term (q, s, b) has coefficient 1 in at most two published rows, that of (q, b) and that of (s, b).
It is an edge between them; a term with one such row is an edge to a vertex without a row, the ground. Let F be a
spanning forest of the edges with a positive count, one of the largest total count (Kruskal's algorithm). Then

* a residual r of the published rows is removed by a change d of the edges of F alone, P d = -r, found from the leaves
  to the roots; \|d\| is at most the sum of \|r\| over a tree, and the residuals of a tree add up to 0 with the signs
  of its two kinds of rows if the published counts are consistent;
* every edge e outside of F closes one cycle, z_e, with P z_e = 0 and entries 1 and -1; these cycles are a basis
  of the null space of P.

So the rows of knowledge K restrict the changes that leave all published rows as they are through K Z', where the rows
of Z are the cycles. Nothing here is rounded but sums of counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .blocks import BATCH_DOUBLES
from .form import LinearForm
from .sparse import entry_rows

#: Records: a smaller count outside of the forest stays as it is. Its square root is less than what is known of sides.
HELD = 1e-12


@dataclass(frozen=True, eq=False)
class CycleSpace:
    """A spanning forest of the published rows, and the cycles that the other terms close."""

    # One per published row: rows of the graph; the others have more than two rows a term, or coefficients other than
    # 1.
    is_vertex: np.ndarray
    # One per vertex: the tree of every vertex. Vertices are the published rows and, after them, grounds.
    tree: np.ndarray
    # One per vertex: the next vertex on the way to the root, the term of that edge, and the number of edges to the
    # root.
    parent: np.ndarray
    parent_term: np.ndarray
    depth: np.ndarray
    outside: np.ndarray  # the terms outside of the forest
    first: np.ndarray  # one per term outside of the forest: its vertices; -1 where it has none
    second: np.ndarray
    counts: np.ndarray  # one per term: records

    @classmethod
    def of(cls, form: LinearForm, counts: np.ndarray, positive: np.ndarray, rows: np.ndarray) -> CycleSpace:
        """Find a spanning forest of the largest total count."""
        n, terms = form.n_published, np.flatnonzero(positive)
        is_vertex, first, second = _vertices_of_terms(form, terms, rows)
        grounded = (first >= 0) & (second < 0)
        if grounded.any():  # a ground for every connected component, so that what is apart stays apart
            linked = second >= 0
            component = _connected(first[linked], second[linked], n)
            second = np.where(grounded, n + component[np.maximum(first, 0)], second)
        size = n + (int(component.max(initial=-1)) + 1 if grounded.any() else 0)
        edges = np.flatnonzero(first >= 0)
        tree, parent, edge, depth = _largest_forest(first[edges], second[edges], counts[terms[edges]], n, size)
        below = depth > 0
        parent_term = np.full(size, -1)
        parent_term[below] = terms[edges[edge[below]]]
        is_outside = counts[terms] >= HELD
        is_outside[edges[edge[below]]] = False
        of_outside = (of_edge[is_outside] for of_edge in (terms, first, second))
        tree, parent, parent_term, depth, outside, first, second = (
            numbers.astype(np.int32) for numbers in (tree, parent, parent_term, depth, *of_outside)
        )
        return cls(is_vertex, tree, parent, parent_term, depth, outside, first, second, counts)

    def routed(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The change d of the terms of the forest with P d = -residual, and what is left over at each root."""
        need = np.zeros(len(self.parent))
        need[: len(residual)] = -np.where(self.is_vertex, residual, 0.0)
        change = np.zeros(len(self.counts))
        for level in self._levels()[:0:-1]:  # from the deepest vertices to the roots
            change[self.parent_term[level]] = need[level]
            parents = self.parent[level]
            low = int(parents.min())
            passed = np.bincount(parents - low, need[level])
            need[low : low + len(passed)] -= passed
        roots = self.parent == np.arange(len(self.parent))
        roots[len(residual) :] = False
        surplus = np.zeros(int(self.tree.max(initial=-1)) + 1)
        surplus[self.tree[roots]] = need[roots]
        return change, surplus

    def of_trees(self, of_row: np.ndarray) -> np.ndarray:
        """Add up numbers of the published rows over each tree."""
        rows = np.where(self.is_vertex, of_row, 0.0)
        return np.bincount(self.tree[: len(rows)], rows, int(self.tree.max(initial=-1)) + 1)

    def on_forest(self, of_tree: np.ndarray) -> np.ndarray:
        """A number of each tree for its terms, 0 for those outside of the forest; one per term."""
        of_term, below = np.zeros(len(self.counts)), self.depth > 0
        of_term[self.parent_term[below]] = of_tree[self.tree[below]]
        return of_term

    def cycles(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, sp.csr_array]]:
        """Yield terms outside of the forest, a batch at a time, and their cycles as rows over all terms."""
        for start in range(0, len(numbers), step := BATCH_DOUBLES // 8):
            batch = numbers[start : start + step]
            yield self.outside[batch], self.closed_by(self.outside[batch], self.first[batch], self.second[batch])

    def vertices_of(self, form: LinearForm, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the second vertex of other terms; -1 for none."""
        if not len(terms):
            return terms, terms
        first, second, _ = _ends(form, terms, self.is_vertex)
        return first, second

    def trees_of_terms(self) -> tuple[np.ndarray, np.ndarray]:
        """The terms, those outside of the forest first, and the tree of each; -1 for terms without a vertex."""
        below = self.depth > 0
        tree = np.append(self.tree, -1)[self.first]
        return np.concatenate([self.outside, self.parent_term[below]]), np.concatenate([tree, self.tree[below]])

    def vanishes(self, of_term: np.ndarray, prime: int, which: np.ndarray) -> bool:
        """Whether residues of the terms add up to 0 on cycles, with the signs of the cycle, modulo a prime.

        That is so if they are sums of two numbers of their vertices, which the edges of the forest determine.
        """
        potential = np.zeros(len(self.parent), dtype=np.int64)
        for level in self._levels()[1:]:
            potential[level] = (of_term[self.parent_term[level]] - potential[self.parent[level]]) % prime
        padded = np.append(potential, 0)  # -1: no vertex
        return not (((of_term[self.outside] - padded[self.first] - padded[self.second]) % prime)[which]).any()

    def _levels(self) -> list[np.ndarray]:
        """The vertices of each depth."""
        order = np.argsort(self.depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])

    def closed_by(self, outside: np.ndarray, first: np.ndarray, second: np.ndarray) -> sp.csr_array:
        """The cycles that edges close, or the ways from their ends to two roots, as rows over all terms.

        From both ends one climbs to the root, with alternating signs; what both ways share cancels.
        """
        if not len(outside):
            return sp.csr_array((0, len(self.counts)))
        numbers = np.arange(len(outside))
        row, vertex = np.concatenate([numbers, numbers]), np.concatenate([first, second])
        rows, columns, data, sign = [numbers], [outside], [np.ones(len(outside))], -1.0
        row, vertex = row[vertex >= 0], vertex[vertex >= 0]
        while True:
            climbing = self.depth[vertex] > 0
            row, vertex = row[climbing], vertex[climbing]
            if not len(row):
                break
            rows.append(row)
            columns.append(self.parent_term[vertex])
            data.append(np.full(len(row), sign))
            vertex, sign = self.parent[vertex], -sign
        shape = len(outside), len(self.counts)
        cycles = sp.csr_array((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
        cycles.eliminate_zeros()
        return cycles


def _vertices_of_terms(
    form: LinearForm, terms: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose the rows that are vertices, and the first and the second vertex of each term; -1 for none.

    A row is left out where a term has more than two, where a coefficient is not 1, and where it is the first row of one
    term and the second of another: then the graph might not be bipartite.
    """
    n, published = form.n_published, form.published
    is_vertex = rows & (np.bincount(entry_rows(published), published.data != 1, n) == 0)
    while True:
        first, second, surplus = _ends(form, terms, is_vertex)
        if not len(surplus):
            is_first = np.zeros(n, dtype=bool)
            is_first[first[second >= 0]] = True
            surplus = second[second >= 0]
            surplus = surplus[is_first[surplus]]
        if not len(surplus):
            return is_vertex, first, second
        is_vertex = is_vertex.copy()
        is_vertex[surplus] = False


def _ends(form: LinearForm, terms: np.ndarray, is_vertex: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first and the second vertex of some terms, -1 for none, and the vertices of which they have even more."""
    by_term = form.published_by_term[terms] if len(terms) < form.shape[1] else form.published_by_term
    entry, row = entry_rows(by_term), by_term.indices
    kept = is_vertex[row]
    of_term, vertices = (entry, row) if kept.all() else (entry[kept], row[kept])
    number = np.bincount(of_term, minlength=len(terms))
    start = np.cumsum(number) - number
    first, second = np.full(len(terms), -1), np.full(len(terms), -1)
    first[number > 0] = vertices[start[number > 0]]
    second[number > 1] = vertices[start[number > 1] + 1]
    pair = number > 1
    first[pair], second[pair] = np.minimum(first[pair], second[pair]), np.maximum(first[pair], second[pair])
    return first, second, vertices[np.arange(len(vertices)) - np.repeat(start, number) > 1]


def _connected(first: np.ndarray, second: np.ndarray, size: int) -> np.ndarray:
    """Number the connected components of a graph: for each vertex."""
    graph = sp.csr_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size))
    return sp.csgraph.connected_components(graph, directed=False)[1]


def _largest_forest(
    first: np.ndarray, second: np.ndarray, counts: np.ndarray, n_rows: int, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The spanning forest with the largest counts: the tree, the parent, the edge to it and the depth of each vertex.

    A vertex above all others has a heavy edge to each: the minimum spanning tree takes one of them for each component.
    These lead to the roots, which are grounds where there are any, as no count has to agree there.
    """
    key = first.astype(np.int64) * size + second
    order = np.argsort(key)
    if not (np.diff(key[order]) > 0).all():  # of parallel edges, the one with the largest count
        order = np.lexsort((-counts, key))
        order = order[np.diff(key[order], prepend=-1) > 0]
    weights, vertices = 1 / counts[order], np.arange(size)
    heavy = 2 * weights.max(initial=1.0)
    graph = sp.csr_array(
        (
            np.concatenate([weights, np.where(vertices < n_rows, 2 * heavy, heavy)]),
            np.concatenate([second[order], vertices]),
            np.append(np.searchsorted(first[order], np.arange(size + 1)), len(order) + size),
        ),
        shape=(size + 1, size + 1),
    )
    forest = sp.csgraph.minimum_spanning_tree(graph)
    parent = sp.csgraph.breadth_first_order(forest, size, directed=False)[1][:size]
    parent = np.where(parent == size, vertices, parent)
    depth, root, climbing = np.zeros(size, dtype=np.int64), parent.copy(), np.flatnonzero(parent != vertices)
    while len(climbing):
        depth[climbing] += 1
        above = parent[root[climbing]]
        further = above != root[climbing]
        climbing = climbing[further]
        root[climbing] = above[further]
    ends = np.minimum(parent, vertices).astype(np.int64) * size + np.maximum(parent, vertices)
    place = np.minimum(np.searchsorted(key[order], ends), max(len(order) - 1, 0))  # of roots, any
    edge = order[place] if len(order) else np.zeros(size, dtype=np.int64)
    return np.unique(root, return_inverse=True)[1], parent, edge, depth
