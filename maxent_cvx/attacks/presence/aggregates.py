"""Attribute inference from published answers, of people in the data and of people who are not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, listing
from ...model.maxent import MaxEnt
from ...model.posterior import Posterior
from ...sources import AnsweredQueries, soft
from ...tables.coding import sort_distinct
from ...tables.columns import check_columns
from ...tables.selection import choose
from ...terms.space import Space
from ...views import QITable
from .aggregates_result import GROUPS, AggregatesResult

__all__ = ["aggregates"]


def aggregates(
    answers: AnsweredQueries,
    population: pd.DataFrame,
    *,
    target: Mapping[str, object],
    members: str | None = None,
    sd: float = 0.1,
) -> AggregatesResult:
    """P(s | q) in proportion to exp(sum_j m_j [query j counts q, s]): the maximum-entropy answer to published counts.

    An attacker knows the QI of everybody in the data, and counts that were published of them. The more counts, the more
    they say of single people, and not only of people who are like them. Of somebody who is not in the data, the same
    function of q is what the answers say: how much better it is of those who are in it is what being in it costs them.

    Parameters
    ----------
    answers : AnsweredQueries
        Counts of the people in the data, by QI and the sensitive attribute.
    population : DataFrame
        A row a person: the attributes that queries name, the sensitive one, and `members`. The sensitive values of
        people are not used for the attack but to judge it; which values there are is.
    target : dict
        The sensitive attribute and the value, or the values, that is looked for: ``{"Disease": "HIV"}``.
    members : str, optional
        The column that says who is in the data, of True and False; by default everybody is.
    sd : float
        People: answers are taken to be this far from the truth, which keeps the m_j finite. They are held to softly, by
        the likelihood of a Gaussian error (:func:`maxent_cvx.soft`). Of noisy answers, the noise's.

    Returns
    -------
    AggregatesResult
        With ``scores``, ``roc``, ``auc`` and ``vulnerability``.

    Raises
    ------
    StatementError
        If `answers` are no counts of AnsweredQueries, or name no quasi-identifier; or `target` is not one attribute.
    UnknownName, TableError, BadProbability
        If the population lacks a column or the target value, nobody is in the data, a query names a value of
        quasi-identifiers that only others have, or `sd` is not above 0.

    Notes
    -----
    Of one value against the rest that is a logistic regression of the secret on the queries as features, fitted to the
    answers alone. With as many queries as people, and none implied by others, scores are the people's values: linear
    reconstruction (Dinur and Nissim, "Revealing information while preserving privacy", PODS 2003); of marginals of
    synthetic data Annamalai, Gadotti and Rocher, "A linear reconstruction approach for attribute inference attacks
    against synthetic data", USENIX Security 2024, who as well tell what is learnt of a person from what is learnt of a
    population.

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
    arguments.instance(answers, AnsweredQueries, "answers")
    if answers.of != "count":
        raise StatementError(f"answers are counts here, and these are of={answers.of!r}")
    arguments.mapping(target, "target", "{sensitive attribute: value}")
    if len(target) != 1:
        raise StatementError(f"target names {len(target)} attributes; one is looked for, {{attribute: value}}")
    ((sa, wanted),) = target.items()
    arguments.text(sa, "the sensitive attribute")
    arguments.positive(sd, "sd")
    qi = tuple(dict.fromkeys(str(name) for query in answers.queries for name in query if name != sa))
    if not qi:
        raise StatementError("the queries name no quasi-identifier, and say the same of everybody")
    roles = {"queries": qi, "target": (sa,)} | ({} if members is None else {"members": (members,)})
    check_columns(population, roles, "the population")
    inside = _inside(population, members)
    _check_asked(answers, population, inside, sa)
    values = pd.Index(sort_distinct(population[[sa]])[1].get_level_values(0), name=sa)
    is_target = choose(wanted, sa).mask(values, sa)
    post = MaxEnt(_people(population[inside], qi, values)).add(soft(answers, sd=sd)).solve()
    table = _of_everybody(post, answers, _people(population, qi, values))
    found = post.conditional()
    table.iloc[table.index.get_indexer(found.index)] = found.to_numpy()  # by place: labels may be True and False
    return _judged(table, float(post.certificate.bound), population, inside, (qi, sa, is_target))


def _inside(population: pd.DataFrame, members: str | None) -> np.ndarray:
    """Who is in the data."""
    if members is None:
        return np.ones(len(population), dtype=bool)
    column = population[members]
    if not pd.api.types.is_bool_dtype(column):
        raise TableError(f"column {members!r} says who is in the data: True and False are expected")
    if not column.any():
        raise TableError(f"nobody is in the data: {members!r} is False of everybody")
    return column.to_numpy(dtype=bool)


def _check_asked(answers: AnsweredQueries, population: pd.DataFrame, inside: np.ndarray, sa: str) -> None:
    """Refuse queries about values that only people have who are not in the data: they say nothing of those who are."""
    for number, query in enumerate(answers.queries, 1):
        for name, chosen in query.items():
            if name == sa:
                continue
            values = pd.Index(population[name].unique())
            asked = choose(chosen, name).mask(values, name)
            held = asked & values.isin(population.loc[inside, name])
            named = not isinstance(chosen, pd.Interval)
            if (held != asked).any() if named else not held.any():
                raise TableError(
                    f"query {number} asks for {name}={listing(values[asked & ~held])}, which nobody in the data has, "
                    "and others have: leave that out, and a query about nobody in the data altogether"
                )


def _people(table: pd.DataFrame, qi: tuple[str, ...], values: pd.Index) -> QITable:
    """People whose sensitive values are not known."""
    return QITable(table[list(qi)], qi=qi, sa=str(values.name), sa_values=values)


def _of_everybody(post: Posterior, answers: AnsweredQueries, view: QITable) -> pd.DataFrame:
    """P(s | q) of the whole population, from the multipliers of the answers."""
    space = Space.of(view)
    (asked,) = AnsweredQueries(answers.queries, np.zeros(len(answers.queries))).rows(space)
    (said,) = answers.rows(post.space)
    multipliers = np.zeros(len(asked))
    if len(said):
        *_, multipliers[_places(said.index, asked.index)] = post.multipliers.values()  # knowledge comes last
    log = np.full((len(view.quasi_identifiers), len(view.sensitive_values)), -np.inf)
    log[space.codes["q"], space.codes["s"]] = asked.matrix.T @ multipliers / space.n_records
    p = np.exp(log - log.max(axis=1, keepdims=True))
    index = view.quasi_identifiers if len(view.qi) > 1 else view.quasi_identifiers.get_level_values(0)
    return pd.DataFrame(p / p.sum(axis=1, keepdims=True), index, view.sensitive_values)


def _places(said: pd.Index | None, asked: pd.Index | None) -> list[int]:
    """Which queries have a row: those that say nothing have none, the others are in order."""
    assert said is not None
    assert asked is not None
    rest = iter(enumerate(asked))
    return [next(i for i, other in rest if other == name) for name in said]


def _judged(
    table: pd.DataFrame, error: float, population: pd.DataFrame, inside: np.ndarray,
    roles: tuple[tuple[str, ...], str, np.ndarray],
) -> AggregatesResult:  # fmt: skip
    """Count who has the target value, and who is in the data."""
    qi, sa, is_target = roles
    code = sort_distinct(population[list(qi)])[0]
    has = is_target[table.columns.get_indexer(pd.Index(population[sa]))]
    truth = {
        (group, value): np.bincount(code[here & (has == value)], minlength=len(table))
        for group, here in zip(GROUPS, (inside, ~inside), strict=True)
        for value in (False, True)
    }
    records = pd.Series(np.bincount(code[inside], minlength=len(table)), table.index, name="people")
    mean = np.average(table.to_numpy(), axis=0, weights=records)
    baseline = pd.DataFrame(np.tile(mean, (len(table), 1)), table.index, table.columns)
    scores = pd.Series(table.to_numpy()[:, is_target].sum(axis=1), table.index, name="score")
    return AggregatesResult(table, baseline, records, error, pd.DataFrame(truth, table.index), scores)
