"""Progress bars: none where nobody sees them, and none that stops another thread after an interrupt."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

import maxent_cvx as mx
from maxent_cvx._utils.progress import progress_bar

#: Seconds after which a thread is taken to hang; what it does takes milliseconds.
LONG = 60


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def elsewhere(act: Callable[[], object]) -> bool:
    """Whether another thread comes to an end with this."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


def test_no_bar_where_there_is_no_terminal(monkeypatch):
    """A bar is shown on a terminal unless it is switched off, and elsewhere only on request; all items are returned."""
    for stream, progress, shown in (
        (Terminal(), None, True),
        (Terminal(), False, False),
        (io.StringIO(), None, False),
        (io.StringIO(), True, True),
        (None, None, False),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(progress_bar([1, 2, 3], "counting", progress)) == [1, 2, 3]
        assert ("counting: 100%" in stream.getvalue() if stream else False) == shown


@pytest.mark.parametrize("progress", [None, False])
def test_long_work_shows_how_far_it_is(release, monkeypatch, progress):
    """On a terminal each of these writes a bar with its name, unless it is switched off; progress must be a bool."""
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4")
    counts = [mx.attacks.Statistic({}, 2, mean=21)]
    calls = {
        "sweep": partial(mx.sweep, model, "P(Flu | Gender=male)", value=[0.3, 0.4]),
        "solvers": partial(mx.compare_solvers, model, ["DUAL_NEWTON"]),
        "without": partial(model.solve().prices, leave_one_out=True),
        "definetti": partial(mx.attacks.definetti, release, iterations=2),
        "minimality": partial(mx.attacks.minimality, release, lambda table: release),
        "reconstruct": partial(mx.attacks.reconstruct, counts, {"age": [20, 21, 22]}, 2),
    }
    for name, call in calls.items():
        monkeypatch.setattr(sys, "stderr", stream := Terminal())
        call(progress=progress)
        assert (f"{name}: " in stream.getvalue()) == (progress is not False), name
        with pytest.raises(mx.StatementError, match="progress"):
            call(progress="yes")


@pytest.mark.parametrize(("progress", "shown"), [(None, False), (True, True), (False, False)])
def test_a_solve_shows_its_iterations(release, monkeypatch, progress, shown):
    """A solve shows a bar on request, and by default only if it takes a while; the callback gets every iteration."""
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    model, told = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4"), []
    post = model.solve(progress=progress, callback=lambda iteration: told.append(iteration.iteration))
    assert ("solve: " in stream.getvalue()) == shown
    assert len(told) == len(post.log)
    assert model.solve("CLARABEL", progress=progress).certificate.holds  # which tells no iterations
    with pytest.raises(mx.StatementError, match="progress"):
        model.solve(progress="yes")


def test_a_bar_with_a_delay(monkeypatch):
    """A bar appears after its delay, but not inside other work with a bar or in another thread, except on request."""

    def shown(progress: bool | None = None, delay: float = 1e-9) -> bool:
        monkeypatch.setattr(sys, "stderr", stream := Terminal())
        with progress_bar(None, "solve", progress, delay=delay) as bar:
            for _ in range(3):
                time.sleep(0.11)  # tqdm writes ten times a second
                bar.update()
        return "solve: " in stream.getvalue()

    assert shown()
    assert not shown(delay=100.0)
    for _ in progress_bar([1], "outer"):
        assert not shown()
        assert shown(progress=True)
    with progress_bar(None, "outer", False):
        assert not shown()
    assert shown()
    result: list[bool] = []
    assert elsewhere(lambda: result.append(shown()))
    assert result == [False]
