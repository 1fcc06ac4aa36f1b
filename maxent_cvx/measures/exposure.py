"""Exposure: how many people's values an adversary infers with at least a given probability, and whose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from .accuracy import original_counts
from .disclosure import of_those_inside

__all__ = ["Exposure", "exposed"]

#: QI tuples that are listed of a release in partitions.
LISTED = 1000


@dataclass(frozen=True, eq=False)
class Exposure:
    """The people who are exposed, and how often the likeliest value is the true one.

    Attributes
    ----------
    threshold : float
        The probability from which on a person counts as exposed.
    people : int
        How many people's most likely value has at least that probability.
    who : DataFrame
        Their QI tuples, and names where people are named (index), the value inferred, its probability, and how
        many people each row is.
    histogram : Series
        People by their largest P(s | q), in tenths.
    attack_success : float or None
        Share of all people whose most likely value is their true one, P(argmax = truth); only given
        the original records. A tie counts as a guess among its values; names are not used.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> found = mx.measures.exposed(knows, threshold=0.8, original=hospital)
    >>> print(found)
    1 of 10 people exposed at P >= 0.8; guessing the likeliest value is right for 46.7%
    >>> found.histogram[found.histogram > 0].to_list()             # people by tenths: 0.3 to 0.4, ..., 0.9 to 1
    [2, 5, 2, 1]
    """

    threshold: float
    people: int
    who: pd.DataFrame
    histogram: pd.Series
    attack_success: float | None

    def __str__(self) -> str:
        total = int(self.histogram.sum())
        success = (
            ""
            if self.attack_success is None
            else f"; guessing the likeliest value is right for {self.attack_success:.1%}"
        )
        return f"{self.people} of {total} people exposed at P >= {self.threshold:g}{success}"

    def _repr_html_(self) -> str:
        return f"<p>{self}</p>{self.who.head(10).to_html(border=0)}"


def exposed(
    post: Posterior | PartitionedPosterior, threshold: float = 0.8, original: pd.DataFrame | None = None
) -> Exposure:
    """Count the people whose sensitive value can be inferred with P(s | q) >= threshold.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers. Of a release in partitions, up to 1,000 QI tuples are listed, the surest.
    threshold : float
        A probability. One that is below it by no more than the certificate's bound counts as reaching it.
    original : DataFrame, optional
        The records that were published, to measure the attack's success.

    Returns
    -------
    Exposure
        With ``.people``, ``.who``, ``.histogram`` and, given the original records, ``.attack_success``.

    Raises
    ------
    StatementError
        If `post` is no posterior; of a release in partitions, if `original` is given.
    BadProbability
        If the threshold is not between 0 and 1.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the release.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> print(mx.measures.exposed(knows, threshold=0.8).who.round(2))
                         Disease    P  people
    Gender Degree
    female junior  Breast Cancer  1.0       1
    """
    arguments.real(threshold, "threshold", 0.0, 1.0)
    if isinstance(post, PartitionedPosterior):
        return _of_parts(post, threshold, original)
    arguments.instance(post, Posterior, "post")
    conditional, people = of_those_inside(post)
    p = conditional.to_numpy()
    count = _Counted(threshold, min(post.certificate.bound, 1.0))
    largest, is_exposed = p.max(axis=1), count.exposed(p)
    likeliest = conditional.columns[p.argmax(axis=1)].to_frame(index=False).set_index(conditional.index)
    who = likeliest.assign(P=largest, people=people)
    success = None
    if original is not None:
        p = post.conditional().to_numpy()  # the records do not say which of them is a named person's
        guess = p >= (p.max(axis=1) - count.slack)[:, None]
        right = original_counts(post, original) * guess / guess.sum(axis=1, keepdims=True)
        success = float(right.sum() / post.space.view.n_records)
    exposed, *tenths = count(conditional.to_numpy(), people, np.arange(len(people))).tolist()
    found = who[is_exposed].sort_values(["P", "people"], ascending=False)
    return Exposure(threshold, int(exposed), found, _histogram(tenths), success)


def _of_parts(post: PartitionedPosterior, threshold: float, original: pd.DataFrame | None) -> Exposure:
    """Those of all partitions, of whom the surest are listed."""
    if original is not None:
        raise StatementError("an attack is scored in memory: of a release in partitions, leave original= out")
    count = _Counted(threshold, min(post.certificate.bound, 1.0))
    exposed, *tenths = np.asarray(post.reduce(count, partial(np.sum, axis=0))).tolist()
    surest = post.top(LISTED)
    return Exposure(threshold, int(exposed), surest[surest["P"] >= threshold - count.slack], _histogram(tenths), None)


@dataclass(frozen=True)
class _Counted:
    """How many of some people are exposed, and how many there are by their largest probability, in tenths."""

    threshold: float
    slack: float

    def exposed(self, p: np.ndarray) -> np.ndarray:
        """Mark who is exposed."""
        return p.max(axis=1, initial=0.0) >= self.threshold - self.slack

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Count the people."""
        tenth = np.minimum((p.max(axis=1, initial=0.0) * 10 + 10 * self.slack).astype(int), 9)
        return np.append(people[self.exposed(p)].sum(), np.bincount(tenth, people, 10).astype(int))


def _histogram(tenths: list[int]) -> pd.Series:
    """People by tenths."""
    bins = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="largest P(s | q)")
    return pd.Series(tenths, index=bins, name="people")
