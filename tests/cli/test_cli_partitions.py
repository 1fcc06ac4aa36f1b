"""``maxent-cvx quantify`` of Parquet files says what it says of the same records in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease", "--bucket", "Bucket"]
KNOWN = ["--know", "P(Flu | Gender=male) = 0.3"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two files of whole buckets."""
    hospital = mx.datasets.load_hospital()
    paths = [tmp_path / "people" / f"{i}.parquet" for i in range(2)]
    paths[0].parent.mkdir()
    for path, is_last in zip(paths, (False, True), strict=True):
        hospital[(hospital["Bucket"] == 3) == is_last].to_parquet(path)
    return [str(path) for path in paths]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def called(*arguments: str, status: int = 0) -> str:
        assert main(list(arguments)) == status
        captured = capsys.readouterr()
        return captured.out if status == 0 else captured.err

    return called


def test_files_and_their_folder_are_a_release_in_partitions(run, files):
    """What is exposed is what is exposed of the table in memory."""
    text = run("quantify", *files, *ROLES, *KNOWN)
    assert "10 records in 3 buckets" in text
    in_memory = run("quantify", "hospital", *KNOWN)
    exposed = [line.split(";")[0] for line in in_memory.splitlines() if "people exposed" in line]
    assert exposed
    assert all(line in text for line in exposed)
    assert run("quantify", str(Path(files[0]).parent), *ROLES, *KNOWN) == text


def test_a_folder_is_written_whole_under_a_new_name(run, files, tmp_path):
    folder = tmp_path / "answer"
    run("quantify", *files, *ROLES, *KNOWN, "--out", str(folder))
    written = pd.read_parquet(folder)
    men = written[written["Gender"] == "male"]
    p = next(name for name in written.columns if name.startswith("P("))
    assert men.loc[men["Disease"] == "Flu", p].sum() / men[p].sum() == pytest.approx(0.3)
    assert "it is there" in run("quantify", *files, *ROLES, "--out", str(folder), status=2)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--top", "5"], "there is no --top"),
        (["--exempt", "1"], "there is no --exempt: write the buckets into a column"),
        (["--solver", "CLARABEL"], "solved by the default solver"),
        (["--workers", "0"], "at least one process"),
        (["--workers", "1", "--cluster", "tcp://here:1"], "give one"),
        (["--cluster", "nowhere"], "no scheduler of Dask answers there"),
    ],
)
def test_what_is_not_for_partitions_is_refused_before_any_work(run, files, more, expected):
    assert expected in run("quantify", *files, *ROLES, *more, status=2)


def test_roles_must_be_given(run, files):
    assert "--sa, --bucket must be given" in run("quantify", *files, "--qi", "Gender", status=2)


def test_a_cluster_is_for_parquet_files(run):
    assert "is none" in run("quantify", "hospital", "--workers", "2", status=2)


def test_processes_of_this_machine(run, files):
    """Workers of Dask print what threads print."""
    pytest.importorskip("distributed")
    assert run("quantify", *files, *ROLES, *KNOWN, "--workers", "1") == run("quantify", *files, *ROLES, *KNOWN)


def test_partitions_are_judged_as_the_table_in_memory(files, capsys):
    """The exit status and the JSON document say the same of both."""
    asked = ["--know", "P(Breast Cancer | Gender=male) = 0", "--fail-above", "0.8", "--json"]
    found = []
    for table in (files, ["hospital"]):
        assert main(["quantify", *table, *ROLES, *asked]) == 1
        found.append(json.loads(capsys.readouterr().out))
    parts, whole = found
    assert parts["tables"] == files
    assert parts["release"]["kind"] == "PartitionedRelease"
    for key in ("people", "of"):
        assert parts["fail_above"][key] == whole["fail_above"][key]
    assert parts["entropy_nats"] == pytest.approx(whole["entropy_nats"])
    assert [row["group"] for row in parts["exposure"]["who"]] == [row["group"] for row in whole["exposure"]["who"]]
