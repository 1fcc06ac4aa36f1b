"""Importance sampling of possible worlds, with standard errors, for groups that are too large for exact sums."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from .._utils.errors import Inaccurate, pluralize
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.validation import check_int, check_seed
from .groups import Groups
from .sentences import FALSE, TRUE, PersonKnowledge, Residuals, Sentence

#: The maximum number of residuals after one person for a complete lookahead.
MOST_LEFT = 2_000


@dataclass(frozen=True, eq=False)
class Lookahead:
    """The residual of the sentences before and after each person's value, and its probability of being true."""

    # If people's values were independent, draws in proportion to their own probability times `hope` would be draws from
    # all combinations of values with true sentences. With too many residuals, `left` is empty, and only values that
    # make a sentence false at once are avoided.

    residuals: Residuals
    root: int  # the residual number of the conjunction of all sentences
    people: np.ndarray  # the people in sentences, in the order of their draws
    values: np.ndarray  # the values of the group
    left: list[np.ndarray]  # for each person, the possible residuals before the draw, sorted
    after: list[np.ndarray]  # (left, values): the residual after the person gets a value
    hope: list[np.ndarray]  # (proposals, left, values): its probability of becoming true, up to a factor

    @classmethod
    def of(cls, known: PersonKnowledge, people: np.ndarray, values: np.ndarray, chance: np.ndarray) -> Self:
        """Compute the tables, from the last person to the first; `chance` has the shape (proposals, people, values)."""
        residuals = Residuals()
        root = residuals.every(residuals.of(sentence, known.positions) for sentence in known.sentences)
        residuals_left: list[np.ndarray] = [np.array([root])]
        after: list[np.ndarray] = []
        for person in people.tolist():
            after.append(residuals.table(residuals_left[-1], person, values))
            residuals_left.append(np.unique(after[-1]))
            if len(residuals_left[-1]) > MOST_LEFT:
                return cls(residuals, root, people, values, [], [], [])
        hope: list[np.ndarray] = []
        likely = np.tile((residuals_left[-1] == TRUE).astype(float), (len(chance), 1))
        for j in reversed(range(len(people))):
            hope.append(likely[:, np.searchsorted(residuals_left[j + 1], after[j])])
            likely = np.einsum("klv,kv->kl", hope[-1], chance[:, j])
            likely = likely / np.maximum(likely.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return cls(residuals, root, people, values, residuals_left[:-1], after, hope[::-1])

    def step(self, j: int, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the row of each world's residual in the j-th person's tables, residuals after a value, and hope."""
        if self.left:
            return np.searchsorted(self.left[j], residual), self.after[j], self.hope[j]
        distinct, which = np.unique(residual, return_inverse=True)
        after = self.residuals.table(distinct, int(self.people[j]), self.values)
        return which.reshape(-1), after, (after != FALSE).astype(float)[None]


#: The minimum number of effective samples for reliable standard errors.
FEWEST = 100
#: The deviation and the number of rounds at which balancing the proposal stops; it need not be exact.
BALANCED, ROUNDS = 1e-6, 300
#: The largest range of ln f for which these rounds suffice.
EASY = 16.0
#: The share of worlds that are drawn with flatter priors if there are sentences, and the power of the priors: sentences
#: can make probable what the priors make rare, and the worlds missed by one proposal then show in the standard error.
DEFENSIVE, FLATTER = 0.2, 0.25
#: The substitute for an expected number 0 of later tuples with a value, which a tuple that can have it then must get.
NOBODY = 1e-200


@dataclass(frozen=True, eq=False)
class SampledPosterior(ReprMixin):
    """An estimate of P(t : x).

    Attributes
    ----------
    posterior, standard_error : DataFrame
        Shaped like the group. Standard errors are at least 1 / effective unless the value is certain, since a value
        that does not occur in any sampled world may still have a small probability.
    effective : float
        The effective number of independent worlds.
    n : int
        The number of sampled worlds.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> result = mx.worlds.sample(group, ["Flu", "HIV", "Cancer"], n=10_000)
    >>> result.n, bool(result.effective > 9_000)              # worlds count nearly alike
    (10000, True)
    >>> exact = mx.worlds.posterior(group, ["Flu", "HIV", "Cancer"])
    >>> bool(((result.posterior - exact).abs() < 5 * result.standard_error).all(axis=None))
    True
    """

    posterior: pd.DataFrame
    standard_error: pd.DataFrame
    effective: float
    n: int

    def __repr__(self) -> str:
        worst = float(self.standard_error.to_numpy().max())
        shape = ", ".join(map(pluralize, self.posterior.shape, ("tuple", "value")))
        return (
            f"<SampledPosterior: {shape}; {self.n} worlds "
            f"that count as {self.effective:.0f}; standard errors up to {worst:.1e}>"
        )

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.posterior, "tuples")]


def sample(
    group: pd.DataFrame,
    values: Sequence[Hashable],
    n: int = 10_000,
    *,
    seed: int = 0,
    knowledge: Iterable[Sentence | str] = (),
) -> SampledPosterior:
    """Estimate P(t : x) from n random worlds w with weights P(w) / q(w).

    Worlds are drawn from q tuple by tuple, the most certain ones first, with probabilities that anticipate the values
    of the other tuples. q is close to the posterior, so that weights are nearly equal, even for thousands of tuples.
    The time is proportional to n, the number of tuples and the number of distinct values.

    Parameters
    ----------
    group, values
        As in :func:`maxent_cvx.worlds.posterior`.
    n : int
        The number of worlds, at least 100, or more unless all priors are equal: the sampled worlds must be equivalent to
        100 independent ones.
    seed : int
        The random seed.
    knowledge : list of Sentence or str, optional
        As in :func:`maxent_cvx.worlds.posterior`. The people in the sentences are drawn first, with probabilities that
        anticipate the probability that the sentences become true.

    Returns
    -------
    SampledPosterior

    Raises
    ------
    Infeasible
        If the priors exclude every world, which is proved; contradictory sentences are not detected.
    Inaccurate
        If the effective number of samples is too small, as for contradictory sentences.
    TableError, UnknownName, BadProbability
        If `group` is not a table of priors, `values` do not match it, or a sentence contains an unknown person or
        value.
    StatementError
        If `n` is below 100, the seed is not an integer, or a sentence is invalid.

    Notes
    -----
    Self-normalised sequential importance sampling. The priors are scaled (Sinkhorn) to A, so that every tuple has one
    value and every value its number of tuples in expectation. Tuple j gets x with probability ~ A_j(x) c(x) / sum of
    A_i(x) over later tuples i, where c(x) is the remaining number of x, which is exact if the A of later tuples are
    proportional. Tuples with equal priors are averaged. With sentences, x is also weighted by the probability that the
    sentences would be true afterwards if values were independent with A.

    A world that is rare according to the priors can be probable given the sentences. With sentences, a fifth of the
    worlds is therefore drawn with flatter priors, and the weights are those of the mixture. A world that neither
    proposal draws has no effect on the standard error; :func:`maxent_cvx.worlds.posterior` is exact.

    References
    ----------
    Owen, A. and Zhou, Y. (2000). Safe and effective importance sampling. Journal of the American Statistical
    Association 95, 135-143.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = ["father"] * 100 + ["child"] * 100
    >>> priors = pd.DataFrame({"HIV": [0.02] * 100 + [0.01] * 100, "Flu": 0.3, "none": 0.6}, index=people)
    >>> result = mx.worlds.sample(priors, ["HIV"] * 30 + ["Flu"] * 70 + ["none"] * 100, n=500)
    >>> result.posterior["HIV"].groupby(level=0).first().round(1).to_dict()     # 30 of 200 have it: rather fathers
    {'child': 0.1, 'father': 0.2}
    """
    check_int(n, "n", FEWEST)
    check_seed(seed)
    single, signature, column = Groups.single(group, values)
    places = single.values.data
    f = single.prior / np.maximum(single.prior.max(axis=1, keepdims=True), np.finfo(float).tiny)
    single.check_worlds()
    known = PersonKnowledge.of(knowledge, group.index, group.columns, "tuple of the group")
    flatness = (1.0, FLATTER) if known.sentences else (1.0,)
    scaled = np.stack([_balanced(f**power, single.tuples.data, places)[signature] for power in flatness])
    order = np.lexsort((-scaled[0].max(axis=1), ~np.isin(np.arange(len(group)), known.people)))
    named = order[: len(known.people)]
    lookahead = Lookahead.of(known, named, column, scaled[:, named])
    dealt, log_weight = _draw(scaled[:, order], places, lookahead, n, np.random.default_rng(seed))
    weight, effective = counted(log_weight)
    alike = signature.copy()
    alike[known.people] = len(single.prior) + np.arange(len(known.people))  # people in sentences are not averaged
    alike = np.unique(alike, return_inverse=True)[1].reshape(-1)
    tables = []
    for of_alike in estimates(dealt, alike[order], len(places), weight, effective):
        table = np.zeros(group.shape)
        table[:, column] = of_alike[alike]
        tables.append(pd.DataFrame(table, index=group.index, columns=group.columns))
    return SampledPosterior(tables[0], tables[1], effective, n)


def _balanced(f: np.ndarray, tuples: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Scale rows to sum to 1, and columns to the number of places, which preserves relative weights of worlds."""
    with np.errstate(divide="ignore"):
        log_f = np.log(f)
    # Sinkhorn's iteration needs a number of rounds proportional to the range of the factors of columns, log f. So it
    # begins with a root of f, whose factors are the same root, and then squares both.
    squarings = max(0, math.ceil(math.log2(-float(log_f[f > 0].min(initial=-1.0)) / EASY)))
    log_factor = np.zeros(f.shape[1])
    for power in 0.5 ** np.arange(squarings, -1, -1):
        log_factor *= 2
        for _ in range(ROUNDS):
            log_scaled = power * log_f + log_factor
            scaled = np.exp(log_scaled - log_scaled.max(axis=1, keepdims=True))
            scaled /= scaled.sum(axis=1, keepdims=True)
            share = np.maximum(tuples @ scaled, np.finfo(float).tiny) / places
            if np.abs(share - 1).max() < BALANCED:
                break
            log_factor -= np.log(share)
    return scaled


def _draw(
    scaled: np.ndarray, places: np.ndarray, lookahead: Lookahead, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw n worlds; return the value of each tuple, in order, shape (tuples, n), and log P(w) / q(w).

    `scaled` has the shape (proposals, tuples, values). The last DEFENSIVE n worlds are drawn from the second proposal, and
    q is the mixture, so that no weight exceeds 1 / DEFENSIVE times the weight by either proposal (Owen and Zhou, 2000).
    """
    later = np.cumsum(scaled[:, :0:-1], axis=1)[:, ::-1]
    later = np.concatenate([later, np.ones_like(scaled[:, :1])], axis=1)
    supply = np.tile(places.astype(float), (n, 1))
    dealt = np.empty((scaled.shape[1], n), dtype=np.int32)
    world = np.arange(n)
    share = np.array([1 - DEFENSIVE, DEFENSIVE] if len(scaled) > 1 else [1.0])
    proposal = (world / n >= share[0]).astype(int)
    log_ratio = np.zeros((len(scaled), n))  # log q_k(w) / P(w)
    residual = np.full(n, lookahead.root)
    for j in range(len(dealt)):  # each depends on the earlier draws
        # Supply of each value per expected later demand; shape (proposals, worlds, values), as those that follow.
        pull = supply / np.maximum(later[:, j, None], NOBODY)
        if named := j < len(lookahead.people):
            which, after, hope = lookahead.step(j, residual)
            pull = pull * hope[:, which]
        odds = np.cumsum(scaled[:, j, None] * pull, axis=2)
        own, total = odds[proposal, world], odds[:, :, -1]
        value = (own < (1 - rng.random(n))[:, None] * own[:, -1:]).sum(axis=1)  # 1 - u is not 0
        # q_k(w) / P(w) is a product over tuples of A_kj(x) pull_k(x) / total_k / A_j(x).
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio += np.log(scaled[:, j, value] / scaled[0, j, value] * (pull[:, world, value] / total))
        if named:
            residual = after[which, value]
        dealt[j] = value
        supply[world, value] = np.maximum(supply[world, value] - 1, 0)  # negative in worlds of weight 0
    log_ratio[np.isnan(log_ratio)] = -np.inf  # no remaining value is possible
    log_weight = -logsumexp(log_ratio, axis=0, b=share[:, None])
    log_weight[(residual != TRUE) | ~np.isfinite(log_weight)] = -np.inf
    return dealt, log_weight


def counted(log_weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the normalised weights of sampled worlds and the effective number of worlds, which must suffice."""
    n = len(log_weight)
    weight = np.exp(log_weight - log_weight.max()) if np.isfinite(log_weight.max()) else np.zeros(n)
    effective = float(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0.0
    if effective < FEWEST:
        raise Inaccurate(
            f"{n} sampled worlds are equivalent to {math.floor(effective)} independent ones, but reliable standard errors need "
            f"{FEWEST}; increase n=, or use the exact worlds.posterior(..., limit=...)"
        )
    return weight / weight.sum(), effective


def estimates(
    dealt: np.ndarray, signature: np.ndarray, kinds: int, weight: np.ndarray, effective: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted means of each signature's share of each value, and their standard errors."""
    n = len(weight)
    shape = (signature.max() + 1, kinds)
    mean, error = np.empty(shape), np.empty(shape)
    world = np.arange(n) * kinds
    for s in range(shape[0]):  # one at a time, to avoid an array of worlds x signatures x values
        values = dealt[signature == s]
        share = np.bincount((world + values).ravel(), minlength=n * kinds).reshape(n, kinds) / len(values)
        mean[s] = weight @ share
        error[s] = np.sqrt(weight**2 @ (share - mean[s]) ** 2)
    return mean, np.where(kinds > 1, np.maximum(error, 1 / effective), 0.0)
