"""What it costs to emit knowledge in partitions:  python -m tests.benchmarks.emission --records 100000 500000.

A release of Adult's shape in buckets of five is divided into partitions of --size records, and --rows statements of one
to three attributes are known. Printed are the processor seconds that it takes to make the rows and columns of all
partitions, one after another, with those of the same model in memory, their ratio, and microseconds a record; and in
how many bytes knowledge is told to a partition.
"""

from __future__ import annotations

import argparse
import pickle
import time

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx._utils.parallel import LocalExecutor
from maxent_cvx.releases.partitioned import divided

from .larger_tables import larger_adult


def statements(records: pd.DataFrame, rows: int) -> list[mx.Statement]:
    """Draw P(education | one to three QI attributes) <= 0.9."""
    rng, drawn = np.random.default_rng(0), {}
    while len(drawn) < rows:
        person = records.iloc[int(rng.integers(len(records)))]
        names = rng.choice(mx.datasets.ADULT_QI, rng.integers(1, 4), replace=False)
        said = mx.P(person["education"], given={str(name): person[name] for name in names}) <= 0.9
        drawn[said.label] = said
    return list(drawn.values())


def measure(records: int, rows: int, size: int) -> dict[str, float]:
    """One number of records."""
    table = larger_adult(records, seed=0)
    table["Bucket"] = np.random.default_rng(0).permutation(records) // 5
    release = mx.Release.from_buckets(table, qi=mx.datasets.ADULT_QI, sa="education", bucket="Bucket")
    said = statements(table, rows)
    begun = time.process_time()
    memory = mx.MaxEnt(release).add(*said)
    memory.posed  # noqa: B018 - derived when it is asked for
    in_memory = time.process_time() - begun
    del memory
    model = mx.PartitionedMaxEnt(divided(release, max(records // size, 1)))
    model._work_on(LocalExecutor(1))
    model._whole.parts  # noqa: B018 - cut before the time is taken
    begun = time.process_time()
    posed = model.add(*said)._problem()
    in_parts = time.process_time() - begun
    told = [one.sent for one in model._held.groups.values()], model._whole.marginals(frozenset())
    return {
        "records": records, "partitions": len(posed.parts), "rows": rows, "in_memory": in_memory, "in_parts": in_parts,
        "ratio": in_parts / in_memory, "microseconds_a_record": 1e6 * in_parts / records,
        "bytes_told": len(pickle.dumps(told)),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 500_000])
    parser.add_argument("--rows", type=int, default=200, help="statements")
    parser.add_argument("--size", type=int, default=250_000, help="records a partition")
    options = parser.parse_args(arguments)
    table = pd.DataFrame([measure(records, options.rows, options.size) for records in options.records])
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
