"""Workers of Dask on this machine, which keep the memory that arrays of partitions come and go in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["MEMORY_KEPT", "local_client"]

#: What glibc keeps of freed memory, bytes, by the names of its environment variables. Dask has its workers give all
#: but 64 KiB back, after which the system must clear every page of the next array: 10 of 23 processor seconds of a
#: quarter of a million records, which so are 2 to 4. Larger arrays than the second, the most there is, are given back.
MEMORY_KEPT = {"MALLOC_TRIM_THRESHOLD_": str(256 * 2**20), "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20)}


@contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """A client of so many processes of this machine, each with one thread, for as long as it is needed."""
    import dask
    from distributed import Client, LocalCluster

    variables = "distributed.nanny.pre-spawn-environ"
    with (
        dask.config.set({variables: {**dask.config.get(variables, {}), **MEMORY_KEPT}}),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client
