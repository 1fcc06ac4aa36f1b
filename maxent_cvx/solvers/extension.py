"""A linear form with further rows: hard ones after the hard rows that it has, soft ones after its soft rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .costs import Penalties
from .form import Coefficients, LinearForm, RowOrigin, by_coefficient
from .parameters import PLACES


@dataclass(frozen=True, eq=False)
class AddedRows:
    """low <= matrix @ x <= high over the counts x, all under one name."""

    matrix: sp.csr_array  # shape (rows, terms)
    low: np.ndarray  # one per row
    high: np.ndarray
    name: str
    penalties: Penalties | None = None  # the costs of missing the rows, if they are soft
    scale: np.ndarray | None = None  # one per row: what each row was multiplied by
    violation: float = 0.0  # of a cut, by how much the point that it was made at violates it, records
    entries: np.ndarray | None = None  # one per row of a cut: which entry of the constraint it is of


@dataclass(frozen=True, eq=False)
class Extension:
    """An extended form, and where the rows of the original one are in it."""

    form: LinearForm
    original: np.ndarray  # the number of each original row in the extended form
    added: dict[Hashable, np.ndarray]  # the numbers of the added rows, by what they were added as


@dataclass(frozen=True, eq=False)
class ExtendedOrigin:
    """The origin of the rows of an extended form: that of the original rows, and the names of the others."""

    before: RowOrigin | None
    original: np.ndarray
    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    names: Sequence[str]

    @property
    def starts(self) -> np.ndarray:
        """Every row is a block of its own but for what is published."""
        first = np.array([0], dtype=np.int64) if self.before is None else self.before.starts[:2]
        return np.concatenate([first, np.arange(int(first[-1]) + 1, len(self.names) + 1)])

    @property
    def labels(self) -> Mapping[str, slice]:
        """Rows are not asked for by label here."""
        return {}

    @property
    def typed(self) -> np.ndarray:
        """Of the original rows those that are available as rational numbers."""
        return np.empty(0, dtype=np.int64) if self.before is None else self.original[self.before.typed]

    def _before(self, row: int) -> tuple[RowOrigin | None, int]:
        """The origin of a row of the original form, and its number there; None of an added one."""
        at = int(np.searchsorted(self.original, row))
        return (self.before, at) if at < len(self.original) and self.original[at] == row else (None, row)

    def name(self, row: int) -> str:
        """The name of a row in messages."""
        before, number = self._before(row)
        return self.names[row] if before is None else before.name(number)

    def remedy(self, row: int) -> str:
        """What a user can do about a row that contradicts others."""
        before, number = self._before(row)
        return "relax it, or remove it" if before is None else before.remedy(number)

    def coefficients(self, row: int) -> Coefficients:
        """The coefficients of a row, as typed or as they stand, up to a common factor."""
        before, number = self._before(row)
        if before is not None:
            return before.coefficients(number)
        line = self.matrix[[row]]
        return by_coefficient(line.data, line.indices)

    def sides(self, row: int) -> tuple[float, float]:
        """The sides of a row."""
        before, number = self._before(row)
        return (float(self.low[row]), float(self.high[row])) if before is None else before.sides(number)

    def is_exact(self, row: int) -> bool:
        """Whether the stored row is the intended one."""
        before, number = self._before(row)
        return before is not None and before.is_exact(number)


def extended(form: LinearForm, added: Mapping[Hashable, AddedRows], weights: np.ndarray) -> Extension:
    """Add rows to a form, and give its objective other weights."""
    n, n_hard, before = form.shape[0], form.n_hard, form.matrix
    firm = {key: block for key, block in added.items() if block.penalties is None}
    soft = {key: block for key, block in added.items() if block.penalties is not None}
    n_firm = sum(len(block.low) for block in firm.values())
    blocks: list[tuple[sp.csr_array, np.ndarray, np.ndarray]] = [
        (before[:n_hard], form.low[:n_hard], form.high[:n_hard]),
        *((block.matrix, block.low, block.high) for block in firm.values()),
        (before[n_hard:], form.low[n_hard:], form.high[n_hard:]),
        *((block.matrix, block.low, block.high) for block in soft.values()),
    ]
    matrix = sp.csr_array(sp.vstack([block[0] for block in blocks], format="csr"))
    low, high = (np.concatenate([block[i] for block in blocks]) for i in (1, 2))
    original = np.concatenate([np.arange(n_hard), np.arange(n_hard, n) + n_firm])
    places = {**_numbered(firm, n_hard), **_numbered(soft, n + n_firm)}
    penalties = form.penalties
    for block in soft.values():
        penalties = block.penalties if penalties is None or block.penalties is None else penalties.then(block.penalties)
    sides: dict[str, Any] = {}
    for name, value in (("scale", 1.0), ("shift", 0.0), ("side_error", 0.0), ("coefficient_error", PLACES)):
        sides[name] = np.full(len(low), value)
        sides[name][original] = getattr(form, name)
    names = [""] * len(low)
    for key, rows in places.items():
        size = np.maximum(*(np.where(np.isfinite(side[rows]), np.abs(side[rows]), 0.0) for side in (low, high)))
        sides["side_error"][rows] = PLACES * size
        if added[key].scale is not None:
            sides["scale"][rows] = added[key].scale
        for row in rows.tolist():
            names[row] = added[key].name
    origin = ExtendedOrigin(form.origin, original, matrix, low, high, names)
    wider = replace(
        form,
        coefficients=matrix,
        low=low,
        high=high,
        origin=origin,
        weights=weights,
        operations=None,
        penalties=penalties,
        **sides,
    )
    return Extension(wider, original, places)


def _numbered(added: Mapping[Hashable, AddedRows], first: int) -> dict[Hashable, np.ndarray]:
    """Consecutive numbers for the rows of each, from the first."""
    ends = first + np.cumsum([len(rows.low) for rows in added.values()], dtype=np.int64)
    return {
        key: np.arange(end - len(rows.low), end) for (key, rows), end in zip(added.items(), ends.tolist(), strict=True)
    }
