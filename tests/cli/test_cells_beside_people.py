"""Generalised cells, as people write them, beside the exact values of a population."""

# ruff: noqa: RUF001 (dashes)

from __future__ import annotations

import json

import pandas as pd
import pytest

from maxent_cvx.cli.main import main


@pytest.mark.parametrize(
    "cells",
    [("20 bis 29", "30 bis 39"), ("20 à 29", "30 à 39"), ("20–29", "30–39"), ("{20,21,22}", "{31, 32, 33, 38}")],
)
def test_generalised_cells_beside_a_population(cells, capsys):
    """Both groups are of two people, whoever else could be in them; nobody needs to be 20 or 32."""
    pd.DataFrame({"age": [cells[0]] * 2 + [cells[1]] * 2, "disease": ["flu", "HIV", "flu", "flu"]}).to_csv(
        "open.csv", index=False
    )
    pd.DataFrame({"age": [21, 22, 31, 38]}).to_csv("people.csv", index=False)
    command = ["quantify", "open.csv", "--generalized", "--qi", "age", "--sa", "disease", "--population", "people.csv"]
    assert main([*command, "--json"]) == 0
    who = json.loads(capsys.readouterr().out)
    assert who["worst_disclosure"]["max_p"] == pytest.approx(1)
    assert who["release"]["buckets"] == 2
