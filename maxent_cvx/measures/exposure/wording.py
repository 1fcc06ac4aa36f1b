"""What exposure says in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...errors import amount, shown
from .intervals import Intervals
from .judge import Judge, Tally
from .judged_values import in_words, single_values, values_of
from .scales import are_nearly_unique, look_like_numbers, scale_of

__all__ = ["distance_in_words", "meaning", "uncounted_table", "undecided_of", "verdict", "warnings_of"]

#: Values that are certain and not counted, each of which has a sentence.
NAMED = 10


def meaning(judge: Judge) -> str:
    """Say what exposes somebody: "a value that has P < 0.8 overall is inferred with P >= 0.8"."""
    return f"{_value(judge)}{_that_has(judge)} is inferred with P >= {judge.threshold:g}"


def _value(judge: Judge) -> str:
    """A value, or an interval around one."""
    near = judge.by_interval
    return "a value" if near is None else f"a value, to within {near.scale.in_words(near.radius)},"


def _that_has(judge: Judge) -> str:
    """Which baseline a value that counts has."""
    if judge.baseline is None:
        return ""
    least = f"P < {judge.threshold:g}" if judge.rho1 is None else f"P <= {judge.rho1:g}"
    return f" that has {least} {judge.baseline.called}"


def distance_in_words(judge: Judge) -> Iterator[str]:
    """Say which values count as the same, where they are on a scale."""
    if (near := judge.intervals) is None:
        return
    text = near.scale.in_words(near.radius)
    if near.is_default:
        most = "twentieth of their range"
        how = f"the default, one rank or a {most}" if near.scale.kind == "rank" else f"the default, a {most}"
        text += f" ({how}; within=...)"
    if near is judge.by_interval:
        yield f"Values count as inferred if they are within {text}."
    elif near.radius > 0:
        yield f"Only equal values count as inferred: no two of them are within {text}."


def verdict(judge: Judge, tally: Tally, total: int, values: pd.DataFrame, whom: str) -> Iterator[str]:
    """Say how many people are exposed by what, and what is not counted; sentences. `whom` is who all people are."""
    at, baseline = f"P >= {judge.threshold:g}", judge.baseline
    if baseline is None:
        yield f"{tally.exposed} of {total} people exposed at {at}"
        return
    if tally.exposed:
        yield f"{tally.exposed} of {total} {whom} ({tally.exposed / total:.1%}) exposed: {meaning(judge)}."
    else:
        yield f"0 of {total} {whom} exposed: no{meaning(judge).removeprefix('a')}."
    if judge.by_interval is not None:
        if some := int((values["anyway"] > 0).sum()):
            yield (
                f"{amount(some, 'interval')} {'does' if some == 1 else 'do'} not count, as the baseline is too large; "
                f"the most frequent is inferred with {at} of {_people(values['anyway'].max())}."
            )
        return
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
    judged, single = judge.involved, single_values(judge.values)
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
    for label, row in uncounted.head(NAMED).iterrows():
        yield f"{in_words(label)} is certain (P = 1) of {_people(row['people'])} not counted: {row['because']}."
    if len(uncounted) > NAMED:
        yield f"{len(uncounted) - NAMED} more values are certain of people not counted."
    if tally.unsure:
        yield (
            f"{tally.unsure} of the exposed people are counted only because the certificate's bound, "
            f"{judge.slack:.2g}, does not prove that they are below the threshold."
        )


def undecided_of(
    judge: Judge, tally: Tally, n_s: np.ndarray | None, n_people: int, is_given: bool
) -> Iterator[tuple[str, bool]]:
    """Say why "nobody is exposed" may be false of such values; sentences, and whether the verdict is open with each.

    Parameters
    ----------
    judge : Judge
    tally : Tally
    n_s : ndarray or None
        How many people have each sensitive value, if it is known.
    n_people : int
        How many people there are.
    is_given : bool
        Whether the user has given `within`, and so looked at the values.
    """
    if tally.closer:
        near = judge.by_interval
        assert near is not None
        yield (
            f"A narrower interval than +-{near.scale.in_words(near.radius)} would expose {_people(tally.closer)} not "
            f"counted: the baseline of the wider ones is too large for P >= {judge.threshold:g} to count. Give a "
            "smaller within=...",
            True,
        )
    if is_given:
        return
    names = list(judge.judged.labels.names)
    for name in names:
        every = values_of(judge.values, name)
        own = None if n_s is None else every.of(n_s[None])[0]
        unique = are_nearly_unique(own, len(every.labels), n_people)
        texts = look_like_numbers(every.labels)
        rare = f"Most values of {name!r} occur once or twice"
        choose = "give within=0 if only equal values matter"
        if len(names) > 1 and _has_intervals(every.labels):
            yield (
                f"Combinations of {', '.join(map(str, names))} are judged by equal values, and {name!r} is a number, "
                f"date or rank: close values count as different. Judge it by itself, sensitive={{{name!r}: None}}, or "
                f"{choose}.",
                True,
            )
        elif judge.by_interval is not None:
            if unique:
                yield f"{rare}: whether somebody is exposed depends on within=...; choose one that matters.", False
        elif judge.intervals is None and texts:
            yield (
                f"{len(texts)} of {len(every.labels)} values of {name!r} look like numbers, dates or ranges, such as "
                f"{shown(texts[0])}, and are judged as unrelated labels: close values count as different. Convert them "
                f"to numbers or dates, or {choose}.",
                True,
            )
        elif unique:
            yield (
                f"{rare}, and only equal values count, so that hardly anybody's can be inferred, whatever is known. "
                f"Group the values, or {choose}.",
                True,
            )


def _has_intervals(values: pd.Index) -> bool:
    """Whether some values of an attribute count as the same by default."""
    scale = scale_of(values)
    if scale is None:
        return False
    every = values_of(values, values.name)
    return Intervals(scale, scale.default(), np.arange(len(values)), every, is_default=True).hold_several
