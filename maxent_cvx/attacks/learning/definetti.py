"""Expectation maximisation over the possible worlds of all buckets (Kifer, 2009)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...errors import BadProbability, TableError, arguments, whole
from ...system.progress import progress_bar
from ...views import Release
from ...worlds.linked import STEPS
from .classifier import Classifier
from .definetti_result import DeFinettiResult
from .naive_bayes import NaiveBayes
from .worlds import BucketWorlds

__all__ = ["definetti"]

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
    """P(t : s) in proportion to the worlds' weights, prod_t P(q_t, s_t), by a model that these worlds are fitted to.

    People of all buckets are drawn from one unknown distribution (they are exchangeable), so that every bucket says
    something about everybody else. A model of it and everybody's value are estimated in turn, by expectation
    maximisation: who has which value, exactly, over all ways to deal a bucket's values to its people; then the model
    from everybody, each counted as having every value with its probability. The adversary knows the release and the
    exact quasi-identifiers, and nobody's sensitive value.

    Parameters
    ----------
    release : Release
        Of exact quasi-identifiers. If all of a bucket are published as alike, as in a generalised table, nothing
        distinguishes them, and the answer is the baseline; give its `population` then. A counterfeit belongs to
        somebody of whom no quasi-identifier is known.
    classifier : scikit-learn classifier, optional
        The model of s given q, with `predict_proba` and sample weights; it is left as it is, and copies are fitted. A
        Pipeline gets the quasi-identifiers as a DataFrame and encodes them itself; any other classifier gets numbers
        scaled to 0 to 1, and a column for each value of all else (one-hot). By default naive Bayes, P(q, s) = P(s)
        prod_a P(q_a | s), all attributes categorical.
    smoothing : float
        Of naive Bayes: records that are added to each value of every attribute for every s (Laplace). None are added to
        P(s), which is published. A classifier has its own.
    iterations : int
        How many at most.
    tolerance : float
        The largest change of any probability with which it ends.
    start : DataFrame, optional
        P(s | bucket, QI tuple) before the first iteration, labelled as the `table` of a result; by default the
        `baseline`, the bucket's shares.
    limit : float
        How many steps a bucket may take, see :func:`maxent_cvx.worlds.posterior`.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DeFinettiResult
        An :class:`AttackResult` of P(s | bucket, QI tuple), with `log` and `converged`. To `judge` it, give the
        original records their secret bucket in a column.

    Raises
    ------
    StatementError
        If `release` is no Release, `classifier` no such classifier, or scikit-learn is not installed.
    BadProbability
        If a number is out of range, or `start` or the classifier gives what is no probability.
    TableError
        If `start` is not labelled as the table of a result.
    GroupTooLarge
        If a bucket has too many people with different values.
    Infeasible
        If the classifier rules out every world of a bucket.

    Notes
    -----
    With naive Bayes no iteration lowers ``log["objective"]``: the log-likelihood of what is published,
    sum_b log sum_worlds prod_t P(q_t, s_t), and c sum log P(v | s), the logarithm of the Dirichlet prior that smoothing
    is. What it ends in is a local maximum. A classifier that minimises the logarithmic loss, without a penalty, raises
    sum_b log sum_worlds prod_t P(s_t | q_t); another need not.

    Probabilities are exact for the model, and too sure where it is too simple: naive Bayes counts what two attributes
    say in common twice. In noise it finds patterns, too. ``judge(original).calibration`` shows both. An adversary
    without the original records can still find out whether anything was learnt: learn from some buckets, and see
    whether the values of the others are likelier where they are than exchanged between two buckets. Where all buckets
    have the same values, nothing tells these apart, and the shares are what it begins and ends with.

    The attack is the paper's; that all worlds of a bucket are weighed, exactly, is :func:`maxent_cvx.worlds.posterior`.

    References
    ----------
    Kifer, D. (2009). Attacks on privacy and deFinetti's theorem. SIGMOD, 127-138.

    Examples
    --------
    Buckets of two patients with two of three diseases. Nothing but the release says who coughs when:

    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> disease = np.array([rng.permutation(["Angina", "Asthma", "Flu"])[:2] for _ in range(500)]).ravel()
    >>> coughs = rng.random(1000) < np.where(disease == "Angina", 0.1, 0.8)
    >>> people = pd.DataFrame({"Coughs": coughs, "Disease": disease, "Bucket": np.arange(1000) // 2})
    >>> release = mx.Release.from_buckets(people, qi="Coughs", sa="Disease", bucket="Bucket")
    >>> found = mx.attacks.definetti(release)
    >>> print(found.judge(people))
    right for 72.8% of 1000 records; without the attack 50.0% (difference 0.23, standard error 0.0096)
    """
    how = "the attack is on buckets: on each release of a series, on parts after Release.from_partitions(...)"
    arguments.instance(release, Release, "release", how)
    smoothing = arguments.real(smoothing, "smoothing", 0.0, 2.0**53)
    whole(iterations, "iterations", 1)
    tolerance = arguments.real(tolerance, "tolerance", 0.0, 1.0)
    limit = arguments.number(limit, "limit")
    arguments.optional_flag(progress, "progress")
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
    given = arguments.table(start, "start")
    alike = given.index.nlevels == like.index.nlevels and given.columns.nlevels == like.columns.nlevels
    if not alike or not given.index.equals(like.index) or not given.columns.equals(like.columns):
        raise TableError(
            "start must have the rows and columns of a result's table, in its order: those of "
            "definetti(release, iterations=1).table"
        )
    try:
        p = given.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"start must hold probabilities: {error}") from error
    if not (p >= 0).all() or not (np.abs(p.sum(axis=1) - 1) <= START_SUM).all():
        raise BadProbability("start must hold probabilities, each row with the sum 1; at least one does not")
    return p
