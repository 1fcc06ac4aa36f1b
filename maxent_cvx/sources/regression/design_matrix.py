"""The regressors of a published regression: one column a coefficient, one row a QI tuple."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...errors import unknown_name
from ...tables.selection import constant
from ...terms.axes import level_of
from ...views import View
from ..numbers.numbers_of_terms import numbers_of_tuples

__all__ = ["INTERCEPT", "design_matrix"]

#: The name of the column of ones.
INTERCEPT = "intercept"


def design_matrix(view: View, names: Iterable[str]) -> np.ndarray:
    """The columns that coefficients are of, shape (QI tuples, names).

    Parameters
    ----------
    view : View
        Whose quasi-identifiers are regressors.
    names : iterable of str
        "intercept"; a numeric QI attribute; an indicator "sex=F"; or a product of these, "age:sex=F".

    Raises
    ------
    UnknownName
        If the view has no such attribute, or it no such value.
    StatementError
        If the values of an attribute are no numbers.
    """
    columns = [_column(view, name) for name in names]
    return np.column_stack(columns)


def _column(view: View, name: str) -> np.ndarray:
    """One column, or a product of some."""
    if (found := _factor(view, name)) is not None:
        return found
    for at in (i for i, letter in enumerate(name) if letter == ":"):
        if (found := _factor(view, name[:at])) is not None:
            return found * _column(view, name[at + 1 :])
    for attribute in view.qi:
        written = name.removeprefix(f"{attribute}=")
        if written != name:
            known = level_of(view.quasi_identifiers, view.qi.index(attribute))[1]
            raise unknown_name(f"value of {attribute!r}", written, [str(value) for value in known])
    raise unknown_name(f"quasi-identifier of the {view.noun}", name.partition("=")[0], [INTERCEPT, *view.qi])


def _factor(view: View, name: str) -> np.ndarray | None:
    """A column that is no product; None if there is none of the name."""
    if name == INTERCEPT:
        return np.ones(len(view.n_q))
    if name in view.qi:
        return numbers_of_tuples(view, name)
    for attribute in sorted(view.qi, key=len, reverse=True):
        written = name.removeprefix(f"{attribute}=")
        if written != name and (found := _indicator(view, attribute, written)).any():
            return found
    return None


def _indicator(view: View, attribute: str, written: str) -> np.ndarray:
    """1 for those who have a value, which is written as text."""
    codes, values = level_of(view.quasi_identifiers, view.qi.index(attribute))
    there = np.array([str(value) == written for value in values])
    if not there.any():
        there = np.asarray(values == constant(written))
    return there[codes].astype(float)
