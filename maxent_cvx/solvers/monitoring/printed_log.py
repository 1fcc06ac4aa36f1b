"""The log of a solve as it is printed: a header, and a line an iteration in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["HEADER", "ends_a_step", "line_of"]

#: Columns: the heading, the name in a line of the log, the width, and how a number is written.
COLUMNS: tuple[tuple[str, str, int, Callable[[Any], str]], ...] = (
    ("iter", "iteration", 6, str),
    ("parts", "parts", 7, str),
    ("residual", "residual", 10, "{:.2e}".format),
    ("gap", "gap", 10, "{:.2e}".format),
    ("dual value", "dual", 18, "{:.9e}".format),
    ("zeros", "dropped", 8, str),
    ("seconds", "seconds", 9, "{:.2f}".format),
)
#: The headings, and the units: residuals and gaps are in records, the dual value in nats of all records.
HEADER = "".join(f"{heading:>{width}}" for heading, _, width, _ in COLUMNS) + "  "
#: Every iteration is printed up to this one; beyond, with twice the decimal digits, one in ten, and so on.
FIRST = 50


def line_of(line: Mapping[str, Any]) -> str:
    """Write a line of the log in columns; what it does not say stays open, and words follow."""
    cells = []
    for _, name, width, written in COLUMNS:
        value = line.get(name)
        is_open = value is None or value != value
        if name == "parts" and "part" in line:
            value, is_open = f"{line['part']}/{line['parts_in_all']}", False
        cells.append(f"{'-' if is_open else written(value):>{width}}")
    return "".join(cells) + (f"  {line['status']}" if "status" in line else "")


def ends_a_step(iteration: int) -> bool:
    """Whether an iteration is printed: of methods that take thousands, a few dozen are."""
    step = 1
    while iteration >= FIRST * step:
        step *= 10
    return iteration % step == 0
