"""Answered queries and noisy counts: marginals, sums over ranges, randomised response."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import compress
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import BadProbability, StatementError, TableError, join_names, short_repr, unknown_name
from .._utils.formatting import format_value
from .._utils.tables import as_list, as_numbers, choose, plain_index, real_numbers, repeated
from .._utils.validation import (
    check_bool,
    check_dataframe,
    check_in,
    check_instance,
    check_known,
    check_label,
    check_list,
    check_mapping,
    check_number,
    check_positive,
    check_str,
)
from ..releases.base import View
from ..solvers.sparse import csr, with_entries_in
from ..terms.axes import mark_tuples, occur, pick, values_named
from ..terms.block import Block
from ..terms.rows import Penalty, Rows
from ..terms.space import Space
from .base import Source
from .moments import Quantile, subjects
from .numbers import numbers_of_values, written_fractions
from .statements import ExactRow

# Intervals of numbers of records, which are integers.

#: The largest distance, in records, of a side of an interval from an integer that it reaches up to roundoff.
ROUNDOFF = 1e-9


def integer_counts(
    low: np.ndarray, high: np.ndarray, names: Iterable[object], what: str
) -> tuple[np.ndarray, np.ndarray]:
    """Round each interval inwards to integers."""
    low, high = np.ceil(low - ROUNDOFF), np.floor(high + ROUNDOFF)
    if (none := low > high).any():
        raise StatementError(
            f"no integer number of people is {what} {join_names(compress(names, none))}; pass integer=False for others"
        )
    return low, high


# Noise of a known distribution, as an interval for the true number.


class Noise(Protocol):
    """A distribution: scipy.stats.laplace(scale=2), norm(scale=3), binom(10, 0.5, loc=-5), ..."""

    def ppf(self, q: float) -> float:
        """Return the quantile of lower probability q."""

    def isf(self, q: float) -> float:
        """Return the quantile of upper probability q."""

    def support(self) -> tuple[float, float]:
        """Return the least and the largest value."""


def noise_interval(noise: Any, confidence: float, times: int) -> tuple[float, float]:
    """Return the interval that contains several draws of the noise with probability at least `confidence`."""
    # Each side of each draw excludes (1 - confidence) / (2 times), which adds up (Bonferroni). 1 uses the support.
    _require_parameters(noise)
    if any(not callable(getattr(noise, method, None)) for method in ("ppf", "isf", "support")):
        raise StatementError(f"noise must be a frozen distribution of scipy.stats, not {short_repr(noise)}")
    if not 0 < check_number(confidence, "confidence") <= 1:
        raise BadProbability(f"confidence must be a probability above 0 and at most 1, got {confidence!r}")
    tail = (1 - confidence) / (2 * times)
    try:
        least, most = map(float, (noise.ppf(tail), noise.isf(tail)) if tail > 0 else noise.support())
    except (OverflowError, TypeError, ValueError) as error:
        raise StatementError(f"noise has no quantiles: {' '.join(str(error).split())}") from error
    if math.isnan(least) or math.isnan(most):
        raise StatementError("noise has no quantiles: its parameters are out of range")
    if not math.isfinite(most - least):
        raise StatementError("confidence must be below 1 for noise of unbounded support")
    return least, most


def noise_penalty(noise: Any, or_else: str = "") -> Penalty:
    """Return minus the log-likelihood of a draw of the noise, shifted to a minimum of 0, as a penalty."""
    _require_parameters(noise)
    name = getattr(getattr(noise, "dist", None), "name", None)
    names = ("a", "loc") if name == "dlaplace" else ("loc", "scale")
    parameters = {"loc": 0.0, "scale": 1.0, **dict(zip(names, getattr(noise, "args", ()), strict=False))}
    parameters |= getattr(noise, "kwds", {})
    if name not in ("norm", "laplace", "dlaplace"):
        raise StatementError(
            f"the likelihood of {name or short_repr(noise)} is not supported; use norm(scale=...), laplace(scale=...) "
            f"or dlaplace(a) of scipy.stats{or_else}"
        )
    if check_number(parameters["loc"], "loc of the noise") != 0:
        raise StatementError(f"loc of the noise must be 0, not {parameters['loc']}; subtract it from the counts")
    match name:
        case "norm":
            return Penalty(sd=parameters["scale"])
        case "laplace":
            return Penalty(weight=1 / check_positive(parameters["scale"], "scale of the noise"))
    return Penalty(weight=check_positive(parameters["a"], "a of the noise"))


def _require_parameters(noise: Any) -> None:
    """Raise an error for a distribution of scipy.stats without parameters."""
    import scipy.stats  # takes a third of a second to load

    name = getattr(noise, "name", None)
    if isinstance(name, str) and getattr(scipy.stats, name, None) is noise:
        raise StatementError(f"noise is scipy.stats.{name} without parameters; pass e.g. {name}(scale=...)")


# Answers of a statistical database: counts, sums and means.

#: Products and sums of multiples of this unit below the other constant are exact in double precision.
SHORT, SMALL = 2.0**-10, 2.0**42
KINDS = ("count", "sum", "mean", "median", "min", "max")
#: The levels of aggregates that are quantiles.
QUANTILES = {"min": Fraction(0), "median": Fraction(1, 2), "max": Fraction(1)}


class AnsweredQueries(Source):
    """``|N sum_(q in Q) sum_s w(s) P(q, s) - answer| <= eps`` for every query Q: answers to COUNT, SUM or AVG.

    Answers to MEDIAN, MIN and MAX count the people below and above, as in :class:`PublishedQuantile`.

    Parameters
    ----------
    queries : list of dict
        The conditions of each query, which map attributes to values, lists of values, or pandas Intervals; ``{}`` means
        everybody. Attributes are quasi-identifiers or, except for a mean, sensitive attributes.
    answers : list of float
        One per query, in people or the unit of the values.
    of : {"count", "sum", "mean", "median", "min", "max"}
        The aggregate: w(s) = 1, the number s, or s / n(Q), with n(Q) known from the quasi-identifiers. The median of
        an even number of people is the mean of the middle two.
    eps : float or list of float
        The largest error of each answer, for example 5 if it is rounded to tens. Bounds that are always satisfied are
        left out.
    noise : frozen distribution of scipy.stats, optional
        The distribution of noise added to every answer, for example ``scipy.stats.laplace(scale=2)``.
    confidence : float
        The probability that all rows are true if there is noise, as in :class:`NoisyMarginal`.
    integer : bool
        Whether to round the intervals of counts inwards to integers.
    attribute : str, optional
        The attribute to aggregate, if several are sensitive.
    values : dict or Series, optional
        The number of each value of the attribute; by default, the values themselves.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid; when added to a model, if nobody matches a query, except one for a count or a sum,
        which is 0.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are not numbers.

    Notes
    -----
    Answers to linear queries are linear in P; the range sums of CAE, section 5, are an example.

    Examples
    --------
    Two mean salaries, rounded to thousands. The mean of the people in their twenties is close to the lowest salary, so
    both of them almost certainly have it; then the mean of the women reveals the salary of the older one:

    >>> import maxent_cvx as mx, pandas as pd
    >>> staff = pd.DataFrame({"Age": [25, 28, 41, 47], "Sex": ["F", "M", "F", "M"]})
    >>> view = mx.QITable(staff, qi=["Age", "Sex"], sa="Salary", sa_values=[30, 40, 50])
    >>> twenties = {"Age": pd.Interval(20, 29, closed="both")}
    >>> source = mx.AnsweredQueries([twenties, {"Sex": "F"}], [30, 40], of="mean", eps=0.5)
    >>> print(mx.MaxEnt(view).add(source).solve().conditional().round(2))
    Salary     30    40    50
    Age Sex
    25  F    0.92  0.07  0.01
    28  M    0.99  0.01  0.00
    41  F    0.02  0.14  0.84
    47  M    0.33  0.33  0.33
    """

    _can_be_recomputed = False

    def __init__(
        self,
        queries: Iterable[Mapping[str, object]],
        answers: Iterable[float],
        of: str = "count",
        *,
        eps: float | Iterable[float] = 0.0,
        noise: Noise | None = None,
        confidence: float = 0.95,
        integer: bool = True,
        attribute: str | None = None,
        values: Mapping[Any, float] | pd.Series | None = None,
    ) -> None:
        expected = "{attribute: value}"
        self.queries = [check_mapping(query, "a query", expected) for query in check_list(queries, "queries", expected)]
        check_in(of, "of", KINDS)
        check_bool(integer, "integer")
        listed, half_widths = check_list(answers, "answers", "numbers"), as_list(eps)
        self.answers = np.array([check_number(number, f"answer {i}") for i, number in enumerate(listed, 1)])
        half_widths = half_widths * len(self.queries) if len(half_widths) == 1 else half_widths
        self.eps = np.array([check_number(number, "eps") for number in half_widths])
        if not len(self.queries) == len(self.answers) == len(self.eps) or not len(self.queries):
            raise StatementError(
                f"queries, answers and eps must have the same length of at least 1, not {len(self.queries)}, "
                f"{len(self.answers)} and {len(self.eps)}"
            )
        if (self.eps < 0).any():
            raise BadProbability(f"eps must not be negative: {self.eps.min():.12g}")
        if attribute is not None:
            check_str(attribute, "attribute")
        if of == "count" and (attribute is not None or values is not None):
            raise StatementError("attribute and values can only be given for sums and means; omit them for a count")
        self.noise = (0.0, 0.0) if noise is None else noise_interval(noise, confidence, len(self.queries))
        self.of, self.attribute, self.values, self.integer = of, attribute, values, integer

    @property
    def label(self) -> str:
        """The aggregate, the first query, and the number of other queries."""
        more = len(self.queries) - 1
        return f"{self.of} of {_text(self.queries[0])}" + (f" and {more} more" if more else "")

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per query, in the unit of its answer; none if the count may be any number."""
        least, most = self.noise
        low, high = self.answers - self.eps - most, self.answers + self.eps - least
        if self.of in QUANTILES:
            yield from self._quantiles(space, low, high)
            return
        view, q, s = space.view, space.codes["q"], space.codes["s"]
        inside = view.inside
        if self.of == "mean" and not inside.all():
            raise StatementError(
                "a mean needs the number of people in the release, which is unknown for a population; use a sum and a "
                "count"
            )
        weight = inside.astype(float) if self.of == "count" else self._numbers(space)
        coefficients, entries, people, names = [], [], [], [_text(query) for query in self.queries]
        for query in self.queries:
            tuples, n, values = self._matches(space, query)
            at = np.flatnonzero(tuples[q] & (values & (weight != 0))[s])
            people.append(n)
            entries.append(at)
            coefficients.append(weight[s[at]] * space.n_records / (n if self.of == "mean" else 1))
        indptr = np.cumsum([0, *map(len, entries)])
        matrix = csr(np.concatenate(coefficients), np.concatenate(entries), indptr, (len(names), len(space)))
        if self.of == "count":
            vague = low < high
            if self.integer:
                low, high = integer_counts(low, high, names, "an answer to")
            # Bounds of 0 from below and of everybody from above are always true.
            low, high = np.where(vague & (low <= 0), -np.inf, low), np.where(vague & (high >= people), np.inf, high)
        bounded = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        short = (weight, matrix.data, self.answers, self.eps, np.array(self.noise))
        exact = self.of != "mean" and all(map(_is_short, short))
        rows = Rows(matrix, low, high, self.of, pd.Index(names), view, exact=exact)
        if self.of == "count" or exact:
            yield rows.at(bounded)
            return
        # Means of groups and of their union depend on each other: their coefficients must be exact, as in E(...).
        for i in bounded.tolist():
            numbers, place = np.unique(weight[s[entries[i]]], return_inverse=True)
            factors = [
                number * space.n_records / (people[i] if self.of == "mean" else 1)
                for number in written_fractions(numbers)
            ]
            matrix = ExactRow(entries[i], place, factors).rounded(len(space))
            typed = tuple((factor, entries[i][place == k]) for k, factor in enumerate(factors))
            yield replace(rows.at(np.array([i])), matrix=matrix, typed=typed, exact=True)

    def _quantiles(self, space: Space, low: np.ndarray, high: np.ndarray) -> Iterator[Rows]:
        """Yield the rows of a median, minimum or maximum between two values, query by query."""
        for query, least, most in zip(self.queries, low.tolist(), high.tolist(), strict=True):
            label, remedy = f"{self.of}: {_text(query)}", "check whether it was rounded, or its error is larger (eps)"
            quantile = Quantile(QUANTILES[self.of], "linear", least, most, label, remedy)
            yield quantile.rows(subjects(space, self.attribute, query, self.values), space)

    def _matches(self, space: Space, query: Mapping[str, object]) -> tuple[np.ndarray, int, np.ndarray]:
        """Mark the QI tuples of a query, count their records, and mark its sensitive values."""
        view = space.view
        of_value = {name: chosen for name, chosen in query.items() if name in view.sensitive}
        if of_value and self.of == "mean":
            raise StatementError(
                f"a mean needs the number of people in its query, which is unknown given {next(iter(of_value))!r}, a "
                "sensitive attribute; use a sum and a count"
            )
        values = values_named(view, of_value) if of_value else np.ones(len(view.sensitive_values), dtype=bool)
        condition = {name: chosen for name, chosen in query.items() if name not in of_value}
        tuples = mark_tuples(view, condition)
        try:
            return tuples, space.records_described(condition), values
        except StatementError:  # nobody matches: a count or a sum is 0
            if self.of == "mean":
                raise
            return tuples, 0, values

    def _numbers(self, space: Space) -> np.ndarray:
        """Return the number of every sensitive value."""
        view = space.view
        if self.attribute is None and len(view.sensitive) > 1:
            raise StatementError(f"a {self.of} needs one attribute; pass attribute=, one of {list(view.sensitive)}")
        return numbers_of_values(view, self.attribute or view.sensitive[0], self.values)


def _text(query: Mapping[str, object]) -> str:
    """Format the conditions of a query."""
    return ", ".join(f"{format_value(name)}={choose(chosen, name)}" for name, chosen in query.items()) or "everybody"


def _is_short(numbers: np.ndarray) -> bool:
    """Return whether numbers have so few digits that sums and products of them are exact."""
    return bool(((np.rint(numbers / SHORT) * SHORT == numbers) & (np.abs(numbers) < SMALL)).all())


# Counts published with noise of a known distribution, such as differentially private counts.


class NoisyMarginal(Source):
    """noisy - z_high <= N P(by) <= noisy - z_low, z being quantiles of the noise; or the log-likelihood of the noise.

    Parameters
    ----------
    counts : Series
        Noisy numbers of people, indexed by quasi-identifiers or sensitive attributes, which name the levels. Missing
        cells were not published.
    noise : frozen distribution of scipy.stats
        The distribution of the noise in each count, for example ``scipy.stats.laplace(scale=1 / epsilon)``.
    confidence : float, optional
        For a box only: the probability that all rows are true; None means 0.95. Quantiles exclude
        (1 - confidence) / (2 rows) on each side (Bonferroni). 1 uses the support of the noise, if it is bounded.
    integer : bool, optional
        For a box only: whether to round the intervals inwards to integers, as numbers of people are; None means True.
    how : {"box", "likelihood"}
        "box" requires every count to be within the noise. "likelihood" adds the log-likelihood of the noise to N H(p),
        nats, so that the answer is the maximum a posteriori, with one soft row per count. Gaussian noise costs
        (noisy - N P)^2 / (2 scale^2), Laplace noise abs(noisy - N P) / scale, discrete Laplace noise
        a abs(noisy - N P); other noise is not supported.

    Raises
    ------
    TableError, BadProbability, StatementError
        If an argument is invalid, or the noise is unbounded and confidence is 1; with a likelihood, if the noise is
        neither normal nor Laplace around 0, or if `confidence` or `integer` is given, which are unused.
    UnknownName
        When added to a model, if it lacks an attribute or a value.

    Notes
    -----
    For a population (:class:`maxent_cvx.GroupedRelease`), only the people in the release are counted.

    Counts that the noise made negative are used without clipping; bounds below 0 and above N are left out. Noise
    outside the confidence interval makes the model infeasible, which ``model.diagnose()`` explains. A likelihood never
    contradicts other knowledge; ``post.penalties`` gives the cost of each count.
    Private-PGM (McKenna, Sheldon and Miklau, 2019, Graphical-model based estimation and inference for differential
    privacy) minimises the loss alone, and chooses among the minima by entropy: for equal noise in all counts, this is
    the limit of small noise. Its L2 loss divides by the standard deviation, not by its square.

    Examples
    --------
    Two counts of the hospital's patients, with the noise of a differentially private release. Given the buckets alone,
    the probability that a man has the flu is between 1/6 and 1/2; given also the counts, it is at least 1/3.

    >>> import maxent_cvx as mx, pandas as pd, scipy.stats
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> flu = pd.Series([4.2, -0.7], index=pd.MultiIndex.from_tuples(
    ...     [("male", "Flu"), ("female", "Flu")], names=["Gender", "Disease"]))
    >>> source = mx.NoisyMarginal(flu, scipy.stats.laplace(scale=1), confidence=0.9)
    >>> low, high = mx.MaxEnt(release).add(source).bounds("P(Flu | Gender=male)")
    >>> round(low, 3), round(high, 3)
    (0.333, 0.5)

    The likelihood has one answer, near the noisy counts, and a price for each:

    >>> post = mx.MaxEnt(release).add(mx.NoisyMarginal(flu, scipy.stats.laplace(scale=1), how="likelihood")).solve()
    >>> round(post.prob("Flu", given={"Gender": "male"}), 3), post.penalties.round(2).tolist()
    (0.409, [1.75, 1.25])
    """

    def __init__(
        self,
        counts: pd.Series,
        noise: Noise,
        confidence: float | None = None,
        integer: bool | None = None,
        how: Literal["box", "likelihood"] = "box",
    ) -> None:
        check_in(how, "how", ("box", "likelihood"))
        check_instance(counts, pd.Series, "counts", "index them by attributes", TableError)
        counts = counts.set_axis(plain_index(counts.index))  # DataFrame.value_counts labels one column by tuples
        labels = list(counts.index.names)
        if not len(counts) or not all(isinstance(name, str) for name in labels) or len(set(labels)) < len(labels):
            raise TableError(
                f"counts must not be empty, and the levels of their index must name different attributes, not {labels}"
            )
        if counts.index.has_duplicates:
            raise TableError(f"counts repeat {join_names(repeated(counts.index))}; one entry per cell")
        as_numbers(counts, "counts")
        self.counts, self.penalty = counts, None
        if how == "likelihood":
            for name, argument in (("confidence", confidence), ("integer", integer)):
                if argument is not None:
                    raise StatementError(f"{name} can only be given with how='box'; omit it for a likelihood")
            self.penalty = noise_penalty(noise, ", or how='box' for other noise")
            return
        confidence, self.integer = 0.95 if confidence is None else confidence, integer is None or integer
        check_bool(self.integer, "integer")
        self.least, self.most = noise_interval(noise, confidence, len(counts))

    @property
    def label(self) -> str:
        """The attributes of the counts, and the cost of violating a row."""
        softly = "" if self.penalty is None else f", softly ({self.penalty})"
        return f"noisy counts by {', '.join(map(str, self.counts.index.names))}{softly}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per cell; a cell without terms has a hard row only if the noise does not explain its count."""
        block = self._block(space)
        noisy = self.counts.to_numpy(dtype=float)
        at = block.index.get_indexer(self.counts.index)
        matrix = pick(block.matrix, at)
        if self.penalty is not None:
            matrix, index = matrix * float(space.n_records), self.counts.index
            yield Rows(matrix, noisy, noisy.copy(), self.label, index, space.view, penalty=self.penalty)
            return
        low, high = noisy - self.most, noisy - self.least
        if self.integer:
            low, high = integer_counts(low, high, self.counts.index, "within the noise of")
        low, high = np.where(low > 0, low, -np.inf), np.where(high < space.n_records, high, np.inf)
        bounded = np.where(at >= 0, np.isfinite(low) | np.isfinite(high), np.isfinite(low) | (high < 0))
        share = 1 / space.n_records
        index = self.counts.index
        rows = Rows(matrix, low * share, high * share, self.label, index, space.view)
        yield rows.at(np.flatnonzero(bounded))

    def _without(self, at: int, original: pd.DataFrame, view: View) -> NoisyMarginal:
        """Return the counts without a record, with the same noise."""
        record, index = original.iloc[at], self.counts.index
        is_hers = np.ones(len(index), dtype=bool)
        for name in index.names:
            is_hers &= np.asarray(index.get_level_values(str(name)) == record[str(name)])
        other = copy.copy(self)
        other.counts = self.counts - is_hers
        return other

    def _block(self, space: Space) -> Block:
        """Return P(by) of the people in the release."""
        view, names = space.view, [str(name) for name in self.counts.index.names]
        check_known(names, f"attribute of the {view.noun}", view.columns)
        block = space.marginal(names)
        for name in names:
            counted, labels = self.counts.index.get_level_values(name), block.index.get_level_values(name)
            if not occur(counted, labels).any():
                raise unknown_name(f"value of {name!r}", counted[0], labels.unique())
        return replace(block, matrix=with_entries_in(block.matrix, view.inside[space.codes["s"]]))


#: The tolerance of the sum of a row of a transition matrix, which is 1.
ROUNDING = 1e-9


class RandomizedResponse(Source):
    """``|P(Q, r, s) - T(s, r) P(Q, s)| <= w(Q)``: a share T(s, r) of the people with Q and value s reports r.

    Parameters
    ----------
    transition : DataFrame
        T: one row per sensitive value, one column per possible report; each row sums to 1. If it differs between
        groups, one row per QI values and sensitive value, T(q, s, r), with a MultiIndex of these QI attributes and,
        last, the sensitive value, as in the table of :func:`maxent_cvx.anonymize.channel`.
    reported : str
        The QI attribute of the view that contains the reported values, which are public.
    by : list of lists of str, optional
        The QI attributes of Q, one list per family of rows; by default [] (everybody), and each attribute alone. They
        always include the attributes of `transition`.
    confidence : float or None
        The probability that all rows are true. None treats shares as exact, w = 0, which is unrealistic for a sample.

    Raises
    ------
    TableError, BadProbability
        If `transition` is not a transition matrix.
    StatementError, UnknownName
        If an argument is invalid; when added to a model, if `reported` is not a QI attribute, or values are missing.

    Notes
    -----
    Everybody reports r with probability T(s, r), independently of the others, so that by Hoeffding's inequality the
    number n(Q, r, s) differs by more than t from T(s, r) n(Q, s) with probability at most 2 exp(-2 t^2 / n(Q));
    w = t / N, and the probabilities of all rows add up (Bonferroni). If T is 0 or 1, the row is exact. If a value has
    two possible reports, their rows are the same statement, and only one of them counts. (Privacy-MaxEnt's future work:
    randomised releases.)

    Examples
    --------
    340 of 1,000 people report yes, and everybody reports the truth with probability 3/4. If shares are treated as
    exact, the true number is 180, as .75 * 180 + .25 * 820 = 340, and 135 of these report yes:

    >>> import maxent_cvx as mx, pandas as pd
    >>> honest = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=["yes", "no"], columns=["yes", "no"])
    >>> survey = pd.DataFrame({"Answer": ["yes", "no"], "People": [340, 660]})
    >>> view = mx.QITable(survey, qi="Answer", sa="Truth", sa_values=["yes", "no"], count="People")
    >>> exact = mx.RandomizedResponse(honest, reported="Answer", confidence=None)
    >>> mx.MaxEnt(view).add(exact).solve().conditional().round(3)["yes"].to_dict()
    {'no': 0.068, 'yes': 0.397}
    >>> vague = mx.RandomizedResponse(honest, reported="Answer", confidence=0.95)
    >>> low, high = mx.MaxEnt(view).add(vague).bounds("P(yes)")
    >>> round(low, 3), round(high, 3)
    (0.058, 0.367)
    """

    _can_be_recomputed = False

    def __init__(
        self,
        transition: pd.DataFrame,
        reported: str,
        by: Iterable[Sequence[str]] | None = None,
        confidence: float | None = 0.95,
    ) -> None:
        check_str(reported, "reported")
        check_dataframe(transition, "transition")
        if transition.index.has_duplicates or transition.columns.has_duplicates:
            raise TableError("transition repeats a value; give one row per true and one column per reported value")
        self.matrix = real_numbers(transition, "transition")
        sums = self.matrix.sum(axis=1)
        if not (self.matrix >= 0).all() or (np.abs(sums - 1) > ROUNDING).any():
            first = int((np.abs(sums - 1) > ROUNDING).argmax())
            raise BadProbability(
                "the rows of transition must be probabilities that sum to 1, but "
                f"{join_names([transition.index[first]])} sums to {sums[first]:.12g}, and the smallest entry is "
                f"{self.matrix.min():.12g}"
            )
        if confidence is not None and not 0 < check_number(confidence, "confidence") < 1:
            raise BadProbability(f"confidence must be a probability between 0 and 1, or None, got {confidence!r}")
        self.transition, self.reported, self.confidence = transition, reported, confidence
        self.by = by if by is None else [_attributes(one) for one in check_list(by, "by", "lists of QI attributes")]

    @property
    def label(self) -> str:
        """The name of this source and the attribute."""
        return f"randomised response {self.reported!r}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per group of people, true value and reported value."""
        view = space.view
        check_label(self.reported, f"quasi-identifier of the {view.noun} (given as reported)", view.qi)
        if len(view.sensitive) > 1:
            raise StatementError("randomised response needs a single sensitive attribute, but the view has several")
        reports = view.quasi_identifiers.levels[view.qi.index(self.reported)]
        others = [name for name in view.qi if name != self.reported]
        within: list[Any] = list(self.transition.index.names[:-1])
        check_known(within, f"quasi-identifier of the {view.noun} (given in transition)", others)
        true_values = view.sensitive_values
        if within:
            groups = space.marginal([*within, view.sensitive[0]]).index
            true_values = pd.MultiIndex.from_frame(groups.to_frame()[[*within, view.sensitive[0]]])
        for side, have, need in (
            ("a row for", self.transition.index, true_values),
            ("a column for", self.transition.columns, reports),
        ):
            if len(missing := need.difference(have)):
                raise StatementError(f"transition lacks {side} {join_names(missing)}, a value of the {view.noun}")
        families = [[], *([name] for name in others if name not in within)] if self.by is None else self.by
        families = [[*within, *(name for name in family if name not in within)] for family in families]
        families = list({frozenset(family): family for family in families}.values())
        for name in (name for family in families for name in family):
            if name == self.reported:
                raise StatementError(f"by must not contain {name!r}, the attribute of the reports")
            check_label(name, f"quasi-identifier of the {view.noun} (given in by)", others)
        blocks = [self._family(space, family) for family in families]
        n_events = sum(int((~sure & ~implied).sum()) for _, _, sure, _, implied in blocks)
        for matrix, labels, sure, people, implied in blocks:
            t = np.zeros(len(labels))
            if self.confidence is not None and n_events:
                t = np.where(sure, 0.0, np.sqrt(people * math.log(2 * n_events / (1 - self.confidence)) / 2))
            width = t / space.n_records
            useful = (t < people) & ~implied  # a wider row has no effect
            yield Rows(matrix, -width, width, f"reported {self.reported}", labels, view).at(np.flatnonzero(useful))

    def _family(self, space: Space, by: list[str]) -> tuple[sp.csr_array, pd.Index, np.ndarray, np.ndarray, np.ndarray]:
        """Return P(Q, r, s) - T(s, r) P(Q, s), labels, whether T is 0 or 1, n(Q), and whether other rows imply a row."""
        view = space.view
        sensitive = view.sensitive[0]
        true = space.marginal([*by, sensitive])
        reported = space.marginal([*by, sensitive, self.reported])
        n, r = len(true), len(self.transition.columns)
        labels = true.index.to_frame(index=False)
        reported_labels = labels.loc[np.repeat(np.arange(n), r)].reset_index(drop=True)
        reported_labels[self.reported] = np.tile(np.asarray(self.transition.columns, dtype=object), n)
        combinations = pd.MultiIndex.from_frame(reported_labels.astype(object))
        at = pd.MultiIndex.from_frame(reported.index.to_frame().astype(object)).get_indexer(combinations)
        within: list[Any] = list(self.transition.index.names[:-1])
        keys = pd.MultiIndex.from_frame(labels[[*within, sensitive]]) if within else pd.Index(labels[sensitive])
        row = self.transition.index.get_indexer(keys)
        share = self.matrix[row].ravel()
        repeat = sp.csr_array((share, (np.arange(n * r), np.repeat(np.arange(n), r))), shape=(n * r, n))
        matrix = sp.csr_array(pick(reported.matrix, at) - repeat @ true.matrix)
        people = np.full(n, float(space.n_records))
        if by:
            n_q = pd.Series(view.n_q, index=view.quasi_identifiers).groupby(level=by).sum()
            of_people = labels[by[0]] if len(by) == 1 else pd.MultiIndex.from_frame(labels[by])
            people = n_q.reindex(of_people).to_numpy(dtype=float)
        sure = (share == 0) | (share == 1)
        # Shares sum to 1. So the row of the largest share follows from the others if these are exact, or if only one of
        # them is not. It is dropped: as a row of its own it would contradict the others by roundoff.
        is_implied = (self.confidence is None) | ((~sure).reshape(n, r).sum(axis=1) == 2)
        implied = np.zeros((n, r), dtype=bool)
        implied[np.arange(n), self.matrix[row].argmax(axis=1)] = is_implied
        return matrix, combinations, sure, np.repeat(people, r), implied.ravel()


def _attributes(by: object) -> list[str]:
    """Read one attribute, or a list of them, which may be empty."""
    listed = [by] if isinstance(by, str) else check_list(by, "by", "lists of QI attributes")
    return [check_str(name, "an attribute in by") for name in listed]
