"""The best generalisation of Adult beside ARX's:  python -m tests.benchmarks.search_beside_arx arx/data --answers FILE.

The folder is `data` of github.com/arx-deidentifier/arx, with adult_hierarchy_*.csv. --tasks prints a line
"number|quasi-identifiers|sensitive attribute|c|suppression limit|loss" for each search. FILE has a line
"number|levels|suppressed records|score|transformations checked|seconds" for each, which a Java program of a few lines
writes: ARXAnonymizer with RecursiveCLDiversity(sensitive, c, 2), and createDiscernabilityMetric(false) or a metric that has
our NCP or classification. No value then has a share of c / (1 + c) in its group, which is the promise of `search` without
a baseline. The losses of our node and of ARX's are computed once more, by pandas. Without FILE only ours are.
"""

from __future__ import annotations

import argparse
import itertools
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

import maxent_cvx as mx

DEMOGRAPHIC = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
#: Sensitive attributes, their thresholds, and the quasi-identifiers.
ASKED: list[tuple[str, list[str], list[list[str]]]] = [
    ("occupation", ["1/4", "1/2", "4/5"],
     [["age", "sex", "race"], *(DEMOGRAPHIC[:n] for n in (4, 5, 6, 7)), [*DEMOGRAPHIC[:7], "salary-class"]]),
    ("education", ["1/2", "4/5"],
     [["age", "sex", "workclass"], ["sex", "age", "race", "marital-status", "workclass", "occupation"],
      ["sex", "age", "race", "marital-status", "native-country", "workclass", "occupation", "salary-class"]]),
    ("salary-class", ["4/5", "19/20"], [["age", "education", "native-country"], DEMOGRAPHIC[:5], DEMOGRAPHIC]),
    ("marital-status", ["3/5", "9/10"],
     [["age", "sex", "race", "workclass"],
      ["sex", "age", "race", "education", "native-country", "workclass", "occupation"]]),
]  # fmt: skip
LIMITS, LOSSES = (0.0, 0.02, 0.1, 1.0), ("discernibility", "ncp", "classification")


def tasks() -> list[tuple[list[str], str, Fraction, float, str]]:
    return [
        (qi, sensitive, Fraction(threshold), limit, loss)
        for sensitive, thresholds, sets in ASKED
        for qi, threshold, limit, loss in itertools.product(sets, thresholds, LIMITS, LOSSES)
    ]


def losses(
    table: pd.DataFrame, hierarchies: dict[str, pd.DataFrame], levels: dict[str, int], sensitive: str, limit: Fraction
) -> tuple[dict[str, float], int]:
    """Every loss of a node by its definition, and how many records its groups with a share of `limit` have."""
    cells, n, ncp = pd.DataFrame(index=table.index), len(table), pd.Series(0.0, table.index)
    for name, level in levels.items():
        hierarchy = hierarchies[name]
        cells[name] = table[name].astype(str).map(hierarchy.set_index(0, drop=False)[level])
        below = cells[name].map(hierarchy[level].value_counts())
        ncp += below.where(below > 1, 0) / len(hierarchy) / len(levels)
    group = cells.groupby(list(levels)).ngroup()
    counts = pd.crosstab(group, table[sensitive])
    size, most = counts.sum(axis=1), counts.max(axis=1)
    out = most * limit.denominator >= size * limit.numerator
    lost = int(size[out].sum())
    of = {
        "discernibility": ((size[~out] ** 2).sum() + n * lost) / n**2,
        "ncp": ncp.where(~group.map(out), 1.0).mean(),
        "classification": (n - most[~out].sum()) / n,
    }
    return of, lost


def main(arguments: list[str] | None = None) -> pd.DataFrame | None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="ARX's folder data")
    parser.add_argument("--answers", type=Path, help="what ARX answers")
    parser.add_argument("--tasks", action="store_true", help="print what is to be asked, and nothing else")
    parser.add_argument("--first", type=int, help="only so many tasks")
    options = parser.parse_args(arguments)
    asked = list(enumerate(tasks()))[: options.first]
    if options.tasks:
        for number, (qi, sensitive, limit, suppression, loss) in asked:
            print(number, ",".join(qi), sensitive, float(limit / (1 - limit)), suppression, loss, sep="|")
        return None
    lines = [] if options.answers is None else options.answers.read_text(encoding="utf-8").splitlines()
    answers = dict(line.split("|", 1) for line in lines)
    adult = mx.datasets.load_adult().rename(columns={"salary": "salary-class"})
    files = {name: options.folder / f"adult_hierarchy_{name}.csv" for name in [*DEMOGRAPHIC, "salary-class"]}
    hierarchies = {name: pd.read_csv(path, sep=";", header=None, dtype=str) for name, path in files.items()}
    rows: list[dict[str, Any]] = []
    for number, (qi, sensitive, limit, suppression, loss) in asked:
        start = time.perf_counter()
        result = mx.anonymize.search(
            adult, qi, sensitive, {name: str(files[name]) for name in qi}, float(limit), loss=loss,
            methods=["full-domain"], suppression=suppression, progress=False,
        )  # fmt: skip
        row = {"loss": loss, "limit": suppression, "judged": result.nodes, "seconds": time.perf_counter() - start}
        again, lost = losses(adult, hierarchies, result.levels, sensitive, limit)
        row["wrong"] = abs(result.loss - again[loss]) > 1e-9 or lost != result.suppressed or not result.optimal
        if str(number) in answers:
            levels, _, _, checked, seconds = answers[str(number)].split("|")
            theirs = dict(zip(qi, map(int, levels.split(",")), strict=True))
            its_loss, its_lost = losses(adult, hierarchies, theirs, sensitive, limit)
            is_safe = its_lost <= suppression * len(adult)
            row["ours larger"] = is_safe and result.loss > its_loss[loss] + 1e-9
            row["ARX's larger"] = not is_safe or its_loss[loss] > result.loss + 1e-9
            row |= {
                "same node": theirs == result.levels,
                "checked by ARX": int(checked),
                "seconds of ARX": float(seconds),
            }
        rows.append(row)
    table = pd.DataFrame(rows)
    of = {name: "median" if name in ("judged", "checked by ARX") else "sum" for name in table.columns[2:]}
    summary = table.groupby(["loss", "limit"], sort=False).agg({"loss": "size", **of})
    summary = summary.rename(columns={"loss": "searches"})
    print(summary.to_string(float_format="{:.4g}".format))
    return summary


if __name__ == "__main__":
    main()
