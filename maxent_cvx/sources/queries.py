"""Answered queries and noisy counts: marginals, sums over ranges, randomised response."""

from __future__ import annotations

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
from .._utils.tables import as_list, as_numbers, choose
from .._utils.validation import (
    check_bool,
    check_dataframe,
    check_in,
    check_instance,
    check_label,
    check_list,
    check_mapping,
    check_number,
    check_positive,
    check_str,
)
from ..terms.axes import pick, values_named
from ..terms.block import Block
from ..terms.rows import Penalty, Rows
from ..terms.space import Space
from .base import Source
from .moments import Quantile, subjects
from .numbers import numbers_of_values

# Intervals for numbers of records, which are integers.

#: Roundoff in a side of an interval, records, within which it still reaches an integer.
ROUNDOFF = 1e-9


def integer_counts(
    low: np.ndarray, high: np.ndarray, names: Iterable[object], what: str
) -> tuple[np.ndarray, np.ndarray]:
    """Round each interval inwards to integers."""
    low, high = np.ceil(low - ROUNDOFF), np.floor(high + ROUNDOFF)
    if (none := low > high).any():
        raise StatementError(
            f"no integer number of people is {what} {join_names(compress(names, none))}; integer=False allows any number"
        )
    return low, high


# Noise of a known distribution, as an interval for what it was added to.


class Noise(Protocol):
    """A distribution: scipy.stats.laplace(scale=2), norm(scale=3), binom(10, 0.5, loc=-5), ..."""

    def ppf(self, q: float) -> float:
        """The quantile from below."""

    def isf(self, q: float) -> float:
        """The quantile from above."""

    def support(self) -> tuple[float, float]:
        """The least and the largest value."""


def noise_interval(noise: Any, confidence: float, times: int) -> tuple[float, float]:
    """The interval that so many draws of the noise are all in, with a probability of at least `confidence`."""
    # Each side of each draw leaves out (1 - confidence) / (2 times), which adds up (Bonferroni). 1 takes the ends.
    _require_parameters(noise)
    if any(not callable(getattr(noise, method, None)) for method in ("ppf", "isf", "support")):
        raise StatementError(f"noise must be a distribution of scipy.stats with parameters, not {short_repr(noise)}")
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


def noise_penalty(noise: Any) -> Penalty:
    """Minus the log-likelihood of a draw of the noise, less its least value, as what it costs to miss a value."""
    _require_parameters(noise)
    name = getattr(getattr(noise, "dist", None), "name", None)
    names = ("a", "loc") if name == "dlaplace" else ("loc", "scale")
    parameters = {"loc": 0.0, "scale": 1.0, **dict(zip(names, getattr(noise, "args", ()), strict=False))}
    parameters |= getattr(noise, "kwds", {})
    if name not in ("norm", "laplace", "dlaplace"):
        raise StatementError(
            f"the likelihood of {name or short_repr(noise)} is not supported; use norm(scale=...), laplace(scale=...) or "
            "dlaplace(a) of scipy.stats, or how='box' for any other noise"
        )
    if check_number(parameters["loc"], "loc of the noise") != 0:
        raise StatementError(f"noise around {parameters['loc']} is not around 0: subtract that from the counts instead")
    match name:
        case "norm":
            return Penalty(sd=parameters["scale"])
        case "laplace":
            return Penalty(weight=1 / check_positive(parameters["scale"], "scale of the noise"))
    return Penalty(weight=check_positive(parameters["a"], "a of the noise"))


def _require_parameters(noise: Any) -> None:
    """Refuse a distribution of scipy.stats that has not been called."""
    import scipy.stats  # takes a third of a second to load

    name = getattr(noise, "name", None)
    if isinstance(name, str) and getattr(scipy.stats, name, None) is noise:
        raise StatementError(f"noise is scipy.stats.{name} without parameters; give them, such as {name}(scale=...)")


# Answers that a statistical database gave: how many people, what their values sum to, or are on average.

#: Multiples of this below the other are products and sums of doubles without any rounding.
SHORT, SMALL = 2.0**-10, 2.0**42
KINDS = ("count", "sum", "mean", "median", "min", "max")
#: Those that are quantiles: which.
QUANTILES = {"min": Fraction(0), "median": Fraction(1, 2), "max": Fraction(1)}


class AnsweredQueries(Source):
    """``|N sum_(q in Q) sum_s w(s) P(q, s) - answer| <= eps`` for every query Q: the answers to COUNT, SUM or AVG.

    MEDIAN, MIN and MAX are counts of the people below and above, as in :class:`PublishedQuantile`.

    Parameters
    ----------
    queries : list of dict
        The conditions of each query: attribute to a value, a list of values, or a pandas Interval; ``{}`` is everybody.
        Attributes are quasi-identifiers or, except for a mean, sensitive ones.
    answers : list of float
        One per query: people, or the unit of the values.
    of : {"count", "sum", "mean", "median", "min", "max"}
        The aggregate: w(s) = 1, the number s, or s / n(Q), with n(Q) known from the quasi-identifiers. The
        median of an even number of people is the mean of the two in the middle.
    eps : float or list of float
        The largest error of each answer, for example 5 if it is rounded to tens. A bound that is always satisfied is
        left out.
    noise : frozen distribution of scipy.stats, optional
        The distribution of noise added to every answer, for example ``scipy.stats.laplace(scale=2)``.
    confidence : float
        The probability that all rows are true together, if there is noise; as in :class:`NoisyMarginal`.
    integer : bool
        Use that counts are integers; False uses the interval as it is.
    attribute : str, optional
        The attribute that is summed, if several are sensitive.
    values : dict or Series, optional
        The number that each value of the attribute stands for; by default they are numbers themselves.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid; when added to a model, if nobody matches a query.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are not numbers.

    Notes
    -----
    Answers to linear queries are linear in P; the range sums of CAE, section 5, are an example.

    Examples
    --------
    Two mean salaries, rounded to thousands. That of people in their twenties is close to the lowest salary, so both of
    them almost certainly have it; given this, the mean of the women reveals the salary of the older one:

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
        values: Mapping[object, float] | pd.Series | None = None,
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
                f"there are {len(self.queries)} queries, {len(self.answers)} answers and {len(self.eps)} eps; as many "
                "of each are expected, and one at least"
            )
        if (self.eps < 0).any():
            raise BadProbability(f"eps must not be negative: {self.eps.min():.12g}")
        if of == "count" and (attribute is not None or values is not None):
            raise StatementError("attribute and values are used for sums and means only; omit them for a count")
        self.noise = (0.0, 0.0) if noise is None else noise_interval(noise, confidence, len(self.queries))
        self.of, self.attribute, self.values, self.integer = of, attribute, values, integer

    @property
    def label(self) -> str:
        """The aggregate, the first query, and the number of the others."""
        more = len(self.queries) - 1
        return f"{self.of} of {_text(self.queries[0])}" + (f" and {more} more" if more else "")

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row per query, in the unit of its answer; a count that may be any emits none."""
        if self.of in QUANTILES:
            yield from self._quantiles(space)
            return
        view, q, s = space.view, space.codes["q"], space.codes["s"]
        inside = view.inside
        if self.of == "mean" and not inside.all():
            raise StatementError(
                "how many people of a population are in the release is not known, and so no mean of them; "
                "ask for a sum, and for a count"
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
        matrix = sp.csr_array(
            (np.concatenate(coefficients), np.concatenate(entries), indptr), shape=(len(names), len(space))
        )
        least, most = self.noise
        low, high = self.answers - self.eps - most, self.answers + self.eps - least
        if self.of == "count":
            vague = low < high
            if self.integer:
                low, high = integer_counts(low, high, names, "an answer to")
            # At least nobody and at most everybody is always true.
            low, high = np.where(vague & (low <= 0), -np.inf, low), np.where(vague & (high >= people), np.inf, high)
        bounded = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        short = (weight, matrix.data, self.answers, self.eps, np.array(self.noise))
        exact = self.of != "mean" and all(map(_is_short, short))
        yield Rows(matrix, low, high, self.of, pd.Index(names), view, exact=exact).at(bounded)

    def _quantiles(self, space: Space) -> Iterator[Rows]:
        """Emit the rows of a median, the least or the largest number, query by query."""
        least, most = self.noise
        for query, low, high in zip(
            self.queries, self.answers - self.eps - most, self.answers + self.eps - least, strict=True
        ):
            label, remedy = f"{self.of}: {_text(query)}", "was it rounded, or further from the truth: eps=...?"
            quantile = Quantile(QUANTILES[self.of], "linear", float(low), float(high), label, remedy)
            yield quantile.rows(subjects(space, self.attribute, query, self.values), space)

    def _matches(self, space: Space, query: Mapping[str, object]) -> tuple[np.ndarray, int, np.ndarray]:
        """Mark the QI tuples that a query is about, count their records, and mark the sensitive values."""
        view = space.view
        of_value = {name: chosen for name, chosen in query.items() if name in view.sensitive}
        if of_value and self.of == "mean":
            raise StatementError(
                f"a mean query names {next(iter(of_value))!r}, which is sensitive: how many people it is about is not "
                "known; ask for a sum, and for a count"
            )
        values = values_named(view, of_value) if of_value else np.ones(len(view.sensitive_values), dtype=bool)
        condition = {name: chosen for name, chosen in query.items() if name not in of_value}
        return space.described(condition), space.records_described(condition), values

    def _numbers(self, space: Space) -> np.ndarray:
        """The number of every sensitive value."""
        view = space.view
        if self.attribute is None and len(view.sensitive) > 1:
            raise StatementError(f"a {self.of} needs one attribute; give attribute, one of {list(view.sensitive)}")
        return numbers_of_values(view, self.attribute or view.sensitive[0], self.values)


def _text(query: Mapping[str, object]) -> str:
    """Whom a query is about."""
    return ", ".join(f"{format_value(name)}={choose(chosen, name)}" for name, chosen in query.items()) or "everybody"


def _is_short(numbers: np.ndarray) -> bool:
    """Whether numbers have so few digits that what is made of them is not rounded."""
    return bool(((np.rint(numbers / SHORT) * SHORT == numbers) & (np.abs(numbers) < SMALL)).all())


# Counts that were published with noise of a known distribution, differentially private ones among them.


class NoisyMarginal(Source):
    """noisy - z_high <= N P(by) <= noisy - z_low, z the quantiles of the noise; or the log-likelihood of the noise.

    Parameters
    ----------
    counts : Series
        Noisy numbers of people, indexed by quasi-identifiers or sensitive attributes, whose names are those of the levels.
        Missing cells were not published.
    noise : frozen distribution of scipy.stats
        The distribution of the noise in each of them, for example ``scipy.stats.laplace(scale=1 / epsilon)``.
    confidence : float, optional
        For a box only: the probability that all rows are true together; None is 0.95. Quantiles leave out
        (1 - confidence) / (2 rows) on each side (Bonferroni). 1 uses the support of the noise, if it is bounded.
    integer : bool, optional
        For a box only: True (also None) keeps only the integers in each interval, as numbers of people are integers;
        False uses the interval as it is.
    how : {"box", "likelihood"}
        "box" requires every count to be within the noise. "likelihood" adds the log-likelihood of the noise to N H(p),
        nats, so that the answer is the maximum a posteriori: a soft row a count. Gaussian noise costs
        (noisy - N P)^2 / (2 scale^2), Laplace noise abs(noisy - N P) / scale, discrete Laplace noise
        a abs(noisy - N P); others are refused.

    Raises
    ------
    TableError, BadProbability, StatementError
        If an argument is invalid, or the noise is unbounded and confidence is 1; with a likelihood, if the noise is
        neither normal nor Laplace around 0, or if `confidence` or `integer` is given, which it does not use.
    UnknownName
        When added to a model, if it does not have an attribute, or any of its values.

    Notes
    -----
    For a population (:class:`maxent_cvx.GroupedRelease`), the people in the release are counted, not those outside.

    A count that the noise made negative is used as it is, not clipped; bounds below 0 and above N are left out. Noise
    outside the confidence interval makes the model infeasible, which ``model.diagnose()`` explains. A likelihood never
    contradicts other knowledge; ``post.penalties`` gives the cost of each count.
    Private-PGM (McKenna, Sheldon and Miklau, 2019, Graphical-model based estimation and inference for differential
    privacy) minimises the loss alone, and uses the entropy to choose among the minima: for equal noise in all counts
    this is the limit of small noise. Its L2 loss divides by the standard deviation, not by its square.

    Examples
    --------
    Two counts of the hospital's patients, with the noise of a differentially private release: given the published
    buckets alone, the probability that a man has the flu is between 1/6 and 1/2; given the counts, it is at least 1/3.

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
        if isinstance(counts.index, pd.MultiIndex) and counts.index.nlevels == 1:  # as DataFrame.value_counts gives it
            counts = counts.set_axis(counts.index.get_level_values(0))
        labels = list(counts.index.names)
        if not len(counts) or not all(isinstance(name, str) for name in labels) or len(set(labels)) < len(labels):
            raise TableError(
                f"counts must have an entry, and each level of their index the name of another attribute, not {labels}"
            )
        if counts.index.has_duplicates:
            raise TableError(f"counts repeat {join_names(counts.index[counts.index.duplicated()])}; one entry per cell")
        as_numbers(counts, "counts")
        self.counts, self.penalty = counts, None
        if how == "likelihood":
            for name, argument in (("confidence", confidence), ("integer", integer)):
                if argument is not None:
                    raise StatementError(f"{name} is used with how='box' only; omit it for a likelihood")
            self.penalty = noise_penalty(noise)
            return
        confidence, self.integer = 0.95 if confidence is None else confidence, integer is None or integer
        check_bool(self.integer, "integer")
        self.least, self.most = noise_interval(noise, confidence, len(counts))

    @property
    def label(self) -> str:
        """The attributes that are counted by, and what it costs to miss a count."""
        softly = "" if self.penalty is None else f", softly ({self.penalty})"
        return f"noisy counts by {', '.join(map(str, self.counts.index.names))}{softly}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row per cell; a cell without terms emits a hard one only if the noise does not explain its count."""
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
        rows = Rows(matrix, low * share, high * share, self.label, self.counts.index, space.view)
        yield rows.at(np.flatnonzero(bounded))

    def _block(self, space: Space) -> Block:
        """P(by), of those in the release."""
        view, names = space.view, [str(name) for name in self.counts.index.names]
        for name in names:
            check_label(name, f"attribute of the {view.noun}", view.columns)
        block = space.marginal(names)
        for name in names:
            counted, labels = self.counts.index.get_level_values(name), block.index.get_level_values(name)
            if not counted.isin(labels).any():
                raise unknown_name(f"value of {name!r}", counted[0], labels.unique())
        inside = view.inside[space.codes["s"]]
        return replace(block, matrix=sp.csr_array(block.matrix @ sp.diags_array(inside.astype(float))))


#: Rounding that a row of a transition matrix is forgiven, whose sum is 1.
ROUNDING = 1e-9


class RandomizedResponse(Source):
    """``|P(Q, r, s) - T(s, r) P(Q, s)| <= w(Q)``: a share T(s, r) of the people with Q and the value s reports r.

    Parameters
    ----------
    transition : DataFrame
        T: one row per sensitive value, one column per value that can be reported; each row sums to 1. If it differs
        between groups, one row per QI values and sensitive value, T(q, s, r): a MultiIndex named by these QI attributes,
        the sensitive value last, as in the table of :func:`maxent_cvx.anonymize.channel`.
    reported : str
        The QI attribute of the view that contains the reported values, which are public.
    by : list of lists of str, optional
        The QI attributes that Q sets, one list per family of rows; by default [] (everybody), and each attribute alone.
        The attributes of `transition` are always among them.
    confidence : float or None
        The probability that all rows are true together. None treats shares as exact, w = 0, which is unrealistic for a
        sample.

    Raises
    ------
    TableError, BadProbability
        If `transition` is not a transition matrix.
    StatementError, UnknownName
        If an argument is invalid; when added to a model, if `reported` is not a QI, or values are missing.

    Notes
    -----
    Everybody reports r with probability T(s, r), independently of the others, so that by Hoeffding's inequality the
    number n(Q, r, s) is further than t from T(s, r) n(Q, s) with probability at most 2 exp(-2 t^2 / n(Q)); w = t / N,
    and the probabilities of all rows are added up (Bonferroni). Where T is 0 or 1 the row is exact. (Privacy-MaxEnt's
    future work: randomised releases.)

    Examples
    --------
    340 of 1,000 people say yes, and everybody tells the truth with probability 3/4. If shares are treated as exact, the
    true number is 180, as .75 * 180 + .25 * 820 = 340, and 135 of those who say yes are among them:

    >>> import maxent_cvx as mx, pandas as pd
    >>> honest = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=["yes", "no"], columns=["yes", "no"])
    >>> said = pd.DataFrame({"Answer": ["yes", "no"], "People": [340, 660]})
    >>> view = mx.QITable(said, qi="Answer", sa="Truth", sa_values=["yes", "no"], count="People")
    >>> exact = mx.RandomizedResponse(honest, reported="Answer", confidence=None)
    >>> mx.MaxEnt(view).add(exact).solve().conditional().round(3)["yes"].to_dict()
    {'no': 0.068, 'yes': 0.397}
    >>> vague = mx.RandomizedResponse(honest, reported="Answer", confidence=0.95)
    >>> low, high = mx.MaxEnt(view).add(vague).bounds("P(yes)")
    >>> round(low, 3), round(high, 3)
    (0.053, 0.381)
    """

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
            raise TableError("transition repeats a value; one row per true value and one column per reported value")
        try:
            self.matrix = transition.to_numpy(dtype=float)
        except (OverflowError, TypeError, ValueError):  # pandas' own words would print what the table holds
            raise TableError("transition must contain probabilities only") from None
        sums = self.matrix.sum(axis=1)
        if not (self.matrix >= 0).all() or (np.abs(sums - 1) > ROUNDING).any():
            first = int((np.abs(sums - 1) > ROUNDING).argmax())
            raise BadProbability(
                f"transition: rows of probabilities that sum to 1 are expected; {join_names([transition.index[first]])} "
                f"sums to {sums[first]:.12g}, and the smallest entry is {self.matrix.min():.12g}"
            )
        if confidence is not None and not 0 < check_number(confidence, "confidence") < 1:
            raise BadProbability(f"confidence must be a probability between 0 and 1, or None, got {confidence!r}")
        self.transition, self.reported, self.confidence = transition, reported, confidence
        self.by = by if by is None else [_attributes(one) for one in check_list(by, "by", "lists of QI attributes")]

    @property
    def label(self) -> str:
        """The name of this source, with the attribute."""
        return f"randomised response {self.reported!r}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row for every group of people, true value and reported value."""
        view = space.view
        check_label(self.reported, f"quasi-identifier of the {view.noun} (given as reported)", view.qi)
        if len(view.sensitive) > 1:
            raise StatementError("randomised response is of one sensitive attribute, and the view has several")
        reports = view.quasi_identifiers.levels[view.qi.index(self.reported)]
        others = [name for name in view.qi if name != self.reported]
        within: list[Any] = list(self.transition.index.names[:-1])
        for name in within:
            check_label(name, f"quasi-identifier of the {view.noun} (given in transition)", others)
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
        for name in (name for family in families for name in family):
            if name == self.reported:
                raise StatementError(f"by has {name!r}, which is what people report: of those who report r all do")
            check_label(name, f"quasi-identifier of the {view.noun} (given in by)", others)
        blocks = [self._family(space, family) for family in families]
        n_rows = sum(len(labels) for _, labels, *_ in blocks)
        for matrix, labels, sure, people, implied in blocks:
            t = np.zeros(len(labels))
            if self.confidence is not None and n_rows:
                t = np.where(sure, 0.0, np.sqrt(people * math.log(2 * n_rows / (1 - self.confidence)) / 2))
            width = t / space.n_records
            useful = t < people  # a wider row has no effect
            if self.confidence is None:
                # Shares sum to 1, so that the row of the largest one follows from the others. Up to rounding only: kept
                # as another equation it would contradict them in late digits.
                useful[implied] = False
            yield Rows(matrix, -width, width, f"reported {self.reported}", labels, view).at(np.flatnonzero(useful))

    def _family(self, space: Space, by: list[str]) -> tuple[sp.csr_array, pd.Index, np.ndarray, np.ndarray, np.ndarray]:
        """P(Q, r, s) - T(s, r) P(Q, s) of all groups; their labels, whether T is 0 or 1, n(Q), the row of the largest T."""
        view = space.view
        sensitive = view.sensitive[0]
        true = space.marginal([*by, sensitive])
        reported = space.marginal([*by, sensitive, self.reported])
        n, r = len(true), len(self.transition.columns)
        labels = true.index.to_frame(index=False)
        every = labels.loc[np.repeat(np.arange(n), r)].reset_index(drop=True)
        every[self.reported] = np.tile(np.asarray(self.transition.columns, dtype=object), n)
        combinations = pd.MultiIndex.from_frame(every.astype(object))
        at = pd.MultiIndex.from_frame(reported.index.to_frame().astype(object)).get_indexer(combinations)
        within: list[Any] = list(self.transition.index.names[:-1])
        keys = pd.MultiIndex.from_frame(labels[[*within, sensitive]]) if within else pd.Index(labels[sensitive])
        of = self.transition.index.get_indexer(keys)
        share = self.matrix[of].ravel()
        repeat = sp.csr_array((share, (np.arange(n * r), np.repeat(np.arange(n), r))), shape=(n * r, n))
        matrix = sp.csr_array(pick(reported.matrix, at) - repeat @ true.matrix)
        people = np.full(n, float(space.n_records))
        if by:
            n_q = pd.Series(view.n_q, index=view.quasi_identifiers).groupby(level=by).sum()
            of_people = labels[by[0]] if len(by) == 1 else pd.MultiIndex.from_frame(labels[by])
            people = n_q.reindex(of_people).to_numpy(dtype=float)
        largest = np.arange(n) * r + self.matrix[of].argmax(axis=1)
        return matrix, combinations, (share == 0) | (share == 1), np.repeat(people, r), largest


def _attributes(by: object) -> list[str]:
    """Read one attribute, or a list of them, which may be empty."""
    listed = [by] if isinstance(by, str) else check_list(by, "by", "lists of QI attributes")
    return [check_str(name, "an attribute in by") for name in listed]
