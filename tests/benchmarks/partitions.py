"""Releases larger than one model:  python -m tests.benchmarks.partitions --records 1000000 10000000.

Records of Adult's shape are drawn in pieces, bucketized by Anatomy (l = 5, two values exempt), and written to Parquet
files. What is timed begins there: the files are read as a partitioned release, statements that are true of all records
are known, and the model is solved, by threads of one process, or with --workers by a cluster of Dask on this machine.
Every size runs in a process of its own. Printed are wall-clock seconds of each phase, processor seconds of the process
and its workers, microseconds a record and their ratio to the size before, the certified error, and the peak memory of
the process, and of its workers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx._utils.parallel import local_client

from .larger import peak_memory
from .models import larger_adult

#: Records that are drawn, bucketized and written at a time.
PIECE = 250_000


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
            alike = np.logical_and.reduce([(table[name] == one).to_numpy() for name, one in given.items()])
            counts[row] += alike.sum(), (alike & (table["education"] == value).to_numpy()).sum()
    share = counts[:, 1] / counts[:, 0]
    found = [
        mx.P(value, given=given) == float(p)
        for (given, value), p in zip(drawn.values(), share, strict=True)
        if 0.05 < p < 0.95
    ]
    return found[:rows]


def solved(folder: Path, statements: Sequence[mx.Statement], client: object, threads: int | None) -> dict[str, float]:
    """Read, know and solve; seconds of each phase."""
    begun, used = time.perf_counter(), time.process_time()
    release = mx.Release.from_parquet(
        str(folder / "*.parquet"), qi=mx.datasets.ADULT_QI, sa="education", bucket="Bucket"
    )
    read = time.perf_counter()
    model = mx.MaxEnt(release).add(*statements)
    known = time.perf_counter()
    post = model.solve(client=client, threads=threads, verbose="-v" in sys.argv)
    done = time.perf_counter()
    return {
        "records": release.n_records, "partitions": release.n_partitions, "tuples": len(release.quasi_identifiers),
        "read": read - begun, "know": known - read, "solve": done - known, "total": done - begun,
        "processor": time.process_time() - used,
        "iterations": post.iterations, "certified_error": post.certificate.bound, "peak_gib": peak_memory(),
    }  # fmt: skip


def measure(records: int, rows: int, workers: int, threads: int | None) -> dict[str, float]:
    """One size, by threads, or by workers of Dask; with these, the peak memory of all of them, in addition."""
    with tempfile.TemporaryDirectory() as name:
        paths = write_pieces(Path(name), records)
        statements = true_statements(paths, rows)
        if not workers:
            return solved(Path(name), statements, None, threads)
        with local_client(workers) as client:
            before = sum(client.run(time.process_time).values())
            found = solved(Path(name), statements, client, None)
            peaks, processor = client.run(peak_memory), sum(client.run(time.process_time).values())
            found["processor"] += processor - before
            return {**found, "workers": workers, "workers_gib": sum(peaks.values())}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rows", type=int, default=200, help="statements")
    parser.add_argument("--workers", type=int, default=0, help="workers of Dask, a process each; by default threads")
    parser.add_argument("--threads", type=int, default=None, help="threads, by default one a processor")
    parser.add_argument("--one", action="store_true", help="measure one size in this process, and print JSON")
    parser.add_argument("-v", action="store_true", help="print the iterations")
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(options.records[0], options.rows, options.workers, options.threads)))
        return pd.DataFrame()
    found = []
    for records in options.records:
        command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--one", "--records", str(records)]
        command += ["--rows", str(options.rows), "--workers", str(options.workers)]
        command += [] if options.threads is None else ["--threads", str(options.threads)]
        run = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[2])
        found.append(json.loads(run.stdout.splitlines()[-1]))
    table = pd.DataFrame(found)
    table["microseconds_a_record"] = 1e6 * table["total"] / table["records"]
    table["ratio"] = table["microseconds_a_record"] / table["microseconds_a_record"].shift()
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
