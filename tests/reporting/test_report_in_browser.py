"""A report in a browser: nothing is fetched or complained of, tables sort, it prints, and it fits a narrow screen."""

from __future__ import annotations

import re

import pytest

import maxent_cvx as mx
from support.browser import opened


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    hospital = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    knows = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) <= 0.4").solve()
    found = tmp_path_factory.mktemp("reports") / "report.html"
    mx.report({"alone": mx.MaxEnt(release).solve(), "medicine": knows}, found, attacks=["worst_case"])
    return found


def test_nothing_is_fetched(file):
    """The page asks for itself and for nothing else, and its console has no error."""
    with opened("about:blank") as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_load_state("networkidle")
        assert {url for url in asked if not url.startswith("data:")} == {file.as_uri()}
        assert not page.faults


def test_no_address_is_in_it(file):
    """Not even a link leads anywhere else."""
    html = re.sub(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", "", file.read_text(encoding="utf-8"))
    assert "//" not in re.sub(r"^\s*//.*$", "", html, flags=re.MULTILINE)


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
                up, down = ([float(value) for value in some if value is not None] for some in values)
                assert up == sorted(up)
                assert down == sorted(down, reverse=True)
        assert table.locator("th[aria-sort]").count() == 1
        assert not page.faults


def test_tables_sort_with_the_keyboard(file):
    """Headings are buttons, which the keyboard reaches."""
    with opened(file.as_uri()) as page:
        page.locator("th button").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("th").first.get_attribute("aria-sort") == "ascending"


def test_it_is_printed(file, tmp_path):
    """It prints to PDF, and a printed table is cut off on no side."""
    with opened(file.as_uri(), width=720) as page:
        page.emulate_media(media="print")
        wide = page.evaluate("[...document.querySelectorAll('table')].filter(t => t.scrollWidth > innerWidth).length")
        assert wide == 0
        page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("width", [360, 500, 1200])
def test_it_fits_the_screen(file, width):
    """Nothing but the inside of a wide table has to be moved sideways."""
    with opened(file.as_uri(), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_can_be_read_without_seeing(file):
    """Pictures have words, tables captions, regions names; and text stands out from what is behind it."""
    with opened(file.as_uri()) as page:
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.locator("table").count() == page.locator("table > caption").count()
        assert all(len(image.get_attribute("alt")) > 40 for image in page.locator("img").all())
        assert page.locator("img").count() == 3
        assert min(page.evaluate(CONTRASTS)) >= 4.5


def test_it_shows_itself_in_a_notebook(tmp_path):
    """In a frame, as notebooks show it, tables sort, and the table of contents leads to places in the frame."""
    release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    shown = mx.report(mx.MaxEnt(release).solve())._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{shown}", encoding="utf-8")
    with opened((tmp_path / "notebook.html").as_uri()) as page:
        frame = page.frame_locator("iframe")
        frame.locator("th button").first.click()
        assert frame.locator("th[aria-sort]").count() == 1
        frame.locator("nav a").last.click()
        assert frame.locator("#glossary h2").is_visible()
        assert frame.locator("html").evaluate("page => page.scrollTop") > 0
        assert page.url.endswith("notebook.html")
        assert not page.faults


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
