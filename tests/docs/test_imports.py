"""Imports go down the layers, and libraries load only when they are needed."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import maxent_cvx as mx

#: Libraries that take from a tenth of a second to a second to import.
HEAVY = ("cvxpy", "distributed", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn", "tqdm")
#: Those among them that neither a solve nor a verdict needs.
UNNEEDED = ("cvxpy", "distributed", "matplotlib", "scipy.stats")


def loaded(code: str, watched: tuple[str, ...]) -> list[str]:
    """Run code in a new interpreter, and return which of the watched libraries it imported."""
    report = f"import sys; print(*(name for name in {watched!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_layers(tmp_path):
    """Every contract of import-linter in pyproject.toml is kept."""
    settings = Path(__file__).parents[2] / "pyproject.toml"
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(
        [*command, "--config", str(settings), "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_and_help_load_no_library():
    """Neither ``import maxent_cvx``, nor ``--help`` of any command, nor an unpickled error loads a library."""
    code = f"""
import pickle
import maxent_cvx as mx
assert "MaxEnt" in dir(mx)
assert type(pickle.loads({pickle.dumps(mx.Infeasible("no"))!r})).__name__ == "Infeasible"
from maxent_cvx.cli import main
for command in ([], ["quantify"], ["publish"], ["report"], ["attack", "worst-case"]):
    try:
        main([*command, "--help"])
    except SystemExit as stopped:
        assert not stopped.code
"""
    assert loaded(code, HEAVY) == []


def test_solving_loads_neither_cvxpy_nor_plots():
    """A solve and a verdict, in Python and on the command line, load only the libraries that they use."""
    code = """
import maxent_cvx as mx
hospital = mx.datasets.load_hospital()
release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
mx.measures.exposed(post), mx.plots, mx.attacks, mx.sdc, mx.anonymize
from maxent_cvx.cli import main
assert main(["quantify", "hospital", "--fail-above", "0.8"]) == 0
"""
    assert loaded(code, UNNEEDED) == []


def test_every_way_to_import_gives_the_same_object():
    """As an attribute, by ``from``, by ``*``, from the defining module, and unpickled, in any order."""
    code = """
import pickle, maxent_cvx.worlds
from maxent_cvx import P, quantify, worlds
from maxent_cvx.sources import P as defined
import maxent_cvx as mx
import maxent_cvx.experiments
assert mx.P is P is defined and mx.worlds is worlds is maxent_cvx.worlds
assert mx.quantify is quantify and callable(quantify)
everything = {}
exec("from maxent_cvx import *", everything)
assert {*mx.__all__} <= everything.keys()
assert pickle.loads(pickle.dumps(mx.MaxEnt)) is mx.MaxEnt
"""
    loaded(code, ())


def test_listed_names():
    """``dir(mx)``, ``mx.__all__`` and the stub that type checkers read list the same names."""
    importlib.import_module("maxent_cvx.model.maxent")  # sets an attribute on the package
    stub = ast.parse(Path(mx.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    assert [ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign)] == [mx.__all__]
    assert dir(mx) == mx.__all__ == sorted(mx.__all__)
    with pytest.raises(AttributeError, match="MaxEntt"):
        _ = mx.MaxEntt  # type: ignore[attr-defined]
