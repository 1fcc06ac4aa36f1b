"""Similar linkage, the search: signatures by similarity, groups from the bottom up, and who is left over placed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from ...errors import TableError, amount, listing
from ...priors import QIDistribution
from ...tables.coding import densely
from ...tables.microdata import Microdata
from .column_generation import rearrange
from .grouping import Grouping
from .local_search import place_left
from .privacy_criterion import PrivacyCriterion
from .signature_tree import nested

__all__ = ["Linking"]

#: The logarithm of a prior of 0, where signatures are compared: further apart than any others.
IMPOSSIBLE = -1e3
#: Rounding of sums over worlds, relative: no more than this in groups of any size.
ROUNDING = 1e-9
#: Records left over up to which it is tried again, while that places some.
FEW_LEFT = 50
#: Work on new patterns of groups, see :meth:`PrivacyCriterion.work`; and where it is only asked what else would do.
WORK, WORK_OF_ADVICE = 2e10, 5e9
#: Attempts of the local search that place nobody, before it takes more groups apart.
PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Linking:
    """The records of a table as the adversary's prior shows them.

    Attributes
    ----------
    value : ndarray of int
        The sensitive value of each record, by its position in `values`.
    values : Index
    signature : ndarray of int
        The joint signature of each record; similar ones have numbers next to each other.
    parts : list of (int, int)
        Ranges of signatures, each after both halves of it.
    tables : list of (ndarray, ndarray)
        For every attribute set the position of each joint signature in its table, and the table, probabilities.
    protected : ndarray of bool
        The sensitive values that count.
    seed : int
    """

    value: np.ndarray
    values: pd.Index
    signature: np.ndarray
    parts: list[tuple[int, int]]
    tables: list[tuple[np.ndarray, np.ndarray]]
    protected: np.ndarray
    seed: int

    @classmethod
    def of(cls, data: Microdata, prior: QIDistribution, exempt: int, seed: int) -> Self:
        """Number values and signatures; the `exempt` most frequent values do not count."""
        value, values = data.values()
        protected = np.ones(len(values), dtype=bool)
        protected[np.argsort(-np.bincount(value), kind="stable")[:exempt]] = False
        tuples, quasi_identifiers = data.tuples()
        column = prior.columns(values)
        rows = np.column_stack([prior.rows(quasi_identifiers, key) for key in prior.attribute_sets])
        distinct, of_tuple = np.unique(rows, axis=0, return_inverse=True)
        p = [prior.tables[key].to_numpy()[:, column] for key in prior.attribute_sets]
        with np.errstate(divide="ignore"):
            log_prior = np.concatenate([np.log(table[distinct[:, i]]) for i, table in enumerate(p)], axis=1)
        order, parts = nested(np.maximum(log_prior, IMPOSSIBLE))
        tables = [(distinct[order, i], table) for i, table in enumerate(p)]
        signature = np.argsort(order)[of_tuple.reshape(-1)][tuples]
        return cls(value, values, signature, parts, tables, protected, seed)

    def groups(self, r: float, condition: str, suppress: int) -> Grouping:
        """Group the records, but for at most `suppress`, so that P(t : x) <= 1 / r in every possible world.

        Raises
        ------
        TableError
            If values are too frequent, records fit nowhere, or groups are not safe after all.
        """
        self._check_frequent(r, suppress)
        found, _ = self._grouped(r, condition, WORK)
        if len(found.left) > suppress:
            others = [(r, "exact")] if condition == "sound" else []
            others += [(less, condition) for less in range(int(np.ceil(r)) - 1, 1, -1)]
            trials = ((other, *self._grouped(*other, WORK_OF_ADVICE)) for other in others)
            # What ends before its work is spent ends so with more, too: who follows the advice gets what it says.
            works = next((other for other, trial, spent in trials if not len(trial.left) and not spent), None)
            raise self._left_over(found, suppress, works)
        _check_worlds(found)
        return found

    def _grouped(self, r: float, condition: str, work: float) -> tuple[Grouping, bool]:
        """Group the records, and say whether all work was spent."""
        criterion = PrivacyCriterion(self.tables, self.protected, r, condition)
        found = Grouping.of(criterion, self.signature, self.value, np.random.default_rng(self.seed))
        found.from_the_bottom(self.parts)
        spent = False
        while before := len(found.left):
            spent |= rearrange(found, work)
            place_left(found, PATIENCE)
            if len(found.left) >= min(before, FEW_LEFT):
                break
        return found, spent

    def _check_frequent(self, r: float, suppress: int) -> None:
        """Check that every value that counts has as many groups to be in as it has records, but for some left out."""
        frequency = pd.Series(np.bincount(self.value, minlength=len(self.values)), index=self.values)
        n, least = int(frequency.sum()), int(np.ceil(r))
        too_many = frequency[self.protected & (frequency.to_numpy() * least > n)].sort_values(ascending=False)
        if not len(too_many):
            return
        most, enough = int(too_many.iloc[0]), int((~self.protected).sum()) + len(too_many)
        out = -(-(most * least - n) // (least - 1))  # without s of them, most - s <= (n - s) / least
        if out > suppress:
            raise TableError(
                f"{len(too_many)} of the values {'is' if len(too_many) == 1 else 'are'} too frequent to stand once "
                f"in a group of {least} records: {listing(too_many.index[:1])} occurs {most} times, and {n} records "
                f"make {n // least} groups; r={n // most} is the largest with enough of them, or exempt the most "
                f"frequent values (exempt={enough}), or leave {out} of its records out (suppress={out}, or more)"
            )

    def _left_over(self, found: Grouping, suppress: int, works: tuple[float, str] | None) -> TableError:
        """Say who fits nowhere, and what would help."""
        left = found.left
        often = pd.Series(found.value[left]).value_counts()
        allowed = f", and suppress={suppress} are allowed to be left out" if suppress else ""
        remedy = "" if works is None else f"; with r={works[0]:g}, condition={works[1]!r} all records fit"
        most_of = listing(self.values.take(often.index[:3].to_numpy()))
        return TableError(
            f"{len(left)} of {len(found.value)} records fit into no group that keeps r={found.criterion.r:g}{allowed}, "
            f"of {most_of} most of them: the prior expects these values of too many; taking groups apart did not "
            f"help{remedy}, or leave them out (suppress={len(left)}), or exempt the value"
        )


def _check_worlds(found: Grouping) -> None:
    """Check the groups against all possible worlds, where these are not too many; else against the sound condition."""
    inside = found.group >= 0
    if not inside.any():
        return
    criterion = found.criterion
    violation = replace(criterion, condition="exact").violation(
        densely(found.group[inside]), found.signature[inside], found.value[inside]
    )
    if (unsafe := violation > 1 + ROUNDING).any():
        those = amount(len(unsafe), "group that satisfies", "groups that satisfy")
        are = "is" if unsafe.sum() == 1 else "are"
        raise TableError(
            f"{int(unsafe.sum())} of {those} the condition {criterion.condition!r} {are} not safe: "
            f"P(t : x) is up to {violation.max() / criterion.r:.4g}, above 1 / {criterion.r:g}; use condition='sound' "
            "(see maxent_cvx.worlds.delta_condition for what the paper's guarantees)"
        )
