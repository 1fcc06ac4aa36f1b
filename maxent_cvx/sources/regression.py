"""Published regressions of the sensitive value on quasi-identifiers: the score equations."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import expit

from .._utils.errors import BadProbability, StatementError, TableError, UnknownName, join_names
from .._utils.tables import Microdata
from .._utils.validation import check_array, check_float, check_in, check_instance, check_int, check_number, check_str
from ..releases.base import View
from ..terms.axes import tuples_described
from ..terms.rows import Penalty, Rows
from ..terms.space import Space
from .base import Source
from .fits import read_fit
from .moments import COMPUTED, Sum, half_unit, rows_of_sums
from .numbers import INTERCEPT, design_matrix, known_members, read_numbers, responses, whole_sums, written_numbers
from .statements import given_text, read_given

#: The maximum number of Newton steps of a fit, and the largest condition number of its matrix.
MOST_NEWTON, WORST_CONDITION = 50, 1e12

# Exact or rounded coefficients as intervals of linear expressions of the responses y.
#
# A fit of n people with the regressors X, linear or logistic, solves the score equations
#
#     X'y = X'mu(X b) + D b,        mu(t) = t (linear) or 1 / (1 + exp(-t)) (logistic),
#
# with D a diagonal of penalties, 0 for the intercept. Given b, all but y is known. Let b* be the solution, b the
# published coefficients, |b* - b| <= h, and G = (X'WX + D) / n the derivative of the right-hand side at b, divided by n
# (W = 1 for the linear kind, mu (1 - mu) for the logistic kind). For any matrix T,
#
#     T X'y / n = T (X'mu(Xb) + Db) / n + T G (b* - b) + T r,
#
#     |T G (b* - b)| <= h + |T G - 1| h,        |r| <= k/2 sum_q n(q)/n |x(q)| (h'|x(q)|)^2   within T,
#
# with k = max |mu''| = 1 / (6 sqrt(3)), by Taylor's theorem for each person; r = 0 for the linear kind. So intervals
# are sound for any T, including its rounding errors; they are narrow if T is the inverse of G.

#: The bound of the second derivative of the logistic function, 1 / (6 sqrt(3)).
CURVATURE = 1 / (6 * np.sqrt(3))


@dataclass(frozen=True)
class Intervals:
    """low <= E[w y] <= high, for several vectors w of weights of QI tuples."""

    weights: np.ndarray  # shape (rows, QI tuples)
    low: np.ndarray  # one per row
    high: np.ndarray


@dataclass(frozen=True)
class Fit:
    """A published fit."""

    X: np.ndarray  # shape (QI tuples, coefficients)
    share: np.ndarray  # one per QI tuple: the share of the fitted people
    b: np.ndarray  # one per coefficient: the published value
    half: np.ndarray  # one per coefficient: its largest rounding error; 0 if published in double precision
    penalty: np.ndarray  # one per coefficient: the diagonal of D / n
    logistic: bool
    largest: float  # the largest |y|
    off: np.ndarray | float = 0.0  # the largest distance of the scores of the fit from 0, per person

    def scores(self, *, solved: bool) -> Intervals:
        """Bound X'y / n by unrounded coefficients, which solve the equations up to roundoff or a tolerance."""
        margin = self.off + self._roundoff(self.X)
        if solved:
            # Errors of least squares by Householder transformations are some multiples of the unit roundoff 1.1e-16
            # (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 20.3); this leaves seven digits
            # for the condition of the columns.
            margin += COMPUTED * (self.size(self.X) + self.penalty * np.abs(self.b))
        middle = self.expected() + self.penalty * self.b
        return Intervals(self.X.T, middle - margin, middle + margin)

    def box(self) -> Intervals:
        """Bound X'y / n by the least and the largest expected response of each person."""
        # The response is increasing in x'b, and |x'(b* - b)| <= h'|x|.
        middle, off = self.X @ self.b, np.abs(self.X) @ self.half
        ends = np.stack([self.share[:, None] * self.X * self._mean(middle + s * off)[:, None] for s in (-1, 1)])
        penalty, spread = self.penalty * self.b, self.penalty * self.half + self._roundoff(self.X) + self.off
        return Intervals(
            self.X.T, ends.min(axis=0).sum(axis=0) + penalty - spread, ends.max(axis=0).sum(axis=0) + penalty + spread
        )

    def coefficients(self) -> Intervals:
        """Bound T X'y / n with T the inverse of G: b* for the linear kind, b* up to a constant for the logistic."""
        G, T, size = self.derivative(), self.inverse(), np.abs(self.X)
        rounding = (len(self.X) + 16) * np.finfo(float).eps * (size.T @ (self.share[:, None] * size) + G)
        off_unit = np.abs(T @ G - np.eye(len(T))) + np.abs(T) @ rounding
        weights, largest = self.X @ T.T, size @ np.abs(T).T  # the weights, and sums of their absolute summands
        weights[np.abs(weights) <= 8 * len(T) * np.finfo(float).eps * largest] = 0.0  # roundoff only
        off = self.half + off_unit @ (self.half + np.abs(self.b)) + self._roundoff(largest)
        off += np.abs(T) @ np.broadcast_to(self.off, len(T))
        if self.logistic:
            off = off + CURVATURE / 2 * (np.abs(weights).T @ (self.share * (size @ self.half) ** 2))
        middle = T @ (self.expected() + self.penalty * self.b)
        return Intervals(weights.T, middle - off, middle + off)

    def derivative(self) -> np.ndarray:
        """Return G, the derivative of the score equations at b, per person."""
        slope = np.ones(len(self.share))
        if self.logistic:
            mean = expit(self.X @ self.b)
            slope = mean * (1 - mean)
        return self.X.T @ ((self.share * slope)[:, None] * self.X) + np.diag(self.penalty)

    def inverse(self) -> np.ndarray:
        """Return T, the inverse of G up to roundoff, from columns scaled to 1."""
        G = self.derivative()
        size = np.sqrt(np.diag(G))
        if not (size > 0).all():
            raise np.linalg.LinAlgError
        scaled = G / np.outer(size, size)
        if np.linalg.eigvalsh(scaled)[0] <= len(G) * 1e-13:
            raise np.linalg.LinAlgError
        return np.linalg.inv(scaled) / np.outer(size, size)

    def _mean(self, t: np.ndarray) -> np.ndarray:
        """Return mu(t)."""
        return expit(t) if self.logistic else t

    def expected(self) -> np.ndarray:
        """Return X'mu(X b) / n."""
        return self.X.T @ (self.share * self._mean(self.X @ self.b))

    def _roundoff(self, weights: np.ndarray) -> np.ndarray:
        """Return a bound on the roundoff of sums over the QI tuples."""
        return 8 * len(self.share) * np.finfo(float).eps * self.size(weights)

    def size(self, weights: np.ndarray) -> np.ndarray:
        """Return the sums of absolute values."""
        of_t = np.abs(self.X) @ (np.abs(self.b) + self.half)
        if self.logistic:
            of_t = 1 + of_t  # roundoff of t changes mu(t) by at most a quarter of it
        return np.abs(weights).T @ (self.share * (self.largest + of_t))


KINDS = ("linear", "logistic")
#: Advice if the response or a column of a fit is not in the release.
RESPONSE = "pass the dependent variable: of='income' if its values are numbers, or of={value: 1}"
COLUMNS = (
    "pass the meaning of the columns of the fit: names={'x1': 'age', 'x2': 'sex=F'}. Columns computed from attributes, "
    "such as splines or logarithms, must be quasi-identifiers themselves; contrasts must be of the Treatment kind"
)
PIPELINE = (
    "the release must have the columns and values of the table to which the pipeline was fitted; pass given= if these are "
    "only some of its people"
)
#: Advice if coefficients contradict other knowledge.
UNROUNDED = (
    "if the coefficients are rounded, pass decimals=...; if they are penalised, pass penalty=...; if the fit did not "
    "converge, pass tolerance=...; otherwise correct or remove them"
)


class PublishedRegression(Source):
    """``X'y = X'X b`` (linear) or ``X'y = X'expit(X b)`` (logistic): the score equations that coefficients b solve.

    X has one row per person and one column per coefficient; y is the number of the person's sensitive value.

    Parameters
    ----------
    coefficients : dict, Series or fit
        A mapping of names to coefficients. Names are "intercept", if the fit has one; numeric quasi-identifiers, "age";
        indicators of a value, "sex=F"; and products, "age:sex=F". They define the coding: a value without indicator is
        the reference. Alternatively a fitted model: ``OLS``, ``Logit``, and ``GLM`` with ``Binomial()`` or
        ``Gaussian()`` of statsmodels, by formula or arrays, or ``LinearRegression``, ``Ridge`` and
        ``LogisticRegression`` of scikit-learn, or a ``Pipeline`` of encoders and scalers of quasi-identifiers that ends
        in one of these. It determines `kind`, `penalty` and `tolerance`.
    of : dict, Series or str, optional
        The dependent variable: the number y of each sensitive value, ``{"low": 1}``, and 0 for all others; or the name
        of a numeric sensitive attribute. In a logistic regression, y is 0 or 1. By default the
        variable of the fit: the response in statsmodels, ``classes_[1]`` in scikit-learn.
    kind : {"linear", "logistic"}, optional
        Least squares, the default for coefficients by name, or maximum likelihood of a logit.
    decimals : int or dict, optional
        The number of decimals to which the coefficients are rounded, for all or by name; a fit is rounded here. None
        means double precision.
    penalty : float, optional
        The ridge penalty: D in ``X'y = X'mu + D b`` for all coefficients except the intercept; by default 0. In
        scikit-learn, it is `alpha` of ``Ridge``, and 1 / C of ``LogisticRegression``, where C is 1 by default.
    given : dict, optional
        The fitted people, as in :func:`P`. None means everybody.
    tolerance : float, optional
        The largest distance from 0 of each score, divided by the number of people, at convergence, in the unit of its
        column times that of y: `tol` of ``LogisticRegression``. By default, the rounding errors of double precision,
        1e-9 of the sums of absolute values. Only for coefficients that are not rounded.
    names : dict, optional
        The meaning of columns of a fit: ``{"x1": "age", "x2": "sex=F"}``. Not needed for names of formulas,
        ``sex[T.M]``, ``C(zone)[T.2]``, ``I(age ** 2)``, and of ``pandas.get_dummies``, ``sex_M``.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid, or a fit is of another model than these, or did not converge, or has coefficients in
        single precision (scikit-learn, fitted to float32); when added to a model, if a regressor is not a number, if
        the records of a fit are not those of the described people, if decimals are given and the columns are linearly
        dependent, or if the members of the release are unknown.
    UnknownName, TableError
        When added to a model, if it lacks an attribute or value, or values are not numbers.

    Notes
    -----
    McCullagh and Nelder, Generalized Linear Models, 2nd ed., section 2.5: with the canonical link the likelihood
    equations are X'y = X'mu, linear in y. The row of the intercept gives the mean of y.

    Unrounded coefficients solve the equations up to roundoff, so equations could contradict published data that imply
    them by a rounding error. The rows are therefore intervals as wide as the error; for integers, and other numbers
    with few decimals, they are equations with the integer in the interval, since X'y is an integer.

    Rounded coefficients b, at most h = 10^-decimals / 2 from those of the fit, are for the linear kind equivalent to
    ``abs((X'X)^-1 X'y - b) <= h``. For the logistic kind, the rows are a sound relaxation, true for every possible fit.
    One set bounds (X'WX)^-1 X'(y - expit(Xb)) by h and a remainder of second order in h; the other bounds each score by
    the ends of expit(x'b) for every person.

    The fitted people are the described people, which is checked if a fit contains its data. For other people, such as a
    sample of the same population, the coefficients are known up to standard errors: :meth:`softly` and :meth:`between`.
    scikit-learn does not store the weights given to ``fit``, so that they cannot be detected.

    Examples
    --------
    Two of four people have a low income. By the regression, they are the two oldest, since sum y = 2 and
    sum age y = 140. Coefficients rounded to two decimals leave the income of one of them open:

    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [20, 40, 60, 80]})
    >>> view = mx.QITable(people, qi="age", sa="income", sa_values=["low", "high"])
    >>> line = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1})
    >>> mx.MaxEnt(view).add(line).solve().conditional()["low"].round(6).to_list()
    [0.0, 0.0, 1.0, 1.0]
    >>> rounded = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1}, decimals=2)
    >>> mx.MaxEnt(view).add(rounded).solve().conditional()["low"].round(2).to_list()
    [0.0, 0.0, 0.5, 1.0]

    A fit of scikit-learn, with its ridge penalty:

    >>> from sklearn.linear_model import LogisticRegression
    >>> fit = LogisticRegression(C=0.01).fit(people, ["high", "high", "low", "low"])
    >>> mx.PublishedRegression(fit)
    <PublishedRegression: logistic regression of low: 1 on intercept, age>
    >>> mx.MaxEnt(view).add(mx.PublishedRegression(fit)).solve().conditional()["low"].round(2).to_list()
    [0.0, 0.0, 1.0, 1.0]
    """

    def __init__(
        self,
        coefficients: Any,
        of: Mapping[Any, float] | pd.Series | str | None = None,
        kind: str | None = None,
        *,
        decimals: int | Mapping[str, int] | None = None,
        penalty: float | None = None,
        given: Mapping[str, object] | None = None,
        tolerance: float | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.fit = None if isinstance(coefficients, Mapping | pd.Series) else read_fit(coefficients, names)
        self.attribute: str | None = None
        if self.fit is not None:
            coefficients = dict(zip(self.fit.regressors, self.fit.values.tolist(), strict=True))
        expected = "{name: number}, or a fit of statsmodels or scikit-learn"
        numbers = read_numbers(coefficients, "coefficients", expected)
        self.coefficients = {check_str(name, "the name of a coefficient"): b for name, b in numbers.items()}
        if self.fit is not None:
            if kind is not None or penalty is not None:
                raise StatementError("a fit determines its kind and its penalty; omit kind= and penalty=")
            kind, penalty = self.fit.kind, self.fit.penalty
            of, self.attribute = self.fit.response(of)
        elif of is None or names is not None:
            raise StatementError("coefficients by name require of=, the dependent variable, and names= requires a fit")
        self.of = of if isinstance(of, str) else read_numbers(of, "of")
        self.kind = check_in("linear" if kind is None else kind, "kind", KINDS)
        self.penalty = 0.0 if penalty is None else check_float(penalty, "penalty", 0.0)
        self.half = np.zeros(len(self.coefficients))
        if decimals is not None:
            self._round(decimals)
        self.given = read_given(given)
        self.tolerance = None if self.fit is None else self.fit.tolerance
        if tolerance is not None:
            self.tolerance = check_float(tolerance, "tolerance", 0.0)
        self.rounded = decimals is not None
        self.sampled = False  # whether the coefficients are of other people, known up to errors
        self.cost: Penalty | None = None
        if self.rounded and tolerance is not None:
            raise StatementError("pass either tolerance=, for unrounded coefficients, or decimals=, not both")

    def _round(self, decimals: int | Mapping[str, int]) -> None:
        """Round the coefficients of a fit, and set the half units of all; coefficients by name must be rounded already."""
        by_name = decimals if isinstance(decimals, Mapping) else dict.fromkeys(self.coefficients, decimals)
        if set(by_name) != set(self.coefficients):
            raise StatementError(f"decimals must be an integer, or one for each of {', '.join(self.coefficients)}")
        places = {name: check_int(by_name[name], "decimals", -15, 15) for name in self.coefficients}
        if self.fit is not None:
            self.coefficients = {name: round(b, places[name]) for name, b in self.coefficients.items()}
        half = [half_unit(b, places[name], f"the coefficient of {name}") for name, b in self.coefficients.items()]
        self.half = np.array(half)

    @property
    def label(self) -> str:
        """The dependent variable and the regressors."""
        how = "" if not self.sampled else ", between limits" if self.cost is None else f", softly ({self.cost})"
        of = written_numbers(self.of) if self.attribute is None else f"{self.attribute}={next(iter(self.of))}"
        return f"{self.kind} regression of {of} on {', '.join(self.coefficients)}{given_text(self.given)}{how}"

    def softly(self, *, sd: Any = None, weight: Any = None, delta: Any = None) -> Self:
        """Return a copy with soft rows ``b* = b`` for each coefficient b* of the described people.

        The cost is (b* - b)^2 / (2 sd^2), in nats. For the logistic kind, b* is the result of one Newton step from b,
        ``b + (X'WX)^-1 X'(y - expit(Xb))``.

        Parameters
        ----------
        sd, weight, delta : float, dict or Series, optional
            As in :func:`maxent_cvx.soft`, one for all or by name. By default, `sd` is the standard errors of a fit of
            statsmodels. Their correlations are not used.

        Returns
        -------
        PublishedRegression
            For ``model.add``.

        Raises
        ------
        StatementError, BadProbability
            If there is no standard error, or an argument is invalid.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 60, 80]}), qi="age", sa="income", sa_values=["low", "high"])
        >>> line = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1})
        >>> soft = line.softly(sd={"intercept": 0.3, "age": 0.005})
        >>> mx.MaxEnt(view).add(soft).solve().conditional()["low"].round(2).to_list()
        [0.02, 0.18, 0.67, 0.95]
        """
        if sd is None and weight is None:
            sd = self._known("sd", "sd= or weight=")
        costs = {"sd": sd, "weight": weight, "delta": delta}
        penalty = Penalty(**{name: None if cost is None else self._each(cost, name) for name, cost in costs.items()})
        return self._changed(cost=penalty, half=np.zeros(len(self.coefficients)))

    def between(self, low: Any = None, high: Any = None) -> Self:
        """Return a copy with rows ``low <= b* <= high`` for each coefficient b* of the described people.

        For the logistic kind, the rows are the relaxation of rounded coefficients.

        Parameters
        ----------
        low, high : float, dict or Series, optional
            One for all or by name. By default, the 95 % intervals of a fit of statsmodels, ``conf_int()``.

        Returns
        -------
        PublishedRegression
            For ``model.add``.

        Raises
        ------
        StatementError, BadProbability
            If there is no interval, or an argument is invalid.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 60, 80]}), qi="age", sa="income", sa_values=["low", "high"])
        >>> line = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1})
        >>> box = line.between({"intercept": -0.6, "age": 0.01}, {"intercept": 0.6, "age": 0.02})
        >>> mx.MaxEnt(view).add(box).solve().conditional()["low"].round(2).to_list()
        [0.2, 0.39, 0.61, 0.8]
        """
        if low is None and high is None:
            low, high = self._known("interval", "low and high").T
        ends = np.array([self._each(low, "low"), self._each(high, "high")])
        if (bad := ends[0] > ends[1]).any():
            name = list(self.coefficients)[int(bad.argmax())]
            raise BadProbability(f"the low value of the coefficient of {name} is above its high value: swap the two")
        return self._changed(
            coefficients=dict(zip(self.coefficients, ends.mean(axis=0).tolist(), strict=True)),
            half=(ends[1] - ends[0]) / 2,
        )

    def refitted(self, records: pd.DataFrame, view: View) -> PublishedRegression:
        """Fit the coefficients to other records with the same columns, and round them in the same way.

        Parameters
        ----------
        records : DataFrame
            Records with the QI and sensitive columns of the view.
        view : View
            The people of these coefficients.

        Raises
        ------
        StatementError
            If the coefficients are between limits, soft, or of a pipeline, or the other records have no unique fit.
        TableError
            If a QI tuple or a sensitive value of the records is not in the view.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"age": [20, 40, 60, 80], "income": ["high", "high", "low", "low"]})
        >>> view = mx.QITable(people, qi="age", sa="income", sa_values=["low", "high"])
        >>> line = mx.PublishedRegression({"intercept": -0.5, "age": 0.02}, of={"low": 1})
        >>> {name: round(b, 3) for name, b in line.refitted(people[1:], view).coefficients.items()}
        {'intercept': -0.833, 'age': 0.025}
        """
        check_instance(view, View, "view")
        if self.sampled or (self.fit is not None and self.fit.before is not None):
            why = "is not exact" if self.sampled else "depends on the other steps of its pipeline"
            raise StatementError(f"{self.label} {why}, and cannot be computed again for other records")
        y, X = self._read(view)
        data = Microdata(records, view.qi, view.sensitive)
        (group, tuples), (value, values) = data.tuples(), data.values()
        q, s = view.quasi_identifiers.get_indexer(tuples), view.sensitive_values.get_indexer(values)
        if (n_unknown := int((q < 0).sum() + (s < 0).sum())) > 0:
            raise TableError(
                f"{n_unknown} QI tuples and sensitive values of the records are not in the {view.noun}, so that their "
                "numbers are unknown; pass a view that contains them"
            )
        q, s = q[group], s[value]
        kept = tuples_described(view, self.given)[q]
        X, response = X[q[kept]], y[s[kept]]
        penalty = np.diag([0.0 if name == INTERCEPT else self.penalty for name in self.coefficients])
        b, moved = np.zeros(X.shape[1]), np.inf
        for _ in range(MOST_NEWTON):
            # Newton's method on X'(y - mu) - D b = 0: one step for least squares, a few for a logit.
            mu = X @ b if self.kind == "linear" else expit(X @ b)
            weight = np.ones(len(mu)) if self.kind == "linear" else mu * (1 - mu)
            H = X.T @ (weight[:, None] * X) + penalty
            if not np.isfinite(H).all() or np.linalg.cond(H) > WORST_CONDITION:
                break
            step = np.linalg.solve(H, X.T @ (response - mu) - penalty @ b)
            b, moved = b + step, float(np.abs(step).max(initial=0.0))
            if moved <= 1e-13 * (1 + np.abs(b).max(initial=0.0)):
                break
        if not moved <= 1e-9 * (1 + np.abs(b).max(initial=0.0)):
            raise StatementError(f"{self.label} has no unique fit to the other {len(response)} records")
        if self.rounded:  # to units of twice the half-widths
            b = np.rint(b / (2 * self.half)) * (2 * self.half)
        again = copy.copy(self)
        again.coefficients, again.fit = dict(zip(self.coefficients, b.tolist(), strict=True)), None
        return again

    def _without(self, at: int, original: pd.DataFrame, view: View) -> PublishedRegression:
        return self.refitted(original.iloc[np.arange(len(original)) != at], view)

    def _known(self, what: str, remedy: str) -> np.ndarray:
        """Return standard errors or intervals of the fit."""
        known = getattr(self.fit, what, None)
        if known is None:
            raise StatementError(f"only fits of statsmodels have standard errors; pass {remedy} by name")
        return known

    def _each(self, values: Any, what: str) -> np.ndarray:
        """Return one number per coefficient, given by the names of the fit or of this source."""
        names = list(self.coefficients)
        if isinstance(values, np.ndarray):
            return check_array(values, what, len(names))
        if not isinstance(values, Mapping | pd.Series):
            return np.full(len(names), check_number(values, what))
        ours = dict(zip(self.fit.names, names, strict=True)) if self.fit is not None else {}
        by_name = {
            ours.get(str(name), name): check_number(value, f"{what} of {name}") for name, value in values.items()
        }
        if set(by_name) != set(names):
            raise StatementError(f"{what} must be a number, or one for each of {', '.join(names)}")
        return np.array([by_name[name] for name in names])

    def _changed(self, **fields: Any) -> Self:
        """Return a copy with weaker knowledge of the coefficients."""
        if self.sampled or self.rounded:
            raise StatementError("coefficients can be rounded, between limits or soft, only one of these and only once")
        changed = copy.copy(self)
        vars(changed).update(fields, sampled=True, tolerance=None)
        return changed

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per coefficient; two per logistic coefficient that is rounded or within limits."""
        known_members(space.view, "a regression")
        y, X = self._read(space.view)
        described = space.described(self.given)
        people = space.view.n_q * described
        if self.kind == "logistic" and not np.isin(y, (0.0, 1.0)).all():
            odd = y[~np.isin(y, (0.0, 1.0))][0]
            raise StatementError(f"y of a logistic regression must be 0 or 1, not {odd:.12g}; correct of=")
        fit = self._fit(X, people, float(np.abs(y).max(initial=0.0)))
        if self.fit is not None and not self.sampled:
            self._check_records(fit, int(people.sum()))
        if not self.rounded and not self.sampled:
            yield self._emitted(space, fit.scores(solved=self.tolerance is None), y, described, "score")
            return
        try:
            coefficients = fit.coefficients()
        except np.linalg.LinAlgError:
            raise StatementError(
                f"the columns {', '.join(self.coefficients)} are linearly dependent for the described people, so that "
                "inexact coefficients imply nothing; omit one of them, as the fit must have done"
            ) from None
        if self.cost is not None:
            middle = (coefficients.low + coefficients.high) / 2
            rows = self._emitted(space, replace(coefficients, low=middle, high=middle), y, described, "coefficient")
            yield replace(rows, penalty=self.cost)
            return
        yield self._emitted(space, coefficients, y, described, "coefficient")
        if fit.logistic:
            yield self._emitted(space, fit.box(), y, described, "score")

    def _read(self, view: View) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of every sensitive value, and the columns; errors about names in a fit contain advice."""
        remedy = RESPONSE
        try:
            y = responses(view, self.of, self.attribute)
            remedy = COLUMNS if self.fit is None or self.fit.before is None else PIPELINE
            if self.fit is None:
                return y, design_matrix(view, self.coefficients)
            return y, self.fit.columns(view, tuples_described(view, self.given))
        except (UnknownName, TableError, StatementError) as error:
            if self.fit is None:
                raise
            raise type(error)(f"{error}; {remedy}") from None

    def _fit(self, X: np.ndarray, people: np.ndarray, largest: float) -> Fit:
        """Make the fit of some people."""
        present = np.flatnonzero(people)
        penalized = np.array([name != INTERCEPT for name in self.coefficients], dtype=float)
        off = self.tolerance or (0.0 if self.fit is None or self.sampled else self.fit.off)
        return Fit(
            X[present],
            people[present] / people.sum(),
            np.array(list(self.coefficients.values())),
            self.half,
            penalized * self.penalty / people.sum(),
            self.kind == "logistic",
            largest,
            off,
        )

    def _check_records(self, fit: Fit, n: int) -> None:
        """Check that a fit is of the described people, as far as it contains their number or data."""
        assert self.fit is not None
        remedy = (
            "pass the fitted people, given=, or the meaning of columns, names=; for a sample of other people, use "
            "standard errors: .softly() or .between()"
        )
        if self.fit.n not in (None, n):
            raise StatementError(f"the fit has {self.fit.n:,} records, but {n:,} people are described; {remedy}")
        if self.fit.means is None or self.fit.expected is None:
            return
        odd = np.abs(fit.share @ fit.X - self.fit.means) > COMPUTED * (fit.share @ np.abs(fit.X))
        if not odd.any() and not self.rounded:
            odd = np.abs(fit.expected() - self.fit.expected) > COMPUTED * fit.size(fit.X)
        if odd.any():
            columns = join_names(name for name, differs in zip(self.coefficients, odd, strict=True) if differs)
            raise StatementError(f"the records of the fit differ from the described people in {columns}; {remedy}")

    def _emitted(self, space: Space, intervals: Intervals, y: np.ndarray, described: np.ndarray, what: str) -> Rows:
        """Convert intervals of E[w y] of the described people to rows; scores become sums, possibly integers."""
        q, own = space.codes["q"], y[space.codes["s"]]
        at = np.flatnonzero(described[q] & (own != 0))
        place = np.cumsum(described & (space.view.n_q > 0)) - 1  # positions of QI tuples among those with people
        n = int((space.view.n_q * described).sum())
        sums, whole = [], []
        ends = zip(intervals.low.tolist(), intervals.high.tolist(), strict=True)
        for name, weights, (low, high) in zip(self.coefficients, intervals.weights, ends, strict=True):
            data = weights[place[q[at]]] * own[at]
            if what == "score":
                data, low, high, places = whole_sums(data, low * n, high * n)
                whole.append(places is not None)
            else:
                data = data / n
            sums.append(Sum(name, data, low, high))
        exact, remedy = bool(whole) and all(whole), "" if self.rounded else UNROUNDED
        return rows_of_sums(sums, at, space, f"{self.label}, {what}", exact=exact, remedy=remedy)
