"""Time limits of the tests: none that a busy computer could come to, for to be slow is no failure."""

from __future__ import annotations

#: Seconds. What takes longer is taken not to come to an end: it is given up, and the test skipped, for this reason.
AGES = 3600
#: Seconds after which a page that does not show what a test waits for is taken to hang, which is a failure.
HANG = 900
#: Settings of Dask, which by default believes its own threads to be dead when they are silent for 30 seconds.
PATIENT_DASK = {
    "distributed.comm.timeouts.connect": f"{AGES}s",
    "distributed.comm.timeouts.tcp": f"{AGES}s",
    "distributed.scheduler.worker-ttl": None,
    "distributed.scheduler.allowed-failures": 10**6,
}
#: The same for another process, in its environment.
PATIENT_ENVIRONMENT = {
    "DASK_" + name.upper().replace(".", "__").replace("-", "_"): str(value) for name, value in PATIENT_DASK.items()
}
