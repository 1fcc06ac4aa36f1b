"""The explorer: a model whose knowledge is changed by sliders in a notebook; elsewhere, a static picture."""

from __future__ import annotations

import textwrap
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._utils.errors import LONGEST_LABEL, MaxEntError
from .._utils.formatting import as_label, escaped, format_number, isolated
from .._utils.validation import check_dataframe, check_float, check_instance, check_int, check_list, check_seconds
from ..measures.events import sensitive_events
from ..measures.exposure import certified_error
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..plots.posterior import posterior
from ..terms.people import count_pairs
from .state import Answer, Assumptions, State, answered, assumptions_of, contradiction, typed, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .widgets import Page

#: The RGB colours of P = 0, 0.5 and 1; other colours are interpolated.
COLOURS = np.array([[255, 255, 255], [107, 174, 214], [8, 48, 107]])
#: From this P on, text is white instead of dark; the contrast of both is above 4 there.
DARK = 0.67
#: Intervals with ends closer than this are single values. A choice.
NARROW = 1e-6
#: Probabilities closer than this to 0 or 1 are equal to it up to rounding.
ROUNDING = 1e-9


def heat_map(answer: Answer, threshold: float, is_current: bool = True) -> str:
    """Format P(s | q) and its intervals as an HTML table: one row per QI tuple, one column per sensitive value."""
    view, columns = answer.post.space.view, possible(answer)
    people, p = answer.post.space.groups[1][answer.groups], answer.shown.to_numpy()
    limits = np.where(answer.exposing(threshold), threshold - certified_error(answer.post), np.inf)
    heads = "".join(_head(answer.shown.columns[j], "col") for j in columns)
    rows = []
    for i, q in enumerate(answer.shown.index):
        ends = [() if answer.interval is None else answer.interval[:, i, j] for j in columns]
        cells = "".join(_cell(p[i, j], limits[j], *end) for j, end in zip(columns, ends, strict=True))
        rows.append(f'<tr>{_head(q, "row")}<td class="people">{people[i]}</td>{cells}</tr>')
    who, values = as_label(tuple(answer.shown.index.names)), as_label(view.sensitive)
    name = escape(isolated(f"P({values} | {who})"))
    return (
        f'<div class="maxent-map{"" if is_current else " maxent-old"}"><p>{_caption(answer, threshold, is_current)}</p>'
        f'<div><table aria-label="{name}"><thead><tr><th scope="col">{escaped(who)}</th><th scope="col">people</th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></div>"
    )


def _head(label: object, scope: str) -> str:
    """Format the heading of a row or a column; a long label is shortened and shown in full as a tooltip."""
    full, short = as_label(label), as_label(label, LONGEST_LABEL)
    title = f' title="{escape(isolated(full))}"' if short != full else ""
    return f'<th scope="{scope}"{title}>{escaped(short)}</th>'


def _caption(answer: Answer, threshold: float, is_current: bool) -> str:
    """Describe the cells, and the omitted groups and values."""
    shown, total = answer.shown, len(answer.post.space.groups[1])
    before = "" if is_current else "<strong>The previous answer.</strong> "
    groups = f" of the {len(shown)} most exposed of {total} groups" if len(shown) < total else " of each group"
    interval = ", and below it the interval of all values that the release and the statements permit"
    below = "" if answer.interval is None else interval
    n_left_out = shown.shape[1] - len(possible(answer))
    left_out = f" {n_left_out} values that are impossible for these groups are omitted." if n_left_out else ""
    values = escaped(as_label(answer.post.space.view.sensitive))
    return (
        f"{before}P({values}){groups}: the maximum-entropy probability{below}. Red frame: inferred with P &gt;= "
        f"{format_number(threshold)}.{left_out}"
    )


def possible(answer: Answer) -> np.ndarray:
    """Return the positions of values that are possible for some shown group."""
    largest = answer.shown.to_numpy() if answer.interval is None else answer.interval[1]
    return np.flatnonzero(largest.max(axis=0) > ROUNDING)


def _cell(p: float, threshold: float, *interval: float) -> str:
    """Format one P(s | q) with its interval."""
    red, green, blue = (round(float(np.interp(p, [0, 0.5, 1], mixed))) for mixed in COLOURS.T)
    colour = "#fff" if p >= DARK else "#111"
    between = _interval(*interval) if interval else ""
    if p <= ROUNDING and not between:
        return '<td class="maxent-none">0</td>'
    frame = ' class="maxent-exposed"' if p >= threshold else ""
    return f'<td{frame} style="background:rgb({red},{green},{blue});color:{colour}">{short(p)}{between}</td>'


def _interval(low: float, high: float) -> str:
    """Format an interval; a single value of 1 as "certain", of 0 as an empty text, and any other as "exactly"."""
    if high < NARROW:
        return ""
    if high - low < NARROW:
        return f"<small>{'certain' if low >= 1 - ROUNDING else 'exactly'}</small>"
    return f"<small>{short(low)}&ndash;{short(high)}</small>"


def short(p: float) -> str:
    """Format a probability with two digits: .25, 1, 0; only exact values are written as 0 or 1."""
    if p <= ROUNDING or p >= 1 - ROUNDING:
        return f"{p:.0f}"
    text = f"{p:.2f}"
    return {"0.00": "&lt;.01", "1.00": "&gt;.99"}.get(text, text.removeprefix("0"))


@dataclass(eq=False)
class Exploration:
    """The state of the controls, and all displayed content, without widgets."""

    assumptions: Assumptions
    original: pd.DataFrame | None
    max_rows: int
    seconds: float
    sensitive: object = None
    state: State = field(init=False)
    answer: Answer | MaxEntError = field(init=False)
    pictured: Answer | None = field(init=False, default=None)
    _start: Answer | MaxEntError = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.assumptions.start
        self._start = self._answered(self.state)
        self._hold(self._start)

    def go(self, state: State) -> None:
        """Change the state."""
        is_known = state.knowledge == self.state.knowledge
        self.state = state
        if state.knowledge == self.assumptions.start.knowledge:
            self._hold(self._start)
        elif not is_known:
            self._hold(self._answered(state))

    def _answered(self, state: State) -> Answer | MaxEntError:
        """Solve the model of a state."""
        return answered(self.assumptions.model_at(state), self.original, self.max_rows, self.seconds, self.sensitive)

    def _hold(self, answer: Answer | MaxEntError) -> None:
        """Show an answer; without one, the previous picture stays."""
        self.answer = answer
        self.pictured = answer if isinstance(answer, Answer) else self.pictured

    @property
    def sentences(self) -> tuple[str, list[str]]:
        """A heading and sentences: for a contradiction the conflicting statements."""
        if isinstance(self.answer, MaxEntError):
            return contradiction(self.answer)
        return "", verdict(self.answer, self._start, self.state.threshold, self.assumptions.start.threshold)

    @property
    def picture(self) -> str:
        """The heat map as HTML; grey for a previous answer, empty without an answer."""
        if self.pictured is None:
            return ""
        return heat_map(self.pictured, self.state.threshold, is_current=self.pictured is self.answer)

    @property
    def code(self) -> str:
        """The code that makes the current model."""
        return typed(self.assumptions, self.state)


#: Letters per inch in the lines below the picture.
LETTERS = 12


def picture(answer: Answer | MaxEntError, sentences: list[str], max_rows: int) -> Figure:
    """Plot the posterior, with the sentences below it; without an answer, the sentences alone."""
    from matplotlib.figure import Figure

    width, height = 8.0, 1.2
    if isinstance(answer, Answer):
        width = max(width, 3.4 + 0.6 * answer.shown.shape[1])
        height = 2.2 + 0.32 * len(answer.shown)
    words = "\n".join(textwrap.fill(sentence, int(LETTERS * width)) for sentence in sentences)
    figure = Figure(figsize=(width, height + 0.2 * words.count("\n")), layout="constrained")
    if isinstance(answer, Answer):
        posterior(answer.post, ax=figure.subplots(), max_rows=max_rows)
        figure.supxlabel(words, ha="left", x=0.01, fontsize="medium", parse_math=False)
    else:
        figure.text(0.02, 0.9, words, va="top", parse_math=False)
    return figure


#: Optional dependencies of the page.
NEEDED = ("ipywidgets", "anywidget")
#: The command that installs them.
INSTALL = 'pip install "maxent-cvx[explorer]"'


class Explorer:
    """An interactive model, created by :func:`maxent_cvx.explore` and displayed by a notebook.

    Parameters
    ----------
    exploration : Exploration
        Created by :func:`maxent_cvx.explore`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> explorer = mx.explore(mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3"))
    >>> print(explorer.code)
    import maxent_cvx as mx
    <BLANKLINE>
    model = mx.MaxEnt(release)
    model.add('P(Flu | Gender=male) = 0.3')
    post = model.solve()
    """

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._page: Page | None = None

    @property
    def code(self) -> str:
        """The code that makes the current model."""
        return self._exploration.code

    @property
    def model(self) -> MaxEnt:
        """The current model; the given model is never changed."""
        return self._exploration.assumptions.model_at(self._exploration.state).copy()

    @property
    def posterior(self) -> Posterior | None:
        """The current posterior; None if the knowledge is contradictory, or the time limit was reached."""
        answer = self._exploration.answer
        return answer.post if isinstance(answer, Answer) else None

    @property
    def widget(self) -> Any:
        """The page, an ipywidgets box.

        Raises
        ------
        ImportError
            If ipywidgets or anywidget is not installed.
        """
        return self._made().box

    def _made(self) -> Page:
        """Return the page, created on first use."""
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            raise ImportError(f"the sliders need {' and '.join(missing)}: {INSTALL}")
        if self._page is None:
            from .widgets import Page  # requires ipywidgets, an optional dependency

            self._page = Page(self._exploration)
        return self._page

    def figure(self) -> Figure:
        """Plot the current posterior, with the verdict below it; displayed where sliders are not available.

        Returns
        -------
        Figure
            A Matplotlib figure.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> figure = mx.explore(mx.MaxEnt(release)).figure()
        >>> figure.axes[0].get_title()
        'P(Disease | Gender, Degree)'
        """
        return self._drawn("")

    def reset(self) -> None:
        """Reset every control to its initial position.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> explorer = mx.explore(mx.MaxEnt(release))
        >>> explorer.reset()
        """
        if self._page is None:
            self._exploration.go(self._exploration.assumptions.start)
        else:
            self._page.reset()

    def _drawn(self, note: str) -> Figure:
        """Plot the current answer, with a note as the last sentence."""
        head, items = self._exploration.sentences
        sentences = [sentence for sentence in (head, *items, note) if sentence]
        return picture(self._exploration.answer, sentences, self._exploration.max_rows)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the page, with a picture and a text for frontends without widgets."""
        bundle: dict[str, Any] = {}
        metadata: dict[str, Any] = {}
        if any(find_spec(name) is None for name in NEEDED):
            note = f"To install the sliders: {INSTALL}"
        else:
            note = "This is a static picture; the sliders need a running notebook"
            bundle, metadata = self._made().bundle()
        picture = BytesIO()
        self._drawn(note).savefig(picture, format="png", dpi=90)
        bundle |= {"text/plain": repr(self), "image/png": b64encode(picture.getvalue()).decode()}
        return bundle, metadata

    def __repr__(self) -> str:
        head, items = self._exploration.sentences
        text = "\n".join(f"  {sentence}" for sentence in (head, *items) if sentence)
        how = "" if all(map(find_spec, NEEDED)) else f" ({INSTALL} for sliders)"
        return f"<Explorer, with sliders in a notebook{how}>\n{text}"


def explore(
    model: MaxEnt,
    original: pd.DataFrame | None = None,
    *,
    threshold: float = 0.8,
    sensitive: object = None,
    statements: Sequence[str] | None = None,
    min_support: int = 3,
    max_rows: int = 20,
    time_limit: float = 10.0,
) -> Explorer:
    """Explore interactively how the adversary's knowledge changes P(s | q), its intervals and the exposed people.

    In a notebook there are sliders for the value and the vagueness of each statement, for the number of known associations
    and for the threshold, and check boxes for other knowledge. The page lists contradictory statements, and shows the code
    of the current model. Elsewhere, a static picture is shown.

    Parameters
    ----------
    model : MaxEnt
        The initial knowledge. The model is not changed.
    original : DataFrame, optional
        The original records. With them, the divergence from the truth is shown, in bits, and their K+ and K- strongest
        associations can be added to the knowledge.
    threshold : float
        The initial threshold of exposure; the baseline is the overall distribution, if published.
    sensitive : object, optional
        The values that count, see :func:`maxent_cvx.measures.exposed`; by default all.
    statements : sequence of str, optional
        Labels of ``model.knowledge`` with sliders; by default the first 20. Other knowledge has a check box.
    min_support : int
        Least number of records behind an association, see :class:`maxent_cvx.StrongestAssociations`.
    max_rows : int
        Number of QI tuples shown: those with the largest probabilities.
    time_limit : float
        Time limit of each solve, and of the intervals, in seconds.

    Returns
    -------
    Explorer
        With the current ``.model``, ``.posterior`` and ``.code``; ``.widget`` is the page.

    Raises
    ------
    StatementError
        If `model` is not a MaxEnt, or an argument is invalid.
    BadProbability
        If the threshold is not between 0 and 1.
    UnknownName, TableError
        If a statement does not exist; if the original records lack a column or are not the people of the release.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3 +- 0.05", "P(Breast Cancer | Gender=male) = 0")
    >>> explorer = mx.explore(model, hospital)
    >>> round(explorer.posterior.prob("Flu", {"Gender": "male"}), 3)
    0.35
    """
    check_instance(model, MaxEnt, "model")
    threshold = check_float(threshold, "threshold", 0.0, 1.0)
    check_int(min_support, "min_support", 1)
    check_int(max_rows, "max_rows", 1)
    limit = check_seconds(time_limit, "time_limit")
    chosen = None if statements is None else check_list(statements, "statements", "labels")
    if original is not None:
        check_dataframe(original, "original")
        count_pairs(model.view, original)  # raises if the records are not the people of the view
    assumptions = assumptions_of(model, original, threshold, min_support, chosen)
    sensitive_events(model.view.sensitive_values, sensitive)  # raises if a value does not exist
    return Explorer(Exploration(assumptions, original, max_rows, limit, sensitive))
