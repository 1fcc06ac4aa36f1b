"""Argument checks: each function returns the valid argument, or raises a typed error.

Public functions, methods and constructors check their arguments with these functions before any computation, so that
the error names the wrong argument. Checks that depend on data (a column of this table, a label of this model) are made
where the data are available.
"""

from __future__ import annotations

import datetime
import difflib
import math
import numbers
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np

from .errors import BadProbability, MaxEntError, StatementError, TableError, short_repr, unknown_name

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

#: Integers above this cannot be counts, since arrays cannot store them.
LARGEST = 2**63 - 1


def check_number(value: object, what: str) -> float:
    """Return a finite number, or raise BadProbability.

    >>> check_number("0.3", "the value")
    Traceback (most recent call last):
    ...
    maxent_cvx.BadProbability: the value must be a finite number, not '0.3'
    """
    if math.isnan(number := _as_float(value)):
        many = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        what_it_is = f"a {type(value).__name__}" if many else short_repr(value)
        raise BadProbability(f"{what} must be a finite number, not {what_it_is}")
    return number


def _as_float(value: object) -> float:
    """Return a finite number, or NaN for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def check_int(
    value: object, what: str, least: int, most: float = LARGEST, error: type[MaxEntError] | None = None
) -> int:
    """Return an integer from a range, or raise an error."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:  # type: ignore[operator]
        interval = f"from {least} to {most:.0f}" if most < LARGEST else f"of at least {least}"
        raise (error or StatementError)(f"{what} must be an integer {interval}, got {short_repr(value)}")
    return int(value)  # type: ignore[call-overload]


def check_seed(value: object, error: type[MaxEntError] | None = None) -> int:
    """Return the seed of a random generator, an integer of any size, such as secrets.randbits(128)."""
    return check_int(value, "seed", 0, math.inf, error)


def check_float(
    value: object, what: str, least: float = -math.inf, most: float = math.inf, error: type[MaxEntError] | None = None
) -> float:
    """Return a finite number from a range, both ends included."""
    number = _as_float(value)
    if not least <= number <= most:  # also true for NaN
        interval = f"from {least:g} to {most:g}" if most < math.inf and least > -math.inf else f"of at least {least:g}"
        raise (error or BadProbability)(f"{what} must be a number {interval}, got {short_repr(value)}")
    return number


def check_positive(value: object, what: str) -> float:
    """Return a finite number above 0."""
    if (number := check_number(value, what)) <= 0:
        raise BadProbability(f"{what} must be a number above 0, got {short_repr(value)}")
    return number


def check_bool(value: object, what: str) -> bool:
    """Return True or False; any other value, such as the text "no", would silently be converted to one of them."""
    if not isinstance(value, bool | np.bool_):
        raise StatementError(f"{what} must be True or False, got {short_repr(value)}")
    return bool(value)


def check_optional_bool(value: object, what: str) -> bool | None:
    """Return True, False or None."""
    if value is None:
        return None
    if not isinstance(value, bool | np.bool_):
        raise StatementError(f"{what} must be True, False or None, got {short_repr(value)}")
    return bool(value)


def check_in(value: object, what: str, among: Collection[str]) -> str:
    """Return one of several permitted words."""
    if not isinstance(value, str) or value not in among:
        words = " or ".join(map(repr, among)) if len(among) == 2 else f"one of {', '.join(among)}"
        near = difflib.get_close_matches(value, among, n=1) if isinstance(value, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise StatementError(f"{what} must be {words}, got {short_repr(value)}{hint}")
    return value


def is_text(value: object) -> bool:
    """Return whether a value is a text that can be encoded; one with a lone surrogate cannot."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def is_several(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value is iterable; texts are, zero-dimensional NumPy arrays are not despite their interface."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def check_str(value: object, what: str) -> str:
    """Return a text of at least one character."""
    if not is_text(value) or not value:
        raise StatementError(f"{what} must be a nonempty str, got {short_repr(value)}")
    return str(value)


def check_path(value: object, what: str = "path") -> Path:
    """Return the path of a file, which need not exist."""
    name = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise TableError(f"{what} must be the name of a file, got {short_repr(value)}")
    return Path(name)


def read_file_text(value: object, what: str, error: type[MaxEntError] = TableError) -> str:
    """Return the content of a UTF-8 text file."""
    name = check_path(value, what)
    try:
        return name.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as broken:
        raise error(f"{name} is not UTF-8 text ({broken.reason} at byte {broken.start}); save it as UTF-8") from None
    except UnicodeEncodeError:
        raise error(f"{what} must be a valid file name, got {str(name)!r}") from None
    except FileNotFoundError:
        raise error(f"there is no file {str(name)!r}") from None
    except OSError as broken:
        raise error(f"{str(name)!r} cannot be read: {broken.strerror or broken}") from None


def check_callable(value: object, what: str) -> Callable[..., Any]:
    """Return a callable; a class, such as ``int``, is callable but probably a mistake, and refused."""
    if not callable(value) or isinstance(value, type):
        raise StatementError(f"{what} must be a function, got {short_repr(value)}")
    return value


def check_instance(
    value: object,
    kind: type[T] | tuple[type[T], ...],
    what: str,
    remedy: str = "",
    error: type[MaxEntError] = StatementError,
) -> T:
    """Return the value after checking its class."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}" for cls in kinds)
        raise error(f"{what} must be {names}, not {short_repr(value)}{f'; {remedy}' * bool(remedy)}")
    return value


def check_dataframe(value: object, what: str) -> pd.DataFrame:
    """Return the value after checking that it is a DataFrame."""
    import pandas as pd  # late: the command line imports this module even if it reads no table

    return check_instance(value, pd.DataFrame, what, error=TableError)


def check_mapping(value: object, what: str, expected: str) -> Mapping[Any, Any]:
    """Return the value after checking that it is a dictionary."""
    if not isinstance(value, Mapping):
        raise StatementError(f"{what} must be a dictionary {expected}, not {short_repr(value)}")
    return value


def check_list(value: object, what: str, expected: str) -> list[Any]:
    """Return the elements of a list-like argument; texts, tables and dictionaries are refused."""
    import pandas as pd  # late, as above

    if isinstance(value, str | bytes | Mapping | pd.DataFrame | type) or not is_several(value):
        raise StatementError(f"{what} must be a list of {expected}, not {short_repr(value)}")
    return list(value)


def check_array(
    value: object, what: str, size: int | None = None, error: type[MaxEntError] = StatementError
) -> np.ndarray:
    """Return a one-dimensional array of finite numbers, of the given length if there is one."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise error(f"{what} must be a list of numbers, not {short_repr(value)}") from None
    if array.ndim != 1 or (size is not None and len(array) != size):
        expected = "a list of numbers" if size is None else f"a list of {size} numbers"
        raise error(f"{what} must be {expected}, not of shape {array.shape}")
    return check_finite(array, what, error)


def check_finite(array: np.ndarray, what: str, error: type[MaxEntError]) -> np.ndarray:
    """Return the array after checking that all numbers are finite."""
    if not (finite := np.isfinite(array)).all():
        raise error(f"{what} must be finite numbers, got {array[~finite][0]}")
    return array


def check_positions(value: object, what: str, size: int, number: int | None = None) -> np.ndarray:
    """Return positions below `size`, given as integers or as a mask of that length."""
    array = np.asarray(value) if isinstance(value, range | np.ndarray) else np.empty(0)  # floats: refused below
    is_mask = array.dtype == bool and array.shape == (size,)
    if array.ndim != 1 or not (is_mask or array.dtype.kind in "iu"):
        raise StatementError(f"{what} must be positions or a mask of length {size}, not {short_repr(value)}")
    at = np.flatnonzero(array) if is_mask else array.astype(np.int64)
    if ((at < -size) | (at >= size)).any() or (number is not None and len(at) != number):
        raise StatementError(f"{what} must be positions below {size}{f', {number} of them' * (number is not None)}")
    return at % max(size, 1)


def check_known(given: Iterable[object], what: str, known: Collection[Any]) -> None:
    """Raise UnknownName for the first of several names or labels that is not known."""
    for value in given:
        check_label(value, what, known)


def check_label(value: object, what: str, known: Collection[Any]) -> Any:
    """Return the known label that a value denotes."""
    import pandas as pd  # not above: --help of the command line does not load it

    label = label_of(value, known) if isinstance(known, pd.Index) else value
    if not isinstance(label, Hashable) or not is_in(label, known):
        raise unknown_name(what, value, known)
    return label


def label_of(value: object, known: pd.Index) -> Any:
    """Return the date, period or duration that a text denotes among known labels, or None; others are unchanged.

    pandas reads "2020" as the whole year; here a text selects an equal text, or the date that it names. Among numbers of
    32 bits, 0.1 is the nearest of these, as for == and `in`, but not for isin in pandas. Among Decimals it is
    Decimal("0.1").
    """
    import pandas as pd

    from .formatting import DATE_PATTERN

    if isinstance(known, pd.CategoricalIndex):
        known = known.categories
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and known.dtype.kind == "f" and getattr(known.dtype, "itemsize", 8) == 4:
        with np.errstate(over="ignore"), suppress(OverflowError):  # no value is as large as 10**400
            return np.float32(float(value))  # type: ignore[arg-type]
    if isinstance(value, float | np.floating) and value not in known and (number := Decimal(str(value))) in known:
        return number
    if isinstance(known.dtype, pd.ArrowDtype) and isinstance(value, str):
        known = known.astype(object).infer_objects()
    is_period = isinstance(known, pd.PeriodIndex) and not isinstance(value, pd.Period)  # which contains times, too
    if not isinstance(value, str) and not is_period:
        return value
    with suppress(ValueError):
        if isinstance(value, str) and isinstance(known, pd.TimedeltaIndex):
            return pd.Timedelta(value)
        if isinstance(value, str) and re.fullmatch(DATE_PATTERN, value):
            if isinstance(known, pd.DatetimeIndex):
                return pd.Timestamp(value, tz=known.tz)
            if known.dtype == object and pd.api.types.infer_dtype(known) == "date":
                return datetime.date.fromisoformat(value)
    if isinstance(known, pd.DatetimeIndex | pd.PeriodIndex | pd.TimedeltaIndex):
        return next((label for label in known if str(label) == value), None)
    return value


def is_in(value: Hashable, known: Collection[Any]) -> bool:
    """Return whether a collection contains a value, which may be unhashable."""
    try:
        return value in known
    except TypeError:  # a tuple of lists
        return False


def check_seconds(value: object, what: str) -> float:
    """Return a number of seconds; infinity means no limit."""
    if isinstance(value, float | np.floating) and value == math.inf:
        return math.inf
    return check_float(value, what, 0.0)


def check_measure(value: object, what: str) -> float:
    """Return the result of a user's function: a number, which may be infinite or NaN."""
    # NumPy's real numbers are instances of Real; its booleans and complex numbers are not.
    if isinstance(value, bool) or not isinstance(value, Real):
        raise StatementError(f"{what} must return a number, not {short_repr(value)}")
    return float(value)
