"""``--json`` of attacks and comparisons: the same answers as the functions, for programs; and each key is explained."""

from __future__ import annotations

import json

import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main


@pytest.fixture
def document(capsys, request):
    """Run a command that must work, and give its document, each key of which is on the page about the command line."""
    page = (request.config.rootpath / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")

    def document(*arguments: str) -> dict:
        assert main([*arguments, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [key for key in found if f"`{key}`" not in page] == []
        return found

    return document


def test_worst_case(document, release):
    """A row a release and k, with the sentences that disclose as much."""
    found = document("attack", "worst-case", "hospital", "--k", "0,1")
    expected = mx.attacks.worst_case(release, k=[0, 1])
    assert [row["disclosure"] for row in found["worst_case"]] == pytest.approx(expected["disclosure"].to_list())
    assert [row["sentences"] for row in found["worst_case"]] == expected["sentences"].map(list).to_list()
    assert found["tables"] == ["hospital"]


def test_definetti(document, release, hospital):
    """P of every value by group, and how often the likeliest is right."""
    found = document("attack", "definetti", "hospital")
    expected = mx.attacks.definetti(release)
    probabilities = [list(row["P"].values()) for row in found["probabilities"]]
    for row, p in zip(probabilities, expected.table.to_numpy(), strict=True):
        assert row == pytest.approx(list(p))
    assert list(found["probabilities"][0]["group"]) == list(expected.table.index.names)
    assert found["right"] == pytest.approx(expected.judge(hospital).right)


def test_reconstruct(document, tmp_path, monkeypatch):
    """All solutions, and what is certain."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables.csv").write_text("age,n,mean\n,2,0.5\n", encoding="utf-8")
    found = document("attack", "reconstruct", "tables.csv", "--domain", "age=0-1")
    assert found["solutions"] == [[{"age": 0}, {"age": 1}]]
    assert found["unique"]
    assert found["complete"]


def test_compare(document):
    """A row a solver."""
    found = document("compare", "hospital", "--solvers", "DUAL_NEWTON,SCS")
    assert [row["solver"] for row in found["solvers"]] == ["DUAL_NEWTON", "SCS"]
    assert found["solvers"][0]["certified"] is True
