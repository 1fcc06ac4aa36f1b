"""How linear combinations are written: ``2 P(s | age) - P(age)``, ``P(s=yes | age).diff(age)``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

__all__ = ["Parts", "added", "combined", "constant_text", "decimal", "method", "scaled", "weighted", "with_values"]

#: A linear combination as it is written: coefficients, and what each is of.
Parts = tuple[tuple[float, str], ...]


def decimal(value: float) -> str:
    """Write a number with as many digits as it needs to be read as the same."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value))


def combined(parts: Iterable[tuple[float, str]], constant: str = "") -> str:
    """Write a linear combination, and a constant if it is not "".

    >>> combined([(2, "P(a)"), (-1, "P(b)")], "-0.5")
    '2 P(a) - P(b) - 0.5'
    """
    written = [(a < 0, what if abs(a) == 1 else f"{decimal(abs(a))} {what}") for a, what in parts]
    if constant or not written:
        written.append((constant.startswith("-"), constant.removeprefix("-") or "0"))
    (minus, first), *others = written
    return "-" * minus + first + "".join(f" {'-' if minus else '+'} {part}" for minus, part in others)


def scaled(parts: Parts, factor: float) -> Parts:
    """Multiply a combination by a number."""
    return tuple((factor * a, what) for a, what in parts)


def added(first: Parts, second: Parts) -> Parts:
    """Add two combinations; what both are of is written once, and not at all where it cancels."""
    total: dict[str, float] = {}
    for a, what in (*first, *second):
        total[what] = total.get(what, 0.0) + a
    return tuple((a, what) for what, a in total.items() if a)


def weighted(parts: Parts, weights: str) -> Parts:
    """Multiply a combination by weights that have a name."""
    factor, what = _as_one(parts)
    return ((factor, f"{weights} * {what}"),)


def method(parts: Parts, call: str) -> Parts:
    """Write what is done to a combination: ``.diff(age)``; factors of a single part stay in front."""
    factor, what = _as_one(parts)
    return ((factor, f"({what}).{call}" if " * " in what else f"{what}.{call}"),)


def with_values(parts: Parts, fixed: Mapping[str, object], unnamed: Sequence[str] = ()) -> Parts:
    """Write at which values levels are fixed; of unnamed levels only the value, as statements do.

    >>> with_values(((2.0, "P(s | age)"),), {"s": "yes", "age": 40}, unnamed=["s"])
    ((2.0, 'P(yes | age=40)'),)
    """
    said = {name: f"{value}" if name in unnamed else f"{name}={value}" for name, value in fixed.items()}
    return tuple((a, _with_values(what, said)) for a, what in parts)


def constant_text(values: set[float]) -> str:
    """Write the constant of a combination: a number, or that it differs by label; "" for 0."""
    if len(values) > 1:
        return "constants"
    value = next(iter(values), 0.0)
    return decimal(value) if value else ""


def _as_one(parts: Parts) -> tuple[float, str]:
    """Write a combination as one part, in parentheses where it has several."""
    return parts[0] if len(parts) == 1 else (1.0, f"({combined(parts)})")


def _with_values(text: str, said: Mapping[str, str]) -> str:
    """Replace each name where it stands alone between parentheses, commas and bars; add what stands nowhere."""
    lost = []
    for name, instead in said.items():
        place = rf"(\(|, |\| ){re.escape(name)}(?=\)|, | \|)"
        text, times = re.subn(place, partial(_instead, instead), text)
        lost += [instead] * (not times)
    return f"{text}[{', '.join(lost)}]" if lost else text


def _instead(instead: str, found: re.Match[str]) -> str:
    """What stood before the name, and what is said in its place."""
    return found[1] + instead
