"""What exposure says in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ...errors import amount
from .judge import Judge, Tally
from .judged_values import in_words, single_values

__all__ = ["uncounted_table", "verdict", "warnings_of"]


def verdict(judge: Judge, tally: Tally, total: int, values: pd.DataFrame, whom: str) -> Iterator[str]:
    """Say how many people are exposed by what, and what is not counted; sentences. `whom` is who all people are."""
    at, baseline = f"P >= {judge.threshold:g}", judge.baseline
    if baseline is None:
        yield f"{tally.exposed} of {total} people exposed at {at}"
        return
    below = f"P < {judge.threshold:g} {baseline.called}"
    if tally.exposed:
        yield (
            f"{tally.exposed} of {total} {whom} ({tally.exposed / total:.1%}) exposed: a value that has {below} is "
            f"inferred with {at}."
        )
    else:
        yield f"0 of {total} {whom} exposed: no value that has {below} is inferred with {at}."
    same = len(baseline.p) == 1
    for label, row in values[values["exposed"] > 0].iterrows():
        before = f", P = {row['baseline']:.3g} {baseline.called}," if same else ""
        sure = f", of {int(row['certain'])} for certain" if row["certain"] else ""
        yield f"{in_words(label)}{before} is inferred of {_people(row['exposed'])}{sure}."
    for label, row in values[values["not_counted"] > 0].iterrows():
        whom = "" if same else f" of {_people(row['not_counted'])}"
        has = f"P = {row['baseline']:.3g}" if same else at
        yield (
            f"{in_words(label)} is not counted{whom}, as it has {has} {baseline.called}; it is inferred with {at} of "
            f"{_people(row['anyway'])}."
        )


def _people(n: float) -> str:
    """Word a number of people."""
    return amount(int(n), "person", "people")


def uncounted_table(judge: Judge, tally: Tally) -> pd.DataFrame:
    """Values that are certain of people who are not exposed: how many these are, and why that does not count."""
    judged, single = judge.judged.involved, single_values(judge.values)
    rows = [
        (label, int(n), "its baseline reaches the threshold" if of_judged else "it is not among the sensitive values")
        for label, n, of_judged in zip(judge.values.to_flat_index(), tally.uncounted, judged, strict=True)
        if n
    ]
    if single is not None:
        rows += [
            (label, int(n), "it is not judged by itself, or its baseline reaches the threshold")
            for label, n in zip(single.labels, tally.of_one, strict=True)
            if n
        ]
    table = pd.DataFrame(rows, columns=["value", "people", "because"]).set_index("value")
    table.attrs["people"] = tally.certain_uncounted  # of whom several values may be certain
    return table


def warnings_of(judge: Judge, tally: Tally, uncounted: pd.DataFrame) -> Iterator[str]:
    """What a reader of the verdict must know besides; sentences."""
    for label, row in uncounted.iterrows():
        yield f"{in_words(label)} is certain (P = 1) of {_people(row['people'])} not counted: {row['because']}."
    if tally.unsure:
        yield (
            f"{tally.unsure} of the exposed people are counted only because the certificate's bound, "
            f"{judge.slack:.2g}, does not prove that they are below the threshold."
        )
