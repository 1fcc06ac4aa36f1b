"""Partitions joined again in memory: for small releases, and to compare with what was never divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import TableError, listing
from ...system.executors import Executor
from ...tables.coding import factorize
from .partitioned_release import PartitionedRelease
from .release_part import ReleasePart

__all__ = ["joined"]


def joined(release: PartitionedRelease, executor: Executor) -> dict[str, Any]:
    """Gather all parts.

    Returns
    -------
    dict
        The arguments of a Release.

    Raises
    ------
    TableError
        If a bucket is in two partitions.
    """
    parts: list[ReleasePart] = executor.gather(executor.made(release.makers))
    together = pd.concat([part.buckets.to_series() for part in parts], ignore_index=True).rename(release.bucket)
    place, buckets = factorize(together)
    if len(buckets) < len(together):
        raise TableError(f"buckets are in two partitions each: {listing(together[together.duplicated()].unique())}")
    n_qb = [wider(part.n_qb, part.q_numbers, len(release.n_q)) for part in parts]
    in_order = np.argsort(place)
    return {
        "qi": release.qi, "sensitive": release.sensitive, "bucket": release.bucket,
        "quasi_identifiers": release.quasi_identifiers, "sensitive_values": release.sensitive_values,
        "buckets": buckets, "n_qb": beside(n_qb, in_order), "n_sb": beside([part.n_sb for part in parts], in_order),
    }  # fmt: skip


def wider(own: sp.csr_array, numbers: np.ndarray, rows: int) -> sp.csr_array:
    """A matrix of a partition's own rows as one of all rows."""
    found = own.tocoo()
    return sp.coo_array((found.data, (numbers[found.row], found.col)), shape=(rows, own.shape[1])).tocsr()


def beside(several: list[sp.csr_array], order: np.ndarray) -> sp.csr_array:
    """Columns of several matrices, in an order."""
    found = sp.csr_array(sp.csc_array(sp.hstack(several, format="csc"))[:, order])
    found.sort_indices()
    return found
