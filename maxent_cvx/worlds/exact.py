"""The exact posterior over possible worlds (Probabilistic Inference Protection, section III)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..errors import StatementError
from .conditioning.group import known_posterior
from .groups import Groups
from .linked import STEPS, linked
from .sentences.reader import listed
from .sentences.syntax import Sentence
from .tied_items import Ties
from .ties import tied_posterior

__all__ = ["posterior"]


def posterior(
    group: pd.DataFrame,
    values: Sequence[Hashable],
    *,
    ties: Ties | None = None,
    knowledge: Iterable[Sentence | str] = (),
    limit: float = STEPS,
) -> pd.DataFrame:
    """P(t : x) = sum of P(w | L) over the worlds w in which t has x; P(w | L) is in proportion to prod_j f_j(w(j)).

    A world deals the values of a group to its tuples. The sums are exact, by dynamic programming over how often each
    distinct value was dealt, or over how many tuples of each distinct prior were: whichever takes fewer steps. It takes
    k prod(m + 1) of them for k kinds of which there are m each: 20 tuples with 20 values about a second, 200 with 3
    values a tenth of one.

    Parameters
    ----------
    group : DataFrame
        f_t(x), prior probabilities: a row a tuple, a column a sensitive value. Rows need not sum to 1: only odds
        between the values of the group matter.
    values : sequence
        The values of the group, as many as there are tuples, in any order; they may repeat.
    ties : dict, optional
        Joint priors of people who are tied, as members of one family are: ``{("Ann", "Bob"): table}``, with their
        labels in the index of `group`, whose rows of theirs are not used then. The table is a DataFrame, a row a value
        of the first and a column a value of the second; of more than two a Series with a level each. Takes some k times
        as many steps for every further member of the largest family.
    knowledge : list of Sentence or str, optional
        What else is known of the tuples, by their labels in the index of `group`: ``"Ann=HIV or Bob=HIV"``, see
        :func:`read_sentence`, or objects, see :func:`has`. Worlds in which one of them is false have no weight. Not
        together with `ties`.
    limit : float
        How many steps are allowed.

    Returns
    -------
    DataFrame
        Probabilities, shaped like `group`: rows sum to 1; the column of a value that does not occur is 0.

    Raises
    ------
    Infeasible
        If no world has a weight: the priors rule all of them out, or sentences clash, of which it names some.
    GroupTooLarge
        If more steps are needed; see :func:`maxent_cvx.worlds.sample`.
    TableError, UnknownName, BadProbability
        If `group` is no table of priors, or `values` are not its values; or so it is of a table in `ties`, or of a
        sentence.
    StatementError
        If `ties` is no dictionary, or somebody is in two ties; if a sentence cannot be read, or there are ties, too.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> group = pd.DataFrame({"yes": [0.1, 0.003], "no": [0.9, 0.997]}, index=["Alan", "Betty"])
    >>> mx.worlds.posterior(group, ["yes", "no"]).loc["Alan", "yes"].round(4).item()
    0.9736
    >>> pair = pd.DataFrame({"HIV": 0.5, "Flu": 0.5}, index=["Ann", "Bob", "Eve"])
    >>> found = mx.worlds.posterior(pair, ["HIV", "Flu", "Flu"], knowledge=["Ann=HIV -> Bob=Flu", "not Eve=HIV"])
    >>> found["HIV"].round(6).to_dict()
    {'Ann': 0.5, 'Bob': 0.5, 'Eve': 0.0}

    Notes
    -----
    Eqs. (1) to (3). Sums are over logarithms: no prior is too small, and one of 0 rules worlds out. Whom sentences name
    is dealt with first, and of that it only matters what is left of the sentences and of the values.
    """
    sentences = listed(knowledge)
    tied = not (ties is None or (isinstance(ties, Mapping) and not ties))
    if sentences and tied:
        raise StatementError(
            "ties and knowledge do not go together; write what the sentences exclude as 0 in the joint prior of ties"
        )
    if sentences:
        return known_posterior(group, values, sentences, limit)
    if ties is not None and tied:
        return tied_posterior(group, values, ties, limit)
    one, signature, column = Groups.single(group, values)
    found = np.zeros(group.shape)
    found[:, column] = linked(one, limit).reshape(one.prior.shape)[signature]
    return pd.DataFrame(found, index=group.index, columns=group.columns)
