"""Membership: inference of the people in a release from a voter list (delta-presence), and from published counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import softmax

from .._utils.errors import StatementError, TableError, join_names
from .._utils.formatting import Message, people_message
from .._utils.tables import check_columns, choose, counted_people, plain_index, sort_distinct
from .._utils.validation import check_instance, check_mapping, check_positive, check_str
from ..model.explain import model_of
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..releases.base import OUTSIDE
from ..releases.generalized import GroupedRelease, groups_of, read_hierarchies
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..sources.queries import AnsweredQueries
from ..sources.soft import soft
from ..terms.space import Space
from .result import AttackResult, places_in

#: The groups of people that ROC curves compare.
GROUPS = ("in the data", "not in the data")
#: Probabilities that differ by less count as one threshold, because results of solvers differ by as much.
SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class AggregatesResult(AttackResult):
    """P(s | q) from published answers, and the accuracy with which P(target | q) identifies the target value.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities, one row per QI tuple of the population, one column per value; the baseline is their mean over the data.
    records : Series
        Number of people of each QI tuple in the data.
    error : float
        Bound on the distance of P from the maximum-entropy answer, for QI tuples in the data.
    truth : DataFrame
        Number of people of each QI tuple: one column for each combination of being in the data or not, and of having
        the target value (True) or not (False).
    scores : Series
        P(target | q), by QI tuple.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Sex": list("ffmmffmm"), "Age": [30, 40, 30, 40] * 2})
    >>> people["HIV"], people["inside"] = [True, *[False] * 4, True, False, True], [True] * 4 + [False] * 4
    >>> answers = mx.AnsweredQueries([{"Sex": "f", "HIV": True}, {"Age": 30, "HIV": True}, {"HIV": True}], [1, 1, 1])
    >>> result = mx.attacks.aggregates(answers, people, target={"HIV": True}, members="inside")
    >>> print(result.auc.round(2))
                     people   auc  standard_error
    in the data           4  1.00            0.00
    not in the data       4  0.12            0.18
    """

    truth: pd.DataFrame
    scores: pd.Series

    title: ClassVar[str | None] = "answers"
    _checks_number: ClassVar[bool] = False  # the people to compare with need not be in the data

    @cached_property
    def roc(self) -> pd.DataFrame:
        """The share of people without the target value, and with it, whose score reaches each threshold.

        Columns `group`, `threshold`, `false_positive`, `true_positive`; thresholds fall. No row if no group has people with
        and without it.
        """
        if not self.groups:
            return pd.DataFrame(columns=["group", "threshold", "false_positive", "true_positive"], dtype=float)
        return pd.concat([self._curve(group) for group in self.groups], ignore_index=True)

    @property
    def groups(self) -> list[str]:
        """The groups, in the data and not in the data, that have people with and without the target value."""
        return [group for group in GROUPS if min(self.truth[group, has].sum() for has in (False, True)) > 0]

    @cached_property
    def auc(self) -> pd.DataFrame:
        """P(score of a person with the target value > score of a person without); ties count half.

        One row per group: `people`, `auc`, and its `standard_error` (DeLong, DeLong and Clarke-Pearson, 1988).
        """
        rows = {group: self._area(group) for group in self.groups}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["people", "auc", "standard_error"])

    @property
    def vulnerability(self) -> tuple[float, float]:
        """AUC for people in the data minus AUC for others, and its standard error."""
        area, error = self.auc.reindex(list(GROUPS))[["auc", "standard_error"]].to_numpy(dtype=float).T
        return float(area[0] - area[1]), math.hypot(*error)

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        clauses = [
            Message(f"{{area:.2f}} (standard error {{error:.2g}}) of {{n}} people {group}", n=n, area=area, error=error)
            for group, n, area, error in self.auc.itertuples()
        ]
        if not clauses:
            return Message("the area under the ROC is not defined: all have the value, or nobody")
        both = clauses[0] if len(clauses) == 1 else Message("{first} and {second}", first=clauses[0], second=clauses[1])
        return Message("the area under the ROC is {both}", both=both)

    def _counts(self, group: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the scores, increasing, and the numbers of people without and with the target value for each."""
        rounded, number = np.unique(np.rint(self.scores.to_numpy() / SAME), return_inverse=True)
        weights = [self.truth[group, has].to_numpy() for has in (False, True)]
        without, having = (np.bincount(number, count, len(rounded)) for count in weights)
        return rounded * SAME, without, having

    def _curve(self, group: str) -> pd.DataFrame:
        """Return the ROC curve of a group, from nobody to everybody."""
        score, without, having = self._counts(group)
        is_populated = without + having > 0
        rates = [np.concatenate([[0.0], np.cumsum(n[is_populated][::-1]) / n.sum()]) for n in (without, having)]
        threshold = np.concatenate([[np.inf], score[is_populated][::-1]])
        return pd.DataFrame(
            {"group": group, "threshold": threshold, "false_positive": rates[0], "true_positive": rates[1]}
        )

    def _area(self, group: str) -> tuple[int, float, float]:
        """Return the number of people, the area under the curve, and its standard error."""
        _, without, having = self._counts(group)
        n, m = without.sum(), having.sum()
        beaten = (np.cumsum(without) - without / 2) / n  # the share of people without it below each score
        beating = 1 - (np.cumsum(having) - having / 2) / m
        area = float(having @ beaten / m)
        variance = 0.0
        for count, share, size in ((having, beaten, m), (without, beating, n)):
            variance += float(count @ (share - area) ** 2) / max(size - 1, 1) / size
        return int(n + m), area, math.sqrt(variance)


def aggregates(
    answers: AnsweredQueries,
    population: pd.DataFrame,
    *,
    target: Mapping[str, object],
    members: str | None = None,
    sd: float = 0.1,
) -> AggregatesResult:
    """Infer P(s | q) ~ exp(sum_j m_j [query j counts q, s]), the maximum-entropy answer to published counts.

    The attacker knows the QI of everybody in the data, and published counts. The more counts are published, the more
    they reveal about individuals, and not only about similar people. The same function of q is applied to people who
    are not in the data; the difference in performance is the risk caused by being in the data.

    Parameters
    ----------
    answers : AnsweredQueries
        Counts of the people in the data, by QI and the sensitive attribute.
    population : DataFrame
        One row per person: the attributes in the queries, the sensitive attribute, and `members`. The attack uses the
        set of sensitive values; the values of individuals are used for the evaluation only.
    target : dict
        The sensitive attribute and the value, or list of values, to infer: ``{"Disease": "HIV"}``.
    members : str, optional
        A boolean column, True for people in the data; by default everybody is.
    sd : float
        Standard deviation of the answers, in people, which keeps the m_j finite. Answers enter through the likelihood
        of a Gaussian error (:func:`maxent_cvx.soft`). For noisy answers, use the standard deviation of the noise.

    Returns
    -------
    AggregatesResult
        With ``scores``, ``roc``, ``auc`` and ``vulnerability``.

    Raises
    ------
    StatementError
        If `answers` are not counts, or contain no quasi-identifier; or `target` is not one attribute.
    UnknownName, TableError, BadProbability
        If the population lacks a column or the target value, nobody is in the data, a query contains a QI value that
        nobody in the data has, or `sd` is not positive.

    Notes
    -----
    For one value against the rest this is a logistic regression of the secret on the queries as features, fitted to the
    answers alone. With as many linearly independent queries as people, the scores equal the people's values: linear
    reconstruction (Dinur and Nissim, "Revealing information while preserving privacy", PODS 2003). Annamalai, Gadotti
    and Rocher, "A linear reconstruction approach for attribute inference attacks against synthetic data", USENIX
    Security 2024, apply it to marginals of synthetic data; they also distinguish inferences about a person from those
    about a population.

    Examples
    --------
    Ten counts of twenty people, by two of eight attributes each:

    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame(rng.integers(0, 2, (40, 8)), columns=list("abcdefgh")).assign(ill=rng.random(40) < 0.5)
    >>> people["inside"] = np.arange(40) < 20
    >>> queries = [{a: 1, b: 0, "ill": True} for a, b in zip("abcdefghab", "bcdefghacd")]
    >>> data = people[people["inside"]]
    >>> counts = [int((data[list(q)] == pd.Series(q)).all(axis=1).sum()) for q in queries]
    >>> answers = mx.AnsweredQueries(queries, counts)
    >>> result = mx.attacks.aggregates(answers, people, target={"ill": True}, members="inside")
    >>> result.auc["auc"].round(2).to_dict()
    {'in the data': 0.97, 'not in the data': 0.5}
    """
    check_instance(answers, AnsweredQueries, "answers")
    if answers.of != "count":
        raise StatementError(f"answers must be counts, got answers of kind {answers.of!r}")
    check_mapping(target, "target", "{sensitive attribute: value}")
    if len(target) != 1:
        raise StatementError(f"target must have one attribute, {{attribute: value}}, got {len(target)}")
    ((sa, chosen),) = target.items()
    check_str(sa, "the sensitive attribute")
    check_positive(sd, "sd")
    qi = tuple(dict.fromkeys(str(name) for query in answers.queries for name in query if name != sa))
    if not qi:
        raise StatementError("the queries must contain a quasi-identifier; without one they are the same for everybody")
    roles = {"queries": qi, "target": (sa,)} | ({} if members is None else {"members": (members,)})
    check_columns(population, roles, "the population")
    inside = _inside(population, members)
    _check_asked(answers, population, inside, sa)
    values = pd.Index(sort_distinct(population[[sa]])[1].get_level_values(0), name=sa)
    is_target = choose(chosen, sa).mask(values, sa)
    post = MaxEnt(_people(population[inside], qi, values)).add(soft(answers, sd=sd)).solve()
    table = _of_everybody(post, answers, _people(population, qi, values))
    p = post.conditional()
    table.iloc[table.index.get_indexer(p.index)] = p.to_numpy()  # by position, since labels may be True and False
    # Numbers of people with and without the target value, in the data and not.
    code = sort_distinct(population[list(qi)])[0]
    has = is_target[table.columns.get_indexer(pd.Index(population[sa]))]
    truth = {
        (group, value): np.bincount(code[in_group & (has == value)], minlength=len(table))
        for group, in_group in zip(GROUPS, (inside, ~inside), strict=True)
        for value in (False, True)
    }
    records = pd.Series(np.bincount(code[inside], minlength=len(table)), table.index, name="people")
    mean = np.average(table.to_numpy(), axis=0, weights=records)
    baseline = pd.DataFrame(np.tile(mean, (len(table), 1)), table.index, table.columns)
    scores = pd.Series(table.to_numpy()[:, is_target].sum(axis=1), table.index, name="score")
    error = float(post.certificate.bound)
    return AggregatesResult(table, baseline, records, error, pd.DataFrame(truth, table.index), scores)


def _inside(population: pd.DataFrame, members: str | None) -> np.ndarray:
    """Mark the people in the data."""
    if members is None:
        return np.ones(len(population), dtype=bool)
    column = population[members]
    if not pd.api.types.is_bool_dtype(column):
        raise TableError(f"column {members!r} must be boolean, True for people in the data")
    if not column.any():
        raise TableError(f"nobody is in the data: column {members!r} is False for everybody")
    return column.to_numpy(dtype=bool)


def _check_asked(answers: AnsweredQueries, population: pd.DataFrame, inside: np.ndarray, sa: str) -> None:
    """Raise TableError for queries about values that nobody in the data has, since these reveal nothing."""
    for number, query in enumerate(answers.queries, 1):
        for name, chosen in query.items():
            if name == sa:
                continue
            values = pd.Index(population[name].unique())
            marked = choose(chosen, name).mask(values, name)
            occurs = marked & values.isin(population.loc[inside, name])
            named = not isinstance(chosen, pd.Interval)
            if (occurs != marked).any() if named else not occurs.any():
                raise TableError(
                    f"query {number} contains {name}={join_names(values[marked & ~occurs])}, which nobody in the data has; "
                    "remove it, or the query if nobody else matches it"
                )


def _people(table: pd.DataFrame, qi: tuple[str, ...], values: pd.Index) -> QITable:
    """Return people with unknown sensitive values."""
    return QITable(table[list(qi)], qi=qi, sa=str(values.name), sa_values=values)


def _of_everybody(post: Posterior, answers: AnsweredQueries, view: QITable) -> pd.DataFrame:
    """Return P(s | q) for the whole population, from the multipliers of the answers."""
    space = Space.of(view)
    (query_rows,) = AnsweredQueries(answers.queries, np.zeros(len(answers.queries))).rows(space)
    (answer_rows,) = answers.rows(post.space)
    multipliers = np.zeros(len(query_rows))
    if len(answer_rows):
        *_, of_answers = post.multipliers.values()  # knowledge comes last
        scale = model_of(post).form.scale[-len(of_answers) :]  # N for a row without terms, and 1 for others
        multipliers[_places(answer_rows.index, query_rows.index)] = of_answers * scale
    log = np.full((len(view.quasi_identifiers), len(view.sensitive_values)), -np.inf)
    log[space.codes["q"], space.codes["s"]] = query_rows.matrix.T @ multipliers / space.n_records
    return pd.DataFrame(softmax(log, axis=1), plain_index(view.quasi_identifiers), view.sensitive_values)


def _places(answered: pd.Index | None, queried: pd.Index | None) -> list[int]:
    """Return positions of the queries that have a row, in order; uninformative queries have none."""
    assert answered is not None
    assert queried is not None
    unmatched = iter(enumerate(queried))
    return [next(i for i, other in unmatched if other == name) for name in answered]


#: The name of the columns of a membership table.
INSIDE = "in the release"


@dataclass(frozen=True, eq=False, repr=False)
class MembershipResult(AttackResult):
    """P(in the release | q) for everybody in a population, with the baseline N / population.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities of False and True, one row per QI tuple of the population.
    records : Series
        Number of people of the population with each QI tuple.
    error : float
        Bound on the distance of P from the maximum-entropy answer; 0 if no two groups cover the same people, since the
        answer is then exact.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> release = mx.Release.from_generalized(
    ...     pd.DataFrame({"Age": ["2*", "2*", "45"], "Disease": ["Flu", "HIV", "Flu"]}), qi="Age", sa="Disease")
    >>> voters = pd.DataFrame({"Age": ["21", "24", "28", "45", "50"]})
    >>> result = mx.attacks.membership(release, voters)
    >>> result
    <3 of 5 people are in the release: P(in the release) is from 0 to 1, and surely 1 for 1 person>
    >>> result.delta
    (0.0, 1.0)
    >>> result.judge(pd.DataFrame({"Age": ["21", "28", "45"]})).right           # the people in it, one row each
    0.8
    """

    title: ClassVar[str | None] = "membership"

    @property
    def p(self) -> pd.Series:
        """P(in the release) by QI tuple."""
        return self.table[True].rename(INSIDE)

    @property
    def delta(self) -> tuple[float, float]:
        """(delta_min, delta_max): the least and the largest P(in the release) of anybody in the population."""
        return float(self.p.min()), float(self.p.max())

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        n = self.records.to_numpy()
        inside = round(float(n @ self.baseline[True].to_numpy()))
        sure = int(n[self.p.to_numpy() >= 1 - self.error].sum())
        least, most = (f"{end:.3g}" for end in self.delta)
        return Message(
            "{inside} of {n} people are in the release: P(in the release) is from {least} to {most}, and surely 1 for {sure}",
            inside=inside,
            n=int(n.sum()),
            least=least,
            most=most,
            sure=people_message(sure),
        )

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """Count the people of each QI tuple outside and inside, from a table of the people in the release."""
        qi = [str(name) for name in self.table.index.names]
        check_columns(original, {"qi": qi}, "the people in the release")
        at = places_in(self.table.index, original[qi])
        if (at < 0).any():
            raise TableError("some people who are claimed to be in the release are not in the population; remove them")
        inside = np.bincount(at, minlength=len(self.table))
        n = round(float(self.records.to_numpy() @ self.baseline[True].to_numpy()))
        if len(original) != n:
            raise TableError(
                f"{len(original)} people are claimed to be in the release, which has {n} records; pass one row for each "
                "person in it"
            )
        if (few := self.records.to_numpy() < inside).any():
            raise TableError(
                f"for {int(few.sum())} QI tuples, more people are claimed to be in the release than are in the population; "
                "pass the people who are in the release"
            )
        return np.column_stack([self.records.to_numpy() - inside, inside])


def membership(
    release: Release | GroupedRelease,
    population: pd.DataFrame | None = None,
    *,
    count: str | None = None,
    hierarchies: Mapping[str, object] | None = None,
) -> MembershipResult:
    """Infer P(in the release | q) = sum_g P(in group g | q) for everybody in a population.

    If no two groups cover the same people, this is exactly n(g) / (people of the population covered by g), since all
    choices of people for its records are equally likely. If groups overlap, nobody is in two of them, and the answer is
    the maximum-entropy one, which is correct on average over the choices.

    Parameters
    ----------
    release : Release or GroupedRelease
        A release with generalised or exact QI; the sensitive values do not matter.
    population : DataFrame, optional
        The exact QI of everybody who may be in the release, one row per person. None if the release was made with its
        population.
    count : str, optional
        The column of the population with the number of people that a row represents.
    hierarchies : dict, optional
        Hierarchies of generalised values, as in :meth:`maxent_cvx.Release.from_generalized`.

    Returns
    -------
    MembershipResult
        By QI tuple of the population; ``delta`` is the smallest and the largest probability. The baseline is
        N / population.

    Raises
    ------
    StatementError
        If `release` is not a release, or the population is missing or given twice, in the release and as `population`.
    UnknownName, TableError
        If the population lacks a column, or a group, or all groups together, cover fewer people than there are records.
    Infeasible
        If some overlapping groups together cover fewer people than they have records.

    Notes
    -----
    Nergiz, Atzori and Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007: a release is
    (delta_min, delta_max)-present if all these probabilities are between the two. Their groups do not overlap.

    In the possible worlds of overlapping groups, people are in group g or in none, independently, with the
    probabilities of the maximum-entropy answer, given that every group has its n(g) people. The answer omits this
    condition; the difference vanishes as the size of groups grows.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> patients = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "[30, 49]"], "Disease": ["Flu", "HIV", "Flu"]})
    >>> release = mx.Release.from_generalized(patients, qi="Age", sa="Disease")
    >>> voters = pd.DataFrame({"Age": [21, 25, 33, 41, 52], "n": [1, 2, 3, 1, 3]})
    >>> result = mx.attacks.membership(release, voters, count="n")
    >>> result.p.round(3).to_dict()
    {21: 0.667, 25: 0.667, 33: 0.25, 41: 0.25, 52: 0.0}
    """
    check_instance(release, (Release, GroupedRelease), "release", "make one with Release.from_generalized(...)")
    tuples, n_q, size, cover = _groups(release, population, count, hierarchies)
    covered = cover @ n_q
    if (few := covered < size).any():
        raise TableError(
            f"{int(few.sum())} of {len(size)} groups have more records than matching people in the population; pass the "
            "population from which the release was made"
        )
    n_groups = np.asarray(cover.sum(axis=0))
    if (within := int(n_q[n_groups > 0].sum())) < size.sum():
        raise TableError(f"the release has {int(size.sum())} records, but only {within} people in the population match")
    if n_groups.max() <= 1:
        p, error = np.asarray(cover.T @ (size / covered)), 0.0
    else:
        p, error = _of_overlapping(n_q, size, cover)
    index = plain_index(tuples)
    columns = pd.Index([False, True], name=INSIDE)
    table = pd.DataFrame(np.column_stack([1 - p, p]), index, columns)
    share = size.sum() / n_q.sum()
    baseline = pd.DataFrame(np.tile([1 - share, share], (len(p), 1)), index, columns)
    return MembershipResult(table, baseline, pd.Series(n_q, index, name="people"), error)


def _groups(
    release: Release | GroupedRelease,
    population: pd.DataFrame | None,
    count: str | None,
    hierarchies: Mapping[str, object] | None,
) -> tuple[pd.MultiIndex, np.ndarray, np.ndarray, sp.csr_array]:
    """Return the QI tuples of the population, their people, the records of each group, and its cover of tuples."""
    if isinstance(release, Release) and release.matched and population is None:  # everybody is in a known group
        size = np.asarray(release.n_sb.sum(axis=0))
        return release.quasi_identifiers, release.n_q, size, sp.csr_array((release.n_qb.T > 0).astype(float))
    if isinstance(release, GroupedRelease):
        if population is not None or count is not None or hierarchies is not None:
            raise StatementError("the release contains its population; omit population, count and hierarchies")
        size = np.asarray(release.n_sb[np.flatnonzero(release.inside)].sum(axis=0))
        groups = np.flatnonzero(size)
        return release.quasi_identifiers, release.n_q, size[groups], sp.csr_array(release.cover[groups])
    if population is None:
        raise StatementError("the release does not contain its population; pass the population, a DataFrame")
    people, alike = counted_people(population, {"qi": release.qi}, count, "the population")
    cells = release.quasi_identifiers.to_frame(index=False)
    tuples, n_q, cover = groups_of(cells, people[list(release.qi)], alike, read_hierarchies(hierarchies))
    return tuples, n_q, release.n_q, cover


def _of_overlapping(n_q: np.ndarray, size: np.ndarray, cover: sp.csr_array) -> tuple[np.ndarray, float]:
    """Return the maximum-entropy P(in the release) for overlapping groups, and a bound on its error."""
    numbers = pd.MultiIndex.from_arrays([np.arange(len(n_q))], names=["number"])
    groups, values = pd.RangeIndex(len(size), name="group"), pd.Index(["record"], name="value")
    n_sb = sp.csr_array(size[None, :].astype(np.int64))
    view = GroupedRelease(("number",), ("value",), numbers, n_q, values, groups, n_sb, cover)
    post = MaxEnt(view).solve()
    if view.inside.all():  # as many records as people
        return np.ones(len(n_q)), 0.0
    return 1.0 - post.conditional()[OUTSIDE].to_numpy(), float(post.certificate.bound)
