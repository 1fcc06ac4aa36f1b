"""Where partitions are worked on changes nothing of what is computed."""

from __future__ import annotations

from functools import partial
from operator import add, mul

import pytest

from maxent_cvx import StatementError
from maxent_cvx._utils.parallel import LocalExecutor, current_client, executor_for, then
from support.helpers import refused


@pytest.fixture(params=["one thread", "threads", "workers"])
def executor(request):
    if request.param == "workers":
        return executor_for(request.getfixturevalue("client"))
    return LocalExecutor(1 if request.param == "one thread" else 3)


def test_map_and_reduce(executor):
    """Functions are applied to the results of one partition each, in order, and sums are those of all."""
    handles = executor.made([partial(mul, i, 1) for i in range(20)])
    shifted = executor.map(add, handles, common=(5,))
    assert executor.gather(executor.map(add, handles, shifted)) == [2 * i + 5 for i in range(20)]
    assert executor.reduce(sum, shifted) == sum(range(20)) + 100
    assert executor.reduce(sum, []) == 0


def test_delayed_makers(executor):
    """A maker may be a Delayed of Dask; what follows it is one again, and is done where it is."""
    dask = pytest.importorskip("dask")
    makers = [dask.delayed(mul)(i, 10) for i in range(4)]
    followed = [then(maker, add, 1) for maker in makers]
    assert all(dask.is_dask_collection(maker) for maker in followed)
    assert executor.gather(executor.made(followed)) == [1, 11, 21, 31]


def test_functions_that_follow(executor):
    """What follows a function is a function."""
    assert executor.gather(executor.made([then(partial(mul, i, 10), add, 1) for i in range(4)])) == [1, 11, 21, 31]


def test_errors_come_back(executor):
    """What goes wrong in a partition is raised here."""
    with pytest.raises(ZeroDivisionError):
        executor.gather(executor.made([partial(divmod, 1, 0)]))


def test_client(client):
    """The client of Dask's own functions is found; what is no client is refused."""
    assert current_client() is client
    with refused(StatementError):
        executor_for("tcp://127.0.0.1:8786")


def test_own_threads():
    """A number of threads is what is asked for, or one a processor."""
    assert LocalExecutor(3).threads == 3
    assert LocalExecutor().threads >= 1
