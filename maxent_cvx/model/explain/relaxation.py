"""Elastic relaxation of contradictory knowledge: the least total widening of rows that makes them feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
import pandas as pd

from ...display import FirstRows, as_html
from ...errors import BadProbability, Infeasible, unknown_name
from ...solvers.explain import contradiction
from ...solvers.linear import elastic_relaxation
from ...solvers.presolve.aggregation import aggregate
from ...solvers.program.linear_form import LinearForm
from ...sources import PriorZeros, Statement
from ...terms.rows import Rows
from ..adversary import Adversary
from ..emitted_rows import EmittedRows, ModifiedSource
from ..knowledge_base import KnowledgeBase

__all__ = ["Relaxation", "least_relaxation"]

#: Largest ratio of two priorities.
WIDEST = 1e6


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A model whose knowledge has been made consistent, and what that took.

    Attributes
    ----------
    model : MaxEnt
        A copy of the model in which the statements that had to move are wider. The original is as it was.
    changes : DataFrame
        A row for each of them, by the name that it had: `low` and `high` as typed, `new_low` and `new_high`, and
        the `move` from the one to the other, in the unit of its value. Empty if nothing had to move.

    Examples
    --------
    Three of six men have the flu, and somebody says that at least four do:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> relaxation = mx.MaxEnt(release).add("P(Flu | Gender=male) >= 0.6").relax()
    >>> relaxation.changes["new_low"].round(6).to_list(), list(relaxation.model.knowledge)
    ([0.5], ['P(Flu | Gender=male) >= 0.5'])
    """

    model: Adversary
    changes: pd.DataFrame

    def __repr__(self) -> str:
        return f"<Relaxation: {len(self.changes)} of {len(self.model.knowledge)} statements moved>\n{self.changes}"

    def _repr_html_(self) -> str:
        n = len(self.model.knowledge)
        return as_html(f"<Relaxation: {len(self.changes)} of {n} statements moved>", FirstRows(self.changes, "changes"))


def least_relaxation(base: KnowledgeBase, priority: Mapping[str, float]) -> tuple[KnowledgeBase, pd.DataFrame]:
    """Widen rows of knowledge by the least total amount, weighted, that makes all rows feasible.

    Parameters
    ----------
    base : KnowledgeBase
        Of linear knowledge only.
    priority : mapping of str to float
        By label the weight of one record, see :meth:`maxent_cvx.MaxEnt.relax`; what a prior rules out never moves.

    Returns
    -------
    KnowledgeBase
        With the wider rows.
    DataFrame
        The rows that moved, as `changes` of :class:`Relaxation`.

    Raises
    ------
    Infeasible
        If the rows of infinite weight are infeasible.
    """
    held, form, number = base.knowledge, base.form, base.row_numbers
    firm = {name: math.inf for name, one in held.items() if isinstance(one.source, PriorZeros)}
    weight = _weights(held, {**priority, **firm})
    is_hard = number < form.n_hard  # soft rows can be missed as they are
    lower, upper = np.zeros(len(number)), np.zeros(len(number))
    of_row = np.empty(form.n_hard - form.n_facts)
    of_row[number[is_hard] - form.n_facts] = weight[is_hard]
    try:
        for side, moved in zip((lower, upper), _moved(form.hard, of_row), strict=True):
            side[is_hard] = moved[number[is_hard] - form.n_facts]
    except Infeasible as error:
        firmly = form.hard.select_knowledge(form.n_facts + np.flatnonzero(np.isinf(of_row)))
        raise contradiction(base.posed.with_rows(firmly)) or error from None
    entries, changes = _relaxed(held, lower, upper)
    facts = {fact.label: base.emitted[fact.label] for fact in base.facts}
    return KnowledgeBase.of(base.space, base.facts, facts | entries), changes


def _weights(knowledge: Mapping[str, EmittedRows], priority: Mapping[str, float]) -> np.ndarray:
    """The weight of one record by which a row of the knowledge moves, one a row."""
    unknown = [label for label in priority if label not in knowledge]
    if unknown:
        raise unknown_name("label of the model's knowledge", unknown[0], knowledge)
    for label, value in priority.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not value > 0:
            raise BadProbability(
                f"the priority of {label!r} is {value!r}; a number above 0 is expected, inf for what must not move"
            )
    finite = [float(value) for value in (1.0, *priority.values()) if np.isfinite(value)]
    if max(finite) > WIDEST * min(finite):
        raise BadProbability(
            f"priorities from {min(finite):g} to {max(finite):g} (1 where none is given) are too far apart to be "
            f"weighed; stay within a factor of {WIDEST:g}, or give inf to what must not move"
        )
    return np.concatenate(
        [np.empty(0), *(np.full(sum(map(len, e.rows)), float(priority.get(name, 1))) for name, e in knowledge.items())]
    )


def _moved(form: LinearForm, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much each row of the knowledge must be lowered on its low side, and raised on its high side, as typed."""
    aggregation = aggregate(form)
    change = elastic_relaxation(aggregation.form, weight)
    low, high = (
        side[aggregation.row][form.n_facts :] / form.scale[form.n_facts :] for side in (change.below, change.above)
    )
    return low, high


def _relaxed(
    knowledge: Mapping[str, EmittedRows], lower: np.ndarray, upper: np.ndarray
) -> tuple[dict[str, EmittedRows], pd.DataFrame]:
    """Move rows apart, low sides down and high sides up: all knowledge by its labels, and a table of what moved."""
    entries: dict[str, EmittedRows] = {}
    tables = [pd.DataFrame(columns=["low", "high", "new_low", "new_high", "move"], dtype=float)]
    ends = np.cumsum([sum(map(len, entry.rows)) for entry in knowledge.values()])[:-1]
    parts = zip(np.split(lower, ends), np.split(upper, ends), strict=True) if knowledge else ()
    for (name, entry), (down, up) in zip(knowledge.items(), parts, strict=True):
        if not (down.any() or up.any()):
            entries[name] = entry
            continue
        wider = _widened(entry, down, up)
        own = wider.source.label  # a statement's own text, unless it was given another name
        taken = own in knowledge or own in entries
        entries[own if name == entry.source.label and not taken else name] = wider
        tables.append(_changes(entry.rows, wider.rows))
    moved_rows = [table for table in tables if len(table)]
    return entries, (pd.concat(moved_rows) if moved_rows else tables[0]).rename_axis("statement")


def _widened(entry: EmittedRows, lower: np.ndarray, upper: np.ndarray) -> EmittedRows:
    """Move the rows of one source apart."""
    ends = np.cumsum([len(rows) for rows in entry.rows])[:-1]
    parts = zip(entry.rows, np.split(lower, ends), np.split(upper, ends), strict=True)
    rows = tuple(replace(r, low=r.low - down, high=r.high + up) for r, down, up in parts)
    if not isinstance(entry.source, Statement):
        return EmittedRows(ModifiedSource(entry.source, rows), rows, entry.convex)
    said = Statement(entry.source.terms, float(rows[0].low[0]), float(rows[0].high[0]))
    if rows[0].label == entry.source.label:
        rows = (replace(rows[0], label=said.label),)
    return EmittedRows(said, rows)


def _changes(before: tuple[Rows, ...], after: tuple[Rows, ...]) -> pd.DataFrame:
    """List the rows that moved."""
    old, new = (
        [np.concatenate([getattr(rows, side) for rows in some]) for side in ("low", "high")] for some in (before, after)
    )
    names = [rows.name(i) for rows in before for i in range(len(rows))]
    table = pd.DataFrame({"low": old[0], "high": old[1], "new_low": new[0], "new_high": new[1]}, index=names)
    down, up = (
        np.abs(np.subtract(a, b, out=np.zeros(len(a)), where=a != b))  # infinite sides stay
        for a, b in zip(old, new, strict=True)
    )
    return table.assign(move=down + up)[down + up > 0]
