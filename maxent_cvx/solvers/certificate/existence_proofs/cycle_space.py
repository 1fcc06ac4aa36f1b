r"""The null space of the published rows: cycles of a graph whose vertices are the rows and whose edges are the terms.

In every release a term (q, s, b) has coefficient 1 in at most two published rows, that of (q, b) and that of (s, b). It
is an edge between them; a term with one such row is an edge to a vertex without a row, the ground. Let F be a spanning
forest of the edges with a positive count, one of the largest total count (Kruskal's algorithm). Then

* a residual r of the published rows is removed by a change d of the edges of F alone, P d = -r, found from the leaves
  to the roots; \|d\| is at most the sum of \|r\| over a tree, and the residuals of a tree add up to 0 with the signs
  of its two kinds of rows if the published counts are consistent;
* every edge e outside of F closes one cycle, z_e, with P z_e = 0 and entries 1 and -1; these cycles are a basis of the
  null space of P.

So the rows of knowledge K restrict the changes that leave all published rows as they are through K Z', where the rows
of Z are the cycles. Nothing here is rounded but sums of counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...parameters.size_limits import NEWTON_COSTS
from ...program.linear_form import LinearForm
from ...rows.sparse import entry_rows

__all__ = ["CycleSpace"]


#: Records: a smaller count outside of the forest stays as it is. Its square root is less than what is known of sides.
HELD = 1e-12


@dataclass(frozen=True, eq=False)
class CycleSpace:
    """A spanning forest of the published rows, and the cycles that the other terms close.

    Attributes
    ----------
    is_vertex : ndarray of bool, one a published row
        Rows of the graph; the others have more than two rows a term, or coefficients other than 1.
    tree : ndarray of int, one a vertex
        The tree of every vertex. Vertices are the published rows and, after them, grounds.
    parent, parent_term, depth : ndarray of int, one a vertex
        The next vertex on the way to the root, the term of that edge, and the number of edges to the root.
    outside : ndarray of int
        The terms outside of the forest.
    first, second : ndarray of int, one a term outside of the forest
        Its vertices; -1 where it has none.
    counts : ndarray, one a term
        Records.
    """

    is_vertex: np.ndarray
    tree: np.ndarray
    parent: np.ndarray
    parent_term: np.ndarray
    depth: np.ndarray
    outside: np.ndarray
    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, form: LinearForm, counts: np.ndarray, positive: np.ndarray, rows: np.ndarray) -> CycleSpace:
        """Find a spanning forest of the largest total count.

        Parameters
        ----------
        form : LinearForm
        counts : ndarray, one a term
            Records.
        positive : ndarray of bool, one a term
            The edges: terms that may move, all with a positive count.
        rows : ndarray of bool, one a published row
            The vertices: equations that are to hold.
        """
        n, terms = form.n_published, np.flatnonzero(positive)
        is_vertex, first, second = _vertices_of_terms(form, terms, rows)
        grounded = (first >= 0) & (second < 0)
        if grounded.any():  # a ground for every connected component, so that what is apart stays apart
            linked = second >= 0
            component = _connected(first[linked], second[linked], n)
            second = np.where(grounded, n + component[np.maximum(first, 0)], second)
        size = n + (int(component.max(initial=-1)) + 1 if grounded.any() else 0)
        edges = np.flatnonzero(first >= 0)
        in_forest = _largest_forest(first[edges], second[edges], counts[terms[edges]], size)
        forest = edges[in_forest]
        tree = _connected(first[forest], second[forest], size)
        root = np.full(int(tree.max(initial=-1)) + 1, -1)
        root[tree[::-1]] = np.arange(size)[::-1]
        root[tree[n:]] = np.arange(n, size)  # grounds first: no count has to agree there
        parent, parent_term, depth = _rooted(first[forest], second[forest], terms[forest], root, size)
        outside = counts[terms] >= HELD
        outside[forest] = False
        return cls(is_vertex, tree, parent, parent_term, depth, terms[outside], first[outside], second[outside], counts)

    def routed(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The change d of the terms of the forest with P d = -residual, and what is left over at each root.

        Parameters
        ----------
        residual : ndarray, one a published row
            Records.

        Returns
        -------
        change : ndarray, one a term
        left : ndarray, one a tree
            The sum of the residuals of the tree with the signs of their kinds; 0 where the root is a ground.
        """
        need = np.zeros(len(self.parent))
        need[: len(residual)] = -np.where(self.is_vertex, residual, 0.0)
        change = np.zeros(len(self.counts))
        for level in self._levels()[:0:-1]:  # from the deepest vertices to the roots
            change[self.parent_term[level]] = need[level]
            parents = self.parent[level]
            low = int(parents.min())
            taken = np.bincount(parents - low, need[level])
            need[low : low + len(taken)] -= taken
        roots = self.parent == np.arange(len(self.parent))
        roots[len(residual) :] = False
        left = np.zeros(int(self.tree.max(initial=-1)) + 1)
        left[self.tree[roots]] = need[roots]
        return change, left

    def of_trees(self, of_row: np.ndarray) -> np.ndarray:
        """Add up numbers of the published rows over each tree."""
        rows = np.where(self.is_vertex, of_row, 0.0)
        return np.bincount(self.tree[: len(rows)], rows, int(self.tree.max(initial=-1)) + 1)

    def on_forest(self, of_tree: np.ndarray) -> np.ndarray:
        """A number of each tree for its terms, 0 for those outside of the forest; one a term."""
        found, below = np.zeros(len(self.counts)), self.depth > 0
        found[self.parent_term[below]] = of_tree[self.tree[below]]
        return found

    def cycles(self, some: np.ndarray) -> Iterator[tuple[np.ndarray, sp.csr_array]]:
        """Yield terms outside of the forest, a batch at a time, and their cycles as rows over all terms.

        Parameters
        ----------
        some : ndarray of int
            Places in `outside`.
        """
        for start in range(0, len(some), step := NEWTON_COSTS.batch // 8):
            batch = some[start : start + step]
            yield self.outside[batch], self.closed_by(self.outside[batch], self.first[batch], self.second[batch])

    def vertices_of(self, form: LinearForm, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the second vertex of other terms; -1 for none."""
        first, second, _ = _ends(form, terms, self.is_vertex)
        return first, second

    def trees_of_terms(self) -> tuple[np.ndarray, np.ndarray]:
        """The terms, those outside of the forest first, and the tree of each; -1 for terms without a vertex."""
        below = self.depth > 0
        tree = np.append(self.tree, -1)[self.first]
        return np.concatenate([self.outside, self.parent_term[below]]), np.concatenate([tree, self.tree[below]])

    def vanishes(self, of_term: np.ndarray, prime: int, asked: np.ndarray) -> bool:
        """Whether residues of the terms add up to 0 on cycles, with the signs of the cycle, modulo a prime.

        That is so if they are sums of two numbers of their vertices, which the edges of the forest determine.
        """
        potential = np.zeros(len(self.parent), dtype=np.int64)
        for level in self._levels()[1:]:
            potential[level] = (of_term[self.parent_term[level]] - potential[self.parent[level]]) % prime
        padded = np.append(potential, 0)  # -1: no vertex
        return not (((of_term[self.outside] - padded[self.first] - padded[self.second]) % prime)[asked]).any()

    def _levels(self) -> list[np.ndarray]:
        """The vertices of each depth."""
        order = np.argsort(self.depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])

    def closed_by(self, outside: np.ndarray, first: np.ndarray, second: np.ndarray) -> sp.csr_array:
        """The cycles that edges close, or the ways from their ends to two roots, as rows over all terms.

        From both ends one climbs to the root, with alternating signs; what both ways share cancels.
        """
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
        found = sp.csr_array((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
        found.eliminate_zeros()
        return found


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
    of_term, own = (entry, row) if kept.all() else (entry[kept], row[kept])
    number = np.bincount(of_term, minlength=len(terms))
    start = np.cumsum(number) - number
    first, second = np.full(len(terms), -1), np.full(len(terms), -1)
    first[number > 0] = own[start[number > 0]]
    second[number > 1] = own[start[number > 1] + 1]
    pair = number > 1
    first[pair], second[pair] = np.minimum(first[pair], second[pair]), np.maximum(first[pair], second[pair])
    return first, second, own[np.arange(len(own)) - np.repeat(start, number) > 1]


def _connected(first: np.ndarray, second: np.ndarray, size: int) -> np.ndarray:
    """Number the connected components of a graph: for each vertex."""
    graph = sp.csr_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size))
    return sp.csgraph.connected_components(graph, directed=False)[1]


def _largest_forest(first: np.ndarray, second: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """Choose the edges of a spanning forest with the largest counts."""
    key = first.astype(np.int64) * size + second
    order = np.argsort(key)
    if not (np.diff(key[order]) > 0).all():  # of parallel edges, the one with the largest count
        order = np.lexsort((-counts, key))
        order = order[np.diff(key[order], prepend=-1) > 0]
    starts = np.searchsorted(first[order], np.arange(size + 1))
    graph = sp.csr_array((1 / counts[order], second[order], starts), shape=(size, size))
    forest = sp.csgraph.minimum_spanning_tree(graph).tocoo()
    return order[np.searchsorted(key[order], forest.row.astype(np.int64) * size + forest.col)]


def _rooted(
    first: np.ndarray, second: np.ndarray, terms: np.ndarray, root: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parent, the term of the edge to it, and the depth of every vertex of a forest."""
    above = np.full(len(root), size)  # a vertex above all roots, as SciPy searches from one vertex
    ends = np.concatenate([first, above]), np.concatenate([second, root])
    graph = sp.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size + 1, size + 1))
    parent = sp.csgraph.breadth_first_order(graph, size, directed=False)[1][:size]
    parent[root] = root
    down = parent[second] == first
    lower = np.where(down, second, first)
    parent_term = np.full(size, -1)
    parent_term[lower] = terms
    depth, vertex = np.zeros(size, dtype=np.int64), np.flatnonzero(parent != np.arange(size)).astype(parent.dtype)
    ancestor = vertex
    while len(vertex):
        depth[vertex] += 1
        ancestor = parent[ancestor]
        further = parent[ancestor] != ancestor
        vertex, ancestor = vertex[further], ancestor[further]
    return parent, parent_term, depth
