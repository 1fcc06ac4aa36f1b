"""Answer and Status: what a solver returns, and why it stopped."""

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
    """Why a solver stopped.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> [status.value for status in mx.solvers.Status]
    ['optimal', 'inaccurate', 'infeasible', 'limit', 'failed']
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> mx.MaxEnt(release).solve().status == "optimal"                # a status is a text, too
    True
    """

    OPTIMAL = "optimal"
    """The solver met its own tolerances; the certificate says how accurate the answer is."""
    INACCURATE = "inaccurate"
    """The solver says that its answer is near the optimum, and does not meet its tolerances."""
    INFEASIBLE = "infeasible"
    """The solver claims that no distribution satisfies the rows."""
    LIMIT = "limit"
    """Iterations or time ran out."""
    FAILED = "failed"
    """Numerical trouble, or a status of another solver that is unknown here."""


class ConvexMultipliers(NamedTuple):
    """The multipliers t >= 0 of ``expression <= 0`` at an answer, and the subgradients G that they belong to.

    With them x = w exp(A' m - G' t - 1). If a sum of costs must be 0, t is infinite, or NaN where it was not
    determined, as for a norm, and G are the rows that all of its costs are of.
    """

    values: np.ndarray  # one per entry of the expression, nats of all records per unit of the expression
    subgradients: sp.csr_array  # shape (entries, terms): units of the expression per record


@dataclass(frozen=True, eq=False)
class Answer(ReprMixin):
    """What a backend returns.

    Attributes
    ----------
    status : Status
        Why the solver stopped; "optimal" if it met its own tolerances.
    counts : ndarray or None
        x = N p, records, one float per term; None if there is no answer.
    multipliers : ndarray or None
        One float per row, such that x = w exp(matrix' multipliers - 1): positive where an inequality is active at its
        low side, negative where it is active at its high side. None if a solver of your own has none: they are then
        fitted to the counts.
    iterations : int
    compile_seconds, solve_seconds : float
        To hand the problem over, and in the solver.
    message : str
        The solver's own words.
    proofs : sequence of ndarray
        Recession directions of the dual, one number a row, that prove some terms to be zero in every solution, each
        given the zeros proved by earlier ones.
    log : sequence of dict
        One dictionary an iteration, from solvers that keep a log.
    tolerance : float
        The first of the tolerances that the solver was given; NaN if it was given none.
    convex : dict of str to ConvexMultipliers
        For each convex constraint, by its name.

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
