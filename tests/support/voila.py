"""Notebooks as pages: Voila on a free port of this computer."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from .patience import AGES


@contextmanager
def served(notebook, log):
    """Serve a notebook, and yield the address; write Voila's output to a file. Skip the test without Voila."""
    pytest.importorskip("voila", reason="Voila is not installed: pip install 'maxent-cvx[explorer]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    options = ["--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}", "--Voila.port_retries=0"]
    with open(log, "w", encoding="utf-8") as file:
        voila = subprocess.Popen([sys.executable, "-m", "voila", str(notebook), *options], stdout=file, stderr=file)
        try:
            _wait(voila, address + "voila/static/favicon.ico", log)
            yield address
        finally:
            voila.terminate()  # it ends its kernels
            voila.wait()


def _wait(voila, address, log):
    """Wait until Voila answers, as long as its process is alive."""
    end = time.monotonic() + AGES
    while time.monotonic() < end:
        assert voila.poll() is None, f"Voila ended: {log.read_text(encoding='utf-8')}"
        try:
            urllib.request.urlopen(address, timeout=AGES).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.skip(f"Voila was given up after {AGES} seconds")
