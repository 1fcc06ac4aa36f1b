"""The widgets of the explorer: controls on the left, the answer on the right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from .._utils.errors import MaxEntError
from .._utils.formatting import escaped, isolated
from .state import Adjustable, Assumptions, Scale, State

if TYPE_CHECKING:
    from .explorer import Exploration


class Slider(anywidget.AnyWidget):
    """A slider for mouse and keyboard, with a name for screen readers."""

    _esm = Path(__file__).with_name("slider.js")
    value = traitlets.Float(0.0).tag(sync=True)
    start = traitlets.Float(0.0).tag(sync=True)
    min = traitlets.Float(0.0).tag(sync=True)
    max = traitlets.Float(1.0).tag(sync=True)
    step = traitlets.Float(0.01).tag(sync=True)
    digits = traitlets.Int(2).tag(sync=True)
    caption = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("").tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)


#: The scale of the threshold.
HUNDREDTHS = Scale(0.0, 1.0, 0.01, 2)


class Controls:
    """Widgets that represent a state, and call a function whenever the state changes."""

    def __init__(self, assumptions: Assumptions, moved: Callable[[State], None]) -> None:
        self.assumptions, self.state, self._moved = assumptions, assumptions.start, moved
        self._ticks: dict[str, Any] = {}
        self._sliders: dict[tuple[str | None, str], Slider] = {}
        blocks = [self._statement(statement) for statement in assumptions.adjustable.values()]
        blocks += [self._tick(label) for label in assumptions.others]
        blocks = [heading("Background knowledge"), *blocks] if blocks else []
        if any(assumptions.most):
            blocks.append(heading("Known associations, strongest first"))
        for field, sign, most in zip(("positive", "negative"), "+\N{MINUS SIGN}", assumptions.most, strict=True):
            if most:
                name = f"K{sign} {field}: number of known associations, strongest first"
                blocks.append(self._slider(None, field, f"K{sign} {field}", name, Scale(0, most, 1, 0)))
        blocks.append(heading("A person is exposed if a value is inferred with"))
        name = "P at least: the threshold of exposure"
        blocks.append(self._slider(None, "threshold", "P at least", name, HUNDREDTHS))
        again = ipywidgets.Button(description="Reset", tooltip="Reset all controls")
        again.add_class("maxent-reset")  # for the sliders: the browser holds back their moves, but not a click
        again.on_click(lambda _: self.show(assumptions.start))
        narrow = ipywidgets.Layout(flex="0 1 400px", min_width="300px", margin="0 24px 0 0")
        self.box = ipywidgets.VBox([*blocks, again], layout=narrow)
        self._set(self.state)
        for widget in self._sliders.values():
            widget.start = widget.value

    def show(self, state: State) -> None:
        """Set the widgets to a state, and report a change once."""
        changed, self.state = state != self.state, state
        self._set(state)
        if changed:
            self._moved(state)

    def _go(self, state: State) -> None:
        """Handle a moved widget."""
        if state != self.state:
            self.show(state)

    def _statement(self, statement: Adjustable) -> Any:
        """Make a check box with sliders for the value and the vagueness below it."""
        text = str(statement.what)
        rows = [
            self._tick(statement.label),
            self._slider(statement.label, "value", "value", f"value of {text}", statement.values),
        ]
        if statement.vagueness is not None:
            word = "vagueness" if statement.statement.penalty is None else "std. deviation"
            rows.append(self._slider(statement.label, "vagueness", word, f"{word} of {text}", statement.vagueness))
        box = ipywidgets.VBox(rows)
        box.add_class("maxent-statement")
        return box

    def _tick(self, label: str) -> Any:
        """Make a check box for one piece of knowledge."""
        tick = ipywidgets.Checkbox(indent=False, layout=ipywidgets.Layout(width="auto"))
        tick.observe(lambda change: self._go(self.state.moved(label, known=change["new"])), "value")
        self._ticks[label] = tick
        return tick

    def _slider(self, label: str | None, field: str, caption: str, name: str, scale: Scale) -> Slider:
        """Make a slider for a number of one statement, or without a label for a number of the state itself."""
        widget = Slider(
            caption=caption, name=isolated(name), min=scale.low, max=scale.high, step=scale.step, digits=scale.digits
        )

        def follow(change: Any) -> None:
            if change["new"] == getattr(self.state.of(label), field):
                return  # set to this number, which may be between two steps
            number = round(change["new"], scale.digits)
            self._go(self.state.moved(label, **{field: int(number) if label is None and not scale.digits else number}))

        widget.observe(follow, "value")
        self._sliders[label, field] = widget
        return widget

    def _set(self, state: State) -> None:
        """Set every widget to the state, and label each check box with its current statement."""
        for label, setting in state.settings.items():
            tick = self._ticks[label]
            statement = self.assumptions.adjustable.get(label)
            text = label if statement is None else str(statement.at(setting))
            named = f"{label}: {text}" if statement and statement.has_own_label else text
            tick.value, tick.description = setting.known, isolated(named)
        for (label_or_none, field), widget in self._sliders.items():
            widget.value = getattr(state.of(label_or_none), field)
            widget.disabled = label_or_none is not None and not state.settings[label_or_none].known


def heading(text: str) -> Any:
    """Make a heading of controls."""
    return ipywidgets.HTML(f'<strong class="maxent-heading">{text}</strong>')


class CopiedCode(anywidget.AnyWidget):
    """Code with a button that copies it."""

    _esm = Path(__file__).with_name("copied_code.js")
    code = traitlets.Unicode("").tag(sync=True)


class LiveText(anywidget.AnyWidget):
    """HTML with escaped user texts; flags for an alarm, and for a running computation."""

    _esm = Path(__file__).with_name("live_text.js")
    _css = Path(__file__).with_name("style.css")
    html = traitlets.Unicode("").tag(sync=True)
    alarm = traitlets.Bool(False).tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)


class Page:
    """Widgets of one exploration."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.controls = Controls(exploration.assumptions, self.go)
        self.words, self.code = LiveText(), CopiedCode()
        self.words.on_msg(lambda words, content, _: words.send(content))  # shows that a kernel is running
        self.picture = ipywidgets.HTML()
        wide = ipywidgets.Layout(flex="1 1 420px", min_width="320px", overflow="auto")
        right = ipywidgets.VBox([self.words, self.picture, self.code], layout=wide)
        self.box = ipywidgets.HBox(
            [self.controls.box, right], layout=ipywidgets.Layout(flex_flow="row wrap-reverse", align_items="flex-end")
        )
        self.box.add_class("maxent-explorer")
        self.show()

    def bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the MIME bundle of the box, and its metadata.

        Both are anywidget's, with the box in place of the text: the boxes of ipywidgets 7 have no bundle, and the
        metadata specify for Colab which manager loads anywidget.
        """
        shown = self.words._repr_mimebundle_()
        assert shown is not None  # None for widgets without a view
        data, metadata = shown
        data["application/vnd.jupyter.widget-view+json"]["model_id"] = self.box.model_id
        return data, metadata

    def go(self, state: State) -> None:
        """Update the page to a state of the controls."""
        self.words.busy = True
        try:
            self.exploration.go(state)
        finally:
            self.words.busy = False
        self.show()

    def reset(self) -> None:
        """Reset the controls to the start."""
        self.controls.show(self.exploration.assumptions.start)

    def show(self) -> None:
        """Show the answer for the current state."""
        head, items = self.exploration.sentences
        with self.words.hold_sync():
            self.words.alarm = isinstance(self.exploration.answer, MaxEntError)
            self.words.html = as_html(head, items)
        self.picture.value = self.exploration.picture
        self.code.code = self.exploration.code


def as_html(head: str, items: list[str]) -> str:
    """Format sentences, or a heading with a list, as HTML."""
    if not head:
        return "".join(f"<p>{escaped(item)}</p>" for item in items)
    listed = "".join(f"<li>{escaped(item)}</li>" for item in items)
    return f"<p><strong>{escaped(head)}</strong></p>" + f"<ul>{listed}</ul>" * bool(items)
