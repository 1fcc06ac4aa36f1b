"""What is inferred of one person, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments
from ..model.posterior import Posterior
from .dumbbells import draw_dumbbells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["before_and_after"]

#: Values that are drawn by default.
MOST_VALUES = 20


def before_and_after(
    before: Posterior,
    after: Posterior,
    who: object,
    ax: Axes | None = None,
    *,
    labels: tuple[str, str] = ("before", "after"),
    max_rows: int = MOST_VALUES,
) -> Axes:
    """Draw P(s | who) of two posteriors for one person: a row a sensitive value, from a hollow point to a filled one.

    Parameters
    ----------
    before, after : Posterior
        Of the same sensitive attributes: without some knowledge and with it, or of two releases. A value that one of
        them does not publish has no probability there, 0.
    who : dict, str or int
        Whom it is about: QI attribute to value, ``{"Gender": "male"}``; or the name of a person, or a pseudonym, whom
        both posteriors know.
    ax : Axes, optional
        Where to draw; by default a new figure.
    labels : tuple of two str
        What the two are called in the legend.
    max_rows : int
        With more values than this, those that change most are shown, and the title says so.

    Returns
    -------
    Axes
        The likeliest value after is at the top.

    Raises
    ------
    StatementError
        If something is no Posterior, their sensitive attributes are others, nobody is as described, `labels` are not
        two texts, `max_rows` is no integer of at least 1, or `ax` no Axes of Matplotlib.
    UnknownName
        If there is no such attribute, value or person.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> before, after = model.solve(), model.add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> grace = {"Gender": "female", "Degree": "junior"}
    >>> ax = mx.plots.before_and_after(before, after, grace, ax=Figure().subplots())
    >>> ax.get_title(), ax.get_yticklabels()[0].get_text()
    ('P(Disease | Gender=female, Degree=junior)', 'Breast Cancer')
    """
    for post, name in ((before, "before"), (after, "after")):
        arguments.instance(post, Posterior, name)
    arguments.whole(max_rows, "max_rows", 1)
    if not isinstance(labels, tuple | list) or len(labels) != 2 or any(not isinstance(one, str) for one in labels):
        raise StatementError("labels must be two texts, of what is before and of what is after")
    attributes = after.space.view.sensitive
    if before.space.view.sensitive != attributes:
        raise StatementError(
            f"before is about {list(before.space.view.sensitive)}, and after about {list(attributes)}; compare "
            "posteriors of the same sensitive attributes"
        )
    first, second = _inferred(before, who), _inferred(after, who)
    values = second.index.append(first.index.difference(second.index, sort=False))
    table = pd.DataFrame({"first": first.reindex(values).fillna(0.0), "second": second.reindex(values).fillna(0.0)})
    if cut := len(table) > max_rows:
        change = (table["second"] - table["first"]).abs().to_numpy()
        table = table.iloc[np.argsort(-change, kind="stable")[:max_rows]]
    table = table.sort_values(["second", "first"], ascending=False, kind="stable")
    whom = ", ".join(f"{name}={value}" for name, value in who.items()) if isinstance(who, Mapping) else str(who)
    of_all = f" (the {max_rows} values of {len(values)} that change most)" if cut else ""
    rows = [", ".join(map(str, value)) if isinstance(value, tuple) else value for value in table.index]
    title = f"P({', '.join(attributes)} | {whom}){of_all}"
    pair = (str(labels[0]), str(labels[1]))
    return draw_dumbbells(ax, rows, table["first"].to_numpy(), table["second"].to_numpy(), pair, title)


def _inferred(post: Posterior, who: object) -> pd.Series:
    """P(s | who) of every sensitive value."""
    space, values = post.space, post.space.view.sensitive_values
    names = space.view.sensitive
    asked = [dict(zip(names, value, strict=True)) for value in values] if len(names) > 1 else list(values)
    whose: dict[str, Any] = {"given": who} if isinstance(who, Mapping) else {"who": who}
    return pd.Series([post.prob(value, **whose) for value in asked], index=values)
