"""The benchmarks run at toy size and give correct answers; what they measure is not asserted."""

from __future__ import annotations

import importlib

import pandas as pd
import pytest

import maxent_cvx as mx
from tests.benchmarks import harvest, honesty, phases, search_beside_arx, sixty
from tests.benchmarks.peers.comparing import OURS

#: Scripts with their options.
RUNS = {
    "attacks methods": ["--people", "150", "--queries", "5"],
    "attacks intersection": ["--people", "300"],
    "attacks minimality": ["--people", "12"],
    "attacks reconstruction": ["--block", "3", "--blocks", "1", "--time-limit", "1"],
    "attacks definetti": ["--people", "60", "--l", "3", "--seeds", "1"],
    "convex_statements": ["--tables", "hospital", "--kinds", "sum_squares", "kl_ball", "--shares", "0.7", "-0.1"],
    "partitions": ["--records", "1000", "--rows", "5", "--threads", "1"],
    "partitions --in-memory": ["--records", "200", "--rows", "3"],
    "peers.fitting": ["--n", "8", "--three-way", "3", "--together"],
    "peers.marginals": ["--attributes", "3", "--categories", "3", "--iterations", "20", "--together"],
    "peers.moments": ["--outcomes", "50", "--moments", "3", "--powers", "3", "--together"],
    "peers.transport": ["--n", "6", "--temperatures", "0.1", "--together"],
    "peers.views": ["--kinds", "means", "--together"],
    "questions bounds": ["--records", "1000", "--rows", "6"],
    "questions contradictions": ["--records", "2000", "--rows", "300"],
    "sizes": ["--times", "1", "--largest", "30"],
    "soft_objectives": ["--n", "6", "--k", "3", "--together"],
    "solvers": ["--records", "200", "--rows", "6", "--solvers", "DUAL_NEWTON,DUAL_LBFGS,CLARABEL"],
}  # fmt: skip


@pytest.mark.parametrize("command", RUNS)
def test_run(command: str, capsys):
    """Each script prints and returns a table; no answer in it is uncertified, wrong or far from a peer's."""
    script, *attack = command.split()
    table = importlib.import_module(f"tests.benchmarks.{script}").main([*attack, *RUNS[command]])
    assert len(table)
    assert capsys.readouterr().out
    if "certified_error" in table:
        assert (table["certified_error"] < 1e-4).all()
    if "right" in table and table["right"].dtype == bool:
        assert table["right"].all()
    if "apart" in table and not table["apart"].isna().all():
        assert (table.loc[table["method"] != OURS, "apart"].dropna() < 1e-2).all()


def test_phases():
    """The phases of a solve take no longer than the whole."""
    models = ["strongest 4", "generic 20", "vague 4"]
    table = phases.main(["--records", "300", "--times", "1", "--models", *models])
    assert list(table["model"]) == models
    assert (table[["stacking", *phases.PHASES]].sum(axis=1) <= table["total"]).all()
    assert (table["certified_error"] < 1e-4).all()


def test_harvest(tmp_path):
    """Problems of CVXPY's own tests are stored in a file, and none is solved wrongly."""
    file = tmp_path / "problems"
    table = harvest.main(["--only", "suppfunc", "--file", str(file)])
    assert len(table)
    assert "wrong" not in set(table["word"])
    assert len(harvest.main(["--file", str(file)])) == len(table)


def test_sixty(tmp_path):
    """Every answer of the smallest models is certified, and no further from the reference than certified; a picture."""
    file = tmp_path / "profile.png"
    table = sixty.main(["--largest", "8", "--limit", "60", "--solvers", "CLARABEL", "--picture", str(file)])
    assert table["certified"].all()
    assert (table["error"] <= table["bound"] + 1e-6).all()
    assert file.stat().st_size > 0


def test_honesty():
    """Models of every kind are drawn, solved and compared with the oracle, in one process and in two."""
    table = honesty.main(["--number", "1", "--largest", "20"])
    assert list(table["kind"]) == [*honesty.KINDS, *honesty.NEAR]
    assert (table[["answered", "refused", "infeasible", *honesty.FAILURES]].sum(axis=1) == table["models"]).all()
    assert (table[list(honesty.FAILURES)] == 0).all(axis=None)
    few = ["--kinds", "tame", "--number", "2"]
    tables = [honesty.main([*few, "--jobs", jobs]).drop(columns="seconds") for jobs in ("1", "2")]
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_search_beside_arx(tmp_path, capsys):
    """Losses are those of the definitions; answers that lose more, or are not safe, are no better than ours."""
    adult = mx.datasets.load_adult().rename(columns={"salary": "salary-class"}).astype(str)
    for name in [*search_beside_arx.DEMOGRAPHIC, "salary-class"]:
        lines = [f"{value};*\n" for value in adult[name].unique()]
        (tmp_path / f"adult_hierarchy_{name}.csv").write_text("".join(lines), encoding="utf-8")
    assert search_beside_arx.main([str(tmp_path), "--tasks", "--first", "1"]) is None
    assert capsys.readouterr().out == f"0|age,sex,race|occupation|{1 / 3}|0.0|discernibility\n"
    answers = tmp_path / "answers.txt"
    for levels, same, larger in [("1,1,0", 1, 0), ("1,1,1", 0, 1), ("0,0,0", 0, 1)]:
        answers.write_text(f"0|{levels}|0|0|8|0.1\n", encoding="utf-8")
        table = search_beside_arx.main([str(tmp_path), "--answers", str(answers), "--first", "1"])
        assert table[["wrong", "ours larger", "ARX's larger", "same node"]].to_numpy().tolist() == [
            [0, 0, larger, same]
        ]
