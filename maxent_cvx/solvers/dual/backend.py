"""A solver of this package as a backend: a function of a linear form, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arguments import flag, positive
from ...errors import unknown_name, whole
from ..answer import Answer
from ..program.linear_form import LinearForm

__all__ = ["DualBackend"]


@dataclass(frozen=True)
class DualBackend:
    """A function that maximises sum x log(w / x) over a linear form; its keyword arguments are the options.

    Parameters
    ----------
    name : str
        What users call it.
    function : callable
        Takes the form and multipliers to start from.
    """

    name: str
    function: Callable[..., Answer]
    installed: ClassVar[bool] = True
    trouble: ClassVar[str] = ""
    takes_inequalities: ClassVar[bool] = True
    takes_convex: ClassVar[bool] = False

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the function does not have, and values that are none of theirs."""
        has = [p.name for p in inspect.signature(self.function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        if unknown := set(options) - set(has):
            raise unknown_name(f"option of {self.name}", min(map(str, unknown)), has)
        for name, value in options.items():
            if name == "verbose":
                flag(value, name)
            elif name == "tolerance":
                positive(value, name)
            else:
                whole(value, name, 1)

    def solve(self, form: LinearForm, start: np.ndarray | None = None, **options: Any) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``."""
        return self.function(form, start, **options)
