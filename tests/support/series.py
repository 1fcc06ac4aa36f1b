"""Random small series of releases, and every whole assignment that they allow."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

import maxent_cvx as mx


def patients(qi=()) -> mx.ReleaseSeries:
    """Re-publishing, Fig. 1(b) and 1(d)."""
    return mx.ReleaseSeries(published(table, qi) for table in mx.datasets.load_patients())


def published(table: pd.DataFrame, qi=()) -> mx.Release:
    return mx.Release.from_buckets(table, qi=list(qi), sa="Disease", bucket="Bucket", id="Pseudonym")


def random_tables(seed: int, releases: int = 2, size: int = 7) -> list[pd.DataFrame]:
    """People who keep one of three or four diseases, come and go, and are divided anew into buckets of 1 to 4."""
    rng = np.random.default_rng(seed)
    n = size + 3
    disease = rng.choice(list("abcd")[: rng.integers(3, 5)], n)
    tables = []
    for _ in range(releases):
        here = np.sort(rng.choice(n, rng.integers(size - 2, size + 1), replace=False))
        order = rng.permutation(here)
        ends = np.cumsum(rng.integers(1, 5, len(here)))
        bucket = np.searchsorted(ends, np.arange(len(here)), side="right") + 1
        table = pd.DataFrame({"Pseudonym": order, "Sex": np.where(order % 2, "m", "f")})
        tables.append(table.assign(Disease=disease[order], Bucket=bucket))
    return tables


def assignments(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Every assignment of values to people that has the published buckets, a row each, a column a person."""
    people = sorted(set().union(*(table["Pseudonym"] for table in tables)))
    options = {}
    for person in people:
        own = [
            set(t.loc[t["Bucket"] == b, "Disease"]) for t in tables for b in t.loc[t["Pseudonym"] == person, "Bucket"]
        ]
        options[person] = sorted(set.intersection(*own))
    worlds = []
    for values in itertools.product(*options.values()):
        given = dict(zip(people, values, strict=True))
        fits = all(
            sorted(given[p] for p in group["Pseudonym"]) == sorted(group["Disease"])
            for table in tables
            for _, group in table.groupby("Bucket")
        )
        if fits:
            worlds.append(given)
    return pd.DataFrame(worlds, columns=people)
