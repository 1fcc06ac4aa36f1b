"""Random small models: knowledge that is true of hidden records, and answers that are chosen first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from maxent_cvx import Count, MaxEnt, P, Release, Statement
from maxent_cvx.solvers.certificate import Certificate, certify
from maxent_cvx.solvers.form import Groups, LinearForm

QI = ("Sex", "Age")
SA = "Disease"
#: The forms of knowledge that are drawn; "zero" is P(value | given) = 0 wherever that is true.
FORMS = ("equation", "equation", "vague", "at most", "at least", "compare", "zero")


def random_records(rng: np.random.Generator, buckets: tuple[int, int] = (1, 3), size: int = 5) -> pd.DataFrame:
    """Draw the hidden truth: two to `size` records a bucket, two QI attributes, four sensitive values."""
    sizes = rng.integers(2, size + 1, rng.integers(buckets[0], buckets[1] + 1))
    n = int(sizes.sum())
    columns = {"Sex": ["f", "m"], "Age": [20, 40], SA: ["Flu", "HIV", "Gout", "Mumps"]}
    drawn = {name: rng.choice(np.array(values, dtype=object), n) for name, values in columns.items()}
    return pd.DataFrame(drawn).assign(Bucket=np.repeat(np.arange(len(sizes)), sizes))


def publish(records: pd.DataFrame) -> Release:
    return Release.from_buckets(records, qi=QI, sa=SA, bucket="Bucket")


def random_model(seed: int, statements: int = 3, **size: object) -> tuple[MaxEnt, pd.DataFrame]:
    """Draw a model, and the records that everything in it is true of."""
    rng = np.random.default_rng(seed)
    records = random_records(rng, **size)  # type: ignore[arg-type]
    model = MaxEnt(publish(records))
    for statement in true_statements(rng, records, int(rng.integers(0, statements + 1))):
        if statement.label not in model.knowledge:
            model.add(statement)
    return model, records


def contradictory_model(seed: int) -> MaxEnt:
    """Draw a model that knows something false about its records, because it knows what is true as well."""
    rng = np.random.default_rng(seed)
    model, records = random_model(seed)
    value, who, truth = random_event(rng, records)
    wrong = [x for x in (0.0, truth / 2, (1 + truth) / 2, 1.0) if abs(x - truth) > 0.1]
    for x in (truth, float(rng.choice(wrong))):
        if (P(value, who) == x).label not in model.knowledge:
            model.add(P(value, who) == x)
    return model


def random_people(seed: int, most: int = 3, **size: object) -> tuple[pd.DataFrame, list[int], list[Statement]]:
    """Draw records, some of them by name, and some statements about those and about everybody, true of the records."""
    rng = np.random.default_rng(seed)
    records = random_records(rng, **size)  # type: ignore[arg-type]
    named = [int(n) for n in rng.choice(len(records), int(rng.integers(1, min(4, len(records)) + 1)), replace=False)]
    values = sorted(set(records[SA]))
    statements: list[Statement] = []
    for _ in range(int(rng.integers(1, most + 1))):
        value, who, truth = random_event(rng, records)
        some = [int(n) for n in rng.choice(named, int(rng.integers(1, len(named) + 1)), replace=False)]
        chosen = [str(s) for s in rng.choice(values, min(len(values), 2), replace=False)]
        n_true, slack = int(records.loc[some, SA].isin(chosen).sum()), float(rng.uniform(0, 1))
        count = Count(chosen, who=[f"i{n}" for n in some])
        possible = [
            P(value, who) == truth,
            P(value, who).about(truth, 0.1),
            P(value, who) - 0.5 * count <= min(truth - 0.5 * n_true + slack, 1.0),
            count <= min(n_true + slack, len(some)),
            count.between(max(n_true - slack, 0), min(n_true + 0.5, len(some))),
            count == n_true,
        ]
        statements.append(possible[int(rng.integers(len(possible)))])
    return records, named, list(dict.fromkeys(statements))


def true_statements(rng: np.random.Generator, records: pd.DataFrame, n: int) -> Iterator[Statement]:
    """Draw statements that hold in the records."""
    for form in rng.choice(FORMS, n):
        value, who, truth = random_event(rng, records)
        slack = float(rng.choice([0.0, rng.uniform(0, 0.3)]))
        if form == "vague":
            eps = float(rng.uniform(0.05, 0.3))
            yield P(value, who).about(float(np.clip(truth + rng.uniform(-eps, eps), 0, 1)), eps)
        elif form == "at most":
            yield P(value, who) <= min(truth + slack, 1.0)
        elif form == "at least":
            yield P(value, who) >= max(truth - slack, 0.0)
        elif form == "compare":
            other, they, theirs = random_event(rng, records)
            difference = P(value, who) - 0.5 * P(other, they)
            if len(difference.terms) > 1:  # two different events
                yield difference <= min(truth - 0.5 * theirs + slack, 1.0)
        elif form == "zero":
            held = share(records, who)
            absent = [s for s in sorted(set(records[SA])) if s not in held.index]
            if absent:
                yield P(str(rng.choice(absent)), who) == 0
        else:
            yield P(value, who) == truth


def random_event(rng: np.random.Generator, records: pd.DataFrame) -> tuple[list[str], dict[str, object], float]:
    """Draw one or two sensitive values, a description that fits somebody, and P(values | description)."""
    values = sorted(set(records[SA]))
    chosen = [str(s) for s in rng.choice(values, min(len(values), int(rng.integers(1, 3))), replace=False)]
    person = records.iloc[int(rng.integers(len(records)))]
    who = {name: person[name] for name in QI if rng.random() < 0.7}
    return chosen, who, float(share(records, who).reindex(chosen).sum())


def share(records: pd.DataFrame, who: dict[str, object]) -> pd.Series:
    """P(s | who) in the records, for the values that occur."""
    described = np.logical_and.reduce([records[name] == value for name, value in who.items()] or [records[SA] != ""])
    return records.loc[described, SA].value_counts(normalize=True)


@dataclass(frozen=True)
class Exact:
    """A problem with its exact answer."""

    form: LinearForm
    counts: np.ndarray
    multipliers: np.ndarray
    q: np.ndarray
    s: np.ndarray
    n_q: np.ndarray

    def certify(self, counts: np.ndarray, multipliers: np.ndarray) -> Certificate:
        return certify(self.form, Groups(self.q, self.n_q), counts, multipliers)

    def error(self, counts: np.ndarray) -> float:
        """The largest error of any P(s | q), and of any P(s, b | q)."""
        off = np.maximum(counts, 0) - self.counts
        table = np.zeros((len(self.n_q), self.s.max() + 1))
        np.add.at(table, (self.q, self.s), off)
        return max(np.abs(table / self.n_q[:, None]).max(), np.abs(off / self.n_q[self.q]).max())


def from_multipliers(seed: int) -> Exact:
    """Choose the multipliers of a random model first: x = exp(A' m - 1) is the exact answer to A x = (what that is).

    A row with m > 0 has that as its low side, one with m < 0 as its high side, and one with m = 0 has room.
    """
    rng = np.random.default_rng(seed)
    model, _ = random_model(seed, statements=5)
    form, n = model.form, model.form.n_published
    m = rng.normal(0, 1, form.shape[0])
    m[n:] *= rng.choice([0, 1, 3], len(m) - n)
    counts = np.exp(form.matrix.T @ m - 1)
    value = form.matrix @ counts
    room, open_side = rng.uniform(0.01, 1, len(m)), rng.choice(["low", "high", "neither"], len(m))
    is_equation = np.arange(len(m)) < n + (len(m) - n) // 2
    low = np.where(is_equation | (m > 0), value, np.where(open_side == "low", -np.inf, value - room))
    high = np.where(is_equation | (m < 0), value, np.where(open_side == "high", np.inf, value + room))
    q, s = model.space.codes["q"], model.space.codes["s"]
    return Exact(replace(form, low=low, high=high), counts, m, q, s, np.bincount(q, counts))


def linear_form(matrix: object, low: object, high: object, weights: object = None) -> LinearForm:
    """A linear form from lists."""
    weights = None if weights is None else np.array(weights, float)
    return LinearForm.plain(sp.csr_array(np.array(matrix, float)), np.array(low, float), np.array(high, float), weights)


def random_rows(seed: int, slack: float, equations: bool = False) -> tuple[LinearForm, np.ndarray]:
    """Draw weights, and independent equations and inequalities, and a positive point that satisfies them.

    The first row is an equation that bounds x; inequalities have up to `slack` of room.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    matrix = np.vstack([np.ones(n), rng.normal(0, 1, (int(rng.integers(1, 4)), n))])
    x = rng.uniform(0.3, 2, n)
    value, room = matrix @ x, rng.uniform(0, slack, len(matrix))
    kind = rng.choice(["=="] if equations else ["==", "<=", ">=", "between"], len(matrix))
    kind[0] = "=="
    low = np.where(kind == "==", value, np.where(kind == "<=", -np.inf, value - room))
    high = np.where(kind == "==", value, np.where(kind == ">=", np.inf, value + room))
    return linear_form(matrix, low, high, rng.uniform(0.5, 2, n)), x
