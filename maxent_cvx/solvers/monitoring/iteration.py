"""What a callback is told of an iteration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Iteration", "iteration_of"]


@dataclass(frozen=True)
class Iteration:
    """One iteration of a solver, as ``model.solve(callback=...)`` is told of it; a row of ``Posterior.log`` says more.

    Attributes
    ----------
    iteration : int
        From 0, the starting point.
    residual : float
        The largest violation of a row, records.
    gap : float
        The complementarity gap of the inequalities, records; NaN if the solver does not tell.
    dual : float
        The dual function, nats of all records: above the optimum, N H, wherever the rows can hold.
    seconds : float
        Since the solve began.
    part : int or None
        The number of the independent part of the problem that is solved, from 1, if they are solved one after another;
        None if this is one iteration of all parts together.
    parts : int
        How many parts are not solved yet.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4")
    >>> told = []
    >>> post = model.solve(callback=told.append)
    >>> [one.iteration for one in told] == list(range(post.iterations + 1)), told[-1].residual < 1e-6
    (True, True)
    """

    iteration: int
    residual: float
    gap: float
    dual: float
    seconds: float
    part: int | None = None
    parts: int = 1


def iteration_of(line: Mapping[str, Any]) -> Iteration:
    """Read an iteration from a line of the log."""
    numbers = {name: float(line.get(name, math.nan)) for name in ("residual", "gap", "dual", "seconds")}
    return Iteration(int(line["iteration"]), **numbers, part=line.get("part"), parts=int(line.get("parts", 1)))
