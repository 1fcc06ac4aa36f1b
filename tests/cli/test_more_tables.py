"""Sensitive dates as people write them, and scores with original records in a file of their own."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main


def test_sensitive_dates_are_dates(folder, capsys):
    """Dates such as 31.12.2020 are judged as those written 2020-12-31, in TABLE and in --original."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-20") + pd.to_timedelta(rng.integers(0, 300, 40), unit="D")
    table = pd.DataFrame({"age": rng.integers(0, 4, 40), "day": days})
    forms = {"iso.csv": "%Y-%m-%d", "dotted.csv": "%d.%m.%Y"}
    for name, form in forms.items():
        table.to_csv(name, index=False, date_format=form)
    results = []
    for name in forms:
        roles = ["--qi", "age", "--sa", "day", "--original", "dotted.csv", "--within", "30 days"]
        assert main(["quantify", name, *roles, "--json"]) == 0
        results.append(json.loads(capsys.readouterr().out))
        del results[-1]["tables"]
    assert results[0] == results[1]


def test_scores_with_original_records(folder, capsys):
    """--top takes the associations from --original, where TABLE is generalized and people are in --population."""
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"age": rng.integers(20, 60, 60), "sex": rng.choice(["f", "m"], 60)})
    original["ill"] = np.where(rng.random(60) < 0.6, np.where(original["age"] < 40, "x", "y"), "z")
    decades = [f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in original["age"]]
    generalized = original.assign(age=decades, sex="*")
    for name, table in (("original", original), ("people", original[["age", "sex"]]), ("generalized", generalized)):
        table.to_csv(f"{name}.csv", index=False)
    command = [
        "quantify",
        "generalized.csv",
        "--qi",
        "age,sex",
        "--sa",
        "ill",
        "--population",
        "people.csv",
        "--top",
        "0,3",
    ]
    assert main(command) == 2
    assert main([*command, "--original", "original.csv", "--out", "scores.csv"]) == 0
    release = mx.Release.from_generalized(generalized, qi=["age", "sex"], sa="ill", population=original[["age", "sex"]])
    bounds = [(0, 0), (3, 0), (0, 0), (0, 3), (0, 0), (2, 1)]
    expected = mx.quantify(release, original, bounds)
    assert pd.read_csv("scores.csv")["score"].tolist() == pytest.approx(expected["score"].tolist(), abs=1e-6)
