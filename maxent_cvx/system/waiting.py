"""Wait for what a Dask cluster computes, as long as anybody computes it.

A worker with too little memory is paused: it takes no task until memory is free. Where nothing is left that it could
write to disk, that is for ever, and Dask waits. So what the scheduler did is looked at now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SolverError

__all__ = ["wait_for"]

#: Seconds in which a scheduler whose workers take no task changes nothing, after which the cluster is given up: Dask
#: writes gigabytes to disk, and starts a worker again, in less.
PATIENCE = 60.0


def wait_for(futures: Sequence[Any], client: Any) -> None:
    """Return when all are done, or have failed.

    Raises
    ------
    SolverError
        If no worker takes a task any more.
    """
    before = None
    for future in futures:
        while not future.done():  # which costs nothing, unlike to ask the loop of the client
            try:
                future.exception(timeout=PATIENCE)
            except TimeoutError:
                now = client.run_on_scheduler(tasks_and_workers)
                if now == before:
                    raise SolverError(_why(*now)) from None
                before = now if now[1] == 0 else None


def tasks_and_workers(dask_scheduler: Any) -> tuple[int, int, int]:
    """How often any task changed its state, how many workers take or execute tasks or start, and how many there are.

    Parameters
    ----------
    dask_scheduler : distributed.Scheduler
        Dask gives it by this name.
    """
    workers = dask_scheduler.workers.values()
    # A worker is registered before it runs, and on a busy machine stays so for a while.
    able = sum(worker.status.name in ("init", "running") or bool(worker.executing) for worker in workers)
    if not workers and len(dask_scheduler.total_nthreads_history) == 1:
        able = 1  # none has come yet, which may take its time, in the queue of a large machine say
    return dask_scheduler.transition_counter, able, len(workers)


def _why(changes: int, able: int, workers: int) -> str:
    """What became of the workers."""
    if not workers:
        return (
            f"the Dask cluster has had no worker for {PATIENCE:.0f} seconds; those that it had may have died of too "
            "little memory. Start larger workers, or of a release in partitions make more and smaller ones"
        )
    return (
        f"the workers of the Dask cluster have done nothing for {PATIENCE:.0f} seconds: each is paused, as its memory "
        "is full, and has nothing that it could write to disk; use larger workers or, of a release in partitions, "
        "more and smaller ones"
    )
