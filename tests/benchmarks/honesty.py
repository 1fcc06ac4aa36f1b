"""Does the certificate lie? Random models against an oracle of extended precision: python -m tests.benchmarks.honesty.

Every model is drawn from a positive table of people, so that what it says is true but for the rounding of typed
numbers. ``wide`` models have coefficients from 1e-9 to 1e9 in one statement, ``tame`` ones from 0.1 to 10; in
``cancelling`` ones, most of what a statement's coefficients amount to is nothing, or is published. In ``soft`` ones
most statements may be missed at a cost, and are: some are far from the table, or contradict each other. The answer
counts as wrong if any P(s | q) is further from the oracle's than the certificate's bound.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import cvxpy as cp
import mpmath as mp
import numpy as np
import pandas as pd
import scipy.sparse as sp

from maxent_cvx import (
    Inaccurate,
    Infeasible,
    MaxEnt,
    P,
    Posterior,
    QIDistribution,
    QITable,
    Release,
    ReleaseSeries,
    SolverError,
    Space,
    Statement,
)
from maxent_cvx.sources import Probability
from maxent_cvx.sources.statements.statement import Event
from maxent_cvx.terms.penalty import Penalty
from maxent_cvx.terms.rows import Rows

from ..support.oracle import Oracle, oracle

__all__ = ["Outcome", "drawn", "judged"]

QI, SA = ("Sex", "Age"), "Disease"
#: Exponents of ten that coefficients are drawn from.
SPREAD = {"wide": 9.0, "tame": 1.0, "views": 1.0, "convex": 0.3, "cancelling": 2.0, "soft": 1.0}
#: What counts as answered (tame), and as well posed (wide): probabilities.
ANSWERED, WELL_POSED = 1e-6, 1e-8
#: Models after which it is said what became of them so far.
REPORTED = 500
#: Counts below are taken from the multipliers.
TINY = 1e-150
#: What adding up the counts of a group costs, where answers are compared: a probability.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Outcome:
    """What became of one model: a word, the error and the bound (probabilities), and how far typed numbers move it."""

    word: str
    error: float = np.nan
    bound: float = np.nan
    moves: float = np.nan
    proved: bool = False


@dataclass(frozen=True)
class Drawn:
    """A model, a positive table of its terms that satisfies it but for rounding, and what the oracle solves instead."""

    model: MaxEnt
    table: np.ndarray
    posed: MaxEnt


def drawn(kind: str, seed: int) -> Drawn | None:
    """Draw a model; None if its published counts leave no positive table."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, rng.integers(1, 4))
    n = int(sizes.sum())
    columns = {"Sex": ["f", "m"], "Age": [20, 40], SA: ["Flu", "HIV", "Gout", "Mumps"]}
    records = pd.DataFrame({name: rng.choice(np.array(values, dtype=object), n) for name, values in columns.items()})
    records["Bucket"] = np.repeat(np.arange(len(sizes)), sizes)
    other_view = kind == "views" or (kind == "soft" and rng.random() < 0.4)
    model = _view(records, rng) if other_view else MaxEnt(_published(records))
    table = _table(model, rng)
    if table is None:
        return None
    if kind == "soft":
        _add_soft(model, records, table, rng)
        return Drawn(model, table, model)
    posed = model.copy()
    for i in range(int(rng.integers(1, 4))):
        said = _combination(model, records, rng, SPREAD[kind])
        if kind == "cancelling" and said is not None:
            said = said + _nearly_nothing(records, rng)
        if said is None or not any(said.terms.values()):
            continue
        kinds = ["between"] if kind == "convex" and not i else ["=", "=", "=", "<=", ">=", "between"]
        statement = _statement(model, said, table, rng, str(rng.choice(kinds)), least=0.01 * (kind == "convex"))
        if statement.label in posed.knowledge:
            continue
        if kind == "convex" and 0 < statement.high - statement.low < np.inf:
            posed.add(statement)
            model.add(_convex(said, statement), label=f"convex {i}")
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
    said: Probability | None = None
    hard = set()
    for i in range(int(rng.integers(1, 6))):
        if said is None or rng.random() < 0.7:
            said = _combination(model, records, rng, SPREAD["soft"])
        if said is None:
            continue
        relation = str(rng.choice(["=", "=", "<=", ">=", "between"]))
        if rng.random() < 0.25:
            statement = _statement(model, said, table, rng, relation, least=0.0)
            if statement.label in hard:
                continue
            hard.add(statement.label)
        else:
            statement = _soft(model, said, table, rng, relation)
        model.add(statement, label=f"{i}: {statement.label}")


def _soft(
    model: MaxEnt, said: Probability, table: np.ndarray, rng: np.random.Generator, relation: str
) -> Statement:  # fmt: skip
    """Say softly of a combination what is true of the table, or is not."""
    size = max(abs(a) for a in said.terms.values())
    off = float(rng.choice([0.0, rng.normal(0, 0.1), rng.normal(0, 10 ** rng.uniform(0, 2))]))
    value = _truth(model, said, table) + off * size
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


def _published(records: pd.DataFrame, **roles: str) -> Release:
    return Release.from_buckets(records, qi=QI, sa=SA, bucket="Bucket", **roles)


def _view(records: pd.DataFrame, rng: np.random.Generator) -> MaxEnt:
    """Draw a model of another view, of named people, or with a prior."""
    match rng.choice(["table", "counted table", "people", "series", "prior"]):
        case "table":
            return MaxEnt(QITable(records, qi=QI, sa=SA, sa_values=sorted(set(records[SA]))))
        case "counted table":
            return MaxEnt(QITable(records, qi=QI, sa=SA, sa_distribution=records[SA].value_counts(normalize=True)))
        case "people":
            some = records.sample(min(len(records), int(rng.integers(1, 3))), random_state=int(rng.integers(1000)))
            names = [f"P{i}" for i in range(len(some))]
            return MaxEnt(_published(records), people=some[list(QI)].set_axis(names))
        case "series":
            named = records.assign(Id=np.arange(len(records)))
            again = named.assign(Bucket=rng.permutation(named["Bucket"].to_numpy()))
            return MaxEnt(ReleaseSeries([_published(one, id="Id") for one in (named, again)]))
    values = sorted(set(records[SA]))
    believed = pd.DataFrame(
        rng.dirichlet(np.ones(len(values)), 2), index=pd.Index(["f", "m"], name="Sex"), columns=values
    )
    return MaxEnt(_published(records), prior=QIDistribution(believed))


def _table(model: MaxEnt, rng: np.random.Generator) -> np.ndarray | None:
    """Draw a positive table with the published counts: random numbers, scaled until they fit."""
    blocks = [block for fact in model.facts for block in fact.rows(model.space)]
    rows = [((block.matrix != 0).astype(float), np.rint(block.low * model.view.n_records)) for block in blocks]
    x = np.exp(rng.normal(0, 1, len(model.space)))
    for _ in range(5_000):
        for matrix, n in rows:
            value = matrix @ x
            x = x * np.exp(matrix.T @ np.log(n / value))
    fits = all(np.abs(matrix @ x - n).max(initial=0.0) < 1e-9 for matrix, n in rows)
    return x if fits and x.min() > 1e-6 else None


def _combination(model: MaxEnt, records: pd.DataFrame, rng: np.random.Generator, spread: float) -> Probability | None:
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


def _nearly_nothing(records: pd.DataFrame, rng: np.random.Generator) -> Probability:
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


def _convex(said: Probability, statement: Statement) -> Callable[[Space], cp.Constraint]:
    """Say of a combination that it is between two numbers, by a convex function."""
    middle, reach = (statement.low + statement.high) / 2, (statement.high - statement.low) / 2

    def constraint(space: Space) -> cp.Constraint:
        expression = sum(a * space.prob(*_arguments(event)) for event, a in said.terms.items()) - middle
        # The first is a row at the door; a sum of squares, also of one number, has a multiplier that is searched for.
        return cp.abs(expression) <= reach if len(said.terms) == 1 else cp.sum_squares(expression) <= reach**2

    return constraint


def _arguments(event: Event) -> tuple[object, object]:
    return [next(iter(event.value))[1], dict(event.given)]


def _statement(
    model: MaxEnt, total: Probability, table: np.ndarray, rng: np.random.Generator, kind: str, least: float
) -> Statement:
    """Say of a combination what is true of the table, with more room than some."""
    truth = _truth(model, total, table)
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


def _truth(model: MaxEnt, total: Probability, table: np.ndarray) -> float:
    n = model.view.n_records
    return sum(a * float((event.row(model.space) @ table)[0]) / n for event, a in total.terms.items())


def judged(case: Drawn, **options: object) -> Outcome:
    """Solve a model, and compare with the oracle."""
    soft = case.model.form.penalties is not None  # then the answer may be far from the table
    exact = None if soft else oracle(case.posed, case.table)
    try:
        post = case.model.solve(**options)  # type: ignore[arg-type]
    except (Inaccurate, Infeasible, SolverError) as refused:
        return Outcome(
            type(refused).__name__ + ("" if exact else ", no oracle"), moves=exact.moves if exact else np.nan
        )
    if soft:
        exact = oracle(case.posed, _begin(case.model, post))
    if exact is None:
        return Outcome("no oracle", bound=post.certificate.bound)
    error = _error(post, exact)
    word = "WRONG" if error > post.certificate.bound + ROUNDING else "right"
    return Outcome(word, error, post.certificate.bound, exact.moves, post.certificate.backward == 0)


def _begin(model: MaxEnt, post: Posterior) -> list[mp.mpf]:
    """A positive table to look for the exact answer from: the counts, or, less than doubles can be, w exp(A' m - 1)."""
    form = model.form
    exponent = form.exponent(form.transformed_multipliers(np.concatenate(list(post.multipliers.values()))))
    return [mp.mpf(x) if x > TINY else mp.exp(mp.mpf(e)) for x, e in zip(post.counts, exponent, strict=True)]


def _error(post: Posterior, exact: Oracle) -> float:
    """The largest error of any P(s | q), and of any P(s | who)."""
    space = post.space
    group, n = space.groups
    key = group * len(space.view.sensitive_values) + space.codes["s"]
    off: dict[int, object] = {}
    for k, have, want in zip(key.tolist(), post.counts.tolist(), exact.counts, strict=True):
        off[k] = off.get(k, 0) + (have - want)  # type: ignore[operator]
    return float(max(abs(v) / int(n[k // len(space.view.sensitive_values)]) for k, v in off.items()))  # type: ignore[arg-type]


def outcomes(kind: str, number: int, seed: int) -> Iterator[tuple[int, Outcome]]:
    for i in range(seed, seed + number):
        case = drawn(kind, i)
        yield i, Outcome("no table") if case is None else judged(case)


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Print a line for every kind of model, and every model whose bound is exceeded; a row a kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=list(SPREAD), choices=list(SPREAD))
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--refused", action="store_true", help="print the refused models, too")
    args = parser.parse_args(arguments)
    rows = []
    for kind in args.kinds:
        found = []
        for i, outcome in outcomes(kind, args.number, args.seed):
            found.append(outcome)
            if len(found) % REPORTED == 0:
                print(f"  {kind}, the first {len(found)}: {dict(Counter(one.word for one in found))}", flush=True)
            shown = outcome.word == "WRONG" or (args.refused and outcome.word not in ("right", "no oracle", "no table"))
            late = args.refused and outcome.word == "right" and outcome.bound > ANSWERED and outcome.moves < WELL_POSED
            if shown or late:
                print(f"  {kind} {i}: {outcome}")
        posed = [o for o in found if o.moves < WELL_POSED]
        answered = [o for o in posed if o.word == "right" and o.bound <= (ANSWERED if kind == "tame" else 1e-4)]
        worst = max((outcome.error for outcome in found if outcome.error == outcome.error), default=0.0)
        words = Counter(outcome.word for outcome in found)
        rows.append({
            "kind": kind, "models": len(found), "wrong": words["WRONG"], "right": words["right"],
            "well_posed": len(posed), "answered": len(answered), "proved": sum(o.proved for o in found),
            "largest_error": worst,
        })  # fmt: skip
        print(f"{kind}: {dict(words)}; well posed {len(posed)}, of which answered {len(answered)} "
              f"({len(answered) / max(len(posed), 1):.2%}); proved of the rows as typed {rows[-1]['proved']}; "
              f"largest error {worst:.1e}")  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
