"""Releases in partitions, beside the same release in memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx._utils.parallel import LocalExecutor
from maxent_cvx.model.partitioned_system import (
    BroadcastSource,
    PartitionedProblem,
    PartitionedSpace,
    partitioned_problem,
)
from maxent_cvx.model.system import assemble_system
from maxent_cvx.releases.partitioned import divided
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.sources.base import as_source
from maxent_cvx.sources.invariants import NamedPeople
from maxent_cvx.sources.parser import read_statement

QI = ["g", "d", "age"]


def random_records(rng: np.random.Generator) -> pd.DataFrame:
    """Records in at least seven buckets."""
    n = int(rng.integers(20, 60))
    return pd.DataFrame(
        {
            "g": rng.choice(["m", "f"], n),
            "d": rng.choice(["a", "b", "c"], n),
            "age": rng.choice([20, 30, 40, 50], n),
            "s": rng.choice(["flu", "hiv", "lung", "cold"], n, p=[0.5, 0.1, 0.2, 0.2]),
            "b": np.concatenate([np.arange(7), rng.integers(0, 12, n - 7)]),
        }
    )


def published(records: pd.DataFrame) -> mx.Release:
    return mx.Release.from_buckets(records, qi=QI, sa="s", bucket="b")


def some_people(records: pd.DataFrame, n: int = 3) -> dict[str, dict[str, object]]:
    """Descriptions of people; two of them are alike, if two are."""
    alike = records[records.duplicated(QI, keep=False)].sort_values(QI).head(2)
    chosen = pd.concat([alike, records.drop_duplicates(QI).head(n)])
    chosen = chosen[~chosen.index.duplicated()]
    return {f"p{i}": row for i, row in enumerate(chosen[QI].to_dict("records"))}


def whole_of(release: mx.Release, n: int, people: Any = None) -> PartitionedSpace:
    """A release in n partitions, or as many as it has buckets."""
    return PartitionedSpace(divided(release, min(n, len(release.buckets))), people, LocalExecutor(1))


def in_parts(whole: PartitionedSpace, statements: Sequence[Any]) -> PartitionedProblem:
    """The rows of statements, each with a label of its own, in all partitions."""

    def broadcast(source: Any, label: str | None) -> BroadcastSource:
        source = read_statement(source) if isinstance(source, str) else as_source(source)
        return whole.broadcast(source, label)

    facts = [broadcast(NamedPeople(), None)] if len(whole.people) else []
    return partitioned_problem(
        whole, facts, [broadcast(statement, f"said {i}") for i, statement in enumerate(statements)]
    )


def in_memory(release: mx.Release, statements: Sequence[Any], people: Any = None) -> tuple[mx.MaxEnt, LinearForm]:
    """The same in one model, and its rows before they are rewritten."""
    model = mx.MaxEnt(release, people)
    for i, statement in enumerate(statements):
        model.add(statement, label=f"said {i}")
    rows = [group.rows for group in model._base.groups.values()]
    n = len(model.facts)
    facts, known = (list(itertools.chain(*groups)) for groups in (rows[1:n], rows[n:]))
    known.sort(key=lambda block: block.penalty is not None)
    return model, assemble_system(rows[0], facts, known, release.n_records, model.space.weights)
