"""Draw report.png, the first screen of a report; run by hand, with tests on the path, as it needs Chromium."""

from __future__ import annotations

import tempfile
from pathlib import Path

import maxent_cvx as mx
from support.browser import opened

hospital = mx.datasets.load_hospital()
release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
with tempfile.TemporaryDirectory() as folder:
    page_file = Path(folder, "report.html")
    mx.report(post, page_file, original=hospital, about={"source": "ward 3, 2024"})
    with opened(page_file.as_uri(), width=860, height=920) as page:
        page.screenshot(path=Path(__file__).with_name("report.png"))
