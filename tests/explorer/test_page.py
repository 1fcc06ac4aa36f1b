"""The explorer as a page for a class: served by Voila, moved by keyboard in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxent_cvx import explorer
from support.browser import opened
from support.voila import served

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "explorer" / "hospital.ipynb"
VALUE = "value of P(Flu | Gender=male)"
#: A page of one slider and the text, whose model receives nothing until `answer` is called.
SAVED = """async (script) => {
    const { default: text } = await import("data:text/javascript," + encodeURIComponent(script));
    document.body.innerHTML = '<div class="maxent-explorer"><input type="range"><div id="words"></div></div>';
    const listeners = {};
    const model = { get: () => "", send: () => {}, on: (event, listener) => { listeners[event] = listener; } };
    text.render({ model, el: document.getElementById("words") });
    window.answer = () => listeners["msg:custom"]();
}"""

#: A slider moved twice, and a button clicked at once.
MOVES_AND_CLICK = """(slider, button) => {
    for (const value of [0.4, 0.45]) {
        slider.value = value;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    button.click();
}"""


def is_local(address):
    """Whether an address is on this computer."""
    return address.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page, with its sliders; nothing is requested from the network."""
    pytest.importorskip("anywidget", reason="the sliders are not installed: pip install 'maxent-cvx[explorer]'")
    with opened("about:blank") as page, served(NOTEBOOK, tmp_path_factory.mktemp("voila") / "log.txt") as address:
        # Voila's own template requests fonts of symbols elsewhere, and works without them.
        page.route(lambda url: not is_local(url), lambda route: route.fulfill(status=200, content_type="text/css"))
        page.goto(address)
        page.get_by_role("slider", name=VALUE).wait_for()
        yield page


def keys(page, slider, key, times):
    """Move a slider by keyboard."""
    slider.focus()
    for _ in range(times):
        slider.press(key)


def test_numbers_follow_a_slider(page):
    """A value moved by keyboard changes the probabilities, the score and the code; there is no error."""
    before = page.locator(".maxent-map").inner_text()
    assert "at the start" not in page.get_by_role("status").inner_text()
    assert "P(Breast Cancer | Gender=male) = 0" in page.locator(".maxent-code").inner_text()
    keys(page, page.get_by_role("slider", name=VALUE), "ArrowRight", 5)
    page.locator(".maxent-code", has_text="0.3 <= P(Flu | Gender=male) <= 0.4").wait_for()
    page.get_by_role("status").filter(has_text="at the start").wait_for()
    page.wait_for_function("before => document.querySelector('.maxent-map').innerText !== before", arg=before)
    assert page.faults == []


def test_the_page_around_a_slider_does_not_receive_its_keys(page):
    """JupyterLab, which widens its panels by arrow keys, receives none of the arrow keys of a slider."""
    page.evaluate("received = []; document.addEventListener('keydown', (event) => received.push(event.key))")
    for key in ("ArrowRight", "ArrowLeft", "End", "Tab"):
        page.get_by_role("slider", name="vagueness of P(Flu | Gender=male)").press(key)
    assert page.evaluate("received") == ["Tab"]
    page.get_by_role("button", name="Reset").click()
    page.locator(".maxent-code", has_text="0.25 <= P(Flu | Gender=male) <= 0.35").wait_for()


def test_contradictions_are_shown(page):
    """If the release rules a statement out, the page names it; the last picture stays, greyed."""
    keys(page, page.get_by_role("slider", name=VALUE), "End", 1)
    page.get_by_role("status").filter(has_text="Contradiction").wait_for()
    assert "P(Flu | Gender=male) >= 0.95" in page.get_by_role("status").inner_text()
    page.locator(".maxent-map.maxent-old table").wait_for()
    assert "Traceback" not in page.content()
    page.get_by_role("button", name="Reset").click()
    page.locator(".maxent-code", has_text="0.25 <= P(Flu | Gender=male) <= 0.35").wait_for()
    page.locator(".maxent-map.maxent-old").wait_for(state="detached")
    assert page.faults == []


def test_reset_comes_after_moves_that_are_on_their_way(page):
    """The browser holds a move back while the kernel is busy with another one; a click on Reset does not overtake it."""
    slider, reset = page.get_by_role("slider", name=VALUE), page.get_by_role("button", name="Reset")
    slider.evaluate(MOVES_AND_CLICK, reset.element_handle())
    for threshold in ("0.79", "0.78"):  # at the second answer, whatever was held back has been answered, too
        keys(page, page.get_by_role("slider", name="threshold"), "ArrowLeft", 1)
        page.get_by_role("status").filter(has_text=f"P >= {threshold}").wait_for()
    assert "0.25 <= P(Flu | Gender=male) <= 0.35" in page.locator(".maxent-code").inner_text()
    assert slider.input_value() == "0.3"


def test_the_code_can_be_copied(page):
    """A button copies the code, or where the browser does not let it, selects it."""
    button = page.get_by_role("button", name="Copy the code")
    button.click()
    page.get_by_role("button", name="Copied").or_(page.get_by_role("button", name="Selected")).wait_for()
    assert page.faults == []


def test_every_control_has_a_name(page):
    """A screen reader finds a name for each slider, tick and button; the names of the sliders differ."""
    names = [slider.get_attribute("aria-label") for slider in page.get_by_role("slider").all()]
    assert len(names) == len(set(names)) == 7
    assert all(names)
    for role in ("checkbox", "button"):
        controls = page.get_by_role(role).all()
        assert controls
        assert all(control.evaluate("it => (it.labels?.[0] ?? it).textContent.trim()") for control in controls)


def test_a_page_without_a_kernel_says_so(page):
    """If nothing answers a moved slider, the page says that its numbers have not followed."""
    script = Path(explorer.__file__).with_name("live_text.js").read_text(encoding="utf-8")
    saved = page.context.browser.new_page()
    saved.clock.install()
    saved.evaluate(SAVED, script)
    saved.locator("input").fill("5")
    silent = saved.locator(".maxent-silent")
    assert silent.count() == 0
    saved.clock.fast_forward(60_000)
    assert silent.count() == 1
    saved.evaluate("answer()")
    assert silent.count() == 0
    saved.close()
