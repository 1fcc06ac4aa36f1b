"""Whether two systems of rows are the same to the last bit, so that a solve of either gives the same answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse as sp

from ...solvers.program.linear_form import LinearForm
from ...solvers.program.shared_columns import SharedColumns

__all__ = ["same_system"]


def same_system(one: LinearForm, other: LinearForm) -> bool:
    """Compare all arrays and numbers of two systems; names and the rows before they were scaled are left out."""
    return all(
        _same(getattr(one, field.name), getattr(other, field.name))
        for field in dataclasses.fields(LinearForm)
        if field.name not in ("origin", "operations")
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, sp.csr_array) and isinstance(other, sp.csr_array):
        parts = ("data", "indices", "indptr")
        return one.shape == other.shape and all(np.array_equal(getattr(one, p), getattr(other, p)) for p in parts)
    if isinstance(one, LinearForm) and isinstance(other, LinearForm):  # the rows before they were rewritten
        return same_system(one, other)
    if dataclasses.is_dataclass(one) and type(one) is type(other):
        names = [field.name for field in dataclasses.fields(one)]
        return all(_same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, SharedColumns) and isinstance(other, SharedColumns):
        return _same(one.distinct, other.distinct) and np.array_equal(one.of_term, other.of_term)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return one == other
