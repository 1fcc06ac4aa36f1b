"""Numbers that labels are, or stand for."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ..errors import TableError, arguments, listing, shown

__all__ = ["as_list", "as_numbers", "numbers_of", "one_or_several"]


def as_numbers(values: Iterable[object], what: str) -> np.ndarray:
    """Read finite real numbers: integers as int64, uint64, or, where none of these holds them, Python's; else floats.

    Raises
    ------
    TableError
        If something is no finite number.
    """
    if isinstance(values, str | bytes | Mapping | set | frozenset | pd.DataFrame) or not arguments.is_several(values):
        raise TableError(f"{what} must be a list of numbers, not a {type(values).__name__}")
    listed = values if isinstance(values, np.ndarray | pd.Series | pd.Index) else pd.Series(list(values))
    if np.ndim(listed) != 1 or isinstance(listed, pd.MultiIndex):
        raise TableError(f"{what} must be a list of numbers, not of shape {np.shape(listed)}")
    if isinstance(listed.dtype, pd.CategoricalDtype):
        listed = pd.Index(np.asarray(listed))
    if pd.isna(listed).any():
        raise TableError(f"{what} hold a missing value; a number each is expected")
    if listed.dtype == object:
        return _as_they_are(list(listed), what)
    is_number = pd.api.types.is_numeric_dtype(listed) and not pd.api.types.is_bool_dtype(listed)
    if not is_number or pd.api.types.is_complex_dtype(listed):
        raise TableError(f"{what} must be real numbers, not of type {listed.dtype}")
    if pd.api.types.is_integer_dtype(listed):
        return np.asarray(listed, dtype=np.uint64 if pd.api.types.is_unsigned_integer_dtype(listed) else np.int64)
    return _finite(np.asarray(listed, dtype=float), what)


def as_list(given: Any) -> list[Any]:
    """Read a number, or any container of numbers, as a list; what they are is not checked."""
    return [given] if isinstance(given, str | bytes | Mapping) or not arguments.is_several(given) else list(given)


def _as_they_are(listed: list[object], what: str) -> np.ndarray:
    """Numbers of different types."""
    strangers = [one for one in listed if isinstance(one, bool) or not isinstance(one, numbers.Real | Decimal)]
    if strangers:
        raise TableError(f"{what} must be real numbers, and {listing(strangers)} is none")
    if all(isinstance(one, numbers.Integral) for one in listed):
        return np.array([int(one) for one in listed], dtype=object)  # type: ignore[call-overload]
    try:
        return _finite(np.array([float(one) for one in listed]), what)  # type: ignore[arg-type]
    except OverflowError as error:
        raise TableError(f"{what} hold a number that is too large: {error}") from error


def _finite(found: np.ndarray, what: str) -> np.ndarray:
    """Check that all are finite."""
    if not np.isfinite(found).all():
        raise TableError(f"{what} must be finite numbers, and {found[~np.isfinite(found)][0]} is none")
    return found


def numbers_of(labels: pd.Index, values: object = None) -> np.ndarray:
    """The number of every sensitive value: itself, or what `values` says that it stands for.

    Parameters
    ----------
    labels : Index
        Of one attribute.
    values : dict or Series, optional
        From value to number; others may be in it.

    Raises
    ------
    TableError
        If a value has no number.
    """
    what = f"the values of {labels.name!r}"
    if values is None:
        try:
            return as_numbers(labels, what)
        except TableError as error:
            raise TableError(f"{error}; say what each stands for, values={{value: number}}") from error
    if not isinstance(values, Mapping | pd.Series):
        raise TableError(f"values must be a dictionary or Series, from value to number, not {shown(values)}")
    if isinstance(values, pd.Series) and values.index.has_duplicates:
        twice = values.index[values.index.duplicated()]
        raise TableError(f"values have more than one number for {listing(twice)}; one each is expected")
    table = values.to_dict() if isinstance(values, pd.Series) else values
    if missing := [label for label in labels if label not in table]:
        raise TableError(f"values have no number for {listing(missing)}; every value of {labels.name!r} needs one")
    return as_numbers([table[label] for label in labels], f"the numbers that {what} stand for")


one_or_several = as_list  # the earlier name
