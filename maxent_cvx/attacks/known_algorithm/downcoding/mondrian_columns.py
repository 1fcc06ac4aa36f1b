"""The exact values of one attribute in the groups that Mondrian published."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ....disguise.cutting import is_number
from ....errors import Infeasible
from .cells import Cells
from .column import Column
from .formula import NEVER, Every, Formula
from .linked import Unit, filled
from .recursion import Recursion

__all__ = ["mondrian_columns"]


def mondrian_columns(cells: Cells, a: int, k: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """P(exact value | group) if Mondrian, which looked at QI alone, made the release; and standard errors.

    Columns of one table are independent beforehand, and so are records; the conditions of the recursion link some.

    Parameters
    ----------
    cells : Cells
    a : int
        The attribute.
    k : int
    n : int
        Tables that are sampled where the sum over all is too much work.
    rng : Generator

    Raises
    ------
    Infeasible
        If Mondrian makes the release of no table.
    Inaccurate
        If sampling does not find such tables.
    """
    required = [cells.required(i) for i in range(len(cells.values))]
    place = [
        level.to_numpy(dtype=float) if is_number(level) else np.arange(float(len(level))) for level in cells.values
    ]
    recursion = Recursion(k, cells.size, place, required)
    formula = recursion.formula()
    if formula == NEVER or (cells.size < k).any():
        raise Infeasible("Mondrian makes this release of no table; has it another k, or the attributes other values?")
    parts: list[Formula] = list(formula.parts) if isinstance(formula, Every) else [formula]
    prior = [cells.prior(i) for i in range(len(cells.values))]

    def column(unit: Unit) -> Column:
        group, i = unit
        n_group = int(cells.size[group])
        heavy = k if n_group >= 2 * k else None
        return Column(n_group, prior[i][group], required[i][group], np.full(len(place[i]), n_group), heavy)

    found, error = prior[a].copy(), np.zeros_like(prior[a])
    wanted = {(int(group), a) for group in np.flatnonzero(cells.covered[a].sum(axis=1) > 1)}
    for units, formulas in _components(wanted, parts, recursion.order):
        if wanted.isdisjoint(units):
            continue
        of = filled({unit: column(unit) for unit in units}, formulas, n, rng)
        for (group, i), (expected, off) in of.items():
            if i == a:
                found[group], error[group] = expected / cells.size[group], off / cells.size[group]
    return found, error


def _components(wanted: set[Unit], formulas: list[Formula], order: list[int]) -> list[tuple[list[Unit], list[Formula]]]:
    """The columns that formulas link, in the order of the recursion, with these formulas."""
    about = [sorted({unit for leaf in formula.leaves() for unit in leaf.units}) for formula in formulas]
    rank = {group: i for i, group in enumerate(order)}
    units = sorted(wanted.union(*about), key=lambda unit: (rank.get(unit[0], 0), unit))
    number = {unit: i for i, unit in enumerate(units)}
    first = np.array([number[one[0]] for one in about for _ in one], dtype=np.int64)
    other = np.array([number[unit] for one in about for unit in one], dtype=np.int64)
    graph = sp.csr_array((np.ones(len(first)), (first, other)), shape=(len(units), len(units)))
    label = connected_components(graph, directed=False)[1]
    own: dict[int, tuple[list[Unit], list[Formula]]] = {}
    for i, unit in enumerate(units):
        own.setdefault(int(label[i]), ([], []))[0].append(unit)
    for formula, linked in zip(formulas, about, strict=True):
        own[int(label[number[linked[0]]])][1].append(formula)
    return list(own.values())
