"""The entropy of an adversary's inference about each person."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import xlogy

from ..errors import arguments
from ..model.posterior import Posterior
from .accuracy import check_base

__all__ = ["individual_entropy"]


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
    arguments.instance(post, Posterior, "post")
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
