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
    """What is published, what is known about it, and the maximum-entropy answer as a formula gives it."""

    buckets: Buckets
    knowledge: Sequence[Statement | Callable[[Space], object]]
    joint: Sequence[Table] | None
    dual: Sequence[float] | None = None
    name: str = ""
    origin: str = ""
    view: Callable[[Buckets], View] = field(default_factory=lambda: publish)
    prior: Callable[[], QIDistribution] | None = None

    def model(self) -> MaxEnt:
        """Make the model, a new one each time."""
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
        """Whether a backend says that it takes such a problem."""
        found = find_backend(backend)
        takes_rows = found.takes_inequalities or not self.needs_inequalities
        takes_rows &= found.takes_soft_rows or not self.needs_soft_rows
        return takes_rows and (found.takes_convex or not self.needs_convex)

    def expected(self, space: Space) -> np.ndarray:
        """Give the exact answer."""
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
