"""Regressions as statsmodels and scikit-learn give them; neither package is needed, nor imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit

from .._utils.errors import StatementError, join_names, unknown_name
from .._utils.formatting import constant
from .._utils.validation import check_mapping, check_str
from .numbers import INTERCEPT

#: Scores of a fit that has converged, as a share of the sums of absolute values that they are made of.
CONVERGED = 1e-4
#: Where L-BFGS of scikit-learn may stop before the gradient is as small as `tol`, by the change of its objective.
LBFGS = 1e-6
#: A column of statsmodels that is computed from attributes, in the words of a formula.
CATEGORY = re.compile(r"([CQ]\(.*\)|[^\[]+)\[(?:T\.)?(.*)\]")
CODED = re.compile(r"C\(\s*(Q\(.*?\)|[^,()]+?)\s*(?:,\s*(?:(?:contr\.)?[Tt]reatment\b|levels\b).*)?\)")
QUOTED = re.compile(r"Q\((['\"])(.*)\1\)")
POWER = re.compile(r"I\(\s*(.+?)\s*\*\*\s*([2-9])\s*\)")

LIKE_THESE = (
    "OLS, Logit, and GLM with Binomial() or Gaussian() of statsmodels, and LinearRegression, Ridge and LogisticRegression "
    "of scikit-learn are read"
)


@dataclass(frozen=True)
class PublishedFit:
    """The coefficients of a fitted model, and what is known of the people whose data were fitted."""

    names: list[str]  # of the coefficients, as the package has them
    values: np.ndarray  # one per coefficient
    kind: str  # "linear" or "logistic"
    attribute: str | None = None  # what was regressed, as the package has it
    classes: tuple[object, object] | None = None  # of a logistic regression: the values that are y = 0 and y = 1
    penalty: float = 0.0
    tolerance: float | None = None  # of each score per person, if the solver has one
    off: np.ndarray | float = 0.0  # the distance of each score per person from 0, if the data are known
    sd: np.ndarray | None = None  # standard errors
    interval: np.ndarray | None = None  # shape (coefficients, 2)
    n: int | None = None  # the number of people
    means: np.ndarray | None = None  # of the columns
    expected: np.ndarray | None = None  # X'mu(X b) / n
    regressors: list[str] = field(default_factory=list)  # names as PublishedRegression has them, one per coefficient

    @property
    def coefficients(self) -> dict[str, float]:
        """From name to coefficient."""
        return dict(zip(self.regressors, self.values.tolist(), strict=True))

    def response(self, of: Any) -> tuple[Any, str | None]:
        """What was regressed: the number of each value, or the name of an attribute; and its attribute if it is known."""
        if self.classes is None:
            if of is None and self.attribute is None:
                raise StatementError(
                    "scikit-learn does not keep the name of what is predicted; pass of='income', the sensitive attribute "
                    "whose values are numbers, or of={value: number}"
                )
            return (self.attribute if of is None else of), None
        zero, one = self.classes
        if of is None or isinstance(of, str):
            return {one: 1.0}, of or self.attribute
        is_coded = {str(zero), str(one)} in ({"0", "1"}, {"False", "True"}, {"0.0", "1.0"})
        if not is_coded and isinstance(of, Mapping) and [value for value, y in of.items() if y] != [one]:
            raise StatementError(f"the fit is of the probability of {one!r}, not of {join_names(of)}; omit of=")
        return of, None


def read_fit(result: Any, names: Mapping[str, str] | None) -> PublishedFit | None:
    """Read a fit; None if it is something else."""
    if hasattr(result, "params") and hasattr(result, "model"):
        fit = _of_statsmodels(result)
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
    # The outcome is several columns if the values of one attribute are not numbers.
    outcome: list[Any] = endog if isinstance(endog, list) else [endog]
    if kind is None or b.ndim != 1 or len(outcome) > 2:
        raise StatementError(
            f"{what}{f' ({detail})' if detail else ''} cannot be read; {LIKE_THESE}. Of more than two classes fit one "
            "against the rest; of other models write what they say as rows of a function of the space"
        )
    if getattr(result, "converged", True) is False:
        raise StatementError("the fit did not converge, so that its coefficients solve no equations; raise maxiter")
    attribute = outcome[0]
    classes: tuple[object, object] | None = (0, 1) if kind == "logistic" else None
    if len(outcome) == 2:  # a GLM of texts models the first of the two
        one, zero = (CATEGORY.fullmatch(name) for name in outcome)
        if one is None or zero is None:
            raise StatementError(f"the fit is of the columns {join_names(outcome)}; fit one row for each person")
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
    if X is None or y is None:
        return fit
    mean = expit(X @ b) if kind == "logistic" else X @ b
    size = np.abs(X).T @ (np.abs(y) + np.abs(mean)) / len(X)
    off = np.abs(X.T @ (y - mean)) / len(X)
    if (off > CONVERGED * size).any():
        raise StatementError(
            "the coefficients do not solve the score equations X'y = X'mu of their own data, as those of a fit with weights, "
            "an offset, a penalty or constraints; fit one row for each person without them, or pass {name: coefficient} "
            "with penalty= or tolerance="
        )
    return replace(fit, off=off, means=X.mean(axis=0), expected=X.T @ mean / len(X))


def _of_sklearn(model: Any) -> PublishedFit:
    """Read a fitted estimator of scikit-learn."""
    what, has = type(model).__name__, model.get_params()
    if what not in ("LinearRegression", "Ridge", "LogisticRegression"):
        raise StatementError(f"{what} cannot be read; {LIKE_THESE}. Of a pipeline pass its last step, and names=")
    if not hasattr(model, "coef_"):
        raise StatementError(f"{what} is not fitted, and its coefficients are not known; call fit first")
    b = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    if len(b) > 1:
        raise StatementError(f"{what} has {len(b)} rows of coefficients; fit one class or response against the rest")
    if has.get("positive"):
        raise StatementError("positive=True: coefficients at 0 solve no equations; fit without it")
    names = list(getattr(model, "feature_names_in_", [f"x{i}" for i in range(b.shape[1])]))
    values = b[0]
    if has["fit_intercept"]:
        names, values = [INTERCEPT, *names], np.append(np.ravel(model.intercept_)[0], values)
    if what == "LinearRegression":
        return PublishedFit(names, values, "linear")
    if what == "Ridge":
        if model.solver_ not in ("cholesky", "svd") or np.ndim(has["alpha"]):
            raise StatementError("of Ridge, solver='cholesky' or 'svd' with one alpha is read: others end early")
        return PublishedFit(names, values, "linear", penalty=float(has["alpha"]))
    return PublishedFit(
        names,
        values,
        "logistic",
        classes=tuple(model.classes_.tolist()),
        penalty=_ridge(has),
        tolerance=_gradient(model, has),
    )


def _ridge(has: Mapping[str, Any]) -> float:
    """The ridge penalty of LogisticRegression, 1 / C; before scikit-learn 1.8 its kind is `penalty`."""
    kind = has.get("penalty", "deprecated")
    if kind == "deprecated":
        kind = "l2" if has.get("l1_ratio") in (None, 0) else "elasticnet"
    if kind not in ("l2", None, "none") or has["class_weight"] is not None:
        raise StatementError("LogisticRegression with an L1 penalty or class_weight= is not read; fit it without")
    return 0.0 if kind != "l2" else 1 / float(has["C"])


def _gradient(model: Any, has: Mapping[str, Any]) -> float:
    """How small LogisticRegression has made the gradient of its objective, a person."""
    solver = has["solver"]
    if solver not in ("lbfgs", "newton-cg", "newton-cholesky"):
        # liblinear penalises the intercept, too; others end by the change of the coefficients, not by the gradient.
        raise StatementError(f"solver={solver!r} does not solve the equations; fit with 'lbfgs' or 'newton-cholesky'")
    if int(np.max(model.n_iter_)) >= has["max_iter"]:
        raise StatementError(f"LogisticRegression stopped after max_iter={has['max_iter']} iterations; raise max_iter")
    return max(float(has["tol"]), LBFGS if solver == "lbfgs" else 0.0)


def _regressors(fitted: list[str], names: Mapping[str, str] | None) -> list[str]:
    """The names of coefficients as PublishedRegression has them: "sex[T.M]" is "sex=M"."""
    renamed = {} if names is None else dict(check_mapping(names, "names", "{name in the fit: 'age' or 'sex=F'}"))
    if strange := [name for name in renamed if name not in fitted]:
        raise unknown_name("coefficient of the fit", strange[0], fitted)
    regressors = [
        check_str(renamed[name], f"the regressor of {name!r}")
        if name in renamed
        else ":".join(map(_factor, _split(name)))
        for name in fitted
    ]
    if len(set(regressors)) < len(regressors):
        raise StatementError(f"two coefficients have one name among {join_names(regressors)}; pass names=")
    return regressors


def _factor(name: str) -> str:
    """One factor of a column of statsmodels; a name that is not a term of its formulas stays as it is."""
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
    """An attribute, which a formula may quote."""
    quoted = QUOTED.fullmatch(name)
    return quoted[2] if quoted else name


def _split(name: str) -> Iterable[str]:
    """The factors of a product, which colons separate outside brackets."""
    depth, begun = 0, 0
    for at, letter in enumerate(name):
        depth += (letter in "([") - (letter in ")]")
        if letter == ":" and depth == 0:
            yield name[begun:at]
            begun = at + 1
    yield name[begun:]
