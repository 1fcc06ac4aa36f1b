"""Whatever columns, values, people and statements are called, it is text in a report, and no markup."""

from __future__ import annotations

import base64
import re
import warnings
from xml.etree import ElementTree

import pandas as pd
import pytest

import maxent_cvx as mx
from support.browser import opened
from support.reports import read

SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(2)>"
QUOTE = "\"' onclick=alert(3) $x$ {{ 7 * 7 }} &amp;"


@pytest.fixture(scope="module")
def report():
    table = pd.DataFrame(
        {
            f"A{SCRIPT}": [IMAGE, "b", IMAGE, "b"],
            f"S{QUOTE}": [SCRIPT, "y", QUOTE, SCRIPT],
            f"B{IMAGE}": [SCRIPT, SCRIPT, QUOTE, QUOTE],
        }
    )
    qi, sa, bucket = table.columns
    release = mx.Release.from_buckets(table, qi=qi, sa=sa, bucket=bucket)
    model = mx.MaxEnt(release, people={f"Ann {SCRIPT}": {qi: IMAGE}})
    model.add(mx.P(SCRIPT, given={qi: IMAGE}) == 0.0, label=f"told {SCRIPT}").add(mx.P("y", who=f"Ann {SCRIPT}") <= 0.9)
    named = {SCRIPT: model.solve(), QUOTE: mx.MaxEnt(release).solve()}
    attacks = {f"own {SCRIPT}": lambda view: pd.DataFrame({IMAGE: [SCRIPT], QUOTE: [(QUOTE, 1.0)]})}
    about = {SCRIPT: IMAGE}
    return mx.report(named, original=table, records=True, attacks=attacks, about=about, threshold=0.5)


def test_no_markup_of_values(report):
    """The page has its own script only, no handler of events, and all the names as text."""
    page = read(report.html)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not [name for _, given in page.tags for name in given if name.startswith("on")]
    assert {given.get("src", "")[:5] for tag, given in page.tags if tag == "img"} <= {"data:"}
    for text in (SCRIPT, IMAGE):
        assert text in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_a_browser_runs_nothing_of_it(report, tmp_path):
    """No dialog opens, nothing is complained of, and the script of the page works."""
    report.save(tmp_path / "report.html")
    with opened((tmp_path / "report.html").as_uri()) as page:
        dialogs = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.reload()
        page.locator("th button").first.click()
        assert page.locator("th[aria-sort]").count() == 1
        assert not dialogs
        assert not page.faults


OVERRIDE, HEBREW = "\u202e%03 \u2069", "\u05e9\u05e4\u05e2\u05ea 30"


def test_no_label_turns_the_numbers_of_a_sentence_round():
    """Controls of direction are seen and do nothing; right-to-left labels are isolated, in drawings, too."""
    table = pd.DataFrame(
        {HEBREW: ["a", "b", "a", "b"], "S": [OVERRIDE, HEBREW, OVERRIDE, f"x\x07{OVERRIDE}"], "B": [1, 1, 2, 2]}
    )
    release = mx.Release.from_buckets(table, qi=HEBREW, sa="S", bucket="B")
    post = mx.MaxEnt(release).add(mx.P(OVERRIDE, given={HEBREW: "a"}) >= 0.9).solve()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # fonts of drawings lack control characters
        html = mx.report({HEBREW: post, OVERRIDE: mx.MaxEnt(release).solve()}, threshold=0.5).html
    drawings = [base64.b64decode(one).decode() for one in re.findall(r"base64,([A-Za-z0-9+/=]{100,})", html)]
    assert drawings
    for text in (html, *drawings, post._repr_html_(), release._repr_html_(), mx.measures.exposed(post)._repr_html_()):
        assert not set(text) & set("\u202e\x07")
        assert text.count("\u2068") == text.count("\u2069")
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    bare = re.sub(r"<bdi>[^<]*</bdi>|\u2068[^\u2069]*\u2069", "", html)
    assert "\u05e9" not in bare, "everything of this direction is isolated"
    assert f"<bdi>{HEBREW}</bdi>" in html
