"""How notebooks show a posterior: the first rows of P(s | q), with the entropy and the certificate."""

from __future__ import annotations

import pandas as pd

from ..display import FirstRows, as_html
from ..errors import amount
from ..solvers import Certificate
from ..views import View

__all__ = ["posterior_as_html"]


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
    first = conditional.copy(deep=False)
    if len(view.sensitive) == 1:
        first.columns = pd.Index([f"{view.sa} = {value}" for value in first.columns])
    size = f"{amount(len(view.quasi_identifiers), 'QI tuple')}, {amount(view.n_records, 'person', 'people')}"
    certified = "certified" if certificate.holds else "not certified"
    return as_html(
        f"<P({', '.join(view.sensitive)} | {', '.join(view.qi)}): {size}\n"
        f"H = {entropy:.6f} nats · {how}, {certified}: every P(s | q) within {certificate.bound:.1e}>",
        FirstRows(first, "QI tuples"),
    )
