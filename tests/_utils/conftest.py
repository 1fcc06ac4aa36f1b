"""A small cluster, in threads of this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from support.patience import PATIENT_DASK


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    import dask

    kind = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "memory_limit": 0}
    with (
        dask.config.set(PATIENT_DASK),
        distributed.LocalCluster(**kind, silence_logs=logging.CRITICAL) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
