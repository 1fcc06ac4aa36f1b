"""The page: controls on the left, on the right what follows from them."""

from __future__ import annotations

import ipywidgets

from ...display import escaped
from ..answers import NoAnswer
from ..exploration import Exploration
from ..state import State
from .controls import Controls
from .copied_code import CopiedCode
from .live_text import LiveText

__all__ = ["Page"]


class Page:
    """Widgets of one exploration.

    Attributes
    ----------
    box : ipywidgets.Box
        All of it.
    """

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.controls = Controls(exploration.assumptions, self.go)
        self.words, self.code = LiveText(), CopiedCode()
        self.picture = ipywidgets.HTML()
        wide = ipywidgets.Layout(flex="1 1 420px", min_width="320px", overflow="auto")
        right = ipywidgets.VBox([self.words, self.picture, self.code], layout=wide)
        self.box = ipywidgets.HBox(
            [self.controls.box, right], layout=ipywidgets.Layout(flex_flow="row wrap", align_items="flex-start")
        )
        self.box.add_class("maxent-explorer")
        self.show()

    def go(self, state: State) -> None:
        """Follow the controls."""
        self.words.busy = True
        try:
            self.exploration.go(state)
        finally:
            self.words.busy = False
        self.show()

    def reset(self) -> None:
        """Put the controls back to the start."""
        self.controls.show(self.exploration.assumptions.start)

    def show(self) -> None:
        """Show what follows from the controls."""
        head, items = self.exploration.sentences
        with self.words.hold_sync():
            self.words.alarm = isinstance(self.exploration.answer, NoAnswer)
            self.words.html = as_html(head, items)
        self.picture.value = self.exploration.picture
        self.code.code = self.exploration.code


def as_html(head: str, items: list[str]) -> str:
    """Write sentences, or a sentence and a list of what it is about."""
    if not head:
        return "".join(f"<p>{escaped(item)}</p>" for item in items)
    listed = "".join(f"<li>{escaped(item)}</li>" for item in items)
    return f"<p><strong>{escaped(head)}</strong></p>" + f"<ul>{listed}</ul>" * bool(items)
