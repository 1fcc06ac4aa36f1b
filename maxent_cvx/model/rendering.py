"""How notebooks show a posterior: the first rows of P(s | q), with the entropy and the certificate."""

from __future__ import annotations

from html import escape

import pandas as pd

from ..solvers import Certificate
from ..views import View

__all__ = ["posterior_as_html"]

#: Rows of P(s | q) that are shown.
MOST_ROWS = 10


def posterior_as_html(view: View, conditional: pd.DataFrame, entropy: float, certificate: Certificate, how: str) -> str:
    """Write a posterior as HTML.

    Parameters
    ----------
    view : View
    conditional : DataFrame
        P(s | q).
    entropy : float
        Nats.
    certificate : Certificate
    how : str
        How it was found: "optimal by DUAL_NEWTON".
    """
    shown = conditional.head(MOST_ROWS)
    if len(view.sensitive) == 1:
        shown.columns = pd.Index([f"{view.sa} = {value}" for value in shown.columns])
    styled = shown.to_html(float_format=lambda p: f"{p:.4g}", border=0)
    size = f"{len(view.quasi_identifiers)} QI tuples, {view.n_records} people"
    certified = "certified" if certificate.holds else "<strong>not certified</strong>"
    return (
        f"<p><strong>P({escape(', '.join(view.sensitive))} | {escape(', '.join(view.qi))})</strong>: {size}<br>"
        f"H = {entropy:.6f} nats &middot; {how}, {certified}: "
        f"every P(s | q) within {certificate.bound:.1e}</p>{styled}"
    )
