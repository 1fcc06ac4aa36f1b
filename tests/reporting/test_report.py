"""The report has the numbers of the library, and a reason where something is missing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.releases.partitioned import divided
from maxent_cvx.reporting.data import ReportData, Settings
from maxent_cvx.reporting.tables import SPACE, from_on, interval_tables, percent
from support.reports import read
from support.series import patients

MEDICINE = "P(Breast Cancer | Gender=male) = 0"

ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}


@pytest.fixture(scope="module")
def page(post):
    return read(mx.report(post, attacks=["worst_case", "definetti"], progress=False).html)


def numbers(rows, column):
    """The numbers behind a column."""
    return [row[column][1] for row in rows]


def test_the_verdict_is_that_of_the_library(page, post):
    """Grace, junior and female, is exposed to an adversary who knows medicine; all tables are those of the measure."""
    exposure = mx.measures.exposed(post, baseline="overall")
    assert exposure.people == 1
    assert "1 of 10 people is exposed" in page.text
    assert "1 person with Gender = female, Degree = junior has Disease = Breast Cancer" in page.text
    rows, who = page.table("Exposed groups"), exposure.who
    assert [[text for text, _ in row[:3]] for row in rows] == [[*index, who["Disease"].iloc[0]] for index in who.index]
    for i, column in enumerate(["P", "baseline", "people"], 3):
        assert numbers(rows, i) == who[column].to_list()
    assert numbers(page.table("All people, by the largest probability"), 1) == exposure.histogram.to_list()


def test_certainties_and_reasons(page, post):
    """Certain inferences are listed with their reasons, as the posterior gives them."""
    certain = post.certain(progress=False)
    rows = page.table("Certain inferences")
    assert {row[0][0]: (row[1][1], row[2][1], row[3][0]) for row in rows} == {
        name: (row["probability"], row["people"], "; ".join(row["because"])) for name, row in certain.iterrows()
    }


def test_intervals_beside_estimates(page, post):
    """Each interval and estimate is that of the model; those of a single point are counted."""
    bounds, conditional = post.model.bounds(progress=False), post.conditional()
    rows = page.table("Estimates and their intervals")
    is_open = bounds["high"] - bounds["low"] > 1e-6
    assert len(rows) == is_open.sum()
    assert f"{(~is_open).sum()} of {len(bounds)} probabilities have only one possible value" in page.text
    for (gender, _), (degree, _), (disease, _), (_, estimate), (words, _) in rows:
        low, high = bounds.loc[(gender, degree, disease), ["low", "high"]]
        assert estimate == conditional.loc[(gender, degree), disease]
        assert percent(low).replace(SPACE, " ") in words
        assert percent(high).replace(SPACE, " ") in words


def test_close_values_are_certain_together():
    """Three people have 100, 101 and 102 in some order: nobody's value is certain, but all are within 2 of it."""
    table = pd.DataFrame({"g": [1, 1, 1, 2, 2, 2], "pay": [100, 101, 102, 0, 50, 200]})
    post = mx.MaxEnt(mx.Release.from_buckets(table.assign(b=table["g"]), qi="g", sa="pay", bucket="b")).solve()
    for within, n in ((2.0, 3), (0.0, 0)):  # each has P = 1/3, and the others differ by 50
        data = ReportData("", post, Settings(within=within))
        counts = interval_tables(data, data.intervals.value)
        assert (counts["certain"], counts["possible"], data.exposure.people) == (n, n, n)


def test_prices(page, post):
    """Prices are those of the posterior, by size, infinite ones as such."""
    prices = post.prices()
    rows = page.table("Prices of the statements")
    assert [row[0][0] for row in rows] == prices.index.to_list()
    assert numbers(rows, 2) == prices["price"].abs().to_list()


def test_every_statement_is_in_notation(release):
    """A statement under another name is shown in notation with its name; rows of a function with their sides."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3, label="rumour")
    model.add(lambda space: space.conditional("s", given="q") <= 0.75, label="promise")
    model.add(mx.soft("P(HIV) = 0.2", sd=0.1))
    page = read(mx.report(model.solve()).html)
    rows = page.table("Assumed knowledge of the adversary")
    assert rows[0] == [("P(Flu | Gender=male) = 0.3", None), ("rumour", None)]
    assert len(rows) == model.form.shape[0] - model.form.n_facts
    assert all(text.startswith("promise") and text.endswith("<= 0.75") for (text, _), _ in rows[1:-1])
    assert rows[-1][0][0] == str(mx.soft("P(HIV) = 0.2", sd=0.1).label)


def test_requested_attacks(page, release):
    """The worst case is that of the attack; without requested attacks there is no section."""
    rows = page.table("The worst case")
    assert numbers(rows, 1) == mx.attacks.worst_case(release)["disclosure"].to_list()
    assert "person 1 of bucket 1 does not have Breast Cancer" in page.text
    assert "These probabilities are often too large" in page.text
    assert "Attacks" not in {text for _, text in read(mx.report(mx.MaxEnt(release).solve()).html).headings}


def test_an_attack_without_a_result(post):
    """A function that returns nothing is a failed attack, with a reason."""
    text = read(mx.report(post, attacks={"mine": lambda release: None}, progress=False).html).text
    assert re.search(r"This attack failed: \w", text)


def test_worst_cases_of_combinations_are_written_in_words(two_attributes):
    """Values of several attributes, which cannot be typed in a sentence, are written as elsewhere in the report."""
    rows = read(mx.report(two_attributes[0], attacks=["worst_case"], time_limit=1).html).table("The worst case")
    assert re.fullmatch(r"person \d+ of bucket \d+ does not have \d, \d", rows[1][-1][0])


def test_attacks_are_judged_by_the_original_records(post, hospital):
    """An attack may be too certain: where the truth is known, the report says how often it is right."""
    text = read(mx.report(post, original=hospital, attacks=["definetti"], language="de").html).text.replace(SPACE, " ")
    right = percent(mx.attacks.definetti(post.view).judge(hospital).right).replace(SPACE, " ").replace(".", ",")
    assert f"Nach den Originaldaten stimmt er bei {right} von ihnen" in text
    assert "deFinetti attack of" not in text


def test_merging_buckets_is_tried(page, hospital):
    """Nobody is exposed by the release whose buckets are merged as the report advises."""
    assert "Merge buckets: 2 and 3 together. This was tried: nobody would be exposed" in page.text
    merged = mx.Release.from_buckets(hospital.assign(Bucket=hospital["Bucket"].replace(2, 3)), **ROLES)
    post = mx.MaxEnt(merged).add(MEDICINE, "P(Flu | Gender=male) <= 0.4").solve()
    assert mx.measures.exposed(post, baseline="overall").people == 0


def test_merged_groups_of_two_attributes_are_told_apart():
    """A comma between attributes differs from one between groups, and no more than three of many sets are named."""
    table = pd.DataFrame({"age": range(20), "sex": ["f", "m"] * 10, "disease": list("abcde") * 4})
    table["bucket"] = table["age"]
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi=["age", "sex"], sa="disease", bucket="bucket")).solve()
    advice = read(mx.report(post, threshold=0.9).html).text.partition("Merge buckets: ")[2].partition(". This was")[0]
    assert advice.count("together") == 3
    assert re.search(r"^(\(age = \d+, sex = [fm]\)(, | and | together; | together, and 7 more$))+$", advice)


def test_days_are_written_as_in_statements():
    """A day has no time, in a sentence as in a table."""
    table = pd.DataFrame({"day": pd.to_datetime(["2024-01-05", "2024-01-06"] * 3), "s": list("AABABB"), "bucket": 1})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="day", sa="s", bucket="bucket"))
    html = mx.report(model.add("P(A | day=2024-01-05) = 1").solve(), threshold=0.9).html
    assert "day = 2024-01-05" in read(html).text
    assert "00:00" not in html


def test_named_people_are_called_by_name(release):
    """A person whom the adversary knows is named, not counted as "1 person with" the name."""
    people = {"Grace": {"Gender": "female", "Degree": "junior"}}
    model = mx.MaxEnt(release, people=people).add("P(Breast Cancer | Grace) = 1")
    text = read(mx.report(model.solve()).html).text
    assert "Grace (Gender = female, Degree = junior) has Disease = Breast Cancer with a probability of 100" in text
    assert "of all people have this value" in text


def test_a_file_of_a_hierarchy_is_called_by_its_name(release, tmp_path):
    """The page does not name the folder of the file."""
    file = tmp_path / "groups.csv"
    file.write_text("Flu;lung;*\nPneumonia;lung;*\nBreast Cancer;cancer;*\nHIV;other;*\nLung Cancer;cancer;*\n")
    page = read(mx.report(mx.MaxEnt(release).solve(), within=file).html)
    settings = {item: value for (item, _), (value, _) in page.table("Settings and versions")}
    assert settings["values that count as equal"] == "within groups.csv"


def test_what_a_population_implies_follows_from_the_release_alone():
    """Published counts are not among the statements, so a report does not give them as reasons."""
    table = pd.DataFrame({"Age": ["[20, 40]", "[20, 40]", "*"], "Disease": ["Flu", "Gout", "HIV"]})
    population = pd.DataFrame({"Age": [25, 30, 70]})
    release = mx.Release.from_generalized(table, qi="Age", sa="Disease", population=population)
    names = population.set_axis(["Ann", "Bob", "Gus"])
    page = read(mx.report(mx.MaxEnt(release, people=names).solve()).html)
    assert {row[-1][0] for row in page.table("Certain inferences")} == {"the release alone"}


def test_merging_does_not_help_where_knowledge_says_it_all(release):
    """If the adversary knows somebody's value itself, no way of publishing helps, and none is advised."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=female, Degree=junior) = 1").solve()
    assert "Merging buckets does not help" in read(mx.report(post).html).text


def test_a_bucket_of_all_people_may_be_too_large(release, monkeypatch):
    """The page states why merging buckets was not tried, and contains all other sections."""
    monkeypatch.setattr("maxent_cvx.reporting.report.LARGEST_MERGED", 20)
    post = mx.MaxEnt(release).add(MEDICINE).solve()
    assert (
        "Merging buckets could not be tried: a bucket of all people would have 30 terms"
        in read(mx.report(post).html).text
    )


@pytest.fixture(scope="module")
def two_attributes():
    """The posterior of 200 people with two sensitive attributes, and their records."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, [4, 3, 4, 6, 2], (200, 5)), columns=["a", "b", "c", "disease", "job"])
    roles = {"qi": ["a", "b", "c"], "sa": ["disease", "job"]}
    table["bucket"] = mx.anonymize.anatomy_buckets(table, **roles, l=4)
    return mx.MaxEnt(mx.Release.from_buckets(table, **roles, bucket="bucket")).solve(), table


def test_side_by_side(release):
    """The key figures of several answers are in one table, under their names."""
    alone, knows = mx.MaxEnt(release).solve(), mx.MaxEnt(release).add(MEDICINE).solve()
    report = mx.report({"alone": alone, "medicine": knows})
    page = read(report.html)
    figures = {row[0][0]: (row[1][1], row[2][1]) for row in page.table("Side by side")}
    assert figures["people exposed"] == (0, 1)
    assert figures["largest inferred probability"] == tuple(p.conditional().max(axis=None) for p in (alone, knows))
    assert figures["remaining uncertainty (entropy), nats"] == (alone.entropy, knows.entropy)
    assert figures["certified error of every probability"] == (alone.certificate.bound, knows.certificate.bound)
    names = [text for level, text in page.headings if level == 3]
    assert names[:4] == ["alone", "medicine", "alone", "medicine"]
    assert {name: exposure.people for name, exposure in report.exposures.items()} == {"alone": 0, "medicine": 1}
    assert list(mx.report([alone, knows]).exposures) == ["Variant 1", "Variant 2"]


def test_long_labels_are_shortened_in_tables(hospital):
    """A table shows a distinct part of a label of 300 characters, and the page contains all of it."""
    long = {value: f"{'a word of a label ' * 20}{value}"[-300:] for value in hospital["Disease"].unique()}
    release = mx.Release.from_buckets(hospital.replace({"Disease": long}), **ROLES)
    html = mx.report(mx.MaxEnt(release).solve(), progress=False).html
    shown = [row[0][0] for row in read(html).table("Published number of people with each Disease")]
    assert len(set(shown)) == len(long)
    assert max(map(len, shown)) < 100
    assert all(f'title="{label}"' in html for label in long.values())


def test_no_original_record_unless_requested(post, hospital):
    """Original records are used for measures; on request those of exposed groups are shown, with their values."""
    named = hospital.assign(Note="confidential")
    report = mx.report(post, original=named)
    assert "confidential" not in report.html
    assert "Original records of exposed" not in report.html
    (row,) = read(mx.report(post, original=named, records=True).html).table("Original records of exposed groups")
    assert [text for text, _ in row] == ["6", "female", "junior", "Breast Cancer", "Breast Cancer", "yes"]


def test_risk_and_utility(post, hospital):
    """Re-identification risks and loss of information are those of the measures; utility needs the original."""
    page = read(mx.report(post, original=hospital, population=100).html)
    expected = mx.measures.risk_utility(post, hospital, population=100)["value"]
    for kind, caption in (("re-identification risk", "Re-identification risks"), ("utility", "Loss of information")):
        rows = page.table(caption)
        assert [row[0][0] for row in rows] == expected[kind].index.to_list()
        assert numbers(rows, 1) == pytest.approx(expected[kind].to_list(), abs=1e-9)
    assert "original records, which were not given" in read(mx.report(post).html).text


def test_sensitive_values(post):
    """Only the sensitive values count; a warning names the other certain values."""
    report = mx.report(post, sensitive=["HIV"])
    assert report.exposures[""].people == 0
    (warning,) = mx.measures.exposed(post, sensitive=["HIV"], baseline="overall").warnings
    assert warning in read(report.html).text


def test_an_interval_of_sensitive_numbers_is_that_of_its_values():
    """The intervals of the estimates are about these values, too."""
    table = pd.DataFrame({"sex": list("mfmfmf"), "pay": [1, 2, 3, 1, 2, 3], "ward": [0, 0, 0, 1, 1, 1]})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="sex", sa="pay", bucket="ward")).solve()
    chosen = [pd.Interval(1, 2, closed="both"), [1, 2]]
    pages = [mx.report(post, sensitive=values, within=0).html for values in chosen]
    interval, listed = (page.partition('<section id="intervals">')[2].partition("</section>")[0] for page in pages)
    assert interval == listed != ""


def test_an_answer_that_is_not_certified(release):
    """The report says that there is no certificate."""
    post = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.31").solve(time_limit=0, allow_inaccurate=True)
    assert not post.certificate.holds
    assert "The answer is not certified" in read(mx.report(post).html).text


def test_probabilities_are_not_rounded_to_certainties():
    """Only 0 and 1 are written as 0 % and 100 %; a threshold has all its digits."""
    assert [percent(p).replace(SPACE, " ") for p in (0.0, 1e-4, 0.0996, 0.9996, 1.0)] == [
        "0 %", "below 0.1 %", "10 %", "over 99.9 %", "100 %",
    ]  # fmt: skip
    assert percent(1 - 1e-7, exact=1e-6) == percent(1.0)
    assert from_on(0.99951).replace(SPACE, " ") == "at least 99.951 %"


def test_an_answer_from_a_file(release, tmp_path):
    """A file does not contain the knowledge: there are no statements, intervals, prices, certainties, nor utility."""
    mx.MaxEnt(release).add(MEDICINE).solve().save(tmp_path / "post.parquet")
    page = read(mx.report(mx.load_posterior(tmp_path / "post.parquet")).html)
    assert page.text.count("Not in this report.") == 5
    assert "1 of 10 people is exposed" in page.text


def test_a_release_in_partitions(release):
    """Certainties and intervals are for releases in memory only; the verdict and the prices are there."""
    post = mx.MaxEnt(divided(release, 2)).add(MEDICINE).solve()
    page = read(mx.report(post).html)
    assert "this release is in partitions" in page.text
    assert "1 of 10 people is exposed" in page.text
    assert [row[0][0] for row in page.table("Prices of the statements")] == [MEDICINE]


def test_a_series_and_a_population():
    """A series of releases has a report, and so have records of some people of a population."""
    post = mx.MaxEnt(patients()).solve()
    assert f"{mx.measures.exposed(post).people} of 15 people" in read(mx.report(post).html).text
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
    voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    release = mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)
    page = read(mx.report(mx.MaxEnt(release).solve()).html)
    assert "4 people with their exact Age" in page.text
    assert "(not in the release)" not in [row[-3][0] for row in page.table("Estimates")]


def test_a_published_table_as_view():
    """A view without records is described by what it publishes."""
    cells = [("North", "Flu", "<5"), ("North", "Cold", 20), ("North", "*", 22)]
    table = mx.PublishedTable(pd.DataFrame(cells, columns=["Region", "Disease", "n"]))
    model = mx.MaxEnt(table.to_view(sa="Disease")).add(table)
    assert "No record with a Disease is published" in read(mx.report(model.solve()).html).text


def test_time_limit(release):
    """A section that takes longer than the limit says so."""
    post = mx.MaxEnt(release).add(MEDICINE).solve()
    page = read(mx.report(post, time_limit=0.0).html)
    assert "Intervals are not available: not decided in 0 seconds" in page.text


def test_a_convex_constraint(release):
    """A convex constraint is listed, has a price, and restricts the intervals."""
    import cvxpy as cp

    model = mx.MaxEnt(release)
    model.add(cp.sum_squares(model.space.p) <= 0.9)
    page = read(mx.report(model.solve()).html)
    assert "Prices are not available" not in page.text
    assert "Intervals are not available" not in page.text
    assert len(page.table("Assumed knowledge of the adversary")) == 1


def test_wrong_arguments(release, tmp_path):
    """Wrong arguments raise typed errors, and no file is written."""
    for error, change in (
        (mx.StatementError, {"posts": [1]}),
        (mx.StatementError, {"posts": []}),
        (mx.StatementError, {"attacks": ["definneti"]}),
        (mx.StatementError, {"records": True}),
        (mx.StatementError, {"language": "xx"}),
        (mx.BadProbability, {"threshold": 2}),
        (mx.UnknownName, {"sensitive": ["Fluu"]}),
        (mx.TableError, {"path": tmp_path / "nowhere" / "report.html"}),
    ):
        with pytest.raises(error):
            mx.report(**{"posts": mx.MaxEnt(release).solve(), "path": tmp_path / "report.html", **change})
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


def test_if_one_in_ten_knows(page, post):
    """The page has the expected number of exposed people if each statement is known with a probability of 0.1."""
    known = dict.fromkeys(post.model.knowledge, 0.1)
    result = mx.uncertain(post.model, known, baseline="overall")
    assert 0 < result.expected < 1
    assert f"{result.expected:.2g} people are exposed on average" in page.text


def test_one_in_ten_who_knows_several_statements_together(post, hospital):
    """A source of several statements is known as a whole, so the page has no figure for independent statements."""
    model = mx.MaxEnt(post.view).add(mx.StrongestAssociations(hospital, 1, 3, min_support=2))
    assert "one in ten" not in read(mx.report(model.solve(), progress=False).html).text


def test_large_averages_are_written_as_people_do(hospital):
    """An average of hundreds of people has no power of ten."""
    release = mx.Release.from_buckets(pd.concat([hospital] * 200), **ROLES)
    html = mx.report(mx.MaxEnt(release).add(MEDICINE).solve(), threshold=0.4, language="de", progress=False).html
    assert "sind im Mittel 520 Personen gefährdet" in read(html).text


def test_exposed_without_the_statements():
    """The release exposes all 8 people. Of four, an adversary who knows a statement infers another value."""
    table = pd.DataFrame({"q": list("aaaabbbb"), "s": ["Flu"] * 5 + ["HIV"] * 3, "bucket": 1})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket"))
    assert mx.measures.exposed(model.solve(), 0.6).people == 8
    post = model.add("P(HIV | q=a) = 0.75").solve()
    assert "exposes 4 of them by the same value" in read(mx.report(post, threshold=0.6, baseline=None).html).text


def test_buckets_of_cells_have_their_whole_names():
    """Two buckets that differ in the middle of a long name have different names in the advice and in the worst case."""
    exact = pd.DataFrame({"weight in kg": [51, 59, 61, 69] * 2, "department": "Internal medicine and cardiology"})
    cells = exact.assign(**{"weight in kg": ["50-59", "50-59", "60-69", "60-69"] * 2}, dx=list("AAABAABC"))
    release = mx.Release.from_generalized(cells, qi=[*exact], sa="dx", population=exact)
    page = read(mx.report(mx.MaxEnt(release).solve(), threshold=0.9, attacks=["worst_case"]).html)
    names = [f"weight in kg={weight}, department=Internal medicine and cardiology" for weight in ("50-59", "60-69")]
    assert f"Merge buckets: {names[0]} and {names[1]} together" in page.text
    assert page.table("The worst case")[0][2][0] == f"person 1 of bucket {names[0]}"
