"""A condition that is sound for any number of values, by a swap argument."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..display import FirstRows, Shown
from .deviation import ROUNDING, one_r
from .groups import Groups
from .linked import impossible
from .swaps import odds_ratios, upper_bounds

__all__ = ["SoundCondition", "at_most", "sound_condition"]


@dataclass(frozen=True, eq=False)
class SoundCondition(Shown):
    """Whether a group keeps P(t : x) <= 1 / r, for every tuple and value, by swaps.

    Attributes
    ----------
    kappa : Series
        kappa_x by value: the most that a swap of x with another value can change the weight of a world.
    limit : Series
        (N - m) / (m (r - 1)) by value, of which there are m: if kappa_x is no larger, x is safe.
    bounds : DataFrame
        Upper bounds of P(t : x), probabilities, shaped like the group; of a value that does not occur, 0.
    holds : bool
        Whether no bound is above 1 / r: so it is where every kappa_x is within its limit, and in other cases, too.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> found = mx.worlds.sound_condition(group, ["Flu", "HIV", "Cancer"], r=1.5)
    >>> found
    <SoundCondition: does not hold; every P(t : x) is at most 0.7159>
    >>> found.kappa.round(2).to_dict(), found.limit.to_dict()
    ({'Flu': 9.0, 'HIV': 9.0, 'Cancer': 3.5}, {'Flu': 4.0, 'HIV': 4.0, 'Cancer': 4.0})
    """

    kappa: pd.Series
    limit: pd.Series
    bounds: pd.DataFrame
    holds: bool

    def __bool__(self) -> bool:
        """Whether it holds."""
        return self.holds

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "does not hold"
        return f"<SoundCondition: {verdict}; every P(t : x) is at most {self.bounds.to_numpy().max():.4g}>"

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.bounds, "tuples")]


def sound_condition(group: pd.DataFrame, values: Sequence[Hashable], r: float) -> SoundCondition:
    """kappa_x <= (N - m) / (m (r - 1)), which implies P(t : x) <= 1 / r for every tuple t of a group of N.

    x occurs m times, and kappa_x is the largest f_t(x) f_j(y) / (f_t(y) f_j(x)) over tuples t and j and values y other
    than x. Any number of values, repeated or not, and priors of 0. What is tested is sharper, see the notes.

    Parameters
    ----------
    group : DataFrame
        f_t(x), prior probabilities: a row a tuple, a column a sensitive value.
    values : sequence
        The values of the group, as many as there are tuples; they may repeat.
    r : float
        At least 1.

    Returns
    -------
    SoundCondition
        True or False as a whole, if asked so.

    Raises
    ------
    Infeasible
        If the priors rule out every world.
    TableError, UnknownName, BadProbability
        If `group` is no table of priors, or `values` are not its values.
    StatementError
        If `r` is no number of at least 1.

    Notes
    -----
    *Proof.* Take a world w in which t has x, and another tuple j, which has w(j) = y other than x. Let them swap: in
    the world w' t has y and j has x, and P(w') = h_j(y) P(w) with h_j(y) = f_t(y) f_j(x) / (f_t(x) f_j(y)). A world w'
    in which t has not x is met m times in this way: once for each tuple that has x in it, from which t takes it back:

        sum over w with (t : x) of P(w) sum_j h_j(w(j)) = m (1 - P(t : x)).

    If S is a lower bound of the inner sum in every such world of positive weight, then S P(t : x) <= m (1 - P(t : x)),
    and P(t : x) <= m / (m + S). The inner sum has N - m terms, none below 1 / kappa_x: S = (N - m) / kappa_x gives the
    condition. Sharper, and as simple: each j has at least its least h_j(y) over the y that it can have, and the m - 1
    tuples that have x as well are at best those with the largest of them; and each place of y adds at least the least
    over the j of what is left of h_j(y) then. Or places first, and then tuples: S is the larger of both sums, which are
    values of the dual of an assignment problem. A prior of 0 makes h_j(y) = 0, or, of f_j(y), rules the world out.

    The condition is not necessary. It is tight where all priors are equal, and for two values that occur once among
    tuples of two kinds.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> values = ["Flu", "HIV", "Cancer"]
    >>> bool(mx.worlds.sound_condition(group, values, r=1.3)), bool(mx.worlds.sound_condition(group, values, r=1.5))
    (True, False)
    >>> mx.worlds.sound_condition(group, values, r=1.3).bounds.loc["Eve"].round(3).to_dict()         # at most so much
    {'Flu': 0.1, 'HIV': 0.716, 'Cancer': 0.218}
    >>> mx.worlds.posterior(group, values).loc["Eve"].round(3).to_dict()                             # and exactly
    {'Flu': 0.092, 'HIV': 0.697, 'Cancer': 0.211}
    """
    one, signature, column = Groups.single(group, values)
    r = one_r(r)
    if one.without_world().any():
        raise impossible(one.names)
    f, n, m = one.prior[None], one.tuples.data[None], one.values.data[None]
    bounds = np.zeros(group.shape)
    bounds[:, column] = upper_bounds(f, n, m)[0][signature]
    index = group.columns[column]
    limit = (n.sum() - m[0]) / (m[0] * (r - 1)) if r > 1 else np.full(m.shape[1], np.inf)
    kappa = pd.Series(odds_ratios(f)[0], index=index, name="kappa")
    return SoundCondition(
        kappa,
        pd.Series(limit, index=index, name="limit"),
        pd.DataFrame(bounds, index=group.index, columns=group.columns),
        bool(at_most(bounds, r).all()),
    )


def at_most(p: np.ndarray, r: float) -> np.ndarray:
    """Whether probabilities are at most 1 / r, but for rounding."""
    return np.asarray(p * r <= 1 + ROUNDING)
