"""What is gained, about, by withholding a row of knowledge: from its multiplier, without solving again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import Inaccurate, SolverError
from ..measures.accuracy import original_counts
from ..model.explain.solved import model_of
from ..model.posterior import Posterior
from ..solvers.explain import multipliers_from_counts
from ..terms.rows import Rows
from ..views import OUTSIDE, View

__all__ = ["events", "information", "multipliers_of", "pull"]


def multipliers_of(post: Posterior, label: str) -> np.ndarray:
    """The multipliers of the rows of one piece of knowledge: dH for a unit of P(Q, x) less, nats; minus their prices.

    Parameters
    ----------
    post : Posterior
        Of a model of linear knowledge.
    label : str
        Its label in the model.

    Returns
    -------
    ndarray, one a row of the knowledge, in its order
        Infinite where a row forces zeros.

    Raises
    ------
    SolverError
        If the model holds a convex constraint.
    Inaccurate
        If the answer has no multipliers to the precision that is needed.
    """
    model = model_of(post)
    if model.convex:
        raise SolverError(
            "what to withhold is chosen by multipliers of linear knowledge: leave your own constraint out"
        )
    form = model.form
    multipliers = multipliers_from_counts(form, post.counts)
    if np.isnan(multipliers).any():
        raise Inaccurate("the answer has no multipliers to the precision that is needed to choose what to withhold")
    return form.by_label(multipliers * form.scale / post.space.n_records)[label]


def pull(post: Posterior, rows: Rows, multipliers: np.ndarray, limit: float) -> np.ndarray:
    """By how much each row raises log P(x | q) of those above a limit, added up over the records concerned.

    log P(x | q) changes by P(Q, x | q) - sum_y P(Q, y | q) P(y | q) for a unit of the row's multiplier. Of several
    sensitive attributes x is a value of each.

    Parameters
    ----------
    post : Posterior
    rows : Rows
        Knowledge of the posterior's model, with coefficients of 1.
    multipliers : ndarray
        One a row, nats; infinite where the row forces zeros.
    limit : float
    """
    _, records = post.space.groups
    covered, table = _covered(post, rows)
    event = events(post.space.view)
    inferred = table @ event
    above = inferred > (limit + 1e-9) * records[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(above, records[:, None] / inferred, 0.0) @ event.T - above.sum(axis=1, keepdims=True)
    finite = np.where(np.isfinite(multipliers), multipliers, 0.0) * (covered @ weight.ravel())
    concerned = _groups(post, rows) @ above.any(axis=1).astype(float) > 0
    return np.where(np.isinf(multipliers) & concerned, np.inf, finite)


def events(view: View) -> np.ndarray:
    """What may be inferred of somebody, shape (sensitive values, events): each value of each sensitive attribute.

    That somebody of a population is not in the release is no value.
    """
    values = view.sensitive_values
    if not isinstance(values, pd.MultiIndex):
        return np.eye(len(values))[:, np.asarray(values.to_flat_index() != OUTSIDE)]
    return np.concatenate(
        [np.eye(len(level))[code] for level, code in zip(values.levels, values.codes, strict=True)], 1
    )


def information(post: Posterior, rows: Rows, multipliers: np.ndarray, original: pd.DataFrame) -> np.ndarray:
    """How much the divergence of the truth from the posterior rises without each row, to second order; records x nats.

    m (n(Q, X) - N P*(Q, X)) + m^2 V / 2 of a row with the multiplier m, where V is the variance of the number of
    records that it counts, everybody's value being drawn from the posterior.

    Parameters
    ----------
    post, rows, multipliers
        See :func:`pull`.
    original : DataFrame
        The records.
    """
    space = post.space
    covered, table = _covered(post, rows)
    inside = _sum_values(covered, table.shape[1])
    variance = np.asarray(inside.sum(axis=1)) - inside.power(2) @ (1 / table.sum(axis=1))
    n_values = len(space.view.sensitive_values)
    cell = space.codes["q"] * n_values + space.codes["s"]
    size = len(space.view.n_q) * n_values
    of_cell = sp.csr_array((np.ones(len(cell)), (np.arange(len(cell)), cell)), shape=(len(cell), size))
    counted = _ones(_pattern(rows) @ of_cell) @ original_counts(post, original).ravel()
    m = np.where(np.isfinite(multipliers), multipliers, 0.0)
    gain = m * (counted - np.asarray(covered.sum(axis=1))) + 0.5 * m**2 * variance
    return np.where(np.isinf(multipliers), np.inf, gain)


def _covered(post: Posterior, rows: Rows) -> tuple[sp.csr_array, np.ndarray]:
    """N P(g, x) as far as each row counts it, shape (rows, groups x values); and all of it, shape (groups, values)."""
    space = post.space
    n_records, n_values = space.groups[1], len(space.view.sensitive_values)
    cell = space.cells
    of_cell = sp.csr_array((post.counts, (np.arange(len(cell)), cell)), shape=(len(cell), len(n_records) * n_values))
    table = np.bincount(cell, post.counts, len(n_records) * n_values).reshape(-1, n_values)
    return sp.csr_array(_pattern(rows) @ of_cell), table


def _sum_values(covered: sp.csr_array, n_values: int) -> sp.csr_array:
    """Sum over the values, shape (rows, groups)."""
    n_cells = covered.shape[1]
    of_group = (np.ones(n_cells), (np.arange(n_cells), np.arange(n_cells) // n_values))
    return sp.csr_array(covered @ sp.csr_array(of_group, shape=(n_cells, n_cells // n_values)))


def _groups(post: Posterior, rows: Rows) -> sp.csr_array:
    """Mark the groups that each row is about, shape (rows, groups)."""
    group, of = post.space.groups
    of_group = sp.csr_array((np.ones(len(group)), (np.arange(len(group)), group)), shape=(len(group), len(of)))
    return sp.csr_array(_pattern(rows) @ of_group)


def _pattern(rows: Rows) -> sp.csr_array:
    """1 for the terms that each row is about."""
    return _ones(rows.matrix)


def _ones(matrix: sp.csr_array) -> sp.csr_array:
    """1 wherever a matrix is not 0."""
    return sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
