"""One exploration: where the controls are, what follows from it, and what was so before a contradiction."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from .answers import Answer, NoAnswer, answered
from .assumptions import Assumptions
from .heat_map import heat_map
from .state import State
from .typed import typed
from .wording import contradiction, verdict

__all__ = ["Exploration"]


@dataclass(eq=False)
class Exploration:
    """The state of the controls, and everything that is shown of it; no widget is needed for any of it.

    Attributes
    ----------
    assumptions : Assumptions
    original : DataFrame or None
        The records that were published.
    max_rows : int
        QI tuples that are shown.
    seconds : float
        For a solve, and for the intervals of what is shown.
    sensitive : object
        The values that count as exposed; by default all.
    """

    assumptions: Assumptions
    original: pd.DataFrame | None
    max_rows: int
    seconds: float
    sensitive: object = None
    state: State = field(init=False)
    answer: Answer | NoAnswer = field(init=False)
    pictured: Answer | None = field(init=False, default=None)
    _start: Answer | NoAnswer = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.assumptions.start
        self._start = self._answered(self.state)
        self._hold(self._start)

    def go(self, state: State) -> None:
        """Move the controls.

        Parameters
        ----------
        state : State
        """
        is_known = state.knowledge == self.state.knowledge
        self.state = state
        if state.knowledge == self.assumptions.start.knowledge:
            self._hold(self._start)
        elif not is_known:
            self._hold(self._answered(state))

    def _answered(self, state: State) -> Answer | NoAnswer:
        """Solve the model of a state."""
        return answered(self.assumptions.model_at(state), self.original, self.max_rows, self.seconds, self.sensitive)

    def _hold(self, answer: Answer | NoAnswer) -> None:
        """Show an answer; where there is none, the last picture stays."""
        self.answer = answer
        self.pictured = answer if isinstance(answer, Answer) else self.pictured

    @property
    def sentences(self) -> tuple[str, list[str]]:
        """What is said: of an answer a list of sentences, of a contradiction a sentence and what clashes."""
        if isinstance(self.answer, NoAnswer):
            return contradiction(self.answer)
        return "", verdict(self.answer, self._start, self.state.threshold, self.assumptions.start.threshold)

    @property
    def picture(self) -> str:
        """The heat map, as HTML; greyed where it is one of before, empty where there was none."""
        if self.pictured is None:
            return ""
        return heat_map(self.pictured, self.state.threshold, is_current=self.pictured is self.answer)

    @property
    def code(self) -> str:
        """The lines that make the model of now."""
        return typed(self.assumptions, self.state)
