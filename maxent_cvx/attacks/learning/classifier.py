"""Any classifier of scikit-learn as the model of the sensitive value given quasi-identifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...errors import BadProbability, StatementError, shown
from ...tables.coding import densely
from ...views import Release

__all__ = ["Classifier"]


class Classifier:
    """log P(s | q) of a classifier that is fitted to every QI tuple with every value, weighed by expected records.

    Parameters
    ----------
    release : Release
    classifier : scikit-learn classifier
        With `predict_proba`, and sample weights. A Pipeline is given quasi-identifiers as they are, a column each;
        anything else gets numbers from 0 to 1, and of all others a column for each value (one-hot).
    """

    def __init__(self, release: Release, classifier: object) -> None:
        try:
            from sklearn.base import BaseEstimator, clone
            from sklearn.compose import make_column_transformer
            from sklearn.pipeline import Pipeline, make_pipeline
            from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
            from sklearn.utils.validation import has_fit_parameter
        except ImportError:
            raise StatementError(
                f"classifier={shown(classifier)} needs scikit-learn, which is not installed: pip install scikit-learn"
            ) from None
        last = classifier.steps[-1][1] if isinstance(classifier, Pipeline) and classifier.steps else classifier
        able = isinstance(classifier, BaseEstimator) and hasattr(classifier, "predict_proba")
        if not able or not has_fit_parameter(last, "sample_weight"):
            raise StatementError(
                f"classifier={shown(classifier)}: a classifier of scikit-learn with predict_proba, whose fit takes "
                "sample_weight, is expected"
            )
        self.features = release.quasi_identifiers.to_frame(index=False)
        if isinstance(classifier, Pipeline):
            self.model: Any = clone(classifier)
        else:
            numeric = [name for name, column in self.features.items() if pd.api.types.is_numeric_dtype(column)]
            others = [name for name in self.features if name not in numeric]
            for name in others:  # numbers, as values of several types cannot be sorted
                self.features[name] = densely(np.asarray(release.quasi_identifiers.codes[release.qi.index(str(name))]))
            encoded = make_column_transformer((MinMaxScaler(), numeric), (OneHotEncoder(sparse_output=False), others))
            self.model = make_pipeline(encoded, clone(classifier))
        self.weight = f"{self.model.steps[-1][0]}__sample_weight"

    def learnt(self, expected: np.ndarray) -> tuple[np.ndarray, float]:
        """Fit the classifier to expected records.

        Parameters
        ----------
        expected : ndarray, shape (tuples, values)
            How many records with each QI tuple have each value.

        Returns
        -------
        log_f : ndarray, shape (tuples, values)
            log P(s | q); of a value that the classifier does not know -inf.
        penalty : float
            0: what else a classifier maximises is its own.
        """
        q, s = expected.nonzero()
        try:
            self.model.fit(self.features.iloc[q], s, **{self.weight: expected[q, s]})
            said = np.asarray(self.model.predict_proba(self.features))
        except (OverflowError, TypeError, ValueError) as error:
            raise StatementError(f"the classifier cannot be fitted to the release: {error}") from error
        if not (np.isfinite(said) & (said >= 0)).all():
            raise BadProbability("the classifier predicts something that is no probability; choose another")
        p = np.zeros_like(expected)
        p[:, self.model.classes_] = said
        with np.errstate(divide="ignore"):
            return np.log(p), 0.0
