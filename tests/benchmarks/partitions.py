"""Releases larger than one model:  python -m tests.benchmarks.partitions --records 1000000 10000000.

Records of Adult's shape are drawn in pieces, bucketized by Anatomy (l = 5, two values exempt), and written to Parquet
files. What is timed begins there: the files are read as a partitioned release, statements that are true of all records
are known, and the model is solved, by threads of one process, or with --workers by a cluster of Dask on this machine.
With --in-memory the release is published and solved as one model. Every size runs in a process of its own, whose peak
memory is its own. Printed are wall-clock seconds of each phase, processor seconds of the process and its workers,
microseconds per record and their ratio to the size before, the certified error, and the peak memory of the process,
and of its workers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx._utils.parallel import local_client

from .models import adult_model, larger_adult

#: Records that are drawn, bucketized and written at a time.
PIECE = 250_000


def peak_memory() -> float:
    """Peak memory of this process, GiB; NaN on Windows."""
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30)


def write_pieces(folder: Path, records: int) -> list[Path]:
    """Draw records and write them, each with its bucket."""
    paths = []
    for number, start in enumerate(range(0, records, PIECE)):
        piece = larger_adult(min(PIECE, records - start), seed=number)
        bucket = mx.anonymize.anatomy_buckets(piece, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2)
        paths.append(folder / f"{number:05}.parquet")
        piece.assign(Bucket=bucket.to_numpy() + start).to_parquet(paths[-1], index=False)
    return paths


def true_statements(paths: Sequence[Path], rows: int) -> list[mx.Statement]:
    """Draw P(education | 1 to 3 QI attributes), neither 0 nor 1, and compute what is true of all records."""
    rng, example = np.random.default_rng(0), pd.read_parquet(paths[0])
    drawn: dict[str, tuple[dict[str, object], object]] = {}
    while len(drawn) < 2 * rows:  # some are nearly certain
        person = example.iloc[int(rng.integers(len(example)))]
        attributes = rng.choice(mx.datasets.ADULT_QI, rng.integers(1, 4), replace=False)
        given = {str(name): person[name] for name in attributes}
        drawn.setdefault(f"{sorted(given.items())} {person['education']}", (given, person["education"]))
    counts = np.zeros((len(drawn), 2))
    for path in paths:
        table = pd.read_parquet(path)
        for row, (given, value) in enumerate(drawn.values()):
            alike = np.logical_and.reduce([(table[name] == of_person).to_numpy() for name, of_person in given.items()])
            counts[row] += alike.sum(), (alike & (table["education"] == value).to_numpy()).sum()
    share = counts[:, 1] / counts[:, 0]
    statements = [
        mx.P(value, given=given) == float(p)
        for (given, value), p in zip(drawn.values(), share, strict=True)
        if 0.05 < p < 0.95
    ]
    return statements[:rows]


def solved(known: Callable[[], Any], **options: Any) -> dict[str, float]:
    """Make a model, and solve it; seconds of each phase."""
    begun, used = time.perf_counter(), time.process_time()
    model = known()
    made = time.perf_counter()
    post = model.solve(**options)
    done = time.perf_counter()
    return {
        "make": made - begun, "solve": done - made, "total": done - begun, "processor": time.process_time() - used,
        "iterations": post.iterations, "certified_error": post.certificate.bound, "peak_gib": peak_memory(),
    }  # fmt: skip


def measure(records: int, rows: int, workers: int, threads: int | None, in_memory: bool) -> dict[str, float]:
    """One size in memory, by threads, or by workers of Dask; with these, the peak memory of all of them, in addition."""
    if in_memory:
        return {"records": records, **solved(lambda: adult_model(records, rows))}
    with tempfile.TemporaryDirectory() as folder:
        statements = true_statements(write_pieces(Path(folder), records), rows)

        def known() -> Any:
            release = mx.Release.from_parquet(
                f"{folder}/*.parquet", qi=mx.datasets.ADULT_QI, sa="education", bucket="Bucket"
            )
            return mx.MaxEnt(release).add(*statements)

        if not workers:
            return {"records": records, **solved(known, threads=threads)}
        with local_client(workers) as client:
            before = sum(client.run(time.process_time).values())
            row = {"records": records, **solved(known, client=client)}
            row["processor"] += sum(client.run(time.process_time).values()) - before
            return {**row, "workers": workers, "workers_gib": sum(client.run(peak_memory).values())}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rows", type=int, default=200, help="statements")
    parser.add_argument("--workers", type=int, default=0, help="workers of Dask, a process each; by default threads")
    parser.add_argument("--threads", type=int, help="threads, by default one per processor")
    parser.add_argument("--in-memory", action="store_true", help="one model of all records")
    options = parser.parse_args(arguments)
    rows = []
    for records in options.records:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            size = (records, options.rows, options.workers, options.threads, options.in_memory)
            rows.append(pool.submit(measure, *size).result())
    table = pd.DataFrame(rows)
    table["microseconds_per_record"] = 1e6 * table["total"] / table["records"]
    table["ratio"] = table["microseconds_per_record"] / table["microseconds_per_record"].shift()
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
