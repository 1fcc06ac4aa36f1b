"""Soft knowledge: rows that can be violated at a cost, which is subtracted from the entropy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from .._utils.errors import StatementError, short_repr
from ..releases.base import View
from ..terms.rows import Penalty, Rows
from ..terms.space import Space
from .base import Source, as_list, as_source
from .cvxpy_constraints import read_constraint
from .parser import read_statement
from .statements import ParametricStatement, Statement


class SoftSource(Source):
    """``sum of penalties(violation of each row)``, subtracted from N H(p): a source whose rows may be violated.

    Created by :func:`maxent_cvx.soft`.

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
        """The label of the original source, and the cost."""
        return f"{self.original.label}, softly ({self.penalty})"

    @property
    def _can_be_recomputed(self) -> bool:  # type: ignore[override]
        return self.original._can_be_recomputed

    def _without(self, at: int, original: pd.DataFrame, view: View) -> Source:
        return SoftSource(self.original._without(at, original, view), self.penalty)

    def rows(self, space: Space) -> Iterator[Any]:
        """Yield the rows of the original source with the cost."""
        for knowledge in as_list(self.original.rows(space), self.original.label):
            if isinstance(knowledge, ParametricStatement):
                yield knowledge.softened(self.penalty)  # not its rows, which change with the parameters
            elif isinstance(knowledge, Source):
                yield from SoftSource(knowledge, self.penalty).rows(space)
            elif isinstance(knowledge, Rows):
                yield replace(_softened(knowledge, self.penalty), label=f"{knowledge.label}, softly")
            else:
                _, rows = read_constraint(knowledge, space, self.original.label)
                if rows is None or not knowledge.expr.is_affine() or knowledge.parameters():
                    raise StatementError(
                        f"{self.original.label!r} returns a CVXPY constraint, {short_repr(knowledge)}, which cannot be "
                        "soft, because it is not affine or has parameters; return rows, for example "
                        "space.marginal(...) == values"
                    )
                yield _softened(replace(rows, label=self.label), self.penalty)


def soft(said: Any, *, sd: Any = None, weight: Any = None, delta: Any = None) -> Any:
    """``- sum r^2 / (2 sd^2)`` or ``- sum weight abs(r)`` in the objective, with r the violation of each row.

    The answer maximises N H(p) minus these costs, in nats. Inequalities have a cost only where they are violated. Soft
    statements never contradict each other and never make a model infeasible; ``post.penalties`` contains their costs.

    Parameters
    ----------
    said : Statement, str, Rows, Source or function of the space
        The knowledge: a comparison of probabilities or blocks, or any source. CVXPY constraints must be affine.
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
        If not exactly one of `sd` and `weight` is given, or `said` is soft already or is not knowledge.
    BadProbability
        If a cost is not above 0.

    Notes
    -----
    N H(p) is, up to Stirling's formula, the logarithm of the number of tables with the frequencies p. With Gaussian or
    Laplace costs, the answer is therefore the maximum a posteriori table. As all costs grow together, it tends to the
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
        costs = [_aligned(cost, said) if isinstance(cost, pd.Series) else cost for cost in (sd, weight, delta)]
        return _softened(said, Penalty(*costs))
    penalty = Penalty(sd, weight, delta)
    if isinstance(said, Statement | ParametricStatement):
        return said.softened(penalty)
    return SoftSource(as_source(said), penalty)


def _softened(rows: Rows, penalty: Penalty) -> Rows:
    """Return rows that may be violated at a cost."""
    if rows.penalty is not None:
        raise StatementError(f"the rows of {rows.label} are soft already; give their cost once")
    return replace(rows, penalty=penalty)


def _aligned(cost: pd.Series, rows: Rows) -> Any:
    """Return one cost per row, by label."""
    labels, given = rows.index, cost.index
    if labels is None or not given.is_unique or not (labels.isin(given).all() and given.isin(labels).all()):
        raise StatementError(f"costs of {rows.label} must be a number, or a Series with the index of its rows")
    return cost.reindex(rows.index).to_numpy(dtype=float)
