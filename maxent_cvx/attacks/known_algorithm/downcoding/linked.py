"""Columns that conditions link: sums over all ways to fill them, one column after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....errors import GroupTooLarge, Inaccurate, Infeasible, amount
from ..refusing.group_ways import check_steps, numbered
from ..refusing.transitions import Layer, backwards, drawn, forwards
from .column import Column, Law
from .formula import AtMost, Every, Formula, Some

__all__ = ["Unit", "filled"]

#: A group, and the number of an attribute.
Unit = tuple[int, int]
#: How often a condition is split into its alternatives, one inside another.
MOST_SPLITS = 6
#: Tables that must be kept, so that standard errors are reliable.
FEWEST = 100


@dataclass(frozen=True, eq=False)
class Linked:
    """Some columns, and what conditions on them count.

    Attributes
    ----------
    columns : dict of Unit to Column
        In the order in which they are filled.
    counts : list of AtMost
        What is counted.
    """

    columns: Mapping[Unit, Column]
    counts: list[AtMost]

    @cached_property
    def laws(self) -> list[Law]:
        """The distribution of each column, by what it adds to the counts."""
        return [column.law(self._places(unit)) for unit, column in self.columns.items()]

    @cached_property
    def adds(self) -> list[np.ndarray]:
        """What each option of each column adds to each count, shape (options, counts)."""
        found = []
        for (unit, column), law in zip(self.columns.items(), self.laws, strict=True):
            added = np.zeros((len(law.weight), len(self.counts)), dtype=np.int64)
            places = self._places(unit)
            for j, one in enumerate(self.counts):
                if unit in one.units:
                    below = law.below[:, places.index(one.place)]
                    added[:, j] = below if one.below else column.n - below
            found.append(added)
        return found

    def _places(self, unit: Unit) -> list[int]:
        """The places of a column that are asked for."""
        return sorted({one.place for one in self.counts if unit in one.units})

    @cached_property
    def most(self) -> np.ndarray:
        """The largest numbers that are allowed."""
        return np.array([one.most for one in self.counts], dtype=np.int64)

    def holds(self, formula: Formula, count: np.ndarray) -> np.ndarray:
        """Where a formula holds, counts being given in columns."""
        return formula.holds(dict(zip(self.counts, (count <= self.most).T, strict=True)))

    def layers(self, formulas: list[Formula]) -> list[Layer]:
        """All ways to fill the columns so that some formulas hold.

        Raises
        ------
        GroupTooLarge
            If that is too much work.
        """
        position = {unit: i for i, unit in enumerate(self.columns)}
        until = dict.fromkeys((leaf for formula in formulas for leaf in formula.leaves()), -1)
        for formula in formulas:
            leaves = set(formula.leaves())
            end = max(position[unit] for leaf in leaves for unit in leaf.units)
            until |= {leaf: max(until[leaf], end) for leaf in leaves}
        asked = [self.counts.index(leaf) for leaf in until]
        most, last = self.most[asked], np.array(list(until.values()), dtype=np.int64)
        state = np.zeros((1, len(asked)), dtype=np.int64)
        layers = []
        for i, (law, added) in enumerate(zip(self.laws, self.adds, strict=True)):
            options = np.flatnonzero(_allowed(added[:, asked], most, list(until), formulas))
            check_steps(len(state) * len(options) * max(1, len(asked)))
            source, option = map(np.ravel, np.indices((len(state), len(options))))
            option = options[option]
            grown = np.minimum(state[source] + added[option][:, asked], most + 1)
            kept = _allowed(grown, most, list(until), formulas)
            grown[:, last <= i] = 0  # no later column has part in what these are asked for
            target, state = numbered(grown[kept])
            layers.append(Layer(source[kept], option[kept], target, law.weight, len(state)))
        return layers


def _allowed(count: np.ndarray, most: np.ndarray, asked: list[AtMost], formulas: list[Formula]) -> np.ndarray:
    """Where all formulas hold of the records so far: what some records violate is not mended by others."""
    within = dict(zip(asked, (count <= most).T, strict=True))
    return np.all([np.ones(len(count), dtype=bool), *(formula.holds(within) for formula in formulas)], axis=0)


def filled(
    columns: Mapping[Unit, Column], formulas: list[Formula], n: int, rng: np.random.Generator
) -> dict[Unit, tuple[np.ndarray, np.ndarray]]:
    """How many records of each column have each value, on average, and standard errors, 0 if that is exact.

    Parameters
    ----------
    columns : dict of Unit to Column
        In the order in which they are filled.
    formulas : list of Formula
        Conditions that must all hold.
    n : int
        Tables that are sampled where the sum over all is too much work.
    rng : Generator

    Raises
    ------
    Infeasible
        If no table satisfies the conditions.
    Inaccurate
        If too few sampled ones do.
    """
    try:
        log_total, found = _summed(columns, formulas)
    except GroupTooLarge:
        return _sampled(_counting(columns, formulas), formulas, n, rng)
    if np.isinf(log_total):
        raise Infeasible("the algorithm makes this release of no table; are its parameters, and the domain, others?")
    return {unit: (one, np.zeros_like(one)) for unit, one in zip(columns, found, strict=True)}


def _counting(columns: Mapping[Unit, Column], formulas: list[Formula]) -> Linked:
    """Count what formulas ask for."""
    return Linked(columns, list(dict.fromkeys(leaf for formula in formulas for leaf in formula.leaves())))


def _summed(columns: Mapping[Unit, Column], formulas: list[Formula], splits: int = 0) -> tuple[float, list[np.ndarray]]:
    """Sum over all ways to fill the columns; where that is too much work, over those of each alternative.

    The alternatives of a formula exclude each other, as different things that the algorithm would do.

    Returns
    -------
    log_total : float
        The logarithm of the probability that all formulas hold; minus infinity if they cannot.
    expected : list of ndarray
        How many records of each column have each value.

    Raises
    ------
    GroupTooLarge
        If there is no alternative that is less work.
    """
    try:
        linked = _counting(columns, formulas)
        layers = linked.layers(formulas)
    except GroupTooLarge:
        choice = next((formula for formula in formulas if isinstance(formula, Some)), None)
        if choice is None or splits >= MOST_SPLITS:
            raise
        rest = [formula for formula in formulas if formula is not choice]
        parts = [part.parts if isinstance(part, Every) else (part,) for part in choice.parts]
        found = [_summed(columns, [*rest, *part], splits + 1) for part in parts]
        log_totals = np.array([log_total for log_total, _ in found])
        if np.isinf(largest := log_totals.max()):
            return -np.inf, []
        share = np.exp(log_totals - largest)
        possible = [(one, expected) for one, (_, expected) in zip(share, found, strict=True) if one > 0]
        of_columns = zip(*([one * each for each in expected] for one, expected in possible), strict=True)
        return float(largest + np.log(share.sum())), [np.asarray(sum(one)) / share.sum() for one in of_columns]
    sums, log_total = forwards(layers)
    if np.isinf(log_total):
        return log_total, []
    shares = backwards(layers, sums, np.ones(1))
    return log_total, [share @ law.expected for share, law in zip(shares, linked.laws, strict=True)]


def _sampled(
    linked: Linked, formulas: list[Formula], n: int, rng: np.random.Generator
) -> dict[Unit, tuple[np.ndarray, np.ndarray]]:
    """Sum with as many conditions as possible; the others decide which of n sampled tables are kept."""
    chosen: list[Formula] = []
    layers = linked.layers(chosen)
    for formula in formulas:
        try:
            layers = linked.layers([*chosen, formula])
        except GroupTooLarge:
            continue
        chosen.append(formula)
    sums, log_total = forwards(layers)
    kept = np.zeros(0, dtype=bool)
    if not np.isinf(log_total):
        options = drawn(layers, sums, np.zeros(n, dtype=np.int64), rng)
        count = sum(added[option] for added, option in zip(linked.adds, options, strict=True))
        kept = np.all([linked.holds(formula, np.asarray(count)) for formula in formulas], axis=0)
    if (left := int(kept.sum())) < FEWEST:
        raise Inaccurate(
            f"of {n} sampled tables {amount(left, 'is', 'are')} such that the algorithm makes this release of them; "
            f"{FEWEST} are needed: sample more (n=...)"
        )
    found = {}
    for (unit, column), law, option in zip(linked.columns.items(), linked.laws, options, strict=True):
        held = law.expected[option[kept]]
        mean = held.mean(axis=0)
        least = np.where((mean > 0) & (mean < column.n), column.n / left, 0.0)
        found[unit] = mean, np.maximum(held.std(axis=0, ddof=1) / np.sqrt(left), least)
    return found
