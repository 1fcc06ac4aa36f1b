"""What cannot be given is said, and why; the rest of the report is there."""

from __future__ import annotations

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused
from support.reports import read


def test_an_answer_from_a_file(release, tmp_path):
    """A file does not hold what was known: no statements, intervals, prices or certainties; and no utility here."""
    mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve().save(tmp_path / "post.parquet")
    page = read(mx.report(mx.load_posterior(tmp_path / "post.parquet")).html)
    assert page.text.count("Not in this report.") == 5
    assert "1 of 10 people is exposed" in page.text


def test_a_release_in_partitions(release):
    """Certainties and intervals are worked out in memory only; the verdict and the prices are there."""
    post = mx.MaxEnt(divided(release, 2)).add("P(Breast Cancer | Gender=male) = 0").solve()
    page = read(mx.report(post).html)
    assert "this one is in partitions" in page.text
    assert "1 of 10 people is exposed" in page.text
    assert [row[0][0] for row in page.table("Prices of the statements")] == ["P(Breast Cancer | Gender=male) = 0"]


def test_a_table_of_quasi_identifiers(hospital):
    """Where the overall distribution is not published, whoever's value is likely counts, and that is said."""
    view = mx.QITable(hospital, qi=["Gender", "Degree"], sa="Disease", sa_values=["Flu", "HIV"])
    page = read(mx.report(mx.MaxEnt(view).add(P("Flu", given={"Gender": "male"}) == 0.9).solve()).html)
    assert "6 of 10 people are exposed" in page.text
    assert "How many people have it anyway is not published" in page.text
    assert "Which Disease is not published" not in page.text


def test_a_series_and_a_population():
    """Releases of the same people, and records of some people of a population, are reported alike."""
    tables = mx.datasets.load_patients()
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(table, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for table in tables
    )
    told = mx.MaxEnt(series).solve()
    page = read(mx.report(told).html)
    assert f"{mx.measures.exposed(told).people} of 15 people" in page.text
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
    voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    release = mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)
    page = read(mx.report(mx.MaxEnt(release).solve()).html)
    assert "4 people with their exact Age" in page.text
    assert "(not in the release)" not in [row[-3][0] for row in page.table("Estimates")]


def test_several_sensitive_attributes(hospital):
    """Combinations of values are written with commas."""
    release = mx.Release.from_buckets(hospital, qi="Gender", sa=["Degree", "Disease"], bucket="Bucket")
    page = read(mx.report(mx.MaxEnt(release).solve()).html)
    assert "college, Flu" in {row[0][0] for row in page.table("How many people have which Degree, Disease")}


def test_a_view_of_ones_own():
    """A view that nobody here knows is described by what it publishes."""
    cells = [("North", "Flu", "<5"), ("North", "Cold", 20), ("North", "*", 22)]
    table = mx.PublishedTable(pd.DataFrame(cells, columns=["Region", "Disease", "n"]))
    model = mx.MaxEnt(table.to_view(sa="Disease")).add(table)
    assert "What is published" in read(mx.report(model.solve()).html).text


def test_time_that_is_over(release):
    """Questions that take longer than the limit are said to be open."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    page = read(mx.report(post, time_limit=0.0).html)
    assert "Intervals are not given: not decided in 0 seconds" in page.text


def test_an_attack_that_fails(release):
    """An attack that cannot be made on such a release says why."""
    first, *_ = mx.datasets.load_patients()
    told = mx.Release.from_buckets(first, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
    page = read(mx.report(mx.MaxEnt(told).solve(), attacks=["worst_case"]).html)
    assert "This attack could not be made" in page.text


def test_a_convex_constraint(release):
    """Prices and intervals are of linear knowledge: with a convex constraint both are missing, and it is listed."""
    import cvxpy as cp

    model = mx.MaxEnt(release)
    model.add(cp.sum_squares(model.space.p) <= 0.9)
    page = read(mx.report(model.solve()).html)
    assert "Prices are not given" in page.text
    assert "Intervals are not given" in page.text
    assert len(page.table("What the adversary is assumed to know")) == 1


def test_wrong_arguments(release, tmp_path):
    """What is no posterior, no attack or no file is refused before any work, and no file is written."""
    post = mx.MaxEnt(release).solve()
    file = tmp_path / "report.html"
    for error, says, call in (
        (mx.StatementError, "must be a Posterior or a PartitionedPosterior", lambda: mx.report([1], file)),
        (mx.StatementError, "there is no answer to report", lambda: mx.report([], file)),
        (mx.StatementError, "did you mean 'definetti'", lambda: mx.report(post, file, attacks=["definneti"])),
        (mx.StatementError, "original=table", lambda: mx.report(post, file, records=True)),
        (mx.BadProbability, "threshold=2", lambda: mx.report(post, file, threshold=2)),
        (mx.UnknownName, "Fluu", lambda: mx.report(post, file, sensitive=["Fluu"])),
        (mx.TableError, "cannot write", lambda: mx.report(post, tmp_path / "nowhere" / "report.html")),
    ):
        with refused(error, says):
            call()
    assert not list(tmp_path.iterdir())


def test_the_file_is_whole_or_as_it_was(release, tmp_path, monkeypatch):
    """An error while it is written leaves the earlier report as it was."""
    report, file = mx.report(mx.MaxEnt(release).solve()), tmp_path / "report.html"
    report.save(file)
    before = file.read_bytes()
    assert before.decode() == report.html

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("maxent_cvx._utils.files._to_disk", full)
    with pytest.raises(mx.TableError, match="No space left"):
        mx.report(mx.MaxEnt(release).add("P(HIV | Gender=male) <= 0.1").solve(), file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
