"""The utility of a release: the relative error of random count queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..errors import BadProbability, StatementError, TableError, number, shown, whole
from ..model.posterior import Posterior
from ..tables.columns import names
from ..tables.microdata import Microdata
from ..views import Release
from ..views.generalized import read_hierarchies
from .estimated_counts import estimated_counts, shares_covered

__all__ = ["query_error"]

#: The most queries that can be asked for; more would take days.
MOST_QUERIES = 10**7
#: How many times as many queries are drawn as are asked for, before giving up because they count no record.
DRAWS = 50
#: Queries that are answered in one batch.
AT_ONCE = 200


def query_error(
    published: Release | Posterior,
    original: pd.DataFrame,
    *,
    queries: int = 1_000,
    attributes: str | Iterable[str] | None = None,
    dimensions: int | None = None,
    selectivity: float = 0.05,
    seed: int = 0,
    hierarchies: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """``|estimate - actual| / actual`` of random queries: how many records have A1 in V1, A2 in V2, ... and s in V?

    Parameters
    ----------
    published : Release or Posterior
        The estimate is the sum of N P(q, s) over the query; of a release, with the maximum-entropy answer
        n(q, b) n(s, b) / n(b) in each bucket. A generalised value has equal shares of the exact values it covers.
    original : DataFrame
        The records.
    queries : int
        How many. Queries that count no record are drawn again.
    attributes : str or several, optional
        The QI attributes to ask about; by default all.
    dimensions : int, optional
        How many of them a query names, at random; by default up to all, equally often.
    selectivity : float
        The share s of all records that a query would count if attributes were independent and values equally frequent:
        of an attribute's ``|A|`` values ``ceil(|A| s^(1 / (d + 1)))`` are in V, at random, d being the dimensions.
    seed : int
        Queries are the same for the same seed.
    hierarchies : dict, optional
        Of generalised attributes, as of :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    DataFrame
        A row a query: `attributes` that it names, `actual` and `estimate`, records, and `error`. Compare releases by
        ``.error.mean()``, or ``.error.median()``, with the same seed.

    Raises
    ------
    UnknownName, TableError
        If the original lacks a column, holds other values or fewer people than the release, or hardly any query of this
        kind counts anybody.
    StatementError
        If `published` is neither a release nor a posterior, an attribute is no quasi-identifier of it, or `queries`,
        `dimensions` or `seed` is out of range.
    BadProbability
        If the selectivity is not above 0 and at most 1.

    Notes
    -----
    Xiao and Tao (2006), Anatomy, section 7, whose measure Probabilistic Inference Protection adopts (section II).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> asked = mx.measures.query_error(release, hospital, queries=3, selectivity=0.3)
    >>> print(asked.round(3))
      attributes  actual  estimate  error
    0     Degree       4     4.083  0.021
    1     Degree       8     8.000  0.000
    2     Degree       4     4.083  0.021
    """
    nodes = read_hierarchies(hierarchies)
    queries = whole(queries, "queries", 1, MOST_QUERIES)
    view = published.space.view if isinstance(published, Posterior) else published
    if not isinstance(published, Release | Posterior):
        raise StatementError(f"queries are asked of a Release or a Posterior, not of {shown(published)}")
    if not 0 < number(selectivity, "selectivity") <= 1:
        raise BadProbability(f"selectivity={selectivity!r}: a share of all people is expected, above 0 and at most 1")
    asked = view.qi if attributes is None else names(attributes, "attributes")
    data = Microdata(original, asked, view.sensitive)
    if strangers := [name for name in asked if name not in view.qi]:
        raise StatementError(f"{strangers[0]!r} is no quasi-identifier of the {view.noun}, which has {list(view.qi)}")
    if dimensions is not None:
        whole(dimensions, "dimensions", 1, len(asked))
    rng = np.random.default_rng(whole(seed, "seed", 0))
    (q, tuples), (s, values) = data.tuples(), data.values()
    if len(original) < view.n_records:
        raise TableError(
            f"the {view.noun} is of {view.n_records} people, and the original of {len(original)}; pass all records"
        )
    if (place := view.sensitive_values.get_indexer(values)).min() < 0:
        raise TableError(
            f"the original has sensitive values that the {view.noun} has not; pass the table it was made of"
        )
    shape = (len(tuples), len(values))
    actual = np.bincount(q * shape[1] + s, minlength=shape[0] * shape[1]).reshape(shape)
    estimate = estimated_counts(published)[:, place]
    cover = [
        shares_covered(view.quasi_identifiers.levels[view.qi.index(name)], tuples.levels[i], name, nodes)
        for i, name in enumerate(asked)
    ]
    level = [np.asarray(view.quasi_identifiers.codes[view.qi.index(name)]) for name in asked]
    found: list[pd.DataFrame] = []
    for _ in range(DRAWS * -(-queries // AT_ONCE)):
        chosen, of_values = _drawn(rng, asked, [len(x) for x in tuples.levels], len(values), dimensions, selectivity)
        truly = np.ones((len(tuples), AT_ONCE))
        about = np.ones((len(view.quasi_identifiers), AT_ONCE))
        for i, inside in enumerate(chosen):
            truly *= inside[np.asarray(tuples.codes[i])]
            about *= (cover[i] @ inside)[level[i]]
        counted = np.einsum("qk,qs,sk->k", truly, actual, of_values, optimize=True)
        guessed = np.einsum("qk,qs,sk->k", about, estimate, of_values, optimize=True)
        named = np.array([~inside.all(axis=0) for inside in chosen])
        which = [", ".join(np.array(asked)[column]) for column in named.T]
        table = pd.DataFrame({"attributes": which, "actual": counted.astype(int), "estimate": guessed})
        found.append(table[counted > 0])
        if sum(map(len, found)) >= queries:
            break
    else:
        raise TableError("hardly any query counts anybody; ask with fewer dimensions=, or a larger selectivity=")
    table = pd.concat(found, ignore_index=True).head(queries)
    return table.assign(error=(table["estimate"] - table["actual"]).abs() / table["actual"])


def _drawn(
    rng: np.random.Generator,
    asked: tuple[str, ...],
    sizes: list[int],
    n_values: int,
    dimensions: int | None,
    selectivity: float,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Draw queries: of each attribute which values are in V, shape (values, queries), and of the sensitive one.

    An attribute that a query does not name has all of its values.
    """
    d = np.full(AT_ONCE, dimensions) if dimensions else rng.integers(1, len(asked) + 1, AT_ONCE)
    named = np.argsort(rng.random((len(asked), AT_ONCE)), axis=0) < d
    share = selectivity ** (1 / (d + 1))

    def some(size: int) -> np.ndarray:
        return np.asarray(np.argsort(np.argsort(rng.random((size, AT_ONCE)), axis=0), axis=0) < np.ceil(size * share))

    return [some(size) | ~named[i] for i, size in enumerate(sizes)], some(n_values)
