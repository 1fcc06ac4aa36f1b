"""``maxent-cvx solvers`` and ``maxent-cvx compare``: the solvers by name, and how they compare on one model."""

from __future__ import annotations

from .. import plots
from ..experiments import compare_solvers
from ..model.maxent import MaxEnt
from ..releases.release import Release
from ..solvers.backends import available
from ..sources.associations import StrongestAssociations
from .inputs import anatomize, check_buckets, read_records
from .options import CompareOptions, Options
from .output import PICTURES, check_output, draw, write, write_tables
from .streams import say

__all__ = [
    "compare",
    "list_solvers",
]


def compare(options: CompareOptions) -> None:
    """Print the answer of every solver; write and plot it as requested."""
    check_buckets(options)
    records = read_records(options)
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    people, bucket = records.table, options.bucket
    if bucket is None:
        people, bucket = anatomize(records, options)
    model = MaxEnt(Release.from_buckets(people, qi=records.qi, sa=records.sa, bucket=bucket))
    if options.known:
        negative = options.known // 2
        model.add(StrongestAssociations(people, options.known - negative, negative, min_support=options.min_support))
    say(f"{model!r}"[1:-1])
    solvers = None if options.solvers is None else list(options.solvers)
    table = compare_solvers(model, solvers, presolve=not options.no_presolve)
    shown = table.drop(columns="message").assign(certified=table["certified"].map({True: "yes", False: "no"}))
    digits = {"objective": "{:.6f}".format} | {f"{step}_seconds": "{:.2f}".format for step in ("compile", "solve")}
    print(shown.to_string(formatters=digits, float_format=lambda x: f"{x:.1e}", na_rep="-"))
    print("\nobjective: H(Q, S, B), nats; residual, gap: people; bound: largest possible error of a P(s | q)")
    if table.attrs["reference"]:
        print(
            "difference: largest relative difference of a P(q, s, b) above 1e-6 from the answer of "
            f"{table.attrs['reference']}, which has the smallest bound"
        )
    for name, message in table["message"][table["message"] != ""].items():
        say(f"{name}: {message}")
    if options.out:
        write(options.out, lambda path: table.to_csv(path))
    if options.plot:
        draw(options.plot, plots.solver_comparison(table))
    if options.json:
        write_tables(options, solvers=table.reset_index(), reference=table.attrs["reference"])


def list_solvers(options: Options) -> None:
    """Print the solvers, and which are installed."""
    print(available().to_string())
