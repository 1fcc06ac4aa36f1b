"""The documentation's picture of the explorer: ``PYTHONPATH=tests python -m support.explorer_picture PICTURE.png``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from support.browser import opened
from support.voila import served

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "explorer" / "hospital.ipynb"


def draw(path):
    """Move a slider of the hospital's page by keyboard, and photograph the explorer."""
    folder = Path(tempfile.mkdtemp())
    with opened("about:blank", width=1180) as page, served(NOTEBOOK, folder / "voila.txt") as address:
        page.goto(address)
        slider = page.get_by_role("slider", name="vagueness of P(Breast Cancer | Gender=male)")
        slider.wait_for()
        for _ in range(10):
            slider.press("ArrowRight")
        page.locator(".maxent-code", has_text="P(Breast Cancer | Gender=male) <= 0.1").wait_for()
        page.locator(".maxent-explorer").screenshot(path=path)


if __name__ == "__main__":
    draw(sys.argv[1])
