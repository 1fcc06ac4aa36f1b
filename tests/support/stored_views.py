"""A posterior of every kind of view, as a version saves it; ``python tests/support/stored_views.py FOLDER`` does so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import maxent_cvx as mx
from maxent_cvx import P

__all__ = ["KINDS"]


def hospital() -> mx.Release:
    """Fig. 1 of Privacy-MaxEnt."""
    table = mx.datasets.load_hospital()
    return mx.Release.from_buckets(table, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


def release() -> mx.MaxEnt:
    return mx.MaxEnt(hospital()).add(P("Flu", given={"Gender": "male"}) == 0.3)


def people() -> mx.MaxEnt:
    allen = {"Allen": {"Gender": "male", "Degree": "college"}}
    return mx.MaxEnt(hospital(), people=allen).add(P("Flu", who="Allen") <= 0.2)


def prior() -> mx.MaxEnt:
    believed = mx.QIDistribution.estimate(mx.datasets.load_hospital(), qi=["Gender"], sa="Disease", smoothing=0.5)
    return mx.MaxEnt(hospital(), prior=believed)


def table() -> mx.MaxEnt:
    patients = mx.datasets.load_hospital()
    view = mx.QITable(patients, qi=["Gender"], sa="Disease", sa_distribution=patients["Disease"].value_counts() / 10)
    return mx.MaxEnt(view)


def series() -> mx.MaxEnt:
    first, second = mx.datasets.load_patients()
    roles = {"qi": ["Gender", "Zip"], "sa": "Disease", "bucket": "Bucket", "id": "Pseudonym"}
    return mx.MaxEnt(mx.ReleaseSeries([mx.Release.from_buckets(table, **roles) for table in (first, second)]))


def generalized() -> mx.MaxEnt:
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "S": ["a", "b", "a"]})
    voters = pd.DataFrame({"Age": [21, 22, 25, 31], "n": [1, 2, 1, 1]})
    return mx.MaxEnt(mx.Release.from_generalized(records, qi="Age", sa="S", population=voters, count="n"))


KINDS: dict[str, Callable[[], mx.MaxEnt]] = {
    made.__name__: made for made in (release, people, prior, table, series, generalized)
}

if __name__ == "__main__":
    for name, made in KINDS.items():
        made().solve().save(Path(sys.argv[1]) / f"{name}.parquet")
