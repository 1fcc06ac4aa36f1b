"""The deFinetti attack: expectation maximisation over the possible worlds of all buckets (Kifer, 2009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax

from .._utils.errors import BadProbability, Infeasible, StatementError, TableError, join_names, pluralize, short_repr
from .._utils.progress import progress_bar
from .._utils.tables import densely, real_numbers, sort_distinct
from .._utils.validation import (
    check_bool,
    check_dataframe,
    check_float,
    check_in,
    check_instance,
    check_int,
    check_number,
    check_optional_bool,
    check_seed,
)
from ..model.maxent import MaxEnt
from ..priors import QIDistribution
from ..releases.base import attach
from ..releases.generalized import GroupedRelease
from ..releases.partitioned import PartitionedRelease
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..worlds.groups import STEPS, Groups, sorted_counts, weighed
from .result import AttackResult

# Models of the sensitive value given quasi-identifiers: `learnt` fits them to expected records, and returns log P(s | q)
# or log P(q, s), shape (tuples, values), and a penalty.


def _codes(people: Release | SeriesPeople) -> list[np.ndarray]:
    """Return, for each attribute, the values of the QI tuples, numbered from 0."""
    return [densely(np.asarray(code, dtype=np.int64)) for code in people.quasi_identifiers.codes]


#: Weight of the squared coefficients of logistic regression, relative to one record: scikit-learn's default.
RIDGE = 1.0
#: Steps of L-BFGS per fit, each of which starts from the previous coefficients.
FEW_STEPS = 15


class Logistic:
    """log P(s | q) of multinomial logistic regression on indicators of all values of all attributes, with a ridge.

    It maximises sum_qs n(q, s) log P(s | q) - |W|^2 / 2, starting from the coefficients W of the previous fit.
    """

    def __init__(self, people: Release | SeriesPeople) -> None:
        tuples = np.arange(len(people.quasi_identifiers))
        indicators = [sp.csr_array((np.ones(len(tuples)), (tuples, code))) for code in _codes(people)]
        self.features: Any = sp.csr_array(sp.hstack([*indicators, sp.csr_array(np.ones((len(tuples), 1)))]))
        self.coefficients = np.zeros((self.features.shape[1], len(people.sensitive_values)))

    def learnt(self, expected: np.ndarray) -> tuple[np.ndarray, float]:
        """Fit the coefficients to expected records."""
        shape, occurs = self.coefficients.shape, expected.sum(axis=1) > 0
        features, counts = self.features[np.flatnonzero(occurs)], expected[occurs]
        people = counts.sum(axis=1, keepdims=True)

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            coefficients = flat.reshape(shape)
            log_p = log_softmax(features @ coefficients, axis=1)
            gradient = features.T @ (people * np.exp(log_p) - counts) + RIDGE * coefficients
            return RIDGE * float(flat @ flat) / 2 - float((counts * log_p).sum()), gradient.ravel()

        fit = minimize(loss, self.coefficients.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": FEW_STEPS})
        self.coefficients = fit.x.reshape(shape)
        return log_softmax(self.features @ self.coefficients, axis=1), -RIDGE * float(fit.x @ fit.x) / 2


# A scikit-learn classifier as the model of the sensitive value given quasi-identifiers.


class Classifier:
    """log P(s | q) of a classifier that is fitted to all pairs of QI tuple and value, weighted by expected records."""

    def __init__(self, people: Release | SeriesPeople, classifier: object) -> None:
        try:
            from sklearn.base import BaseEstimator, clone
            from sklearn.compose import make_column_transformer
            from sklearn.pipeline import Pipeline, make_pipeline
            from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
            from sklearn.utils.validation import has_fit_parameter
        except ImportError:
            raise StatementError(
                f"the classifier {short_repr(classifier)} needs scikit-learn, which is not installed: pip install scikit-learn"
            ) from None
        last = classifier.steps[-1][1] if isinstance(classifier, Pipeline) and classifier.steps else classifier
        able = isinstance(classifier, BaseEstimator) and hasattr(classifier, "predict_proba")
        if not able or not has_fit_parameter(last, "sample_weight"):
            raise StatementError(
                "classifier must be a scikit-learn classifier with predict_proba and a fit that takes sample_weight, got "
                f"{short_repr(classifier)}"
            )
        self.features = people.quasi_identifiers.to_frame(index=False)
        if isinstance(classifier, Pipeline):
            self.model: Any = clone(classifier)
        else:
            numeric = [name for name, column in self.features.items() if pd.api.types.is_numeric_dtype(column)]
            others = [name for name in self.features if name not in numeric]
            codes = dict(zip(self.features, _codes(people), strict=True))
            for name in others:  # codes, because values of several types cannot be sorted
                self.features[name] = codes[name]
            encoded = make_column_transformer((MinMaxScaler(), numeric), (OneHotEncoder(sparse_output=False), others))
            self.model = make_pipeline(encoded, clone(classifier))
        self.weight = f"{self.model.steps[-1][0]}__sample_weight"

    def learnt(self, expected: np.ndarray) -> tuple[np.ndarray, float]:
        """Fit the classifier to expected records."""
        q, s = expected.nonzero()
        try:
            self.model.fit(self.features.iloc[q], s, **{self.weight: expected[q, s]})
            predicted = np.asarray(self.model.predict_proba(self.features))
        except (OverflowError, TypeError, ValueError) as error:
            raise StatementError(f"the classifier cannot be fitted to the release: {error}") from error
        if not (np.isfinite(predicted) & (predicted >= 0)).all():
            raise BadProbability("the classifier predicts numbers that are not probabilities; use another classifier")
        p = np.zeros_like(expected)
        p[:, self.model.classes_] = predicted
        with np.errstate(divide="ignore"):
            return np.log(p), 0.0


# The result of the deFinetti attack, with the log of its iterations.


@dataclass(frozen=True, eq=False, repr=False)
class DeFinettiResult(AttackResult):
    """P(s | bucket, QI tuple) by a model fitted to the release alone.

    Attributes
    ----------
    table, baseline, records, error
        See :class:`maxent_cvx.attacks.AttackResult`.
    log : DataFrame
        One row per iteration: `change`, the largest change of a probability; `log_likelihood` and `objective`, in nats,
        as in the notes of :func:`maxent_cvx.attacks.definetti`.
    converged : bool
        Whether the last change was within the tolerance, in all folds.
    temperature : float
        The power t of the model's probabilities; 1 without calibration.
    evidence : float or None
        With calibration: the mean information, in bits, of a pair of buckets about the assignment of its two sets of
        values; 0 if the release does not leak.
    p_value : float or None
        With calibration: a bound on the probability of as much evidence if the values of pairs of buckets are exchanged
        at random, at least 0.002. It is twice the mean of the folds' p-values, which is valid for dependent p-values.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> result = mx.attacks.definetti(release, iterations=2)
    >>> result.converged, result.log["objective"].is_monotonic_increasing
    (False, True)
    """

    log: pd.DataFrame
    converged: bool
    temperature: float = 1.0
    evidence: float | None = None
    p_value: float | None = None

    title: ClassVar[str] = "deFinetti attack"

    @property
    def sentence(self) -> str:
        """The result in words, and whether it has converged."""
        end = "converged" if self.converged else f"last changed by {self.log['change'].iloc[-1]:.1g}"
        text = f"{super().sentence}; {pluralize(len(self.log), 'iteration')}, {end}"
        if self.evidence is None:
            return text
        return f"{text}; evidence {self.evidence:.3f} bits a pair (p = {self.p_value:.3g}), temperature {self.temperature:.3g}"


# Naive Bayes: quasi-identifiers are independent of each other given the sensitive value.


class NaiveBayes:
    """P(q, s) = P(s) prod_a P(q_a | s), P(q_a = v | s) = (n(v, s) + c) / (n(s) + c |A|), P(s) as published."""

    def __init__(self, people: Release | SeriesPeople, smoothing: float) -> None:
        self.codes = _codes(people)
        self.log_prior = np.log(people.n_values / people.n_values.sum())
        self.smoothing = smoothing

    def learnt(self, expected: np.ndarray) -> tuple[np.ndarray, float]:
        """Maximise the expected log-likelihood plus the penalty of smoothing."""
        log_f, penalty = np.tile(self.log_prior, (len(expected), 1)), 0.0
        n_s, tuples = expected.sum(axis=0), np.arange(len(expected))
        nobody = (n_s == 0) & (self.smoothing == 0)  # avoids 0 / 0 for values without expected people
        for code in self.codes:
            has = sp.csr_array((np.ones(len(code)), (code, tuples)))  # indicators of values by QI tuple
            with np.errstate(divide="ignore"):
                log_p = np.log((has @ expected + self.smoothing) / (n_s + self.smoothing * has.shape[0] + nobody))
            log_f += log_p[code]
            penalty += self.smoothing * float(log_p.sum()) if self.smoothing else 0.0
        return log_f, penalty


# The expectation step: the assignment of values to people over all possible worlds of a bucket, weighted by a model.


@dataclass(frozen=True, eq=False)
class BucketWorlds:
    """The worlds of all buckets, which assign each bucket's values to its people; sums over worlds are exact."""

    # A counterfeit is assigned to a person without published quasi-identifiers: an additional QI tuple, the last one.

    release: Release
    error: ClassVar[float] = 0.0

    @cached_property
    def groups(self) -> Groups:
        """The buckets, with a prior of 1 for every pair, so that all worlds are equally likely."""
        release = self.release
        lacking = np.asarray(release.n_sb.sum(axis=0) - release.n_qb.sum(axis=0))
        tuples = sorted_counts(sp.vstack([release.n_qb, sp.csr_array(lacking[None])]))
        values = sorted_counts(release.n_sb)
        return Groups(np.ones((tuples.shape[0], values.shape[0])), tuples, values, release.buckets)

    @cached_property
    def _is_known(self) -> np.ndarray:
        """Mask of the entries of the groups' tuples that are people with quasi-identifiers."""
        return np.asarray(self.groups.tuples.indices < len(self.release.quasi_identifiers))

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The bucket and the QI tuple of every row of a table, sorted by both."""
        tuples = self.groups.tuples
        bucket = np.repeat(np.arange(len(self.groups)), np.diff(tuples.indptr))
        return bucket[self._is_known], tuples.indices[self._is_known]

    @cached_property
    def records(self) -> np.ndarray:
        """Number of people of each row."""
        return np.asarray(self.groups.tuples.data[self._is_known])

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mask of the groups' pairs of people with quasi-identifiers, with the rows and values of these pairs."""
        _, u, v = self.groups.pairs
        is_known = self._is_known[u]
        return is_known, (np.cumsum(self._is_known) - 1)[u[is_known]], self.groups.values.indices[v[is_known]]

    @property
    def index(self) -> pd.MultiIndex:
        """Labels of the rows: bucket and quasi-identifiers."""
        bucket, q = self.rows
        return attach(self.release.buckets, bucket, self.release.quasi_identifiers, q)

    def equally_likely(self) -> np.ndarray:
        """Return P(s | q, b) = n(s, b) / n(b), shape (rows, values): the bucket's shares."""
        n_sb = self.release.n_sb
        shares = (n_sb / n_sb.sum(axis=0)[None]).T.tocsr()
        return np.asarray(shares[self.rows[0]].todense())

    def posterior(self, log_f: np.ndarray, limit: float) -> tuple[np.ndarray, float]:
        """Return P(s | q, b) by the worlds' weights, shape (rows, values), and the log-likelihood, nats."""
        share, total = weighed(self.groups, log_f, limit)
        if (without := np.isneginf(total)).any():
            raise Infeasible(
                f"the classifier rules out all worlds of {join_names(self.release.buckets[without])}: in each of them "
                "a person has a value of probability 0; choose a classifier that is less certain"
            )
        is_known, row, value = self._pairs
        p = np.zeros((len(self.records), self.release.n_sb.shape[0]))
        p[row, value] = share[is_known]
        return p, float(total.sum())


# The expectation step of a series, in which a person is in different buckets of several releases.


class SeriesPeople:
    """P(s | person) nearest to a model: min sum_i D(p_i || P(s | q_i)) given the buckets' values in all releases."""

    def __init__(self, series: ReleaseSeries) -> None:
        if len(series.qi) == 1:
            raise StatementError(
                "the attack needs quasi-identifiers that are the same in all releases of the series; make the releases "
                "with qi="
            )
        self.series = series
        self.index, self.sensitive_values = series.persons, series.sensitive_values
        q, self.quasi_identifiers = sort_distinct(series.quasi_identifiers.droplevel(0).to_frame(index=False))
        #: Each person's number, and the position of the person's QI tuple.
        self.rows = np.arange(len(q)), q
        self.records = np.ones(len(q), dtype=np.int64)
        self._shares = MaxEnt(series).solve().people().to_numpy()
        #: Expected number of people with each value, which a series does not publish.
        self.n_values = self._shares.sum(axis=0)
        #: Bound on the error of the last posterior.
        self.error = 0.0

    def equally_likely(self) -> np.ndarray:
        """Return P(s | person) without a model, shape (people, values)."""
        return self._shares

    def posterior(self, log_f: np.ndarray, limit: float) -> tuple[np.ndarray, float]:
        """Return P(s | person), and sum_i sum_s p log(P(q_i, s) / p) in nats; the last row of log_f is ignored."""
        given = pd.DataFrame(softmax(log_f[:-1], axis=1), self.quasi_identifiers, self.sensitive_values)
        prior = QIDistribution({tuple(self.quasi_identifiers.names): given}, about="the classifier")
        post = MaxEnt(self.series, prior=prior).solve()
        self.error = post.certificate.bound
        p = post.people().to_numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            return p, float(np.where(p > 0, p * (log_f[self.rows[1]] - np.log(p)), 0.0).sum())


def expected_records(worlds: BucketWorlds | SeriesPeople, n_tuples: int, p: np.ndarray) -> np.ndarray:
    """Return the expected number of records with each QI tuple and value, shape (tuples, values)."""
    n, q = worlds.records, worlds.rows[1]
    return np.asarray(sp.csr_array((n, (q, np.arange(len(q)))), (n_tuples, len(q))) @ p)


# The temperature and the evidence: the success of attributing the values of two held-out buckets, without the truth.


#: Largest bucket for which sums over worlds run over sets of values, for all pairs at once, in 2^n steps each. For 30
#: buckets of 12 people this took 23 seconds, and the dynamic programs 2.5.
MOST_IN_SETS = 8
#: Largest number of pairs of buckets per size and fold in the mean; if there are more, this number is drawn.
MOST_PAIRS = 200_000
#: Largest number of steps of the dynamic programs of larger buckets, per size and fold; the pairs drawn stay within it.
MOST_STEPS = 2e5
#: Temperatures that are compared before the best one is refined; the last is the largest allowed.
TEMPERATURES = np.concatenate([[0.0], np.geomspace(0.02, 16.0, 30)])
#: Number of folds of a calibration, if the release has two buckets for each.
FOLDS = 5
#: Bits of a pair of buckets whose own values are impossible: a temperature with such a pair is never the best.
LEAST_BITS = -1e100
#: Number of random exchanges of values for a p-value.
EXCHANGES = 999


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of held-out buckets of one size, and the log P(s | q) of a model that was fitted without them."""

    log_f: np.ndarray  # shape (tuples + 1 for counterfeits, values)
    people: np.ndarray  # shape (buckets, people): QI tuples
    values: np.ndarray  # the same shape
    pairs: np.ndarray  # shape (2, pairs): the numbers of the buckets a and b

    def advantage(self, temperatures: np.ndarray) -> np.ndarray:
        """Return log (L_aa L_bb / (L_ab L_ba)), shape (temperatures, pairs); L = sum over worlds of prod P(s | q)^t."""
        (a, b), buckets, is_warm = self.pairs, np.arange(len(self.people)), temperatures > 0
        advantage = np.zeros((len(temperatures), len(a)))  # at t = 0 all worlds are equally likely
        t = temperatures[is_warm]
        of_bucket = self._log_worlds(buckets, buckets, t)
        unexchanged = of_bucket[:, a] + of_bucket[:, b]
        exchanged = self._log_worlds(a, b, t) + self._log_worlds(b, a, t)
        with np.errstate(invalid="ignore"):
            advantage[is_warm] = np.where(
                np.isneginf(unexchanged) & np.isneginf(exchanged), 0.0, unexchanged - exchanged
            )
        return advantage

    def _log_worlds(self, a: np.ndarray, b: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
        """Return log L_ab, shape (temperatures, buckets), up to a summand of the values of b, which cancels."""
        if self.people.shape[1] <= MOST_IN_SETS:
            log_p = self.log_f[self.people[a][..., :, None], self.values[b][..., None, :]]
            return np.stack([_log_permanents(t * log_p) for t in temperatures])
        # The dynamic programs of all temperatures run in one batch, in which each temperature has its own QI tuples.
        log_f = (temperatures[:, None, None] * self.log_f).reshape(-1, self.log_f.shape[1])
        groups = self._groups(a, b, len(temperatures))
        return weighed(groups, log_f)[1].reshape(len(temperatures), len(a))

    def _groups(self, a: np.ndarray, b: np.ndarray, copies: int = 1) -> Groups:
        """Return groups of the people of buckets a with the values of buckets b, repeated with copies of the tuples."""
        n_tuples, n_values = self.log_f.shape
        people = self.people[a].ravel() + n_tuples * np.arange(copies)[:, None]
        values = np.tile(self.values[b].ravel(), copies)
        group = np.repeat(np.arange(copies * len(a)), self.people.shape[1])
        return Groups.of_records(np.broadcast_to(1.0, (copies * n_tuples, n_values)), group, people.ravel(), values)

    def affordable(self, rng: np.random.Generator) -> Pairs:
        """Return the pairs, or a random selection of at least one that takes no more than the allowed steps."""
        if self.people.shape[1] <= MOST_IN_SETS:
            return self
        drawn = self.pairs[:, rng.permutation(self.pairs.shape[1])]
        spent = np.cumsum(self._groups(*drawn).steps + self._groups(*drawn[::-1]).steps)
        return replace(self, pairs=drawn[:, : max(1, np.searchsorted(spent, MOST_STEPS))])


def _log_permanents(log_matrices: np.ndarray) -> np.ndarray:
    """Compute log sum over permutations p of prod_i A[i, p(i)] of square matrices on the last two axes, A >= 0.

    The sum over assignments of a set of values to the first people follows from sums with one person and value fewer.
    """
    n = log_matrices.shape[-1]
    scale = log_matrices.max(axis=-1, keepdims=True)  # one per person: a factor of every summand
    scale = np.where(np.isneginf(scale), 0.0, scale)
    matrices = np.exp(log_matrices - scale)
    ways = {0: np.ones(matrices.shape[:-2])}
    for person in range(n):
        following: dict[int, np.ndarray] = {}
        for given, total in ways.items():
            for value in range(n):
                if not given & 1 << value:
                    added = total * matrices[..., person, value]
                    key = given | 1 << value
                    following[key] = following[key] + added if key in following else added
        ways = following
    with np.errstate(divide="ignore"):
        return np.log(ways[2**n - 1]) + scale.sum(axis=(-1, -2))


def _bits(advantage: np.ndarray) -> np.ndarray:
    """Compute log2 (L_aa L_bb / ((L_aa L_bb + L_ab L_ba) / 2)) of each pair."""
    # A pair without a world has minus infinity bits, and 0 times minus infinity is NaN.
    return np.maximum(1 - np.logaddexp(0.0, -advantage) / np.log(2), LEAST_BITS)


def _pairs_of_buckets(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return all unordered pairs of n buckets, or MOST_PAIRS drawn with replacement if there are more."""
    if n * (n - 1) // 2 <= MOST_PAIRS:
        first, second = np.triu_indices(n, 1)
        return first, second
    first = rng.integers(0, n, MOST_PAIRS)
    second = (first + rng.integers(1, n, MOST_PAIRS)) % n
    return first, second


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out buckets and the log P(s | q) of a model that was fitted without them."""

    worlds: BucketWorlds
    log_f: np.ndarray  # shape (tuples + 1 for counterfeits, values)

    def pairs(self, choose: Callable[[int], tuple[np.ndarray, np.ndarray]]) -> list[Pairs]:
        """Return chosen pairs of buckets of each size of which there are several."""
        groups, pairs = self.worlds.groups, []
        tuples, values = (np.repeat(part.indices, part.data) for part in (groups.tuples, groups.values))
        starts = np.cumsum(groups.sizes) - groups.sizes
        for size in np.unique(groups.sizes).tolist():
            at = starts[groups.sizes == size][:, None] + np.arange(size)  # (buckets, people)
            if len(at) > 1:
                pairs.append(Pairs(self.log_f, tuples[at], values[at], np.stack(choose(len(at)))))
        return pairs

    def posterior(self, temperature: float, limit: float) -> np.ndarray:
        """Return P(s | bucket, QI tuple) by the model at a temperature t, P(s | q)^t."""
        with np.errstate(invalid="ignore"):  # 0 times minus infinity: at t = 0 every value is possible
            log_f = np.where(np.isneginf(self.log_f), -np.inf if temperature else 0.0, temperature * self.log_f)
        return self.worlds.posterior(log_f, limit)[0]


def _evidence(held_out: list[HeldOut], seed: int) -> tuple[float, float, float]:
    """Return the temperature, the evidence in bits per pair, and its p-value.

    Under the hypothesis that buckets of one size are exchangeable, each of disjoint pairs of buckets of a fold has its
    own values or exchanged ones with equal probability, for any model of the other folds; the statistic is the largest
    evidence over all temperatures. The models of the folds share buckets, so the folds' p-values are dependent;
    nevertheless, twice their mean is a p-value (Rueschendorf, 1982).
    """
    rng = np.random.default_rng(seed)
    all_pairs = [part for fold in held_out for part in fold.pairs(lambda n: _pairs_of_buckets(n, rng))]
    pairs = [part.affordable(rng) for part in all_pairs]
    if not pairs:
        raise StatementError(
            f"calibration requires two buckets of one size in one of the {len(held_out)} folds; use fewer folds, a "
            "release with more buckets, or calibrate=False"
        )

    def bits(temperatures: np.ndarray) -> np.ndarray:
        total = sum((_bits(part.advantage(temperatures)).sum(axis=1) for part in pairs), np.zeros(len(temperatures)))
        return np.asarray(total / sum(part.pairs.shape[1] for part in pairs))

    compared = bits(TEMPERATURES)
    best = int(compared.argmax())
    low, high = TEMPERATURES[max(best - 1, 0)], TEMPERATURES[min(best + 1, len(TEMPERATURES) - 1)]
    refined = minimize_scalar(
        lambda t: -bits(np.array([t]))[0], bounds=(low, high), method="bounded", options={"xatol": 1e-4}
    )
    evidence, temperature = max((compared[best], TEMPERATURES[best]), (-refined.fun, refined.x))

    def matched(n: int) -> tuple[np.ndarray, np.ndarray]:
        order = rng.permutation(n)[: n // 2 * 2]
        return order[::2], order[1::2]

    p_values = []
    for fold in held_out:
        disjoint = [part.affordable(rng).advantage(TEMPERATURES) for part in fold.pairs(matched)]
        if not disjoint:
            continue
        advantages = np.concatenate(disjoint, axis=1)
        kept, lost = _bits(advantages), _bits(-advantages)
        exchanged = rng.integers(0, 2, (EXCHANGES, advantages.shape[1])).astype(float)
        statistic = kept.sum(axis=1).max()
        random = (exchanged @ lost.T + (1 - exchanged) @ kept.T).max(axis=1)
        n_as_much = np.count_nonzero(random >= statistic - 1e-12 * abs(statistic))
        p_values.append((1 + n_as_much) / (EXCHANGES + 1))
    return float(temperature), float(evidence), min(1.0, 2 * float(np.mean(p_values)))


#: Largest difference of the sum of a start's row from 1, due to rounding to a few digits.
START_SUM = 1e-6


def definetti(
    release: Release | ReleaseSeries,
    classifier: object = None,
    smoothing: float = 1.0,
    iterations: int = 60,
    *,
    calibrate: bool = False,
    folds: int | None = None,
    seed: int = 0,
    tolerance: float = 1e-3,
    start: pd.DataFrame | None = None,
    limit: float = STEPS,
    progress: bool | None = None,
) -> DeFinettiResult:
    """Infer P(t : s) ~ sum over worlds of prod_t P(q_t, s_t), with a model P that is fitted to the release itself.

    People of all buckets are drawn from one unknown distribution (they are exchangeable), so every bucket contains
    information about all other people. The model and the values of people are estimated in turn, by expectation
    maximisation: P(s | person), exactly, over all assignments of a bucket's values to its people; then the model, from
    all people weighted by these probabilities. The adversary knows the release and the exact quasi-identifiers, but
    no sensitive values.

    Parameters
    ----------
    release : Release or ReleaseSeries
        A release with exact quasi-identifiers, or a series whose releases agree on them. If all people of a bucket have
        the same ones, as in a generalised table, the answer equals the baseline; in this case, make the release with a
        `population` of the people in the records only, each covered by one group. A counterfeit belongs to a person
        without known quasi-identifiers.
    classifier : "naive Bayes", "logistic" or scikit-learn classifier, optional
        The model of s given q. "naive Bayes", the default, is P(q, s) = P(s) prod_a P(q_a | s), with all attributes
        categorical; "logistic" is multinomial logistic regression on indicators of all values. A scikit-learn
        classifier must support `predict_proba` and sample weights; copies of it are fitted. A Pipeline receives the
        quasi-identifiers as a DataFrame and must encode them; other classifiers receive numbers scaled to [0, 1], and
        other attributes one-hot encoded.
    smoothing : float
        For naive Bayes: number of records added to each value of every attribute for every s (Laplace); P(s) is
        published and not smoothed.
    iterations : int
        Maximum number of iterations.
    calibrate : bool
        Raise the model's probabilities to a power t, the temperature. It is chosen without the truth, to maximise the
        likelihood that held-out buckets have their own values rather than each other's. Requires folds: by default 5,
        or fewer for a release of fewer than 10 buckets.
    folds : int, optional
        Number of folds. The values of every bucket are then inferred by a model fitted to the buckets outside of its
        fold.
    seed : int
        Random seed of the folds, and of pairs of buckets, if there are more than 200,000 or large ones take too long.
    tolerance : float
        Stop when no probability changes by more than this.
    start : DataFrame, optional
        P(s | bucket, QI tuple) before the first iteration, labelled like the `table` of a result; by default the
        `baseline`, the bucket's shares.
    limit : float
        Largest number of steps per bucket; see :func:`maxent_cvx.worlds.posterior`.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DeFinettiResult
        An :class:`AttackResult` with P(s | bucket, QI tuple), or P(s | person) for a series, `log` and `converged`.
        `judge` requires the original records with their bucket as a column, or one record per person with pseudonym.

    Raises
    ------
    StatementError
        If `release` is not a release or series, `classifier` is not a supported classifier, or scikit-learn is not
        installed; if the quasi-identifiers of people in a series are unknown, or folds are requested for a series.
    BadProbability
        If a number is out of range, or `start` or the predictions of the classifier are not probabilities.
    TableError
        If `start` is not labelled like the table of a result.
    GroupTooLarge
        If a bucket has too many people with different values.
    Infeasible
        If the classifier rules out every world of a bucket.

    Notes
    -----
    With naive Bayes no iteration lowers ``log["objective"]``: the log-likelihood of the release,
    sum_b log sum_worlds prod_t P(q_t, s_t), plus c sum log P(v | s), the logarithm of the Dirichlet prior that
    corresponds to smoothing. It converges to a local maximum. A classifier that minimises the logarithmic loss, without
    a penalty, raises sum_b log sum_worlds prod_t P(s_t | q_t); others need not.

    Probabilities are exact for the model, but overconfident if it is too simple: naive Bayes counts common information
    of two attributes twice. It also fits noise. ``judge(original).calibration`` shows both. With `calibrate`, held-out
    buckets are used to test whether their values are more likely as published than exchanged between two buckets. For
    buckets a and b let L_ab be the sum of prod P(s | q)^t over the worlds in which people of a have the values of b.
    The evidence is the mean of log2 (L_aa L_bb / ((L_aa L_bb + L_ab L_ba) / 2)) over pairs of held-out buckets of one
    size, and t maximises it. Without any leak it is 0, at t = 0.

    The worlds of a series cannot be summed, because a person is in a bucket of each release. P(s | person) is the
    distribution nearest to the model's that agrees with all buckets of all releases, min sum_i D(p_i || P(s | q_i)):
    the :class:`maxent_cvx.MaxEnt` posterior with the model as its prior. `log_likelihood` is then sum_i sum_s p_i(s)
    log(P(q_i, s) / p_i(s)), and no iteration of naive Bayes lowers the objective either, since both steps maximise it
    (Csiszar and Tusnady). P(s), which a series does not publish, is the mean without the model. The probabilities are
    less certain than sums over worlds would be: in a bucket of two people with two values, the odds are the square root
    of the odds of the worlds.

    The attack is Kifer's; the exact sums over the worlds of a bucket are those of :func:`maxent_cvx.worlds.posterior`.

    References
    ----------
    Kifer, D. (2009). Attacks on privacy and deFinetti's theorem. SIGMOD, 127-138.
    Rueschendorf, L. (1982). Random variables with maximum sums. Advances in Applied Probability 14(3), 623-632.
    Csiszar, I. and Tusnady, G. (1984). Information geometry and alternating minimization procedures. Statistics and
    Decisions, Supplement 1, 205-237.

    Examples
    --------
    Buckets of two patients with two of three diseases. The model learns from the release which two of them cause coughing:

    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> disease = np.array([rng.permutation(["Angina", "Asthma", "Flu"])[:2] for _ in range(500)]).ravel()
    >>> coughs = rng.random(1000) < np.where(disease == "Angina", 0.1, 0.8)
    >>> people = pd.DataFrame({"Coughs": coughs, "Disease": disease, "Bucket": np.arange(1000) // 2})
    >>> release = mx.Release.from_buckets(people, qi="Coughs", sa="Disease", bucket="Bucket")
    >>> result = mx.attacks.definetti(release)
    >>> print(result.judge(people))
    right for 72.8% of 1000 records; without the attack 50.0% (difference 0.23, standard error 0.0096)
    """
    remedies: dict[type, str] = {
        GroupedRelease: "make it with a population of the people in the records only, each covered by one group",
        PartitionedRelease: "join its parts, Release.from_partitions(release)",
    }
    check_instance(release, (Release, ReleaseSeries), "release", remedies.get(type(release), ""))
    smoothing = check_float(smoothing, "smoothing", 0.0, 2.0**53)
    check_int(iterations, "iterations", 1)
    tolerance = check_float(tolerance, "tolerance", 0.0, 1.0)
    limit = check_number(limit, "limit")
    check_optional_bool(progress, "progress")
    check_bool(calibrate, "calibrate")
    check_seed(seed)
    n_folds = _number_of_folds(release, folds) if calibrate or folds is not None else None
    if n_folds is not None and start is not None:
        raise StatementError("start applies to the model of all buckets; omit start, or omit folds and calibrate")
    worlds = BucketWorlds(release) if isinstance(release, Release) else SeriesPeople(release)
    index, values = worlds.index, release.sensitive_values
    shares = worlds.equally_likely()
    p = shares if start is None else _started(start, pd.DataFrame(shares, index, values))
    people = worlds.release if isinstance(worlds, BucketWorlds) else worlds
    fit = Fit(people, classifier, smoothing, iterations, tolerance, limit)
    temperature, evidence, p_value = 1.0, None, None
    with progress_bar(None, "definetti", progress, total=iterations * (n_folds or 1), unit="iteration") as bar:
        if n_folds is None or isinstance(worlds, SeriesPeople):
            p, _, lines = fit.run(worlds, p, bar)
            logs = [lines]
        else:
            fold_of_bucket = np.random.default_rng(seed).permutation(len(worlds.release.buckets)) % n_folds
            held_out, logs = [], []
            for fold in range(n_folds):  # the buckets of a fold, with the model that is fitted to all others
                others = BucketWorlds(_buckets_of(worlds.release, fold_of_bucket != fold))
                _, log_f, lines = fit.run(others, others.equally_likely(), bar)
                held_out.append(HeldOut(BucketWorlds(_buckets_of(worlds.release, fold_of_bucket == fold)), log_f))
                logs.append(lines)
            if calibrate:
                temperature, evidence, p_value = _evidence(held_out, seed)
            p = np.zeros_like(shares)
            for fold, part in enumerate(held_out):
                p[fold_of_bucket[worlds.rows[0]] == fold] = part.posterior(temperature, limit)
    columns = ["change", "log_likelihood", "objective"]
    tables = [pd.DataFrame(lines, pd.RangeIndex(1, len(lines) + 1, name="iteration"), columns) for lines in logs]
    log = tables[0] if n_folds is None else pd.concat(tables, keys=range(n_folds), names=["fold"])
    return DeFinettiResult(
        table=pd.DataFrame(p, index, values),
        baseline=pd.DataFrame(shares, index, values),
        records=pd.Series(worlds.records, index, name="records"),
        error=worlds.error,
        log=log,
        converged=all(bool(table["change"].iloc[-1] <= tolerance) for table in tables),
        temperature=temperature,
        evidence=evidence,
        p_value=p_value,
    )


def _number_of_folds(release: Release | ReleaseSeries, folds: int | None) -> int:
    """Check the number of folds; by default FOLDS, with at least two buckets for each."""
    if isinstance(release, ReleaseSeries):
        raise StatementError(
            "folds and calibrate require buckets without common people; attack each release of the series, or omit them"
        )
    n_buckets = len(release.buckets)
    if n_buckets < 2:
        raise StatementError(
            "folds and calibrate require a release with several buckets, but it has only one; omit them"
        )
    return min(FOLDS, max(2, n_buckets // 2)) if folds is None else check_int(folds, "folds", 2, n_buckets)


def _buckets_of(release: Release, chosen: np.ndarray) -> Release:
    """Return the release with some of its buckets; the quasi-identifiers of other people remain known."""
    at = np.flatnonzero(chosen)
    return replace(
        release, buckets=release.buckets[at], n_qb=sp.csr_array(release.n_qb[:, at]),
        n_sb=sp.csr_array(release.n_sb[:, at]), persons=None,
    )  # fmt: skip


class Fit(NamedTuple):
    """Expectation maximisation of a model, from buckets or a series."""

    people: Release | SeriesPeople
    classifier: object
    smoothing: float
    iterations: int
    tolerance: float
    limit: float

    def run(
        self, worlds: BucketWorlds | SeriesPeople, p: np.ndarray, bar: Any
    ) -> tuple[np.ndarray, np.ndarray, list[tuple[float, ...]]]:
        """Fit from P(s | bucket, QI tuple) = p; return the final p, log P(s | q), and one line per iteration."""
        model = self._model()
        log: list[tuple[float, ...]] = []
        log_f = np.zeros(0)
        while len(log) < self.iterations and not (log and log[-1][0] <= self.tolerance):
            log_f, penalty = model.learnt(expected_records(worlds, len(self.people.quasi_identifiers), p))
            before, (p, log_likelihood) = p, worlds.posterior(self._with_counterfeits(log_f), self.limit)
            log.append((float(np.abs(p - before).max()), log_likelihood, log_likelihood + penalty))
            bar.update()
            bar.set_postfix_str(f"largest change {log[-1][0]:.1e}")
        log_p = self._with_counterfeits(log_f)
        # Without smoothing, a model may rule out all values of unseen QI tuples.
        total = logsumexp(log_p, axis=1, keepdims=True)
        return p, log_p - np.where(np.isneginf(total), 0.0, total), log

    def _with_counterfeits(self, log_f: np.ndarray) -> np.ndarray:
        """Add a row for counterfeits, for which only the shares of all values are known."""
        n = self.people.n_values
        return np.vstack([log_f, np.log(n / n.sum())])

    def _model(self) -> NaiveBayes | Logistic | Classifier:
        """Return a model before its first fit."""
        classifier = "naive Bayes" if self.classifier is None else self.classifier
        if not isinstance(classifier, str):
            return Classifier(self.people, classifier)
        check_in(classifier, "a classifier", ["naive Bayes", "logistic"])
        return Logistic(self.people) if classifier == "logistic" else NaiveBayes(self.people, self.smoothing)


def _started(start: object, like: pd.DataFrame) -> np.ndarray:
    """Read the starting probabilities, a table labelled like another."""
    table = check_dataframe(start, "start")
    alike = table.index.nlevels == like.index.nlevels and table.columns.nlevels == like.columns.nlevels
    if not alike or not table.index.equals(like.index) or not table.columns.equals(like.columns):
        raise TableError(
            "start must have the same rows and columns, in the same order, as the table of a result: see "
            "definetti(release, iterations=1).table"
        )
    p = real_numbers(table, "start", BadProbability)
    if not (p >= 0).all() or not (np.abs(p.sum(axis=1) - 1) <= START_SUM).all():
        raise BadProbability("start must contain probabilities that sum to 1 in each row")
    return p
