"""H(eps) as steps, the area below them shaded (CAE, Figs. 1 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import StatementError
from ..measures import Equivocation
from .drawing import LINES, axes_for
from .fitting import legend_beside
from .looks import COLOURS, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["equivocation"]


def equivocation(curves: Equivocation | Mapping[str, Equivocation], ax: Axes | None = None) -> Axes:
    """Draw H(eps), its area shaded: a curve, or curves by name (CAE, Figs. 1 and 3).

    Parameters
    ----------
    curves : Equivocation, or dict of str to Equivocation
        What :func:`maxent_cvx.measures.equivocation` returns, by the name that the legend shows.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, GroupTooLarge
        If there is no curve, or `ax` is no Axes of Matplotlib; or a curve takes too long.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> curves = {f"{a} or {b}": mx.measures.equivocation([a, b], [0.5, 0.5]) for a, b in [(77, 80), (50, 107)]}
    >>> [text.get_text() for text in mx.plots.equivocation(curves, ax=Figure().subplots()).get_legend().texts]
    ['77 or 80: area 3', '50 or 107: area 57']
    """
    named = {"": curves} if isinstance(curves, Equivocation) else curves
    if not isinstance(named, Mapping) or not named or any(not isinstance(one, Equivocation) for one in named.values()):
        raise StatementError("equivocation has no curve to draw; give one, or {name: equivocation(values, p)}")
    curves_of = {name: cae.curve for name, cae in named.items()}
    with axes_for(ax, *LINES) as drawn:
        for i, (name, cae) in enumerate(named.items()):
            eps, entropy = curves_of[name]["epsilon"], curves_of[name]["entropy"]
            shade = min(0.25, 0.5 / len(named))
            drawn.fill_between(eps, entropy, step="post", alpha=shade, color=COLOURS[i % len(COLOURS)], linewidth=0)
            drawn.step(eps, entropy, where="post", label=_labelled(name, cae), **look(i, len(eps)))
        drawn.set_xlim(0, 1.05 * max(cae.eps_max for cae in named.values()) or 1.0)
        drawn.set_ylim(0, 1.1 * max(cae.initial for cae in named.values()) or 1.0)
        drawn.set_xlabel("eps, the width of the window")
        drawn.set_ylabel("H(eps), bits")
        drawn.grid(alpha=0.3)
        legend_beside(drawn)
    return drawn


def _labelled(name: str, cae: Equivocation) -> str:
    """The name of a curve, and the area below it, with how far it can be off where it is not exact."""
    low, high = cae.area_bounds
    off = "" if cae.exact or cae.step is not None else f" ± {(high - low) / 2:.2g}"
    area = f"area {cae.area:.4g}{off}"
    return f"{name}: {area}" if name else area
