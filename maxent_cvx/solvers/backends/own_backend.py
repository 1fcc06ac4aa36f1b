"""The adapter for solvers from outside the package: an object with a name and a ``solve``; the rest has defaults."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...display import Shown
from ...errors import SolverError, arguments, shown, unknown_name, whole
from ..answer import Answer, Status
from ..monitoring.monitor import Monitor
from ..program.linear_form import LinearForm

__all__ = ["OwnBackend", "adapted"]


@dataclass(frozen=True, eq=False)
class OwnBackend(Shown):
    """An object with ``name`` and ``solve(form, start=None, **options)``, which returns an ``Answer``.

    Attributes
    ----------
    own : object
        It may have ``installed`` (by default True), ``trouble``, the reason why it cannot be used (""),
        ``check(options)``, ``takes_inequalities`` (True), ``takes_convex`` (False) and ``takes_soft_rows`` (False).
        Where its ``solve`` has a parameter ``monitor``, it tells that every iteration,
        ``monitor.tell({"iteration": 0, "residual": ...})``, and ends if the answer is True: the time is over, or a
        callback says so.
    """

    own: Any

    def __repr__(self) -> str:
        return f"<OwnBackend: {self.name}>"

    @property
    def name(self) -> str:
        """What users call it."""
        return str(self.own.name)

    @property
    def installed(self) -> bool:
        """Whether it can be called on this machine."""
        return bool(getattr(self.own, "installed", True))

    @property
    def trouble(self) -> str:
        """Why it cannot be used although it is installed; empty if it can."""
        return str(getattr(self.own, "trouble", ""))

    @property
    def takes_inequalities(self) -> bool:
        """Whether rows may have a low side, a high side, or two that differ."""
        return bool(getattr(self.own, "takes_inequalities", True))

    @property
    def takes_convex(self) -> bool:
        """Whether ``solve`` has an argument ``convex``, CVXPY constraints on the counts."""
        return bool(getattr(self.own, "takes_convex", False))

    @property
    def takes_time_limit(self) -> bool:
        """Whether ``solve`` has a parameter ``monitor``, which keeps the time."""
        return "monitor" in inspect.signature(self.own.solve).parameters

    @property
    def takes_callback(self) -> bool:
        """Whether ``solve`` has a parameter ``monitor``, which it tells every iteration."""
        return self.takes_time_limit

    @property
    def takes_soft_rows(self) -> bool:
        """Whether ``solve`` subtracts the costs ``form.penalties`` of missing the last rows from the objective."""
        return bool(getattr(self.own, "takes_soft_rows", False))

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the solver refuses or, if it has no ``check``, for which ``solve`` has no parameter."""
        if callable(check := getattr(self.own, "check", None)):
            check(options)
            return
        parameters = list(inspect.signature(self.own.solve).parameters.values())
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return
        names = [p.name for p in parameters[2:] if p.name != "monitor"]
        if unknown := set(options) - set(names):
            raise unknown_name(f"option of {self.name}", min(map(str, unknown)), names)

    def solve(
        self, form: LinearForm, start: np.ndarray | None = None, *, monitor: Monitor | None = None, **options: Any
    ) -> Answer:
        """Call the solver, and check that it returns an answer with the shapes of this problem."""
        if self.takes_time_limit:
            options["monitor"] = monitor or Monitor()
        answer = self.own.solve(form, start, **options)
        if not isinstance(answer, Answer):
            raise SolverError(
                f"{self.name}.solve must return a maxent_cvx.solvers.Answer, not {shown(answer)}: "
                "Answer(status, counts, multipliers)"
            )
        if answer.status not in list(Status):
            raise SolverError(f"{self.name} answered with status {shown(answer.status)}; expected one of {[*Status]}")
        whole(answer.iterations, f"iterations of the answer of {self.name}", 0, error=SolverError)
        for name in ("compile_seconds", "solve_seconds"):
            arguments.seconds(getattr(answer, name), f"{name} of the answer of {self.name}")
        if answer.counts is None or answer.multipliers is None:
            return answer
        rows, terms = form.shape
        for name, found, size in (("counts", answer.counts, terms), ("multipliers", answer.multipliers, rows)):
            if not isinstance(found, np.ndarray) or found.shape != (size,) or found.dtype.kind != "f":
                raise SolverError(
                    f"{self.name} answered with {name} {shown(found)}; an array of {size} floats is expected"
                )
            if not np.isfinite(found).all():
                message = f"{answer.message or answer.status}, with {name} that are no numbers"
                return Answer(Status.FAILED, None, None, answer.iterations, 0.0, 0.0, message)
        return answer


def adapted(backend: object) -> OwnBackend:
    """Adapt an object to the protocol of a backend.

    Raises
    ------
    SolverError
        If it has no text as its name, or no ``solve``.
    """
    name = getattr(backend, "name", None)
    if isinstance(backend, type) or not isinstance(name, str) or not name.strip() or name == "auto":
        raise SolverError(
            f"a solver is chosen by name, or is an object with a name and solve(form, start=None, **options); "
            f"{shown(backend)} has no such name"
        )
    if not callable(getattr(backend, "solve", None)):
        raise SolverError(f"solver {name!r} has no solve(form, start=None, **options), which returns an Answer")
    return OwnBackend(backend)
