"""What is said of an answer, or of a contradiction, in words: for a page, and as text."""

from __future__ import annotations

import math

import pandas as pd

from .answers import Answer, NoAnswer

__all__ = ["contradiction", "verdict"]


def verdict(answer: Answer, start: Answer | NoAnswer, threshold: float, first_threshold: float) -> list[str]:
    """Judge an answer in sentences, beside what was so at the start: the divergence if the truth is known, exposure.

    Parameters
    ----------
    answer : Answer
    start : Answer or NoAnswer
    threshold, first_threshold : float
        Now, and at the start.
    """
    sentences = []
    is_moved = isinstance(start, Answer) and (start is not answer or threshold != first_threshold)
    if answer.divergence is not None:
        sentence = f"Divergence from the truth: {_bits(answer.divergence)}"
        before = f", {_bits(start.divergence)} at the start" if is_moved and isinstance(start, Answer) else ""
        sentences.append(f"{sentence}{before}; 0 would be the truth itself.")
    found = answer.exposure(threshold)
    sentence = f"{found.people} of {found.total} people exposed: {found.meaning}"
    if is_moved and isinstance(start, Answer):
        at = "" if threshold == first_threshold else f", with P >= {first_threshold:g}"
        sentence += f" ({start.exposure(first_threshold).people} at the start{at})"
    sentences += [f"{sentence}.", *found.distances, *found.warnings]
    if answer.without_intervals:
        sentences.append(f"No intervals: {answer.without_intervals}.")
    return sentences


def _bits(divergence: float | None) -> str:
    """Write a divergence."""
    if divergence is None or math.isinf(divergence):
        return "infinite (something true is ruled out)"
    return f"{divergence:.3f} bits"


def contradiction(found: NoAnswer) -> tuple[str, list[str]]:
    """Say why there is no answer: a sentence, and each of the statements that clash.

    Parameters
    ----------
    found : NoAnswer

    Returns
    -------
    (str, list of str)
    """
    if found.conflict is None or found.conflict.empty:
        return f"There is no answer. {found.message}", []
    rest = "what is published leaves" if len(found.conflict) == 1 else "the others leave"
    one_by_one = [_clash(str(label), row, rest) for label, row in found.conflict.iterrows()]
    if len(one_by_one) == 1:
        return "Contradictory: what is published rules this out.", one_by_one
    return f"Contradictory: these {len(one_by_one)} statements cannot all be true.", one_by_one


def _clash(label: str, row: pd.Series, rest: str) -> str:
    """Say what would have to give: "P(Flu) = 0.6: the others leave between 0.2 and 0.5"."""
    least, most = row["least"], row["most"]
    if not (math.isfinite(least) and math.isfinite(most)):
        return label
    can_be = f"{most:.3g}" if most - least < 1e-9 else f"between {least:.3g} and {most:.3g}"
    return f"{label}: {rest} {can_be}"
