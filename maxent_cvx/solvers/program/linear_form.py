"""The linear form of a model: its rows as one sparse system in people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..rows.exact_products import exact_matvec
from ..rows.origin import RowOrigin
from ..rows.row_operations import RowOperations
from ..rows.sparse import entry_rows, least_by_row
from ..tolerances import FEASIBILITY
from .bucket_blocks import BucketBlocks
from .components import components
from .shared_columns import SharedColumns

__all__ = ["LinearForm"]


@dataclass(frozen=True, eq=False)
class LinearForm:
    """``low <= matrix @ x <= high`` over the counts x = N p, people.

    Every row is scaled so that its largest coefficient is 1: an invariant, or P(S | Q) = c times
    P(Q), then speaks of people, whatever the unit it was typed in.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    low, high : ndarray
        People. Equal for an equation, infinite where a side is open.
    scale, shift : ndarray
        A value v as typed is v * scale - shift people.
    doubt : ndarray
        How far off a row may be for having been rounded while it was built, people: its value less its sides.
    blur : ndarray
        How far off any coefficient of a row may be for that reason.
    origin : RowOrigin, optional
        Where all rows come from, also those that were not selected: their names, and what they were as typed.
    n_published : int
        How many leading rows come from the published view: they link the terms of a bucket, and no others.
    n_facts : int
        How many leading rows are true, whatever is known: those, and that named people are there.
    zero_tolerance : float
        What is as good as nobody: people, or part of those that there is room for. A term that is proved to hold no
        more is taken for empty.
    weights : ndarray
        w > 0, one a term: the objective is sum x log(w / x), which is entropy where they are 1, and
        minus the relative entropy to a prior w elsewhere.
    operations : RowOperations, optional
        What was done to rows so that they are in scale; of all rows, and not of some that were selected.
    """

    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    origin: RowOrigin | None
    n_published: int
    n_facts: int
    weights: np.ndarray
    shift: np.ndarray = None  # type: ignore[assignment]  # zeros, unless given
    side_error: np.ndarray = None  # type: ignore[assignment]
    coefficient_error: np.ndarray = None  # type: ignore[assignment]
    zero_tolerance: float = FEASIBILITY.relative
    operations: RowOperations | None = None

    def __post_init__(self) -> None:
        for name in ("shift", "side_error", "coefficient_error"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(len(self.low)))

    @classmethod
    def plain(
        cls, matrix: sp.csr_array, low: np.ndarray, high: np.ndarray, weights: np.ndarray | None = None
    ) -> LinearForm:
        """Take rows over counts as they are, from nowhere in particular and without names."""
        n_rows, n_terms = matrix.shape
        weights = np.ones(n_terms) if weights is None else weights
        return cls(matrix, low, high, np.ones(n_rows), None, 0, 0, weights)

    def select(self, rows: np.ndarray) -> LinearForm:
        """Keep some of the rows, in the order given, published ones first; names are those of the whole.

        Parameters
        ----------
        rows : ndarray of bool, or of int
        """
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows
        if np.array_equal(kept, np.arange(self.shape[0])):
            return self
        n_published, n_facts = (int(np.searchsorted(kept >= n, True)) for n in (self.n_published, self.n_facts))
        smaller = replace(
            self,
            matrix=self.matrix[kept],
            low=self.low[kept],
            high=self.high[kept],
            scale=self.scale[kept],
            shift=self.shift[kept],
            side_error=self.side_error[kept],
            coefficient_error=self.coefficient_error[kept],
            n_published=n_published,
            n_facts=n_facts,
            operations=None,
        )
        if np.array_equal(kept[n_published:], np.arange(self.n_published, self.shape[0])):
            object.__setattr__(smaller, "known", self.known)  # all of it, so that it need not be found again
        return smaller

    def among(self, rows: np.ndarray) -> LinearForm:
        """Keep the facts, and some rows of the knowledge by their numbers, in their order."""
        return self.select(np.concatenate([np.arange(self.n_facts), np.sort(rows)]))

    def relax_published(self) -> LinearForm:
        """Take for facts only the first block of published rows, the records of QI tuples: others may be to blame."""
        n = 0 if self.origin is None else int(self.origin.starts[1])
        return replace(self, n_published=n, n_facts=n)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and terms."""
        return self.matrix.shape

    @property
    def is_equation(self) -> np.ndarray:
        """Which rows are equations."""
        return self.low == self.high

    @property
    def tolerance(self) -> np.ndarray:
        """Rounding, in people, that each row is forgiven."""
        size = np.maximum(np.abs(np.where(np.isfinite(self.low), self.low, 0)),
                          np.abs(np.where(np.isfinite(self.high), self.high, 0)))  # fmt: skip
        return FEASIBILITY.relative * np.maximum(size, 1.0) + self.side_error

    @cached_property
    def published(self) -> sp.csr_array:
        """The published rows."""
        return self.matrix[: self.n_published]

    @cached_property
    def published_by_term(self) -> sp.csr_array:
        """The published rows, transposed."""
        return sp.csr_array(self.published.T)

    @cached_property
    def known(self) -> SharedColumns:
        """The rows of knowledge, a column kept once for all terms that it is the same for."""
        return SharedColumns(self.matrix[self.n_published :])

    @cached_property
    def bucket(self) -> tuple[np.ndarray, np.ndarray]:
        """Number the buckets, which published rows link: for each published row, and each term."""
        return components(self.published)

    @cached_property
    def bucket_blocks(self) -> BucketBlocks:
        """The published rows, laid out bucket by bucket."""
        return BucketBlocks(self.published, self.published_by_term, self.bucket[0])

    def components(self, terms: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Number the independent parts: for each row, and each term.

        Parameters
        ----------
        terms : ndarray of bool, optional
            Only these terms link rows.
        """
        if terms is not None and not terms.all():
            return components(sp.csr_array(self.matrix @ sp.diags_array(terms.astype(float))))
        # Terms of a bucket are linked already, so that a column of knowledge links buckets.
        of_row, of_term = self.bucket
        known = self.known
        touched = known.touched
        n_components, n_classes = int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1, known.distinct.shape[1]
        pairs = (np.ones(touched.sum()), (of_term[touched], known.of_term[touched]))
        links = sp.csr_array(pairs, shape=(n_components, n_classes))
        part = components(sp.csr_array(sp.vstack([links, known.distinct], format="csr")))[0]
        return np.concatenate([part[of_row], part[n_components:]]), part[of_term]

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """The matrix @ x."""
        return np.concatenate([self.published @ x, self.known.matvec(x)])

    def rows_involving(self, terms: np.ndarray) -> np.ndarray:
        """Which rows are about any of some terms."""
        some = abs(self.published) @ terms.astype(float), abs(self.known.distinct) @ self.known.collect(terms)
        return np.concatenate(some) > 0

    def rmatvec(self, multipliers: np.ndarray) -> np.ndarray:
        """The transposed matrix @ multipliers, one number a term."""
        n = self.n_published
        return self.published_by_term @ multipliers[:n] + self.known.rmatvec(multipliers[n:])

    def project_to_dual_cone(self, multipliers: np.ndarray) -> np.ndarray:
        """Leave out what presses from an open side, where there is nothing to press from."""
        least, most = np.where(np.isfinite(self.high), -np.inf, 0), np.where(np.isfinite(self.low), np.inf, 0)
        return np.clip(multipliers, least, most)

    def exponent(self, multipliers: np.ndarray) -> np.ndarray:
        """The logarithm of x = w exp(matrix' m - 1), the counts that multipliers stand for; from the raw rows."""
        exponent = self.matrix.T @ multipliers - 1
        return exponent + np.log(self.weights) if self.is_weighted else exponent

    @cached_property
    def is_weighted(self) -> bool:
        """Whether some weight is not 1."""
        return bool((self.weights != 1).any())

    @cached_property
    def upper_bound(self) -> np.ndarray:
        """The most people that any one published row leaves for each term; infinite if none says."""
        published, by_term = self.published, self.published_by_term
        subtracts = np.bincount(entry_rows(published), published.data < 0, self.n_published) > 0
        high = np.where(subtracts, np.inf, self.high[: self.n_published])
        return least_by_row(high[by_term.indices] / np.abs(by_term.data), by_term)

    @cached_property
    def count_scale(self) -> np.ndarray:
        """How many people a term's rounding is to be compared with: those there is room for, or one if that is less."""
        return np.where(np.isfinite(self.upper_bound), np.maximum(self.upper_bound, 1.0), 1.0)

    def residual(self, counts: np.ndarray) -> np.ndarray:
        """How many people each row is away from holding, >= 0."""
        value = exact_matvec(self.matrix, counts)
        return np.maximum(np.maximum(self.low - value, value - self.high), 0.0)

    def name(self, row: int) -> str:
        """The label of a row."""
        return f"row {row}" if self.origin is None else self.origin.name(row)

    def remedy(self, row: int) -> str:
        """What can be done about a row that contradicts others."""
        known = self.origin is not None and row < self.origin.starts[-1]
        return self.origin.remedy(row) if known else "correct it, or remove it"  # type: ignore[union-attr]

    def written(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the rows as they were written, from those of the rows as they stand here."""
        return multipliers if self.operations is None else self.operations.back(multipliers)

    def standing(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the rows as they stand here, from those of the rows as they were written."""
        return multipliers if self.operations is None else self.operations.there(multipliers)

    def by_label(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Divide a number a row by the labels of the rows, in order."""
        labels = {} if self.origin is None else self.origin.labels
        return {label: values[rows] for label, rows in labels.items()}
