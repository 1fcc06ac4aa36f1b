"""One solve over partitions: presolve, Newton's method on the knowledge, and the certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..answer import Status
from ..certificate.certificate import Certificate
from ..linear_algebra.single_thread import single_thread
from ..monitoring.monitor import Monitor
from ..parameters.dual_methods import PARTITIONED
from ..program.linear_form import LinearForm
from .certificate import certified
from .executing import Executor, SingleThreaded
from .minimising import Minimum, determined, minimum, presolved
from .projection import restored
from .schur_systems import added
from .zero_search import Whole, require_consistent

__all__ = ["PartitionedSolution", "solve_partitioned"]


@dataclass(frozen=True, eq=False)
class PartitionedSolution:
    """An answer that stays in its partitions.

    Attributes
    ----------
    points : sequence of handles of PointPart
        Counts of all terms, records, and multipliers of all published rows.
    multipliers : ndarray, one a row of knowledge
    certificate : Certificate
    status : Status
    iterations : int
    log : list of dict
        A line an iteration.
    """

    points: Sequence[Any]
    multipliers: np.ndarray
    certificate: Certificate
    status: Status
    iterations: int
    log: list[dict[str, Any]]


@single_thread
def solve_partitioned(
    parts: Sequence[Any],
    shared: LinearForm,
    n_records: float,
    executor: Executor,
    *,
    start: np.ndarray | None = None,
    monitor: Monitor | None = None,
    **options: Any,
) -> PartitionedSolution:
    """Maximise sum x log(w / x), less the costs of soft rows, over the rows of all partitions, and certify the answer.

    Parameters
    ----------
    parts : sequence of handles of Part
    shared : LinearForm
        The rows of knowledge over no terms: their sides, their names, and the costs of soft ones.
    n_records : float
        N.
    executor : Executor
    start : ndarray, one a row of knowledge, optional
        Multipliers to start from.
    monitor : Monitor, optional
    **options
        `tolerance` and `max_iterations`, as of :func:`..dual.newton.newton`.

    Raises
    ------
    Infeasible
        If rows contradict each other.
    """
    monitor, executor = monitor or Monitor(), SingleThreaded(executor)
    left, rest = presolved(parts, shared, n_records, executor)
    monitor.say(f"{shared.shape[0]:,} rows of knowledge over {len(left):,} partitions, {monitor.seconds:.2f} seconds")
    first = np.zeros(shared.shape[0]) if start is None else start
    whole = Whole(parts, shared)
    found = _with_settled(whole, minimum(whole, left, rest, first, executor, monitor, **options), executor)
    certificate = certified(whole, found)
    if certificate.bound > PARTITIONED.precise and found.status is Status.OPTIMAL and "tolerance" not in options:
        monitor.say("going on at full precision")
        more = {**options, "tolerance": 0.0, "max_iterations": PARTITIONED.more_iterations}
        further = minimum(whole, found.parts, rest, found.point.m, executor, monitor, found, **more)
        further = _with_settled(whole, further, executor)
        better = certified(whole, further)
        if better.bound < certificate.bound:
            log = [*found.log, *further.log]
            found = further._replace(status=found.status, iterations=found.iterations + further.iterations, log=log)
            certificate = better
    if not certificate.holds:
        lowest = found.systems.dual.lowest
        require_consistent(whole, found.parts, found.point if lowest is None else lowest, executor)
    monitor.say(f"{found.status} in {found.iterations} iterations, {monitor.seconds:.2f} seconds: {certificate}")
    points = executor.map(restored, parts, found.parts, found.point.states)
    return PartitionedSolution(points, found.point.m, certificate, found.status, found.iterations, found.log)


def _with_settled(whole: Whole, found: Minimum, executor: Executor) -> Minimum:
    """Set the multiplier of each soft row whose value is determined: it is the slope of its cost there."""
    shared = whole.shared
    if shared.penalties is None:
        return found
    value, open_ = executor.reduce(added, executor.map(determined, whole.parts, found.parts))
    slope = shared.penalties.multiplier(*(side[shared.n_hard :] for side in (shared.low, shared.high, value)))
    m = found.point.m.copy()
    m[shared.n_hard :] = np.where(open_[shared.n_hard :] > 0, m[shared.n_hard :], slope)
    return found._replace(point=replace(found.point, m=m))
