"""Attacks on saving: processes that are killed, disks that are full, several writers, bytes that change."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import maxent_cvx as mx
from maxent_cvx import P


def posteriors() -> list[mx.Posterior]:
    """Two answers about the hospital, which differ in every term that can differ."""
    hospital = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    return [mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == p).solve() for p in (0.3, 0.4)]


def which(path: Path, known: list[mx.Posterior]) -> int:
    """Which of the known posteriors a file holds, to the last bit; an error if it is none."""
    found = mx.load_posterior(path).joint()
    same = [i for i, post in enumerate(known) if post.joint().equals(found)]
    assert len(same) == 1, "a file that is no whole one was read"
    return same[0]


def at_line(file: str, step: int, act: Callable[[], None]) -> Callable[..., object]:
    """A trace function that acts when this line of a file, counted as lines are run, is reached."""
    left = step

    def trace(frame, event, _argument):
        nonlocal left
        if frame.f_code.co_filename != file:
            return None
        if event == "line":
            left -= 1
            if not left:
                act()
        return trace

    return trace


@contextmanager
def traced(trace: Callable[..., object]) -> Iterator[None]:
    """Trace what is done."""
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """A disk on which no file may grow beyond so many bytes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def in_child(act: Callable[[], object]) -> int:
    """Start a copy of this process that acts, and nothing else; its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        act()
        code = 0
    finally:
        os._exit(code)
