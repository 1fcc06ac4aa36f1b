"""A published rule list: a classifier whose rules are tried one after the other, each with its confidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, StatementError, arguments, number, shown
from ...rules import find_values, records_of_scores
from ...tables.selection import choose
from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source

__all__ = ["PublishedRuleList"]


class PublishedRuleList(Source):
    """P(x | Q and none of the Q before) = c, for every rule "else if Q then x, with confidence c" of a list.

    Parameters
    ----------
    rules : list of (dict, value, float or None)
        The rules in order: what Q sets (``{}`` is everybody who is left), the class, and its confidence among the
        people whom the rule decides. None if that is not published: then the rule only takes its people out.
    decimals : int, optional
        To how many decimals the confidences are printed; None is exactly.
    integer : bool
        Numbers of people are whole.

    Raises
    ------
    StatementError
        If a rule cannot be read, or, when added to a model, decides for nobody or for no whole number of people.
    BadProbability
        If a confidence is no probability.
    UnknownName
        When added to a model, if it has no such attribute or value.

    Notes
    -----
    Published rules, section VII (future work): the people whom a rule decides are known from everybody's QI.

    Examples
    --------
    Of ten people six have a doctorate, of whom the list says that 83% earn more, and of those who are left that 50% do
    not: five of six and two of four.

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

    def __init__(
        self,
        rules: Iterable[tuple[Mapping[str, object], object, float | None]],
        decimals: int | None = None,
        integer: bool = True,
    ) -> None:
        arguments.flag(integer, "integer")
        if decimals is not None:
            arguments.whole(decimals, "decimals", 0)
        if not arguments.is_several(rules):
            raise StatementError(f"a list of rules is expected, not {shown(rules)}")
        self.rules: list[tuple[dict[str, Any], object, float | None]] = []
        for i, rule in enumerate(rules, 1):
            if not isinstance(rule, tuple) or len(rule) != 3 or not isinstance(rule[0], Mapping):
                raise StatementError(
                    f"rule {i} is {shown(rule)}; ({{attribute: value}}, class, confidence) is expected"
                )
            given, value, confidence = rule
            if confidence is not None and not 0 <= number(confidence, f"the confidence of rule {i}") <= 1:
                raise BadProbability(f"the confidence of rule {i} is {confidence!r}, which is no probability")
            self.rules.append((dict(given), value, confidence))
        self.decimals, self.integer = decimals, integer

    @property
    def label(self) -> str:
        """The name of this source, with the number of rules."""
        return f"list of {len(self.rules)} rules"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row for every rule whose confidence is published.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            P(Q and none before, x), probabilities, between the numbers of people that a confidence may stand for.

        Raises
        ------
        UnknownName
            If the view has no such attribute or value.
        StatementError
            If a rule decides for nobody, or for no whole number of people.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> source = mx.PublishedRuleList([({"Gender": "male"}, "Flu", 0.5), ({}, "Breast Cancer", None)])
        >>> (rows,) = source.rows(mx.MaxEnt(release).space)          # of the other rule no confidence is told
        >>> rows.name(0), rows.low.round(3).tolist(), rows.relation  # half of the six men are 3 of 10 people
        ('rule: 1. Gender=male => Flu', [0.3], '==')
        """
        view = space.view
        left, members, names = np.ones(len(view.n_q), dtype=bool), [], []
        for i, (given, value, _) in enumerate(self.rules, 1):
            decided = space.described(given) & left
            text = ", ".join(f"{name}={choose(one, name)}" for name, one in given.items()) or "everybody left"
            names.append(f"{i}. {text} => {value}")
            if not decided.any():
                raise StatementError(f"rule {names[-1]!r} decides for nobody: those before it do; leave it out")
            members.append(decided)
            left &= ~decided
        scored = np.array([i for i, rule in enumerate(self.rules) if rule[2] is not None], dtype=int)
        if not len(scored):
            return
        covered = sp.csr_array(np.array(members)[scored].astype(float))
        values = pd.Series([self.rules[i][1] for i in scored], index=[names[i] for i in scored], dtype=object)
        s = find_values(values, view.sensitive_values, f"value of {view.sa!r}")
        n_q = np.asarray(covered @ view.n_q).astype(np.int64)
        score = np.array([self.rules[i][2] for i in scored], dtype=float)
        low, high = records_of_scores(score, n_q, list(values.index), "confidence", self.decimals, integer=self.integer)
        share = 1 / space.n_records
        yield Rows(space.joint(covered, s), low * share, high * share, "rule", values.index, view)
