"""Exposure: how many people's sensitive values an adversary infers with at least a given probability.

A person with quasi-identifiers q is exposed at threshold t if, for some sensitive value s,

    P(s | q) >= t    while    P0(s | q) < t,

where P is inferred and P0 is the baseline, what anybody believes without the release. If the values are numbers, dates
or ranks, the event "S = s" is replaced by the interval "|S - s| <= within". All counts are sums over people: an
:class:`ExposureRule` maps a block of rows of P to sums by name, and the sums of all blocks add up. In memory there is
one block; a partitioned posterior applies the same rule to one block per partition.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import (
    BadProbability,
    MaxEntError,
    SolverError,
    StatementError,
    TableError,
    join_names,
    one_line,
    short_repr,
    unknown_name,
)
from .._utils.formatting import Message, ReprMixin, TablePreview, format_value
from .._utils.tables import as_numbers, choose, group_codes
from .._utils.validation import check_float, check_instance
from ..model.explain import by_statement, model_of, without_knowledge
from ..model.partitioned import PartitionedPosterior, surest_of
from ..model.posterior import Posterior
from ..priors import QIDistribution, positions
from ..releases.generalized import read_hierarchies
from ..solvers.certificate import ACCURACY
from ..sources.invariants import PriorZeros
from .accuracy import original_counts
from .counterfactual import FIRST_ORDER, SOLVED, Counterfactual, without_each
from .disclosure import NEGLIGIBLE, add_up, of_those_inside, published
from .leakage import inferred

__all__ = [
    "ROUNDING",
    "WITHOUT_HER",
    "Exposure",
    "ExposureRule",
    "certified_error",
    "exposed",
    "read_baseline",
    "read_events",
    "same_value",
    "sensitive_events",
]

#: Sums of probabilities that differ by less are equal up to rounding.
ROUNDING = 1e-9
#: How far rounding may move the sum of the probabilities of an interval.
SUM_ROUNDING = 1e-12
#: The baseline P(s | q) from the same publication without the person's own record.
WITHOUT_HER = "without her"
#: Probabilities that are judged at a time: a larger table is judged in chunks, to bound the memory.
MOST_NUMBERS = 2**22
#: Groups that are listed for a release in partitions.
LISTED = 1000
#: Columns of `who` besides the sensitive attributes.
WHO_COLUMNS = frozenset({"P", "baseline", "people"})
#: Values that are certain and not counted for which there is a warning each.
MOST_WARNINGS = 10
#: The default distance is the range of the values divided by this.
PARTS_OF_RANGE = 20
#: With so many ranks or more, neighbouring ranks count as equal by default: three of five are not nearly all.
MANY_RANKS = 5
#: A value that occurs RARE times or less is rare. MANY_RARE rare values make a table nearly unique if they are more than
#: half of the values, and at least SHARE_OF_RARE of the people have one.
RARE, MANY_RARE, SHARE_OF_RARE = 2, 10, 0.1
#: Fewer labels that look like numbers may be a coincidence; with two, neither lies between others.
FEWEST_NUMBERS = 3

#: Dates and times in the form of ISO 8601, which have one meaning only: 2024-05-31, 2024-05-31T12:00:00+02:00.
ISO_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?")
#: A number with its separators, such as 30,000 or 30.000,50; or a code, letters followed by digits, such as A01 or B20.1.
NUMBER_OR_CODE = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]+)\d[\w.]*|\d+(?:[.,' \u2019]\d+)*")
#: Letters that may stand directly before a number without making it a code.
CURRENCIES = re.compile(
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|MXN|ZAR|RUB|TRY|KRW|US|RS|KR", re.I
)
#: Replaces the digits of a code, so that it is not taken for a number.
AS_LETTERS = str.maketrans("0123456789", "abcdefghij")


@dataclass(frozen=True, eq=False)
class Exposure(ReprMixin):
    """The people who are exposed, and how often the likeliest value is the true one.

    Attributes
    ----------
    threshold : float
        The probability from which a person counts as exposed.
    people : int
        Number of exposed people.
    who : DataFrame
        One row per exposed group, the largest probability first. Index: QI tuple, and name where people are named.
        Columns: the inferred value (the likeliest of those that count), its probability `P`, its `baseline` if there
        is one, and the number of `people` in the group.
    histogram : Series
        Number of people by their largest P(s | q) over the values s that count, in tenths.
    attack_success : float or None
        P(argmax = truth), the share of all people whose likeliest value is their true one; None without the original
        records. Ties are broken at random; names are not used.
    values : DataFrame
        By sensitive value: its `baseline` P0 (mean over people); the number of people `exposed` by it, and of those for
        whom it is `certain`; the number of people for whom it is `not_counted` because their P0 reaches the threshold,
        and of those for whom it is inferred `anyway`.
    uncounted : DataFrame
        By value: the number of `people` who are not exposed although the value is certain for them (P = 1), and
        `because` of what. Check these values: one that nobody took for sensitive is known for these people.
    warnings : tuple of str
        What a reader must know besides the number of people.
    baseline : str or None
        "overall", "without her own record" or "in the baseline", depending on what P0 was.
    within : float, Timedelta or None
        For numbers, dates or ranks: two values that differ by no more count as equal. None for labels.
    expected_error : float, Timedelta or None
        Expected distance of the value from the best guess, the median of P(s | q); mean over all people.
    expected_error_before : float, Timedelta or None
        The same for somebody who knows only how many people have each value, where that is published.
    undecided : tuple of str
        The warnings that make "nobody is exposed" unreliable, for example values that look like numbers but are treated
        as labels. Set `within` to decide.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> exposure = mx.measures.exposed(knows, threshold=0.8, original=hospital)
    >>> print(exposure)
    1 of 10 people exposed at P >= 0.8; guessing the likeliest value is right for 46.7%
    >>> exposure.histogram[exposure.histogram > 0].to_list()       # people by tenths: 0.3 to 0.4, ..., 0.9 to 1
    [2, 5, 2, 1]

    With a baseline, and attributed to statements:

    >>> exposure = mx.measures.exposed(knows, threshold=0.8, baseline="overall")
    >>> exposure.published_alone, exposure.statements["people"].to_dict()
    (0, {'P(Breast Cancer | Gender=male) = 0': 1})
    """

    threshold: float
    people: int
    who: pd.DataFrame
    histogram: pd.Series
    attack_success: float | None
    values: pd.DataFrame = field(default_factory=pd.DataFrame)
    uncounted: pd.DataFrame = field(default_factory=pd.DataFrame)
    warnings: tuple[str, ...] = ()
    baseline: str | None = None
    within: float | pd.Timedelta | None = None
    expected_error: float | pd.Timedelta | None = None
    expected_error_before: float | pd.Timedelta | None = None
    undecided: tuple[str, ...] = ()
    _rule: ExposureRule | None = field(default=None, init=False)
    _verdict: tuple[str, ...] = field(default=(), init=False)
    _distances: tuple[str, ...] = field(default=(), init=False)
    _attribution: Attribution | None = field(default=None, init=False)

    @property
    def total(self) -> int:
        """Number of all people."""
        return int(self.histogram.sum())

    @property
    def meaning(self) -> str:
        """What exposes somebody, in words: "a value with P < 0.8 overall is inferred with P >= 0.8"."""
        return f"a value is inferred with P >= {self.threshold:g}" if self._rule is None else self._rule.meaning

    @property
    def closeness(self) -> str:
        """The distance within which values count as equal, in words: "4,500", "30 days"; empty for equal values only."""
        windows = None if self._rule is None else self._rule.windows
        return "" if windows is None else windows.scale.in_words(windows.radius)

    @property
    def distances(self) -> tuple[str, ...]:
        """Sentences on which values count as equal, and how far off the best guess is; empty for labels."""
        return self._distances

    @property
    def lift(self) -> pd.Series:
        """P / P0 of each row of `who`; empty without a baseline."""
        if "baseline" not in self.who:
            return pd.Series(dtype=float, name="lift")
        with np.errstate(divide="ignore"):
            return pd.Series(self.who["P"].to_numpy() / self.who["baseline"].to_numpy(), self.who.index, name="lift")

    @cached_property
    def published_alone(self) -> int:
        """Number of the exposed people who are exposed by the release (and the prior) alone, without any statement.

        Raises
        ------
        StatementError
            For a release in partitions, or if the posterior was loaded from a file without `verify`.
        SolverError
            If the model without knowledge cannot be solved.
        """
        return self._attributed.published_alone

    @cached_property
    def statements(self) -> pd.DataFrame:
        """Attribution of the exposure to statements, computed when first read: the model is solved for each statement.

        One row per statement (per source, if the knowledge has more than 50 rows), the most necessary first:

        * `people`: number of exposed people who are not exposed without this statement: it is necessary;
        * `alone`: number of exposed people who are exposed by the release and this statement only, but not by the
          release: it is sufficient;
        * `without`: number of people exposed without it, who may be others;
        * `raises`: by how much it raises P(s | q) of the exposing value, mean over the exposed people;
        * `message`: why there is no answer, or "".

        If two statements imply the same, neither is necessary and both are sufficient; if two expose somebody only
        together, it is the other way round. So neither column adds up to the exposed people. ``post.prices()`` answers
        another question: how a small change of a statement's value changes the entropy.

        Raises
        ------
        StatementError
            For a release in partitions, or if the posterior was loaded from a file without `verify`.
        SolverError
            If none of the models can be solved.
        """
        return self._attributed.statements

    @property
    def _attributed(self) -> Attribution:
        if self._attribution is None:
            raise StatementError(
                "exposure cannot be attributed to statements for a release in partitions; remove a statement from the "
                "model, solve it again and compare"
            )
        return self._attribution

    def __str__(self) -> str:
        sentences = [*self._sentences(), *(f"Warning: {warning}" for warning in self.warnings)]
        return "\n".join(str(one_line(sentence)) for sentence in sentences)  # labels may contain line breaks

    def __repr__(self) -> str:
        return f"<Exposure: {self}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.who, "exposed groups")] if len(self.who) else []

    def _sentences(self) -> list[str]:
        """The verdict, and with a baseline how much of it is due to the release alone."""
        first, *others = self._verdict or [f"{self.people} of {self.total} people exposed at P >= {self.threshold:g}"]
        if self.attack_success is not None:
            success = f"guessing the likeliest value is right for {self.attack_success:.1%}"
            if self.baseline is None:
                first += f"; {success}"
            else:
                others.append(f"G{success[1:]}.")
        if len(lift := self.lift):
            least, most = f"{lift.min():.3g}", f"{lift.max():.3g}"
            times = least if least == most else f"{least} to {most}"
            others.append(f"The inferred probability is {times} times the baseline.")
        others += self._distances
        attribution = self._attribution
        if self.baseline is not None and self.people and attribution is not None and attribution.post.model is not None:
            try:
                others.append(attribution.sentence(self.published_alone, self.people))
            except SolverError:
                others.append("How many are exposed by the release alone could not be computed.")
        return [first, *others]


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
    """Count the people with P(s | q) >= threshold and baseline P0(s) < threshold for some sensitive value s.

    For numbers, dates and ranks the rule is about intervals: ``P(|S - s| <= within | q) >= threshold`` while
    ``P0(|S - s| <= within) < threshold``, for some value s that occurs.

    Without a baseline, P0 = 0: anyone whose value is likely counts as exposed, even if that was common knowledge. With
    a baseline, a P0 just below the threshold and a P(s | q) just above it count too: ``.lift`` is P / P0 by group, and
    `rho1` requires a smaller P0.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers. For a release in partitions, the 1,000 groups with the largest probabilities are
        listed.
    threshold : float
        A probability. A P(s | q) that is below it by no more than the certified error counts as reaching it.
    original : DataFrame, optional
        The original records, to measure the attack's success.
    sensitive : object, optional
        The values that count: one value or a list; by default all. For several sensitive attributes a tuple is a
        combination of their values; ``{"Disease": ["HIV", "Flu"]}`` means these values, whatever the others are, and
        ``{"Disease": None}`` all values of one attribute. For numbers they are the centres s of the intervals, which
        contain other values too.
    baseline : "overall", "without her", Series, DataFrame, QIDistribution or Posterior, optional
        P0. "overall" is the distribution of the values in the release. "without her" is what is inferred from the same
        publication without the person's own record (:func:`counterfactual`): a value that the records of others show as
        well is not counted. It needs `original`, with its buckets, and is computed for each record. A Series is P(s) by
        value, and may have values that do not occur in the release. A DataFrame or QIDistribution is P(s | q) by some of
        the QI attributes. A posterior is what is inferred about somebody who is not in the release. For a release in
        partitions: "overall" or a Series. P0 reaches the threshold up to rounding of 1e-9, whatever its own certified
        error.
    within : float, Timedelta, dict or DataFrame, optional
        Two values that differ by no more count as equal. For numbers: in their unit. For dates and times (also as text
        in ISO 8601): a Timedelta, or text such as "30 days". For an ordered Categorical: in ranks. 0 means equal values
        only. Default: a twentieth of the range of the values; for ordered values a twentieth of the ranks, and at least
        one rank if five or more occur. For labels: a hierarchy as in
        :meth:`maxent_cvx.Release.from_generalized`, whose nodes, except the root, count besides the values.
        Combinations of several attributes are compared for equality only.
    rho1 : float, optional
        Only values with P0 <= rho1 count; by default those with P0 < threshold.

    Returns
    -------
    Exposure
        With ``.people``, ``.who``, ``.values``, ``.warnings``, ``.statements``; given the original records,
        ``.attack_success``; for numbers ``.within`` and ``.expected_error``. ``str()`` of it is the verdict in words.
        If ``.undecided`` is not empty, "nobody is exposed" is not reliable.

    Raises
    ------
    StatementError
        If `post` is not a posterior; if the baseline cannot be read or is not published; for a release in partitions,
        if `original` or a baseline by group is given; if `within` does not fit the values.
    BadProbability
        If the threshold or `rho1` is not between 0 and 1, or the baseline does not contain probabilities.
    UnknownName, TableError
        If `sensitive` or the baseline does not fit the sensitive values, or the baseline the people; if an attribute is
        called P, baseline or people, like a column of `who`; if the original records lack a column, or are not the
        people of the release.

    Notes
    -----
    Evfimievski, Gehrke and Srikant (2003): an upward rho1-to-rho2 privacy breach has P0(s) <= rho1 and P(s | q) >= rho2.
    Here rho2 is the threshold; without `rho1` any P0 below it counts.

    A label that looks like a number ("$30,000", "20-30 years") is not read as one, and values most of which occur once
    or twice are hardly ever inferred exactly: ``.undecided`` says so unless `within` is given. It also reports how many
    people are not counted because the baseline of their interval reaches the threshold, although a narrower interval
    would expose them.

    For a population (:class:`maxent_cvx.GroupedRelease`), P(s | q, in the release) is judged for everybody who may be in
    the release, and "overall" refers to the people in it.

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
    1 of 10 people (10.0%) exposed: a value with P < 0.8 overall is inferred with P >= 0.8.
    'Breast Cancer' (P = 0.2 overall) is inferred for 1 person, for 1 with certainty.
    The inferred probability is 5 times the baseline.
    None of them is exposed by the release alone; all are exposed once P(Breast Cancer | Gender=male) = 0 is known.

    Salaries that are all different, but known within 50:

    >>> import pandas as pd
    >>> pay = pd.DataFrame({"age": [30] * 3 + [40] * 3, "pay": [30_000, 30_020, 30_050, 70_000, 70_010, 70_050]})
    >>> pay["bucket"] = pay["age"]
    >>> post = mx.MaxEnt(mx.Release.from_buckets(pay, qi="age", sa="pay", bucket="bucket")).solve()
    >>> mx.measures.exposed(post, baseline="overall", within=0).people
    0
    >>> print(mx.measures.exposed(post, baseline="overall"))
    6 of 6 people (100.0%) exposed: a value, to within 2,002.5, with P < 0.8 overall is inferred with P >= 0.8.
    The inferred probability is 2 times the baseline.
    Values within 2,002.5 of each other count as equal (the default, a twentieth of their range).
    The best guess is off by 16.7 on average; without the release, by 19,998.33.
    All of them are exposed by the release alone.
    """
    check_float(threshold, "threshold", 0.0, 1.0)
    if rho1 is not None:
        check_float(rho1, "rho1", 0.0, 1.0)
    check_instance(post, (Posterior, PartitionedPosterior), "post")
    names: list[Any]
    n_s: np.ndarray | None
    if isinstance(post, PartitionedPosterior):
        if original is not None:
            raise StatementError("the attack's success is measured in memory only; leave out the original records")
        if baseline is not None and not isinstance(baseline, str | pd.Series):
            raise StatementError(
                'for a release in partitions the baseline must be the same for everybody: "overall", or a Series of P(s)'
            )
        values, names, rows, people = post.release.sensitive_values, list(post.release.qi), None, post.release.n_q
    else:
        rows, people = of_those_inside(post)
        values, names = rows.columns, list(rows.index.names)
    n_s, is_population = published(post.view), not post.view.inside.all()
    if clash := [name for name in (*values.names, *names) if name in WHO_COLUMNS]:
        raise TableError(f"an attribute is called {clash[0]!r}, like a column of the exposed groups; rename it")

    events, intervals = read_events(values, sensitive, within)
    rule = ExposureRule(threshold, certified_error(post), values, events, None, intervals, rho1)
    n_unknown = n_first_order = 0
    if isinstance(baseline, str) and baseline == WITHOUT_HER:
        rule, rows, people, n_unknown, n_first_order = _of_each_record(post, original, rule)
    elif baseline is not None:
        rule = replace(rule, baseline=read_baseline(baseline, post, rows, rule.units))
    if isinstance(post, PartitionedPosterior):
        sums = post.reduce(rule, add_up)
        who, success, attribution = _who_in_partitions(post, rule), None, None
    else:
        assert rows is not None
        sums = rule(rows.to_numpy(), people, np.arange(len(people)))
        who = _who_in_memory(rows, people, rule)
        success = None if original is None else _attack_success(post, original, rule.slack)
        attribution = Attribution(post, rule, rows, people)
    counts = {name: number if name == "error" else np.rint(number).astype(int) for name, number in sums.items()}

    histogram = pd.Series(
        counts["histogram"],
        index=pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="largest P(s | q)"),
        name="people",
    )
    total = int(histogram.sum())
    by_value = pd.DataFrame(
        {
            "baseline": np.nan if rule.baseline is None else _mean_baseline(rule.p0, people),
            **{name: counts[name] for name in ("exposed", "certain", "not_counted", "anyway")},
        },
        index=events.labels,
    )
    uncounted = _uncounted_table(rule, counts)
    doubts = list(_doubts(rule, int(counts["closer"]), n_s, total, is_given=within is not None))
    result = Exposure(
        threshold, int(counts["people"]), who, histogram, success, by_value, uncounted,
        warnings=(
            *_warnings(rule, int(counts["unsure"]), uncounted),
            *_without_warnings(n_unknown, n_first_order),
            *(sentence for sentence, _ in doubts),
        ),
        baseline=None if rule.baseline is None else rule.baseline.called,
        undecided=tuple(sentence for sentence, is_open in doubts if is_open),
        **_errors_of_best_guess(intervals, float(counts["error"]) / max(total, 1), n_s),
    )  # fmt: skip
    whom = "people who may be in the release" if is_population else "people"
    # Private fields are set here and are not parameters of the class, which users may construct.
    vars(result).update(
        _rule=rule,
        _verdict=tuple(_verdict(rule, result, whom)),
        _distances=tuple(_distances(rule, result)),
        _attribution=attribution,
    )
    return result


def _of_each_record(
    post: Posterior | PartitionedPosterior, original: pd.DataFrame | None, rule: ExposureRule
) -> tuple[ExposureRule, pd.DataFrame, np.ndarray, int, int]:
    """The rule with P0 of every kind of records, P(s | q) and the people of each; how many lack P0, or its certificate."""
    if original is None:
        raise StatementError(f"baseline={WITHOUT_HER!r} needs the original records; pass the table with its buckets")
    if not isinstance(post, Posterior):
        raise StatementError(f"baseline={WITHOUT_HER!r} is for releases in memory only")

    def closest(kinds: Counterfactual) -> np.ndarray:
        """Of those who may be exposed: how close P0 is to the threshold; -inf for others, who need no exact P0."""
        largest, which = rule.surest(kinds.p)
        p0 = np.nan_to_num(rule.counted_at(kinds.without, which), nan=rule.threshold)
        return np.where(rule.reaches(largest), -np.abs(p0 - rule.threshold), -np.inf)

    kinds = without_each(post, original, urgent=closest)
    table = post.conditional().iloc[kinds.q]
    is_unknown = np.isnan(kinds.without).any(axis=1)
    p0 = rule.units.of(np.where(is_unknown[:, None], 0.0, kinds.without))
    off = np.where(kinds.how == SOLVED, np.nan_to_num(kinds.error), rule.slack)
    baseline = Baseline(p0, np.broadcast_to(off[:, None], p0.shape), "without her own record")
    is_exposed = rule.reaches(rule.surest(kinds.p)[0])
    n_unknown, n_first_order = (
        int(kinds.n_kind[mask & is_exposed].sum()) for mask in (is_unknown, ~is_unknown & (kinds.how == FIRST_ORDER))
    )
    return replace(rule, baseline=baseline), table, kinds.n_kind, n_unknown, n_first_order


def _without_warnings(n: int, n_first_order: int) -> Iterator[Message]:
    """The warnings that some P0 do not exist, or are not certified."""
    if n_first_order:
        yield Message(
            "For {people} with a likely value the probability without the own record is of first order, not certified.",
            people=_people(n_first_order),
        )
    if n:
        yield Message(
            "For {people} with a likely value there is no probability without the own record, because the knowledge cannot "
            "be read without it; it counts as 0.",
            people=_people(n),
        )


def _who_in_memory(rows: pd.DataFrame, people: np.ndarray, rule: ExposureRule) -> pd.DataFrame:
    """The exposed groups, the largest probability first, then the largest group."""
    largest, which = rule.surest(rows.to_numpy())
    who = rule.events.labels[which].to_frame(index=False).set_index(rows.index).assign(P=largest)
    if rule.baseline is not None:
        who["baseline"] = rule.baseline_at(which)
    who, is_exposed = who.assign(people=people), rule.reaches(largest)
    if not rows.index.is_unique:  # one row per record: those of a group with the same value are added up
        columns, who = list(who.columns), who[is_exposed]
        group = group_codes([pd.factorize(who.index)[0], which[is_exposed]], [len(who), len(rule.events.labels)])
        weighted = np.bincount(group, who["baseline"] * who["people"]) if len(who) else np.zeros(0)
        n = np.bincount(group, who["people"]) if len(who) else np.zeros(0)
        first = np.unique(group, return_index=True)[1]
        who = who.iloc[first].assign(baseline=weighted / n, people=n.astype(people.dtype))[columns]
        order = np.lexsort((-who["people"].to_numpy(), -who["P"].to_numpy()))
        return who.iloc[order]
    order = np.lexsort((-people, -largest))
    return who.iloc[order[is_exposed[order]]]


def _who_in_partitions(post: PartitionedPosterior, rule: ExposureRule) -> pd.DataFrame:
    """The same for the LISTED groups with the largest probabilities."""
    labels = rule.events.labels
    surest = surest_of(post, LISTED, rule.surest, labels)
    if rule.baseline is not None:
        values = pd.MultiIndex.from_frame(surest[list(labels.names)])
        which = labels.get_indexer(values if labels.nlevels > 1 else values.get_level_values(0))
        surest.insert(len(surest.columns) - 1, "baseline", rule.baseline_at(which))
    return surest[rule.reaches(surest["P"].to_numpy())]


def _attack_success(post: Posterior, original: pd.DataFrame, slack: float) -> float:
    """P(argmax = truth) over all people."""
    p = post.conditional().to_numpy()  # not by name: the records do not say which of them is a named person's
    guess = p >= (p.max(axis=1) - slack)[:, None]
    right = original_counts(post, original) * guess / guess.sum(axis=1, keepdims=True)
    return float(right.sum() / post.space.view.n_records)


def _mean_baseline(p0: np.ndarray, people: np.ndarray) -> np.ndarray:
    return p0[0] if len(p0) == 1 else people @ p0 / people.sum()


def _errors_of_best_guess(intervals: Intervals | None, error: float, n_s: np.ndarray | None) -> dict[str, Any]:
    """The fields of an Exposure that only numbers, dates and ranks have."""
    if intervals is None:
        return {}
    amount = intervals.scale.amount
    fields = {"within": amount(intervals.radius), "expected_error": amount(error)}
    if n_s is not None:
        before = intervals.errors(intervals.values.of(n_s[None].astype(float)))[0]
        fields["expected_error_before"] = amount(float(before))
    return fields


def same_value(exposure: Exposure, value: object, other: object) -> bool:
    """Whether two sensitive values of the release count as equal."""
    windows = None if exposure._rule is None else exposure._rule.windows
    return value == other if windows is None else windows.are_close(value, other)


# ---------------------------------------------------------------- which sensitive values count, and intervals around them


@dataclass(frozen=True, eq=False)
class SensitiveEvents:
    """Events whose probabilities are judged: `includes[s, e]` is 1 if event e contains the sensitive value s.

    An event is usually one value. With several sensitive attributes, whose combinations are the values, it may be all
    combinations with one disease; with a hierarchy, it may be a node.
    """

    labels: pd.Index
    includes: sp.csr_array

    def of(self, p: np.ndarray) -> np.ndarray:
        """Probabilities (or numbers of people) of the events, from those of the values on the last axis."""
        return np.asarray(p @ self.includes)

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """The largest number among the values of each event."""
        by_event = self.includes.tocsc()
        return np.maximum.reduceat(numbers[:, by_event.indices], by_event.indptr[:-1], axis=1)

    @property
    def involved(self) -> np.ndarray:
        """Mark the values that are in some event."""
        return np.diff(self.includes.indptr) > 0

    def among_involved(self) -> SensitiveEvents:
        """The same events over the involved values only."""
        return SensitiveEvents(self.labels, sp.csr_array(self.includes[np.flatnonzero(self.involved)]))


def sensitive_events(values: pd.Index, sensitive: object) -> SensitiveEvents:
    """Read the parameter `sensitive` of :func:`exposed`."""
    if sensitive is None:
        return _each(values, np.ones(len(values), dtype=bool))
    if isinstance(sensitive, Mapping):
        return _of_attributes(values, sensitive)
    if values.nlevels == 1:
        return _each(values, choose(sensitive, "sensitive").mask(values, str(values.name)))
    are_several = isinstance(sensitive, list | set | frozenset | pd.Index)
    combinations: list[object] = list(sensitive) if are_several else [sensitive]  # type: ignore[call-overload]
    names = ", ".join(map(str, values.names))
    for combination in combinations:
        if not isinstance(combination, tuple) or len(combination) != values.nlevels:
            raise StatementError(
                f"sensitive={short_repr(sensitive)}: a combination of {names} must be a tuple of {values.nlevels} values; "
                f"for values of one attribute give a dictionary such as {{{values.names[0]!r}: value}}"
            )
        if combination not in values:
            raise unknown_name(f"combination of {names}", combination, values)
    if not combinations:
        raise StatementError("sensitive must contain at least one value; omit it to consider all values")
    return _each(values, np.asarray(values.isin(combinations)))


def attribute_values(values: pd.Index, attribute: object) -> SensitiveEvents:
    """Every value of one attribute, whatever the others are."""
    if values.nlevels == 1:
        return _each(values, np.ones(len(values), dtype=bool))
    return _of_attributes(values, {attribute: None})


def values_of_each_attribute(values: pd.Index) -> SensitiveEvents | None:
    """Every value of each of several attributes; None for a single attribute."""
    if values.nlevels == 1:
        return None
    codes, labels = zip(*(pd.factorize(values.get_level_values(i)) for i in range(values.nlevels)), strict=True)
    starts = np.cumsum([0, *map(len, labels)])
    names = [
        f"{name}={format_value(value)}"
        for name, values_of_name in zip(values.names, labels, strict=True)
        for value in values_of_name
    ]
    event = np.concatenate([code + start for code, start in zip(codes, starts, strict=False)])
    return _grouped(pd.Index(names), np.tile(np.arange(len(values)), values.nlevels), event, len(values))


def _each(values: pd.Index, mask: np.ndarray) -> SensitiveEvents:
    """One event for each marked value."""
    return _grouped(values[mask], np.flatnonzero(mask), np.arange(int(mask.sum())), len(values))


def _grouped(labels: pd.Index, value: np.ndarray, event: np.ndarray, n_values: int) -> SensitiveEvents:
    """Events from pairs of a value and the event that contains it."""
    return SensitiveEvents(labels, sp.csr_array((np.ones(len(value)), (value, event)), shape=(n_values, len(labels))))


def _of_attributes(values: pd.Index, chosen: Mapping[object, object]) -> SensitiveEvents:
    """Values of some attributes, each event added up over the values of the others."""
    if not chosen:
        raise StatementError("sensitive must contain at least one attribute; omit it to consider all values")
    mask, names = np.ones(len(values), dtype=bool), [str(name) for name in values.names]
    for attribute, listed in chosen.items():
        if attribute not in names:
            raise unknown_name("sensitive attribute", attribute, names)
        if listed is not None:
            mask &= choose(listed, str(attribute)).mask(values.get_level_values(str(attribute)), str(attribute))
    if not mask.any():
        raise StatementError(f"sensitive={short_repr(chosen)}: each value occurs, but no combination of them does")
    labels = pd.MultiIndex.from_arrays([values.get_level_values(i) for i, name in enumerate(names) if name in chosen])
    of_chosen = labels if labels.nlevels > 1 else labels.get_level_values(0)
    distinct = of_chosen[mask].unique()
    return _grouped(distinct, np.flatnonzero(mask), distinct.get_indexer(of_chosen[mask]), len(values))


def _with_nodes(
    events: SensitiveEvents, every: SensitiveEvents, nodes: Mapping[object, frozenset[object]]
) -> SensitiveEvents:
    """Add the nodes of a hierarchy that contain a judged value, except single values and the root."""
    values = every.labels
    if not values.isin(list(frozenset().union(*nodes.values()))).any():
        raise StatementError(
            f"within: the hierarchy contains none of the values of {values.name!r}, such as {join_names(values, 3)}"
        )
    labels, columns = [*events.labels], [events.includes]
    for node, leaves in nodes.items():
        below = np.asarray(values.isin(list(leaves)))
        if not 1 < below.sum() < len(values) or not events.labels.isin(values[below]).any():
            continue
        if node in labels:
            raise TableError(f"within: the hierarchy has a node {short_repr(node)}, which is also a value; rename it")
        labels.append(node)
        columns.append(sp.csr_array(every.includes[:, np.flatnonzero(below)].sum(axis=1)[:, None]))
    return SensitiveEvents(pd.Index(labels, dtype=object, name=events.labels.name), sp.csr_array(sp.hstack(columns)))


def read_events(values: pd.Index, sensitive: object, within: object) -> tuple[SensitiveEvents, Intervals | None]:
    """Read the parameters `sensitive` and `within`; the intervals are None where the values are labels."""
    events = sensitive_events(values, sensitive)
    is_zero = isinstance(within, numbers.Real) and within == 0
    if events.labels.nlevels > 1:
        if within is not None and not is_zero:
            names = events.labels.names
            raise StatementError(
                f"within={short_repr(within)}: combinations of {', '.join(map(str, names))} are compared for equality; "
                f"to compare distances judge one attribute, such as sensitive={{{names[0]!r}: None}}"
            )
        return events, None
    attribute = events.labels.name
    every = attribute_values(values, attribute)
    if isinstance(within, Mapping | pd.DataFrame | PathLike):
        return _with_nodes(events, every, read_hierarchies({str(attribute): within})[str(attribute)]), None
    if (scale := scale_of(every.labels)) is None:
        if within is not None and not is_zero:
            raise StatementError(
                f"within must be 0, as the values of {attribute!r} are neither numbers, dates nor an ordered Categorical, "
                f"got {short_repr(within)}; convert the values, or use 0 to compare for equality"
            )
        return events, None
    radius = scale.default_radius() if within is None else scale.read_radius(within)
    return events, Intervals(scale, radius, every.labels.get_indexer(events.labels), every, within is None)


@dataclass(frozen=True, eq=False)
class Scale:
    """Positions of sensitive values on a line: numbers in their unit, times in seconds, ranks; from the least one."""

    kind: str  # "number", "time" or "rank"
    position: np.ndarray
    rounding: float = 0.0  # how far a difference of positions may be from the difference of the values

    def default_radius(self) -> float:
        """A twentieth of the range; at least one rank if there are many."""
        radius = float(self.position.max(initial=0.0)) / PARTS_OF_RANGE
        if self.kind == "rank" and len(np.unique(self.position)) >= MANY_RANKS:
            return max(1.0, float(math.floor(radius)))
        return radius

    def read_radius(self, within: object) -> float:
        """Read a radius: a number, or for times a duration."""
        if self.kind != "time" or (isinstance(within, numbers.Real) and within == 0):
            return check_float(within, "within", 0.0, error=StatementError)
        if not isinstance(within, str | datetime.timedelta | np.timedelta64):
            raise StatementError(
                "within must be a duration such as '30 days', because the sensitive values are dates or times, got "
                f"{short_repr(within)}"
            )
        try:
            seconds = pd.Timedelta(within).total_seconds()
        except (ValueError, OverflowError) as error:
            raise StatementError(
                f"within must be a duration such as '30 days', not {short_repr(within)}: {error}"
            ) from error
        if not seconds >= 0:
            raise StatementError(f"within must not be negative, got the duration {short_repr(within)}")
        return seconds

    def amount(self, difference: float) -> float | pd.Timedelta:
        """A difference of positions in the unit of the values."""
        return pd.Timedelta(seconds=difference) if self.kind == "time" else difference

    def in_words(self, difference: float) -> str:
        """Write a difference of positions: "4,500", "30 days" or "2 ranks"."""
        if self.kind == "rank":
            return Message("{n:.3g} rank" if difference == 1 else "{n:.3g} ranks", n=difference)
        if self.kind == "number":
            return f"{difference:,.2f}".rstrip("0").rstrip(".") if difference >= 1000 else f"{difference:.3g}"
        for seconds, unit in ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute")):
            if difference >= seconds:
                return Message(f"{{n:.3g}} {unit}{'s' * (difference != seconds)}", n=difference / seconds)
        return Message("{n:.3g} seconds", n=difference)


def scale_of(values: pd.Index) -> Scale | None:
    """The scale of the values of one attribute: times, numbers, or ordered categories that are neither; else None."""
    if not len(values):
        return None
    plain = pd.Index(np.asarray(values)) if isinstance(values, pd.CategoricalIndex) else values
    scale = _time_scale(plain) or _number_scale(plain)
    if scale is None and isinstance(values, pd.CategoricalIndex) and values.ordered:
        return Scale("rank", (values.codes - values.codes.min()).astype(float))
    return scale


def _time_scale(values: pd.Index) -> Scale | None:
    kind = pd.api.types.infer_dtype(values, skipna=False)
    times: Any
    if kind == "string" and all(ISO_DATE.fullmatch(text) for text in values):
        times = pd.to_datetime(pd.Series(values, dtype=object), format="ISO8601", errors="coerce", utc=True)
    elif kind == "period" and isinstance(values, pd.PeriodIndex):
        times = values.to_timestamp().to_series()
    elif kind in ("datetime", "datetime64", "date"):
        times = pd.to_datetime(pd.Series(values, dtype=object), errors="coerce", utc=True)
    elif kind in ("timedelta", "timedelta64"):
        times = pd.to_timedelta(pd.Series(values, dtype=object), errors="coerce")
    else:
        return None
    if times.isna().any():
        return None
    return Scale("time", (times - times.min()).dt.total_seconds().to_numpy(float))


def _number_scale(values: pd.Index) -> Scale | None:
    try:
        numbers = as_numbers(values, "values")
    except TableError:
        return None
    if numbers.dtype.kind != "f":  # integers of any size: their differences are exact
        whole = numbers.astype(object)
        try:
            position = np.asarray(whole - whole.min(), dtype=float)
        except OverflowError:
            return None
        return Scale("number", position, 0.0 if position.max() < 2**53 else float(np.spacing(position.max())))
    with np.errstate(over="ignore"):
        position = numbers - numbers.min()
    if not np.isfinite(position).all():
        return None
    return Scale("number", position, 8 * np.finfo(float).eps * float(np.abs(numbers).max()))


@dataclass(frozen=True, eq=False)
class Intervals:
    """The closed intervals [c - radius, c + radius] around some values c, the centres."""

    scale: Scale
    radius: float
    centres: np.ndarray  # positions among the values of the attribute
    values: SensitiveEvents  # the values of the attribute
    is_default: bool  # whether the radius is the default

    @cached_property
    def order(self) -> np.ndarray:
        """The values by increasing position."""
        return np.argsort(self.scale.position, kind="stable")

    @cached_property
    def sorted(self) -> np.ndarray:
        """The positions, increasing."""
        return self.scale.position[self.order]

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """For each centre, where its interval starts and stops among the sorted values."""
        at, reach = self.scale.position[self.centres], self.radius + self.scale.rounding
        return np.searchsorted(self.sorted, at - reach, "left"), np.searchsorted(self.sorted, at + reach, "right")

    @property
    def are_single_values(self) -> bool:
        """Whether every interval contains its centre only."""
        start, stop = self.ends
        return bool((stop - start <= 1).all())

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are in some interval."""
        start, stop = self.ends
        depth = np.zeros(len(self.order) + 1)
        np.add.at(depth, start, 1)
        np.add.at(depth, stop, -1)
        inside = self.order[np.cumsum(depth)[:-1] > 0]
        return np.asarray(self.values.includes[:, inside].sum(axis=1) > 0)

    def _cumulative(self, p: np.ndarray) -> np.ndarray:
        """Cumulative probabilities in order of position, from 0: shape (rows, values + 1)."""
        total = np.zeros((len(p), len(self.order) + 1))
        np.cumsum(p[:, self.order], axis=1, out=total[:, 1:])
        return total

    def of(self, p: np.ndarray) -> np.ndarray:
        """Probabilities of the intervals, shape (rows, centres), from those of the values of the attribute."""
        total, (start, stop) = self._cumulative(p), self.ends
        return total[:, stop] - total[:, start]

    def medians(self, p: np.ndarray) -> np.ndarray:
        """Position of the median of every row, the guess with the least expected error."""
        total = self._cumulative(p)[:, 1:]
        return self.sorted[np.minimum((total < total[:, -1:] / 2).sum(axis=1), len(self.order) - 1)]

    def errors(self, p: np.ndarray) -> np.ndarray:
        """Expected distance of the value from the median, for every row."""
        far = np.abs(self.scale.position - self.medians(p)[:, None])
        return np.asarray(np.einsum("ij,ij->i", p, far) / p.sum(axis=1))

    def are_close(self, value: object, other: object) -> bool:
        """Whether two values of the attribute count as equal."""
        at = self.scale.position[self.values.labels.get_indexer(pd.Index([value, other]))]
        return bool(abs(at[0] - at[1]) <= self.radius + self.scale.rounding)

    def narrower_breach(self, p: np.ndarray, p0: np.ndarray, least: float, most: float) -> np.ndarray:
        """Mark rows in which some interval, no wider than the radius, has P >= least and P0 < most.

        Among the intervals that begin at a value, the shortest one with a centre and P >= least has the smallest P0.
        """
        total, before, n = self._cumulative(p), self._cumulative(p0), len(self.order)
        # One binary search for all rows: row i is shifted by 2 i, so that the concatenation of the rows is sorted.
        shift = 2.0 * np.arange(len(p))[:, None]
        target = total[:, :-1] + max(least, 0.0)
        stop = np.searchsorted((total + shift).ravel(), (target + shift).ravel() - ROUNDING, "left")
        stop = stop.reshape(target.shape) - np.arange(len(p))[:, None] * (n + 1)
        centres = np.flatnonzero(np.isin(self.order, self.centres))
        stop = np.maximum(stop, np.append(centres, n)[np.searchsorted(centres, np.arange(n))] + 1)  # contains a centre
        possible, stop = stop <= n, np.minimum(stop, n)
        is_short = self.sorted[stop - 1] - self.sorted <= self.radius + self.scale.rounding
        inside = np.take_along_axis(np.broadcast_to(before, (len(p), n + 1)), stop, 1) - before[:, :-1]
        return np.asarray((possible & is_short & (inside < most)).any(axis=1))


# ------------------------------------------------------------------------------------------------------------ the baseline


@dataclass(frozen=True, eq=False)
class Baseline:
    """P0 of the events, shape (1, events) if it is the same for everybody, else (rows, events).

    `off` bounds the error of each probability; `called` is where the probabilities are, in words.
    """

    p: np.ndarray
    off: np.ndarray
    called: str


def read_baseline(
    baseline: object, post: Posterior | PartitionedPosterior, rows: pd.DataFrame | None, events: SensitiveEvents
) -> Baseline:
    """Read the parameter `baseline` of :func:`exposed`; `rows` is P(s | q), None for a release in partitions."""
    if rows is not None and isinstance(baseline, pd.DataFrame | QIDistribution | Posterior):
        try:
            p, off = _baseline_by_group(baseline, rows, events)
        except MaxEntError as error:
            raise type(error)(f"baseline: {error}") from None
        return Baseline(p, off, "in the baseline")
    view = post.view
    if isinstance(baseline, str) and baseline == "overall":
        n_s = published(view)
        if n_s is None:
            raise StatementError(
                f'baseline="overall": the {view.noun} does not publish how many people have each value; '
                "give P(s) as a Series"
            )
        p, called = events.of(n_s)[None] / n_s.sum(), "overall"
    elif isinstance(baseline, pd.Series):
        values = view.sensitive_values if rows is None else rows.columns
        p, called = _baseline_by_value(baseline, events, values)[None], "in the baseline"
    else:
        raise StatementError(
            f'baseline={short_repr(baseline)}: expected "overall", "without her", a Series of P(s), a table of P(s | q), or a '
            "Posterior"
        )
    return Baseline(p, np.zeros(p.shape), called)


def _baseline_by_value(p0: pd.Series, events: SensitiveEvents, values: pd.Index) -> np.ndarray:
    """P0 by label: of the events themselves, or of every value in one of them; further labels are ignored."""
    if p0.index.has_duplicates:
        raise TableError(f"the baseline has duplicate values: {join_names(p0.index[p0.index.duplicated()].unique())}")
    try:
        p = p0.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"the baseline must contain numbers: {error}") from None
    if not ((p >= 0) & (p <= 1)).all() or p.sum() > 1 + ROUNDING * len(p):
        raise BadProbability(
            f"the baseline must contain probabilities with a sum of at most 1, but they are from {p.min():g} to "
            f"{p.max():g} with the sum {p.sum():g}; if these are counts, divide them by their sum"
        )
    names = {*p0.index.names}
    if None not in names and names not in ({*events.labels.names}, {*values.names}):
        raise TableError(
            f"the baseline is indexed by {join_names(p0.index.names)}, but the sensitive values are of "
            f"{join_names(values.names)}; rename its index"
        )
    if (at := _in_order(p0.index, events.labels.names).get_indexer(events.labels)).min() >= 0:
        return p[at]
    at = _in_order(p0.index, values.names).get_indexer(values)
    if (lacking := events.involved & (at < 0)).any():
        raise TableError(
            f"the baseline has no probability for {join_names(values[lacking])}; write 0 for values that nobody has"
        )
    return events.of(np.where(at >= 0, p[at], 0.0))


def _in_order(index: pd.Index, names: Iterable[object]) -> pd.Index:
    """Put the levels of labels in the order of some names, if they have exactly these names."""
    order = list(names)
    if index.nlevels > 1 and None not in index.names and {*index.names} == {*order}:
        return index.reorder_levels(order)  # type: ignore[attr-defined]
    return index


def _baseline_by_group(
    baseline: pd.DataFrame | QIDistribution | Posterior, rows: pd.DataFrame, events: SensitiveEvents
) -> tuple[np.ndarray, np.ndarray]:
    """P0 of every row, and how far it may be off."""
    index = rows.index if isinstance(rows.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([rows.index])
    values, events = rows.columns[events.involved], events.among_involved()
    if not isinstance(baseline, Posterior):
        if isinstance(baseline, pd.DataFrame):
            baseline = baseline.set_axis(_in_order(baseline.columns, values.names), axis=1)
        prior = baseline if isinstance(baseline, QIDistribution) else QIDistribution(baseline)
        p = events.of(prior.of_tuples(index, values))
        return p, np.zeros(p.shape)
    table, _, beliefs = inferred(baseline)
    key: tuple[str, ...] = baseline.space.view.qi
    if len(baseline.space.people):
        if "who" not in rows.index.names:
            raise StatementError("it refers to named people, but the posterior does not; give its conditional()")
        key = ("who", *key)
    known = table.index if isinstance(table.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([table.index])
    if {*table.columns.names} != {*values.names}:
        raise TableError(
            f"its sensitive attributes are {join_names(table.columns.names)}, not {join_names(values.names)}"
        )
    column = _in_order(table.columns, values.names).get_indexer(values)
    if (column < 0).any():
        raise TableError(f"it has no probability for {join_names(values[column < 0])}")
    at = positions(known, index, key)
    # A certificate bounds the error of any set of values, so the error of an event is the largest of its values.
    return events.of(beliefs.p[at][:, column]), events.largest(beliefs.off[at][:, column])


# ---------------------------------------------------------------------------------------------------------------- the rule


def certified_error(post: Posterior | PartitionedPosterior) -> float:
    """How far a P(s | q) may be from the maximum-entropy one; of a population P(s | q, in the release)."""
    if isinstance(post, Posterior) and not post.view.inside.all():
        return float(inferred(post)[2].off.max(initial=0.0))
    return min(post.certificate.bound, 1.0)


@dataclass(frozen=True, eq=False)
class ExposureRule:
    """A person is exposed if P(e | q) >= threshold and P0(e) < threshold for an event e, a value or an interval.

    Called with a block of P(s | q), shape (rows, values), and the number of people of each row, it returns sums by name.
    """

    threshold: float
    slack: float  # certified error of P(s | q), decided in favour of exposure
    values: pd.Index  # all sensitive values
    events: SensitiveEvents  # those that count; with windows, the centres
    baseline: Baseline | None = None  # of the units; without one, P0 = 0
    intervals: Intervals | None = None  # around the events, if the values are numbers, times or ranks
    rho1: float | None = None  # the largest P0 that counts; by default anything below the threshold

    @cached_property
    def windows(self) -> Intervals | None:
        """The intervals, if they are the events, because one of them contains more than one value."""
        return None if self.intervals is None or self.intervals.are_single_values else self.intervals

    @property
    def units(self) -> SensitiveEvents:
        """What the baseline is read for: the events, or the values that the windows are summed from."""
        return self.events if self.windows is None else self.windows.values

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are in some event."""
        return self.events.involved if self.windows is None else self.windows.involved

    def of(self, p: np.ndarray) -> np.ndarray:
        """P of each event from P of all sensitive values."""
        return self._summed(self.units.of(p))

    def _summed(self, p: np.ndarray) -> np.ndarray:
        return p if self.windows is None else self.windows.of(p)

    @cached_property
    def p0(self) -> np.ndarray:
        """P0 of each event; one row if it is the same for everybody."""
        assert self.baseline is not None
        return self._summed(self.baseline.p)

    @property
    def least_p0(self) -> np.ndarray:
        """P0 minus its certified error."""
        assert self.baseline is not None
        off = self.baseline.off  # bounds the error of any set of values
        return self.p0 - (off if self.windows is None else off.max(axis=1, keepdims=True))

    @cached_property
    def counts(self) -> np.ndarray:
        """Mark the events that count, P0 < threshold (or <= rho1): one row for all, or one per row."""
        if self.baseline is None:
            return np.ones((1, len(self.events.labels)), dtype=bool)
        least = self.least_p0
        return least < self.threshold - ROUNDING if self.rho1 is None else least <= self.rho1 + ROUNDING

    def chunks(self, n_rows: int) -> Iterator[tuple[slice, ExposureRule]]:
        """Slices of rows that fit into memory, each with the rule for these rows."""
        step = max(1, MOST_NUMBERS // max(len(self.values), 1))
        for start in range(0, max(n_rows, 1), step):
            rows = slice(start, start + step)
            if self.baseline is None or len(self.baseline.p) == 1:
                yield rows, self
            else:
                baseline = replace(self.baseline, p=self.baseline.p[rows], off=self.baseline.off[rows])
                yield rows, replace(self, baseline=baseline)

    def _counted(self, p: np.ndarray) -> np.ndarray:
        """P of the events that count, -1 for others, shape (rows, events)."""
        return self.of(p) if self.baseline is None else np.where(self.counts, self.of(p), -1.0)

    def surest(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The largest P that counts in every row, and the position of its event."""
        surest = [rule._surest(p[rows]) for rows, rule in self.chunks(len(p))]
        return np.concatenate([largest for largest, _ in surest]), np.concatenate([which for _, which in surest])

    def _surest(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counted, windows = self._counted(p), self.windows
        largest = counted.max(axis=1, initial=-1.0)
        if windows is None:
            return largest, counted.argmax(axis=1)
        # Several intervals may have the same probability: take the one whose centre is nearest to the median.
        far = np.abs(windows.scale.position[windows.centres] - windows.medians(windows.values.of(p))[:, None])
        return largest, np.where(counted >= largest[:, None] - ROUNDING, far, np.inf).argmin(axis=1)

    def counted_at(self, p: np.ndarray, which: np.ndarray) -> np.ndarray:
        """P of one event in every row, -1 where it does not count."""
        at = [np.take_along_axis(rule._counted(p[rows]), which[rows, None], 1) for rows, rule in self.chunks(len(p))]
        return np.concatenate(at)[:, 0]

    def baseline_at(self, which: np.ndarray) -> np.ndarray:
        """P0 of one event in every row."""
        return self.p0[0 if len(self.p0) == 1 else np.arange(len(which)), which]

    def reaches(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that reach the threshold, or are not proved to be below it."""
        slack = self.slack if self.windows is None else self.slack + SUM_ROUNDING
        return np.asarray((p >= self.threshold - slack) & (p >= 0))

    def _certain(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that are 1 up to the certified error."""
        return np.asarray(p >= 1 - max(min(self.slack, ACCURACY), NEGLIGIBLE))

    def _closer(self, p: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Mark rows, among some, that a narrower interval than the judged ones would expose."""
        marked, windows, baseline = np.zeros(len(p), dtype=bool), self.windows, self.baseline
        if windows is None or baseline is None or not rows.any():
            return marked
        is_same = len(baseline.p) == 1
        p0, off = (baseline.p, baseline.off) if is_same else (baseline.p[rows], baseline.off[rows])
        most = self.threshold - ROUNDING if self.rho1 is None else self.rho1 + ROUNDING
        least = self.threshold - self.slack - SUM_ROUNDING
        marked[rows] = windows.narrower_breach(
            windows.values.of(p[rows]), p0, least, most + float(off.max(initial=0.0))
        )
        return marked

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
        """Sums over the people of a block, by name."""
        return add_up([rule._sums(p[rows], people[rows].astype(float)) for rows, rule in self.chunks(len(p))])

    def _sums(self, p: np.ndarray, people: np.ndarray) -> dict[str, Any]:
        of_events = self.of(p)
        counted = of_events if self.baseline is None else np.where(self.counts, of_events, -1.0)
        largest = counted.max(axis=1, initial=-1.0)
        is_exposed, reached = self.reaches(largest), self.reaches(counted)
        # The certified error is decided in favour of the higher tenth, as it is in favour of exposure.
        tenth = np.clip((largest * 10 + 10 * (self.slack + SUM_ROUNDING)).astype(int), 0, 9)
        anyway = self.reaches(of_events) & ~self.counts
        is_certain = self._certain(p)
        not_exposed_but_certain = is_certain.any(axis=1) & ~is_exposed
        single, of_attribute = values_of_each_attribute(self.values), np.zeros(0)
        if single is not None:  # a value of one attribute may be certain where no combination is
            of_one = self._certain(single.of(p)) & ~is_certain.any(axis=1, keepdims=True) & ~is_exposed[:, None]
            of_attribute, not_exposed_but_certain = people @ of_one, not_exposed_but_certain | of_one.any(axis=1)
        return {
            "people": people[is_exposed].sum(),
            "unsure": people[is_exposed & (largest < self.threshold - NEGLIGIBLE)].sum(),
            "closer": people[self._closer(p, ~is_exposed & anyway.any(axis=1))].sum(),
            "histogram": np.bincount(tenth, people, 10),
            "exposed": people @ reached,
            "certain": people @ (reached & self._certain(counted)),
            "anyway": people @ anyway,
            "not_counted": people @ np.broadcast_to(~self.counts, of_events.shape),
            "uncounted": people @ (is_certain & ~is_exposed[:, None]),
            "uncounted_of_attribute": of_attribute,
            "uncounted_people": people[not_exposed_but_certain].sum(),
            "error": 0.0 if self.intervals is None else people @ self.intervals.errors(self.intervals.values.of(p)),
        }

    @property
    def meaning(self) -> str:
        """What exposes somebody, in words."""
        value, windows = "a value", self.windows
        if windows is not None:
            value += f", to within {windows.scale.in_words(windows.radius)},"
        if self.baseline is not None:
            limit = f"P < {self.threshold:g}" if self.rho1 is None else f"P <= {self.rho1:g}"
            value += f" with {limit} {self.baseline.called}"
        return f"{value} is inferred with P >= {self.threshold:g}"


# ------------------------------------------------------------------------------------------------ attribution to knowledge


@dataclass(frozen=True, eq=False)
class Attribution:
    """Re-evaluates the rule after removing statements. `rows` is P(s | q) with all of them, `people` per row."""

    post: Posterior
    rule: ExposureRule
    rows: pd.DataFrame
    people: np.ndarray

    @cached_property
    def published_alone(self) -> int:
        """Number of exposed people who are exposed without any knowledge."""
        return int(self.people[self._by_release].sum())

    @cached_property
    def statements(self) -> pd.DataFrame:
        """The table of :attr:`Exposure.statements`."""
        rows = by_statement(self.post, self._without, self._alone)
        columns = ["statement", "people", "alone", "without", "raises", "message"]
        table = pd.DataFrame(rows, columns=columns).set_index("statement")
        return table.sort_values(["people", "alone", "raises"], ascending=False, kind="stable")

    def sentence(self, alone: int, people: int) -> str:
        """How many are exposed by the release alone, in words."""
        model = model_of(self.post)
        release = "the release" if model.prior is None else "the release and the prior"
        if alone == people:
            return f"All of them are exposed by {release} alone."
        names = [label for label, source in model.knowledge.items() if not isinstance(source, PriorZeros)]
        known = f"{names[0]} is known" if len(names) == 1 else f"the {len(names)} statements are known"
        if not alone:
            return f"None of them is exposed by {release} alone; all are exposed once {known}."
        are = "is" if alone == 1 else "are"
        return f"{alone} of them {are} exposed by {release} alone; the others are exposed once {known}."

    @cached_property
    def _exposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The largest probability that counts, its event, and who is exposed."""
        largest, which = self.rule.surest(self.rows.to_numpy())
        return largest, which, self.rule.reaches(largest)

    @cached_property
    def _by_release(self) -> np.ndarray:
        """Mark who is exposed, and would be without any knowledge."""
        is_exposed = self._exposed[2]
        return (
            is_exposed & self._likewise(*self._judge(without_knowledge(self.post))) if is_exposed.any() else is_exposed
        )

    def _judge(self, post: Posterior) -> tuple[np.ndarray, np.ndarray]:
        """From another posterior of the same people: P of the same event, and who is exposed."""
        table = of_those_inside(post)[0].reindex(self.rows.index).fillna(0.0).to_numpy()
        rule = replace(self.rule, slack=certified_error(post))
        return rule.counted_at(table, self._exposed[1]), rule.reaches(rule.surest(table)[0])

    def _likewise(self, p: np.ndarray, is_exposed: np.ndarray) -> np.ndarray:
        """Mark who is exposed by the same value; for intervals by any, since intervals overlap."""
        return self.rule.reaches(p) if self.rule.windows is None else is_exposed

    def _without(self, post: Posterior) -> dict[str, Any]:
        """What changes without a statement."""
        largest, _, is_exposed = self._exposed
        p, still_exposed = self._judge(post)
        fall, weights = (largest - p)[is_exposed], self.people[is_exposed]
        return {
            "people": int(self.people[is_exposed & ~self._likewise(p, still_exposed)].sum()),
            "without": int(self.people[still_exposed].sum()),
            "raises": float(fall @ weights / weights.sum()) if weights.sum() else 0.0,
        }

    def _alone(self, post: Posterior) -> dict[str, Any]:
        """How many of those whom the release does not expose are exposed by one statement."""
        new = self._exposed[2] & ~self._by_release & self._likewise(*self._judge(post))
        return {"alone": int(self.people[new].sum())}


# ------------------------------------------------------------------------------------------------------------ the sentences


def _in_quotes(label: object) -> str:
    """Write an event: 'yes', or for several attributes 'Flu, high'."""
    return f"'{', '.join(map(str, label))}'" if isinstance(label, tuple) else f"'{label}'"


def _people(n: float) -> Message:
    return Message("{n} person" if n == 1 else "{n} people", n=int(n))


def _verdict(rule: ExposureRule, exposure: Exposure, whom: str) -> Iterator[str]:
    """How many people are exposed by which values, and which values are excluded."""
    at, baseline, values, total = f"P >= {rule.threshold:g}", rule.baseline, exposure.values, exposure.total
    if baseline is None:
        yield f"{exposure.people} of {total} people exposed at {at}"
        return
    if exposure.people:
        yield f"{exposure.people} of {total} {whom} ({exposure.people / total:.1%}) exposed: {rule.meaning}."
    else:
        yield f"0 of {total} {whom} exposed: no{rule.meaning.removeprefix('a')}."
    if rule.windows is not None:
        if n := int((values["anyway"] > 0).sum()):
            are = "interval is excluded because its" if n == 1 else "intervals are excluded because their"
            yield (
                f"{n:,} {are} baseline probability is too large; the most frequent has {at} for "
                f"{_people(values['anyway'].max())}."
            )
        return
    is_same = len(baseline.p) == 1
    for label, row in values[values["exposed"] > 0].iterrows():
        before = f" (P = {row['baseline']:.3g} {baseline.called})" if is_same else ""
        certain = f", for {int(row['certain'])} with certainty" if row["certain"] else ""
        yield f"{_in_quotes(label)}{before} is inferred for {_people(row['exposed'])}{certain}."
    for label, row in values[values["not_counted"] > 0].iterrows():
        if is_same:
            excluded = f"is excluded (baseline probability {row['baseline']:.3g})"
        else:
            limit = f">= {rule.threshold:g}" if rule.rho1 is None else f"> {rule.rho1:g}"
            excluded = f"is excluded for {_people(row['not_counted'])} (baseline probability {limit})"
        n, value = int(row["anyway"]), _in_quotes(label)
        yield f"{value} {excluded}; {_people(n)} {'has' if n == 1 else 'have'} P({value}) >= {rule.threshold:g}."


def _distances(rule: ExposureRule, exposure: Exposure) -> Iterator[str]:
    """Which values count as equal, and how far off the best guess is, where they are on a scale."""
    intervals = rule.intervals
    if intervals is None:
        return
    write, default = intervals.scale.in_words, ""
    radius = write(intervals.radius)
    if intervals.is_default:
        is_rank = intervals.scale.kind == "rank"
        default = Message(
            " (the default, one rank or a twentieth of their range)"
            if is_rank
            else " (the default, a twentieth of their range)"
        )
    if intervals is rule.windows:
        yield Message("Values within {radius} of each other count as equal{default}.", radius=radius, default=default)
    elif intervals.radius > 0:
        yield Message(
            "Only equal values count as equal: no two are within {radius} of each other{default}.",
            radius=radius,
            default=default,
        )
    errors = [exposure.expected_error, exposure.expected_error_before]
    off, before = (
        None if error is None else write(error.total_seconds() if isinstance(error, pd.Timedelta) else error)
        for error in errors
    )
    if before is None:
        yield Message("The best guess is off by {off} on average.", off=off)
    else:
        yield Message(
            "The best guess is off by {off} on average; without the release, by {before}.", off=off, before=before
        )


def _uncounted_table(rule: ExposureRule, counts: Mapping[str, Any]) -> pd.DataFrame:
    """Values that are certain for people who are not exposed: for how many, and why that does not count."""
    single = values_of_each_attribute(rule.values)
    rows = [
        (
            label,
            int(n),
            Message("its baseline reaches the threshold" if is_judged else "it is not among the sensitive values"),
        )
        for label, n, is_judged in zip(rule.values.to_flat_index(), counts["uncounted"], rule.involved, strict=True)
        if n
    ]
    if single is not None:
        rows += [
            (label, int(n), Message("it is not judged by itself, or its baseline reaches the threshold"))
            for label, n in zip(single.labels, counts["uncounted_of_attribute"], strict=True)
            if n
        ]
    table = pd.DataFrame(rows, columns=["value", "people", "because"]).set_index("value")
    table.attrs["people"] = int(counts["uncounted_people"])  # several values may be certain for one person
    return table


def _warnings(rule: ExposureRule, unsure: int, uncounted: pd.DataFrame) -> Iterator[str]:
    """What a reader of the verdict must know besides."""
    for label, row in uncounted.head(MOST_WARNINGS).iterrows():
        n = int(row["people"])
        sentence = (
            "{value} is certain (P = 1) for 1 person who is not counted: {because}."
            if n == 1
            else "{value} is certain (P = 1) for {n} people who are not counted: {because}."
        )
        yield Message(sentence, value=_in_quotes(label), n=n, because=row["because"])
    if (n_more := len(uncounted) - MOST_WARNINGS) > 0:
        yield Message("{n} more values are certain for people who are not counted.", n=n_more)
    if unsure:
        yield Message(
            "{n} of the exposed people are counted only because the certified error ({error:.2g}) is too large to prove "
            "that their probability is below the threshold.",
            n=unsure,
            error=rule.slack,
        )


def _doubts(
    rule: ExposureRule, closer: int, n_s: np.ndarray | None, n_people: int, *, is_given: bool
) -> Iterator[tuple[str, bool]]:
    """Why "nobody is exposed" may be wrong for such values; with each sentence, whether it leaves the verdict open."""
    if closer:
        windows = rule.windows
        assert windows is not None
        narrower = Message(
            "A narrower interval than +-{radius} would expose {people} who are not counted because the baseline "
            "probability of the wider interval is too large. Choose a smaller distance (within).",
            radius=windows.scale.in_words(windows.radius),
            people=_people(closer),
        )
        yield narrower, True
    if is_given:  # the user has looked at the values
        return
    names = list(rule.events.labels.names)
    for name in names:
        every = attribute_values(rule.values, name)
        numbers_of_people = None if n_s is None else every.of(n_s[None])[0]
        is_unique = _are_nearly_unique(numbers_of_people, len(every.labels), n_people)
        texts = _look_like_numbers(every.labels)
        if len(names) > 1 and _has_default_intervals(every.labels):
            combined = Message(
                "Combinations of {names} are compared for equality, although {name!r} is a number, date or rank, so close "
                "values count as different. Judge {name!r} alone, or set the distance (within) to 0 if only equal values "
                "matter.",
                names=", ".join(map(str, names)),
                name=name,
            )
            yield combined, True
        elif rule.windows is not None:
            if is_unique:
                unique = Message(
                    "Most values of {name!r} occur only once or twice: whether anybody is exposed depends on the distance "
                    "(within); choose it deliberately.",
                    name=name,
                )
                yield unique, False
        elif rule.intervals is None and texts:
            numerical = Message(
                "{n} of {total} values of {name!r} look like numbers, dates or ranges, such as {example}, but are treated "
                "as unrelated labels, so close values count as different. Convert them to numbers or dates, or set the "
                "distance (within) to 0 if only equal values matter.",
                n=len(texts),
                total=len(every.labels),
                name=name,
                example=short_repr(texts[0]),
            )
            yield numerical, True
        elif is_unique:
            equal = Message(
                "Most values of {name!r} occur only once or twice, and only equal values count, so hardly any value can be "
                "inferred, whatever is known. Group the values, or set the distance (within) to 0 if only equal values "
                "matter.",
                name=name,
            )
            yield equal, True


def _has_default_intervals(values: pd.Index) -> bool:
    """Whether some values of an attribute count as equal by default."""
    scale = scale_of(values)
    if scale is None:
        return False
    every = attribute_values(values, values.name)
    return not Intervals(scale, scale.default_radius(), np.arange(len(values)), every, True).are_single_values


def _are_nearly_unique(n_s: np.ndarray | None, n_values: int, n_people: int) -> bool:
    """Whether most values occur once or twice, and not only a few people have these."""
    if n_s is None:
        return n_values >= MANY_RARE and n_values > n_people / RARE
    rare = (n_s > 0) & (n_s <= RARE)
    many = rare.sum() >= MANY_RARE and rare.sum() > (n_s > 0).sum() / 2
    return bool(many and n_s[rare].sum() >= SHARE_OF_RARE * n_s.sum())


def _look_like_numbers(values: pd.Index) -> list[object]:
    """Labels that look like numbers, dates or ranges with text around them, if at least half of all do.

    Such a label begins with a number, after any signs, as "$30,000" or "20-30 years"; or at least three labels differ
    only in their numbers, as "EUR 30000" or "stage 2". "A01" and "B20" are codes.
    """
    texts = [_pattern(value) for value in values]
    frequent = {text for text, n in Counter(texts).items() if n >= FEWEST_NUMBERS and "#" in text}
    numbered = [v for v, text in zip(values, texts, strict=True) if text in frequent or re.match(r"[^\w#]*#", text)]
    return numbered if len(numbered) >= max(FEWEST_NUMBERS, len(values) / 2) else []


def _pattern(value: object) -> str:
    """A label with # for each number: "$#", "#-# years", "stage #"."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        return "#"

    def replaced(match: re.Match[str]) -> str:
        is_code = match[1] is not None and not CURRENCIES.fullmatch(match[1])
        return match[0].translate(AS_LETTERS) if is_code else "#"

    text = unicodedata.normalize("NFKC", str(value)).replace("#", "").strip()
    return NUMBER_OR_CODE.sub(replaced, text)
