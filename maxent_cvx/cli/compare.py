"""``maxent-cvx compare``: one model with every solver."""

from __future__ import annotations

import argparse

from .. import plots
from ..model.maxent import MaxEnt
from ..sources import StrongestAssociations
from ..studies.compare_solvers import compare_solvers
from ..views import Release
from .output import PICTURES, check_output, draw, write
from .parsing import Commands
from .reading import bucketed, one_source_of_buckets, read_table, table_options

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "compare",
        help="what every solver makes of one model, how precisely, and how fast",
        description="Solve one model with every solver: a release, and an adversary who knows strong associations.",
    )
    table_options(command)
    command.add_argument("--bucket", help="column of the published buckets; without it, Anatomy makes them (--l)")
    command.add_argument("--known", type=int, default=0, metavar="K", help="associations known, half of each kind (0)")
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument("--solvers", metavar="A,B,...", help="names that 'maxent-cvx solvers' lists (all installed)")
    command.add_argument("--no-presolve", action="store_true", help="give them the problem as posed")
    command.add_argument("--out", metavar="FILE", help="write the table: .csv")
    command.add_argument("--plot", metavar="FILE", help="draw errors against seconds: .png, .pdf or .svg")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Print what every solver makes of the model; write and draw it where asked."""
    solvers = None if options.solvers is None else [name.strip() for name in options.solvers.split(",")]
    one_source_of_buckets(options)
    records = read_table(options)
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    if options.bucket is None:
        records, options.bucket = bucketed(records, options)
    model = MaxEnt(Release.from_buckets(records, qi=options.qi, sa=options.sa, bucket=options.bucket))
    if options.known:
        negative = options.known // 2
        bound = (options.known - negative, negative)
        model.add(StrongestAssociations(records, *bound, min_support=options.min_support))
    print(f"{model!r}"[1:-1])
    table = compare_solvers(model, solvers, presolve=not options.no_presolve)
    shown = table.drop(columns="message").assign(certified=table["certified"].map({True: "yes", False: "no"}))
    digits = {"objective": "{:.6f}".format} | {f"{step}_seconds": "{:.2f}".format for step in ("compile", "solve")}
    print(shown.to_string(formatters=digits, float_format=lambda x: f"{x:.1e}", na_rep="-"))
    print("\nobjective: H(Q, S, B), nats; residual, gap: people; bound: largest possible error of a P(s | q)")
    if table.attrs["reference"]:
        print(f"difference: of a P(q, s, b) above 1e-6, relative to {table.attrs['reference']}'s, the smallest bound")
    for name, message in table["message"][table["message"] != ""].items():
        print(f"{name}: {message}")
    if options.out:
        write(options.out, lambda path: table.to_csv(path))
    if options.plot:
        draw(options.plot, plots.solver_comparison(table))
