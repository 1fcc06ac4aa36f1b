"""What a solve over partitions costs, and what larger ones would:  python -m tests.benchmarks.partition_costs.

A release of --records records is solved by one thread, and every map and reduction is timed and weighed: seconds a term
of each function, numbers that travel. The latency of a map is that of a function that does nothing, on a cluster of
Dask with --workers processes of this machine. The model is

    seconds = c terms / workers + maps (latency + partitions task) + bytes / bandwidth,

where c is the sum of the seconds a term of all functions, and `task` what the scheduler takes for one task. It is
written down for the sizes asked for with --predict, of as many workers and partitions each.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import maxent_cvx as mx
from maxent_cvx._utils.parallel import ClusterExecutor, LocalExecutor, local_client

from .partitions import true_statements, write_pieces

#: Bytes a second between machines of a cluster: a gigabit network.
BANDWIDTH = 1.25e8


class TimedExecutor(LocalExecutor):
    """One thread, with a record of what every function takes, and of the bytes that would travel."""

    def __init__(self) -> None:
        super().__init__(1)
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self.sent: dict[str, int] = defaultdict(int)

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """As of any executor."""
        inner = function.args[0] if isinstance(function, partial) else function
        name, begun = getattr(inner, "__name__", type(inner).__name__), time.process_time()
        found = super().map(function, *handles, common=common)
        self.seconds[name] += time.process_time() - begun
        self.calls[name] += 1
        self.sent[name] += len(found) * len(pickle.dumps(common))
        return found

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """As of any executor; what is combined has travelled."""
        self.sent["reductions"] += sum(len(pickle.dumps(one)) for one in handles)
        self.calls["reductions"] += 1
        return super().reduce(combine, handles)


def nothing(part: object) -> int:
    """The function whose maps measure latency."""
    return 0


def latency(workers: int, partitions: int = 64, times: int = 20) -> tuple[float, float]:
    """Seconds of a map and its reduction of few partitions, and seconds of the scheduler for every further one."""
    with local_client(workers) as client:
        executor, found = ClusterExecutor(client), []
        for n in (workers, partitions):
            handles = executor.map(nothing, list(range(n)))
            executor.reduce(sum, handles)
            begun = time.perf_counter()
            for _ in range(times):
                executor.reduce(sum, executor.map(nothing, handles))
            found.append((time.perf_counter() - begun) / times)
    task = max(found[1] - found[0], 0.0) / (partitions - workers)
    return max(found[0] - workers * task, 0.0), task


def measured(records: int, rows: int) -> tuple[TimedExecutor, int, float]:
    """Solve one size; the record, the number of terms, and the seconds in all."""
    with tempfile.TemporaryDirectory() as name:
        paths = write_pieces(Path(name), records)
        statements = true_statements(paths, rows)
        roles: dict[str, Any] = {"qi": mx.datasets.ADULT_QI, "sa": "education", "bucket": "Bucket"}
        release, executor = mx.Release.from_parquet(name, **roles), TimedExecutor()
        begun = time.process_time()
        post: Any = mx.MaxEnt(release).add(*statements).solve(client=executor)
        seconds = time.process_time() - begun
        return executor, sum(len(point.counts) for point in post._points), seconds


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print the costs and the predictions; return the costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--predict", nargs="*", default=["1e5,1,1", "1e6,2,4", "1e7,2,40", "1e9,100,400"],
        help="records,workers,partitions",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    executor, terms, seconds = measured(options.records, options.rows)
    table = pd.DataFrame({
        "calls": executor.calls, "seconds": executor.seconds, "bytes": executor.sent,
    }).sort_values("seconds", ascending=False)  # fmt: skip
    table["ns a term and call"] = 1e9 * table["seconds"] / table["calls"] / terms
    print(table.to_string(float_format=lambda x: f"{x:.3g}"))
    maps, sent = int(table["calls"].drop("reductions").sum()), float(table["bytes"].sum())
    first, task = latency(options.workers)
    print(f"\n{terms:,} terms, {seconds:.3g} s in all; {maps} maps, {sent / 1e6:.3g} MB would travel, a partition")
    print(f"latency {1e3 * first:.3g} ms a map, {1e3 * task:.3g} ms a task\n")
    found = []
    for asked in options.predict:
        records, workers, partitions = (float(one) for one in asked.split(","))
        compute = seconds * records / options.records / workers
        waiting = maps * (first + partitions * task) if partitions > 1 else 0.0
        travel = sent * partitions / BANDWIDTH if workers > options.workers else 0.0
        found.append({
            "records": records, "workers": workers, "partitions": partitions, "compute": compute,
            "scheduling": waiting, "network": travel, "seconds": compute + waiting + travel,
        })  # fmt: skip
    print(pd.DataFrame(found).to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    return table


if __name__ == "__main__":
    main()
