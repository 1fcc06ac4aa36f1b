"""Studies on a Dask cluster are those of one process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import StatementError
from support.helpers import refused
from support.patience import PATIENT_DASK
from support.series import patients

#: On two curves.
BOUNDS = [(0, 0), (0, 3), (1, 1), (2, 3), (4, 1)]


@contextmanager
def local_cluster(**settings: str) -> Iterator[object]:
    """A client of two workers of this machine."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    import dask

    with (
        dask.config.set({**PATIENT_DASK, **settings}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    with local_cluster() as client:
        yield client


@pytest.fixture
def client_that_gives_up() -> Iterator[object]:
    """Dask retries a connection to a dead worker until this timeout, an hour with the patience of the other tests."""
    with local_cluster(**{"distributed.comm.timeouts.connect": "60s"}) as client:
        yield client


class Disturbed:
    """A client to whom something happens after the first result."""

    def __init__(self, client: object, happens: Callable[[], None]) -> None:
        self.client, self.happens, self.given = client, happens, 0
        self.submit, self.scheduler_info = client.submit, client.scheduler_info

    def gather(self, futures):
        self.given += 1
        if self.given == 2:
            self.happens()
        return self.client.gather(futures)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_quantify(hospital, release, client):
    """The same scores, of a measure that is a closure, and of one curve alone."""
    score = lambda post: 2 * post.entropy  # noqa: E731
    for bounds in (BOUNDS, BOUNDS[:2]):
        here, there = (
            mx.quantify(release, hospital, bounds, min_support=1, measure=score, client=who).drop(columns="seconds")
            for who in (None, client)
        )
        pd.testing.assert_frame_equal(here, there, check_exact=True)


def test_sweep(release, client):
    """The same rows, some of which say that there is no answer."""
    values = {"value": [0.0, 0.1, 0.2, 0.3, 0.9, 0.4], "eps": [0, 0.05]}
    here, there = (mx.sweep(mx.MaxEnt(release), "P(HIV | Gender=male)", **values, client=who) for who in (None, client))
    pd.testing.assert_frame_equal(here, there, check_exact=True)
    assert set(there["status"]) == {"optimal", "infeasible"}


def test_inference_channels(client):
    """The same channels, and the same release is to blame, whoever solves without it."""
    here = mx.inference_channels(patients())
    assert len(here) > 0
    for who in ({"client": client}, {"n_jobs": 2}):
        pd.testing.assert_frame_equal(mx.inference_channels(patients(), **who), here, check_exact=True)


def test_the_bar_moves(hospital, release, client, capsys):
    """With each curve that comes back."""
    mx.quantify(release, hospital, BOUNDS, min_support=1, progress=True, client=client)
    assert "5/5" in capsys.readouterr().err
    mx.inference_channels(patients(), progress=True, client=client)
    assert "100%" in capsys.readouterr().err


def test_an_interrupt(hospital, release, client):
    """The rows of curves that are finished are kept."""
    with pytest.raises(KeyboardInterrupt) as raised:
        mx.quantify(release, hospital, BOUNDS, min_support=1, client=Disturbed(client, interrupt))
    finished = raised.value.finished.drop(columns="seconds")
    whole = mx.quantify(release, hospital, BOUNDS, min_support=1).drop(columns="seconds")
    assert 0 < len(finished) < len(whole)
    pairs = pd.MultiIndex.from_frame(finished[["K+", "K-"]])
    expected = whole.set_index(["K+", "K-"]).loc[pairs].reset_index()
    pd.testing.assert_frame_equal(finished, expected, check_exact=True, check_like=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed(release, client_that_gives_up):
    """What it had, the model and rows that are done, is sent and done again, and the table is the same."""
    client = client_that_gives_up
    asked = partial(mx.sweep, mx.MaxEnt(release), "P(HIV | Gender=male)", value=[i / 50 for i in range(12)])
    killed = []

    def kill() -> None:
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)

    there = asked(client=Disturbed(client, kill))
    assert killed
    pd.testing.assert_frame_equal(asked(), there, check_exact=True)


def test_an_error_of_a_measure(hospital, release, client):
    """It is raised here as it was there."""
    with pytest.raises(ZeroDivisionError):
        mx.quantify(release, hospital, BOUNDS, min_support=1, measure=lambda post: 1 // 0, client=client)


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ({"client": "tcp://127.0.0.1:8786"}, "client="),
        ({"n_jobs": "two"}, "n_jobs="),
        ({"client": None, "n_jobs": 0}, "n_jobs="),
        ({"client": "both", "n_jobs": 2}, "n_jobs=2"),
    ],
)
def test_who_cannot_work(hospital, release, client, who, says):
    """A wrong client or number is refused before anything is solved, and so are both at once."""

    def never(post):
        raise AssertionError("solved")

    if who.get("client") == "both":
        who = {**who, "client": client}
    with refused(StatementError, says):
        mx.quantify(release, hospital, BOUNDS, measure=never, **who)
    with refused(StatementError, says):
        mx.sweep(mx.MaxEnt(release), "P(Flu)", value=0.3, measure=never, **who)
    with refused(StatementError, says):
        mx.inference_channels(patients(), **who)
    with refused(StatementError, says):
        mx.sdc.experiment(hospital.assign(Age=range(10)), "Age", {mx.sdc.Sampling: [0.5]}, **who)
