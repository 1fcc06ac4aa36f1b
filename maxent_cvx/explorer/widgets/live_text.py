"""Words that are read aloud when they change."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

__all__ = ["LiveText"]


class LiveText(anywidget.AnyWidget):
    """HTML, what users wrote being escaped in it; whether it is an alarm, and whether the next is being worked out."""

    _esm = Path(__file__).with_suffix(".js")
    _css = Path(__file__).with_name("style.css")
    html = traitlets.Unicode("").tag(sync=True)
    alarm = traitlets.Bool(False).tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)
