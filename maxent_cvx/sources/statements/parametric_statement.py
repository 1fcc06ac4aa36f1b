"""Statements whose value is a CVXPY parameter: what they say is decided whenever a model is solved."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import StatementError, shown
from ...terms.penalty import Penalty
from ...terms.rows import Rows
from ..base import Source

if TYPE_CHECKING:
    from ...terms.space import Space
    from .statement import Statement

__all__ = ["ParametricStatement", "is_parametric"]


class ParametricStatement(Source):
    """sum_k a_k P(value_k | given_k) = r, <= r, or >= r, where r is a CVXPY parameter, or made of parameters.

    Made by comparing :func:`maxent_cvx.P` with a :class:`cvxpy.Parameter`, which stands on the right.

    Attributes
    ----------
    left : Probability
    relation : str
        "=", "<=" or ">=".
    value : cvxpy.Expression
        A number that depends on parameters alone.
    penalty : Penalty, optional
        What it costs to miss it; None if it holds.
    """

    def __init__(self, left: Any, relation: str, value: Any, penalty: Penalty | None = None) -> None:
        if value.variables() or value.size != 1:
            raise StatementError(
                f"{left} {relation} {shown(value)}: a number is expected, or a CVXPY Parameter of one; rows of many "
                "are written as a function of the space"
            )
        self.left, self.relation, self.value, self.penalty = left, relation, value, penalty

    @property
    def label(self) -> str:
        """The statement's own text, with the names of the parameters."""
        softly = "" if self.penalty is None else f", softly ({self.penalty})"
        return f"{self.left} {self.relation} {self.value}{softly}"

    @property
    def identity(self) -> Hashable:
        """What it says, and of which parameters."""
        terms = frozenset(self.left.terms.items()), self.left.constant
        return terms, self.relation, str(self.value), tuple(one.id for one in self.parameters), self.penalty

    @property
    def parameters(self) -> list[Any]:
        """What the value depends on."""
        return self.value.parameters()

    def now(self) -> Statement:
        """The statement at the values that the parameters have now.

        Raises
        ------
        StatementError
            If one has none.
        BadProbability
            If the combination cannot have the value.
        """
        if (value := self.value.value) is None:
            raise StatementError(f"{self.label!r} has a CVXPY Parameter without a value; set its value first")
        if self.penalty is None:
            return self.left._state(float(value), self.relation)
        low = -math.inf if self.relation == "<=" else float(value)
        return self.left.missable(low, math.inf if self.relation == ">=" else float(value), self.penalty)

    def softened(self, penalty: Penalty) -> ParametricStatement:
        """The same, which can be missed at a cost.

        Raises
        ------
        StatementError
            If it can be already.
        """
        if self.penalty is not None:
            raise StatementError(f"{self.label} is soft already; state its cost once")
        return ParametricStatement(self.left, self.relation, self.value, penalty)

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the row of the statement as it is now."""
        for rows in self.now().rows(space):
            yield replace(rows, label=self.label)


def is_parametric(value: object) -> bool:
    """Whether something is an expression of CVXPY, which is not loaded for the question."""
    return callable(getattr(value, "is_affine", None)) and callable(getattr(value, "parameters", None))
