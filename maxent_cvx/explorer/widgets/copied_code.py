"""Lines of code that can be copied."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

__all__ = ["CopiedCode"]


class CopiedCode(anywidget.AnyWidget):
    """Code as it is typed, and a button that copies it."""

    _esm = Path(__file__).with_suffix(".js")
    code = traitlets.Unicode("").tag(sync=True)
