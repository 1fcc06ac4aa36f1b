"""How often each solver is the fastest, or nearly so, over many models."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..errors import BadProbability, TableError, arguments, unknown_name

__all__ = ["performance_profile"]

#: Seconds that no clock tells apart from less: shorter solves count as this long, as where presolve finds everything.
SHORTEST = 1e-3
#: What a profile may be of, besides seconds.
MEASURES = ("seconds", "compile_seconds", "solve_seconds", "iterations")


def performance_profile(
    table: pd.DataFrame, measure: str = "seconds", tau: Iterable[float] | None = None
) -> pd.DataFrame:
    """rho_s(tau) = the fraction of models that solver s solves at no more than tau times the cost of the best.

    With t_ps the cost of model p by solver s, the performance ratio is r_ps = t_ps / min over s of t_ps. It is infinite
    where the answer is not certified; a model that no solver solves counts for none of them. rho_s(1) is how often s is
    the best, and the limit for large tau is how often it solves a model at all.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.compare_solvers` gives of several models.
    measure : str
        The cost: "seconds", which is compile_seconds and solve_seconds together, or "compile_seconds", "solve_seconds"
        or "iterations". Less than a millisecond, or an iteration, is taken for that.
    tau : iterable of float, optional
        Ratios, 1 or more; by default those at which some fraction changes.

    Returns
    -------
    DataFrame
        With a row for each solver, in the table's order, and ratio: `solver`, `tau` and `fraction`.

    Raises
    ------
    TableError
        If the table is none of several models, or not every solver was called for each of them.
    UnknownName
        If there is no such cost.
    BadProbability, StatementError
        If a ratio is less than 1, or no number.

    References
    ----------
    Dolan, E. D. and Moré, J. J. (2002). Benchmarking optimization software with performance profiles. Mathematical
    Programming 91, 201-213.

    Examples
    --------
    Two models; A solves both, in 2 and 6 seconds, B only the first one, in 1 second:

    >>> import pandas as pd, maxent_cvx as mx
    >>> index = pd.MultiIndex.from_product([["small", "large"], ["A", "B"]], names=["model", "solver"])
    >>> seconds = {"compile_seconds": [1.0, 0.5, 2.0, 0.0], "solve_seconds": [1.0, 0.5, 4.0, 9.0]}
    >>> table = pd.DataFrame({"certified": [True, True, True, False], **seconds}, index=index)
    >>> mx.performance_profile(table).values.tolist()
    [['A', 1.0, 0.5], ['A', 2.0, 1.0], ['B', 1.0, 0.5], ['B', 2.0, 0.5]]
    """
    cost = _cost(table, measure)
    best = cost.min(axis=1)
    ratio = cost.div(best.where(np.isfinite(best), 1.0), axis=0).to_numpy()
    if tau is None:
        at = np.unique(np.concatenate([[1.0], ratio[np.isfinite(ratio)]]))
    else:
        at = np.array([arguments.real(one, "tau", 1.0, np.inf) for one in arguments.list_of(tau, "tau", "ratios")])
        if not len(at) or not np.isfinite(at).all():
            raise BadProbability("tau must hold at least one ratio, all of them finite and 1 or more")
    fraction = (ratio[:, :, None] <= at).mean(axis=0)
    solvers, ratios = np.repeat(cost.columns, len(at)), np.tile(at, len(cost.columns))
    return pd.DataFrame({"solver": solvers, "tau": ratios, "fraction": fraction.ravel()})


def _cost(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """What each model, a row, costs each solver, a column; infinite where the answer is not certified."""
    arguments.table(table, "what a profile is of, a table of compare_solvers,")
    if arguments.text(measure, "measure") not in MEASURES:
        raise unknown_name("cost that a profile can be of", measure, list(MEASURES))
    needed = ["certified", *(MEASURES[1:3] if measure == "seconds" else [measure])]
    if table.index.names != ["model", "solver"] or not set(needed) <= set(table.columns):
        raise TableError(
            "a profile is of several models: give the table of compare_solvers({name: model, ...}), indexed by model "
            f"and solver, with the columns {', '.join(needed)}"
        )
    if table.index.has_duplicates:
        raise TableError("the table has a model and solver twice; give each once")
    least = 1.0 if measure == "iterations" else SHORTEST
    cost = table[needed[1:]].astype(float).sum(axis=1, skipna=False).clip(lower=least)
    wide = cost.where(table["certified"].astype(bool) & cost.notna(), np.inf).unstack("solver")
    if wide.isna().any(axis=None):
        raise TableError("the table lacks a row: every solver must have been called for every model")
    return wide[list(table.index.get_level_values("solver").unique())]
