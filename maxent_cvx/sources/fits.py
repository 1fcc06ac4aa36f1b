"""Fitted regressions of statsmodels and scikit-learn, neither of which is required or imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit

from .._utils.errors import StatementError, join_names
from .._utils.formatting import constant
from .._utils.validation import check_finite, check_known, check_mapping, check_str
from ..releases.base import View
from .moments import COMPUTED
from .numbers import INTERCEPT, design_matrix

#: The largest scores of a converged fit, relative to the sums of the absolute values of their summands.
CONVERGED = 1e-4
#: The gradient at which scikit-learn's L-BFGS may stop by the change of its objective, before it is as small as `tol`.
LBFGS = 1e-6
#: Names of statsmodels' columns that formulas compute from attributes.
CATEGORY = re.compile(r"([CQ]\(.*\)|[^\[]+)\[(?:T\.)?(.*)\]")
CODED = re.compile(r"C\(\s*(Q\(.*?\)|[^,()]+?)\s*(?:,\s*(?:(?:contr\.)?[Tt]reatment\b|levels\b).*)?\)")
QUOTED = re.compile(r"Q\((['\"])(.*)\1\)")
POWER = re.compile(r"I\(\s*(.+?)\s*\*\*\s*([2-9])\s*\)")

LIKE_THESE = (
    "supported are OLS, Logit, and GLM with Binomial() or Gaussian() of statsmodels, and LinearRegression, Ridge and "
    "LogisticRegression of scikit-learn, or pipelines that end in one"
)
#: Transformers that transform every record alone, and in the fit as afterwards (unlike TargetEncoder).
TRANSFORMERS = {
    "Pipeline", "ColumnTransformer", "FeatureUnion", "OneHotEncoder", "OrdinalEncoder", "StandardScaler", "MinMaxScaler",
    "MaxAbsScaler", "RobustScaler", "PolynomialFeatures", "SplineTransformer", "KBinsDiscretizer",
}  # fmt: skip


@dataclass(frozen=True)
class PublishedFit:
    """The coefficients of a fitted model, and statistics of the people in its data."""

    names: list[str]  # names of the coefficients in the other package
    values: np.ndarray  # the coefficients
    kind: str  # "linear" or "logistic"
    attribute: str | None = None  # the dependent variable in the other package
    classes: tuple[object, object] | None = None  # for a logistic regression, the values with y = 0 and y = 1
    penalty: float = 0.0
    tolerance: float | None = None  # tolerance of each score per person, if the solver has one
    off: np.ndarray | float = 0.0  # the distance of each score per person from 0, if the data are known
    sd: np.ndarray | None = None  # standard errors
    interval: np.ndarray | None = None  # shape (coefficients, 2)
    n: int | None = None  # the number of people
    means: np.ndarray | None = None  # means of the columns
    expected: np.ndarray | None = None  # X'mu(X b) / n
    regressors: list[str] = field(default_factory=list)  # names in PublishedRegression, one per coefficient
    before: Any = None  # the fitted steps of a pipeline before the regression

    def columns(self, view: View, described: np.ndarray) -> np.ndarray:
        """Return the columns of the coefficients, shape (QI tuples, coefficients); those of a pipeline for fitted people."""
        if self.before is None:
            return design_matrix(view, self.regressors)
        attributes = list(self.before.feature_names_in_)
        check_known(attributes, f"quasi-identifier of the {view.noun} (a column of the pipeline)", view.qi)
        try:
            X: Any = self.before.transform(view.quasi_identifiers[described].to_frame(index=False)[attributes])
        except (ValueError, TypeError) as error:
            raise StatementError(
                f"the pipeline cannot transform the {view.noun}'s {', '.join(attributes)}: {str(error).splitlines()[0]}"
            ) from error
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        check_finite(X, "the columns of the pipeline", StatementError)
        columns = np.ones((len(described), len(self.names)))  # the first one is that of the intercept, if there is one
        columns[described, len(self.names) - X.shape[1] :] = X
        return columns

    def response(self, of: Any) -> tuple[Any, str | None]:
        """Return the dependent variable, as the number of each value or an attribute, and its attribute if known."""
        if self.classes is None:
            if of is None and self.attribute is None:
                raise StatementError(
                    "scikit-learn does not store the name of the dependent variable; pass of='income', the sensitive "
                    "attribute whose values are numbers, or of={value: number}"
                )
            return (self.attribute if of is None else of), None
        zero, one = self.classes
        if of is None or isinstance(of, str):
            return {one: 1.0}, of or self.attribute
        is_coded = {str(zero), str(one)} in ({"0", "1"}, {"False", "True"}, {"0.0", "1.0"})
        if not is_coded and isinstance(of, Mapping) and [value for value, y in of.items() if y] != [one]:
            raise StatementError(f"the fit predicts the probability of {one!r}, not of {join_names(of)}; omit of=")
        return of, None


def read_fit(result: Any, names: Mapping[str, str] | None) -> PublishedFit | None:
    """Read a fit; return None for any other object."""
    if hasattr(result, "params") and hasattr(result, "model"):
        fit = _of_statsmodels(result)
    elif hasattr(result, "steps"):
        fit = _of_pipeline(result) if len(result.steps) > 1 else _of_sklearn(result[-1])
    elif hasattr(result, "fit") and hasattr(result, "get_params"):
        fit = _of_sklearn(result)
    elif hasattr(result, "fit") and hasattr(result, "exog_names"):
        raise StatementError(f"{type(result).__name__} is not fitted; pass the result of its fit()")
    else:
        return None
    return replace(fit, regressors=_regressors(fit.names, names))


def _of_statsmodels(result: Any) -> PublishedFit:
    """Read results of statsmodels, and check that they solve the score equations if the data are stored."""
    model, what = result.model, type(result.model).__name__
    family = getattr(model, "family", None)
    link = type(getattr(family, "link", None)).__name__.lower()
    kinds = {
        ("OLS", ""): "linear",
        ("Logit", ""): "logistic",
        ("GLM", "Gaussian identity"): "linear",
        ("GLM", "Binomial logit"): "logistic",
    }
    detail = f"{type(family).__name__} {link}" if what == "GLM" else ""
    kind, b = kinds.get((what, detail)), np.asarray(result.params, dtype=float)
    endog = getattr(model, "endog_names", None)
    # The outcome has several columns if the values of one attribute are not numbers.
    outcome: list[Any] = endog if isinstance(endog, list) else [endog]
    if kind is None or b.ndim != 1 or len(outcome) > 2:
        raise StatementError(
            f"{what}{f' ({detail})' if detail else ''} is not supported; {LIKE_THESE}. With more than two classes, fit "
            "one against the rest; for other models, write a function of the space that returns rows"
        )
    if getattr(result, "converged", True) is False:
        raise StatementError("the fit did not converge, so it does not solve the score equations; raise maxiter")
    attribute = outcome[0]
    classes: tuple[object, object] | None = (0, 1) if kind == "logistic" else None
    if len(outcome) == 2:  # with strings, a GLM models the first of the two
        one, zero = (CATEGORY.fullmatch(name) for name in outcome)
        if one is None or zero is None:
            raise StatementError(f"the fit predicts the columns {join_names(outcome)}; fit one row per person")
        attribute, classes = one[1], (constant(zero[2]), constant(one[2]))
    fit = PublishedFit(
        list(model.exog_names),
        b,
        kind,
        None if attribute is None else _attribute(attribute),
        classes,
        sd=np.asarray(result.bse, dtype=float) if hasattr(result, "bse") else None,
        interval=np.asarray(result.conf_int(), dtype=float) if hasattr(result, "bse") else None,
        n=round(float(result.nobs)),
    )
    X, y = getattr(model, "exog", None), getattr(model, "endog", None)
    return fit if X is None or y is None else _with_moments(fit, b, X, y)


def _with_moments(fit: PublishedFit, b: np.ndarray, X: np.ndarray, y: np.ndarray) -> PublishedFit:
    """Add the means of the data to a fit, and check that its coefficients solve the score equations X'y = X'mu."""
    mean = expit(X @ b) if fit.kind == "logistic" else X @ b
    size = np.abs(X).T @ (np.abs(y) + np.abs(mean)) / len(X)
    off = np.abs(X.T @ (y - mean)) / len(X)
    roundoff = COMPUTED * np.abs(X).mean(axis=0) * np.abs(y).max()  # y and mu may be 0 for a whole category
    if (off > CONVERGED * size + roundoff).any():
        raise StatementError(
            "the coefficients do not solve the score equations X'y = X'mu of their data, as with weights, offsets, "
            "penalties or constraints; fit data with one row per person without them, or pass {name: coefficient} with "
            "penalty= or tolerance="
        )
    return replace(fit, off=off, means=X.mean(axis=0, dtype=float), expected=X.T @ mean / len(X))


def _of_sklearn(model: Any) -> PublishedFit:
    """Read a fitted estimator of scikit-learn."""
    what, has = type(model).__name__, model.get_params()
    if what not in ("LinearRegression", "Ridge", "LogisticRegression"):
        raise StatementError(f"{what} is not supported; {LIKE_THESE}")
    if not hasattr(model, "coef_"):
        raise StatementError(f"{what} is not fitted, so it has no coefficients; call fit first")
    if (dtype := np.asarray(model.coef_).dtype).itemsize < 8:
        raise StatementError(
            f"{what} has coefficients of {dtype}, which solve the score equations only roughly; fit it to columns of "
            "float64, X.astype(float)"
        )
    b = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    if len(b) > 1:
        raise StatementError(f"{what} has {len(b)} rows of coefficients; fit one class or response against the rest")
    if has.get("positive"):
        raise StatementError("coefficients at 0 do not solve the score equations with positive=True; fit without it")
    names = list(getattr(model, "feature_names_in_", [f"x{i}" for i in range(b.shape[1])]))
    values = b[0]
    if has["fit_intercept"]:
        names, values = [INTERCEPT, *names], np.append(np.ravel(model.intercept_)[0], values)
    if what == "LinearRegression":
        return PublishedFit(names, values, "linear")
    if what == "Ridge":
        if model.solver_ not in ("cholesky", "svd") or np.ndim(has["alpha"]):
            raise StatementError("Ridge needs one alpha and solver='cholesky' or 'svd', since other solvers stop early")
        return PublishedFit(names, values, "linear", penalty=float(has["alpha"]))
    return PublishedFit(
        names,
        values,
        "logistic",
        classes=tuple(model.classes_.tolist()),
        penalty=_ridge(has),
        tolerance=_gradient(model, has),
    )


def _of_pipeline(pipeline: Any) -> PublishedFit:
    """Read a fitted pipeline of scikit-learn, whose transformers define the columns."""
    fit, before = _of_sklearn(pipeline[-1]), pipeline[:-1]
    steps = [step for step in before.get_params().values() if hasattr(step, "fit")]
    if others := sorted({type(step).__name__ for step in steps} - TRANSFORMERS):
        raise StatementError(
            f"the steps before the last of a pipeline must be of {', '.join(sorted(TRANSFORMERS))}, not {others[0]}; or pass "
            "the last step alone, with names="
        )
    if any(getattr(step, "handle_unknown", "error") != "error" for step in steps):
        raise StatementError(
            "the encoders of a pipeline must be fitted with handle_unknown='error', since they would otherwise encode "
            "unknown values of the release, such as '1' instead of 1, like other values; fit the same pipeline with "
            "handle_unknown='error'"
        )
    if not hasattr(before, "feature_names_in_"):
        raise StatementError("a pipeline must be fitted to a DataFrame with the quasi-identifiers as columns")
    transformed = list(map(str, before.get_feature_names_out()))
    return replace(fit, names=fit.names[: len(fit.names) - len(transformed)] + transformed, before=before)


def _ridge(has: Mapping[str, Any]) -> float:
    """Return the ridge penalty of LogisticRegression, 1 / C; before scikit-learn 1.8, its kind is `penalty`."""
    kind = has.get("penalty", "deprecated")
    if kind == "deprecated":
        kind = "l2" if has.get("l1_ratio") in (None, 0) else "elasticnet"
    if kind not in ("l2", None, "none") or has["class_weight"] is not None:
        raise StatementError("LogisticRegression must be fitted without an L1 penalty and without class_weight=")
    return 0.0 if kind != "l2" else 1 / float(has["C"])


def _gradient(model: Any, has: Mapping[str, Any]) -> float:
    """Return a bound on the gradient of LogisticRegression's objective at its solution, per person."""
    solver = has["solver"]
    if solver not in ("lbfgs", "newton-cg", "newton-cholesky"):
        # liblinear also penalises the intercept; others stop by the change of the coefficients, not by the gradient.
        raise StatementError(f"solver={solver!r} does not solve the score equations; use 'lbfgs' or 'newton-cholesky'")
    if int(np.max(model.n_iter_)) >= has["max_iter"]:
        raise StatementError(f"LogisticRegression stopped after max_iter={has['max_iter']} iterations; raise max_iter")
    return max(float(has["tol"]), LBFGS if solver == "lbfgs" else 0.0)


def _regressors(fitted: list[str], names: Mapping[str, str] | None) -> list[str]:
    """Convert names of coefficients to those of PublishedRegression: "sex[T.M]" to "sex=M"."""
    renamed = {} if names is None else dict(check_mapping(names, "names", "{name in the fit: 'age' or 'sex=F'}"))
    check_known(renamed, "coefficient of the fit", fitted)
    regressors = [
        check_str(renamed[name], f"the regressor of {name!r}")
        if name in renamed
        else ":".join(map(_factor, _split(name)))
        for name in fitted
    ]
    if len(set(regressors)) < len(regressors):
        raise StatementError(f"coefficients have duplicate names among {join_names(regressors)}; pass names=")
    return regressors


def _factor(name: str) -> str:
    """Convert one factor of a column of statsmodels; names that are not terms of its formulas are unchanged."""
    if name in ("Intercept", "const"):
        return INTERCEPT
    if category := CATEGORY.fullmatch(name):
        coded = CODED.fullmatch(category[1])
        attribute = _attribute(coded[1] if coded else category[1])
        return name if "(" in attribute and attribute == category[1] else f"{attribute}={category[2]}"
    if power := POWER.fullmatch(name):
        return ":".join([_attribute(power[1])] * int(power[2]))
    return _attribute(name)


def _attribute(name: str) -> str:
    """Return the name of an attribute, which a formula may quote."""
    quoted = QUOTED.fullmatch(name)
    return quoted[2] if quoted else name


def _split(name: str) -> Iterable[str]:
    """Split a product into factors, at colons outside brackets."""
    depth, begun = 0, 0
    for at, letter in enumerate(name):
        depth += (letter in "([") - (letter in ")]")
        if letter == ":" and depth == 0:
            yield name[begun:at]
            begun = at + 1
    yield name[begun:]
