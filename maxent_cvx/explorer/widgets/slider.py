"""A slider with a name."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

__all__ = ["Slider"]


class Slider(anywidget.AnyWidget):
    """A number between two ends, moved by mouse or keyboard; its name is read aloud.

    The sliders of ipywidgets have no name that a screen reader finds.
    """

    _esm = Path(__file__).with_suffix(".js")
    value = traitlets.Float(0.0).tag(sync=True)
    min = traitlets.Float(0.0).tag(sync=True)
    max = traitlets.Float(1.0).tag(sync=True)
    step = traitlets.Float(0.01).tag(sync=True)
    digits = traitlets.Int(2).tag(sync=True)
    caption = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("").tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)
