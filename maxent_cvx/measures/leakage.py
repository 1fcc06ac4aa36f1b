"""Leakage: the information that an adversary gains from prior to posterior, in the measures of several fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from .._utils.errors import BadProbability, StatementError, TableError, join_names, short_repr
from .._utils.tables import plain_index, real_numbers, repeated
from .._utils.validation import check_float, check_in, check_instance, check_number
from ..model.posterior import Posterior
from ..priors import QIDistribution, checked, positions
from ..releases.base import OUTSIDE
from .disclosure import NEGLIGIBLE, distances, of_those_inside, overall


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Probabilities, shape (rows, values), each within `off` of the exact maximum-entropy answer."""

    p: np.ndarray
    off: np.ndarray

    @property
    def bound(self) -> float:
        """The largest error."""
        return float(self.off.max(initial=0.0))

    @property
    def low(self) -> np.ndarray:
        """A lower bound on each probability."""
        return np.maximum(self.p - self.off, 0.0)

    @property
    def high(self) -> np.ndarray:
        """An upper bound on each probability."""
        return np.minimum(self.p + self.off, 1.0)

    @property
    def slack(self) -> np.ndarray:
        """Ignored differences from 0, or from a threshold: up to the error, but no more than NEGLIGIBLE."""
        return np.minimum(self.off, NEGLIGIBLE)

    @property
    def nonzero(self) -> np.ndarray:
        """The probabilities, with 0 for those that cannot be distinguished from it."""
        return np.where(self.p > self.slack, self.p, 0.0)


def inferred(post: Posterior) -> tuple[pd.DataFrame, np.ndarray, Beliefs]:
    """Return P(s | ., in the release) as in ``post.inferences()``, the people per row, and P with its errors."""
    table, people = of_those_inside(post)
    everybody = post.inferences()[0]
    off = np.zeros(everybody.shape)
    off.flat[np.unique(post.space.cells)] = min(post.certificate.bound, 1.0)  # P of pairs without a term is exactly 0
    if not post.view.inside.all():
        inside = 1 - everybody[OUTSIDE].to_numpy()
        off = off[:, post.view.inside][inside > NEGLIGIBLE]
        inside = inside[inside > NEGLIGIBLE, None]
        with np.errstate(divide="ignore"):
            off = np.where(inside > off, np.minimum(2 * off / np.maximum(inside - off, 0), 1.0), 1.0)
    return table, people, Beliefs(table.to_numpy(), off)


def prior_of(prior: object, post: Posterior, rows: pd.DataFrame) -> Beliefs:
    """Read the prior, in any form, for the people and values of the rows."""
    if isinstance(prior, Posterior):
        if len(prior.space.people) and not prior.space.people.names.equals(post.space.people.names):
            raise StatementError(
                "the prior names other people than the posterior; make both models with the same people, or pass "
                "prior.conditional()"
            )
        if len(odd := prior.space.view.sensitive_values[prior.view.inside].symmetric_difference(rows.columns)):
            raise StatementError(f"the prior and the posterior have different sensitive values: {join_names(odd)}")
        return beliefs_of(prior, rows.index, rows.columns)
    if isinstance(prior, str) and prior == "overall":
        p = np.broadcast_to(overall(post.view, "prior"), rows.shape)
    elif isinstance(prior, pd.Series):
        p = np.broadcast_to(_labelled(prior, rows.columns), rows.shape)
    elif isinstance(prior, pd.DataFrame | QIDistribution):
        distribution = QIDistribution(prior) if isinstance(prior, pd.DataFrame) else prior
        p = beliefs_of(distribution, rows.index, rows.columns).p
        if strangers := [value for value in distribution.values if value not in rows.columns]:
            raise StatementError(f"the prior has values that the posterior does not have: {join_names(strangers)}")
    else:
        raise StatementError(
            f"prior={short_repr(prior)}: expected a Posterior, a QIDistribution, a DataFrame of P(s | q), a Series of P(s), "
            'or "overall"'
        )
    return Beliefs(p, np.zeros(p.shape))


def _labelled(prior: pd.Series, values: pd.Index) -> np.ndarray:
    """Return P(s) by label."""
    prior = prior.set_axis(plain_index(prior.index))
    if prior.index.has_duplicates or set(prior.index) != set(values):
        odd = sorted(set(prior.index).symmetric_difference(values), key=str)
        raise TableError(
            "the prior, a Series, must have one entry for each sensitive value; "
            + (f"it differs in {join_names(odd)}" if odd else "it has duplicate labels")
        )
    if prior.isna().any():
        raise BadProbability("the prior, a Series, has missing entries; write 0 for impossible values")
    table = checked(prior.to_frame("P(s)").T, ("all people",))
    return table.to_numpy()[0, table.columns.get_indexer(values)]


def beliefs_of(prior: Posterior | QIDistribution | pd.DataFrame, index: pd.Index, values: pd.Index) -> Beliefs:
    """Return P of the given people and values; by QI tuple if a posterior does not name these people."""
    if not isinstance(prior, Posterior):
        if isinstance(prior, pd.DataFrame):
            prior = QIDistribution(prior.set_axis(in_order(prior.columns, values.names), axis=1))
        p = prior.of_tuples(tuples(index), values)
        return Beliefs(p, np.zeros(p.shape))
    table, _, beliefs = inferred(prior)
    if {*table.columns.names} != {*values.names}:
        raise TableError(
            f"its sensitive attributes are {join_names(table.columns.names)}, not {join_names(values.names)}"
        )
    columns = in_order(table.columns, values.names).get_indexer(values)
    if (columns < 0).any():
        raise TableError(f"it has no probability for {join_names(values[columns < 0])}")
    key: tuple[str, ...] = ("who", *prior.space.view.qi) if len(prior.space.people) else prior.space.view.qi
    at = positions(tuples(table.index), tuples(index), key)
    return Beliefs(beliefs.p[at][:, columns], beliefs.off[at][:, columns])


def in_order(index: pd.Index, names: Iterable[object]) -> pd.Index:
    """Reorder the levels of an index by the given names, if it has exactly these names."""
    order = list(names)
    if index.nlevels > 1 and None not in index.names and {*index.names} == {*order}:
        return index.reorder_levels(order)  # type: ignore[attr-defined]
    return index


def tuples(index: pd.Index) -> pd.MultiIndex:
    """Convert an index to a MultiIndex, even if it has one level."""
    return index if isinstance(index, pd.MultiIndex) else pd.MultiIndex.from_arrays([index], names=[index.name])


@dataclass(frozen=True)
class Measured:
    """A number with bounds; `row` and `column` locate the inference that attains it, if there is one."""

    value: float
    low: float
    high: float
    row: int | None = None
    column: int | None = None

    def log2(self) -> Measured:
        """Return the logarithm, in bits."""
        with np.errstate(divide="ignore"):
            value, low, high = np.log2([self.value, self.low, self.high]).tolist()
        return replace(self, value=value, low=low, high=high)

    def minus(self, other: Measured) -> Measured:
        """Return the difference."""
        return Measured(self.value - other.value, self.low - other.high, self.high - other.low)

    def over(self, other: Measured) -> Measured:
        """Return the quotient; infinite if only the divisor is 0, NaN if both are or the divisor is negative."""
        if other.value < 0 or (other.value == 0 and self.value <= 0):
            return Measured(math.nan, math.nan, math.nan)
        least = other.low if other.low > 0 else 0.0
        ends = (self.low, other.high if self.low >= 0 else least), (self.high, least if self.high >= 0 else other.high)
        low, high = (above / below if below > 0 else math.copysign(math.inf, above) for above, below in ends)
        return Measured(self.value / other.value if other.value > 0 else math.inf, low, high)


def largest(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> Measured:
    """Return the largest entry of each table, in which -inf or NaN marks a missing entry; NaN if all are missing."""
    value, low, high = (np.where(np.isnan(x), -np.inf, x) for x in (value, low, high))
    row, column = (int(i) for i in np.unravel_index(int(value.argmax()), value.shape))
    most = [x if x > -math.inf else math.nan for x in (float(table.max()) for table in (value, low, high))]
    at = (None, None) if math.isnan(most[0]) else (row, column)
    return Measured(most[0], most[1], most[2], *at)


# Breaches: the largest change of the probability of a value, or of a set of values, over all people.


def beta(prior: Beliefs, post: Beliefs) -> Measured:
    """Return the largest P1(s | q) / P0(s | q) - 1; infinite if only P0 is 0; pairs of zeros are ignored."""
    value, low, high = _ratios(post, prior)
    return largest(value - 1, _or(low, 0.0) - 1, _or(high, 0.0) - 1)


def log_ratio(prior: Beliefs, post: Beliefs) -> Measured:
    """Return the largest |ln(P1(s | q) / P0(s | q))|, in nats; infinite if one of them is 0; ignore pairs of zeros."""
    with np.errstate(divide="ignore"):
        value, low, high = (np.log(ratio) for ratio in _ratios(post, prior))
    least = np.fmax(np.fmax(low, -high), 0.0)
    most = np.maximum(_or(high, np.inf), -_or(low, -np.inf))
    both_are_zero = (post.high == 0) & (prior.high == 0)
    return largest(np.abs(value), least, np.where(both_are_zero, 0.0, most))


def rho2(prior: Beliefs, post: Beliefs, rho1: float) -> Measured:
    """Return the largest P1(s | q) with P0(s | q) <= rho1."""
    at_most = _at_most(prior, rho1)
    return largest(*(np.where(mask, p, -np.inf) for mask, p in zip(at_most, _three(post), strict=True)))


def rho2_of_sets(prior: Beliefs, post: Beliefs, rho1: float, of_values: Measured) -> Measured:
    """Bound P1(A | q) over all sets A of values, or of shares of values, with P0(A | q) <= rho1."""
    if math.isnan(of_values.value):
        return of_values
    value = _filled(prior.p, post.p, rho1 + float(prior.slack.max(initial=0.0)))
    most = float(_filled(prior.p, post.p, rho1 + prior.bound).max(initial=0.0)) + post.bound
    row = int(value.argmax())
    return Measured(min(float(value[row]), 1.0), of_values.low, min(most, 1.0), row)  # 1 is also an upper bound


def gamma(prior: Beliefs, post: Beliefs, d: float) -> Measured:
    """Return the least gamma with d / gamma <= P1 / P0 and P1 <= gamma wherever P0(s | q) <= d."""
    return largest(
        *(
            np.where(mask, np.fmax(p, ratio), -np.inf)
            for mask, p, ratio in zip(_at_most(prior, d), _three(post), _ratios(prior, post, d), strict=True)
        )
    )


def _three(beliefs: Beliefs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probabilities, and their lower and upper bounds."""
    return beliefs.p, beliefs.low, beliefs.high


def _at_most(prior: Beliefs, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return masks of priors that are, certainly are, and may be at most a threshold."""
    return prior.p - prior.slack <= threshold, prior.high <= threshold, prior.low <= threshold


def _ratios(above: Beliefs, below: Beliefs, factor: float = 1.0) -> tuple[np.ndarray, ...]:
    """Return factor P / P' with lower and upper bounds; infinite if only the divisor is 0, NaN if both are."""
    pairs = (above.nonzero, below.nonzero), (above.low, below.high), (above.high, below.low)
    with np.errstate(divide="ignore", invalid="ignore"):
        return tuple(np.asarray(factor * numerator / denominator) for numerator, denominator in pairs)


def _or(table: np.ndarray, number: float) -> np.ndarray:
    """Replace NaN by a number."""
    return np.where(np.isnan(table), number, table)


def _filled(p0: np.ndarray, p1: np.ndarray, budget: float) -> np.ndarray:
    """Return, per row, the largest sum of p1 such that the sum of p0 is within the budget (a fractional knapsack)."""
    p1 = np.where(p0 <= budget, p1, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(p1 / p0, nan=0.0, posinf=np.inf), axis=1, kind="stable")
        price, worth = np.take_along_axis(p0, order, axis=1), np.take_along_axis(p1, order, axis=1)
        remaining = budget - (np.cumsum(price, axis=1) - price)
        share = np.clip(np.where(price > 0, remaining / price, 1.0), 0.0, 1.0)
    return np.asarray((share * worth).sum(axis=1))


# Vulnerability: the expected gain of the best guess, mean over people.


#: Largest allowed gain: the largest float is 1e308, and gains are multiplied by numbers of people.
LARGEST = 1e280
#: Gains g(guess, value): a function, or a table with one row per guess and one column per value; None: 1 if right.
Gain = Callable[[object, object], float] | pd.DataFrame | None


def vulnerability_gains(gain: Gain, values: pd.Index) -> np.ndarray | None:
    """Read the gains, shape (guesses, values); None if a guess gains 1 if it is right, and nothing otherwise."""
    if gain is None:
        return None
    labels = values.to_flat_index()
    if isinstance(gain, pd.DataFrame):
        gained = _gains_of_table(gain, labels)
    elif isinstance(gain, type) or not callable(gain):
        raise StatementError(f"gain={short_repr(gain)}: expected a function of a guess and a value, or a DataFrame")
    else:
        what = "the result of gain(guess, value)"
        gained = np.array([[check_number(gain(guess, value), what) for value in labels] for guess in labels])
    if gained.size and (most := float(np.abs(gained).max())) > LARGEST:
        raise StatementError(
            f"gains must be at most {LARGEST:g} to be summed over people, got {most:.3g}; state gains in a larger unit"
        )
    return gained


def _gains_of_table(gain: pd.DataFrame, labels: pd.Index) -> np.ndarray:
    """Read a table of gains, one row per guess."""
    if gain.columns.has_duplicates:
        raise TableError(f"gain, a DataFrame, has duplicate columns: {join_names(repeated(gain.columns))}")
    if gain.empty and len(gain.columns):
        raise TableError("gain, a DataFrame, must have one row for each guess, but is empty")
    if set(gain.columns) != set(labels):
        odd = sorted(set(gain.columns).symmetric_difference(labels), key=str)
        raise TableError(
            f"gain, a DataFrame, must have one column for each sensitive value; it differs in {join_names(odd)}"
        )
    table = real_numbers(gain.reindex(columns=labels), "gain", StatementError)
    if not np.isfinite(table).all():
        raise StatementError("gain must contain finite numbers; write 0 for guesses that gain nothing")
    return table


def vulnerability(beliefs: Beliefs, people: np.ndarray, gain: np.ndarray | None) -> Measured:
    """Compute V = sum_q P(q) max_w sum_s P(s | q) g(w, s)."""
    # Without gains, a product with the identity matrix would take far longer than the rest if there are many values.
    of_guesses = beliefs.p if gain is None else beliefs.p @ gain.T
    value = float(people @ of_guesses.max(axis=1) / people.sum())
    least, most = (0.0, 1.0) if gain is None else (float(gain.min()), float(gain.max()))
    width = max(most, 0.0) - min(least, 0.0)
    low, high = value - beliefs.bound * width, value + beliefs.bound * width
    least, most = min(least, value), max(most, value)  # the value may be off by rounding
    return Measured(value, max(low, least), min(high, most))


def leakage(
    prior: Posterior | QIDistribution | pd.DataFrame | pd.Series | str,
    post: Posterior,
    *,
    gain: Gain = None,
    rho1: float = 0.1,
    d: float = 0.1,
    distance: str = "auto",
) -> pd.DataFrame:
    """Compare a prior P0(s | q) with the posterior P1(s | q) in the measures of several fields; larger is worse.

    Parameters
    ----------
    prior : Posterior, QIDistribution, DataFrame, Series or "overall"
        P0: a posterior with less knowledge; P(s | q) by some of the QI attributes; the same P(s) for all people, by
        value; or "overall", the shares of the values in the release.
    post : Posterior
        P1.
    gain : function or DataFrame, optional
        g(w, s), the gain of guessing w if s is true: a function of two values, or a table with one row per guess and
        one column per value. By default 1 if they are the same, 0 otherwise.
    rho1, d : float
        Thresholds of (rho1, rho2) and of (d, gamma): probabilities.
    distance : {"auto", "equal", "ordered"}
        The ground distance of t, as in :func:`disclosure`.

    Returns
    -------
    DataFrame
        One row per measure: its `value`; `low` and `high`, bounds on the measure of the exact maximum-entropy answers,
        from their certificates; its `unit`; `q` and `s`, the group (as in ``post.inferences()``) and the value that
        attain it; and its meaning, `says`. M denotes the mean over people, max the maximum over q and s.

        prior Bayes vulnerability, posterior Bayes vulnerability
            V0 = M max_s P0(s | q) and V1 = M max_s P1(s | q): the probability that the best guess is right.
        min-entropy leakage
            log2(V1 / V0), bits (Smith, 2009).
        multiplicative g-leakage, additive g-leakage
            V1 / V0 and V1 - V0, with V = M max_w sum_s P(s | q) g(w, s) (Alvim et al., 2020). The ratio is NaN if V0 is
            negative, or both are 0.
        rho2
            max P1 where P0 <= rho1: there is an upward (rho1, rho2) breach for a single value up to this rho2
            (Evfimievski et al., 2003). NaN if there is no such value.
        rho2 of sets
            An upper bound on the same for any set of values, the property of that paper. Some set may attain it.
        gamma
            The least gamma of (d, gamma)-privacy: where P0 <= d, P1 <= gamma and P1 / P0 >= d / gamma (Rastogi et al.,
            2007). Infinite if a possible value is ruled out; above 1 the second condition decides.
        beta
            max (P1 - P0) / P0, basic beta-likeness (Cao and Karras, 2012); infinite if P0 = 0 < P1 for some value.
        delta
            The largest absolute value of ln(P1 / P0), in nats, delta-disclosure (Brickell and Shmatikov, 2008); infinite
            if exactly one of them is 0 for some value.
        t
            The largest distance of P1(. | q) from P0(. | q), t-closeness (Li et al., 2007).

    Raises
    ------
    StatementError, TableError, UnknownName
        If `post` is not a Posterior, the prior or the gains do not fit its people and values, or the overall
        distribution is not published.
    BadProbability
        If a prior is not a distribution, or a threshold or a gain is out of range.

    Notes
    -----
    Probabilities below 1e-9 that are within the certified error of 0 count as 0. `low` and `high` do not include rounding
    errors of the measures in the last digits. Both vulnerabilities are averaged over the people of `post`.

    pyCANON, which uses the shares in equivalence classes as P1, ignores ratios of 0 in its delta; here it is infinite.
    Enhanced beta-likeness is a different measure, a bound on beta that varies with P0.

    Examples
    --------
    The information in a release beyond the share of each disease, if the adversary knows that no man has breast cancer:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> table = mx.measures.leakage("overall", post, rho1=0.2)
    >>> print(table.loc[["min-entropy leakage", "rho2", "beta", "t"], ["value", "unit"]].round(3))
                         value         unit
    measure
    min-entropy leakage  0.688         bits
    rho2                 1.000  probability
    beta                 4.000        ratio
    t                    0.800     distance
    >>> print(table["says"]["beta"])
    P(Breast Cancer | Gender=female, Degree=junior) was 0.2, is 1: rose by 4 times itself
    """
    check_instance(post, Posterior, "post")
    rho1, d = check_float(rho1, "rho1", 0.0, 1.0), check_float(d, "d", 0.0, 1.0)
    check_in(distance, "distance", ("auto", "equal", "ordered"))
    rows, people, after = inferred(post)
    before = prior_of(prior, post, rows)
    size = len(rows.columns)
    far = distances(after.p, before.p, rows.columns, distance)
    off, most, row = (before.bound + after.bound) * size / max(size - 1, 1), float(far.max()), int(far.argmax())
    moved = Measured(most, max(most - off, 0.0), min(most + off, 1.0), row)
    measured = [
        *_of_guesses(before, after, people, vulnerability_gains(gain, rows.columns)),
        *_of_values(before, after, rho1, d),
        ("t", moved, "distance", "moved by {:.3g}"),
    ]
    names, found, units, texts = zip(*measured, strict=True)
    columns = {
        **{end: [getattr(number, end) for number in found] for end in ("value", "low", "high")},
        "unit": units,
        "q": pd.array([None if x.row is None else rows.index[x.row] for x in found], dtype=object),
        "s": pd.array([None if x.column is None else rows.columns[x.column] for x in found], dtype=object),
        "says": [
            _where(rows, x, before, after) + (UNDEFINED if math.isnan(x.value) else text.format(x.value))
            for x, text in zip(found, texts, strict=True)
        ],
    }
    return pd.DataFrame(columns, index=pd.Index(names, name="measure"))


#: The text of a measure that is NaN.
UNDEFINED = "not defined here"
#: A measure: its name, its value with bounds, its unit, and its text with a placeholder for the value.
Row = tuple[str, Measured, str, str]


def _of_guesses(before: Beliefs, after: Beliefs, people: np.ndarray, gained: np.ndarray | None) -> list[Row]:
    """Return the measures that are means over people."""
    v0, v1 = (vulnerability(beliefs, people, None) for beliefs in (before, after))
    g0, g1 = (vulnerability(beliefs, people, gained) for beliefs in (before, after))
    return [
        ("prior Bayes vulnerability", v0, "probability", "the likeliest value was right for {:.1%} of people"),
        ("posterior Bayes vulnerability", v1, "probability", "the likeliest value is right for {:.1%} of people"),
        ("min-entropy leakage", v1.over(v0).log2(), "bits", "guesses are right 2^{:.3g} times as often"),
        ("multiplicative g-leakage", g1.over(g0), "ratio", "the best guesses gain {:.3g} times as much"),
        ("additive g-leakage", g1.minus(g0), "gain", "the best guesses gain {:.3g} more"),
    ]


def _of_values(before: Beliefs, after: Beliefs, rho1: float, d: float) -> list[Row]:
    """Return the measures that are the worst over people and values."""
    single = rho2(before, after, rho1)
    sets = rho2_of_sets(before, after, rho1, single)
    at_most = f"was at most rho1 = {rho1:g} is above {{:.3g}}"
    return [
        ("rho2", single, "probability", f"no probability that {at_most}"),
        ("rho2 of sets", sets, "probability", f"no set of values whose probability {at_most}"),
        ("gamma", gamma(before, after, d), "ratio", f"({d:g}, {{:.3g}})-private"),
        ("beta", beta(before, after), "ratio", "rose by {:.3g} times itself"),
        ("delta", log_ratio(before, after), "nats", "changed by a factor of e^{:.3g}"),
    ]


def _where(rows: pd.DataFrame, measured: Measured, before: Beliefs, after: Beliefs) -> str:
    """Write the group and value that attain a measure, with P0 and P1."""
    if measured.row is None:
        return ""
    label = rows.index[measured.row]
    labels = label if isinstance(label, tuple) else (label,)
    who = ", ".join(f"{name}={value}" for name, value in zip(rows.index.names, labels, strict=True))
    if measured.column is None:
        return f"of {who}: "
    at = measured.row, measured.column
    return f"P({rows.columns[measured.column]} | {who}) was {before.p[at]:.3g}, is {after.p[at]:.3g}: "
