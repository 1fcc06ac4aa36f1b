"""The measuring scripts run, at toy size; what they measure is never asserted."""

from __future__ import annotations

import pytest

from tests.benchmarks import solvers


@pytest.mark.parametrize("options", [[], ["--eps", "0.02"], ["--no-presolve"]], ids=["exact", "vague", "as posed"])
def test_solvers(options, capsys):
    """Every installed solver is measured against the default on one model, and what each is certified to is said."""
    table = solvers.main(["--records", "200", "--rows", "5", "--solvers", "DUAL_NEWTON,CLARABEL,ECOS", *options])
    assert list(table["solver"])[:2] == ["DUAL_NEWTON", "CLARABEL"]
    assert (table["seconds"] > 0).all()
    assert table["certified_error"].iloc[0] < 1e-4
    assert "terms" in capsys.readouterr().out
