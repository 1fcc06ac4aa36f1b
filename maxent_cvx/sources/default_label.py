"""The label of a source that gives itself none: its class, and with what it was made, ``AtMost(0.4)``."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import reprlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["default_label", "noting", "settable"]

#: Where an instance keeps the arguments it was made with, as text: what they were then, and no data kept alive.
NOTE = "_made_with"
#: Characters of one argument; a longer one is abbreviated.
LONGEST = 40


class _Short(reprlib.Repr):
    """Write an argument: of data its kind and size only, so that no record gets into a label."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = LONGEST
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxlevel = 4

    def repr1(self, x: Any, level: int) -> str:
        """Write one value, at any depth."""
        kind = type(x).__name__
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and shape:
            return f"{kind} of {' x '.join(map(str, shape))}"
        if shape == () and hasattr(x, "item"):  # a number of NumPy
            return self.repr1(x.item(), level)
        if inspect.isroutine(x) or inspect.isclass(x):
            return getattr(x, "__name__", kind).strip("<>")
        if isinstance(x, functools.partial):
            return f"partial {self.repr1(x.func, level)}"
        return super().repr1(x, level)

    def repr_instance(self, x: Any, level: int) -> str:
        """Write any other object; one that tells its address only would be called otherwise in every run."""
        text = " ".join(repr(x).split())
        if " at 0x" in text:
            return type(x).__name__
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


_SHORT = _Short()


def _written(value: object) -> str:
    """Write an argument; of what cannot be written, its kind."""
    try:
        return _SHORT.repr(value)
    except Exception:  # whatever a stranger's __repr__ raises, and integers of thousands of digits
        return type(value).__name__


def _call(positional: tuple[Any, ...], named: dict[str, Any]) -> str:
    """The arguments of a call, as they are written between its parentheses."""
    return ", ".join([*map(_written, positional), *(f"{name}={_written(value)}" for name, value in named.items())])


def noting(init: Callable[..., None]) -> Callable[..., None]:
    """Make a constructor note its arguments first: the outermost does, of a class and those it is made of."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        if NOTE not in vars(self):
            try:
                bound = signature.bind(self, *args, **kwargs)  # f(0.4) and f(limit=0.4) say the same
            except TypeError:
                pass  # the constructor itself will say so
            else:
                vars(self)[NOTE] = _call(bound.args[1:], bound.kwargs)
        init(self, *args, **kwargs)

    return noted


def default_label(source: Any) -> str:
    """The class with the arguments of its constructor; of a dataclass with its fields; or else the class alone."""
    made_with = _fields(source) if _is_generated(type(source)) else vars(source).get(NOTE)
    return type(source).__name__ + (f"({made_with})" if made_with else "")


def _is_generated(kind: type) -> bool:
    """Whether a class has the constructor of a dataclass: made after the class, and not called by copies."""
    owner = next(base for base in kind.__mro__ if "__init__" in vars(base))
    return "__dataclass_fields__" in vars(owner) and owner.__dataclass_params__.init  # type: ignore[attr-defined]


def _fields(source: Any) -> str:
    """The fields of a dataclass, as its own repr has them."""
    fields = [field for field in dataclasses.fields(source) if field.init and field.repr and field.name != "label"]
    positional = tuple(getattr(source, field.name) for field in fields if not field.kw_only)
    return _call(positional, {field.name: getattr(source, field.name) for field in fields if field.kw_only})


if TYPE_CHECKING:
    settable = property
else:

    class settable(property):  # noqa: N801 - used as property is
        """A property that an instance may override: ``self.label = ...`` in a constructor."""

        def __get__(self, instance, owner=None):
            own = None if instance is None else vars(instance).get(self.fget.__name__)
            return super().__get__(instance, owner) if own is None else own

        def __set__(self, instance, value):
            if value is not self:  # a dataclass takes what it inherits for the default of its field
                vars(instance)[self.fget.__name__] = value
