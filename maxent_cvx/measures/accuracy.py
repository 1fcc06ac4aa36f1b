"""Accuracy of the adversary's inference: Kullback-Leibler divergences from the original data.

A divergence of zero means that the inferred P(s | q) equals that of the original data; larger divergences mean larger
errors on average. A divergence is infinite if false knowledge makes the adversary rule out a true value.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import rel_entr, xlogy

from .._utils.errors import BadProbability, Inaccurate, StatementError, TableError, pluralize, short_repr
from .._utils.tables import plain_index
from .._utils.validation import check_instance, check_int
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..terms.people import count_pairs
from .disclosure import add_up


def overall_divergence(post: Posterior | PartitionedPosterior, original: pd.DataFrame, base: float = 2) -> float:
    """Compute D = sum_q P(q) sum_s P(s | q) log(P(s | q) / P*(s | q)), with P of the original data and P* inferred.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        The adversary's posterior, P*.
    original : DataFrame
        The original records, with the release's QI and sensitive columns. They must fit into memory, also for a release
        in partitions.
    base : float
        Base of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    float
        The divergence, >= 0; infinite if the adversary rules out a true value.

    Raises
    ------
    StatementError
        If `post` is not a posterior; for a release in partitions, if people are named.
    Inaccurate
        For a release in partitions, if the probability of a true value is below the certified error but not proved 0.
    BadProbability
        If the base is not greater than 1.
    UnknownName, TableError
        If the original records lack a column of the release, or are not the people of the release.

    Notes
    -----
    This is the "estimation accuracy" of Privacy-MaxEnt, section 7.1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).solve()
    >>> round(mx.measures.overall_divergence(post, hospital), 3)        # bits
    1.197

    Common knowledge brings the adversary closer to the truth:

    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> round(mx.measures.overall_divergence(knows, hospital), 3)
    0.597
    """
    check_base(base)
    check_instance(post, (Posterior, PartitionedPosterior), "post")
    if isinstance(post, Posterior):
        return float(
            individual_divergence(post, original, base).to_numpy() @ (post.space.view.n_q / post.space.n_records)
        )
    if len(post.known_people):
        raise StatementError(
            "the divergence of a release in partitions is not available if people are named; solve it without names"
        )
    truth, bound = sp.csr_array(count_pairs(post.release, original)), post.certificate.bound
    sums = post.reduce(_Divergence(truth, 0, bound), add_up)
    if sums["undecided"] and math.isfinite(sums["divergence"]):
        raise Inaccurate(
            f"{pluralize(sums['undecided'], 'probability', 'probabilities')} of true values cannot be distinguished from 0 "
            f"within the certified error {bound:.1e}, so the divergence may be infinite; solve the release in "
            "memory, or with a smaller tolerance such as 1e-12"
        )
    return sums["divergence"] / post.release.n_records / math.log(base)


@dataclass(frozen=True, eq=False)
class _Divergence:
    """Sum of n(q) D(q) over a block of QI tuples, in nats, and the number of true values with 0 < P* <= bound.

    `truth` is n(q, s), in records, of the tuples numbered from `first`.
    """

    truth: sp.csr_array
    first: int
    bound: float

    def between(self, first: int, end: int) -> _Divergence:
        """Return the measure for a range of tuples, so that only their truth is sent to a worker."""
        return replace(self, truth=self.truth[first - self.first : end - self.first], first=first)

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
        true = self.truth[numbers - self.first].toarray() / people[:, None]
        undecided = np.count_nonzero((true > 0) & (p > 0) & (p <= self.bound))
        return {"divergence": float(people @ rel_entr(true, p).sum(axis=1)), "undecided": int(undecided)}


#: The name of :func:`overall_divergence` in Privacy-MaxEnt.
estimation_accuracy = overall_divergence


def individual_divergence(post: Posterior, original: pd.DataFrame, base: float = 2) -> pd.Series:
    """Compute D(q) = sum_s P(s | q) log(P(s | q) / P*(s | q)) for every QI tuple q.

    The mean over records is :func:`overall_divergence`.

    Parameters
    ----------
    post : Posterior
        The adversary's posterior, P*.
    original : DataFrame
        The original records, with the release's QI and sensitive columns.
    base : float
        Base of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    Series
        Indexed as ``post.conditional()``; infinite where P* = 0 < P.

    Raises
    ------
    StatementError
        If `post` is not a Posterior.
    BadProbability
        If the base is not greater than 1.
    UnknownName, TableError
        If the original records lack a column of the release, or are not the people of the release.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).solve()
    >>> mx.measures.individual_divergence(post, hospital).sort_values().round(3).head(2)
    Gender  Degree
    male    college        0.616
            high school    0.889
    Name: divergence, dtype: float64
    """
    check_instance(post, Posterior, "post")
    check_base(base)
    inferred = post.conditional()
    truth = count_pairs(post.space.view, original) / post.space.view.n_q[:, None]
    divergence = rel_entr(truth, inferred.to_numpy()).sum(axis=1) / math.log(base)
    return pd.Series(divergence, index=inferred.index, name="divergence")


def term_divergence(post: Posterior, original: pd.DataFrame, base: float = 2) -> float:
    """Compute D = sum P(q, s, b) log(P(q, s, b) / P*(q, s, b)) over the terms, which true equations never increase.

    If the knowledge consists of true equations, D = H(P*) - H(P), so additional true equations cannot increase it. The
    divergence over q, which aggregates the buckets, has no such guarantee.

    Parameters
    ----------
    post : Posterior
        The adversary's posterior, P*.
    original : DataFrame
        The original records, with the release's QI, sensitive and bucket columns.
    base : float
        Base of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    float
        The divergence, >= 0; infinite if the adversary rules out a true value.

    Raises
    ------
    StatementError
        If `post` is not a Posterior.
    BadProbability
        If the base is not greater than 1.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the release; or the model names people.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> round(mx.measures.term_divergence(model.solve(), hospital), 3)
    1.351
    >>> model = model.add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0)      # true, so D cannot increase
    >>> round(mx.measures.term_divergence(model.solve(), hospital), 3)
    0.751
    """
    check_instance(post, Posterior, "post")
    check_base(base)
    if len(post.space.people):
        raise TableError("the model has named people, whose terms records do not distinguish; solve it without people=")
    truth = post.space.count(original)
    return float(rel_entr(truth, post.counts).sum() / post.space.n_records / math.log(base))


def check_base(base: float) -> None:
    """Check the base of a logarithm."""
    if not isinstance(base, numbers.Real) or isinstance(base, bool) or not 1 < base < math.inf:
        raise BadProbability(f"the base of the logarithm must be a finite number above 1, got {short_repr(base)}")


def top_differences(
    first: Posterior, second: Posterior, original: pd.DataFrame, k: int | None = 10, base: float = 2
) -> pd.DataFrame:
    """List the QI tuples q with the largest D2(q) - D1(q), the difference in :func:`individual_divergence`.

    Parameters
    ----------
    first, second : Posterior
        Posteriors of the same people. If `first` has more knowledge, the tuples that this exposes most come first.
    original : DataFrame
        The original records.
    k : int or None
        Number of tuples to list; None lists all.
    base : float
        Base of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    DataFrame
        One row per QI tuple, the largest difference first. Columns (top level): "divergence" with "difference",
        "first", "second"; then "original", "first" and "second" with P(s | q) for every value s. The difference of two
        infinite divergences is 0.

    Raises
    ------
    StatementError
        If the posteriors are of different people, or `k` is not an integer of at least 1.
    BadProbability
        If the base is not greater than 1.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the release.

    Notes
    -----
    The table corresponds to Published rules, Fig. 7(a), which is in nats.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> before = mx.MaxEnt(release).solve()
    >>> table = mx.measures.top_differences(knows, before, hospital, k=2)
    >>> print(table["divergence"].round(3))
                   difference  first  second
    Gender Degree
    female junior       1.585  0.000   1.585
           college      1.000  0.792   1.792
    """
    check_instance(first, Posterior, "first")
    check_instance(second, Posterior, "second")
    view, other = first.space.view, second.space.view
    if not view.quasi_identifiers.equals(other.quasi_identifiers) or not np.array_equal(view.n_q, other.n_q):
        raise StatementError("the two posteriors describe different people; compare two models of the same people")
    if not view.sensitive_values.equals(other.sensitive_values):
        raise StatementError(
            "the two posteriors have different sensitive values; give the same sensitive values to both releases"
        )
    if k is not None:
        check_int(k, "k", 1)
    divergence = [individual_divergence(post, original, base) for post in (first, second)]
    with np.errstate(invalid="ignore"):
        difference = (divergence[1] - divergence[0]).fillna(0.0)
    truth = pd.DataFrame(
        count_pairs(view, original) / view.n_q[:, None], index=difference.index, columns=view.sensitive_values
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


def individual_entropy(post: Posterior, base: float = math.e) -> pd.Series:
    """Compute H(q) = -sum_s P(s | q) log P(s | q) for every QI tuple, or for every person of a series.

    Parameters
    ----------
    post : Posterior
        The adversary's posterior.
    base : float
        Base of the logarithm: ``math.e`` for nats, 2 for bits.

    Returns
    -------
    Series
        Indexed as ``post.inferences()``, or by pseudonym for a series of releases. The mean over records is H(S | Q),
        or H(S | I) for a series (Re-publishing, Eq. (1)).

    Raises
    ------
    StatementError
        If `post` is not a Posterior.
    BadProbability
        If the base is not greater than 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).solve()
    >>> mx.measures.individual_entropy(post, base=2).round(3)
    Gender  Degree
    female  college        2.138
            graduate       1.585
            junior         1.585
    male    college        1.907
            graduate       1.585
            high school    1.968
    Name: entropy, dtype: float64
    """
    check_instance(post, Posterior, "post")
    check_base(base)
    records, n_values = post.space.groups[1], len(post.space.view.sensitive_values)
    pair, pair_of_term = np.unique(post.space.cells, return_inverse=True)  # a table of all pairs could be huge
    p = np.bincount(pair_of_term, post.counts) / records[pair // n_values]
    entropy = np.bincount(pair // n_values, -xlogy(p, p), len(records)) / math.log(base)
    persons = getattr(post.space.view, "persons", None)
    if isinstance(persons, pd.Index):
        return pd.Series(entropy, index=persons, name="entropy")
    roles = [*["who"][: len(post.space.people)], "q"]
    index = post.space.axes.labels(roles, post.space.first_of_group)
    return pd.Series(entropy, index=plain_index(index), name="entropy")
