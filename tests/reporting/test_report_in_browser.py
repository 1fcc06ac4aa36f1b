"""The report as a page in a browser: nothing is fetched, hostile labels do nothing, tables sort."""

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


@pytest.fixture(scope="module")
def file(tmp_path_factory, post):
    """The report of two answers."""
    path = tmp_path_factory.mktemp("reports") / "report.html"
    mx.report({"alone": mx.MaxEnt(post.view).solve(), "medicine": post}, path, attacks=["worst_case"])
    return path


def test_nothing_is_fetched(file):
    """The page requests itself and nothing else, and its console has no error."""
    with opened("about:blank") as page:
        urls = []
        page.on("request", lambda request: urls.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_load_state("networkidle")
        assert {url for url in urls if not url.startswith("data:")} == {file.as_uri()}
        assert not page.faults


def test_tables_sort_on_a_click(file):
    """A click on a heading sorts by the numbers behind the cells, a second one the other way round."""
    with opened(file.as_uri()) as page:
        for table in page.locator("table").all():
            headings = table.locator("th")
            for column in range(headings.count()):
                values = []
                for order in ("ascending", "descending"):
                    headings.nth(column).locator("button").click()
                    assert headings.nth(column).get_attribute("aria-sort") == order
                    cells = table.locator(f"tbody tr td:nth-child({column + 1})")
                    values.append(cells.evaluate_all("all => all.map(cell => cell.dataset.value)"))
                up, down = ([float(v) for v in column_values if v is not None] for column_values in values)
                assert up == sorted(up)
                assert down == sorted(down, reverse=True)
        assert table.locator("th[aria-sort]").count() == 1
        assert not page.faults


def test_it_is_printed(file, tmp_path):
    """It prints to PDF, and a printed table is cut off on no side."""
    with opened(file.as_uri(), width=720) as page:
        page.emulate_media(media="print")
        wide = page.evaluate("[...document.querySelectorAll('table')].filter(t => t.scrollWidth > innerWidth).length")
        assert wide == 0
        page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_it_fits_the_screen(file):
    """Only the inside of a wide table has to be moved sideways."""
    with opened(file.as_uri()) as page:
        for width in (360, 500, 1200):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_can_be_read_without_seeing(file):
    """Pictures have descriptions, tables have captions, and the contrast of texts is sufficient."""
    with opened(file.as_uri()) as page:
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.locator("table").count() == page.locator("table > caption").count()
        assert all(len(image.get_attribute("alt")) > 40 for image in page.locator("img").all())
        assert page.locator("img").count() == 3
        assert min(page.evaluate(CONTRASTS)) >= 4.5


#: The contrast of each text with the nearest background behind it, as WCAG 2.1 defines it.
CONTRASTS = """() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
    return "rgb(255, 255, 255)";
  };
  const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.body.querySelectorAll("*")].filter((e) => own(e) && e.tagName !== "SCRIPT").map((element) => {
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""

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
    """No dialog opens, the console has no error, and the script of the page works."""
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


def test_labels_do_not_change_the_direction_of_a_sentence():
    """Controls of direction are escaped; right-to-left labels are isolated, in drawings, too."""
    table = pd.DataFrame(
        {HEBREW: ["a", "b", "a", "b"], "S": [OVERRIDE, HEBREW, OVERRIDE, f"x\x07{OVERRIDE}"], "B": [1, 1, 2, 2]}
    )
    release = mx.Release.from_buckets(table, qi=HEBREW, sa="S", bucket="B")
    post = mx.MaxEnt(release).add(mx.P(OVERRIDE, given={HEBREW: "a"}) >= 0.9).solve()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # fonts of drawings lack control characters
        html = mx.report({HEBREW: post, OVERRIDE: mx.MaxEnt(release).solve()}, threshold=0.5).html
    drawings = [base64.b64decode(data).decode() for data in re.findall(r"base64,([A-Za-z0-9+/=]{100,})", html)]
    assert drawings
    for text in (html, *drawings, post._repr_html_(), release._repr_html_(), mx.measures.exposed(post)._repr_html_()):
        assert not set(text) & set("\u202e\x07")
        assert text.count("\u2068") == text.count("\u2069")
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    bare = re.sub(r"<bdi>[^<]*</bdi>|\u2068[^\u2069]*\u2069", "", html)
    assert "\u05e9" not in bare, "everything of this direction is isolated"
    assert f"<bdi>{HEBREW}</bdi>" in html
