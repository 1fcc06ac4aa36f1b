"""Mining of rules, and withholding of rules until a limit of P(x | q) or of the divergence is satisfied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Inaccurate, SolverError, StatementError, TableError, pluralize
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.progress import progress_bar
from .._utils.validation import check_bool, check_instance, check_int, check_list, check_number, check_optional_bool
from ..measures.accuracy import overall_divergence
from ..measures.events import values_of_each_attribute
from ..model.explain import model_of
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..releases.base import View
from ..rules import SCORES, RuleSet, Thresholds, mined_rules
from ..solvers.explain import multipliers_from_counts
from ..solvers.sparse import pattern
from ..sources.rules import PublishedRules
from ..terms.people import count_pairs
from ..terms.rows import Rows

# Approximate gains from withholding a row of knowledge, computed from its multiplier without solving again.


def multipliers_of(post: Posterior, label: str) -> np.ndarray:
    """Compute minus the prices of the rows of one piece of knowledge: dH per unit decrease of P(Q, x), nats."""
    model = model_of(post)
    if model.convex:
        raise SolverError(
            "the multipliers that select rules to withhold require linear knowledge; omit convex constraints"
        )
    form = model.form
    multipliers = multipliers_from_counts(form, post.counts)
    if np.isnan(multipliers).any():
        raise Inaccurate("the multipliers are not accurate enough to choose the rules to withhold")
    return form.by_label(multipliers * form.scale / post.space.n_records)[label]


def pull(post: Posterior, rows: Rows, multipliers: np.ndarray, limit: float) -> np.ndarray:
    """Compute the increase by each row of log P(x | q) above a limit, summed over the records concerned."""
    # log P(x | q) changes by P(Q, x | q) - sum_y P(Q, y | q) P(y | q) per unit of the row's multiplier. With several
    # sensitive attributes, x is a value of one of them.
    group, records = post.space.groups
    covered, table = _covered(post, rows)
    event = events(post.space.view)
    inferred = table @ event
    above = inferred > (limit + 1e-9) * records[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(above, records[:, None] / inferred, 0.0) @ event.T - above.sum(axis=1, keepdims=True)
    finite = np.where(np.isfinite(multipliers), multipliers, 0.0) * (covered @ weight.ravel())
    concerned = pattern(rows.matrix) @ above.any(axis=1)[group].astype(float) > 0
    return np.where(np.isinf(multipliers) & concerned, np.inf, finite)


def events(view: View) -> np.ndarray:
    """Return the events, each value of each sensitive attribute, as masks of shape (sensitive values, events)."""
    # Absence from the release, in a population, is not a value.
    of_attributes = values_of_each_attribute(view.sensitive_values)
    return np.eye(len(view.inside))[:, view.inside] if of_attributes is None else of_attributes.includes.toarray()


def information(post: Posterior, rows: Rows, multipliers: np.ndarray, original: pd.DataFrame) -> np.ndarray:
    """Compute the increase of the divergence without each row, to second order, records x nats."""
    # m (n(Q, X) - N P*(Q, X)) + m^2 V / 2 for a row with multiplier m, where V is the variance of the number of records
    # that it counts if values are drawn from the posterior.
    space = post.space
    covered, table = _covered(post, rows)
    inside = sp.csr_array(covered @ sp.kron(sp.eye_array(len(table)), np.ones((table.shape[1], 1))))  # rows x groups
    variance = np.asarray(inside.sum(axis=1)) - inside.power(2) @ (1 / table.sum(axis=1))
    n_values = len(space.view.sensitive_values)
    cell = space.codes["q"] * n_values + space.codes["s"]
    size = len(space.view.n_q) * n_values
    of_cell = sp.csr_array((np.ones(len(cell)), (np.arange(len(cell)), cell)), shape=(len(cell), size))
    counted = pattern(pattern(rows.matrix) @ of_cell) @ count_pairs(post.view, original).ravel()
    m = np.where(np.isfinite(multipliers), multipliers, 0.0)
    gain = m * (counted - np.asarray(covered.sum(axis=1))) + 0.5 * m**2 * variance
    return np.where(np.isinf(multipliers), np.inf, gain)


def _covered(post: Posterior, rows: Rows) -> tuple[sp.csr_array, np.ndarray]:
    """Compute N P(g, x) within each row, shape (rows, groups x values), and in total, shape (groups, values)."""
    space = post.space
    n_records, n_values = space.groups[1], len(space.view.sensitive_values)
    cell = space.cells
    of_cell = sp.csr_array((post.counts, (np.arange(len(cell)), cell)), shape=(len(cell), len(n_records) * n_values))
    table = np.bincount(cell, post.counts, len(n_records) * n_values).reshape(-1, n_values)
    return sp.csr_array(pattern(rows.matrix) @ of_cell), table


def mine_rules(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    support: float,
    confidence: float,
    strict: bool = False,
    attributes: int | Iterable[int] | None = None,
) -> RuleSet:
    """Find all rules Q => X with P(Q, X) >= support and P(X | Q) >= confidence; with > if `strict`.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names; Q is an event of some of `qi`, and X is a value of `sa` (a combination if there are several).
    support, confidence : float
        The thresholds, compared exactly, in numbers of records: 0.1 is one tenth; five sixths are ``Fraction(5, 6)``.
    strict : bool
        Compare by > instead of >=.
    attributes : int or list of int, optional
        Number of QI attributes of a rule; None for any number.

    Returns
    -------
    RuleSet
        Complete, with exact scores; sorted by confidence and support, descending, then number of attributes, then names.

    Raises
    ------
    UnknownName, TableError
        If the table lacks a column or has missing values.
    BadProbability, StatementError
        If a threshold is not a share of records, or `attributes` is out of range.

    Notes
    -----
    Published rules, section V.A.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Education": ["Doctorate", "Doctorate", "Masters"], "Salary": ["50K+", "50K+", "50K-"]})
    >>> rules = mx.anonymize.mine_rules(people, qi="Education", sa="Salary", support=0.6, confidence=0.9)
    >>> rules.table["support"].round(2)
    rule
    Education=Doctorate => 50K+    0.67
    Name: support, dtype: float64
    """
    check_bool(strict, "strict")
    return mined_rules(table, qi, sa, Thresholds.of(support, confidence, strict), attributes)


# The greedy search for rules to withhold: solve, withhold the rules with the largest gains, and try to restore them.


#: The label of the rules in the adversary's model.
LABEL = "rules to be published"
#: Tolerance of a limit, in its unit (probability, bits): the largest error of a certified answer.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit of a posterior: max P(x | q) <= bound, or an overall divergence >= bound."""

    bound: float  # a probability, or bits
    original: pd.DataFrame | None  # the records for the divergence; None for a limit of P(x | q)

    @property
    def is_upper(self) -> bool:
        """Whether the bound is an upper bound."""
        return self.original is None

    def measured(self, post: Posterior) -> float:
        """Compute the largest P(x | q), or P(x | i) for named people; or the overall divergence, bits."""
        if self.original is None:
            return float((post.inferences()[0].to_numpy() @ events(post.space.view)).max())
        return overall_divergence(post, self.original)

    def holds(self, value: float) -> bool:
        """Return whether a value satisfies the limit."""
        return value <= self.bound + TOLERANCE if self.is_upper else value >= self.bound - TOLERANCE

    def gains(self, post: Posterior) -> np.ndarray:
        """Compute the approximate gain of the measure from withholding each published rule."""
        rows = model_of(post).blocks.by_label[LABEL]
        multipliers = multipliers_of(post, LABEL)
        if self.original is None:
            gain = pull(post, rows, multipliers, self.bound)
        else:
            gain = information(post, rows, multipliers, self.original)
        return gain if (gain > 0).any() else np.abs(multipliers)


@dataclass(frozen=True, eq=False)
class Withholding:
    """One greedy search."""

    model: MaxEnt  # the adversary's knowledge without the rules
    rules: RuleSet  # the rules to publish
    scores: str | list[str] | None
    decimals: int | None
    limit: Limit

    def solve(self, kept: np.ndarray, before: Posterior | None, *, complete: bool = False) -> Posterior:
        """Solve the model with some of the rules, starting with the multipliers of `before`."""
        rules = self.rules if complete else self.rules.at(kept)
        source = PublishedRules(rules, self.scores, self.decimals, non_rules=complete)
        return self.model.copy().add(source, label=LABEL).solve(warm_start=before)

    def run(self, step: int, restore: bool, progress: bool | None) -> Sanitized:
        """Withhold rules, `step` at a time, and try to restore them."""
        is_published = np.ones(len(self.rules), dtype=bool)
        if self.rules.complete:
            post = self.solve(is_published, None, complete=True)
            if self.limit.holds(value := self.limit.measured(post)):
                return self._sanitized(self.rules, [], {}, post, value)
        post = self.solve(is_published, None)
        value, order, after = self.limit.measured(post), list[int](), dict[int, float]()
        with progress_bar(None, "withheld", progress) as bar:
            while not self.limit.holds(value) and is_published.any():
                gain = self.limit.gains(post)
                best = np.argsort(-gain, kind="stable")[:step]
                out = np.flatnonzero(is_published)[best[(gain[best] > 0) | (gain[best] == gain.max())]]
                is_published[out] = False
                post = self.solve(is_published, post)
                value = self.limit.measured(post)
                order += out.tolist()
                after |= dict.fromkeys(out.tolist(), value)
                bar.update(len(out))
            if not self.limit.holds(value):
                raise StatementError(
                    f"without any rule the measure is {value:.6g}, and the limit is {self.limit.bound:.6g}; "
                    f"use a {'larger' if self.limit.is_upper else 'smaller'} limit"
                )
            for rule in reversed(order) if restore else ():
                is_published[rule] = True
                tried = self.solve(is_published, post)
                if self.limit.holds(measured := self.limit.measured(tried)):
                    post, value = tried, measured
                else:
                    is_published[rule] = False
                bar.set_postfix_str(f"{int((~is_published).sum())} to be withheld")
        withheld = [rule for rule in order if not is_published[rule]]
        return self._sanitized(self.rules.at(is_published).incomplete(), withheld, after, post, value)

    def _sanitized(
        self, rules: RuleSet, withheld: list[int], after: dict[int, float], post: Posterior, value: float
    ) -> Sanitized:
        """Make the result, with the published scores only, from the rules to publish and the measure after the others."""
        scores = [self.scores] if isinstance(self.scores, str) else self.scores or []
        secret = set(SCORES) - set(scores)
        rules = rules.without_scores(*secret) if secret else rules  # without names, both would be dropped
        table = self.rules.table.iloc[withheld]
        table.insert(0, "measure", [after[rule] for rule in withheld])
        return Sanitized(rules, table, post, value, self.limit.bound)


@dataclass(frozen=True, eq=False)
class Sanitized(ReprMixin):
    """The rules that may be published, and the adversary's inferences from them.

    Attributes
    ----------
    rules : RuleSet
        The rules and scores to publish. If not `complete`, they must not be published as all rules.
    withheld : DataFrame
        One row per rule, in the order of withholding: the `measure` after it, and its scores.
    posterior : Posterior
        The adversary's inferences from `rules`.
    measure : float
        The limited quantity: the largest P(x | q), for each sensitive attribute; or the overall divergence, bits.
    limit : float

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> rules = mx.anonymize.mine_rules(hospital, qi="Degree", sa="Disease", support=0.1, confidence=0.5)
    >>> diseases = hospital["Disease"].unique()
    >>> table = mx.QITable(hospital, qi="Degree", sa="Disease", sa_values=diseases)
    >>> result = mx.anonymize.sanitize(rules, table, max_p=0.6, progress=False)
    >>> print(result.withheld[["measure", "confidence"]].round(3))
                                    measure  confidence
    rule
    Degree=junior => Breast Cancer      0.5         1.0
    >>> print(result.posterior.conditional().loc[["graduate", "junior"]].round(2))
    Disease   Flu  Pneumonia  Breast Cancer  HIV  Lung Cancer
    Degree
    graduate  0.5        0.0            0.0  0.0          0.5
    junior    0.2        0.2            0.2  0.2          0.2
    """

    rules: RuleSet
    withheld: pd.DataFrame
    posterior: Posterior
    measure: float
    limit: float

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.withheld, "rules withheld")] if len(self.withheld) else []

    def __repr__(self) -> str:
        n, verb = len(self.rules) + len(self.withheld), "is" if len(self.rules) == 1 else "are"
        claim = "" if self.rules.complete else ", not claimed to be complete"
        return (
            f"<Sanitized: {len(self.rules)} of {pluralize(n, 'rule')} {verb} kept{claim}; "
            f"{self.measure:.4g} is reached, {self.limit:.4g} was asked for>"
        )


def sanitize(
    rules: RuleSet,
    view: View | MaxEnt,
    *,
    max_p: float | None = None,
    divergence: float | None = None,
    original: pd.DataFrame | None = None,
    scores: str | list[str] | None = None,
    decimals: int | None = None,
    step: int = 1,
    restore: bool = True,
    progress: bool | None = None,
) -> Sanitized:
    """Withhold rules until no P(x | q) is above `max_p`, or the overall divergence is at least `divergence`.

    Parameters
    ----------
    rules : RuleSet
        The rules to publish.
    view : View or MaxEnt
        The people; or a model of the adversary's knowledge without the rules.
    max_p : float, optional
        Upper limit of P(x | q) for all x and q; with several sensitive attributes, for each separately.
    divergence : float, optional
        Instead: lower limit of the overall divergence from the original data, bits.
    original : DataFrame, optional
        The records, for `divergence`.
    scores, decimals
        The scores that are published, see :class:`maxent_cvx.PublishedRules`.
    step : int
        Number of rules to withhold before solving again.
    restore : bool
        At the end, try to restore each withheld rule, the last one first.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    Sanitized
        With ``.rules`` to publish, ``.withheld``, ``.posterior`` and the final ``.measure``.

    Raises
    ------
    StatementError
        If not exactly one limit is given, the limit cannot be satisfied even without rules, or an argument is invalid.
    BadProbability
        If the limit is not a number.
    TableError
        If a column is called "measure", or the original records are not the people of the view.

    Notes
    -----
    A greedy search. First the claim that these are all rules is dropped, so that missing rules imply nothing. Then the
    rule with the largest gain is withheld: for max_p, its multiplier m (minus its price) times its effect on log P(x | q)
    above the limit; for the divergence D, m (n(Q, X) - N P*(Q, X)) + m^2 V / 2, with V the variance of the number of
    records that it counts, which is the gain of D to second order. Rules that force zeros are withheld first. Every step
    starts from the multipliers of the previous step. The measure does not cover an adversary who knows that rules were
    withheld by this method.

    Published rules, section VII (future work).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> rules = mx.anonymize.mine_rules(hospital, qi="Degree", sa="Disease", support=0.1, confidence=0.5)
    >>> diseases = hospital["Disease"].unique()
    >>> table = mx.QITable(hospital, qi="Degree", sa="Disease", sa_values=diseases)
    >>> mx.anonymize.sanitize(rules, table, max_p=0.6, progress=False)
    <Sanitized: 4 of 5 rules are kept, not claimed to be complete; 0.5 is reached, 0.6 was asked for>
    >>> result = mx.anonymize.sanitize(rules, table, divergence=0.7, original=hospital, progress=False)      # bits
    >>> result.rules.table.index.to_list()
    ['Degree=graduate => Lung Cancer', 'Degree=high school => Pneumonia']
    """
    check_optional_bool(progress, "progress")
    check_bool(restore, "restore")
    if (max_p is None) == (divergence is None):
        raise StatementError("exactly one limit must be given: max_p, or divergence together with original")
    if not isinstance(scores, str) and scores is not None:
        scores = check_list(scores, "scores", "'confidence' and 'support'")
    if original is not None and divergence is None:
        raise StatementError("original is used with divergence only; omit it with max_p")
    if divergence is not None and not isinstance(original, pd.DataFrame):
        raise StatementError("divergence needs original, the table of records")
    check_instance(rules, RuleSet, "rules", "see anonymize.mine_rules")
    if "measure" in (*rules.qi, *rules.sensitive):
        raise TableError("a column is called 'measure', a name that the result uses; rename the column")
    if decimals is not None:
        rules = rules.rounded(decimals)
    limit = check_number(max_p if max_p is not None else divergence, "the limit")
    if max_p is not None and not 0 < limit <= 1:
        raise StatementError(f"max_p must be a probability above 0, got {max_p!r}")
    check_int(step, "step", 1)
    model = MaxEnt(view) if isinstance(view, View) else view
    check_instance(model, MaxEnt, "view", "give a View, such as a QITable, or a model of one")
    return Withholding(model, rules, scores, decimals, Limit(limit, original)).run(step, restore, progress)
