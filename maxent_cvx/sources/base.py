"""Source: the protocol of an information source, which builds labelled rows over the terms.

A source is one small class with one method::

    class AtMostHalf(Source):
        "P(s | q) <= limit for every q and s: what an l-diverse publisher promises."

        def __init__(self, limit):
            self.limit = limit

        def rows(self, space):
            yield space.conditional("s", given="q") <= self.limit

A function of the space does as well: ``model.add(lambda space: space.conditional("s", "q") <= 0.5)``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.errors import StatementError, short_repr
from .._utils.formatting import ReprMixin
from ..terms.rows import Rows

if TYPE_CHECKING:
    import cvxpy as cp

    from ..terms.space import Space

__all__ = [
    "Custom",
    "Source",
    "as_list",
    "as_source",
    "names_its_rows",
]

# The label of a source that gives itself none: its class, and with what it was made, ``AtMost(0.4)``.


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


class Source(ReprMixin, ABC):
    """What an adversary may know: a builder of rows.

    Subclasses state their equation in the first line of their docstring, take their data in the
    constructor, and emit it in :meth:`rows`. A dataclass will do, and so will a class without a constructor.

    A model holds a source under its `label`, and calls its rows by it. Without a label of its own, that is the class
    with the arguments it was made with, so that two of them are distinguishable; data are abbreviated. Another one is a
    class attribute, a property, or set in the constructor.

    Examples
    --------
    Knowledge of your own: what an l-diverse publisher promises.

    >>> import maxent_cvx as mx
    >>> class AtMost(mx.Source):
    ...     def __init__(self, limit):
    ...         self.limit = limit
    ...     def rows(self, space):
    ...         yield space.conditional("s", given="q") <= self.limit
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> before, after = model.solve(), model.add(AtMost(0.4)).solve()
    >>> [round(float(post.conditional().max(axis=None)), 3) for post in (before, after)]
    [0.417, 0.4]
    >>> print(after.prices().round(3).head(1))
                                       side  price
    statement
    AtMost(0.4): Flu, female, college    <=   0.02
    >>> list(model.add(AtMost(0.405)).knowledge)
    ['AtMost(0.4)', 'AtMost(0.405)']
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        init = cls.__dict__.get("__init__")
        if inspect.isfunction(init) and labelled_by_default(cls):
            cls.__init__ = noting(init)  # type: ignore[method-assign]

    @settable
    def label(self) -> str:
        """The name under which a model holds the source, unless the user gives one."""
        return default_label(self)

    @abstractmethod
    def rows(self, space: Space) -> Iterable[Rows | cp.Constraint]:
        """Emit labelled rows over the terms of `space`, or CVXPY constraints.

        Parameters
        ----------
        space : Space
            The terms of the model that the source is added to; :meth:`Space.marginal`, :meth:`Space.conditional` and
            :meth:`Space.prob` are the linear expressions over them.

        Returns
        -------
        iterable of Rows or CVXPY constraints
            Values are probabilities, or whatever the source counts in. A generator will do.

        Raises
        ------
        MaxEntError
            Any error of ``maxent_cvx._utils``, if what the source says does not fit the view: nothing is added then.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> class AtMost(mx.Source):
        ...     def __init__(self, limit):
        ...         self.limit = limit
        ...     def rows(self, space):
        ...         yield space.conditional("s", given="q") <= self.limit
        >>> [(rows.name(0), len(rows)) for rows in AtMost(0.4).rows(mx.MaxEnt(release).space)]
        [('P(Disease | Gender, Degree): Breast Cancer, female, college', 22)]
        """

    @property
    def identity(self) -> Hashable:
        """What two sources that say the same have in common; by default a source is like no other."""
        return id(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.label}>"


def labelled_by_default(kind: type[Source]) -> bool:
    """Whether a class leaves its label to :class:`Source`."""
    return inspect.getattr_static(kind, "label") is Source.__dict__["label"]


def names_its_rows(source: Source) -> bool:
    """Whether the names of a source's rows distinguish them from other sources' rows, as those of the package do."""
    return type(source).__module__.startswith(__name__.partition(".")[0] + ".") and not labelled_by_default(
        type(source)
    )


class Custom(Source):
    """Your own knowledge: any function of the space that returns rows, CVXPY constraints, or several."""

    def __init__(self, function: Callable[[Space], Any]) -> None:
        self.function = function

    @property
    def label(self) -> str:
        """The name of the function."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "your own" if name == "<lambda>" else name

    def rows(self, space: Space) -> Iterable[Rows | cp.Constraint]:
        """Emit what the function returns."""
        return as_list(self.function(space), self.label)


def as_list(said: Any, label: str) -> Iterable[Any]:
    """Read what a source or a function emitted, one statement or an iterable of them, as an iterable."""
    if isinstance(said, Rows | Source) or hasattr(said, "is_dcp"):
        return [said]
    if isinstance(said, Iterable) and not isinstance(said, str | bytes | dict) and not getattr(said, "shape", ()):
        return said
    raise StatementError(
        f"{label!r} gives a {type(said).__name__}, {short_repr(said)}, which is no knowledge; "
        "a comparison is expected, e.g. space.prob('HIV') <= 0.2"
    )


def as_source(said: object) -> Source:
    """Read what a user adds to a model: a source, rows, a CVXPY constraint, or a function of the space."""
    if isinstance(said, Source):
        return said
    if isinstance(said, Rows) or hasattr(said, "is_dcp"):
        return Custom(lambda space: said)
    if callable(said) and not isinstance(said, type):
        return Custom(said)
    if isinstance(said, bool | np.bool_):
        hint = "a comparison came out as true or false; compare P(...) or a Block, not a plain number"
    else:
        hint = "expected a statement such as P('Flu') <= 0.3, a source, or a function of the space"
    raise StatementError(f"{short_repr(said)} is not something an adversary can know; {hint}")
