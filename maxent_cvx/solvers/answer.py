"""Answer and Status: the result of a solver, and the reason why it stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.errors import pluralize
from .._utils.formatting import ReprMixin


class Status(StrEnum):
    """Reason why a solver stopped.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> [status.value for status in mx.solvers.Status]
    ['optimal', 'inaccurate', 'infeasible', 'limit', 'failed']
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> mx.MaxEnt(release).solve().status == "optimal"                # a Status is a str
    True
    """

    OPTIMAL = "optimal"
    """The solver met its own tolerances; the certificate bounds the error of the answer."""
    INACCURATE = "inaccurate"
    """The solver reports that its answer is near the optimum but does not meet its tolerances."""
    INFEASIBLE = "infeasible"
    """The solver reports that no distribution satisfies the rows."""
    LIMIT = "limit"
    """The limit on iterations or time was reached."""
    FAILED = "failed"
    """Numerical trouble, or an unknown status of another solver."""


class ConvexMultipliers(NamedTuple):
    """The multipliers t >= 0 of ``expression <= 0`` at an answer, and the subgradients G to which they belong.

    With them x = w exp(A' m - G' t - 1). If a sum of costs must be 0, t is infinite, or NaN if it was not determined
    (as for a norm), and G contains the rows of all its costs.
    """

    values: np.ndarray  # one per entry of the expression, nats of all records per unit of the expression
    subgradients: sp.csr_array  # shape (entries, terms): units of the expression per record


@dataclass(frozen=True, eq=False)
class Answer(ReprMixin):
    """The result of a backend.

    Attributes
    ----------
    status : Status
        Why the solver stopped; "optimal" if it met its own tolerances.
    counts : ndarray or None
        x = N p, records, one float per term; None if there is no answer.
    multipliers : ndarray or None
        One float per row, such that x = w exp(matrix' multipliers - 1): positive where an inequality is active at its
        low side, negative where it is active at its high side. If a user-defined solver returns None, they are fitted
        to the counts.
    iterations : int
    compile_seconds, solve_seconds : float
        Seconds for passing the problem to the solver, and in the solver.
    message : str
        The message of the solver.
    proofs : sequence of ndarray
        Recession directions of the dual, one number per row, that prove some terms to be zero in every solution, given
        the zeros proved by earlier directions.
    log : sequence of dict
        One dictionary per iteration, if the solver keeps a log.
    tolerance : float
        The first of the solver's tolerances; NaN if none was set.
    convex : dict of str to ConvexMultipliers
        The multipliers of each convex constraint, by its name.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> form = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).form
    >>> answer = mx.solvers.find("DUAL_NEWTON").solve(form)
    >>> answer.status.value, answer.counts.sum().round(6).item(), answer.counts.shape, answer.multipliers.shape
    ('optimal', 10.0, (18,), (16,))
    """

    status: Status
    counts: np.ndarray | None
    multipliers: np.ndarray | None
    iterations: int = 0
    compile_seconds: float = 0.0
    solve_seconds: float = 0.0
    message: str = ""
    proofs: Sequence[np.ndarray] = ()
    log: Sequence[Mapping[str, Any]] = ()
    tolerance: float = math.nan
    convex: Mapping[str, ConvexMultipliers] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = "no counts" if self.counts is None else f"{pluralize(len(self.counts), 'count')}"
        rows = "no multipliers" if self.multipliers is None else pluralize(len(self.multipliers), "multiplier")
        message = f"; {self.message}" if self.message else ""
        return f"<Answer: {self.status} after {pluralize(self.iterations, 'iteration')}; {sizes}, {rows}{message}>"


def point_of(answer: Answer) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and the multipliers of an answer that has both."""
    assert answer.counts is not None
    assert answer.multipliers is not None
    return answer.counts, answer.multipliers
