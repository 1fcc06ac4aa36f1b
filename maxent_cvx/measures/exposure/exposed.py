"""Exposure: how many people's values an adversary infers with at least a given probability, and whose."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments
from ...model.partitioned.partitioned_posterior import PartitionedPosterior
from ...model.partitioned.surest import surest_of
from ...model.posterior import Posterior
from ...priors import QIDistribution
from ...views import OUTSIDE
from ..accuracy import original_counts
from ..disclosure import of_those_inside
from .baseline import baseline_of, baseline_of_all
from .exposure import Exposure
from .judge import Judge, Tally, slack_of, summed
from .judged_values import judged_values
from .through import Through
from .wording import uncounted_table, verdict, warnings_of

__all__ = ["exposed"]

#: QI tuples that are listed of a release in partitions.
LISTED = 1000
#: Columns of `who` besides the sensitive attributes.
OWN = frozenset({"P", "baseline", "people"})


def exposed(
    post: Posterior | PartitionedPosterior,
    threshold: float = 0.8,
    original: pd.DataFrame | None = None,
    *,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = None,
) -> Exposure:
    """Count the people of whom some sensitive value s has P(s | q) >= threshold while its baseline P0(s) < threshold.

    Without a baseline P0 is 0, and whoever's value is likely counts, also where everybody knew it. With one it is an
    upward breach of privacy from below the threshold to at least the threshold.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers. Of a release in partitions, up to 1,000 QI tuples are listed, the surest.
    threshold : float
        A probability. One that is below it by no more than the certificate's bound counts as reaching it.
    original : DataFrame, optional
        The records that were published, to measure the attack's success.
    sensitive : object, optional
        The values that count: one, or a list of them; by default all. Of several sensitive attributes a tuple is a
        combination of their values; ``{"Disease": ["HIV", "Flu"]}`` is these values, whatever the others are.
    baseline : "overall", Series, DataFrame, QIDistribution or Posterior, optional
        P0: "overall", the distribution of the values in what is published; P(s) by value, a Series, which may have
        values that nobody in the release has; P(s | q) by some of the QI attributes; or what is inferred of somebody
        who is not in the release, a posterior. Of a release in partitions "overall" or a Series. It reaches the
        threshold if it does so, but for rounding of 1e-9, whatever its own certificate's bound.

    Returns
    -------
    Exposure
        With ``.people``, ``.who``, ``.values``, ``.warnings``, ``.statements`` and, given the original records,
        ``.attack_success``. ``str()`` of it is the verdict in words.

    Raises
    ------
    StatementError
        If `post` is no posterior; if the baseline is none, or is not published; of a release in partitions, if
        `original` or a baseline that is not the same for everybody is given.
    BadProbability
        If the threshold is not between 0 and 1, or the baseline does not hold probabilities.
    UnknownName, TableError
        If `sensitive` or the baseline do not fit the sensitive values, or the baseline the people; if an attribute is
        called P, baseline or people, as a column of `who` is; if the original records lack a column, or are not the
        people of the release.

    Notes
    -----
    Evfimievski, Gehrke and Srikant (2003): an upward rho1-to-rho2 privacy breach has P0(s) <= rho1 and
    P(s | q) >= rho2. Here rho2 is the threshold, and rho1 whatever is below it. Of a population
    (:class:`maxent_cvx.GroupedRelease`) P(s | q, in the release) is judged, of everybody in the population who may be
    in the release, and "overall" is of the people in it.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> print(mx.measures.exposed(knows, threshold=0.8).who.round(2))
                         Disease    P  people
    Gender Degree
    female junior  Breast Cancer  1.0       1

    Judged by what everybody knows:

    >>> print(mx.measures.exposed(knows, threshold=0.8, sensitive=["Breast Cancer", "HIV"], baseline="overall"))
    1 of 10 people (10.0%) exposed: a value that has P < 0.8 overall is inferred with P >= 0.8.
    'Breast Cancer', P = 0.2 overall, is inferred of 1 person, of 1 for certain.
    By what is published alone 0 of them would be; the others are exposed through P(Breast Cancer | Gender=male) = 0.
    """
    arguments.real(threshold, "threshold", 0.0, 1.0)
    if isinstance(post, PartitionedPosterior):
        return _of_parts(post, threshold, original, sensitive, baseline)
    arguments.instance(post, Posterior, "post")
    rows, people = of_those_inside(post)
    _names_are_free(rows.columns.names, rows.index.names)
    judged = judged_values(rows.columns, sensitive)
    before = None if baseline is None else baseline_of(baseline, post, rows, judged)
    judge = Judge(threshold, slack_of(post), rows.columns, judged, before)
    p = rows.to_numpy()
    counted = judge.counted(p)
    largest, which = counted.max(axis=1), counted.argmax(axis=1)
    who = judged.labels[which].to_frame(index=False).set_index(rows.index).assign(P=largest)
    if before is not None:
        who["baseline"] = np.broadcast_to(before.p, counted.shape)[np.arange(len(which)), which]
    surest_first = np.lexsort((-people, -largest))
    found = who.assign(people=people).iloc[surest_first[judge.reaches(largest)[surest_first]]]
    tally = Tally.of(judge, judge(p, people, np.arange(len(people))))
    success = None if original is None else _success(post, original, judge.slack)
    return _told(judge, tally, people, found, success, Through(post, judge, rows, people))


def _names_are_free(*names: Iterable[object]) -> None:
    """Refuse attributes that are called as a column of ``Exposure.who`` is: one of the two would be lost."""
    if taken := [name for some in names for name in some if name in OWN]:
        raise TableError(
            f"an attribute is called {taken[0]!r}, as a column of those who are exposed is; rename it in the table"
        )


def _success(post: Posterior, original: pd.DataFrame, slack: float) -> float:
    """P(argmax = truth), over all people."""
    p = post.conditional().to_numpy()  # the records do not say which of them is a named person's
    guess = p >= (p.max(axis=1) - slack)[:, None]
    right = original_counts(post, original) * guess / guess.sum(axis=1, keepdims=True)
    return float(right.sum() / post.space.view.n_records)


def _of_parts(
    post: PartitionedPosterior, threshold: float, original: pd.DataFrame | None, sensitive: object, baseline: object
) -> Exposure:
    """Those of all partitions, of whom the surest are listed."""
    if original is not None:
        raise StatementError("an attack is scored in memory: of a release in partitions, leave original= out")
    values = post.release.sensitive_values
    _names_are_free(values.names, post.release.qi)
    judged = judged_values(values, sensitive)
    if baseline is not None and not isinstance(baseline, str | pd.Series):
        raise StatementError(
            'of a release in partitions the baseline is the same for everybody: "overall", or a Series of P(s)'
        )
    before = None if baseline is None else baseline_of_all(baseline, post.release, judged, values)
    judge = Judge(threshold, min(post.certificate.bound, 1.0), values, judged, before)
    tally = Tally.of(judge, np.asarray(post.reduce(judge, summed)))
    surest = surest_of(post, LISTED, judge.counted, judged.labels)
    if before is not None:
        inferred = pd.MultiIndex.from_frame(surest[list(judged.labels.names)])
        which = judged.labels.get_indexer(inferred if judged.labels.nlevels > 1 else inferred.get_level_values(0))
        surest.insert(len(surest.columns) - 1, "baseline", before.p[0, which])
    return _told(judge, tally, post.release.n_q, surest[judge.reaches(surest["P"].to_numpy())], None, None)


def _told(
    judge: Judge,
    tally: Tally,
    people: np.ndarray,
    who: pd.DataFrame,
    success: float | None,
    through: Through | None,
) -> Exposure:
    """Put together what was counted, and the words for it."""
    bins = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="largest P(s | q)")
    histogram = pd.Series(tally.tenths, index=bins, name="people")
    p0 = np.nan
    if judge.baseline is not None:
        p = judge.baseline.p
        p0 = p[0] if len(p) == 1 else people @ p / people.sum()
    values = pd.DataFrame(
        {
            "baseline": p0, "exposed": tally.by_value, "certain": tally.certain,
            "not_counted": tally.not_counted, "anyway": tally.anyway,
        },
        index=judge.judged.labels,
    )  # fmt: skip
    uncounted = uncounted_table(judge, tally)
    is_population = through is not None and OUTSIDE in through.post.space.view.sensitive_values.to_flat_index()
    whom = "people who may be in the release" if is_population else "people"
    said = tuple(verdict(judge, tally, int(histogram.sum()), values, whom))
    warnings = tuple(warnings_of(judge, tally, uncounted))
    called = None if judge.baseline is None else judge.baseline.called
    found = Exposure(judge.threshold, tally.exposed, who, histogram, success, values, uncounted, warnings, called)
    vars(found).update(_verdict=said, _through=through)  # what it says and knows by itself, and nobody hands over
    return found
