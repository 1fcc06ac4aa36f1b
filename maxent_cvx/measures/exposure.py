"""Exposure: the number of people whose sensitive value an adversary infers with at least a given probability.

A person with quasi-identifiers q is exposed at threshold t if, for some sensitive value s,

    P(s | q) >= t    while    P0(s | q) < t,

where P is inferred and P0 is the baseline, the belief without the release. If the values are numbers, dates or ranks,
the event "S = s" is replaced by the interval "|S - s| <= within". All counts are sums over people: an
:class:`ExposureRule` maps a block of rows of P to sums by name, and the sums of all blocks are added. In memory there
is one block; a partitioned posterior applies the same rule to one block per partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import (
    BadProbability,
    MaxEntError,
    SolverError,
    StatementError,
    TableError,
    join_names,
    one_line,
    short_repr,
    shortened,
)
from .._utils.formatting import Message, ReprMixin, TablePreview, format_number, people_message
from .._utils.tables import plain_index, real_numbers, repeated
from .._utils.validation import check_float, check_instance
from ..model.explain import by_statement, model_of, removable_labels, without_knowledge
from ..model.partitioned import PartitionedPosterior, surest_of
from ..model.posterior import Posterior
from ..priors import QIDistribution
from ..solvers.certificate import ACCURACY
from ..terms.people import count_pairs
from .counterfactual import FIRST_ORDER, SOLVED, Counterfactual, without_each
from .disclosure import MOST_NUMBERS, NEGLIGIBLE, add_up, first_largest, of_those_inside, overall, published
from .events import (
    COARSE,
    ROUNDING,
    Intervals,
    SensitiveEvents,
    are_nearly_unique,
    attribute_values,
    look_like_numbers,
    read_events,
    scale_of,
    values_of_each_attribute,
)
from .leakage import beliefs_of, in_order, inferred

#: Largest rounding error of the sum of the probabilities of an event, and of a probability given "in the release".
SUM_ROUNDING = 1e-12
#: The name of the baseline P(s | q) from the same publication without the person's own record.
WITHOUT_HER = "without her"
#: Largest number of groups listed for a release in partitions.
LISTED = 1000
#: Columns of `who` besides the sensitive attributes.
WHO_COLUMNS = frozenset({"P", "baseline", "people"})
#: Largest number of warnings about values that are certain but not counted.
MOST_WARNINGS = 10


@dataclass(frozen=True, eq=False)
class Exposure(ReprMixin):
    """Exposed people and groups, and the success of guessing the likeliest value.

    Attributes
    ----------
    threshold : float
        The least probability with which a person counts as exposed; of several thresholds, the least.
    people : int
        Number of exposed people.
    who : DataFrame
        One row per exposed group, the largest probability first. Index: QI tuple, and name if people are named.
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
        and the number of those for whom it is nevertheless inferred (`anyway`).
    uncounted : DataFrame
        By value: the number of `people` who are not exposed although the value is certain for them (P = 1), and the
        reason, `because`. Check whether any of these values is sensitive, since it is known for these people.
    warnings : tuple of str
        Caveats about the number of people.
    baseline : str or None
        "overall", "without her own record" or "in the baseline", depending on the choice of P0.
    within : float, Timedelta or None
        For numbers, dates or ranks: the largest difference of two values that count as equal. None for labels.
    expected_error : float, Timedelta or None
        Expected distance of the value from the best guess, the median of P(s | q); mean over all people.
    expected_error_before : float, Timedelta or None
        The same for an adversary who knows only the number of people with each value, if that is published.
    undecided : tuple of str
        The warnings that make "nobody is exposed" unreliable, for example values that look like numbers but are treated
        as labels. Set `within` to resolve them.

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

    With a baseline, and with attribution to statements:

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
    _note: tuple[str, ...] = field(default=(), init=False)
    _attribution: Attribution | None = field(default=None, init=False)

    @property
    def total(self) -> int:
        """Number of all people."""
        return int(self.histogram.sum())

    @property
    def meaning(self) -> str:
        """The condition for exposure in words: "a value with P < 0.8 overall is inferred with P >= 0.8"."""
        return f"a value is inferred with P {reaching(self.threshold)}" if self._rule is None else self._rule.meaning

    @property
    def closeness(self) -> str:
        """The distance within which values count as equal, in words: "4,500", "30 days"; empty for equal values only."""
        windows = None if self._rule is None else self._rule.windows
        return "" if windows is None else windows.scale.in_words(windows.radius)

    @property
    def distances(self) -> tuple[str, ...]:
        """Sentences about the people described, if not all; values that count as equal; and the best guess's error."""
        return self._note if self._rule is None else (*self._note, *_distances(self._rule, self))

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

        A person counts if the same value exposes this person in both cases; of intervals, any does.

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
          release: it is sufficient; in both columns by the same value, as in `published_alone`;
        * `without`: number of people exposed without it, who may be different people;
        * `raises`: its increase of P(s | q) of the exposing value, mean over the exposed people;
        * `message`: the reason for a missing answer, or "".

        If two statements imply the same, neither is necessary and both are sufficient; if two expose a person only
        together, both are necessary and neither is sufficient. Neither column therefore sums to the number of exposed
        people. In contrast, ``post.prices()`` is the change of the entropy for a small change of a statement's value.

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
        """Return the verdict, and with a baseline the number of people exposed by the release alone."""
        if self._rule is None or self._rule.baseline is None:
            others = list[str]()
            first = f"{self.people:,} of {self.total:,} people exposed at P {reaching(self.threshold)}"
        else:
            first, *others = _verdict(self._rule, self._rule.baseline, self)
        if self.attack_success is not None:
            success = f"guessing the likeliest value is right for {self.attack_success:.1%}"
            if self.baseline is None:
                first += f"; {success}"
            else:
                others.append(f"G{success[1:]}.")
        lift = self.lift[self.lift < np.inf]  # a probability is not a multiple of a baseline of 0
        if len(lift):
            least, most = f"{lift.min():.3g}", f"{lift.max():.3g}"
            times = least if least == most else f"{least} to {most}"
            subject = "The" if len(lift) == len(self.who) else "Where the baseline is not 0, the"
            others.append(f"{subject} inferred probability is {times} times the baseline.")
        others += self.distances
        attribution = self._attribution
        if self.baseline is not None and self.people and attribution is not None and attribution.post.model is not None:
            try:
                others.append(attribution.sentence(self.published_alone, self.people))
            except SolverError:
                others.append("How many are exposed by the release alone could not be computed.")
        return [first, *others]


def check_attributes(names: Iterable[object]) -> None:
    """Refuse attributes with the name of a column of `who`."""
    if clash := [name for name in names if name in WHO_COLUMNS]:
        raise TableError(f"an attribute is named {clash[0]!r}, like a column of the exposed groups; rename it")


#: Thresholds that exceed a number of five decimals by less are strict limits, with a margin for rounding. A choice.
HAIR = 1e-6


def is_strict(threshold: float) -> bool:
    """Return whether a threshold is slightly above a number of five decimals."""
    return 0 < threshold - round(threshold, 5) < HAIR


def reaching(threshold: float) -> str:
    """Format the condition of probabilities that reach a threshold: ">= 0.8"; for a strict limit "> 0.8"."""
    return f"> {round(threshold, 5):g}" if is_strict(threshold) else f">= {format_number(threshold)}"


def below(threshold: float) -> str:
    """Format the complement: "< 0.8"; for a strict limit "<= 0.8"."""
    return f"<= {round(threshold, 5):g}" if is_strict(threshold) else f"< {format_number(threshold)}"


def check_thresholds(threshold: object) -> tuple[float, ...]:
    """Return one threshold or several, the least first."""
    several = threshold if isinstance(threshold, list | tuple) and threshold else [threshold]
    return tuple(sorted({check_float(each, "threshold", 0.0, 1.0) for each in several}))


def exposed(
    post: Posterior | PartitionedPosterior,
    threshold: float | Sequence[float] = 0.8,
    original: pd.DataFrame | None = None,
    *,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = None,
    within: object = None,
    rho1: float | None = None,
) -> Exposure:
    """Count the people with P(s | q) >= threshold and baseline P0(s) < threshold for some sensitive value s.

    For numbers, dates and ranks the rule applies to intervals: ``P(|S - s| <= within | q) >= threshold`` while
    ``P0(|S - s| <= within) < threshold``, for some value s that occurs.

    Without a baseline, P0 = 0: anyone whose value is likely counts as exposed, even if that was common knowledge. With
    a baseline, a P0 just below the threshold and a P(s | q) just above it count too: ``.lift`` is P / P0 by group, and
    `rho1` requires a smaller P0.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        The adversary's posterior. For a release in partitions, the 1,000 groups with the largest probabilities are
        listed.
    threshold : float or list of float
        A probability. A P(s | q) that is below it by no more than the certified error counts as reaching it. With
        several thresholds, anyone who is exposed at one of them is exposed.
    original : DataFrame, optional
        The original records, to measure the attack's success. For a generalized release, the generalized records, or
        the exact ones if each is in one cell; cells of a hierarchy are not recognized.
    sensitive : object, optional
        The values that count: one value or a list; by default all. For several sensitive attributes a tuple is a
        combination of their values; ``{"Disease": ["HIV", "Flu"]}`` means these values, whatever the others are, and
        ``{"Disease": None}`` all values of one attribute. For numbers they are the centres s of the intervals, which
        contain other values too.
    baseline : "overall", "without her", Series, DataFrame, QIDistribution or Posterior, optional
        P0. "overall" is the distribution of the values in the release. "without her" is the inference from the same
        publication without the person's own record (:func:`counterfactual`), so that values that the records of others
        show as well are not counted; it requires `original`, with its buckets, and is computed for each record. A
        Series is P(s) by value, and may have values that do not occur in the release. A DataFrame or QIDistribution is
        P(s | q) by some of the QI attributes. A posterior is the inference about a person who is not in the release. A
        release in partitions supports "overall" and a Series. P0 minus its certified error is compared with the
        threshold, up to rounding of 1e-9.
    within : float, Timedelta, dict or DataFrame, optional
        Largest difference of two values that count as equal. For numbers: in their unit. For dates and times (also as
        text in ISO 8601): a Timedelta, or text such as "30 days". For an ordered Categorical: in ranks. 0 means equal
        values only. Default: a twentieth of the range of the values; for ordered values a twentieth of the ranks, and
        at least one rank if five or more occur. For labels: a hierarchy as in
        :meth:`maxent_cvx.Release.from_generalized`, whose nodes, except the root, count besides the values.
        Combinations of several attributes are compared for equality only.
    rho1 : float, optional
        Only values with P0 <= rho1 count; by default those with P0 < threshold.

    Returns
    -------
    Exposure
        With ``.people``, ``.who``, ``.values``, ``.warnings``, ``.statements``; given the original records,
        ``.attack_success``; for numbers ``.within`` and ``.expected_error``. ``str()`` returns the verdict in words.
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
        named P, baseline or people, like a column of `who`; if the original records lack a column, or are not the
        people of the release.

    Notes
    -----
    Evfimievski, Gehrke and Srikant (2003): an upward rho1-to-rho2 privacy breach has P0(s) <= rho1 and P(s | q) >= rho2.
    Here rho2 is the threshold; without `rho1` any P0 below it counts.

    Labels that look like numbers ("$30,000", "20-30 years") are not read as numbers, and values most of which occur
    once or twice are hardly ever inferred exactly: ``.undecided`` warns of both unless `within` is given. It also
    reports the number of people who are not counted because the baseline of their interval reaches the threshold,
    although a narrower interval would expose them.

    For a population (:class:`maxent_cvx.GroupedRelease`), the rule applies to P(s | q, in the release) of everybody who
    may be in the release, and "overall" refers to the people in it.

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

    Salaries that are all different, but are known to within 50:

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
    least, *higher = check_thresholds(threshold)
    rho1 = None if rho1 is None else check_float(rho1, "rho1", 0.0, 1.0)
    check_instance(post, (Posterior, PartitionedPosterior), "post")
    names: list[Any]
    rows: pd.DataFrame | None
    if isinstance(post, PartitionedPosterior):
        if original is not None:
            raise StatementError("the attack's success is available in memory only; omit the original records")
        if baseline is not None and not isinstance(baseline, str | pd.Series):
            raise StatementError(
                'for a release in partitions the baseline must be the same for everybody: "overall", or a Series of P(s)'
            )
        values, names, rows, people = post.release.sensitive_values, list(post.release.qi), None, post.release.n_q
    else:
        rows, people = of_those_inside(post)
        values, names = rows.columns, list(rows.index.names)
    check_attributes([*values.names, *names])

    events, intervals = read_events(values, sensitive, within)
    rule = ExposureRule(least, certified_error(post), values, events, None, intervals, rho1, tuple(higher))
    warnings: list[str] = []
    if isinstance(baseline, str) and baseline == WITHOUT_HER:
        rule, rows, people, warnings = _of_each_record(post, original, rule)
    elif baseline is not None:
        rule = with_baseline(rule, baseline, post, rows, sensitive, within)
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

    tenths = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="largest P(s | q)")
    histogram = pd.Series(counts["histogram"], tenths, name="people")
    total = int(histogram.sum())
    by_value = pd.DataFrame({"baseline": np.nan}, index=events.labels)
    if rule.baseline is not None:
        by_value["baseline"] = rule.p0[0] if len(rule.p0) == 1 else people @ rule.p0 / people.sum()
    by_value = by_value.assign(**{name: counts[name] for name in ("exposed", "certain", "not_counted", "anyway")})
    uncounted = _uncounted_table(rule, counts)
    n_s = published(post.view)
    doubts = list(_doubts(rule, int(counts["closer"]), n_s, total, is_given=within is not None))
    result = Exposure(
        least, int(counts["people"]), who, histogram, success, by_value, uncounted,
        warnings=(
            *_warnings(rule, int(counts["unsure"]), uncounted),
            *warnings,
            *(sentence for sentence, _ in doubts),
        ),
        baseline=None if rule.baseline is None else rule.baseline.called,
        undecided=tuple(sentence for sentence, is_open in doubts if is_open),
        **_errors_of_best_guess(intervals, float(counts["error"]) / max(total, 1), n_s),
    )  # fmt: skip
    # Private fields are set here and are not parameters of the class, which users may construct.
    vars(result).update(_rule=rule, _attribution=attribution)
    if not post.view.inside.all():
        note = Message(
            "These are the probabilities of people who are in the release: {inside:,} of the {n:,} people of the "
            "population. People who may be outside of it have each value with a smaller probability.",
            inside=int(np.asarray(post.view.n_s)[post.view.inside].sum()), n=post.view.n_records,
        )  # fmt: skip
        vars(result).update(_note=(note,))
    return result


def _of_each_record(
    post: Posterior | PartitionedPosterior, original: pd.DataFrame | None, rule: ExposureRule
) -> tuple[ExposureRule, pd.DataFrame, np.ndarray, list[str]]:
    """Return the rule with P0 of each kind of record, P(s | q) and people per kind, and warnings about uncertain P0."""
    if not isinstance(post, Posterior):
        raise StatementError(f"baseline={WITHOUT_HER!r} is available for releases in memory only")

    def closest(kinds: Counterfactual) -> np.ndarray:
        """Return the negative distance of P0 from the threshold; -inf for kinds that cannot be exposed."""
        largest, which = rule.surest(kinds.p)
        p0 = np.nan_to_num(rule.counted_at(kinds.without, which), nan=rule.threshold)
        far = np.min([np.abs(p0 - threshold) for threshold in rule.thresholds], axis=0)
        return np.where(rule.reaches(largest), -far, -np.inf)

    kinds = without_each(post, original, urgent=closest)
    table = post.conditional().iloc[kinds.q]
    is_unknown = np.isnan(kinds.without).any(axis=1)
    p0 = rule.units.of(np.where(is_unknown[:, None], 0.0, kinds.without))
    off = np.where(kinds.how == SOLVED, np.nan_to_num(kinds.error), rule.slack)
    baseline = Baseline(p0, np.broadcast_to(off[:, None], p0.shape), "without her own record")
    templates = {
        "For {people} with a likely value, the probability without their own record is of first order and not "
        "certified.": ~is_unknown & (kinds.how == FIRST_ORDER),
        "For {people} with a likely value, the probability without their own record is unknown, because the "
        "knowledge cannot be read without it, or nobody else is left; it counts as 0.": is_unknown,
    }
    is_exposed = rule.reaches(rule.surest(kinds.p)[0])
    numbers = {template: kinds.n_kind[is_exposed & among].sum() for template, among in templates.items()}
    warnings: list[str] = [Message(template, people=people_message(n)) for template, n in numbers.items() if n]
    return replace(rule, baseline=baseline), table, kinds.n_kind, warnings


def _who_in_memory(rows: pd.DataFrame, people: np.ndarray, rule: ExposureRule) -> pd.DataFrame:
    """Tabulate the exposed groups, the largest probability first, then the largest group."""
    largest, which = rule.surest(rows.to_numpy())
    who = rule.events.labels[which].to_frame(index=False).set_index(rows.index).assign(P=largest)
    if rule.baseline is not None:
        who["baseline"] = rule.baseline_at(which)
    who = who.assign(people=people)[rule.reaches(largest)]
    if not rows.index.is_unique:  # one row per kind of record: add up those of a group with the same value
        values = list(rule.events.labels.names)
        who["baseline"] *= who["people"]
        by = who.groupby([*rows.index.names, *values], sort=False, observed=True)
        who = by.agg({"P": "first", "baseline": "sum", "people": "sum"}).reset_index(values)
        who["baseline"] /= who["people"]
    return who.sort_values(["P", "people"], ascending=False, kind="stable")


def _who_in_partitions(post: PartitionedPosterior, rule: ExposureRule) -> pd.DataFrame:
    """Tabulate the exposed groups among the LISTED groups with the largest probabilities."""
    labels = rule.events.labels
    surest = surest_of(post, LISTED, rule.surest, labels)
    if rule.baseline is not None:
        values = pd.MultiIndex.from_frame(surest[list(labels.names)])
        which = labels.get_indexer(plain_index(values))
        surest.insert(len(surest.columns) - 1, "baseline", rule.baseline_at(which))
    return surest[rule.reaches(surest["P"].to_numpy())]


def _attack_success(post: Posterior, original: pd.DataFrame, slack: float) -> float:
    """Compute P(argmax = truth) over all people."""
    p = post.conditional().to_numpy()  # not by name, since the records do not identify named people
    guess = p >= (p.max(axis=1) - slack)[:, None]
    n_right = count_pairs(post.view, original) * guess / guess.sum(axis=1, keepdims=True)
    return float(n_right.sum() / post.space.view.n_records)


def _errors_of_best_guess(intervals: Intervals | None, error: float, n_s: np.ndarray | None) -> dict[str, Any]:
    """Return the fields of an Exposure that only numbers, dates and ranks have."""
    if intervals is None:
        return {}
    amount = intervals.scale.amount
    fields = {"within": amount(intervals.radius), "expected_error": amount(error)}
    if n_s is not None:
        before = intervals.errors(intervals.values.of(n_s[None].astype(float)))[0]
        fields["expected_error_before"] = amount(float(before))
    return fields


def same_value(exposure: Exposure, value: object, other: object) -> bool:
    """Return whether two sensitive values of the release count as equal."""
    windows = None if exposure._rule is None else exposure._rule.windows
    return value == other if windows is None else windows.are_close(value, other)


# ------------------------------------------------------------------------------------------------------------ the baseline


@dataclass(frozen=True, eq=False)
class Baseline:
    """P0 of the units of the rule, shape (1, units) if it is the same for everybody, else (rows, units).

    `off` bounds the error of each probability; `called` names their source in sentences. `beyond` is P0 of the values
    of each event that do not occur in the release, shape (1, events) or (rows, events).
    """

    p: np.ndarray
    off: np.ndarray
    called: str
    beyond: np.ndarray = field(default_factory=lambda: np.zeros((1, 1)))

    def of_rows(self, rows: slice) -> Baseline:
        """Return the baseline of some rows."""
        parts = {name: getattr(self, name) for name in ("p", "off", "beyond")}
        return replace(self, **{name: part if len(part) == 1 else part[rows] for name, part in parts.items()})


def with_baseline(
    rule: ExposureRule,
    baseline: Any,
    post: Posterior | PartitionedPosterior,
    rows: pd.DataFrame | None,
    sensitive: object,
    within: object,
) -> ExposureRule:
    """Return the rule with a baseline; `sensitive` and `within` assign values that only the baseline has to events."""
    rule = replace(rule, baseline=(read := read_baseline(baseline, post, rows, rule.units)))
    if isinstance(baseline, str):
        return rule
    if isinstance(baseline, Posterior):
        labels = inferred(baseline)[0].columns
    elif isinstance(baseline, QIDistribution):
        labels = baseline.values
    else:
        labels = baseline.index if isinstance(baseline, pd.Series) else baseline.columns
    labels = in_order(labels, rule.values.names)
    if labels.nlevels != rule.values.nlevels:  # P0 is given by event
        return rule
    is_other = rule.values.get_indexer(labels) < 0
    if not is_other.any():
        return rule
    others = labels[is_other]
    if isinstance(baseline, pd.Series):
        p = baseline.to_numpy(dtype=float)[None, is_other]
    else:
        assert rows is not None
        p = beliefs_of(baseline, rows.index, others).p
    return replace(rule, baseline=replace(read, beyond=p @ _in_events(others, rule, sensitive, within)))


def _in_events(others: pd.Index, rule: ExposureRule, sensitive: object, within: object) -> np.ndarray:
    """Indicate the events that contain values not occurring in the release, shape (values, events)."""
    intervals = rule.intervals
    if intervals is None:
        events, _ = read_events(rule.values.append(others), sensitive, within)
        return events.includes.toarray()[len(rule.values) :, events.labels.get_indexer(rule.events.labels)]
    values, attribute = intervals.values.labels, intervals.values.labels.name
    scale = scale_of(values.append(others if others.nlevels == 1 else others.get_level_values(str(attribute))))
    if scale is None:  # such as "unknown" among numbers, without a distance from them
        return np.zeros((len(others), len(intervals.centres)))
    far = np.abs(scale.position[len(values) :, None] - scale.position[intervals.centres])
    return (far <= intervals.radius + scale.rounding).astype(float)


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
        p, called = events.of(overall(view, "baseline"))[None], "overall"
    elif isinstance(baseline, pd.Series):
        values = view.sensitive_values if rows is None else rows.columns
        p, called = _baseline_by_value(baseline, events, values)[None], "in the baseline"
    elif isinstance(baseline, str) and baseline == WITHOUT_HER:
        raise StatementError(f"baseline={WITHOUT_HER!r} needs the original records; use measures.exposed with original")
    else:
        raise StatementError(
            f'baseline={short_repr(baseline)}: expected "overall", "without her", a Series of P(s), a table of P(s | q), or a '
            "Posterior"
        )
    return Baseline(p, np.zeros(p.shape), called)


def _baseline_by_value(p0: pd.Series, events: SensitiveEvents, values: pd.Index) -> np.ndarray:
    """Return P0 of the events from a Series by event, or by value for all values in events."""
    if p0.index.has_duplicates:
        raise TableError(f"the baseline has duplicate values: {join_names(repeated(p0.index))}")
    p, p0 = real_numbers(p0, "the baseline", BadProbability), p0.set_axis(plain_index(p0.index))
    if np.isnan(p).any():
        raise BadProbability("the baseline has missing entries; write 0 for values that nobody has")
    rounding = COARSE if p0.dtype in (np.float32, np.float16) else ROUNDING * len(p)
    if not ((p >= 0) & (p <= 1)).all() or p.sum() > 1 + rounding:
        raise BadProbability(
            f"the baseline must contain probabilities with a sum of at most 1, but they are from {p.min():g} to "
            f"{p.max():g} with the sum {p.sum():.12g}; if these are counts, divide them by their sum"
        )
    names = {*p0.index.names}
    if None not in names and names not in ({*events.labels.names}, {*values.names}):
        raise TableError(
            f"the baseline is indexed by {join_names(p0.index.names)}, but the sensitive values are of "
            f"{join_names(values.names)}; rename its index"
        )
    if (at := in_order(p0.index, events.labels.names).get_indexer(events.labels)).min() >= 0:
        return p[at]
    at = in_order(p0.index, values.names).get_indexer(values)
    if (lacking := events.involved & (at < 0)).any():
        raise TableError(
            f"the baseline has no probability for {join_names(values[lacking])}; write 0 for values that nobody has"
        )
    return events.of(np.where(at >= 0, p[at], 0.0))


def _baseline_by_group(
    baseline: pd.DataFrame | QIDistribution | Posterior, rows: pd.DataFrame, events: SensitiveEvents
) -> tuple[np.ndarray, np.ndarray]:
    """Return P0 of every row, and bounds on its errors."""
    if isinstance(baseline, Posterior) and len(baseline.space.people) and "who" not in rows.index.names:
        raise StatementError("it refers to named people, but the posterior does not; pass its conditional()")
    p, off = np.zeros(rows.shape), np.zeros(rows.shape)
    beliefs = beliefs_of(baseline, rows.index, rows.columns[events.involved])
    p[:, events.involved], off[:, events.involved] = beliefs.p, beliefs.off
    # A certificate bounds the error of any set of values, so the error of an event is the largest of its values.
    return events.of(p), events.largest(off)


# ---------------------------------------------------------------------------------------------------------------- the rule


def certified_error(post: Posterior | PartitionedPosterior) -> float:
    """Return the certified error of P(s | q), or of P(s | q, in the release) for a population, and of their sums."""
    if isinstance(post, Posterior) and not post.view.inside.all():
        return min(float(inferred(post)[2].off.max(initial=0.0)) + SUM_ROUNDING, 1.0)
    return min(post.certificate.bound + SUM_ROUNDING, 1.0)


@dataclass(frozen=True, eq=False)
class ExposureRule:
    """A person is exposed if P(e | q) >= threshold and P0(e) < threshold for an event e, a value or an interval.

    The same holds for each of the thresholds in `higher`, at which events with P0(e) above the least one may count.
    Called with a block of P(s | q), shape (rows, values), and the number of people of each row, it returns sums by name.
    """

    threshold: float
    slack: float  # certified error of P(s | q), decided in favour of exposure
    values: pd.Index  # all sensitive values
    events: SensitiveEvents  # those that count; with windows, the centres
    baseline: Baseline | None = None  # of the units; without one, P0 = 0
    intervals: Intervals | None = None  # around the events, if the values are numbers, times or ranks
    rho1: float | None = None  # the largest P0 that counts; by default anything below the threshold
    higher: tuple[float, ...] = ()  # further thresholds

    @property
    def thresholds(self) -> tuple[float, ...]:
        """All thresholds, the least first."""
        return self.threshold, *self.higher

    @cached_property
    def windows(self) -> Intervals | None:
        """The intervals if they are the events, since one of them contains more than one value; else None."""
        return None if self.intervals is None or self.intervals.are_single_values else self.intervals

    @property
    def units(self) -> SensitiveEvents:
        """The events of the baseline: those of the rule, or the values over which windows are summed."""
        return self.events if self.windows is None else self.windows.values

    @property
    def involved(self) -> np.ndarray:
        """Mask of the sensitive values that are in some event."""
        return self.events.involved if self.windows is None else self.windows.involved

    def of(self, p: np.ndarray) -> np.ndarray:
        """Return P of each event from P of all sensitive values."""
        return self._summed(self.units.of(p))

    def _summed(self, p: np.ndarray) -> np.ndarray:
        return p if self.windows is None else self.windows.of(p)

    @cached_property
    def p0(self) -> np.ndarray:
        """P0 of each event; one row if it is the same for everybody."""
        assert self.baseline is not None
        return self._summed(self.baseline.p) + self.baseline.beyond

    @property
    def least_p0(self) -> np.ndarray:
        """P0 minus its certified error."""
        assert self.baseline is not None
        off = self.baseline.off  # bounds the error of any set of values
        return self.p0 - (off if self.windows is None else off.max(axis=1, keepdims=True))

    @cached_property
    def counts(self) -> np.ndarray:
        """Mask of the events that count at the least threshold: one row for all, or one per row."""
        if self.baseline is None:
            return np.ones((1, len(self.events.labels)), dtype=bool)
        return self.least_p0 <= self._most_p0(self.threshold)

    def _most_p0(self, threshold: float) -> float:
        """Return the largest P0 of events that count at a threshold: below it, or rho1."""
        return threshold - ROUNDING if self.rho1 is None else self.rho1 + ROUNDING

    def chunks(self, n_rows: int) -> Iterator[tuple[slice, ExposureRule]]:
        """Yield slices of rows that fit into memory, each with the rule for these rows."""
        step = max(1, MOST_NUMBERS // max(len(self.values), 1))
        for start in range(0, max(n_rows, 1), step):
            rows = slice(start, start + step)
            if self.baseline is None or len(self.baseline.p) == 1:
                yield rows, self
            else:
                yield rows, replace(self, baseline=self.baseline.of_rows(rows))

    def _counted(self, p: np.ndarray) -> np.ndarray:
        """Return P of the events that count, -1 for others, shape (rows, events)."""
        of_events, counts = self.of(p), self.counts
        for threshold in self.higher if self.baseline is not None else ():
            counts = counts | (self.least_p0 <= self._most_p0(threshold)) & (of_events >= threshold - self.slack)
        return np.where(counts, of_events, -1.0)

    def surest(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest P that counts in every row, and the position of its event."""
        largest, which, windows = np.empty(len(p)), np.empty(len(p), dtype=np.int64), self.windows
        for rows, rule in self.chunks(len(p)):
            counted = rule._counted(p[rows])
            largest[rows] = counted.max(axis=1, initial=-1.0)
            if windows is None:
                which[rows] = first_largest(counted) if counted.size else 0
                continue
            # Several intervals may have the same probability: take the one whose centre is nearest to the median.
            far = np.abs(windows.scale.position[windows.centres] - windows.medians(windows.values.of(p[rows]))[:, None])
            which[rows] = np.where(counted >= largest[rows, None] - ROUNDING, far, np.inf).argmin(axis=1)
        return largest, which

    def counted_at(self, p: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return P of one event in every row, -1 if it does not count."""
        at = [np.take_along_axis(rule._counted(p[rows]), which[rows, None], 1) for rows, rule in self.chunks(len(p))]
        return np.concatenate(at)[:, 0]

    def baseline_at(self, which: np.ndarray) -> np.ndarray:
        """Return P0 of one event in every row."""
        return self.p0[0 if len(self.p0) == 1 else np.arange(len(which)), which]

    def reaches(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that reach the least threshold, or are not proved to be below it."""
        return np.asarray((p >= self.threshold - self.slack) & (p >= 0))

    def reached(self, p: np.ndarray) -> np.ndarray:
        """Mark the events that count and reach the threshold, shape (rows, events)."""
        return np.concatenate([rule.reaches(rule._counted(p[rows])) for rows, rule in self.chunks(len(p))])

    def _certain(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that are 1 up to the certified error."""
        return np.asarray(p >= 1 - max(min(self.slack, ACCURACY), NEGLIGIBLE))

    def _closer(self, p: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Mark those of the given rows that a narrower interval than those of the rule would expose."""
        marked, windows, baseline = np.zeros(len(p), dtype=bool), self.windows, self.baseline
        if windows is None or baseline is None or not rows.any():
            return marked
        of_rows = slice(None) if len(baseline.p) == 1 else rows
        off, p, p0 = float(baseline.off[of_rows].max(initial=0.0)), windows.values.of(p[rows]), baseline.p[of_rows]
        for threshold in self.thresholds:
            marked[rows] |= windows.narrower_breach(p, p0, threshold - self.slack, self._most_p0(threshold) + off)
        return marked

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> dict[str, Any]:
        """Return sums over the people of a block, by name."""
        return add_up([rule._sums(p[rows], people[rows].astype(float)) for rows, rule in self.chunks(len(p))])

    def _sums(self, p: np.ndarray, people: np.ndarray) -> dict[str, Any]:
        of_events, counted = self.of(p), self._counted(p)
        largest = counted.max(axis=1, initial=-1.0)
        is_exposed, reached = self.reaches(largest), self.reaches(counted)
        # Within the certified error the higher tenth is chosen, consistently with exposure.
        tenth = np.clip((largest * 10 + 10 * self.slack).astype(int), 0, 9)
        anyway = self.reaches(of_events) & ~reached
        is_certain = self._certain(p)
        not_exposed_but_certain = is_certain.any(axis=1) & ~is_exposed
        single, of_attribute = values_of_each_attribute(self.values), np.zeros(0)
        if single is not None:  # a value of one attribute may be certain even if no combination is
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
            "not_counted": people @ (~self.counts & ~reached),
            "uncounted": people @ (is_certain & ~is_exposed[:, None]),
            "uncounted_of_attribute": of_attribute,
            "uncounted_people": people[not_exposed_but_certain].sum(),
            "error": 0.0 if self.intervals is None else people @ self.intervals.errors(self.intervals.values.of(p)),
        }

    @property
    def meaning(self) -> str:
        """The condition for exposure in words."""
        value, windows = "a value", self.windows
        if windows is not None:
            value += f", to within {windows.scale.in_words(windows.radius)},"
        if self.baseline is not None:
            limit = below(self.threshold) if self.rho1 is None else f"<= {format_number(self.rho1)}"
            value += f" with P {limit} {self.baseline.called}"
        also = ""
        if self.baseline is not None and self.rho1 is None:
            called = self.baseline.called
            also = "".join(f", or with P {reaching(each)} if P {below(each)} {called}" for each in self.higher)
        return f"{value} is inferred with P {reaching(self.threshold)}{also}"


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
        """Return a sentence about the number of people exposed by the release alone."""
        model = model_of(self.post)
        release = "the release" if model.prior is None else "the release and the prior"
        if alone == people:
            return f"All of them are exposed by {release} alone."
        names = removable_labels(model)
        known = f"{names[0]} is known" if len(names) == 1 else f"the {len(names)} statements are known"
        if not alone:
            return f"None of them is exposed by {release} alone; all are exposed once {known}."
        are = "is" if alone == 1 else "are"
        return f"{alone} of them {are} exposed by {release} alone; the others are exposed once {known}."

    @cached_property
    def _exposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The largest probability that counts, its event, and whether it exposes, one per row."""
        largest, which = self.rule.surest(self.rows.to_numpy())
        return largest, which, self.rule.reaches(largest)

    @cached_property
    def _by_release(self) -> np.ndarray:
        """Mask of the exposed rows that would be exposed without any knowledge, too."""
        is_exposed = self._exposed[2]
        if not is_exposed.any() or (alone := without_knowledge(self.post)) is self.post:
            return is_exposed
        return is_exposed & self._judge(alone)[2]

    def _judge(self, post: Posterior) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, for another posterior, P of the surest event, and masks of rows exposed by any and by a same event."""
        table = of_those_inside(post)[0].reindex(self.rows.index).fillna(0.0).to_numpy()
        rule = replace(self.rule, slack=certified_error(post))
        p, reached = rule.counted_at(table, self._exposed[1]), rule.reached(table)
        same = reached  # intervals overlap, so any of them counts as the same event
        if rule.windows is None:
            same = reached & self.rule.reached(self.rows.to_numpy())
        return p, np.asarray(reached.any(axis=1)), np.asarray(same.any(axis=1))

    def _without(self, post: Posterior) -> dict[str, Any]:
        """Return the changes caused by removing a statement."""
        largest, _, is_exposed = self._exposed
        p, still_exposed, likewise = self._judge(post)
        fall, weights = (largest - p)[is_exposed], self.people[is_exposed]
        return {
            "people": int(self.people[is_exposed & ~likewise].sum()),
            "without": int(self.people[still_exposed].sum()),
            "raises": float(fall @ weights / weights.sum()) if weights.sum() else 0.0,
        }

    def _alone(self, post: Posterior) -> dict[str, Any]:
        """Return the number of people who are exposed by a statement, but not by the release alone."""
        new = self._exposed[2] & ~self._by_release & self._judge(post)[2]
        return {"alone": int(self.people[new].sum())}


# ------------------------------------------------------------------------------------------------------------ the sentences


def _in_quotes(label: object) -> str:
    """Write an event: 'yes', or for several attributes 'Flu, high'."""
    return f"'{', '.join(shortened(str(part)) for part in (label if isinstance(label, tuple) else (label,)))}'"


def _verdict(rule: ExposureRule, baseline: Baseline, exposure: Exposure) -> Iterator[str]:
    """Yield sentences about the exposed people, by value, and about the excluded values."""
    at, values, total = reaching(rule.threshold), exposure.values, exposure.total
    # Only releases of a population have a note.
    whom = "people who may be in the release" if exposure._note else "people"
    if exposure.people:
        yield f"{exposure.people:,} of {total:,} {whom} ({exposure.people / total:.1%}) exposed: {rule.meaning}."
    else:
        yield f"0 of {total:,} {whom} exposed: no{rule.meaning.removeprefix('a')}."
    if rule.windows is not None:
        if n := int((values["anyway"] > 0).sum()):
            are = "interval is excluded because its" if n == 1 else "intervals are excluded because their"
            yield (
                f"{n:,} {are} baseline probability is too large; the most frequent has P {at} for "
                f"{people_message(values['anyway'].max())}."
            )
        return
    is_same = len(baseline.p) == 1
    for label, row in values[values["exposed"] > 0].iterrows():
        before = f" (P = {row['baseline']:.3g} {baseline.called})" if is_same else ""
        certain = f", for {int(row['certain'])} with certainty" if row["certain"] else ""
        yield f"{_in_quotes(label)}{before} is inferred for {people_message(row['exposed'])}{certain}."
    for label, row in values[values["not_counted"] > 0].iterrows():
        if is_same and not row["exposed"]:
            excluded = f"is excluded (baseline probability {row['baseline']:.3g})"
        else:
            limit = at if rule.rho1 is None else f"> {format_number(rule.rho1)}"
            excluded = f"is excluded for {people_message(row['not_counted'])} (baseline probability {limit})"
        n, value = int(row["anyway"]), _in_quotes(label)
        yield f"{value} {excluded}; {people_message(n)} {'has' if n == 1 else 'have'} P({value}) {at}."


def _distances(rule: ExposureRule, exposure: Exposure) -> Iterator[str]:
    """Yield sentences, for values on a scale, about values that count as equal and the error of the best guess."""
    intervals = rule.intervals
    if intervals is None:
        return
    scale, default = intervals.scale, ""
    radius = scale.in_words(intervals.radius)
    if intervals.is_default and scale.kind == "rank":
        default = Message(" (the default, one rank or a twentieth of their range)")
    elif intervals.is_default:
        default = Message(" (the default, a twentieth of their range)")
    if intervals is rule.windows:
        yield Message("Values within {radius} of each other count as equal{default}.", radius=radius, default=default)
    elif intervals.radius > 0:
        template = "Only equal values count as equal: no two are within {radius} of each other{default}."
        yield Message(template, radius=radius, default=default)

    def in_words(error: Any) -> str:
        return scale.in_words(error.total_seconds() if isinstance(error, pd.Timedelta) else error)

    off, before = in_words(exposure.expected_error), exposure.expected_error_before
    if before is None:
        yield Message("The best guess is off by {off} on average.", off=off)
    else:
        template = "The best guess is off by {off} on average; without the release, by {before}."
        yield Message(template, off=off, before=in_words(before))


def _uncounted_table(rule: ExposureRule, counts: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate values that are certain for people who are not exposed, the number of people, and the reason."""
    reached, other = Message("its baseline reaches the threshold"), Message("it is not among the sensitive values")
    labels, n = [*rule.values.to_flat_index()], [*counts["uncounted"]]
    because = [reached if is_judged else other for is_judged in rule.involved]
    if (single := values_of_each_attribute(rule.values)) is not None:
        labels, n = [*labels, *single.labels], [*n, *counts["uncounted_of_attribute"]]
        because += [Message("it does not count by itself, or its baseline reaches the threshold")] * len(single.labels)
    rows = [row for row in zip(labels, n, because, strict=True) if row[1]]
    table = pd.DataFrame(rows, columns=["value", "people", "because"]).set_index("value")
    # Not of str, which has no Messages.
    table["because"] = pd.Series([reason for _, _, reason in rows], index=table.index, dtype=object)
    table.attrs["people"] = int(counts["uncounted_people"])  # several values may be certain for one person
    return table


def _warnings(rule: ExposureRule, unsure: int, uncounted: pd.DataFrame) -> Iterator[str]:
    """Yield warnings about values that are certain but not counted, and people who are counted in doubt."""
    for label, row in uncounted.head(MOST_WARNINGS).iterrows():
        n, template = int(row["people"]), "{value} is certain (P = 1) for {n:,} people who are not counted: {because}."
        if n == 1:
            template = "{value} is certain (P = 1) for 1 person who is not counted: {because}."
        yield Message(template, value=_in_quotes(label), n=n, because=row["because"])
    if (n_more := len(uncounted) - MOST_WARNINGS) > 0:
        yield Message("{n:,} more values are certain for people who are not counted.", n=n_more)
    if unsure:
        yield Message(
            "{n:,} of the exposed people are counted only because the certified error ({error:.2g}) is too large to prove "
            "that their probability is below the threshold.",
            n=unsure,
            error=rule.slack,
        )


def _doubts(
    rule: ExposureRule, closer: int, n_s: np.ndarray | None, n_people: int, *, is_given: bool
) -> Iterator[tuple[str, bool]]:
    """Yield reasons why "nobody is exposed" may be wrong, and whether each makes the verdict unreliable."""
    if closer:
        assert rule.windows is not None
        narrower = Message(
            "A narrower interval than +-{radius} would expose {people} who are not counted because the baseline "
            "probability of the wider interval is too large. Choose a smaller distance (within).",
            radius=rule.windows.scale.in_words(rule.windows.radius),
            people=people_message(closer),
        )
        yield narrower, True
    if not is_given:  # otherwise the user has chosen the distance
        for name in rule.events.labels.names:
            if (doubt := _doubt_about(rule, name, n_s, n_people)) is not None:
                yield doubt


def _doubt_about(rule: ExposureRule, name: Any, n_s: np.ndarray | None, n_people: int) -> tuple[str, bool] | None:
    """Return a reason why the values of an attribute may be compared wrongly, see :func:`_doubts`."""
    values = attribute_values(rule.values, name)
    numbers_of_people = None if n_s is None else values.of(n_s[None])[0]
    texts = look_like_numbers(values.labels)
    close = read_events(values.labels, None, None)[1]  # the default intervals of the attribute alone
    is_reliable = False
    if len(rule.events.labels.names) > 1 and close is not None and not close.are_single_values:
        template = (
            "Combinations of {names} are compared for equality, although {name!r} is a number, date or rank, so close "
            "values count as different. Choose {name!r} alone, or set the distance (within) to 0 if only equal "
            "values matter."
        )
    elif rule.windows is None and rule.intervals is None and close is None and texts:
        template = (
            "{n:,} of {total:,} values of {name!r} look like numbers, dates or ranges, such as {example}, but are treated "
            "as unrelated labels, so close values count as different. Convert them to numbers or dates, or set the "
            "distance (within) to 0 if only equal values matter."
        )
    elif not are_nearly_unique(numbers_of_people, len(values.labels), n_people):
        return None
    elif is_reliable := rule.windows is not None:
        template = (
            "Most values of {name!r} occur only once or twice: whether anybody is exposed depends on the distance "
            "(within); choose it deliberately."
        )
    else:
        template = (
            "Most values of {name!r} occur only once or twice, and only equal values count, so hardly any value can be "
            "inferred, whatever is known. Group the values, or set the distance (within) to 0 if only equal values "
            "matter."
        )
    names, example = ", ".join(map(str, rule.events.labels.names)), _in_quotes(texts[0]) if texts else ""
    doubt = Message(template, n=len(texts), total=len(values.labels), name=name, names=names, example=example)
    return doubt, not is_reliable
