"""Explanations of an answer: prices of statements, certain values, contradictions and their relaxation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import BadProbability, Inaccurate, Infeasible, SolverError, StatementError, pluralize, short_repr
from .._utils.formatting import TablePreview, as_html
from .._utils.parallel import Workers
from .._utils.progress import progress_bar
from .._utils.tables import choose
from .._utils.validation import check_bool, check_label, check_optional_bool, check_seconds
from ..releases.series import ReleaseSeries
from ..solvers.aggregate import aggregate
from ..solvers.attempts import presolved
from ..solvers.blocks import single_thread
from ..solvers.convex_solve import elastic_convex_relaxation, refuted
from ..solvers.explain import (
    ForcingSets,
    contradiction,
    forcing_rows,
    multipliers_beside,
    multipliers_from_counts,
    zeros_by_bounds,
)
from ..solvers.extension import AddedRows, Extension, extended
from ..solvers.form import LinearForm, Problem
from ..solvers.intervals import without_knowledge as without_knowledge_intervals
from ..solvers.linear import elastic_relaxation, never_filled, settle_integers
from ..solvers.monitor import check_time
from ..solvers.presolve import remaining
from ..sources.base import ConstraintGroup, StoredSource
from ..sources.cvxpy_constraints import number_on_left
from ..sources.invariants import PriorZeros
from ..sources.statements import Event, Statement, conditions
from ..terms.people import OTHERS
from ..terms.rows import Rows
from ..terms.space import Space
from .measure import Measure, Measures
from .system import KnowledgeBase

if TYPE_CHECKING:
    from .maxent import MaxEnt
    from .posterior import Posterior

# Certain inferences: probabilities that knowledge forces to 0 or 1, with reasons.

#: Maximum number of rows of knowledge whose consequences are derived one by one; the last rows are statements.
MOST_CERTAIN_ROWS = 2_000
#: Records: terms with smaller counts are candidates for zeros, because answers are not exact; a proof decides.
MAYBE_ZERO = 1e-5


class Inference(NamedTuple):
    """P(s | q), P(s | i), or P(s | unnamed people with q), that may be 0 or 1."""

    kind: str  # of the subject
    whom: int  # position of the subject
    value: int  # position of s
    probability: float  # 0 or 1; NaN if it is undecided whether it is one of them
    people: int  # number of people in the group
    posterior: float
    terms: np.ndarray  # the terms that must be empty

    def follows(self, certain: Container[tuple[str, int, int, float]], settled: Container[tuple[str, int]]) -> bool:
        """Return whether certain inferences imply it: another value has 1, or it applies to the whole QI tuple.

        `settled` are the subjects with a certain value.
        """
        if self.probability == 0 and self[:2] in settled:
            return True
        return self.kind == "others" and (("q", *self[1:4]) in certain or ("q", self.whom) in settled)


@single_thread
def certain_table(model: MaxEnt, counts: np.ndarray, progress: bool | None) -> pd.DataFrame:
    """List certain inferences with their reasons, see :meth:`maxent_cvx.Posterior.certain`."""
    space, problem = model.space, model.posed.hard
    if np.isnan(problem.closed_form.counts).any():  # releases of the same people can force values without knowledge
        problem = problem.relax_published()
    form = problem.form
    candidates = list(_inferences(space, counts, counts < MAYBE_ZERO, np.zeros(len(counts), dtype=bool)))
    known = np.arange(form.n_facts, form.shape[0])
    # Most inferences are forced by a single statement, as bounds prove; linear programs decide the others.
    reasons = _forced_by_one(candidates, known[-MOST_CERTAIN_ROWS:], form, space.n_records)
    reasons |= {i: known[:0] for i, inference in enumerate(candidates) if not len(inference.terms)}
    sets = ForcingSets(form)
    settled = {candidates[i][:2] for i in reasons if candidates[i].probability == 1}
    certain = {candidates[i][:4] for i in reasons}
    rest = sorted(set(range(len(candidates))) - set(reasons), key=lambda i: (-candidates[i].probability, i))
    for i in progress_bar(rest, "certain", progress):
        inference = candidates[i]
        if inference.follows(certain, settled):
            continue
        check_time()
        terms = np.zeros(len(space), dtype=bool)
        terms[inference.terms] = True
        reason = sets.forcing(terms)
        if reason is None and (rows := forcing_rows(problem, terms)) is not None:
            sets.add(reason := rows)
        if reason is not None:
            reasons[i] = reason
            certain.add(inference[:4])
            if inference.probability == 1:
                settled.add(inference[:2])
    listed = [(candidates[i], reasons[i]) for i in sorted(reasons) if not candidates[i].follows(certain, settled)]
    table = [
        (name_of(space, item), item.probability, item.people, [form.name(row) for row in rows]) for item, rows in listed
    ]
    columns = ["inference", "probability", "people", "because"]
    return pd.DataFrame(table, columns=columns).set_index("inference")


def _forced_by_one(
    candidates: list[Inference], known: np.ndarray, form: LinearForm, n_records: float
) -> dict[int, np.ndarray]:
    """Return, by position, the row that forces each inference on its own, as proved by bounds."""
    reasons: dict[int, np.ndarray] = {}
    candidate = np.repeat(np.arange(len(candidates)), [len(inference.terms) for inference in candidates])
    terms = np.concatenate([np.empty(0, dtype=int), *(inference.terms for inference in candidates)])
    for row, zeros in zeros_by_bounds(form, known, n_records) if candidates else ():
        for forced in np.flatnonzero(np.bincount(candidate, ~zeros[terms]) == 0):
            reasons.setdefault(int(forced), np.array([row]))
    return reasons


def _subjects(space: Space) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the QI tuples, then the named people, then the unnamed people of QI tuples with named people.

    Each kind has a name, the position of the subject of every term, and the number of people of every subject.
    """
    q, n_q = space.codes["q"], space.view.n_q
    yield "q", q, n_q
    if len(space.people):
        who, unnamed = space.codes["who"], space.people.unnamed
        yield "who", who, np.ones(len(space.people), dtype=int)
        yield "others", np.where((who == len(space.people)) & (unnamed < n_q)[q], q, len(n_q)), unnamed


def _inferences(space: Space, counts: np.ndarray, empty: np.ndarray, undecided: np.ndarray) -> Iterator[Inference]:
    """Yield each inference that may be 0 or 1, given empty and undecided terms, except about people with one value."""
    s, n_s = space.codes["s"], len(space.view.sensitive_values)
    for kind, code, people in _subjects(space):
        terms = np.flatnonzero(code < len(people))
        key = code[terms] * n_s + s[terms]
        order = terms[np.argsort(key, kind="stable")]
        pairs, pair, size = np.unique(key, return_inverse=True, return_counts=True)
        whom, n = pairs // n_s, len(pairs)
        filled = np.bincount(pair, ~empty[terms] & ~undecided[terms], n) > 0
        maybe = ~filled & (np.bincount(pair, undecided[terms], n) > 0)
        # Releases of a series determine a value in one of them alone.
        view = space.view
        n_choices = view.fewest_values if isinstance(view, ReleaseSeries) else np.bincount(whom, minlength=len(people))
        n_possible = np.bincount(whom, filled | maybe, len(people))
        is_one = filled & (n_possible[whom] == 1) & (n_choices[whom] > 1)
        probability = np.where(maybe, np.nan, is_one.astype(float))
        posterior = np.bincount(pair, counts[terms], n) / people[whom]
        first, last = np.searchsorted(whom, whom), np.searchsorted(whom, whom, side="right")
        end = np.append(0, np.cumsum(size))
        for i in np.flatnonzero(is_one | ~filled):
            terms_of_value = order[end[i] : end[i + 1]]
            others = np.setdiff1d(order[end[first[i]] : end[last[i]]], terms_of_value) if is_one[i] else terms_of_value
            yield Inference(
                kind, int(whom[i]), int(pairs[i] % n_s), float(probability[i]), int(people[whom[i]]),
                float(posterior[i]), others,
            )  # fmt: skip


def name_of(space: Space, inference: Inference) -> str:
    """Return the text of an inference in the notation of statements, extended by unnamed people."""
    # "P(Flu | Gender=male)" refers to all men, "P(Flu | Alice)" to Alice, and "P(Flu | (others), Gender=male)" to the
    # unnamed men.
    view = space.view
    label = view.sensitive_values[inference.value]
    several = len(view.sensitive) > 1
    values = zip(view.sensitive, label, strict=True) if several else [(None, label)]
    sensitive = frozenset((name, choose(x, "the sensitive value")) for name, x in values)
    if inference.kind == "who":
        return str(Event(sensitive, who=frozenset([space.people.names[inference.whom]])))
    of_tuple = zip(view.qi, view.quasi_identifiers[inference.whom], strict=True)
    given = frozenset((name, choose(x, name)) for name, x in of_tuple)
    if inference.kind == "others":
        return f"P({conditions(sensitive)} | {', '.join(filter(None, [OTHERS, conditions(given)]))})"
    return str(Event(sensitive, given))


# Inferences common to all integer solutions: certain because each record has exactly one value, beyond linear rows.


def integer_certain_table(model: MaxEnt, counts: np.ndarray, seconds: float) -> pd.DataFrame:
    """List the inferences common to all integer solutions, see :meth:`maxent_cvx.Posterior.certain`."""
    problem = replace(model.posed.hard, convex=None)
    form = problem.form
    try:
        reduced = settle_integers(presolved(problem))
    except Infeasible as error:
        raise contradiction(problem) or error from None
    # In a bucket without knowledge that overlaps no other, every term is filled by some assignment.
    candidates = ~reduced.fixed & ~without_knowledge_intervals(problem, reduced)
    empty, undecided = reduced.zeros.copy(), np.zeros(len(counts), dtype=bool)
    if candidates.any():
        component = form.components(~reduced.fixed)[1]
        left = ~reduced.fixed & np.isin(component, component[candidates])
        fixed_counts = np.where(reduced.fixed, reduced.counts, 0.0)
        rest = remaining(form, left, form.rows_involving(left), form.matvec(fixed_counts))
        search = never_filled(rest, candidates[left], seconds)
        empty[left] |= search[0]
        undecided[left] |= search[1]
    inferences = list(_inferences(model.space, counts, empty, undecided))
    certain = {item[:4] for item in inferences if item.probability in (0, 1)}
    settled = {item[:2] for item in inferences if item.probability == 1}
    table = [
        (name_of(model.space, item), item.probability, item.posterior, item.people, item.probability in (0, 1))
        for item in inferences
        if not item.follows(certain, settled)
    ]
    columns = {"inference": object, "probability": float, "posterior": float, "people": int, "decided": bool}
    return pd.DataFrame(table, columns=list(columns)).astype(columns).set_index("inference")


def model_of(post: Posterior) -> MaxEnt:
    """Return the model of a posterior, or raise StatementError if it has none."""
    if post.model is None:
        raise StatementError(
            "the posterior was loaded from a file without its model; load it with load_posterior(path, verify=True), "
            "or solve again"
        )
    return post.model


# A table of many solves: each is warm-started from the last, chains run in parallel, and failures keep the other rows.


class Cases(Protocol):
    """Numbered problems, and the columns of each in the table."""

    def about(self, i: int) -> dict[str, Any]:
        """Return the columns that identify a case."""
        ...

    def solved(self, i: int, before: Any) -> Any:
        """Return the posterior of a case, warm-started from the previous case (None for the first of a chain)."""
        ...

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """Return the columns with results."""
        ...


class Row(NamedTuple):
    """A row of the table, by the number of the case, with the error if the case has no answer."""

    number: int
    columns: dict[str, Any]
    error: SolverError | None = None


def solved_rows(
    cases: Cases,
    chains: Sequence[Sequence[int]],
    what: str,
    workers: Workers = Workers(),  # noqa: B008  (it cannot be changed)
    progress: bool | None = None,
) -> list[dict[str, Any]]:
    """Solve cases, and return one row per case, in the order of their numbers.

    In addition to the columns of the cases, a row has "status": that of the answer, or "infeasible" or "failed"; and
    "message": the reason for a missing answer, or "".
    """
    if workers.is_this_process or (len(chains) == 1 and workers.cluster is None):
        rows_of_chains: Iterable[Iterable[Row]] = (_along(cases, numbers) for numbers in chains)
    else:  # other processes return whole chains
        rows_of_chains = workers.map(_finished, cases, ((numbers,) for numbers in chains))
    finished: dict[int, Row] = {}
    try:
        for row in progress_bar(chain.from_iterable(rows_of_chains), what, progress, total=sum(map(len, chains))):
            finished[row.number] = row
    except BaseException as error:
        if finished:
            error.finished = pd.DataFrame([finished[i].columns for i in sorted(finished)])  # type: ignore[attr-defined]
            error.add_note(
                f"{pluralize(len(finished), 'row is', 'rows are')} finished, see the attribute finished of this error"
            )
        raise
    rows = [finished[i] for i in sorted(finished)]
    if rows and all(row.error for row in rows):
        raise next(row.error for row in rows if row.error)
    return [row.columns for row in rows]


def _finished(cases: Cases, numbers: Sequence[int]) -> list[Row]:
    """Return the rows of a chain as a list, for other processes."""
    return list(_along(cases, numbers))


def _along(cases: Cases, numbers: Sequence[int]) -> Iterator[Row]:
    """Solve the cases of a chain, each warm-started from the last answer, and yield their rows."""
    before = None
    for i in numbers:
        about = cases.about(i)
        try:
            post = cases.solved(i, before)
        except Infeasible as error:
            yield Row(i, {**about, "status": "infeasible", "message": str(error)})
        except SolverError as error:
            yield Row(i, {**about, "status": "failed", "message": str(error)}, error)
        else:
            yield Row(i, {**about, "status": str(post.status), **cases.measured(i, post), "message": ""})
            before = post


class StatementCases(NamedTuple):
    """Cases about one statement each, whose functions do not use the answer of the previous case."""

    about: Callable[[int], dict[str, Any]]
    solved: Callable[[int, Any], Posterior]
    measured: Callable[[int, Posterior], dict[str, Any]]


# Inferences with less knowledge: without any of it, without each statement, and with each one alone.

#: Maximum number of rows of knowledge that are left out one by one; with more rows, whole sources are.
MOST_ROWS = 50


def without_knowledge(post: Posterior) -> Posterior:
    """Solve the model of a posterior with the release alone, and its prior if it has one."""
    model = model_of(post)
    labels = removable_labels(model)
    return without_labels(model, labels).solve(warm_start=post) if labels else post


def by_statement(
    post: Posterior, without: Callable[[Any], dict[str, Any]], alone: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Measure the answers without each statement, and with each one alone."""
    model = model_of(post)
    form, labels = model.form, removable_labels(model)
    rows = [row for row in range(form.n_facts, form.shape[0]) if row not in model.ruled_out]
    if len(rows) <= MOST_ROWS and not model.convex:
        names = [form.name(row) for row in rows]
        models_without = [partial(model.without_row, row) for row in rows]
        models_alone = [partial(_row_alone, model, row) for row in rows]
    else:
        names = labels
        models_without = [partial(without_labels, model, [label]) for label in labels]
        models_alone = [
            partial(without_labels, model, [other for other in labels if other != label]) for label in labels
        ]

    def table(models: list[partial[MaxEnt]], measure: Callable[[Any], dict[str, Any]], what: str) -> list[Any]:
        cases = StatementCases(
            lambda i: {"statement": names[i]},
            lambda i, before: models[i]().solve(warm_start=post),
            lambda i, answer: measure(answer),
        )
        return solved_rows(cases, [[i] for i in range(len(names))], what)

    pairs = zip(table(models_without, without, "without"), table(models_alone, alone, "alone"), strict=True)
    return [
        {**row_alone, **row_without, "message": row_without["message"] or row_alone["message"]}
        for row_without, row_alone in pairs
    ]


def _row_alone(model: MaxEnt, row: int) -> MaxEnt:
    """Return a copy of a model with only one row of its knowledge."""
    rows, place = model.blocks.find(row)
    return without_labels(model, removable_labels(model)).add(rows.at(np.array([place])))


def removable_labels(model: MaxEnt) -> list[str]:
    """Return the labels of all knowledge except the zeros of a prior."""
    return [label for label, source in model.knowledge.items() if not isinstance(source, PriorZeros)]


def without_labels(model: MaxEnt, labels: Iterable[str]) -> MaxEnt:
    """Return a copy of a model without the sources of some labels."""
    twin = model.copy()
    for label in labels:
        twin.remove(label)
    return twin


# Shadow prices of statements, from their multipliers, and the effect of leaving out each statement.


def price_table(
    post: Posterior,
    leave_one_out: bool,
    measure: Measure | None,
    time_limit: float = math.inf,
    progress: bool | None = None,
) -> pd.DataFrame:
    """List the statements with their prices, see :meth:`maxent_cvx.Posterior.prices`."""
    check_bool(leave_one_out, "leave_one_out")
    check_seconds(time_limit, "time_limit")
    check_optional_bool(progress, "progress")
    entropy = Measures({"entropy": lambda posterior: posterior.entropy}, is_one=True)
    measures = entropy if measure is None else Measures.of(measure)
    model = model_of(post)
    if measure is not None and not leave_one_out:
        raise StatementError("measure requires leave_one_out=True, because it is computed without each statement")
    form = model.form
    multipliers, of_convex = _multipliers(post, form)
    # If the counts of an external answer are too inaccurate, use its dual values, unless some terms are nearly zero:
    # rows that force zeros have infinite prices, but finite dual values.
    imprecise = bool(np.isnan(multipliers).any())
    if imprecise and post.multipliers and post.counts.min() > NEARLY_ZERO:
        multipliers, of_convex = _dual_values(post, form), {k: t.values for k, t in post.convex_multipliers.items()}
        imprecise = False
    if imprecise or len(of_convex) < len(model.convex):
        raise Inaccurate(
            "the multipliers of the posterior are not precise enough for prices; solve the model with DUAL_NEWTON, "
            "or with polish=True"
        )
    table = prices_of(form, multipliers, post.space.n_records)
    items = np.arange(form.n_facts, form.shape[0])
    for number, (name, constraint) in enumerate(model.posed.convex.by_name if model.posed.convex else ()):
        prices = _convex_prices(name, constraint, of_convex[name] / post.space.n_records)
        table, items = pd.concat([table, prices]), np.append(items, np.full(len(prices), form.shape[0] + number))
    if leave_one_out:
        table = table.assign(**_left_out(post, items, table.index.to_list(), measures, time_limit, progress))
    return largest_first(table)


def entry_names(name: str, size: int) -> list[str]:
    """Return the names of the entries of a constraint."""
    return [name] if size == 1 else [f"{name}, entry {i + 1}" for i in range(size)]


def _convex_prices(name: str, constraint: Any, multipliers: np.ndarray) -> pd.DataFrame:
    """Return the prices of the entries of a convex constraint, with the side as typed, ">=" in ``entropy >= h``."""
    side, sign = (">=", -1.0) if number_on_left(constraint) else ("<=", 1.0)
    binding = ~(multipliers <= ROUNDED)  # NaN: not determined
    index = pd.Index(entry_names(name, len(multipliers)), name="statement", dtype=object)
    price = np.where(binding, sign * multipliers, 0.0)
    return pd.DataFrame({"side": np.where(binding, side, ""), "price": price}, index=index)


def _dual_values(post: Posterior, form: LinearForm) -> np.ndarray:
    """Return the multipliers from a solver, set to 0 for inequalities that are inactive at the exact answer.

    The certified bound is at least half the total error of the terms of a QI tuple, relative to its records. As the
    coefficients of rows are at most 1, the error of a row is at most twice the bound times all records. An inequality
    with a larger slack is inactive, and a nonzero multiplier of it is an error of the solver.
    """
    multipliers = form.transformed_multipliers(np.concatenate(list(post.multipliers.values())))
    value, error = form.matvec(post.counts), 2 * post.certificate.bound * post.space.n_records
    slack = np.where(multipliers > 0, value - form.low, form.high - value)
    inactive = ~form.is_equation & (slack > error)
    inactive[form.n_hard :] = False
    return np.where(inactive, 0.0, multipliers)


#: Records: the rows may force smaller counts to zero; conic solvers return up to 1e-6 for such terms.
NEARLY_ZERO = 1e-4
#: Nats per record: smaller multipliers of inequalities are rounding errors of 0, and their signs are meaningless.
ROUNDED = 1e-10


def prices_of(form: LinearForm, multipliers: np.ndarray, n_records: float) -> pd.DataFrame:
    """Return the prices of rows of knowledge, in their order, from the multipliers of all rows."""
    known = np.arange(form.n_facts, form.shape[0])
    price = -multipliers[known] * form.scale[known] / n_records + 0.0
    binding = form.is_equation[known] | (np.abs(multipliers[known]) > ROUNDED)
    binding[form.n_hard - form.n_facts :] = True
    price = np.where(binding, price, 0.0)
    side = np.where(form.is_equation[known], "=", np.where(~binding, "", np.where(price < 0, ">=", "<=")))
    side[form.n_hard - form.n_facts :] = "~"
    names = [form.name(row) for row in known.tolist()]
    return pd.DataFrame({"side": side, "price": price}, index=pd.Index(names, name="statement", dtype=object))


def largest_first(table: pd.DataFrame) -> pd.DataFrame:
    """Sort prices in descending order of size."""
    return table.iloc[np.argsort(-np.abs(table["price"].to_numpy()), kind="stable")]


def _multipliers(post: Posterior, form: LinearForm) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the multipliers of all rows, and of all convex constraints by name.

    The multipliers of soft rows are the solver's; all others are computed from the counts, given those of soft rows.
    If a convex constraint binds, the half-space x: G x <= G x* of its subgradient G contains the feasible set, and
    replaces the constraint without changing the answer x*.
    """
    of_convex = {name: convex.values.copy() for name, convex in post.convex_multipliers.items()}
    rows, binding, determined = {}, {}, {}
    for name, (t, gradients) in post.convex_multipliers.items():
        if not np.isfinite(t).all():  # it fixes the values of its rows; the other rows may already imply them
            half_spaces = _half_spaces(name, gradients, post.counts)
            determined[name] = replace(half_spaces, low=half_spaces.high)
        elif len(at := np.flatnonzero(t > 0)):
            binding[name], rows[name] = at, _half_spaces(name, gradients[at], post.counts)
    multipliers, extension = _beside(post, form, rows)
    if determined and np.isnan(multipliers).any():
        multipliers, extension = _beside(post, form, rows | determined)
    else:
        of_convex |= {name: np.zeros(1) for name in determined}
    for name, at in binding.items():
        places = extension.added[name]
        of_convex[name][at] = np.abs(multipliers[places]) * extension.form.scale[places]
    return multipliers[extension.original], of_convex


def _beside(post: Posterior, form: LinearForm, rows: Mapping[Any, AddedRows]) -> tuple[np.ndarray, Extension]:
    """Return the multipliers of the rows of a form together with additional rows."""
    # An extended form loses the properties cached on the original form.
    extension = extended(form, rows, form.weights) if rows else Extension(form, np.arange(form.shape[0]), {})
    if form.penalties is None:
        return multipliers_from_counts(extension.form, post.counts), extension
    soft = form.transformed_multipliers(np.concatenate(list(post.multipliers.values())))[form.n_hard :]
    return multipliers_beside(extension.form, post.counts, soft), extension


def _half_spaces(name: str, gradients: sp.csr_array, counts: np.ndarray) -> AddedRows:
    """Return the rows G x <= G x*, scaled so that their largest coefficients are 1."""
    return AddedRows.at_most(gradients, gradients @ counts, name)


def _left_out(
    post: Posterior, items: np.ndarray, names: list[str], measures: Measures, time_limit: float, progress: bool | None
) -> dict[str, np.ndarray]:
    """Measure the answer without each statement, the change from the full model, and messages of failed solves.

    Statements are given by the number of their row in the form; convex constraints are numbered after the rows.
    """
    model, of_all = model_of(post), measures(post, "of all that is known")
    name_of_item = dict(zip(items.tolist(), names, strict=True))

    def solve_without(item: int, before: Any) -> Posterior:
        number = item - model.form.shape[0]
        smaller = model.without_row(item) if number < 0 else model.without_convex(number)
        return smaller.solve(warm_start=post, time_limit=time_limit)

    def measure(item: int, answer: Posterior) -> dict[str, Any]:
        return {"measures": measures(answer, f"without {name_of_item[item]!r}")}

    removable = [item for item in name_of_item if item not in model.ruled_out]
    cases = StatementCases(lambda item: {"statement": name_of_item[item]}, solve_without, measure)
    rows = solved_rows(cases, [[item] for item in removable], "without", progress=progress)
    solved = dict(zip(removable, rows, strict=True))
    without_item = [solved.get(row, {}).get("measures", {}) for row in items.tolist()]
    columns = {}
    for key in dict.fromkeys([*of_all, *itertools.chain(*without_item)]):
        without = np.array([numbers.get(key, np.nan) for numbers in without_item])
        columns[measures.heading(key, "without")] = without
        with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN
            columns[measures.heading(key, "change")] = without - of_all.get(key, np.nan)
    columns["message"] = np.array([solved.get(row, {}).get("message", "") for row in items.tolist()], dtype=object)
    return columns


#: Maximum ratio of two priorities.
WIDEST = 1e6


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A model whose knowledge was made consistent, and the changes.

    Attributes
    ----------
    model : MaxEnt
        A copy of the model in which the statements that had to move are wider. The original does not change.
    changes : DataFrame
        One row per changed statement, by its original name: `low` and `high` as typed, `new_low` and `new_high`, and
        the `move` between them, in the unit of its value. Empty if nothing had to move.

    Examples
    --------
    Three of six men have the flu, but the knowledge requires at least four:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> relaxation = mx.MaxEnt(release).add("P(Flu | Gender=male) >= 0.6").relax()
    >>> relaxation.changes["new_low"].round(6).to_list(), list(relaxation.model.knowledge)
    ([0.5], ['P(Flu | Gender=male) >= 0.5'])
    """

    model: MaxEnt
    changes: pd.DataFrame

    def __repr__(self) -> str:
        return f"<Relaxation: {len(self.changes)} of {len(self.model.knowledge)} statements moved>\n{self.changes}"

    def _repr_html_(self) -> str:
        n = len(self.model.knowledge)
        return as_html(
            f"<Relaxation: {len(self.changes)} of {n} statements moved>", TablePreview(self.changes, "changes")
        )


def least_relaxation(base: KnowledgeBase, priority: Mapping[str, float]) -> tuple[KnowledgeBase, pd.DataFrame]:
    """Widen rows and convex constraints by the least weighted total amount that makes the knowledge consistent."""
    knowledge, problem, form, number = base.knowledge, base.posed, base.form, base.row_numbers
    _check_priority(priority, knowledge)
    weights = {
        label: math.inf if isinstance(group.source, PriorZeros) else float(priority.get(label, 1))
        for label, group in knowledge.items()
    }
    is_hard = number < form.n_hard  # soft rows may be violated anyway
    of_row = np.empty(form.n_hard - form.n_facts)
    sizes = np.array([group.n_rows for group in knowledge.values()], dtype=np.int64)
    of_row[number[is_hard] - form.n_facts] = np.repeat(list(weights.values()), sizes)[is_hard]
    owners = [label for label, group in base.groups.items() for _ in group.convex]
    # Moving a convex constraint by one unit costs as much as N records.
    of_convex = np.array([weights.get(label, math.inf) for label in owners]) * problem.n_records
    moves: list[np.ndarray] = []  # of the convex constraints
    try:
        if problem.convex is None:
            aggregation = aggregate(form.hard)
            change = elastic_relaxation(aggregation.form, of_row)
            below, above = change.below[aggregation.row], change.above[aggregation.row]
        else:
            below, above, moves = elastic_convex_relaxation(problem, of_row, of_convex)
    except Infeasible as error:
        raise _contradiction_of_firm(problem, of_row, of_convex) or error from None
    lower, upper = np.zeros(len(number)), np.zeros(len(number))
    for side, records in ((lower, below), (upper, above)):
        side[is_hard] = records[number[is_hard]] / form.scale[number[is_hard]]
    return _widened(base, lower, upper, moves)


def _contradiction_of_firm(problem: Problem, of_row: np.ndarray, of_convex: np.ndarray) -> Infeasible | None:
    """Return the error of the rows and convex constraints of infinite weight, if they contradict each other."""
    form = problem.form.hard
    movable = form.n_facts + np.flatnonzero(~np.isinf(of_row))  # keep their numbers, by which rows are named
    low, high = form.low.copy(), form.high.copy()
    low[movable], high[movable] = -np.inf, np.inf
    firm = replace(problem, form=replace(form, low=low, high=high), convex=None)
    error = contradiction(firm)
    if error is not None or problem.convex is None:
        return error
    return refuted(replace(firm, convex=problem.convex.select(np.flatnonzero(np.isinf(of_convex)))))


def _widened(
    base: KnowledgeBase, lower: np.ndarray, upper: np.ndarray, moves: list[np.ndarray]
) -> tuple[KnowledgeBase, pd.DataFrame]:
    """Widen the sides of rows, source after source, and the convex constraints, and list the changes."""
    knowledge = base.knowledge
    blocks = [rows for group in knowledge.values() for rows in group.rows]
    ends = np.cumsum([len(rows) for rows in blocks], dtype=np.int64)
    by_block = zip(np.split(lower, ends), np.split(upper, ends), strict=True)
    names = [name for name, _ in base.posed.convex.by_name] if base.posed.convex else []
    by_convex = iter(zip(names, moves, strict=True))
    moves_of = {label: [next(by_convex) for _ in group.convex] for label, group in base.groups.items()}
    groups: dict[str, ConstraintGroup] = {}
    tables_of_rows = [pd.DataFrame(columns=["low", "high", "new_low", "new_high", "move"], dtype=float)]
    tables_of_convex: list[pd.DataFrame] = []
    for label, group in knowledge.items():
        by_rows, by_constraint = [next(by_block) for _ in group.rows], moves_of[label]
        all_moves = [*itertools.chain(*by_rows), *(move for _, move in by_constraint)]
        if not any(move.any() for move in all_moves):
            groups[label] = group
            continue
        rows = tuple(
            replace(rows, low=rows.low - down, high=rows.high + up)
            for rows, (down, up) in zip(group.rows, by_rows, strict=True)
        )
        pairs = list(zip(group.convex, by_constraint, strict=True))
        for before, after in zip(group.rows, rows, strict=True):
            names_of_rows = [before.name(i) for i in range(len(before))]
            tables_of_rows.append(_changes(names_of_rows, (before.low, before.high), (after.low, after.high)))
        tables_of_convex += [_changed_convex(name, constraint, move) for constraint, (name, move) in pairs]
        wider = _with_rows(group, rows, tuple(_looser(constraint, move) for constraint, (_, move) in pairs))
        # A statement without a user-defined label is labelled by its text, which has changed.
        text = wider.source.label
        is_free = text not in knowledge and text not in groups
        groups[text if is_free and label == group.source.label else label] = wider
    changes = pd.concat([table for table in tables_of_rows + tables_of_convex if len(table)] or tables_of_rows)
    return base.with_knowledge(groups), changes.rename_axis("statement")


def _with_rows(group: ConstraintGroup, rows: tuple[Rows, ...], convex: tuple[Any, ...]) -> ConstraintGroup:
    """Return the group with other sides; a statement remains a statement, and its row is named by the new text."""
    source, typed = group.source, [(rows.low.item(), rows.high.item()) for rows in group.rows if len(rows) == 1]
    # The row of a mean of people whose number is unknown has other sides than the statement.
    if not isinstance(source, Statement) or typed != [(source.low, source.high)]:
        return ConstraintGroup(StoredSource.of(source, rows), rows, convex)
    statement = Statement(source.terms, float(rows[0].low[0]), float(rows[0].high[0]))
    if rows[0].label == source.label:
        rows = (replace(rows[0], label=statement.label),)
    return ConstraintGroup(statement, rows, convex)


def _looser(constraint: Any, move: np.ndarray) -> Any:
    """Return the constraint with its side as typed moved outwards."""
    if not move.any():
        return constraint
    left, right = constraint.args
    by = float(move[0]) if len(move) == 1 else move.reshape(constraint.expr.shape, order="F")
    return left - by <= right if number_on_left(constraint) else left <= right + by


def _changed_convex(name: str, constraint: Any, move: np.ndarray) -> pd.DataFrame:
    """List the changed entries of a constraint; if neither side is constant, of left minus right."""
    is_above = number_on_left(constraint)
    side = constraint.args[0] if is_above else constraint.args[1]
    typed, infinite = np.zeros(len(move)), np.full(len(move), np.inf)
    if side.is_constant():
        typed = np.broadcast_to(np.asarray(side.value, dtype=float).ravel(order="F"), len(move))
    names = entry_names(name, len(move))
    if is_above:
        return _changes(names, (typed, infinite), (typed - move, infinite))
    return _changes(names, (-infinite, typed), (-infinite, typed + move))


def _changes(
    names: list[str], before: tuple[np.ndarray, np.ndarray], after: tuple[np.ndarray, np.ndarray]
) -> pd.DataFrame:
    """List the changes, given the low and the high sides before and after."""
    (low, high), (new_low, new_high) = before, after
    table = pd.DataFrame({"low": low, "high": high, "new_low": new_low, "new_high": new_high}, index=names)
    # Infinite sides do not move.
    down = np.subtract(low, new_low, out=np.zeros(len(low)), where=low != new_low)
    up = np.subtract(new_high, high, out=np.zeros(len(high)), where=high != new_high)
    return table.assign(move=down + up)[down + up > 0]


def _check_priority(priority: Mapping[str, float], knowledge: Mapping[str, ConstraintGroup]) -> None:
    """Check that priorities are positive numbers of comparable size, by labels of the knowledge."""
    for label, value in priority.items():
        check_label(label, "label of the model's knowledge", knowledge)
        if isinstance(value, bool) or not isinstance(value, Real) or not value > 0:
            raise BadProbability(
                f"the priority of {label!r} must be a positive number, or inf for knowledge that must not move; "
                f"got {short_repr(value)}"
            )
    finite = [float(value) for value in (1.0, *priority.values()) if np.isfinite(value)]
    if max(finite) > WIDEST * min(finite):
        raise BadProbability(
            f"priorities range from {min(finite):g} to {max(finite):g} (default 1), and their ratio must be at most "
            f"{WIDEST:g}; use inf for knowledge that must not move"
        )
