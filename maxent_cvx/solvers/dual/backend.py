"""The dual methods of this package as backends: a function of a linear form, and its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...display import Shown
from ...errors import unknown_name, whole
from ...errors.arguments import positive
from ..answer import Answer
from ..monitoring.monitor import Monitor
from ..monitoring.together import Steps
from ..program.linear_form import LinearForm

__all__ = ["DualBackend"]


@dataclass(frozen=True)
class DualBackend(Shown):
    """A function that maximises sum x log(w / x) over a linear form; its keyword arguments are the options.

    Parameters
    ----------
    name : str
        What users call it.
    function : callable
        ``function(form, start, *, option=..., monitor=...)``, which returns an :class:`Answer`.
    steps : callable, optional
        The same step by step, without a monitor: parts of a problem are then solved together, a step of each at a time.
    takes_convex : bool
        Whether problems with convex constraints are solved by it, as a sequence of problems of rows.
    """

    name: str
    function: Callable[..., Answer]
    steps: Callable[..., Steps] | None = None
    takes_convex: bool = False
    installed: ClassVar[bool] = True
    trouble: ClassVar[str] = ""
    takes_inequalities: ClassVar[bool] = True
    takes_time_limit: ClassVar[bool] = True
    takes_callback: ClassVar[bool] = True
    takes_soft_rows: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"<DualBackend: {self.name}>"

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the function does not have, and values that they cannot have."""
        names = [p.name for p in inspect.signature(self.function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        names.remove("monitor")
        if unknown := set(options) - set(names):
            raise unknown_name(f"option of {self.name}", min(map(str, unknown)), names)
        for name, value in options.items():
            if name == "tolerance":
                positive(value, name)
            else:
                whole(value, name, 1)

    def solve(
        self, form: LinearForm, start: np.ndarray | None = None, *, monitor: Monitor | None = None, **options: Any
    ) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``; without a monitor, ``verbose=True`` prints."""
        verbose = options.pop("verbose", False)
        return self.function(form, start, monitor=monitor or Monitor(verbose=verbose), **options)
