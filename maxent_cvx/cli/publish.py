"""``maxent-cvx publish``: disguise a table, and write what is published."""

from __future__ import annotations

import argparse
import shlex

from ..views import Release
from .output import check_output, write
from .parsing import Commands
from .reading import bucketed, free_name, read_table, table_options

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser("publish", help="disguise a table; write the two tables that are published")
    table_options(command)
    command.add_argument("--method", choices=["anatomy"], default="anatomy")
    command.add_argument("--out", metavar="NAME", default="published", help="writes NAME_qi.csv and NAME_sa.csv")
    command.set_defaults(command=run)


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
