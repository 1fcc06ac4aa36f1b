"""Rules withheld so that a privacy criterion is kept: no inference too sure, or none too close to the truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from ..display import FirstRows, Shown
from ..errors import StatementError, TableError, amount, arguments, number, shown, whole
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..rules.rule_set import RuleSet
from ..views import View
from .withholding import Limit, Withholding

__all__ = ["Sanitized", "sanitize"]


@dataclass(frozen=True, eq=False)
class Sanitized(Shown):
    """Which rules may be published, and what is inferred from them.

    Attributes
    ----------
    rules : RuleSet
        What to publish, with the scores that are published. If it is not complete, that must not be said of it.
    withheld : DataFrame
        A row a rule, in the order of withholding: the `measure` after it, and its scores.
    posterior : Posterior
        What the adversary infers from `rules`.
    measure : float
        What was limited: the largest P(x | q), of several sensitive attributes also of each alone; or the overall
        divergence in bits.
    limit : float

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> rules = mx.disguise.mine_rules(hospital, qi="Degree", sa="Disease", support=0.1, confidence=0.5)
    >>> diseases = hospital["Disease"].unique()
    >>> table = mx.QITable(hospital, qi="Degree", sa="Disease", sa_values=diseases)
    >>> found = mx.disguise.sanitize(rules, table, max_p=0.6, progress=False)
    >>> print(found.withheld[["measure", "confidence"]].round(3))
                                    measure  confidence
    rule
    Degree=junior => Breast Cancer      0.5         1.0
    >>> print(found.posterior.conditional().loc[["graduate", "junior"]].round(2))
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

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.withheld, "rules withheld")] if len(self.withheld) else []

    def __repr__(self) -> str:
        n, verb = len(self.rules) + len(self.withheld), "is" if len(self.rules) == 1 else "are"
        claim = "" if self.rules.complete else ", no longer said to be all"
        return (
            f"<Sanitized: {len(self.rules)} of {amount(n, 'rule')} {verb} kept{claim}; "
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
        What would be published.
    view : View or MaxEnt
        Whom it is about; or a model of what the adversary knows without the rules.
    max_p : float, optional
        The largest P(x | q) that is allowed, of any x and q; of several sensitive attributes of each alone.
    divergence : float, optional
        Instead: the least overall divergence from the original data, in bits.
    original : DataFrame, optional
        The records, for `divergence`.
    scores, decimals
        What is published with the rules, see :class:`maxent_cvx.PublishedRules`.
    step : int
        How many rules to withhold before solving again.
    restore : bool
        In the end, try to publish each withheld rule after all, the last one first.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    Sanitized
        With ``.rules``, to be published, ``.withheld``, ``.posterior`` and the ``.measure`` that is reached.

    Raises
    ------
    StatementError
        If not one of the two limits is given, or it cannot be kept by publishing no rule at all; or an argument cannot
        be read.
    BadProbability
        If the limit is no number.
    TableError
        If a column is called "measure", or the original records are not the people of the view.

    Notes
    -----
    First the claim that these are all rules is given up, so that nothing follows from what is missing; it must not be
    made when the rest is published. Then the rule goes that gains most: of max_p, its multiplier m (which is minus its
    price) times how it moves log P(x | q) of those above the limit; of the divergence D, m (n(Q, X) - N P*(Q, X)) +
    m^2 V / 2, V being the variance of the number of records that it counts: what D gains to second order. Rules that
    force zeros come first. Every step is solved from the multipliers of the one before. An adversary who knows that
    rules were withheld by this method may infer from that, which no measure here includes.

    Published rules, section VII (future work).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> rules = mx.disguise.mine_rules(hospital, qi="Degree", sa="Disease", support=0.1, confidence=0.5)
    >>> diseases = hospital["Disease"].unique()
    >>> table = mx.QITable(hospital, qi="Degree", sa="Disease", sa_values=diseases)
    >>> mx.disguise.sanitize(rules, table, max_p=0.6, progress=False)
    <Sanitized: 4 of 5 rules are kept, no longer said to be all; 0.5 is reached, 0.6 was asked for>
    >>> found = mx.disguise.sanitize(rules, table, divergence=0.7, original=hospital, progress=False)      # bits
    >>> found.rules.table.index.to_list()
    ['Degree=graduate => Lung Cancer', 'Degree=high school => Pneumonia']
    """
    arguments.optional_flag(progress, "progress")
    arguments.flag(restore, "restore")
    if (max_p is None) == (divergence is None):
        raise StatementError("one limit is expected: max_p=..., or divergence=... with original=...")
    if not isinstance(scores, str) and scores is not None:
        scores = arguments.list_of(scores, "scores", "'confidence' and 'support'")
    if original is not None and divergence is None:
        raise StatementError("original= is what a divergence is from, and max_p= is no divergence; leave it out")
    if divergence is not None and not isinstance(original, pd.DataFrame):
        raise StatementError("the divergence is from the original data: pass original=, the table of records")
    if not isinstance(rules, RuleSet):
        raise StatementError(f"rules must be a RuleSet, as disguise.mine_rules gives it, not {shown(rules)}")
    if "measure" in (*rules.qi, *rules.sensitive):
        raise TableError("a column is called 'measure', as one of the report is; rename the column")
    if decimals is not None:
        rules = rules.rounded(decimals)
    limit = number(max_p if max_p is not None else divergence, "the limit")
    if max_p is not None and not 0 < limit <= 1:
        raise StatementError(f"max_p={max_p!r}: a probability above 0 is expected")
    whole(step, "step", 1)
    model = MaxEnt(view) if isinstance(view, View) else view
    if not isinstance(model, MaxEnt):
        raise StatementError(f"a view, such as a QITable, or a model is expected, not {shown(view)}")
    search = Withholding(model, rules, scores, decimals, Limit(limit, original if max_p is None else None))
    kept, withheld, post, value = search.run(step, restore, progress)
    return Sanitized(kept, withheld, post, value, limit)
