"""What every view promises, checked where a model is made of one that somebody has written."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...errors import MaxEntError, TableError, listing, shown
from ...terms.space import Space
from ...views import View
from ...views.base import check_roles

__all__ = ["check_view"]

#: The roles that every view has, first.
FIRST = ("q", "s")


def check_view(view: View) -> None:
    """Check that terms, labels and counts of a view go together.

    Parameters
    ----------
    view : View

    Raises
    ------
    TableError
        If something is missing, of another length, out of order, or if counts contradict each other or the terms.
    """
    name = type(view).__name__
    _check_labels(view, name)
    n_q = _counts(view.n_q, len(view.quasi_identifiers), f"n_q of a {name}", "QI tuple")
    if (n_q == 0).any():
        nobody = view.quasi_identifiers[n_q == 0]
        raise TableError(f"n_q of a {name} counts nobody with {listing(nobody)}; leave such QI tuples out")
    n_s = view.n_s
    if n_s is not None:
        n_s = _counts(n_s, len(view.sensitive_values), f"n_s of a {name}", "sensitive value")
        if n_s.sum() != n_q.sum():
            raise TableError(f"n_s of a {name} is of {n_s.sum()} records, and n_q of {n_q.sum()}; count the same ones")
    _check_terms(view, name)
    published = view.published
    if not isinstance(published, Mapping) or not all(isinstance(by, tuple) for by in published):
        raise TableError(f"published of a {name} must be a dictionary from tuples of roles to Series of counts")
    space, has_q, has_s = Space.of(view), False, False
    for by, counts in published.items():
        counted = _check_table(space, by, counts, f"the table by {by!r} that a {name} publishes")
        columns = set(space.axes.columns(by))
        if set(view.qi) <= columns:
            _check_sums(space, counted, "q", n_q, f"n_q and the table by {by!r} of a {name}")
            has_q = True
        if set(view.sensitive) <= columns and n_s is not None:
            _check_sums(space, counted, "s", n_s, f"n_s and the table by {by!r} of a {name}")
            has_s = True
    if not has_q:
        raise TableError(
            f"published of a {name} has no table by 'q', and P(s | q) would be of unknown people; add "
            "('q',): pd.Series(n_q, quasi_identifiers), of one attribute with its values as index"
        )
    if n_s is not None and not has_s:
        raise TableError(f"a {name} has n_s, and no table of published says so: add ('s',), or let n_s be None")


def _check_labels(view: View, name: str) -> None:
    """Check the columns, and the labels of every role."""
    for attribute, columns in (("qi", view.qi), ("sensitive", view.sensitive)):
        if not isinstance(columns, tuple) or not columns or not all(isinstance(column, str) for column in columns):
            raise TableError(f"{attribute} of a {name} must be a tuple of column names, not {shown(columns)}")
    if not isinstance(view.quasi_identifiers, pd.MultiIndex):
        raise TableError(
            f"quasi_identifiers of a {name} must be a MultiIndex, one level an attribute, not a "
            f"{type(view.quasi_identifiers).__name__}: pd.MultiIndex.from_frame(table[list(qi)])"
        )
    axes = view.axes
    if tuple(axes)[:2] != FIRST:
        raise TableError(f"axes of a {name} are {listing(axes)}; 'q' and 's' come first")
    expected = {"q": (view.qi, view.quasi_identifiers), "s": (view.sensitive, view.sensitive_values)}
    for role, (own, index) in expected.items():
        if tuple(axes[role][0]) != own or not (isinstance(index, pd.Index) and index.equals(axes[role][1])):
            raise TableError(f"axes[{role!r}] of a {name} must be {list(own)} and their labels, as the view has them")
    players = [column for some, _ in axes.values() for column in some]
    if len(set(players)) < len(players):
        raise TableError(f"a column of a {name} plays several roles: {listing(players, 20)}; each has one")
    check_roles({role: tuple(some) for role, (some, _) in axes.items()})
    for role, (some, index) in axes.items():
        if not isinstance(index, pd.Index) or list(index.names) != list(some):
            named = list(index.names) if isinstance(index, pd.Index) else shown(index)
            raise TableError(f"the labels of {role!r} of a {name} are named {named}, and its columns {list(some)}")
        if index.has_duplicates or index.to_frame().isna().to_numpy().any() or not len(index):
            what = f"repeats {listing(index[index.duplicated()])}" if index.has_duplicates else "misses values"
            raise TableError(f"the index of {role!r} of a {name} {what if len(index) else 'is empty'}; each label once")
        if isinstance(index, pd.MultiIndex) and any(level.has_duplicates for level in index.levels):
            raise TableError(f"a level of the index of {role!r} of a {name} repeats values; make it from_frame(...)")


def _counts(given: object, n: int, what: str, of: str) -> np.ndarray:
    """Read whole counts, none negative, one a label."""
    found = np.asarray(given)
    if found.shape != (n,) or found.dtype.kind not in "iuf":
        raise TableError(f"{what} must hold {n} counts, one a {of}, not {shown(given)} of shape {found.shape}")
    if (bad := ~(np.isfinite(found) & (found >= 0) & (found == np.rint(found)))).any():
        raise TableError(f"{what} holds {found[bad][0]:.12g}; whole numbers of records are expected, none negative")
    return found.astype(np.int64)


def _check_terms(view: View, name: str) -> None:
    """Check that terms() numbers each term once, by existing labels, in order."""
    terms, roles = view.terms(), tuple(view.axes)
    if not isinstance(terms, dict) or set(terms) != set(roles):
        raise TableError(f"terms() of a {name} must give codes of {listing(roles)}, each an array; not {shown(terms)}")
    n = {np.shape(code) for code in terms.values()}
    if len(n) > 1 or len(next(iter(n))) != 1 or not next(iter(n))[0]:
        raise TableError(f"terms() of a {name} must give equally many codes of every role, one a term; found {n}")
    for role in roles:
        code, size = terms[role], len(view.axes[role][1])
        if not isinstance(code, np.ndarray) or code.dtype.kind not in "iu" or code.min() < 0 or code.max() >= size:
            raise TableError(f"terms() of a {name} must number {role!r} from 0 to {size - 1}, as an array of integers")
    order = [*roles[2:], *FIRST]
    if not _ascending([terms[role] for role in order]):
        raise TableError(f"terms() of a {name} must give each term once, sorted by {', then '.join(order)}")


def _ascending(keys: list[np.ndarray]) -> bool:
    """Whether rows of keys, the first the most important, are sorted, none twice."""
    less, same = np.zeros(max(len(keys[0]) - 1, 0), dtype=bool), np.ones(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in keys:
        less |= same & (key[:-1] < key[1:])
        same &= key[:-1] == key[1:]
    return bool(less.all())


def _check_table(space: Space, by: tuple[str, ...], counts: object, what: str) -> np.ndarray:
    """Check a published table against the terms; gives every label's count, divided among the terms that have it."""
    if not isinstance(counts, pd.Series):
        raise TableError(f"{what} must be a Series of counts, not {shown(counts)}")
    try:
        block = space.marginal(list(by))
    except MaxEntError as error:
        raise TableError(f"{what} cannot be: {error}") from error
    if list(counts.index.names) != list(block.index.names):
        raise TableError(f"{what} is labelled by {list(counts.index.names)}; {list(block.index.names)} are expected")
    n = _counts(counts.to_numpy(), len(counts), what, "label")
    labels = counts.index
    if labels.has_duplicates:
        raise TableError(f"{what} repeats {listing(labels[labels.duplicated()].unique())}; one count a label")
    known = labels.isin(block.index)
    if (lost := ~known & (n > 0)).any():
        raise TableError(
            f"{what} counts {int(n[lost].sum())} records of {listing(labels[lost])}, and terms() has no such term: "
            "the two contradict each other"
        )
    if not known.all():
        raise TableError(f"{what} has 0 of {listing(labels[~known])}, of which there are no terms; leave that out")
    if len(missing := block.index[~block.index.isin(labels)]):
        raise TableError(
            f"{what} lacks {listing(missing)}, of which there are terms; give 0 if nobody has it, or leave them out"
        )
    if not labels.equals(block.index):
        raise TableError(
            f"{what} must be in the order of the labels of the view, the last varying fastest, from {block.index[0]!r} "
            f"to {block.index[-1]!r}; sort it, as by .sort_index()"
        )
    if n.sum() != space.n_records:
        raise TableError(f"{what} is of {n.sum()} records, and n_q of {space.n_records}; count the same ones")
    share = n / np.diff(block.matrix.indptr)
    return share[block.matrix.tocsc().indices]


def _check_sums(space: Space, shares: np.ndarray, role: str, expected: np.ndarray, what: str) -> None:
    """Check that the counts of a table, divided among its terms, add up to others."""
    off = np.abs(np.bincount(space.codes[role], shares, len(expected)) - expected) > 0.5
    if off.any():
        labels = space.view.axes[role][1]
        raise TableError(f"{what} do not go together: they count other numbers of {listing(labels[off])}")
