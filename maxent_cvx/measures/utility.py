"""Utility: errors of count queries, distances of marginals, and a table of risk and utility."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import LONGEST_LABEL, BadProbability, StatementError, TableError, join_names, pluralize
from .._utils.formatting import Message, as_label, joined
from .._utils.tables import Microdata, names
from .._utils.validation import check_instance, check_int, check_number, check_seed
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..priors import QIDistribution
from ..releases.base import View
from ..releases.generalized import GroupedRelease, Hierarchies, coverage, read_hierarchies
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from .accuracy import overall_divergence
from .disclosure import disclosure, of_those_inside, published
from .exposure import WITHOUT_HER, Exposure, exposed
from .reidentification import Row, reidentification, table_of_measures

# Estimated numbers of records with each exact combination of values, from a release or a posterior.


def shares_covered(published: pd.Index, values: pd.Index, attribute: str, nodes: Hierarchies) -> sp.csr_array:
    """Return the share of each exact value in each published, possibly generalised one; shape (published, exact)."""
    same = published.dtype == values.dtype
    at = values.get_indexer(pd.Index(published, dtype=values.dtype)) if same else np.array([-1])
    if (at >= 0).all():
        return sp.csr_array((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), len(values)))
    texts = pd.Index(values.map(str))
    rows = []
    for value in published:
        exact = np.asarray(texts == str(value))
        rows.append(exact if exact.any() else coverage([value], values, attribute, nodes.get(attribute, {}))[0])
    mask = np.array(rows, dtype=float)
    return sp.csr_array(mask / mask.sum(axis=1, keepdims=True))


# The utility of a release: the distance of its marginals from those of the original records.


def marginal_distance(
    published: Release | Posterior,
    original: pd.DataFrame,
    *,
    attributes: str | Iterable[str] | None = None,
    hierarchies: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Compute total variation and Hellinger distances between true marginals P(x) and published ones P*(x).

    Parameters
    ----------
    published : Release or Posterior
        P* is estimated as in :func:`query_error`: for a release by n(q, b) n(s, b) / n(b) in each bucket; a generalised
        value is divided equally among the exact values that it covers.
    original : DataFrame
        The original records; for a population, the exact ones of the people in the release.
    attributes : str or several, optional
        The QI attributes to compare; by default all.
    hierarchies : dict, optional
        Hierarchies of generalised attributes, as in :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    DataFrame
        One row per marginal: each attribute, the sensitive values, and each attribute with them. `total_variation` is
        ``sum |P - P*| / 2``, the share of records that would have to be exchanged, and `hellinger` is
        ``sqrt(sum (sqrt P - sqrt P*)^2 / 2)``; both are from 0 (equal) to 1 (disjoint).

    Raises
    ------
    UnknownName, TableError
        If the original lacks a column, or its number of records or its values differ from those of the release.
    StatementError
        If `published` is neither a release nor a posterior, or an attribute is not one of its quasi-identifiers.

    Notes
    -----
    See Gibbs and Su (2002), On choosing and bounding probability metrics. If exact quasi-identifiers are published, the
    marginals of single attributes agree, and those with the sensitive values show the loss.

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
    view, data, estimate, n = _compared(published, original, attributes)
    nodes, qi = read_hierarchies(hierarchies), data.qi
    if n != len(original):
        raise TableError(_numbers_differ(view, n, original))
    (q, tuples), (s, values) = data.tuples(), data.values()
    known = view.sensitive_values[view.inside]
    s, sensitive = _places(view, known, values)[s], ", ".join(view.sensitive)
    marginals = {}
    for name in qi:
        code, cover, level = _matched(view, name, tuples, nodes)
        of_level = np.zeros((cover.shape[0], len(known)))
        np.add.at(of_level, level, estimate)
        of_both = cover.T @ of_level
        truth = np.bincount(code[q] * len(known) + s, minlength=of_both.size).reshape(of_both.shape)
        marginals[name] = truth.sum(axis=1), of_both.sum(axis=1)
        marginals[f"{name}, {sensitive}"] = truth, of_both
    marginals[sensitive] = np.bincount(s, minlength=len(known)), estimate.sum(axis=0)
    order = [*qi, sensitive, *(f"{name}, {sensitive}" for name in qi)]
    distances = [_distances(*marginals[name]) for name in order]
    index = pd.Index(order, name="marginal")
    return pd.DataFrame(distances, columns=["total_variation", "hellinger"], index=index)


def _compared(
    published: Release | Posterior, original: pd.DataFrame, attributes: str | Iterable[str] | None
) -> tuple[Any, Microdata, np.ndarray, int]:
    """Return the view, the original records, and the estimated counts of people in the release, and their number."""
    check_instance(published, (Release, Posterior), "published")
    view: Any = getattr(published, "view", published)
    qi = view.qi if attributes is None else names(attributes, "attributes")
    data = Microdata(original, qi, view.sensitive)
    if strangers := [name for name in qi if name not in view.qi]:
        raise StatementError(
            f"{strangers[0]!r} is not a quasi-identifier of the {view.noun}; these are {list(view.qi)}"
        )
    if isinstance(published, Posterior):
        estimate = published.table[:, view.inside]
    else:  # N P(q, s) = n(q, b) n(s, b) / n(b), summed over buckets
        estimate = (view.n_qb @ (view.n_sb / view.n_sb.sum(axis=0)[None]).T).toarray()
    return view, data, estimate, view.n_records if view.inside.all() else round(float(estimate.sum()))


def _matched(
    view: View, name: str, tuples: pd.MultiIndex, nodes: Hierarchies
) -> tuple[np.ndarray, sp.csr_array, np.ndarray]:
    """Match an attribute of the original QI tuples with the published ones.

    Return the exact value of every original tuple, the share of each exact value in every published one, and the
    published value of every tuple of the view.
    """
    i, original = view.qi.index(name), tuples.names.index(name)
    exact = _exact_values(view, name, tuples.levels[original])
    cover = shares_covered(view.quasi_identifiers.levels[i], exact, name, nodes)
    code = exact.get_indexer(tuples.levels[original])[tuples.codes[original]]
    return code, cover, np.asarray(view.quasi_identifiers.codes[i])


def _exact_values(view: View, name: str, found: pd.Index) -> pd.Index:
    """Return the exact values of an attribute: those found in the original records, or those of the population."""
    if not isinstance(view, GroupedRelease):
        return found
    of_population = view.quasi_identifiers.levels[view.qi.index(name)]
    if not (is_known := found.isin(of_population)).all():
        raise TableError(
            f"the original contains {join_names(found[~is_known])} as {name!r}, which nobody in the population has; pass "
            "the exact records of the people in the release"
        )
    return of_population


def _numbers_differ(view: View, n: int, original: pd.DataFrame) -> str:
    """Return the message about an original table without some of the published records."""
    return f"the {view.noun} contains {pluralize(n, 'person', 'people')}, but the original {len(original)}; pass all records"


def _places(view: View, known: pd.Index, values: pd.Index) -> np.ndarray:
    """Return the positions of the original sensitive values among the published ones, each of which is known."""
    place = pd.Index(known.to_flat_index()).get_indexer(values.to_flat_index())
    if (place < 0).any():
        raise TableError(
            f"the original contains {join_names(values[place < 0])}, but the {view.noun} does not; pass the table from "
            "which it was made"
        )
    return place


def _distances(truth: np.ndarray, estimate: np.ndarray) -> tuple[float, float]:
    """Return the total variation and the Hellinger distance of two tables of records, each divided by its sum."""
    p, q = truth / truth.sum(), np.maximum(estimate, 0.0) / estimate.sum()
    return float(np.abs(p - q).sum() / 2), float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


# The utility of a release: the relative error of random count queries.


#: Largest number of queries; more would take days.
MOST_QUERIES = 10**7
#: Largest ratio of queries drawn to queries requested, since some queries count no record.
DRAWS = 50
#: Number of queries evaluated in one batch.
AT_ONCE = 200


def query_error(
    published: Release | Posterior,
    original: pd.DataFrame,
    *,
    queries: int = 1_000,
    attributes: str | Iterable[str] | None = None,
    dimensions: int | None = None,
    selectivity: float = 0.05,
    seed: int = 0,
    hierarchies: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Compute ``|estimate - actual| / actual`` of random counts of records with A1 in V1, A2 in V2, ... and s in V.

    Parameters
    ----------
    published : Release or Posterior
        The estimate is the sum of N P(q, s) over the query; for a release, N P(q, s) is the sum of n(q, b) n(s, b) / n(b)
        over buckets, the maximum-entropy answer. Generalised values are divided equally among the covered exact values.
    original : DataFrame
        The original records; for a population, the exact ones of the people in the release.
    queries : int
        Number of queries. Queries that count no record are drawn again.
    attributes : str or several, optional
        The QI attributes in the queries; by default all.
    dimensions : int, optional
        Number of randomly chosen QI attributes per query; by default every number up to all, equally often.
    selectivity : float
        The share s of all records that a query would count if attributes were independent and values equally frequent:
        V contains ``ceil(|A| s^(1 / (d + 1)))`` random values of the ``|A|`` values of an attribute, with d dimensions.
    seed : int
        Random seed of the queries.
    hierarchies : dict, optional
        Hierarchies of generalised attributes, as in :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    DataFrame
        One row per query: its `attributes`, `actual` and `estimate` in records, and `error`. Compare releases by
        ``.error.mean()`` or ``.error.median()`` with the same seed.

    Raises
    ------
    UnknownName, TableError
        If the original lacks a column, has other values or fewer people than the release, or hardly any query of this
        kind counts any record.
    StatementError
        If `published` is neither a release nor a posterior, an attribute is not one of its quasi-identifiers, or `queries`,
        `dimensions` or `seed` is out of range.
    BadProbability
        If the selectivity is not above 0 and at most 1.

    Notes
    -----
    See Xiao and Tao (2006), Anatomy, section 7; Probabilistic Inference Protection adopts this measure (section II).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> errors = mx.measures.query_error(release, hospital, queries=3, selectivity=0.3)
    >>> print(errors.round(3))
      attributes  actual  estimate  error
    0     Degree       4     4.083  0.021
    1     Degree       8     8.000  0.000
    2     Degree       4     4.083  0.021
    """
    nodes = read_hierarchies(hierarchies)
    queries = check_int(queries, "queries", 1, MOST_QUERIES)
    if not 0 < check_number(selectivity, "selectivity") <= 1:
        raise BadProbability(f"selectivity must be above 0 and at most 1, got {selectivity!r}")
    view, data, counts, n = _compared(published, original, attributes)
    qi = data.qi
    if dimensions is not None:
        check_int(dimensions, "dimensions", 1, len(qi))
    rng = np.random.default_rng(check_seed(seed))
    (q, tuples), (s, values) = data.tuples(), data.values()
    if len(original) < n:
        raise TableError(_numbers_differ(view, n, original))
    place = _places(view, view.sensitive_values[view.inside], values)
    # If there are many values, a row has only few of them: sparse products process only these.
    actual = sp.csr_array((np.ones(len(q)), (q, s)), shape=(len(tuples), len(values)))
    estimate = sp.csr_array(counts[:, place])
    code, cover, level = zip(*(_matched(view, name, tuples, nodes) for name in qi), strict=True)
    tables: list[pd.DataFrame] = []
    for _ in range(DRAWS * -(-queries // AT_ONCE)):
        chosen, of_values = _drawn(rng, qi, [shares.shape[1] for shares in cover], len(values), dimensions, selectivity)
        # The share of each QI tuple that satisfies the conditions: 0 or 1 for exact tuples, any share for generalised ones.
        exact_share = np.ones((len(tuples), AT_ONCE))
        published_share = np.ones((len(view.quasi_identifiers), AT_ONCE))
        for i, inside in enumerate(chosen):
            exact_share *= inside[code[i]]
            published_share *= (cover[i] @ inside)[level[i]]
        counted = (exact_share * (actual @ of_values.astype(float))).sum(axis=0)
        guessed = (published_share * (estimate @ of_values.astype(float))).sum(axis=0)
        is_used = np.array([~inside.all(axis=0) for inside in chosen])
        named = [", ".join(np.array(qi)[column]) for column in is_used.T]
        table = pd.DataFrame({"attributes": named, "actual": counted.astype(int), "estimate": guessed})
        tables.append(table[counted > 0])
        if sum(map(len, tables)) >= queries:
            break
    else:
        raise TableError("hardly any random query counts anybody; use fewer dimensions or a larger selectivity")
    table = pd.concat(tables, ignore_index=True).head(queries)
    return table.assign(error=(table["estimate"] - table["actual"]).abs() / table["actual"])


def _drawn(
    rng: np.random.Generator,
    qi: tuple[str, ...],
    sizes: list[int],
    n_values: int,
    dimensions: int | None,
    selectivity: float,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Draw queries: masks of the values in V, shape (values, queries), of each attribute and of the sensitive one."""
    d = np.full(AT_ONCE, dimensions) if dimensions else rng.integers(1, len(qi) + 1, AT_ONCE)
    named = np.argsort(rng.random((len(qi), AT_ONCE)), axis=0) < d
    share = selectivity ** (1 / (d + 1))

    def random_mask(size: int) -> np.ndarray:
        place, last = rng.random((size, AT_ONCE)), np.ceil(size * share).astype(int) - 1
        bound = np.partition(place, np.unique(last), axis=0)[last, np.arange(AT_ONCE)]
        return np.asarray(place <= bound)

    return [random_mask(size) | ~named[i] for i, size in enumerate(sizes)], random_mask(n_values)


def risk_utility(
    post: Posterior | PartitionedPosterior,
    original: pd.DataFrame | None = None,
    *,
    threshold: float | Sequence[float] = 0.8,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = "overall",
    within: object = None,
    population: pd.DataFrame | QITable | int | None = None,
    k: int = 5,
    hierarchies: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Tabulate the risks of a release and its utility, one row per measure, as in R-U confidentiality maps.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        The adversary's posterior.
    original : DataFrame, optional
        The original records, which some measures require.
    threshold, sensitive, baseline, within
        See :func:`exposed`. If the number of people with each value is not published, the baseline must be P(s) or None.
    population, k
        See :func:`reidentification`.
    hierarchies : dict, optional
        Hierarchies of generalized attributes, as in :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    DataFrame
        Indexed by the `kind`, "inference risk", "re-identification risk" or "utility", and the `measure`: its `value`,
        its `unit`, and its meaning, `says`.

        inference risk
            From :func:`exposed`: the number of exposed people, and of people for whom a value is certain but not
            counted. From :func:`disclosure`: the worst values over all people. The expected success of guessing the
            likeliest value (Bayes vulnerability), with and without the release. Given the original records: the actual
            success, and the divergence from the truth (:func:`overall_divergence`); not for generalized quasi-identifiers,
            a population or a series, where nothing is inferred about the exact tuples of the records. Not in partitions:
            the expected success. If the number of people with each value is not published: neither t nor the success
            without the release.
        re-identification risk
            From :func:`reidentification`; not for a series of releases.
        utility
            For a :class:`maxent_cvx.Release`, not of a population, and its original records: the relative error of
            random counting queries (:func:`query_error`) and the distance of marginals (:func:`marginal_distance`), for
            users who know only the release.

    Raises
    ------
    StatementError
        If `post` is not a posterior; for a release in partitions, if the original records are given.
    MaxEntError
        As raised by the measures that are listed.

    Notes
    -----
    See Duncan, Keller-McNulty and Stokes (2001) on disclosure risk versus data utility.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> table = mx.measures.risk_utility(post, hospital)
    >>> print(table.loc["inference risk", ["value", "unit"]].round(2).head(3))
                          value         unit
    measure
    exposed people          1.0       people
    certain, not counted    0.0       people
    largest probability     1.0  probability
    >>> print(table.loc[("inference risk", "exposed people"), "says"])
    10.0% of all: a value with P < 0.8 overall is inferred with P >= 0.8
    """
    check_instance(post, (Posterior, PartitionedPosterior), "post")
    if original is not None and isinstance(post, PartitionedPosterior):
        raise StatementError("a release in partitions cannot be compared with the original records; omit them")
    view = post.view
    is_exact = not isinstance(view, GroupedRelease | ReleaseSeries) and not getattr(view, "generalized", False)
    truth = original if is_exact else None
    # This baseline needs the records, also of generalised releases.
    judged = original if isinstance(baseline, str) and baseline == WITHOUT_HER else truth
    verdict = exposed(post, threshold, judged, sensitive=sensitive, baseline=baseline, within=within)
    tables = {"inference risk": table_of_measures(_inference(post, verdict, truth))}
    if not isinstance(view, ReleaseSeries):
        tables["re-identification risk"] = reidentification(view, population=population, k=k).measures
    if isinstance(view, Release) and original is not None:
        tables["utility"] = table_of_measures(_utility(view, original, hierarchies))
    return pd.concat(tables, names=["kind", "measure"])


def _inference(
    post: Posterior | PartitionedPosterior, verdict: Exposure, original: pd.DataFrame | None
) -> Iterator[Row]:
    """Yield the inference risks."""
    share = verdict.people / max(verdict.total, 1)
    says: str = Message("{share:.1%} of all: {meaning}", share=share, meaning=verdict.meaning)
    yield "exposed people", verdict.people, "people", says
    says = "no uncounted value is certain"
    if values := ", ".join(map(str, verdict.uncounted.index[:3])):
        says = Message("people for whom an uncounted value is certain: {values}", values=values)
    # `uncounted` has one row per value; here everybody counts once.
    yield "certain, not counted", int(verdict.uncounted.attrs["people"]), "people", says
    if verdict.undecided:
        yield "undecided", len(verdict.undecided), "reasons", joined(verdict.undecided)
    if (error := verdict.expected_error) is not None:
        far, unit = (error.total_seconds() / 86400, "days") if isinstance(error, pd.Timedelta) else (error, "of values")
        yield "expected error", far, unit, joined(verdict.distances)
    table = disclosure(post, worst=True)
    worst = table.iloc[0]
    says = Message(
        "the largest P({value} | q)", value=as_label(table["value"].iloc[0], LONGEST_LABEL)
    )  # table.iloc[0] may convert it to float
    yield "largest probability", worst["max_p"], "probability", says
    yield "distinct l", worst["distinct_l"], "values", "least number of possible values: distinct l-diversity"
    yield "entropy l", worst["entropy_l"], "values", "exp of the least entropy of P(. | q): entropy l-diversity"
    if not np.isnan(worst["t"]):
        yield "t", worst["t"], "distance", "largest distance of P(. | q) from P(.): t-closeness"
    if isinstance(post, Posterior):
        rows, people = of_those_inside(post)
        p_right = float(people @ rows.to_numpy().max(axis=1) / people.sum())
        yield "best guess", p_right, "probability", "probability that the likeliest value is right, mean over people"
        if (n_s := published(post.view)) is not None:
            before = float(n_s.max() / n_s.sum())
            yield "best guess without the release", before, "probability", "the share of the most frequent value"
    if original is not None and verdict.attack_success is not None:
        says = "share of people whose likeliest value is their true one"
        yield "attack success", verdict.attack_success, "share", says
        says = "divergence of the inference from the truth; 0 means that it is known"
        yield "overall divergence", overall_divergence(post, original), "bits", says


def _utility(release: Release, original: pd.DataFrame, hierarchies: Mapping[str, object] | None) -> Iterator[Row]:
    """Yield the measures of utility."""
    error = query_error(release, original, hierarchies=hierarchies)["error"]
    for name, value in (("median", error.median()), ("mean", error.mean())):
        yield f"{name} query error", float(value), "ratio", f"relative error of random counting queries, the {name}"
    far = marginal_distance(release, original, hierarchies=hierarchies)
    single, both = far.iloc[: len(release.qi) + 1], far.iloc[len(release.qi) + 1 :]
    for of, table in (("attribute", single), ("attribute with the sensitive values", both)):
        for name, column in (("total variation", "total_variation"), ("Hellinger distance", "hellinger")):
            worst = table[column].idxmax()
            says = Message("largest of {n} marginals, for {attributes}", n=len(table), attributes=worst)
            yield f"{name}, {of}", float(table[column].max()), "distance", says
