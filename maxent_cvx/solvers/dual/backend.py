"""The dual methods of this package as backends: a function of a linear form, and its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import unknown_name, whole
from ...errors.arguments import flag, positive
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
        ``function(form, start, *, option=...)``, which returns an :class:`Answer`.
    """

    name: str
    function: Callable[..., Answer]
    installed: ClassVar[bool] = True
    trouble: ClassVar[str] = ""
    takes_inequalities: ClassVar[bool] = True
    takes_convex: ClassVar[bool] = False
    takes_soft_rows: ClassVar[bool] = True

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the function does not have, and values that they cannot have."""
        names = [p.name for p in inspect.signature(self.function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        if unknown := set(options) - set(names):
            raise unknown_name(f"option of {self.name}", min(map(str, unknown)), names)
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
