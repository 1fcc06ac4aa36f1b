"""The least merging of buckets after which nobody is exposed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from .._utils.errors import GroupTooLarge, Infeasible, SolverError, TableError
from .._utils.formatting import ReprMixin
from .._utils.validation import check_float, check_instance, check_int, check_seconds
from ..measures.events import ROUNDING
from ..releases.release import Release

#: The most sets of buckets that the program has a variable for.
MOST_SETS = 50_000
#: HiGHS tolerates that a limit is exceeded by 1e-6: of probabilities times this factor, by 1e-10.
SCALE = 1e4


@dataclass(frozen=True, eq=False)
class Merging(ReprMixin):
    """A release in which buckets were merged, with a proof of how few merges are possible.

    Attributes
    ----------
    release : Release
        The merged release; a merged bucket has the label of its first one.
    buckets : Series
        The new bucket of every old one.
    lost : int
        By how many buckets there are fewer.
    gap : float
        Lost - the solver's bound: no merging loses fewer than lost - gap buckets, among the sets considered.
    optimal : bool
        Whether all sets of buckets were considered, and the gap is below 1.
    """

    release: Release
    buckets: pd.Series
    lost: int
    gap: float
    optimal: bool

    def __repr__(self) -> str:
        return f"<Merging: {self.lost} of {len(self.buckets)} buckets fewer, gap {self.gap:g}, optimal: {self.optimal}>"


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
        The largest number of buckets that are merged into one; by default all, or as many as 50,000 sets of buckets
        allow.
    time_limit : float, optional
        Seconds; the best merging until then is returned, with its gap.

    Returns
    -------
    Merging

    Raises
    ------
    Infeasible
        If somebody is exposed whatever is merged.
    GroupTooLarge
        If the program would have more than 50,000 sets of buckets.
    TableError, BadProbability, StatementError
        If the release contains counterfeit values, or an argument is invalid.
    SolverError
        If the solver finds no merging in time.

    Notes
    -----
    An integer program, solved by HiGHS, with a variable for every set C of buckets that may become one: every bucket is
    in one set, and the sum over chosen sets of P(C | q) P(s | C) is below the threshold for all q and s. What is least
    is the sum of \|C\| - 1. Knowledge may expose people in the merged release: check it with
    :func:`maxent_cvx.measures.exposed`.

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
    sizes = np.cumsum([float(math.comb(n_buckets, k)) for k in range(1, n_buckets + 1)])
    largest = int((sizes <= MOST_SETS).sum())
    most = min(check_int(most, "most", 1), n_buckets) if most is not None else max(largest, min(2, n_buckets))
    if most > largest:
        raise GroupTooLarge(
            f"sets of up to {most} of {n_buckets} buckets are {sizes[most - 1]:.0f}, and at most {MOST_SETS} are "
            "expected; merge a part of the release at a time"
        )
    sets = [chosen for k in range(1, most + 1) for chosen in combinations(range(n_buckets), k)]
    sizes = np.array([len(chosen) for chosen in sets])
    member = sp.csc_array(
        (np.ones(sizes.sum()), np.concatenate(sets), np.concatenate([[0], sizes.cumsum()])),
        shape=(n_buckets, len(sets)),
    )
    of_q, of_s = (np.asarray((counts @ member).todense()) for counts in (release.n_qb, release.n_sb))
    # Of every sensitive value the summands P(C | q) P(s | C), shape (QI tuples, sets).
    summands = [of_q * share / release.n_q[:, None] for share in of_s / of_s.sum(axis=0)]
    constraints = [LinearConstraint(member, 1, 1)]
    constraints += [
        LinearConstraint(sp.csr_array(SCALE * p), -np.inf, SCALE * (threshold - ROUNDING)) for p in summands
    ]
    end = math.inf if time_limit is None else time.monotonic() + check_seconds(time_limit, "time_limit")
    while True:
        options: Any = {"mip_rel_gap": 0.0, "time_limit": max(end - time.monotonic(), 0.0)}
        answer = milp(
            sizes - 1, integrality=np.ones(len(sets), dtype=int), bounds=Bounds(0, 1), constraints=constraints, options=options
        )  # fmt: skip
        if answer.x is None:
            if answer.status == 2:
                raise Infeasible(
                    f"somebody has a P(s | q) of at least {threshold:g} however up to {most} buckets are merged"
                )
            raise SolverError(f"HiGHS found no merging: {answer.message}")
        chosen = np.flatnonzero(answer.x > 0.5)
        exposing = _exposing(summands, chosen, threshold)
        if not exposing:
            break
        # HiGHS takes a limit for met that is exceeded by its tolerance. Sets that expose somebody together are excluded.
        together = sp.csr_array(
            (np.ones(sum(map(len, exposing))), np.concatenate(exposing), np.cumsum([0, *map(len, exposing)])),
            shape=(len(exposing), len(sets)),
        )
        constraints.append(LinearConstraint(together, -np.inf, [len(each) - 1 for each in exposing]))
    first = np.zeros(n_buckets, dtype=int)
    for number in chosen:
        first[list(sets[number])] = sets[number][0]
    lost = n_buckets - len(np.unique(first))
    gap = max(lost - float(answer.mip_dual_bound), 0.0)
    buckets = pd.Series(release.buckets[first], release.buckets, name=release.bucket)
    return Merging(joined(release, first), buckets, lost, gap, most == n_buckets and gap < 1)


def joined(release: Release, into: np.ndarray) -> Release:
    """The release in which bucket b is part of bucket into[b]."""
    parts, place = np.unique(into, return_inverse=True)
    n = len(into)
    join = sp.csr_array((np.ones(n, dtype=np.int64), (np.arange(n), place)), shape=(n, len(parts)))
    n_qb, n_sb = (sp.csr_array(counts @ join) for counts in (release.n_qb, release.n_sb))
    return replace(release, buckets=release.buckets[parts], n_qb=n_qb, n_sb=n_sb, persons=None)


def _exposing(summands: list[np.ndarray], chosen: np.ndarray, threshold: float) -> list[np.ndarray]:
    """Of every P(s | q) that reaches the threshold, the chosen sets that it is a sum over; each list of sets once."""
    found = {}
    for p in summands:
        part = p[:, chosen]
        for q in np.flatnonzero(part.sum(axis=1) >= threshold - ROUNDING):
            sets = chosen[part[q] > 0]
            found[sets.tobytes()] = sets
    return [*found.values()]
