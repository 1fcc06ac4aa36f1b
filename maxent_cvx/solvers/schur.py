"""The linear systems of Newton's method: block elimination, the Schur complement, conjugate gradients.

Newton's method eliminates the published rows bucket by bucket. For a problem that does not say which rows are
published, equations are sought that fall into many small components once the longest rows are set aside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import qdldl
import scipy.sparse as sp

from .blocks import BucketBlocks, BucketInverse, Solve, regularized_cholesky
from .form import LinearForm, SharedColumns
from .parameters import BLOCK_DETECTION, NEWTON_COSTS, NEWTON_SYSTEM
from .sparse import components

__all__ = [
    "BlockFactor",
    "BlockSystem",
    "SchurComplement",
    "SchurFactor",
    "SparseSystem",
    "System",
    "conjugate_gradients",
    "detect_blocks",
    "forming_cost",
    "newton_system",
    "schur_complement",
]

# The Schur complement S = C - B D^-1 B' of the rows of knowledge, formed as a dense matrix.


def schur_complement(
    inverse: BucketInverse, known: SharedColumns, across: sp.csr_array, by_class: np.ndarray, active: np.ndarray
) -> np.ndarray:
    """Form S over the active rows of knowledge.

    Parameters
    ----------
    inverse : BucketInverse
        D^-1.
    known : SharedColumns
        The rows of knowledge K.
    across : csr_array, shape (slots, classes)
        P diag(x), summed over terms with the same column of K: B' is that times the distinct columns.
    by_class : ndarray
        x, summed in the same way.
    active : ndarray of int
        The active rows of knowledge.

    Returns
    -------
    ndarray, shape (active, active)
    """
    distinct = known.distinct[active] if len(active) < known.distinct.shape[0] else known.distinct
    is_sparse = cost_by_classes(inverse.blocks, distinct, across) < cost_by_blocks(inverse.blocks, len(active))
    return (_by_classes if is_sparse else _by_blocks)(inverse, distinct, across, by_class)


def forming_cost(blocks: BucketBlocks, distinct: sp.csr_array, across: sp.csr_array) -> float:
    """What forming S costs, in multiplications of a dense product, in the cheaper way."""
    return min(cost_by_classes(blocks, distinct, across), cost_by_blocks(blocks, distinct.shape[0]))


def cost_by_blocks(blocks: BucketBlocks, k: int) -> float:
    """What :func:`_by_blocks` costs for k rows of knowledge."""
    return float(blocks.n_slots) * k * (k + NEWTON_COSTS.forming_overhead)


def cost_by_classes(blocks: BucketBlocks, distinct: sp.csr_array, across: sp.csr_array) -> float:
    """What :func:`_by_classes` costs: sparse products, which are bound by memory; infinite where G would be large."""
    terms = np.diff(across.indptr)[blocks.slots[0]].sum(axis=1).astype(float)  # of every block
    (k, classes), cost = distinct.shape, NEWTON_COSTS
    pairs = float(terms @ terms)
    if pairs > cost.most_pairs_of_terms * k:
        return np.inf
    times = blocks.n_others + distinct.nnz / max(classes, 1)
    return cost.per_pair_of_terms * times * pairs + cost.per_sparse_product * distinct.nnz * k


def _by_classes(
    inverse: BucketInverse, distinct: sp.csr_array, across: sp.csr_array, by_class: np.ndarray
) -> np.ndarray:
    """S = K G K', where G = X - X P' D^-1 P X with X = diag(x) is sparse, as it relates terms of one block only.

    G is summed over terms with the same column of K. Where blocks are narrow and rows of knowledge many, that takes a
    small share of the multiplications of :func:`_by_blocks`.
    """
    root = inverse.root(across)
    middle = sp.csr_array(sp.diags_array(by_class) - sp.csr_array(root.T) @ root)
    k, classes = distinct.shape
    schur = np.empty((k, k))
    step = max(NEWTON_COSTS.batch // max(classes, 1), NEWTON_COSTS.fewest_columns)
    for low in range(0, k, step):
        batch = slice(low, min(low + step, k))
        columns = np.ascontiguousarray((distinct[batch] @ middle).toarray().T)
        schur[low:, batch] = distinct[low:] @ columns
        schur[batch, batch.stop :] = schur[batch.stop :, batch].T
    return schur


def _by_blocks(
    inverse: BucketInverse, distinct: sp.csr_array, across: sp.csr_array, by_class: np.ndarray
) -> np.ndarray:
    """S = C - B D^-1 B', where dense squares of L^-1 B' are subtracted from C, a batch of blocks at a time."""
    blocks, columns, k = inverse.blocks, sp.csr_array(distinct.T), distinct.shape[0]
    weighted = sp.csr_array(
        (distinct.data * by_class[distinct.indices], distinct.indices, distinct.indptr), distinct.shape
    )
    schur = (weighted @ columns).toarray()
    single, width, n = blocks.n_single, blocks.n_others, blocks.n_blocks
    # S is read and written once a batch, so that a batch has at least as many rows of blocks as S has rows.
    step = max(NEWTON_COSTS.batch // max((single + width) * k, 1), k // max(width, 1) + 1)
    slots, others = blocks.slots
    for low in range(0, n, step):
        batch = slice(low, min(low + step, n))
        own = slots[batch].ravel()
        first = (across[own] @ columns).toarray()
        second = (across[others[batch].ravel()] @ columns).toarray()
        m = batch.stop - batch.start
        half = inverse.halves(first.reshape(m, single, k), second.reshape(m, width, k), batch).reshape(m * width, k)
        schur -= half.T @ half
        first /= np.sqrt(inverse.single[own])[:, None]
        schur -= first.T @ first
    return schur


# Preconditioned conjugate gradients, with the number of products that they took.


Product = Callable[[np.ndarray], np.ndarray]


class LinearSolution(NamedTuple):
    """A solution, the products that it took, and whether it met the tolerance."""

    solution: np.ndarray
    products: int
    converged: bool


def conjugate_gradients(
    matrix: Product,
    right: np.ndarray,
    precondition: Product,
    tolerance: float,
    most: int,
    start: np.ndarray | None = None,
) -> LinearSolution:
    """Solve a system with a positive definite matrix.

    Parameters
    ----------
    matrix, precondition : callable
        Products with the matrix, and with an approximation of its inverse.
    right : ndarray
        The right-hand side.
    tolerance : float
        Of the residual, relative to `right`.
    most : int
        The largest number of products. The method stops early if it estimates to need more than twice as many.
    start : ndarray, optional

    Notes
    -----
    SciPy's version reports neither the number of products nor that rounding made the matrix indefinite.
    """
    solution = np.zeros_like(right) if start is None else start.copy()
    residual = right.copy() if start is None else right - matrix(solution)
    goal = tolerance * np.linalg.norm(right)
    if (first := np.linalg.norm(residual)) <= goal:
        return LinearSolution(solution, 0, True)
    z = precondition(residual)
    direction, rz = z.copy(), residual @ z
    rz_0 = rz
    for used in range(1, most + 1):
        image = matrix(direction)
        curvature = direction @ image
        if not (curvature > 0 and rz > 0):
            return LinearSolution(solution, used, False)
        solution += (rz / curvature) * direction
        residual -= (rz / curvature) * image
        if np.linalg.norm(residual) <= goal:
            return LinearSolution(solution, used, True)
        z = precondition(residual)
        rz, before = residual @ z, rz
        # The estimate: in the preconditioned norm each product reduces the residual by about the same factor.
        if used in NEWTON_COSTS.checks and 0 < rz < rz_0 and used * np.log(first / goal) > most * np.log(rz_0 / rz):
            return LinearSolution(solution, used, False)
        direction = z + (rz / before) * direction
    return LinearSolution(solution, most, False)


# The Schur complement of the rows of knowledge as a preconditioner, at other points than where it was formed.


class SchurComplement:
    """A Schur complement formed at one x for some active rows, to precondition that of another x and other rows.

    Parameters
    ----------
    schur : ndarray, shape (rows, rows)
    active : ndarray of int
        Which rows of knowledge those are, ascending.
    """

    def __init__(self, schur: np.ndarray, active: np.ndarray) -> None:
        self.schur, self.active = schur, active
        self._solve: Solve = np.copy
        self._factored, self._ridge = np.empty(0, dtype=np.int64), -1.0  # the rows and the ridge of the last factor

    def precondition(self, active: np.ndarray, scale: np.ndarray, ridge: float) -> Solve:
        """Solve with S for the rows that it was formed for, and divide by `scale` for the others.

        Parameters
        ----------
        active : ndarray of int
            The rows to solve for, ascending.
        scale : ndarray, one an active row
            The diagonal of C = K diag(x) K'.
        ridge : float
            Relative to `scale`: by how much the diagonal of S is raised.
        """
        formed = np.isin(active, self.active, assume_unique=True)
        at = np.searchsorted(self.active, active[formed])
        if ridge != self._ridge or not np.array_equal(at, self._factored):
            chosen = self.schur if len(at) == len(self.active) else self.schur[np.ix_(at, at)]
            self._solve = regularized_cholesky(chosen, ridge * scale[formed])
            self._factored, self._ridge = at, ridge
        solve = self._solve
        if formed.all():
            return solve

        def both(right: np.ndarray) -> np.ndarray:
            found = right / scale
            found[formed] = solve(right[formed])
            return found

        return both


# The Schur complement of the knowledge at one x: solved by conjugate gradients, formed once these take too long.


class Systems(Protocol):
    """What the systems at all x have in common.

    Attributes
    ----------
    n_known : int
        Rows of knowledge.
    products, formed : int
        Products with S so far, and how often S has been formed.
    schur : SchurComplement or None
        S as it was formed last.
    may_form : bool
        Whether S may be formed.
    """

    n_known: int
    products: int
    formed: int
    schur: SchurComplement | None
    may_form: bool

    @property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed."""
        ...


class SchurFactor(ABC):
    """Solves S v = r at one x.

    Parameters
    ----------
    systems : Systems
        It counts the products, and keeps the Schur complement that was formed last.
    squares : ndarray, one a row of knowledge
        The diagonal of C = K diag(x) K'.
    ridge : float
        Relative to the diagonal, which is raised by it.
    """

    forms_at_once = False  # whether S is formed at every x, as that takes no longer than a few products

    def __init__(self, systems: Systems, squares: np.ndarray, ridge: float) -> None:
        self._systems, self.squares, self._ridge = systems, squares, ridge
        self._formed: SchurComplement | None = None  # S at this x, where it is formed at every x

    @abstractmethod
    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows."""

    @abstractmethod
    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows."""

    def solve_schur(self, right: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = right; S is formed if that takes more products than are affordable."""
        systems = self._systems
        empty = self.squares[active] == 0  # a row whose terms are all zero: its multiplier does not move
        right, scale = np.where(empty, 0.0, right), np.where(empty, 1.0, self.squares[active])
        raised = self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            return self.schur_product(v, active) + raised * v

        if self.forms_at_once:
            if self._formed is None or not np.array_equal(self._formed.active, active):
                systems.schur = self._formed = SchurComplement(self.form_schur(active), active)
                systems.formed += 1
            precondition = self._formed.precondition(active, scale, self._ridge)
            near = precondition(right)
            return self._conjugate(product, right, precondition, tolerance, NEWTON_COSTS.most_after_forming, near)[0]
        if systems.n_known > NEWTON_COSTS.most_dense:
            return self._conjugate(product, right, scale.__rtruediv__, tolerance, NEWTON_COSTS.most_products)[0]
        precondition = systems.schur.precondition(active, scale, self._ridge) if systems.schur else scale.__rtruediv__
        found, converged = self._conjugate(product, right, precondition, tolerance, systems.affordable_products)
        if converged or not systems.may_form:
            return found
        systems.schur = SchurComplement(self.form_schur(active), active)
        systems.formed += 1
        precondition = systems.schur.precondition(active, scale, self._ridge)
        return self._conjugate(product, right, precondition, tolerance, NEWTON_COSTS.most_after_forming, found)[0]

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self._systems.products += products
        return solution, converged


# The Newton system at one x: the blocks are factored, the knowledge is left to its Schur complement.


class Blocks(Systems, Protocol):
    """What the systems at all x have in common, see :class:`.block_system.BlockSystem`."""

    known: SharedColumns
    bucket_blocks: BucketBlocks
    class_of_entry: np.ndarray
    n_published: int
    forms_at_once: bool


class BlockFactor(SchurFactor):
    """Solves H d = g at one x, for any active rows of knowledge.

    Parameters
    ----------
    blocks : BlockSystem
        It counts the products, and keeps the Schur complement that was formed last.
    x : ndarray, one a term
    ridge : float
        Relative to the diagonal, which is raised by it.
    curvature : ndarray, one a row of knowledge, optional
        What is added to the diagonal of C.
    """

    def __init__(self, blocks: Blocks, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> None:
        self._blocks, self._x, self._curvature = blocks, x, curvature
        self._inverse = BucketInverse(blocks.bucket_blocks, x, ridge)
        self._by_class = blocks.known.collect(x)
        squares = blocks.known.squared @ self._by_class
        super().__init__(blocks, squares if curvature is None else squares + curvature, ridge)
        self.forms_at_once = blocks.forms_at_once

    @cached_property
    def _across(self) -> sp.csr_array:
        """P diag(x), summed over the terms of each class of columns of K, so that B' is this times the columns."""
        rows, known = self._blocks.bucket_blocks.rows, self._blocks.known
        shape = (rows.shape[0], known.distinct.shape[1])
        data = self._x[rows.indices]
        if not self._blocks.bucket_blocks.has_ones:
            data *= rows.data
        return sp.csr_array((data, self._blocks.class_of_entry, rows.indptr), shape=shape)

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Block elimination: solve for the knowledge by S, then substitute back into the buckets.

        Parameters
        ----------
        gradient : ndarray, one a row
        active : ndarray of int
            The active rows of knowledge, ascending; the direction of the others is 0.
        tolerance : float
            Of the rows of knowledge, relative.

        Returns
        -------
        ndarray, one a row
        """
        buckets, n = self._blocks.bucket_blocks, self._blocks.n_published
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        of_buckets, direction = self.of_buckets(right), np.zeros(len(gradient))
        if len(active):
            right_known = gradient[n + active] - self.carried(of_buckets)[active]
            of_known = self.solve_schur(right_known, active, tolerance)
            direction[n + active] = of_known
            of_buckets -= self.made_up(of_known, active)
        direction[:n] = of_buckets[buckets.slot]
        return direction

    def of_buckets(self, right: np.ndarray) -> np.ndarray:
        """D^-1 right, one number a slot of the blocks."""
        return self._inverse.apply(right)

    def carried(self, of_buckets: np.ndarray) -> np.ndarray:
        """B v for numbers of the buckets, one a slot: what these change in every row of knowledge."""
        return np.asarray(self._blocks.known.distinct @ (self._across.T @ of_buckets))

    def made_up(self, of_known: np.ndarray, active: np.ndarray) -> np.ndarray:
        """D^-1 B' v for numbers of the active rows of knowledge, by which the buckets make up for these."""
        return self._inverse.apply(self._across @ self._by_columns(of_known, active))

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """S v over the active rows."""
        columns = self._by_columns(v, active)
        through_buckets = self._inverse.apply(self._across @ columns)
        of_class = self._by_class * columns - self._across.T @ through_buckets
        product = (self._blocks.known.distinct @ of_class)[active]
        return product if self._curvature is None else product + self._curvature[active] * v

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """S over the active rows."""
        schur = schur_complement(self._inverse, self._blocks.known, self._across, self._by_class, active)
        if self._curvature is not None:
            schur[np.diag_indices_from(schur)] += self._curvature[active]
        return schur

    def _by_columns(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """K' v over the active rows, one number a class of columns."""
        multipliers = np.zeros(self._blocks.n_known)
        multipliers[active] = v
        return self._blocks.known.transposed @ multipliers


# Newton systems by block elimination: the buckets by dense factors, the knowledge by conjugate gradients.
#
# The Hessian of the dual function is H = A diag(x) A'. Published rows of different buckets share no term. With the
# published rows P first and the rows of knowledge K last,
#
#     H = [ D  B' ]     D = P diag(x) P', block-diagonal, a block a bucket (:mod:`.bucket_inverse`),
#         [ B  C  ]     B = K diag(x) P',  C = K diag(x) K',
#                       S = C - B D^-1 B', the Schur complement, a row for each row of knowledge.
#
# A soft row adds the second derivative of its conjugate to its diagonal element of C.
#
# A product with S takes a few passes over the terms; forming S costs up to hundreds of times as much. Conjugate
# gradients therefore solve S v = r without S, as long as that takes few products. When it takes too many, S is formed
# and factored. It then preconditions the systems at later x, until these take too many products in turn
# (:mod:`.block_factor`).


#: Multiplications, some milliseconds: S is formed at every x where that takes no more.
QUICKLY_FORMED = 1e7


class BlockSystem:
    """Solves H d = g at any x; the block structure of the linear form is found once.

    Parameters
    ----------
    form : LinearForm
    may_form : bool
        Whether S may be formed; if not, a solution can be less precise than asked for.

    Attributes
    ----------
    products : int
        Products with S so far.
    formed : int
        How often S has been formed.
    schur : SchurComplement or None
        S as it was formed last.
    """

    def __init__(self, form: LinearForm, *, may_form: bool = True) -> None:
        self.known = form.known
        self.n_published, self.n_known = form.n_published, form.shape[0] - form.n_published
        self.bucket_blocks = form.bucket_blocks
        indices = self.bucket_blocks.rows.indices
        self.class_of_entry = self.known.of_term.astype(indices.dtype, copy=False)[indices]
        self.products = self.formed = 0
        self.schur: SchurComplement | None = None
        self.may_form = may_form
        forming = forming_cost(self.bucket_blocks, self.known.distinct, self.bucket_blocks.rows)
        self.forms_at_once = self.n_known > 0 and forming <= QUICKLY_FORMED

    @cached_property
    def affordable_products(self) -> int:
        """How many products with S one solution may take before S is formed: a share of what that costs.

        Costs are in multiplications of a dense product; a product with S is bound by memory.
        """
        k, terms, cost = self.n_known, len(self.known.of_term), NEWTON_COSTS
        forming = forming_cost(self.bucket_blocks, self.known.distinct, self.bucket_blocks.rows) + k**3
        product = cost.per_term * terms + cost.per_entry * self.known.distinct.nnz + cost.per_pair * k**2
        return int(np.clip(cost.forming_share * forming / product, cost.least_products, cost.most_products))

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> BlockFactor:
        """Factor the blocks at x.

        Parameters
        ----------
        x : ndarray, one a term
        ridge : float
            Relative to the diagonal, which is raised by it: one published row a bucket is redundant (Privacy-MaxEnt,
            Theorem 3), and rows of knowledge may be.
        curvature : ndarray, one a row of knowledge, optional
            What is added to the diagonal of C.
        """
        return BlockFactor(self, x, ridge, curvature)


# Newton systems by a sparse LDL' factor, for problems whose blocks are too large for dense factors.


class SparseSystem:
    """Solves A diag(x) A' d = g at any x."""

    def __init__(self, form: LinearForm) -> None:
        self.matrix, self.n_published = form.matrix, form.n_published
        self.products = 0  # systems are solved directly
        self.schur: SchurComplement | None = None  # without a preconditioner

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> SparseFactor:
        """The system at one x, its diagonal raised by a relative ridge and, of knowledge, by the curvature given."""
        return SparseFactor(self.matrix, self.n_published, x, ridge, curvature)


@dataclass(frozen=True, eq=False)
class SparseFactor:
    """A diag(x) A' at one x; it is factored for the rows that are active."""

    matrix: sp.csr_array
    n_published: int
    x: np.ndarray
    ridge: float
    curvature: np.ndarray | None = None

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        rows = np.concatenate([np.arange(self.n_published), self.n_published + active])
        matrix = self.matrix[rows]
        hessian = sp.csc_array(matrix @ sp.diags_array(self.x) @ matrix.T)
        if self.curvature is not None:
            hessian = hessian + sp.diags_array(np.concatenate([np.zeros(self.n_published), self.curvature[active]]))
        factor = ldl_factor(sp.csc_array(hessian), self.ridge)
        direction = np.zeros(len(gradient))
        direction[rows] = factor.solve(gradient[rows])
        return direction


def ldl_factor(matrix: sp.csc_array, ridge: float) -> qdldl.Solver:
    """The LDL' factor of a symmetric matrix whose diagonal is raised by a relative ridge."""
    raised = matrix + sp.diags_array(ridge * np.maximum(matrix.diagonal(), NEWTON_SYSTEM.smallest_diagonal))
    return qdldl.Solver(sp.csc_matrix(sp.triu(raised, format="csc")), upper=True)


# Newton systems of small problems: one dense factor of all rows, where a product costs less than a call of SciPy.


#: Multiplications of rows x rows x terms, about a millisecond, up to which the system of all rows is formed.
MOST_DENSE_WORK = 4_000_000
#: Rounds of iterative refinement of one solution.
MOST_REFINEMENTS = 10


class DenseSystem:
    """Solves A diag(x) A' d = g at any x, with A as a dense array."""

    def __init__(self, form: LinearForm) -> None:
        self.matrix, self.n_published = np.vstack([form.published.toarray(), form.known.toarray()]), form.n_published
        self.products = 0  # systems are solved directly
        self.schur: SchurComplement | None = None  # without a preconditioner

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> DenseFactor:
        """The system at one x, its diagonal raised by a relative ridge and, of knowledge, by the curvature given."""
        hessian = (self.matrix * x) @ self.matrix.T
        if curvature is not None:
            np.einsum("ii->i", hessian)[self.n_published :] += curvature
        return DenseFactor(hessian, self.n_published, ridge)


class DenseFactor:
    """A diag(x) A' at one x; it is factored for the rows that are active."""

    def __init__(self, hessian: np.ndarray, n_published: int, ridge: float) -> None:
        self._hessian, self._n_published, self._ridge = hessian, n_published, ridge
        self._active: np.ndarray | None = None  # the rows that were factored last, and their factor
        self._system: np.ndarray = hessian
        self._solve: Solve = np.copy

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        n = self._n_published
        rows = slice(None) if len(active) == len(gradient) - n else np.concatenate([np.arange(n), n + active])
        if self._active is None or not np.array_equal(active, self._active):
            chosen = self._hessian if isinstance(rows, slice) else self._hessian[np.ix_(rows, rows)]
            self._active, self._system = active, chosen
            self._solve = regularized_cholesky(chosen, self._ridge * chosen.diagonal(), is_inverted=False)
        right, direction = gradient[rows], np.zeros(len(gradient))
        found, residual = self._solve(right), np.inf
        # The ridge, which redundant rows need, moves the other directions as well: refined while that halves the rest.
        for _ in range(MOST_REFINEMENTS):
            rest = right - self._system @ found
            before, residual = residual, float(np.linalg.norm(rest))
            if not residual < before / 2:
                break
            found = found + self._solve(rest)
        direction[rows] = found
        return direction


# The choice of a method for the Newton systems of one problem: block elimination, or a dense or sparse factor.


class Factor(Protocol):
    """A diag(x) A' at one x, factored."""

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        ...


class System(Protocol):
    """Solves A diag(x) A' d = gradient for any x.

    Attributes
    ----------
    products : int
        Products with the Schur complement in conjugate gradients so far; 0 where the system is solved directly.
    schur : SchurComplement or None
        The Schur complement that preconditions them.
    """

    products: int
    schur: SchurComplement | None

    def at(self, x: Any, ridge: float, curvature: np.ndarray | None = None) -> Factor:
        """The system at one x, its diagonal raised by a relative ridge and, of knowledge, by the curvature given.

        x is what :meth:`..dual.dual.Dual.weights` gives, an array unless the problem is in partitions.
        """
        ...


def newton_system(form: LinearForm, *, may_form: bool = True) -> System:
    """Choose a dense factor where the problem is small, a sparse one where blocks are large, else block elimination.

    Parameters
    ----------
    form : LinearForm
    may_form : bool
        Whether one may be formed; if not, a solution can be less precise than asked for.
    """
    if form.shape[0] ** 2 * form.shape[1] <= MOST_DENSE_WORK:
        return DenseSystem(form)
    blocks = BlockSystem(form, may_form=may_form)
    buckets = blocks.bucket_blocks
    is_small = buckets.cost <= NEWTON_COSTS.most_multiplications and buckets.n_entries <= NEWTON_COSTS.most_entries
    return blocks if is_small else SparseSystem(form)


def detect_blocks(form: LinearForm) -> tuple[LinearForm, np.ndarray]:
    """Put equations first that form a block-diagonal matrix, and take them for the published rows.

    Published inequalities are moved behind the published equations: whether one is active changes during a solve, so
    that it cannot be eliminated once and for all. Where no blocks are found the form is returned unchanged.

    Returns
    -------
    form : LinearForm
    order : ndarray of int
        The original row at each position.
    """
    every = np.arange(form.shape[0])
    published = every < form.n_published
    if not form.is_equation[published].all():
        chosen = published & form.is_equation
        order = np.argsort(~chosen, kind="stable")
        return replace(form.select(order), n_published=int(chosen.sum())), order
    if form.n_published or form.shape[0] < BLOCK_DETECTION.fewest:
        return form, every
    matrix = form.matrix
    length = np.diff(matrix.indptr)
    chosen = np.flatnonzero(form.is_equation & (length > 0) & (every < form.n_hard))
    for longest in BLOCK_DETECTION.lengths:
        block = components(matrix[chosen])[0]
        wide = (np.bincount(block) > BLOCK_DETECTION.widest)[block]
        if not wide.any():
            break
        chosen = chosen[~wide | (length[chosen] <= longest)]
    else:
        return form, every
    if len(chosen) < BLOCK_DETECTION.fewest:
        return form, every
    order = np.concatenate([chosen, np.setdiff1d(every, chosen)])
    return replace(form.select(order), n_published=len(chosen)), order
