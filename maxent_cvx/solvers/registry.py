"""The one table from a solver's name to the object that solves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd

from ..errors import SolverError, shown, unknown_name
from .answer import Answer
from .cvxpy.backend import CvxpyBackend
from .dual.backend import DualBackend
from .dual.lbfgs import lbfgs
from .dual.newton import newton
from .program.linear_form import LinearForm

__all__ = ["SOLVERS", "Backend", "available", "find"]


class Backend(Protocol):
    """What a solver offers: a name, whether it is installed, and the maximum of sum x log(w / x) over rows."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def installed(self) -> bool:
        """Whether it can be called on this machine."""
        ...

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the solver does not have, before any work."""
        ...

    def solve(self, form: LinearForm, start: np.ndarray | None = None, **options: Any) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``, from multipliers `start` if it can use them."""
        ...


#: Every solver by name, the default first. Clarabel's "faer" factorisation is its most precise here.
SOLVERS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        DualBackend("DUAL_NEWTON", newton),
        DualBackend("DUAL_LBFGS", lbfgs),
        CvxpyBackend("CLARABEL", {"direct_solve_method": "faer"}),
        CvxpyBackend("ECOS"),
        CvxpyBackend("SCS", {"eps_abs": 1e-9, "eps_rel": 1e-9}),
        CvxpyBackend("MOSEK"),
    )
}


def find(name: str) -> Backend:
    """Look a solver up by name; "auto" is the default one.

    Parameters
    ----------
    name : str
        As :func:`available` lists it, or "auto".

    Returns
    -------
    Backend
        With ``.name``, ``.installed``, ``.check(options)`` and ``.solve(form, start, **options)``.

    Raises
    ------
    UnknownName
        If there is no such solver.
    SolverError
        If it is not installed, or `name` is no text.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.solvers.find("auto").name
    'DUAL_NEWTON'
    >>> mx.solvers.find("Clarabel")
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.UnknownName: 'Clarabel' is not a solver; did you mean 'CLARABEL'?
    """
    if not isinstance(name, str):
        raise SolverError(f"a solver is chosen by name, one of {list(SOLVERS)}, not by {shown(name)}")
    found = next(iter(SOLVERS.values())) if name == "auto" else SOLVERS.get(name)
    if found is None:
        raise unknown_name("solver", name, ["auto", *SOLVERS])
    if not found.installed:
        raise SolverError(
            f"solver {name} is not installed; install it, or choose one of "
            f"{[backend.name for backend in SOLVERS.values() if backend.installed]}"
        )
    return found


def available() -> pd.DataFrame:
    """Every solver by name, and whether it is installed here.

    Returns
    -------
    DataFrame
        By `solver`, the default first: `installed`, True or False.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> print(mx.solvers.available().loc[["DUAL_NEWTON", "DUAL_LBFGS", "CLARABEL"]])
                 installed
    solver
    DUAL_NEWTON       True
    DUAL_LBFGS        True
    CLARABEL          True
    """
    rows = [(backend.name, backend.installed) for backend in SOLVERS.values()]
    return pd.DataFrame(rows, columns=["solver", "installed"]).set_index("solver")
