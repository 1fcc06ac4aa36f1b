"""``maxent-cvx solvers`` and ``maxent-cvx compare``: the solvers by name, and how they compare on a table."""

from __future__ import annotations

import argparse

from .. import plots
from ..experiments import compare_solvers
from ..model.maxent import MaxEnt
from ..releases.release import Release
from ..solvers.backends import available
from ..sources.associations import StrongestAssociations
from .inputs import bucketed, one_source_of_buckets, read_table
from .output import PICTURES, check_output, draw, tabulated, write
from .streams import say

__all__ = [
    "compare_command",
    "list_solvers",
]

# ``maxent-cvx compare``: one model with every solver.


def compare_command(options: argparse.Namespace) -> None:
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
    say(f"{model!r}"[1:-1])
    table = compare_solvers(model, solvers, presolve=not options.no_presolve)
    shown = table.drop(columns="message").assign(certified=table["certified"].map({True: "yes", False: "no"}))
    digits = {"objective": "{:.6f}".format} | {f"{step}_seconds": "{:.2f}".format for step in ("compile", "solve")}
    print(shown.to_string(formatters=digits, float_format=lambda x: f"{x:.1e}", na_rep="-"))
    print("\nobjective: H(Q, S, B), nats; residual, gap: people; bound: largest possible error of a P(s | q)")
    if table.attrs["reference"]:
        print(f"difference: of a P(q, s, b) above 1e-6, relative to {table.attrs['reference']}'s, the smallest bound")
    for name, message in table["message"][table["message"] != ""].items():
        say(f"{name}: {message}")
    if options.out:
        write(options.out, lambda path: table.to_csv(path))
    if options.plot:
        draw(options.plot, plots.solver_comparison(table))
    if options.json:
        tabulated(options, solvers=table.reset_index(), reference=table.attrs["reference"])


def list_solvers(options: argparse.Namespace) -> None:
    """Print the solvers, and which are installed."""
    print(available().to_string())
