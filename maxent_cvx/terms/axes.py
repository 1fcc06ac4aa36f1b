"""The axes of the terms: columns and roles, the codes of every term along them, and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import LabelMismatch, StatementError, join_names, short_repr, unknown_name
from .._utils.tables import Choice, choose, group_codes, multi_index, repeated
from .._utils.validation import check_known, check_list, check_mapping
from ..releases.base import OUTSIDE, View
from ..releases.generalized import cells_with, label_of
from .people import OTHERS, People


@dataclass(frozen=True, eq=False)
class Axes:
    """The labels of terms: columns of the view, and the roles "q", "s", "bucket" (in releases) and "who"."""

    view: View
    people: People
    codes: Mapping[str, np.ndarray]  # for every term, its position along each role, see :class:`maxent_cvx.Space`

    def columns(self, by: Sequence[str]) -> list[str]:
        """Replace roles by their columns."""
        roles = {"who": ("who",)} | {role: columns for role, (columns, _) in self.view.axes.items()}
        return list(dict.fromkeys(column for name in by for column in roles.get(name, (name,))))

    def of(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Return the codes of the terms along a column or role, and the values that the codes stand for."""
        if name in self.view.axes:
            self.view.tell_apart([name])
            return self.codes[name], self.view.axes[name][1]
        return self.of_column(name)

    def labels(self, by: Sequence[str], at: Any) -> pd.MultiIndex:
        """Label terms from their codes; the levels are shared with the view, not copied."""
        columns = self.columns(by)
        axes = [self.of_column(column) for column in columns]
        return multi_index([values for _, values in axes], [codes[at] for codes, _ in axes], columns)

    def of_column(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Return the codes of the terms along a column, and its values."""
        self.view.tell_apart([name])
        if name == "who" and len(self.people):
            return self.codes["who"], self.people.names.append(pd.Index([OTHERS], name="who"))
        for role, (columns, index) in self.view.axes.items():
            if name in columns:
                codes, level = level_of(index, columns.index(name))
                return codes[self.codes[role]], level
        roles = [*self.view.axes, *["who"][: len(self.people)]]
        raise unknown_name(f"column of the {self.view.noun}", name, [*self.view.columns, *roles])


def level_of(index: pd.Index, level: int) -> tuple[np.ndarray, pd.Index]:
    """Return the codes of the labels along one level of an index, and the values that the codes stand for."""
    if isinstance(index, pd.MultiIndex):
        return np.asarray(index.codes[level]), index.levels[level]
    return np.arange(len(index)), index


def group_rows(index: pd.Index, levels: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Number rows by their values of some levels, sorted; return the numbers, and the first row of each."""
    if not levels:
        return np.zeros(len(index), dtype=np.int64), np.arange(min(len(index), 1))
    coded = [level_of(index, index.names.index(level)) for level in levels]
    group = group_codes([codes for codes, _ in coded], [len(values) for _, values in coded])
    return group, np.unique(group, return_index=True)[1]


def has_values(index: pd.Index, values: Mapping[str, object]) -> np.ndarray:
    """Mark the labels with given values of some levels."""
    mask = np.ones(len(index), dtype=bool)
    for level, value in values.items():
        mask &= index.get_level_values(level) == value
    return mask


def as_names(by: str | Sequence[str]) -> list[str]:
    """Convert a name, or a list of at least one name, to a list."""
    listed = [by] if isinstance(by, str) else check_list(by, "the names to sum by", "names")
    if strange := [name for name in listed if not isinstance(name, str)]:
        raise StatementError(f"names of columns and roles must be strings, not {short_repr(strange[0])}")
    if listed:
        return listed
    raise StatementError("at least one name is needed, e.g. marginal(['q', 's'])")


# Labels of rows: the values of a level and their order, and the alignment of two sets of labels.
#
# A label is *known* if each of its values was published in its column. If the combination has no terms nevertheless,
# it is impossible, and the sum over its terms is 0.


def levels_named(axes: Axes, index: pd.Index, names: str | Sequence[str], label: str) -> list[str]:
    """Convert names of levels to a list, with roles ("s", "q", "bucket") replaced by their columns."""
    columns = axes.columns(as_names(names))
    for column in columns:
        if column not in index.names:
            roles = [role for role, (of, _) in axes.view.axes.items() if set(of) <= set(index.names)]
            raise unknown_name(f"level of {label}", column, [*index.names, *roles])
    return columns


def level_names(index: pd.Index) -> list[str]:
    """Return the names of the levels, which are columns."""
    return cast("list[str]", list(index.names))


def known_values(axes: Axes, level: str) -> pd.Index:
    """Return the values that a level can have: those published in its column, or the names of people."""
    return axes.people.names if level == "who" and len(axes.people) else axes.of_column(level)[1]


def ordered_values(axes: Axes, level: str) -> pd.Index:
    """Return the values of a level in the order of an ordered Categorical, or sorted."""
    values = known_values(axes, level)
    advice = f"order them before the table is published: pd.Categorical(table[{level!r}], [...], ordered=True)"
    if isinstance(values.dtype, pd.CategoricalDtype):
        if not values.ordered:  # type: ignore[attr-defined]
            raise StatementError(f"the categories of {level!r} are not ordered; {advice}")
        return values[np.argsort(values.codes, kind="stable")]  # type: ignore[attr-defined]
    try:
        return values.sort_values()
    except TypeError:
        raise StatementError(f"the values of {level!r} cannot be sorted; {advice}") from None


def occur(values: pd.Index, known: pd.Index) -> np.ndarray:
    """Mark the values that occur among others of any type of column; in pandas, dates differ from those in categories."""
    return np.asarray(values.astype(object).isin(known.astype(object)))


def are_known(axes: Axes, labels: pd.Index) -> np.ndarray:
    """Mark the labels all of whose values are known."""
    known = np.ones(len(labels), dtype=bool)
    for i, level in enumerate(level_names(labels)):
        codes, values = level_of(labels, i)
        known &= np.append(occur(values, known_values(axes, level)), False)[codes]  # code -1: a missing value
    return known


def find(labels: pd.Index, wanted: pd.Index) -> np.ndarray:
    """Return the positions of wanted labels, which have the same levels in the same order; -1 if missing."""
    if labels is wanted or labels.equals(wanted):
        return np.arange(len(wanted))
    check_unique(labels, "the rows, which are matched by label,")
    return labels.get_indexer(wanted)


def check_unique(labels: pd.Index, what: str) -> None:
    """Check that labels are unique."""
    if labels.has_duplicates:
        raise LabelMismatch(f"{what} have the duplicate labels {join_names(repeated(labels))}; labels must be unique")


def subset_keys(index: pd.Index, levels: Sequence[str]) -> pd.Index:
    """Return the labels of rows along some levels, one per row."""
    if list(index.names) == list(levels):
        return index
    if len(levels) == 1:
        return index.get_level_values(levels[0])
    places = [index.names.index(level) for level in levels]
    parts = [level_of(index, place) for place in places]
    return multi_index([values for _, values in parts], [codes for codes, _ in parts], levels)


def without_levels(index: pd.Index, dropped: Mapping[str, object] | Sequence[str]) -> pd.Index | None:
    """Return the labels along the other levels; None if no level remains."""
    remaining = [name for name in level_names(index) if name not in dropped]
    return subset_keys(index, remaining) if remaining else None


def pick(matrix: sp.csr_array, at: np.ndarray) -> sp.csr_array:
    """Return rows of a matrix in a given order; -1 stands for a row of zeros."""
    if len(at) == matrix.shape[0] and np.array_equal(at, np.arange(len(at))):
        return matrix
    rows = np.flatnonzero(at >= 0)
    picked = sp.csr_array((np.ones(len(rows)), (rows, at[rows])), shape=(len(at), matrix.shape[0]))
    return sp.csr_array(picked @ matrix)


def same_levels(mine: pd.Index, theirs: pd.Index, label: str, *, or_fewer: bool) -> list[str]:
    """Return the levels that align two sides, in the order of `mine`; an unnamed index has the same levels."""
    levels, other_levels = level_names(mine), level_names(theirs)
    if set(other_levels) == {None} and len(other_levels) == len(levels):
        return levels
    if set(levels) == set(other_levels) or (or_fewer and set(other_levels) < set(levels)):
        return [name for name in levels if name in other_levels]
    how = "name the levels alike"
    if set(other_levels) == {None}:
        names = levels[0] if len(other_levels) == 1 else levels[: len(other_levels)]
        how = f"name the levels of the values, e.g. series.rename_axis({names!r})"
    raise LabelMismatch(f"{label} is indexed by {levels}, the values by {other_levels}; {how}")


# Events described by users, as QI tuples and sensitive values of a view.


def tuples_described(view: View, given: Mapping[str, object] | None) -> np.ndarray:
    """Mark the QI tuples that match a description; raise an error if nobody does."""
    mask = mark_tuples(view, given)
    if not mask.any():
        description = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in (given or {}).items())
        raise StatementError(
            f"nobody in the {view.noun} has {description}: each value occurs, but not together, so that "
            "P(value | given) would be 0/0; remove a condition"
        )
    return mask


def mark_tuples(view: View, given: Mapping[str, object] | None) -> np.ndarray:
    """Mark the QI tuples that match a description, possibly none."""
    conditions = {} if given is None else check_mapping(given, "given", "{attribute: value}")
    mask = np.ones(len(view.axes["q"][1]), dtype=bool)
    for attribute, chosen in conditions.items():
        if (described := view.described(attribute, chosen)) is not None:
            mask &= described
        elif attribute in view.qi:
            codes, _, named = _named_values(view, attribute, chosen)
            mask &= named[codes]
        else:
            raise unknown_name(f"quasi-identifier of the {view.noun}", attribute, view.qi)
    return mask


def _named_values(view: View, attribute: str, chosen: object) -> tuple[np.ndarray, pd.Index, np.ndarray]:
    """Return the codes of a quasi-identifier, its values, and a mask of the chosen ones."""
    codes, level = level_of(view.axes["q"][1], view.qi.index(attribute))
    choice = choose(chosen, attribute)
    if view.generalized and choice.values is not None:  # cells are texts, exact numbers too
        choice = Choice(frozenset(map(label_of, choice.values)))
    return codes, level, choice.mask(level, attribute)


def refuse_exact_values_in_cells(view: View, given: Mapping[str, object]) -> None:
    """Raise an error if exact values in a condition, such as sex=m, may also be in generalised cells, such as *."""
    named = np.ones(len(view.quasi_identifiers), dtype=bool)
    possible = named.copy()
    for attribute in (name for name in view.qi if name in given):
        codes, level, chosen = _named_values(view, attribute, given[attribute])
        named &= chosen[codes]
        possible &= (chosen | cells_with(level, chosen))[codes]
    if (unclear := possible & ~named).any():
        condition = ", ".join(f"{name}={choose(value, name)}" for name, value in given.items())
        cells = dict(zip(view.qi, view.quasi_identifiers[[int(unclear.argmax())]].to_frame().iloc[0], strict=True))
        cell = ", ".join(f"{name}={cells[name]}" for name in given if name in cells)
        raise StatementError(
            f"{condition} may also describe people published with {cell}, so their number is not known; pass the "
            "population (--population; in Python, population=), which has exact values"
        )


def values_named(view: View, value: object) -> np.ndarray:
    """Mark the sensitive values that a user specified."""
    attributes = view.sensitive
    if not isinstance(value, Mapping):
        if len(attributes) > 1:
            names = " or ".join(map(repr, attributes))
            raise StatementError(f"{choose(value, 'the value')} may be a value of {names}; write {{attribute: value}}")
        value = {attributes[0]: value}
    check_known(value, "sensitive attribute", attributes)
    if not value:
        raise StatementError(f"{{}} does not name a sensitive attribute; write {{{attributes[0]!r}: value}}")
    mask = np.ones(len(view.sensitive_values), dtype=bool)
    for attribute, chosen in value.items():
        codes, level = level_of(view.sensitive_values, attributes.index(attribute))
        choice, inside = choose(chosen, attribute), np.ones(len(level), dtype=bool)
        if choice.interval is not None or OUTSIDE not in (choice.values or ()):
            # People of a population who are not in the release have a text in a column of numbers or dates.
            inside = np.asarray(level != OUTSIDE)
            level = level[inside].infer_objects()
        inside[inside] = choice.mask(level, attribute)
        mask &= inside[codes]
    return mask
