"""A picture where there are no widgets: the same heat map, drawn by Matplotlib, with the verdict in words."""

from __future__ import annotations

import textwrap
from io import BytesIO
from typing import TYPE_CHECKING

from ..plots.heat_map import posterior
from .answers import Answer, NoAnswer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["as_png", "picture"]

#: Letters in a line below the picture, an inch.
LETTERS = 12


def picture(answer: Answer | NoAnswer, sentences: list[str], max_rows: int) -> Figure:
    """Draw a posterior, and write below it what is said of it.

    Parameters
    ----------
    answer : Answer or NoAnswer
        Of a contradiction, the words alone.
    sentences : list of str
    max_rows : int
        QI tuples to be drawn.

    Returns
    -------
    Figure
        Of no window: it is shown where it is asked for.
    """
    from matplotlib.figure import Figure

    width, height = 8.0, 1.2
    if isinstance(answer, Answer):
        width = max(width, 3.4 + 0.6 * answer.shown.shape[1])
        height = 2.2 + 0.32 * len(answer.shown)
    words = "\n".join(textwrap.fill(sentence, int(LETTERS * width)) for sentence in sentences)
    figure = Figure(figsize=(width, height + 0.2 * words.count("\n")), layout="constrained")
    if isinstance(answer, Answer):
        posterior(answer.post, ax=figure.subplots(), max_rows=max_rows)
        figure.supxlabel(words, ha="left", x=0.01, fontsize="medium")
    else:
        figure.text(0.02, 0.9, words, va="top")
    return figure


def as_png(figure: Figure) -> bytes:
    """Draw a figure into the bytes of a picture."""
    target = BytesIO()
    figure.savefig(target, format="png", dpi=90)
    return target.getvalue()
