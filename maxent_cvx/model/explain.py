"""Explanations of an answer: prices of statements, certain values, contradictions and their relaxation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import BadProbability, Inaccurate, Infeasible, SolverError, StatementError, pluralize, unknown_name
from .._utils.formatting import TablePreview, as_html
from .._utils.parallel import Workers
from .._utils.progress import progress_bar
from .._utils.tables import choose
from .._utils.validation import check_bool, check_optional_bool, check_seconds
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
from ..solvers.form import Convex, LinearForm
from ..solvers.intervals import without_knowledge as without_knowledge_intervals
from ..solvers.linear import elastic_relaxation, never_filled, settle_integers
from ..solvers.monitor import check_time
from ..solvers.presolve import remaining
from ..solvers.sparse import most_by_row
from ..sources.base import ConstraintGroup, StoredSource
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

# Certain inferences: probabilities that knowledge forces to 0 or 1, and what forces each.

#: Rows of knowledge whose consequences are derived one by one, from the last; statements come last.
MOST_CERTAIN_ROWS = 2_000
#: Terms with fewer records than this are candidates for zeros, as answers are not exact; a proof decides.
MAYBE_ZERO = 1e-5


#: What an inference says: the kind of those whom it is about, which of them, the position of s, and 0 or 1.
Key = tuple[str, int, int, float]


class Subjects(NamedTuple):
    """Whom inferences of one kind are about."""

    kind: str
    code: np.ndarray
    people: np.ndarray  # how many people each is


class Inference(NamedTuple):
    """P(s | q), P(s | i), or P(s | the others with q), that may be 0 or 1."""

    name: str
    group: tuple[str, int]  # whom it is about: their kind, and which of them
    value: int  # the position of s
    probability: float
    people: int  # how many they are
    terms: np.ndarray  # the terms that must be empty

    @property
    def key(self) -> Key:
        """What it says, but for the name."""
        return *self.group, self.value, self.probability


@single_thread
def certain_table(model: MaxEnt, counts: np.ndarray, progress: bool | None) -> pd.DataFrame:
    """List certain inferences with their reasons, see :meth:`maxent_cvx.Posterior.certain`."""
    space, problem = model.space, model.posed.hard
    if np.isnan(problem.closed_form.counts).any():  # releases of the same people force something by themselves
        problem = problem.relax_published()
    form = problem.form
    candidates = list(_inferences(space, counts < MAYBE_ZERO))
    known = np.arange(form.n_facts, form.shape[0])
    # Most inferences are forced by a single statement, which bounds show; linear programs prove or refute the others.
    reasons = _forced_by_one(candidates, known[-MOST_CERTAIN_ROWS:], form, space.n_records)
    sets = ForcingSets(form)
    settled = {candidates[i].group for i in reasons if candidates[i].probability == 1}  # groups with a certain value
    keys = {candidates[i].key for i in reasons}

    def follows(inference: Inference) -> bool:
        """Whether it follows from one that is listed: another value has 1, or it is true of all with the QI tuple."""
        kind, whom = inference.group
        if inference.group in settled and inference.probability == 0:
            return True
        return follows_for_others(inference.key, keys) or (kind == "others" and ("q", whom) in settled)

    rest = sorted(set(range(len(candidates))) - set(reasons), key=lambda i: (-candidates[i].probability, i))
    for i in progress_bar(rest, "certain", progress):
        inference = candidates[i]
        if follows(inference):
            continue
        check_time()
        terms = np.zeros(len(space), dtype=bool)
        terms[inference.terms] = True
        reason = sets.forcing(terms)
        if reason is None and (rows := forcing_rows(problem, terms)) is not None:
            sets.add(reason := rows)
        if reason is not None:
            reasons[i] = reason
            keys.add(inference.key)
            if inference.probability == 1:
                settled.add(inference.group)
    listed = [(candidates[i], reasons[i]) for i in sorted(reasons) if not follows(candidates[i])]
    table = [(one.name, one.probability, one.people, [form.name(row) for row in rows]) for one, rows in listed]
    columns = ["inference", "probability", "people", "because"]
    return pd.DataFrame(table, columns=columns).set_index("inference")


def _forced_by_one(
    candidates: list[Inference], known: np.ndarray, form: LinearForm, n_records: float
) -> dict[int, np.ndarray]:
    """What a single statement forces, by bounds: its row, by the number of the inference."""
    reasons: dict[int, np.ndarray] = {}
    of = np.repeat(np.arange(len(candidates)), [len(inference.terms) for inference in candidates])
    terms = np.concatenate([np.empty(0, dtype=int), *(inference.terms for inference in candidates)])
    for row, zeros in zeros_by_bounds(form, known, n_records) if candidates else ():
        for forced in np.flatnonzero(np.bincount(of, ~zeros[terms]) == 0):
            reasons.setdefault(int(forced), np.array([row]))
    return reasons


def subjects(space: Space) -> Iterator[Subjects]:
    """Give everybody of each QI tuple, then each named person, then the others of the QI tuples that have names."""
    q, n_q = space.codes["q"], space.view.n_q
    yield Subjects("q", q, n_q)
    if len(space.people):
        who, unnamed = space.codes["who"], space.people.unnamed
        yield Subjects("who", who, np.ones(len(space.people), dtype=int))
        yield Subjects("others", np.where((who == len(space.people)) & (unnamed < n_q)[q], q, len(n_q)), unnamed)


def follows_for_others(key: Key, decided: Container[Key]) -> bool:
    """Whether an inference about the others of a QI tuple follows from the same one about everybody with it."""
    return key[0] == "others" and ("q", *key[1:]) in decided


def _inferences(space: Space, empty: np.ndarray) -> Iterator[Inference]:
    """Give each inference that may be 0 or 1; where a bucket allows one value, nothing was open."""
    s, n_s = space.codes["s"], len(space.view.sensitive_values)
    for kind, code, people in subjects(space):
        size = len(people)
        terms = np.flatnonzero(code < size)
        if not len(terms):
            continue
        order = terms[np.argsort(code[terms] * n_s + s[terms], kind="stable")]
        pairs, start = np.unique(code[order] * n_s + s[order], return_index=True)
        group = pairs // n_s
        is_empty = np.minimum.reduceat(empty[order], start)
        several = (np.bincount(group) > 1)[group]
        one = several & ~is_empty & (np.bincount(group, ~is_empty, size)[group] == 1)
        first, last = np.searchsorted(group, group), np.searchsorted(group, group, side="right")
        end = np.append(start, len(order))
        for i in np.flatnonzero(is_empty | one):
            own = order[end[i] : end[i + 1]]
            terms = own if is_empty[i] else np.setdiff1d(order[end[first[i]] : end[last[i]]], own)
            whom, value = int(group[i]), int(pairs[i] % n_s)
            name = name_of(space, kind, whom, value)
            yield Inference(name, (kind, whom), value, float(one[i]), int(people[whom]), terms)


def name_of(space: Space, kind: str, group: int, value: int) -> str:
    """Name an inference as a statement would be; no statement involves the others of a QI tuple, who are named thus."""
    # "P(Flu | Gender=male)" is about everybody who is male, "P(Flu | Alice)" about Alice, and "P(Flu | (others),
    # Gender=male)" about those who are male and have no name.
    view = space.view
    label = view.sensitive_values[value]
    several = len(view.sensitive) > 1
    values = zip(view.sensitive, label, strict=True) if several else [(None, label)]
    sensitive = frozenset((name, choose(one, "the sensitive value")) for name, one in values)
    if kind == "who":
        return str(Event(sensitive, who=frozenset([space.people.names[group]])))
    given = frozenset(
        (name, choose(one, name)) for name, one in zip(view.qi, view.quasi_identifiers[group], strict=True)
    )
    if kind == "others":
        return f"P({conditions(sensitive)} | {', '.join(filter(None, [OTHERS, conditions(given)]))})"
    return str(Event(sensitive, given))


# What every integer solution agrees on: certain because each record has exactly one value, beyond linear rows.

#: What an inference says: of whom, which value, and how probable that is.
KEY = ["kind", "group", "value", "probability"]


def integer_certain_table(model: MaxEnt, counts: np.ndarray, seconds: float) -> pd.DataFrame:
    """List what all integer solutions agree on, see :meth:`maxent_cvx.Posterior.certain`."""
    problem = replace(model.posed.hard, convex=None)
    form = problem.form
    try:
        reduced = settle_integers(presolved(problem))
    except Infeasible as error:
        raise contradiction(problem) or error from None
    # Where no knowledge involves a bucket and buckets do not overlap, some assignment fills any term.
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
    return _table(model.space, counts, empty, undecided)


def _table(space: Space, counts: np.ndarray, empty: np.ndarray, undecided: np.ndarray) -> pd.DataFrame:
    """Write what is certain of everybody who had a choice, and what was not decided."""
    table = pd.concat([_of(space, counts, whom, empty, undecided) for whom in subjects(space)], ignore_index=True)
    keys: list[Key] = list(table[KEY].itertuples(index=False, name=None))
    decided_keys = {key for key, decided in zip(keys, table["decided"], strict=True) if decided}
    table = table[np.array([not follows_for_others(key, decided_keys) for key in keys], dtype=bool)]
    names = [name_of(space, kind, group, value) for kind, group, value in table[KEY[:3]].itertuples(index=False)]
    index = pd.Index(names, dtype=object, name="inference")
    return table.set_index(index)[["probability", "posterior", "people", "decided"]]


def _of(space: Space, counts: np.ndarray, whom: Subjects, empty: np.ndarray, undecided: np.ndarray) -> pd.DataFrame:
    """What is certain, or not decided, of everybody of one kind: what the terms of all of them say together."""
    code, n_values = whom.code, len(space.view.sensitive_values)
    terms = np.flatnonzero(code < len(whom.people))
    pairs, of = np.unique(code[terms] * n_values + space.codes["s"][terms], return_inverse=True)
    n, owner = len(pairs), pairs // n_values
    filled = np.bincount(of, ~empty[terms] & ~undecided[terms], n) > 0
    maybe = np.bincount(of, undecided[terms], n) > 0
    choices = np.bincount(owner, minlength=len(whom.people))
    may_be = np.bincount(owner, filled | maybe, len(whom.people))
    one = filled & (may_be[owner] == 1) & (choices[owner] > 1)
    zero = ~filled & ~maybe & (np.bincount(owner, one, len(whom.people))[owner] == 0)
    open_ = maybe & ~filled
    listed = one | zero | open_
    people = whom.people[owner]
    p = np.bincount(of, counts[terms], n) / people
    return pd.DataFrame(
        {
            "kind": whom.kind, "group": owner, "value": pairs % n_values,
            "probability": np.where(open_, np.nan, one.astype(float)), "posterior": p, "people": people,
            "decided": ~open_,
        }
    )[listed]  # fmt: skip


# What an explanation needs to see of a posterior, and of the model that it answers.


def model_of(post: Posterior) -> MaxEnt:
    """Give the model of a posterior."""
    if post.model is None:
        raise StatementError(
            "the posterior was loaded from a file without its model; load it with load_posterior(path, verify=True), "
            "or solve again"
        )
    return post.model


def solved_without(post: Posterior, row: int, time_limit: float) -> Any:
    """Solve the model of a posterior again without one row of its knowledge, by its number in the form.

    Convex constraints are numbered after the rows.
    """
    model = model_of(post)
    number = row - model.form.shape[0]
    model = model.without_row(row) if number < 0 else model.without_convex(number)
    return model.solve(warm_start=post, time_limit=time_limit)


# A table of many solves: each warm from one before, chains of them in parallel, and no row is lost where one fails.


class Cases(Protocol):
    """What is solved, by number, and what is asked about each."""

    def about(self, i: int) -> dict[str, Any]:
        """The columns that say which it is."""
        ...

    def solved(self, i: int, before: Any) -> Any:
        """Its posterior, begun with that of the case before, None for the first of a chain."""
        ...

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """The columns that say what was found."""
        ...


class Row(NamedTuple):
    """A row of the table, by the number of the case; where there is no answer, the error that says why."""

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
    """Solve cases, and give a row of each, in the order of their numbers."""
    # Beside what the cases tell, a row has "status": that of the answer, "infeasible", or "failed" without one; and
    # "message", why there is no answer, or "".
    finished: dict[int, Row] = {}
    try:
        for row in progress_bar(_each(cases, chains, workers), what, progress, total=sum(map(len, chains))):
            finished[row.number] = row
    except BaseException as error:
        if finished:
            error.finished = pd.DataFrame([finished[i].columns for i in sorted(finished)])  # type: ignore[attr-defined]
            error.add_note(
                f"{pluralize(len(finished), 'row is', 'rows are')} finished: the attribute finished of this error"
            )
        raise
    rows = [finished[i] for i in sorted(finished)]
    if rows and all(row.error for row in rows):
        raise next(row.error for row in rows if row.error)
    return [row.columns for row in rows]


def _each(cases: Cases, chains: Sequence[Sequence[int]], workers: Workers) -> Iterator[Row]:
    """Give each row as soon as it is there; from other processes, as soon as its chain is."""
    if workers.is_this_process or (len(chains) == 1 and workers.cluster is None):
        return chain.from_iterable(_along(cases, one) for one in chains)
    return chain.from_iterable(workers.map(_finished, cases, ((one,) for one in chains)))


def _finished(cases: Cases, numbers: Sequence[int]) -> list[Row]:
    """The rows of a chain."""
    return list(_along(cases, numbers))


def _along(cases: Cases, numbers: Sequence[int]) -> Iterator[Row]:
    """Go along a chain."""
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


# What would be inferred with less knowledge: without any of it, without each statement, and with each one alone.

#: With more rows of knowledge than these, a source is left out as a whole, and not row by row.
MOST_ROWS = 50


def without_knowledge(post: Posterior) -> Any:
    """Solve the model of a posterior with what is published alone, and its prior if it has one."""
    model = model_of(post)
    labels = _removable(model)
    return _solved(_without(model, labels), post) if labels else post


def by_statement(
    post: Posterior, without: Callable[[Any], dict[str, Any]], alone: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Solve the model of a posterior again without each statement, and with each one alone, and measure both answers."""
    model = model_of(post)
    form, labels = model.form, _removable(model)
    rows = [row for row in range(form.n_facts, form.shape[0]) if row not in model.ruled_out]
    if len(rows) <= MOST_ROWS and not model.convex:
        names = [form.name(row) for row in rows]
        models = [[partial(model.without_row, row) for row in rows], [partial(_row_alone, model, row) for row in rows]]
    else:
        names = labels
        others = [[other for other in labels if other != label] for label in labels]
        models = [[partial(_without, model, some) for some in left_out] for left_out in ([[x] for x in labels], others)]
    chains = [[i] for i in range(len(names))]
    tables = [
        solved_rows(_Cases(post, names, some, measure), chains, what)
        for some, measure, what in zip(models, (without, alone), ("without", "alone"), strict=True)
    ]
    return [{**two, **one, "message": one["message"] or two["message"]} for one, two in zip(*tables, strict=True)]


@dataclass(frozen=True)
class _Cases:
    """What is solved again, by number: the names of statements, and the models."""

    post: Posterior
    names: list[str]
    models: Sequence[Callable[[], MaxEnt]]
    measure: Callable[[Any], dict[str, Any]]

    def about(self, i: int) -> dict[str, Any]:
        """The statement."""
        return {"statement": self.names[i]}

    def solved(self, i: int, before: Any) -> Any:
        """What is inferred, begun with what is inferred of all knowledge."""
        return _solved(self.models[i](), self.post)

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """Measure it."""
        return self.measure(post)


def _row_alone(model: MaxEnt, row: int) -> MaxEnt:
    """Copy a model with one row of its knowledge only."""
    rows, place = model.blocks.find(row)
    return _without(model, _removable(model)).add(rows.at(np.array([place])))


def _removable(model: MaxEnt) -> list[str]:
    """The labels of knowledge that may come and go."""
    return [label for label, source in model.knowledge.items() if not isinstance(source, PriorZeros)]


def _without(model: MaxEnt, labels: list[str]) -> MaxEnt:
    """Copy a model without some of its knowledge."""
    twin = model.copy()
    for label in labels:
        twin.remove(label)
    return twin


def _solved(model: MaxEnt, post: Posterior) -> Any:
    """Solve a model, begun with the multipliers of an earlier answer."""
    return model.solve(warm_start=post, time_limit=float("inf"))


# Shadow prices of statements, from their multipliers, and what changes without each of them.


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
        raise StatementError("measure= is what is measured without each statement: leave_one_out=True")
    form = model.form
    multipliers, of_convex = _multipliers(post, form)
    # Of an answer from outside, the dual values serve where its counts are too rough; not beside terms that are nearly
    # zero, as the rows that force these have infinite prices, and finite dual values.
    imprecise = bool(np.isnan(multipliers).any())
    if imprecise and post.multipliers and post.counts.min() > NEARLY_ZERO:
        multipliers, of_convex = _dual_values(post, form), {k: t.values for k, t in post.convex_multipliers.items()}
        imprecise = False
    if imprecise or len(of_convex) < len(model.convex):
        raise Inaccurate(
            "the posterior has no multipliers to the precision that prices need; solve it with DUAL_NEWTON, "
            "or with polish=True"
        )
    table = prices_of(form, multipliers, post.space.n_records)
    items = np.arange(form.n_facts, form.shape[0])
    for number, (name, one) in enumerate(model.posed.convex.by_name if model.posed.convex else ()):
        prices = _convex_prices(name, one, of_convex[name] / post.space.n_records)
        table, items = pd.concat([table, prices]), np.append(items, np.full(len(prices), form.shape[0] + number))
    if leave_one_out:
        table = table.assign(**_left_out(post, items, table.index.to_list(), measures, time_limit, progress))
    return largest_first(table)


def entry_names(name: str, size: int) -> list[str]:
    """The names of the entries of a constraint."""
    return [name] if size == 1 else [f"{name}, entry {i + 1}" for i in range(size)]


def _convex_prices(name: str, constraint: Any, multipliers: np.ndarray) -> pd.DataFrame:
    """The prices of the entries of a convex constraint; in ``entropy >= h``, the side as typed is the left one."""
    side, sign = (">=", -1.0) if _is_above(constraint) else ("<=", 1.0)
    binding = ~(multipliers <= ROUNDED)  # NaN is one that was not determined
    index = pd.Index(entry_names(name, len(multipliers)), name="statement", dtype=object)
    price = np.where(binding, sign * multipliers, 0.0)
    return pd.DataFrame({"side": np.where(binding, side, ""), "price": price}, index=index)


def _dual_values(post: Posterior, form: LinearForm) -> np.ndarray:
    """The multipliers that a solver returned, 0 of inequalities that are inactive at the exact answer.

    The certified bound is at least half the sum of what the terms of a QI tuple are off by, relative to its records.
    So no row, whose coefficients are at most 1, is off by more than twice the bound times all records; an inequality
    that is farther from its side is inactive, and a multiplier that it has is an error of the solver.
    """
    multipliers = form.transformed_multipliers(np.concatenate(list(post.multipliers.values())))
    value, off = form.matvec(post.counts), 2 * post.certificate.bound * post.space.n_records
    slack = np.where(multipliers > 0, value - form.low, form.high - value)
    inactive = ~form.is_equation & (slack > off)
    inactive[form.n_hard :] = False
    return np.where(inactive, 0.0, multipliers)


#: Records: a smaller count may be one that the rows force to zero; conic solvers leave these at 1e-6 or less.
NEARLY_ZERO = 1e-4
#: Nats per record: a smaller multiplier of an inequality is the rounding error of 0, and its sign means nothing.
ROUNDED = 1e-10


def prices_of(form: LinearForm, multipliers: np.ndarray, n_records: float) -> pd.DataFrame:
    """The prices of rows of knowledge, in their order, from the multipliers of all rows."""
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
    """The largest price first."""
    return table.iloc[np.argsort(-np.abs(table["price"].to_numpy()), kind="stable")]


def _multipliers(post: Posterior, form: LinearForm) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Multipliers of all rows, and of all convex constraints by name.

    Those of soft rows are the solver's, all others those that belong to the counts beside them. Where a convex
    constraint binds, the half-space x: G x <= G x* of its subgradient G contains the feasible set, and takes the place
    of the constraint without changing the answer x*.
    """
    of_convex = {name: one.values.copy() for name, one in post.convex_multipliers.items()}
    rows, binding = {}, {}
    for name, (t, gradients) in post.convex_multipliers.items():
        if np.isfinite(t).all() and len(at := np.flatnonzero(t > 0)):
            binding[name], rows[name] = at, _half_spaces(name, gradients[at], post.counts)
    # What costs nothing determines the values of rows; perhaps they have these without it.
    determined = {
        name: replace(half_spaces, low=half_spaces.high)
        for name, (t, gradients) in post.convex_multipliers.items()
        if not np.isfinite(t).all()
        for half_spaces in [_half_spaces(name, gradients, post.counts)]
    }
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
    """The multipliers of the rows of a form with further ones."""
    # An extended form has none of what was derived of the form before.
    extension = extended(form, rows, form.weights) if rows else Extension(form, np.arange(form.shape[0]), {})
    if form.penalties is None:
        return multipliers_from_counts(extension.form, post.counts), extension
    soft = form.transformed_multipliers(np.concatenate(list(post.multipliers.values())))[form.n_hard :]
    return multipliers_beside(extension.form, post.counts, soft), extension


def _half_spaces(name: str, gradients: sp.csr_array, counts: np.ndarray) -> AddedRows:
    """The rows G x <= G x*, whose largest coefficients are 1."""
    gradients = sp.csr_array(gradients)
    most = most_by_row(np.abs(gradients.data), gradients)
    scale = 1 / np.where(most > 0, most, 1.0)
    matrix = sp.csr_array(sp.diags_array(scale) @ gradients)
    high = matrix @ counts
    return AddedRows(matrix, np.full(len(high), -np.inf), high, name, scale=scale)


@dataclass(frozen=True)
class _Without:
    """What is solved again, by the number of the row that is left out."""

    post: Posterior
    names: dict[int, str]
    measures: Measures
    time_limit: float

    def about(self, i: int) -> dict[str, Any]:
        """The statement."""
        return {"statement": self.names[i]}

    def solved(self, i: int, before: Any) -> Any:
        """What is inferred without it, begun with what is inferred with it."""
        return solved_without(self.post, i, self.time_limit)

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """Measure it."""
        return {"found": self.measures(post, f"without {self.names[i]!r}")}


def _left_out(
    post: Posterior,
    items: np.ndarray,
    names: list[str],
    measures: Measures,
    time_limit: float,
    progress: bool | None,
) -> dict[str, np.ndarray]:
    """Measure without each statement in turn, and how that differs from with it; say where it could not be solved."""
    held, ruled_out = measures(post, "of all that is known"), model_of(post).ruled_out
    of_row = dict(zip(items.tolist(), names, strict=True))
    removable = [row for row in of_row if row not in ruled_out]  # what a prior rules out cannot be left out
    cases = _Without(post, of_row, measures, time_limit)
    solved = dict(
        zip(removable, solved_rows(cases, [[row] for row in removable], "without", progress=progress), strict=True)
    )
    left = [solved.get(row, {}).get("found", {}) for row in items.tolist()]
    columns = {}
    for key in dict.fromkeys([*held, *itertools.chain(*left)]):
        without = np.array([found.get(key, np.nan) for found in left])
        columns[measures.heading(key, "without")] = without
        with np.errstate(invalid="ignore"):  # what is infinite with and without a statement has not changed by a number
            columns[measures.heading(key, "change")] = without - held.get(key, np.nan)
    columns["message"] = np.array([solved.get(row, {}).get("message", "") for row in items.tolist()], dtype=object)
    return columns


#: Largest ratio of two priorities.
WIDEST = 1e6


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A model whose knowledge has been made consistent, and what that took.

    Attributes
    ----------
    model : MaxEnt
        A copy of the model in which the statements that had to move are wider. The original is as it was.
    changes : DataFrame
        A row for each of them, by the name that it had: `low` and `high` as typed, `new_low` and `new_high`, and
        the `move` from the one to the other, in the unit of its value. Empty if nothing had to move.

    Examples
    --------
    Three of six men have the flu, and somebody says that at least four do:

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
    """Widen rows of knowledge by the least total amount, weighted, that makes all rows feasible."""
    held, form, number = base.knowledge, base.form, base.row_numbers
    firm = {name: math.inf for name, one in held.items() if isinstance(one.source, PriorZeros)}
    weight = _weights(held, {**priority, **firm})
    is_hard = number < form.n_hard  # soft rows can be missed as they are
    lower, upper = np.zeros(len(number)), np.zeros(len(number))
    of_row = np.empty(form.n_hard - form.n_facts)
    of_row[number[is_hard] - form.n_facts] = weight[is_hard]
    if base.convex:
        return _least_convex_relaxation(base, of_row, {**priority, **firm})
    try:
        for side, moved in zip((lower, upper), _moved(form.hard, of_row), strict=True):
            side[is_hard] = moved[number[is_hard] - form.n_facts]
    except Infeasible as error:
        firmly = form.hard.select_knowledge(form.n_facts + np.flatnonzero(np.isinf(of_row)))
        raise contradiction(base.posed.with_rows(firmly)) or error from None
    entries, changes = _relaxed(held, lower, upper)
    return base.with_knowledge(entries), changes


def _least_convex_relaxation(
    base: KnowledgeBase, of_row: np.ndarray, priority: Mapping[str, float]
) -> tuple[KnowledgeBase, pd.DataFrame]:
    """The same with convex constraints, each of which moves by one unit at the cost of N records."""
    form, number, problem = base.form, base.row_numbers, base.posed
    owners = [label for label, group in base.groups.items() for _ in group.convex]
    of_convex = np.array([float(priority.get(label, 1)) for label in owners]) * problem.n_records
    try:
        change = elastic_convex_relaxation(problem, of_row, of_convex)
    except Infeasible as error:
        assert problem.convex is not None
        firmly = problem.hard.with_rows(form.hard.select_knowledge(form.n_facts + np.flatnonzero(np.isinf(of_row))))
        kept = [one for one, weight in zip(problem.convex.by_name, of_convex, strict=True) if np.isinf(weight)]
        convex = Convex(problem.convex.variable, [one for _, one in kept], [name for name, _ in kept])
        raise contradiction(firmly) or refuted(replace(firmly, convex=convex if kept else None)) or error from None
    is_hard = number < form.n_hard
    lower, upper = np.zeros(len(number)), np.zeros(len(number))
    for side, moved in ((lower, change.below), (upper, change.above)):
        side[is_hard] = moved[number[is_hard]] / form.scale[number[is_hard]]
    entries, changes = _relaxed(base.knowledge, lower, upper)
    names = [name for name, _ in problem.convex.by_name] if problem.convex else []
    tables = [changes]
    for label in dict.fromkeys(owners):
        entry = entries[label]
        moves = [move for move, owner in zip(change.convex, owners, strict=True) if owner == label]
        if not any(move.any() for move in moves):
            continue
        own = [name for name, owner in zip(names, owners, strict=True) if owner == label]
        looser = tuple(_looser(one, move) for one, move in zip(entry.convex, moves, strict=True))
        entries[label] = ConstraintGroup(StoredSource.of(entry.source, entry.rows), entry.rows, looser)
        tables += [_convex_changes(*one) for one in zip(own, entry.convex, moves, strict=True)]
    return base.with_knowledge(entries), pd.concat([one for one in tables if len(one)] or [changes]).rename_axis(
        "statement"
    )


def _is_above(constraint: Any) -> bool:
    """Whether the constraint is that a concave expression is at least a number."""
    return constraint.args[0].is_constant() and not constraint.args[1].is_constant()


def _looser(constraint: Any, move: np.ndarray) -> Any:
    """The same constraint with its right-hand side as typed moved."""
    if not move.any():
        return constraint
    left, right = constraint.args
    by = float(move[0]) if len(move) == 1 else move.reshape(constraint.expr.shape, order="F")
    return left - by <= right if _is_above(constraint) else left <= right + by


def _convex_changes(name: str, constraint: Any, move: np.ndarray) -> pd.DataFrame:
    """List the entries of a constraint that moved; where neither side is a number, the left one less the right one."""
    left, right = constraint.args
    at, sign = (left, -1.0) if _is_above(constraint) else (right, 1.0)
    typed = np.zeros(len(move))
    if at.is_constant():
        typed = np.broadcast_to(np.asarray(at.value, dtype=float).ravel(order="F"), len(move)).copy()
    open_ = np.full(len(move), sign * -np.inf)
    moved = typed + sign * move
    low, high, new_low, new_high = (typed, open_, moved, open_) if sign < 0 else (open_, typed, open_, moved)
    table = pd.DataFrame(
        {"low": low, "high": high, "new_low": new_low, "new_high": new_high, "move": move},
        index=entry_names(name, len(move)),
    )
    return table[move > 0]


def _weights(knowledge: Mapping[str, ConstraintGroup], priority: Mapping[str, float]) -> np.ndarray:
    """The weight of one record by which a row of the knowledge moves, one per row."""
    unknown = [label for label in priority if label not in knowledge]
    if unknown:
        raise unknown_name("label of the model's knowledge", unknown[0], knowledge)
    for label, value in priority.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not value > 0:
            raise BadProbability(
                f"the priority of {label!r} is {value!r}; a number above 0 is expected, inf for what must not move"
            )
    finite = [float(value) for value in (1.0, *priority.values()) if np.isfinite(value)]
    if max(finite) > WIDEST * min(finite):
        raise BadProbability(
            f"priorities from {min(finite):g} to {max(finite):g} (1 where none is given) are too far apart to be "
            f"weighed; stay within a factor of {WIDEST:g}, or give inf to what must not move"
        )
    return np.concatenate(
        [np.empty(0), *(np.full(sum(map(len, e.rows)), float(priority.get(name, 1))) for name, e in knowledge.items())]
    )


def _moved(form: LinearForm, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much each row of the knowledge must be lowered on its low side, and raised on its high side, as typed."""
    aggregation = aggregate(form)
    change = elastic_relaxation(aggregation.form, weight)
    low, high = (
        side[aggregation.row][form.n_facts :] / form.scale[form.n_facts :] for side in (change.below, change.above)
    )
    return low, high


def _relaxed(
    knowledge: Mapping[str, ConstraintGroup], lower: np.ndarray, upper: np.ndarray
) -> tuple[dict[str, ConstraintGroup], pd.DataFrame]:
    """Move rows apart, low sides down and high sides up: all knowledge by its labels, and a table of what moved."""
    entries: dict[str, ConstraintGroup] = {}
    tables = [pd.DataFrame(columns=["low", "high", "new_low", "new_high", "move"], dtype=float)]
    ends = np.cumsum([sum(map(len, entry.rows)) for entry in knowledge.values()])[:-1]
    parts = zip(np.split(lower, ends), np.split(upper, ends), strict=True) if knowledge else ()
    for (name, entry), (down, up) in zip(knowledge.items(), parts, strict=True):
        if not (down.any() or up.any()):
            entries[name] = entry
            continue
        wider = _widened(entry, down, up)
        own = wider.source.label  # a statement's own text, unless it was given another name
        taken = own in knowledge or own in entries
        entries[own if name == entry.source.label and not taken else name] = wider
        tables.append(_changes(entry.rows, wider.rows))
    moved_rows = [table for table in tables if len(table)]
    return entries, (pd.concat(moved_rows) if moved_rows else tables[0]).rename_axis("statement")


def _widened(entry: ConstraintGroup, lower: np.ndarray, upper: np.ndarray) -> ConstraintGroup:
    """Move the rows of one source apart."""
    ends = np.cumsum([len(rows) for rows in entry.rows])[:-1]
    parts = zip(entry.rows, np.split(lower, ends), np.split(upper, ends), strict=True)
    rows = tuple(replace(r, low=r.low - down, high=r.high + up) for r, down, up in parts)
    if not isinstance(entry.source, Statement):
        return ConstraintGroup(StoredSource.of(entry.source, rows), rows, entry.convex)
    statement = Statement(entry.source.terms, float(rows[0].low[0]), float(rows[0].high[0]))
    if rows[0].label == entry.source.label:
        rows = (replace(rows[0], label=statement.label),)
    return ConstraintGroup(statement, rows)


def _changes(before: tuple[Rows, ...], after: tuple[Rows, ...]) -> pd.DataFrame:
    """List the rows that moved."""
    old, new = (
        [np.concatenate([getattr(rows, side) for rows in some]) for side in ("low", "high")] for some in (before, after)
    )
    names = [rows.name(i) for rows in before for i in range(len(rows))]
    table = pd.DataFrame({"low": old[0], "high": old[1], "new_low": new[0], "new_high": new[1]}, index=names)
    down, up = (
        np.abs(np.subtract(a, b, out=np.zeros(len(a)), where=a != b))  # infinite sides stay
        for a, b in zip(old, new, strict=True)
    )
    return table.assign(move=down + up)[down + up > 0]
