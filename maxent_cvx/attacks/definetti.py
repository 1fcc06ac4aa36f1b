"""The deFinetti attack: expectation maximisation over the possible worlds of all buckets (Kifer, 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import BadProbability, Infeasible, StatementError, TableError, join_names, short_repr
from .._utils.progress import progress_bar
from .._utils.tables import densely
from .._utils.validation import (
    check_dataframe,
    check_float,
    check_instance,
    check_int,
    check_number,
    check_optional_bool,
)
from ..releases.base import attach
from ..releases.release import Release
from ..worlds.groups import STEPS, Groups, weighed
from .result import AttackResult

__all__ = [
    "definetti",
]

# Any classifier of scikit-learn as the model of the sensitive value given quasi-identifiers.


class Classifier:
    """log P(s | q) of a classifier that is fitted to every QI tuple with every value, weighed by expected records."""

    def __init__(self, release: Release, classifier: object) -> None:
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
        self.features = release.quasi_identifiers.to_frame(index=False)
        if isinstance(classifier, Pipeline):
            self.model: Any = clone(classifier)
        else:
            numeric = [name for name, column in self.features.items() if pd.api.types.is_numeric_dtype(column)]
            others = [name for name in self.features if name not in numeric]
            for name in others:  # numbers, as values of several types cannot be sorted
                self.features[name] = densely(np.asarray(release.quasi_identifiers.codes[release.qi.index(str(name))]))
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
            raise BadProbability("the classifier predicts numbers that are not probabilities; choose another one")
        p = np.zeros_like(expected)
        p[:, self.model.classes_] = predicted
        with np.errstate(divide="ignore"):
            return np.log(p), 0.0


# What the deFinetti attack infers, and how it came to it.


@dataclass(frozen=True, eq=False, repr=False)
class DeFinettiResult(AttackResult):
    """P(s | bucket, QI tuple) by a model learnt from the release alone.

    Attributes
    ----------
    table, baseline, records, error
        As in :class:`maxent_cvx.attacks.AttackResult`.
    log : DataFrame
        One row per iteration: `change`, the largest change of a probability; `log_likelihood` and `objective`, nats,
        see the notes of :func:`maxent_cvx.attacks.definetti`.
    converged : bool
        Whether the last change was within the tolerance.

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

    title: ClassVar[str] = "deFinetti attack"

    @property
    def sentence(self) -> str:
        """What was found, in words, and whether it would still change."""
        end = "converged" if self.converged else f"last changed by {self.log['change'].iloc[-1]:.1g}"
        return f"{super().sentence}; {len(self.log)} iterations, {end}"


# Naive Bayes: quasi-identifiers are independent of each other given the sensitive value.


class NaiveBayes:
    """P(q, s) = P(s) prod_a P(q_a | s), P(q_a = v | s) = (n(v, s) + c) / (n(s) + c |A|), P(s) as published."""

    def __init__(self, release: Release, smoothing: float) -> None:
        self.codes = [densely(np.asarray(code, dtype=np.int64)) for code in release.quasi_identifiers.codes]
        self.log_prior = np.log(release.n_s / release.n_s.sum())
        self.smoothing = smoothing

    def learnt(self, expected: np.ndarray) -> tuple[np.ndarray, float]:
        """Maximise the expected log-likelihood, and what smoothing adds to it."""
        log_f, penalty = np.tile(self.log_prior, (len(expected), 1)), 0.0
        n_s, every = expected.sum(axis=0), np.arange(len(expected))
        nobody = (n_s == 0) & (self.smoothing == 0)  # has a value: 0 / 0 people then, who are not expected
        for code in self.codes:
            has = sp.csr_array((np.ones(len(code)), (code, every)))  # every value that occurs, and who has it
            with np.errstate(divide="ignore"):
                log_p = np.log((has @ expected + self.smoothing) / (n_s + self.smoothing * has.shape[0] + nobody))
            log_f += log_p[code]
            penalty += self.smoothing * float(log_p.sum()) if self.smoothing else 0.0
        return log_f, penalty


# The expectation step: who of every bucket has which value, over its possible worlds, each weighed by a model.


@dataclass(frozen=True, eq=False)
class BucketWorlds:
    """The worlds of all buckets, which deal each bucket's values to its people."""

    # A counterfeit is dealt to somebody of whom no quasi-identifiers are published: one QI tuple more, the last.

    release: Release

    @cached_property
    def groups(self) -> Groups:
        """The buckets; all priors are 1, so that all worlds are equally likely."""
        release = self.release
        lacking = np.asarray(release.n_sb.sum(axis=0) - release.n_qb.sum(axis=0))
        tuples, values = (
            sp.csc_array(sp.vstack([release.n_qb, sp.csr_array(lacking[None])])),
            sp.csc_array(release.n_sb),
        )
        for table in (tuples, values):
            table.eliminate_zeros()
            table.sort_indices()
        return Groups(np.ones((tuples.shape[0], values.shape[0])), tuples, values, release.buckets)

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The bucket and the QI tuple of every row of a table, sorted by both."""
        tuples = self.groups.tuples
        bucket = np.repeat(np.arange(len(self.groups)), np.diff(tuples.indptr))
        known = tuples.indices < len(self.release.quasi_identifiers)
        return bucket[known], tuples.indices[known]

    @cached_property
    def records(self) -> np.ndarray:
        """How many people each row is of."""
        tuples = self.groups.tuples
        return np.asarray(tuples.data[tuples.indices < len(self.release.quasi_identifiers)])

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which pairs of the groups are of people with quasi-identifiers; their rows, and their values."""
        _, u, v = self.groups.pairs
        known = self.groups.tuples.indices < len(self.release.quasi_identifiers)
        is_known = known[u]
        return is_known, (np.cumsum(known) - 1)[u[is_known]], self.groups.values.indices[v[is_known]]

    @property
    def index(self) -> pd.MultiIndex:
        """The labels of the rows: bucket and quasi-identifiers."""
        bucket, q = self.rows
        return attach(self.release.buckets, bucket, self.release.quasi_identifiers, q)

    def equally_likely(self) -> np.ndarray:
        """P(s | q, b) = n(s, b) / n(b), shape (rows, values): the bucket's shares."""
        n_sb = self.release.n_sb
        shares = (n_sb / n_sb.sum(axis=0)[None]).T.tocsr()
        return np.asarray(shares[self.rows[0]].todense())

    def expected(self, p: np.ndarray) -> np.ndarray:
        """How many records with each QI tuple have each value, shape (tuples, values)."""
        every = np.arange(len(p))
        of = sp.csr_array((self.records, (self.rows[1], every)), (len(self.release.quasi_identifiers), len(p)))
        return np.asarray(of @ p)

    def posterior(self, log_f: np.ndarray, limit: float) -> tuple[np.ndarray, float]:
        """P(s | q, b) in proportion to the worlds' weights, shape (rows, values), and the log-likelihood, nats."""
        n_s = self.release.n_s
        share, total = weighed(self.groups, np.vstack([log_f, np.log(n_s / n_s.sum())]), limit)
        if (without := np.isneginf(total)).any():
            raise Infeasible(
                f"the classifier rules out every possible world of {join_names(self.release.buckets[without])}: in each of "
                "them somebody has a value of probability 0; choose a classifier that is less certain"
            )
        is_known, row, value = self._pairs
        p = np.zeros((len(self.records), len(n_s)))
        p[row, value] = share[is_known]
        return p, float(total.sum())


#: How far the sum of a start's row may be from 1: what rounding to some digits leaves.
START_SUM = 1e-6


def definetti(
    release: Release,
    classifier: object = None,
    smoothing: float = 1.0,
    iterations: int = 60,
    *,
    tolerance: float = 1e-3,
    start: pd.DataFrame | None = None,
    limit: float = STEPS,
    progress: bool | None = None,
) -> DeFinettiResult:
    """P(t : s) ~ sum over worlds of prod_t P(q_t, s_t), with a model P that is fitted to the release itself.

    People of all buckets are drawn from one unknown distribution (they are exchangeable), so every bucket contains
    information about everybody else. The model and the values of people are estimated in turn, by expectation
    maximisation: P(s | person), exactly, over all assignments of a bucket's values to its people; then the model, from
    everybody weighted by these probabilities. The adversary knows the release and the exact quasi-identifiers, but
    nobody's sensitive value.

    Parameters
    ----------
    release : Release
        A release with exact quasi-identifiers. If all people of a bucket have the same ones, as in a generalised table,
        the answer is the baseline; make the release with its `population` in this case. A counterfeit belongs to a person
        without known quasi-identifiers.
    classifier : scikit-learn classifier, optional
        The model of s given q, with `predict_proba` and sample weights; copies of it are fitted. A Pipeline gets the
        quasi-identifiers as a DataFrame and encodes them itself; any other classifier gets numbers scaled to [0, 1],
        and other attributes one-hot encoded. By default naive Bayes, P(q, s) = P(s) prod_a P(q_a | s), with all
        attributes categorical.
    smoothing : float
        For naive Bayes: records added to each value of every attribute for every s (Laplace); P(s) is published and
        not smoothed.
    iterations : int
        Maximum number of iterations.
    tolerance : float
        Stop when no probability changes by more than this.
    start : DataFrame, optional
        P(s | bucket, QI tuple) before the first iteration, labelled as the `table` of a result; by default the
        `baseline`, the bucket's shares.
    limit : float
        The number of steps allowed per bucket, see :func:`maxent_cvx.worlds.posterior`.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DeFinettiResult
        An :class:`AttackResult` with P(s | bucket, QI tuple), `log` and `converged`. `judge` needs the original records
        with their bucket as a column.

    Raises
    ------
    StatementError
        If `release` is not a Release, `classifier` not such a classifier, or scikit-learn is not installed.
    BadProbability
        If a number is out of range, or `start` or the predictions of the classifier are not probabilities.
    TableError
        If `start` is not labelled as the table of a result.
    GroupTooLarge
        If a bucket has too many people with different values.
    Infeasible
        If the classifier rules out every world of a bucket.

    Notes
    -----
    With naive Bayes no iteration lowers ``log["objective"]``: the log-likelihood of the release,
    sum_b log sum_worlds prod_t P(q_t, s_t), plus c sum log P(v | s), the logarithm of the Dirichlet prior that smoothing
    amounts to. It converges to a local maximum. A classifier that minimises the logarithmic loss, without a penalty,
    raises sum_b log sum_worlds prod_t P(s_t | q_t); others need not.

    Probabilities are exact for the model, but overconfident if it is too simple: naive Bayes counts common information
    of two attributes twice. It also finds patterns in noise. ``judge(original).calibration`` shows both. An adversary
    without the original records can use held-out buckets to check whether anything was learnt: are their values more
    likely as published than exchanged between two buckets? If all buckets have the same values, nothing is learnt.

    The attack is Kifer's; the exact sums over the worlds of a bucket are those of :func:`maxent_cvx.worlds.posterior`.

    References
    ----------
    Kifer, D. (2009). Attacks on privacy and deFinetti's theorem. SIGMOD, 127-138.

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
    how = "the attack is on buckets: on each release of a series, on parts after Release.from_partitions(...)"
    check_instance(release, Release, "release", how)
    smoothing = check_float(smoothing, "smoothing", 0.0, 2.0**53)
    check_int(iterations, "iterations", 1)
    tolerance = check_float(tolerance, "tolerance", 0.0, 1.0)
    limit = check_number(limit, "limit")
    check_optional_bool(progress, "progress")
    worlds = BucketWorlds(release)
    model = NaiveBayes(release, smoothing) if classifier is None else Classifier(release, classifier)
    index, values = worlds.index, release.sensitive_values
    shares = worlds.equally_likely()
    p = shares if start is None else _started(start, pd.DataFrame(shares, index, values))
    log: list[tuple[float, float, float]] = []
    with progress_bar(None, "definetti", progress, total=iterations, unit="iteration") as bar:
        while len(log) < iterations and not (log and log[-1][0] <= tolerance):
            log_f, penalty = model.learnt(worlds.expected(p))
            before, (p, log_likelihood) = p, worlds.posterior(log_f, limit)
            log.append((float(np.abs(p - before).max()), log_likelihood, log_likelihood + penalty))
            bar.update()
            bar.set_postfix_str(f"largest change {log[-1][0]:.1e}")
    iteration = pd.RangeIndex(1, len(log) + 1, name="iteration")
    return DeFinettiResult(
        table=pd.DataFrame(p, index, values),
        baseline=pd.DataFrame(shares, index, values),
        records=pd.Series(worlds.records, index, name="records"),
        error=0.0,
        log=pd.DataFrame(log, iteration, ["change", "log_likelihood", "objective"]),
        converged=log[-1][0] <= tolerance,
    )


def _started(start: object, like: pd.DataFrame) -> np.ndarray:
    """Read where to start, a table labelled as another."""
    table = check_dataframe(start, "start")
    alike = table.index.nlevels == like.index.nlevels and table.columns.nlevels == like.columns.nlevels
    if not alike or not table.index.equals(like.index) or not table.columns.equals(like.columns):
        raise TableError(
            "start must have the rows and columns of a result's table, in its order: those of "
            "definetti(release, iterations=1).table"
        )
    try:
        p = table.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"start must contain probabilities: {error}") from error
    if not (p >= 0).all() or not (np.abs(p.sum(axis=1) - 1) <= START_SUM).all():
        raise BadProbability("start must contain probabilities that sum to 1 in each row")
    return p
