"""``maxent-cvx publish``: whatever the method, what is written discloses no links, and the printed command reads it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from support.commands import printed_command, write_text

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


def entropy(release: mx.View, *known: mx.Source) -> float:
    return mx.MaxEnt(release).add(*known).solve().entropy


@pytest.mark.parametrize(
    "method",
    [
        ["--l", "2"],
        ["--method", "mondrian", "--k", "5"],
        ["--method", "rules", "--support", "0.05", "--confidence", "0.3"],
        ["--method", "search", "--threshold", "0.7", "--loss", "discernibility"],
        ["--method", "search", "--threshold", "0.7", "--methods", "full-domain,mondrian"],
    ],
    ids=" ".join,
)
def test_the_verdict_is_that_of_the_printed_command(people, run, method):
    """Publish prints who is exposed by its file, as quantify does."""
    people.to_csv("people.csv", index=False)
    text = run("publish", "people.csv", "--qi", "Alter,PLZ", "--sa", "Krankheit", *method, "--out", "open")
    verdict = next(line for line in text.splitlines() if "people exposed" in line or "people (" in line)
    assert verdict.split(": ", 1)[1] in run(*printed_command(text, "Read them back:"))


def test_a_threshold_is_printed_with_all_its_digits(run):
    """Everybody's P is 1/3, which is below 0.33333334, but not below 0.333333."""
    write_text("six.csv", "age,ill\n20,a\n20,b\n20,c\n30,d\n30,e\n30,f\n")
    search = ["--method", "search", "--methods", "full-domain", "--threshold", "0.33333334", "--out", "open"]
    text = run("publish", "six.csv", "--qi", "age", "--sa", "ill", *search)
    for verdict in (text, run(*printed_command(text, "Read them back:"))):
        assert "0 of 6 people" in verdict
        assert "0.33333334" in verdict


@pytest.mark.parametrize("qi", ["age", "x|y"])
def test_rules_about_negative_values(published, qi):
    """The printed command gives a list of values that begins with a minus sign as one argument, and any name of a column."""
    write_text("cold.csv", f"{qi},degrees\n30,-1\n30,2\n40,-1\n40,0\n")
    rules = ["--method", "rules", "--support", "0.2", "--confidence", "0.4"]
    result = published("cold.csv", "--qi", qi, "--sa", "degrees", *rules, "--out", "open")
    assert result["release"]["records"] == 4


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (("people", "ill", "id"), ["--l", "2"]),
        (("age", "P", "id"), ["--method", "mondrian", "--k", "2"]),
        (("baseline", "ill", "id"), ["--method", "rules", "--support", "0.2", "--confidence", "0.4"]),
        (
            ("age", "ill", "P"),
            [
                "--method", "republish", "--id", "P", "--l", "2", "--bucket", "Bucket", "--before", "one_qi.csv",
                "--before-sa", "one_sa.csv", "--before-count", "Count", "--strategy", "m_invariant",
            ],
        ),
    ],
    ids=["qi", "sensitive", "baseline", "pseudonym of a series"],
)  # fmt: skip
def test_nothing_is_written_if_the_release_cannot_be_judged(names, more, run, refuse, folder):
    """Columns with the name of a column of the exposed groups are refused while an older release is unchanged."""
    qi, sa, pseudonym = names
    write_text("people.csv", f"{qi},{sa},{pseudonym}\na,flu,1\na,HIV,2\nb,flu,3\nb,cold,4\n")
    if "--id" in more:
        run("publish", "people.csv", "--qi", qi, "--sa", sa, "--id", pseudonym, "--l", "2", "--out", "one")
    for ending in ("", "_qi", "_sa", "_rules"):
        write_text(f"open{ending}.csv", "older")
    assert "rename it" in refuse("publish", "people.csv", "--qi", qi, "--sa", sa, *more, "--out", "open")
    assert {path.read_text() for path in folder.glob("open*.csv")} == {"older"}


@pytest.mark.parametrize("k", [2, 4])
def test_texts_that_look_generalised_stay_values(published, k):
    """A value that is written like a range, a set or a mask is read as the value that it is."""
    odd = ["20-29", "a,b", "x*", '{"q"}', "[1, 2)", "it's"]
    table = pd.DataFrame({"Code": [value for value in odd for _ in range(2)], "Ill": ["yes", "no"] * len(odd)})
    table.to_csv("odd.csv", index=False)
    result = published("odd.csv", "--qi", "Code", "--sa", "Ill", "--method", "mondrian", "--k", str(k))
    release = mx.anonymize.mondrian(table, qi="Code", sa="Ill", k=k)
    assert result["release"]["buckets"] == len(release.buckets) > 1
    assert result["release"]["records"] == len(table)


def test_names_that_begin_with_a_minus_sign(published):
    """Columns may be called -pay and -ill: the printed command does not take their names for options."""
    write_text("minus.csv", "-pay,-ill,-id\n1,a,v\n1,b,w\n2,a,x\n2,b,y\n")
    roles = ["--qi=-pay", "--sa=-ill", "--id=-id"]
    for method in (["mondrian", "--k", "2"], ["anatomy", "--l", "2"]):
        assert published("minus.csv", *roles, "--method", *method, "--out=-open")["release"]["records"] == 4


def test_the_order_of_rows_tells_nothing(hospital, folder, run):
    """The same people in another order publish the same file."""
    hospital[::-1].to_csv("turned.csv", index=False)
    for name in ("hospital", "turned"):
        run("publish", f"{name}.csv", *ROLES, "--method", "mondrian", "--k", "3", "--out", f"{name}_open")
    assert (folder / "hospital_open.csv").read_text() == (folder / "turned_open.csv").read_text()


@pytest.mark.parametrize(
    ("form", "is_date"),
    [("%d.%m.%Y", True), ("%Y-%m-%d", True), ("%m/%d/%Y", True), ("%d-%m-%Y", True), ("%B %Y", False)],
)
def test_dates_are_published_in_ranges(form, is_date, run, document):
    """Every person's date of birth lies in the range of the group, in which at least k people are."""
    born = pd.Timestamp("1950-01-13") + pd.to_timedelta(np.arange(60) * 37, unit="D")
    table = pd.DataFrame({"born": born.strftime(form), "disease": ["flu", "cold", "HIV"] * 20})
    table.to_csv("people.csv", index=False)
    roles = ["--qi", "born", "--sa", "disease"]
    assert ("can be published in ranges" in run("quantify", "people.csv", *roles)) == is_date
    run("publish", "people.csv", *roles, "--method", "mondrian", "--k", "5", "--out", "open")
    cells = pd.read_csv("open.csv")["born"]
    assert cells.value_counts().min() >= 5
    if not is_date:
        return
    ends = cells.str.extract(r"\[(\d{4}-\d{2}-\d{2}), (\d{4}-\d{2}-\d{2})\]").astype("datetime64[ns]")
    assert ends.notna().all(axis=None)
    for (low, high), group in ends.groupby([0, 1]):
        assert ((born >= low) & (born <= high)).sum() == len(group)
    # Who knows everybody's exact date knows everybody's group: the largest share of a value there is inferred.
    table.assign(born=born)[["born"]].to_csv("population.csv", index=False)
    largest = document("quantify", "open.csv", *roles, "--population", "population.csv")["worst_disclosure"]["max_p"]
    shares = pd.read_csv("open.csv").groupby("born")["disease"].value_counts(normalize=True)
    assert largest == pytest.approx(shares.max(), abs=1e-9)
    run("quantify", "open.csv", "--generalized", *roles, "--original", "people.csv")


@pytest.mark.parametrize("method", [["mondrian", "--k", "1"], ["search", "--methods", "full-domain"]])
def test_a_group_of_one_date_has_that_date(method, run):
    pd.DataFrame({"born": ["13.01.1960", "14.01.1960"], "disease": "flu"}).to_csv("two.csv", index=False)
    run("publish", "two.csv", "--qi", "born", "--sa", "disease", "--method", *method, "--out", "open")
    assert pd.read_csv("open.csv")["born"].to_list() == ["1960-01-13", "1960-01-14"]


def test_similar_linkage(published, hospital):
    """The groups equal those of the library, with a prior from a file or estimated from the table."""
    prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    prior["Gender"].to_csv("prior.csv")
    release = mx.anonymize.similar_linkage(hospital, qi=["Gender", "Degree"], sa="Disease", prior=prior, r=2)
    command = ["hospital.csv", *ROLES, "--method", "similar-linkage", "--r", "2"]
    assert published(*command, "--prior", "prior.csv")["entropy_nats"] == pytest.approx(entropy(release))
    assert published(*command, "--condition", "exact")["release"]["records"] == 10


@pytest.mark.parametrize("strategy", ["independent", "history_guided", "m_invariant"])
def test_republish(published, strategy):
    """Two successive releases form a series; with m-invariance it reveals no more than one release."""
    first, second = mx.datasets.load_patients()
    first.to_csv("first.csv", index=False)
    second.to_csv("second.csv", index=False)
    roles = ["--sa", "Disease", "--id", "Pseudonym", "--l", "3"]
    assert published("first.csv", *roles, "--out", "one")["release"]["records"] == len(first)
    bucket = pd.read_csv("one_qi.csv").columns[-1]
    before = ["--before", "one_qi.csv", "--before-sa", "one_sa.csv", "--bucket", bucket, "--before-count", "Count"]
    more = ["--method", "republish", "--strategy", strategy, "--out", "two"]
    result = published("second.csv", *roles, *before, *more)
    assert result["release"]["kind"] == "ReleaseSeries"
    assert result["release"]["records"] == len({*first["Pseudonym"], *second["Pseudonym"]})
    worst = result["worst_disclosure"]["max_p"]
    assert worst == pytest.approx(1 / 3) if strategy == "m_invariant" else worst >= 1 / 3


# -- search ------------------------------------------------------------------------------------------


def test_search_with_knowledge_about_nodes_of_a_hierarchy(published):
    """The printed command has the hierarchy too, from which it knows whose cells these are."""
    pd.DataFrame({"age": [21, 22, 41, 42] * 3, "ill": list("abcabdacdbdc")}).to_csv("ages.csv", index=False)
    hierarchy = ["--hierarchy", "age=" + write_text("age.csv", "21;young;*\n22;young;*\n41;old;*\n42;old;*\n")]
    search = ["--qi", "age", "--sa", "ill", "--method", "search", "--methods", "full-domain", "--threshold", "0.6"]
    result = published("ages.csv", *search, *hierarchy, "--know", "P(a | age=21) <= 0.7")
    assert result["release"]["qi_tuples"] == 4


@pytest.mark.parametrize("numbers", [["1,50", "2,25", "2,75"], ["1.500,50", "2.000,00", "3.000,25"]])
def test_search_with_a_hierarchy_of_numbers_as_in_the_table(published, numbers):
    """Numbers with decimal commas are the same in a table, as its population, and in a hierarchy."""
    write_text("pay.csv", "pay;disease\n" + "".join(f"{pay};{ill}\n" for pay in numbers for ill in "ab"))
    hierarchy = write_text("levels.csv", "".join(f"{pay};{pay[0]} and more;*\n" for pay in numbers))
    search = ["pay.csv", "--qi", "pay", "--sa", "disease", "--method", "search", "--methods", "full-domain"]
    result = published(*search, "--hierarchy", f"pay={hierarchy}", "--know", "P(a) <= 0.7")
    assert result["release"]["records"] == 6


def test_search_with_a_hierarchy_of_texts_of_dates(run, refuse):
    """Dates that a hierarchy contains as texts are looked up there; a second hierarchy of an attribute is refused."""
    days = [f"{day:02d}.03.1950" for day in range(1, 31)]
    pd.DataFrame({"born": days, "disease": ["flu", "cold", "HIV"] * 10}).to_csv("people.csv", index=False)
    nodes = pd.DataFrame({0: days, 1: ["early"] * 15 + ["late"] * 15, 2: "*"})
    nodes.to_csv("born.csv", sep=";", header=False, index=False)
    hierarchy = ["--hierarchy", "born=born.csv"]
    search = ["publish", "people.csv", "--qi", "born", "--sa", "disease", "--method", "search", *hierarchy]
    run(*search)
    assert "--hierarchy" in refuse(*search, *hierarchy)


def test_search_with_suppression(published):
    """At most the given number of records is left out of the best release."""
    result = published("hospital.csv", *ROLES, "--method", "search", "--methods", "full-domain", "--suppress", "2")
    assert result["release"]["records"] >= 8
