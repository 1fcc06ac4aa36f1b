"""Inference from a release: who has what, by signature, or of people who are known by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import StatementError, number, shown
from ..priors import QIDistribution
from ..terms.people import People
from ..views import Release
from ..views.base import attach
from .conditioning.people import known_people
from .groups import Groups
from .linked import STEPS, linked
from .reading import check_release
from .sentences.reader import listed
from .sentences.syntax import Sentence

__all__ = ["linkage"]


def linkage(
    release: Release,
    prior: QIDistribution | None = None,
    attributes: str | Sequence[str] | None = None,
    *,
    people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
    knowledge: Iterable[Sentence | str] = (),
    limit: float = STEPS,
) -> pd.Series | pd.DataFrame:
    """P(t : x) of every tuple and value of a release, or P(x | person) of people given sentences about them; exact.

    A world says which record is whose, and which record of a bucket has which of its values. It counts in proportion to
    the product of its records' priors, and not at all if a sentence is false in it; without a prior all worlds are
    equally likely. The sums are by dynamic programming over the buckets in which those may be whom sentences link: only
    they, and the values that are mentioned, matter.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    prior : QIDistribution, optional
        What the adversary believes: P(s | signature), probabilities.
    attributes : str or list of str, optional
        The attribute set of the prior; may be left out if there is one.
    people : dict of dict, or DataFrame, optional
        All QI values of people who are known by name, as for :class:`maxent_cvx.MaxEnt`. Whoever's occur in several
        buckets may be any such record; two names are never one record.
    knowledge : list of Sentence or str, optional
        What is known of them: ``"Ann=HIV or Bob=HIV"``, see :func:`read_sentence`, or objects, see :func:`has`.
    limit : float
        Steps that are allowed, for a bucket, and for people whom sentences or buckets link; see :func:`posterior`.

    Returns
    -------
    Series, or DataFrame
        Probabilities. Without `people` by bucket, signature (a level an attribute) and sensitive value: tuples of one
        signature in one bucket have the same. With `people` a row a person and a column a sensitive value.

    Raises
    ------
    StatementError
        If the view is no release, or has counterfeits; or the prior is no :class:`maxent_cvx.QIDistribution`; if
        people are not described as they should be, or nobody is so; or a sentence cannot be read.
    UnknownName
        If the prior lacks a signature or a value of the release; or a sentence names who or what there is not.
    Infeasible
        If the prior rules out every world of a bucket; or sentences clash, of which it names some, none of which can be
        spared.
    GroupTooLarge
        If more steps are needed than the limit allows; see :func:`sample_linkage`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> print(mx.worlds.linkage(release, prior).unstack("Disease").loc[3, ["Flu", "HIV", "Lung Cancer"]].round(3))
    Disease    Flu    HIV  Lung Cancer
    Gender
    female   0.136  0.409        0.455
    male     0.727  0.182        0.091

    Of Alice, Bob and Charlie two have HIV (Privacy-MaxEnt, section 6; its constraints say .382 and .618):

    >>> known = mx.worlds.linkage(
    ...     release,
    ...     people={
    ...         "Alice": {"Gender": "male", "Degree": "college"},
    ...         "Bob": {"Gender": "female", "Degree": "college"},
    ...         "Charlie": {"Gender": "female", "Degree": "graduate"},
    ...     },
    ...     knowledge=["exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)"],
    ... )
    >>> known["HIV"].round(3).to_dict()
    {'Alice': 1.0, 'Bob': 0.333, 'Charlie': 0.667}
    """
    check_release(release, prior, optional=True)
    limit = number(limit, "limit")
    if prior is None and attributes is not None:
        raise StatementError(f"attributes={shown(attributes)} chooses an attribute set of a prior, and there is none")
    key = () if prior is None else prior.attribute_set(attributes)
    sentences = listed(knowledge)
    if people is not None:
        return known_people(release, prior, key, People.of(people, release), sentences, limit)
    if sentences:
        raise StatementError("knowledge is about people by name: say who they are, people={name: {attribute: value}}")
    groups = Groups.of(release, prior, key)
    group, u, v = groups.pairs
    share = groups.values.data[v] / groups.sizes[group] if prior is None else linked(groups, limit)
    signatures = release.quasi_identifiers if prior is None else prior.tables[key].index
    of_tuple = attach(groups.names, group, signatures, groups.tuples.indices[u])
    labels = attach(of_tuple, np.arange(len(group)), release.sensitive_values, groups.values.indices[v])
    return pd.Series(share, index=labels, name="P(t : x)").sort_index()
