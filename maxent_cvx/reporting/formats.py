"""Numbers and names as a report writes them: no probability is rounded to a certainty that it is not."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context

import pandas as pd

from ..display import as_label
from ..terms.people import OTHERS
from .blocks import Cell

__all__ = [
    "SPACE",
    "at_most",
    "below",
    "count",
    "from_on",
    "group_name",
    "label",
    "number",
    "percent",
    "probability",
    "share",
    "value_name",
]

#: Probabilities this close to 0 or 1 are written as such: what solvers call exact.
NEAR = 1e-9
#: A threshold that is above a round number by less than this is meant to be above it.
HAIR = 1e-6
#: Keeps a number and its unit on one line.
SPACE = "\u00a0"


def percent(p: float, exact: float = 0.0) -> str:
    """Write a probability, as 83.3 %; what is within `exact` of 0 or 1 is that, if `exact` is a millionth at most.

    >>> [percent(p).replace(SPACE, " ") for p in (5 / 6, 0.8, 0.99999, 1.0, 1e-5)]
    ['83.3 %', '80 %', 'over 99.9 %', '100 %', 'below 0.1 %']
    """
    if math.isnan(p):
        return "not known"
    exact = min(max(exact, NEAR), HAIR)  # a worse answer is not rounded to a certainty
    if p >= 1 - exact:
        return f"100{SPACE}%"
    if p <= exact:
        return f"0{SPACE}%"
    if p > 0.9995:
        return f"over 99.9{SPACE}%"
    if p < 0.0005:
        return f"below 0.1{SPACE}%"
    return f"{100 * p:.1f}".removesuffix(".0") + f"{SPACE}%"


def from_on(threshold: float) -> str:
    """Write from which probability on something counts; a hair above a round number is "more than" that.

    >>> [from_on(p).replace(SPACE, " ") for p in (0.8, 0.5 + 1e-9)]
    ['at least 80 %', 'more than 50 %']
    """
    round_number = round(threshold, 5)
    return f"{'more than' if 0 < threshold - round_number < HAIR else 'at least'} {percent(round_number)}"


def below(threshold: float) -> str:
    """Write below which probability something does not count, the other side of :func:`from_on`.

    >>> [below(p).replace(SPACE, " ") for p in (0.8, 0.5 + 1e-9)]
    ['less than 80 %', 'at most 50 %']
    """
    return from_on(threshold).replace("at least", "less than").replace("more than", "at most")


def at_most(x: float) -> Cell:
    """A cell with a bound, which is rounded up, never down.

    >>> [at_most(x).text for x in (1.41e-9, 2e-15, 0.0)]
    ['1.5e-09', '2e-15', '0']
    """
    if not math.isfinite(x) or x == 0:
        return number(x)
    return Cell(f"{float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(x)))):.2g}", float(x))


def probability(p: float, exact: float = 0.0) -> Cell:
    """A cell with a probability."""
    return Cell(percent(p, exact), None if math.isnan(p) else float(p))


def share(part: float, whole: float) -> str:
    """Write "12 of 345 people"; whole people as such, expected ones to a tenth."""
    return f"{count(part).text} of {count(whole).text} people"


def count(n: float) -> Cell:
    """A cell with a number of people or things."""
    return Cell(f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}", float(n))


def number(x: float, digits: int = 3) -> Cell:
    """A cell with a number that has no unit of its own."""
    if math.isnan(x):
        return Cell("not known")
    if math.isinf(x):
        return Cell("infinite" if x > 0 else "minus infinite", x)
    return Cell(f"{x:.{digits}g}", float(x))


def label(value: object) -> str:
    """Write a value of an attribute, or a combination of values of several."""
    return ", ".join(map(as_label, value)) if isinstance(value, tuple) else as_label(value)


def value_name(sensitive: tuple[str, ...], value: object) -> str:
    """Write a sensitive value with its attribute: "Disease = Flu"."""
    several = value if isinstance(value, tuple) and len(sensitive) > 1 else (value,)
    return ", ".join(f"{as_label(name)} = {as_label(one)}" for name, one in zip(sensitive, several, strict=True))


def group_name(index: pd.Index, at: int) -> str:
    """Write whom a row of probabilities is about: "Gender = female, Degree = junior", or "Iris", who is named."""
    levels = index[at] if isinstance(index, pd.MultiIndex) else (index[at],)
    pairs = [(name, one) for name, one in zip(index.names, levels, strict=True) if (name, one) != ("who", OTHERS)]
    return ", ".join(as_label(one) if name == "who" else f"{as_label(name)} = {as_label(one)}" for name, one in pairs)
