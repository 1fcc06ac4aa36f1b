"""A report says what the library says: the verdict, and every number."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.reporting.tables import SPACE, percent
from support.reports import read

MEDICINE = "P(Breast Cancer | Gender=male) = 0"
ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}


@pytest.fixture(scope="module")
def post():
    """What somebody infers of the hospital's patients who knows some medicine."""
    release = mx.Release.from_buckets(mx.datasets.load_hospital(), **ROLES)
    return mx.MaxEnt(release).add(MEDICINE, "P(Flu | Gender=male) <= 0.4").solve()


@pytest.fixture(scope="module")
def page(post):
    return read(mx.report(post, attacks=["worst_case", "definetti"], progress=False).html)


def numbers(rows, column):
    """The numbers behind a column."""
    return [row[column][1] for row in rows]


def test_the_answer_comes_first_and_the_glossary_last(page):
    """Whoever opens a report reads the answer, then what to change, then the evidence."""
    titles = [text for level, text in page.headings if level == 2]
    assert titles[:3] == ["The answer", "What to change", "Who is exposed"]
    assert titles[-1] == "Glossary"


def test_headings_are_in_order(page):
    """No level of headings is left out on the way down."""
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_verdict_is_that_of_the_library(page, post):
    """Grace, junior and female, is exposed to somebody who knows medicine, and nobody else is."""
    found = mx.measures.exposed(post, baseline="overall")
    assert found.people == 1
    assert "1 of 10 people is exposed" in page.text
    assert "1 person with Gender = female, Degree = junior has Disease = Breast Cancer" in page.text


def test_nobody_is_exposed_by_what_is_published_alone(release):
    """A release that discloses nothing is said to disclose nothing, to this adversary."""
    text = read(mx.report(mx.MaxEnt(release).solve()).html).text
    assert "Nobody of 10 people is exposed" in text
    assert "Nothing has to change for this adversary" in text


def test_exposed_people(page, post):
    """The table of exposed people has the probabilities, baselines and numbers of people of the measure."""
    who = mx.measures.exposed(post, baseline="overall").who
    rows = page.table("Groups of people who are exposed")
    assert [[text for text, _ in row[:3]] for row in rows] == [[*index, who["Disease"].iloc[0]] for index in who.index]
    assert numbers(rows, 3) == who["P"].to_list()
    assert numbers(rows, 4) == who["baseline"].to_list()
    assert numbers(rows, 5) == who["people"].to_list()


def test_everybody_by_tenths(page, post):
    """People are counted by their surest inference as the measure counts them."""
    expected = mx.measures.exposed(post, baseline="overall").histogram
    assert numbers(page.table("Everybody, by the probability"), 1) == expected.to_list()


def test_certainties_and_reasons(page, post):
    """What is certain is listed with its reasons, as the posterior gives them."""
    found = post.certain(progress=False)
    rows = page.table("Certain inferences")
    assert {row[0][0]: (row[1][1], row[2][1], row[3][0]) for row in rows} == {
        name: (row["probability"], row["people"], "; ".join(row["because"])) for name, row in found.iterrows()
    }


def test_intervals_beside_estimates(page, post):
    """Each interval and estimate is that of the model; those of a single point are counted."""
    bounds, conditional = post.model.bounds(progress=False), post.conditional()
    rows = page.table("Estimates, and the interval")
    is_open = bounds["high"] - bounds["low"] > 1e-6
    assert len(rows) == is_open.sum()
    assert f"Of {(~is_open).sum()} of {len(bounds)} probabilities only one value is possible" in page.text
    for (gender, _), (degree, _), (disease, _), (_, estimate), (words, _) in rows:
        low, high = bounds.loc[(gender, degree, disease), ["low", "high"]]
        assert estimate == conditional.loc[(gender, degree), disease]
        assert percent(low).replace(SPACE, " ") in words
        assert percent(high).replace(SPACE, " ") in words


def test_intervals_that_are_points():
    """Of groups whose shares are published nothing is open: no table is announced, and none of the shares is 0."""
    table = pd.DataFrame({"age": ["20-40"] * 3 + ["40-60"] * 3, "s": ["Flu", "HIV", "Cold", "Flu", "Cold", "Gout"]})
    post = mx.MaxEnt(mx.Release.from_generalized(table, qi="age", sa="s")).solve()
    page = read(mx.report(post, attacks=["worst_case"]).html)
    assert max(numbers(page.table("The worst case"), 1)) == 1.0
    assert "Of 6 of 6 probabilities only one value is possible (none of them is 0)." in page.text
    assert "mostly 0" not in page.text
    assert "in the eyes of somebody who knows more" not in page.text
    assert not [caption for caption in page.tables if caption.startswith("Estimates")]


def test_ties_prior_and_thresholds_in_words():
    """Who has a prior does not know nothing besides; of equal inferences none is the surest; 1/2 is not below 1/2."""
    table = pd.DataFrame({"q": list("abcd"), "s": ["x", "y", "x", "y"], "B": [1, 1, 2, 2]})
    release = mx.Release.from_buckets(table, qi="q", sa="s", bucket="B")
    prior = mx.QIDistribution(
        pd.DataFrame({"x": [0.9, 0.2, 0.9, 0.2], "y": [0.1, 0.8, 0.1, 0.8]}, index=list("abcd")).rename_axis("q")
    )
    post = mx.MaxEnt(release, prior=prior).solve()
    text = read(mx.report(post, threshold=0.5 + 2e-9).html).text.replace(SPACE, " ")
    assert "while its share among all people of the release is at most 50 %" in text
    assert "nothing besides" not in text
    assert "The surest inference" not in text
    assert "The release alone exposes them" not in text


def test_prices(page, post):
    """Prices are those of the posterior, by size, infinite ones as such."""
    prices = post.prices()
    rows = page.table("Prices of the statements")
    assert [row[0][0] for row in rows] == prices.index.to_list()
    assert numbers(rows, 2) == prices["price"].abs().to_list()


def test_every_statement_is_in_notation(release):
    """A statement under another name is shown in notation with its name; rows of one's own with their sides."""
    model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3, label="rumour")
    model.add(lambda space: space.conditional("s", given="q") <= 0.75, label="promise")
    model.add(mx.soft("P(HIV) = 0.2", sd=0.1))
    page = read(mx.report(model.solve()).html)
    rows = page.table("What the adversary is assumed to know")
    assert rows[0] == [("P(Flu | Gender=male) = 0.3", None), ("rumour", None)]
    assert len(rows) == model.form.shape[0] - model.form.n_facts
    assert all(text.startswith("promise") and text.endswith("<= 0.75") for (text, _), _ in rows[1:-1])
    assert rows[-1][0][0] == str(mx.soft("P(HIV) = 0.2", sd=0.1).label)


def test_what_is_published(page, release):
    """How many people have each value is published, and shown."""
    rows = page.table("How many people have which Disease")
    assert {row[0][0]: row[1][1] for row in rows} == dict(
        zip(release.sensitive_values, release.n_s.tolist(), strict=True)
    )


def test_attacks_that_were_asked_for(page, release):
    """The worst case is that of the attack; an attack that was not asked for has no section."""
    rows = page.table("The worst case")
    assert numbers(rows, 1) == mx.attacks.worst_case(release)["disclosure"].to_list()
    assert mx.attacks.definetti(release).sentence in page.text
    assert "Attacks" not in {text for _, text in read(mx.report(mx.MaxEnt(release).solve()).html).headings}


def test_the_certificate_in_words(page, post):
    """The bound of the certificate is in the page, as a number and in words."""
    rows = {row[0][0]: row[1][1] for row in page.table("The certificate")}
    assert rows["largest possible error of a probability"] == post.certificate.bound
    told = float(re.search(r"within (\S+) of the exact answer", page.text)[1])
    assert post.certificate.bound <= told <= 1.1 * post.certificate.bound


def test_merging_buckets_is_tried(page, release, hospital):
    """What merging two buckets is said to do is what it does."""
    assert "after merging bucket 2 with bucket 3, nobody would be exposed" in page.text
    merged = hospital.assign(Bucket=hospital["Bucket"].replace(2, 3))
    other = mx.Release.from_buckets(merged, **ROLES)
    again = mx.MaxEnt(other).add(MEDICINE, "P(Flu | Gender=male) <= 0.4").solve()
    assert mx.measures.exposed(again, baseline="overall").people == 0


def test_merging_does_not_help_where_knowledge_says_it_all(release):
    """Where the adversary knows somebody's value itself, no way of publishing helps, and none is advised."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=female, Degree=junior) = 1").solve()
    assert "Merging buckets does not help" in read(mx.report(post).html).text


def test_side_by_side(release):
    """Several answers stand beside each other under their names, with their key figures in one table."""
    alone = mx.MaxEnt(release).solve()
    knows = mx.MaxEnt(release).add(MEDICINE).solve()
    report = mx.report({"alone": alone, "medicine": knows})
    page = read(report.html)
    figures = {row[0][0]: (row[1][1], row[2][1]) for row in page.table("Side by side")}
    assert figures["people exposed"] == (0, 1)
    assert figures["largest probability that is inferred"] == tuple(
        p.conditional().max(axis=None) for p in (alone, knows)
    )
    assert figures["uncertainty that is left (entropy), nats"] == (alone.entropy, knows.entropy)
    assert figures["every probability proved to be within"] == (alone.certificate.bound, knows.certificate.bound)
    names = [text for level, text in page.headings if level == 3]
    assert names[:4] == ["alone", "medicine", "alone", "medicine"]
    assert {name: found.people for name, found in report.exposures.items()} == {"alone": 0, "medicine": 1}
    assert list(mx.report([alone, knows]).exposures) == ["Variant 1", "Variant 2"]


def test_long_tables_are_cut_and_say_so(post):
    """A table with more rows than are shown says how many there are."""
    page = read(mx.report(post, rows=2).html)
    bounds = post.model.bounds(progress=False)
    n = (bounds["high"] - bounds["low"] > 1e-6).sum()
    assert len(page.table("Estimates, and the interval")) == 2
    assert f"Shown are 2 of {n} rows, the largest estimates." in page.text


def test_a_large_release_makes_a_small_page():
    """Of Adult's 14,210 people the page is small: tables are cut, and say so; statements are all there."""
    adult = mx.datasets.load_adult().head(14_210)
    release = mx.anonymize.anatomy(adult, qi=list(mx.datasets.ADULT_QI), sa="education", l=5, exempt=2, seed=0)
    post = mx.MaxEnt(release).add(mx.StrongestAssociations(adult, 5, 5)).solve()
    html = mx.report(post, original=adult).html
    assert len(html) < 500_000
    page = read(html)
    assert len(page.table("What the adversary is assumed to know")) == 10
    assert re.search(r"Shown are 25 of 1\d,\d{3} rows, the largest estimates", page.text)


def test_no_original_record_unless_asked(post, hospital):
    """Records are measured by and not shown; asked for, those of exposed groups are, with what is true of them."""
    named = hospital.assign(Note="confidential")
    report = mx.report(post, original=named)
    assert "confidential" not in report.html
    assert "Original records of exposed" not in report.html
    (row,) = read(mx.report(post, original=named, records=True).html).table("Original records of exposed groups")
    assert [text for text, _ in row] == ["6", "female", "junior", "Breast Cancer", "Breast Cancer", "yes"]


def test_risk_and_utility(post, hospital):
    """What users of disclosure control expect is there, as the measures say it; utility needs the original."""
    page = read(mx.report(post, original=hospital, population=100).html)
    expected = mx.measures.risk_utility(post, hospital, population=100)["value"]
    for kind, caption in (("re-identification risk", "Risks of being recognised"), ("utility", "What readers lose")):
        rows = page.table(caption)
        assert [row[0][0] for row in rows] == expected[kind].index.to_list()
        assert numbers(rows, 1) == pytest.approx(expected[kind].to_list(), abs=1e-9)
    assert "original records, which were not given" in read(mx.report(post).html).text


def test_where_the_data_are_from(post):
    """What readers should know of the data is in it, with the versions, the threshold and the seed."""
    page = read(mx.report(post, threshold=0.6, about={"source": "ward 3", "seed": 17}).html)
    said = {row[0][0]: row[1][0] for row in page.table("What this report was made of")}
    assert (said["source"], said["seed"], said["threshold of exposure"]) == ("ward 3", "17", "at least 60 %")
    assert said["numpy"] == np.__version__
    assert said["pandas"] == pd.__version__


def test_the_values_that_count(release):
    """Only the sensitive values count, and the verdict says so; what is certain besides is warned of."""
    post = mx.MaxEnt(release).add(MEDICINE).solve()
    report = mx.report(post, sensitive=["HIV"])
    assert report.exposures[""].people == 0
    (warning,) = mx.measures.exposed(post, sensitive=["HIV"], baseline="overall").warnings
    assert warning in read(report.html).text


def test_what_everybody_has_anyway_is_not_counted():
    """Of two thousand people most are not ill, and that this is inferred of them exposes nobody; it is said."""
    rng = np.random.default_rng(1)
    n = 2_000
    ill = rng.choice(["yes", "no"], n, p=[0.16, 0.84])
    people = pd.DataFrame({"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "ill": ill})
    post = mx.MaxEnt(mx.anonymize.anatomy(people, qi=["age", "sex"], sa="ill", l=2, exempt=1, seed=0)).solve()
    text = read(mx.report(post).html).text
    likely = mx.measures.exposed(post).people
    assert likely > n / 2
    assert "Nobody of 2,000 people is exposed" in text
    assert f"ill = no, which is inferred as surely of {likely} people" in text


def test_an_answer_that_is_not_certified(release):
    """An answer that nothing is proved of is no verdict."""
    post = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.31").solve(time_limit=0, allow_inaccurate=True)
    assert not post.certificate.holds
    text = read(mx.report(post).html).text
    assert "The answer is not certified" in text


def test_probabilities_are_not_rounded_to_certainties():
    """Only 0 and 1 are written as such."""
    assert [percent(p).replace(SPACE, " ") for p in (0.0, 1e-4, 0.0996, 0.9996, 1.0)] == [
        "0 %", "below 0.1 %", "10 %", "over 99.9 %", "100 %",
    ]  # fmt: skip
    assert percent(1 - 1e-7, exact=1e-6) == percent(1.0)
