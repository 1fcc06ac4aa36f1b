"""``maxent-cvx publish``: disguise a table, and write what is published."""

from __future__ import annotations

import argparse
import shlex

from ..views import Release
from .output import check_output, write
from .reading import bucketed, free_name, read_table

__all__ = ["run"]


def run(options: argparse.Namespace) -> None:
    """Write the two tables, and print the command that reads them back."""
    outputs = [f"{options.out}_qi.csv", f"{options.out}_sa.csv"]
    for path in outputs:
        check_output(path, {".csv"})
    records, bucket = bucketed(read_table(options), options)
    release = Release.from_buckets(records, qi=options.qi, sa=options.sa, bucket=bucket)
    count = free_name("Count", [*release.qi, *release.sensitive, release.bucket])
    qi_table, sa_table = release.to_tables(count)
    write(outputs[0], lambda path: qi_table.to_csv(path, index=False))
    write(outputs[1], lambda path: sa_table.to_csv(path, index=False))
    print(f"{release!r}"[1:-1])
    again = ["maxent-cvx", "quantify", outputs[0], "--sa-table", outputs[1], "--qi", ",".join(options.qi)]
    print(
        f"Read them back:  {shlex.join([*again, '--sa', ','.join(options.sa), '--bucket', bucket, '--count', count])}"
    )
