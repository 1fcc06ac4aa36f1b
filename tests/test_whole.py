"""What linear rows cannot see: people have exactly one value each (Re-publishing, section 3.5, and beyond it)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import refused
from hypothesis import given
from hypothesis import strategies as st
from patience import AGES
from series import assignments, patients, published, random_tables
from solving import examples

import maxent_cvx as mx
from maxent_cvx import Infeasible, MaxEnt, NotDecided, P, ReleaseSeries, SolverError

seeds = st.integers(0, 10**6)


def shuffled(seed: int, releases: int, people: int, values: int, size: int) -> list[pd.DataFrame]:
    """People who all stay, in new buckets of one size each time."""
    rng = np.random.default_rng(seed)
    disease, found = rng.choice(list("abcdef")[:values], people), []
    for _ in range(releases):
        order = rng.permutation(people)
        bucket = np.arange(people) // size + 1
        found.append(pd.DataFrame({"Pseudonym": order, "Disease": disease[order], "Bucket": bucket}))
    return found


class TestWhatLinearRowsCannotSee:
    """Sixteen people, two releases: the model says 0.18, and no whole assignment has it at all."""

    tables = shuffled(178, 2, 16, 4, 4)

    def test_the_example(self):
        """Section 3.5 says that all inference channels are embedded in the constraints: this one is not."""
        model = MaxEnt(ReleaseSeries(map(published, self.tables)))
        post = model.solve()
        assert post.prob("c", who=9) > 0.17
        assert model.bounds(P("c", who=9))[1] > 0.3
        assert model.bounds(P("c", who=9), integer=True, time_limit=AGES) == (0, 0)
        found = post.certain(integer=True, time_limit=AGES)
        assert found.loc["P(c | Pseudonym=9)", "probability"] == 0
        assert found.loc["P(c | Pseudonym=9)", "posterior"] == pytest.approx(post.prob("c", who=9))

    def test_by_trying_everything(self):
        """A person's values, from every assignment of the buckets' values, one bucket after the other."""
        first, second = self.tables
        values = {}
        for bucket, people in first.groupby("Bucket"):
            values[bucket] = (list(people["Pseudonym"]), sorted(people["Disease"]))
        wanted = {b: sorted(t["Disease"]) for b, t in second.groupby("Bucket")}
        of = dict(zip(second["Pseudonym"], second["Bucket"], strict=True))

        def possible(bucket: int, left: dict[int, list[str]], nine: str | None) -> set[str]:
            if bucket > len(values):
                return {nine} if nine else set()
            people, own = values[bucket]
            found = set()
            for order in set(_orders(own)):
                rest = {b: list(v) for b, v in left.items()}
                for person, value in zip(people, order, strict=True):
                    if value not in rest[of[person]]:
                        break
                    rest[of[person]].remove(value)
                else:
                    chosen = dict(zip(people, order, strict=True)).get(9, nine)
                    found |= possible(bucket + 1, rest, chosen)
            return found

        assert "c" not in possible(1, wanted, None)


def _orders(values: list[str]) -> list[tuple[str, ...]]:
    """All different orders of some values."""
    import itertools

    return list(itertools.permutations(values))


@examples(60)
@given(seed=seeds, releases=st.integers(1, 3))
def test_against_all_assignments(seed: int, releases: int):
    """Bounds and certainties over whole assignments are those of trying every one."""
    tables = random_tables(seed, releases, size=6)
    every = assignments(tables)
    model = MaxEnt(ReleaseSeries(map(published, tables)))
    people, values = model.view.persons, model.view.sensitive_values
    person, value = int(people[seed % len(people)]), values[seed % len(values)]
    share = (every[person] == value).astype(float)
    assert model.bounds(P(value, who=person), integer=True, time_limit=AGES) == pytest.approx(
        (share.min(), share.max())
    )
    several = [int(i) for i in people[:3]]
    number = (every[several] == value).sum(axis=1)
    low, high = model.bounds(sum(P(value, who=i) for i in several), integer=True, time_limit=AGES)
    assert (low, high) == pytest.approx((number.min(), number.max()))
    found = model.solve().certain(integer=True, time_limit=AGES)
    assert found["decided"].all()
    codes, terms = model.space.codes, set()
    for q, s in zip(codes["q"], codes["s"], strict=True):
        terms.add((int(people[q]), values[s]))
    for person, value in terms:
        share = (every[person] == value).mean()
        others = sum(p == person for p, _ in terms) > 1
        name = f"P({value} | Pseudonym={person})"
        if share == 1:
            assert (name in found.index) == others
            assert name not in found.index or found.loc[name, "probability"] == 1
        elif share == 0:  # unless another value has 1, which says it
            sure = (every[person] == every[person].iloc[0]).all()
            assert (name in found.index) == (not sure)
        else:
            assert name not in found.index


def test_buckets_alone():
    """In one release whole numbers change nothing: counting bounds are whole (Frechet)."""
    release = mx.Release.from_buckets(
        mx.datasets.load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket"
    )
    model = MaxEnt(release)
    asked = P("Flu", given={"Gender": "male"})
    assert model.bounds(asked, integer=True, time_limit=AGES) == pytest.approx(model.bounds(asked), abs=1e-6)
    assert model.solve().certain(integer=True, time_limit=AGES).empty


def test_knowledge_that_no_whole_assignment_has():
    """30 % of six men are no whole number of them; between 0.3 and 0.4 there are two, whole."""
    release = mx.Release.from_buckets(
        mx.datasets.load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket"
    )
    asked = P("Flu", given={"Gender": "male"})
    with refused(Infeasible, "no whole assignment", "integer=True"):
        MaxEnt(release).add(asked == 0.3).bounds(P("Flu", given={"Gender": "female"}), integer=True, time_limit=AGES)
    model = MaxEnt(release).add(asked.between(0.3, 0.4))
    assert model.bounds(P("Flu", given={"Gender": "female"}), integer=True, time_limit=AGES) == pytest.approx(
        (0.25, 0.25)
    )
    assert model.bounds(P("Flu", given={"Gender": "female"}))[1] == pytest.approx(0.3)


def test_named_people():
    """One of two people has it, whole: the other then has not."""
    hospital = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    people = {n: {"Gender": "male", "Degree": "college"} for n in ("Allen", "Brian")}
    model = MaxEnt(release, people=people).add(P("HIV", who="Allen") >= 0.1)
    assert model.bounds(P("HIV", who="Allen"), integer=True, time_limit=AGES) == (1, 1)
    found = model.solve().certain(integer=True, time_limit=AGES)
    assert found.loc["P(HIV | Allen)", "probability"] == 1
    assert found.loc["P(HIV | Brian)", "probability"] == 0
    assert found.loc["P(HIV | Allen)", "posterior"] < 1


def test_not_decided():
    """Without time nothing is decided, and that is said."""
    model = MaxEnt(patients())
    with refused(NotDecided, "more time"):
        model.bounds(P("Flu", who=1), integer=True, time_limit=0)
    found = model.solve().certain(integer=True, time_limit=0)
    assert not found["decided"].all()
    assert found.loc[~found["decided"], "probability"].isna().all()
    convex = MaxEnt(patients()).add(lambda space: space.p[0] ** 2 <= 0.5)
    with refused(SolverError, "convex"):
        convex.bounds(P("Flu", who=1), integer=True, time_limit=AGES)
