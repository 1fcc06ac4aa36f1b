"""Certify counts from anywhere against a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import SolverError, TableError, listing, shown
from ..solvers.certificate.certificate import Certificate, certify
from ..solvers.solving.presolving import presolved
from ..terms.space import Space
from .adversary import Adversary
from .posterior import Posterior

__all__ = ["certified", "certified_by"]


def certified(
    model: Adversary, counts: npt.ArrayLike | pd.Series, multipliers: Mapping[str, np.ndarray]
) -> Certificate:
    """Bound how far counts are from the maximum-entropy answer of a model."""
    if model.convex:
        raise SolverError("what is certified has linear rows, and the model holds a convex constraint of your own")
    x, form = in_records(model.space, counts), model.form
    m = form.transformed_multipliers(of_rows(form.by_label(np.zeros(form.shape[0])), multipliers))
    settled = presolved(model.posed).settled_for(x)
    return certify(form, model.posed.groups, x, form.project_to_dual_cone(m), settled)


def certified_by(model: Adversary, counts: npt.ArrayLike | pd.Series, solved: Posterior) -> Certificate:
    """Bound how far counts are from the answer of a model, by an answer that is certified already.

    There are two bounds, and the smaller one is given: that of the multipliers of the answer, which do not prove the
    zeros that were found during the solve, and the distance of the counts from the answer, plus its own bound.
    """
    found = certified(model, counts, solved.multipliers)
    near, groups = solved.certificate, model.posed.groups
    apart = np.abs(np.maximum(in_records(model.space, counts), 0.0) - solved.counts)
    bound = near.bound + float((np.bincount(groups.of_term, apart, len(groups.records)) / groups.records).max())
    if found.bound <= bound:
        return found
    return replace(found, moved=near.moved + float(apart.max()), gap=near.gap, bound=bound, backward=near.backward)


def in_records(space: Space, counts: npt.ArrayLike | pd.Series) -> np.ndarray:
    """One finite number of records for each term, in the order of the space."""
    if isinstance(counts, pd.Series):
        at = counts.index.get_indexer(space.index) if counts.index.is_unique else np.array([-1])
        if len(counts) != len(space) or (at < 0).any():
            raise TableError(f"counts must be labelled by the {len(space)} terms of the model, each once")
        counts = counts.to_numpy()[at]
    try:
        found = np.asarray(counts, dtype=float)
    except (OverflowError, TypeError, ValueError):
        raise TableError(f"counts must be {len(space)} numbers of records, not {shown(counts)}") from None
    if found.shape != (len(space),) or not np.isfinite(found).all():
        raise TableError(f"counts must be {len(space)} finite numbers of records, one a term, not {shown(counts)}")
    return found


def of_rows(expected: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]) -> np.ndarray:
    """One multiplier a row, from arrays by label."""
    if not isinstance(given, Mapping) or set(given) != set(expected):
        labels = listing(list(expected))
        raise TableError(f"multipliers must be arrays by label, of {labels}, not {shown(given)}")
    found = []
    for label, zeros in expected.items():
        one = np.asarray(given[label])
        if one.shape != zeros.shape or one.dtype.kind not in "fiu" or not np.isfinite(one).all():
            raise TableError(f"the multipliers of {label!r} must be {len(zeros)} finite numbers, not {shown(one)}")
        found.append(one.astype(float))
    return np.concatenate(found)
