"""Privacy quantification: the paper's tuple of an assumption about the adversary, and a score."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from ..errors import StatementError, arguments, shown
from ..measures import overall_divergence, term_divergence
from ..model.maxent import MaxEnt
from ..model.measure import Measure, Measures, can_be_called, own_name
from ..model.posterior import Posterior
from ..model.solved_rows import solved_rows
from ..sources import StrongestAssociations
from ..system.parallel import Workers
from ..tables.associations import Associations
from ..tables.mining import mine_associations
from ..views import Release

__all__ = ["quantify"]

#: The columns of every bound, beside the score.
COLUMNS = ("K+", "K-", "entropy", "certified_error", "seconds", "term_divergence", "status", "message")
#: Those that come last.
ACCOUNT = ["status", "message"]


def quantify(
    release: Release,
    original: pd.DataFrame,
    knowledge: Sequence[tuple[int, int]] = ((0, 0), (50, 50), (200, 200)),
    *,
    min_support: int = 3,
    attributes: int | Iterable[int] | None = None,
    measure: Measure = overall_divergence,
    progress: bool | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    time_limit: float = math.inf,
    **solve: Any,
) -> pd.DataFrame:
    """Score a release under bounds (K+, K-) on the adversary's knowledge.

    Bounds of which each knows all that the one before it does are solved one after another, each begun with the answer
    before it; of such curves there may be several, which `n_jobs` processes share, or the workers of a Dask cluster.

    Parameters
    ----------
    release : Release
        What is published.
    original : DataFrame
        The records that were published. With the release's bucket column, the divergence over the
        terms is reported as well.
    knowledge : sequence of (int, int)
        Bounds: the adversary knows the K+ strongest associations Q => S and the K- strongest Q => not S.
    min_support, attributes
        See :class:`~maxent_cvx.StrongestAssociations`.
    measure : callable, or dict or list of callables
        From a posterior to the score, or to several by name; by default the divergence from the truth in bits, where
        lower is worse. A measure that compares with the original has it bound,
        ``functools.partial(mx.measures.term_divergence, original=table)``.
    progress : bool, optional
        Show a progress bar; None shows it on terminals only.
    n_jobs : int, optional
        Processes, as of joblib; None is one, or what ``joblib.parallel_config`` says. The table is the same.
    client : distributed.Client, optional
        In the place of `n_jobs`: a Dask cluster, whose workers solve all bounds and call the measures.
    time_limit : float
        Seconds for each bound, as of :meth:`MaxEnt.solve`.
    **solve
        Passed to :meth:`MaxEnt.solve`, but for ``warm_start``.

    Returns
    -------
    DataFrame
        K+, K-, score, entropy H(Q, S, B) in nats, the certified error of every P(s | q), the seconds the
        solver took, and term_divergence (bits) if `original` has the bucket column. In the place of the score, several
        numbers are "score[label]"; several measures have a column each, by name. Last, the `status`, that of the
        answer, or "infeasible" or "failed" where there is none, and the `message`, why; such a row has NaN elsewhere.

    Raises
    ------
    StatementError
        If a bound is not a pair, or there are fewer associations than it asks for; if `original` is not the table
        that was published; or if a measure is not called as ``measure(post)``, or does not return a number;
        or if `n_jobs` or `client` cannot be read, or both are given.
    UnknownName, TableError
        If `original` has not the release's columns.
    Inaccurate, SolverError
        As of :meth:`MaxEnt.solve`, if no bound has an answer; the first one's. Or if the cluster is gone.

    Warns
    -----
    DeprecationWarning
        If a measure takes two arguments, which is called as ``measure(post, original)``.

    Notes
    -----
    Privacy-MaxEnt, sections 4.3 and 4.4.

    Whatever ends it early, an interrupt or an error of a measure, has the rows that are finished in its attribute
    ``finished``, in a notebook ``sys.last_value.finished``; of several processes, or a cluster, those of finished
    curves.

    Examples
    --------
    The score falls, as an adversary who knows more infers something closer to the truth:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> scores = mx.quantify(release, hospital, [(0, 0), (2, 2), (4, 8)], min_support=2, progress=False)
    >>> print(scores[["K+", "K-", "score", "entropy"]].round(3))
       K+  K-  score  entropy
    0   0   0  1.197    3.239
    1   2   2  0.321    2.632
    2   4   8  0.034    2.355
    """
    arguments.instance(release, Release, "release")
    arguments.table(original, "original")
    knowledge = arguments.list_of(knowledge, "knowledge", "pairs (K+, K-)")
    arguments.optional_flag(progress, "progress")
    workers = Workers.asked(n_jobs, client)
    score = _scoring(measure, original)
    if wrong := [bound for bound in knowledge if not isinstance(bound, tuple | list) or len(bound) != 2]:
        raise StatementError(f"knowledge holds {shown(wrong[0])}; each bound is a pair (K+, K-)")
    if "warm_start" in solve:
        raise StatementError("quantify begins each solve with the one before; leave warm_start out")
    mined = mine_associations(
        original, qi=release.qi, sa=release.sensitive, min_support=min_support, attributes=attributes
    )
    for positive, negative in knowledge:
        list(mined.top(positive, negative))  # raises, before anything is solved
    bounds = [(positive, negative) for positive, negative in knowledge]
    cases = _Bounds(release, original, bounds, mined, score, {"time_limit": time_limit, **solve})
    table = pd.DataFrame(solved_rows(cases, _curves(bounds), "bounds", workers, progress))
    return table[[*(name for name in table if name not in ACCOUNT), *(name for name in table if name in ACCOUNT)]]


@dataclass(frozen=True)
class _Bounds:
    """The adversaries of a table, by number: a bound each, on what they know of one release."""

    release: Release
    original: pd.DataFrame
    bounds: Sequence[tuple[int | None, int | None]]
    mined: Associations
    score: Callable[[Posterior, str], dict[str, Any]]
    solve: Mapping[str, Any]

    def about(self, i: int) -> dict[str, Any]:
        """The bound."""
        return dict(zip(("K+", "K-"), self.bounds[i], strict=True))

    def solved(self, i: int, before: Posterior | None) -> Posterior:
        """What this adversary infers."""
        positive, negative = self.bounds[i]
        model = MaxEnt(self.release)
        if positive != 0 or negative != 0:
            model.add(StrongestAssociations(self.mined, positive, negative))
        return model.solve(warm_start=before, **self.solve)

    def measured(self, i: int, post: Posterior) -> dict[str, Any]:
        """Score it."""
        positive, negative = self.bounds[i]
        row = {
            **self.score(post, f"with K+ = {positive}, K- = {negative}"),
            "entropy": post.entropy,
            "certified_error": post.certificate.bound,
            "seconds": post.compile_seconds + post.solve_seconds,
        }
        if set(self.release.columns) <= set(self.original.columns):
            row["term_divergence"] = term_divergence(post, self.original)
        return row


def _curves(bounds: Sequence[tuple[int | None, int | None]]) -> list[list[int]]:
    """Divide bounds into curves, along each of which nothing is forgotten; each bound follows the nearest it can."""
    known = [tuple(math.inf if k is None else k for k in bound) for bound in bounds]
    curves: list[list[int]] = []
    for i in sorted(range(len(known)), key=lambda i: sum(known[i])):
        below = [curve for curve in curves if all(k <= n for k, n in zip(known[curve[-1]], known[i], strict=True))]
        if below:
            max(below, key=lambda curve: sum(known[curve[-1]])).append(i)
        else:
            curves.append([i])
    return curves


def _scoring(measure: Any, original: pd.DataFrame) -> Callable[[Posterior, str], dict[str, Any]]:
    """From a posterior, and a word of which it is, to columns of the table."""
    if measure is overall_divergence:  # the default
        measure = partial(overall_divergence, original=original)
    second = _second_parameter(measure) if callable(measure) else None
    alone = not callable(measure) or can_be_called(measure, None)
    if callable(measure) and can_be_called(measure, None, original) and (not alone or second == "original"):
        name = own_name(measure)
        warnings.warn(
            f"a measure is called as measure(post), and {name} takes two arguments: give "
            f"functools.partial({name}, {second or 'original'}=...) in its place",
            DeprecationWarning,
            stacklevel=3,
        )
        return lambda post, where: {"score": measure(post, original)}  # whatever it is, as it was
    measures = Measures.of(measure, () if callable(measure) else COLUMNS)
    if not measures.is_one:
        return measures
    return lambda post, where: {measures.heading(key, "score"): one for key, one in measures(post, where).items()}


def _second_parameter(measure: Callable[..., Any]) -> str | None:
    """What a function calls the second of its arguments by position, if it tells."""
    try:
        every = [p.name for p in inspect.signature(measure).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    except (OverflowError, TypeError, ValueError):
        return None
    return every[1] if len(every) > 1 else None
