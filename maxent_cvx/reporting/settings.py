"""What somebody asked of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pandas as pd

__all__ = ["Attack", "Settings"]

#: From what is published to what an attack infers of it, a result of :mod:`maxent_cvx.attacks` or a table.
Attack: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Settings:
    """The arguments of :func:`maxent_cvx.report`, read.

    Attributes
    ----------
    threshold : float
        A probability, from which on somebody is exposed.
    sensitive : object
        The values that must not be inferred; None is all.
    baseline : object
        What an inference is compared with; None is nothing.
    within : object
        How close two values are to count as the same; None is the default.
    original : DataFrame or None
        The records that were published.
    population : object
        Everybody of whom the people of the release are some, or how many they are; None if that is not known.
    records : bool
        Whether some of them may be shown.
    attacks : dict of str to callable
        By name.
    about : dict of str to str
        Where everything is from.
    rows : int
        Rows of a table that are shown.
    time_limit : float
        Seconds for each question that takes linear programs.
    """

    threshold: float = 0.8
    sensitive: object = None
    baseline: object = "overall"
    within: object = None
    original: pd.DataFrame | None = None
    population: object = None
    records: bool = False
    attacks: Mapping[str, Attack] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    rows: int = 25
    time_limit: float = 60.0
