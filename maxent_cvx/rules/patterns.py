"""Patterns Q => X of a view: a set of QI tuples, and a sensitive value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import StatementError, unknown_name
from ..tables.coding import densely, group_codes, places_of
from ..views import View
from .rule_set import RuleSet

__all__ = ["Patterns", "find_values", "rule_patterns"]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns Q => X, by the QI tuples of a view.

    Attributes
    ----------
    names : ndarray of str
        "Education=Doctorate, Gender=Female => 50K+".
    members : csr_array, shape (patterns, QI tuples)
        1 for the view's QI tuples that Q describes.
    s : ndarray of int
        The position of X among the view's sensitive values.
    n_q : ndarray of int
        Records with Q.
    """

    names: np.ndarray
    members: sp.csr_array
    s: np.ndarray
    n_q: np.ndarray

    def __len__(self) -> int:
        return len(self.s)


def rule_patterns(rules: RuleSet, view: View) -> Patterns:
    """Find which QI tuples of a view each rule is about.

    Raises
    ------
    UnknownName
        If an attribute or a value is not in the view.
    StatementError
        If nobody is as a rule says.
    """
    if stranger := [name for name in rules.qi if name not in view.qi]:
        raise unknown_name(f"quasi-identifier of the {view.noun}, and rules were mined of it", stranger[0], view.qi)
    if rules.sensitive != view.sensitive:
        raise StatementError(
            f"the rules are about {', '.join(rules.sensitive)}, and the {view.noun} about {', '.join(view.sensitive)}; "
            "mine rules for the same sensitive attributes, in that order"
        )
    tuples, table = view.quasi_identifiers, rules.table
    codes = np.full((len(rules), len(view.qi)), -1)
    for i, name in enumerate(view.qi):
        if name in rules.qi:
            codes[:, i] = _codes(table[name], tuples.levels[i])
    s = _values(table, view)
    members, _ = _members(codes, tuples)
    n_q = np.asarray(members @ view.n_q).astype(np.int64)
    if (n_q == 0).any():
        raise StatementError(
            f"nobody in the {view.noun} is as the rule {table.index[int((n_q == 0).argmax())]!r} says: each value "
            "occurs, but not together; the rules are not of these people"
        )
    return Patterns(table.index.to_numpy(dtype=object), members, s, n_q)


def _members(codes: np.ndarray, tuples: pd.MultiIndex) -> tuple[sp.csr_array, np.ndarray]:
    """Mark the QI tuples that have the codes of each pattern, -1 being any; and number the sets of attributes."""
    subset = densely(np.unique(codes >= 0, axis=0, return_inverse=True)[1].ravel()) if len(codes) else np.empty(0, int)
    rows, columns = [np.empty(0, dtype=int)], [np.empty(0, dtype=int)]
    for number in range(int(subset.max(initial=-1)) + 1):
        at = np.flatnonzero(subset == number)
        attributes = np.flatnonzero(codes[at[0]] >= 0)
        both = [np.concatenate([np.asarray(tuples.codes[i]), codes[at, i]]) for i in attributes]
        key = group_codes(both, [len(tuples.levels[i]) for i in attributes])
        which, described = places_of(key[: len(tuples)], key[len(tuples) :])
        rows.append(at[which])
        columns.append(described)
    where = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.ones(len(where[0])), where), shape=(len(codes), len(tuples))), subset


def _codes(column: pd.Series, level: pd.Index) -> np.ndarray:
    """Number the values of one attribute as the view does; -1 where none is set."""
    is_set = column.notna().to_numpy()
    codes = np.full(len(column), -1)
    codes[is_set] = find_values(column[is_set], level, f"value of {column.name!r}")
    return codes


def _values(table: pd.DataFrame, view: View) -> np.ndarray:
    """Number the sensitive values as the view does."""
    known, what = view.sensitive_values, "value of {!r}"
    if not isinstance(known, pd.MultiIndex):
        return find_values(table[view.sensitive[0]], known, what.format(view.sensitive[0]))
    each = [find_values(table[name], known.levels[i], what.format(name)) for i, name in enumerate(view.sensitive)]
    at = pd.MultiIndex.from_arrays([np.asarray(code) for code in known.codes]).get_indexer(
        pd.MultiIndex.from_arrays(each)
    )
    if (at < 0).any():
        raise unknown_name(f"combination of {', '.join(view.sensitive)}", table.index[int((at < 0).argmax())], [])
    return np.asarray(at)


def find_values(column: pd.Series, known: pd.Index, what: str) -> np.ndarray:
    """Find values; those of a file, which are texts or numbers, by how they are written if not as they are."""
    wanted = pd.Index(column.to_numpy(dtype=object), dtype=object)
    try:
        at = pd.Index(known, dtype=object).get_indexer(wanted)
    except TypeError as error:
        raise StatementError(f"{what[0].upper() + what[1:]}: something is no single value: {error}") from error
    as_texts = pd.Index(known.map(str), dtype=object)
    if (at < 0).any() and as_texts.is_unique:
        at = np.where(at < 0, as_texts.get_indexer(wanted.map(str)), at)
    if (at < 0).any() and pd.api.types.is_numeric_dtype(known) and known.is_unique:
        texts = pd.to_numeric(
            pd.Series([w if isinstance(w, str) else None for w in wanted], dtype=object), errors="coerce"
        )
        at = np.where(at < 0, pd.Index(known.astype(float)).get_indexer(pd.Index(texts, dtype=float)), at)
    if (at < 0).any():
        raise unknown_name(f"{what} (of the rule {column.index[int((at < 0).argmax())]!r})", wanted[at < 0][0], known)
    return np.asarray(at)
