"""Whatever a public function is given, it is taken, or refused by an error of this package that says why (C4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, LabelMismatch, MaxEntError, P, StatementError, TableError, UnknownName
from support.door import CLOSED, Door, public
from support.doors import doors
from support.helpers import refused
from support.wrong_calls import calls, outcome

#: So many wrong calls are made here, of all that ``python -m tests.benchmarks.wrong_calls`` makes.
DRAWN = 400


@pytest.fixture(scope="module")
def every() -> dict[str, Door]:
    return doors()


def test_every_door_is_known(every):
    """A public function without a valid call here would never be given a wrong one: none is left out."""
    walked = set(public())
    optional = {"mx.PublishedTree", "mx.Release.from_dask"} - set(every)  # scikit-learn or Dask is not there
    assert walked - set(every) - set(CLOSED) == optional
    assert {name for name in [*every, *CLOSED] if name.startswith("mx.")} - walked == set()


def test_valid_calls(every):
    """Every call that wrong ones are made from is valid itself."""
    for name, door in every.items():
        try:
            door.call()
        except MaxEntError as error:
            pytest.fail(f"{name}: {error}")


def test_wrong_calls(every, tmp_path, monkeypatch):
    """Of calls with one wrong argument, drawn from all doors, each is taken or ends in a typed error of one line."""
    monkeypatch.chdir(tmp_path)  # "x" is the name of a file, and some calls write it
    asked = list(calls(every))
    assert len(asked) > 2_000
    drawn = np.random.default_rng(17).choice(len(asked), DRAWN, replace=False)
    untyped = [str(one) for one in (outcome(*asked[i]) for i in sorted(drawn)) if not one.is_typed]
    assert not untyped


@pytest.fixture(scope="module")
def model() -> mx.MaxEnt:
    release = mx.Release.from_buckets(
        mx.datasets.load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket"
    )
    return mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)


@pytest.mark.parametrize(
    ("error", "says", "call"),
    [
        (StatementError, "max_iterations=-1", lambda model: model.solve(max_iterations=-1)),
        (BadProbability, "tolerance must be a finite number", lambda model: model.solve(tolerance="x")),
        (BadProbability, "tolerance=-1", lambda model: model.solve(tolerance=-1)),
        (StatementError, "priority must be a dictionary", lambda model: model.relax(priority="x")),
        (
            BadProbability,
            "threshold=None: a number from 0 to 1",
            lambda model: mx.measures.exposed(model.solve(), threshold=None),
        ),
        (StatementError, "callback=the class int: a function", lambda model: model.solve(callback=int)),
        (StatementError, "measure=5", lambda model: model.solve().prices(measure=5)),
        (StatementError, "solvers=[]", lambda model: mx.compare_solvers(model, [])),
        (UnknownName, "label of the model's knowledge", lambda model: model.copy().remove([])),
        (StatementError, "there is no file 'missing.txt'", lambda model: mx.read_knowledge("missing.txt")),
        (StatementError, "presolve='no'", lambda model: model.solve(presolve="no")),
        (
            StatementError,
            "is read as",
            lambda model: model.solve(polish=np.array([True, False])),
        ),
    ],
)
def test_examples(model, error, says, call):
    """A wrong value is named, with what is expected instead; a text such as "no" does not count as True."""
    if says == "is read as":
        says = "polish=a ndarray: True or False is expected"
    with refused(error, says):
        call(model)


@pytest.mark.parametrize(
    ("error", "says", "call"),
    [
        (StatementError, "sums must be a list of numbers", lambda _: mx.sdc.WindowSums(None)),
        (
            TableError,
            "sa_values=a DataFrame",
            lambda table: mx.QITable(table, qi="Gender", sa="S", sa_values=table[["Disease"]]),
        ),
        (
            TableError,
            "cell of column 'Disease'",
            lambda table: release_of(table.assign(Disease=[["Flu"]] * len(table))),
        ),
        (TableError, "qi must name columns by text", lambda table: release_of(table, np.array("Gender"))),
        (LabelMismatch, "more than once", lambda table: block_of(table).loc[["male", "male"]]),
    ],
)
def test_nothing_is_taken_in_silence(hospital, error, says, call):
    """What is no list, no single value or said twice is refused where it is read, and not somewhere below."""
    with refused(error, says):
        call(hospital)


def release_of(table: pd.DataFrame, qi: object = "Gender") -> mx.Release:
    return mx.Release.from_buckets(table, qi=qi, sa="Disease", bucket="Bucket")


def block_of(table: pd.DataFrame) -> mx.Block:
    return mx.MaxEnt(release_of(table)).space.marginal("Gender")


def test_no_record_is_printed(model):
    """A table that is given by mistake is not printed: it may hold records of people."""
    records = pd.DataFrame({"Name": ["Person 4711"], "Disease": ["HIV"]})
    for call in (
        lambda: model.solve(records),
        lambda: model.copy().remove(records),
        lambda: mx.P("Flu", given=records),
        lambda: mx.P(records),
        lambda: mx.anonymize.anatomy(records, qi="Name", sa="Disease", l=records),
        lambda: model.solve().prob("Flu", who=records),
        lambda: mx.QITable(records, qi="Name", sa="Disease", sa_values=["HIV"], sa_distribution=records),
    ):
        with pytest.raises(MaxEntError) as caught:
            call()
        assert "4711" not in str(caught.value)


def test_a_text_is_needed():
    """A name that cannot be written to any file, half a character, is no name of a column."""
    with refused(TableError, "qi must name columns by text"):
        mx.Release.from_buckets(mx.datasets.load_hospital(), qi="\ud800", sa="Disease", bucket="Bucket")
