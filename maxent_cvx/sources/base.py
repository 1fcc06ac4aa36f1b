"""Source: the protocol of an information source, which builds labelled rows over the terms.

``model.add(statement)`` calls :func:`build_rows`, which runs the source's :meth:`Source.rows` over the model's space.
The model stores the rows under the source's label, and ``model.system.assemble_system`` stacks those of all sources.

A source is a class with one method::

    class AtMostHalf(Source):
        "P(s | q) <= limit for every q and s: the promise of an l-diverse publisher."

        def __init__(self, limit):
            self.limit = limit

        def rows(self, space):
            yield space.conditional("s", given="q") <= self.limit

A function of the space also works: ``model.add(lambda space: space.conditional("s", "q") <= 0.5)``.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._utils.errors import StatementError, short_repr
from .._utils.formatting import ReprMixin
from ..terms.rows import Rows
from .cvxpy_constraints import Piece, cost_of, read_again, read_constraint, stated, values_of

if TYPE_CHECKING:
    import cvxpy as cp
    import pandas as pd

    from ..releases.base import View
    from ..terms.space import Space


if TYPE_CHECKING:
    property_unless_set = property  # read-only for type checkers, so that subclasses may define plain properties
else:

    class property_unless_set(functools.cached_property):  # noqa: N801
        """A cached property that a constructor can set, and that is not the default of a field of a dataclass."""

        def __set__(self, instance: Any, value: Any) -> None:
            if value is not self:  # a dataclass with a field of this name sets the property itself, its default
                instance.__dict__[self.attrname] = value

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is not None and self.attrname in instance.__dict__:
                return instance.__dict__[self.attrname]
            return super().__get__(instance, owner)


class Source(ReprMixin, ABC):
    """Base class of knowledge that an adversary may have, as rows of the linear system.

    Subclasses state their equation in the first line of their docstring, take their data in the constructor, and return
    rows from :meth:`rows`. They can be dataclasses, which do not require an explicit constructor.

    A model stores a source under its `label`, which also names its rows. The default label is the class name with those
    arguments of the constructor that are attributes of the same name (as in scikit-learn's estimators), so that two
    sources are distinguishable. To change it, define a class attribute or a property, or set it in the constructor.

    Examples
    --------
    A user-defined source: the promise of an l-diverse publisher.

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
        """The default name of the source in a model."""
        arguments, by_name, fields = [], False, getattr(type(self), "__dataclass_fields__", {})
        for parameter in inspect.signature(type(self)).parameters.values():
            name, default = parameter.name, parameter.default
            value = getattr(self, name, getattr(self, f"_{name}", default))
            is_default = value is default or (type(value) is type(default) and (value == default) is True)
            is_shown = fields[name].repr if name in fields else not is_default  # a dataclass's repr includes defaults
            if name == "label" or not is_shown:
                by_name = True  # arguments after an omitted one are written as keywords
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
            The terms of the model to which the source is added; :meth:`Space.marginal`, :meth:`Space.conditional` and
            :meth:`Space.prob` return linear expressions over them.

        Returns
        -------
        iterable of Rows or CVXPY constraints
            Values are probabilities, or in the unit of the source. A generator is allowed.

        Raises
        ------
        MaxEntError
            If the source does not fit the view; nothing is added in this case.

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

    #: Whether the rows are published numbers of records, which CVXPY constraints contain as integers.
    _counts_records: ClassVar[bool] = False

    def constraints(self, space: Space) -> list[cp.Constraint]:
        """Return the CVXPY constraints of this source alone, over ``space.counts``, each labelled by the source.

        Soft rows are not constraints: their cost is a part of a model's objective.

        Parameters
        ----------
        space : Space
            The terms of a model, ``model.space``.

        Returns
        -------
        list of cvxpy.Constraint
            New objects in each call. Published rows are in records, all others in the unit of their values.

        Raises
        ------
        MaxEntError
            As in :meth:`rows`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> for constraint in mx.P("Flu", given={"Gender": "male"}).between(0.2, 0.4).constraints(space):
        ...     print(constraint)
        0.2 <= P(Flu | Gender=male) <= 0.4: 0.2 <= A @ counts
        0.2 <= P(Flu | Gender=male) <= 0.4: A @ counts <= 0.4
        """
        return [piece.constraint for piece in build_rows(self, space).stated(space, self.label)]

    @property
    def identity(self) -> Hashable:
        """A key that is equal for two sources with the same content; by default, every source is different."""
        return id(self)

    #: Whether :meth:`_without` is known; it is not for published numbers whose rule of computation is unknown.
    _can_be_recomputed: ClassVar[bool] = True

    def _without(self, at: int, original: pd.DataFrame, view: View) -> Source:
        """Return the source as it would be published without the record at a position; typed knowledge is the same."""
        return self

    @property
    def _parameters(self) -> Sequence[Any]:
        """The CVXPY parameters on which the rows depend."""
        return ()

    def _side(self, space: Space) -> Any:
        """Return the CVXPY expression of the only finite side of the rows, if parameters are in this side alone."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.label}>"


def _argument(value: object) -> str:
    """Format an argument for a label: data by type only, and nothing that differs between runs."""
    if inspect.isroutine(value):
        return str(getattr(value, "__name__", type(value).__name__)).strip("<>")
    text = short_repr(value)
    return type(value).__name__ if " at 0x" in text else text.removeprefix("a ").removeprefix("the class ")


def names_its_rows(source: Source) -> bool:
    """Return whether row names are unique among sources, as for the package's classes that define a label."""
    is_default = inspect.getattr_static(type(source), "label") is Source.__dict__["label"]
    return type(source).__module__.startswith("maxent_cvx.") and not is_default


class Custom(Source):
    """User-defined knowledge: rows or CVXPY constraints, one or several, or any function of the space that returns them."""

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def label(self) -> str:
        """The name of the function."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return name if callable(self.function) and name != "<lambda>" else "your own"

    def rows(self, space: Space) -> Iterable[Rows | cp.Constraint]:
        """Return the results of the function."""
        return as_list(self.function(space) if callable(self.function) else self.function, self.label)


def as_list(knowledge: Any, label: str) -> Iterable[Any]:
    """Convert the result of a source or a function, one statement or an iterable of statements, to an iterable."""
    if isinstance(knowledge, Rows | Source) or hasattr(knowledge, "is_dcp"):
        return [knowledge]
    is_iterable = isinstance(knowledge, Iterable) and not isinstance(knowledge, str | bytes | dict)
    if is_iterable and not getattr(knowledge, "shape", ()):
        return knowledge
    raise StatementError(
        f"{label!r} must return a comparison, such as space.prob('HIV') <= 0.2, not a {type(knowledge).__name__}, "
        f"{short_repr(knowledge)}"
    )


def as_source(knowledge: object) -> Source:
    """Convert knowledge to a source; it may be a source, rows, a CVXPY constraint, or a function of the space."""
    if isinstance(knowledge, Source):
        return knowledge
    is_given = isinstance(knowledge, Rows) or hasattr(knowledge, "is_dcp")
    if is_given or (callable(knowledge) and not isinstance(knowledge, type)):
        return Custom(knowledge)
    if isinstance(knowledge, bool | np.bool_):
        hint = "a comparison returned a bool; compare P(...) or a Block, not a plain number"
    else:
        hint = "expected a statement such as P('Flu') <= 0.3, a source, or a function of the space"
    raise StatementError(f"cannot interpret {short_repr(knowledge)} as knowledge; {hint}")


# Results of a source over a space: a group of rows and constraints, which a model stores under its label.


@dataclass(frozen=True, eq=False)
class ConstraintGroup:
    """One source of a model, with its rows and constraints."""

    source: Source
    rows: tuple[Rows, ...]
    convex: tuple[Any, ...] = ()  # convex CVXPY constraints that are not affine
    # By the number of a block of rows, the CVXPY constraint or the statement with CVXPY parameters that it was read from.
    origins: Mapping[int, Any] = field(default_factory=dict)
    values: tuple[np.ndarray, ...] | None = None  # of the parameters of `origins`; None if nothing follows parameters

    @property
    def n_rows(self) -> int:
        """The number of linear rows."""
        return sum(map(len, self.rows))

    def at_parameters(self, space: Space, label: str) -> ConstraintGroup:
        """Return a copy at the current values of CVXPY parameters; the group itself if no row has changed."""
        for constraint in self.convex:
            values_of(constraint.parameters(), label)
        values = values_of(_parameters(self.origins.values()), label)
        if all(map(np.array_equal, values, self.values or ())):
            return self
        rows = list(self.rows)
        for block, origin in self.origins.items():
            if isinstance(origin, Source):
                now: Any = next(iter(origin.rows(space)))
                rows[block] = replace(now, label=rows[block].label)
            elif origin.parameters():
                rows[block] = read_again(origin, rows[block], space, label)
        group = replace(self, rows=tuple(rows), values=values)
        sides = [self._side(block, space) for block, origin in self.origins.items() if isinstance(origin, Source)]
        if all(side is not None for side in sides):  # the stated constraints contain all parameters, and remain valid
            vars(group).update({name: vars(self)[name] for name in ("_stated", "_costs") if name in vars(self)})
        return group

    def _side(self, block: int, space: Space) -> Any:
        """Return the CVXPY expression of the side of a block with parameters, if there is one."""
        origin = self.origins.get(block)
        return origin._side(space) if isinstance(origin, Source) else None

    def stated(self, space: Space, label: str) -> list[Piece]:
        """Return the hard rows and convex constraints as CVXPY constraints; the same objects in every call."""
        if "_stated" not in vars(self):
            pieces = []
            for block, rows in enumerate(self.rows):
                if rows.penalty is None:
                    unit = space.n_records if self.source._counts_records else 1
                    origin = self.origins.get(block)
                    written = None if isinstance(origin, Source) else origin
                    pieces += stated(rows, space, block, written, self._side(block, space), unit)
            pieces += [Piece(constraint) for constraint in self.convex]
            for piece in pieces:
                piece.constraint.set_label(label)
            vars(self)["_stated"] = pieces
        return vars(self)["_stated"]

    def costs(self, space: Space, label: str) -> list[cp.Expression]:
        """Return the costs of the soft rows, in nats, labelled; the same objects in every call."""
        if "_costs" not in vars(self):
            vars(self)["_costs"] = [
                cost_of(rows, space, self._side(block, space)).set_label(label)
                for block, rows in enumerate(self.rows)
                if rows.penalty is not None
            ]
        return vars(self)["_costs"]

    def without_row(self, row: int) -> ConstraintGroup:
        """Return a copy without one row, given by position, in which parameters have their current values."""
        remaining, start = [], 0
        for rows in self.rows:
            remaining.append(rows.at(np.arange(start, start + len(rows)) != row))
            start += len(rows)
        return ConstraintGroup(StoredSource.of(self.source, tuple(remaining)), tuple(remaining), self.convex)

    def without_convex(self, number: int) -> ConstraintGroup:
        """Return a copy without one convex constraint, given by position; parameters have their current values."""
        convex = self.convex[:number] + self.convex[number + 1 :]
        return ConstraintGroup(StoredSource.of(self.source, self.rows), self.rows, convex)

    def named(self, label: str) -> ConstraintGroup:
        """Return a copy with rows named by `label`, and also by their block if there are several."""
        rows = []
        for block in self.rows:
            alone = len(self.rows) == 1 or block.label == self.source.label
            rows.append(replace(block, label=label if alone else f"{label}, {block.label}") if block.label else block)
        return replace(self, rows=tuple(rows))

    def numbered(self, name: str) -> ConstraintGroup:
        """Return a copy in which all blocks labelled by the group's name are numbered except the first: "f, part 2"."""
        parts, rows = itertools.count(1 + bool(self.convex)), []  # convex constraints have the group's name, too
        for block in self.rows:
            number = next(parts) if block.label == name else 1
            rows.append(block if number == 1 else replace(block, label=f"{name}, part {number}"))
        return replace(self, rows=tuple(rows))

    def has_same_rows(self, other: ConstraintGroup) -> bool:
        """Return whether the other group has exactly the same rows."""
        if self.convex or other.convex or self.values or other.values or len(self.rows) != len(other.rows):
            return False
        return all(rows.same_as(other_rows) for rows, other_rows in zip(self.rows, other.rows, strict=True))


def _parameters(origins: Iterable[Any]) -> list[Any]:
    """Return the CVXPY parameters of statements and constraints."""
    several = (origin._parameters if isinstance(origin, Source) else origin.parameters() for origin in origins)
    return list(itertools.chain(*several))


def build_rows(source: Source, space: Space, label: str | None = None) -> ConstraintGroup:
    """Build the rows of a source over a space, named by the label of the user if there is one."""
    rows: list[Rows] = []
    convex: list[Any] = []
    origins: dict[int, Any] = {}
    name = label or source.label
    for built in as_list(source.rows(space), name):
        if isinstance(built, Rows):
            if built.matrix.shape[1] != len(space) or (built.view is not None and built.view is not space.view):
                raise StatementError(
                    f"{name!r} returns rows over the {built.matrix.shape[1]} terms of another view, but the model has "
                    f"{len(space)} terms; build rows from this model's space"
                )
            if source._parameters:
                origins[len(rows)] = source
            rows.append(built if label is None else replace(built, label=label))
        elif isinstance(built, Source):  # such as P(...) <= 0.3, returned by a function
            inner = build_rows(built, space, label)
            origins |= {block + len(rows): origin for block, origin in inner.origins.items()}
            rows += inner.rows
            convex += inner.convex
        else:
            curved, linear = read_constraint(built, space, name)
            if curved is None:
                origins[len(rows)] = built
            convex += [] if curved is None else [curved]
            rows += [] if linear is None else [linear]
    parameters = _parameters(origins.values())
    follows = parameters or any(constraint.parameters() for constraint in convex)
    values = values_of(parameters, name) if follows else None
    group = ConstraintGroup(source, tuple(rows), tuple(convex), origins, values)
    # Two sources of a user-defined class with different parameters may have rows about the same probabilities, so the
    # names of their rows include the source's label.
    return (group if label is not None or names_its_rows(source) else group.named(name)).numbered(name)


class StoredSource(Source):
    """low <= rows <= high: rows that another source built before they were saved, moved or left out."""

    def __init__(self, kind: str, label: str, rows: tuple[Rows, ...]) -> None:
        self.kind, self._label, self._rows = kind, label, rows  # kind: the class of the other source

    @classmethod
    def of(cls, source: Source, rows: tuple[Rows, ...]) -> StoredSource:
        """Store rows in place of those of a source."""
        return cls(kind_of(source), source.label, rows)

    @property
    def label(self) -> str:
        """The label of the other source."""
        return self._label

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield the rows."""
        yield from self._rows


def kind_of(source: Source) -> str:
    """Return the class name of a source, for tables."""
    return source.kind if isinstance(source, StoredSource) else type(source).__name__
