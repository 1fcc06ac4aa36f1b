"""Warm starts, polishing and multipliers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import MaxEnt, Posterior, Release, ReleaseSeries, StatementError, load_posterior
from maxent_cvx.anonymize import anatomy_buckets, republish
from maxent_cvx.datasets import load_adult, load_hospital
from support.helpers import refused
from support.problems import FIGURE_1C, SOLVABLE, p, publish
from support.random_models import random_model
from support.solving import DEFAULT, INSTALLED, error

seeds = st.integers(0, 10**6)
INTERIOR = [case for case in SOLVABLE if case.interior]


def agree(one: Posterior, two: Posterior) -> None:
    assert error(one, two.counts) <= one.certificate.bound + two.certificate.bound + 1e-9


@pytest.mark.parametrize("presolve", [True, False])
def test_nothing_has_changed(presolve: bool):
    """Started from its own multipliers a solve takes two iterations at most, and no more than before."""
    for case in INTERIOR[::2]:
        model = case.model()
        first = model.solve(presolve=presolve)
        again = model.solve(presolve=presolve, warm_start=first)
        agree(first, again)
        assert again.iterations <= min(2, first.iterations), case


def test_zeros_from_the_start():
    """No woman has c, so that the men of bucket 1 have it: the zeros of both are proved, although the start has them."""
    records = pd.DataFrame(
        {
            "Age": [50, 40, 20, 40, 40, 40, 40, 50], "Sex": list("mffmfmfm"), "S": list("cabcbabb"),
            "Ward": [1, 1, 2, 1, 3, 3, 1, 3],
        }
    )  # fmt: skip
    release = Release.from_buckets(records, qi=["Age", "Sex"], sa="S", bucket="Ward")
    people = {"Bob": {"Age": 40, "Sex": "m"}, "Ann": {"Age": 40, "Sex": "f"}}
    model = MaxEnt(release, people=people).add("P(c | Sex=f) = 0")
    first = model.solve()
    agree(model.solve(warm_start=first), first)


def test_zeros_that_no_step_shows():
    """Two releases of Adult force 200 terms to zero; Newton's method converges before its steps show them."""
    adult = load_adult(complete=True).sample(frac=1, random_state=0).reset_index(drop=True)
    adult["id"] = np.arange(len(adult))
    before, after = adult.iloc[310:2170], adult.iloc[:1860]  # 1,550 people are in both
    buckets = anatomy_buckets(before, qi="id", sa="occupation", l=5, seed=0)
    first = Release.from_buckets(before.assign(Bucket=buckets), qi=[], sa="occupation", bucket="Bucket", id="id")
    second = republish(first, after, method="independent", l=5, seed=1)
    post = MaxEnt(ReleaseSeries([first, second])).solve()
    assert post.certificate.bound < 1e-7
    assert (post.people() == 0).to_numpy().any()


@pytest.mark.parametrize("solver", [name for name in INSTALLED if name != DEFAULT])
def test_polish(solver: str):
    """A rough answer, polished, is as precise as the default solver's."""
    for case in INTERIOR[:6]:
        model = case.model()
        post = model.solve(solver, polish=True)
        assert error(post, case.expected(post.space)) <= 1e-8
        assert post.certificate.bound <= max(model.solve().certificate.bound, 1e-6)
        if post.iterations:  # presolve has not found everything by itself
            assert solver in post.solver


@given(seed=seeds, presolve=st.booleans())
def test_any_start_has_the_same_answer(seed: int, presolve: bool):
    """From the multipliers of a model with more or fewer statements the answer is the same."""
    model, records = random_model(seed, statements=5)
    labels = list(model.knowledge)
    less = model.copy()
    for label in labels[: len(labels) // 2 + 1]:
        less.remove(label)
    few, many = less.solve(), model.solve()
    agree(model.solve(presolve=presolve, warm_start=few, allow_inaccurate=True), many)
    agree(less.solve(presolve=presolve, warm_start=many, allow_inaccurate=True), few)
    assert len(records) == model.view.n_records


def test_an_answer_does_not_depend_on_a_bad_start():
    """Newton's method stops at its limit from the answer with one more statement, and begins again from no answer."""
    release = Release.from_buckets(load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    men = {"Gender": "male"}
    model = MaxEnt(release).add(lambda space: [space.prob("Flu", men) >= 0.45, space.prob("HIV", men) <= 0.1])
    model = model.add("P(Flu | Gender=female) <= 0.1", "P(Lung Cancer | Gender=male) >= 0.4").relax().model
    fewer = model.without_row(model.form.n_facts)
    agree(fewer.solve(warm_start=model.solve()), fewer.solve())
    assert model.solve().prices(leave_one_out=True)["without"].notna().all()


def test_refused_starts(tmp_path: Path):
    """Another release's posterior, something else, and one without multipliers are refused, with what to do."""
    model = MaxEnt(publish(FIGURE_1C)).add(p("s1", "q1") == 0.3)
    post = model.solve()
    agree(MaxEnt(publish(FIGURE_1C)).solve(warm_start=post), MaxEnt(publish(FIGURE_1C)).solve())  # the same release
    with refused(StatementError, "another release"):
        MaxEnt(Release.from_buckets(load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")).solve(warm_start=post)
    with refused(StatementError, "warm_start", "ndarray"):
        model.solve(warm_start=post.counts)
    post.save(tmp_path / "post.parquet")
    with refused(StatementError, "warm_start", "multipliers"):
        model.solve(warm_start=load_posterior(tmp_path / "post.parquet"))


@given(seed=seeds)
def test_multipliers(seed: int):
    """They are given by label, one a row, and determine the posterior: N p = exp(A' m - 1)."""
    model, _ = random_model(seed)
    post = model.solve(presolve=False, allow_inaccurate=True)
    known = list(model.knowledge)
    assert list(post.multipliers)[len(post.multipliers) - len(known) :] == known
    m = np.concatenate(list(post.multipliers.values()))
    sure = post.counts > 1e-6  # at zeros the multipliers are infinite in the limit
    np.testing.assert_allclose(post.counts[sure], np.exp(model.form.exponent(m))[sure], rtol=1e-6)
