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
    """Serve a notebook, and give the address; what Voila says is written to a file. Skipped without Voila."""
    pytest.importorskip("voila", reason="Voila is not installed: pip install 'maxent-cvx[explorer]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    options = ["--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}", "--Voila.port_retries=0"]
    with open(log, "w", encoding="utf-8") as said:
        voila = subprocess.Popen([sys.executable, "-m", "voila", str(notebook), *options], stdout=said, stderr=said)
        try:
            _wait(voila, address + "voila/static/favicon.ico", log)
            yield address
        finally:
            voila.terminate()  # it ends its kernels
            voila.wait()


def _wait(voila, address, log):
    """Wait until it answers, for as long as it is alive."""
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
