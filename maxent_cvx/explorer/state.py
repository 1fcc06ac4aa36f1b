"""What sliders and ticks say: one immutable value, from which everything else follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["Setting", "State"]


@dataclass(frozen=True)
class Setting:
    """One piece of knowledge: its value, its vagueness, and whether it is known at all.

    Attributes
    ----------
    value : float
        In the unit of the statement; 0 of knowledge that has no value.
    vagueness : float
        In the same unit: the half width of an interval, or a standard deviation.
    known : bool
    """

    value: float = 0.0
    vagueness: float = 0.0
    known: bool = True


@dataclass(frozen=True)
class State:
    """The position of every control.

    Attributes
    ----------
    settings : dict of str to Setting
        By label of knowledge.
    positive, negative : int
        How many of the strongest associations are known, K+ and K-.
    threshold : float
        The probability from which on somebody counts as exposed.
    """

    settings: Mapping[str, Setting] = field(default_factory=dict)
    positive: int = 0
    negative: int = 0
    threshold: float = 0.8

    def moved(self, label: str, **changes: Any) -> State:
        """The same with one setting changed: ``state.moved("P(Flu) = 0.3", value=0.4)``."""
        return replace(self, settings={**self.settings, label: replace(self.settings[label], **changes)})

    @property
    def knowledge(self) -> tuple[Any, ...]:
        """What a model depends on: everything but the threshold."""
        return tuple(self.settings.items()), self.positive, self.negative
