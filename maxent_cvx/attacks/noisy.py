"""Noisy counts: exact inference about people from answers with noise of a known distribution, and sentences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp, ndtr, ndtri

from .._utils.errors import BadProbability, GroupTooLarge, StatementError, TableError, short_repr
from .._utils.formatting import Message, people_message
from .._utils.tables import as_numbers, group_codes, ranges, real_numbers
from .._utils.validation import check_array, check_dataframe, check_instance, check_label, check_list, check_positive
from ..solvers.sparse import components
from ..sources.queries import noise_penalty
from ..terms.rows import Penalty
from ..worlds.conditioning import TRANSITION, contradiction, log_sums
from ..worlds.groups import STEPS
from ..worlds.sentences import FALSE, TRUE, PersonKnowledge, Residuals, Sentence, atoms, listed
from .result import AttackResult

#: Largest rounding error of the sum of a row of a prior, which must be 1.
ROUNDING = 1e-9
#: The largest -ln of the weight of all worlds, relative to the best fit of each count: its rounding error is about 1e-6.
MOST_NATS = 1e10


@dataclass(frozen=True, eq=False, repr=False)
class NoisyResult(AttackResult):
    """P(s | person) given noisy counts and sentences, and the privacy parameters of the noise.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities, one row per person, one column per value; the baseline is given the sentences alone.
    records : Series
        1 for every person.
    error : float
        0: exact up to rounding.
    bayes_factors : Series
        Per person, the largest ln P(answers | s) - ln P(answers | s') over pairs of values that are consistent with the
        sentences, in nats; 0 for a person with one possible value.
    epsilon : float or None
        The largest sum, over the answers that a change of one person's value affects, of 1 / scale (Laplace) or a
        (discrete Laplace), in nats. None for Gaussian noise, for which it is not defined.
    mu : float or None
        For Gaussian noise alone: the square root of the largest sum of 1 / scale ** 2 over the affected answers. None
        for other noise.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd, scipy.stats
    >>> answers = pd.DataFrame({"who": [["Ann", "Bob"]], "values": [["HIV"]], "answer": [2.4]})
    >>> people = {"Ann": ["HIV", "Flu"], "Bob": ["HIV", "Flu"]}
    >>> tied = ["Ann=HIV -> Bob=HIV", "Bob=HIV -> Ann=HIV"]
    >>> result = mx.attacks.noisy(answers, people, noise=scipy.stats.laplace(scale=2), knowledge=tied)
    >>> print(result)
    noisy counts of 2 people: the largest Bayes factor is exp(1), 2.0 times epsilon = 0.5
    """

    bayes_factors: pd.Series
    epsilon: float | None
    mu: float | None

    title: ClassVar[str | None] = "noisy counts"

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        largest = float(self.bayes_factors.max())
        beside = Message("Gaussian noise has no epsilon")
        if self.epsilon is not None:
            times = Message("{times:.1f} times ", times=largest / self.epsilon) if self.epsilon else ""
            beside = Message("{times}epsilon = {epsilon:.4g}", times=times, epsilon=self.epsilon)
        return Message(
            "noisy counts of {people}: the largest Bayes factor is exp({largest:.4g}), {beside}",
            people=people_message(len(self.table)),
            largest=largest,
            beside=beside,
        )

    def trade_off(self, level: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return the least type II error of a test of one value of a person against another, by the type I error.

        Parameters
        ----------
        level : list of float
            Type I errors, probabilities.

        Returns
        -------
        ndarray
            For Gaussian noise, the curve of the pair of values that changes the answers most,
            Phi(Phi^-1(1 - level) - mu). For other noise, the lower bound
            max(0, 1 - exp(epsilon) level, exp(-epsilon) (1 - level)), which need not be attained.

        Raises
        ------
        BadProbability
            If a level is not a probability.
        StatementError
            If some of the noise is Gaussian and some is not, since there is no such formula.

        Notes
        -----
        The values of all other people are assumed to be known, and not linked to the person by sentences. See Dong,
        Roth and Su (2022), Gaussian differential privacy, section 2.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, scipy.stats
        >>> answers = pd.DataFrame({"who": [["Ann", "Bob"]], "values": [["HIV"]], "answer": [2.4]})
        >>> people = {"Ann": ["HIV", "Flu"], "Bob": ["HIV", "Flu"]}
        >>> result = mx.attacks.noisy(answers, people, noise=scipy.stats.norm(scale=1))
        >>> result.trade_off([0, 0.05, 0.5, 1]).round(3).tolist()
        [1.0, 0.74, 0.159, 0.0]
        """
        alpha = check_array(level, "level")
        if (off := (alpha < 0) | (alpha > 1)).any():
            raise BadProbability(f"level must be probabilities, from 0 to 1, got {alpha[off][0]:g}")
        if self.mu is not None:
            return np.asarray(ndtr(ndtri(1 - alpha) - self.mu))
        if self.epsilon is None:
            raise StatementError("a trade-off curve requires Gaussian noise in all answers, or in none")
        # exp(epsilon) may overflow, and then 1 - exp(epsilon) level is -inf, or 1 at level 0.
        slope = np.exp(np.minimum(self.epsilon, 700.0))
        return np.asarray(np.maximum.reduce([np.zeros(len(alpha)), 1 - slope * alpha, (1 - alpha) / slope]))


def noisy(
    answers: pd.DataFrame,
    people: Iterable[Hashable] | Mapping[Any, Sequence[Hashable]],
    noise: Any,
    prior: pd.DataFrame | pd.Series | None = None,
    knowledge: Iterable[Sentence | str] = (),
    *,
    limit: float = STEPS,
) -> NoisyResult:
    """Infer P(s | person, answers, sentences) ~ sum over worlds of prod P(s_i) prod f(answer - count).

    A world assigns a value to every person; worlds in which a sentence is false are excluded. A priori, people are
    independent. The sums are computed by dynamic programming over counts: people who are in the same answers, have the
    same prior and are not mentioned in sentences are only counted, and a count is dropped after the last people of its
    answer.

    Parameters
    ----------
    answers : DataFrame
        One row per answer: `who` (a list of names), `values` (a list of sensitive values), `answer`, the number of
        people in `who` whose value is in `values`, with independent noise.
    people : list, or dict of lists
        The names of all people; or the possible values of each person by name.
    noise : frozen distribution of scipy.stats, or list of them
        ``laplace(scale=...)``, ``dlaplace(a)`` or ``norm(scale=...)``, around 0; a list has one per answer.
    prior : DataFrame or Series, optional
        P(s | person), one row per person, one column per value; or P(s) for everybody. By default all possible values are
        equally likely. Without a prior or a dict of people, the values are those in the answers and sentences.
    knowledge : list of Sentence or str, optional
        Knowledge about the people: ``"Ann=HIV or Bob=HIV"``; see :func:`maxent_cvx.worlds.read_sentence`.
    limit : float
        Largest number of steps (2e7 per second, and up to ten bytes of memory each) for people who are linked by
        answers and sentences.

    Returns
    -------
    NoisyResult

    Raises
    ------
    TableError
        If `answers` or `prior` is not a valid table.
    BadProbability
        If a prior is not a distribution; or an answer with discrete noise is not an integer.
    StatementError
        If the noise or a sentence is invalid; there is only one value; or the answers contradict each other by more
        than 1e10 nats.
    UnknownName
        If an answer or a sentence contains an unknown person or value, or a possible value is not in the prior.
    Infeasible
        If the sentences contradict each other or the prior; the error lists an irreducible set.
    GroupTooLarge
        If a bound on the number of steps exceeds the limit; this is checked before any sum is computed.

    Notes
    -----
    For independent people the Bayes factor is at most exp(epsilon); for c people linked by sentences it is at most
    exp(c epsilon), which is attained (Kifer and Machanavajjhala, 2011, No free lunch in data privacy). Answers of any
    size are supported, because weights are summed as logarithms.

    Examples
    --------
    Three friends are known to have the same disease, and one noisy number of people with HIV is published:

    >>> import maxent_cvx as mx, pandas as pd, scipy.stats
    >>> names = ["Ann", "Bob", "Cid"]
    >>> answers = pd.DataFrame({"who": [names], "values": [["HIV"]], "answer": [3.0]})
    >>> noise = scipy.stats.laplace(scale=2)
    >>> alone = mx.attacks.noisy(answers, {name: ["HIV", "Flu"] for name in names}, noise)
    >>> alone.table["HIV"].round(3).to_dict()
    {'Ann': 0.622, 'Bob': 0.622, 'Cid': 0.622}
    >>> same = ["Ann=HIV -> Bob=HIV", "Bob=HIV -> Cid=HIV", "Cid=HIV -> Ann=HIV"]
    >>> tied = mx.attacks.noisy(answers, {name: ["HIV", "Flu"] for name in names}, noise, knowledge=same)
    >>> tied.table["HIV"].round(3).to_dict()
    {'Ann': 0.818, 'Bob': 0.818, 'Cid': 0.818}
    >>> alone.epsilon, alone.bayes_factors["Ann"].round(3).item(), tied.bayes_factors["Ann"].round(3).item()
    (0.5, 0.5, 1.5)
    """
    published = _read(answers, people, noise, prior, listed(knowledge), check_positive(limit, "limit"))
    log_prior = published.log_prior
    before, after = log_prior.copy(), log_prior.copy()
    components = published.components()
    for component in components:  # before any work, so that a large component does not fail after others are done
        component.check()
    for component in components:
        before[component.people], after[component.people] = component.posteriors()
    with np.errstate(invalid="ignore"):
        gain = np.where(np.isfinite(before), after - before, np.nan)
    factors = np.nanmax(gain, axis=1) - np.nanmin(gain, axis=1)
    names, values = published.names, published.values
    weights: list[Any] = [penalty.weight for penalty in published.penalties]
    sds: list[Any] = [penalty.sd for penalty in published.penalties]
    squared_mu = published.largest([sd and 1 / sd**2 for sd in sds])
    return NoisyResult(
        table=pd.DataFrame(np.exp(after), names, values),
        baseline=pd.DataFrame(np.exp(before), names, values),
        records=pd.Series(1, names),
        error=0.0,
        bayes_factors=pd.Series(factors, names, name="ln BF"),
        epsilon=published.largest(weights),
        mu=None if squared_mu is None else math.sqrt(squared_mu),
    )


# The published answers, and the knowledge.


@dataclass(frozen=True, eq=False)
class _Published:
    """Answers about people, by positions."""

    names: pd.Index
    values: pd.Index
    member: sp.csr_array  # (people, answers)
    counted: np.ndarray  # (answers, values), bool
    answers: np.ndarray
    penalties: list[Penalty]
    log_prior: np.ndarray  # (people, values)
    known: PersonKnowledge
    limit: float

    def largest(self, rates: Sequence[float | None]) -> float | None:
        """Return the largest sum of rates of answers that one person's change of value affects; None if a rate is."""
        if any(rate is None for rate in rates):
            return None
        largest = 0.0
        member = self.member.tolil().rows  # the answers of each person
        for mine in {tuple(row) for row in member}:
            counted = self.counted[list(mine)].astype(float)
            rate = np.array([rates[a] for a in mine], dtype=float)
            # A change from s to s' affects the answers that count exactly one of the two.
            both = counted.T @ (rate[:, None] * counted)
            alone = np.diag(both)
            largest = max(largest, float((alone[:, None] + alone - 2 * both).max()))
        return largest

    def components(self) -> list[_Component]:
        """Return the connected components of people, with the answers and sentences that link them."""
        sentences = self.known.sentences
        about = [(person, n) for n, sentence in enumerate(sentences) for person in self.known.about(sentence)]
        person, n = np.array(about, dtype=np.int64).reshape(-1, 2).T
        shape = (len(self.names), len(sentences))
        links = sp.csr_array(sp.hstack([self.member, sp.csr_array((np.ones(len(n)), (person, n)), shape=shape)]))
        of_person, of_link = components(links)
        linked = pd.Series(np.flatnonzero(np.diff(links.indptr)))
        columns_of = pd.Series(range(len(of_link))).groupby(of_link).indices
        n_answers = self.member.shape[1]
        linked_people = []
        for part, people in linked.groupby(of_person[linked]):
            members, columns = people.to_numpy(), np.asarray(columns_of[part])
            mine = columns[columns < n_answers].tolist()
            known = [sentences[column - n_answers] for column in columns[columns >= n_answers]]
            inside = self.member[members][:, mine].toarray()
            linked_people.append(_Component(self, members, mine, inside, known))
        return linked_people


def _read(
    answers: object, people: Any, noise: object, prior: object, sentences: list[Sentence], limit: float
) -> _Published:
    """Check all arguments, and convert labels of people and values to positions."""
    table = check_dataframe(answers, "answers")
    for name in ("who", "values", "answer"):
        if list(table.columns).count(name) != 1:
            raise TableError(
                "answers must have one column 'who' (lists), one 'values' (lists), one 'answer' (numbers); got columns "
                f"{short_repr(list(table.columns))}"
            )
    if not len(table):
        raise TableError("answers must have at least one row")
    numbers = as_numbers(table["answer"], "answer").astype(float)
    who, counted = ([_several(cell) for cell in table[column]] for column in ("who", "values"))
    if isinstance(people, pd.DataFrame):
        people = people.index
    given = check_list(list(people) if isinstance(people, Mapping) else people, "people", "names")
    names = _labels(given, "people")
    if isinstance(people, pd.Index):
        names = names.rename(people.name)
    possible = (
        {name: check_list(chosen, "values of a person", "values") for name, chosen in people.items()}
        if isinstance(people, Mapping)
        else {}
    )
    values = _labels(_all_values(prior, possible, counted, sentences), "values")
    if len(values) < 2:
        raise StatementError(
            f"there is only the value {short_repr(values[0]) if len(values) else ''}, so nothing can be inferred; pass "
            "the possible values of all people, people={name: [value, ...]}, or a prior"
        )
    log_prior = _log_prior(prior, names, values, possible)
    kinds: list[Any] = list(noise) if isinstance(noise, list | tuple) else [noise] * len(table)
    if len(kinds) != len(table):
        raise StatementError(f"noise must be one distribution, or one per answer; got {len(kinds)} for {len(table)}")
    # The same object for all answers is read only once.
    penalty_of = {id(kind): noise_penalty(kind) for kind in kinds}
    penalties = [penalty_of[id(kind)] for kind in kinds]
    whole = np.array([kind.dist.name == "dlaplace" for kind in kinds])
    if (off := whole & (numbers != np.rint(numbers))).any():
        raise BadProbability(f"an answer with discrete noise must be an integer, got {numbers[off][0]:g}")
    row, column = _positions(names, who, "person (given in who)")
    member = sp.csr_array((np.ones(len(row), dtype=bool), (column, row)), shape=(len(names), len(table)))
    at, value = _positions(values, counted, "sensitive value (given in values)")
    mask = np.zeros((len(table), len(values)), dtype=bool)
    mask[at, value] = True
    known = PersonKnowledge.of(sentences, names, values, "person")
    return _Published(names, values, member, mask, numbers, penalties, log_prior, known, limit)


def _several(cell: object) -> list[Any]:
    """Read one or several labels."""
    return (
        list(cell) if isinstance(cell, list | tuple | set | frozenset | np.ndarray | pd.Index | pd.Series) else [cell]
    )


def _check_hashable(labels: Iterable[Any], what: str) -> None:
    """Check that labels can be compared for equality."""
    if strange := [label for label in labels if not isinstance(label, Hashable)]:
        raise TableError(f"{what} must be labels, such as strings or numbers, not {short_repr(strange[0])}")


def _labels(labels: Sequence[Any], what: str) -> pd.Index:
    """Return an index of distinct labels."""
    _check_hashable(labels, what)
    index = pd.Index(labels, tupleize_cols=False)
    if not len(index) or index.has_duplicates or index.hasnans:
        raise TableError(f"{what} must be one or more distinct labels; there is none, or one is missing or repeated")
    return index.rename({"people": "person", "values": "value"}[what])


def _all_values(
    prior: object, possible: Mapping[Any, list[Any]], counted: list[list[Any]], sentences: list[Sentence]
) -> list[Any]:
    """Return the sensitive values, in order of first occurrence."""
    if prior is not None:
        kinds: tuple[type[Any], ...] = (pd.DataFrame, pd.Series)
        table: Any = check_instance(prior, kinds, "prior", error=TableError)
        return list(table.columns if isinstance(table, pd.DataFrame) else table.index)
    named = [value for chosen in possible.values() for value in chosen]
    if not possible:
        named = [value for chosen in counted for value in chosen]
        named += [atom.value for sentence in sentences for atom in atoms(sentence)]
    _check_hashable(named, "values")
    return list(dict.fromkeys(named))


def _log_prior(prior: Any, names: pd.Index, values: pd.Index, possible: Mapping[Any, list[Any]]) -> np.ndarray:
    """Return logarithms of P(s | person) for all people, given their possible values."""
    if isinstance(prior, pd.DataFrame):
        if prior.index.has_duplicates or len(missing := names.difference(prior.index, sort=False)):
            raise TableError(
                "prior must have one row per person; "
                + ("a person occurs twice" if prior.index.has_duplicates else f"{short_repr(missing[0])} is missing")
            )
        prior = prior.reindex(names)
    p = np.ones((1, len(values))) / len(values) if prior is None else np.atleast_2d(real_numbers(prior, "prior"))
    if not (p >= 0).all() or (np.abs(p.sum(axis=1) - 1) > ROUNDING).any():
        raise BadProbability("prior must have rows of probabilities that sum to 1")
    p = np.broadcast_to(p, (len(names), len(values))).copy()
    for i, name in enumerate(names if possible else ()):
        chosen = [check_label(value, "sensitive value (given in people)", values) for value in possible[name]]
        p[i, ~values.isin(chosen)] = 0.0
    if (none := p.sum(axis=1) == 0).any():
        raise BadProbability(
            f"all possible values of {short_repr(names[none][0])} have the prior 0; pass one with a prior above 0"
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))


def _positions(labels: pd.Index, cells: list[list[Any]], what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of cell and position for the labels in every cell, without repetitions."""
    at = {label: i for i, label in enumerate(labels)}
    pairs = []
    for row, cell in enumerate(cells):
        pairs += [(row, i) for i in dict.fromkeys(at[check_label(label, what, labels)] for label in cell)]
    cell_of, position = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return cell_of, position


# People who are linked by answers and sentences.


@dataclass(frozen=True, eq=False)
class _Kind:
    """Equivalent people; values of one type are counted by the same answers, and not distinguished by sentences."""

    people: np.ndarray  # positions in the component
    position: int  # the person if mentioned in a sentence, otherwise -1
    step: np.ndarray  # (types, counts): 1 for the counts that a person of the type increases
    log_prior: np.ndarray  # (types,)
    type_of: np.ndarray  # (values,): the type of each value, -1 if the prior is 0
    mentioned: np.ndarray  # (types,): the value of the type if sentences mention it, otherwise -1


@dataclass(frozen=True, eq=False)
class _Component:
    """People who are linked by answers and sentences."""

    published: _Published
    people: np.ndarray
    answers: list[int]
    inside: np.ndarray  # (people, answers)
    sentences: list[Sentence]

    @cached_property
    def plan(self) -> _Plan:
        """Order of the computation, with the answers."""
        return _Plan.of(self)

    def check(self) -> None:
        """Raise Infeasible if the sentences are contradictory, or GroupTooLarge if the computation takes too long."""
        if np.isinf(self.before[0]):
            raise contradiction(self.sentences, lambda some: bool(np.isfinite(self._without(some)[0])))
        self.plan.allow(self.published.limit)

    def posteriors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return logarithms of P(s | person) given the sentences, and given sentences and answers."""
        log_total, table = self.plan.run()
        if not log_total >= -MOST_NATS:
            raise StatementError(
                f"the answers contradict each other: even the likeliest counts deviate from them by {-log_total:.1g} nats, "
                "too much for double precision; correct an answer, or pass noise with a larger scale"
            )
        return self.before[1], table

    @cached_property
    def before(self) -> tuple[float, np.ndarray]:
        """Logarithms of P(sentences), and of P(s | person) given the sentences alone."""
        return self._without(self.sentences) if self.sentences else (0.0, self.published.log_prior[self.people])

    def _without(self, sentences: list[Sentence]) -> tuple[float, np.ndarray]:
        """Return ln P(sentences), and ln P(s | person) given the sentences alone."""
        plan = _Plan.of(replace(self, answers=[], inside=self.inside[:, :0], sentences=sentences))
        plan.allow(self.published.limit)
        return plan.run()

    def kinds(self) -> tuple[list[_Kind], list[np.ndarray]]:
        """Return the kinds of equivalent people, and the log density of every count at 0, 1, ..."""
        published = self.published
        # Answers about the same people and values have one count; answers about all other values, its complement.
        possible = np.isfinite(published.log_prior[self.people])
        same: dict[tuple[bytes, bytes], list[tuple[int, bool]]] = {}
        for column, a in enumerate(self.answers):
            among = possible[self.inside[:, column]].any(axis=0)
            mask = published.counted[a] & among
            is_complement = bool(mask[among.argmax()])
            mask = among & ~mask if is_complement else mask
            if mask.any():
                same.setdefault((self.inside[:, column].tobytes(), mask.tobytes()), []).append((column, is_complement))
        inside = self.inside[:, np.array([columns[0][0] for columns in same.values()], dtype=np.int64)]
        counted = np.array([np.frombuffer(mask, dtype=bool) for _, mask in same], dtype=bool).reshape(
            len(same), possible.shape[1]
        )
        known = published.known
        spoken = {atom for sentence in self.sentences for atom in atoms(sentence)}
        values_of: dict[int, set[int]] = {}
        for person, value in (known.positions[atom] for atom in spoken):
            values_of.setdefault(person, set()).add(value)
        # Group people by answers and prior first, then by equal types, so that types are computed once per group.
        alike: dict[tuple[bytes, bytes, int], list[int]] = {}
        for i, person in enumerate(self.people.tolist()):
            position = person if person in values_of else -1
            alike.setdefault((inside[i].tobytes(), published.log_prior[person].tobytes(), position), []).append(i)
        groups: dict[tuple[bytes, bytes, bytes, int], tuple[_Kind, list[int]]] = {}
        for (answers, _, position), members in alike.items():
            log_prior = published.log_prior[self.people[members[0]]]
            kind = _kind(inside[members[0]], counted, log_prior, position, values_of.get(position, set()))
            key = (answers, np.round(kind.log_prior, 12).tobytes(), kind.type_of.tobytes(), position)
            groups.setdefault(key, (kind, []))[1].extend(members)
        kinds = [replace(kind, people=np.array(members)) for kind, members in groups.values()]
        most = inside.sum(axis=0)
        costs = []
        for n, columns in zip(most.tolist(), same.values(), strict=True):
            cost = np.zeros(n + 1)
            for column, other in columns:
                penalty = published.penalties[self.answers[column]]
                count = n - np.arange(n + 1) if other else np.arange(n + 1)
                answer = published.answers[self.answers[column]]
                # Only differences matter: misses beyond that of the nearest count keep digits, however far the answer.
                nearest = np.clip(answer, 0, n)
                more, least = np.abs(count - nearest), abs(answer - nearest)
                with np.errstate(over="ignore"):
                    cost -= more * (more / 2 + least) / penalty.sd**2 if penalty.sd else more * penalty.weight
            costs.append(cost - cost.max())
        return kinds, costs


def _kind(inside: np.ndarray, counted: np.ndarray, log_prior: np.ndarray, position: int, spoken: set[int]) -> _Kind:
    """Return the kind of a person, with the types of values."""
    possible = np.flatnonzero(np.isfinite(log_prior))
    adds = (counted & inside[:, None]).T[possible]
    mention = np.array([value if value in spoken else -1 for value in possible.tolist()])
    rows, which = np.unique(np.column_stack([adds, mention]).astype(np.int64), axis=0, return_inverse=True)
    which = which.reshape(-1)
    type_of = np.full(len(log_prior), -1)
    type_of[possible] = which
    of_type = np.array([logsumexp(log_prior[possible[which == t]]) for t in range(len(rows))])
    return _Kind(np.empty(0, dtype=np.int64), position, rows[:, :-1], of_type, type_of, rows[:, -1])


# The dynamic program.
#
# A step assigns a value to one person, or a type to a number of people of a kind. A state consists of the residual of
# the sentences, the counts of unfinished answers, and the number of people of each unfinished kind who have a type. A
# count is weighted with the density of its noise after its last step, and then dropped.


@dataclass(frozen=True, eq=False)
class _Plan:
    """Steps, each a kind and a type (-1 for all types of one person)."""

    component: _Component
    kinds: list[_Kind]
    costs: list[np.ndarray]
    steps: list[tuple[int, int]]
    touched: np.ndarray  # (steps, counts and kinds): mask of the entries of the state that each step changes
    residuals: Residuals
    root: int

    @classmethod
    def of(cls, component: _Component) -> _Plan:
        """Choose an order of steps in which few counts are open at a time."""
        kinds, costs = component.kinds()
        kinds = [kind for kind in kinds if component.answers or kind.position >= 0]  # the others keep their prior
        known, residuals = component.published.known, Residuals()
        root = residuals.every(residuals.of(sentence, known.positions) for sentence in component.sentences)
        steps = [
            (k, t)
            for k, kind in enumerate(kinds)
            for t in ([-1] if len(kind.people) == 1 else range(len(kind.log_prior)))
        ]
        about = [known.about(sentence) for sentence in component.sentences]
        n_columns = len(costs) + len(kinds)
        if len(steps) * (n_columns + len(about)) > component.published.limit:  # the tables below would be too large
            return cls(component, kinds, costs, steps, np.zeros((0, n_columns), dtype=bool), residuals, root)
        touched = np.zeros((len(steps), n_columns), dtype=bool)
        linked = np.zeros((len(steps), len(about)), dtype=bool)
        for i, (k, t) in enumerate(steps):
            kind = kinds[k]
            touched[i, : len(costs)] = kind.step.any(axis=0) if t < 0 else kind.step[t] > 0
            touched[i, len(costs) + k] = t >= 0
            linked[i] = [kind.position in people for people in about]
        capacity = np.array([len(cost) for cost in costs] + [len(kind.people) + 1 for kind in kinds], dtype=float)
        greedy = _greedy(np.hstack([touched, linked]), np.log(np.concatenate([capacity, np.full(len(about), 2.0)])))
        by_type = np.argsort([t for _, t in steps], kind="stable")
        plans = [
            cls(component, kinds, costs, [steps[i] for i in order], touched[order], residuals, root)
            for order in (greedy, np.arange(len(steps)), by_type)
        ]
        return min(plans, key=lambda plan: plan.transitions)

    @cached_property
    def last(self) -> np.ndarray:
        """Last step of every count and kind; -1 if there is none."""
        last = len(self.steps) - 1 - np.argmax(self.touched[::-1], axis=0)
        return np.where(self.touched.any(axis=0), last, -1)

    @cached_property
    def transitions(self) -> float:
        """An upper bound on the number of transitions, from the sentences and the numbers of people alone."""
        if len(self.touched) < len(self.steps):  # the tables would be too large
            return math.inf
        allowed = self.component.published.limit / TRANSITION
        left, states, total = np.array([self.root]), 1.0, 0.0
        capacity = np.ones(self.touched.shape[1])
        full = np.array([len(cost) for cost in self.costs] + [len(kind.people) + 1 for kind in self.kinds])
        for i, (k, t) in enumerate(self.steps):
            kind, n_counts = self.kinds[k], len(self.costs)
            n = len(kind.people)
            final = t >= 0 and self.last[n_counts + k] == i
            choices = len(kind.log_prior) if t < 0 else 1 if final else n + 1
            total += states * choices
            if kind.position >= 0:
                left = np.unique(self.residuals.table(left, kind.position, kind.mentioned))
                left = left[left != FALSE]
            if total > allowed or len(left) > allowed:
                return math.inf if len(left) > allowed else total
            capacity[self.touched[i]] += n
            # The column of a kind, and counts changed by several steps of one kind, grow by its people only once.
            open_ = np.where(self.last > i, np.minimum(capacity, full), 1.0)
            states = min(states * choices, max(len(left), 1) * math.exp(min(float(np.log(open_).sum()), 700.0)))
        return total

    def allow(self, limit: float) -> None:
        """Raise GroupTooLarge if the number of steps exceeds a limit."""
        if TRANSITION * self.transitions > limit:
            raise GroupTooLarge(
                f"answers and sentences link {len(self.component.people)} people by {len(self.costs)} different counts "
                f"too closely for an exact answer: the bound on the number of steps (2e7 a second) is "
                f"{TRANSITION * self.transitions:.1g} or more, and at most {limit:.0e} are allowed; pass a larger "
                "limit=, omit overlapping answers, write sentences about fewer people, or use "
                'NoisyMarginal(how="likelihood")'
            )

    def run(self) -> tuple[float, np.ndarray]:
        """Return the logarithm of the weight of all worlds, and ln P(s | person)."""
        n_counts = len(self.costs)
        residual, log_weight = np.array([self.root]), np.zeros(1)
        # One entry per state: unfinished counts, and the number of people of unfinished kinds who have a type.
        begun: dict[int, np.ndarray] = {}
        moves = []
        for i, (k, t) in enumerate(self.steps):
            kind, used = self.kinds[k], n_counts + k
            if t < 0:
                source, chosen, log_factor, after = self._types_of_person(kind, residual)
            else:
                n_left = len(kind.people) - begun.get(used, np.zeros(len(residual), dtype=np.int64))
                source, chosen, log_factor = _numbers_of_people(kind, t, n_left, is_last=self.last[used] == i)
                after = residual[source]
            if len(true := np.flatnonzero(after != FALSE)) < len(after):
                source, chosen, after, log_factor = source[true], chosen[true], after[true], log_factor[true]
            still: dict[int, np.ndarray] = {}
            for column in sorted({*begun, *np.flatnonzero(self.touched[i]).tolist()}):
                now = begun[column][source] if column in begun else np.zeros(len(source), dtype=np.int64)
                if column == used:
                    now = now + chosen
                elif column < n_counts:
                    now = now + (kind.step[chosen, column] if t < 0 else chosen * kind.step[t, column])
                if self.last[column] > i:
                    still[column] = now
                elif column < n_counts:
                    log_factor = log_factor + self.costs[column][now]
            parts = [after, *still.values()]
            code = group_codes(parts, [int(part.max(initial=0)) + 1 for part in parts])
            first = np.unique(code, return_index=True)[1]
            begun = {column: now[first] for column, now in still.items()}
            residual = after[first]
            moves.append((source, code, log_factor, chosen, log_weight))
            log_weight = log_sums(code, log_weight[source] + log_factor, len(first))
        table = self.component.published.log_prior[self.component.people].copy()
        if not len(residual):
            return -math.inf, table
        assert (residual == TRUE).all()
        self._backward(moves, float(log_weight[0]), table)
        return float(log_weight[0]), table

    def _types_of_person(
        self, kind: _Kind, residual: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Give the only person of a kind each type, in every state: the state, the type, its log weight, the sentences."""
        shape = len(residual), len(kind.log_prior)
        source, chosen = (part.reshape(-1) for part in np.indices(shape, dtype=np.int64))
        after = residual[source]
        if kind.position >= 0:  # the person is in sentences
            after = self.residuals.table(residual, kind.position, kind.mentioned).reshape(-1)
        return source, chosen, kind.log_prior[chosen], after

    def _backward(self, moves: Sequence[tuple[np.ndarray, ...]], log_total: float, table: np.ndarray) -> None:
        """Update a table of ln P(s | person), in place, from priors to posteriors."""
        log_share = [np.full(len(kind.log_prior), -np.inf) for kind in self.kinds]
        after = np.zeros(1)
        for (k, t), (source, code, log_factor, chosen, before) in zip(
            reversed(self.steps), reversed(moves), strict=True
        ):
            on = log_factor + after[code]
            share = before[source] + on - log_total
            if t < 0:
                log_share[k] = log_sums(chosen, share, len(log_share[k]))
            else:  # the expected share of the people of the kind
                is_chosen = chosen > 0
                log_share[k][t] = (
                    logsumexp(share[is_chosen] + np.log(chosen[is_chosen])) if is_chosen.any() else -np.inf
                )
                log_share[k][t] -= np.log(len(self.kinds[k].people))
            after = log_sums(source, on, len(before))
        for kind, of_type in zip(self.kinds, log_share, strict=True):
            possible = np.flatnonzero(kind.type_of >= 0)
            type_of = kind.type_of[possible]
            # Answers do not distinguish the values of a type, whose relative probabilities do not change.
            table[np.ix_(kind.people, possible)] += (of_type - kind.log_prior)[type_of]


def _numbers_of_people(
    kind: _Kind, t: int, n_left: np.ndarray, *, is_last: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a type to each possible number of the remaining people, in every state: the state, the number, its log weight."""
    if is_last:  # the remaining people all have the last type of the kind
        source, chosen = np.arange(len(n_left)), n_left
    else:
        source, chosen = np.repeat(np.arange(len(n_left)), n_left + 1), ranges(np.zeros_like(n_left), n_left + 1)
    log_factor = chosen * kind.log_prior[t] - gammaln(chosen + 1)
    if is_last:  # n! orders of the people, once per kind
        log_factor += gammaln(len(kind.people) + 1)
    return source, chosen, log_factor


def _greedy(touched: np.ndarray, log_capacity: np.ndarray) -> np.ndarray:
    """Return an order of steps, each chosen to minimise the product of the open counts after it."""
    steps = sp.csr_array(touched.astype(float))
    left, is_begun = touched.sum(axis=0), np.zeros(touched.shape[1], dtype=bool)
    is_done, order = np.zeros(len(touched), dtype=bool), []
    for _ in range(len(touched)):
        # A step opens the counts that it begins, unless it also finishes them, and closes those that it finishes.
        change = (1.0 * (left > 1) - is_begun) * log_capacity
        best = int(np.argmin(np.where(is_done, np.inf, np.round(steps @ change, 9))))
        order.append(best)
        is_done[best] = True
        is_begun |= touched[best]
        left = left - touched[best]
    return np.array(order, dtype=np.int64)
