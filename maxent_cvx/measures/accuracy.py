"""How far the adversary's inference is from the original data: Kullback-Leibler divergences.

Zero means that the inferred P(s | q) is that of the original data. The larger the divergence, the
larger the error on average. Infinite means that the adversary rules out something true: misled, not safe.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import rel_entr, xlogy

from .._utils.errors import BadProbability, Inaccurate, StatementError, pluralize, short_repr
from .._utils.validation import check_instance, check_int
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..terms.people import count_pairs

__all__ = [
    "estimation_accuracy",
    "individual_divergence",
    "individual_entropy",
    "original_counts",
    "overall_divergence",
    "term_divergence",
    "top_differences",
]

#: The largest base of a logarithm that is accepted.
LARGEST = 1e300


def overall_divergence(post: Posterior | PartitionedPosterior, original: pd.DataFrame, base: float = 2) -> float:
    """D = sum_q P(q) sum_s P(s | q) log(P(s | q) / P*(s | q)), with P from the original data and P* inferred.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers, P*.
    original : DataFrame
        The records that were published, with the release's QI and sensitive columns; of a release in partitions, too,
        all of them in memory.
    base : float
        Of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    float
        >= 0; infinite if the adversary rules out something true.

    Raises
    ------
    StatementError
        If `post` is no posterior; if people of a release in partitions are named.
    Inaccurate
        If in partitions a probability of something true is below the certificate's bound, but no zero that is proved.
    BadProbability
        If the base is not larger than 1.
    UnknownName, TableError
        If the original records lack a column of the release, or are not the people of the release.

    Notes
    -----
    "Estimation accuracy" in Privacy-MaxEnt, section 7.1.

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
    if isinstance(post, PartitionedPosterior):
        return _of_parts(post, original, base)
    check_instance(post, Posterior, "post")
    return float(individual_divergence(post, original, base).to_numpy() @ (post.space.view.n_q / post.space.n_records))


def _of_parts(post: PartitionedPosterior, original: pd.DataFrame, base: float) -> float:
    """The mean over all records; what is true of each range of QI tuples is sent to where it is measured."""
    check_base(base)
    if post.names_people:
        raise StatementError(
            "of a release in partitions with named people, some QI tuples are in several groups; solve it without names"
        )
    truth = sp.csr_array(count_pairs(post.release, original))
    bound = post.certificate.bound
    total, n_unsure = post.reduce(_Divergence(truth, 0, bound), _summed)
    if n_unsure and math.isfinite(total):
        raise Inaccurate(
            f"{pluralize(n_unsure, 'probability', 'probabilities')} of what is true cannot be told from 0, being below "
            f"the certificate's {bound:.1e}, so that the divergence may be infinite; solve the release in memory, or "
            "with a smaller tolerance, solve(tolerance=1e-12)"
        )
    return total / post.release.n_records / math.log(base)


def _summed(some: list[tuple[float, int]]) -> tuple[float, int]:
    """Divergences, and numbers of probabilities, of several ranges together."""
    return math.fsum(total for total, _ in some), sum(n for _, n in some)


@dataclass(frozen=True, eq=False)
class _Divergence:
    """sum n(q) D(q), nats, over some QI tuples."""

    truth: sp.csr_array
    first: int
    bound: float

    def between(self, first: int, end: int) -> _Divergence:
        """The same for some of them."""
        return replace(self, truth=self.truth[first - self.first : end - self.first], first=first)

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> tuple[float, int]:
        """Their sum, and how many probabilities of what is true are above 0 by less than the bound."""
        true = self.truth[numbers - self.first].toarray() / people[:, None]
        n_unsure = np.count_nonzero((true > 0) & (p > 0) & (p <= self.bound))
        return float(people @ rel_entr(true, p).sum(axis=1)), int(n_unsure)


#: The first paper's name of :func:`overall_divergence`.
estimation_accuracy = overall_divergence


def individual_divergence(post: Posterior, original: pd.DataFrame, base: float = 2) -> pd.Series:
    """D(q) = sum_s P(s | q) log(P(s | q) / P*(s | q)) for every QI tuple q.

    Its mean over records is :func:`overall_divergence`.

    Parameters
    ----------
    post : Posterior
        What the adversary infers, P*.
    original : DataFrame
        The records that were published, with the release's QI and sensitive columns.
    base : float
        Of the logarithm: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    Series
        Indexed as ``post.conditional()``; infinite where P* = 0 < P.

    Raises
    ------
    StatementError
        If `post` is no Posterior.
    BadProbability
        If the base is not larger than 1.
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
    truth = original_counts(post, original) / post.space.view.n_q[:, None]
    divergence = rel_entr(truth, inferred.to_numpy()).sum(axis=1) / math.log(base)
    return pd.Series(divergence, index=inferred.index, name="divergence")


def term_divergence(post: Posterior, original: pd.DataFrame, base: float = 2) -> float:
    """D = sum P(q, s, b) log(P(q, s, b) / P*(q, s, b)) over the terms: the divergence that knowledge never raises.

    With true equations as knowledge it equals H(P*) - H(P), so that more of them cannot make it larger;
    the divergence over q, which forgets the buckets, has no such guarantee.

    Parameters
    ----------
    post : Posterior
        Of a release.
    original : DataFrame
        The records that were published, with the release's QI, sensitive and bucket columns.
    base : float
        Of the logarithm: 2 gives bits.

    Returns
    -------
    float
        >= 0; infinite if the adversary rules out something true.

    Raises
    ------
    StatementError
        If `post` is no Posterior.
    BadProbability
        If the base is not larger than 1.
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
    >>> model = model.add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0)      # true, so it cannot rise
    >>> round(mx.measures.term_divergence(model.solve(), hospital), 3)
    0.751
    """
    check_instance(post, Posterior, "post")
    check_base(base)
    truth = post.space.count(original)
    return float(rel_entr(truth, post.counts).sum() / post.space.n_records / math.log(base))


def original_counts(post: Posterior, original: pd.DataFrame) -> np.ndarray:
    """Count n(q, s) in the original records, which must be the people of the release, shape (QI tuples, values)."""
    return count_pairs(post.space.view, original)


def check_base(base: float) -> None:
    """Check the base of a logarithm."""
    is_one = isinstance(base, numbers.Real) and not isinstance(base, bool) and 1 < base <= LARGEST
    if not is_one:
        raise BadProbability(
            f"base={short_repr(base)}: the base of the logarithm is larger than 1; 2 is bits, math.e is nats"
        )


# The QI tuples for which two posteriors differ most in their divergence from the truth.


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
            raise StatementError(f"two posteriors are compared, not {short_repr(post)}")
    one, two = first.space.view, second.space.view
    if not one.quasi_identifiers.equals(two.quasi_identifiers) or not np.array_equal(one.n_q, two.n_q):
        raise StatementError("the two posteriors are of different people; compare two models of the same people")
    if not one.sensitive_values.equals(two.sensitive_values):
        raise StatementError("the two posteriors are of different sensitive values; give both views the same sa_values")
    if k is not None:
        check_int(k, "k", 1)
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


# The entropy of an adversary's inference about each person.


def individual_entropy(post: Posterior, base: float = math.e) -> pd.Series:
    """H(q) = -sum_s P(s | q) log P(s | q), of every QI tuple, or of every person in a series.

    Parameters
    ----------
    post : Posterior
        What the adversary infers.
    base : float
        Of the logarithm: ``math.e`` for nats, 2 for bits.

    Returns
    -------
    Series
        Indexed as ``post.inferences()``, of a series by pseudonym. Its mean over records is H(S | Q), of a series
        H(S | I) (Re-publishing, Eq. (1)); the mean over some people is the uncertainty that is left about these.

    Raises
    ------
    StatementError
        If `post` is no Posterior.
    BadProbability
        If the base is not larger than 1.

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
    pair, of = np.unique(post.space.cells, return_inverse=True)  # pairs that occur: a full table could be huge
    p = np.bincount(of, post.counts) / records[pair // n_values]
    entropy = np.bincount(pair // n_values, -xlogy(p, p), len(records)) / math.log(base)
    persons = getattr(post.space.view, "persons", None)
    if isinstance(persons, pd.Index):
        return pd.Series(entropy, index=persons, name="entropy")
    roles = [*["who"][: len(post.space.people)], "q"]
    index = post.space.axes.labels(roles, post.space.first_of_group)
    return pd.Series(entropy, index=index if index.nlevels > 1 else index.get_level_values(0), name="entropy")
