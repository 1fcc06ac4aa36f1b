"""Pages in a browser without a window: headless Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest

from .patience import HANG

#: Programs that are Chromium, by the names that systems give them.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
#: Chromium requests nothing from the network by itself; root has no sandbox.
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def chromium():
    """Return the path of Chromium: that of MAXENT_CVX_CHROMIUM, or of the first program on the path; or None."""
    return os.environ.get("MAXENT_CVX_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def opened(address, *, width=1200, height=900):
    """Open a page; `page.faults` lists the errors of its console and scripts. Skip the test without Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = chromium()
    if program is None:
        pytest.skip("there is no Chromium; install it, or name it in MAXENT_CVX_CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(1000 * HANG)
            page.faults = []
            page.on("console", lambda line: page.faults.append(line.text) if line.type == "error" else None)
            page.on("pageerror", lambda error: page.faults.append(str(error)))
            page.goto(address)
            yield page
        finally:
            browser.close()
