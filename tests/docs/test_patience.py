"""Nothing fails because a computer is busy."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_notebooks import execute

from support.patience import PATIENT_DASK, PATIENT_ENVIRONMENT


@settings(max_examples=2)
@given(st.booleans())
def test_slow_examples(drawn):
    """An example may take as long as it likes: by default it has 200 ms."""
    time.sleep(0.3)


@settings(max_examples=5)
@given(st.integers().map(lambda drawn: time.sleep(0.5) or drawn))
def test_examples_that_are_slow_to_draw(drawn):
    """So may drawing one: by default ten of them have a second."""


def test_no_property_is_timed(request):
    """Of all the tests of this run none has a deadline, nor a limit for drawing examples."""
    properties = [item.obj for item in request.session.items if hasattr(getattr(item, "obj", None), "hypothesis")]
    assert len(properties) >= 2
    for test in properties:
        used = test._hypothesis_internal_use_settings
        assert used.deadline is None, test
        assert HealthCheck.too_slow in used.suppress_health_check, test


def test_a_cell_that_does_not_end():
    """Of a notebook that is given up it is said why, and that is no failure."""
    endless = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import time; time.sleep(3600)")])
    with pytest.raises(pytest.skip.Exception, match="given up after 1 seconds"):
        execute(endless, seconds=1)


def test_dask_is_patient_in_other_processes():
    """What a notebook's kernel reads from its environment is what the tests set."""
    pytest.importorskip("distributed")
    code = f"import dask, distributed; print([dask.config.get(name) for name in {list(PATIENT_DASK)}])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=PATIENT_ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(list(PATIENT_DASK.values()))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("A worker stopped while some jobs were given to the executor. This can be ...", UserWarning),
        ("unclosed event loop <_UnixSelectorEventLoop running=False closed=False debug=False>", ResourceWarning),
        ("unclosed <socket.socket fd=12>", ResourceWarning),
        ("unclosed transport <_SelectorSocketTransport fd=12>", ResourceWarning),
        ("unclosed cluster LocalCluster(1, 'inproc://')", ResourceWarning),
        ("Unclosed socket <zmq.Socket(zmq.PUSH) at 0x1>", ResourceWarning),
        ("Unclosed context <zmq.Context() at 0x1>", ResourceWarning),
        ("coroutine 'Client._close' was never awaited", RuntimeWarning),
    ],
)  # fmt: skip
def test_libraries_that_were_late(message, kind):
    """What process pools, event loops and sockets warn of when they were not waited for is shown, and no failure."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.warn(message, kind, stacklevel=1)
    assert [str(warning.message) for warning in shown] == [message]


def test_other_warnings_are_failures():
    """A file that this package leaves open is no matter of load."""
    with pytest.raises(ResourceWarning):
        warnings.warn("unclosed file <_io.TextIOWrapper name='x'>", ResourceWarning, stacklevel=1)


def test_what_is_skipped_is_said(pytestconfig):
    """At the end of every run, with the reason, beside failures and errors."""
    assert set("fEs") <= set(pytestconfig.option.reportchars)
