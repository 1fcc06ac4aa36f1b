"""Statements with a value that can be moved: what their value and their vagueness may be, and what is then said."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..sources import Probability, Source, Statement
from .state import Setting

__all__ = ["Adjustable", "Scale", "adjustable"]

#: Steps of a scale that a keyboard takes from one end to the other, at least.
STEPS = 50
#: How many times finer a scale may be made, each time by ten, so that the value as typed is on it.
FINER = 2
#: Steps by which a number may miss one and still be on it: what rounding does to it.
ON_STEP = 1e-6


@dataclass(frozen=True)
class Scale:
    """The values low, low + step, ..., high of a slider, in the unit of the statement.

    Attributes
    ----------
    low, high, step : float
    digits : int
        Decimals that its values are written with.
    """

    low: float
    high: float
    step: float
    digits: int

    @classmethod
    def of(cls, low: float, high: float, *shown: float) -> Scale:
        """Choose a step, a power of ten, so that numbers to be shown are on the scale, if they are not too fine."""
        digits = -math.floor(math.log10((high - low) / STEPS))
        finest = digits + FINER
        while digits < finest and any(abs(round(x / 10.0**-digits) - x / 10.0**-digits) > ON_STEP for x in shown):
            digits += 1
        step = 10.0**-digits
        ends = math.ceil(low / step - ON_STEP), math.floor(high / step + ON_STEP)
        return cls(round(ends[0] * step, digits), round(ends[1] * step, digits), step, max(digits, 0))


@dataclass(frozen=True, eq=False)
class Adjustable:
    """One statement, low <= combination <= high, whose middle and half width, or whose one side, can be moved.

    Attributes
    ----------
    label : str
        Under which the model holds it.
    said : Statement
        As the model holds it.
    values : Scale
        What the value may be.
    vagueness : Scale or None
        What the half width may be, or the standard deviation of a soft statement; None where there is none.
    start : Setting
        The statement as the model holds it.
    """

    label: str
    said: Statement
    values: Scale
    vagueness: Scale | None
    start: Setting

    @property
    def what(self) -> Probability:
        """The combination that has the value."""
        return Probability(dict(self.said.terms))

    @property
    def has_own_label(self) -> bool:
        """Whether somebody chose the label, so that it stays where the statement's text changes."""
        return self.label != self.said.label

    def at(self, setting: Setting) -> Statement:
        """Say it with another value and vagueness.

        Parameters
        ----------
        setting : Setting

        Returns
        -------
        Statement
        """
        if (setting.value, setting.vagueness) == (self.start.value, self.start.vagueness):
            return self.said
        value, low, high = setting.value, self.said.low, self.said.high
        if self.said.penalty is not None:
            half = (high - low) / 2 if math.isfinite(high - low) else 0.0
            low, high = (value - half if math.isfinite(low) else low), (value + half if math.isfinite(high) else high)
            sd = {} if self.vagueness is None else {"sd": setting.vagueness}
            return replace(self.said, low=low, high=high, penalty=replace(self.said.penalty, **sd), where="")
        if math.isinf(low):
            return self.what <= value
        if math.isinf(high):
            return self.what >= value
        return self.what.about(value, setting.vagueness) if setting.vagueness else self.what == value


def adjustable(label: str, source: Source) -> Adjustable | None:
    """Find out what of a source can be moved; None where it is no statement with a value.

    Parameters
    ----------
    label : str
    source : Source

    Returns
    -------
    Adjustable or None
    """
    if not isinstance(source, Statement) or (math.isinf(source.low) and math.isinf(source.high)):
        return None
    least, most = Probability(dict(source.terms)).attainable()
    if not (math.isfinite(most - least) and least < most):
        return None
    if math.isinf(source.low) or math.isinf(source.high):
        value, half = (source.high if math.isinf(source.low) else source.low), None
    else:  # of 0.1 and 0.3 the middle is 0.2, and not the double beside it
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
