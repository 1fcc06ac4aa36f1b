"""Numeric values of attributes, for sources of moments and regressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, join_names, short_repr, unknown_name
from .._utils.formatting import constant
from .._utils.tables import numbers_of, real_numbers, repeated
from .._utils.validation import check_finite, check_label, check_number, label_of
from ..releases.base import OUTSIDE, View
from ..terms.axes import level_of

# The numbers of attributes' values: one per QI tuple, one per sensitive value.

#: The maximum number of values in a label.
LISTED = 3


def numbers_of_tuples(view: View, name: str) -> np.ndarray:
    """Return the number of every QI tuple by a numeric attribute; booleans are 0 and 1."""
    codes, values = level_of(view.quasi_identifiers, view.qi.index(name))
    kinds = values.categories if isinstance(values, pd.CategoricalIndex) else values
    is_number = pd.api.types.is_numeric_dtype(kinds) and not pd.api.types.is_complex_dtype(kinds)
    if not is_number and not all(isinstance(value, Real | Decimal) for value in values):
        raise StatementError(
            f"the values of {name!r} must be numbers, not {short_repr(values[0])}; for a regression, use indicators "
            f"such as {f'{name}={values[0]}'!r}"
        )
    what = f"the values of {name!r}"
    return check_finite(real_numbers(values, what, StatementError), what, StatementError)[codes]


def numbers_of_values(view: View, name: str, values: Mapping[Any, float] | pd.Series | None = None) -> np.ndarray:
    """Return the number of every sensitive value by one attribute; 0 for people outside the release."""
    check_label(name, "sensitive attribute", view.sensitive)
    codes, level = level_of(view.sensitive_values, list(view.sensitive).index(name))
    inside = np.asarray(level != OUTSIDE)
    numbers = np.zeros(len(level))
    numbers[inside] = numbers_of(level[inside].rename(name), values).astype(float)
    return numbers[codes]


def responses(view: View, of: Mapping[Any, float] | str, attribute: str | None = None) -> np.ndarray:
    """Return the number y of every sensitive value: as listed, with 0 for all others; or the values of an attribute."""
    if isinstance(of, str):
        return numbers_of_values(view, of)
    names = view.sensitive if attribute is None else [check_label(attribute, "sensitive attribute", view.sensitive)]
    levels = {name: level_of(view.sensitive_values, view.sensitive.index(name)) for name in names}
    fitting = [name for name, (_, level) in levels.items() if all(label_of(value, level) in level for value in of)]
    if len(fitting) == 1:
        codes, level = levels[fitting[0]]
        numbers = {label_of(value, level): float(y) for value, y in of.items()}
        if len(numbers) < len(of):
            raise StatementError(f"{join_names(list(of))} name one value of {fitting[0]!r} twice; give it one number")
        return np.array([numbers.get(value, 0.0) for value in level])[codes]
    for value in of:
        if not any(label_of(value, level) in level for _, level in levels.values()):
            known = [label for _, level in levels.values() for label in level]
            raise unknown_name(f"value of {' or '.join(map(repr, names))}", value, known)
    several = " and ".join(map(repr, fitting)) or "several attributes"
    raise StatementError(f"{join_names(list(of))} are values of {several}; pass values of a single attribute")


def known_members(view: View, what: str) -> None:
    """Check that the members of the release are known, unlike in a release of a population."""
    if not view.inside.all():
        raise StatementError(
            f"{what} refers to the people in the release, but which people of the population are in it is unknown; "
            "make a view of the people in the release"
        )


def read_numbers(
    numbers: object, what: str, expected: str = "{sensitive value: number}, or the name of a sensitive attribute"
) -> dict[object, float]:
    """Read a listed number for each of some sensitive values or names."""
    if not isinstance(numbers, Mapping | pd.Series) or not len(numbers):
        raise StatementError(f"{what} must be {expected}, not {short_repr(numbers)}")
    if isinstance(numbers, pd.Series) and numbers.index.has_duplicates:
        raise StatementError(f"{what} must have unique labels, but repeats {join_names(repeated(numbers.index))}")
    return {value: check_number(y, f"the number of {short_repr(value)}") for value, y in numbers.items()}


def written_numbers(of: Mapping[Any, float] | str) -> str:
    """Format responses for a label: an attribute, or the first few values with their numbers."""
    if isinstance(of, str):
        return of
    listed = [f"{value}: {y:g}" for value, y in of.items()]
    return ", ".join(listed[:LISTED] + ["..."] * (len(listed) > LISTED))


# Sums of integers are integers: their intervals are rounded inwards, and narrow ones become equations.
#
# A statistic in double precision is known up to rounding errors. The sum behind it is known exactly if the numbers
# have few decimals: only one multiple of a unit of the last decimal is in so small an interval. So the rows are
# equations in integers, which rounding errors cannot make contradict the published data.

#: The maximum number of decimals to try.
DECIMALS = 4
#: The largest error of a product of two numbers with few decimals, in unit roundoffs.
ROUNDOFFS = 8 * np.finfo(float).eps
#: Integers below this are doubles, as are their products with numbers of people.
LARGEST = 2.0**40
#: The roundoff of the sides, relative to their size, by which they are widened.
SIDES = 1e-12


def whole_sums(weights: np.ndarray, low: float, high: float) -> tuple[np.ndarray, float, float, int | None]:
    """Round ``low <= sum weights <= high`` inwards if all weights are multiples of a power of 1/10."""
    for places in range(DECIMALS + 1):
        scaled = weights * 10.0**places
        nearest = np.rint(scaled)
        if (np.abs(scaled - nearest) <= ROUNDOFFS * np.abs(scaled)).all() and np.abs(nearest).max(initial=0) < LARGEST:
            sides = np.array([low, high]) * 10.0**places
            off = np.where(np.isfinite(sides), SIDES * np.abs(sides), 0.0)
            least, most = np.ceil(sides[0] - off[0]), np.floor(sides[1] + off[1])
            return (nearest, float(least), float(most), places) if least <= most else (weights, low, high, None)
    return weights, low, high, None


def written_fractions(numbers: np.ndarray) -> list[Fraction]:
    """Return numbers with few decimals as the fractions that they stand for, 1.4 as 7/5, and others as they are."""
    unit = 10**DECIMALS
    scaled = np.asarray(numbers, dtype=float) * unit
    nearest, rounding = np.rint(scaled), ROUNDOFFS * np.abs(scaled)
    is_short = (np.abs(scaled - nearest) <= rounding) & (np.abs(nearest) < LARGEST)
    return [
        Fraction(int(whole), unit) if short else Fraction(number)
        for number, whole, short in zip(
            np.asarray(numbers, dtype=float).tolist(), nearest.tolist(), is_short, strict=True
        )
    ]


#: The name of the column of ones.
INTERCEPT = "intercept"


def design_matrix(view: View, names: Iterable[str]) -> np.ndarray:
    """Return the columns of coefficients, shape (QI tuples, names)."""
    return np.column_stack([_column(view, name) for name in names])


def _column(view: View, name: str) -> np.ndarray:
    """Return one column, or a product of several."""
    if (column := _factor(view, name)) is not None:
        return column
    for at in (i for i, letter in enumerate(name) if letter == ":"):
        if (column := _factor(view, name[:at])) is not None:
            return column * _column(view, name[at + 1 :])
    for attribute in view.qi:
        written = name.removeprefix(f"{attribute}=")
        if written != name:
            known = level_of(view.quasi_identifiers, view.qi.index(attribute))[1]
            raise unknown_name(f"value of {attribute!r}", written, list(map(str, known)))
    unknown = name if "(" in name else name.partition("=")[0]
    raise unknown_name(f"quasi-identifier of the {view.noun}", unknown, [INTERCEPT, *view.qi])


def _factor(view: View, name: str) -> np.ndarray | None:
    """Return a column that is not a product; None if no column has the name."""
    if name == INTERCEPT:
        return np.ones(len(view.n_q))
    if name in view.qi:
        return numbers_of_tuples(view, name)
    for attribute in sorted(view.qi, key=len, reverse=True):
        written = name.removeprefix(f"{attribute}=")
        if written != name and (indicator := _indicator(view, attribute, written)).any():
            return indicator
    dummies = {}  # names of pandas.get_dummies
    for attribute in view.qi:
        written = name.removeprefix(f"{attribute}_")
        if written != name and (indicator := _indicator(view, attribute, written)).any():
            dummies[attribute] = indicator
    if len(dummies) > 1:
        example = f"{next(iter(dummies))}=..."
        raise StatementError(f"{name!r} is ambiguous among {join_names(dummies)}; write {example!r}")
    return next(iter(dummies.values()), None)


def _indicator(view: View, attribute: str, written: str) -> np.ndarray:
    """Return 1 for QI tuples with a value, given as text, and 0 for others."""
    codes, values = level_of(view.quasi_identifiers, view.qi.index(attribute))
    has_value = np.array([str(value) == written for value in values])
    if not has_value.any():
        has_value = np.asarray(values == constant(written))
    return has_value[codes].astype(float)
