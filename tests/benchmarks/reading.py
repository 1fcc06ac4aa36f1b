"""Read larger and larger releases in partitions:  python -m tests.benchmarks.reading --records 100000 1000000 10000000.

Tables of Adult's shape are written as Parquet files of a million rows, with buckets of five: once grouped by bucket,
and once with the records of a bucket anywhere. Every size and order is read in a process of its own. Prints processor
and wall microseconds a record for reading, which includes a shuffle, and for making all parts one after another, peak
memory, and what the release holds in this process in bytes a record. People live in areas, an attribute more than Adult
has: the more areas, the more distinct QI tuples.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import maxent_cvx as mx

from .larger import peak_memory
from .larger_tables import larger_adult

#: Rows of a file.
FILE = 1_000_000


def write(records: int, grouped: bool, areas: int, folder: Path) -> None:
    """Write the files of a table."""
    rng = np.random.default_rng(1)
    order = np.arange(records) if grouped else np.random.default_rng(0).permutation(records)
    for i, first in enumerate(range(0, records, FILE)):
        rows = order[first : first + FILE]
        area = rng.integers(areas, size=len(rows))
        table = larger_adult(len(rows), seed=i).assign(Area=area, Bucket=rows // 5)
        table.to_parquet(folder / f"{i}.parquet")


def held(release: mx.PartitionedRelease) -> int:
    """Bytes of the labels and counts of the whole, and of makers, as they are sent to workers."""
    makers = sum(len(pickle.dumps(make)) for make in release.makers)
    return makers + release.n_q.nbytes + sum(np.asarray(code).nbytes for code in release.quasi_identifiers.codes)


def measure(folder: Path) -> dict[str, float]:
    """Read the files, and make every part once."""
    begun, wall = time.process_time(), time.perf_counter()
    release = mx.Release.from_parquet(folder, qi=[*mx.datasets.ADULT_QI, "Area"], sa="education", bucket="Bucket")
    read, wall_read = time.process_time() - begun, time.perf_counter() - wall
    begun = time.process_time()
    for make in release.makers:
        make()
    made, n = time.process_time() - begun, release.n_records
    return {
        "records": n, "partitions": release.n_partitions, "tuples": len(release.n_q), "read_us": 1e6 * read / n,
        "read_wall_us": 1e6 * wall_read / n, "make_us": 1e6 * made / n, "peak_gib": peak_memory(),
        "bytes_a_record": held(release) / n,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--areas", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="measure the files in it in this process, and print JSON")
    options = parser.parse_args(arguments)
    if options.folder:
        found = measure(options.folder)
        print(json.dumps(found))
        return pd.DataFrame([found])
    lines, root = [], Path(__file__).parents[2]
    for records in options.records:
        for order in ("grouped", "anywhere"):
            with tempfile.TemporaryDirectory() as folder:
                write(records, order == "grouped", options.areas, Path(folder))
                command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--folder", folder]
                run = subprocess.run(command, check=True, capture_output=True, cwd=root)
            lines.append({"buckets": order, **json.loads(run.stdout.splitlines()[-1])})
    table = pd.DataFrame(lines)
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
