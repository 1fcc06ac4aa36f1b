"""The explorer: widgets, a picture without them, and the model of the present state."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64decode
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer import explorer as module
from support.stored_views import KINDS

HOSPITAL = mx.datasets.load_hospital()

RELEASE = mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")

VIEW = "application/vnd.jupyter.widget-view+json"

FLU, NONE = "P(Flu | Gender=male) = 0.4", "P(Breast Cancer | Gender=male) = 0"


def explorer_of_two():
    """An explorer of two statements."""
    return mx.explore(mx.MaxEnt(RELEASE).add(FLU, NONE), HOSPITAL, min_support=2)


@pytest.fixture
def page():
    """An explorer with its page."""
    for library in ("ipywidgets", "anywidget"):
        pytest.importorskip(library, reason=f"{library} is not installed: pip install 'maxent-cvx[explorer]'")
    explorer = explorer_of_two()
    assert explorer.widget is explorer.widget
    return explorer, explorer._page


def controls(page):
    """The sliders by name, and the ticks by text."""
    ticks = {tick.description: tick for tick in page.controls._ticks.values()}
    return {slider.name: slider for slider in page.controls._sliders.values()}, ticks


def test_without_widgets_it_is_a_picture(monkeypatch):
    """Without ipywidgets a picture is shown, and a text that names the package to install."""
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    explorer = explorer_of_two()
    bundle = explorer._repr_mimebundle_()[0]
    assert set(bundle) == {"text/plain", "image/png"}
    assert b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "pip install" in bundle["text/plain"]
    with pytest.raises(ImportError, match="pip install"):
        explorer.widget  # noqa: B018
    assert "exposed" in explorer.figure().get_supxlabel()


def test_dollars_in_the_sentences_of_the_picture_are_dollars():
    """Matplotlib would take what is between two dollars for a formula, and this one for a wrong one."""
    table = pd.DataFrame({"Q": list("aabb"), "S": ["$5_^ or $6", "z"] * 2, "B": [1, 1, 2, 2]})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    figure = mx.explore(mx.MaxEnt(release).add(mx.P("$5_^ or $6", given={"Q": "a"}) == 0.9)).figure()
    figure.draw_without_rendering()
    assert any("$5_^ or $6" in text.get_text() for text in figure.texts)


def test_nothing_else_loads_widgets():
    """Neither the package nor an explorer imports ipywidgets before the page is shown."""
    code = """
import sys, maxent_cvx as mx
release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
explorer = mx.explore(mx.MaxEnt(release))
print(repr(explorer), "ipywidgets" in sys.modules, "matplotlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False False\n")


def test_a_notebook_gets_the_page_and_the_picture(page):
    """The output contains both the widgets and a picture for a frontend without widgets."""
    bundle = page[0]._repr_mimebundle_()[0]
    assert set(bundle) == {"text/plain", "image/png", VIEW}
    assert bundle[VIEW]["model_id"] == page[0].widget.model_id


def test_metadata_for_colab(page, monkeypatch):
    """The metadata of the output name the manager by which Colab loads anywidget."""
    output = SimpleNamespace(
        enable_custom_widget_manager=lambda: None, _widgets=SimpleNamespace(_installed_url="https://manager")
    )
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    metadata = page[0]._repr_mimebundle_()[1]
    assert metadata[VIEW]["colab"]["custom_widget_manager"]["url"] == "https://manager"


def test_a_threshold_between_two_steps_is_kept(page):
    """The page shows the given threshold, and not the nearest step of its slider."""
    model = page[0].model
    explorer = mx.explore(model, threshold=0.855)
    assert explorer.widget is not None
    assert explorer._exploration.state.threshold == 0.855


def test_sliders_move_the_model(page):
    """The explorer's model, answer and code are those of the present sliders and ticks."""
    explorer, shown = page
    sliders, ticks = controls(shown)
    sliders["value of P(Flu | Gender=male)"].value = 0.35
    sliders["vagueness of P(Flu | Gender=male)"].value = 0.05
    sliders["K\N{MINUS SIGN} negative: number of known associations, strongest first"].value = 3
    ticks[NONE].value = False
    typed = mx.MaxEnt(RELEASE).add(P("Flu", given={"Gender": "male"}).about(0.35, eps=0.05))
    typed = typed.add(mx.StrongestAssociations(HOSPITAL, 0, 3, min_support=2))
    np.testing.assert_array_equal(explorer.posterior.counts, typed.solve().counts)
    np.testing.assert_array_equal(explorer.model.solve().counts, typed.solve().counts)
    assert "0.3 <= P(Flu | Gender=male) <= 0.4" in shown.code.code
    assert "StrongestAssociations(original, 0, 3, min_support=2)" in shown.code.code
    assert sliders["value of P(Breast Cancer | Gender=male)"].disabled
    explorer.reset()
    assert sliders["value of P(Flu | Gender=male)"].value == 0.4
    np.testing.assert_array_equal(explorer.posterior.counts, mx.MaxEnt(RELEASE).add(FLU, NONE).solve().counts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_view(kind, page):
    """Releases, named people, priors, tables, series and populations can be explored and reset."""
    explorer = mx.explore(KINDS[kind]())
    before = explorer.posterior
    assert explorer.widget.children
    for slider in controls(explorer._page)[0].values():
        slider.value = slider.min
    explorer.reset()
    assert explorer.posterior is before
    assert explorer._exploration.picture.count("<tr>") == min(len(before.inferences()[0]), 20) + 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((mx.MaxEnt(RELEASE), HOSPITAL.head(5)), mx.TableError), ((RELEASE,), mx.StatementError)],
    ids=["records of other people", "no model"],
)
def test_wrong_arguments(arguments, error):
    with pytest.raises(error):
        mx.explore(*arguments)
