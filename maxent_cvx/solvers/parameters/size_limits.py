"""Size limits and cost models of the solvers: what problems a method is tried on; value, unit, meaning and source.

A limit decides how long a solve takes, and never whether its answer is right. Where no source is given, the value was
found by trial on the random models of ``tests/benchmarks/honesty.py`` and on the Adult data of
``tests/benchmarks/solvers.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ATTEMPT_SIZES", "BLOCK_DETECTION", "NEWTON_COSTS", "PRESOLVE_SIZES"]


@dataclass(frozen=True)
class BlockDetection:
    """How the block structure of a problem is found that names no buckets."""

    widest: int = 48
    """Rows that one block may have: factoring a block costs the cube of its rows."""
    fewest: int = 100
    """Rows below which one dense factor is as fast as blocks."""
    lengths: tuple[int, ...] = (1024, 256, 128, 64, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2, 1)
    """Entries of a row: while blocks are too wide, rows with more entries than the first are set aside, then than the
    next."""


@dataclass(frozen=True)
class PresolveSizes:
    """Work that presolve does only on small parts of a problem."""

    widest_block: int = 64
    """Rows of a block in which redundant rows are looked for, which costs the cube of them."""


@dataclass(frozen=True)
class NewtonCosts:
    """How the linear systems of Newton's method are solved, by what it costs; see ``linear_algebra/block_system.py``.

    Costs are counted in multiplications of a dense matrix product. The constants
    `forming_overhead`, `per_term`, `per_entry` and `per_pair` are measured by ``tests/benchmarks/newton_systems.py``.
    """

    most_multiplications: float = 2e10
    """Multiplications that factoring the blocks may take, about ten seconds; beyond, a sparse factor is computed."""
    most_entries: float = 1e8
    """Entries of all blocks (800 MB) beyond which a sparse factor is computed, too."""
    narrow: int = 256
    """Entries of a block up to which operations run along the blocks, and not block by block."""
    most_inverted: int = 1_000
    """Rows up to which a Cholesky factor is inverted, so that every later product with it is faster."""
    batch: int = 250_000
    """Doubles (2 MB, about what a processor has as a cache) of one batch of blocks while many are worked on."""
    most_dense: int = 10_000
    """Rows of knowledge up to which the Schur complement is formed (800 MB); beyond, its diagonal preconditions."""
    most_products: int = 2_000
    """Products with the Schur complement for one solution where it is not formed."""
    most_after_forming: int = 50
    """The same right after it was formed, when few are needed."""
    least_products: int = 16
    """Products that are always tried before the Schur complement is formed."""
    checks: tuple[int, ...] = (16, 32, 64, 128, 256)
    """Products after which conjugate gradients estimate how many more they need."""
    forming_share: float = 0.04
    """Share of the cost of forming the Schur complement that products may take before: it serves later systems, too."""
    forming_overhead: int = 350
    """Rows of knowledge: forming the Schur complement of k rows costs k (k + this) multiplications a row of a block."""
    fewest_columns: int = 64
    """Columns of the Schur complement that are formed at a time, at least, from sparse products."""
    per_pair_of_terms: float = 150.0
    """What a pair of terms of one block costs in sparse products, for each other row of a block and each row of
    knowledge that a term is in on average."""
    most_pairs_of_terms: float = 50_000
    """Such pairs, for each row of knowledge, up to which a matrix that has an entry for each is made: 0.6 MB a row."""
    per_sparse_product: float = 25.0
    """What an entry of the distinct columns costs there for each row of knowledge, half of S being formed."""
    per_term: float = 150.0
    """What one term costs in a product with the Schur complement, which is bound by memory."""
    per_entry: float = 30.0
    """What one entry of the distinct columns of knowledge costs in such a product."""
    per_pair: float = 5.0
    """What one pair of rows of knowledge costs in a product with the preconditioner."""


@dataclass(frozen=True)
class AttemptSizes:
    """Which ways to an answer are tried."""

    quick_linear: int = 2_000
    """Terms up to which a linear program takes milliseconds, and may be solved repeatedly."""
    largest_conic: int = 20_000
    """Terms up to which an interior-point method takes seconds; it helps where coefficients differ much in size."""
    largest_unreduced: int = 100_000
    """Terms up to which a problem is solved again without presolve, which may take minutes."""
    much_knowledge: int = 2_000
    """Rows of knowledge from which on a linear program for each component of them saves more than it costs, and from
    which on a certified answer is not sought once more from the beginning."""
    opposed_costs: float = 2e10
    """Terms times rows squared up to which the null space of rows is computed, some ten seconds."""
    most_components: int = 16
    """Problems into which one is divided: the largest independent components by themselves, the others together."""


BLOCK_DETECTION = BlockDetection()
PRESOLVE_SIZES = PresolveSizes()
NEWTON_COSTS = NewtonCosts()
ATTEMPT_SIZES = AttemptSizes()
