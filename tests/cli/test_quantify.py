"""``maxent-cvx quantify``, demo, solvers and compare: the numbers of the library, and the exit statuses."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

mpl.use("Agg")

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


@pytest.fixture
def run(capsys):
    """Run a command that must work; give its output."""

    def run(*arguments: str) -> str:
        assert main(list(arguments)) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    return run


def new_files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"hospital.csv"}


def test_demo(run, folder):
    """The demo tells the hospital's story: medicine discloses Grace's disease, and the divergences fall (section 1)."""
    text = run("demo")
    for bucket in ("Breast Cancer, Flu, Flu, Pneumonia", "Breast Cancer, HIV, Pneumonia", "Flu, HIV, Lung Cancer"):
        assert bucket in text  # Fig. 1(b)
    assert "P = 1.000: Grace (female, junior)" in text
    bits = [float(line.split(" bits ")[0].split()[-1]) for line in text.splitlines() if " bits   every" in line]
    assert len(bits) == 3
    assert bits == sorted(bits, reverse=True)
    assert new_files(folder) == set()


def expected_numbers(hospital) -> dict[str, str]:
    """What the hospital's release alone discloses, from the library."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    post = mx.MaxEnt(release).solve()
    return {
        "entropy": f"H(Q, S, B) = {post.entropy:.6f} nats",
        "truth": f"Divergence from the truth: {mx.measures.overall_divergence(post, hospital):.6f} bits",
        "exposed": str(mx.measures.exposed(post, original=hospital, baseline="overall")),
    }


@pytest.mark.parametrize("arguments", [["hospital"], ["hospital.csv", *ROLES, "--bucket", "Bucket"]], ids=str)
def test_quantify(run, hospital, folder, arguments):
    """What the release alone discloses is printed: entropy, worst disclosure, exposed people, the divergence."""
    text = run("quantify", *arguments)
    assert "10 records in 3 buckets" in text
    for number in expected_numbers(hospital).values():
        assert number in text
    assert "Worst disclosure" in text
    assert "entropy_l" in text
    assert new_files(folder) == set()


def test_quantify_with_knowledge(run, folder):
    """What is known is listed, and moves the answer (section 4.5: vague knowledge, in the paper's notation)."""
    (folder / "gossip.txt").write_text("# heard\nP(Pneumonia | Gender=female) <= 0.1\n", encoding="utf-8")
    before = run("quantify", "hospital")
    text = run("quantify", "hospital", "--know", "P(Flu | Gender=male) = 0.3 +- 0.05", "--knowledge", "gossip.txt")
    assert "known: 0.25 <= P(Flu | Gender=male) <= 0.35" in text
    assert "known: P(Pneumonia | Gender=female) <= 0.1" in text
    model = mx.MaxEnt(
        mx.Release.from_buckets(mx.datasets.load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    )
    model.add("P(Flu | Gender=male) = 0.3 +- 0.05", "P(Pneumonia | Gender=female) <= 0.1")
    entropy = f"H(Q, S, B) = {model.solve().entropy:.6f} nats"
    assert entropy in text
    assert entropy not in before


def test_quantify_writes_probabilities(run, release):
    """With --out x.csv it writes P(s | q)."""
    assert "wrote p.csv" in run("quantify", "hospital", "--out", "p.csv")
    found = pd.read_csv("p.csv", index_col=[0, 1])
    expected = mx.MaxEnt(release).solve().conditional()
    pd.testing.assert_frame_equal(found, expected, check_names=False)
    assert found.index.names == ["Gender", "Degree"]


@pytest.mark.parametrize(("name", "begins"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml")])
def test_quantify_plots(run, folder, name, begins):
    """With --plot it draws P(s | q) or the scores, and leaves no figure open."""
    for more in ([], ["--top", "0,1", "--min-support", "1"]):
        run("quantify", "hospital", "--plot", name, *more)
        assert Path(name).read_bytes().startswith(begins)
        Path(name).unlink()
    assert new_files(folder) == set()


def test_quantify_scores(run, hospital, release):
    """With --top K it scores K+, K- and half of each, as the library does (section 7.1, Fig. 5)."""
    text = run("quantify", "hospital", "--top", "0,3", "--min-support", "1", "--out", "scores.csv")
    found = pd.read_csv("scores.csv")
    assert found["curve"].tolist() == ["K+", "K+", "K-", "K-", "K/2 + K/2", "K/2 + K/2"]
    assert list(zip(found["K+"], found["K-"], strict=True)) == [(0, 0), (3, 0), (0, 0), (0, 3), (0, 0), (2, 1)]
    expected = mx.quantify(release, hospital, list(zip(found["K+"], found["K-"], strict=True)), min_support=1)
    for column in ("score", "entropy", "term_divergence"):
        assert found[column].tolist() == pytest.approx(expected[column].tolist(), abs=1e-6)
    lowest = found[found["K"] == 3].set_index("curve")["score"].idxmin()
    assert f"At K = 3 the curve {lowest} is lowest" in text


def test_compare_some_and_write(run, folder):
    """With --solvers some are compared, with --out and --plot the table and the plot are written."""
    written = ["--out", "c.csv", "--plot", "c.png"]
    text = run("compare", "hospital", "--solvers", "DUAL_NEWTON, SCS", "--no-presolve", *written)
    assert "CLARABEL" not in text
    assert new_files(folder) == {"c.csv", "c.png"}
    assert pd.read_csv("c.csv", index_col="solver").index.to_list() == ["DUAL_NEWTON", "SCS"]
    assert plt.get_fignums() == []


def test_console_entry():
    """Installed, the program is called maxent-cvx; it ends with 2 on bad input."""
    where = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    program = shutil.which("maxent-cvx", path=where)
    if program is None:
        pytest.skip("maxent-cvx is not on the PATH")
    done = subprocess.run([program, "solvers"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "DUAL_NEWTON" in done.stdout
    done = subprocess.run([program, "quantify", "nobody.csv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody.csv" in done.stderr


#: With it one person's disease is known for certain: the only woman among the juniors (Privacy-MaxEnt, section 1).
MEDICINE = ["--know", "P(Breast Cancer | Gender=male) = 0"]


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


def test_what_contradicts_ends_with_three(capsys, folder):
    """Knowledge that cannot be true of the release has a status of its own, and its line in the file is named."""
    (folder / "gossip.txt").write_text("# heard\nP(Flu | Gender=male) = 0.9\n", encoding="utf-8")
    assert main(["quantify", "hospital", "--knowledge", "gossip.txt"]) == 3
    said = capsys.readouterr().err
    assert "(gossip.txt, line 2)" in said
    found = document(capsys, "quantify", "hospital", "--knowledge", "gossip.txt", status=3)
    assert [one["statement"] for one in found["error"]["conflict"]] == ["P(Flu | Gender=male) = 0.9"]


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
    assert "'no' is excluded" in called(capsys, *asked)
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


def test_without_her_own_record(capsys, hospital, post, folder):
    """The verdict, the report and the advice compare with the same release without each record."""
    asked = ["hospital", *MEDICINE, "--threshold", "0.4", "--baseline", "without her", "--fail-above", "0.6"]
    found = document(capsys, "quantify", *asked, "--report", "page.html", status=1)["exposure"]
    expected = mx.measures.exposed(post, 0.4, hospital, baseline="without her")
    assert found["people"] == expected.people > 0
    assert [row["baseline"] for row in found["who"]] == pytest.approx(expected.who["baseline"].to_list())
    assert (folder / "page.html").exists()


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


def test_a_defect_is_no_verdict(capsys, monkeypatch):
    """Whatever goes wrong inside, the exit status is not that of somebody who is exposed."""
    monkeypatch.setattr("maxent_cvx.measures.exposed", lambda *_, **__: 1 / 0)
    assert main(["quantify", "hospital.csv", *ROLES, "--bucket", "Bucket"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("pay.csv", "${:,} a year"),
        ("pay.csv", "name {} b"),
        ("pay.parquet", "{:,} EUR"),
    ],
)
def test_what_cannot_be_judged_is_no_pass(capsys, salaries, path, written):
    """Labels that look like numbers end with 4, in the report, too; who has looked says --within 0."""
    table = salaries.assign(pay=salaries["pay"].map(written.format))
    said = called(capsys, *gate(table, path), status=4)
    assert "UNDECIDED: nobody" in said
    assert "PASS" not in said
    assert "(within)" in said
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
