"""The utility of a release: how far its marginals are from those of the original records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, arguments, listing
from ..model.posterior import Posterior
from ..tables.columns import names
from ..tables.microdata import Microdata
from ..views import OUTSIDE, GroupedRelease, Release
from ..views.generalized import read_hierarchies
from .estimated_counts import estimated_counts, shares_covered

__all__ = ["marginal_distance"]


def marginal_distance(
    published: Release | Posterior,
    original: pd.DataFrame,
    *,
    attributes: str | Iterable[str] | None = None,
    hierarchies: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """``sum |P - P*| / 2`` and ``sqrt(sum (sqrt P - sqrt P*)^2 / 2)`` of true marginals P(x) and published ones P*(x).

    Parameters
    ----------
    published : Release or Posterior
        P* is estimated as in :func:`query_error`: of a release with n(q, b) n(s, b) / n(b) in each bucket, and a
        generalised value has equal shares of the exact values that it covers.
    original : DataFrame
        The records.
    attributes : str or several, optional
        The QI attributes to compare; by default all.
    hierarchies : dict, optional
        Of generalised attributes, as of :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    DataFrame
        A row a marginal: each attribute, the sensitive values, and each attribute with them. `total_variation`, the
        share of records that would have to be exchanged, and `hellinger`, the Hellinger distance; both from 0, the
        same, to 1, nothing in common.

    Raises
    ------
    UnknownName, TableError
        If the original lacks a column, has another number of records, or holds other values.
    StatementError
        If `published` is neither a release nor a posterior, or an attribute is no quasi-identifier of it.

    Notes
    -----
    Gibbs and Su (2002), On choosing and bounding probability metrics. Where quasi-identifiers are published as they
    are, the marginals of single attributes agree, and those with the sensitive values say what was lost.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> print(mx.measures.marginal_distance(release, hospital).round(3))
                     total_variation  hellinger
    marginal
    Gender                     0.000      0.000
    Degree                     0.000      0.000
    Disease                    0.000      0.000
    Gender, Disease            0.350      0.456
    Degree, Disease            0.358      0.416
    """
    arguments.instance(published, (Release, Posterior), "published")
    view = published.space.view if isinstance(published, Posterior) else published
    nodes = read_hierarchies(hierarchies)
    asked = view.qi if attributes is None else names(attributes, "attributes")
    data = Microdata(original, asked, view.sensitive)
    if strangers := [name for name in asked if name not in view.qi]:
        raise StatementError(f"{strangers[0]!r} is no quasi-identifier of the {view.noun}, which has {list(view.qi)}")
    inside = np.asarray(view.sensitive_values.to_flat_index() != OUTSIDE)
    estimate = estimated_counts(published)[:, inside]
    n = round(float(estimate.sum())) if isinstance(view, GroupedRelease) else view.n_records
    if n != len(original):
        raise TableError(f"the {view.noun} is of {n} people, and the original of {len(original)}; pass all records")
    s, values = data.values()
    known = view.sensitive_values[inside]
    place = pd.Index(known.to_flat_index()).get_indexer(values.to_flat_index())
    if (place < 0).any():
        raise TableError(
            f"the original has {listing(values[place < 0])}, which the {view.noun} has not; pass the table that it was "
            "made of"
        )
    s, sensitive = place[s], ", ".join(view.sensitive)
    found = {}
    for name in asked:
        i = view.qi.index(name)
        published_values = view.quasi_identifiers.levels[i]
        code, exact = pd.factorize(original[name], sort=True)
        if isinstance(view, GroupedRelease):  # of a population, whose values are exact, and more than the records'
            exact = published_values.append(exact.difference(published_values))
            code = exact.get_indexer(pd.Index(original[name]))
        cover = shares_covered(published_values, pd.Index(exact), name, nodes)
        of_level = np.zeros((len(published_values), len(known)))
        np.add.at(of_level, np.asarray(view.quasi_identifiers.codes[i]), estimate)
        of_both = cover.T @ of_level
        truth = np.bincount(code * len(known) + s, minlength=of_both.size).reshape(of_both.shape)
        found[name] = truth.sum(axis=1), of_both.sum(axis=1)
        found[f"{name}, {sensitive}"] = truth, of_both
    found[sensitive] = np.bincount(s, minlength=len(known)), estimate.sum(axis=0)
    order = [*asked, sensitive, *(f"{name}, {sensitive}" for name in asked)]
    distances = [_distances(*found[name]) for name in order]
    index = pd.Index(order, name="marginal")
    return pd.DataFrame(distances, columns=["total_variation", "hellinger"], index=index)


def _distances(truth: np.ndarray, estimate: np.ndarray) -> tuple[float, float]:
    """The total variation and the Hellinger distance of two tables of records, as shares of all of each."""
    p, q = truth / truth.sum(), np.maximum(estimate, 0.0) / estimate.sum()
    return float(np.abs(p - q).sum() / 2), float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))
