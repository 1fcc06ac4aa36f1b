"""The command line: what it prints, what it writes, and what it reads back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main
from maxent_cvx.solvers.backends import CvxpyBackend

mpl.use("Agg")

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital) -> Path:
    """A folder of one's own with the hospital's table in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("hospital.csv", index=False)
    return tmp_path


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


def printed_back(text: str) -> list[str]:
    """The command that publish prints, as a shell would split it."""
    line = next(line for line in text.splitlines() if line.startswith("Read them back:"))
    program, *arguments = shlex.split(line.removeprefix("Read them back:"))
    assert program == "maxent-cvx"
    return arguments


def test_demo(run, folder):
    """The demo tells the hospital's story: medicine discloses Grace's disease, and the divergences fall (section 1)."""
    text = run("demo")
    for bucket in ("Breast Cancer, Flu, Flu, Pneumonia", "Breast Cancer, HIV, Pneumonia", "Flu, HIV, Lung Cancer"):
        assert bucket in text  # Fig. 1(b)
    assert "P = 1.000: the bucket of Grace (female, junior)" in text
    bits = [float(line.split(" bits ")[0].split()[-1]) for line in text.splitlines() if " bits   every" in line]
    assert len(bits) == 3
    assert bits == sorted(bits, reverse=True)
    assert new_files(folder) == set()


def test_solvers(run):
    """Every solver is listed, with whether it is installed."""
    text = run("solvers")
    for name, solver in mx.solvers.SOLVERS.items():
        line = next(line for line in text.splitlines() if line.split()[0] == name)
        assert line.split()[1] == str(solver.installed)


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


def test_quantify_makes_buckets(run):
    """Without --bucket Anatomy makes them, the same for a seed (section 7)."""
    text = run("quantify", "hospital.csv", *ROLES, "--l", "3", "--seed", "4")
    assert "10 records in 3 buckets" in text
    assert text == run("quantify", "hospital.csv", *ROLES, "--l", "3", "--seed", "4")
    assert "10 records in 2 buckets" in run("quantify", "hospital.csv", *ROLES, "--l", "5", "--exempt", "1")


def test_what_is_asked_for_beats_what_is_built_in(run):
    """Who asks for Anatomy's buckets of a built-in table gets them, not the ones that it comes with."""
    assert "10 records in 2 buckets" in run("quantify", "hospital", "--l", "5", "--exempt", "1")
    assert "6 distinct" not in run("quantify", "hospital", "--qi", "Gender")


def test_quantify_the_first_rows(run):
    """With --rows N the first N people are the table."""
    assert "4 records in 1 buckets" in run("quantify", "hospital", "--rows", "4")


def test_quantify_writes_probabilities(run, release):
    """With --out x.csv it writes P(s | q)."""
    assert "wrote p.csv" in run("quantify", "hospital", "--out", "p.csv")
    found = pd.read_csv("p.csv", index_col=[0, 1])
    expected = mx.MaxEnt(release).solve().conditional()
    pd.testing.assert_frame_equal(found, expected, check_names=False)
    assert found.index.names == ["Gender", "Degree"]


def test_quantify_writes_a_posterior(run, release):
    """With --out x.parquet it writes the posterior, to be loaded again."""
    run("quantify", "hospital", "--out", "p.parquet", "--solver", "DUAL_NEWTON")
    pd.testing.assert_series_equal(mx.load_posterior("p.parquet").joint(), mx.MaxEnt(release).solve().joint())


@pytest.mark.parametrize(("name", "begins"), [("p.png", b"\x89PNG"), ("p.pdf", b"%PDF"), ("p.svg", b"<?xml")])
def test_quantify_plots(run, folder, name, begins):
    """With --plot it draws P(s | q) or the scores, and leaves no figure open."""
    for more in ([], ["--top", "0,1", "--min-support", "1"]):
        run("quantify", "hospital", "--plot", name, *more)
        assert Path(name).read_bytes().startswith(begins)
        Path(name).unlink()
    assert new_files(folder) == set()


def test_no_figure_is_left_open(run):
    """A program that calls main() many times does not collect figures."""
    plt.close("all")
    run("quantify", "hospital", "--plot", "p.png")
    left = plt.get_fignums()
    plt.close("all")
    assert left == []


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
    assert f"At K = 3 the curve {lowest} lies lowest" in text


def test_quantify_adult(run):
    """Adult is there by name, with its eight quasi-identifiers (section 7)."""
    text = run("quantify", "adult", "--rows", "500", "--top", "0,5")
    assert "500 records in 100 buckets" in text
    assert f"{mx.datasets.load_adult().head(500)['education'].nunique()} values of 'education'" in text


@pytest.mark.parametrize(
    ("columns", "qi", "sa"),
    [
        ({}, "Gender,Degree", "Disease"),
        ({"Degree": "Last degree"}, "Gender,Last degree", "Disease"),  # a space in a name
        ({"Gender": "Bucket", "Bucket": "Old"}, "Bucket,Degree", "Disease"),
        ({"Gender": "Count"}, "Count,Degree", "Disease"),
        ({"Disease": "Count"}, "Gender,Degree", "Count"),
    ],
    ids=["plain", "space", "Bucket", "Count", "Count as sa"],
)
def test_publish_and_read_back(run, hospital, columns, qi, sa):
    """What is published holds everybody and no links, and the command that it prints reads it back."""
    hospital.rename(columns=columns).to_csv("people.csv", index=False)
    roles = ["--qi", qi, "--sa", sa]
    text = run("publish", "people.csv", *roles, "--l", "2", "--out", "it")
    assert "wrote it_qi.csv" in text
    assert "wrote it_sa.csv" in text
    qi_table, sa_table = pd.read_csv("it_qi.csv"), pd.read_csv("it_sa.csv")
    assert sa not in qi_table
    assert not set(qi.split(",")) & set(sa_table)
    assert "Name" not in qi_table
    people = hospital.rename(columns=columns)
    for column in qi.split(","):
        assert set(qi_table[column]) == set(people[column])
    assert set(sa_table[sa]) == set(people[sa])
    back = run(*printed_back(text))
    assert "10 records in 5 buckets" in back
    direct = run("quantify", "people.csv", *roles, "--l", "2")
    assert next(line for line in direct.splitlines() if "H(Q, S, B)" in line) in back


def test_published_tables_have_no_truth(run):
    """From published tables no divergence can be measured, and none is printed."""
    text = run(*printed_back(run("publish", "hospital", "--l", "2")))
    assert "Divergence" not in text
    assert "right for" not in text
    assert "people exposed: no value that has P < 0.8 overall" in text


def test_publish_by_default(run, folder):
    """Without --out the tables are published_qi.csv and published_sa.csv; the seed chooses the buckets."""
    run("publish", "hospital", "--l", "3")
    assert new_files(folder) == {"published_qi.csv", "published_sa.csv"}
    first = Path("published_sa.csv").read_text()
    run("publish", "hospital", "--l", "3")
    assert Path("published_sa.csv").read_text() == first
    other = set()
    for seed in "12345":
        run("publish", "hospital", "--l", "3", "--seed", seed)
        other.add(Path("published_sa.csv").read_text())
    assert len(other) > 1


def test_compare(run, release, hospital, folder):
    """Every installed solver is a line, and it is said whose answer the others differ from."""
    text = run("compare", "hospital", "--known", "3", "--min-support", "1")
    knowledge = mx.StrongestAssociations(hospital, 2, 1, min_support=1)
    table = mx.compare_solvers(mx.MaxEnt(release).add(knowledge))
    for name in table.index:
        line = next(line for line in text.splitlines() if line.startswith(name))
        assert line.split()[1:3] == ["optimal", "yes"]
        assert float(line.split()[3]) == pytest.approx(table.loc[name, "objective"], abs=1e-6)
    assert f"relative to {table.attrs['reference']}'s" in text
    assert new_files(folder) == set()


def test_compare_some_and_write(run, folder):
    """With --solvers some are compared, with --out and --plot the table and the plot are written."""
    written = ["--out", "c.csv", "--plot", "c.png"]
    text = run("compare", "hospital", "--solvers", "DUAL_NEWTON, SCS", "--no-presolve", *written)
    assert "CLARABEL" not in text
    assert new_files(folder) == {"c.csv", "c.png"}
    assert pd.read_csv("c.csv", index_col="solver").index.to_list() == ["DUAL_NEWTON", "SCS"]
    assert plt.get_fignums() == []


def test_compare_makes_buckets(run):
    """Without --bucket Anatomy makes them."""
    assert "DUAL_LBFGS" in run("compare", "hospital.csv", *ROLES, "--l", "3", "--solvers", "DUAL_LBFGS")


def test_compare_names_what_is_missing(run, monkeypatch):
    """A solver that is not installed is a line that says so."""
    monkeypatch.setitem(mx.solvers.SOLVERS, "GONE", CvxpyBackend("GONE"))
    text = run("compare", "hospital", "--solvers", "GONE,DUAL_NEWTON")
    assert "not installed" in text
    assert "GONE: solver GONE is not installed" in text


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


def test_demo_is_light():
    """The demo waits for neither CVXPY nor Matplotlib to load."""
    heavy = "sorted({'cvxpy', 'matplotlib'} & {*sys.modules})"
    code = f"import sys; from maxent_cvx.cli import main; main(['demo']); print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_people(tmp_path, capsys):
    """People are read from a file, spoken of by name, and printed."""
    file = tmp_path / "people.csv"
    file.write_text("name,Gender,Degree\nAlice,female,college\n")
    assert main(["quantify", "hospital", "--people", str(file), "--know", "P(HIV | Alice) = 1"]) == 0
    printed = capsys.readouterr().out
    assert "H(I, Q, S, B)" in printed
    assert "Alice" in printed.split("P(Disease | person):")[1]
    assert "1 of 10 people (10.0%) exposed" in printed
