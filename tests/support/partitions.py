"""Releases in partitions, beside those that were never divided."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import maxent_cvx as mx

__all__ = ["pieces", "same_release", "write_files"]


def same_release(first: mx.Release, second: mx.Release) -> None:
    """Two releases have the same labels in the same order, and the same records in every bucket."""
    for name in ("quasi_identifiers", "sensitive_values", "buckets"):
        one, other = getattr(first, name), getattr(second, name)
        assert list(one) == list(other)
        assert list(one.names) == list(other.names)
    for name in ("n_qb", "n_sb"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.shape == other.shape
        assert (one != other).nnz == 0


def pieces(table: pd.DataFrame, n: int) -> Iterator[pd.DataFrame]:
    """Cut a table into n tables of consecutive rows, some of which may be empty."""
    return (table.iloc[rows] for rows in np.array_split(np.arange(len(table)), n))


def write_files(table: pd.DataFrame, folder: Path, n: int = 1, rows: int | None = None) -> Path:
    """Write a table as n Parquet files, with so many rows in a row group, into a new folder."""
    folder.mkdir()
    for i, piece in enumerate(pieces(table, n)):
        piece.to_parquet(folder / f"{i}.parquet", row_group_size=rows, index=False)
    return folder
