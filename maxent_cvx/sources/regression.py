"""Published regressions of the sensitive value on quasi-identifiers: the score equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import expit

from .._utils.errors import BadProbability, StatementError, short_repr
from .._utils.tables import choose
from .._utils.validation import check_float, check_in, check_int, check_mapping, check_number, check_str
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source
from .numbers import INTERCEPT, design_matrix, known_members, responses, told_numbers, whole_sums, written_numbers
from .statements import conditions

# What coefficients, exact or rounded, say of X'y: intervals of linear expressions of the responses y.
#
# A fit of n people with the regressors X, linear or logistic, solves the score equations
#
#     X'y = X'mu(X b) + D b,        mu(t) = t (linear) or 1 / (1 + exp(-t)) (logistic),
#
# with D a diagonal of penalties, 0 for the intercept. Everything but y is known where b is. Let b* be the coefficients
# that solve them, b those that were published, |b* - b| <= h, and G = (X'WX + D) / n the derivative of the right-hand
# side at b, divided by n (W = 1 for the linear kind, mu (1 - mu) for the logistic one). For any matrix T at all
#
#     T X'y / n = T (X'mu(Xb) + Db) / n + T G (b* - b) + T r,
#
#     |T G (b* - b)| <= h + |T G - 1| h,        |r| <= k/2 sum_q n(q)/n |x(q)| (h'|x(q)|)^2   within T,
#
# with k = max |mu''| = 1 / (6 sqrt(3)), by Taylor's theorem at each person; of the linear kind r = 0. So intervals are
# sound whatever T is, also with its rounding errors; they are narrow if T is the inverse of G.

#: Bound of the second derivative of the logistic function, 1 / (6 sqrt(3)).
CURVATURE = 1 / (6 * np.sqrt(3))
#: Relative error of a coefficient that is published as it was computed, in the scores: errors of least squares by
#: Householder transformations are some multiples of the unit roundoff 1.1e-16 (Higham, Accuracy and Stability of
#: Numerical Algorithms, 2nd ed., theorem 20.3); seven digits are left to the condition of the columns.
COMPUTED = 1e-9


@dataclass(frozen=True)
class Intervals:
    """low <= E[w y] <= high, for several weights of QI tuples."""

    weights: np.ndarray  # shape (rows, QI tuples)
    low: np.ndarray  # one per row
    high: np.ndarray


@dataclass(frozen=True)
class Fit:
    """A published fit."""

    X: np.ndarray  # shape (QI tuples, coefficients)
    share: np.ndarray  # one per QI tuple; Of the people whose data were fitted
    b: np.ndarray  # one per coefficient; As published
    half: (
        np.ndarray
    )  # one per coefficient; How far each may be from the fit; 0 where it is published as it was computed
    penalty: np.ndarray  # one per coefficient; The diagonal of D / n
    logistic: bool
    largest: float  # the largest |y| that there is

    def scores(self, tolerance: float | None) -> Intervals:
        """X'y / n, from coefficients that are published as they were computed."""
        margin = self._computed() if tolerance is None else np.full(len(self.b), tolerance) + self._roundoff(self.X)
        middle = self._expected(self.X @ self.b) + self.penalty * self.b
        return Intervals(self.X.T, middle - margin, middle + margin)

    def box(self) -> Intervals:
        """X'y / n, from the least and the largest response that anybody can be expected to have."""
        # The response is increasing in x'b, and |x'(b* - b)| <= h'|x|.
        middle, off = self.X @ self.b, np.abs(self.X) @ self.half
        ends = np.stack([self.share[:, None] * self.X * self._mean(middle + s * off)[:, None] for s in (-1, 1)])
        penalty, spread = self.penalty * self.b, self.penalty * self.half + self._roundoff(self.X)
        return Intervals(
            self.X.T, ends.min(axis=0).sum(axis=0) + penalty - spread, ends.max(axis=0).sum(axis=0) + penalty + spread
        )

    def coefficients(self) -> Intervals:
        """T X'y / n with T the inverse of G: of the linear kind it is b*, of the logistic one b* up to a constant."""
        G, T, size = self.derivative(), self.inverse(), np.abs(self.X)
        rounding = (len(self.X) + 16) * np.finfo(float).eps * (size.T @ (self.share[:, None] * size) + G)
        off_unit = np.abs(T @ G - np.eye(len(T))) + np.abs(T) @ rounding
        weights, largest = self.X @ T.T, size @ np.abs(T).T  # and what they are sums of
        weights[np.abs(weights) <= 8 * len(T) * np.finfo(float).eps * largest] = 0.0  # which is all rounding
        off = self.half + off_unit @ (self.half + np.abs(self.b)) + self._roundoff(largest)
        if self.logistic:
            off = off + CURVATURE / 2 * (np.abs(weights).T @ (self.share * (size @ self.half) ** 2))
        middle = T @ (self._expected(self.X @ self.b) + self.penalty * self.b)
        return Intervals(weights.T, middle - off, middle + off)

    def derivative(self) -> np.ndarray:
        """G, the derivative of the score equations at b, a person."""
        slope = np.ones(len(self.share))
        if self.logistic:
            mean = expit(self.X @ self.b)
            slope = mean * (1 - mean)
        return self.X.T @ ((self.share * slope)[:, None] * self.X) + np.diag(self.penalty)

    def inverse(self) -> np.ndarray:
        """T, the inverse of G but for rounding, from columns that are scaled to 1."""
        G = self.derivative()
        size = np.sqrt(np.diag(G))
        if not (size > 0).all():
            raise np.linalg.LinAlgError
        scaled = G / np.outer(size, size)
        if np.linalg.eigvalsh(scaled)[0] <= len(G) * 1e-13:
            raise np.linalg.LinAlgError
        return np.linalg.inv(scaled) / np.outer(size, size)

    def _mean(self, t: np.ndarray) -> np.ndarray:
        """mu(t)."""
        return expit(t) if self.logistic else t

    def _expected(self, t: np.ndarray) -> np.ndarray:
        """X'mu(t) / n."""
        return self.X.T @ (self.share * self._mean(t))

    def _computed(self) -> np.ndarray:
        """How far the scores at computed coefficients may be from 0."""
        return COMPUTED * self._size(self.X) + self._roundoff(self.X) + COMPUTED * self.penalty * np.abs(self.b)

    def _roundoff(self, weights: np.ndarray) -> np.ndarray:
        """How far sums over the QI tuples may be rounded."""
        return 8 * len(self.share) * np.finfo(float).eps * self._size(weights)

    def _size(self, weights: np.ndarray) -> np.ndarray:
        """The sums of absolute values."""
        there = np.abs(self.X) @ (np.abs(self.b) + self.half)
        if self.logistic:
            there = 1 + there  # a rounding of t moves mu(t) by a quarter of it at most
        return np.abs(weights).T @ (self.share * (self.largest + there))


KINDS = ("linear", "logistic")
#: What may be amiss with coefficients that contradict other knowledge.
UNROUNDED = (
    "say whether the coefficients are rounded, decimals=..., penalised, penalty=..., or of a fit that had not "
    "converged, tolerance=...; correct them, or remove them"
)


class PublishedRegression(Source):
    """``X'y = X'X b`` (linear) or ``X'y = X'expit(X b)`` (logistic): the score equations that coefficients b solve.

    X has one row for each person and a column for each coefficient; y is the number of the person's sensitive value.

    Parameters
    ----------
    coefficients : dict or Series
        From name to coefficient: "intercept", if the fit had one; numeric quasi-identifiers, "age"; indicators of a
        value, "sex=F"; and products, "age:sex=F". The coding is what the names say: a value without indicator is the
        reference.
    of : dict, Series or str
        What was regressed: the number y of each sensitive value, ``{"low": 1}``, all others being 0; or the name of a
        sensitive attribute whose values are numbers. Of a logistic regression y is 0 or 1.
    kind : {"linear", "logistic"}
        Least squares, or maximum likelihood of a logit.
    decimals : int or dict, optional
        To how many decimals the coefficients are rounded, all of them or each by its name. None: they are published as
        they were computed, in double precision.
    penalty : float
        The ridge penalty: D in ``X'y = X'mu + D b`` for all coefficients but the intercept. Of scikit-learn it is
        `alpha` of ``Ridge``, and 1 / C of ``LogisticRegression``, which is 1 by default.
    given : dict, optional
        Whose data were fitted, as of :func:`P`. None: everybody's.
    tolerance : float, optional
        How far from 0 each score, divided by the number of people, may be where the fit had converged, in the unit of
        its column times that of y: `tol` of ``LogisticRegression``. By default the rounding errors of double precision
        only, 1e-9 of the sums of absolute values. Of coefficients that are not rounded.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read; when added to a model, if a regressor is not a number, if decimals are given and the
        columns are linearly dependent, or who is in the release is not known.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are not numbers.

    Notes
    -----
    McCullagh and Nelder, Generalized Linear Models, 2nd ed., section 2.5: with the canonical link the likelihood
    equations are X'y = X'mu, linear in y. Linear rows about the intercept say what y is on the average.

    Computed coefficients solve the equations up to rounding, and where published data imply an equation already, it
    would contradict them by a rounding error. So an interval as wide as their error is emitted; of whole numbers, and
    others of few decimals, it is the whole number in it, since X'y is one.

    Rounded coefficients b, at most h = 10^-decimals / 2 from those of the fit, say of the linear kind exactly
    ``abs((X'X)^-1 X'y - b) <= h``. Of the logistic kind the rows are a relaxation, which is sound: whatever the fit
    was, they hold. One set bounds (X'WX)^-1 X'(y - expit(Xb)) by h and a remainder of second order in h; the other
    bounds each score by the ends of expit(x'b) for every person.

    Examples
    --------
    Of four people two have a low income. By the line they are the two elder ones, since sum y = 2 and sum age y = 140.
    Rounded to two decimals it leaves the income of one of them open:

    >>> import maxent_cvx as mx, pandas as pd
    >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 60, 80]}), qi="age", sa="income", sa_values=["low", "high"])
    >>> line = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1})
    >>> mx.MaxEnt(view).add(line).solve().conditional()["low"].round(6).to_list()
    [0.0, 0.0, 1.0, 1.0]
    >>> rounded = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1}, decimals=2)
    >>> mx.MaxEnt(view).add(rounded).solve().conditional()["low"].round(2).to_list()
    [0.0, 0.0, 0.5, 1.0]
    """

    def __init__(
        self,
        coefficients: Mapping[str, float] | pd.Series,
        of: Mapping[object, float] | pd.Series | str,
        kind: str = "linear",
        *,
        decimals: int | Mapping[str, int] | None = None,
        penalty: float = 0.0,
        given: Mapping[str, object] | None = None,
        tolerance: float | None = None,
    ) -> None:
        self.kind = check_in(kind, "kind", KINDS)
        self.coefficients = _named_numbers(coefficients)
        self.of = of if isinstance(of, str) else told_numbers(of, "of")
        self.half = _half_units(decimals, self.coefficients)
        self.penalty = check_float(penalty, "penalty", 0.0)
        self.given = None if given is None else dict(check_mapping(given, "given", "{attribute: value}"))
        self.tolerance = None if tolerance is None else check_float(tolerance, "tolerance", 0.0)
        self.rounded = decimals is not None
        if self.rounded and tolerance is not None:
            raise StatementError("tolerance= is of coefficients as computed, decimals= of rounded ones; leave one out")

    @property
    def label(self) -> str:
        """What was regressed, on what."""
        condition = conditions((name, choose(chosen, name)) for name, chosen in (self.given or {}).items())
        among = f" given {condition}" if condition else ""
        return f"{self.kind} regression of {written_numbers(self.of)} on {', '.join(self.coefficients)}{among}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row a coefficient; of rounded logistic ones two."""
        known_members(space.view, "a regression")
        y = responses(space.view, self.of)
        described = space.described(self.given)
        people = space.view.n_q * described
        if self.kind == "logistic" and not np.isin(y, (0.0, 1.0)).all():
            odd = y[~np.isin(y, (0.0, 1.0))][0]
            raise StatementError(f"y of a logistic regression is 0 or 1, not {odd:.12g}; say which values are 1")
        fit = self._fit(design_matrix(space.view, self.coefficients), people, float(np.abs(y).max(initial=0.0)))
        if not self.rounded:
            yield self._emitted(space, fit.scores(self.tolerance), y, described, "score")
            return
        try:
            yield self._emitted(space, fit.coefficients(), y, described, "coefficient")
        except np.linalg.LinAlgError:
            raise StatementError(
                f"the columns {', '.join(self.coefficients)} are linearly dependent on the people described, so that "
                "rounded coefficients say nothing; leave one of them out, as the fit must have done"
            ) from None
        if fit.logistic:
            yield self._emitted(space, fit.box(), y, described, "score")

    def _fit(self, X: np.ndarray, people: np.ndarray, largest: float) -> Fit:
        """The fit, of those people only."""
        there = np.flatnonzero(people)
        penalized = np.array([name != INTERCEPT for name in self.coefficients], dtype=float)
        return Fit(
            X[there],
            people[there] / people.sum(),
            np.array(list(self.coefficients.values())),
            self.half,
            penalized * self.penalty / people.sum(),
            self.kind == "logistic",
            largest,
        )

    def _emitted(self, space: Space, intervals: Intervals, y: np.ndarray, described: np.ndarray, what: str) -> Rows:
        """Write intervals of E[w y], among those asked about, as rows; scores as sums, which may be whole numbers."""
        q, own = space.codes["q"], y[space.codes["s"]]
        at = np.flatnonzero(described[q] & (own != 0))
        place = np.cumsum(described & (space.view.n_q > 0)) - 1  # of QI tuples among those with people
        n = int((space.view.n_q * described).sum())
        parts, sides, whole = [], [], []
        for weights, low, high in zip(intervals.weights, intervals.low.tolist(), intervals.high.tolist(), strict=True):
            data = weights[place[q[at]]] * own[at]
            if what == "score":
                data, low, high, places = whole_sums(data, low * n, high * n)
                parts.append(sp.csr_array((data * space.n_records)[None]))
                whole.append(places is not None)
            else:
                parts.append(sp.csr_array((data * (space.n_records / n))[None]))
            sides.append((low, high))
        stacked = sp.csr_array(sp.vstack(parts))
        matrix = sp.csr_array((stacked.data, at[stacked.indices], stacked.indptr), shape=(len(parts), len(space)))
        low_side, high_side = np.array(sides).T
        label, index = f"{self.label}, {what}", pd.Index(list(self.coefficients))
        exact = bool(whole) and all(whole)
        remedy = "" if self.rounded else UNROUNDED
        return Rows(matrix, low_side, high_side, label, index, space.view, remedy=remedy, exact=exact)


def _named_numbers(coefficients: object) -> dict[str, float]:
    """Read coefficients by name."""
    if not isinstance(coefficients, Mapping | pd.Series) or not len(coefficients):
        raise StatementError(
            f"coefficients must be a dictionary {{name: number}} or a Series, one at least, not {short_repr(coefficients)}"
        )
    if isinstance(coefficients, pd.Series) and coefficients.index.has_duplicates:
        raise StatementError("coefficients repeat a name; one number each is expected")
    return {
        check_str(name, "the name of a coefficient"): check_number(value, f"the coefficient of {short_repr(name)}")
        for name, value in coefficients.items()
    }


def _half_units(decimals: object, coefficients: Mapping[str, float]) -> np.ndarray:
    """Half a unit of the last decimal of each coefficient, which must be as rounded as that."""
    if decimals is None:
        return np.zeros(len(coefficients))
    by_name = decimals if isinstance(decimals, Mapping) else dict.fromkeys(coefficients, decimals)
    if set(by_name) != set(coefficients):
        raise StatementError(f"decimals must be a number, or one for each of {', '.join(coefficients)}")
    places = [check_int(by_name[name], "decimals", -15, 15) for name in coefficients]
    for (name, value), place in zip(coefficients.items(), places, strict=True):
        if abs(round(value, place) - value) > 1e-9 * 10.0**-place + 1e-12 * abs(value):
            raise BadProbability(f"the coefficient of {name}, {value:.12g}, has more than decimals={place}")
    return 0.5 * 10.0 ** -np.array(places)
