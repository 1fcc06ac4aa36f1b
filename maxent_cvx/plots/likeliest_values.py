"""How sure inferences are: of how many records the likeliest value has at least a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, arguments
from .drawing import LINES, axes_for
from .fitting import legend_beside
from .looks import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["likeliest_values"]


def likeliest_values(tables: dict[str, pd.DataFrame], records: pd.Series | None = None, ax: Axes | None = None) -> Axes:
    """Draw the share of records with max P(value | of whom) >= t against t, a line a table.

    Parameters
    ----------
    tables : dict of str to DataFrame
        Legend to probabilities, a row each of whom, a column a value; all with the same rows.
    records : Series, optional
        How many records each row is of; by default one.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, TableError
        If there is no table, one has no rows or is no table of numbers, `records` does not have a row for each of
        theirs, or `ax` is no Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> tables = {"nothing known": model.solve().conditional()}
    >>> tables["no man has breast cancer"] = model.add("P(Breast Cancer | Gender=male) = 0").solve().conditional()
    >>> mx.plots.likeliest_values(tables, ax=Figure().subplots()).get_xlabel()
    'probability of the likeliest value, at least'
    """
    arguments.mapping(tables, "tables", "{name: table of probabilities}")
    if not tables:
        raise StatementError("there is no table to draw; give {name: table of probabilities}")
    lines = {name: _steps(table, records) for name, table in tables.items()}
    with axes_for(ax, *LINES) as drawn:
        for number, (name, (probability, share)) in enumerate(lines.items()):
            drawn.step(probability, share, where="pre", label=str(name), **look(number, len(share)))
        drawn.set(xlim=(0.0, 1.01), ylim=(0.0, 1.02))
        drawn.set_xlabel("probability of the likeliest value, at least")
        drawn.set_ylabel("share of the records")
        drawn.grid(alpha=0.3)
        legend_beside(drawn)
    return drawn


def _steps(table: object, records: pd.Series | None) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities in order, and the share of records that have at least as much."""
    held = arguments.table(table, "what is drawn, a table of probabilities,")
    try:
        p = held.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"a table of probabilities holds something that is no number: {error}") from error
    if not p.size:
        raise TableError("a table of probabilities has no rows or no columns; give one row each of whom")
    if not np.isfinite(p).all():
        raise TableError("a table of probabilities has missing or infinite ones; leave those rows out")
    weight = np.ones(len(p)) if records is None else _weights(records, len(p))
    largest = p.max(axis=1)
    order = np.argsort(largest)
    share = np.cumsum(weight[order][::-1])[::-1] / weight.sum()
    return np.concatenate([[0.0], largest[order], largest[order][-1:]]), np.concatenate([[1.0], share, [0.0]])


def _weights(records: object, rows: int) -> np.ndarray:
    """How many records each row is of, some."""
    if not isinstance(records, pd.Series) or len(records) != rows:
        raise TableError(f"records must be a Series with a count for each of the {rows} rows of a table")
    try:
        weight = records.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"records must be counts: {error}") from error
    if not (weight >= 0).all() or not weight.sum() > 0 or not np.isfinite(weight).all():
        raise TableError("records must be counts, none negative, not all of them 0")
    return weight
