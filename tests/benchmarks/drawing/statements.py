"""Statements that are drawn: what they are about, what of it is true of a table, and how it is said."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pandas as pd

from maxent_cvx import MaxEnt, P, Space, Statement
from maxent_cvx.sources.statements import Event, Probability
from maxent_cvx.terms.rows import Penalty

from ...support.random_models import QI, SA

__all__ = ["combination", "convex_statement", "nearly_nothing", "soft_statement", "true_statement"]


def combination(model: MaxEnt, records: pd.DataFrame, rng: np.random.Generator, spread: float) -> Probability | None:
    """Draw a linear combination of one to three probabilities."""
    total: Probability | float = 0.0
    names = list(model.space.people.names)
    for _ in range(int(rng.integers(1, 4))):
        values = sorted(set(records[SA]))
        chosen = [str(s) for s in rng.choice(values, int(rng.integers(1, len(values) + 1)), replace=False)]
        person = records.iloc[int(rng.integers(len(records)))]
        given = {name: person[name] for name in QI if rng.random() < 0.6}
        event = P(chosen, who=str(rng.choice(names))) if names and rng.random() < 0.5 else P(chosen, given)
        total = total + float(rng.choice([-1, 1]) * 10 ** rng.uniform(-spread, spread)) * event
    assert isinstance(total, Probability)
    return total if any(total.terms.values()) else None


def nearly_nothing(records: pd.DataFrame, rng: np.random.Generator) -> Probability:
    """Say what is 0 or 1 whatever the answer, or is nearly: a sum of values less its parts, or all values, k times."""
    values, person = sorted(set(records[SA])), records.iloc[int(rng.integers(len(records)))]
    given = {name: person[name] for name in QI if rng.random() < 0.6}
    k = 10 ** rng.uniform(-1, 7)
    nearly = k * (1 + float(rng.choice([0.0, 1e-15, 1e-12, 1e-9, 1e-6])) * rng.normal())
    if rng.random() < 0.5:
        return k * P(values, given)
    chosen = [str(s) for s in rng.choice(values, int(rng.integers(1, len(values) + 1)), replace=False)]
    total = k * P(chosen, given)
    for value in chosen:
        total = total - nearly * P(value, given)
    return total


def truth_of(model: MaxEnt, total: Probability, table: np.ndarray) -> float:
    n = model.view.n_records
    return sum(a * float((event.row(model.space) @ table)[0]) / n for event, a in total.terms.items())


def true_statement(
    model: MaxEnt, total: Probability, table: np.ndarray, rng: np.random.Generator, kind: str, least: float
) -> Statement:
    """Say of a combination what is true of the table, with more room than some."""
    truth = truth_of(model, total, table)
    room = max(least, float(rng.choice([0.0, rng.uniform(0, 0.3)]))) * max(abs(a) for a in total.terms.values())
    low, high = total.attainable()
    truth = min(max(truth, low), high)
    match kind:
        case "=":
            return total == truth
        case "<=":
            return total <= min(truth + room, high)
        case ">=":
            return total >= max(truth - room, low)
    return total.between(max(truth - room, low), min(truth + room, high))


def soft_statement(
    model: MaxEnt, said: Probability, table: np.ndarray, rng: np.random.Generator, relation: str
) -> Statement:  # fmt: skip
    """Say softly of a combination what is true of the table, or is not."""
    size = max(abs(a) for a in said.terms.values())
    off = float(rng.choice([0.0, rng.normal(0, 0.1), rng.normal(0, 10 ** rng.uniform(0, 2))]))
    value = truth_of(model, said, table) + off * size
    low = -np.inf if relation == "<=" else value
    high = np.inf if relation == ">=" else value + (size * rng.uniform(0, 0.2) if relation == "between" else 0.0)
    match rng.choice(["sd", "weight", "delta"]):
        case "sd":
            cost = Penalty(sd=size * 10 ** rng.uniform(-5, 2))
        case "weight":
            cost = Penalty(weight=10 ** rng.uniform(-2, 5) / size)
        case _:
            sd = size * 10 ** rng.uniform(-4, 1)
            cost = Penalty(sd=sd, delta=sd * 10 ** rng.uniform(-1, 2))
    return said.missable(low, high, cost)


def convex_statement(said: Probability, statement: Statement) -> Callable[[Space], cp.Constraint]:
    """Say of a combination that it is between two numbers, by a convex function."""
    middle, reach = (statement.low + statement.high) / 2, (statement.high - statement.low) / 2

    def constraint(space: Space) -> cp.Constraint:
        expression = sum(a * space.prob(*_arguments(event)) for event, a in said.terms.items()) - middle
        # The first is a row at the door; a sum of squares, also of one number, has a multiplier that is searched for.
        return cp.abs(expression) <= reach if len(said.terms) == 1 else cp.sum_squares(expression) <= reach**2

    return constraint


def _arguments(event: Event) -> tuple[object, object]:
    return [next(iter(event.value))[1], dict(event.given)]
