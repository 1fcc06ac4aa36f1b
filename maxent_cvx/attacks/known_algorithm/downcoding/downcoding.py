"""Which exact quasi-identifiers a generalised record has: the posterior over the tables that give the release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ....disguise import mondrian
from ....errors import StatementError, arguments, listing, shown, unknown_name, whole
from ....tables.columns import names
from ....views import Release
from ....views.generalized import read_hierarchies
from .asked import Asked
from .cells import Cells
from .minimal import Minimal, minimal_columns
from .mondrian_columns import mondrian_columns
from .result import DowncodingResult

__all__ = ["downcoding"]

#: Tables that sampling draws, at least: with fewer its batches say nothing.
FEWEST = 2_000


def downcoding(
    release: Release,
    algorithm: Callable[..., Any] | Minimal,
    *,
    of: str | None = None,
    domain: Mapping[str, object] | None = None,
    hierarchies: Mapping[str, object] | None = None,
    limit: int = 5_000,
    n: int = 20_000,
    seed: int = 0,
) -> DowncodingResult:
    """Infer exact quasi-identifiers from generalised ones, P(exact value | generalised record, algorithm).

    The adversary knows the release, and how it was made, but nobody's exact QI. Beforehand the exact values of records
    are independent draws from distributions over the domains of the attributes; the posterior over the tables is

        P(table | release) ~ P(table) P(algorithm(table) = release).

    Cells that are as small as an algorithm can make them tell more than that the value is inside (downcoding).

    Parameters
    ----------
    release : Release
        Of generalised QI, without a population.
    algorithm : function, or Minimal
        From a table, with the columns of exact QI and sensitive values, to a Release; always the same for the same
        table. A ``functools.partial`` of :func:`maxent_cvx.disguise.mondrian` without `l` and `safe` is recognised, see
        the notes. With :class:`Minimal` all that is known is that the release is minimal in its hierarchies.
    of : str, optional
        The attribute that is inferred; needed if there are several.
    domain : dict, optional
        Of attributes their exact values, ``{attribute: [values]}``, equally probable beforehand; or a Series of how
        probable each is. By default the values of the hierarchy; or all whole numbers between the ends of intervals; or
        the values that sets name. Of an attribute that is not a number, Mondrian's tables are those in which all occur.
    hierarchies : dict, optional
        As in :meth:`maxent_cvx.Release.from_generalized`: what nodes stand for.
    limit : int
        Tables up to which an algorithm that is not recognised is asked of each; of more they are sampled.
    n : int
        Tables that sampling draws, at least 2,000.
    seed : int
        Of sampling.

    Returns
    -------
    DowncodingResult
        P(exact value | group, sensitive value); its `error` is 0.0 where the answer is exact, else standard errors.

    Raises
    ------
    Infeasible
        If the algorithm makes the release of no table.
    Inaccurate
        If sampling does not find tables of which it does.
    GroupTooLarge
        If Mondrian may have come to these groups in too many ways.
    StatementError
        If the release is not generalised, an argument is out of range, or the values of an attribute are not known.
    TableError
        If a cell stands for none of the values, or is no node of a tree of values where one is needed.
    UnknownName
        If there is no such attribute.

    Notes
    -----
    Mondrian without `l` looks at QI alone. The ends of its intervals, and all values of its sets, are those of some
    record. Where a group of 2 k records and more was not cut, or an attribute was not cut that is wider than the one
    that was, fewer than k records are below its median, and fewer than k above: all others have the same value. And a
    cut that leaves more on one side than on the other tells how many have the value at the border. The counts that
    satisfy all of this are summed over by dynamic programming, independently in groups that no condition links; where
    that is too much work, alternative by alternative. Where that is, too, some of the conditions decide which of n
    sampled tables are kept.

    That a release is minimal is a condition on each group alone, if its groups do not overlap; it is exact, too.
    Children of a node that are equally probable beforehand remain so: what is learnt is then of several records
    together.

    Any other function is asked of each table, or is sampled by chains that draw some records anew; these may not come
    from one table of the release to another where they have little in common: then standard errors are too small. It is
    given the records in the order of their groups.

    References
    ----------
    Cohen, A. (2022). Attacks on deidentification's defenses. USENIX Security Symposium, section 4.

    Examples
    --------
    Four people of 20 to 29 were not cut into two and two: the second and the third have the same age, and the first and
    the fourth have those at the ends. Their ages are uniform beforehand:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 20, 20, 29], "HIV": ["yes", "no", "no", "no"]})
    >>> algorithm = partial(mx.disguise.mondrian, qi="Age", sa="HIV", k=2)
    >>> release = algorithm(people)
    >>> release.buckets.to_list()
    ['Age=[20, 29]']
    >>> result = mx.attacks.downcoding(release, algorithm)
    >>> print(result.table[[20, 24, 29]].assign(without=result.baseline[20]).round(3))
    Age                  20     24     29  without
    Group        HIV
    Age=[20, 29] no   0.269  0.058  0.269      0.1
                 yes  0.269  0.058  0.269      0.1
    """
    arguments.instance(release, Release, "release")
    if not isinstance(algorithm, Minimal):
        arguments.function(algorithm, "algorithm")
    limit, n, seed = whole(limit, "limit", 1), whole(n, "n", FEWEST), whole(seed, "seed", 0)
    if hierarchies is not None:
        arguments.mapping(hierarchies, "hierarchies", "{attribute: {node: [values]}}")
        for name in hierarchies:
            if name not in release.qi:
                raise unknown_name("quasi-identifier (given in hierarchies)", name, release.qi)
    nodes = read_hierarchies(hierarchies)
    if of is None and len(release.qi) > 1:
        raise StatementError(f"of which attribute is to be inferred, of={listing(release.qi)}?")
    if of is not None and of not in release.qi:
        raise unknown_name("quasi-identifier", of, release.qi)
    cells = Cells.of(release, domain, nodes)
    a = 0 if of is None else release.qi.index(of)
    rng, group = np.random.default_rng(seed), cells.classes[0]
    if isinstance(algorithm, Minimal):
        return _result(cells, a, minimal_columns(cells, a, algorithm.k, nodes)[group], None)
    if (k := _mondrian(release, algorithm)) is not None:
        p, error = mondrian_columns(cells, a, k, n, rng)
        return _result(cells, a, p[group], error[group] if error.any() else None)
    asked = Asked(cells, algorithm)
    if asked.n_tables <= limit:
        return _result(cells, a, asked.enumerated(a), None)
    return _result(cells, a, *asked.sampled(a, n, rng))


def _mondrian(release: Release, algorithm: Callable[..., Any]) -> int | None:
    """The k of a Mondrian that looks at QI alone; None of any other function."""
    if not isinstance(algorithm, partial) or algorithm.func is not mondrian or algorithm.args:
        return None
    given = algorithm.keywords
    for role, has in (("qi", release.qi), ("sa", release.sensitive)):
        if role in given and names(given[role], role) != has:
            raise StatementError(f"the algorithm has {role}={shown(given[role])}, and the release {', '.join(has)}")
    if given.get("l") not in (None, 1) or given.get("safe") is not None:
        return None
    return whole(given.get("k"), "k of the algorithm", 1)


def _result(cells: Cells, a: int, p: np.ndarray, error: np.ndarray | None) -> DowncodingResult:
    """Label what was found."""
    release, (group, s, count) = cells.release, cells.classes
    values = release.sensitive_values.take(s).to_frame(index=False)
    rows = pd.concat([release.buckets.take(group).to_frame(index=False), values], axis=1)
    index, columns = pd.MultiIndex.from_frame(rows), cells.values[a]
    return DowncodingResult(
        table=pd.DataFrame(p, index, columns),
        baseline=pd.DataFrame(cells.prior(a)[group], index, columns),
        records=pd.Series(count, index, name="records"),
        error=0.0 if error is None else pd.DataFrame(error, index, columns),
        cells={
            name: pd.DataFrame(covered, release.buckets, held)
            for name, covered, held in zip(release.qi, cells.covered, cells.values, strict=True)
        },
    )
