"""``maxent-cvx solvers`` and ``maxent-cvx compare``: list the solvers, and compare them on one model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from .. import plots
from ..experiments import compare_solvers
from ..model.maxent import MaxEnt
from ..releases.release import Release
from ..solvers.backends import available
from ..sources.associations import StrongestAssociations
from .inputs import anatomize, check_buckets, people_of, read_records
from .options import CompareOptions, Options
from .output import PICTURES, check_output, write_answer
from .streams import say


def compare(options: CompareOptions) -> None:
    """Print the answer of every solver; write and plot it as requested."""
    check_buckets(options)
    records = read_records(options)
    check_output(options.out, {".csv"})
    check_output(options.plot, PICTURES)
    count, bucket = options.count, options.bucket
    if count is not None and (bucket is None or options.known):
        records, count = replace(records, table=people_of(records.table, count)), None
    people = records.table
    if bucket is None:
        people, bucket = anatomize(records, options)
    model = MaxEnt(Release.from_buckets(people, qi=records.qi, sa=records.sa, bucket=bucket, count=count))
    if options.known:
        negative = options.known // 2
        model.add(StrongestAssociations(people, options.known - negative, negative, min_support=options.min_support))
    say(f"{model!r}"[1:-1])
    solvers = None if options.solvers is None else list(options.solvers)
    if not options.known and not options.no_presolve:
        say("presolve is off, as it solves a release without knowledge in closed form; add knowledge with --known")
    table = compare_solvers(model, solvers, presolve=not options.no_presolve and options.known > 0)
    shown = table.drop(columns="reason").assign(certified=table["certified"].map({True: "yes", False: "no"}))
    digits = {"objective": "{:.6f}".format} | dict.fromkeys(("build", "solve", "certify", "seconds"), "{:.3f}".format)
    print(shown.to_string(formatters=digits, float_format=lambda x: f"{x:.1e}", na_rep="-"))
    print("\nbound: largest possible error of a P(s | q); objective: H(Q, S, B), nats; residual, gap: people")
    print("build, solve, certify: seconds of these steps; seconds: of everything")
    if table.attrs["reference"]:
        print(
            f"error: largest difference of a P(s | q) from that of {table.attrs['reference']}, which has the smallest bound"
        )
    for name, reason in table["reason"][table["reason"] != ""].items():
        say(f"{name}: {reason}")
    reference = table.attrs["reference"]
    plot = partial(plots.solver_comparison, table)
    write_answer(options, table, plot, solvers=table.reset_index(), reference=reference)


def list_solvers(options: Options) -> None:
    """Print the solvers, and whether they are installed."""
    print(available().to_string())
