"""Shadow prices of the statements of a model in partitions, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...errors import Inaccurate, StatementError, arguments
from ...solvers.partitioned.shadow_prices import price_multipliers
from ...solvers.program.linear_form import LinearForm
from ...system.executors import Executor
from ..explain.prices import largest_first, prices_of

__all__ = ["price_table", "refuse_leaving_out"]


def refuse_leaving_out(leave_one_out: object) -> None:
    """Say what to do in place of leaving statements out one by one."""
    if arguments.flag(leave_one_out, "leave_one_out"):
        raise StatementError(
            "of a release in partitions no statement is left out by itself; solve the model without each that "
            "matters, model.copy().remove(label).solve(), and compare the entropies"
        )


def price_table(
    parts: Sequence[Any],
    points: Sequence[Any],
    shared: LinearForm,
    multipliers: np.ndarray,
    n_records: float,
    executor: Executor,
) -> pd.DataFrame:
    """List the statements with their prices, see :meth:`maxent_cvx.PartitionedPosterior.prices`.

    Parameters
    ----------
    parts, points, shared, multipliers, n_records, executor
        As of :func:`~maxent_cvx.solvers.partitioned.shadow_prices.price_multipliers`.
    """
    found = price_multipliers(parts, points, shared, multipliers, n_records, executor)
    if found is None:
        raise Inaccurate(
            "the knowledge determines some counts in other ways than by statements of 0, some counts are nearly 0, or "
            "the answer is not precise enough for prices; solve the release in memory, or with a smaller tolerance, "
            "solve(tolerance=1e-12)"
        )
    return largest_first(prices_of(shared, found, n_records))
