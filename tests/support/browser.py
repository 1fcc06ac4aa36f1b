"""Pages in a browser without a window: headless Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest

#: Programs that are Chromium, by the names that systems give them.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
#: What keeps it from asking the network for anything of its own; and root has no sandbox.
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def chromium():
    """Where Chromium is, or None: the one that MAXENT_CVX_CHROMIUM names, or one on the path."""
    named = os.environ.get("MAXENT_CVX_CHROMIUM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def opened(address, *, width=1200, height=900):
    """Open a page; `page.faults` lists what its console and its scripts complained of. Skipped without Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium; install it, or name it in MAXENT_CVX_CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(0)  # a busy computer is no failure; whoever runs the tests sets their limit
            page.faults = []
            page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
            page.on("pageerror", lambda error: page.faults.append(str(error)))
            page.goto(address)
            yield page
        finally:
            browser.close()
