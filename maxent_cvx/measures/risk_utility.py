"""One table for whoever decides: what can be inferred, who can be found, and what the release is still good for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from ..priors import QIDistribution
from ..views import GroupedRelease, QITable, Release, ReleaseSeries
from .accuracy import overall_divergence
from .disclosure import disclosure, of_those_inside, published
from .exposure.exposed import exposed
from .exposure.exposure import Exposure
from .marginals import marginal_distance
from .queries import query_error
from .reidentification.reidentification import reidentification

__all__ = ["risk_utility"]

#: A kind, a measure of it, its value and unit, and what it says.
Row = tuple[str, str, float, str, str]
#: The kinds of measures.
INFERENCE, FINDING, UTILITY = "inference risk", "re-identification risk", "utility"


def risk_utility(
    post: Posterior | PartitionedPosterior,
    original: pd.DataFrame | None = None,
    *,
    threshold: float = 0.8,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = "overall",
    within: object = None,
    population: pd.DataFrame | QITable | int | None = None,
    k: int = 5,
    hierarchies: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """List the risks of a release, and its utility, a row a measure: as of R-U confidentiality maps.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers.
    original : DataFrame, optional
        The records; what is measured against the truth needs them.
    threshold, sensitive, baseline, within
        Of :func:`exposed`. Where how many people have each value is not published, give P(s), or None.
    population, k
        Of :func:`reidentification`.
    hierarchies : dict, optional
        Of generalised attributes, as of :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    DataFrame
        Indexed by the `kind`, "inference risk", "re-identification risk" or "utility", and the `measure`: its `value`,
        its `unit`, and what it `says`.

        inference risk
            Of :func:`exposed`: people who are exposed, and those for whom a value is certain that does not count; of
            :func:`disclosure` the worst of all people; how often the likeliest value is right, as the adversary
            believes (Bayes vulnerability), without the release, too; and given the original of a release whose
            quasi-identifiers are not generalised, as it is, and how far the inference is from the truth
            (:func:`overall_divergence`).
        re-identification risk
            Of :func:`reidentification`; not of a series, whose releases are asked one by one.
        utility
            Of a release in memory and its original: the relative error of random counts (:func:`query_error`) and the
            distance of marginals (:func:`marginal_distance`), as its users estimate who know no more than it says.

    Raises
    ------
    StatementError
        If `post` is no posterior; of a release in partitions, if the original is given.
    MaxEntError
        As the measures that it lists.

    Notes
    -----
    Duncan, Keller-McNulty and Stokes (2001): disclosure risk against data utility.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> found = mx.measures.risk_utility(post, hospital)
    >>> print(found.loc["inference risk", ["value", "unit"]].round(2).head(3))
                          value         unit
    measure
    exposed people          1.0       people
    certain, not counted    0.0       people
    largest probability     1.0  probability
    >>> print(found.loc[("inference risk", "exposed people"), "says"])
    10.0% of all: a value that has P < 0.8 overall is inferred with P >= 0.8
    """
    arguments.instance(post, (Posterior, PartitionedPosterior), "post")
    if original is not None and isinstance(post, PartitionedPosterior):
        raise StatementError("of a release in partitions the original is not compared: leave original= out")
    view = post.release if isinstance(post, PartitionedPosterior) else post.space.view
    is_exact = not isinstance(view, GroupedRelease | ReleaseSeries) and not getattr(view, "generalized", False)
    truth = original if is_exact else None
    verdict = exposed(post, threshold, truth, sensitive=sensitive, baseline=baseline, within=within)
    rows = [*_inference(post, verdict, truth)]
    if not isinstance(view, ReleaseSeries):
        found = reidentification(view, population=population, k=k).measures
        rows += [(FINDING, str(name), *row) for name, *row in found.itertuples(name=None)]
    if isinstance(view, Release) and original is not None:
        rows += _utility(view, original, hierarchies)
    index = pd.MultiIndex.from_tuples([row[:2] for row in rows], names=["kind", "measure"])
    return pd.DataFrame([row[2:] for row in rows], index=index, columns=["value", "unit", "says"])


def _inference(
    post: Posterior | PartitionedPosterior, verdict: Exposure, original: pd.DataFrame | None
) -> Iterator[Row]:
    """What is inferred of people."""
    share = verdict.people / max(verdict.total, 1)
    yield INFERENCE, "exposed people", verdict.people, "people", f"{share:.1%} of all: {verdict.meaning}"
    uncounted = int(verdict.uncounted.attrs["people"])  # each once, of several attributes too
    which = ", ".join(map(str, verdict.uncounted.index[:3]))
    says = (
        f"of whom a value is certain that does not count: {which}"
        if which
        else "no value is certain that does not count"
    )
    yield INFERENCE, "certain, not counted", uncounted, "people", says
    if verdict.undecided:
        yield INFERENCE, "undecided", len(verdict.undecided), "reasons", " ".join(verdict.undecided)
    if (error := verdict.expected_error) is not None:
        far, unit = (error.total_seconds() / 86400, "days") if isinstance(error, pd.Timedelta) else (error, "of values")
        yield INFERENCE, "expected error", far, unit, " ".join(verdict.distances)
    worst = disclosure(post, worst=True).iloc[0]
    yield INFERENCE, "largest probability", worst["max_p"], "probability", f"P({worst['value']} | q), of somebody"
    yield INFERENCE, "distinct l", worst["distinct_l"], "values", "at least so many are possible: distinct l-diversity"
    yield INFERENCE, "entropy l", worst["entropy_l"], "values", "exp of the least entropy: entropy l-diversity"
    if not np.isnan(worst["t"]):
        yield INFERENCE, "t", worst["t"], "distance", "the largest, of P(. | q) from P(.): t-closeness"
    if isinstance(post, Posterior):
        yield from _of_guesses(post)
    if verdict.attack_success is not None and original is not None:
        success, says = verdict.attack_success, "of people whose likeliest value is their true one"
        yield INFERENCE, "attack success", success, "share", says
    if original is not None:
        far, says = overall_divergence(post, original), "of the truth from what is inferred; 0 is all known"
        yield INFERENCE, "overall divergence", far, "bits", says


def _of_guesses(post: Posterior) -> Iterator[Row]:
    """How often the likeliest value is right, as is believed with the release and without it."""
    rows, people = of_those_inside(post)
    with_it = float(people @ rows.to_numpy().max(axis=1) / people.sum())
    yield INFERENCE, "best guess", with_it, "probability", "that the likeliest value is right, mean over people"
    if (n_s := published(post.space.view)) is not None:
        without = float(n_s.max() / n_s.sum())
        yield (
            INFERENCE,
            "best guess without the release",
            without,
            "probability",
            "the share of the most frequent value",
        )


def _utility(release: Release, original: pd.DataFrame, hierarchies: Mapping[str, object] | None) -> Iterator[Row]:
    """What the release is good for."""
    error = query_error(release, original, hierarchies=hierarchies)["error"]
    counts = "of random counts by attributes, relative"
    yield UTILITY, "median query error", float(error.median()), "ratio", f"{counts}, the median"
    yield UTILITY, "mean query error", float(error.mean()), "ratio", f"{counts}, the mean"
    far = marginal_distance(release, original, hierarchies=hierarchies)
    single, both = far.iloc[: len(release.qi) + 1], far.iloc[len(release.qi) + 1 :]
    for name, table in (("attribute", single), ("attribute with the sensitive values", both)):
        variation, hellinger = table["total_variation"], table["hellinger"]
        worst = f"the largest of {len(table)}, of {variation.idxmax()}"
        yield UTILITY, f"total variation, {name}", float(variation.max()), "distance", worst
        worst = f"the largest of {len(table)}, of {hellinger.idxmax()}"
        yield UTILITY, f"Hellinger distance, {name}", float(hellinger.max()), "distance", worst
