"""A measure: any function that is called as ``measure(post)`` and gives a number, or several by name.

Whatever takes a measure reads it here: one, or several, in a dictionary by name or in a list. One that gives a
dictionary or a Series gives a number for each label, ``name[label]``. What a function needs besides the posterior is
bound beforehand, ``functools.partial(measure, original=table)``.
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

#: One function of the posterior, or several, by name or to be called by their own names.
Measure = Callable[..., Any] | Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]]


@dataclass(frozen=True)
class Measures:
    """What is measured of each posterior."""

    functions: Mapping[str, Callable[..., Any]]  # by name
    is_one: bool = False

    @classmethod
    def of(
        cls,
        measure: object,
        reserved: Iterable[str] = (),
    ) -> Measures:
        """Read what a user wants measured."""
        if isinstance(measure, Mapping):
            named = {check_str(name, "the name of a measure"): of for name, of in measure.items()}
        else:
            is_list = is_several(measure) and not callable(measure) and not isinstance(measure, str | bytes)
            named = _by_own_names(list(measure) if is_list else [measure])  # type: ignore[call-overload]
        for name, of in named.items():
            if not callable(of):
                raise StatementError(
                    f"measure={short_repr(of)}: a function of the posterior is expected, or a dictionary or list of some"
                )
            if name in set(reserved):
                raise StatementError(
                    f"a measure cannot be called {name!r}: the table has that column; give it another name, "
                    "measure={name: function}"
                )
            if not can_be_called(of, None):
                raise StatementError(_what_it_needs(name, of))
        return cls(named, callable(measure) and not isinstance(measure, Mapping))

    def __call__(self, post: Any, where: str) -> dict[str, float]:
        """Measure a posterior."""
        numbers: dict[str, float] = {}
        for name, of in self.functions.items():
            try:
                result = of(post)
            except Exception as error:
                error.add_note(f"raised by the measure {name!r}, {where}")
                raise
            for key, number in _numbers(name, result, where):
                if key in numbers:
                    raise StatementError(f"two numbers that are measured are called {key!r}, {where}; name them apart")
                numbers[key] = number
        return numbers

    def heading(self, key: str, of: str) -> str:
        """Name a column that holds something `of` what is measured: "without", "without[label]", "without key"."""
        return of + key.removeprefix(next(iter(self.functions))) if self.is_one else f"{of} {key}"


def can_be_called(of: Callable[..., Any], *given: object) -> bool:
    """Whether a function takes these arguments; one that does not tell its parameters may."""
    try:
        signature = inspect.signature(of)
    except (OverflowError, TypeError, ValueError):  # built in
        return True
    try:
        signature.bind(*given)
    except TypeError:
        return False
    return True


def own_name(of: Any) -> str:
    """The name of a function, of a partial one that of the function inside, of an object that of its class."""
    while isinstance(of, functools.partial):
        of = of.func
    name = getattr(of, "__name__", None)
    name = name if isinstance(name, str) and name else type(of).__name__
    return "measure" if name == "<lambda>" else name


def _by_own_names(functions: Iterable[Any]) -> dict[str, Any]:
    """Call each by its own name, the second of a name "name (2)"."""
    named: dict[str, Any] = {}
    for of in functions:
        name, number = own_name(of), 1
        while (called := f"{name} ({number})" if number > 1 else name) in named:
            number += 1
        named[called] = of
    return named


def _what_it_needs(name: str, of: Callable[..., Any]) -> str:
    """What is to be done with a function that cannot be called with a posterior alone."""
    every = inspect.signature(of).parameters.values()
    needed = [p.name for p in every if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)][1:]
    if not needed:
        return f"the measure {name!r} cannot be called as {name}(post); a function of the posterior is expected"
    bound = ", ".join(f"{parameter}=..." for parameter in needed)
    return (
        f"the measure {name!r} is called as {name}(post), and needs {join_names(needed)}, too; "
        f"bind that, functools.partial({name}, {bound})"
    )


def _numbers(name: str, result: object, where: str) -> Iterator[tuple[str, float]]:
    """Read what a measure gave."""
    subject = f"the measure {name!r}, {where},"
    if isinstance(result, Mapping | pd.Series):
        if not len(result):
            raise StatementError(f"{subject} gives an empty {type(result).__name__}, and no number")
        for label, number in result.items():
            text = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
            yield f"{name}[{text}]", _number(number, f"{subject} for {text},")
        return
    try:
        yield name, _number(result, subject)
    except StatementError as error:
        of_it = f"[{result.columns[-1]!r}]" if isinstance(result, pd.DataFrame) and result.size else ""
        raise StatementError(
            f"{error}, or several in a dictionary or a Series; take what is wanted of it, as in "
            f"lambda post: {name}(post){of_it}..."
        ) from None


def _number(result: object, what: str) -> float:
    """Read a number; of anything but a number or a text a message shows the type only, since it may hold data."""
    plain = result.item() if isinstance(result, np.ndarray) and result.ndim == 0 else result
    if plain is None or isinstance(plain, Number | str):
        return check_measure(plain, what)
    raise StatementError(f"{what} gives a {type(result).__name__}: a number is expected")
