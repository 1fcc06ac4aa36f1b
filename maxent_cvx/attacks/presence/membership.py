"""Membership: who of a voter list is in a release (delta-presence)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, TableError, arguments, unknown_name
from ...model.maxent import MaxEnt
from ...tables.columns import check_no_count, counted
from ...views import OUTSIDE, GroupedRelease, Release
from ...views.generalized import read_hierarchies
from ...views.grouped import groups_of
from .membership_result import INSIDE, MembershipResult

__all__ = ["membership"]


def membership(
    release: Release | GroupedRelease,
    population: pd.DataFrame | None = None,
    *,
    count: str | None = None,
    hierarchies: Mapping[str, object] | None = None,
) -> MembershipResult:
    """P(in the release | q) = sum_g P(one of the records of group g | q), of everybody in a population.

    Where no two groups cover the same people, that is n(g) / (people of the population whom g covers), exactly: all
    choices of people for its records are alike. Where groups overlap, nobody is in two, and the answer is the
    maximum-entropy one, which the choices meet on the average.

    Parameters
    ----------
    release : Release or GroupedRelease
        Generalised or exact QI; how values are published does not matter.
    population : DataFrame, optional
        The exact QI of everybody who may be in the release, a row a person. None if the release was made with its
        population.
    count : str, optional
        The column of the population that says how many people a row stands for.
    hierarchies : dict, optional
        Of generalised values, as in :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    MembershipResult
        By QI tuple of the population; ``delta`` holds the least and the largest. Its baseline is N / population.

    Raises
    ------
    StatementError
        If it is no release, or has a population of its own and another is given, or has none and none is given.
    UnknownName, TableError
        If the population lacks a column, or a group, or all of them, cover fewer people than there are records.
    Infeasible
        If some groups that overlap cover together fewer people than they have records.

    Notes
    -----
    Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007: a release is
    (delta_min, delta_max)-present if all these probabilities are between the two. Their groups do not overlap.

    Overlapping groups by possible worlds: people are in group g, or in none, independently, with the probabilities of
    the maximum-entropy answer, given that every group has its n(g) people. Without that condition one has the answer
    here; the difference fades with the size of groups.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> patients = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "[30, 49]"], "Disease": ["Flu", "HIV", "Flu"]})
    >>> release = mx.Release.from_generalized(patients, qi="Age", sa="Disease")
    >>> voters = pd.DataFrame({"Age": [21, 25, 33, 41, 52], "n": [1, 2, 3, 1, 3]})
    >>> result = mx.attacks.membership(release, voters, count="n")
    >>> result.p.round(3).to_dict()
    {21: 0.667, 25: 0.667, 33: 0.25, 41: 0.25, 52: 0.0}
    """
    arguments.instance(release, (Release, GroupedRelease), "release", "make one with Release.from_generalized(...)")
    tuples, n_q, size, cover = _groups(release, population, count, hierarchies)
    covered = cover @ n_q
    if (few := covered < size).any():
        raise TableError(
            f"{int(few.sum())} of {len(size)} groups hold more records than the population has people for them; the "
            "records are of other people"
        )
    each = np.asarray(cover.sum(axis=0))
    if (within := int(n_q[each > 0].sum())) < size.sum():
        raise TableError(f"there are {int(size.sum())} records, and {within} people for them in the population")
    if each.max() <= 1:
        p, error = np.asarray(cover.T @ (size / covered)), 0.0
    else:
        p, error = _of_overlapping(n_q, size, cover)
    index = tuples if tuples.nlevels > 1 else tuples.get_level_values(0)
    columns = pd.Index([False, True], name=INSIDE)
    table = pd.DataFrame(np.column_stack([1 - p, p]), index, columns)
    share = size.sum() / n_q.sum()
    baseline = pd.DataFrame(np.tile([1 - share, share], (len(p), 1)), index, columns)
    return MembershipResult(table, baseline, pd.Series(n_q, index, name="people"), error)


def _groups(
    release: Release | GroupedRelease,
    population: pd.DataFrame | None,
    count: str | None,
    hierarchies: Mapping[str, object] | None,
) -> tuple[pd.MultiIndex, np.ndarray, np.ndarray, sp.csr_array]:
    """The population's QI tuples, their people, the records of each group, and whom it covers."""
    if isinstance(release, GroupedRelease):
        if population is not None or count is not None or hierarchies is not None:
            raise StatementError("the release was made with its population; leave population, count, hierarchies out")
        inside = np.asarray(release.sensitive_values.to_flat_index() != OUTSIDE)
        size = np.asarray(release.n_sb[np.flatnonzero(inside)].sum(axis=0))
        groups = np.flatnonzero(size)
        return release.quasi_identifiers, release.n_q, size[groups], sp.csr_array(release.cover[groups])
    if population is None:
        raise StatementError("the release does not say of which population it is; give population=, a DataFrame")
    if hierarchies is not None:
        arguments.mapping(hierarchies, "hierarchies", "{attribute: {node: [values]}}")
    people, alike = counted(population, {"qi": release.qi}, count, "the population")
    if count is not None and alike is None:
        raise unknown_name("column of the population (given as count)", count, people.columns)
    if count is None:
        check_no_count(people, {"qi": release.qi}, "the population")
    cells = release.quasi_identifiers.to_frame(index=False)
    tuples, n_q, cover = groups_of(cells, people[list(release.qi)], alike, read_hierarchies(hierarchies))
    return tuples, n_q, release.n_q, cover


def _of_overlapping(n_q: np.ndarray, size: np.ndarray, cover: sp.csr_array) -> tuple[np.ndarray, float]:
    """Maximum entropy over who is in which group, with the bound on its error."""
    numbers = pd.MultiIndex.from_arrays([np.arange(len(n_q))], names=["number"])
    groups, values = pd.RangeIndex(len(size), name="group"), pd.Index(["record"], name="value")
    n_sb = sp.csr_array(size[None, :].astype(np.int64))
    view = GroupedRelease(("number",), ("value",), numbers, n_q, values, groups, n_sb, cover)
    post = MaxEnt(view).solve()
    if OUTSIDE not in view.sensitive_values:  # as many records as people
        return np.ones(len(n_q)), 0.0
    return 1.0 - post.conditional()[OUTSIDE].to_numpy(), float(post.certificate.bound)
