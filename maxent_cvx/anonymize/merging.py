"""The least merging of buckets after which nobody is exposed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from .._utils.errors import GroupTooLarge, Infeasible, SolverError, TableError
from .._utils.formatting import ReprMixin, format_number
from .._utils.validation import check_float, check_instance, check_int, check_seconds
from ..measures.events import ROUNDING
from ..releases.release import Release

#: The largest number of sets of buckets, with one variable each.
MOST_SETS = 50_000
#: Presolve of HiGHS ignores the time limit: 32,000 sets took three minutes, of which the search needs two seconds.
MOST_PRESOLVED = 10_000
#: Factor of probabilities in constraints, so that HiGHS's tolerance of 1e-6 is 1e-10 for probabilities.
SCALE = 1e4


@dataclass(frozen=True, eq=False)
class Merging(ReprMixin):
    """A release in which buckets were merged, with a proof of how few merges are possible.

    Attributes
    ----------
    release : Release
        The merged release; a merged bucket has the label of its first bucket.
    buckets : Series
        The new bucket of every old bucket.
    lost : int
        Decrease of the number of buckets.
    gap : int
        No merging loses fewer than lost - gap buckets.
    optimal : bool
        Whether the gap is below 1.
    """

    release: Release
    buckets: pd.Series
    lost: int
    gap: int
    optimal: bool

    def __repr__(self) -> str:
        return f"<Merging: {self.lost} of {len(self.buckets)} buckets fewer, gap {self.gap}, optimal: {self.optimal}>"


def merge_buckets(
    release: Release, threshold: float = 0.8, most: int | None = None, time_limit: float | None = None
) -> Merging:
    r"""Merge as few buckets as possible so that P(s | q) < threshold for everybody, without knowledge.

    Parameters
    ----------
    release : Release
    threshold : float
        A person is exposed if some P(s | q) is at least this probability.
    most : int, optional
        The largest number of buckets that are merged into one; by default all, within the limit of 50,000 sets of
        buckets.
    time_limit : float, optional
        Time limit in seconds, after which the best merging found is returned, with its gap.

    Returns
    -------
    Merging

    Raises
    ------
    Infeasible
        If somebody is exposed by every merging.
    GroupTooLarge
        If the program would have more than 50,000 sets of buckets.
    TableError, BadProbability, StatementError
        If the release contains counterfeit values, or an argument is invalid.
    SolverError
        If the solver finds no merging in time.

    Notes
    -----
    Integer programs, solved by HiGHS, with a variable for every set C of up to k buckets that may be merged: every bucket
    is in one set, and the sum over chosen sets of P(C | q) P(s | C) is below the threshold for all q and s. The objective
    is the sum of \|C\| - 1. k increases from 1: a set of k + 1 buckets alone loses k, so a merging that loses at most k is
    optimal. Knowledge may expose people in the merged release: check it with :func:`maxent_cvx.measures.exposed`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> merging = mx.anonymize.merge_buckets(release, threshold=0.4)
    >>> merging
    <Merging: 1 of 3 buckets fewer, gap 0, optimal: True>
    >>> bool(mx.MaxEnt(merging.release).solve().conditional().max(axis=None) < 0.4)
    True
    """
    check_instance(release, Release, "release")
    threshold = check_float(threshold, "threshold", 0.0, 1.0)
    if release.with_counterfeits.any():
        raise TableError("the release contains counterfeit values; merge buckets before they are added")
    n_buckets = len(release.buckets)
    numbers = [n_buckets]  # sets of up to 1, 2, ... buckets, until there are too many
    while numbers[-1] <= MOST_SETS and len(numbers) < n_buckets:
        numbers.append(numbers[-1] + math.comb(n_buckets, len(numbers) + 1))
    largest = len(numbers) - (numbers[-1] > MOST_SETS)
    most = min(check_int(most, "most", 1), n_buckets) if most is not None else max(largest, min(2, n_buckets))
    if most > largest:
        raise GroupTooLarge(
            f"there are {numbers[-1]} sets of up to {len(numbers)} of {n_buckets} buckets, and at most {MOST_SETS} are "
            "supported; merge a part of the release at a time"
        )
    end = math.inf if time_limit is None else time.monotonic() + check_seconds(time_limit, "time_limit")
    first, lost, bound, k = None, n_buckets, 0, 1
    while True:
        better, loss, in_time = Program.of(release, k, threshold - ROUNDING).least(lost - 1, end)
        if better is not None:
            first, lost = better, n_buckets - len(np.unique(better))
        # A set of k + 1 buckets loses k buckets.
        bound = max(bound, min(loss, k) if k < n_buckets else loss)
        if lost <= k or k == most or not in_time:
            break
        k += 1
    if first is None:
        if in_time:
            at_least = format_number(threshold)
            raise Infeasible(f"somebody has a P(s | q) of at least {at_least} in every merging of up to {k} buckets")
        within = "" if time_limit is None else f" in {time_limit:g} seconds"
        raise SolverError(f"HiGHS found no merging{within}; allow more time or a smaller `most`")
    buckets = pd.Series(release.buckets[first], release.buckets, name=release.bucket)
    return Merging(joined(release, first), buckets, lost, lost - bound, lost == bound)


class Program(NamedTuple):
    """The integer program of the least merging by sets of up to k buckets, with one variable per set."""

    member: sp.csr_array  # 1 where a bucket is in a set, shape (buckets, sets)
    limited: sp.csr_array  # P(C | q) P(s | C), one row per q and s; the limit applies to sums over chosen sets
    limit: float

    @classmethod
    def of(cls, release: Release, k: int, limit: float) -> Program:
        """Build the program without sets that reach the limit by themselves, and without limits that cannot be reached."""
        n_buckets = len(release.buckets)
        sets = [chosen for size in range(1, k + 1) for chosen in combinations(range(n_buckets), size)]
        sizes = np.array([len(chosen) for chosen in sets])
        where = np.concatenate(sets), np.repeat(np.arange(len(sets)), sizes)
        member = sp.csr_array((np.ones(sizes.sum()), where), shape=(n_buckets, len(sets)))
        of_q = sp.csr_array(release.n_qb @ member / release.n_q[:, None])
        of_s = (release.n_sb @ member).toarray()
        shares = of_s / of_s.sum(axis=0)
        summands = [
            sp.csr_array((of_q.data * share[of_q.indices], of_q.indices, of_q.indptr), of_q.shape) for share in shares
        ]
        allowed = np.ones(len(sets), dtype=bool)
        for p in summands:
            allowed[p.indices[p.data >= limit]] = False
        # Upper bound of P(s | q): each bucket in the allowed set with the largest share of s.
        largest = np.maximum.reduceat((shares * allowed)[:, member.indices], member.indptr[:-1], axis=1)
        reached = (release.n_qb / release.n_q[:, None]) @ largest.T >= limit
        rows = [p[:, allowed][reached[:, s]] for s, p in enumerate(summands)]
        return cls(member[:, allowed], sp.csr_array(sp.vstack(rows)), limit)

    def least(self, most_lost: int, end: float) -> tuple[np.ndarray | None, int, bool]:
        """Return the set of each bucket, by its first bucket, or None; a lower bound of the loss; and whether in time."""
        if not self.member.sum(axis=1).all():
            return None, most_lost + 1, True
        sizes = self.member.sum(axis=0)
        whole = np.ones(len(sizes), dtype=int)
        constraints = [
            LinearConstraint(self.member, 1, 1),
            LinearConstraint(sizes - 1, -np.inf, most_lost),
            LinearConstraint(SCALE * self.limited, -np.inf, SCALE * self.limit),
        ]
        while True:
            options: Any = {"mip_rel_gap": 0.0, "time_limit": max(end - time.monotonic(), 0.0)}
            options["presolve"] = math.isinf(end) or len(sizes) <= MOST_PRESOLVED
            answer = milp(sizes - 1, integrality=whole, bounds=Bounds(0, 1), constraints=constraints, options=options)
            if answer.status == 2:
                return None, most_lost + 1, True
            # Losses are integers; the bound of HiGHS has a tolerance.
            bound = 0 if answer.mip_dual_bound is None else max(math.ceil(answer.mip_dual_bound - 1e-6), 0)
            if answer.x is None:
                return None, bound, False
            chosen = np.flatnonzero(answer.x > 0.5)
            part = self.limited[:, chosen]
            exposing = part[part.sum(axis=1) >= self.limit]
            if not exposing.shape[0]:
                inside = self.member[:, chosen].toarray().astype(int)  # each bucket is in one of these sets
                return inside @ inside.argmax(axis=0), bound, answer.status == 0
            # HiGHS may exceed a limit by its tolerance. Exclude sets that together expose somebody.
            together = sp.csr_array((exposing > 0).astype(float))
            excluded = sp.csr_array(
                (together.data, chosen[together.indices], together.indptr), (together.shape[0], len(sizes))
            )
            constraints.append(LinearConstraint(excluded, -np.inf, together.sum(axis=1) - 1))


def joined(release: Release, into: np.ndarray) -> Release:
    """Return the release in which bucket b is merged into bucket into[b]."""
    parts, place = np.unique(into, return_inverse=True)
    n = len(into)
    join = sp.csr_array((np.ones(n, dtype=np.int64), (np.arange(n), place)), shape=(n, len(parts)))
    n_qb, n_sb = (sp.csr_array(counts @ join) for counts in (release.n_qb, release.n_sb))
    return replace(release, buckets=release.buckets[parts], n_qb=n_qb, n_sb=n_sb, persons=None)
