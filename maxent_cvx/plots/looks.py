"""What tells lines and points apart: colour, line style and marker together, for every eye and in grey."""

from __future__ import annotations

from typing import Any

__all__ = ["AGAINST", "BARS", "COLOURS", "FAINT", "FOR", "MARKERS", "STYLES", "look"]

#: Colours in turn, by Okabe and Ito (2008, "Color Universal Design"), without their yellow, which is too pale for a
#: line on white: told apart with any deficiency of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#E69F00", "#CC79A7", "#56B4E9")
#: Markers in turn, as many as colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Line styles in turn. Their number and that of the markers have no common divisor: 28 lines differ in one or both.
STYLES = ("-", "--", "-.", ":")
#: The two colours of what is good and bad, more and less, before and after.
FOR, AGAINST = COLOURS[:2]
#: The hatches of bars of these two colours, which tell them apart in grey.
BARS = {FOR: "", AGAINST: "////"}
#: The grey of what is there for comparison.
FAINT = "0.5"
#: Markers of a line, about: more would hide its style.
MARKED = 12


def look(number: int, points: int = 0) -> dict[str, Any]:
    """How the line of a number looks: arguments of ``Axes.plot``; of many points, some are marked.

    >>> look(1)["color"], look(1)["linestyle"], look(1)["marker"]
    ('#D55E00', '--', 's')
    """
    apart = max(points // MARKED, 1)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[number % len(STYLES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5,
        "linewidth": 1.6,
        # Lines that lie on each other are marked in different places.
        "markevery": (number * apart // 4 % apart, apart),
    }
