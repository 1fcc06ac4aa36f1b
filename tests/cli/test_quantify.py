"""``maxent-cvx quantify``, demo and compare: the numbers of the library, and the exit statuses."""

from __future__ import annotations

import os
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
from support.commands import printed_command, write_table, write_text

mpl.use("Agg")

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]
#: With it one person's disease is known for certain: the only woman among the juniors (Privacy-MaxEnt, section 1).
MEDICINE = ["--know", "P(Breast Cancer | Gender=male) = 0"]


@pytest.fixture
def post(release):
    """The posterior of an adversary who knows medicine, by the library."""
    return mx.MaxEnt(release).add(MEDICINE[1]).solve()


def test_demo(run, folder):
    """The demo follows section 1: medical knowledge discloses Grace's disease, and the divergences fall."""
    text = run("demo")
    for bucket in ("Breast Cancer, Flu, Flu, Pneumonia", "Breast Cancer, HIV, Pneumonia", "Flu, HIV, Lung Cancer"):
        assert bucket in text  # Fig. 1(b)
    assert "P = 1.000: Grace (female, junior)" in text
    bits = [float(line.split(" bits ")[0].split()[-1]) for line in text.splitlines() if " bits   every" in line]
    assert len(bits) == 3
    assert bits == sorted(bits, reverse=True)
    assert [path.name for path in folder.iterdir()] == ["hospital.csv"]


@pytest.mark.parametrize("arguments", [["hospital"], ["hospital.csv", *ROLES, "--bucket", "Bucket"]], ids=str)
def test_quantify(run, hospital, release, folder, arguments):
    """Entropy, worst disclosure, exposed people and divergence of the release alone are printed; no file is written."""
    text = run("quantify", *arguments)
    post = mx.MaxEnt(release).solve()
    for expected in (
        "10 records in 3 buckets",
        f"H(Q, S, B) = {post.entropy:.6f} nats",
        f"Divergence from the truth: {mx.measures.overall_divergence(post, hospital):.6f} bits",
        str(mx.measures.exposed(post, original=hospital, baseline="overall")),
        "entropy_l",
    ):
        assert expected in text
    assert [path.name for path in folder.iterdir()] == ["hospital.csv"]


def test_quantify_with_knowledge(run, release):
    """Knowledge is listed, and changes the answer (section 4.5: vague knowledge, in the paper's notation)."""
    gossip = write_text("gossip.txt", "# heard\nP(Pneumonia | Gender=female) <= 0.1\n")
    text = run("quantify", "hospital", "--know", "P(Flu | Gender=male) = 0.3 +- 0.05", "--knowledge", gossip)
    assert "known: 0.25 <= P(Flu | Gender=male) <= 0.35" in text
    assert "known: P(Pneumonia | Gender=female) <= 0.1" in text
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3 +- 0.05", "P(Pneumonia | Gender=female) <= 0.1")
    assert f"H(Q, S, B) = {model.solve().entropy:.6f} nats" in text


@pytest.mark.parametrize(("name", "begins"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml")])
@pytest.mark.parametrize("more", [[], ["--top", "0,1", "--min-support", "1"]], ids=" ".join)
def test_quantify_plots(run, name, begins, more):
    """With --plot it draws P(s | q) or the scores, and leaves no figure open."""
    before = plt.get_fignums()
    run("quantify", "hospital", "--plot", name, *more)
    assert Path(name).read_bytes().startswith(begins)
    assert plt.get_fignums() == before


def test_quantify_scores(run, hospital, release):
    """With --top K it scores K+, K- and half of each, as the library does (section 7.1, Fig. 5)."""
    text = run("quantify", "hospital", "--top", "0,3", "--min-support", "1", "--out", "scores.csv")
    scores = pd.read_csv("scores.csv")
    assert scores["curve"].tolist() == ["K+", "K+", "K-", "K-", "K/2 + K/2", "K/2 + K/2"]
    bounds = [(0, 0), (3, 0), (0, 0), (0, 3), (0, 0), (2, 1)]
    assert list(zip(scores["K+"], scores["K-"], strict=True)) == bounds
    expected = mx.quantify(release, hospital, bounds, min_support=1)
    for column in ("score", "entropy", "term_divergence"):
        assert scores[column].tolist() == pytest.approx(expected[column].tolist(), abs=1e-6)
    lowest = scores[scores["K"] == 3].set_index("curve")["score"].idxmin()
    assert f"At K = 3 the curve {lowest} is lowest" in text


def test_scores_with_original_records(run, refuse):
    """--top takes the associations from --original if TABLE is generalized and people are in --population."""
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"age": rng.integers(20, 60, 60), "sex": rng.choice(["f", "m"], 60)})
    original["ill"] = np.where(rng.random(60) < 0.6, np.where(original["age"] < 40, "x", "y"), "z")
    decades = [f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in original["age"]]
    generalized = original.assign(age=decades, sex="*")
    for name, table in (("original", original), ("people", original[["age", "sex"]]), ("generalized", generalized)):
        table.to_csv(f"{name}.csv", index=False)
    roles = ["--qi", "age,sex", "--sa", "ill", "--population", "people.csv"]
    command = ["quantify", "generalized.csv", *roles, "--top", "0,3"]
    assert "--original" in refuse(*command)
    run(*command, "--original", "original.csv", "--out", "scores.csv")
    release = mx.Release.from_generalized(generalized, qi=["age", "sex"], sa="ill", population=original[["age", "sex"]])
    expected = mx.quantify(release, original, [(0, 0), (3, 0), (0, 0), (0, 3), (0, 0), (2, 1)])
    assert pd.read_csv("scores.csv")["score"].tolist() == pytest.approx(expected["score"].tolist(), abs=1e-6)


def test_compare(run, document, folder):
    """One row per solver, in the document and in the written table; the plot is written, and no figure is left open."""
    files = ["--out", "c.csv", "--plot", "c.png", "--no-presolve"]
    command = ["compare", "hospital", "--solvers", "DUAL_NEWTON, SCS", "--known", "3", "--min-support", "1"]
    assert "CLARABEL" not in run(*command)
    before = plt.get_fignums()
    result = document(*command, *files)
    assert [row["solver"] for row in result["solvers"]] == ["DUAL_NEWTON", "SCS"]
    assert result["solvers"][0]["certified"] is True
    assert pd.read_csv("c.csv", index_col="solver").index.to_list() == ["DUAL_NEWTON", "SCS"]
    assert {path.name for path in folder.iterdir()} == {"hospital.csv", "c.csv", "c.png"}
    assert plt.get_fignums() == before


def test_compare_of_a_table_with_counts(document, refuse):
    """Rows that stand for several people give the answer of the table in which these rows are repeated."""
    table = pd.DataFrame({"age": [20, 20, 30, 30], "ill": ["flu", "HIV", "flu", "cold"], "n": [3, 2, 1, 4]})
    table.to_csv("counts.csv", index=False)
    table.loc[table.index.repeat(table["n"]), ["age", "ill"]].to_csv("people.csv", index=False)
    options = ["--qi", "age", "--sa", "ill", "--l", "2", "--solvers", "DUAL_NEWTON"]
    assert "--count n" in refuse("compare", "counts.csv", *options)
    (counted,), (repeated,) = (
        document("compare", *table, *options)["solvers"] for table in (["counts.csv", "--count", "n"], ["people.csv"])
    )
    assert counted["objective"] == pytest.approx(repeated["objective"])


@pytest.mark.parametrize("roles", [["--bucket", "g"], []], ids=str)
def test_counts_of_millions(roles, run, document, refuse):
    """90 million people in four rows are counted without a row for each; what needs these rows is left out or refused."""
    write_text("n.csv", "age,ill,n,g\n20,flu,40000000,1\n20,HIV,2000000,1\n30,flu,3000000,2\n30,HIV,45000000,2\n")
    command = ["n.csv", "--qi", "age", "--sa", "ill", "--count", "n"]
    exposure = document("quantify", *command, *roles)["exposure"]
    assert (exposure["people"], exposure["of"]) == (90_000_000, 90_000_000)
    text = run("quantify", *command, *roles)
    assert "left out above 10,000,000 people; 'n' counts 90,000,000" in text
    assert "Divergence" not in text
    assert "n.csv" in run("attack", "worst-case", *command, *roles)
    for more in ([*roles, "--top", "1"], ["--l", "2"]):
        assert "10,000,000" in refuse("quantify", *command, *more)


def test_solvers(run):
    """The solvers are listed by name."""
    assert "DUAL_NEWTON" in run("solvers")


def test_console_entry():
    """Installed, the program is called maxent-cvx; it ends with 2 on bad input."""
    where = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    program = shutil.which("maxent-cvx", path=where)
    if program is None:
        pytest.skip("maxent-cvx is not on the PATH")
    done = subprocess.run([program, "quantify", "nobody.csv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody.csv" in done.stderr


def test_a_contradiction_ends_with_three(capsys, document):
    """Knowledge that cannot be true of the release has a status of its own, and its line in the file is named."""
    gossip = write_text("gossip.txt", "# heard\nP(Flu | Gender=male) = 0.9\n")
    assert main(["quantify", "hospital", "--knowledge", gossip]) == 3
    assert "(gossip.txt, line 2)" in capsys.readouterr().err
    error = document("quantify", "hospital", "--knowledge", gossip, status=3)["error"]
    assert [conflict["statement"] for conflict in error["conflict"]] == ["P(Flu | Gender=male) = 0.9"]


def test_a_defect_is_no_verdict(capsys, monkeypatch):
    """The exit status of an internal error is not that of a release that exposes somebody."""
    monkeypatch.setattr("maxent_cvx.measures.exposed", lambda *_, **__: 1 / 0)
    assert main(["quantify", "hospital.csv", *ROLES, "--bucket", "Bucket"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


# -- the verdict -------------------------------------------------------------------------------------


def test_one_half_is_not_above_one_half(run):
    """Buckets of two with two values: nobody's P is above 1/2, and everybody's is above a little less."""
    pd.DataFrame({"age": range(8), "disease": list("abcdefgh")}).to_csv("people.csv", index=False)
    command = ["quantify", "people.csv", "--qi", "age", "--sa", "disease", "--l", "2", "--fail-above"]
    assert "PASS" in run(*command, "0.5")
    assert "FAIL: 8 of 8" in run(*command, "0.49", status=1)
    equal = run(*command, "0.5", "--threshold", "0.5")
    assert "8 of 8 people" in equal
    assert "PASS: nobody is exposed above P = 0.5 (--fail-above); people with P = 0.5 are not above it" in equal


def test_people_exposed_at_the_threshold_fail_a_lower_limit(run, document):
    """The verdict, the advice, the document and the report count people exposed above the limit or at the threshold."""
    wards = {"a": ["no"] * 20, "c": ["yes"] * 3 + ["no"], "d": ["no"] * 6 + ["yes"] * 4}  # 27 of 34 say no
    pd.Series(wards).explode().rename_axis("ward").rename("smoker").to_csv("people.csv")
    command = ["quantify", "people.csv", "--qi", "ward", "--sa", "smoker", "--fail-above", "0.7", "--report", "r.html"]
    text = run(*command, status=1)
    assert "FAIL: 24 of 34 people" in text
    assert "withhold the records of the 24 people in 2 groups" in text
    assert "0.70000" not in text, "the margin for rounding above the limit"
    assert "a smaller l" not in text, "which does not pass either"
    assert document(*command, status=1)["fail_above"]["people"] == 24
    assert "24 of 34 people are exposed" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("baseline", ["values", "by gender", "saved", "without her"])
def test_other_baselines(document, hospital, post, folder, baseline):
    """A baseline from a file, of each value or by a quasi-identifier, or without each record, is that of the library."""
    shares = hospital["Disease"].value_counts(normalize=True).rename("P")
    by_gender = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index")
    shares.reset_index().to_parquet("values.parquet")
    by_gender.to_csv("by_gender.csv")
    before = mx.MaxEnt(post.view).solve()
    before.save("saved.parquet")
    files = {"values": "values.parquet", "by gender": "by_gender.csv", "saved": "saved.parquet"}
    given = {"values": shares, "by gender": by_gender, "saved": before}.get(baseline, baseline)
    text, original = files.get(baseline, baseline), None if baseline in files else hospital
    limit = ["--fail-above", "0.6", "--report", "page.html"]  # the report and the advice have the baseline, too
    result = document("quantify", "hospital", *MEDICINE, "--threshold", "0.4", "--baseline", text, *limit, status=1)
    expected = mx.measures.exposed(post, 0.4, original, baseline=given)
    assert result["exposure"]["people"] == expected.people > 0
    assert [row["baseline"] for row in result["exposure"]["who"]] == pytest.approx(expected.who["baseline"].to_list())
    assert (folder / "page.html").exists()


def test_a_saved_answer_is_no_table(refuse, post):
    """The file of a posterior is refused as TABLE: its numbers of people would be quasi-identifiers."""
    post.save("saved.parquet")
    assert "a saved posterior" in refuse("quantify", "saved.parquet")


def test_the_document_contains_what_the_library_computes(document, post, hospital):
    """Release, knowledge, certificate, exposure, worst disclosure and versions are in the document, by their keys."""
    result = document("quantify", "hospital", *MEDICINE, "--fail-above", "0.5", status=1)
    view = post.space.view
    assert result["release"]["records"] == view.n_records
    assert result["release"]["qi"] == list(view.qi)
    assert {row["value"]: row["records"] for row in result["release"]["values"]} == dict(
        zip(view.sensitive_values, view.n_s.tolist(), strict=True)
    )
    assert [row["statement"] for row in result["knowledge"]] == [MEDICINE[1]]
    assert result["certificate"]["holds"]
    assert result["certificate"]["bound"] == pytest.approx(post.certificate.bound, rel=1e-3, abs=1e-9)
    assert result["entropy_nats"] == pytest.approx(post.entropy)
    worst = mx.measures.disclosure(post, worst=True).iloc[0]
    assert result["worst_disclosure"]["max_p"] == pytest.approx(worst["max_p"])
    assert result["worst_disclosure"]["recursive_c"] is None, "infinite, which JSON has no number for"
    (row,) = result["exposure"]["who"]
    assert row["group"] == {"Gender": "female", "Degree": "junior"}
    assert row["value"] == {"Disease": "Breast Cancer"}
    assert row["P"] == pytest.approx(1.0)
    assert result["fail_above"]["above"] == 0.5
    assert result["versions"].keys() >= {"maxent_cvx", "python"}
    assert result["divergence_bits"] == pytest.approx(mx.measures.overall_divergence(post, hospital))
    assert result["format"] == 1


def test_advice_is_true(run, hospital):
    """Where larger buckets help, those that are advised pass, also as published, and smaller ones do not."""
    pd.concat([hospital] * 6).to_csv("many.csv", index=False)
    limit = ["--fail-above", "0.4", "--baseline", "none"]
    text = run("quantify", "many.csv", *ROLES, *limit, "--l", "2", status=1)
    assert "withhold" in text
    (line,) = (line for line in text.splitlines() if " pass: " in line)
    advised = int(line.split("--l ")[1].split()[0])
    for l in range(2, advised + 1):
        verdict = run("quantify", "many.csv", *ROLES, *limit, "--l", str(l), status=int(l < advised))
        assert ("PASS" in verdict) == (l == advised)
    published = run(*printed_command(line, "Publish them:"))
    assert "PASS" in run(*printed_command(published, "Read them back:"), *limit)


def test_other_risks_beside_the_verdict(run, document, refuse, hospital, post):
    """Re-identification risk and utility, as the library measures them, are printed and in the document."""
    expected = mx.measures.risk_utility(post, hospital, population=1000).drop("inference risk", level="kind")
    command = ["quantify", "hospital.csv", *ROLES, "--bucket", "Bucket", *MEDICINE, "--population-size"]
    risks = {(row["kind"], row["measure"]): row["value"] for row in document(*command, "1000")["risks"]}
    assert risks == pytest.approx(expected["value"].to_dict(), abs=1e-12)
    text = run(*command, "1000")
    assert "1-anonymous" in text
    assert "median query error" in text
    assert "--population-size" in refuse(*command, "5")


# -- values that cannot be compared as they are ------------------------------------------------------


@pytest.fixture
def salaries() -> pd.DataFrame:
    """Everybody of an age earns the same within 50, of 30,000 to 120,000."""
    n = np.arange(1000)
    return pd.DataFrame({"age": 30 + n // 50, "pay": 30_000 + n // 50 * 4737 + n * 7 % 50, "g": n // 50})


def gate(table: pd.DataFrame, path: str, *more: str) -> list[str]:
    """Write a table, and return the command that judges it."""
    roles = ["--qi", "age", "--sa", "pay", "--bucket", "g"]
    return ["quantify", write_table(table, path), *roles, "--fail-above", "0.5", *more]


@pytest.mark.parametrize("path", ["pay.csv", "pay.parquet"])
def test_numbers_are_judged_by_intervals(run, document, salaries, path):
    """Salaries that are all different, and known within 50, fail, unless only equal values matter."""
    assert "FAIL: 1000 of 1000" in run(*gate(salaries, path), status=1)
    result = document(*gate(salaries, path, "--within", "49"), status=1)["fail_above"]
    assert (result["people"], result["within"], result["undecided"]) == (1000, 49.0, [])
    assert result["expected_error"] < 50 < 10_000 < result["expected_error_before"]
    assert result["who"][0]["lift"] == pytest.approx(20)
    assert "PASS: nobody" in run(*gate(salaries, path, "--within", "0"))
    dates = salaries.assign(pay=(pd.Timestamp("2020-01-01") + pd.to_timedelta(salaries["pay"], "D")).dt.strftime("%F"))
    assert "FAIL: 1000 of 1000" in run(*gate(dates, path, "--within", "49 days"), status=1)
    assert run(*gate(dates, path, "--within", "1 hour"))


@pytest.mark.parametrize(
    ("path", "form"), [("pay.csv", "${:,} a year"), ("pay.csv", "name {} b"), ("pay.parquet", "{:,} EUR")]
)
def test_undecided_is_no_pass(run, document, salaries, path, form):
    """Labels that look like numbers end with 4, in the report, too; with --within 0 they pass."""
    table = salaries.assign(pay=salaries["pay"].map(form.format))
    text = run(*gate(table, path), status=4)
    assert "UNDECIDED: nobody" in text
    assert "PASS" not in text
    assert "(within)" in text
    assert document(*gate(table, path, "--report", "r.html"), status=4)["fail_above"]["undecided"]
    assert "see the warning" in Path("r.html").read_text(encoding="utf-8")
    assert "PASS: nobody" in run(*gate(table, path, "--within", "0"))
    if path.endswith(".csv"):
        assert "UNDECIDED" in run("report", *gate(table, path)[1:], status=4)


def test_a_hierarchy_of_labels(run, salaries):
    """The nodes of a hierarchy count besides the values."""
    n = np.arange(1000)
    ill = np.where(n % 2, np.where(n < 250, "Ulcer", "Flu"), np.where(n < 250, "Gastritis", "Cold"))
    table = salaries.assign(pay=ill)
    organs = write_text("ill.csv", "Ulcer;stomach\nGastritis;stomach\nFlu;lungs\nCold;lungs\n")
    assert "PASS" in run(*gate(table, "t.csv"))
    assert "FAIL: 1000 of 1000" in run(*gate(table, "t.csv", "--within", organs), status=1)
