"""P(s | q) as a table of coloured cells, with the interval of each: a heat map that is drawn at once and read aloud."""

from __future__ import annotations

from html import escape

import numpy as np

from ..display import as_label, escaped, isolated
from .answers import Answer

__all__ = ["heat_map", "possible"]

#: The colours of P = 0, 0.5 and 1, red, green, blue; those between are mixed of them.
COLOURS = np.array([[255, 255, 255], [107, 174, 214], [8, 48, 107]])
#: From this P on white letters are read more easily than dark ones: the contrast of either is above 4 there.
DARK = 0.67
#: Intervals this narrow are a number: what bounds are proved to, as a probability, and the digits that are shown.
NARROW = 5e-3
#: What rounding may leave of a probability of 0, or take from one of 1.
ROUNDING = 1e-9


def heat_map(answer: Answer, threshold: float, is_current: bool = True) -> str:
    """Write a table: a row a QI tuple, a column a sensitive value; below each P(s | q) its interval.

    Parameters
    ----------
    answer : Answer
    threshold : float
        From this P on a cell has a frame, if its value counts and has not that probability overall.
    is_current : bool
        If not, it is greyed: there is no picture of now.

    Returns
    -------
    str
        HTML, in which every label is escaped.
    """
    view, columns = answer.post.space.view, possible(answer)
    people, p = answer.post.space.groups[1][answer.groups], answer.shown.to_numpy()
    limits = np.where(answer.exposing(threshold), threshold, np.inf)
    heads = "".join(f'<th scope="col">{escaped(named(answer.shown.columns[j]))}</th>' for j in columns)
    rows = []
    for i, q in enumerate(answer.shown.index):
        ends = [() if answer.interval is None else answer.interval[:, i, j] for j in columns]
        cells = "".join(_cell(p[i, j], limits[j], *end) for j, end in zip(columns, ends, strict=True))
        rows.append(f'<tr><th scope="row">{escaped(named(q))}</th><td class="people">{people[i]}</td>{cells}</tr>')
    who, what = named(tuple(answer.shown.index.names)), named(view.sensitive)
    name = escape(isolated(f"P({what} | {who})"))
    return (
        f'<div class="maxent-map{"" if is_current else " maxent-old"}"><p>{_caption(answer, threshold, is_current)}</p>'
        f'<div><table aria-label="{name}"><thead><tr><th scope="col">{escaped(who)}</th><th scope="col">people</th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _caption(answer: Answer, threshold: float, is_current: bool) -> str:
    """Say what the cells are, and what is left out."""
    shown, total = answer.shown, len(answer.post.space.groups[1])
    before = "" if is_current else "<strong>The last picture, of before.</strong> "
    groups = f" of the {len(shown)} most exposed of {total} groups" if len(shown) < total else " of each group"
    below = ", and below it the interval that the rows alone leave open" if answer.interval is not None else ""
    n_left_out = shown.shape[1] - len(possible(answer))
    left_out = f" {n_left_out} values that none of these can have are left out." if n_left_out else ""
    what = escaped(named(answer.post.space.view.sensitive))
    return (
        f"{before}P({what}){groups}: the maximum-entropy probability{below}. Framed: inferred with P &gt;= "
        f"{threshold:g}.{left_out}"
    )


def possible(answer: Answer) -> np.ndarray:
    """The columns of values that somebody who is shown can have, by position."""
    largest = answer.shown.to_numpy() if answer.interval is None else answer.interval[1]
    return np.flatnonzero(largest.max(axis=0) > ROUNDING)


def _cell(p: float, threshold: float, *interval: float) -> str:
    """One P(s | q) with its interval."""
    red, green, blue = (round(float(np.interp(p, [0, 0.5, 1], mixed))) for mixed in COLOURS.T)
    colour = "#fff" if p >= DARK else "#111"
    between = _interval(*interval) if interval else ""
    if p <= ROUNDING and not between:
        return '<td class="maxent-none">0</td>'
    frame = ' class="maxent-exposed"' if p >= threshold else ""
    return f'<td{frame} style="background:rgb({red},{green},{blue});color:{colour}">{short(p)}{between}</td>'


def _interval(low: float, high: float) -> str:
    """Write an interval; of one that is a number, that nothing else is possible; of 0, nothing."""
    if high < NARROW:
        return ""
    if high - low < NARROW:
        return f"<small>{'certain' if low > 1 - NARROW else 'exactly'}</small>"
    return f"<small>{short(low)}&ndash;{short(high)}</small>"


def short(p: float) -> str:
    """Write a probability in two digits: .25, 1, 0; what is not 0 or 1 is not written so."""
    if p <= ROUNDING or p >= 1 - ROUNDING:
        return f"{p:.0f}"
    text = f"{p:.2f}"
    return {"0.00": "&lt;.01", "1.00": "&gt;.99"}.get(text, text.removeprefix("0"))


def named(label: object) -> str:
    """Write a QI tuple, or a sensitive value."""
    return ", ".join(map(as_label, label)) if isinstance(label, tuple) else as_label(label)
