"""Progress bars for long computations."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tqdm import tqdm


class _Bar(tqdm):
    monitor_interval = 0  # no monitor thread, which would outlive the bar


class _Depth(threading.local):
    """Number of nested computations in this thread whose progress is displayed or was switched off."""

    n = 0


_depth = _Depth()


class ProgressBar:
    """Iterate over items, or count steps, and advance the tqdm bar if there is one."""

    def __init__(self, items: Iterable[Any], shown: tqdm[Any] | None = None) -> None:
        self.items: Iterable[Any] = items if shown is None else shown
        self.shown = shown

    def __iter__(self) -> Iterator[Any]:
        _depth.n += 1
        try:
            yield from self.items
        finally:
            _depth.n -= 1

    def update(self, steps: int = 1) -> None:
        """Add steps that are done."""
        if self.shown is not None:
            self.shown.update(steps)

    def set_postfix_str(self, text: str) -> None:
        """Write a text after the bar."""
        if self.shown is not None:
            self.shown.set_postfix_str(text, refresh=not self.shown.delay)  # a refresh would ignore the delay

    def following(self, callback: Callable[..., Any] | None) -> Callable[..., Any]:
        """Return a solver's callback that advances the bar before it calls the user's callback."""

        def moved(iteration: Any) -> Any:
            self.update()
            self.set_postfix_str(f"residual {iteration.residual:.1e}")
            return None if callback is None else callback(iteration)

        return moved

    def __enter__(self) -> ProgressBar:
        _depth.n += 1
        return self

    def __exit__(self, *_: object) -> None:
        """Close the bar, and leave it on the screen."""
        _depth.n -= 1
        if self.shown is not None:
            self.shown.close()


def progress_bar(
    items: Iterable[Any] | None,
    what: str,
    progress: bool | None = None,
    *,
    total: int | None = None,
    unit: str = "it",
    leave: bool = True,
    delay: float = 0.0,
) -> ProgressBar:
    """Return a progress bar, displayed on a terminal or in a notebook; elsewhere tqdm is not called."""
    if progress is None:
        progress = _is_terminal() and not (delay and _is_part_of_more())
    elif progress:
        delay = 0.0  # requested explicitly
    if not progress:
        return ProgressBar(() if items is None else items)
    options: dict[str, Any] = {"desc": what, "total": total, "unit": unit, "leave": leave, "delay": delay}
    return ProgressBar((), _Bar(items, **options))


def _is_terminal() -> bool:
    """Return whether stderr is a terminal; notebooks report that it is."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stream at all, or a closed one
        return False


def _is_part_of_more() -> bool:
    """Return whether this is part of a computation that has a bar, or runs in another thread or process."""
    in_main = threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None
    return _depth.n > 0 or not in_main
