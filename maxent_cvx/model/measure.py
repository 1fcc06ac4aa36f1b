"""Measures: functions that are called as ``measure(post)`` and return a number, or several by name.

Functions with a parameter ``measure`` accept one measure, a list, or a dictionary by name. A measure that returns a
dictionary or a Series has one number per label, ``name[label]``. Further arguments of a measure are bound in advance,
``functools.partial(measure, original=table)``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, join_names, short_repr
from .._utils.validation import check_measure, check_str, is_several

#: A function of the posterior, or several: a dictionary by name, or a list, named by the functions' names.
Measure = Callable[..., Any] | Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]]


@dataclass(frozen=True)
class Measures:
    """The measures to compute for each posterior."""

    functions: Mapping[str, Callable[..., Any]]  # by name
    is_one: bool = False

    @classmethod
    def of(cls, measure: object, reserved: Iterable[str] = ()) -> Measures:
        """Validate the argument `measure` of a user."""
        if isinstance(measure, Mapping):
            named = {check_str(name, "the name of a measure"): of for name, of in measure.items()}
        else:
            is_list = is_several(measure) and not callable(measure) and not isinstance(measure, str | bytes)
            named = _by_own_names(list(measure) if is_list else [measure])  # type: ignore[call-overload]
        for name, of in named.items():
            if not callable(of):
                raise StatementError(
                    f"measure must be a function of the posterior, or a dict or list of functions; got {short_repr(of)}"
                )
            if name in set(reserved):
                raise StatementError(
                    f"a measure cannot be named {name!r}, because the table has a column of that name; choose another "
                    "name, measure={name: function}"
                )
            if not can_be_called(of, None):
                raise StatementError(_what_it_needs(name, of))
        return cls(named, callable(measure) and not isinstance(measure, Mapping))

    def __call__(self, post: Any, where: str) -> dict[str, float]:
        """Compute the measures of a posterior, by name."""
        numbers: dict[str, float] = {}
        for name, of in self.functions.items():
            try:
                result = of(post)
            except Exception as error:
                error.add_note(f"raised by the measure {name!r}, {where}")
                raise
            for key, number in _numbers(name, result, where):
                if key in numbers:
                    raise StatementError(f"two measured numbers are named {key!r}, {where}; names must be unique")
                numbers[key] = number
        return numbers

    def heading(self, key: str, of: str) -> str:
        """Return the name of the column for a derived number: "without", "without[label]", "without key"."""
        return of + key.removeprefix(next(iter(self.functions))) if self.is_one else f"{of} {key}"


def can_be_called(of: Callable[..., Any], *given: object) -> bool:
    """Return whether a function accepts these arguments; True if its signature is not available."""
    try:
        signature = inspect.signature(of)
    except (OverflowError, TypeError, ValueError):  # builtins
        return True
    try:
        signature.bind(*given)
    except TypeError:
        return False
    return True


def own_name(of: Any) -> str:
    """Return the name of a function, of the function inside a partial, or of the class of an object."""
    while isinstance(of, functools.partial):
        of = of.func
    name = getattr(of, "__name__", None)
    name = name if isinstance(name, str) and name else type(of).__name__
    return "measure" if name == "<lambda>" else name


def _by_own_names(functions: Iterable[Any]) -> dict[str, Any]:
    """Return functions by their own names; a second function of the same name is "name (2)"."""
    named: dict[str, Any] = {}
    for of in functions:
        name, number = own_name(of), 1
        while (called := f"{name} ({number})" if number > 1 else name) in named:
            number += 1
        named[called] = of
    return named


def _what_it_needs(name: str, of: Callable[..., Any]) -> str:
    """Return the message for a function that cannot be called with a posterior alone."""
    parameters = inspect.signature(of).parameters.values()
    required = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = required[1:]  # the first is the posterior
    if not needed:
        return f"the measure {name!r} must be a function of the posterior, but cannot be called as {name}(post)"
    bound = ", ".join(f"{parameter}=..." for parameter in needed)
    return (
        f"the measure {name!r} is called as {name}(post), but also requires {join_names(needed)}; "
        f"bind them, functools.partial({name}, {bound})"
    )


def _numbers(name: str, result: object, where: str) -> Iterator[tuple[str, float]]:
    """Yield the names and numbers in the result of a measure."""
    subject = f"the measure {name!r}, {where},"
    if isinstance(result, Mapping | pd.Series):
        if not len(result):
            raise StatementError(f"{subject} must return a number, got an empty {type(result).__name__}")
        for label, number in result.items():
            text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
            yield f"{name}[{text}]", _number(number, f"{subject} for {text},")
        return
    try:
        yield name, _number(result, subject)
    except StatementError as error:
        of_it = f"[{result.columns[-1]!r}]" if isinstance(result, pd.DataFrame) and result.size else ""
        raise StatementError(
            f"{error}; return a number, or several in a dictionary or a Series, as in "
            f"lambda post: {name}(post){of_it}..."
        ) from None


def _number(result: object, what: str) -> float:
    """Validate a number; messages show only the type of other objects, because these may contain data."""
    plain = result.item() if isinstance(result, np.ndarray) and result.ndim == 0 else result
    if plain is None or isinstance(plain, Number | str):
        return check_measure(plain, what)
    raise StatementError(f"{what} must return a number, got a {type(result).__name__}")
