r"""The null space of the published rows: cycles of a graph whose vertices are the rows and whose edges are the terms.

In every release a term (q, s, b) has coefficient 1 in at most two published rows, those of (q, b) and of (s, b). It is
an edge between them; a term in one such row is an edge to a vertex without a row, the ground. Let F be a spanning
forest of the edges with a positive count that has the largest total count (Kruskal's algorithm). Then

* a residual r of the published rows is removed by a change d of the edges of F alone, P d = -r, computed from the
  leaves to the roots; \|d\| is at most the sum of \|r\| over a tree, and the residuals of a tree sum to 0, with the
  signs of its two kinds of rows, if the published counts are consistent;
* every edge e outside F closes one cycle, z_e, with P z_e = 0 and entries 1 and -1; these cycles are a basis
  of the null space of P.

The rows of knowledge K therefore restrict changes that preserve all published rows only through K Z', where the rows of
Z are the cycles. Nothing is rounded except sums of counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .blocks import BATCH_DOUBLES
from .form import LinearForm
from .sparse import compact, csr, entry_rows

#: Records: smaller counts outside the forest are not changed. Their square roots are below the precision of the sides.
HELD = 1e-12


@dataclass(frozen=True, eq=False)
class CycleSpace:
    """A spanning forest of the published rows, and the cycles closed by the other terms."""

    # One per published row: whether it is in the graph; others have more than two rows per term, or coefficients other
    # than 1.
    is_vertex: np.ndarray
    # One per vertex: its tree. Vertices are the published rows, followed by grounds.
    tree: np.ndarray
    # One per vertex: the next vertex on the way to the root, the term of that edge, and the number of edges to the
    # root.
    parent: np.ndarray
    parent_term: np.ndarray
    depth: np.ndarray
    outside: np.ndarray  # the terms outside the forest
    first: np.ndarray  # one per term outside the forest: its first vertex; -1 if none; `second` likewise
    second: np.ndarray
    counts: np.ndarray  # one per term: records

    @classmethod
    def of(cls, form: LinearForm, counts: np.ndarray, positive: np.ndarray, rows: np.ndarray) -> CycleSpace:
        """Compute a spanning forest of the largest total count."""
        n, terms = form.n_published, np.flatnonzero(positive)
        is_vertex, first, second = _vertices_of_terms(form, terms, rows)
        grounded = (first >= 0) & (second < 0)
        if grounded.any():  # one ground per connected component, so that components stay separate
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
        """Return the change d of the terms of the forest with P d = -residual, and the remainder at each root."""
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
        """Sum numbers of the published rows over each tree."""
        rows = np.where(self.is_vertex, of_row, 0.0)
        return np.bincount(self.tree[: len(rows)], rows, int(self.tree.max(initial=-1)) + 1)

    def on_forest(self, of_tree: np.ndarray) -> np.ndarray:
        """Return a number of each tree for each of its terms, and 0 for terms outside the forest."""
        of_term, below = np.zeros(len(self.counts)), self.depth > 0
        of_term[self.parent_term[below]] = of_tree[self.tree[below]]
        return of_term

    def cycles(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, sp.csr_array]]:
        """Yield batches of terms outside the forest, and their cycles as rows over all terms."""
        for start in range(0, len(numbers), step := BATCH_DOUBLES // 8):
            batch = numbers[start : start + step]
            yield self.outside[batch], self.closed_by(self.outside[batch], self.first[batch], self.second[batch])

    def trees_of_terms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the terms, those outside the forest first, and the tree of each; -1 for terms without a vertex."""
        below = self.depth > 0
        tree = np.append(self.tree, -1)[self.first]
        return np.concatenate([self.outside, self.parent_term[below]]), np.concatenate([tree, self.tree[below]])

    def vanishes(self, of_term: np.ndarray, prime: int, which: np.ndarray) -> bool:
        """Return whether residues of terms sum to 0 modulo a prime over given cycles, with the signs of the cycle.

        This is so if each residue is the sum of two numbers of its vertices, which the edges of the forest determine.
        """
        potential = np.zeros(len(self.parent), dtype=np.int64)
        for level in self._levels()[1:]:
            potential[level] = (of_term[self.parent_term[level]] - potential[self.parent[level]]) % prime
        padded = np.append(potential, 0)  # index -1: no vertex
        return not (((of_term[self.outside] - padded[self.first] - padded[self.second]) % prime)[which]).any()

    def _levels(self) -> list[np.ndarray]:
        """Return the vertices of each depth."""
        order = np.argsort(self.depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])

    def closed_by(self, outside: np.ndarray, first: np.ndarray, second: np.ndarray) -> sp.csr_array:
        """Return the cycles that edges close, or the paths from their ends to two roots, as rows over all terms.

        The paths climb from both ends to the root, with alternating signs; their common part cancels.
        """
        numbers = np.arange(len(outside))
        row, vertex = np.concatenate([numbers, numbers]), np.concatenate([first, second])
        rows, columns, data, sign = [numbers], [outside], [np.ones(len(outside))], -1.0
        row, vertex = row[vertex >= 0], vertex[vertex >= 0]
        while len(vertex):
            climbing = self.depth[vertex] > 0
            row, vertex = row[climbing], vertex[climbing]
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
    """Choose the rows that are vertices, and return the first and the second vertex of each term; -1 for none.

    A row is excluded if a term has more than two rows, if a coefficient is not 1, or if it is the first row of one term
    and the second of another, since the graph might then not be bipartite.
    """
    n, published = form.n_published, form.published
    is_vertex = rows & (np.bincount(entry_rows(published), published.data != 1, n) == 0)
    while True:
        first, second, surplus = ends_of(form, terms, is_vertex)
        if not len(surplus):
            is_first = np.zeros(n, dtype=bool)
            is_first[first[second >= 0]] = True
            surplus = second[second >= 0]
            surplus = surplus[is_first[surplus]]
        if not len(surplus):
            return is_vertex, first, second
        is_vertex = is_vertex.copy()
        is_vertex[surplus] = False


def ends_of(form: LinearForm, terms: np.ndarray, is_vertex: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first and second vertex of terms, -1 for none, and the vertices of terms that have more than two."""
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
    """Number the connected components of a graph; return one number per vertex."""
    graph = compact(sp.csr_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size)))
    return sp.csgraph.connected_components(graph, directed=False)[1]


def _largest_forest(
    first: np.ndarray, second: np.ndarray, counts: np.ndarray, n_rows: int, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the spanning forest of the largest counts: tree, parent, edge to the parent and depth of each vertex.

    An additional vertex has a heavy edge to each vertex: the minimum spanning tree uses one of them per component.
    These edges lead to the roots, which are grounds where there are any, because no count has to agree there.
    """
    key = first.astype(np.int64) * size + second
    order = np.argsort(key)
    if not (np.diff(key[order]) > 0).all():  # keep the parallel edge with the largest count
        order = np.lexsort((-counts, key))
        order = order[np.diff(key[order], prepend=-1) > 0]
    weights, vertices = 1 / counts[order], np.arange(size)
    heavy = 2 * weights.max(initial=1.0)
    graph = csr(
        np.concatenate([weights, np.where(vertices < n_rows, 2 * heavy, heavy)]),
        np.concatenate([second[order], vertices]),
        np.append(np.searchsorted(first[order], np.arange(size + 1)), len(order) + size),
        (size + 1, size + 1),
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
    place = np.minimum(np.searchsorted(key[order], ends), max(len(order) - 1, 0))  # arbitrary for roots
    edge = order[place] if len(order) else np.zeros(size, dtype=np.int64)
    return np.unique(root, return_inverse=True)[1], parent, edge, depth
