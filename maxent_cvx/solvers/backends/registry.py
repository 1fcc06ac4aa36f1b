"""The registry: solvers by name, and what a solver must offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd

from ...errors import SolverError, unknown_name
from ..answer import Answer
from ..dual.backend import DualBackend
from ..dual.lbfgs import lbfgs
from ..dual.newton import newton, newton_steps
from ..monitoring.monitor import Monitor
from ..program.linear_form import LinearForm
from .cvxpy_backend import CvxpyBackend
from .own_backend import OwnBackend, adapted

__all__ = ["SOLVERS", "Backend", "as_backend", "available", "find", "register", "registered"]


class Backend(Protocol):
    """What a solver offers: its name, its capabilities, and the maximum of sum x log(w / x) over rows.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> backend = mx.solvers.find("DUAL_NEWTON")
    >>> backend.name, backend.installed, backend.takes_inequalities, backend.takes_convex
    ('DUAL_NEWTON', True, True, True)
    """

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def installed(self) -> bool:
        """Whether it can be called on this machine."""
        ...

    @property
    def trouble(self) -> str:
        """Why it cannot be used although it is installed; empty if it can."""
        ...

    @property
    def takes_inequalities(self) -> bool:
        """Whether rows may have a low side, a high side, or two that differ."""
        ...

    @property
    def takes_convex(self) -> bool:
        """Whether it takes convex constraints on the counts: as ``convex=``, or DUAL_NEWTON as problems of rows."""
        ...

    @property
    def takes_time_limit(self) -> bool:
        """Whether it stops when the time is over."""
        ...

    @property
    def takes_callback(self) -> bool:
        """Whether it tells every iteration while it runs."""
        ...

    @property
    def takes_soft_rows(self) -> bool:
        """Whether it subtracts ``form.penalties``, the costs of missing the last rows, from the objective."""
        ...

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the solver does not have, before any work."""
        ...

    def solve(
        self, form: LinearForm, start: np.ndarray | None = None, *, monitor: Monitor | None = None, **options: Any
    ) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``, from multipliers `start` if it can use them."""
        ...


#: Every solver by name, the default first. Of Clarabel's factorisations, "faer" is the most precise on these problems.
SOLVERS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        DualBackend("DUAL_NEWTON", newton, newton_steps, takes_convex=True),
        DualBackend("DUAL_LBFGS", lbfgs),
        CvxpyBackend("CLARABEL", {"direct_solve_method": "faer"}, ("time_limit",)),
        CvxpyBackend("ECOS"),
        CvxpyBackend("SCS", {}, ("time_limit_secs",)),
        CvxpyBackend("MOSEK", {}, ("mosek_params", "MSK_DPAR_OPTIMIZER_MAX_TIME")),
    )
}


def register(backend: Any) -> Any:
    """Register a solver of your own, so that it is found by its name, compared with others, and listed.

    Parameters
    ----------
    backend : object
        With a ``name`` and ``solve(form, start=None, **options)``, which returns an :class:`Answer`: of the maximum of
        sum x log(w / x) over ``form.low <= form.matrix @ x <= form.high``, x in records, the counts and the multipliers
        m, one a row, with x = w exp(A' m - 1). It may have ``installed``, ``check(options)``, which raises,
        ``takes_inequalities = False``, ``takes_convex = True`` and ``takes_soft_rows = True``; where ``solve`` has a
        parameter ``monitor``, it tells that every iteration, and ends if
        ``monitor.tell({"iteration": 0, "residual": 0.1})`` is True. Every answer is certified.

    Returns
    -------
    object
        The backend, so that an instance can be registered where it is made.

    Raises
    ------
    SolverError
        If it is not such an object, or if another solver has its name.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> newton = mx.solvers.find("DUAL_NEWTON")
    >>> class Careful:
    ...     name = "CAREFUL"
    ...     def solve(self, form, start=None):
    ...         return newton.solve(form, start, tolerance=1e-12)
    >>> careful = mx.solvers.register(Careful())
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve("CAREFUL").solver
    'CAREFUL'
    >>> del mx.solvers.SOLVERS["CAREFUL"]                         # unregister it again
    """
    found = adapted(backend)
    existing = SOLVERS.get(found.name)
    if existing is not None and getattr(existing, "own", None) is not backend:
        raise SolverError(f"there is a solver {found.name!r} already; give yours another name")
    SOLVERS[found.name] = found
    return backend


def find(name: str | object) -> Backend:
    """Look a solver up by its name; "auto" is the default solver. A backend object is taken as it is.

    Parameters
    ----------
    name : str or object
        As :func:`available` lists it, or "auto"; or a backend as :func:`register` takes it.

    Returns
    -------
    Backend
        With ``name``, ``installed``, ``check(options)`` and ``solve(form, start, **options)``.

    Raises
    ------
    UnknownName
        If there is no such solver.
    SolverError
        If it is not installed, or if what is given is neither a name nor a solver.

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
    if isinstance(name, str):
        entry = next(iter(SOLVERS.values())) if name == "auto" else SOLVERS.get(name) or _of_cvxpy(name)
        if entry is None:
            raise unknown_name("solver", name, ["auto", *SOLVERS])
        name = entry
    found = as_backend(name)
    if not found.installed:
        raise SolverError(
            f"solver {found.name} is not installed; install it, or choose one of "
            f"{[backend.name for backend in registered() if backend.installed]}"
        )
    return found


def registered() -> list[Backend]:
    """Every registered solver, the default first."""
    return [as_backend(backend) for backend in SOLVERS.values()]


def as_backend(backend: object) -> Backend:
    """A backend as it is, or an adapter of an object from outside the package."""
    return backend if isinstance(backend, DualBackend | CvxpyBackend | OwnBackend) else adapted(backend)


def _of_cvxpy(name: str) -> Backend | None:
    """A solver that is not registered, but that CVXPY knows and that takes exponential cones."""
    from cvxpy.constraints import ExpCone
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

    known = SOLVER_MAP_CONIC.get(name)
    return CvxpyBackend(name) if known is not None and ExpCone in known.SUPPORTED_CONSTRAINTS else None


def _installed_with_cvxpy() -> list[Backend]:
    """Solvers that are not registered, but that CVXPY finds installed."""
    import cvxpy as cp

    others = [_of_cvxpy(name) for name in cp.installed_solvers() if name not in SOLVERS]
    return [backend for backend in others if backend is not None]


def available() -> pd.DataFrame:
    """Every solver by name, whether it is installed, and if it is installed but cannot be used, why.

    Returns
    -------
    DataFrame
        Indexed by `solver`, the default first: `installed`, True or False; `note`, empty for a solver that can be used.
        Other solvers that CVXPY knows and that take exponential cones are listed if they are installed.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> print(mx.solvers.available().loc[["DUAL_NEWTON", "DUAL_LBFGS", "CLARABEL"], "installed"].to_list())
    [True, True, True]
    """
    rows = []
    for backend in [*registered(), *_installed_with_cvxpy()]:
        trouble = backend.trouble if backend.installed else ""
        rows.append((backend.name, backend.installed, f"installed, but not usable: {trouble}" if trouble else ""))
    return pd.DataFrame(rows, columns=["solver", "installed", "note"]).set_index("solver")
