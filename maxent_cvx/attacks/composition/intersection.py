"""The intersection attack: releases of overlapping people, linked by quasi-identifiers only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ...errors import Infeasible, StatementError, TableError, arguments, listing, shown
from ...tables.coding import distinct
from ...views import OUTSIDE, GroupedRelease, Release
from ...views.base import attach
from .intersection_result import IntersectionResult
from .joint import Joint, joint
from .overlap import Overlap
from .slots import Slots

__all__ = ["intersection"]


def intersection(
    releases: Iterable[Release | GroupedRelease],
    overlap: object = None,
    *,
    prior: Mapping[object, float] | pd.Series | None = None,
) -> IntersectionResult:
    """P(s | q, in all releases), in proportion to pi(s) prod_r P_r(s | q) / pi(s); P_r(s | q) is of one release alone.

    Publishers who know nothing of each other publish overlapping people, without pseudonyms. Whoever knows somebody's
    QI, and that she is in all releases, intersects the sets of values of her groups.

    Parameters
    ----------
    releases : sequence of Release or GroupedRelease
        Two or more, with the same QI and sensitive attributes. Generalised ones are made with their `population`, see
        :meth:`maxent_cvx.Release.from_generalized`: exact QI link them.
    overlap : optional
        Who is in both. None: that is known of the person who is asked about, and of nobody else; this answer is exact
        over possible worlds, for any number of releases. Of two releases also a number of people; ``(least, most)``,
        which is answered for the least, as more people need not be linked; ``"everybody"`` of the smaller release; or
        a DataFrame of the QI of those in both, a row a person. The answer is then the maximum-entropy one.
    prior : Series or dict, optional
        pi(s) > 0, how frequent values are among the people whom publishers draw from; they need not sum to 1. By
        default as frequent as they are published; of generalised releases, which group people who are alike, in the
        groups that cover q. Equal numbers say that all possible worlds are as likely.

    Returns
    -------
    IntersectionResult
        `table` by QI tuple; `baseline` is P_r(s | q) of the release whose largest is larger; `bounds`.

    Raises
    ------
    StatementError
        If these are no releases, `overlap` is none of the above, or it is said of more than two, or of generalised
        releases without saying who.
    TableError, UnknownName, BadProbability
        If releases have other attributes, a generalised one no population, nobody can be in all of them, or `prior`
        lacks a value.
    Infeasible
        If releases contradict what is said of the overlap.
    Inaccurate
        If the answer to a known overlap is not certified, as it may be of a thousand people who are told by their QI.

    Notes
    -----
    Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008,
    section 2, whose sets are the values with ``bounds["high"] > 0``.

    *Worlds.* Every record of a release is somebody. A world deals the values of each bucket to its records and says
    which records of the two releases are of one person: these agree in value and QI. If people's values are drawn
    from pi, a world weighs prod pi(s) over people: as every bucket's values are known, 1 / pi(s) a person in both.
    With one such person, who is as likely any pair of records that can be hers, that is the formula above: without the
    1 / pi, releases that say nothing of q would make frequent values more likely than they are.

    Groups of Mondrian are of people who are alike. With frequencies in all of the release both groups' saying the same
    of such people would be counted twice: on Adult probabilities are then surer by 0.15 than they are right, with those
    of the groups by 0.01 to 0.03 (``python -m tests.benchmarks.intersection``, with and without ``--overall``).

    *Maximum entropy.* With M people in both, x(q, s, u, v) people who are record u of the first and v of the second,
    and x(s, u, -), x(s, -, v) in one alone, the number of worlds is prod n(u)! prod n(v)! / prod x!, so that to first
    order of Stirling its logarithm, with the weights, is -sum x log x - sum over those in both of x log pi(s). It
    is maximised subject to n(u), n(s, b) of both releases, and the number in both (of each q, if known). With M to 0 it
    tends to the formula, which is why nothing else is assumed where nothing is known. Of whole worlds it is an
    approximation, as for other models.

    Examples
    --------
    Two hospitals publish groups of four. Somebody of 28 was in both:

    >>> import maxent_cvx as mx, pandas as pd
    >>> first = pd.DataFrame({"Age": [28, 28, 31, 35], "Disease": ["AIDS", "Flu", "Flu", "Ulcer"], "Bucket": 1})
    >>> second = pd.DataFrame({"Age": [28, 30, 33, 34], "Disease": ["AIDS", "Cold", "Ulcer", "Cold"], "Bucket": 1})
    >>> releases = [mx.Release.from_buckets(t, qi="Age", sa="Disease", bucket="Bucket") for t in (first, second)]
    >>> result = mx.attacks.intersection(releases, prior=dict.fromkeys(["AIDS", "Flu", "Ulcer", "Cold"], 0.25))
    >>> print(result.table.round(2))
    Disease  AIDS  Cold  Flu  Ulcer
    Age
    28        0.5   0.0  0.0    0.5
    >>> print(result.bounds)
                 low  high
    Age Disease
    28  AIDS     0.0   1.0
        Ulcer    0.0   1.0
    """
    held = _checked(releases)
    values = _values(held)
    known = Overlap.read(overlap, held)
    slots = [Slots.of(release, known.tuples, values) for release in held]
    known.check([one.most for one in slots])
    if known.number and len(held) > 2:
        raise StatementError("who is in both is said of two releases; of more, overlap=None")
    if known.number and any(isinstance(one, Release) and one.with_counterfeits.any() for one in held):
        raise TableError("a release has counterfeits, which are nobody's records: nobody in both has one; overlap=None")
    alone = [one.shares() for one in slots]
    pi = _prior(prior, values, slots, alone if any(isinstance(one, GroupedRelease) for one in held) else None)
    possible = np.all([share > 0 for share in alone], axis=0)
    some = possible.any(axis=1)
    if known.people is not None and not some.all():
        raise Infeasible(
            f"{int(known.people[~some].sum())} people are said to be in both whose groups have no value in common; "
            "their values have changed, or others are in both"
        )
    if not some.any():
        raise Infeasible("nobody can be in all releases: no QI tuple has a value that is in all its groups")
    found = joint((slots[0], slots[1]), known, values, pi) if known.number else _alone(alone, pi, possible)
    return _result(found, known, slots, alone, possible, values)


def _alone(alone: Sequence[np.ndarray], pi: np.ndarray, possible: np.ndarray) -> Joint:
    """The exact answer of worlds in which one person is in all releases, and what is certain of her."""
    log = np.log([np.where(possible, share, 1.0) for share in (*alone, np.broadcast_to(pi, possible.shape))])
    weight = np.where(possible, log[:-1].sum(axis=0) - (len(alone) - 1) * log[-1], -np.inf)
    p = np.exp(weight - weight.max(axis=1, keepdims=True, initial=-1e300))
    total = p.sum(axis=1, keepdims=True)
    number = possible.sum(axis=1, keepdims=True)
    return Joint(p / np.where(total > 0, total, 1.0), 0.0, 1.0 * (possible & (number == 1)), 1.0 * possible)


def _result(
    found: Joint, known: Overlap, slots: Sequence[Slots], alone: Sequence[np.ndarray], possible: np.ndarray,
    values: pd.Index,
) -> IntersectionResult:  # fmt: skip
    """Label what was found, without QI tuples that nobody in all releases can have."""
    some = np.asarray(found.p.sum(axis=1) > 0)
    index = known.tuples[some] if known.tuples.nlevels > 1 else known.tuples[some].get_level_values(0)
    surest = np.max(alone, axis=2).argmax(axis=0)
    best = np.take_along_axis(np.array(alone), surest[None, :, None], axis=0)[0]
    most = np.min([one.most for one in slots], axis=0)
    n = most if known.people is None else known.people
    row, column = np.nonzero(possible[some])
    ends = {"low": found.low[some][row, column], "high": found.high[some][row, column]}
    bounds = pd.DataFrame(ends, attach(known.tuples[some], row, values, column))
    table, baseline = (pd.DataFrame(p[some], index, values) for p in (found.p, best))
    records = pd.Series(n[some].astype(np.int64), index, name="records")
    impossible = known.tuples[~some & (most > 0)]
    return IntersectionResult(table, baseline, records, found.error, bounds, impossible, known.people is not None)


def _checked(releases: object) -> list[Release | GroupedRelease]:
    """Check that these are releases of the same attributes."""
    held = arguments.list_of(releases, "releases", "two releases or more")
    if len(held) < 2:
        raise StatementError(f"{len(held)} release is given; two or more are intersected")
    for number, release in enumerate(held, 1):
        arguments.instance(release, (Release, GroupedRelease), f"release {number}")
        for what, mine, first in (
            ("QI", set(release.qi), set(held[0].qi)),
            ("sensitive values", release.sensitive, held[0].sensitive),
        ):
            if mine != first:
                raise TableError(
                    f"release {number} has its {what} in {listing(sorted(mine))}, and release 1 in "
                    f"{listing(sorted(first))}; rename columns, or leave out what only one has"
                )
        if isinstance(release, Release) and release.generalized:
            raise TableError(
                f"release {number} is generalised, and its groups' exact QI are not known; make it with "
                "Release.from_generalized(table, ..., population=...), a table of people with exact QI"
            )
    return held


def _values(releases: Sequence[Release | GroupedRelease]) -> pd.Index:
    """The values of all releases, sorted."""
    frames = [release.sensitive_values.to_frame(index=False) for release in releases]
    every = pd.concat(frames, ignore_index=True)
    return distinct(every[(every != OUTSIDE).all(axis=1)])[1]


def _prior(prior: object, values: pd.Index, slots: Sequence[Slots], alike: Sequence[np.ndarray] | None) -> np.ndarray:
    """pi(s) of every value: given, or the shares of records; of groups of people who are alike, a row a QI tuple."""
    if prior is None and alike is not None:
        n = [one.may_be @ one.n for one in slots]
        held = np.sum([size[:, None] * share for size, share in zip(n, alike, strict=True)], axis=0)
        return np.asarray(held / np.maximum(np.sum(n, axis=0), 1)[:, None])
    if prior is None:
        n = np.sum([np.asarray(one.n_sb.sum(axis=1)) for one in slots], axis=0)
        return np.asarray(n / n.sum())
    if not isinstance(prior, pd.Series | Mapping):
        raise StatementError(f"prior must be a Series or a dictionary {{value: frequency}}, not {shown(prior)}")
    given = dict(prior)
    found = [arguments.positive(given[arguments.known_label(s, "value of the prior", given)], "prior") for s in values]
    return np.array(found) / np.sum(found)
