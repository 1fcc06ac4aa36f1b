"""Progress bars: none where nobody sees them, and none that stops another thread after an interrupt."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import tqdm

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx._utils.progress import progress_bar

BARS = str(Path(tqdm.__file__).parent)
#: Steps of a progress bar at which it is interrupted; those after the last are not reached.
EVERY = range(1, 10_000)
#: Seconds after which a thread is taken to hang; what it does takes milliseconds.
LONG = 60


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def interrupted(act: Callable[[], object], step: int) -> bool:
    """Interrupt what is done at the given line of tqdm's; whether it came so far."""
    left = step

    def trace(frame, event, _argument):
        nonlocal left
        if not frame.f_code.co_filename.startswith(BARS):
            return None
        if event == "line":
            left -= 1
            if not left:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        assert left == 0, "this was somebody else's interrupt"
    finally:
        sys.settrace(before)
    return left <= 0


def elsewhere(act: Callable[[], object]) -> bool:
    """Whether another thread comes to an end with this."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


@pytest.mark.parametrize("progress", [None, False])
def test_what_nobody_sees_is_not_touched(release, monkeypatch, progress):
    """Without a bar no line of tqdm is run, in which an interrupt could stop bounds in other threads."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    model = mx.MaxEnt(release)

    def ask() -> object:
        return model.bounds([P("Flu"), P("HIV")], progress=progress)

    for step in EVERY:
        came_so_far = interrupted(ask, step)
        assert elsewhere(ask), f"after an interrupt at line {step}"
        if not came_so_far:
            break
    assert step == 1


def test_an_interrupt_does_not_stop_another_thread(monkeypatch):
    """Wherever a bar that is shown is interrupted, bars in other threads come to an end."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    def count() -> None:
        list(progress_bar([1, 2], "counting", progress=True))
        with progress_bar(None, "steps", progress=True) as bar:
            bar.update(2)
            bar.set_postfix_str("done")

    for step in EVERY:
        came_so_far = interrupted(count, step)
        assert elsewhere(count), f"after an interrupt at line {step}"
        if not came_so_far:
            break
    assert 100 < step < EVERY[-1], "every line had its turn"


def test_no_bar_where_there_is_no_terminal(monkeypatch):
    """A bar is shown on a terminal unless it is switched off, elsewhere only if asked for; all is counted alike."""
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


def test_a_closed_stream_is_no_terminal(monkeypatch):
    """A program that has closed its output can still count."""
    stream = Terminal()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress_bar([1, 2], "counting")) == [1, 2]


@pytest.mark.parametrize("progress", [False, True])
def test_a_bar_that_is_moved_by_hand(monkeypatch, progress):
    """Where the number of steps is not known, the bar is moved by hand; when it is off, that does nothing."""
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    with progress_bar(None, "withheld", progress, unit=" rules") as bar:
        bar.update(3)
        bar.set_postfix_str("2 to be withheld")
    assert ("withheld: 3 rules" in stream.getvalue(), "2 to be withheld" in stream.getvalue()) == (progress, progress)


def test_a_bar_stands_below_the_bars_around_it(monkeypatch):
    """Inside somebody's own bar the package's is on the next line, and does not write over it."""
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    for _ in tqdm.tqdm([1], desc="outer", file=stream):
        assert list(progress_bar([1], "inner")) == [1]
    assert "\n\rinner:   0%" in stream.getvalue()


def test_bars_do_not_start_threads(monkeypatch):
    """No thread watches over a bar: it would outlive it."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    before = set(threading.enumerate())
    for _ in progress_bar(range(3), "counting"):
        assert set(threading.enumerate()) == before


@pytest.mark.parametrize("progress", [None, True, False])
def test_long_work_shows_how_far_it_is(release, monkeypatch, progress):
    """On a terminal each of these writes a bar with its name, unless it is told not to; and refuses what is no flag."""
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
    """If it is asked to; by default only one that is not done at once, and the user's callback is called as before."""
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    model, told = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4"), []
    post = model.solve(progress=progress, callback=lambda iteration: told.append(iteration.iteration))
    assert ("solve: " in stream.getvalue()) == shown
    assert len(told) == len(post.log)
    assert model.solve("CLARABEL", progress=progress).certificate.holds  # which tells no iterations
    with pytest.raises(mx.StatementError, match="progress"):
        model.solve(progress="yes")


def test_a_bar_with_a_delay_is_of_what_somebody_waits_for(monkeypatch):
    """It comes after its delay; not inside other work with a bar, nor in another thread, unless it is asked for."""

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
    found: list[bool] = []
    assert elsewhere(lambda: found.append(shown()))
    assert found == [False]
