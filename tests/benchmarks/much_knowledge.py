"""Thousands of generic statements about Adult:  python -m tests.benchmarks.much_knowledge --rows 1000 2000 5000.

Statements are true of the table, with a confidence between 0.05 and 0.95, and are stated exactly or within eps. Each
model is solved once, by the default solver, from a copy that has derived nothing. Printed are processor seconds, in all
and of each phase, the time in evaluations of the dual function and its gradient, and the certified bound on the error
of every P(s | q). With 5,000 exact statements most of it is spent on terms that are zero in every solution.
"""

from __future__ import annotations

import argparse

import pandas as pd

from .models import adult_model
from .phases import PHASES, fresh, solved
from .solvers import evaluation_seconds


def measure(records: int, rows: int, eps: float) -> dict[str, float | str]:
    """Solve one model."""
    model = adult_model(records, rows, eps=eps)
    found = solved(fresh(model))
    return {
        "kind": f"within {eps:g}" if eps else "exact", "rows": rows,
        **{phase: found[phase] for phase in ("total", *PHASES)},
        "evaluations": found["total"] / evaluation_seconds(model),
        "iterations": found["iterations"], "certified_error": found["certified_error"],
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=14_210)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 2_000, 5_000], help="rows of knowledge")
    parser.add_argument("--eps", type=float, nargs="+", default=[0.0, 0.02], help="half the width of a statement")
    options = parser.parse_args(arguments)
    table = pd.DataFrame([measure(options.records, rows, eps) for rows in options.rows for eps in options.eps])
    counts = dict.fromkeys(["evaluations", "iterations"], "{:.0f}".format)
    formats = counts | {"certified_error": "{:.1e}".format}
    print(table.to_string(index=False, float_format="{:.2f}".format, formatters=formats))
    return table


if __name__ == "__main__":
    main()
