"""Possible worlds of groups of growing size, and of releases of Adult: ``python -m tests.benchmarks.worlds``.

``--whole 1000`` asks what all whole assignments of a series of two releases of so many people agree on.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx

from .series import adult_series


def timed(question: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """The shortest of some times, and the answer."""
    seconds = []
    for _ in range(times):
        begun = time.perf_counter()
        answer = question()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), answer


def groups(sizes: list[int], times: int) -> pd.DataFrame:
    """Groups in which all values are distinct, exactly and sampled."""
    rng = np.random.default_rng(0)
    rows = []
    for n in sizes:
        group = pd.DataFrame(rng.random((n, n)))
        exact, _ = timed(lambda group=group, n=n: mx.worlds.posterior(group, range(n)), times)
        sampled, found = timed(lambda group=group, n=n: mx.worlds.sample(group, range(n)), times)
        rows.append((n, exact, sampled, found.effective, found.standard_error.max(axis=None)))
    return pd.DataFrame(rows, columns=["tuples", "exact_seconds", "sampled_seconds", "effective", "standard_error"])


def releases(records: int, r: int, sets: list[list[str]], condition: str) -> pd.DataFrame:
    """Adult, occupation sensitive, repeated to so many records: each step on the publisher's and the judge's side."""
    adult = mx.datasets.load_adult(complete=True)
    table = adult.iloc[np.arange(records) % len(adult)].reset_index(drop=True)
    roles = {"qi": ["age", "workclass", "education", "marital-status", "race", "sex"], "sa": "occupation"}
    prior = mx.QIDistribution.estimate(table, qi=sets, sa="occupation", smoothing=1)
    steps: dict[str, float] = {}
    steps["anatomy"], release = timed(lambda: mx.anonymize.anatomy(table, **roles, l=5))
    steps["r_robustness"], robust = timed(lambda: mx.worlds.r_robustness(release, prior))
    steps["conditions"], _ = timed(lambda: mx.worlds.conditions(release, prior, r))
    steps["similar_linkage"], safe = timed(lambda: published(table, roles, prior, r, condition))
    steps["MaxEnt(prior=)"], _ = timed(lambda: mx.MaxEnt(release, prior=prior.select(sets[0])).solve())
    found = pd.DataFrame({"seconds": steps})
    found["ratio"] = found["seconds"] / steps["anatomy"]
    of_safe = np.nan if safe is None else mx.worlds.r_robustness(safe, prior)["r"].min()
    found.attrs["r"] = (robust["r"].min(), of_safe)
    return found


def published(
    table: pd.DataFrame, roles: dict[str, Any], prior: mx.QIDistribution, r: int, condition: str
) -> mx.Release | None:
    """Publish by similar linkage; None, and what it says, if records are left over."""
    try:
        return mx.anonymize.similar_linkage(table, **roles, prior=prior, r=r, condition=condition)
    except mx.TableError as error:
        print(f"similar linkage: {error}")
        return None


def whole(people: list[int], l: int, seconds: float) -> pd.DataFrame:
    """What all whole assignments agree on: how long that takes, and how much of it is decided."""
    rows = []
    for n in people:
        post = mx.MaxEnt(adult_series(n, round(5 / 6 * n), 2, l)).solve()
        begun, processor = time.perf_counter(), time.process_time()
        certain = post.certain(integer=True, time_limit=seconds)
        taken = time.perf_counter() - begun, time.process_time() - processor
        found = certain[certain["decided"]]
        hidden = (found["posterior"] - found["probability"]).abs() > 1e-3
        rows.append((n, *taken, len(certain), int(certain["decided"].sum()), int(hidden.sum())))
    return pd.DataFrame(rows, columns=["people", "seconds", "processor", "listed", "decided", "hidden"])


def main(arguments: list[str] | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure groups, and a release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 10, 15, 18, 20])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--records", type=int, default=30_162)
    parser.add_argument("--r", type=int, default=3)
    parser.add_argument("--known", nargs="+", default=["sex,race"], help="attribute sets, as sex,race")
    parser.add_argument("--condition", default="sound", help="of similar linkage")
    parser.add_argument("--whole", type=int, nargs="+", default=[], help="people of series in whole assignments")
    parser.add_argument("--l", type=int, default=5, help="of these series")
    parser.add_argument("--seconds", type=float, default=60.0, help="that each of them is given")
    options = parser.parse_args(arguments)
    if options.whole:
        certain = whole(options.whole, options.l, options.seconds)
        print("hidden: certain, and not in linear rows")
        print(certain.to_string(index=False, float_format=lambda x: f"{x:.3g}"), end="\n\n")
    one = groups(options.sizes, options.times)
    print(one.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    two = releases(options.records, options.r, [known.split(",") for known in options.known], options.condition)
    print(f"\n{options.records} records, known {'; '.join(options.known)}, r = {options.r}")
    print(two.to_string(float_format=lambda x: f"{x:.3g}"))
    print("Anatomy holds r = {:.3f}, similar linkage r = {:.3f}".format(*two.attrs["r"]))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    return one, two


if __name__ == "__main__":
    main()
