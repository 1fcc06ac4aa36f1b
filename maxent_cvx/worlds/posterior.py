"""The exact posterior over possible worlds (Probabilistic Inference Protection, section III)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from .._utils.errors import GroupTooLarge, StatementError, join_names
from .._utils.validation import check_number
from .conditioning import known_posterior
from .groups import STEPS, Groups, Lattice, TiedGroup, Ties, impossible, items_of, linked, log_sum, members_of
from .sentences import Sentence, listed


def tied_posterior(group: pd.DataFrame, values: Sequence[Hashable], ties: Ties, limit: float) -> pd.DataFrame:
    """Return P(t : x), see :func:`maxent_cvx.worlds.posterior`."""
    items, column, places = items_of(group, values, ties)
    p = np.zeros(group.shape)
    for item, share in zip(items, _dealt(items, places, limit), strict=True):
        for axis, member in enumerate(item.members):
            p[member, column] = share.sum(axis=tuple(i for i in range(share.ndim) if i != axis))
    return pd.DataFrame(p, index=group.index, columns=group.columns)


def joint(
    group: pd.DataFrame,
    values: Sequence[Hashable],
    who: Sequence[Hashable],
    *,
    ties: Ties | None = None,
    limit: float = STEPS,
) -> pd.DataFrame | pd.Series:
    """Compute P(t : x, t' : y), the joint probability of values of some tuples of a group over its possible worlds.

    Parameters
    ----------
    group : DataFrame
    values : sequence
        As in :func:`maxent_cvx.worlds.posterior`.
    who : sequence
        Two or more tuples, by their labels in the index of `group`.
    ties : dict, optional
    limit : float
        As in :func:`maxent_cvx.worlds.posterior`.

    Returns
    -------
    DataFrame, or Series
        Probabilities of the occurring values. For two tuples, one row per value of the first and one column per value
        of the second; for more, a Series with one level per tuple.

    Raises
    ------
    UnknownName
        If `who` is not in the group.
    TableError, BadProbability
        If `group` or a table in `ties` is not a table of priors, or `values` do not match it.
    StatementError
        If `who` are not at least two different tuples, or a tuple is in two ties.
    Infeasible
        If the priors exclude every world.
    GroupTooLarge
        If more steps are needed than `limit` allows.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> together = mx.worlds.joint(group, ["Flu", "HIV", "Cancer"], who=["Ann", "Bob"])
    >>> together.loc["Flu"].round(3).to_dict()               # P(Ann : Flu, Bob : .), and never the one Flu for both
    {'Flu': 0.0, 'HIV': 0.127, 'Cancer': 0.444}
    >>> together.loc["Flu"].sum().round(3).item()                # P(Ann : Flu)
    0.57
    """
    items, column, places = items_of(group, values, {} if ties is None else ties)
    positions = members_of(group, who)
    together = [item for item in items if set(item.members) & set(positions)]
    with np.errstate(over="ignore"):
        combinations = np.float64(len(column)) ** sum(len(item.members) for item in together)
    if combinations > check_number(limit, "limit"):
        raise GroupTooLarge(
            f"{len(column)} values of {join_names(who)} have {combinations:.1g} combinations, but limit is "
            f"{limit:.0e}; pass fewer people, or increase limit="
        )
    log_prior = together[0].log_prior
    for item in together[1:]:
        log_prior = np.add.outer(log_prior, item.log_prior)
    tied = TiedGroup(tuple(member for item in together for member in item.members), log_prior)
    share = _dealt([tied, *(item for item in items if item not in together)], places, limit)[0]
    others = tuple(i for i, member in enumerate(tied.members) if member not in positions)
    remaining = [member for member in tied.members if member in positions]
    share = np.transpose(share.sum(axis=others), [remaining.index(member) for member in positions])
    labels = [group.columns.to_flat_index()[column].rename(name) for name in who]
    if len(labels) == 2:
        return pd.DataFrame(share, index=labels[0], columns=labels[1])
    return pd.Series(share.ravel(), index=pd.MultiIndex.from_product(labels), name="P")


def _dealt(items: list[TiedGroup], places: np.ndarray, limit: float) -> list[np.ndarray]:
    """Return the probability of each combination of values of the tuples of each item."""
    with np.errstate(over="ignore"):
        states = float(np.prod(places + 1.0))
    ways = [] if states > check_number(limit, "limit") else [item.ways(places) for item in items]
    cost = states * max((len(value) for value, _, _ in ways), default=1)
    if cost > limit:
        raise GroupTooLarge(
            f"the group is too large for exact possible worlds with ties: it takes {cost:.1g} steps, but limit is "
            f"{limit:.0e}; tie fewer people, increase limit=, or publish smaller groups"
        )
    lattice = Lattice(places)
    ends = np.cumsum([0, *(len(item.members) for item in items)])
    if not all(len(value) for value, _, _ in ways):
        raise impossible(pd.Index(["the group"]))
    layers = lattice.layers()
    before, after = (np.full(lattice.n_states + 1, -np.inf) for _ in range(2))
    before[0] = after[-2] = 0.0
    for j, (_, takes, log_prior) in enumerate(ways):
        states = layers[ends[j + 1]]
        before[states] = log_sum(before[lattice.moved(states, takes, -1)] + log_prior, axis=1)[0]
    if np.isinf(before[-2]):
        raise impossible(pd.Index(["the group"]))
    shares = []
    for j, (value, takes, log_prior) in reversed(list(enumerate(ways))):
        states = layers[ends[j]]
        on = after[lattice.moved(states, takes, 1)] + log_prior
        share = np.zeros(items[j].log_prior.shape)
        share[tuple(value.T)] = np.exp(before[states, None] + on - before[-2]).sum(axis=0)
        shares.append(share)
        after[states] = log_sum(on, axis=1)[0]
    return shares[::-1]


def posterior(
    group: pd.DataFrame,
    values: Sequence[Hashable],
    *,
    ties: Ties | None = None,
    knowledge: Iterable[Sentence | str] = (),
    limit: float = STEPS,
) -> pd.DataFrame:
    """Compute P(t : x) = sum of P(w | L) over the worlds w in which t has x, where P(w | L) ~ prod_j f_j(w(j)).

    A world assigns the values of a group to its tuples. The sums are exact, by dynamic programming over the number of
    uses of each distinct value, or of each distinct prior, whichever takes fewer steps. It takes at most k prod(m + 1)
    steps for k kinds with multiplicities m: about 1 s for 20 tuples with 20 values, and 0.1 s for 200 tuples with 3
    values. A million tuples take less if all but a few have the same prior, or the same value.

    Parameters
    ----------
    group : DataFrame
        f_t(x), prior probabilities: one row per tuple, one column per sensitive value. Rows need not sum to 1, as only
        odds between the values of the group matter.
    values : sequence
        The values of the group, as many as there are tuples, in any order; they may repeat.
    ties : dict, optional
        Joint priors of dependent people, such as members of a family: ``{("Ann", "Bob"): table}``, with their labels in
        the index of `group`, whose rows are then not used. The table is a DataFrame, one row per value of the first and
        one column per value of the second; for more than two people, a Series with one level per person. Each
        additional member of the largest family multiplies the number of steps by about k.
    knowledge : list of Sentence or str, optional
        Knowledge about the tuples, by their labels in the index of `group`: ``"Ann=HIV or Bob=HIV"``, see
        :func:`read_sentence`, or objects, see :func:`has`. Worlds in which a sentence is false have weight 0. It cannot
        be combined with `ties`.
    limit : float
        The maximum number of steps.

    Returns
    -------
    DataFrame
        Probabilities, shaped like `group`; rows sum to 1, and the column of a value that does not occur is 0.

    Raises
    ------
    Infeasible
        If the priors exclude every world, or sentences contradict each other; the message names them.
    GroupTooLarge
        If more steps are needed than `limit` allows; see :func:`maxent_cvx.worlds.sample`.
    TableError, UnknownName, BadProbability
        If `group`, or a table in `ties`, is not a table of priors, or `values` or a sentence do not match it.
    StatementError
        If `ties` is not a dictionary, or a person is in two ties; if a sentence cannot be parsed, or there are ties.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> group = pd.DataFrame({"yes": [0.1, 0.003], "no": [0.9, 0.997]}, index=["Alan", "Betty"])
    >>> mx.worlds.posterior(group, ["yes", "no"]).loc["Alan", "yes"].round(4).item()
    0.9736
    >>> pair = pd.DataFrame({"HIV": 0.5, "Flu": 0.5}, index=["Ann", "Bob", "Eve"])
    >>> result = mx.worlds.posterior(pair, ["HIV", "Flu", "Flu"], knowledge=["Ann=HIV -> Bob=Flu", "not Eve=HIV"])
    >>> result["HIV"].round(6).to_dict()
    {'Ann': 0.5, 'Bob': 0.5, 'Eve': 0.0}

    Notes
    -----
    Probabilistic Inference Protection, Eqs. (1) to (3). Sums are computed with logarithms, so that no prior underflows.
    With sentences, their people are enumerated first, merging states with the same remaining sentences and values.
    """
    sentences = listed(knowledge)
    if isinstance(ties, Mapping) and not ties:
        ties = None
    if sentences and ties is not None:
        raise StatementError(
            "ties and knowledge cannot be combined; set the combinations that sentences exclude to 0 in the joint prior"
        )
    if sentences:
        return known_posterior(group, values, sentences, limit)
    if ties is not None:
        return tied_posterior(group, values, ties, limit)
    single, signature, column = Groups.single(group, values)
    p = np.zeros(group.shape)
    p[:, column] = linked(single, limit).reshape(single.prior.shape)[signature]
    return pd.DataFrame(p, index=group.index, columns=group.columns)
