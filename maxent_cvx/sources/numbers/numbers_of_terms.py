"""The numbers that attributes of people are, or stand for: one a QI tuple, one a sensitive value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...errors import StatementError, listing, number, shown, unknown_name
from ...tables.numbers import numbers_of
from ...terms.axes import level_of
from ...views import OUTSIDE, View

__all__ = ["known_members", "numbers_of_tuples", "numbers_of_values", "responses", "told_numbers", "written_numbers"]

#: How many values a label lists.
LISTED = 3


def numbers_of_tuples(view: View, name: str) -> np.ndarray:
    """The number of every QI tuple, by an attribute whose values are numbers; truth values are 0 and 1.

    Raises
    ------
    StatementError
        If the values are no finite numbers.
    """
    codes, values = level_of(view.quasi_identifiers, view.qi.index(name))
    kinds = values.categories if isinstance(values, pd.CategoricalIndex) else values
    if not pd.api.types.is_numeric_dtype(kinds) or pd.api.types.is_complex_dtype(kinds):
        raise StatementError(
            f"the values of {name!r} are no numbers, {shown(values[0])} for one; of a value, a regression has an "
            f"indicator, {f'{name}={values[0]}'!r}"
        )
    found = np.asarray(values).astype(float)
    if not np.isfinite(found).all():
        raise StatementError(f"a value of {name!r} is no finite number")
    return found[codes]


def numbers_of_values(view: View, name: str, values: Mapping[object, float] | pd.Series | None = None) -> np.ndarray:
    """The number of every sensitive value, by one attribute; 0 of those of a population who are not in the release.

    Raises
    ------
    UnknownName
        If the view has no such sensitive attribute.
    TableError
        If a value has no number.
    """
    if name not in view.sensitive:
        raise unknown_name("sensitive attribute", name, view.sensitive)
    codes, level = level_of(view.sensitive_values, list(view.sensitive).index(name))
    inside = np.asarray(level != OUTSIDE)
    found = np.zeros(len(level))
    found[inside] = numbers_of(level[inside].rename(name), values).astype(float)
    return found[codes]


def responses(view: View, of: Mapping[object, float] | str) -> np.ndarray:
    """The number y of every sensitive value: of those listed, the others being 0; or the values of an attribute.

    Raises
    ------
    UnknownName, TableError
        If the view has no such attribute or value, or values are no numbers.
    StatementError
        If values of several attributes are listed, or of one that cannot be told.
    """
    if isinstance(of, str):
        return numbers_of_values(view, of)
    levels = [level_of(view.sensitive_values, i) for i in range(len(view.sensitive))]
    fitting = [i for i, (_, level) in enumerate(levels) if all(value in level for value in of)]
    if not fitting:
        known = level_of(view.sensitive_values, 0)[1] if len(levels) == 1 else view.sensitive
        strange = next((value for value in of if not any(value in level for _, level in levels)), None)
        if strange is None:
            raise StatementError(f"{listing(list(of))} are values of several sensitive attributes; name those of one")
        raise unknown_name(f"value of {' or '.join(map(repr, view.sensitive))}", strange, known)
    if len(fitting) > 1:
        raise StatementError(
            f"{listing(list(of))} are values of {' and of '.join(repr(view.sensitive[i]) for i in fitting)}; only one "
            "attribute is meant: publish it with values of its own"
        )
    codes, level = levels[fitting[0]]
    return np.array([float(of.get(value, 0.0)) for value in level])[codes]


def known_members(view: View, what: str) -> None:
    """Check that it is known who is in the release: of a population it is not.

    Raises
    ------
    StatementError
        If some may be outside.
    """
    if (np.asarray(view.sensitive_values.to_flat_index()) == OUTSIDE).any():
        raise StatementError(
            f"{what} is of those in the release, and who of the population they are is not known, so that it is not "
            "linear; make the view of the people in the release"
        )


def told_numbers(told: object, what: str) -> dict[object, float]:
    """Read the number of each sensitive value that is listed.

    Raises
    ------
    StatementError, BadProbability
        If it is no dictionary or Series of numbers.
    """
    if not isinstance(told, Mapping | pd.Series) or not len(told):
        raise StatementError(
            f"{what} must be {{sensitive value: number}}, or the name of a sensitive attribute, not {shown(told)}"
        )
    if isinstance(told, pd.Series) and told.index.has_duplicates:
        raise StatementError(f"{what} repeats a value; one number each is expected")
    return {value: number(y, f"the number of {shown(value)}") for value, y in told.items()}


def written_numbers(of: Mapping[object, float] | str) -> str:
    """Write what responses are, in a label: an attribute, or the first few values with their numbers."""
    if isinstance(of, str):
        return of
    listed = [f"{value}: {y:g}" for value, y in of.items()]
    return ", ".join(listed[:LISTED] + ["..."] * (len(listed) > LISTED))
