"""Does an answer lie? Random models against an oracle of extended precision: python -m tests.benchmarks.honesty.

The kinds of models are those of :mod:`.drawing.models`. Every one is solved, and judged:

    answered      it has an answer with a certificate, and the status says so
    refused       no answer could be certified to 1e-4: an error that says so
    infeasible    it is said to be contradictory
    oracle        the truth is known: an answer in 80 digits, or that there is none
    wrong         a status that the truth contradicts: an answer where there is none, a contradiction where there is one
    exceeded      some P(s | q) is further from the oracle's than the certificate's bound
    proved        the bound holds for the rows as typed, none moved in its last digits

Every wrong or exceeded model is printed with its kind and seed, and the exit status is then 1. The same kind and seed
draw the same model: ``--kinds wide --seed 17 --number 1`` replays one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pandas as pd

from maxent_cvx import Inaccurate, Infeasible, MaxEnt, Posterior, SolverError

from ..support.oracle import Oracle, oracle
from .drawing.drawn import Drawn
from .drawing.models import KINDS, drawn

__all__ = ["Outcome", "judged"]

#: What counts as answered (tame), and as well posed (wide): probabilities.
ANSWERED, WELL_POSED = 1e-6, 1e-8
#: Seconds after which it is said how far a kind is.
REPORTED = 60.0
#: Counts below are taken from the multipliers.
TINY = 1e-150
#: What adding up the counts of a group costs, where answers are compared: a probability.
ROUNDING = 1e-15
#: Words of models that are not as they should be.
FAILURES = ("wrong", "exceeded")


@dataclass(frozen=True)
class Outcome:
    """What became of one model.

    Attributes
    ----------
    word : str
        "answered", "refused", "infeasible", "wrong", "exceeded", or "no table" if no model was drawn.
    known : bool
        Whether the truth is known.
    error, bound : float
        Of an answer, the largest error of a probability, and what the certificate says of it.
    moves : float
        How far half a unit in the last place of typed numbers moves the exact answer: a probability.
    proved : bool
        Whether the bound is one for the rows as typed.
    said : str
        The first words of an error.
    """

    word: str
    known: bool = False
    error: float = np.nan
    bound: float = np.nan
    moves: float = np.nan
    proved: bool = False
    said: str = ""


def judged(case: Drawn, **options: object) -> Outcome:
    """Solve a model, and compare with the oracle."""
    try:
        post = case.model.solve(**options)  # type: ignore[arg-type]
    except (Inaccurate, Infeasible, SolverError) as error:
        return _without_answer(case, error)
    if case.contradictory:
        return Outcome("wrong", known=True, bound=post.certificate.bound, said="an answer, and there is none")
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
    contradiction, said = isinstance(error, Infeasible), str(error).split("\n")[0][:100]
    if case.contradictory:
        return Outcome("infeasible" if contradiction else "refused", known=True, said=said)
    exact = oracle(case.posed, case.table, case.support)
    if exact is None:
        return Outcome("infeasible" if contradiction else "refused", said=said)
    return Outcome("wrong" if contradiction else "refused", known=True, moves=exact.moves, said=said)


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


def outcomes(kind: str, number: int, seed: int) -> Iterator[tuple[int, Outcome]]:
    for i in range(seed, seed + number):
        case = drawn(kind, i)
        yield i, Outcome("no table") if case is None else judged(case)


def counted(kind: str, found: Sequence[Outcome], seconds: float) -> dict[str, object]:
    """A line of the table."""
    words = pd.Series([outcome.word for outcome in found]).value_counts()
    posed = [o for o in found if o.moves < WELL_POSED]
    within = [o for o in posed if o.word == "answered" and o.bound <= (ANSWERED if kind == "tame" else 1e-4)]
    return {
        "kind": kind, "models": len(found) - int(words.get("no table", 0)),
        **{word: int(words.get(word, 0)) for word in ("answered", "refused", "infeasible")},
        "oracle": sum(o.known for o in found), **{word: int(words.get(word, 0)) for word in FAILURES},
        "proved": sum(o.proved for o in found), "well_posed": len(posed), "of_which_answered": len(within),
        "largest_error": max((o.error for o in found if o.error == o.error), default=0.0), "seconds": round(seconds),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Print every model that fails, and a line for every kind; return the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--number", type=int, default=100, help="models of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the next has the next")
    parser.add_argument("--refused", action="store_true", help="print the refused models, too")
    args = parser.parse_args(arguments)
    rows = []
    for kind in args.kinds:
        found: list[Outcome] = []
        begun = reported = time.perf_counter()
        for seed, outcome in outcomes(kind, args.number, args.seed):
            found.append(outcome)
            late = outcome.word == "answered" and outcome.bound > ANSWERED and outcome.moves < WELL_POSED
            if outcome.word in FAILURES or (args.refused and (outcome.word == "refused" or late)):
                print(f"  --kinds {kind} --seed {seed} --number 1: {outcome}", flush=True)
            if time.perf_counter() - reported > REPORTED:
                reported = time.perf_counter()
                print(f"  {kind}, the first {len(found)}: {counted(kind, found, reported - begun)}", flush=True)
        rows.append(counted(kind, found, time.perf_counter() - begun))
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.1e}"))
    total = table.select_dtypes("number").sum()
    print(f"{int(total['models'])} models, {int(total['oracle'])} of which the truth is known of: "
          f"{int(total['wrong'])} wrong, {int(total['exceeded'])} beyond their bound")  # fmt: skip
    return table


if __name__ == "__main__":
    sys.exit(int(main()[list(FAILURES)].to_numpy().any()))
