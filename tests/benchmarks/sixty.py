"""Sixty models by every conic solver, a minute each:  python -m tests.benchmarks.sixty --picture profile.png.

Six sizes, from 8 to about 12,000 terms, times ten kinds of knowledge, all of it true of the records that are published
or near to it. Printed are the answers that are not certified, and a table by solver: how many answers are certified,
median and total seconds to build, solve and certify, and how far answers are off, by their certificates and from the
most precise answer.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

#: Records, the sensitive attribute, and how many values a bucket has; 0 where nothing but the quasi-identifiers of all
#: and the shares of the values are published. About 8, 60, 250, 1,000, 4,000 and 12,000 terms.
SIZES = ((4, "salary", 2), (11, "education", 0), (60, "education", 4), (120, "education", 0), (950, "education", 4),
         (3_600, "education", 0))  # fmt: skip
QI = ("age", "sex", "relationship", "race")
#: The solver that others are compared with.
DEFAULT = "DUAL_NEWTON"
#: Columns of seconds.
STEPS = ("build", "solve", "certify", "seconds")


class Published(NamedTuple):
    """Records and their release."""

    people: pd.DataFrame
    sa: str
    release: mx.View


def published(records: int, sa: str, values: int) -> Published:
    """Publish ages and three further attributes of the first people of Adult, by Anatomy or beside the shares of values."""
    adult = mx.datasets.load_adult()
    if sa == "salary":  # as many people with one salary as with the other
        adult = pd.concat([part.head(records // 2) for _, part in adult.groupby("salary")], ignore_index=True)
    people = adult.head(records)
    people = people.assign(age=people["age"] // 10 * 10 if values else people["age"])[[*QI, sa]]
    if not values:
        return Published(people, sa, mx.QITable(people, qi=QI, sa=sa, sa_distribution=people[sa].value_counts()))
    exempt = 0 if sa == "salary" else 2
    return Published(people, sa, mx.anonymize.anatomy(people, qi=QI, sa=sa, l=values, exempt=exempt))


def conditionals(data: Published, largest: int = 100) -> list[tuple[mx.Probability, float]]:
    """Different P(s | one to three attributes), each with its value among the records, between 0.05 and 0.95."""
    people, sa, rng = data.people, data.sa, np.random.default_rng(0)
    number, statements = min(largest, max(1, len(people) // 8)), {}
    for _ in range(50 * number):
        attributes = rng.choice(QI, rng.integers(1, 4), replace=False)
        person = people.iloc[rng.integers(len(people))]
        alike = (people[list(attributes)] == person[list(attributes)]).all(axis=1)
        value = people[sa].iloc[rng.integers(len(people))]
        share = float((people.loc[alike, sa] == value).mean())
        if 0.05 < share < 0.95:
            probability = P(value, given={str(name): person[name] for name in attributes})
            statements[str(probability)] = probability, share
        if len(statements) == number:
            break
    return list(statements.values())


def equations(data: Published) -> mx.MaxEnt:
    """P(s | q) as it is."""
    return mx.MaxEnt(data.release).add(*(of == share for of, share in conditionals(data)))


def inequalities(data: Published) -> mx.MaxEnt:
    """Every P(s | q) is on that side of some number on which it is, alternately near and far."""
    sides = itertools.cycle(
        [lambda of, x: of >= 0.98 * x, lambda of, x: of <= x + 0.02, lambda of, x: of <= 0.5 + x / 2]
    )
    return mx.MaxEnt(data.release).add(*(side(*one) for side, one in zip(sides, conditionals(data), strict=False)))


def vague(data: Published) -> mx.MaxEnt:
    """P(s | q) within 0.02."""
    return mx.MaxEnt(data.release).add(*(of.about(share, 0.02) for of, share in conditionals(data)))


def soft(data: Published) -> mx.MaxEnt:
    """P(s | q) as it is but for 0.01, a standard deviation."""
    rng = np.random.default_rng(1)
    return mx.MaxEnt(data.release).add(
        *(of.softly(float(np.clip(share + rng.normal(0, 0.01), 0, 1)), sd=0.01) for of, share in conditionals(data))
    )


def moments(data: Published) -> mx.MaxEnt:
    """The mean and standard deviation of the age of those with each of the most frequent values."""
    model = mx.MaxEnt(data.release)
    for value, part in data.people.groupby(data.sa):
        if len(part) >= max(2, len(data.people) / 12):
            mean, sd = (round(float(one), 1) for one in (part["age"].mean(), part["age"].std(ddof=0)))
            model.add(mx.PublishedMoments(mean, sd, of="age", given={data.sa: value}, ddof=0, decimals=1))
    return model


def rules(data: Published) -> mx.MaxEnt:
    """The strongest associations, half of them negative: most say that something is always or never so."""
    n = min(100, max(2, len(data.people) // 8))
    least = min(3, len(data.people) // 4)
    return mx.MaxEnt(data.release).add(mx.StrongestAssociations(data.people, n // 2, n - n // 2, min_support=least))


def order(data: Published) -> mx.MaxEnt:
    """Two values are the more probable, the less probable among groups in the order of their shares."""
    model = mx.MaxEnt(data.release)
    for value, along in itertools.islice(
        zip(data.people[data.sa].value_counts().index, ("relationship", "age"), strict=False), 2
    ):
        shares = (data.people[data.sa] == value).groupby(data.people[along]).mean().sort_values()
        if len(shares) > 1:
            model.add(mx.Monotone(P(value), along=along, order=list(shares.index)))
    return model


def people(data: Published) -> mx.MaxEnt:
    """Two people by name: how probable the value of the first is, and that the second has the same."""
    table = data.people.drop_duplicates(subset=list(QI)).head(2)
    named = {name: dict(row[list(QI)]) for name, (_, row) in zip(("Ann", "Bob"), table.iterrows(), strict=True)}
    first, second = table[data.sa]
    statements = [P(first, who="Ann") >= 0.4]
    if first != second:
        statements.append(P(first, who="Bob") <= 0.3)
    return mx.MaxEnt(data.release, people=named).add(*statements)


def convex(data: Published) -> mx.MaxEnt:
    """The table of sex and the sensitive attribute is near that of the records, by its Kullback-Leibler divergence."""
    table = data.people.groupby(["sex", data.sa]).size() / len(data.people)

    def near(space: Any) -> Any:
        pairs = [key for key in table.index if table[key] > 0]
        p = cp.hstack([space.prob({data.sa: value}, given={"sex": sex}) for sex, value in pairs])
        truth = np.array([table[key] / table.xs(key[0], level=0).sum() for key in pairs])
        return cp.sum(cp.kl_div(p, truth)) <= 0.01

    return mx.MaxEnt(data.release).add(near, label="near the table of sex")


def nothing(data: Published) -> mx.MaxEnt:
    """Nothing but the release; solved without presolve, which would leave nothing to the solver."""
    return mx.MaxEnt(data.release)


KINDS: dict[str, Callable[[Published], mx.MaxEnt]] = {
    one.__name__: one for one in (nothing, equations, inequalities, vague, soft, moments, rules, order, people, convex)
}


def models(largest: float = math.inf) -> dict[str, mx.MaxEnt]:
    """All models up to a number of terms, by size and kind."""
    every = {}
    for size in SIZES:
        data = published(*size)
        if len(nothing(data).space) > largest:  # and so are those of larger sizes
            break
        for kind, make in KINDS.items():
            model = make(data)
            if len(model.space) <= largest:
                every[f"{len(model.space)} terms, {kind}"] = model
    return every


def table_of(solvers: list[str], limit: float, largest: float) -> pd.DataFrame:
    """One row per model and solver, as of :func:`maxent_cvx.compare_solvers`."""
    every = models(largest)
    tables = []
    for presolve in (False, True):
        chosen = {name: model for name, model in every.items() if name.endswith("nothing") != presolve}
        tables.append(mx.compare_solvers(chosen, [DEFAULT, *solvers], time_limit=limit, presolve=presolve))
    return pd.concat(tables)


def by_solver(table: pd.DataFrame) -> pd.DataFrame:
    """One row per solver: certified answers, seconds of each step, bounds and errors."""
    groups = table.groupby("solver", sort=False)
    summary = groups["certified"].agg(models="size", certified="sum", share="mean")
    for step, of_step in itertools.product(STEPS, ("median", "sum")):
        summary[f"{step} ({of_step})"] = groups[step].agg(of_step)
    summary["bound (median)"] = groups["bound"].median()
    summary["error (max)"] = table["error"].where(table["certified"]).groupby(level="solver").max()
    return summary


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table of all answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solvers", nargs="+", default=["CLARABEL", "ECOS", "SCS", "MOSEK"])
    parser.add_argument("--limit", type=float, default=60, help="seconds of each solve")
    parser.add_argument("--largest", type=float, default=math.inf, help="leave larger models out, terms")
    parser.add_argument("--picture", help="draw the performance profile of Dolan and Moré to this file")
    options = parser.parse_args(arguments)

    usable = mx.solvers.available()
    solvers = [name for name in options.solvers if usable.loc[name, "installed"] and not usable.loc[name, "note"]]
    table = table_of(solvers, options.limit, options.largest)
    refused = table[~table["certified"]]
    print(refused[["word", "bound", "error", "seconds", "reason"]].to_string(float_format="{:.2g}".format))
    print(by_solver(table).to_string(float_format="{:.3g}".format))
    if options.picture:
        profile = mx.performance_profile(table)
        mx.plots.performance_profile(profile).figure.savefig(options.picture, bbox_inches="tight")
    return table


if __name__ == "__main__":
    main()
