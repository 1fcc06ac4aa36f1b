"""The tables from which Mondrian makes a release: those in which all cuts were refused that it must have refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ....disguise.cutting import Scales
from ....disguise.mondrian import generalized
from ....errors import GroupTooLarge, Infeasible
from ....views import Release
from ..difference import difference
from ..people import People
from .counting import Counted
from .part import Part, renumbered
from .refused_cuts import RefusedCuts
from .rejection import sampled

__all__ = ["MondrianPosterior", "mondrian_posterior"]


@dataclass(frozen=True, eq=False)
class MondrianPosterior:
    """The posterior over the tables.

    Attributes
    ----------
    p : ndarray, shape (people, values)
        P(s | person).
    error : ndarray or None
        Its standard errors; None if all is exact.
    part : ndarray of int
        The part of each bucket; parts are independent.
    log_share : ndarray
        Of each bucket the logarithm of the share of its part's assignments that remain; NaN with a prior.
    """

    p: np.ndarray
    error: np.ndarray | None
    part: np.ndarray
    log_share: np.ndarray


def mondrian_posterior(
    release: Release, people: People, k: int, l: int | None, n: int, rng: np.random.Generator
) -> MondrianPosterior:
    """Count the tables from which Mondrian makes a release; sample n where that is too much work.

    Raises
    ------
    Infeasible
        If it makes the release of no table.
    GroupTooLarge, Inaccurate
        If sampling is too much work, or keeps too little.
    """
    group, n_sb = _groups(people)
    scales = Scales.of(people.table, people.view.qi)
    refused = RefusedCuts.of(scales, group, k)
    too_few = k > len(people) or (l is not None and bool(((n_sb > 0).sum(axis=1) < l).any()))
    if too_few or (l is None and refused.cuts) or not _has_cells(release, people, scales, group):
        raise _no_table()
    p = people.baseline()[people.tuple_of]
    kind, prior = _kinds(people)
    error = np.zeros_like(p)
    part_of, log_share = np.arange(len(n_sb)), np.zeros(len(n_sb))
    for buckets, cuts in _linked(refused, group) if refused.cuts else ():
        assert l is not None
        part, records, values = _part(refused, group, n_sb, buckets, cuts, l)
        part = replace(part, kind=kind[records], prior=prior[:, values])
        part_of[buckets] = buckets[0]
        inside = np.ix_(records, values)
        try:
            counted = Counted.of(part)
        except GroupTooLarge:
            p[inside], error[inside], log_share[buckets] = sampled(part, n, rng)
            continue
        if np.isinf(counted.log_share):
            raise _no_table()
        p[inside], log_share[buckets] = counted.probabilities(), counted.log_share
    if people.prior is not None:  # tables that are weighed are not counted
        log_share[:] = np.nan
    return MondrianPosterior(p, error if error.any() else None, part_of, log_share)


def _groups(people: People) -> tuple[np.ndarray, np.ndarray]:
    """The bucket of each person, and how often each bucket has each value, shape (buckets, values)."""
    view = people.view
    if not isinstance(view, Release) or view.n_qb.nnz != len(view.quasi_identifiers):
        raise Infeasible("Mondrian puts people with the same QI into one group, and its groups do not overlap")
    bucket = view.n_qb.tocsr()
    return bucket.indices[bucket.indptr[people.tuple_of]], view.n_sb.toarray().T


def _has_cells(release: Release, people: People, scales: Scales, group: np.ndarray) -> bool:
    """Whether the release generalises these groups as Mondrian does."""
    records = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    cells = generalized(scales, records, release.qi)
    table = people.assigned(people.value).assign(**{name: cells[name] for name in release.qi})
    made = partial(Release.from_generalized, qi=release.qi, sa=release.sensitive)
    return difference(release, made, table, {}) == 0


def _kinds(people: People) -> tuple[np.ndarray, np.ndarray]:
    """The kind of each person, and P(value | kind); everybody is of one kind without a prior."""
    if people.believed is None:
        return np.zeros(len(people), dtype=np.int64), np.ones((1, len(people.view.sensitive_values)))
    prior, kind = np.unique(people.believed, axis=0, return_inverse=True)
    return kind.reshape(-1)[people.tuple_of], prior


def _no_table() -> Infeasible:
    return Infeasible("Mondrian makes this release of no table of these people; has it other parameters?")


def _linked(refused: RefusedCuts, group: np.ndarray) -> list[tuple[np.ndarray, list[tuple[int, ...]]]]:
    """The buckets of each part, in the order of the recursion, and its cuts."""
    ends = [np.unique(group[np.concatenate([refused.halves[half] for half in cut])]) for cut in refused.cuts]
    cut = np.repeat(np.arange(len(ends)), [len(one) for one in ends])
    n = int(group.max()) + 1
    of = sp.csr_array((np.ones(len(cut)), (np.concatenate(ends), cut)), shape=(n, len(ends)))
    label = connected_components(of @ of.T, directed=False)[1]
    label_of_cut = label[[one[0] for one in ends]]
    in_order = label[refused.order]
    return [
        (refused.order[in_order == one], [refused.cuts[i] for i in np.flatnonzero(label_of_cut == one)])
        for one in np.unique(label_of_cut)
    ]


def _part(
    refused: RefusedCuts, group: np.ndarray, n_sb: np.ndarray, buckets: np.ndarray, cuts: list[tuple[int, ...]], l: int
) -> tuple[Part, np.ndarray, np.ndarray]:
    """A part by itself: its records and values numbered anew."""
    number = np.full(len(n_sb), -1)
    number[buckets] = np.arange(len(buckets))
    records = np.flatnonzero(number[group] >= 0)
    values = np.flatnonzero(n_sb[buckets].any(axis=0))
    own, renamed = renumbered(cuts)
    halves = np.array([np.isin(records, refused.halves[half]) for half in own])
    kind, prior = np.zeros(len(records), dtype=np.int64), np.ones((1, len(values)))
    return Part(number[group[records]], n_sb[np.ix_(buckets, values)], halves, renamed, l, kind, prior), records, values
