"""What can be assumed of an adversary: the knowledge of a model, of which some can be moved, and associations."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ..errors import RepeatedStatement, arguments
from ..model.maxent import MaxEnt
from ..sources import PriorZeros, Source, StrongestAssociations
from ..tables.associations import Associations
from ..tables.mining import mine_associations
from .adjustable import Adjustable, adjustable
from .state import Setting, State

__all__ = ["MOST_STATEMENTS", "Assumptions", "assumptions_of"]

#: Statements that get sliders if nobody says which: more would not be found on a page.
MOST_STATEMENTS = 20
#: The largest K of a slider, unless the model begins with more.
LARGEST_K = 500


@dataclass(frozen=True, eq=False)
class Assumptions:
    """A model, taken apart into what can be moved and what stays.

    Attributes
    ----------
    model : MaxEnt
        As it was given; it is never changed.
    adjustable : dict of str to Adjustable
        The statements with sliders, by label.
    others : dict of str to Source
        Other knowledge, by label, which is known as it is, or not.
    mined : Associations or None
        What K counts.
    replaced : str or None
        The label of the model's own strongest associations, in whose place those of K+ and K- are.
    start : State
        What the model says.
    """

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
        there = len(self.mined.positive), len(self.mined.negative) if self.mined.has_negative else 0
        begun = self.start.positive, self.start.negative
        return min(there[0], max(LARGEST_K, begun[0])), min(there[1], max(LARGEST_K, begun[1]))

    def model_at(self, state: State) -> MaxEnt:
        """Make the model that the controls say.

        The terms, and the rows of what has not moved, are those of the model that was given.

        Parameters
        ----------
        state : State

        Returns
        -------
        MaxEnt
        """
        found = self._with_associations(state.positive, state.negative).copy()
        moved = {label: at for label, at in state.settings.items() if at != self.start.settings[label]}
        for label in moved:  # all before any is said anew: one may come to say what another has said
            found.remove(label)
        for label, setting in moved.items():
            if label in self.adjustable and setting.known:
                one = self.adjustable[label]
                with warnings.catch_warnings():  # two statements may have come to say the same
                    warnings.simplefilter("ignore", RepeatedStatement)
                    found.add(one.at(setting), label=label if one.has_own_label else None)
        return found

    def _with_associations(self, positive: int, negative: int) -> MaxEnt:
        """The model with so many of the strongest associations."""
        if (positive, negative) == (self.start.positive, self.start.negative):
            return self.model
        if (positive, negative) not in self._made:
            found = self.model.copy()
            if self.replaced is not None:
                found.remove(self.replaced)
            if positive or negative:
                assert self.mined is not None
                found.add(StrongestAssociations(self.mined, positive, negative))
            self._made.clear()
            self._made[positive, negative] = found
        return self._made[positive, negative]

    @cached_property
    def _made(self) -> dict[tuple[int, int], MaxEnt]:
        """The model with the associations that were asked for last; they are many rows."""
        return {}


def assumptions_of(
    model: MaxEnt, original: pd.DataFrame | None, threshold: float, min_support: int, chosen: Sequence[str] | None
) -> Assumptions:
    """Take a model apart.

    Parameters
    ----------
    model : MaxEnt
    original : DataFrame, optional
        Of which associations are mined, unless the model holds some already.
    threshold : float
    min_support : int
    chosen : sequence of str, optional
        Labels of the statements that get sliders.

    Raises
    ------
    UnknownName
        If a label is not one of the model's knowledge.
    """
    knowledge = {label: one for label, one in model.knowledge.items() if not isinstance(one, PriorZeros)}
    for label in chosen or ():
        arguments.known_label(label, "label of the model's knowledge", knowledge)
    strongest = [label for label, one in knowledge.items() if isinstance(one, StrongestAssociations)]
    replaced = strongest[0] if len(strongest) == 1 else None
    wanted = list(knowledge)[:MOST_STATEMENTS] if chosen is None else chosen
    found = {label: adjustable(label, knowledge[label]) for label in wanted}
    sliders = {label: one for label, one in found.items() if one is not None}
    others = {label: one for label, one in knowledge.items() if label not in sliders and label != replaced}
    mined = _mined(model, None if replaced is None else knowledge[replaced], original, min_support)
    positive, negative = _k(None if replaced is None else knowledge[replaced], mined)
    settings = {label: one.start for label, one in sliders.items()} | dict.fromkeys(others, Setting())
    return Assumptions(model, sliders, others, mined, replaced, State(settings, positive, negative, threshold))


def _mined(model: MaxEnt, held: Source | None, original: pd.DataFrame | None, min_support: int) -> Associations | None:
    """The associations that the model's own are the strongest of; or those of the original records."""
    qi, sa = model.view.qi, model.view.sensitive
    if isinstance(held, StrongestAssociations):
        if isinstance(held.original, Associations):
            return held.original
        return mine_associations(held.original, qi=qi, sa=sa, min_support=held.min_support, attributes=held.attributes)
    return None if original is None else mine_associations(original, qi=qi, sa=sa, min_support=min_support)


def _k(held: Source | None, mined: Associations | None) -> tuple[int, int]:
    """K+ and K- of the model's own strongest associations; None stands for all."""
    if not isinstance(held, StrongestAssociations) or mined is None:
        return 0, 0
    positive, negative = held.positive, held.negative
    return (
        len(mined.positive) if positive is None else positive,
        len(mined.negative) if negative is None else negative,
    )
