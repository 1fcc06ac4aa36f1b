"""Soft knowledge: rows that can be missed at a cost, which is subtracted from the entropy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, short_repr
from ..terms.rows import Penalty, Rows
from ..terms.space import Space
from .base import Source, as_list, as_source
from .parser import read_statement
from .statements import ParametricStatement, Statement


class SoftSource(Source):
    """``sum of penalties(violation of each row)``, subtracted from N H(p): a source whose rows may be violated.

    Made by :func:`maxent_cvx.soft`.

    Attributes
    ----------
    original : Source
        The source of the rows.
    penalty : Penalty
        The cost of violating a row.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.soft(mx.StrongestAssociations(mx.datasets.load_hospital(), 5, 5), sd=0.05)
    <SoftSource: Top-(5, 5) strongest associations, softly (sd 0.05)>
    """

    def __init__(self, original: Source, penalty: Penalty) -> None:
        self.original, self.penalty = original, penalty

    @property
    def label(self) -> str:
        """The label of the original, and the cost."""
        return f"{self.original.label}, softly ({self.penalty})"

    def rows(self, space: Space) -> Iterator[Any]:
        """Emit the rows of the original, soft."""
        for knowledge in as_list(self.original.rows(space), self.original.label):
            if isinstance(knowledge, ParametricStatement):
                yield knowledge.softened(self.penalty)  # and not its rows, which are read again at other values
            elif isinstance(knowledge, Source):
                yield from SoftSource(knowledge, self.penalty).rows(space)
            elif isinstance(knowledge, Rows):
                yield softened(knowledge, self.penalty, f"{knowledge.label}, softly")
            else:
                raise StatementError(
                    f"{self.original.label!r} emits a CVXPY constraint, {short_repr(knowledge)}; of what is soft write rows, "
                    "space.marginal(...) == values for example"
                )


def soft(said: Any, *, sd: Any = None, weight: Any = None, delta: Any = None) -> Any:
    """``- sum r^2 / (2 sd^2)`` or ``- sum weight abs(r)`` in the objective, with r the violation of each row.

    The answer maximises N H(p) minus these costs, in nats. Inequalities cost something only on their wrong side. Soft
    statements never contradict each other and never make anything impossible; ``post.penalties`` shows which are
    violated.

    Parameters
    ----------
    said : Statement, str, Rows, Source or function of the space
        The knowledge: a comparison of probabilities or blocks, or any source.
    sd : float, optional
        Standard deviation, in the unit of the values. The cost is minus the log-likelihood of Gaussian noise.
    weight : float, optional
        Nats per unit of the values. The cost is minus the log-likelihood of Laplace noise of scale 1 / weight; a row is
        satisfied exactly if the weight is at least its shadow price, N times that of ``post.prices()``.
    delta : float, optional
        With `sd`, in the same unit: the abs(r) beyond which the cost is linear, so that an outlier costs less (half of
        ``cvxpy.huber``).
        For rows, `sd`, `weight` and `delta` may be Series with the index of the rows.

    Returns
    -------
    Statement, Rows or Source
        For ``model.add``.

    Raises
    ------
    StatementError
        If not exactly one of `sd` and `weight` is given, or `said` is soft already, or is not knowledge.
    BadProbability
        If a cost is not above 0.

    Notes
    -----
    N H(p) is, up to Stirling's formula, the logarithm of the number of tables with the frequencies p. With Gaussian or
    Laplace costs the answer is therefore the maximum a posteriori table. As all costs grow together, it tends to the
    table of largest entropy among those of least cost.

    Examples
    --------
    Two reports disagree about the men, and one of them is twice as reliable:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> flu = mx.P("Flu", given={"Gender": "male"})
    >>> model = mx.MaxEnt(release).add(flu.softly(0.2, sd=0.02), flu.softly(0.4, sd=0.04))
    >>> post = model.solve()
    >>> round(post.prob("Flu", given={"Gender": "male"}), 3)
    0.242
    >>> post.penalties.round(2).to_dict()
    {'P(Flu | Gender=male) ~ 0.2 +- 0.02': 2.24, 'P(Flu | Gender=male) ~ 0.4 +- 0.04': 7.77}
    """
    if isinstance(said, str):
        said = read_statement(said)
    if isinstance(said, Rows):
        costs = [aligned(cost, said) if isinstance(cost, pd.Series) else cost for cost in (sd, weight, delta)]
        return softened(said, Penalty(*costs), said.label)
    penalty = Penalty(sd, weight, delta)
    if isinstance(said, Statement):
        if said.penalty is not None:
            raise StatementError(f"{said} is soft already; state its cost once")
        if math.isinf(said.low) and math.isinf(said.high):
            raise StatementError(f"{said} cannot be missed, and costs nothing: give it a finite side")
        _require_one_cost(said, sd, weight, delta)
        return replace(said, penalty=penalty)
    if isinstance(said, ParametricStatement):
        _require_one_cost(said, sd, weight, delta)
        return said.softened(penalty)
    return SoftSource(as_source(said), penalty)


def _require_one_cost(statement: object, *costs: object) -> None:
    """Refuse a cost for each of many rows, of a single statement."""
    if any(isinstance(cost, np.ndarray) for cost in costs):
        raise StatementError(f"{statement} is one statement, and has one cost, not an array")


def softened(rows: Rows, penalty: Penalty, label: str) -> Rows:
    """Rows that can be missed at a cost."""
    if rows.penalty is not None:
        raise StatementError(f"the rows of {rows.label} are soft already; state their cost once")
    return replace(rows, penalty=penalty, label=label)


def aligned(cost: pd.Series, rows: Rows) -> Any:
    """A cost a row, by label."""
    if rows.index is None or not cost.index.is_unique or not rows.index.isin(cost.index).all():
        raise StatementError(
            f"costs of {rows.label} must be a number, or a Series with the index of its rows, each once"
        )
    return cost.reindex(rows.index).to_numpy(dtype=float)
