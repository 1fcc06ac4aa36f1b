"""One problem of the depot: what is published, what is known, and the exact answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..._utils.errors import StatementError
from ..._utils.formatting import ReprMixin
from ..._utils.validation import check_instance
from ...model.maxent import MaxEnt
from ...priors import QIDistribution
from ...releases.base import View
from ...solvers.backends import find as find_backend
from ...sources.statements import Statement
from ...terms.space import Space
from .published import Buckets, Table, members, publish

__all__ = [
    "Problem",
    "into",
]


@dataclass(frozen=True, eq=False)
class Problem(ReprMixin):
    """What is published, what is known about it, and the maximum-entropy answer as a formula gives it.

    Attributes
    ----------
    name : str
        By which :func:`find` finds it.
    origin : str
        What it is, and where its answer comes from: a formula, a symmetry, or a paper's example with its section.
    buckets : sequence of (str, str)
        QI tuples and sensitive values of each bucket, "q1*3 q2" being q1 three times and q2 once.
    knowledge : sequence of Statement or function
        What is added to the model; a function of the space makes a convex constraint.
    joint : sequence of tables, or None
        N P(q, s, b) in records, a table a bucket, a row a q and a column an s in order of name. None: the knowledge is
        contradictory.
    dual : sequence of float, or None
        The multipliers m of the statements' rows, each scaled so that its largest coefficient on the counts is 1, where
        x = w exp(A' m - 1). None: there is none (a forced zero), or more than one.
    view : function
        From the buckets to what is published of them; by default a release.
    prior : function, optional
        Gives what is believed beforehand.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> problem = mx.testing.problems.find("one equation")
    >>> print(problem.origin.splitlines()[0])
    P(s1 | q1) = 0.4 of 4 people is x = 1.6, and the rest follows from the margins.
    >>> post = problem.model().solve()
    >>> bool(abs(post.counts - problem.expected(post.space)).max() < 1e-9)
    True
    """

    buckets: Buckets
    knowledge: Sequence[Statement | Callable[[Space], object]]
    joint: Sequence[Table] | None
    dual: Sequence[float] | None = None
    name: str = ""
    origin: str = ""
    view: Callable[[Buckets], View] = field(default_factory=lambda: publish)
    prior: Callable[[], QIDistribution] | None = None

    def model(self) -> MaxEnt:
        """Make the model, a new one each time.

        Returns
        -------
        MaxEnt

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> mx.testing.problems.find("one equation").model()
        <MaxEnt: 4 terms, 5 rows from 2 sources>
        """
        prior = None if self.prior is None else self.prior()
        return MaxEnt(self.view(self.buckets), prior=prior).add(*self.knowledge)

    @property
    def feasible(self) -> bool:
        """Whether there is an answer; if not, a solve must end in :exc:`maxent_cvx.Infeasible`."""
        return self.joint is not None

    @property
    def interior(self) -> bool:
        """Whether there is an answer and no term of it is zero, so that all multipliers are finite."""
        return self.joint is not None and min(min(map(min, table)) for table in self.joint) > 0

    @property
    def needs_inequalities(self) -> bool:
        """Whether a backend must take inequalities (``takes_inequalities``)."""
        return any(isinstance(known, Statement) and known.low != known.high for known in self.knowledge)

    @property
    def needs_soft_rows(self) -> bool:
        """Whether a backend must subtract the costs of soft rows (``takes_soft_rows``)."""
        return any(isinstance(known, Statement) and known.penalty is not None for known in self.knowledge)

    @property
    def needs_convex(self) -> bool:
        """Whether a backend must take convex constraints (``takes_convex``)."""
        return any(not isinstance(known, Statement) for known in self.knowledge)

    def suits(self, backend: str | object) -> bool:
        """Whether a backend says that it takes such a problem.

        Parameters
        ----------
        backend : str or object
            A solver's name, or one of your own; see :func:`maxent_cvx.solvers.register`.

        Returns
        -------
        bool

        Raises
        ------
        UnknownName, SolverError
            If there is no such solver.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> problem = mx.testing.problems.find("within a parabola")
        >>> problem.suits("DUAL_LBFGS"), problem.suits("CLARABEL")
        (False, True)
        """
        found = find_backend(backend)
        takes_rows = found.takes_inequalities or not self.needs_inequalities
        takes_rows &= found.takes_soft_rows or not self.needs_soft_rows
        return takes_rows and (found.takes_convex or not self.needs_convex)

    def expected(self, space: Space) -> np.ndarray:
        """Give the exact answer.

        Parameters
        ----------
        space : Space
            Of the problem's model.

        Returns
        -------
        ndarray
            x = N P(q, s, b) in records, one a term of the space, found by its labels.

        Raises
        ------
        StatementError
            If `space` is no Space, or the knowledge is contradictory, so that there is no answer.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> problem = mx.testing.problems.find("one equation")
        >>> problem.expected(problem.model().space)
        array([1.6, 2.4, 1.4, 0.6])
        """
        check_instance(space, Space, "space")
        if self.joint is None:
            raise StatementError(f"the knowledge of {self.name!r} is contradictory: there is no answer to expect")
        people: dict[tuple[object, ...], float] = {}
        for b, ((qs, ss), table) in enumerate(zip(self.buckets, self.joint, strict=True), start=1):
            for q, row in zip(sorted(set(members(qs))), table, strict=True):
                people |= {(q, s, b): count for s, count in zip(sorted(set(members(ss))), row, strict=True)}
        if space.index.nlevels == 2:  # a table without buckets
            people = {term[:2]: count for term, count in people.items()}
        return np.array([people[term] for term in space.index], dtype=float)

    def __repr__(self) -> str:
        return f"<Problem {self.name!r}>"


def into(problems: list[Problem]) -> Callable[[Callable[[], Problem]], Callable[[], Problem]]:
    """Make a decorator that puts what a function returns among problems, with its name and its docstring."""

    def known(make: Callable[[], Problem]) -> Callable[[], Problem]:
        name, origin = make.__name__.replace("_", " "), inspect.getdoc(make) or ""
        problems.append(replace(make(), name=name, origin=origin))
        return make

    return known
