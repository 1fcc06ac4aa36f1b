"""The linear systems of Newton's method: block elimination, and conjugate gradients on the Schur complement.

The Hessian of the dual function is H = A diag(x) A'. Published rows of different buckets share no term. With the
published rows P first and the rows of knowledge K last,

    H = [ D  B' ]     D = P diag(x) P', block-diagonal, one block per bucket (:mod:`.blocks`),
        [ B  C  ]     B = K diag(x) P',  C = K diag(x) K',
                      S = C - B D^-1 B', the Schur complement, with one row per row of knowledge.

A soft row adds the second derivative of its conjugate to its diagonal element of C.

A product with S takes a few passes over the terms; forming S costs up to hundreds of times as much. Conjugate
gradients therefore solve S v = r without forming S, as long as few products suffice. Otherwise S is formed and
factorised. It then preconditions the systems at later x, until these take too many products in turn.

If the published rows of a problem are not known, equations are searched that fall into many small components after the
longest rows are set aside. If blocks are too large for dense factors, H is factorised sparsely.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import qdldl
import scipy.sparse as sp

from .blocks import BATCH_DOUBLES, SMALLEST_DIAGONAL, BucketBlocks, BucketInverse, Solve, regularized_cholesky
from .columns import SharedColumns
from .form import LinearForm
from .sparse import components

# Costs are in multiplications of a dense matrix product. Constants without a source were tuned on Adult.

#: The largest number of rows of knowledge for which the Schur complement is formed (800 MB), not just its diagonal.
MOST_DENSE = 10_000

# The Schur complement S = C - B D^-1 B' of the rows of knowledge, formed as a dense matrix.

#: Forming S of k rows from dense squares costs k (k + this) multiplications per row of a block; measured in
#: version 0.2.0.
FORMING_OVERHEAD = 350
#: The smallest number of columns of S that are formed at a time from sparse products.
FEWEST_COLUMNS = 64
#: Cost of a pair of terms of one block in sparse products, per other row of a block and average number of rows of
#: knowledge of a term; and cost of an entry of the distinct columns per row, given that half of S is formed.
PER_PAIR_OF_TERMS, PER_SPARSE_PRODUCT = 150.0, 25.0
#: The largest number of such pairs per row of knowledge for which a matrix of all pairs is built: 0.6 MB per row.
MOST_PAIRS_OF_TERMS = 50_000


def schur_complement(
    inverse: BucketInverse, known: SharedColumns, across: sp.csr_array, by_class: np.ndarray, active: np.ndarray
) -> np.ndarray:
    """Form S over the active rows of knowledge.

    `across` is P diag(x), shape (slots, classes), and `by_class` is x, both summed over the terms with the same column
    of K: B' is `across` times the distinct columns.
    """
    distinct = known.distinct[active] if len(active) < known.distinct.shape[0] else known.distinct
    is_sparse = cost_by_classes(inverse.blocks, distinct, across) < cost_by_blocks(inverse.blocks, len(active))
    return (_by_classes if is_sparse else _by_blocks)(inverse, distinct, across, by_class)


def forming_cost(blocks: BucketBlocks, distinct: sp.csr_array, across: sp.csr_array) -> float:
    """Return the cost of forming S in the cheaper way."""
    return min(cost_by_classes(blocks, distinct, across), cost_by_blocks(blocks, distinct.shape[0]))


def cost_by_blocks(blocks: BucketBlocks, k: int) -> float:
    """Return the cost of :func:`_by_blocks` for k rows of knowledge."""
    return float(blocks.n_slots) * k * (k + FORMING_OVERHEAD)


def cost_by_classes(blocks: BucketBlocks, distinct: sp.csr_array, across: sp.csr_array) -> float:
    """Return the cost of :func:`_by_classes`, whose sparse products are memory-bound; infinite if G would be large."""
    terms = np.diff(across.indptr)[blocks.slots[0]].sum(axis=1).astype(float)  # one per block
    k, classes = distinct.shape
    pairs = float(terms @ terms)
    if pairs > MOST_PAIRS_OF_TERMS * k:
        return np.inf
    times = blocks.n_others + distinct.nnz / max(classes, 1)
    return PER_PAIR_OF_TERMS * times * pairs + PER_SPARSE_PRODUCT * distinct.nnz * k


def _by_classes(
    inverse: BucketInverse, distinct: sp.csr_array, across: sp.csr_array, by_class: np.ndarray
) -> np.ndarray:
    """Return S = K G K', where G = X - X P' D^-1 P X with X = diag(x) is sparse, relating terms of one block only.

    G is summed over terms with the same column of K. With small blocks and many rows of knowledge, this takes a small
    share of the time of :func:`_by_blocks`: on Adult with 200, 1,000 and 3,000 rows 1.0, 0.34 and 0.11.
    """
    root = inverse.root(across)
    middle = sp.csr_array(sp.diags_array(by_class) - sp.csr_array(root.T) @ root)
    k, classes = distinct.shape
    schur = np.empty((k, k))
    step = max(BATCH_DOUBLES // max(classes, 1), FEWEST_COLUMNS)
    for low in range(0, k, step):
        batch = slice(low, min(low + step, k))
        columns = np.ascontiguousarray((distinct[batch] @ middle).toarray().T)
        schur[low:, batch] = distinct[low:] @ columns
        schur[batch, batch.stop :] = schur[batch.stop :, batch].T
    return schur


def _by_blocks(
    inverse: BucketInverse, distinct: sp.csr_array, across: sp.csr_array, by_class: np.ndarray
) -> np.ndarray:
    """Return S = C - B D^-1 B', subtracting dense squares of L^-1 B' from C, one batch of blocks at a time."""
    blocks, k = inverse.blocks, distinct.shape[0]
    if (blocks.n_slots + distinct.shape[1]) * k <= BATCH_DOUBLES:  # calls of SciPy cost more than products with zeros
        columns = distinct.toarray().T
        schur = (columns.T * by_class) @ columns
        rows_of_slots = (across @ columns).__getitem__
    else:
        sparse_columns = distinct.T.tocsr()
        weighted = distinct.copy()
        weighted.data *= by_class[distinct.indices]
        schur = (weighted @ sparse_columns).toarray()

        def rows_of_slots(slots: np.ndarray) -> np.ndarray:
            return (across[slots] @ sparse_columns).toarray()

    single, width, n = blocks.n_single, blocks.n_others, blocks.n_blocks
    # S is read and written once per batch, so that a batch has at least as many rows of blocks as S has rows.
    step = max(BATCH_DOUBLES // max((single + width) * k, 1), k // max(width, 1) + 1)
    slots, others = blocks.slots
    for low in range(0, n, step):
        batch = slice(low, min(low + step, n))
        of_batch = slots[batch].ravel()
        first, second = rows_of_slots(of_batch), rows_of_slots(others[batch].ravel())
        m = batch.stop - batch.start
        half = inverse.halves(first.reshape(m, single, k), second.reshape(m, width, k), batch).reshape(m * width, k)
        schur -= half.T @ half
        first /= np.sqrt(inverse.single[of_batch])[:, None]
        schur -= first.T @ first
    return schur


# Preconditioned conjugate gradients, with the number of products used.

#: Numbers of products after which conjugate gradients estimate how many more are needed.
CHECKS = (16, 32, 64, 128, 256)


Product = Callable[[np.ndarray], np.ndarray]


class LinearSolution(NamedTuple):
    """A solution, the number of products used, and whether it met the tolerance."""

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
    """Solve a system with a positive definite matrix, given products with it and with an approximate inverse.

    `tolerance` is relative to `right`, and `most` the largest number of products. The method stops early if it
    estimates to need more than twice as many. SciPy's version reports neither the number of products nor that rounding
    made the matrix indefinite.
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
        # Estimate: in the preconditioned norm each product reduces the residual by about the same factor.
        if used in CHECKS and 0 < rz < rz_0 and used * np.log(first / goal) > most * np.log(rz_0 / rz):
            return LinearSolution(solution, used, False)
        direction = z + (rz / before) * direction
    return LinearSolution(solution, most, False)


# The Schur complement of the rows of knowledge as a preconditioner at other points.


class SchurComplement:
    """S as formed at one x for some `active` rows of knowledge, ascending; a preconditioner for other x and rows."""

    def __init__(self, schur: np.ndarray, active: np.ndarray) -> None:
        self.schur, self.active = schur, active
        self._solve: Solve = np.copy
        self._factored, self._ridge = np.empty(0, dtype=np.int64), -1.0  # rows and ridge of the last factor

    def precondition(self, active: np.ndarray, scale: np.ndarray, ridge: float) -> Solve:
        """Return a solver with S for the active rows for which it was formed, and with the diagonal `scale` for others.

        `ridge`, relative to `scale` (the diagonal of C), is added to the diagonal of S.
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
            solution = right / scale
            solution[formed] = solve(right[formed])
            return solution

        return both


# The Schur complement of the knowledge at one x: conjugate gradients, and forming S if they take too long.


#: The largest number of products with the Schur complement for one solution if it is not formed.
MOST_PRODUCTS = 2_000
#: The largest number right after it was formed, when few are needed.
MOST_AFTER_FORMING = 50
#: The number of products that are always tried before the Schur complement is formed.
LEAST_PRODUCTS = 16
#: Share of the cost of forming the Schur complement that products may take before; it is also used by later systems.
FORMING_SHARE = 0.04
#: Cost of one term in a (memory-bound) product with S, of one entry of the distinct columns, and of one pair of rows of
#: knowledge in a product with the preconditioner: as measured in 0.2.0.
PER_TERM, PER_ENTRY, PER_PAIR = 150.0, 30.0, 5.0


class Systems(ABC):
    """State shared by the systems at all x: how often S was multiplied with and formed, and the last S formed."""

    forms_at_once = False  # whether S is formed at every x, if as fast as a few products

    def __init__(self, n_known: int) -> None:
        self.n_known = n_known
        self.products = self.formed = 0
        self.schur: SchurComplement | None = None

    @property
    @abstractmethod
    def affordable_products(self) -> int:
        """Return how many products with S one solution may take before S is formed."""


class SchurFactor(ABC):
    """Solves S v = r at one x, with a relative ridge and the curvature of soft rows added to the diagonal.

    `squares` is the diagonal of C = K diag(x) K'.
    """

    def __init__(self, systems: Systems, squares: np.ndarray, ridge: float, curvature: np.ndarray | None) -> None:
        self._systems, self._ridge, self.squares = systems, ridge, squares
        self._curvature = np.zeros(len(squares)) if curvature is None else curvature
        self._formed: SchurComplement | None = None  # S at this x, if it is formed at every x

    @abstractmethod
    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Return S v over the active rows."""

    @abstractmethod
    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """Return S over the active rows."""

    def solve_schur(self, right: np.ndarray, active: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve S v = right; form S if that takes more products than are affordable."""
        systems = self._systems
        curvature, squares = self._curvature[active], (self.squares + self._curvature)[active]
        empty = squares == 0  # rows whose terms are all zero: their multipliers do not change
        right, scale = np.where(empty, 0.0, right), np.where(empty, 1.0, squares)
        raised = curvature + self._ridge * scale

        def product(v: np.ndarray) -> np.ndarray:
            return self.schur_product(v, active) + raised * v

        if systems.forms_at_once:
            if self._formed is None or not np.array_equal(self._formed.active, active):
                self._formed = systems.schur = self._form(active, curvature)
            precondition = self._formed.precondition(active, scale, self._ridge)
            near = precondition(right)
            return self._conjugate(product, right, precondition, tolerance, MOST_AFTER_FORMING, near)[0]
        if systems.n_known > MOST_DENSE:
            return self._conjugate(product, right, scale.__rtruediv__, tolerance, MOST_PRODUCTS)[0]
        precondition = systems.schur.precondition(active, scale, self._ridge) if systems.schur else scale.__rtruediv__
        solution, converged = self._conjugate(product, right, precondition, tolerance, systems.affordable_products)
        if converged:
            return solution
        systems.schur = self._form(active, curvature)
        precondition = systems.schur.precondition(active, scale, self._ridge)
        return self._conjugate(product, right, precondition, tolerance, MOST_AFTER_FORMING, solution)[0]

    def _form(self, active: np.ndarray, curvature: np.ndarray) -> SchurComplement:
        """Form S with the curvature of soft rows, and count it."""
        schur = self.form_schur(active)
        schur[np.diag_indices_from(schur)] += curvature
        self._systems.formed += 1
        return SchurComplement(schur, active)

    def _conjugate(self, *problem: Any) -> tuple[np.ndarray, bool]:
        """Solve by conjugate gradients, and count the products."""
        solution, products, converged = conjugate_gradients(*problem)
        self._systems.products += products
        return solution, converged


# The Newton system at one x: the blocks are factorised, the knowledge is solved by its Schur complement.


class BlockFactor(SchurFactor):
    """Solves H d = g at one x, for any active rows of knowledge; `curvature` is added to the diagonal of C."""

    def __init__(self, blocks: BlockSystem, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> None:
        self._blocks, self._x = blocks, x
        self._inverse = BucketInverse(blocks.bucket_blocks, x, ridge)
        self._by_class = blocks.known.collect(x)
        super().__init__(blocks, blocks.known.squared @ self._by_class, ridge, curvature)

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
        """Solve by block elimination: the active rows of knowledge by S, followed by substitution into the buckets.

        The direction of other rows of knowledge is 0; the tolerance is relative, for the rows of knowledge.
        """
        buckets, n = self._blocks.bucket_blocks, self._blocks.n_published
        right = np.zeros(buckets.n_slots)
        right[buckets.slot] = gradient[:n]
        of_buckets, direction = self.of_buckets(right), np.zeros(len(gradient))
        if len(active):
            right_known = gradient[n + active] - self.effect_on_known(of_buckets)[active]
            of_known = self.solve_schur(right_known, active, tolerance)
            direction[n + active] = of_known
            of_buckets -= self.compensation(of_known, active)
        direction[:n] = of_buckets[buckets.slot]
        return direction

    def of_buckets(self, right: np.ndarray) -> np.ndarray:
        """Return D^-1 right, one number per slot of the blocks."""
        return self._inverse.apply(right)

    def effect_on_known(self, of_buckets: np.ndarray) -> np.ndarray:
        """Return B v for numbers of the buckets, one per slot: their effect on every row of knowledge."""
        return np.asarray(self._blocks.known.distinct @ (self._across.T @ of_buckets))

    def compensation(self, of_known: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Return D^-1 B' v for numbers of the active rows of knowledge, which the buckets compensate by it."""
        return self._inverse.apply(self._across @ self._by_columns(of_known, active))

    def schur_product(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Return S v over the active rows."""
        columns = self._by_columns(v, active)
        through_buckets = self._inverse.apply(self._across @ columns)
        of_class = self._by_class * columns - self._across.T @ through_buckets
        return np.asarray((self._blocks.known.distinct @ of_class)[active])

    def form_schur(self, active: np.ndarray) -> np.ndarray:
        """Return S over the active rows."""
        return schur_complement(self._inverse, self._blocks.known, self._across, self._by_class, active)

    def _by_columns(self, v: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Return K' v over the active rows, one number per class of columns."""
        multipliers = np.zeros(self._blocks.n_known)
        multipliers[active] = v
        return self._blocks.known.transposed @ multipliers


#: Multiplications, some milliseconds: S is formed at every x if that takes no more.
QUICKLY_FORMED = 1e7


class BlockSystem(Systems):
    """Solves H d = g at any x; the block structure of the form is computed once."""

    def __init__(self, form: LinearForm) -> None:
        super().__init__(form.shape[0] - form.n_published)
        self.known, self.n_published = form.known, form.n_published
        self.bucket_blocks = form.bucket_blocks
        indices = self.bucket_blocks.rows.indices
        self.class_of_entry = self.known.of_term.astype(indices.dtype, copy=False)[indices]
        forming = forming_cost(self.bucket_blocks, self.known.distinct, self.bucket_blocks.rows)
        forming += self.n_known**3 / 3  # for its Cholesky factor
        self.forms_at_once = 0 < self.n_known <= MOST_DENSE and forming <= QUICKLY_FORMED

    @cached_property
    def affordable_products(self) -> int:
        """Return how many products with S one solution may take before S is formed: a share of the cost of that."""
        k, terms = self.n_known, len(self.known.of_term)
        forming = forming_cost(self.bucket_blocks, self.known.distinct, self.bucket_blocks.rows) + k**3
        product = PER_TERM * terms + PER_ENTRY * self.known.distinct.nnz + PER_PAIR * k**2
        return int(np.clip(FORMING_SHARE * forming / product, LEAST_PRODUCTS, MOST_PRODUCTS))

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> BlockFactor:
        """Factorise the blocks at x, with a relative ridge on their diagonal.

        One published row per bucket is redundant (Privacy-MaxEnt, Theorem 3), and rows of knowledge may be redundant.
        """
        return BlockFactor(self, x, ridge, curvature)


# Newton systems by one factor of all active rows: a dense one for small problems, since a product costs less than a call of
# SciPy, and a sparse one if the blocks are too large for dense factors.


#: The largest product rows x rows x terms, about a millisecond, for which the dense system of all rows is formed.
MOST_DENSE_WORK = 4_000_000
#: Rounds of iterative refinement of one solution.
MOST_REFINEMENTS = 10


class DirectSystem:
    """Solves A diag(x) A' d = g at any x by a factor for the active rows, which is dense or sparse as A is."""

    products = 0  # systems are solved directly
    schur: SchurComplement | None = None  # without a preconditioner

    def __init__(self, matrix: np.ndarray | sp.csr_array, n_published: int) -> None:
        self.matrix, self.n_published = matrix, n_published

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> DirectFactor:
        """Return the system at one x, with a relative ridge and the curvature of knowledge added to its diagonal."""
        hessian = (self.matrix * x) @ self.matrix.T
        if curvature is not None:
            added = np.append(np.zeros(self.n_published), curvature)
            hessian = hessian + (sp.diags_array(added) if sp.issparse(hessian) else np.diag(added))
        return DirectFactor(hessian, self.n_published, ridge)


class DirectFactor:
    """A diag(x) A' at one x; it is factorised for the active rows."""

    def __init__(self, hessian: np.ndarray | sp.csr_array, n_published: int, ridge: float) -> None:
        self._hessian: Any = hessian
        self._n_published, self._ridge = n_published, ridge
        self._active: np.ndarray | None = None  # the last factorised rows; their factor is `_solve`
        self._system: Any = hessian
        self._solve: Solve = np.copy

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        n = self._n_published
        rows = slice(None) if len(active) == len(gradient) - n else np.concatenate([np.arange(n), n + active])
        if self._active is None or not np.array_equal(active, self._active):
            self._active, self._system = active, self._hessian[rows][:, rows]
            self._solve = self._factorised(self._system)
        right, direction = gradient[rows], np.zeros(len(gradient))
        # The ridge, needed by redundant rows, changes the other directions, too: refine while that halves the residual.
        solution = self._solve(right)
        rest = right - self._system @ solution
        for _ in range(MOST_REFINEMENTS):
            trial = solution + self._solve(rest)
            after = right - self._system @ trial
            if not np.linalg.norm(after) < np.linalg.norm(rest) / 2:
                break
            solution, rest = trial, after
        direction[rows] = solution
        return direction

    def _factorised(self, matrix: Any) -> Solve:
        """Return a solver for the matrix with a relative ridge."""
        if isinstance(matrix, np.ndarray):
            return regularized_cholesky(matrix, self._ridge * matrix.diagonal(), is_inverted=False)
        return ldl_factor(sp.csc_array(matrix), self._ridge).solve


def ldl_factor(matrix: sp.csc_array, ridge: float) -> qdldl.Solver:
    """Return the LDL' factor of a symmetric matrix with a relative ridge on its diagonal."""
    raised = matrix + sp.diags_array(ridge * np.maximum(matrix.diagonal(), SMALLEST_DIAGONAL))
    return qdldl.Solver(sp.csc_matrix(sp.triu(raised, format="csc")), upper=True)


# The choice of a method for the Newton systems of one problem: block elimination, or a dense or sparse factor.


class Factor(Protocol):
    """The factorised A diag(x) A' at one x."""

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        ...


class System(Protocol):
    """Solves A diag(x) A' d = gradient for any x; counts products with S, which are 0 for direct methods."""

    products: int
    schur: SchurComplement | None

    def at(self, x: Any, ridge: float, curvature: np.ndarray | None = None) -> Factor:
        """Return the system at one x, with a relative ridge and the curvature of knowledge added to its diagonal.

        x is the result of :meth:`.dual.Dual.weights`, which is an array unless the problem is in partitions.
        """
        ...


#: Multiplications for factorising the blocks, about ten seconds, above which a sparse factor is computed instead.
MOST_MULTIPLICATIONS = 2e10
#: Entries of all blocks (800 MB) above which a sparse factor is computed, too.
MOST_ENTRIES = 1e8


def newton_system(form: LinearForm) -> System:
    """Return a dense factor for a small problem, a sparse one for large blocks, else block elimination."""
    if form.shape[0] ** 2 * max(form.shape[1], 1) <= MOST_DENSE_WORK:
        dense = np.vstack([form.published.toarray(), form.known.toarray()]) if form.dense is None else form.dense
        return DirectSystem(dense, form.n_published)
    blocks = BlockSystem(form)
    buckets = blocks.bucket_blocks
    is_small = buckets.cost <= MOST_MULTIPLICATIONS and buckets.n_entries <= MOST_ENTRIES
    return blocks if is_small else DirectSystem(form.matrix, form.n_published)


# The block structure of a problem without buckets.

#: The largest number of rows of a block, since factorising a block costs the cube of its rows.
WIDEST = 48
#: The number of rows below which one dense factor is as fast as blocks.
FEWEST = 100
#: Lengths of rows: while blocks are too wide, rows with more entries than the next of these are set aside.
LENGTHS = (1024, 256, 128, 64, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2, 1)


def detect_blocks(form: LinearForm) -> tuple[LinearForm, np.ndarray]:
    """Move equations that form a block-diagonal matrix to the front, and treat them as the published rows.

    Published inequalities are placed after the published equations, since an inequality may become active or inactive
    during a solve and can therefore not be eliminated permanently. If no blocks are found the form is returned
    unchanged. Also return the original row at each position.
    """
    every = np.arange(form.shape[0])
    published = every < form.n_published
    if not form.is_equation[published].all():
        chosen = published & form.is_equation
        order = np.argsort(~chosen, kind="stable")
        return replace(form.select(order), n_published=int(chosen.sum())), order
    if form.n_published or form.shape[0] < FEWEST:
        return form, every
    matrix = form.matrix
    length = np.diff(matrix.indptr)
    chosen = np.flatnonzero(form.is_equation & (length > 0) & (every < form.n_hard))
    for longest in LENGTHS:
        block = components(matrix[chosen])[0]
        wide = (np.bincount(block) > WIDEST)[block]
        if not wide.any():
            break
        chosen = chosen[~wide | (length[chosen] <= longest)]
    else:
        return form, every
    if len(chosen) < FEWEST:
        return form, every
    order = np.concatenate([chosen, np.setdiff1d(every, chosen)])
    return replace(form.select(order), n_published=len(chosen)), order
