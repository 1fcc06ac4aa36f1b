"""The baseline that an inference is compared with: the shares in the release, or what is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import BadProbability, MaxEntError, StatementError, TableError, listing, shown
from ...model.posterior import Posterior
from ...priors import QIDistribution
from ...priors.lookup import positions
from ...views import View
from ...views.partitioned.partitioned_release import PartitionedRelease
from ..disclosure import published
from ..leakage.beliefs import inferred
from .judged_values import JudgedValues

__all__ = ["ROUNDING", "Baseline", "baseline_of", "baseline_of_all"]

#: Probabilities that differ by less are the same but for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Baseline:
    """P0 of every judged value.

    Attributes
    ----------
    p : ndarray, shape (1, judged values) if it is the same for everybody, or (rows, judged values)
        Probabilities.
    off : ndarray
        How far each may be from what it stands for, which may be a certificate's bound; of the same shape.
    called : str
        Where its probabilities are, in words.
    """

    p: np.ndarray
    off: np.ndarray
    called: str

    def reaches(self, threshold: float) -> np.ndarray:
        """Mark what reaches a threshold for certain, but for rounding."""
        return np.asarray(self.p - self.off >= threshold - ROUNDING)


def baseline_of_all(
    baseline: object, view: View | PartitionedRelease, judged: JudgedValues, values: pd.Index
) -> Baseline:
    """Read a baseline that is the same for everybody: "overall", or a Series.

    Raises
    ------
    StatementError, TableError, BadProbability
        If it is none, is not published, or does not fit the values.
    """
    if isinstance(baseline, str) and baseline == "overall":
        n_s = view.n_s if isinstance(view, PartitionedRelease) else published(view)
        if n_s is None:
            raise StatementError(
                f'baseline="overall": how many people have each value is not published by the {view.noun}; '
                "give P(s) as a Series"
            )
        p, called = judged.of(n_s)[None] / n_s.sum(), "overall"
    elif isinstance(baseline, pd.Series):
        p, called = _of_series(baseline, judged, values)[None], "in the baseline"
    else:
        raise StatementError(
            f'baseline={shown(baseline)}: "overall", a Series of P(s), a table of P(s | q), or a Posterior is expected'
        )
    return Baseline(p, np.zeros(p.shape), called)


def baseline_of(baseline: object, post: Posterior, rows: pd.DataFrame, judged: JudgedValues) -> Baseline:
    """Read a baseline in any form, of the people of the rows.

    Raises
    ------
    MaxEntError
        If it is none, or does not fit the people and values.
    """
    if not isinstance(baseline, pd.DataFrame | QIDistribution | Posterior):
        return baseline_of_all(baseline, post.space.view, judged, rows.columns)
    try:
        p, off = _by_tuple(baseline, rows, judged)
    except MaxEntError as error:
        raise type(error)(f"baseline: {error}") from None
    return Baseline(p, off, "in the baseline")


def _of_series(given: pd.Series, judged: JudgedValues, values: pd.Index) -> np.ndarray:
    """P0 by label: of what is judged, or of every sensitive value that it includes; more of them play no role."""
    if given.index.has_duplicates:
        raise TableError(f"the baseline has a value twice: {listing(given.index[given.index.duplicated()].unique())}")
    try:
        p = given.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"the baseline must hold numbers: {error}") from None
    if not ((p >= 0) & (p <= 1)).all() or p.sum() > 1 + ROUNDING * len(p):
        raise BadProbability(
            f"the baseline, a Series, must hold probabilities, which are at most 1 together, and is from {p.min():g} "
            f"to {p.max():g} with the sum {p.sum():g}; of counts give baseline / baseline.sum()"
        )
    own = {*given.index.names}
    if None not in own and own not in ({*judged.labels.names}, {*values.names}):
        raise TableError(
            f"the baseline is of {listing(given.index.names)}, and {listing(values.names)} is judged; rename its index"
        )
    if (at := _in_order(given.index, judged.labels.names).get_indexer(judged.labels)).min() >= 0:
        return p[at]
    at = _in_order(given.index, values.names).get_indexer(values)
    if (lacking := judged.involved & (at < 0)).any():
        raise TableError(
            f"the baseline says nothing about {listing(values[lacking])}; write 0 for what nobody would have"
        )
    return judged.of(np.where(at >= 0, p[at], 0.0))


def _in_order(index: pd.Index, names: Iterable[object]) -> pd.Index:
    """Put the levels of labels in the order of some names, where all have these names."""
    wanted = list(names)
    if index.nlevels > 1 and None not in index.names and {*index.names} == {*wanted}:
        return index.reorder_levels(wanted)  # type: ignore[attr-defined]
    return index


def _by_tuple(
    baseline: pd.DataFrame | QIDistribution | Posterior, rows: pd.DataFrame, judged: JudgedValues
) -> tuple[np.ndarray, np.ndarray]:
    """P0 of every row, and how far it may be off."""
    index = rows.index if isinstance(rows.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([rows.index])
    values, judged = rows.columns[judged.involved], judged.among_involved()
    if not isinstance(baseline, Posterior):
        if isinstance(baseline, pd.DataFrame):
            baseline = baseline.set_axis(_in_order(baseline.columns, values.names), axis=1)
        given = baseline if isinstance(baseline, QIDistribution) else QIDistribution(baseline)
        p = judged.of(given.of_tuples(index, values))
        return p, np.zeros(p.shape)
    table, _, beliefs = inferred(baseline)
    key: tuple[str, ...] = baseline.space.view.qi
    if len(baseline.space.people):
        if "who" not in rows.index.names:
            raise StatementError("it names people, and what is judged does not; give its conditional()")
        key = ("who", *key)
    known = table.index if isinstance(table.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([table.index])
    if {*table.columns.names} != {*values.names}:
        raise TableError(f"it is of {listing(table.columns.names)}, and {listing(values.names)} is judged")
    column = _in_order(table.columns, values.names).get_indexer(values)
    if (column < 0).any():
        raise TableError(f"it says nothing about {listing(values[column < 0])}")
    at = positions(known, index, key)
    # What a certificate bounds is the error of any set of values, not of single ones only.
    return judged.of(beliefs.p[at][:, column]), judged.largest(beliefs.off[at][:, column])
