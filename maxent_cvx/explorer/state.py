"""The explorer without widgets: the state of its controls, and the resulting model, answer and sentences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.associations import Associations, mine_associations
from .._utils.errors import Infeasible, MaxEntError, RepeatedStatement, SolverError, StatementError
from .._utils.formatting import format_number
from .._utils.validation import check_label
from ..measures.accuracy import overall_divergence
from ..measures.events import ROUNDING, sensitive_events
from ..measures.exposure import Exposure, exposed
from ..model.bounds import LinearQuery, bounds_of
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..model.storage import statement_text
from ..releases.base import OUTSIDE
from ..sources.associations import StrongestAssociations
from ..sources.base import Source
from ..sources.invariants import PriorZeros
from ..sources.statements import Probability, Statement


@dataclass(frozen=True)
class Setting:
    """A piece of knowledge: its value, its vagueness (half width or sd), and whether the adversary knows it."""

    value: float = 0.0
    vagueness: float = 0.0
    known: bool = True


@dataclass(frozen=True)
class State:
    """The position of every control: settings by label, K+ and K- of associations, and the threshold of exposure."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    positive: int = 0
    negative: int = 0
    threshold: float = 0.8

    def of(self, label: str | None) -> Setting | State:
        """Return the setting of a label; without one, the state itself."""
        return self if label is None else self.settings[label]

    def moved(self, label: str | None, **changes: Any) -> State:
        """Return the state with one setting changed: ``state.moved("P(Flu) = 0.3", value=0.4)``."""
        if label is None:
            return replace(self, **changes)
        return replace(self, settings={**self.settings, label: replace(self.settings[label], **changes)})

    @property
    def knowledge(self) -> tuple[Any, ...]:
        """The part of the state that determines the model: everything except the threshold."""
        return tuple(self.settings.items()), self.positive, self.negative


#: Least number of steps from one end of a slider to the other.
STEPS = 50
#: Largest number of decimals added to a scale so that it contains the typed value.
FINER = 2
#: Fraction of a step within which a number is on the scale up to rounding.
ON_STEP = 1e-6


@dataclass(frozen=True)
class Scale:
    """The values low, low + step, ..., high of a slider, in the unit of the statement."""

    low: float
    high: float
    step: float
    digits: int

    @classmethod
    def of(cls, low: float, high: float, *shown: float) -> Scale:
        """Choose a step, a power of ten, so that the scale contains some numbers, unless they are too fine."""
        digits = -math.floor(math.log10((high - low) / STEPS))
        finest = digits + FINER
        while digits < finest and any(abs(round(x / 10.0**-digits) - x / 10.0**-digits) > ON_STEP for x in shown):
            digits += 1
        step = 10.0**-digits
        ends = math.ceil(low / step - ON_STEP), math.floor(high / step + ON_STEP)
        return cls(round(ends[0] * step, digits), round(ends[1] * step, digits), step, max(digits, 0))


@dataclass(frozen=True, eq=False)
class Adjustable:
    """One statement, low <= combination <= high, whose middle and half width, or whose one side, can be moved."""

    label: str
    statement: Statement
    values: Scale
    vagueness: Scale | None
    start: Setting

    @property
    def what(self) -> Probability:
        """The linear combination in the statement."""
        return Probability(dict(self.statement.terms))

    @property
    def has_own_label(self) -> bool:
        """Whether the label was chosen by the user, and is kept if the text of the statement changes."""
        return self.label != self.statement.label

    def at(self, setting: Setting) -> Statement:
        """Return the statement with another value and vagueness."""
        if (setting.value, setting.vagueness) == (self.start.value, self.start.vagueness):
            return self.statement
        value, low, high = setting.value, self.statement.low, self.statement.high
        if self.statement.penalty is not None:
            half = (high - low) / 2 if math.isfinite(high - low) else 0.0
            low, high = (value - half if math.isfinite(low) else low), (value + half if math.isfinite(high) else high)
            sd = {} if self.vagueness is None else {"sd": setting.vagueness}
            return replace(self.statement, low=low, high=high, penalty=replace(self.statement.penalty, **sd), where="")
        if math.isinf(low):
            return self.what <= value
        if math.isinf(high):
            return self.what >= value
        return self.what.about(value, setting.vagueness) if setting.vagueness else self.what == value


def adjustable(label: str, source: Source) -> Adjustable | None:
    """Return the sliders of a source; None if it is not a statement with a value."""
    if not isinstance(source, Statement) or (math.isinf(source.low) and math.isinf(source.high)):
        return None
    least, most = Probability(dict(source.terms)).attainable()
    if not (math.isfinite(most - least) and least < most):
        return None
    if math.isinf(source.low) or math.isinf(source.high):
        value, half = (source.high if math.isinf(source.low) else source.low), None
    else:  # the middle of 0.1 and 0.3 is 0.2, not a neighbouring double
        value, half = round((source.low + source.high) / 2, 12), round((source.high - source.low) / 2, 12)
    if source.penalty is not None:
        half = source.penalty.sd if isinstance(source.penalty.sd, float) else None
    values = Scale.of(least, most, value)
    if half is None:
        return Adjustable(label, source, values, None, Setting(value))
    widest = (most - least) / 2
    vagueness = Scale.of(0.0, widest, half)
    if source.penalty is not None:  # a standard deviation is above 0
        vagueness = replace(vagueness, low=vagueness.step)
    return Adjustable(label, source, values, vagueness, Setting(value, half))


def intervals(model: MaxEnt, groups: np.ndarray, seconds: float) -> np.ndarray:
    """Compute bounds ``low <= P(s | q) <= high`` over all distributions that satisfy the rows, for some groups q."""
    space, n_values = model.space, len(model.view.sensitive_values)
    of_term, people = space.groups
    terms = np.flatnonzero(np.isin(of_term, groups))
    cells, place = np.unique(space.cells[terms], return_inverse=True)
    n = len(cells)
    matrix = sp.csr_array((1 / people[of_term[terms]], (place, terms)), shape=(n, len(space)))
    ends = np.stack([np.zeros(n), np.ones(n)])
    query = LinearQuery(matrix, np.zeros(n), ends, np.ones(n, dtype=bool), pd.RangeIndex(n))
    sides = np.zeros((2, len(people) * n_values))
    sides[:, cells] = bounds_of(query, model, False, seconds, False, None).value
    return sides.reshape(2, -1, n_values)[:, groups]


#: Iterations after which the knowledge is tested for contradictions: Newton's method takes 6 to 12 on consistent
#: knowledge of Adult, but hundreds before it detects a contradiction.
PATIENCE = 16


def solved(model: MaxEnt, seconds: float) -> Posterior:
    """Solve a model, or find a contradiction early."""
    # Many iterations are usual with convex constraints, which are solved as one problem of rows per multiplier guess.
    callback = None if model.convex else lambda iteration: iteration.iteration >= PATIENCE
    try:
        return model.solve(time_limit=seconds, callback=callback)
    except (Infeasible, SolverError) as error:
        if getattr(error, "conflict", None) is not None:
            raise
    conflict = model.diagnose(time_limit=seconds)
    if conflict.empty:
        return model.solve(time_limit=seconds)
    contradictory = Infeasible("the knowledge is contradictory")
    contradictory.conflict = conflict
    raise contradictory


@dataclass(frozen=True, eq=False)
class Answer:
    """The posterior, and the intervals of the shown groups."""

    post: Posterior
    divergence: float | None
    sensitive: object
    groups: np.ndarray
    interval: np.ndarray | None
    without_intervals: str = ""

    @cached_property
    def shown(self) -> pd.DataFrame:
        """P(s | q) of the shown groups."""
        return self.post.inferences()[0].iloc[self.groups]

    def exposing(self, threshold: float) -> np.ndarray:
        """Mark the columns in which probabilities of at least the threshold expose somebody."""
        values = self.post.space.view.sensitive_values
        inside = values[self.post.view.inside]
        baseline = self.exposure(threshold).values["baseline"].fillna(0).to_numpy()
        counted = sensitive_events(inside, self.sensitive).includes[:, baseline < threshold - ROUNDING]
        return np.asarray(values.isin(inside[np.flatnonzero(counted.sum(axis=1))]))

    def exposure(self, threshold: float) -> Exposure:
        """Compute the exposure, with the overall distribution as the baseline if published."""
        if threshold not in self._exposures:
            try:
                result = exposed(self.post, threshold, sensitive=self.sensitive, baseline="overall")
            except StatementError:
                result = exposed(self.post, threshold, sensitive=self.sensitive)
            self._exposures[threshold] = result
        return self._exposures[threshold]

    @cached_property
    def _exposures(self) -> dict[float, Exposure]:
        """The computed exposures by threshold, used by both sentences and frames."""
        return {}


def answered(
    model: MaxEnt, original: pd.DataFrame | None, max_rows: int, seconds: float, sensitive: object = None
) -> Answer | MaxEntError:
    """Solve a model, and compute the intervals of the shown groups; an error is the reason why there is no answer."""
    try:
        post = solved(model, seconds)
    except MaxEntError as error:
        return error.with_traceback(None)  # which would keep the model alive
    groups = most_exposed(post, max_rows, sensitive)
    divergence = None if original is None else overall_divergence(post, original)
    try:
        return Answer(post, divergence, sensitive, groups, intervals(model, groups, seconds))
    except MaxEntError as error:
        return Answer(post, divergence, sensitive, groups, None, str(error))


def most_exposed(post: Posterior, max_rows: int, sensitive: object) -> np.ndarray:
    """Return the numbers of the groups with the largest probabilities; if there are few, of all in original order."""
    table = post.inferences()[0].drop(columns=OUTSIDE, errors="ignore")
    largest = sensitive_events(table.columns, sensitive).of(table.to_numpy()).max(axis=1)
    if len(largest) <= max_rows:
        return np.arange(len(largest))
    return np.argsort(-largest, kind="stable")[:max_rows]


#: Default number of statements with sliders; a page with more is unclear.
MOST_STATEMENTS = 20
#: Largest K of a slider, unless the initial model has a larger one.
LARGEST_K = 500


@dataclass(frozen=True, eq=False)
class Assumptions:
    """A model, its statements with sliders, its other knowledge by label, and the associations that K+ and K- count."""

    model: MaxEnt
    adjustable: dict[str, Adjustable]
    others: dict[str, Source]
    mined: Associations | None
    replaced: str | None
    start: State

    @cached_property
    def most(self) -> tuple[int, int]:
        """The largest K+ and K- of a slider."""
        if self.mined is None:
            return 0, 0
        available = len(self.mined.positive), len(self.mined.negative) if self.mined.has_negative else 0
        begun = self.start.positive, self.start.negative
        return min(available[0], max(LARGEST_K, begun[0])), min(available[1], max(LARGEST_K, begun[1]))

    def model_at(self, state: State) -> MaxEnt:
        """Build the model of a state of the controls."""
        model = self._with_associations(state.positive, state.negative).copy()
        moved = {label: at for label, at in state.settings.items() if at != self.start.settings[label]}
        for label in moved:  # all are removed first, since a moved statement may equal the old text of another
            model.remove(label)
        for label, setting in moved.items():
            if label in self.adjustable and setting.known:
                statement = self.adjustable[label]
                with warnings.catch_warnings():  # moved statements may be equal
                    warnings.simplefilter("ignore", RepeatedStatement)
                    model.add(statement.at(setting), label=label if statement.has_own_label else None)
        return model

    def _with_associations(self, positive: int, negative: int) -> MaxEnt:
        """Return the model with given numbers of the strongest associations."""
        if (positive, negative) == (self.start.positive, self.start.negative):
            return self.model
        if (positive, negative) not in self._made:
            model = self.model.copy()
            if self.replaced is not None:
                model.remove(self.replaced)
            if positive or negative:
                assert self.mined is not None
                model.add(StrongestAssociations(self.mined, positive, negative))
            self._made.clear()
            self._made[positive, negative] = model
        return self._made[positive, negative]

    @cached_property
    def _made(self) -> dict[tuple[int, int], MaxEnt]:
        """The last model with other numbers of associations, cached since they have many rows."""
        return {}


def assumptions_of(
    model: MaxEnt, original: pd.DataFrame | None, threshold: float, min_support: int, chosen: Sequence[str] | None
) -> Assumptions:
    """Collect the adjustable parts of a model."""
    knowledge = {label: source for label, source in model.knowledge.items() if not isinstance(source, PriorZeros)}
    for label in chosen or ():
        check_label(label, "label of the model's knowledge", knowledge)
    strongest = [label for label, source in knowledge.items() if isinstance(source, StrongestAssociations)]
    replaced = strongest[0] if len(strongest) == 1 else None
    labels = list(knowledge)[:MOST_STATEMENTS] if chosen is None else chosen
    adjusted = {label: adjustable(label, knowledge[label]) for label in labels}
    sliders = {label: source for label, source in adjusted.items() if source is not None}
    others = {label: source for label, source in knowledge.items() if label not in sliders and label != replaced}
    mined, positive, negative = None, 0, 0
    if replaced is not None:
        source: Any = knowledge[replaced]
        mined = source._mined(model.space)
        positive = len(mined.positive) if source.positive is None else source.positive
        negative = len(mined.negative) if source.negative is None else source.negative
    elif original is not None:
        mined = mine_associations(original, qi=model.view.qi, sa=model.view.sensitive, min_support=min_support)
    settings = {label: source.start for label, source in sliders.items()} | dict.fromkeys(others, Setting())
    return Assumptions(model, sliders, others, mined, replaced, State(settings, positive, negative, threshold))


def typed(assumptions: Assumptions, state: State) -> str:
    """Write the Python code of the model of a state."""
    model = assumptions.model
    arguments = ["release", *["people=people"][: len(model.space.people)], *["prior=prior"][: model.prior is not None]]
    lines = [f"model = mx.MaxEnt({', '.join(arguments)})"]
    for label, setting in state.settings.items():
        if not setting.known:
            continue
        statement = assumptions.adjustable.get(label)
        source = assumptions.others[label] if statement is None else statement.at(setting)
        was = assumptions.others[label] if statement is None else statement.statement
        has_own_label = statement.has_own_label if statement else label != source.label
        lines.append(_added(label, source, was, statement_text(source, model.space), has_own_label))
    if state.positive or state.negative:
        lines.append(_associations(assumptions, state))
    if any("explored.knowledge" in line for line in lines):
        lines.insert(0, "# explored: the model that was given to mx.explore")
    imports = ["from dataclasses import replace", ""] if any("replace(" in line for line in lines) else []
    return "\n".join([*imports, "import maxent_cvx as mx", "", *lines, "post = model.solve()"])


def _added(label: str, source: Source, was: Source, text: str | None, has_own_label: bool) -> str:
    """Write the line that adds one source, by its text if it has one."""
    named = f", label={label!r}" if has_own_label else ""
    if text is not None:
        return f"model.add({text!r}{named})"
    expression = f"explored.knowledge[{label!r}]"
    if isinstance(source, Statement) and isinstance(was, Statement) and source != was:
        sides = ", ".join(f"{side}=float('{getattr(source, side)!r}')" for side in ("low", "high"))
        expression = f"replace({expression}, {sides})"
        if (cost := source.penalty) is not None:
            arguments = ", ".join(f"{name}={value!r}" for name, value in vars(cost).items() if value is not None)
            expression = f"mx.soft(replace({expression}, penalty=None), {arguments})"
    return f"model.add({expression}{named})"


def _associations(assumptions: Assumptions, state: State) -> str:
    """Write the line that adds the strongest associations."""
    mined = assumptions.mined
    assert mined is not None
    if assumptions.replaced is not None:
        expression = f"explored.knowledge[{assumptions.replaced!r}]"
        if (state.positive, state.negative) == (assumptions.start.positive, assumptions.start.negative):
            return f"model.add({expression})"
        associations = assumptions.model.knowledge[assumptions.replaced]
        is_mined = isinstance(associations, StrongestAssociations) and isinstance(associations.original, Associations)
        mining = "" if is_mined else f", {expression}.min_support, {expression}.attributes"
        return f"model.add(mx.StrongestAssociations({expression}.original, {state.positive}, {state.negative}{mining}))"
    minimum = "" if mined.min_support == 3 else f", min_support={mined.min_support}"
    return f"model.add(mx.StrongestAssociations(original, {state.positive}, {state.negative}{minimum}))"


def verdict(answer: Answer, start: Answer | MaxEntError, threshold: float, first_threshold: float) -> list[str]:
    """Describe the divergence, if the truth is given, and the exposure, in comparison with the start."""
    sentences = []
    is_moved = isinstance(start, Answer) and (start is not answer or threshold != first_threshold)
    if answer.divergence is not None:
        sentence = f"Divergence from the truth: {_bits(answer.divergence)}"
        before = f", {_bits(start.divergence)} at the start" if is_moved and isinstance(start, Answer) else ""
        sentences.append(f"{sentence}{before} (0 means that the truth is known).")
    exposure = answer.exposure(threshold)
    meaning = exposure.meaning if exposure.people else f"no{exposure.meaning.removeprefix('a')}"
    sentence = f"{exposure.people:,} of {exposure.total:,} people exposed: {meaning}"
    if is_moved and isinstance(start, Answer):
        at = "" if threshold == first_threshold else f", with P >= {format_number(first_threshold)}"
        sentence += f" ({start.exposure(first_threshold).people} at the start{at})"
    sentences += [f"{sentence}.", *exposure.distances, *exposure.warnings]
    if answer.without_intervals:
        sentences.append(f"Intervals are not available: {answer.without_intervals}.")
    return sentences


def _bits(divergence: float | None) -> str:
    """Format a divergence."""
    if divergence is None or math.isinf(divergence):
        return "infinite (the adversary rules out something true)"
    return f"{divergence:.3f} bits"


def contradiction(error: MaxEntError) -> tuple[str, list[str]]:
    """Describe why there is no answer: a sentence, and each conflicting statement."""
    conflict = error.conflict if isinstance(error, Infeasible) else None
    if conflict is None or conflict.empty:
        return f"There is no answer: {error}", []
    permits = "the release permits" if len(conflict) == 1 else "the others permit"
    one_by_one = [_clash(str(label), row, permits) for label, row in conflict.iterrows()]
    if len(one_by_one) == 1:
        return "Contradiction: the release rules out this statement.", one_by_one
    return f"Contradiction: these {len(one_by_one)} statements cannot all be true.", one_by_one


def _clash(label: str, row: pd.Series, permits: str) -> str:
    """Describe the range permitted by other statements: "P(Flu) = 0.6: the others permit between 0.2 and 0.5"."""
    least, most = row["least"], row["most"]
    if not (math.isfinite(least) and math.isfinite(most)):
        return label
    can_be = f"{most:.3g}" if most - least < 1e-9 else f"between {least:.3g} and {most:.3g}"
    return f"{label}: {permits} {can_be}"
