"""The fitted tree inside pipelines and searches of scikit-learn, and what stands before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...errors import StatementError, shown

__all__ = ["fitted_tree"]

Encoder = Callable[[pd.DataFrame], Any]


def fitted_tree(estimator: Any, encode: Encoder | None) -> tuple[Any, Any, Encoder | None]:
    """Find the fitted tree in an estimator: itself, the last step of a pipeline, or the best one of a search.

    Parameters
    ----------
    estimator : fitted DecisionTreeClassifier, Pipeline or search
        GridSearchCV, RandomizedSearchCV and the like have a `best_estimator_`, which is fitted on everybody.
    encode : callable, optional
        What encodes QI, if that is not a pipeline's.

    Returns
    -------
    tree : DecisionTreeClassifier
    names : ndarray or None
        The columns that the estimator was fitted on.
    encode : callable or None
        From a table of QI to what the tree was fitted on.

    Raises
    ------
    StatementError
        If there is no such tree.
    """
    names, steps, given = getattr(estimator, "feature_names_in_", None), [], estimator
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            before, estimator = estimator[:-1], estimator[-1]
            steps += [before] if len(before) else []
        else:
            break
        names = getattr(estimator, "feature_names_in_", None) if names is None and not steps else names
    if hasattr(estimator, "param_grid") or hasattr(estimator, "param_distributions"):
        raise StatementError(f"{shown(given)} has no best_estimator_: fit the search, with refit=True, its default")
    if not (hasattr(estimator, "tree_") and hasattr(estimator, "classes_")) or np.ndim(estimator.classes_) != 1:
        raise StatementError(
            "a fitted DecisionTreeClassifier of one output is expected, or a pipeline or a search that ends in one, "
            f"not {shown(estimator)}"
        )
    return estimator, names, encode or (_through(steps) if steps else None)


def _through(steps: list[Any]) -> Encoder:
    """Encode by one step after the other."""

    def encode(people: pd.DataFrame) -> Any:
        for step in steps:
            people = step.transform(people)
        return people

    return encode
