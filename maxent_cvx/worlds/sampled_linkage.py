"""People of a release in sampled worlds, for sentences that are too many to sum over (with standard errors)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import StatementError, whole
from ..terms.people import People
from ..views import Release
from .groups import Groups
from .reading import check_release
from .sampling import FEWEST, SampledPosterior, counted, estimates
from .sentences.naming import Knowledge
from .sentences.outlook import Outlook
from .sentences.residuals import TRUE
from .sentences.syntax import Sentence

__all__ = ["sample_linkage"]

#: Numbers held at once, one a world and a place that a person may have in it.
AT_ONCE = 1 << 22


def sample_linkage(
    release: Release,
    people: Mapping[Any, Mapping[str, object]] | pd.DataFrame,
    knowledge: Iterable[Sentence | str] = (),
    n: int = 10_000,
    *,
    seed: int = 0,
) -> SampledPosterior:
    """Estimate P(x | person) given sentences from n random worlds w, each of which counts 1 / q(w) if they are true.

    All worlds are equally likely before; for what :func:`linkage` refuses. People get records and values one after the
    other, those first whom sentences name, each with an eye on how likely the sentences are to come true.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    people, knowledge
        As in :func:`maxent_cvx.worlds.linkage`.
    n : int
        Worlds, at least 100.
    seed : int
        Worlds are the same for the same seed.

    Returns
    -------
    SampledPosterior
        A row a person, a column a sensitive value.

    Raises
    ------
    Inaccurate
        If the samples count as too few, as they do where the sentences clash.
    StatementError
        If the view is no release, or has counterfeits; if people are not described as they should be, or nobody is; a
        sentence cannot be read, `n` is below 100, or the seed no integer.
    UnknownName
        If a sentence names who or what there is not.

    Notes
    -----
    Self-normalised sequential importance sampling, as in :func:`sample`: who has the j-th record and value has them in
    proportion to the places that those before left, times the probability that what is left of the sentences would come
    true, were people independent.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> people = {
    ...     "Bob": {"Gender": "female", "Degree": "college"},
    ...     "Charlie": {"Gender": "female", "Degree": "graduate"},
    ... }
    >>> known = ["exactly 1 of (Bob=HIV, Charlie=HIV)"]
    >>> found = mx.worlds.sample_linkage(release, people, known, n=2_000)
    >>> exact = mx.worlds.linkage(release, people=people, knowledge=known)
    >>> bool(((found.posterior - exact).abs() < 5 * found.standard_error).all(axis=None))
    True
    """
    check_release(release, None, optional=True)
    whole(n, "n", FEWEST)
    whole(seed, "seed", 0)
    described = People.of(people, release)
    if not len(described):
        raise StatementError("nobody is described; say who is asked about, people={name: {attribute: value}}")
    known = Knowledge.of(knowledge, described.names, release.sensitive_values, "person who is described")
    drawn = _Drawn.of(release, described, known, n)
    rng = np.random.default_rng(seed)
    for j in range(len(drawn.order)):
        drawn.next(j, rng)
    counts = (drawn.residual == TRUE) & ~np.isnan(drawn.log_weight)  # NaN: there was no place that they could have
    log_weight = np.where(counts, drawn.log_weight, -np.inf)
    weight, effective = counted(log_weight, "worlds.linkage(..., limit=...)")
    back = np.argsort(drawn.order)
    found = estimates(drawn.value[back], np.arange(len(back)), len(release.sensitive_values), weight, effective)
    tables = [pd.DataFrame(one, index=described.names, columns=release.sensitive_values) for one in found]
    return SampledPosterior(tables[0], tables[1], effective, n)


@dataclass(eq=False)
class _Drawn:
    """Worlds in which people get records and values, one after the other.

    Attributes
    ----------
    groups : Groups
    tuples : csr_array, shape (tuples, buckets)
        How many records each QI tuple has in each bucket.
    q, order : ndarray of int
        In the order in which people get something: their QI tuples, and who they are.
    outlook : Outlook
    residual : ndarray of int, one a world
        What is left of the sentences.
    log_weight : ndarray, one a world
    bucket, value : ndarray of int, shape (people, worlds)
    """

    groups: Groups
    tuples: sp.csr_array
    q: np.ndarray
    order: np.ndarray
    outlook: Outlook
    residual: np.ndarray
    log_weight: np.ndarray
    bucket: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, release: Release, people: People, known: Knowledge, n: int) -> Self:
        """Before anybody has anything; whom sentences name comes first."""
        groups, tuples = Groups.of(release, None, ()), sp.csr_array(release.n_qb)
        order = np.argsort(~np.isin(np.arange(len(people)), known.people), kind="stable")
        named = order[: len(known.people)]
        chance = (tuples[people.q[named]] / groups.sizes @ groups.values.T).toarray() / release.n_q[
            people.q[named], None
        ]
        outlook = Outlook.of(known, named, np.arange(groups.values.shape[0]), chance)
        of_each = np.zeros((len(order), n), dtype=np.int64)
        return cls(
            groups, tuples, people.q[order], order, outlook, np.full(n, outlook.root), np.zeros(n),
            of_each, of_each.copy(),
        )  # fmt: skip

    def next(self, j: int, rng: np.random.Generator) -> None:
        """Give the j-th person a record and a value, in all worlds."""
        at = slice(*self.tuples.indptr[self.q[j] : self.q[j] + 2])
        buckets, room = self.tuples.indices[at], self.tuples.data[at]
        values = self.groups.values
        width = np.diff(values.indptr)[buckets]
        of_bucket = np.repeat(np.arange(len(buckets)), width)  # of every value of every bucket
        entry = (
            np.arange(len(of_bucket)) - np.repeat(np.cumsum(width) - width, width) + values.indptr[buckets[of_bucket]]
        )
        number = np.full((len(buckets), values.shape[0]), -1)
        number[of_bucket, values.indices[entry]] = np.arange(len(entry))
        n = len(self.residual)
        for some in np.array_split(np.arange(n), 1 + n * len(entry) // AT_ONCE):
            free = np.tile(room / 1.0, (len(some), 1))
            size = np.tile(self.groups.sizes[buckets] / 1.0, (len(some), 1))
            left = np.tile(values.data[entry] / 1.0, (len(some), 1))
            for i in range(j):  # each took one place, in one bucket
                where = np.minimum(np.searchsorted(buckets, self.bucket[i, some]), len(buckets) - 1)
                here = np.flatnonzero(buckets[where] == self.bucket[i, some])
                size[here, where[here]] -= 1
                free[here, where[here]] -= self.q[i] == self.q[j]
                left[here, number[where[here], self.value[i, some[here]]]] -= 1
            odds = (np.maximum(free, 0) / np.maximum(size, 1))[:, of_bucket] * np.maximum(
                left, 0
            )  # 0 where none is left
            self._choose(j, some, odds, buckets[of_bucket], values.indices[entry], rng)

    def _choose(
        self,
        j: int,
        some: np.ndarray,
        odds: np.ndarray,
        bucket: np.ndarray,
        value: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """Draw one of the places in proportion to its odds, and the hope that it leaves, in some of the worlds."""
        named = j < len(self.outlook.people)
        if named:
            which, after, hope = self.outlook.step(j, self.residual[some])
            odds = odds * hope[which][:, value]
        odds = np.cumsum(odds, axis=1)
        total = odds[:, -1]
        drawn = (odds < (1 - rng.random(len(some)))[:, None] * total[:, None]).sum(axis=1)  # 1 - u is not 0
        self.bucket[j, some], self.value[j, some] = bucket[drawn], value[drawn]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.log_weight[some] += np.log(total)
            if named:
                self.log_weight[some] -= np.log(hope[which, value[drawn]])
                self.residual[some] = after[which, value[drawn]]
