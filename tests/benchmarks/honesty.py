"""Does the certificate lie? Random models against an oracle of extended precision: python -m tests.benchmarks.honesty.

Every model is drawn from a positive table of people, so that what it says is true but for the rounding of typed
numbers. ``wide`` models have coefficients from 1e-9 to 1e9 in one statement, ``tame`` ones from 0.1 to 10. The answer
counts as wrong if any P(s | q) is further from the oracle's than the certificate's bound.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent))

from oracle import Oracle, oracle

from maxent_cvx import Inaccurate, Infeasible, MaxEnt, P, Posterior, Release, SolverError

__all__ = ["Outcome", "drawn", "judged"]

QI, SA = ("Sex", "Age"), "Disease"
#: Exponents of ten that coefficients are drawn from.
SPREAD = {"wide": 9.0, "tame": 1.0}
#: What counts as answered (tame), and as well posed (wide): probabilities.
ANSWERED, WELL_POSED = 1e-6, 1e-8


@dataclass(frozen=True)
class Outcome:
    """What became of one model: a word, the error and the bound (probabilities), and how far typed numbers move it."""

    word: str
    error: float = np.nan
    bound: float = np.nan
    moves: float = np.nan
    theorem: bool = True


def drawn(kind: str, seed: int) -> tuple[MaxEnt, np.ndarray]:
    """Draw a model, and a positive table of its terms that satisfies it, but for the rounding of typed numbers."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, rng.integers(1, 4))
    n = int(sizes.sum())
    columns = {"Sex": ["f", "m"], "Age": [20, 40], SA: ["Flu", "HIV", "Gout", "Mumps"]}
    records = pd.DataFrame({name: rng.choice(np.array(values, dtype=object), n) for name, values in columns.items()})
    release = Release.from_buckets(
        records.assign(Bucket=np.repeat(np.arange(len(sizes)), sizes)), qi=QI, sa=SA, bucket="Bucket"
    )
    model = MaxEnt(release)
    table = _table(model, rng)
    for _ in range(int(rng.integers(1, 4))):
        statement = _statement(model, records, table, rng, SPREAD[kind])
        if statement is not None and statement.label not in model.knowledge:
            model.add(statement)
    return model, table


def _table(model: MaxEnt, rng: np.random.Generator) -> np.ndarray:
    """Draw a positive table with the published counts: random numbers, scaled until they fit."""
    rows = [(model.space.marginal(list(by)).matrix, n.to_numpy()) for by, n in model.view.published.items()]
    x = np.exp(rng.normal(0, 1, len(model.space)))
    for _ in range(5_000):
        for matrix, n in rows:
            x = x * (matrix.T @ (n / (matrix @ x)))
    return x


def _statement(model: MaxEnt, records: pd.DataFrame, table: np.ndarray, rng: np.random.Generator, spread: float):
    """Draw a linear combination of one to three probabilities, and say of it what is true of the table."""
    total = None
    for _ in range(int(rng.integers(1, 4))):
        values = sorted(set(records[SA]))
        chosen = [str(s) for s in rng.choice(values, int(rng.integers(1, len(values) + 1)), replace=False)]
        person = records.iloc[int(rng.integers(len(records)))]
        one = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-spread, spread)) * P(
            chosen, {name: person[name] for name in QI if rng.random() < 0.6}
        )
        total = one if total is None else total + one
    if not any(total.terms.values()):
        return None
    truth = sum(
        a * float((event.row(model.space) @ table)[0]) / model.view.n_records for event, a in total.terms.items()
    )
    room = float(rng.choice([0.0, rng.uniform(0, 0.3)])) * max(abs(a) for a in total.terms.values())
    low, high = total.attainable()
    truth = min(max(truth, low), high)
    match rng.choice(["=", "=", "=", "<=", ">=", "between"]):
        case "=":
            return total == truth
        case "<=":
            return total <= min(truth + room, high)
        case ">=":
            return total >= max(truth - room, low)
    return total.between(max(truth - room, low), min(truth + room, high))


def judged(model: MaxEnt, table: np.ndarray, **options: object) -> Outcome:
    """Solve a model, and compare with the oracle."""
    exact = oracle(model, table)
    try:
        post = model.solve(**options)  # type: ignore[arg-type]
    except (Inaccurate, Infeasible, SolverError) as refused:
        return Outcome(
            type(refused).__name__ + ("" if exact else ", no oracle"), moves=exact.moves if exact else np.nan
        )
    if exact is None:
        return Outcome("no oracle", bound=post.certificate.bound)
    error = _error(post, exact)
    lies = error > post.certificate.bound + 1e-15
    return Outcome(
        "WRONG" if lies else "right",
        error,
        post.certificate.bound,
        exact.moves,
        getattr(post.certificate, "exact", True),
    )


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
        yield i, judged(*drawn(kind, i))


def main() -> None:
    """Print a line for every kind of model, and every model whose bound is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=list(SPREAD), choices=list(SPREAD))
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--refused", action="store_true", help="print the refused models, too")
    args = parser.parse_args()
    for kind in args.kinds:
        found = []
        for i, outcome in outcomes(kind, args.number, args.seed):
            found.append(outcome)
            shown = outcome.word == "WRONG" or (args.refused and outcome.word not in ("right", "no oracle"))
            late = args.refused and outcome.word == "right" and outcome.bound > ANSWERED and outcome.moves < WELL_POSED
            if shown or late:
                print(f"  {kind} {i}: {outcome}")
        words = Counter(outcome.word for outcome in found)
        posed = [o for o in found if o.moves < WELL_POSED]
        answered = [o for o in posed if o.word == "right" and o.bound <= (ANSWERED if kind == "tame" else 1e-4)]
        print(f"{kind}: {dict(words)}; well posed {len(posed)}, of which answered {len(answered)} "
              f"({len(answered) / max(len(posed), 1):.1%}); proved {sum(o.theorem for o in found)}; largest error "
              f"{max((o.error for o in found if o.error == o.error), default=0):.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
