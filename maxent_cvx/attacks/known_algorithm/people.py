"""Who was published, and among whom the values of each bucket are assigned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...errors import StatementError, TableError
from ...model.maxent import MaxEnt
from ...priors import QIDistribution
from ...tables.coding import sort_distinct
from ...views import GroupedRelease, Release
from .believed import believed

__all__ = ["People"]


@dataclass(frozen=True, eq=False)
class People:
    """The people of a release, and what it says of them without its algorithm.

    Attributes
    ----------
    view : Release or GroupedRelease
        The release, of exact QI.
    table : DataFrame
        The QI of each person, in the order in which the algorithm is given them.
    tuple_of : ndarray of int
        The QI tuple of each, by its position in the view.
    block : ndarray of int
        Buckets that may hold the same person are one block; nobody's value is from another block.
    value : ndarray of int
        Values of everybody's block, one each: any order of them within blocks is an assignment.
    prior : QIDistribution or None
        Assignments are probable in proportion to the product of its P(s | q); without one equally.
    """

    view: Release | GroupedRelease
    table: pd.DataFrame
    tuple_of: np.ndarray
    block: np.ndarray
    value: np.ndarray
    prior: QIDistribution | None = None

    @classmethod
    def of(cls, release: Release, population: pd.DataFrame | None, prior: QIDistribution | None = None) -> Self:
        """Read a release, and the exact QI of its people where the release has them generalised, or in another order.

        Raises
        ------
        StatementError
            If the release is generalised, and there is no population; or it has counterfeits; or there is a prior, and
            groups overlap.
        TableError
            If the population is not the people of the release.
        """
        if release.with_counterfeits.any():
            raise StatementError("the release has counterfeit records, so that its values are not those of its people")
        view: Release | GroupedRelease = release
        qi = list(release.qi)
        if release.generalized:
            if population is None:
                raise StatementError("the release has generalised QI: pass population=, the exact QI of its people")
            view = Release.from_generalized(_records(release), qi=qi, sa=release.sensitive, population=population[qi])
        tuples = view.quasi_identifiers
        if population is None:
            tuple_of = np.repeat(np.arange(len(tuples)), view.n_q)
            table = tuples[tuple_of].to_frame(index=False)
        else:
            table = population[qi].reset_index(drop=True)
            code, found = sort_distinct(table)
            tuple_of = tuples.get_indexer(found)[code]
        off = len(tuple_of) != release.n_records or (tuple_of < 0).any()
        if off or (np.bincount(tuple_of, minlength=len(tuples)) != view.n_q).any():
            raise TableError(
                f"the population has {len(tuple_of)} people, and is not the {release.n_records} people of the release; "
                "pass the QI of everybody who was published, a row each"
            )
        if prior is not None and not isinstance(view, Release):
            raise StatementError("groups overlap, so that it is not known who is in which: leave out prior=")
        block, value = _blocks(view)
        order = np.argsort(block[tuple_of], kind="stable")
        assigned = np.empty(len(order), dtype=np.int64)
        assigned[order] = value
        return cls(view, table, tuple_of, block[tuple_of], assigned, prior)

    def __len__(self) -> int:
        return len(self.block)

    def assigned(self, value: np.ndarray) -> pd.DataFrame:
        """The table in which everybody has a value, given by its number."""
        values = self.view.sensitive_values.take(value)
        return pd.concat([self.table, values.to_frame(index=False)], axis=1)

    def by_tuple(self, p: np.ndarray) -> np.ndarray:
        """Average over the people of each QI tuple what is given of each person, shape (people, values)."""
        n = len(self.view.quasi_identifiers)
        of = sp.csr_array((np.ones(len(self)), (self.tuple_of, np.arange(len(self)))), shape=(n, len(self)))
        return np.asarray(of @ p) / self.view.n_q[:, None]

    @cached_property
    def believed(self) -> np.ndarray | None:
        """The prior's P(s | q), shape (tuples, values), if there is one."""
        if self.prior is None:
            return None
        return self.prior.of_tuples(self.view.quasi_identifiers, self.view.sensitive_values)

    def log_prior(self, value: np.ndarray) -> float:
        """Log P(assignment) up to a constant, nats."""
        if self.believed is None:
            return 0.0
        with np.errstate(divide="ignore"):
            return float(np.log(self.believed[self.tuple_of, value]).sum())

    def baseline(self) -> np.ndarray:
        """P(s | q) without the algorithm: the shares of buckets; by maximum entropy where these are not known."""
        if self.prior is not None and isinstance(self.view, Release):
            return believed(self.view, self.prior)
        if isinstance(self.view, Release):
            size = np.asarray(self.view.n_sb.sum(axis=0))
            held = self.view.n_qb @ sp.diags_array(1 / size) @ self.view.n_sb.T
            return np.asarray(held.toarray()) / self.view.n_q[:, None]
        return MaxEnt(self.view).solve().conditional().to_numpy()

    @property
    def n_assignments(self) -> int:
        """How many different assignments there are."""
        _, again = np.unique(np.stack([self.block, self.value]), axis=1, return_counts=True)
        ways = math.prod(math.factorial(int(n)) for n in np.bincount(self.block))
        return ways // math.prod(math.factorial(int(n)) for n in again)

    @property
    def index(self) -> pd.Index:
        """The QI tuples; of one attribute, its values."""
        tuples = self.view.quasi_identifiers
        return tuples if tuples.nlevels > 1 else tuples.get_level_values(0)


def _records(release: Release) -> pd.DataFrame:
    """The records of a generalised release, whose buckets have a generalised QI tuple each."""
    q, b = release.n_qb.nonzero()
    of_bucket = np.empty(len(release.buckets), dtype=np.int64)
    of_bucket[b] = q
    s, in_b = release.n_sb.nonzero()
    count = release.n_sb.data
    cells = release.quasi_identifiers[np.repeat(of_bucket[in_b], count)].to_frame(index=False)
    values = release.sensitive_values.take(np.repeat(s, count)).to_frame(index=False)
    return pd.concat([cells, values], axis=1)


def _blocks(view: Release | GroupedRelease) -> tuple[np.ndarray, np.ndarray]:
    """The block of each QI tuple, and the values of all blocks, one after the other."""
    in_bucket = view.n_qb if isinstance(view, Release) else view.cover.T
    n_q = in_bucket.shape[0]
    graph = sp.block_array([[None, in_bucket], [in_bucket.T, None]], format="csr")
    label = connected_components(graph, directed=False)[1]
    s, b = view.n_sb.nonzero()
    of_value = np.repeat(label[n_q:][b], view.n_sb.data)
    order = np.argsort(of_value, kind="stable")
    return label[:n_q], np.repeat(s, view.n_sb.data)[order]
