"""Solve larger and larger tables of Adult's shape:  python -m tests.benchmarks.larger --records 14210 100000 1000000.

Every size runs in a process of its own, so that its peak memory is its own. Prints processor seconds, microseconds
a record, and the ratio of those to the size before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

import maxent_cvx as mx

from .models import adult_model


def peak_memory() -> float:
    """Peak memory of this process, GiB, where the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30)


def measure(records: int, rows: int) -> dict[str, float]:
    """Publish, know and solve one size."""
    begun = time.process_time()
    model = adult_model(records, rows)
    built = time.process_time()
    post = model.solve()
    solved = time.process_time()
    assert isinstance(post, mx.Posterior)
    return {
        "records": records, "terms": len(model.space), "build_seconds": built - begun, "solve_seconds": solved - built,
        "iterations": post.iterations, "residual": post.certificate.residual, "gap": post.certificate.gap,
        "certified_error": post.certificate.bound, "peak_gib": peak_memory(),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[14_210, 100_000])
    parser.add_argument("--rows", type=int, default=200, help="generic rows of knowledge")
    parser.add_argument("--one", action="store_true", help="measure one size in this process, and print JSON")
    options = parser.parse_args(arguments)
    if options.one:
        found = [measure(options.records[0], options.rows)]
        print(json.dumps(found[0]))
    else:
        found = []
        for records in options.records:
            command = [
                sys.executable,
                "-m",
                __spec__.name if __spec__ else __name__,
                "--one",
                "--records",
                str(records),
            ]
            root = Path(__file__).parents[2]
            run = subprocess.run([*command, "--rows", str(options.rows)], check=True, capture_output=True, cwd=root)
            found.append(json.loads(run.stdout.splitlines()[-1]))
    table = pd.DataFrame(found)
    table["microseconds_a_record"] = 1e6 * table["solve_seconds"] / table["records"]
    table["ratio"] = table["microseconds_a_record"] / table["microseconds_a_record"].shift()
    if not options.one:
        print(table.to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
