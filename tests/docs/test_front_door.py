"""Nobody waits for what is not used: what the front door and the command line load, and when."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import maxent_cvx as mx

#: Libraries that take from a tenth of a second to a second to load.
HEAVY = ("cvxpy", "distributed", "matplotlib", "pandas", "pyarrow", "scipy", "scipy.stats", "sklearn", "tqdm")


def loaded(code: str, watched: tuple[str, ...] = HEAVY) -> list[str]:
    """Which of the libraries a new interpreter has loaded after running some code, whatever the code prints."""
    tell = f"import sys; print(*(name for name in {watched!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{tell}"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


HELP = """
from maxent_cvx.cli import main
try:
    main({arguments!r})
except SystemExit as stopped:
    assert not stopped.code
"""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["quantify", "--help"], ["attack", "worst-case", "--help"], ["publish", "-h"], ["report", "--help"]],
    ids=str,
)
def test_help_loads_no_library(arguments):
    """Who asks how to call the program waits for no table and no solver."""
    assert loaded(HELP.format(arguments=arguments)) == []


def test_the_front_door_loads_nothing():
    """``import maxent_cvx`` imports names when they are asked for, not before."""
    assert loaded("import maxent_cvx as mx; assert 'MaxEnt' in dir(mx)") == []


def test_solving_needs_neither_cvxpy_nor_statistics_nor_pictures():
    """The default way from a table to a posterior loads what it uses."""
    code = """
import maxent_cvx as mx
hospital = mx.datasets.load_hospital()
release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
mx.measures.exposed(post), mx.plots, mx.attacks, mx.sdc, mx.anonymize
"""
    assert loaded(code, ("cvxpy", "matplotlib", "scipy.stats")) == []


def test_completion_shows_what_is_listed():
    """``dir(mx)`` is ``__all__``, also after submodules were imported, which sets attributes on the package."""
    importlib.import_module("maxent_cvx.model.maxent")  # which is no name of the front door

    assert hasattr(mx, "model")
    assert dir(mx) == mx.__all__ == sorted(mx.__all__)


def test_type_checkers_and_programs_see_the_same_names():
    """The list in __init__.pyi, which editors read, is what the package offers."""
    stub = ast.parse(Path(mx.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lists = [node.value for node in stub.body if isinstance(node, ast.Assign)]
    assert [ast.literal_eval(one) for one in lists] == [mx.__all__]


def test_each_way_in_finds_the_same():
    """A name by attribute, by ``from``, by ``*`` and from its own module, whichever is first, and through a pickle."""
    code = """
import pickle, maxent_cvx.worlds
from maxent_cvx import P, quantify, worlds
from maxent_cvx.sources import P as own
import maxent_cvx as mx
assert mx.P is P is own and mx.worlds is worlds is maxent_cvx.worlds
import maxent_cvx.experiments
assert mx.quantify is quantify and callable(quantify)
everything = {}
exec("from maxent_cvx import *", everything)
assert {*mx.__all__} <= everything.keys()
assert pickle.loads(pickle.dumps(mx.MaxEnt)) is mx.MaxEnt
"""
    loaded(code)


def test_a_verdict_needs_neither_cvxpy_nor_pictures():
    """``maxent-cvx quantify`` draws nothing unless it is asked to."""
    code = "from maxent_cvx.cli import main; assert main(['quantify', 'hospital', '--fail-above', '0.8']) == 0"
    assert loaded(code, ("cvxpy", "distributed", "matplotlib", "scipy.stats")) == []


def test_a_misspelt_name_is_an_attribute_error():
    """What is not there is not there: ``hasattr`` and completion rely on it."""
    with pytest.raises(AttributeError, match="MaxEntt"):
        _ = mx.MaxEntt  # type: ignore[attr-defined]


def test_exceptions_are_pickled_before_anything_is_loaded():
    """A worker that sends an error back needs no more than the error."""
    sent = pickle.dumps(mx.Infeasible("no"))
    code = f"import pickle; assert type(pickle.loads({sent!r})).__name__ == 'Infeasible'"
    assert loaded(code) == []
