"""The command line: ``maxent-cvx demo | quantify | compare | publish | solvers``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pandas as pd

from .. import datasets, disguise, measures, plots
from ..errors import MaxEntError, TableError, unknown_name
from ..model.maxent import MaxEnt
from ..solvers import available, find
from ..sources import StrongestAssociations, read_knowledge, read_statement
from ..studies.compare_solvers import compare_solvers
from ..studies.quantify import quantify
from ..system.files import write_beside
from ..tables.microdata import count_column
from ..views import Release
from .demo import story

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["main"]

#: Tables that travel with the package, and what `quantify` assumes of them unless told otherwise.
BUILT_IN: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "adult": (
        datasets.load_adult,
        {
            "qi": ",".join(datasets.ADULT_QI), "sa": "education", "rows": 14_210, "l": 5, "exempt": 2,
            "top": [0, 10, 50, 100, 200, 500],
        },
    ),
    "hospital": (datasets.load_hospital, {"qi": "Gender,Degree", "sa": "Disease", "bucket": "Bucket"}),
}  # fmt: skip
#: People that a table with counts is written out for.
MOST_PEOPLE = 10**8


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if it worked, 2 with one line on stderr if the input is not usable."""
    options = parser().parse_args(arguments)
    try:
        options.command(options)
    except (MaxEntError, OSError) as error:
        print(f"maxent-cvx: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line, and where to find help; exit status 2."""
        self.exit(2, f"maxent-cvx: error: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Describe the commands."""
    top = Parser(prog="maxent-cvx", description="What can an adversary infer from published data?")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("demo", help="the hospital example of the paper, as a story")
    command.set_defaults(command=lambda options: print("\n\n".join(story())))

    command = commands.add_parser("solvers", help="list the solvers")
    command.set_defaults(command=lambda options: print(available().to_string()))

    command = commands.add_parser(
        "quantify",
        help="what an adversary infers from a table",
        description="Without --top: P(sensitive value | QI) from the release and what is known (--know, --knowledge), "
        "and what that discloses. With --top: "
        "the paper's (bound, score) for adversaries who know the K strongest associations.",
    )
    _table_options(command)
    command.add_argument("--bucket", help="column of the published buckets; without it, Anatomy makes them (--l)")
    command.add_argument("--sa-table", metavar="CSV", help="TABLE holds QI and bucket only; sensitive values are here")
    command.add_argument("--count", help="column that says how many people a row stands for")
    command.add_argument(
        "--top", type=_numbers, metavar="K,K,...", help="score Top-K associations: K+, K- and half of each"
    )
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument(
        "--know", action="append", default=[], metavar="TEXT", help="what is known, e.g. 'P(Flu | Gender=male) <= 0.3'"
    )
    command.add_argument("--knowledge", metavar="FILE", help="a text file of what is known, a statement a line")
    command.add_argument("--people", metavar="CSV", help="people known by name: names first, then the QI columns")
    command.add_argument("--solver", default="auto", help="a name that 'maxent-cvx solvers' lists")
    command.add_argument("--out", metavar="FILE", help="write P(s | q), or the scores: .csv; the posterior: .parquet")
    command.add_argument("--plot", metavar="FILE", help="draw what is printed: .png, .pdf or .svg")
    command.set_defaults(command=_quantify)

    command = commands.add_parser(
        "compare",
        help="what every solver makes of one model, how precisely, and how fast",
        description="Solve one model with every solver: a release, and an adversary who knows strong associations.",
    )
    _table_options(command)
    command.add_argument("--bucket", help="column of the published buckets; without it, Anatomy makes them (--l)")
    command.add_argument("--known", type=int, default=0, metavar="K", help="associations known, half of each kind (0)")
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument("--solvers", metavar="A,B,...", help="names that 'maxent-cvx solvers' lists (all installed)")
    command.add_argument("--no-presolve", action="store_true", help="give them the problem as posed")
    command.add_argument("--out", metavar="FILE", help="write the table: .csv")
    command.add_argument("--plot", metavar="FILE", help="draw errors against seconds: .png, .pdf or .svg")
    command.set_defaults(command=_compare)

    command = commands.add_parser("publish", help="disguise a table; write the two tables that are published")
    _table_options(command)
    command.add_argument("--method", choices=["anatomy"], default="anatomy")
    command.add_argument("--out", metavar="NAME", default="published", help="writes NAME_qi.csv and NAME_sa.csv")
    command.set_defaults(command=_publish)
    return top


def _table_options(command: argparse.ArgumentParser) -> None:
    """Options of commands that read a table."""
    command.add_argument("table", metavar="TABLE", help=f"a CSV file with a header, or {' or '.join(BUILT_IN)}")
    command.add_argument("--qi", metavar="A,B,...", help="quasi-identifier columns")
    command.add_argument("--sa", metavar="S,...", help="the sensitive column; of several, each combination is a value")
    command.add_argument("--rows", type=int, metavar="N", help="use the first N rows only")
    command.add_argument("--l", type=int, help="Anatomy: records, and different values, a bucket")
    command.add_argument("--exempt", type=int, help="Anatomy: most frequent values that may repeat (0)")
    command.add_argument("--seed", type=int, default=0, help="Anatomy: random seed (0)")


def _numbers(text: str) -> list[int]:
    """Read a list of counts."""
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of counts such as 0,10,50")
    return [int(part) for part in text.split(",")]


def _read(options: argparse.Namespace) -> pd.DataFrame:
    """Read the table, and fill in what is known of a built-in one."""
    load, known = BUILT_IN.get(options.table, (None, {}))
    if load is None and not Path(options.table).exists():
        raise unknown_name("file or built-in table", options.table, BUILT_IN)
    table = load() if load else _csv(options.table)
    for name, value in known.items():
        # Somebody who asks for Anatomy (--l) does not want the buckets that the table has, and the other way round.
        other = {"bucket": "l", "l": "bucket", "exempt": "bucket", "top": "bucket"}.get(name, name)
        if name in vars(options) and getattr(options, name) is None and getattr(options, other, None) is None:
            setattr(options, name, value)
    if options.qi is None or options.sa is None:
        raise TableError(f"--qi and --sa are needed; {options.table} has the columns {', '.join(table.columns)}")
    options.qi, options.sa = ([name.strip() for name in text.split(",")] for text in (options.qi, options.sa))
    if options.rows is not None and not 0 < options.rows <= len(table):
        raise TableError(f"--rows {options.rows}: {options.table} has {len(table)} rows")
    return table.head(options.rows) if options.rows else table


def _csv(path: str) -> pd.DataFrame:
    """Read a CSV file with a header."""
    try:
        return pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise TableError(f"{path!r} is not a CSV file with a header: {error}") from error


def people_of(records: pd.DataFrame, count: str) -> pd.DataFrame:
    """Write a table with counts as one row a person: Anatomy, mining and the truth are of people."""
    if count not in records.columns:
        raise unknown_name("column of the table (given as --count)", count, records.columns)
    n = count_column(records[count], "the table")
    if not 0 < n.sum() <= MOST_PEOPLE:
        raise TableError(f"{count!r} counts {n.sum()} people; from 1 to {MOST_PEOPLE:,} are expected")
    return records.loc[records.index.repeat(n)].drop(columns=count).reset_index(drop=True)


def _people(path: str) -> pd.DataFrame:
    """Read a CSV file of people, whose names are in its first column."""
    table = _csv(path)
    return table.set_index(table.columns[0])


def _anatomy(table: pd.DataFrame, options: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    """Put the records into Anatomy's buckets, in a column of a name that is free."""
    if options.l is None:
        other = ", or --bucket COLUMN if the table has them" if hasattr(options, "bucket") else ""
        raise TableError(f"--l is needed to make buckets (Anatomy){other}")
    bucket = disguise.anatomy_buckets(
        table, qi=options.qi, sa=options.sa, l=options.l, exempt=options.exempt or 0, seed=options.seed
    )
    name = _free("Bucket", table.columns)
    return table.assign(**{name: bucket}), name


def _free(name: str, taken: Iterable[str]) -> str:
    """Find a column name that is not taken."""
    while name in taken:
        name += "_"
    return name


def _quantify(options: argparse.Namespace) -> None:
    find(options.solver)  # before any work
    _one_source_of_buckets(options)
    if options.top and (options.know or options.knowledge or options.people):
        raise TableError(
            "--top scores adversaries who know associations only; leave out --know, --knowledge and --people"
        )
    people = None if options.people is None else _people(options.people)
    statements = [*map(read_statement, options.know), *(read_knowledge(options.knowledge) if options.knowledge else [])]
    records = _read(options)
    if options.count is not None and not options.sa_table:
        records = people_of(records, options.count)
    _check_output(options.out, {".csv"} if options.top else {".csv", ".parquet"})
    _check_output(options.plot, {".png", ".pdf", ".svg"})
    if options.sa_table:
        if options.bucket is None or options.top:
            raise TableError("--sa-table needs --bucket, and has no records to mine for --top")
        sa_table = _csv(options.sa_table)
        release = Release.from_tables(
            records, sa_table, qi=options.qi, sa=options.sa, bucket=options.bucket, count=options.count
        )
    else:
        if options.bucket is None:
            records, options.bucket = _anatomy(records, options)
        release = Release.from_buckets(records, qi=options.qi, sa=options.sa, bucket=options.bucket)
    print(f"{release!r}"[1:-1])
    if options.top:
        _score(release, records, options)
    else:
        _disclose(MaxEnt(release, people=people).add(*statements), records, options)


def _one_source_of_buckets(options: argparse.Namespace) -> None:
    """Refuse two sources of buckets."""
    if options.bucket is not None and options.l is not None:
        raise TableError("--bucket says that the table has buckets, and --l that Anatomy should make them; give one")


def _compare(options: argparse.Namespace) -> None:
    solvers = None if options.solvers is None else [name.strip() for name in options.solvers.split(",")]
    _one_source_of_buckets(options)
    records = _read(options)
    _check_output(options.out, {".csv"})
    _check_output(options.plot, {".png", ".pdf", ".svg"})
    if options.bucket is None:
        records, options.bucket = _anatomy(records, options)
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
        _write(options.out, lambda path: table.to_csv(path))
    if options.plot:
        _draw(options.plot, plots.solver_comparison(table))


def _disclose(model: MaxEnt, records: pd.DataFrame, options: argparse.Namespace) -> None:
    """Print what the release discloses to somebody with this knowledge."""
    for label in model.knowledge:
        print(f"known: {label}")
    post = model.solve(solver=options.solver)
    original = None if options.sa_table else records
    named = len(model.space.people) > 0
    print(f"H({'I, ' * named}Q, S, B) = {post.entropy:.6f} nats; {post.certificate}\n")
    if named:
        print(f"P({', '.join(model.view.sensitive)} | person):")
        print(post.people().to_string(float_format=lambda x: f"{x:.4f}"), end="\n\n")
    print("Worst disclosure over all QI tuples:")
    print(measures.disclosure(post, worst=True).to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    print(f"\n{measures.exposed(post, original=original)}")
    if original is not None:
        print(f"Divergence from the truth: {measures.overall_divergence(post, original):.6f} bits")
    if options.out and Path(options.out).suffix == ".parquet":
        post.save(options.out)
        print(f"wrote {options.out}")
    elif options.out:
        _write(options.out, lambda path: post.conditional().to_csv(path))
    if options.plot:
        _draw(options.plot, plots.posterior(post))


def _score(release: Release, records: pd.DataFrame, options: argparse.Namespace) -> None:
    """Print the paper's (bound, score), for three kinds of adversary."""
    kinds = {"K+": lambda k: (k, 0), "K-": lambda k: (0, k), "K/2 + K/2": lambda k: (k - k // 2, k // 2)}
    bounds = {(name, k): bound(k) for name, bound in kinds.items() for k in options.top}
    table = quantify(release, records, list(bounds.values()), min_support=options.min_support, solver=options.solver)
    table.insert(0, "K", [k for _, k in bounds])
    table.insert(0, "curve", [name for name, _ in bounds])
    print("score: divergence of P(s | q) from the truth, bits; term_divergence: the same over P(q, s, b)")
    print(table.to_string(index=False, formatters={"certified_error": "{:.0e}".format, "seconds": "{:.2f}".format}))
    scores = table.pivot(index="K", columns="curve", values="score")
    lowest = scores.iloc[-1].idxmin()
    falls = {name: bool((scores[name].diff().dropna() <= 0).all()) for name in kinds}
    print(f"\nAt K = {scores.index[-1]} the curve {lowest} lies lowest (the adversary is closest to the truth).")
    print("The score never rises with K: " + ", ".join(f"{name} {'yes' if ok else 'no'}" for name, ok in falls.items()))
    if options.out:
        _write(options.out, lambda path: table.to_csv(path, index=False))
    if options.plot:
        curves = {name: table[table["curve"] == name] for name in kinds}
        _draw(options.plot, plots.quantification(curves))


def _publish(options: argparse.Namespace) -> None:
    outputs = [f"{options.out}_qi.csv", f"{options.out}_sa.csv"]
    for path in outputs:
        _check_output(path, {".csv"})
    records, bucket = _anatomy(_read(options), options)
    release = Release.from_buckets(records, qi=options.qi, sa=options.sa, bucket=bucket)
    count = _free("Count", [*release.qi, *release.sensitive, release.bucket])
    qi_table, sa_table = release.to_tables(count)
    _write(outputs[0], lambda path: qi_table.to_csv(path, index=False))
    _write(outputs[1], lambda path: sa_table.to_csv(path, index=False))
    print(f"{release!r}"[1:-1])
    again = ["maxent-cvx", "quantify", outputs[0], "--sa-table", outputs[1], "--qi", ",".join(options.qi)]
    print(
        f"Read them back:  {shlex.join([*again, '--sa', ','.join(options.sa), '--bucket', bucket, '--count', count])}"
    )


def _check_output(path: str | None, endings: set[str]) -> None:
    """Refuse a file that cannot be written, before any work."""
    if path is None:
        return
    folder = Path(path).resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise TableError(f"cannot write {path!r}: there is no writable folder {str(folder)!r}")
    if Path(path).is_dir():
        raise TableError(f"cannot write {path!r}: it is a folder")
    if Path(path).suffix not in endings:
        raise TableError(f"cannot write {path!r}: the name must end in {' or '.join(sorted(endings))}")


def _draw(path: str, axes: Axes) -> None:
    """Write a plot."""
    import matplotlib.pyplot as plt

    figure = axes.get_figure(root=True)
    assert figure is not None
    _write(path, lambda to: figure.savefig(to, dpi=150))
    plt.close(figure)


def _write(path: str, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all."""
    write_beside(path, write)
    print(f"wrote {path}")
