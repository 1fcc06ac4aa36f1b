"""A linear form with further rows: hard rows after its own hard rows, and soft rows after its own soft rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from .costs import Penalties
from .form import Coefficients, LinearForm, RowOrigin, by_coefficient
from .parameters import PLACES
from .sparse import entry_rows, most_by_row, with_data


@dataclass(frozen=True, eq=False)
class AddedRows:
    """Rows low <= matrix @ x <= high over the counts x, with a common name."""

    matrix: sp.csr_array  # shape (rows, terms)
    low: np.ndarray  # one per row
    high: np.ndarray
    name: str
    penalties: Penalties | None = None  # the costs of missing the rows, if they are soft
    scale: np.ndarray | None = None  # one per row: the factor by which it was multiplied
    violation: float = 0.0  # for a cut: its violation at the point of its creation, in records
    entries: np.ndarray | None = None  # one per row of a cut: its entry of the constraint

    @classmethod
    def at_most(cls, matrix: sp.csr_array, high: np.ndarray, name: str) -> AddedRows:
        """Return the rows matrix @ x <= high, each divided by its largest coefficient."""
        largest = most_by_row(np.abs(matrix.data), matrix)
        by = np.where(largest > 0, largest, 1.0)
        scaled = with_data(matrix, matrix.data / by[entry_rows(matrix)])
        return cls(scaled, np.full(len(high), -np.inf), high / by, name, scale=1 / by)


@dataclass(frozen=True, eq=False)
class Extension:
    """An extended form, and the positions of the original and the added rows in it."""

    form: LinearForm
    original: np.ndarray  # the number of each original row in the extended form
    added: dict[Any, np.ndarray]  # the numbers of the added rows, by the keys of `added`


@dataclass(frozen=True, eq=False)
class ExtendedOrigin:
    """Origin of the rows of an extended form: that of the original rows, and the names of the added rows."""

    before: RowOrigin | None
    original: np.ndarray
    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    names: Sequence[str]

    @property
    def starts(self) -> np.ndarray:
        """Starts of the blocks; every row that is not published is its own block."""
        first = np.array([0], dtype=np.int64) if self.before is None else self.before.starts[:2]
        return np.concatenate([first, np.arange(int(first[-1]) + 1, len(self.names) + 1)])

    @property
    def labels(self) -> Mapping[str, slice]:
        """Labels of blocks, which are not used here."""
        return {}

    @property
    def typed(self) -> np.ndarray:
        """Original rows that are available as rational numbers."""
        return np.empty(0, dtype=np.int64) if self.before is None else self.original[self.before.typed]

    def _before(self, row: int) -> tuple[RowOrigin | None, int]:
        """Return the origin of a row of the original form, and its number there; None for an added row."""
        at = int(np.searchsorted(self.original, row))
        return (self.before, at) if at < len(self.original) and self.original[at] == row else (None, row)

    def name(self, row: int) -> str:
        """Return the name of a row for messages."""
        before, number = self._before(row)
        return self.names[row] if before is None else before.name(number)

    def remedy(self, row: int) -> str:
        """Return what a user can do about a row that contradicts others."""
        before, number = self._before(row)
        return "relax it, or remove it" if before is None else before.remedy(number)

    def coefficients(self, row: int) -> Coefficients:
        """Return the coefficients of a row, as typed or as stored, up to a common factor."""
        before, number = self._before(row)
        if before is not None:
            return before.coefficients(number)
        line = self.matrix[[row]]
        return by_coefficient(line.data, line.indices)

    def sides(self, row: int) -> tuple[float, float]:
        """Return the sides of a row."""
        before, number = self._before(row)
        return (float(self.low[row]), float(self.high[row])) if before is None else before.sides(number)

    def is_exact(self, row: int) -> bool:
        """Return whether the stored row is the intended one."""
        before, number = self._before(row)
        return before is not None and before.is_exact(number)


def extended(form: LinearForm, added: Mapping[Any, AddedRows], weights: np.ndarray) -> Extension:
    """Add rows to a form, and replace the weights of its objective."""
    forms = [form, *(_as_form(rows) for rows in added.values())]
    sizes = [each.shape[0] for each in forms]
    order = np.argsort(
        np.concatenate([np.arange(n) >= each.n_hard for n, each in zip(sizes, forms, strict=True)]), kind="stable"
    )
    original, *places = np.split(np.argsort(order), np.cumsum(sizes)[:-1])
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in forms])[order]
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    matrix = sp.csr_array(sp.vstack([each.matrix for each in forms], format="csr")[order])
    names = np.repeat(["", *(rows.name for rows in added.values())], sizes)[order].tolist()
    origin = ExtendedOrigin(form.origin, original, matrix, arrays["low"], arrays["high"], names)
    costs = [each.penalties for each in forms if each.penalties is not None]
    penalties = reduce(Penalties.then, costs) if costs else None
    wider = replace(
        form, coefficients=matrix, origin=origin, weights=weights, operations=None, penalties=penalties, **arrays
    )
    return Extension(wider, original, dict(zip(added, places, strict=True)))


def _as_form(rows: AddedRows) -> LinearForm:
    """Return added rows with the possible rounding errors of their numbers."""
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (rows.low, rows.high)))
    ones = np.ones(len(size))
    return replace(
        LinearForm.plain(rows.matrix, rows.low, rows.high), scale=ones if rows.scale is None else rows.scale,
        side_error=PLACES * size, coefficient_error=PLACES * ones, penalties=rows.penalties,
    )  # fmt: skip
