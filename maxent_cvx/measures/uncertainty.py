"""Uncertain knowledge: each of several statements is known to the adversary with a probability.

Statement i is known with probability p_i, independently of the others; the release and the model's other knowledge are
always known. A measure of the posterior is then a random variable,

    P(measure = v) = sum over subsets S with measure(S) = v of  prod_{i in S} p_i  prod_{i not in S} (1 - p_i).

Subsets are enumerated or drawn. The number of exposed people is a sum over independent parts of the model: statements
that share no component of its rows, and no group of people, are enumerated separately, e.g. 2^2 + 2^3 instead of 2^5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import DuplicateLabel, Infeasible, SolverError, StatementError, join_names, short_repr
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.parallel import Workers
from .._utils.progress import progress_bar
from .._utils.validation import check_float, check_instance, check_int, check_mapping, check_optional_bool, check_seed
from ..model.explain import removable_labels, without_labels
from ..model.maxent import MaxEnt
from ..model.measure import Measures
from ..model.posterior import Posterior
from ..solvers.sparse import components
from ..sources.base import as_source, build_rows
from ..sources.parser import read_statement
from .exposure import WITHOUT_HER, certified_error, exposed

#: Largest number of statements of one part whose subsets are enumerated: 4,096 subsets.
MOST_EXACT = 12
#: Default numbers of drawn subsets, and of drawn orders of the statements.
DRAWS, ORDERS = 1000, 100
#: Number of subsets that are solved in sequence, each from the previous answer.
CHAIN = 32
#: Significant digits of the largest value of a measure, to which the values of its distribution are rounded.
DIGITS = 9


@dataclass(frozen=True, eq=False)
class UncertainKnowledge(ReprMixin):
    """Inference if each statement is known with a probability; returned by :func:`maxent_cvx.uncertain`.

    Attributes
    ----------
    exposed : Series
        P(the group is exposed), by group: QI tuple, and name if people are named.
    expected : float
        Mean of the measure, by default the expected number of exposed people. Subsets of probability 0 do not count,
        even if their measure is infinite; NaN if inf and -inf have positive probability.
    distribution : Series
        P(measure = value) by value, ascending. Values are rounded to the nine leading digits of the largest finite one;
        `expected` and `standard_error` are not.
    standard_error : float
        Standard error of `expected`; 0 if all subsets were enumerated, NaN if the measure is infinite in a draw. That
        of a probability p is sqrt(p (1 - p) / n) for n consistent draws.
    contradictory : float
        Probability of the subsets that contradict themselves or the release; the other figures are conditional on
        consistent statements.
    ends : DataFrame or None
        Row k: the `least` and the `most` of the measure over all consistent subsets of at most k statements, regardless
        of their probability. None if subsets were drawn.
    draws : int or None
        Number of subsets drawn, including contradictory ones; None if all were enumerated.
    """

    exposed: pd.Series
    expected: float
    distribution: pd.Series
    standard_error: float
    contradictory: float
    ends: pd.DataFrame | None = None
    draws: int | None = None

    def __str__(self) -> str:
        error = "" if self.draws is None else f" (standard error {self.standard_error:.2g}, {self.draws:,} draws)"
        lost = f"; {self.contradictory:.3g} of the probability contradicts itself" if self.contradictory else ""
        return f"expected {self.distribution.index.name}: {self.expected:.4g}{error}{lost}"

    def __repr__(self) -> str:
        return f"<UncertainKnowledge: {self}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.distribution.to_frame(), "values")]


def uncertain(
    model: MaxEnt,
    statements: Mapping[Any, float],
    measure: Any = None,
    draws: int | None = None,
    seed: int = 0,
    *,
    threshold: float | Sequence[float] = 0.8,
    baseline: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> UncertainKnowledge:
    """Compute the distribution of a measure if each statement is known with a probability, independently.

    Parameters
    ----------
    model : MaxEnt
        The release, and the knowledge that is certain. It is not changed.
    statements : dict of float
        The probability of each statement to be known. Keys are statements, their texts, or labels of knowledge in the
        model, which is then uncertain.
    measure : callable, optional
        A function of the posterior that returns a number; by default the number of exposed people.
    draws : int, optional
        Number of subsets to draw. By default all subsets are enumerated if there are at most 12 statements (for the
        number of exposed people: in each independent part of the model), otherwise 1,000 are drawn.
    seed : int
        Random seed of the draws.
    threshold, baseline
        See :func:`maxent_cvx.measures.exposed`. Without a baseline, everybody with some P(s | q) >= threshold counts.
        The baseline "without her" requires the original records, and therefore a user-defined measure.
    n_jobs : int, optional
        Number of joblib processes; None means one, or the setting of ``joblib.parallel_config``.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    UncertainKnowledge

    Raises
    ------
    StatementError
        If there are no statements, or the measure does not return one number; for a population; for the baseline "without
        her".
    BadProbability
        If a probability is not between 0 and 1.
    DuplicateLabel
        If a statement is given twice.
    Infeasible
        If none of the evaluated subsets is consistent, or the certain knowledge is contradictory.

    Examples
    --------
    It is known with probability 0.1 that no man has breast cancer, and with 0.5 that 40 % of the men have the flu:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> result = mx.uncertain(mx.MaxEnt(release), {"P(Breast Cancer | Gender=male) = 0": 0.1,
    ...     "P(Flu | Gender=male) = 0.4": 0.5})
    >>> round(result.expected, 6), result.distribution.round(6).to_dict()
    (0.1, {0: 0.9, 1: 0.1})
    >>> result.exposed[result.exposed > 0].round(6).to_dict()
    {('female', 'junior'): 0.1}
    """
    check_instance(model, MaxEnt, "model")
    check_mapping(statements, "statements", "{statement: probability}")
    if not statements:
        raise StatementError("statements is empty; give {statement: probability}")
    workers, rng = _checked_options(draws, seed, n_jobs, progress)
    full, labels = _with_statements(model, statements)
    p = np.array([check_float(value, f"the probability of {key!r}", 0.0, 1.0) for key, value in statements.items()])
    subsets = _Subsets(full, labels, measure, threshold, baseline)
    parts, draws = subsets.parts_or_draws(draws, DRAWS)
    n = len(labels)
    masks = [_all_subsets(part, n) for part in parts] if draws is None else [rng.random((draws, n)) < p]
    answers = subsets.solve(masks, workers, progress)
    index, people = subsets.index, subsets.people
    p_exposed = np.where(subsets.empty.exposed, 1.0, 0.0)
    log_consistent, expected, variance = 0.0, 0.0, 0.0
    distributions, ends = list[tuple[np.ndarray, np.ndarray]](), list[np.ndarray]()
    for part, mask, results in zip(parts, masks, answers, strict=True):
        weight = np.full(len(mask), 1 / len(mask))
        if draws is None:
            weight = np.where(mask[:, part], p[part], 1 - p[part]).prod(axis=1)
        consistent = np.array([answer is not None for answer in results])
        if not weight[consistent].sum() > 0:
            raise Infeasible("no subset of the statements with positive probability is consistent with the release")
        if not consistent.all():
            log_consistent += math.log1p(-float(weight[~consistent].sum()))
        weight = weight[consistent] / weight[consistent].sum()  # given that the statements are consistent
        kept = [answer for answer in results if answer is not None]
        inside = subsets.affected_by(part, parts)
        is_exposed = np.array([answer.exposed for answer in kept])[:, inside]
        p_exposed[inside] = weight @ is_exposed
        values = np.array([answer.value for answer in kept]) if subsets.measures else is_exposed @ people[inside]
        distributions.append(_merged(values, weight))
        mean = _mean(values, weight)
        expected += mean
        if draws is not None:
            variance = _mean((values - mean) ** 2, weight) / max(len(values) - 1, 1) if np.isfinite(mean) else math.nan
        ends.append(_ends(values, mask[:, part].sum(axis=1)[consistent], len(part)))
    if subsets.measures is None:
        others = ~np.any([subsets.affected_by(part, parts) for part in parts], axis=0)
        constant = int(people[others] @ subsets.empty.exposed[others])  # groups that no statement can affect
        distributions.append((np.array([constant]), np.ones(1)))
        expected += constant
        ends.append(np.full((1, 2), constant))
    values, weight = reduce(_convolve, distributions)
    if subsets.measures is None:
        values = values.astype(int)
    positive = weight > 0
    return UncertainKnowledge(
        exposed=pd.Series(np.clip(p_exposed, 0.0, 1.0), index, name="P(exposed)"),  # rounding may exceed 1
        expected=expected,
        distribution=pd.Series(weight[positive], pd.Index(values[positive], name=subsets.name), name="P"),
        standard_error=0.0 if draws is None else math.sqrt(variance),
        contradictory=-math.expm1(log_consistent),
        ends=None if draws is not None else pd.DataFrame(
            reduce(_convolved_ends, ends), columns=["least", "most"]
        ).rename_axis("statements"),
        draws=draws,
    )  # fmt: skip


def _with_statements(model: MaxEnt, statements: Iterable[Any]) -> tuple[MaxEnt, list[str]]:
    """Return a copy of the model that contains all statements, and the label of each."""
    full, labels = model.copy(), list[str]()
    for key in statements:
        if isinstance(key, str) and key in full.knowledge:
            label = key
        else:
            source = read_statement(key) if isinstance(key, str) else as_source(key)
            same = [label for label, known in full.knowledge.items() if known == source]
            if not same:  # a statement of the model in another spelling has the same rows
                group = build_rows(source, model.space)
                own = model._base.knowledge.items() if any(rows.matrix.nnz for rows in group.rows) else ()
                same = [label for label, known in own if label not in labels and group.has_same_rows(known)]
            label = same[0] if same else source.label
            if label not in full.knowledge:
                full.add(source)
        if label in labels:
            raise DuplicateLabel(f"the statement {label!r} is given twice; give it one probability")
        labels.append(label)
    return full, labels


def attribute(
    model: MaxEnt,
    measure: Any = None,
    draws: int | None = None,
    seed: int = 0,
    *,
    threshold: float | Sequence[float] = 0.8,
    baseline: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> pd.Series:
    """Divide a measure among the model's statements: share_i = mean over orders of measure(S + i) - measure(S).

    S contains the statements before i in an order. The shares, Shapley values, sum to measure(all) - measure(none).

    Parameters
    ----------
    model : MaxEnt
    measure : callable, optional
        A function of the posterior that returns a number; by default the number of exposed people.
    draws : int, optional
        Number of orders to draw. By default all subsets are enumerated if there are at most 12 statements (for the
        number of exposed people: in each independent part of the model), otherwise 100 orders are drawn.
    seed, threshold, baseline, n_jobs, progress
        See :func:`maxent_cvx.uncertain`.

    Returns
    -------
    Series
        The shares by label, in the unit of the measure; ``attrs["standard_error"]`` contains their standard errors by
        label, 0 if all subsets were enumerated.

    Raises
    ------
    StatementError
        If the model has no knowledge, or the measure does not return one number; for a population; for the baseline
        "without her".
    Infeasible
        If the model's knowledge contradicts itself.

    Notes
    -----
    Shapley (1953), "A value for n-person games"; sampled orders: Castro, Gómez and Tejada (2009), "Polynomial
    calculation of the Shapley value based on sampling". The shares of every order have the same sum, so the shares from
    sampled orders have this sum, too.

    If a measure is equally infinite before and after a statement, the statement changes nothing. A statement that makes
    it infinite in some order has an infinite share, and a standard error of NaN if orders were drawn; the share is NaN
    if the statement makes it inf in some orders and -inf in others.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) = 0.4")
    >>> mx.attribute(model).to_dict()
    {'P(Breast Cancer | Gender=male) = 0': 1.0, 'P(Flu | Gender=male) = 0.4': 0.0}
    """
    check_instance(model, MaxEnt, "model")
    labels = removable_labels(model)
    if not labels:
        raise StatementError("the model contains no statements to which the measure can be attributed; add some")
    workers, rng = _checked_options(draws, seed, n_jobs, progress)
    model.solve()  # if all statements are consistent, so is every subset
    n = len(labels)
    subsets = _Subsets(model, labels, measure, threshold, baseline)
    parts, draws = subsets.parts_or_draws(draws, ORDERS)
    if draws is None:
        masks = [_all_subsets(part, n) for part in parts]
    else:
        orders = np.array([rng.permutation(n) for _ in range(draws)])
        place = np.argsort(orders, axis=1)
        masks = [(place[:, None] < np.arange(n + 1)[:, None]).reshape(-1, n)]  # the prefixes of every order
    answers = subsets.solve(masks, workers, progress)
    shares, errors = np.zeros(n), np.zeros(n)
    for part, mask, results in zip(parts, masks, answers, strict=True):
        inside = subsets.affected_by(part, parts)
        kept = [answer for answer in results if answer is not None]  # all, as all statements are consistent
        values = np.array([answer.value for answer in kept])
        if subsets.measures is None:
            values = np.array([answer.exposed[inside] for answer in kept]) @ subsets.people[inside].astype(float)
        if draws is None:
            shares[part] = _shapley(mask[:, part], values)
            continue
        prefixes = values.reshape(draws, n + 1)
        gains = _change(prefixes[:, :-1], prefixes[:, 1:])  # gain of the next statement in each order
        by_label = np.take_along_axis(gains, place, axis=1)
        with np.errstate(invalid="ignore"):  # infinite gains
            shares, errors = by_label.mean(axis=0), by_label.std(axis=0, ddof=1) / math.sqrt(draws)
    result = pd.Series(shares, pd.Index(labels, name="statement"), name=subsets.name)
    # A dict, because pandas compares attrs by == when it concatenates tables, which fails for a Series.
    result.attrs["standard_error"] = dict(zip(labels, errors.tolist(), strict=True))
    return result


def _checked_options(
    draws: int | None, seed: int, n_jobs: int | None, progress: bool | None
) -> tuple[Workers, np.random.Generator]:
    """Check the options of :func:`uncertain` and :func:`attribute`."""
    check_optional_bool(progress, "progress")
    if draws is not None:
        check_int(draws, "draws", 2)
    return Workers.asked(n_jobs), np.random.default_rng(check_seed(seed))


class _Answer(NamedTuple):
    """The result for a subset: whether each group is exposed, and the measure if the user has defined one."""

    exposed: np.ndarray
    value: float


class _Subsets:
    """Models in which only a subset of the statements is known, and the rule of exposure and measure for each."""

    def __init__(self, model: MaxEnt, labels: Sequence[str], measure: Any, threshold: Any, baseline: Any) -> None:
        if not model.view.inside.all():
            raise StatementError(
                "uncertain and attribute do not support a release of a population; make the release without population"
            )
        if measure is not None and not callable(measure):
            raise StatementError(f"measure must be a function of the posterior, got {short_repr(measure)}")
        if isinstance(baseline, str) and baseline == WITHOUT_HER:
            raise StatementError(
                f"baseline={WITHOUT_HER!r} needs the original records; pass a measure that uses them, lambda post: "
                f"mx.measures.exposed(post, {threshold}, original, baseline={WITHOUT_HER!r}).people"
            )
        self.model, self.labels = model, labels  # the model has all statements
        post = without_labels(model, labels).solve()
        rule = exposed(post, threshold, baseline=baseline)._rule
        assert rule is not None
        table, self.people = post.inferences()
        self.index, self.rule = table.index, rule  # the groups of people
        self.measures = None if measure is None else Measures.of(measure)
        self.empty = self.answer(post)

    def answer(self, post: Posterior) -> _Answer:
        """Apply the rule to every group of a posterior, and compute the measure."""
        rule = replace(self.rule, slack=certified_error(post))
        is_exposed = rule.reaches(rule.surest(post.inferences()[0].to_numpy())[0])
        if self.measures is None:
            return _Answer(is_exposed, math.nan)
        numbers = self.measures(post, "of a subset of the statements")
        if len(numbers) != 1:
            raise StatementError(f"the measure must return one number, got {len(numbers)}")
        return _Answer(is_exposed, next(iter(numbers.values())))

    @property
    def name(self) -> str:
        """The name of the measure."""
        return "people" if self.measures is None else next(iter(self.measures.functions))

    @cached_property
    def _components(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Number of the independent part, for each row of each label, and for each group of people."""
        form, space = self.model.form, self.model.space
        of_row, of_term = form.components()
        group = space.groups[0] if len(space.people) else space.codes["q"]
        n_components, n_groups = int(max(of_row.max(), of_term.max())) + 1, len(self.people)
        # Whether a group is exposed depends on all its terms, and so on all components that contain one.
        links = sp.csr_array((np.ones(len(group)), (of_term, group)), shape=(n_components, n_groups))
        of_component, of_group = components(links)
        by_label = form.by_label(of_component[of_row])
        return [by_label[label] for label in self.labels], of_group

    def parts(self) -> list[np.ndarray]:
        """Return positions of the statements of each independent part; a single part for measures except exposure."""
        known = self.model.form.by_label(np.arange(self.model.form.shape[0]))
        all_statements = [np.arange(len(self.labels))]
        if self.measures is not None or self.model.convex or any(not len(known.get(x, ())) for x in self.labels):
            return all_statements
        of_label, _ = self._components
        # A source of several rows links the parts of its rows, because it is known as a whole.
        flat = np.concatenate(of_label)
        source = np.repeat(np.arange(len(of_label)), [len(rows) for rows in of_label])
        number = components(sp.csr_array((np.ones(len(flat)), (source, flat))))[0]
        return [np.flatnonzero(number == rows) for rows in dict.fromkeys(number.tolist())]

    def parts_or_draws(self, draws: int | None, default: int) -> tuple[list[np.ndarray], int | None]:
        """Return the parts whose subsets are enumerated, or a single part, and the number of subsets to draw."""
        if draws is None and max(map(len, parts := self.parts())) <= MOST_EXACT:
            return parts, None
        return [np.arange(len(self.labels))], default if draws is None else draws

    def affected_by(self, part: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Mark the groups of people whom the statements of a part can affect; all groups if it is the only part."""
        if len(parts) == 1:
            return np.ones(len(self.people), dtype=bool)
        of_label, of_group = self._components
        return np.isin(of_group, np.concatenate([of_label[i] for i in part]))

    def solve(self, masks: Sequence[np.ndarray], workers: Workers, progress: bool | None) -> list[list[_Answer | None]]:
        """Solve each distinct subset once; None for contradictory subsets."""
        distinct, inverse = np.unique(np.concatenate(masks), axis=0, return_inverse=True)
        chains = [(distinct[i : i + CHAIN],) for i in range(0, len(distinct), CHAIN)]
        chained = workers.map(_solve_chain, self, chains)
        answers = list(chain.from_iterable(progress_bar(chained, "subsets", progress, total=len(chains))))
        ordered = iter([answers[i] for i in inverse.reshape(-1)])
        return [[next(ordered) for _ in mask] for mask in masks]


def _solve_chain(subsets: _Subsets, masks: np.ndarray) -> list[_Answer | None]:
    """Solve subsets in sequence, each from the previous answer."""
    answers, before = list[_Answer | None](), None
    for mask in masks:
        try:
            before = _solved(without_labels(subsets.model, compress(subsets.labels, ~mask)), before)
        except Infeasible:
            answers.append(None)
        except Exception as error:
            known = compress(subsets.labels, mask)
            error.add_note(f"raised when these statements are known: {join_names(known)}")
            raise
        else:
            answers.append(subsets.answer(before))
    return answers


def _solved(model: MaxEnt, before: Posterior | None) -> Posterior:
    """Solve a model from an earlier answer, or without it if this start does not lead to a certified answer."""
    try:
        return model.solve(warm_start=before, progress=False)
    except SolverError:
        # Statements at the end of their range have huge multipliers, which are a bad start for other statements.
        if before is None:
            raise
        return model.solve(progress=False)


def _all_subsets(part: np.ndarray, n: int) -> np.ndarray:
    """Return masks of all subsets of a part of n statements, in the order of their binary numbers."""
    masks = np.zeros((2 ** len(part), n), dtype=bool)
    masks[:, part] = np.arange(len(masks))[:, None] >> np.arange(len(part)) & 1
    return masks


def _mean(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the mean; values without weight do not count, even infinite ones, and inf with -inf is NaN."""
    with np.errstate(invalid="ignore"):
        return float(weight[weight > 0] @ values[weight > 0])


def _merged(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values, rounded and ascending, and their probabilities."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0)
    if values.dtype.kind == "f" and largest > 0:
        values = np.round(values, min(DIGITS - 1 - math.floor(math.log10(largest)), 300))
    distinct, at = np.unique(values, return_inverse=True)
    return distinct, np.bincount(at.reshape(-1), weight)


def _convolve(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distribution of the sum of two independent numbers."""
    return _merged(np.add.outer(first[0], second[0]).ravel(), np.multiply.outer(first[1], second[1]).ravel())


def _ends(values: np.ndarray, size: np.ndarray, n: int) -> np.ndarray:
    """Return the least and the largest value over subsets of at most k statements, k = 0 to n."""
    return np.array([(values[size <= k].min(), values[size <= k].max()) for k in range(n + 1) if (size <= k).any()])


def _convolved_ends(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the ends of a sum: at most i statements of one part and k - i of another."""
    # Ends are monotone in k, so exactly i and k - i statements are also "at most"; a part may have fewer than k - i.
    ends = np.empty((len(first) + len(second) - 1, 2), dtype=np.result_type(first, second))
    for k in range(len(ends)):
        i = np.arange(min(k + 1, len(first)))
        ways = first[i] + second[np.minimum(k - i, len(second) - 1)]
        ends[k] = ways[:, 0].min(), ways[:, 1].max()
    return ends


def _shapley(masks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Compute Shapley values from the measures of all subsets, in the order of their binary numbers."""
    # In the order of binary numbers, the subset S + i is 2^i places after S.
    n = masks.shape[1]
    size = masks.sum(axis=1)
    # |S|! (n - |S| - 1)! / n!: the share of the orders in which the statements before a given one are S.
    weight = np.array([1 / (n * math.comb(n - 1, k)) for k in range(n)])
    shares = np.empty(n)
    for i in range(n):
        before = np.flatnonzero(~masks[:, i])
        shares[i] = _mean(_change(values[before], values[before + 2**i]), weight[size[before]])
    return shares


def _change(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the differences of a measure; 0 between equal values, even infinite ones."""
    return np.subtract(after, before, out=np.zeros(before.shape), where=before != after)
