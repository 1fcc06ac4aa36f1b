"""``maxent-cvx publish``: whatever the method, what is written discloses no links, and the printed command reads it."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


@pytest.fixture
def published(capsys):
    """Publish, run the command that is printed, and give the document that it answers with."""

    def published(*arguments: str) -> dict:
        assert main(["publish", *arguments]) == 0
        (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Read them back:"))
        program, *command = shlex.split(line.removeprefix("Read them back:"))
        assert program == "maxent-cvx"
        assert main([*command, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return published


def entropy(release: mx.View, *known: mx.Source) -> float:
    return mx.MaxEnt(release).add(*known).solve().entropy


def test_mondrian(published, hospital):
    """The groups that are read are those that were made."""
    release = mx.anonymize.mondrian(hospital, qi=["Gender", "Degree"], sa="Disease", k=3, l=2)
    found = published("hospital.csv", *ROLES, "--method", "mondrian", "--k", "3", "--l", "2")
    assert found["release"]["buckets"] == len(release.buckets)
    assert found["entropy_nats"] == pytest.approx(entropy(release))
    assert "Name" not in pd.read_csv("published.csv")


def test_texts_that_look_generalised_stay_values(published):
    """A value that is written like a range, a set or a mask is read as the value that it is."""
    odd = ["20-29", "a,b", "x*", '{"q"}', "[1, 2)", "it's"]
    table = pd.DataFrame({"Code": [one for one in odd for _ in range(2)], "Ill": ["yes", "no"] * len(odd)})
    table.to_csv("odd.csv", index=False)
    found = published("odd.csv", "--qi", "Code", "--sa", "Ill", "--method", "mondrian", "--k", "2")
    release = mx.anonymize.mondrian(table, qi="Code", sa="Ill", k=2)
    assert found["release"]["buckets"] == len(release.buckets) == len(odd)
    wider = published("odd.csv", "--qi", "Code", "--sa", "Ill", "--method", "mondrian", "--k", "4")
    release = mx.anonymize.mondrian(table, qi="Code", sa="Ill", k=4)
    assert wider["release"]["buckets"] == len(release.buckets) > 1
    assert wider["release"]["records"] == len(table)


def test_rows_are_in_no_order_that_tells(hospital, folder):
    """The same people in another order publish the same file."""
    asked = [*ROLES, "--method", "mondrian", "--k", "3", "--out"]
    assert main(["publish", "hospital.csv", *asked, "one"]) == 0
    hospital[::-1].to_csv("turned.csv", index=False)
    assert main(["publish", "turned.csv", *asked, "two"]) == 0
    assert (folder / "one.csv").read_text() == (folder / "two.csv").read_text()


def test_similar_linkage(published, hospital, refused):
    """By a prior from a file, or estimated from the table, as the library groups them."""
    prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    prior["Gender"].to_csv("prior.csv")
    release = mx.anonymize.similar_linkage(hospital, qi=["Gender", "Degree"], sa="Disease", prior=prior, r=2)
    asked = ["hospital.csv", *ROLES, "--method", "similar-linkage", "--r", "2"]
    found = published(*asked, "--prior", "prior.csv")
    assert found["entropy_nats"] == pytest.approx(entropy(release))
    assert published(*asked, "--condition", "exact")["release"]["records"] == 10
    refused("publish", *asked)


def test_rules(published, hospital):
    """The rules alone are written, and the people's quasi-identifiers; no sensitive value of anybody."""
    rules = mx.anonymize.mine_rules(hospital, qi=["Gender", "Degree"], sa="Disease", support=0.2, confidence=0.5)
    view = mx.QITable(hospital, qi=["Gender", "Degree"], sa="Disease", sa_values=sorted(hospital["Disease"].unique()))
    asked = ["hospital.csv", *ROLES, "--method", "rules", "--support", "0.2", "--confidence", "0.5"]
    assert published(*asked)["entropy_nats"] == pytest.approx(entropy(view, mx.PublishedRules(rules)))
    assert list(pd.read_csv("published_qi.csv").columns) == ["Gender", "Degree"]


@pytest.mark.parametrize("strategy", ["independent", "history_guided", "m_invariant"])
def test_republish(published, strategy):
    """What was published before and what is published now are a series; m-invariance then tells no more than one."""
    first, second = mx.datasets.load_patients()
    first.to_csv("first.csv", index=False)
    second.to_csv("second.csv", index=False)
    roles = ["--sa", "Disease", "--id", "Pseudonym", "--l", "3"]
    alone = published("first.csv", *roles, "--out", "one")
    assert alone["release"]["records"] == len(first)
    bucket = pd.read_csv("one_qi.csv").columns[-1]
    before = ["--before", "one_qi.csv", "--before-sa", "one_sa.csv", "--bucket", bucket, "--before-count", "Count"]
    more = ["--method", "republish", "--strategy", strategy, "--out", "two"]
    found = published("second.csv", *roles, *before, *more)
    assert found["release"]["kind"] == "ReleaseSeries"
    assert found["release"]["records"] == len({*first["Pseudonym"], *second["Pseudonym"]})
    worst = found["worst_disclosure"]["max_p"]
    assert worst == pytest.approx(1 / 3) if strategy == "m_invariant" else worst >= 1 / 3


@pytest.fixture
def refused(capsys):
    """Run a command that cannot work, and give the line that says why."""

    def refused(*arguments: str) -> str:
        assert main([*arguments]) == 2
        shown = capsys.readouterr().err
        assert len(shown.splitlines()) == 1
        return shown

    return refused


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method", "mondrian"],
        ["--method", "mondrian", "--k", "2", "--r", "2"],
        ["--method", "republish", "--l", "2"],
        ["--method", "rules", "--support", "0.2"],
        ["--method", "mondrian", "--k", "11"],
        ["--l", "2", "--id", "Nam"],
        ["--method", "mondrian", "--k", "2", "--id", "Nam"],
    ],
)
def test_what_a_method_needs_is_said(refused, folder, arguments):
    """What is missing, or would be passed over, is named in options, before anything is written."""
    refused("publish", "hospital.csv", *ROLES, *arguments)
    assert {path.name for path in folder.iterdir()} == {"hospital.csv"}


@pytest.mark.parametrize("more", [["mondrian", "--k", "3", "--seed", "3"], ["anatomy", "--l", "2", "--suppress", "1"]])
def test_options_of_other_methods_are_refused(hospital, folder, more):
    """An option that a method would ignore is an error."""
    assert main(["publish", "hospital.csv", *ROLES, "--method", *more]) == 2
    assert main(["quantify", "hospital.csv", *ROLES, "--counterfeits"]) == 2


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "anatomy"])
def test_search_with_knowledge(published, hospital, folder, method):
    """What is known is a promise too: the printed command has it, and infers what the library found for the same groups."""
    known = "P(HIV | Gender=female) <= 0.3"
    roles = {"qi": ["Gender", "Degree"], "sa": "Disease", "threshold": 0.6, "baseline": "overall"}
    found = mx.anonymize.search(hospital, **roles, knowledge=known, methods=[method])
    best = found.candidates[found.candidates["safe"]].sort_values("loss").iloc[0]
    asked = ["--method", "search", "--methods", method, "--threshold", "0.6"]
    (folder / "known.txt").write_text(known, encoding="utf-8")
    for option in (["--know", known], ["--knowledge", "known.txt"]):
        read = published("hospital.csv", *ROLES, *asked, *option)
        assert read["release"]["buckets"] == len(found.release.buckets)
        assert [statement["statement"] for statement in read["knowledge"]] == [known]
        assert read["worst_disclosure"]["max_p"] == pytest.approx(best["largest"])


def test_search_with_knowledge_about_nodes_of_a_hierarchy(published, folder):
    """The printed command has the hierarchy too, from which it knows whose cells these are."""
    pd.DataFrame({"age": [21, 22, 41, 42] * 3, "ill": list("abcabdacdbdc")}).to_csv("ages.csv", index=False)
    (folder / "age.csv").write_text("21;young;*\n22;young;*\n41;old;*\n42;old;*\n", encoding="utf-8")
    asked = ["--qi", "age", "--sa", "ill", "--method", "search", "--methods", "full-domain", "--threshold", "0.6"]
    read = published("ages.csv", *asked, "--hierarchy", "age=age.csv", "--know", "P(a | age=21) <= 0.7")
    assert read["release"]["qi_tuples"] == 4


def test_groups_are_left_out_of_the_best_release(published):
    read = published("hospital.csv", *ROLES, "--method", "search", "--methods", "full-domain", "--suppress", "2")
    assert read["release"]["records"] >= 8
