"""Inference channels: inferences from releases together that none of them allows alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import BadProbability, StatementError, arguments, number, shown
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..system.parallel import Workers
from ..system.progress import progress_bar
from ..tables.coding import ranges
from ..views import ReleaseSeries

__all__ = ["inference_channels"]


def inference_channels(
    series: ReleaseSeries,
    tolerance: float = 1e-4,
    blame: bool = True,
    progress: bool | None = None,
    *,
    n_jobs: int | None = None,
    client: Any = None,
    **solve: Any,
) -> pd.DataFrame:
    """Find the people i and values s for whom P_u(s | i) of a release u is not P(s | i) of all releases together.

    Parameters
    ----------
    series : ReleaseSeries
        Releases of people with pseudonyms.
    tolerance : float
        Smaller differences are not listed; an answer is certified to 1e-4.
    blame : bool
        Solve again without each of the releases, to find the one that makes the difference.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.
    n_jobs : int, optional
        Processes that share the solves without a release, as of joblib; None is one, or what
        ``joblib.parallel_config`` says. The table is the same.
    client : distributed.Client, optional
        In the place of `n_jobs`: a Dask cluster, whose workers share these solves.
    **solve
        Passed to :meth:`MaxEnt.solve`.

    Returns
    -------
    DataFrame
        A row for each person, value and release u that the person is in, the largest change first: `alone`, P_u(s | i),
        `together`, P(s | i), and `change`. With `blame` also `because`, the release without which P(s | i) would be
        closest to P_u(s | i) again, and `without`, what it would be.

    Raises
    ------
    StatementError
        If it is not a series; or if `n_jobs` or `client` cannot be read, or both are given.
    BadProbability
        If the tolerance is negative.
    Infeasible, Inaccurate, SolverError
        As of :meth:`MaxEnt.solve`. Or if the cluster is gone.

    Notes
    -----
    Re-publishing, Definition 2.2.

    Examples
    --------
    Two releases of the same patients. Three inferences with probability 1/3 from the first alone are certain from both:

    >>> import maxent_cvx as mx
    >>> series = mx.ReleaseSeries(
    ...     mx.Release.from_buckets(table, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
    ...     for table in mx.datasets.load_patients())
    >>> print(mx.inference_channels(series, progress=False).head(3).round(2))
       person        value  release  alone  together  change  because  without
    0       7     Diabetes        1   0.33       1.0    0.67        2     0.33
    1      10  Lung Cancer        1   0.33       1.0    0.67        2     0.33
    2      13     Diabetes        1   0.33       1.0    0.67        2     0.33
    """
    arguments.optional_flag(progress, "progress")
    arguments.flag(blame, "blame")
    if not isinstance(series, ReleaseSeries):
        raise StatementError(f"a ReleaseSeries is expected, not {shown(series)}")
    if not number(tolerance, "tolerance") >= 0:
        raise BadProbability(f"tolerance={tolerance!r}: a difference of probabilities is not negative")
    workers = Workers.asked(n_jobs, client)
    together = MaxEnt(series).solve(**solve)
    found = pd.concat([_differing(together, series, u, tolerance) for u in range(len(series.releases))])
    if blame and len(found) and len(series.releases) > 1:
        found = found.assign(**_blamed(_Rest(series, found, solve), workers, progress))
    order = np.argsort(-np.abs(found["change"].to_numpy()), kind="stable")
    return found.iloc[order].drop(columns=["i", "s"]).reset_index(drop=True)


def _differing(post: Posterior, series: ReleaseSeries, u: int, tolerance: float) -> pd.DataFrame:
    """List where one release alone says something else: also of values that the others rule out."""
    bucket, s, count = series.values_in(u)
    release = series.releases[u]
    here = np.flatnonzero(series.buckets[u] >= 0)
    size = np.bincount(bucket, count, len(series.releases[u].buckets))
    start = np.searchsorted(bucket, np.arange(len(size) + 1))
    of = series.buckets[u, here]
    width = start[of + 1] - start[of]
    at = ranges(start[of], width)
    i, value, alone = np.repeat(here, width), s[at], (count / size[bucket])[at]
    if release.with_counterfeits.any():  # shares of a bucket are not those of its people then
        single = ReleaseSeries([release])
        own = single.persons.get_indexer(series.persons[i])
        codes = single.sensitive_values.get_indexer(series.sensitive_values[value])
        alone = _probabilities(MaxEnt(single).solve(), single, own, codes)
    p = _probabilities(post, series, i, value)
    differs = np.abs(p - alone) > tolerance
    i, value, alone, p = i[differs], value[differs], alone[differs], p[differs]
    values = series.sensitive_values[value].to_flat_index()
    columns = {"person": series.persons[i], "value": values, "release": u + 1, "alone": alone, "together": p}
    return pd.DataFrame({**columns, "change": p - alone, "i": i, "s": value})


def _probabilities(post: Posterior, series: ReleaseSeries, i: np.ndarray, s: np.ndarray) -> np.ndarray:
    """P(s | i) of some people and values of a posterior; 0 where there is no term."""
    n_values = len(series.sensitive_values)
    key = post.space.codes["q"] * n_values + post.space.codes["s"]  # sorted: terms are, by person, then value
    at = np.searchsorted(key, i * n_values + s).clip(max=len(key) - 1)
    return np.where(key[at] == i * n_values + s, post.counts[at], 0.0)


@dataclass(frozen=True)
class _Rest:
    """The releases but for one, and the channels that are asked about."""

    series: ReleaseSeries
    found: pd.DataFrame
    solve: dict[str, Any]

    def without(self, v: int) -> np.ndarray:
        """P(s | i) of each channel from all releases but this one; 0 of a person or value that no other has."""
        rest = ReleaseSeries([release for w, release in enumerate(self.series.releases) if w != v])
        post = MaxEnt(rest).solve(**self.solve)
        i = rest.persons.get_indexer(self.series.persons[self.found["i"]])
        s = rest.sensitive_values.get_indexer(self.series.sensitive_values[self.found["s"]])
        return np.where((i >= 0) & (s >= 0), _probabilities(post, rest, np.maximum(i, 0), np.maximum(s, 0)), 0.0)


def _blamed(about: _Rest, workers: Workers, progress: bool | None) -> dict[str, np.ndarray]:
    """The release without which each probability would be closest to what the release alone says."""
    n, found = len(about.series.releases), about.found
    closest, without, because = np.full(len(found), np.inf), np.zeros(len(found)), np.zeros(len(found), dtype=int)
    u, alone = found["release"].to_numpy() - 1, found["alone"].to_numpy()
    each = workers.map(_Rest.without, about, ((v,) for v in range(n)))
    for v, p in enumerate(progress_bar(each, "channels", progress, total=n)):
        distance = np.where(u == v, np.inf, np.abs(p - alone))
        nearer = distance < closest
        closest, without = np.where(nearer, distance, closest), np.where(nearer, p, without)
        because = np.where(nearer, v + 1, because)
    return {"because": because, "without": without}
