"""What follows from knowing the algorithm: the posterior over the tables from which it makes a release."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import gammaln

from ...disguise import anatomy, mondrian, similar_linkage
from ...errors import StatementError, arguments, shown, whole
from ...priors import QIDistribution
from ...system.progress import progress_bar
from ...tables.columns import check_columns, names
from ...views import Release
from .black_box import BlackBox, enumerated
from .exchangeable import check_anatomy, check_similar_linkage, exchangeable
from .people import People
from .refusing.posterior import mondrian_posterior
from .result import MinimalityResult, worlds_of
from .swaps import swapped

__all__ = ["minimality"]

#: The arguments with which a posterior is computed without asking the algorithm. With any other it is asked of tables.
MODELLED: dict[Callable[..., Any], set[str]] = {
    anatomy: {"qi", "sa", "l", "exempt", "safe"},
    mondrian: {"qi", "sa", "k", "l", "id"},
    similar_linkage: {"qi", "sa", "prior", "r", "condition", "exempt", "suppress"},
}
#: Tables that a chain may be asked of, at least: with fewer its batches say nothing.
FEWEST = 2_000


def minimality(
    release: Release,
    algorithm: Callable[..., Any],
    *,
    population: pd.DataFrame | None = None,
    seeds: Iterable[int] | None = None,
    prior: QIDistribution | None = None,
    limit: int = 5_000,
    n: int = 4_000,
    seed: int = 0,
    progress: bool | None = None,
) -> MinimalityResult:
    """Infer from a release and the algorithm that made it: P(table | release) ~ P(table) P(algorithm(table) = release).

    The adversary knows the release, the exact QI of everybody in it, and the algorithm with its parameters. P(table) is
    the same for all assignments of each bucket's values to its people; with a prior it is in proportion to the product
    of P(s | q) over the records. That a group was not cut further, say, tells that cutting would have left too few
    values in a half (the minimality attack).

    Parameters
    ----------
    release : Release
        As it was published.
    algorithm : function
        From a table, with the columns of QI and sensitive values, to a Release; always the same for the same table. Of
        a table that it refuses with a TableError it publishes nothing. A ``functools.partial`` of
        :func:`maxent_cvx.disguise.anatomy`, :func:`~maxent_cvx.disguise.mondrian` without `safe`, or
        :func:`~maxent_cvx.disguise.similar_linkage` is recognised, see the notes.
    population : DataFrame, optional
        The QI of everybody in the release, a row each: needed where the release has them generalised. The algorithm is
        given tables in this order of rows; by default people are sorted.
    seeds : list of int, optional
        The algorithm is called with a table and ``seed=``, one of these; which one the publisher took is unknown, and
        all are equally likely.
    prior : QIDistribution, optional
        What the adversary believes of people beforehand, P(s | signature), of one attribute set. The baseline is then
        what follows from it and the release alone, as in :func:`maxent_cvx.worlds.linkage`.
    limit : int
        Tables up to which the algorithm is asked of each; more are sampled. Without effect for an algorithm that is
        recognised.
    n : int
        Tables that sampling asks of, at least 2,000. Each of its four chains asks of up to n more to find a first one.
    seed : int
        Of sampling.
    progress : bool, optional
        Show how many tables were asked of, as a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    MinimalityResult
        P(s | QI tuple); its `error` is 0.0 where the answer is exact, else standard errors.

    Raises
    ------
    Infeasible
        If the algorithm makes the release of no table.
    Inaccurate
        If sampling does not find tables of which it does.
    GroupTooLarge
        If similar linkage has put people together whom its prior distinguishes; or a bucket is too large to be
        counted with a prior of one's own.
    TableError
        If the population is not the people of the release.
    StatementError
        If `release` is no Release, `algorithm` no function or one of other columns, a number is out of range, or there
        is a prior, and the groups overlap.
    UnknownName
        If the population lacks a column, or the prior a signature or a value.

    Notes
    -----
    Anatomy, without a seed in the partial: the seed is taken to be unknown, although the default is 0. Then exchanging
    the values of two records of a bucket changes no probability, since Anatomy looks at sensitive values alone: the
    posterior is the baseline. Similar linkage looks at signatures of the prior, too: the same holds in buckets of one
    signature. From a seed and an order of people that are both known, much can be inferred: put the seed into the
    partial. Of both it is checked that the buckets have the sizes and values that the arguments demand.

    Mondrian without `l` looks at QI alone, and nothing is told. With `l` its cuts can be followed without a sensitive
    value, since a cut along the borders of published groups is never refused; every cut that was tried before, or of a
    published group, was refused, so that one of its halves has fewer than l values. The assignments for which that
    holds are counted by dynamic programming, independently in groups that no refused cut links. Where that is too much
    work, as many cuts as possible are counted with, and the others decide which of n sampled assignments are kept.

    Any other function, and these with any other argument, such as Mondrian with `safe`, is asked of each table, or is
    sampled by chains of swaps (which may not come from one table of the release to another where these have little in
    common: then their standard errors are too small).

    References
    ----------
    Wong, R. C.-W., Fu, A. W.-C., Wang, K. and Pei, J. (2007). Minimality attack in privacy preserving data publishing.
    VLDB, 543-554.

    Examples
    --------
    Eight people are published as one group, two of whom have HIV. A cut between the ages would have left two people and
    six, and was refused: both who have it are on one side, in 1 table among the two people and in 15 among the six:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [21, 21, 35, 35, 35, 35, 35, 35], "HIV": ["no"] * 6 + ["yes"] * 2})
    >>> algorithm = partial(mx.disguise.mondrian, qi="Age", sa="HIV", k=2, l=2)
    >>> release = algorithm(people)
    >>> release.buckets.to_list()
    ['Age=[21, 35]']
    >>> result = mx.attacks.minimality(release, algorithm, population=people)
    >>> print(result.table.assign(without=result.baseline["yes"]).round(3))
    HIV     no    yes  without
    Age
    21   0.938  0.062     0.25
    35   0.688  0.312     0.25
    """
    arguments.instance(release, Release, "release")
    arguments.function(algorithm, "algorithm")
    arguments.optional_flag(progress, "progress")
    limit, n, seed = whole(limit, "limit", 1), whole(n, "n", FEWEST), whole(seed, "seed", 0)
    if population is not None:
        arguments.table(population, "population")
        check_columns(population, {"quasi-identifiers of the release": release.qi}, "the population")
    known = None if seeds is None else [whole(one, "seeds", 0) for one in arguments.list_of(seeds, "seeds", "numbers")]
    if known is not None and not known:
        raise StatementError("seeds must be a list of at least one number")
    if prior is not None:
        arguments.instance(prior, QIDistribution, "prior")
    people = People.of(release, population, prior)
    rng = np.random.default_rng(seed)
    given = _recognised(release, algorithm, known)
    if given is None:
        with progress_bar(None, "minimality", progress, unit=" tables") as bar:
            return _of_black_box(BlackBox(people, release, algorithm, known, bar.update), limit, n, rng)
    func: Callable[..., Any] = algorithm.func  # type: ignore[attr-defined]
    if func is mondrian:
        k, l = whole(given.get("k"), "k of the algorithm", 1), given.get("l")
        l = None if l is None else whole(l, "l of the algorithm", 1)
        found = mondrian_posterior(release, people, k, l, n, rng)
        error = None if found.error is None else people.by_tuple(found.error)
        return _result(people, people.by_tuple(found.p), error, _in_parts(release, found.part, found.log_share))
    if func is anatomy:
        p = exchangeable(people, None)
        check_anatomy(release, given)
    else:
        p = exchangeable(people, arguments.instance(given.get("prior"), QIDistribution, "prior of the algorithm"))
        check_similar_linkage(release, given)
    n_buckets = len(release.buckets)
    return _result(people, p, None, _in_parts(release, np.arange(n_buckets), np.zeros(n_buckets)))


def _recognised(release: Release, algorithm: Callable[..., Any], seeds: list[int] | None) -> dict[str, Any] | None:
    """The arguments of an algorithm whose posterior is known for all of them; None of any other."""
    if type(algorithm) is not partial or algorithm.func not in MODELLED:
        return None
    given = algorithm.keywords
    if algorithm.func is mondrian and seeds is not None:
        raise StatementError("seeds are given, and Mondrian draws nothing at random: leave them out")
    for role, has in (("qi", release.qi), ("sa", release.sensitive)):
        if role in given and names(given[role], role) != has:
            raise StatementError(f"the algorithm has {role}={shown(given[role])}, and the release {', '.join(has)}")
    given = {name: value for name, value in given.items() if not (name == "safe" and value is None)}
    if algorithm.args or seeds is not None or not given.keys() <= MODELLED[algorithm.func]:
        return None
    return given


def _of_black_box(box: BlackBox, limit: int, n: int, rng: np.random.Generator) -> MinimalityResult:
    """Ask of all tables, or of some."""
    people = box.people
    part = np.zeros(len(people.view.buckets), dtype=np.int64)
    log_all = np.full(len(part), math.log(people.n_assignments))
    if people.n_assignments > limit:
        p, error = swapped(box, n, rng)
        return _result(people, p, error, worlds_of(people.view.buckets, part, log_all, np.full(len(part), np.nan)))
    p, left = enumerated(box)
    log_left = np.full(len(part), math.log(left))
    return _result(people, people.by_tuple(p), None, worlds_of(people.view.buckets, part, log_all, log_left))


def _in_parts(release: Release, part: np.ndarray, log_share: np.ndarray) -> pd.DataFrame:
    """How many assignments parts have, and what is left of them."""
    n_sb = release.n_sb
    of_values = sp.csr_array((gammaln(n_sb.data + 1), n_sb.indices, n_sb.indptr), shape=n_sb.shape)
    of_bucket = gammaln(n_sb.sum(axis=0) + 1) - of_values.sum(axis=0)
    log_all = np.bincount(part, of_bucket)[part]
    return worlds_of(release.buckets, part, log_all, log_all + log_share)


def _result(people: People, p: np.ndarray, error: np.ndarray | None, worlds: pd.DataFrame) -> MinimalityResult:
    """Label what was found."""
    view, columns = people.view, people.view.sensitive_values
    return MinimalityResult(
        table=pd.DataFrame(p, people.index, columns),
        baseline=pd.DataFrame(people.baseline(), people.index, columns),
        records=pd.Series(view.n_q, people.index, name="records"),
        error=0.0 if error is None else pd.DataFrame(error, people.index, columns),
        worlds=worlds,
    )
