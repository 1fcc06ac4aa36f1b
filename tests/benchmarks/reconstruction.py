"""How many published tables make how many people of a block certain, and how rounding and noise undo it.

python -m tests.benchmarks.reconstruction [--people 30] [--seeds 3] [--time-limit 60] [--limit 3]

The block is of random people (ages uniform up to 94, sex, race, marital status from 15 years on); the tables are those
of Garfinkel, Abowd and Martindale (2019), Table 1, and finer ones. Each row adds tables to those above. `tables` is the
number of groups; `certain` are people whose record is in every solution; `right` is the mean share of people whose
record is in the solutions that are listed, `baseline` that of guesses attribute by attribute. All are means over the
blocks, `certain` over those of which it is decided; `unique`, `cut` and `undecided` count the blocks of which there
is one solution, not all are listed, or it is not decided who is certain. Seconds are of the processor, the limit is of
wall time.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx

MARRIED_CHILDREN = mx.attacks.Statistic({"age": range(15), "marital": "married"}, 0)
CLASSES = [{"age": range(5)}, {"age": range(18)}, {"age": range(64, 126)}]
#: Each with what it adds.
LEVELS: list[tuple[str, list[Any]]] = [
    ("everybody", [[]]),
    ("by sex, by race", ["sex", "race"]),
    ("by sex and race", [["sex", "race"]]),
    ("by marital status", ["marital"]),
    ("under 5, under 18, 64 and over", CLASSES),
    ("by sex, race and marital status", [["sex", "race", "marital"]]),
    ("tens of years by sex and race", [["decade", "sex", "race"]]),
    ("fives of years by all", [["five", "sex", "race", "marital"]]),
]
#: How the last level is printed instead.
PRINTED: list[tuple[str, dict[str, Any]]] = [
    ("as above", {}),
    ("nothing suppressed", {"suppressed": None}),
    ("below 5 suppressed", {"suppressed": "<5"}),
    ("means and medians to units", {"decimals": 0}),
    ("counts with noise up to 1", {"noise": 1}),
    ("counts with noise up to 2", {"noise": 2}),
    ("both, noise up to 1", {"noise": 1, "decimals": 0}),
]


def block(people: int, seed: int) -> pd.DataFrame:
    """Random people, with classes of their ages."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 95, people)
    married = (age >= 15) & (rng.random(people) < 0.6)
    return pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], people),
            "race": rng.choice(["black", "white"], people),
            "marital": np.where(married, "married", "single"),
            "decade": age // 10,
            "five": age // 5,
        }
    )


def domain() -> pd.DataFrame:
    """The records that are possible, with the classes of their ages."""
    values = [range(126), ["F", "M"], ["black", "white"], ["married", "single"]]
    types = pd.MultiIndex.from_product(values, names=["age", "sex", "race", "marital"]).to_frame(index=False)
    types = types[(types["age"] >= 15) | (types["marital"] == "single")]
    return types.assign(decade=types["age"] // 10, five=types["age"] // 5)


def attacked(people: int, seed: int, by: list[Any], limits: dict[str, Any], **printed: Any) -> dict[str, float]:
    """Reconstruct one block."""
    original = block(people, seed)
    tables = mx.attacks.tabulate(original, by, of="age", seed=seed, **printed)
    began = time.process_time()
    try:
        found = mx.attacks.reconstruct(tables, domain(), **limits)
    except mx.NotDecided:
        return {"tables": len(tables), "cut": 1, "undecided": 1, "seconds": time.process_time() - began}
    judgement = found.judge(original)
    return {
        "tables": len(tables),
        "certain": len(found.certain) if found.decided else np.nan,
        "unique": found.unique,
        "cut": not found.complete,
        "undecided": not found.decided,
        "right": judgement.right,
        "baseline": judgement.baseline,
        "seconds": time.process_time() - began,
    }


def row(rows: list[dict[str, float]]) -> dict[str, float]:
    """Means over blocks, and numbers of them."""
    table = pd.DataFrame(rows).astype(float)
    counted = ["unique", "cut", "undecided"]
    return {name: table[name].sum() if name in counted else table[name].mean() for name in table}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0, help="the level to begin with")
    given = parser.parse_args()
    limits = {"limit": given.limit, "time_limit": given.time_limit}
    by: list[Any] = []
    print(f"{given.people} people, {given.seeds} blocks")
    for number, (name, more) in enumerate(LEVELS):
        by = by + more
        if number >= given.first:
            report(name, [attacked(given.people, seed, by, limits) for seed in range(given.seeds)])
    print("the last of these, printed otherwise")
    for name, printed in PRINTED[1:]:
        report(name, [attacked(given.people, seed, by, limits, **printed) for seed in range(given.seeds)])


def report(name: str, rows: list[dict[str, float]]) -> None:
    """Print one row."""
    print(f"{name:34s}", "  ".join(f"{key} {value:.3g}" for key, value in row(rows).items()), flush=True)


if __name__ == "__main__":
    main()
