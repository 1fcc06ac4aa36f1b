"""Exposure: how many people's values an adversary infers with at least a given probability, and whose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments
from ...model.partitioned.partitioned_posterior import PartitionedPosterior
from ...model.partitioned.surest import surest_of
from ...model.posterior import Posterior
from ...priors import QIDistribution
from ...views import OUTSIDE
from ..accuracy import original_counts
from ..disclosure import of_those_inside, published
from .baseline import baseline_of, baseline_of_all
from .exposure import Exposure
from .intervals import judged_within
from .judge import Judge, Tally, slack_of, summed
from .through import Through
from .wording import distance_in_words, meaning, uncounted_table, undecided_of, verdict, warnings_of

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
    within: object = None,
    rho1: float | None = None,
) -> Exposure:
    """Count the people of whom some sensitive value s has P(s | q) >= threshold while its baseline P0(s) < threshold.

    Of values that are numbers, dates or ranks the rule is about intervals: ``P(|S - s| <= within | q) >= threshold``
    while ``P0(|S - s| <= within) < threshold``, for some s that occurs.

    Without a baseline P0 is 0, and whoever's value is likely counts, also where it is as likely for everybody. With a
    baseline, P0 just below the threshold and P(s | q) just above it count as well: ``.lift`` is P / P0 of each group,
    and `rho1` asks for a smaller P0.

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
        combination of their values; ``{"Disease": ["HIV", "Flu"]}`` is these values, whatever the others are, and
        ``{"Disease": None}`` all values of the attribute. Of numbers they are the centres s of the intervals, which
        hold other values, too.
    baseline : "overall", Series, DataFrame, QIDistribution or Posterior, optional
        P0: "overall", the distribution of the values in the release, everybody in it included; P(s) by value, a
        Series, which may have
        values that nobody in the release has; P(s | q) by some of the QI attributes; or what is inferred of somebody
        who is not in the release, a posterior. Of a release in partitions "overall" or a Series. It reaches the
        threshold if it does so, but for rounding of 1e-9, whatever its own certificate's bound.
    within : float, Timedelta, dict or DataFrame, optional
        Two values that differ by no more count as the same. Numbers: in their unit. Dates and times, also as text in
        the form of ISO 8601: a Timedelta, or a text such as "30 days". An ordered Categorical: in ranks. 0 is equal
        values only. By default a twentieth of the range of the values in the release; of ordered values a twentieth of
        the ranks, and at least one rank if five or more occur; ``.within`` and the verdict say which. For labels, a
        hierarchy as of :meth:`maxent_cvx.Release.from_generalized`: its nodes, all but the root, count besides the
        values. Combinations of several attributes are compared by equal values only.
    rho1 : float, optional
        Only values with P0 <= rho1 count; by default those with P0 < threshold.

    Returns
    -------
    Exposure
        With ``.people``, ``.who``, ``.values``, ``.warnings``, ``.statements`` and, given the original records,
        ``.attack_success``; of numbers ``.within`` and ``.expected_error``. ``str()`` of it is the verdict in words.
        ``.undecided`` holds the warnings with which "nobody is exposed" cannot be believed.

    Raises
    ------
    StatementError
        If `post` is no posterior; if the baseline is none, or is not published; of a release in partitions, if
        `original` or a baseline that is not the same for everybody is given; if `within` does not fit the values.
    BadProbability
        If the threshold or `rho1` is not between 0 and 1, or the baseline does not hold probabilities.
    UnknownName, TableError
        If `sensitive` or the baseline do not fit the sensitive values, or the baseline the people; if an attribute is
        called P, baseline or people, as a column of `who` is; if the original records lack a column, or are not the
        people of the release.

    Notes
    -----
    Evfimievski, Gehrke and Srikant (2003): an upward rho1-to-rho2 privacy breach has P0(s) <= rho1 and
    P(s | q) >= rho2. Here rho2 is the threshold; without `rho1` any P0 below it counts.

    A label that looks like a number ("$30,000", "20-30 years") is not read as one, and values most of which occur once
    or twice are hardly ever inferred exactly: ``.undecided`` says so unless `within` is given. It also says how many
    people are not counted because the baseline of the interval reaches the threshold, although a narrower interval
    would expose them.

    Of a population
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

    Compared with the shares of the values in the release:

    >>> print(mx.measures.exposed(knows, threshold=0.8, sensitive=["Breast Cancer", "HIV"], baseline="overall"))
    1 of 10 people (10.0%) exposed: a value that has P < 0.8 overall is inferred with P >= 0.8.
    'Breast Cancer', P = 0.2 overall, is inferred of 1 person, of 1 for certain.
    P is 5 times the baseline.
    By what is published alone 0 of them would be; the others are exposed through P(Breast Cancer | Gender=male) = 0.

    Salaries that are all different, and known within 50:

    >>> import pandas as pd
    >>> pay = pd.DataFrame({"age": [30] * 3 + [40] * 3, "pay": [30_000, 30_020, 30_050, 70_000, 70_010, 70_050]})
    >>> pay["bucket"] = pay["age"]
    >>> post = mx.MaxEnt(mx.Release.from_buckets(pay, qi="age", sa="pay", bucket="bucket")).solve()
    >>> mx.measures.exposed(post, baseline="overall", within=0).people
    0
    >>> print(mx.measures.exposed(post, baseline="overall"))
    6 of 6 people (100.0%) exposed: a value, to within 2,002.5, that has P < 0.8 overall is inferred with P >= 0.8.
    P is 2 times the baseline.
    Values count as inferred if they are within 2,002.5 (the default, a twentieth of their range; within=...).
    The best guess is off by 16.7 on average; without the release, by 19,998.33.
    They are exposed by what is published alone.
    """
    arguments.real(threshold, "threshold", 0.0, 1.0)
    if rho1 is not None:
        arguments.real(rho1, "rho1", 0.0, 1.0)
    if isinstance(post, PartitionedPosterior):
        return _of_parts(post, threshold, original, sensitive, baseline, within, rho1)
    arguments.instance(post, Posterior, "post")
    rows, people = of_those_inside(post)
    _names_are_free(rows.columns.names, rows.index.names)
    judged, intervals = judged_within(rows.columns, sensitive, within)
    judge = Judge(threshold, slack_of(post), rows.columns, judged, None, intervals, rho1)
    if baseline is not None:
        judge = replace(judge, baseline=baseline_of(baseline, post, rows, judge.units))
    p = rows.to_numpy()
    largest, which = judge.surest_of_all(p)
    who = judged.labels[which].to_frame(index=False).set_index(rows.index).assign(P=largest)
    if baseline is not None:
        who["baseline"] = judge.baseline_at(which)
    surest_first = np.lexsort((-people, -largest))
    found = who.assign(people=people).iloc[surest_first[judge.reaches(largest)[surest_first]]]
    tally = Tally.of(judge, judge(p, people, np.arange(len(people))))
    success = None if original is None else _success(post, original, judge.slack)
    n_s = published(post.space.view)
    return _told(judge, tally, people, n_s, within is not None, found, success, Through(post, judge, rows, people))


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
    post: PartitionedPosterior,
    threshold: float,
    original: pd.DataFrame | None,
    sensitive: object,
    baseline: object,
    within: object,
    rho1: float | None,
) -> Exposure:
    """Those of all partitions, of whom the surest are listed."""
    if original is not None:
        raise StatementError("an attack is scored in memory: of a release in partitions, leave original= out")
    values = post.release.sensitive_values
    _names_are_free(values.names, post.release.qi)
    judged, intervals = judged_within(values, sensitive, within)
    if baseline is not None and not isinstance(baseline, str | pd.Series):
        raise StatementError(
            'of a release in partitions the baseline is the same for everybody: "overall", or a Series of P(s)'
        )
    judge = Judge(threshold, min(post.certificate.bound, 1.0), values, judged, None, intervals, rho1)
    if baseline is not None:
        judge = replace(judge, baseline=baseline_of_all(baseline, post.release, judge.units, values))
    tally = Tally.of(judge, np.asarray(post.reduce(judge, summed)))
    surest = surest_of(post, LISTED, judge.surest_of_all, judged.labels)
    if baseline is not None:
        inferred = pd.MultiIndex.from_frame(surest[list(judged.labels.names)])
        which = judged.labels.get_indexer(inferred if judged.labels.nlevels > 1 else inferred.get_level_values(0))
        surest.insert(len(surest.columns) - 1, "baseline", judge.baseline_at(which))
    who = surest[judge.reaches(surest["P"].to_numpy())]
    return _told(judge, tally, post.release.n_q, post.release.n_s, within is not None, who, None, None)


def _told(
    judge: Judge,
    tally: Tally,
    people: np.ndarray,
    n_s: np.ndarray | None,
    is_given: bool,
    who: pd.DataFrame,
    success: float | None,
    through: Through | None,
) -> Exposure:
    """Put together what was counted, and the words for it."""
    bins = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="largest P(s | q)")
    histogram = pd.Series(tally.tenths, index=bins, name="people")
    p0 = np.nan
    if judge.baseline is not None:
        p = judge.p0
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
    total = int(histogram.sum())
    said = tuple(verdict(judge, tally, total, values, whom))
    doubts = list(undecided_of(judge, tally, n_s, total, is_given))
    warnings = (*warnings_of(judge, tally, uncounted), *(text for text, _ in doubts))
    undecided = tuple(text for text, is_open in doubts if is_open)
    called = None if judge.baseline is None else judge.baseline.called
    found = Exposure(
        judge.threshold,
        tally.exposed,
        who,
        histogram,
        success,
        values,
        uncounted,
        warnings,
        called,
        undecided=undecided,
    )
    near, scale = judge.intervals, list(distance_in_words(judge))
    if near is not None:
        error, amount = tally.errors / max(total, 1), near.scale.amount
        vars(found).update(within=amount(near.radius), expected_error=amount(error))
        text = f"The best guess is off by {near.scale.in_words(error)} on average"
        if n_s is not None:
            before = float(near.errors(near.all_values.of(n_s[None].astype(float)))[0])
            vars(found).update(expected_error_before=amount(before))
            text += f"; without the release, by {near.scale.in_words(before)}"
        scale += [f"{text}."]
    # What it says and knows by itself, and nobody hands over.
    vars(found).update(
        _verdict=said, _through=through, _scale=tuple(scale), _meaning=meaning(judge), _intervals=judge.by_interval
    )
    return found
