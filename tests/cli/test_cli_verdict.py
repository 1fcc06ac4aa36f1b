"""``maxent-cvx quantify`` as a gate: who is exposed, the exit status, and the JSON document that a program reads."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

#: With it one person's disease is known for certain: the only woman among the juniors (Privacy-MaxEnt, section 1).
MEDICINE = ["--know", "P(Breast Cancer | Gender=male) = 0"]
ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital):
    """A folder of one's own with the hospital's table in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    return tmp_path


def called(capsys, *arguments: str, status: int = 0) -> str:
    """What a command prints that ends with a status, and says nothing is wrong."""
    assert main([*arguments]) == status
    shown = capsys.readouterr()
    assert shown.err == "" if status in (0, 1, 4) else shown.err
    return shown.out


def document(capsys, *arguments: str, status: int = 0) -> dict:
    """The JSON document, which is all of standard output."""
    found = json.loads(called(capsys, *arguments, "--json", status=status))
    assert found["status"] == status
    return found


@pytest.fixture
def post(hospital):
    """What medicine discloses, by the library."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    return mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()


def test_the_exit_status_is_the_verdict(capsys):
    """Somebody is exposed with medicine, and nobody without: 1 and 0; without --fail-above nothing fails."""
    assert "FAIL: 1 of 10" in called(capsys, "quantify", "hospital", *MEDICINE, "--fail-above", "0.8", status=1)
    assert "PASS: nobody" in called(capsys, "quantify", "hospital", "--fail-above", "0.8")
    assert "FAIL" not in called(capsys, "quantify", "hospital", *MEDICINE)


def test_what_contradicts_ends_with_three(capsys, folder):
    """Knowledge that cannot be true of the release has a status of its own, and its line in the file is named."""
    (folder / "gossip.txt").write_text("# heard\nP(Flu | Gender=male) = 0.9\n", encoding="utf-8")
    assert main(["quantify", "hospital", "--knowledge", "gossip.txt"]) == 3
    said = capsys.readouterr().err
    assert "(gossip.txt, line 2)" in said
    assert "+- 0.05" in said, "how to make it vague here"
    assert ".about(" not in said, "nobody can call a method here"
    found = document(capsys, "quantify", "hospital", "--knowledge", "gossip.txt", status=3)
    assert [one["statement"] for one in found["error"]["conflict"]] == ["P(Flu | Gender=male) = 0.9"]


def test_bad_input_is_a_document_too(capsys):
    """A program that reads JSON reads why there is no answer."""
    found = document(capsys, "quantify", "hospital", "--know", "P(Flux) = 0.1", status=2)
    assert "Flux" in found["error"]["message"]
    assert "release" not in found


def test_one_half_is_not_above_one_half(capsys):
    """Buckets of two with two values: nobody's P is above 1/2, and everybody's is above a little less."""
    table = pd.DataFrame({"age": range(8), "disease": list("abcdefgh")})
    table.to_csv("people.csv", index=False)
    asked = ["quantify", "people.csv", "--qi", "age", "--sa", "disease", "--l", "2", "--fail-above"]
    assert "PASS" in called(capsys, *asked, "0.5")
    assert "FAIL: 8 of 8" in called(capsys, *asked, "0.49", status=1)


def test_the_baseline_is_what_everybody_would_guess(capsys):
    """A value that nearly everybody has exposes nobody, unless there is no baseline."""
    table = pd.DataFrame({"age": [1, 2] * 10, "ill": ["no"] * 18 + ["yes"] * 2, "ward": [1] * 10 + [2] * 10})
    table.to_csv("people.csv", index=False)
    asked = ["quantify", "people.csv", "--qi", "age", "--sa", "ill", "--bucket", "ward", "--fail-above", "0.8"]
    assert "'no' is not counted" in called(capsys, *asked)
    assert "FAIL: 20 of 20" in called(capsys, *asked, "--baseline", "none", status=1)
    assert "PASS" in called(capsys, *asked, "--baseline", "none", "--sensitive", "yes")


def test_a_baseline_of_ones_own(capsys, hospital, post):
    """From a file: of each value, or of each value by a quasi-identifier, as the library judges with the same."""
    shares = hospital["Disease"].value_counts(normalize=True)
    shares.rename("P").reset_index().to_csv("values.csv", index=False)
    by = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index")
    by.to_csv("by_gender.csv")
    for name, baseline in (("values.csv", shares), ("by_gender.csv", by)):
        found = document(capsys, "quantify", "hospital", *MEDICINE, "--threshold", "0.4", "--baseline", name)[
            "exposure"
        ]
        expected = mx.measures.exposed(post, 0.4, baseline=baseline)
        assert found["people"] == expected.people > 0
        assert [row["baseline"] for row in found["who"]] == pytest.approx(expected.who["baseline"].to_list())


def test_a_baseline_may_be_a_posterior(capsys, hospital):
    """What is inferred of the same people without medicine: then only medicine exposes anybody."""
    assert main(["quantify", "hospital", "--out", "before.parquet"]) == 0
    capsys.readouterr()
    asked = ["quantify", "hospital", "--threshold", "0.35", "--baseline", "before.parquet"]
    assert document(capsys, *asked)["exposure"]["people"] == 0
    found = document(capsys, *asked, *MEDICINE)["exposure"]
    before = mx.load_posterior("before.parquet")
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    after = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    assert found["people"] == mx.measures.exposed(after, 0.35, baseline=before).people > 0


def test_a_baseline_that_fits_nothing_is_refused(capsys, folder):
    """A file of neither values nor quasi-identifiers says what is expected."""
    (folder / "other.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    assert main(["quantify", "hospital", "--baseline", "other.csv"]) == 2
    assert "Disease and P are expected" in capsys.readouterr().err


def test_values_that_are_sensitive(capsys, post):
    """Only --sensitive values count, as the library counts them; a stranger is named."""
    for value in ("Breast Cancer", "Flu"):
        found = document(capsys, "quantify", "hospital", *MEDICINE, "--sensitive", value)
        assert found["exposure"]["people"] == mx.measures.exposed(post, sensitive=value, baseline="overall").people
    assert main(["quantify", "hospital", "--sensitive", "Fluu"]) == 2
    assert "did you mean 'Flu'" in capsys.readouterr().err


def test_the_document_holds_what_the_library_says(capsys, post, hospital):
    """Release, knowledge, certificate, exposure, worst disclosure and versions, by their keys."""
    found = document(capsys, "quantify", "hospital", *MEDICINE, "--fail-above", "0.5", status=1)
    view = post.space.view
    assert found["release"]["records"] == view.n_records
    assert found["release"]["qi"] == list(view.qi)
    assert {one["value"]: one["records"] for one in found["release"]["values"]} == dict(
        zip(view.sensitive_values, view.n_s.tolist(), strict=True)
    )
    assert [one["statement"] for one in found["knowledge"]] == ["P(Breast Cancer | Gender=male) = 0"]
    assert found["certificate"]["holds"]
    assert found["certificate"]["bound"] == pytest.approx(post.certificate.bound, rel=1e-3, abs=1e-9)
    assert found["entropy_nats"] == pytest.approx(post.entropy)
    worst = mx.measures.disclosure(post, worst=True).iloc[0]
    assert found["worst_disclosure"]["max_p"] == pytest.approx(worst["max_p"])
    assert found["worst_disclosure"]["recursive_c"] is None, "infinite, which JSON has no number for"
    (row,) = found["exposure"]["who"]
    assert row["group"] == {"Gender": "female", "Degree": "junior"}
    assert row["value"] == {"Disease": "Breast Cancer"}
    assert row["P"] == pytest.approx(1.0)
    assert found["fail_above"]["above"] == 0.5
    assert found["versions"].keys() >= {"maxent_cvx", "python"}
    assert found["divergence_bits"] == pytest.approx(mx.measures.overall_divergence(post, hospital))
    assert found["format"] == 1


def test_each_key_of_the_document_is_explained(capsys, request):
    """The page on the command line has every key that the document has."""
    page = (request.config.rootpath / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")
    found = document(capsys, "quantify", "hospital", *MEDICINE, "--fail-above", "0.5", status=1)
    failed = document(capsys, "quantify", "hospital", "--know", "P(Flux) = 0.1", status=2)
    scored = document(capsys, "quantify", "hospital", "--top", "0", "--min-support", "1")
    inner = {*found["exposure"], *found["release"], *failed["error"]}
    assert [key for key in {*found, *failed, *scored, *inner} if f"`{key}`" not in page] == []


def test_through_which_statement(capsys, post):
    """Of two statements the one is said through which somebody is exposed, as the library finds it."""
    found = document(capsys, "quantify", "hospital", *MEDICINE, "--know", "P(Flu) <= 0.4")["exposure"]["through"]
    assert {one["statement"]: one["people"] for one in found} == {
        "P(Breast Cancer | Gender=male) = 0": mx.measures.exposed(post, baseline="overall").people,
        "P(Flu) <= 0.4": 0,
    }


def test_people_of_a_document(capsys, folder):
    """People by name are there with their probabilities, and are judged by name."""
    (folder / "people.csv").write_text("name,Gender,Degree\nAlice,female,college\n", encoding="utf-8")
    found = document(capsys, "quantify", "hospital", "--people", "people.csv", "--know", "P(HIV | Alice) = 1")
    assert [one["person"] for one in found["people"]] == ["Alice"]
    assert found["people"][0]["P"]["HIV"] == pytest.approx(1.0)
    assert found["exposure"]["who"][0]["group"]["who"] == "Alice"


def test_scores_are_a_document(capsys):
    """With --top the scores are what the table has."""
    found = document(capsys, "quantify", "hospital", "--top", "0,2", "--min-support", "1")
    assert [(row["curve"], row["K"]) for row in found["scores"]] == [
        (curve, k) for curve in ("K+", "K-", "K/2 + K/2") for k in (0, 2)
    ]


def test_what_to_do_is_true(capsys, hospital):
    """Where larger buckets help, those that are said pass, also as published, and smaller ones do not."""
    many = pd.concat([hospital] * 6, ignore_index=True)
    many.to_csv("many.csv", index=False)
    judged = ["--fail-above", "0.4", "--baseline", "none"]
    text = called(capsys, "quantify", "many.csv", *ROLES, *judged, "--l", "2", status=1)
    assert "withhold" in text
    (line,) = (line for line in text.splitlines() if " pass: " in line)
    l = int(line.split("--l ")[1].split()[0])
    assert "PASS" in called(capsys, "quantify", "many.csv", *ROLES, *judged, "--l", str(l))
    for smaller in range(2, l):
        called(capsys, "quantify", "many.csv", *ROLES, *judged, "--l", str(smaller), status=1)
    program, *publish = shlex.split(line.partition("Publish them:")[2])
    said = called(capsys, *publish)
    again = shlex.split(said.partition("Read them back:")[2])
    assert program == again[0] == "maxent-cvx"
    assert "PASS" in called(capsys, *again[1:], *judged)


def test_out_with_people_writes_the_people(capsys, folder):
    """Who names people asks about them: --out has P(s | person), and says so."""
    (folder / "people.csv").write_text("name,Gender,Degree\nAlice,female,college\n", encoding="utf-8")
    text = called(capsys, "quantify", "hospital", "--people", "people.csv", "--out", "p.csv")
    assert "wrote p.csv: P(Disease | person)" in text
    assert pd.read_csv("p.csv", index_col=0).index.to_list() == ["Alice"]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--fail-above", "1"], "nothing is above a probability of 1"),
        (["--fail-above", "50"], "write 0.3 for 30%"),
        (["--threshold", "x"], "'x' is not a probability"),
        (["--missing", "ignore"], "drop"),
        (["--hierarchy", "age.csv"], "ATTRIBUTE=FILE"),
        (["--top", "1", "--fail-above", "0.5"], "leave out --fail-above"),
    ],
)
def test_options_that_cannot_be_read(capsys, option, says):
    """A number that is no probability, and options that have nothing to do with each other, are refused."""
    try:
        status = main(["quantify", "hospital", *option])
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    assert says in capsys.readouterr().err


def test_other_risks_stand_beside_the_verdict(capsys, hospital, post):
    """Re-identification risk and utility, as the library measures them, in words and in the document."""
    told = mx.measures.risk_utility(post, hospital, population=1000).drop("inference risk", level="kind")
    arguments = ["quantify", "hospital.csv", *ROLES, "--bucket", "Bucket", *MEDICINE, "--population-size", "1000"]
    listed = {(one["kind"], one["measure"]): one["value"] for one in document(capsys, *arguments)["risks"]}
    assert listed == pytest.approx(told["value"].to_dict(), abs=1e-12)
    shown = called(capsys, *arguments)
    assert "1-anonymous" in shown
    assert "median query error" in shown


def test_a_lower_limit_is_not_met_where_a_higher_one_is_not(capsys):
    """Two thirds have it overall, and two are certain: they are exposed from 0.8 on, and so above 0.4 as well."""
    people = pd.DataFrame({"age": [20, 20, 30, 30, 40, 40], "ill": ["yes", "yes", "no", "no", "yes", "no"]})
    people.assign(b=[1, 1, 2, 2, 3, 3]).to_csv("six.csv", index=False)
    arguments = ["quantify", "six.csv", "--qi", "age", "--sa", "ill", "--bucket", "b", "--fail-above"]
    for limit in ("0.8", "0.6", "0.4", "0.2"):
        assert main([*arguments, limit]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_codes_keep_their_zeros(capsys):
    """01234 is another postal code than 1234."""
    codes = pd.DataFrame({"zip": ["01234", "1234", "00012", "12"], "ill": list("abab"), "b": [1, 1, 2, 2]})
    codes.to_csv("zip.csv", index=False)
    found = document(capsys, "quantify", "zip.csv", "--qi", "zip", "--sa", "ill", "--bucket", "b")
    assert found["release"]["qi_tuples"] == 4


def test_lines_longer_than_the_header(capsys):
    """A comma in a cell without quotes shifts all cells: an error, also where the first column counts 1, 2, 3."""
    with open("long.csv", "w", encoding="utf-8") as file:
        file.write("age,ill,b\n1,flu, mild,1\n2,hiv, bad,1\n3,cold,x,2\n4,gout,y,2\n")
    assert main(["quantify", "long.csv", "--qi", "age", "--sa", "ill", "--bucket", "b"]) == 2
    assert "more cells than the header" in capsys.readouterr().err


def test_a_defect_is_no_verdict(capsys, monkeypatch):
    """Whatever goes wrong inside, the exit status is not that of somebody who is exposed."""
    monkeypatch.setattr("maxent_cvx.measures.exposed", lambda *_, **__: 1 / 0)
    assert main(["quantify", "hospital.csv", *ROLES, "--bucket", "Bucket"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_population_has_everybody_in_it(capsys):
    """Ten people are no sample of five."""
    arguments = ["quantify", "hospital.csv", *ROLES, "--bucket", "Bucket", "--population-size", "5"]
    assert main(arguments) == 2
    assert "--population-size 5" in capsys.readouterr().err


@pytest.fixture
def salaries() -> pd.DataFrame:
    """Everybody of an age earns the same within 50, of 30,000 to 120,000."""
    n = np.arange(1000)
    return pd.DataFrame({"age": 30 + n // 50, "pay": 30_000 + n // 50 * 4737 + n * 7 % 50, "g": n // 50})


def gate(table: pd.DataFrame, path: str, *more: str) -> list[str]:
    """Write a table, and give the command that judges it."""
    table.to_parquet(path) if path.endswith(".parquet") else table.to_csv(path, index=False)
    return ["quantify", path, "--qi", "age", "--sa", "pay", "--bucket", "g", "--fail-above", "0.5", *more]


@pytest.mark.parametrize("path", ["pay.csv", "pay.parquet"])
def test_numbers_are_judged_by_intervals(capsys, salaries, path):
    """Salaries that are all different, and known within 50, fail, unless only equal values matter."""
    assert "FAIL: 1000 of 1000" in called(capsys, *gate(salaries, path), status=1)
    found = document(capsys, *gate(salaries, path, "--within", "49"), status=1)["fail_above"]
    assert (found["people"], found["within"], found["undecided"]) == (1000, 49.0, [])
    assert found["expected_error"] < 50 < 10_000 < found["expected_error_before"]
    assert found["who"][0]["lift"] == pytest.approx(20)
    assert "PASS: nobody" in called(capsys, *gate(salaries, path, "--within", "0"))
    dates = salaries.assign(pay=(pd.Timestamp("2020-01-01") + pd.to_timedelta(salaries["pay"], "D")).dt.strftime("%F"))
    assert "FAIL: 1000 of 1000" in called(capsys, *gate(dates, path, "--within", "49 days"), status=1)
    assert called(capsys, *gate(dates, path, "--within", "1 hour"))


@pytest.mark.parametrize("path", ["pay.csv", "pay.parquet"])
@pytest.mark.parametrize("written", ["${:,}", "{:,} EUR", "{}-", "{}/12", "name {} b"])
def test_what_cannot_be_judged_is_no_pass(capsys, salaries, path, written):
    """Labels that look like numbers end with 4, in the report, too; who has looked says --within 0."""
    table = salaries.assign(pay=salaries["pay"].map(written.format))
    said = called(capsys, *gate(table, path), status=4)
    assert "UNDECIDED: nobody" in said
    assert "PASS" not in said
    assert "--within 0" in said
    found = document(capsys, *gate(table, path, "--report", "r.html"), status=4)
    assert found["fail_above"]["undecided"]
    assert "see the warning" in Path("r.html").read_text(encoding="utf-8")
    assert "PASS: nobody" in called(capsys, *gate(table, path, "--within", "0"))
    if path.endswith(".csv"):
        assert "UNDECIDED" in called(capsys, "report", *gate(table, path)[1:], status=4)


def test_a_hierarchy_of_labels(capsys, salaries):
    """The nodes of a hierarchy count besides the values."""
    n = np.arange(1000)
    ill = np.where(n % 2, np.where(n < 250, "Ulcer", "Flu"), np.where(n < 250, "Gastritis", "Cold"))
    table = salaries.assign(pay=ill)
    Path("ill.csv").write_text("Ulcer;stomach\nGastritis;stomach\nFlu;lungs\nCold;lungs\n", encoding="utf-8")
    assert "PASS" in called(capsys, *gate(table, "t.csv"))
    assert "FAIL: 1000 of 1000" in called(capsys, *gate(table, "t.csv", "--within", "ill.csv"), status=1)
