"""mx.explore: sliders for what is known, and at once what follows from it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ..errors import arguments
from ..measures.exposure.judged_values import judged_values
from ..model.maxent import MaxEnt
from ..terms.truth import count_pairs
from .assumptions import assumptions_of
from .exploration import Exploration
from .explorer import Explorer

__all__ = ["explore"]


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
    """Move what is known, and see at once P(s | q), its intervals, who is exposed, and how near the truth that is.

    In a notebook, sliders for the value and the vagueness of each statement, for the number of strongest associations
    and for the threshold; a tick for whatever else is known. Where statements have come to contradict each other the
    page says which. The code that makes the model as it is now is shown below. Elsewhere a picture is drawn.

    Parameters
    ----------
    model : MaxEnt
        What is known at the start. It is not changed.
    original : DataFrame, optional
        The records that were published. With them the score is the divergence from the truth, bits, and K+ and K- of
        their strongest associations can be known.
    threshold : float
        The probability from which on somebody counts as exposed, of whose value it is not the overall probability.
    sensitive : object, optional
        The values that count, as of :func:`maxent_cvx.measures.exposed`; by default all.
    statements : sequence of str, optional
        Labels of ``model.knowledge`` that get sliders; by default the first 20. The others are known, or not.
    min_support : int
        Of the associations, as of :class:`maxent_cvx.StrongestAssociations`; those that the model holds keep theirs.
    max_rows : int
        QI tuples that are shown: of more, those of which most is inferred.
    time_limit : float
        Seconds for a solve, and for the intervals of what is shown.

    Returns
    -------
    Explorer
        Of which ``.model``, ``.posterior`` and ``.code`` are those of now; ``.widget`` is the page.

    Raises
    ------
    StatementError
        If the model is no MaxEnt, or an argument cannot be read.
    BadProbability
        If the threshold is not between 0 and 1.
    UnknownName, TableError
        If there is no such statement; if the original records lack a column or are not the people of the view.

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
    arguments.instance(model, MaxEnt, "model")
    arguments.real(threshold, "threshold", 0.0, 1.0)
    arguments.whole(min_support, "min_support", 1)
    arguments.whole(max_rows, "max_rows", 1)
    limit = arguments.seconds(time_limit, "time_limit")
    chosen = None if statements is None else arguments.list_of(statements, "statements", "labels")
    if original is not None:
        arguments.table(original, "original")
        count_pairs(model.view, original)  # which are the people of the view, or an error says who is not
    assumptions = assumptions_of(model, original, threshold, min_support, chosen)
    judged_values(model.view.sensitive_values, sensitive)  # which there are, or an error says which there are not
    return Explorer(Exploration(assumptions, original, max_rows, limit, sensitive))
