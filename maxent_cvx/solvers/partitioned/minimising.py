"""Presolve and Newton's method over partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..answer import Status
from ..dual.newton import descent
from ..monitoring.monitor import Monitor
from ..parameters.dual_methods import NEWTON, PARTITIONED
from ..parameters.tolerances import FEASIBILITY
from ..presolve.required import require_feasible
from ..program.linear_form import LinearForm
from .executing import Executor
from .partial_dual import PartialDual, PartialPoint
from .propagation import propagated
from .reduction import ReducedPart, largest_of, largest_open, reduced
from .schur_systems import PartitionedSystems, added
from .zero_search import Whole, recession_direction, require_consistent

__all__ = ["Minimum", "minimum", "presolved"]


class Minimum(NamedTuple):
    """Where Newton's method ended.

    Attributes
    ----------
    status : Status
    point : PartialPoint
    iterations : int
    systems : PartitionedSystems
        With the Schur complement that was formed last.
    log : list of dict
        A line an iteration.
    """

    status: Status
    point: PartialPoint
    iterations: int
    systems: PartitionedSystems
    log: list[dict[str, Any]]

    @property
    def parts(self) -> Sequence[Any]:
        """Handles of what is left of the partitions, without terms that were proved zero."""
        return self.systems.dual.parts


def presolved(
    parts: Sequence[Any], shared: LinearForm, n_records: float, executor: Executor
) -> tuple[list[Any], LinearForm]:
    """Handles of what is left of every partition, and the rows of knowledge less what is known already.

    Raises
    ------
    Infeasible
        If some row cannot hold.
    """
    if shared.n_hard:
        soft = np.arange(shared.shape[0]) >= shared.n_hard
        hard = replace(
            shared, low=np.where(soft, -np.inf, shared.low), high=np.where(soft, np.inf, shared.high), penalties=None
        )
        bounds: Sequence[Any] = propagated(parts, hard, n_records, executor)
        largest = executor.reduce(largest_of, executor.map(largest_open, parts, bounds))
        left = executor.map(reduced, parts, bounds, common=(largest,))
    else:
        left = executor.map(reduced, parts, common=(None, None))
    known, open_ = executor.reduce(added, executor.map(determined, parts, left))
    feasible = (open_ > 0) | (
        np.maximum(shared.low - known, known - shared.high) <= FEASIBILITY.multiple * shared.tolerance
    )
    feasible[shared.n_hard :] = True
    require_feasible(shared, feasible, known, known)
    return left, replace(shared, low=shared.low - known, high=shared.high - known)


def determined(part: Any, left: ReducedPart) -> np.ndarray:
    """What the terms that are left out contribute to every row of knowledge, and how many terms of each are left."""
    known = part.form.known
    terms = np.zeros(part.form.shape[1])
    terms[left.terms] = 1.0
    return np.stack([known.matvec(left.counts), known.pattern @ known.collect(terms)])


def minimum(
    whole: Whole,
    parts: Sequence[Any],
    shared: LinearForm,
    start: np.ndarray,
    executor: Executor,
    monitor: Monitor,
    before: Minimum | None = None,
    **options: Any,
) -> Minimum:
    """Minimise the partial dual by Newton's method.

    Parameters
    ----------
    whole : Whole
        The problem before presolve.
    parts : sequence of handles of ReducedPart
    shared : LinearForm
        The rows of knowledge, as :func:`presolved` gives them.
    start : ndarray, one a row of knowledge
    executor : Executor
    monitor : Monitor
    before : Minimum, optional
        Where to go on from.
    **options
        `tolerance` and `max_iterations`, as of :func:`..dual.newton.newton`; a tolerance of 0 is not raised.
    """
    tolerance = float(options.get("tolerance", 1e-9))
    if tolerance:  # at 0, the number of iterations is limited
        tolerance = max(tolerance, NEWTON.rounding * float(np.abs(shared.low[shared.is_equation]).max(initial=0.0)))
    states = None if before is None else before.point.states
    dual = PartialDual(shared, whole.parts, parts, executor, states, PARTITIONED.tolerance if tolerance else 0.0)
    systems = PartitionedSystems(dual)
    if before is not None:
        systems.schur = before.systems.schur
    steps = descent(
        dual, systems, shared.project_to_dual_cone(start), tolerance, int(options.get("max_iterations", 200)),
        partial(recession_direction, whole), NEWTON.loosest if tolerance else NEWTON.tightest,
    )  # fmt: skip
    log: list[dict[str, Any]] = []
    stop, fallen = None, 1.0
    while True:
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                line = steps.send(stop)  # type: ignore[arg-type]
        except StopIteration as end:
            status, iterations, point = end.value
            return Minimum(status, point, iterations, systems, log)
        log.append({"iteration": len(log), **line, "seconds": monitor.seconds})
        stop = monitor.tell(log[-1])
        # Where no counts satisfy the rows the function falls without end; each time by twice as much, that is tried.
        if log[0]["dual"] - log[-1]["dual"] > fallen * max(abs(log[0]["dual"]), 1.0) and dual.lowest is not None:
            require_consistent(whole, dual.parts, dual.lowest, executor)
            fallen *= 2
