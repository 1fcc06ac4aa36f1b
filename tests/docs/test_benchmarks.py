"""The measuring scripts run, at toy size; what they measure is never asserted."""

from __future__ import annotations

import os

import pandas as pd
import pytest

import maxent_cvx as mx
from support.patience import PATIENT_DASK
from tests.benchmarks import (
    attacks,
    boundary,
    contradictions,
    definetti,
    downcoding,
    emission,
    equivocation,
    exploring,
    guest,
    harvest,
    honesty,
    intersection,
    larger,
    minimality,
    newton_systems,
    phases,
    quantification,
    questions,
    randomized_again,
    reading,
    rules,
    saving,
    sentences,
    series,
    soft_rows,
    solvers,
    worlds,
    worst_case,
)
from tests.benchmarks.larger_tables import larger_adult
from tests.benchmarks.peers import fitting, marginals, moments, transport, views
from tests.benchmarks.peers.comparing import CLARABEL, OURS


@pytest.mark.parametrize(
    "options", [[], ["--eps", "0.02"], ["--no-presolve"], ["--strongest"]], ids=["exact", "vague", "as posed", "strong"]
)
def test_solvers(options, capsys):
    """Every installed solver is measured against the default on one model, and what each is certified to is said."""
    table = solvers.main(["--records", "200", "--rows", "6", "--solvers", "DUAL_NEWTON,DUAL_LBFGS,CLARABEL", *options])
    assert list(table["solver"]) == ["DUAL_NEWTON", "DUAL_LBFGS", "CLARABEL"]
    assert (table["seconds"] > 0).all()
    assert (table["evaluations"] > 0).all()
    assert table["certified_error"].iloc[0] < 1e-4
    assert "terms" in capsys.readouterr().out


def test_attacks(monkeypatch):
    """Disguises are attacked, and what cannot be attacked, or published, has a row that says why."""
    monkeypatch.setitem(attacks.ATTACKS, "of nothing", lambda published: mx.attacks.definetti(None))
    disguises = ["--disguises", "Anatomy, l = 3", "Anatomy, l = 7"]
    rows = attacks.main(["--people", "200", "--queries", "20", *disguises, "--attacks", "deFinetti", "of nothing"])
    assert [row.count(" | ") for row in rows] == [6] * 5
    assert "does not apply" in rows[3]
    assert "cannot be made" in rows[4]


def test_definetti():
    """The share of people that is guessed right is beside that of the buckets' shares."""
    table = definetti.main(["--people", "300", "--qi", "sex", "--l", "3", "--permuted", "--calibration"])
    assert table["shares"].item() == pytest.approx(1 / 3, abs=0.01)


def test_exploring(capsys):
    """Every kind of move is measured, of the hospital and of both kinds of knowledge of Adult."""
    table = exploring.main(["--records", "300", "--counts", "2", "--statements", "2"])
    assert table["model"].nunique() == 3
    assert {"value", "vagueness", "threshold", "far away"} <= set(table["move"])
    assert not table["no answer"].all()
    assert "longest" in capsys.readouterr().out


def test_soft_rows(capsys):
    """Models with soft statements are solved by CVXPY, too, and it is said how far apart the answers are."""
    table = soft_rows.main(["--number", "5"])
    assert "compared" in set(table["word"])
    assert {"objective", "problem", "probability"} <= set(table)
    assert "compared" in capsys.readouterr().out


def test_intersection(capsys):
    """Pairs of releases are attacked, and what they expose is counted."""
    table = intersection.main(["--records", "300", "--both", "100", "--k", "5", "--l", "3", "--r", "2", "--known"])
    assert list(table["method"]) == ["mondrian", "anatomy", "linkage"]
    assert (table["exposed and right"] == table["exposed"]).all()
    assert "exposed" in capsys.readouterr().out


def test_randomized_again(capsys):
    """The more releases, the more is known; what is said of one is right."""
    table = randomized_again.main(["--records", "2000", "--releases", "1", "6"])
    assert table["said"].is_monotonic_increasing
    assert "right" in capsys.readouterr().out


def test_downcoding(capsys):
    """Exact values are inferred from the groups of a few people, and compared with the cells alone."""
    table = downcoding.main(["--records", "4", "--samples", "1", "--k", "4", "--n", "2000"])
    assert table["right"].between(0, 1).all()
    assert "without" in capsys.readouterr().out


def test_minimality(capsys):
    """What Mondrian's algorithm tells about a few people, and shares of right guesses."""
    table = minimality.main(["--records", "12", "--samples", "1", "--cases", "1", "--n", "2000"])
    assert {"told of", "moved by", "right", "without"} <= set(table)
    assert table["right"].between(0, 1).all()
    assert "salary" in capsys.readouterr().out


def test_guest():
    """Problems of CVXPY's users are solved, beside a method of their field."""
    table = guest.main(["--n", "6", "--temperatures", "0.1", "--outcomes", "50", "--moments", "3", "--together"])
    assert list(table["problem"]) == ["transport", "capacities", "moments"]
    assert (table["status"] == "optimal").all()


@pytest.mark.parametrize(
    ("script", "options"),
    [
        (transport, ["--n", "6", "--temperatures", "0.1"]),
        (fitting, ["--n", "8", "--three-way", "3"]),
        (marginals, ["--attributes", "3", "--categories", "3", "--iterations", "20"]),
        (moments, ["--outcomes", "50", "--moments", "3", "--powers", "3"]),
    ],
    ids=["transport", "fitting", "marginals", "moments"],
)
def test_peers(script, options, capsys):
    """Problems of other fields are solved beside their methods; a library that is not installed is named."""
    table = script.main([*options, "--together"])
    assert set(table.loc[table["method"] == OURS, "said"]) == {"optimal"}
    solved = table["seconds"].notna()
    assert solved[table["method"].isin([OURS, CLARABEL])].all()
    assert table.loc[~solved, "said"].str.contains("is not installed: pip install").all()
    assert (table.loc[solved & (table["method"] != OURS), "apart"] < 1e-2).all()
    assert "| problem | size | method |" in capsys.readouterr().out


def test_views(capsys):
    """Without skfolio it is said that it is not installed; with it, the divergences of all methods agree."""
    table = views.main(["--kinds", "means", "--together"])
    assert table["said"].str.contains("pip install skfolio").all() or table["entropy"].std() < 1e-6
    assert "| views | method |" in capsys.readouterr().out


def test_harvest(tmp_path, capsys):
    """Problems of CVXPY's own tests are kept in a file, solved by both solvers, and none is wrong."""
    file = tmp_path / "problems"
    table = harvest.main(["--only", "suppfunc", "--file", str(file)])
    assert len(table)
    assert "wrong" not in set(table["word"])
    assert len(harvest.main(["--file", str(file), "--list"])) == len(table)
    assert "right" in capsys.readouterr().out


def test_larger():
    """Every size is measured in a process of its own."""
    table = larger.main(["--records", "200", "300", "--rows", "3"])
    assert list(table["records"]) == [200, 300]
    assert (table["certified_error"] < 1e-4).all()


def test_emission(capsys):
    """Knowledge is emitted in partitions and in memory."""
    table = emission.main(["--records", "1000", "2000", "--rows", "5", "--size", "500"])
    assert table["partitions"].to_list() == [2, 4]
    assert (table["ratio"] > 0).all()
    assert "bytes_told" in capsys.readouterr().out


def test_reading():
    """Tables are read in partitions, grouped by bucket or not, and each in a process of its own."""
    table = reading.main(["--records", "300", "--areas", "3"])
    assert list(table["buckets"]) == ["grouped", "anywhere"]
    assert (table["records"] == 300).all()


def test_newton_systems(capsys):
    """What each part of a Newton system costs is measured, beside the constants of the cost model."""
    table = newton_systems.main(["--records", "200", "--rows", "20", "40", "--times", "1"])
    assert list(table["k"]) == [20, 40]
    assert (table[["per_term", "per_entry", "per_pair", "forming_seconds", "product_seconds"]] > 0).all(axis=None)
    assert "constants: " in capsys.readouterr().out


def test_phases():
    """The phases of a solve of each standard model are no longer than the whole."""
    table = phases.main(["--records", "300", "--part", "0.02", "--times", "1"])
    assert list(table["model"]) == list(phases.MODELS)
    assert (table[["stacking", *phases.PHASES]].sum(axis=1) <= table["total"]).all()
    assert (table["certified_error"] < 1e-4).all()


def test_larger_tables_have_adults_shape():
    """The attributes, values and shares of education are Adult's; there are more QI tuples in a larger table."""
    adult = mx.datasets.load_adult()
    table = larger_adult(60_000)
    assert set(table) == {*mx.datasets.ADULT_QI, "education"}
    assert all(set(table[column]) <= set(adult[column]) for column in table)
    shares = pd.DataFrame({"adult": adult["education"].value_counts(normalize=True)})
    shares["table"] = table["education"].value_counts(normalize=True)
    standard_error = (shares["adult"] * (1 - shares["adult"]) / len(table)) ** 0.5
    assert (abs(shares["table"] - shares["adult"]) < 5 * standard_error).all()
    qi = list(mx.datasets.ADULT_QI)
    assert len(table.drop_duplicates(qi)) > len(adult.drop_duplicates(qi))


def test_contradictions():
    """The three statements that clash are found among fifty."""
    table = contradictions.main(["--statements", "50"])
    assert table["right"].all()


def test_questions():
    """Bounds, prices and certain inferences of either kind of knowledge."""
    table = questions.main(["--records", "1000", "--rows", "6"])
    assert list(table["knowledge"]) == ["generic", "strongest", "strongest"]
    assert list(table["rows"]) == [6, 0, 6]
    assert (table["intervals"][1:] > 0).all()
    assert (table["width"] >= 0).all()


def test_quantification(capsys):
    """Warm and cold scores of a curve are of the same answers, in one process and in two."""
    table = quantification.main(["--records", "500", "--known", "2", "4", "--curves", "K+", "both", "--jobs", "2"])
    assert list(table["curve"]) == ["K+", "K+", "both", "both"]
    assert (table["difference"] < 1e-6).all()
    assert "n_jobs=2" in capsys.readouterr().out


def test_rules():
    """Rules are mined, and their model is made and solved, with thresholds and with exact confidences."""
    table = rules.main(["--records", "1000", "--support", "0.2", "--confidence", "0.7", "--times", "1"])
    assert list(table["scores"]) == ["-", "confidence"]
    assert (table["certified_error"] < 1e-4).all()
    assert (table["nar_binding"] <= table["nar_pruned"]).all()


def test_series():
    """Two releases, with both kinds of solver."""
    table = series.main(["--people", "60", "120", "--l", "3"])
    assert list(table["solver"]) == ["DUAL_NEWTON", "CLARABEL"] * 2
    assert (table.loc[table["solver"] == "DUAL_NEWTON", "certified_error"] < 1e-4).all()


def test_boundary():
    """A model that knows the largest attainable probabilities has zeros, its interior twin has none."""
    table = boundary.main(["--models", "2", "--buckets", "8", "--statements", "4"])
    assert (table["boundary_zeros"] > 0).all()
    assert (table["interior_zeros"] == 0).all()
    assert (table[["boundary_error", "interior_error"]] < 1e-4).all(axis=None)


def test_honesty(capsys):
    """Models of every kind are drawn, solved and compared with the oracle, and what became of them is counted."""
    table = honesty.main(["--number", "3"])
    assert list(table["kind"]) == list(honesty.KINDS)
    assert table["models"].between(1, 3).all()
    assert (table[["answered", "refused", "infeasible", *honesty.FAILURES]].sum(axis=1) == table["models"]).all()
    assert (table[list(honesty.FAILURES)] == 0).all(axis=None)
    assert "0 beyond their bound" in capsys.readouterr().out


def test_honesty_of_many(capsys, monkeypatch):
    """Processes and a cluster find what one process finds, and it is printed in the same order."""
    pytest.importorskip("distributed", reason="distributed is not installed")
    import dask
    from distributed import LocalCluster

    monkeypatch.setattr(honesty, "ANSWERED", 0.0)  # then every answer is printed
    asked = ["--kinds", "tame", "infeasible", "--number", "6", "--refused"]
    kind = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with dask.config.set(PATIENT_DASK), LocalCluster(**kind) as cluster:
        ways = [[], ["--jobs", "2"], ["--cluster", cluster.scheduler_address]]
        tables = [honesty.main([*asked, *way]).drop(columns="seconds") for way in ways]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0], check_exact=True)
    failing = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  --kinds")]
    assert failing[0].startswith("  --kinds tame --seed 0")
    assert failing == 3 * failing[: len(failing) // 3]
    with pytest.raises(SystemExit):
        honesty.main(["--jobs", "2", "--cluster", "tcp://127.0.0.1:8786"])


def test_equivocation():
    """All numbers are there, and the exact curve of consecutive values leaves nothing open."""
    one, whole, published = equivocation.main(
        ["--values", "200", "--windows", "5", "20", "--sizes", "30", "--records", "300", "--times", "1"]
    )
    assert list(one["window"]) == [5, 20]
    assert whole.loc[whole["exact"], "open"].eq(0).all()
    assert list(published.index) == ["Sampling", "RangeQueries", "RangeQueries, maxent", "BinomialNoise"]


def test_sentences():
    """Every case has an answer, of people in all of its buckets."""
    table = sentences.main(["--bucket", "100", "--adult", "400", "--people", "3", "--chain", "12"])
    assert table["case"].is_unique
    assert (table["ratio"] > 0).all()
    assert len(table) == 6


def test_worlds():
    """Groups and a small release; the release by similar linkage is as robust as it was to be."""
    small = ["--whole", "30", "--l", "3", "--times", "1", "--records", "600", "--r", "2", "--known", "sex"]
    one, two = worlds.main(["--sizes", "3", "4", *small])
    assert list(one["tuples"]) == [3, 4]
    assert (two["seconds"] > 0).all()
    assert two.attrs["r"][1] >= 2 - 1e-9


def test_worst_case():
    """Curves rise to the k asked for, and a safe release stays below its c."""
    one, two = worst_case.main(["--most", "2", "--group", "40", "--safe", "0.6", "1", "--records", "600"])
    assert (one.diff().dropna() >= 0).all(axis=None)
    assert one["... safe=(0.6, 1)"][1] < 0.6
    assert list(two["records"]) == [600]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals and limits")
def test_saving(capsys):
    """A posterior survives kills, full disks, several writers and changed bytes, a few of each."""
    saving.main(["--kills", "2", "--full", "3", "--seconds", "1", "--every", "200"])
    said = capsys.readouterr().out
    assert "2 kills: 2 whole files read" in said
    assert "3 full disks: 3 typed refusals" in said
