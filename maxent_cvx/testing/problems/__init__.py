"""A depot of small problems whose answers are known exactly, for any test and any solver.

Each is an instance of :class:`Problem`: a model, its exact answer, and where that comes from. All answers are formulas,
symmetries, or the worked examples of the papers; none was found by a solver.

>>> import maxent_cvx as mx
>>> problem = mx.testing.problems.find("twice as likely")
>>> post = problem.model().solve("CLARABEL")
>>> bool((abs(post.counts - problem.expected(post.space)) < 1e-6).all())
True

Which of them a solver takes, it says by its attributes:

>>> from maxent_cvx.testing.problems import PROBLEMS
>>> [problem.name for problem in PROBLEMS.values() if not problem.suits("DUAL_LBFGS")]
['within a parabola', 'within a wide parabola', 'beyond a parabola']
"""

from __future__ import annotations

from ..._utils.errors import unknown_name
from .boundary import BOUNDARY
from .contradictions import CONTRADICTIONS
from .convex import CONVEX
from .inequalities import INEQUALITIES
from .inside import INSIDE
from .problem import Problem
from .soft import SOFT
from .weighted import WEIGHTED

__all__ = [
    "PROBLEMS",
    "Problem",
    "find",
]


#: Every problem by its name: first those without zeros, then inequalities, priors, soft rows, zeros, contradictions.
PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for some in (INSIDE, INEQUALITIES, WEIGHTED, SOFT, BOUNDARY, CONTRADICTIONS, CONVEX)
    for problem in some
}


def find(name: str) -> Problem:
    """Look a problem up by its name."""
    if not isinstance(name, str) or name not in PROBLEMS:
        raise unknown_name("problem", name, PROBLEMS)
    return PROBLEMS[name]
