"""Published association rules, and the unpublished patterns, which are not rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Infeasible, StatementError, short_repr
from .._utils.tables import as_list, choose
from .._utils.validation import check_bool, check_float, check_in, check_instance, check_int, check_list
from ..releases.base import View
from ..rules import (
    SCORES,
    NonRules,
    Patterns,
    RuleSet,
    Thresholds,
    count_patterns,
    decimals_of,
    find_values,
    mined_rules,
    non_rules,
    records_of_scores,
    rule_patterns,
)
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source
from .numbers import known_members


def _rows_of(patterns: Patterns, space: Space, low: np.ndarray, high: np.ndarray, label: str) -> Rows:
    """Build the rows low <= N P(Q, X) <= high."""
    matrix, n = space.joint(patterns.members, patterns.s), space.n_records
    names = pd.Index(patterns.names, dtype=object)
    return Rows(matrix, low / n, high / n, label, names, space.view)


# Published rule lists: classifiers that try one rule after the other, each with its confidence.


class PublishedRuleList(Source):
    """P(x | Q and no earlier Q) = c, for every rule "else if Q then x, with confidence c" of a list.

    Parameters
    ----------
    rules : list of (dict, value, float or None)
        The rules in order: the conditions Q (``{}`` means all remaining people), the class, and its confidence among
        the people who match Q and no earlier rule, or None if the confidence is not published. A rule without a
        confidence only excludes its people from the later rules.
    decimals : int, optional
        The number of decimals to which the confidences are rounded; None means not rounded.
    integer : bool
        Whether to use the fact that numbers of people are integers.

    Raises
    ------
    StatementError
        If a rule is invalid, or, when added to a model, applies to nobody or to no integer number of people, or if
        the members of the release are unknown.
    BadProbability
        If a confidence is not a probability.
    UnknownName
        When added to a model, if it lacks the attribute or value.

    Notes
    -----
    Published rules, section VII (future work): everybody's QI determine the people to whom a rule applies.

    Examples
    --------
    Six of ten people have a doctorate. According to the list, 83% of them earn more than 50K, and 50% of the others do
    not: five of six, and two of four.

    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Education": ["Doctorate", "Masters"], "People": [6, 4]})
    >>> view = mx.QITable(people, qi="Education", sa="Salary", sa_values=["50K+", "50K-"], count="People")
    >>> rules = [({"Education": "Doctorate"}, "50K+", 0.83), ({}, "50K-", 0.5)]
    >>> post = mx.MaxEnt(view).add(mx.PublishedRuleList(rules, decimals=2)).solve()
    >>> print(post.conditional().round(3))
    Salary      50K+   50K-
    Education
    Doctorate  0.833  0.167
    Masters    0.500  0.500
    """

    _can_be_recomputed = False

    def __init__(
        self,
        rules: Iterable[tuple[Mapping[str, object], object, float | None]],
        decimals: int | None = None,
        integer: bool = True,
    ) -> None:
        check_bool(integer, "integer")
        if decimals is not None:
            check_int(decimals, "decimals", 0)
        self.rules: list[tuple[dict[str, Any], object, float | None]] = []
        for i, rule in enumerate(check_list(rules, "rules", "rules"), 1):
            if not isinstance(rule, tuple) or len(rule) != 3 or not isinstance(rule[0], Mapping):
                raise StatementError(f"rule {i} must be (conditions, class, confidence), not {short_repr(rule)}")
            condition, value, confidence = rule
            if confidence is not None:
                check_float(confidence, f"the confidence of rule {i}", 0.0, 1.0)
            self.rules.append((dict(condition), value, confidence))
        self.decimals, self.integer = decimals, integer

    @property
    def label(self) -> str:
        """The name of this source and the number of rules."""
        return f"list of {len(self.rules)} rules"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per rule with a published confidence."""
        view = space.view
        known_members(view, "a rule list")
        undecided, members, names = np.ones(len(view.n_q), dtype=bool), [], []
        for i, (condition, value, _) in enumerate(self.rules, 1):
            decided = space.described(condition) & undecided
            text = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in condition.items()) or "everybody left"
            names.append(f"{i}. {text} => {value}")
            if not decided.any():
                raise StatementError(f"rule {names[-1]!r} applies to nobody after the earlier rules; remove it")
            members.append(decided)
            undecided &= ~decided
        scored = np.array([i for i, rule in enumerate(self.rules) if rule[2] is not None], dtype=int)
        if not len(scored):
            return
        covered = sp.csr_array(np.array(members)[scored].astype(float))
        values = pd.Series([self.rules[i][1] for i in scored], index=[names[i] for i in scored], dtype=object)
        s = find_values(values, view.sensitive_values, f"value of {view.sa!r}")
        n_q = np.asarray(covered @ view.n_q).astype(np.int64)
        score = np.array([self.rules[i][2] for i in scored], dtype=float)
        low, high = records_of_scores(score, n_q, list(values.index), "confidence", self.decimals, integer=self.integer)
        yield _rows_of(Patterns(values.index.to_numpy(), covered, s, n_q), space, low, high, "rule")


#: The maximum number of pairs of rules and non-rules to compare one by one.
MOST_PAIRS = 5 * 10**7


class PublishedRules(Source):
    """P(Q, X) >= max(s, c P(Q)) for every rule Q => X, and P(Q, X) < max(s, c P(Q)) for every other pattern.

    With published scores, also P(Q, X) = s', or P(X | Q) = c', for every rule.

    Parameters
    ----------
    rules : RuleSet
    scores : "confidence", "support", both in a list, or None
        The published scores of the rules; by default, rules are only known to reach the thresholds.
    decimals : int, optional
        The number of decimals to which the scores are rounded; each then stands for an interval of half a unit on both
        sides.
    non_rules : bool
        Whether to use the fact that missing patterns are not rules, if the set is complete (NAR-constraints).
    integer : bool
        Whether to use the fact that numbers of people are integers: a rule has at least ceil(N max(s, c P(Q))) people,
        and any other pattern has at most that number minus one. Otherwise "<" is relaxed to "<=".
    prune : bool
        Whether to leave out non-rules that follow from others (Theorem 3); the posterior is the same.

    Raises
    ------
    StatementError
        If an argument is invalid, or `non_rules` is True and the set is not complete; when added to a model, if the
        members of the release are unknown.
    Infeasible
        When added to a model, if the rules cannot be those of its people: their scores are below the thresholds, or
        missing patterns would be rules.

    Notes
    -----
    Published rules, Eqs. (3), (4) and (6), Theorems 1 and 3. Everybody's QI determine P(Q).

    Examples
    --------
    One rule is published, about doctorates. The absence of a rule about women reveals the salary of the third person:

    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Education": ["Doctorate", "Doctorate", "Masters"],
    ...     "Gender": ["Female", "Male", "Female"], "Salary": ["50K+", "50K+", "50K-"]})
    >>> rules = mx.anonymize.mine_rules(people, qi=["Education", "Gender"], sa="Salary", support=0.6, confidence=0.9)
    >>> view = mx.QITable(people, qi=["Education", "Gender"], sa="Salary", sa_values=["50K+", "50K-"])
    >>> source = mx.PublishedRules(rules)
    >>> round(mx.MaxEnt(view).add(source).solve().prob("50K-", given={"Education": "Masters"}), 6)
    1.0
    >>> source.counts.to_dict()
    {'ar': 1, 'nar': 13, 'nar_pruned': 7, 'nar_binding': 3}
    """

    def __init__(
        self,
        rules: RuleSet,
        scores: str | Iterable[str] | None = None,
        decimals: int | None = None,
        non_rules: bool = True,
        integer: bool = True,
        prune: bool = True,
    ) -> None:
        self.non_rules, self.prune = check_bool(non_rules, "non_rules"), check_bool(prune, "prune")
        self.integer = check_bool(integer, "integer")
        check_instance(rules, RuleSet, "rules", "create one with anonymize.mine_rules(...)")
        self.scores = [check_in(name, "scores", SCORES) for name in ([] if scores is None else as_list(scores))]
        if decimals is not None and not self.scores:
            raise StatementError(f"decimals={short_repr(decimals)} needs scores=; pass both or neither")
        if non_rules and not rules.complete:
            raise StatementError(
                f"the set of {len(rules)} rules is not complete, so missing patterns may be rules; pass "
                "non_rules=False, or, if these are all rules, create the RuleSet with complete=True"
            )
        self.rules, self.decimals = rules, decimals
        self._counted: tuple[View, pd.Series] | None = None

    @property
    def label(self) -> str:
        """The name of this source and the number of rules."""
        return f"{len(self.rules)} published rules"

    @property
    def counts(self) -> pd.Series:
        """The numbers of constraints in the model to which the rules were last added.

        Returns
        -------
        Series
            ``ar``: rules. ``nar``: patterns of the model's people that are not rules (0 if the set is not complete).
            ``nar_pruned``: non-rules that remain by Theorem 3. ``nar_binding``: non-rules with a row, which can bind
            and are not duplicates.

        Raises
        ------
        StatementError
            If the rules have not been added to a model.
        """
        if self._counted is None:
            raise StatementError("constraints are counted in a model; add the rules to one first")
        view, counts = self._counted
        if "nar" not in counts:
            every = count_patterns(self.rules, view) - len(self.rules) if self.non_rules else 0
            if self.non_rules and not self.prune:
                patterns = rule_patterns(self.rules, view)
                counts["nar_pruned"] = non_rules(self.rules, patterns, view, integer=self.integer, prune=True).n_pruned
            counts = pd.Series({"ar": len(self.rules), "nar": every, **counts})
            self._counted = view, counts
        return counts.copy()

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per rule (AR-constraints), and one row per other pattern that can bind (NAR-constraints)."""
        view = space.view
        known_members(view, "a set of rules")
        patterns = rule_patterns(self.rules, view)
        low, high = self._rule_bounds(patterns, space.n_records)
        yield _rows_of(patterns, space, low, np.where(high < patterns.n_q, high, np.inf), "published rule")
        if not self.non_rules:
            self._counted = view, pd.Series({"nar_pruned": 0, "nar_binding": 0})
            return
        none = non_rules(self.rules, patterns, view, integer=self.integer, prune=self.prune)
        self._counted = view, pd.Series({"nar_pruned": none.n_pruned, "nar_binding": len(none.patterns)})
        most = self._most(none.patterns, space.n_records, self.rules.thresholds)
        self._check_everybody(none, most, view)
        self._check_convention(patterns, low, none.patterns, most, view)
        yield _rows_of(none.patterns, space, np.full(len(most), -np.inf), most, "no rule")

    def _most(self, patterns: Patterns, n: int, thresholds: Thresholds) -> np.ndarray:
        """Return the maximum number of people of each pattern that is not a rule."""
        return thresholds.least(patterns.n_q, n) - 1.0 if self.integer else thresholds.bound(patterns.n_q, n) * n

    def _rule_bounds(self, patterns: Patterns, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the minimum and maximum number of people of every rule, by the thresholds and its scores."""
        thresholds = self.rules.thresholds
        least = self._most(patterns, n, thresholds) + self.integer
        if (never := least > patterns.n_q).any():
            first = int(never.argmax())
            raise Infeasible(
                f"{patterns.names[first]!r} cannot be a rule: {patterns.n_q[first]} people match its left side, but "
                f"{thresholds} requires {least[first]:.12g}; {self._other(patterns.n_q[first], n, patterns.n_q[first])}"
            )
        low, high = least, patterns.n_q.astype(float)
        for which in SCORES:
            if which not in self.rules.table:
                if which in self.scores:
                    raise StatementError(f"the rules have no column {which!r}; omit scores= if they are not published")
                continue
            score = self.rules.table[which].to_numpy(dtype=float)
            of = patterns.n_q if which == "confidence" else np.full(len(patterns), n)
            if which in self.scores:
                fewest, most = records_of_scores(
                    score, of, list(patterns.names), which, self.decimals, integer=self.integer
                )
                low, high = np.maximum(low, fewest), np.minimum(high, most)
            else:  # unused scores must still reach the thresholds, within the rounding of their decimals
                half = 0.5 * 10.0 ** -max(map(decimals_of, score), default=0)
                most = np.minimum((score + half) * of + 1e-9 * of, patterns.n_q)
                most = np.floor(most) if self.integer else most
            self._check_enough(patterns, most, least, n, which)
        low = np.where(np.abs(low - high) <= 1e-9 * n, high, low)  # a score equal to the threshold
        if (neither := low > high).any():
            first = int(neither.argmax())
            raise Infeasible(
                f"support and confidence of {patterns.names[first]!r} imply different numbers of people; the rules are "
                "of other people, or the number of decimals is wrong"
            )
        return low, high

    def _check_enough(self, patterns: Patterns, most: np.ndarray, least: np.ndarray, n: int, which: str) -> None:
        """Raise an error if a rule has too few people for the thresholds."""
        if not (short := most < least - 1e-9 * n).any():
            return
        first = int(short.argmax())
        raise Infeasible(
            f"by its {which}, {patterns.names[first]!r} is true for at most {most[first]:.12g} of "
            f"{patterns.n_q[first]} people, but a rule with {self.rules.thresholds} needs {least[first]:.12g}; "
            f"{self._other(patterns.n_q[first], n, most[first])}"
        )

    def _other(self, n_q: int, n: int, people: float) -> str:
        """Return possible causes of a rule with too few people for the thresholds."""
        if self.rules.strict and replace(self.rules.thresholds, strict=False).least(np.array([n_q]), n)[0] <= people:
            return "with >= it would be a rule: if the rules were mined with >=, read them with strict=False"
        return "the rules were mined from other people, or with other thresholds"

    def _check_convention(
        self, patterns: Patterns, low: np.ndarray, none: Patterns, most: np.ndarray, view: View
    ) -> None:
        """Raise an error if rules imply that missing patterns are rules, e.g. if mined with > but read with >=."""
        # Of n(P, X) people at most n(P) - n(P, Q) are not in Q, so that n(Q, X) >= n(P, X) - n(P) + n(P, Q).
        if not len(patterns) or not len(none) or len(patterns) * len(none) > MOST_PAIRS:
            return
        people = none.members.multiply(view.n_q[None, :]).tocsr()
        at_least = (people @ patterns.members.T).toarray() + (low - patterns.n_q)
        at_least[none.s[:, None] != patterns.s] = -np.inf
        fewest = at_least.max(axis=1)
        if not (wrong := fewest > most + 1e-9 * view.n_records).any():
            return
        first = int(wrong.argmax())
        thresholds, because = self.rules.thresholds, patterns.names[int(at_least[first].argmax())]
        more = self._most(none, view.n_records, replace(thresholds, strict=True))
        remedy = self._remedy(not (fewest > more).any())
        raise Infeasible(
            f"{none.names[first]!r} is not among the rules, but by {because!r} it has at least {fewest[first]:.12g} of "
            f"{none.n_q[first]} people, and with {thresholds} more than {most[first]:.12g} make a rule; this concerns "
            f"{int(wrong.sum())} patterns; {remedy}"
        )

    def _check_everybody(self, none: NonRules, most: np.ndarray, view: View) -> None:
        """Raise an error if non-rules with all values of one Q allow fewer people in total than have Q."""
        q, at, values = np.unique(none.given, return_inverse=True, return_counts=True)
        of_q, n_q = np.bincount(at, most), np.zeros(len(q))
        n_q[at] = none.patterns.n_q
        wrong = (values == len(view.sensitive_values)) & (of_q < n_q - 1e-9 * view.n_records)
        if not wrong.any():
            return
        first = int(wrong.argmax())
        more = self._most(none.patterns, view.n_records, replace(self.rules.thresholds, strict=True))
        by_more = np.bincount(at, more)
        remedy = self._remedy(not (wrong & (by_more < n_q - 1e-9 * view.n_records)).any())
        raise Infeasible(
            f"no rule contains {q[first]}, so with {self.rules.thresholds} at most {of_q[first]:.12g} of its "
            f"{n_q[first]:.12g} people have a value; {remedy}"
        )

    def _without(self, at: int, original: pd.DataFrame, view: View) -> PublishedRules:
        """Mine the rules of the other records; withheld rules remain unknown."""
        rules, rest = self.rules, original.iloc[np.arange(len(original)) != at]
        mined = mined_rules(rest, rules.qi, rules.sa, rules.thresholds, rules.attributes)
        if not rules.complete:
            mined = mined.at(np.asarray(mined.table.index.isin(rules.table.index)))
        if self.decimals is not None:
            mined = mined.rounded(self.decimals)
        return PublishedRules(mined, self.scores or None, self.decimals, self.non_rules, self.integer, self.prune)

    def _remedy(self, explained: bool) -> str:
        """Return possible causes of missing patterns that must be rules."""
        if explained and not self.rules.strict:
            return "with > none of these is a rule: if the rules were mined with >, read them with strict=True"
        return (
            "the set is not complete, or was mined from other people or with other thresholds; correct it, or pass "
            "non_rules=False to ignore missing patterns"
        )
