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
from scipy.special import rel_entr

from ..errors import BadProbability, Inaccurate, StatementError, amount, arguments, shown
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from ..terms.truth import count_pairs

__all__ = ["estimation_accuracy", "individual_divergence", "original_counts", "overall_divergence", "term_divergence"]

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
    arguments.instance(post, Posterior, "post")
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
            f"{amount(n_unsure, 'probability', 'probabilities')} of what is true cannot be told from 0, being below "
            f"the certificate's {bound:.1e}, so that the divergence may be infinite; solve the release in memory, or "
            "with a smaller tolerance, solve(tolerance=1e-12)"
        )
    return total / post.release.n_records / math.log(base)


def _summed(some: list[tuple[float, int]]) -> tuple[float, int]:
    """Divergences, and numbers of probabilities, of several ranges together."""
    return math.fsum(total for total, _ in some), sum(n for _, n in some)


@dataclass(frozen=True, eq=False)
class _Divergence:
    """sum n(q) D(q), nats, over some QI tuples.

    Attributes
    ----------
    truth : csr_array, shape (QI tuples, sensitive values)
        n(q, s), records.
    first : int
        The number of the first of these.
    bound : float
        The certificate's: how far any probability can be from the answer.
    """

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
    arguments.instance(post, Posterior, "post")
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
    arguments.instance(post, Posterior, "post")
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
            f"base={shown(base)}: the base of the logarithm is larger than 1; 2 is bits, math.e is nats"
        )
