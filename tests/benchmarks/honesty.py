"""Is a certified answer ever wrong? Random models against an oracle:  python -m tests.benchmarks.honesty.

The kinds of models are those of :mod:`.drawing`, whose oracle has 80 digits, and of :mod:`.near_dependence`, whose truth
is a fraction. Every model is solved, and counted as

    answered      an answer with a certificate
    refused       Inaccurate or SolverError
    infeasible    Infeasible
    wrong         an answer where there is none, or Infeasible although there is one; a refusal of a `well` model
    exceeded      some P(s | q) is further from the oracle's than the certificate's bound

`oracle` counts the models whose true answer is known, `proved` those whose bound holds for the rows as typed, none moved
in its last digits. Every wrong or exceeded model is printed with its kind and seed, and the exit status is then 1;
``--kinds wide --seed 17 --number 1`` repeats one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import ThreadPool

import mpmath as mp
import numpy as np
import pandas as pd

from maxent_cvx import Inaccurate, Infeasible, MaxEnt, P, Posterior, SolverError

from ..support.oracle import Oracle, oracle
from .drawing import KINDS, Drawn, drawn
from .near_dependence import NEAR, nearly_dependent

#: Bounds that count as precise for tame models, and changes of the answer by half a unit in the last place of the typed
#: numbers up to which a model is well posed: probabilities.
ANSWERED, WELL_POSED = 1e-6, 1e-8
#: Outcomes that are defects.
FAILURES = ("wrong", "exceeded")
#: Counts below this number of people are computed from the multipliers.
TINY = 1e-150
#: Rounding error of the sum of a group's counts: a probability.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Outcome:
    """One model: its word, whether the truth is known, the largest error of a probability and its certified bound."""

    word: str
    known: bool = False
    error: float = np.nan
    bound: float = np.nan
    #: How far half a unit in the last place of typed numbers moves the exact answer: a probability.
    moves: float = np.nan
    proved: bool = False
    message: str = ""


def judged(case: Drawn, **options: object) -> Outcome:
    """Solve a model, and compare with the oracle."""
    try:
        post = case.model.solve(**options)  # type: ignore[arg-type]
    except (Inaccurate, Infeasible, SolverError) as error:
        return _without_answer(case, error)
    if case.contradictory:
        return Outcome("wrong", known=True, bound=post.certificate.bound, message="an answer, and there is none")
    soft = case.model.form.penalties is not None  # then the answer may be far from the table
    exact = oracle(case.posed, _begin(case.model, post) if soft else case.table, case.support)
    certificate = post.certificate
    if exact is None:
        return Outcome("answered", bound=certificate.bound)
    error = _error(post, exact)
    word = "exceeded" if error > certificate.bound + ROUNDING else "answered"
    return Outcome(word, True, error, certificate.bound, exact.moves, certificate.backward == 0)


def _without_answer(case: Drawn, error: Exception) -> Outcome:
    """Judge an error: a contradiction is wrong where the rows, exactly as typed, have an answer."""
    contradiction, message = isinstance(error, Infeasible), str(error).split("\n")[0][:100]
    if case.contradictory:
        return Outcome("infeasible" if contradiction else "refused", known=True, message=message)
    exact = oracle(case.posed, case.table, case.support)
    if exact is None:
        return Outcome("infeasible" if contradiction else "refused", message=message)
    return Outcome("wrong" if contradiction else "refused", known=True, moves=exact.moves, message=message)


def _begin(model: MaxEnt, post: Posterior) -> list[mp.mpf]:
    """A positive table to look for the exact answer from: the counts, or, less than doubles can be, w exp(A' m - 1)."""
    form = model.form
    exponent = form.exponent(form.transformed_multipliers(np.concatenate(list(post.multipliers.values()))))
    return [mp.mpf(x) if x > TINY else mp.exp(mp.mpf(e)) for x, e in zip(post.counts, exponent, strict=True)]


def _error(post: Posterior, exact: Oracle) -> float:
    """The largest error of any P(s | q), and of any P(s | who)."""
    space = post.space
    group, n = space.groups
    key = group * len(space.view.sensitive_values) + space.codes["s"]
    off: dict[int, object] = {}
    for k, have, want in zip(key.tolist(), post.counts.tolist(), exact.counts, strict=True):
        off[k] = off.get(k, 0) + (have - want)  # type: ignore[operator]
    return float(max(abs(v) / int(n[k // len(space.view.sensitive_values)]) for k, v in off.items()))  # type: ignore[arg-type]


def judged_near(kind: str, seed: int, largest: int) -> Outcome:
    """Solve a model of statements that nearly depend on each other, and compare with the fraction."""
    model, statement, truth = nearly_dependent(kind, seed, largest)
    known = truth is not None
    try:
        post = model.solve(time_limit=120)
    except Infeasible:
        return Outcome("wrong" if known and kind == "well" else "infeasible", known)
    except (Inaccurate, SolverError) as error:
        return Outcome("wrong" if kind == "well" else "refused", known, message=str(error).split("\n")[0][:100])
    bound, is_proved = post.certificate.bound, post.certificate.backward == 0
    if truth is None:  # a value that the release determines may be typed rounded: then the certificate says so
        return Outcome("exceeded" if is_proved or kind != "clash" else "answered", bound=bound)
    if isinstance(statement, dict):
        value = sum(v * float(post.prob(P(s, given={"Sex": "m"}))) for s, v in statement.items())
        allowed = bound * sum(abs(v) for v in statement.values())
    else:
        value, allowed = float(post.prob(statement)), bound
    error = abs(value - float(truth))
    return Outcome("exceeded" if error > allowed + ROUNDING else "answered", True, error, bound, proved=is_proved)


def outcome(seed: int, kind: str, largest: int) -> Outcome:
    """Draw a model and judge it."""
    if kind in NEAR:
        return judged_near(kind, seed, largest)
    case = drawn(kind, seed)
    return Outcome("no table") if case is None else judged(case)


def row(kind: str, outcomes: Sequence[Outcome], seconds: float) -> dict[str, object]:
    """Count the outcomes of one kind."""
    words = pd.Series([outcome.word for outcome in outcomes]).value_counts()
    posed = [o for o in outcomes if o.moves < WELL_POSED]
    precise = [o for o in posed if o.word == "answered" and o.bound <= (ANSWERED if kind == "tame" else 1e-4)]
    return {
        "kind": kind, "models": len(outcomes) - int(words.get("no table", 0)),
        **{word: int(words.get(word, 0)) for word in ("answered", "refused", "infeasible")},
        "oracle": sum(o.known for o in outcomes), **{word: int(words.get(word, 0)) for word in FAILURES},
        "proved": sum(o.proved for o in outcomes), "well_posed": len(posed), "of_which_answered": len(precise),
        "largest_error": max((o.error for o in outcomes if o.error == o.error), default=0.0), "seconds": round(seconds),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Print every model that fails and one row per kind; return the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=[*KINDS, *NEAR], choices=[*KINDS, *NEAR])
    parser.add_argument("--number", type=int, default=100, help="models of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the first model; the next one has the next seed")
    parser.add_argument("--largest", type=int, default=700, help=f"most buckets of the kinds {', '.join(NEAR)}")
    parser.add_argument("--refused", action="store_true", help="print the refused models, too")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args(arguments)
    seeds, rows = range(args.seed, args.seed + args.number), []
    with multiprocessing.get_context("spawn").Pool(args.jobs) if args.jobs > 1 else ThreadPool(1) as pool:
        for kind in args.kinds:
            begun, outcomes = time.perf_counter(), []
            judge = partial(outcome, kind=kind, largest=args.largest)
            for seed, result in zip(seeds, pool.imap(judge, seeds), strict=True):
                outcomes.append(result)
                imprecise = result.word == "answered" and result.bound > ANSWERED and result.moves < WELL_POSED
                if result.word in FAILURES or (args.refused and (result.word == "refused" or imprecise)):
                    print(f"  --kinds {kind} --seed {seed} --number 1: {result}", flush=True)
            rows.append(row(kind, outcomes, time.perf_counter() - begun))
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.1e}"))
    total = table.select_dtypes("number").sum()
    print(
        f"{int(total['models'])} models, the truth of {int(total['oracle'])} is known: "
        f"{int(total['wrong'])} wrong, {int(total['exceeded'])} exceeded"
    )
    return table


if __name__ == "__main__":
    sys.exit(int(main()[list(FAILURES)].to_numpy().any()))
