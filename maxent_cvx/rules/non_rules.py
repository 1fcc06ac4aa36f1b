"""Patterns that are no rules: from a complete set of rules, all that is missing falls short of a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import StatementError
from ..tables.associations import value_names
from ..tables.coding import multi_index
from ..tables.cube_patterns import members, pattern_names
from ..tables.lattice import Cube, cubes, sizes_of
from ..views import View
from .patterns import Patterns
from .rule_set import RuleSet

__all__ = ["NonRules", "count_patterns", "non_rules"]


@dataclass(frozen=True, eq=False)
class NonRules:
    """Patterns that are no rules, as far as they say something that others do not.

    Attributes
    ----------
    patterns : Patterns
    given : ndarray of str
        Their left sides alone.
    n_pruned : int
        How many Theorem 3 leaves, before those that cannot bind are left out.
    """

    patterns: Patterns
    given: np.ndarray
    n_pruned: int


def non_rules(rules: RuleSet, found: Patterns, view: View, *, integer: bool, prune: bool) -> NonRules:
    """List the patterns Q => X of a view that are no rules, and whose bound on n(Q, X) can bind.

    Parameters
    ----------
    rules : RuleSet
        Complete.
    found : Patterns
        The rules' own patterns in the view.
    integer : bool
        Whether numbers of records are known to be integers.
    prune : bool
        Leave out what follows from a non-rule that sets fewer attributes: where c P(Q) <= s for that one already
        (Theorem 3), or where both have the same bound.

    Raises
    ------
    StatementError
        If a part of a rule is none, though it has at least the rule's support.
    """
    walk = _Walk(rules, found, view, integer=integer, prune=prune)
    seen = list(cubes(rules.qi, walk.tuples, view.n_q[:, None], walk.closes, walk.walked))
    walk.check_all_found()
    cube, pattern, s = (np.concatenate([np.empty(0, dtype=int), *part]) for part in walk.parts(seen))
    given = pattern_names(rules.qi, walk.tuples, seen, cube, pattern)
    names = given + " => " + value_names(view.sensitive, view.sensitive_values)[s]
    n_q = np.array([len(c) for c in seen], dtype=int)
    start = np.cumsum(n_q) - n_q
    records = np.concatenate([np.empty(0, dtype=np.int64), *(c.counts[:, 0] for c in seen)])
    patterns = Patterns(names, members(seen, cube, pattern), s, records[start[cube] + pattern])
    return NonRules(patterns, given, walk.n_pruned)


def count_patterns(rules: RuleSet, view: View) -> int:
    """How many patterns Q => X occur in a view, rules or not: rows without any pruning."""
    never = np.zeros((1, 1), dtype=bool)
    sizes = sizes_of(rules.attributes, len(rules.qi))
    found = cubes(rules.qi, _mined(rules, view), view.n_q[:, None], lambda cube: never, sizes)
    return sum(map(len, found)) * len(view.sensitive_values)


class _Walk:
    """The walk down the lattice of patterns, with what is known of the level above."""

    def __init__(self, rules: RuleSet, found: Patterns, view: View, *, integer: bool, prune: bool) -> None:
        self.thresholds, self.n = rules.thresholds, view.n_records
        self.rules, self.found = rules, found
        self.tuples = _mined(rules, view)
        self.n_values = len(view.sensitive_values)
        self.integer, self.prune = integer, prune
        self.sizes = set(sizes_of(rules.attributes, len(rules.qi)))
        self.walked = range(1, max(self.sizes) + 1)
        sets = rules.table[list(rules.qi)].notna().to_numpy()
        self.rules_of: dict[tuple[int, ...], list[int]] = {}
        for i, row in enumerate(sets):
            self.rules_of.setdefault(tuple(np.flatnonzero(row)), []).append(i)
        first = found.members.indices[found.members.indptr[:-1]]
        self.first, self.is_found = first, np.zeros(len(rules), dtype=bool)
        self.bounds: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        self.binding: dict[tuple[int, ...], np.ndarray] = {}
        self.n_pruned = 0

    def closes(self, cube: Cube) -> np.ndarray:
        """Note the non-rules of a cube; mark those below which all are redundant (Theorem 3)."""
        size = len(cube.attributes)
        if size not in self.sizes:  # not mined: that a pattern is missing says nothing
            return np.zeros((len(cube), self.n_values), dtype=bool)
        n_q = cube.counts[:, 0]
        is_rule = np.zeros((len(cube), self.n_values), dtype=bool)
        own = np.array(self.rules_of.get(tuple(sorted(cube.attributes)), []), dtype=int)
        pattern = cube.group[self.first[own]]
        own, pattern = own[pattern >= 0], pattern[pattern >= 0]
        closed = np.broadcast_to(cube.closed, is_rule.shape)
        self.is_found[own] = ~closed[pattern, self.found.s[own]]
        is_rule[pattern, self.found.s[own]] = True
        left = ~is_rule & ~closed
        only = self.thresholds.only_support(n_q, self.n, integer=self.integer)
        repeats = np.zeros_like(is_rule)
        bound = self.thresholds.least(n_q, self.n) if self.integer else np.where(only, -1, n_q)
        for parent, at in cube.parents.items():
            if self.prune and parent in self.bounds:
                bounds, is_none = self.bounds[parent]
                repeats |= (bounds[at] == bound)[:, None] & is_none[at] & (at >= 0)[:, None]
        self.bounds[tuple(cube.attributes)] = bound, ~is_rule
        self.n_pruned += int(left.sum())
        self.binding[cube.attributes] = left & ~repeats & self._can_bind(n_q)[:, None]
        return np.asarray(~is_rule & only[:, None] & self.prune)

    def _can_bind(self, n_q: np.ndarray) -> np.ndarray:
        """Whether a bound is below the number of records with Q."""
        if self.integer:
            return np.asarray(self.thresholds.least(n_q, self.n) <= n_q)
        return np.asarray((n_q > self.thresholds.support * self.n // 1) & (self.thresholds.confidence < 1))

    def check_all_found(self) -> None:
        """Refuse rules below a pattern that is none, and has at least their support."""
        if self.prune and not self.is_found.all():
            raise StatementError(
                f"{self.found.names[int((~self.is_found).argmax())]!r} is a rule, and some pattern that sets fewer "
                f"attributes is none, which has at least its support, and with {self.thresholds} that would be "
                "enough: the set is not complete, or was mined by other thresholds; correct them, or pass "
                "non_rules=False"
            )

    def parts(self, seen: list[Cube]) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
        """The cube, the pattern in it, and the value of every non-rule that can bind."""
        cube, pattern, value = [], [], []
        for i, one in enumerate(seen):
            if one.attributes in self.binding:
                p, s = np.nonzero(self.binding[one.attributes])
                cube.append(np.full(len(p), i))
                pattern.append(p)
                value.append(s)
        return cube, pattern, value


def _mined(rules: RuleSet, view: View) -> pd.MultiIndex:
    """The attributes of a view's QI tuples that were mined."""
    at, tuples = [view.qi.index(name) for name in rules.qi], view.quasi_identifiers
    return multi_index([tuples.levels[i] for i in at], [np.asarray(tuples.codes[i]) for i in at], rules.qi)
