"""``maxent-cvx quantify`` of Parquet files: a release in partitions, on this machine or on a cluster of Dask."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from .. import measures
from ..errors import TableError
from ..model.partitioned.partitioned_maxent import PartitionedMaxEnt
from ..sources import Statement
from ..system.local_workers import local_client
from ..views import Release
from . import document
from .advice import withholding
from .judging import judge, print_exposure, print_limit
from .output import check_output
from .reading import read_people
from .report_file import PAGES, write_report
from .streams import say, table_text

__all__ = ["is_in_partitions", "quantify_partitions"]

#: Options of ``quantify`` that a table in memory is needed for, and what to do instead.
IN_MEMORY = {
    "top": "score associations of a CSV file", "l": "write the buckets into a column, and give --bucket",
    "exempt": "write the buckets into a column, and give --bucket", "sa_table": "write values into the same files",
    "generalized": "write the groups into a column, and give --bucket", "id": "read the releases of a series from CSV",
    "qi_table": "rules are about one table of people", "population_size": "leave it out",
    "rows": "write the rows wanted into files of their own",
    "plot": "plot what --out writes",
}  # fmt: skip


def is_in_partitions(options: argparse.Namespace) -> bool:
    """Whether Parquet files are to be read; the options that are for these alone are refused with anything else."""
    tables = [*map(Path, (options.table, *options.more))]
    if any(table.suffix == ".parquet" or (table.is_dir() and table.suffix != ".csv") for table in tables):
        return True
    if options.cluster is not None or options.workers is not None:
        raise TableError(f"--cluster and --workers are for Parquet files; {options.table!r} is none")
    return False


def quantify_partitions(options: argparse.Namespace, statements: Sequence[Statement]) -> int:
    """Print what the release discloses; write P(q, s, b) of every partition where asked."""
    for name, instead in IN_MEMORY.items():
        if getattr(options, name, None) not in (None, False):
            option = "--" + name.replace("_", "-")
            raise TableError(f"Parquet files are read in partitions, for which there is no {option}: {instead}")
    if options.solver != "auto":
        raise TableError(f"--solver {options.solver}: releases in partitions are solved by the default solver")
    if missing := [f"--{name}" for name in ("qi", "sa", "bucket") if getattr(options, name) is None]:
        raise TableError(f"{', '.join(missing)} must be given: Parquet files do not say which columns those are")
    qi, sa = ([name.strip() for name in text.split(",")] for text in (options.qi, options.sa))
    if options.out is not None and Path(options.out).exists():
        raise TableError(f"cannot write {options.out!r}: it is there; a folder is written whole, under a new name")
    check_output(options.report, PAGES)
    people = None if options.people is None else read_people(options.people)
    with _workers(options) as client:
        release = Release.from_parquet(
            [options.table, *options.more], qi=qi, sa=sa, bucket=options.bucket, count=options.count
        )
        say(f"{release!r}"[1:-1])
        model = PartitionedMaxEnt(release, people).add(*statements)
        for label in model.knowledge:
            say(f"known: {label}")
        post = model.solve(client=client)
        print(f"H({'I, ' * (people is not None)}Q, S, B) = {post.entropy:.6f} nats; {post.certificate}\n")
        if people is not None:
            say(f"P({', '.join(sa)} | person):")
            print(table_text(post.people(), float_format=lambda x: f"{x:.4f}"), end="\n\n")
        print("Worst disclosure over all QI tuples:")
        worst = measures.disclosure(post, worst=True)
        print(table_text(worst, index=False, float_format=lambda x: f"{x:.4g}"))
        verdict = judge(post, options, None)
        print()
        print_exposure(verdict, options)
        print_limit(verdict, options)
        advice = [*withholding(verdict.above, options)] if verdict.above is not None and verdict.fails else []
        say(*advice)
        if options.out:
            post.to_parquet(options.out)
            say(f"wrote {options.out}")
        if options.report:
            write_report({"": post}, {}, options, options.report)
        status = verdict.status
        if options.json:
            document.answered(options, post, model.knowledge, verdict, {"advice": advice}, status)
    return status


def _workers(options: argparse.Namespace) -> Any:
    """The client of a cluster, or of processes of this machine, for as long as it is needed; None for threads."""
    if options.cluster is None and options.workers is None:
        return nullcontext()
    if options.cluster is not None and options.workers is not None:
        raise TableError("--cluster says where the workers are, and --workers starts others; give one")
    if options.workers is not None and options.workers < 1:
        raise TableError(f"--workers {options.workers}: at least one process is needed")
    return _client(options.cluster, options.workers)


@contextmanager
def _client(address: str | None, workers: int | None) -> Iterator[Any]:
    """Connect to a scheduler, or start a cluster on this machine."""
    try:
        from distributed import Client
    except ImportError:
        raise TableError("--cluster and --workers need Dask: pip install 'maxent-cvx[dask]'") from None
    if workers is not None:
        with local_client(workers) as client:
            yield client
        return
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:  # a wrong address is a ValueError, one that does not answer an OSError
        raise TableError(f"--cluster {address}: no scheduler of Dask answers there ({error})") from error
    with client:
        yield client
