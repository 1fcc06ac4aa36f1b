"""What an explanation needs to see of a posterior, and of the model that it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...errors import StatementError
from ...terms.space import Space
from ..adversary import Adversary

__all__ = ["Solved", "model_of", "solved_without"]


class Solved(Protocol):
    """An answer, as :class:`~maxent_cvx.Posterior` is one."""

    @property
    def space(self) -> Space:
        """The terms."""
        ...

    @property
    def counts(self) -> np.ndarray:
        """N P(q, s, b), records, one a term."""
        ...

    @property
    def multipliers(self) -> Mapping[str, np.ndarray]:
        """By label of rows, one a row."""
        ...

    @property
    def model(self) -> Adversary | None:
        """The model as it was when it was solved; None of an answer that was loaded from a file without `verify`."""
        ...


@runtime_checkable
class Solvable(Protocol):
    """A model that can be solved, as :class:`~maxent_cvx.MaxEnt`, which imports explanations, is one."""

    def solve(self, *, warm_start: Any, time_limit: float) -> Any:
        """Find the maximum-entropy distribution in some seconds, beginning with the multipliers of another one."""
        ...


def model_of(post: Solved) -> Adversary:
    """Give the model of a posterior.

    Raises
    ------
    StatementError
        If the posterior was loaded from a file without `verify`.
    """
    if post.model is None:
        raise StatementError(
            "the posterior was loaded from a file without its model; load it with load_posterior(path, verify=True), "
            "or solve again"
        )
    return post.model


def solved_without(post: Solved, row: int, time_limit: float) -> Any:
    """Solve the model of a posterior again without one row of its knowledge, by its number in the form."""
    model = model_of(post).without_row(row)
    assert isinstance(model, Solvable)
    return model.solve(warm_start=post, time_limit=time_limit)
