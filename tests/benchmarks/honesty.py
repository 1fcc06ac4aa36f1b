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

``--jobs 2`` spreads the models over processes, ``--cluster tcp://...`` over the workers of a Dask cluster; only the
seconds that are printed differ. Its scheduler and workers import :mod:`.judging`, ``PYTHONPATH=. dask worker tcp://...``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pandas as pd

from maxent_cvx._utils.parallel import Workers

from .drawing.models import KINDS
from .judging import Outcome, outcome

#: What counts as answered (tame), and as well posed (wide): probabilities.
ANSWERED, WELL_POSED = 1e-6, 1e-8
#: Seconds after which it is said how far a kind is.
REPORTED = 60.0
#: Words of models that are not as they should be.
FAILURES = ("wrong", "exceeded")


@contextmanager
def workers_at(jobs: int | None, address: str | None) -> Iterator[Workers]:
    """Those who draw and judge: processes, or the workers of a cluster."""
    if address is None:
        yield Workers.asked(jobs)
        return
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        yield Workers.asked(jobs, client)


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


def reported(kind: str, args: argparse.Namespace, workers: Workers) -> dict[str, object]:
    """Judge the models of one kind, print those that fail, in the order of their seeds, and a line; return the line."""
    found: list[Outcome] = []
    begun = said = time.perf_counter()
    seeds = range(args.seed, args.seed + args.number)
    for seed, one in zip(seeds, workers.map(outcome, kind, ((seed,) for seed in seeds)), strict=True):
        found.append(one)
        late = one.word == "answered" and one.bound > ANSWERED and one.moves < WELL_POSED
        if one.word in FAILURES or (args.refused and (one.word == "refused" or late)):
            print(f"  --kinds {kind} --seed {seed} --number 1: {one}", flush=True)
        if time.perf_counter() - said > REPORTED:
            said = time.perf_counter()
            print(f"  {kind}, the first {len(found)}: {counted(kind, found, said - begun)}", flush=True)
    line = counted(kind, found, time.perf_counter() - begun)
    print(line, flush=True)
    return line


def main(arguments: Sequence[str] | None = None) -> pd.DataFrame:
    """Print every model that fails, and a line for every kind; return the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--number", type=int, default=100, help="models of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the next has the next")
    parser.add_argument("--refused", action="store_true", help="print the refused models, too")
    spread = parser.add_mutually_exclusive_group()
    spread.add_argument("--jobs", type=int, help="processes that share the models; -1 is one a processor")
    spread.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler, whose workers share the models")
    args = parser.parse_args(arguments)
    with workers_at(args.jobs, args.cluster) as workers:
        table = pd.DataFrame([reported(kind, args, workers) for kind in args.kinds])
    print(table.to_string(index=False, float_format=lambda value: f"{value:.1e}"))
    total = table.select_dtypes("number").sum()
    print(f"{int(total['models'])} models, {int(total['oracle'])} of which the truth is known of: "
          f"{int(total['wrong'])} wrong, {int(total['exceeded'])} beyond their bound")  # fmt: skip
    return table


if __name__ == "__main__":
    sys.exit(int(main()[list(FAILURES)].to_numpy().any()))
