"""A progress bar that moves with the iterations of a solve."""

from __future__ import annotations

from ..solvers import Iteration
from ..solvers.monitoring.monitor import Callback
from ..system.progress import ProgressBar

__all__ = ["also_shown"]


def also_shown(bar: ProgressBar, callback: Callback | None) -> Callback:
    """A callback that moves a bar, before it does what the user's does."""

    def shown(iteration: Iteration) -> bool | None:
        bar.update()
        bar.set_postfix_str(f"residual {iteration.residual:.1e}")
        return None if callback is None else callback(iteration)

    return shown
