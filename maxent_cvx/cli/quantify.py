"""``maxent-cvx quantify``: what an adversary infers from a table."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from .. import measures, plots
from ..errors import TableError
from ..model.maxent import MaxEnt
from ..solvers import find
from ..sources import read_knowledge, read_statement
from ..studies.quantify import quantify
from ..views import Release
from .output import PICTURES, check_output, draw, write
from .partitions import is_in_partitions, quantify_partitions
from .reading import one_source_of_buckets, read_people, read_table, released

__all__ = ["run"]


def run(options: argparse.Namespace) -> None:
    """Print what the release discloses, or the scores; write and draw them where asked."""
    find(options.solver)  # before any work
    one_source_of_buckets(options)
    if options.top and (options.know or options.knowledge or options.people):
        raise TableError(
            "--top scores adversaries who know associations only; leave out --know, --knowledge and --people"
        )
    statements = [*map(read_statement, options.know), *(read_knowledge(options.knowledge) if options.knowledge else [])]
    if is_in_partitions(options):
        quantify_partitions(options, statements)
        return
    people = None if options.people is None else read_people(options.people)
    records = read_table(options)
    check_output(options.out, {".csv"} if options.top else {".csv", ".parquet"})
    check_output(options.plot, PICTURES)
    if options.sa_table and options.top:
        raise TableError("--sa-table has no records to mine for --top")
    release, records = released(records, options)
    print(f"{release!r}"[1:-1])
    if options.top:
        _score(release, records, options)
    else:
        _disclose(MaxEnt(release, people=people).add(*statements), records, options)


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
        write(options.out, lambda path: post.conditional().to_csv(path))
    if options.plot:
        draw(options.plot, plots.posterior(post))


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
        write(options.out, lambda path: table.to_csv(path, index=False))
    if options.plot:
        curves = {name: table[table["curve"] == name] for name in kinds}
        draw(options.plot, plots.quantification(curves))
