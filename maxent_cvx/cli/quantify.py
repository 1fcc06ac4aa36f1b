"""``maxent-cvx quantify``: what an adversary infers from a table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .. import measures, plots
from ..errors import Infeasible, TableError
from ..measures import Exposure
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..solvers import find
from ..sources import Statement
from ..studies.quantify import quantify
from ..views import Release, View
from . import document
from .advice import larger_buckets, withholding
from .judging import Verdict, judge, print_exposure, print_limit
from .knowledge import located, statements_of
from .material import Material, material
from .output import PICTURES, check_output, draw, without_formulas, write
from .partitions import is_in_partitions, quantify_partitions
from .reading import read_people
from .releases import one_source_of_buckets
from .report_file import PAGES, write_report
from .risks import print_risks, risks_beside
from .streams import say, table_text
from .wording import in_options

__all__ = ["Question", "question", "run"]

#: Options that --top has no use for.
NOT_SCORED = (
    "know", "knowledge", "people", "fail_above", "sensitive", "baseline", "within", "id", "qi_table", "report",
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Print what the release discloses, or the scores; write and draw them where asked."""
    find(options.solver)  # before any work
    one_source_of_buckets(options)
    if options.top and (given := [f"--{n.replace('_', '-')}" for n in NOT_SCORED if getattr(options, n)]):
        raise TableError(f"--top scores adversaries who know associations only; leave out {' and '.join(given)}")
    statements = statements_of(options)
    if is_in_partitions(options):
        return quantify_partitions(options, statements)
    if options.sa_table and options.top:
        raise TableError("--sa-table has no records to mine for --top")
    asked = question(options, statements)
    check_output(options.out, {".csv"} if options.top else {".csv", ".parquet"})
    check_output(options.plot, PICTURES)
    check_output(options.report, PAGES)
    say(f"{asked.found.view!r}"[1:-1])
    return _score(asked.found, options) if options.top else asked.answer()


def question(options: argparse.Namespace, statements: list[Statement]) -> Question:
    """Read what is published, and who is known by name."""
    people = None if options.people is None else read_people(options.people)
    is_made = not (options.bucket or options.sa_table or options.generalized)
    found = material(options)
    return Question(options, found, people, statements, options.l if is_made else None)


@dataclass(frozen=True, eq=False)
class Question:
    """What is inferred from a release by somebody who knows some statements, and people by name.

    Attributes
    ----------
    options : Namespace
        The command's.
    found : Material
        What is published.
    people : DataFrame or None
        Who is known by name.
    statements : list of Statement
        What is known.
    made : int or None
        The l of the buckets, if they were made here.
    """

    options: argparse.Namespace
    found: Material
    people: pd.DataFrame | None
    statements: list[Statement]
    made: int | None

    def answer(self) -> int:
        """Print, write and draw the answer, and give the exit status."""
        model = self.model(self.found.view)
        for label in model.knowledge:
            say(f"known: {label}")
        post = self.solved(model)
        self._print(post, model)
        verdict = judge(post, self.options, self.found.original)
        print_exposure(verdict, self.options)
        if (original := self.found.original) is not None:
            divergence = measures.overall_divergence(post, original)
            print(f"Divergence from the truth: {divergence:.6f} bits")
        print_risks(risks := risks_beside(post, original, self.options))
        print_limit(verdict, self.options)
        advice = [in_options(line, self.options) for line in self.advice(verdict)] if verdict.fails else []
        for line in advice:
            say(line)
        self._write(post)
        if self.options.report:
            write_report({"": post}, {"": self.found.original}, self.options, self.options.report)
        status = verdict.status
        if self.options.json:
            more: dict[str, object] = {"advice": advice, "risks": risks.to_dict("records")}
            if original is not None:
                more["divergence_bits"] = divergence
            if len(model.space.people):
                more["people"] = [{"person": who, "P": p} for who, p in post.people().to_dict("index").items()]
            document.answered(self.options, post, model.knowledge, verdict, more, status)
        return status

    def model(self, view: View) -> MaxEnt:
        """Add what is known to what is published."""
        return MaxEnt(view, people=self.people).add(*self.found.published, *self.statements)

    def solved(self, model: MaxEnt) -> Posterior:
        """Solve it."""
        try:
            return model.solve(solver=self.options.solver)
        except Infeasible as error:
            raise located(error, model.knowledge) from error

    def advice(self, verdict: Verdict) -> Iterator[str]:
        """Say what would help."""
        assert verdict.above is not None
        assert verdict.limit is not None
        if self.found.original is not None and isinstance(self.found.view, Release):
            yield larger_buckets(verdict.limit, self.made, self.found.original, self.options, self._above)
        yield from withholding(verdict.above, self.options)

    def _above(self, view: View) -> Exposure | None:
        """Who is exposed above the limit by another release of the same people."""
        return judge(self.model(view).solve(solver=self.options.solver), self.options, None).above

    def _print(self, post: Posterior, model: MaxEnt) -> None:
        named = len(model.space.people) > 0
        entropy = "H(" + "I, " * named + "Q, S, B)" if isinstance(model.view, Release) else "entropy"
        print(f"{entropy} = {post.entropy:.6f} nats; {post.certificate}\n")
        if named:
            say(f"P({', '.join(model.view.sensitive)} | person):")
            print(table_text(post.people(), float_format=lambda x: f"{x:.4f}"), end="\n\n")
        print("Worst disclosure over all QI tuples:")
        worst = measures.disclosure(post, worst=True)
        print(table_text(worst, index=False, float_format=lambda x: f"{x:.4g}"), end="\n\n")

    def _write(self, post: Posterior) -> None:
        """Write and draw the answer where asked: of people who are named, theirs."""
        out, sensitive = self.options.out, ", ".join(self.found.view.sensitive)
        if out and Path(out).suffix == ".parquet":
            post.save(out)
            say(f"wrote {out}")
        elif out and self.people is not None:
            write(
                out,
                lambda path: without_formulas(post.people(), self.options).to_csv(path),
                f": P({sensitive} | person)",
            )
        elif out:
            write(out, lambda path: without_formulas(post.conditional(), self.options).to_csv(path))
        if self.options.plot:
            draw(self.options.plot, plots.posterior(post))


def _score(found: Material, options: argparse.Namespace) -> int:
    """Print the paper's (bound, score), for three kinds of adversary."""
    if not isinstance(found.view, Release):
        raise TableError("--top scores one release; give one TABLE")
    kinds = {"K+": lambda k: (k, 0), "K-": lambda k: (0, k), "K/2 + K/2": lambda k: (k - k // 2, k // 2)}
    bounds = {(name, k): bound(k) for name, bound in kinds.items() for k in options.top}
    table = quantify(
        found.view, found.records, list(bounds.values()), min_support=options.min_support, solver=options.solver
    )
    table.insert(0, "K", [k for _, k in bounds])
    table.insert(0, "curve", [name for name, _ in bounds])
    print("score: divergence of P(s | q) from the truth, bits; term_divergence: the same over P(q, s, b)")
    print(table_text(table, index=False, formatters={"certified_error": "{:.0e}".format, "seconds": "{:.2f}".format}))
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
    if options.json:
        document.scored(options, found.view, table)
    return 0
