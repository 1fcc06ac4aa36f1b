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

import functools
import inspect
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


if TYPE_CHECKING:
    property_unless_set = property  # read-only for type checkers, so that subclasses may define plain properties
else:

    class property_unless_set(functools.cached_property):  # noqa: N801
        """A cached property that ``self.label = ...`` in a constructor overrides, and that is no default of a dataclass."""

        def __set__(self, instance: Any, value: Any) -> None:
            if value is not self:  # a dataclass with a field of this name takes the property for its default
                instance.__dict__[self.attrname] = value

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is not None and self.attrname in instance.__dict__:
                return instance.__dict__[self.attrname]
            return super().__get__(instance, owner)


class Source(ReprMixin, ABC):
    """What an adversary may know: a builder of rows.

    Subclasses state their equation in the first line of their docstring, take their data in the
    constructor, and emit it in :meth:`rows`. A dataclass will do, and so will a class without a constructor.

    A model holds a source under its `label`, and calls its rows by it. By default that is the class with the arguments
    of its constructor, as far as they are attributes of the same names (as scikit-learn expects of estimators), so that
    two of them are distinguishable. Another label is a class attribute, a property, or set in the constructor.

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

    @property_unless_set
    def label(self) -> str:
        """The name under which a model holds the source, unless the user gives one."""
        arguments, by_name, fields = [], False, getattr(type(self), "__dataclass_fields__", {})
        for parameter in inspect.signature(type(self)).parameters.values():
            name, default = parameter.name, parameter.default
            value = getattr(self, name, getattr(self, f"_{name}", default))
            is_default = value is default or (type(value) is type(default) and (value == default) is True)
            shown = (
                fields[name].repr if name in fields else not is_default
            )  # a dataclass shows defaults, as its repr does
            if name == "label" or not shown:
                by_name = True  # arguments after one that is left out are written by name
                continue
            by_name = by_name or parameter.kind is parameter.KEYWORD_ONLY
            arguments.append(f"{name}={_argument(value)}" if by_name else _argument(value))
        return type(self).__name__ + (f"({', '.join(arguments)})" if arguments else "")

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


def _argument(value: object) -> str:
    """Write an argument for a label: data by their type only, and nothing that differs from run to run."""
    if inspect.isroutine(value):
        return str(getattr(value, "__name__", type(value).__name__)).strip("<>")
    text = short_repr(value)
    return type(value).__name__ if " at 0x" in text else text.removeprefix("a ").removeprefix("the class ")


def names_its_rows(source: Source) -> bool:
    """Whether the names of a source's rows distinguish them from other sources' rows, as those of the package do."""
    is_default = inspect.getattr_static(type(source), "label") is Source.__dict__["label"]
    return type(source).__module__.startswith("maxent_cvx.") and not is_default


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


def as_list(knowledge: Any, label: str) -> Iterable[Any]:
    """Read what a source or a function emitted, one statement or an iterable of them, as an iterable."""
    if isinstance(knowledge, Rows | Source) or hasattr(knowledge, "is_dcp"):
        return [knowledge]
    if (
        isinstance(knowledge, Iterable)
        and not isinstance(knowledge, str | bytes | dict)
        and not getattr(knowledge, "shape", ())
    ):
        return knowledge
    raise StatementError(
        f"{label!r} gives a {type(knowledge).__name__}, {short_repr(knowledge)}, which is no knowledge; "
        "a comparison is expected, e.g. space.prob('HIV') <= 0.2"
    )


def as_source(knowledge: object) -> Source:
    """Read what a user adds to a model: a source, rows, a CVXPY constraint, or a function of the space."""
    if isinstance(knowledge, Source):
        return knowledge
    if isinstance(knowledge, Rows) or hasattr(knowledge, "is_dcp"):
        return Custom(lambda space: knowledge)
    if callable(knowledge) and not isinstance(knowledge, type):
        return Custom(knowledge)
    if isinstance(knowledge, bool | np.bool_):
        hint = "a comparison came out as true or false; compare P(...) or a Block, not a plain number"
    else:
        hint = "expected a statement such as P('Flu') <= 0.3, a source, or a function of the space"
    raise StatementError(f"{short_repr(knowledge)} is not something an adversary can know; {hint}")
