"""The columns that shared rows have on the terms of one partition, collected while sources emit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...solvers.certificate.existence_proofs.dependence import residues, residues_of_fraction
from ...solvers.program.shared_columns import SharedColumns
from ...solvers.rows.sparse import canonical, compact, entry_rows, least_by_row, most_by_row
from ...terms.partitioned.part_space import PartSpace
from ...terms.partitioned.surroundings import Surroundings
from ...terms.rows import Rows
from ...views.partitioned.release_part import ReleasePart
from .told_source import ToldSource

__all__ = ["RawColumns", "Sizes", "emitted_columns", "larger"]

#: Entries, for each term, that are collected before their distinct columns are found: fewer passes over all terms, and
#: of rows about a fifth of the terms each, some twenty at a time.
BATCH = 4


@dataclass(frozen=True, eq=False)
class RawColumns:
    """Shared rows as sources emit them, on the terms of one partition.

    Attributes
    ----------
    distinct : csr_array, shape (rows, classes)
        Each distinct column once; coefficients on probabilities.
    of_term : ndarray of int
        The class of each term's column.
    typed : dict of int to tuple of Fraction
        Of rows that were typed as rational numbers, the different coefficients.
    """

    distinct: sp.csr_array
    of_term: np.ndarray
    typed: Mapping[int, tuple[Fraction, ...]]

    def sizes(self) -> Sizes:
        """How large the coefficients of each row are."""
        distinct = self.distinct
        least, most = least_by_row(np.abs(distinct.data), distinct), most_by_row(np.abs(distinct.data), distinct)
        ends = {row: (min(map(abs, some)), max(map(abs, some))) for row, some in self.typed.items()}
        return Sizes(least, most, ends)

    def scaled(self, largest: np.ndarray, typed: Mapping[int, Fraction]) -> SharedColumns:
        """Divide every row by its largest coefficient in the whole; what was typed is rounded once.

        Parameters
        ----------
        largest : ndarray, one a row
        typed : dict of int to Fraction
            The same of rows that were typed as rational numbers.
        """
        distinct, rows = self.distinct, entry_rows(self.distinct)
        data = distinct.data / largest[rows]
        for row, some in self.typed.items():
            entries = slice(distinct.indptr[row], distinct.indptr[row + 1])
            as_typed = np.array([float(a) for a in some])
            order = np.argsort(as_typed)
            quotients = np.array([float(a / typed[row]) for a in some])[order]
            data[entries] = quotients[np.searchsorted(as_typed[order], distinct.data[entries])]
        found = sp.csr_array((data, distinct.indices, distinct.indptr), shape=distinct.shape)
        return SharedColumns(found, self.of_term)

    def residues(self, rows: np.ndarray, prime: int) -> sp.csr_array:
        """Some rows as they were typed, modulo a prime, over the terms."""
        distinct = sp.csr_array(self.distinct[rows])
        data = residues(distinct.data, prime)
        for place, row in enumerate(rows.tolist()):
            if row in self.typed:
                entries = slice(distinct.indptr[place], distinct.indptr[place + 1])
                as_typed = np.array([float(a) for a in self.typed[row]])
                order = np.argsort(as_typed)
                of_fraction = np.array([residues_of_fraction(a, prime) for a in self.typed[row]])[order]
                data[entries] = of_fraction[np.searchsorted(as_typed[order], distinct.data[entries])]
        found = sp.csr_array((data, distinct.indices, distinct.indptr), shape=distinct.shape)
        return sp.csr_array(found[:, self.of_term])


@dataclass(frozen=True, eq=False)
class Sizes:
    """The least and the largest coefficient of every row, by absolute value.

    Attributes
    ----------
    least, most : ndarray, one a row
        Infinite and 0 of a row that touches no term.
    typed : dict of int to (Fraction, Fraction)
        The same of rows that were typed as rational numbers.
    """

    least: np.ndarray
    most: np.ndarray
    typed: Mapping[int, tuple[Fraction, Fraction]]

    @property
    def largest(self) -> np.ndarray:
        """What every row is divided by; 1 of a row that touches no term."""
        return np.where(self.most > 0, self.most, 1.0)

    @property
    def largest_typed(self) -> dict[int, Fraction]:
        """The same of rows that were typed as rational numbers."""
        return {row: most for row, (_, most) in self.typed.items()}

    @property
    def mixed(self) -> np.ndarray:
        """Which rows have other coefficients than 1 and -1 once they are divided, before any rounding."""
        mixed = (self.most > 0) & (self.least != self.most)
        for row, (least, most) in self.typed.items():
            mixed[row] = least != most
        return mixed


def larger(some: Sequence[Sizes]) -> Sizes:
    """The sizes over several partitions."""
    typed: dict[int, tuple[Fraction, Fraction]] = {}
    for sizes in some:
        for row, (least, most) in sizes.typed.items():
            before = typed.get(row, (least, most))
            typed[row] = min(least, before[0]), max(most, before[1])
    all_least, all_most = (np.stack([getattr(sizes, side) for sizes in some]) for side in ("least", "most"))
    return Sizes(all_least.min(axis=0), all_most.max(axis=0), typed)


def emitted_columns(
    part: ReleasePart, sources: Sequence[ToldSource], around: Mapping[frozenset[str], Surroundings], order: np.ndarray
) -> RawColumns:
    """Emit all sources over the terms of a partition; the rows of each are discarded once their columns are collected.

    Parameters
    ----------
    part : ReleasePart
    sources : sequence of ToldSource
    around : dict of frozenset to Surroundings
        By the attributes that a source tells apart.
    order : ndarray of int
        The number, in the order of emission, of every row of the system.
    """
    nothing: frozenset[str] = frozenset()
    spaces = {nothing: PartSpace.around(part, around[nothing])}  # statements need no other
    n_own = spaces[nothing].n_own
    columns, typed, n = ColumnCollector(n_own), {}, 0
    for source in sources:
        if source.columns not in spaces:  # one more at a time, as each has codes of all terms
            spaces = {nothing: spaces[nothing], source.columns: PartSpace.around(part, around[source.columns])}
        for rows in source.emitted_in(spaces[source.columns]):
            if rows.typed:
                some = tuple(a for a, terms in rows.typed if (terms < n_own).any())
                typed.update({n: some} if some else {})
            columns.add(own_columns(rows, n_own))
            n += len(rows)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    distinct, of_term = columns.collected()
    return RawColumns(
        compact(sp.csr_array(distinct[order])), of_term, {int(place[row]): some for row, some in typed.items()}
    )


def own_columns(rows: Rows, n_own: int) -> sp.csr_array:
    """The coefficients on the first terms."""
    matrix = rows.matrix
    kept = matrix.indices < n_own
    ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(matrix.indptr.dtype)
    return canonical(sp.csr_array((matrix.data[kept], matrix.indices[kept], ends), shape=(len(rows), n_own)))


class ColumnCollector:
    """The distinct columns of rows that come block by block.

    Parameters
    ----------
    n_terms : int
    """

    def __init__(self, n_terms: int) -> None:
        self.of_term = np.zeros(n_terms, dtype=np.int32)
        self.distinct = sp.csr_array((0, min(n_terms, 1)))
        self._batch: list[sp.csr_array] = []

    def add(self, block: sp.csr_array) -> None:
        """Take a block; every few, their distinct columns alone are kept."""
        self._batch.append(block)
        if sum(one.nnz for one in self._batch) >= BATCH * len(self.of_term):
            self._collect()

    def collected(self) -> tuple[sp.csr_array, np.ndarray]:
        """The distinct columns of all blocks, and the class of each term."""
        self._collect()
        return self.distinct, self.of_term

    def _collect(self) -> None:
        if not self._batch:
            return
        new = SharedColumns(self._batch)
        n_new = new.distinct.shape[1]
        of_term, pairs = pd.factorize(self.of_term.astype(np.int64) * n_new + new.of_term)
        before, added = np.divmod(pairs, max(n_new, 1))
        self.distinct = compact(
            sp.csr_array(sp.vstack([self.distinct[:, before], new.distinct[:, added]], format="csr"))
        )
        self.of_term, self._batch = of_term.astype(np.int32), []
