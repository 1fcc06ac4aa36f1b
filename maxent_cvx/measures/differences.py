"""The QI tuples for which two posteriors differ most in their divergence from the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import StatementError, shown, whole
from ..model.posterior import Posterior
from .accuracy import individual_divergence, original_counts

__all__ = ["top_differences"]


def top_differences(
    first: Posterior, second: Posterior, original: pd.DataFrame, k: int | None = 10, base: float = 2
) -> pd.DataFrame:
    """The QI tuples q with the largest D2(q) - D1(q), D being the divergence of P(. | q) from each posterior.

    Parameters
    ----------
    first, second : Posterior
        Of the same people. If `first` has more knowledge, those come first whom that knowledge exposes most.
    original : DataFrame
        The records.
    k : int or None
        How many to list; None is all.
    base : float
        Of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    DataFrame
        A row a QI tuple, the largest difference first. Columns (top level): "divergence" with "difference", "first",
        "second"; then "original", "first" and "second" with P(s | q) for every value s. A difference of two infinite
        divergences is 0.

    Raises
    ------
    StatementError
        If the posteriors are of other people, or `k` is not an integer of at least 1.
    BadProbability
        If the base is not larger than 1.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the release.

    Notes
    -----
    Published rules, Fig. 7(a), which is in nats.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> before = mx.MaxEnt(release).solve()
    >>> found = mx.measures.top_differences(knows, before, hospital, k=2)
    >>> print(found["divergence"].round(3))
                   difference  first  second
    Gender Degree
    female junior       1.585  0.000   1.585
           college      1.000  0.792   1.792
    """
    for post in (first, second):
        if not isinstance(post, Posterior):
            raise StatementError(f"two posteriors are compared, not {shown(post)}")
    one, two = first.space.view, second.space.view
    if not one.quasi_identifiers.equals(two.quasi_identifiers) or not np.array_equal(one.n_q, two.n_q):
        raise StatementError("the two posteriors are of different people; compare two models of the same people")
    if not one.sensitive_values.equals(two.sensitive_values):
        raise StatementError("the two posteriors are of different sensitive values; give both views the same sa_values")
    if k is not None:
        whole(k, "k", 1)
    divergence = [individual_divergence(post, original, base) for post in (first, second)]
    with np.errstate(invalid="ignore"):
        difference = (divergence[1] - divergence[0]).fillna(0.0)
    truth = pd.DataFrame(
        original_counts(first, original) / one.n_q[:, None], index=difference.index, columns=one.sensitive_values
    )
    parts = {
        "divergence": pd.DataFrame({"difference": difference, "first": divergence[0], "second": divergence[1]}),
        "original": truth,
        "first": first.conditional(),
        "second": second.conditional(),
    }
    order = np.argsort(-difference.to_numpy(), kind="stable")[:k]
    listed = {name: part.iloc[order].set_axis(part.columns.to_flat_index(), axis=1) for name, part in parts.items()}
    return pd.concat(listed, axis=1)
