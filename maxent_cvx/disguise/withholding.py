"""The greedy search for rules to withhold: solve, leave out what gains most, and try to restore."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import StatementError
from ..measures import overall_divergence
from ..model.explain.solved import model_of
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..rules.rule_set import RuleSet
from ..rules.scores import SCORES
from ..sources import PublishedRules
from ..system.progress import progress_bar
from .gains import events, information, multipliers_of, pull

__all__ = ["Limit", "Withholding"]

#: The label of the rules in the adversary's model.
LABEL = "rules to be published"
#: By how much a limit may be missed, in its own unit (probability, bits): no more than the answer may be wrong.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Limit:
    """What is asked of a posterior: max P(x | q) <= bound, or an overall divergence >= bound.

    Attributes
    ----------
    bound : float
        A probability, or bits.
    original : DataFrame, optional
        The records that the divergence is from; None limits P(x | q).
    """

    bound: float
    original: pd.DataFrame | None

    @property
    def is_upper(self) -> bool:
        """Whether what is measured must be small."""
        return self.original is None

    def measured(self, post: Posterior) -> float:
        """The largest P(x | q), of named people P(x | i); or the overall divergence, bits."""
        if self.original is None:
            return float((post.inferences()[0].to_numpy() @ events(post.space.view)).max())
        return overall_divergence(post, self.original)

    def holds(self, value: float) -> bool:
        """Whether the limit is kept."""
        return value <= self.bound + TOLERANCE if self.is_upper else value >= self.bound - TOLERANCE

    def gains(self, post: Posterior) -> np.ndarray:
        """About how much what is measured gains from withholding each rule that is published."""
        rows = model_of(post).blocks.by_label[LABEL]
        multipliers = multipliers_of(post, LABEL)
        if self.original is None:
            gain = pull(post, rows, multipliers, self.bound)
        else:
            gain = information(post, rows, multipliers, self.original)
        return gain if (gain > 0).any() else np.abs(multipliers)


@dataclass(frozen=True, eq=False)
class Withholding:
    """One greedy search.

    Attributes
    ----------
    model : MaxEnt
        What the adversary knows without the rules.
    rules : RuleSet
        What would be published.
    scores, decimals
        What is published with the rules, see :class:`maxent_cvx.PublishedRules`.
    limit : Limit
    """

    model: MaxEnt
    rules: RuleSet
    scores: str | list[str] | None
    decimals: int | None
    limit: Limit

    def solve(self, kept: np.ndarray, before: Posterior | None, *, complete: bool = False) -> Posterior:
        """What is inferred from some of the rules; the search begins with the multipliers of `before`."""
        some = self.rules if complete else self.rules.at(kept)
        source = PublishedRules(some, self.scores, self.decimals, non_rules=complete)
        return self.model.copy().add(source, label=LABEL).solve(warm_start=before)

    def run(self, step: int, restore: bool, progress: bool | None) -> tuple[RuleSet, pd.DataFrame, Posterior, float]:
        """Withhold rules, `step` at a time, and try to restore them.

        Returns
        -------
        RuleSet
            What to publish.
        DataFrame
            What was withheld, in that order, with the measure after it.
        Posterior
            What is inferred from what is published.
        float
            What is measured then.

        Raises
        ------
        StatementError
            If the limit cannot be kept by publishing no rule at all.
        """
        kept = np.ones(len(self.rules), dtype=bool)
        if self.rules.complete:
            post = self.solve(kept, None, complete=True)
            if self.limit.holds(value := self.limit.measured(post)):
                return self._published(self.rules), self._withheld([], {}), post, value
        post = self.solve(kept, None)
        value, order, after = self.limit.measured(post), list[int](), dict[int, float]()
        with progress_bar(None, "withheld", progress) as bar:
            while not self.limit.holds(value) and kept.any():
                gain = self.limit.gains(post)
                best = np.argsort(-gain, kind="stable")[:step]
                out = np.flatnonzero(kept)[best[(gain[best] > 0) | (gain[best] == gain.max())]]
                kept[out] = False
                post = self.solve(kept, post)
                value = self.limit.measured(post)
                order += out.tolist()
                after |= dict.fromkeys(out.tolist(), value)
                bar.update(len(out))
            if not self.limit.holds(value):
                raise StatementError(
                    f"without any rule the measure is {value:.6g} already, and {self.limit.bound:.6g} is asked for: "
                    "what else is known, or published, decides it; "
                    f"{'allow more' if self.limit.is_upper else 'ask for less'}"
                )
            for rule in reversed(order) if restore else ():
                kept[rule] = True
                tried = self.solve(kept, post)
                if self.limit.holds(measured := self.limit.measured(tried)):
                    post, value = tried, measured
                else:
                    kept[rule] = False
                bar.set_postfix_str(f"{int((~kept).sum())} to be withheld")
        withheld = self._withheld([rule for rule in order if not kept[rule]], after)
        return self._published(self.rules.at(kept).incomplete()), withheld, post, value

    def _published(self, rules: RuleSet) -> RuleSet:
        """The rules with the scores that are published."""
        scores = [self.scores] if isinstance(self.scores, str) else self.scores or []
        return rules.without_scores(*(set(SCORES) - set(scores)))

    def _withheld(self, withheld: list[int], after: dict[int, float]) -> pd.DataFrame:
        """Report what was withheld."""
        table = self.rules.table.iloc[withheld]
        table.insert(0, "measure", [after[rule] for rule in withheld])
        return table
