"""What a solve returns: an answer with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

from ...display import Shown
from ..answer import Answer
from ..certificate.certificate import Certificate

__all__ = ["Solution"]


@dataclass(frozen=True, eq=False)
class Solution(Shown):
    """The answer to a problem, with its certificate and the name of the solver.

    Attributes
    ----------
    answer : Answer
        Counts of all terms, records, and multipliers of all rows.
    certificate : Certificate
        A bound on the error of every P(s | q).
    solver : str
        The solver's name.

    Examples
    --------
    >>> from maxent_cvx.solvers.solving.solve import solve
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
    >>> solve(model.posed, mx.solvers.find("auto")).solver
    'DUAL_NEWTON'
    """

    answer: Answer
    certificate: Certificate
    solver: str

    def __repr__(self) -> str:
        return f"<Solution: {self.answer.status} by {self.solver}; {self.certificate}>"
