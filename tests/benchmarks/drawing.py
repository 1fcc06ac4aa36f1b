"""Random models of several kinds, each reproduced by its kind and its seed.

Every model is drawn from a table of people, so that its statements are true up to the rounding of typed numbers:

    wide          coefficients from 1e-9 to 1e9 in one statement
    tame          coefficients from 0.1 to 10
    vague         the same, and every statement is an interval or an inequality
    views         other views than a release, named people, priors, and user-defined rows
    convex        some intervals are stated as convex constraints
    cancelling    most coefficients of a statement cancel, or repeat what is published
    soft          most statements are soft; some are far from the table or contradict others
    dense         rows with a coefficient on every term
    sparse        many small buckets, and statements about few terms each
    degenerate    dependent rows, and inequalities that are barely active or barely inactive
    boundary      a combination is as large as the published counts permit, which makes terms 0
    infeasible    no table satisfies the rows, by at least 1e-6 people
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.optimize
import scipy.sparse as sp

from maxent_cvx import MaxEnt, P, QIDistribution, QITable, Release, ReleaseSeries, Space, Statement
from maxent_cvx.sources.statements import Event, Probability
from maxent_cvx.terms.rows import Penalty, Rows

from ..support.oracle import oracle
from ..support.random_models import QI, SA, random_records


@dataclass(frozen=True)
class Drawn:
    """A model, a table that satisfies it up to rounding, the terms that are not always 0, and what the oracle solves."""

    model: MaxEnt
    table: np.ndarray
    posed: MaxEnt
    support: np.ndarray | None = None
    contradictory: bool = False


#: People by which counts of a table may be missed when scaling ends, and its most rounds.
FITTED, ROUNDS = 1e-13, 5_000


def published(records: pd.DataFrame, **roles: str) -> Release:
    return Release.from_buckets(records, qi=QI, sa=SA, bucket="Bucket", **roles)


def other_view(records: pd.DataFrame, rng: np.random.Generator) -> MaxEnt:
    """Draw a model of another view, of named people, or with a prior."""
    match rng.choice(["table", "counted table", "people", "series", "prior"]):
        case "table":
            return MaxEnt(QITable(records, qi=QI, sa=SA, sa_values=sorted(set(records[SA]))))
        case "counted table":
            return MaxEnt(QITable(records, qi=QI, sa=SA, sa_distribution=records[SA].value_counts(normalize=True)))
        case "people":
            some = records.sample(min(len(records), int(rng.integers(1, 3))), random_state=int(rng.integers(1000)))
            names = [f"P{i}" for i in range(len(some))]
            return MaxEnt(published(records), people=some[list(QI)].set_axis(names))
        case "series":
            named = records.assign(Id=np.arange(len(records)))
            again = named.assign(Bucket=rng.permutation(named["Bucket"].to_numpy()))
            return MaxEnt(ReleaseSeries([published(one, id="Id") for one in (named, again)]))
    values = sorted(set(records[SA]))
    believed = pd.DataFrame(
        rng.dirichlet(np.ones(len(values)), 2), index=pd.Index(["f", "m"], name="Sex"), columns=values
    )
    return MaxEnt(published(records), prior=QIDistribution(believed))


def _blocks(model: MaxEnt) -> list[tuple[np.ndarray, np.ndarray]]:
    """The published rows of each kind, in people."""
    blocks = [block for fact in model.facts for block in fact.rows(model.space)]
    return [
        ((block.matrix != 0).toarray().astype(float), np.rint(block.low * model.view.n_records)) for block in blocks
    ]


def positive_table(model: MaxEnt, rng: np.random.Generator) -> np.ndarray | None:
    """Draw a positive table with the published counts: random numbers, scaled until they fit; None if they do not."""
    rows = _blocks(model)
    x = np.exp(rng.normal(0, 1, len(model.space)))
    for _ in range(ROUNDS):
        for matrix, n in rows:
            x = x * np.exp(np.log(n / (matrix @ x)) @ matrix)
        if max(np.abs(matrix @ x - n).max(initial=0.0) for matrix, n in rows) < FITTED:
            break
    fits = all(np.abs(matrix @ x - n).max(initial=0.0) < 1e-9 for matrix, n in rows)
    return x if fits and x.min() > 1e-6 else None


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
    """Combine events so that the result is (nearly) constant: a sum minus its parts, or all values, k times."""
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
    """State about a combination what is true of the table, with at least the given slack."""
    truth = truth_of(model, total, table)
    slack = max(least, float(rng.choice([0.0, rng.uniform(0, 0.3)]))) * max(abs(a) for a in total.terms.values())
    low, high = total.attainable()
    truth = min(max(truth, low), high)
    match kind:
        case "=":
            return total == truth
        case "<=":
            return total <= min(truth + slack, high)
        case ">=":
            return total >= max(truth - slack, low)
    return total.between(max(truth - slack, low), min(truth + slack, high))


def soft_statement(
    model: MaxEnt, combined: Probability, table: np.ndarray, rng: np.random.Generator, relation: str
) -> Statement:  # fmt: skip
    """State softly about a combination what is true or false of the table."""
    size = max(abs(a) for a in combined.terms.values())
    off = float(rng.choice([0.0, rng.normal(0, 0.1), rng.normal(0, 10 ** rng.uniform(0, 2))]))
    value = truth_of(model, combined, table) + off * size
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
    return combined.missable(low, high, cost)


def convex_statement(combined: Probability, statement: Statement) -> Callable[[Space], cp.Constraint]:
    """State that a combination is in an interval, by a convex function."""
    middle, reach = (statement.low + statement.high) / 2, (statement.high - statement.low) / 2

    def constraint(space: Space) -> cp.Constraint:
        expression = sum(a * space.prob(*_arguments(event)) for event, a in combined.terms.items()) - middle
        # The first becomes two rows; a sum of squares has a multiplier that the solver searches for.
        return cp.abs(expression) <= reach if len(combined.terms) == 1 else cp.sum_squares(expression) <= reach**2

    return constraint


def _arguments(event: Event) -> tuple[object, object]:
    return [next(iter(event.value))[1], dict(event.given)]


#: The least slack of statements that are not equations, relative to their largest coefficient.
SLACK = 1e-3


def add_new(model: MaxEnt, statement: Statement) -> None:
    """Add a statement unless the model has one of its label."""
    if statement.label not in model.knowledge:
        model.add(statement)


def own_rows(weights: np.ndarray, low: float, high: float, label: str) -> Rows:
    """One row over the terms, low <= weights @ p <= high."""
    return Rows(sp.csr_array(weights[None].astype(float)), np.array([low]), np.array([high]), label)


def dense(rng: np.random.Generator) -> Drawn | None:
    """Draw rows with a random coefficient on every term, at most half as many as leave a choice; some are ranges."""
    model = MaxEnt(published(random_records(rng, size=6)))
    table = positive_table(model, rng)
    if table is None:
        return None
    free = len(table) - np.linalg.matrix_rank(_counts(model)[0])
    for i in range(int(rng.integers(1, 2 + free // 2))):
        weights = rng.normal(size=len(table)) * 10 ** rng.uniform(-1, 1)
        side = float(weights @ table) / model.view.n_records
        room = 0.0 if i > 2 or rng.random() < 0.6 else float(rng.uniform(0, 0.02)) * np.abs(weights).max()
        rows = own_rows(weights, side - room, side + room, f"dense {i}")
        model.add(rows, label=rows.label)
    return Drawn(model, table, model)


def sparse(rng: np.random.Generator) -> Drawn | None:
    """Draw four to six buckets of two or three people, and two equations and some ranges of few terms each."""
    records = random_records(rng, buckets=(4, 6), size=3)
    model = MaxEnt(published(records))
    table = positive_table(model, rng)
    if table is None:
        return None
    for i in range(int(rng.integers(2, 6))):
        combined = combination(model, records, rng, spread=0.5)
        if combined is not None:
            relation = "=" if i < 2 else str(rng.choice(["<=", ">=", "between"]))  # few people fix few equations
            statement = true_statement(model, combined, table, rng, relation, least=SLACK)
            add_new(model, statement)
    return Drawn(model, table, model)


def degenerate(rng: np.random.Generator) -> Drawn | None:
    """Draw whole coefficients, rows that say again what others say, and what just holds of the answer without it.

    Multiples are powers of two and sums are taken only where they are exact, so that no row contradicts another in its
    last digits.
    """
    model = MaxEnt(published(random_records(rng, size=6)))
    table = positive_table(model, rng)
    if table is None:
        return None
    n, stated = model.view.n_records, []
    for i in range(int(rng.integers(1, 4))):
        weights = rng.integers(-2, 3, len(table)) * (rng.random(len(table)) < 0.5)
        side = float(weights @ table) / n
        high = side if rng.random() < 0.6 else side + float(rng.uniform(0, 0.05))
        stated.append((weights, side, high))
        model.add(own_rows(weights, side, high, f"row {i}"), label=f"row {i}")
    weights, low, high = stated[int(rng.integers(len(stated)))]
    for i, factor in enumerate(rng.choice([2.0, 0.5, 4.0, 1.0], int(rng.integers(1, 3)))):
        model.add(own_rows(factor * weights, factor * low, factor * high, f"again {i}"), label=f"again {i}")
    exact = oracle(model, table)
    if exact is not None and rng.random() < 0.7:  # just holds: its multiplier is 0, or as good as
        weights = rng.integers(-2, 3, len(table))
        most = float(weights @ np.array([float(x) for x in exact.counts])) / n
        model.add(own_rows(weights, -np.inf, most, "just holds"), label="just holds")
        table = np.array([float(x) for x in exact.counts])
    return Drawn(model, table, model)


#: Numbers of people, by which whole numbers are divided exactly.
EXACT = (4, 8, 16)
#: By how many people a contradiction is one: 2^-20 (1e-6) to 1.
LEAST_EXPONENT = -20
#: What decides between vertices of one value: less than 1 for all people together.
TIE = 1e-3
# Published counts define a transport polytope, whose vertices are whole numbers of people. A combination of terms with
# whole coefficients is therefore largest at a whole number, and a term is 0 wherever it is that large, or is at least 1
# at some vertex. The number of people is a power of two, so that the typed value is exact.


def _records(rng: np.random.Generator) -> pd.DataFrame:
    while len(records := random_records(rng, size=6)) not in EXACT:
        pass
    return records


def _counts(model: MaxEnt) -> tuple[np.ndarray, np.ndarray]:
    """The published rows, in people."""
    matrices, counts = zip(*_blocks(model), strict=True)
    return np.vstack(matrices), np.concatenate(counts)


def _vertex(matrix: np.ndarray, side: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A vertex at which weights @ x, a whole number, is largest; one of several such is drawn."""
    tilted = weights + TIE * rng.random(len(weights))
    solution = scipy.optimize.linprog(-tilted, A_eq=matrix, b_eq=side, method="highs-ds")
    x = np.rint(solution.x)
    assert (matrix @ x == side).all()
    return x


def _weights(model: MaxEnt, records: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Whole coefficients: the terms of one event or two."""
    total = np.zeros(len(model.space))
    for _ in range(int(rng.integers(1, 3))):
        person = records.iloc[int(rng.integers(len(records)))]
        given = {name: person[name] for name in QI if rng.random() < 0.7}
        event = next(iter(P(str(rng.choice(sorted(set(records[SA])))), given).terms))
        total += int(rng.choice([-1, 1, 1, 2])) * (event.row(model.space).toarray()[0] != 0)
    return total


def boundary(rng: np.random.Generator) -> Drawn | None:
    """Draw a combination that is as large as it can be, and up to two statements that are true of a table with that."""
    records = _records(rng)
    model = MaxEnt(published(records))
    matrix, side = _counts(model)
    weights = _weights(model, records, rng)
    top = float(weights @ _vertex(matrix, side, weights, rng))
    face, value = np.vstack([matrix, weights]), np.append(side, top)
    vertices, unseen = [], np.ones(len(weights), dtype=bool)
    while (x := _vertex(face, value, unseen.astype(float), rng))[unseen].any():
        vertices.append(x)
        unseen &= x == 0
    table = rng.dirichlet(np.ones(len(vertices))) @ vertices
    n = model.view.n_records
    model.add(own_rows(weights, top / n, float(rng.choice([top / n, np.inf])), "the most"), label="the most")
    for _ in range(int(rng.integers(0, 3))):
        combined = combination(model, records, rng, spread=1.0)
        if combined is not None:
            relations = ["<=", ">=", "between"] if len(vertices) < 3 else ["=", "<=", ">=", "between"]
            statement = true_statement(model, combined, table, rng, str(rng.choice(relations)), least=SLACK)
            add_new(model, statement)
    return Drawn(model, table, model, support=~unseen)


def infeasible(rng: np.random.Generator) -> Drawn | None:
    """Draw what is true of a table, and then what contradicts it: too much of something, or two or three rows."""
    records = _records(rng)
    model = MaxEnt(published(records))
    table = positive_table(model, rng)
    if table is None:
        return None
    for _ in range(int(rng.integers(0, 3))):
        combined = combination(model, records, rng, spread=1.0)
        if combined is not None:
            statement = true_statement(model, combined, table, rng, str(rng.choice(["=", "<=", ">="])), least=0.0)
            add_new(model, statement)
    n, beyond = model.view.n_records, 2.0 ** float(rng.integers(LEAST_EXPONENT, 1))
    one, two = _weights(model, records, rng), _weights(model, records, rng)
    match rng.choice(["too much", "two", "three"]):
        case "too much":
            top = float(one @ _vertex(*_counts(model), one, rng))
            rows = [(one, (top + beyond) / n, np.inf)]
        case "two":
            value = float(one @ table) / n
            rows = [(one, -np.inf, value), (one, value + beyond / n, np.inf)]
        case _:
            first, second = float(one @ table) / n, float(two @ table) / n
            rows = [(one, first, first), (two, second, second), (one + two, first + second + beyond / n, np.inf)]
    for i, (weights, low, high) in enumerate(rows):
        model.add(own_rows(weights, low, high, f"clash {i}"), label=f"clash {i}")
    return Drawn(model, table, model, contradictory=True)


#: Exponents of ten that coefficients are drawn from, if not of 0.1 to 10.
SPREAD = {"wide": 9.0, "convex": 0.3, "cancelling": 2.0, "soft": 1.0}
#: The relations of statements.
RELATIONS = {"tame": ["=", "=", "=", "<=", ">=", "between"], "vague": ["<=", ">=", "between", "between"]}
#: The least slack of statements that are not equations, relative to their largest coefficient.
LEAST = {"convex": 0.01, "vague": 1e-4}


def drawn(kind: str, seed: int) -> Drawn | None:
    """Draw a model; None if its published counts leave no positive table."""
    return KINDS[kind](np.random.default_rng(seed))


def with_statements(kind: str, rng: np.random.Generator) -> Drawn | None:
    """Draw a model of one to three statements that are true of a positive table; None if there is no such table."""
    records = random_records(rng, size=6)
    other = kind == "views" or (kind == "soft" and rng.random() < 0.4)
    model = other_view(records, rng) if other else MaxEnt(published(records))
    table = positive_table(model, rng)
    if table is None:
        return None
    if kind == "soft":
        _add_soft(model, records, table, rng)
        return Drawn(model, table, model)
    posed = model.copy()
    for i in range(int(rng.integers(1, 4))):
        combined = combination(model, records, rng, SPREAD.get(kind, 1.0))
        if kind == "cancelling" and combined is not None:
            combined = combined + nearly_nothing(records, rng)
        if combined is None or not any(combined.terms.values()):
            continue
        kinds = ["between"] if kind == "convex" and not i else RELATIONS.get(kind, RELATIONS["tame"])
        statement = true_statement(model, combined, table, rng, str(rng.choice(kinds)), least=LEAST.get(kind, 0.0))
        if statement.label in posed.knowledge:
            continue
        if kind == "convex" and 0 < statement.high - statement.low < np.inf:
            posed.add(statement)
            model.add(convex_statement(combined, statement), label=f"convex {i}")
        elif kind == "views" and rng.random() < 0.3:
            weights = sp.csr_array(np.where(rng.random(len(table)) < 0.5, rng.normal(size=len(table)), 0.0)[None])
            side = weights @ table / model.view.n_records
            rows = Rows(weights, side - float(rng.choice([0, 0.1])), side + 0.0, f"own {i}")
            model.add(rows, label=f"own {i}")
            posed.add(rows, label=f"own {i}")
        else:
            model.add(statement)
            posed.add(statement)
    return Drawn(model, table, posed)


def _add_soft(model: MaxEnt, records: pd.DataFrame, table: np.ndarray, rng: np.random.Generator) -> None:
    """Add soft statements, some true of the table, some far from it, some of what another is of; a few are hard."""
    combined: Probability | None = None
    hard = set()
    for i in range(int(rng.integers(1, 6))):
        if combined is None or rng.random() < 0.7:
            combined = combination(model, records, rng, SPREAD["soft"])
        if combined is None:
            continue
        relation = str(rng.choice(["=", "=", "<=", ">=", "between"]))
        if rng.random() < 0.25:
            statement = true_statement(model, combined, table, rng, relation, least=0.0)
            if statement.label in hard:
                continue
            hard.add(statement.label)
        else:
            statement = soft_statement(model, combined, table, rng, relation)
        model.add(statement, label=f"{i}: {statement.label}")


#: The function that draws a model of each kind.
KINDS: dict[str, Callable[[np.random.Generator], Drawn | None]] = {
    **{kind: partial(with_statements, kind) for kind in ("wide", "tame", "vague", "views", "convex", "cancelling", "soft")},
    "dense": dense, "sparse": sparse, "degenerate": degenerate, "boundary": boundary, "infeasible": infeasible,
}  # fmt: skip
