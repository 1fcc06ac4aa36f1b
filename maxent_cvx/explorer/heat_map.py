"""P(s | q) as a table of coloured cells, with the interval of each: a heat map that is drawn at once and read aloud."""

from __future__ import annotations

from html import escape

import numpy as np

from .answers import Answer

__all__ = ["heat_map"]

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
    shown, view = answer.shown, answer.post.space.view
    frames = _thresholds(answer, threshold)
    heads = "".join(f'<th scope="col"><span>{escape(named(s))}</span></th>' for s in shown.columns)
    rows, is_open = [], answer.interval
    for i, q in enumerate(shown.index):
        cells = "".join(
            _cell(p, frames[j], *(() if is_open is None else is_open[:, i, j]))
            for j, p in enumerate(shown.iloc[i].to_numpy())
        )
        people = view.n_q[answer.tuples[i]]
        rows.append(f'<tr><th scope="row">{escape(named(q))}</th><td class="people">{people}</td>{cells}</tr>')
    title = f"P({escape(', '.join(view.sensitive))} | {escape(', '.join(view.qi))})"
    total = len(view.n_q)
    part = f", the {len(shown)} most exposed of {total} groups" if len(shown) < total else ""
    notes = ", and below it what the rows alone leave open" if answer.interval is not None else ""
    before = "" if is_current else "<strong>The last picture, of before.</strong> "
    return (
        f'<div class="maxent-map{"" if is_current else " maxent-old"}"><table><caption>{before}{title}{part}: the '
        f"maximum-entropy probability{notes}; framed from {threshold:g} on</caption><thead><tr><th></th>"
        f'<th scope="col">people</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _thresholds(answer: Answer, threshold: float) -> np.ndarray:
    """From which probability on a value exposes somebody: none, if everybody is known to have it as likely."""
    values = answer.exposure(threshold).values
    everywhere = values.index[values["baseline"].fillna(0) >= threshold]
    counts = answer.shown.columns.isin(values.index) & ~answer.shown.columns.isin(everywhere)
    return np.where(counts, threshold, np.inf)


def _cell(p: float, threshold: float, *interval: float) -> str:
    """One P(s | q) with its interval."""
    red, green, blue = (round(float(np.interp(p, [0, 0.5, 1], mixed))) for mixed in COLOURS.T)
    colour = "#fff" if p >= DARK else "#111"
    between = _interval(*interval) if interval else ""
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
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
