"""Certain inferences: what is forced, by what, of whom, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Release, Statement
from maxent_cvx.sources.statements import Probability
from support.patience import AGES
from support.random_models import random_model


def span(model: MaxEnt, labels: list[str], inference: str) -> tuple[float, float]:
    """What an inference can be, given some statements only."""
    return MaxEnt(model.view).add(*(model.knowledge[label] for label in labels)).bounds(inference)


@given(seed=st.integers(0, 10_000))
def test_reasons_are_irreducible(seed: int):
    """The statements force the inference, and no fewer of them do; it was open before."""
    model, _ = random_model(seed, statements=5)
    for inference, found in model.solve().certain().iterrows():
        because = found["because"]
        assert because
        assert set(because) <= set(model.knowledge)
        assert span(model, because, str(inference)) == pytest.approx((found["probability"],) * 2, abs=1e-6)
        for label in because:
            low, high = span(model, [other for other in because if other != label], str(inference))
            assert high - low > 1e-6


def test_hospital(release):
    """Grace's bucket gives her away, as soon as men are known not to have breast cancer (section 1)."""
    people = {"Grace": {"Gender": "female", "Degree": "junior"}, "Cathy": {"Gender": "female", "Degree": "college"}}
    model = MaxEnt(release, people=people).add(P("Breast Cancer", given={"Gender": "male"}) == 0, label="common sense")
    model.add("P(Flu | Gender=female) = 0.25")
    found = model.solve().certain()
    assert found.loc["P(Breast Cancer | Grace)"].tolist() == [1, 1, ["common sense"]]
    assert found.loc["P(Breast Cancer | Degree=junior, Gender=female)", "because"] == ["common sense"]
    both = ["common sense", "P(Flu | Gender=female) = 0.25"]
    assert sorted(found.loc["P(Pneumonia | Cathy)", "because"]) == sorted(both)
    assert found.loc["P(Pneumonia | Cathy)", "probability"] == 0
    assert "P(Flu | Grace)" not in found.index  # goes without saying
    assert all(mx.MaxEnt(release, people=people).solve().certain().columns == found.columns)


@pytest.mark.parametrize("solver", ["DUAL_LBFGS", "CLARABEL"])
def test_answers_that_are_not_exact(release, solver):
    """What is certain is proved, not read off the answer: a few millionths of a person do not hide it."""
    model = MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(HIV | Gender=male) >= 0.1")
    rough = model.solve(solver, presolve=False, allow_inaccurate=True)
    assert rough.certain().equals(model.solve().certain())


def scaled(statement: Statement, factor: float) -> Statement:
    """Say the same, each coefficient and value multiplied."""
    terms = frozenset((event, a * factor) for event, a in statement.terms)
    return Statement(terms, statement.low * factor, statement.high * factor)


@pytest.fixture
def trio() -> mx.Release:
    """Three people and three values in one bucket."""
    table = pd.DataFrame({"Q": list("abc"), "S": ["flu", "hiv", "cold"], "B": 1})
    return mx.Release.from_buckets(table, qi=["Q"], sa="S", bucket="B")


def test_said_twice(trio):
    """Two people with one half each leave no flu to the third; that the third hardly has it, said twice, does not."""
    said = ["P(flu | Q=b) >= 0.5", "P(flu | Q=c) >= 0.5", "P(flu | Q=a) <= 0.005"]
    found = MaxEnt(trio).add(*said).solve().certain()
    assert found["because"].to_dict() == {"P(flu | Q=a)": said[:2]}
    for factor in (2, 0.1, 1 / 3):
        model = MaxEnt(trio).add(*said)
        for label in (said[0], said[2]):
            model.add(scaled(model.knowledge[label], factor), label=f"{label}, scaled")
        again = model.solve().certain()
        assert list(again.index) == list(found.index)
        (because,) = again["because"]
        assert {label.removesuffix(", scaled") for label in because} == set(said[:2])
        assert len(because) == 2


# Of whom: everybody with a QI tuple, a named person, or the others; against all worlds.

#: Rounding of a value as typed.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Worlds:
    """Who has which value, and which record is whose, a row each.

    Attributes
    ----------
    values : ndarray of str, shape (worlds, records)
    owner : ndarray of int, shape (worlds, names)
        The record of each named person.
    q : ndarray of str, one a record
    names : tuple of str
    """

    values: np.ndarray
    owner: np.ndarray
    q: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def of(cls, records: pd.DataFrame, people: dict[str, str]) -> Worlds:
        """All of them: each bucket deals its values, and a name may be on any record as described."""
        per_bucket = [
            sorted(set(itertools.permutations(records.loc[records["B"] == b, "S"]))) for b in records["B"].unique()
        ]
        dealt = np.array([sum(one, ()) for one in itertools.product(*per_bucket)], dtype=object)
        q = records["Q"].to_numpy()
        owners = np.array(
            [
                chosen
                for chosen in itertools.product(*(np.flatnonzero(q == own) for own in people.values()))
                if len(set(chosen)) == len(chosen)
            ],
            dtype=int,
        ).reshape(-1, len(people))
        return cls(
            np.repeat(dealt, len(owners), axis=0), np.tile(owners, (len(dealt), 1)), q, tuple(people)
        )  # fmt: skip

    def share(self, kind: str, whom: str, value: str) -> np.ndarray:
        """P(value | whom) in every world: of everybody with a tuple, of a named person, or of a tuple's others."""
        has = self.values == value
        if kind == "who":
            return has[np.arange(len(has)), self.owner[:, self.names.index(whom)]].astype(float)
        of = np.tile(self.q == whom, (len(has), 1))
        if kind == "others":
            np.put_along_axis(of, self.owner, False, axis=1)
        return (has & of).sum(axis=1) / of.sum(axis=1)

    def where(self, holds: np.ndarray) -> Worlds:
        return Worlds(self.values[holds], self.owner[holds], self.q, self.names)


def random_named(seed: int, statements: int = 3) -> tuple[MaxEnt, Worlds, pd.DataFrame]:
    """Draw records, names for one to three of them, and statements that are true; keep the worlds they leave."""
    rng = np.random.default_rng(seed)
    sizes = [int(rng.integers(3, 6))] if rng.random() < 0.5 else [2, int(rng.integers(2, 4))]
    n = sum(sizes)
    records = pd.DataFrame({"Q": rng.choice(list("ab"), n), "S": rng.choice(["flu", "hiv", "cold"], n)})
    records["B"] = np.repeat(np.arange(len(sizes)), sizes)
    named = rng.choice(n, int(rng.integers(1, 4)), replace=False)
    people = {name: str(records["Q"][i]) for name, i in zip(["Alice", "Bob", "Carol"], named, strict=False)}
    release = Release.from_buckets(records, qi=["Q"], sa="S", bucket="B")
    model = MaxEnt(release, people={name: {"Q": q} for name, q in people.items()})
    truth = Worlds(records[["S"]].T.to_numpy(dtype=object), named[None], records["Q"].to_numpy(), tuple(people))
    worlds = Worlds.of(records, people)
    for _ in range(int(rng.integers(1, statements + 1))):
        statement, holds = _true_statement(rng, truth)
        if statement.label not in model.knowledge:
            model.add(statement)
            worlds = worlds.where(holds(worlds))
    return model, worlds, records


def _true_statement(rng: np.random.Generator, truth: Worlds) -> tuple[Statement, Callable[[Worlds], np.ndarray]]:
    """Draw a statement, and what it says of worlds."""
    drawn = [_event(rng, truth) for _ in range(int(rng.integers(1, 3)))]
    factors = [1.0, *rng.choice([1.0, -1.0, -0.5], len(drawn) - 1)]

    def total(worlds: Worlds) -> np.ndarray:
        return sum(a * worlds.share(*event) for a, event in zip(factors, drawn, strict=True))

    said: Probability = sum(a * spoken(*event) for a, event in zip(factors[1:], drawn[1:], strict=True)) + spoken(
        *drawn[0]
    )
    value = float(total(truth)[0])
    form = rng.choice(["equal", "most", "least", "vague"])
    slack = float(rng.choice([0.0, 0.1, 0.3]))
    if len(said.terms) < len(drawn):  # one event, twice
        return _true_statement(rng, truth)
    if form == "equal":
        return said == value, lambda worlds: np.abs(total(worlds) - value) < ROUNDING
    if form == "most" and value + slack < sum(a for a in factors if a > 0):
        return said <= value + slack, lambda worlds: total(worlds) < value + slack + ROUNDING
    if form == "least" and value - slack > sum(a for a in factors if a < 0):
        return said >= value - slack, lambda worlds: total(worlds) > value - slack - ROUNDING
    return said.about(value, 0.05), lambda worlds: np.abs(total(worlds) - value) < 0.05 + ROUNDING


def _event(rng: np.random.Generator, truth: Worlds) -> tuple[str, str, str]:
    value = str(rng.choice(truth.values[0]))
    if rng.random() < 0.6:
        return "who", str(rng.choice(truth.names)), value
    return "q", str(rng.choice(truth.q)), value


def spoken(kind: str, whom: str, value: str) -> Probability:
    """P(value | whom) as a statement says it."""
    return P(value, who=whom) if kind == "who" else P(value, given={"Q": whom})


def subjects(worlds: Worlds, records: pd.DataFrame) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """Whom something can be certain of: kind, whom, their QI value, how they are written, and their possible values."""
    owned = worlds.q[worlds.owner[0]]
    for q in sorted(records["Q"].unique()):
        here = records.loc[records["B"].isin(records.loc[records["Q"] == q, "B"]), "S"]
        values = sorted(here.unique())
        yield "q", q, q, f"Q={q}", values
        for name, own in zip(worlds.names, owned, strict=True):
            if own == q:
                yield "who", name, q, name, values
        if 0 < (owned == q).sum() < (worlds.q == q).sum():
            yield "others", q, q, f"(others), Q={q}", values


@pytest.mark.parametrize("integer", [True, False])
def test_the_others_are_not_everybody(integer):
    """Alice has a and the flu: one half of those with a have it, and none of the others; what all have, she has."""
    table = pd.DataFrame({"Q": list("aab"), "S": ["flu", "hiv", "cold"], "B": 1})
    release, alice = mx.Release.from_buckets(table, qi=["Q"], sa="S", bucket="B"), {"Alice": {"Q": "a"}}
    model = MaxEnt(release, people=alice).add(P("flu", who="Alice") == 1)
    assert model.bounds(P("flu", given={"Q": "a"}), integer=True, time_limit=AGES) == pytest.approx((0.5, 0.5))
    found = model.solve().certain(integer=integer, time_limit=AGES)
    expected = {"P(flu | Q=b)": 0, "P(flu | Alice)": 1, "P(flu | (others), Q=a)": 0}
    assert found["probability"].to_dict() == expected
    assert found["people"].to_list() == [1, 1, 1]
    model = MaxEnt(release, people=alice).add(P("cold", given={"Q": "b"}) == 1)
    found = model.solve().certain(integer=integer, time_limit=AGES)
    expected = {"P(cold | Q=a)": 0, "P(cold | Q=b)": 1, "P(cold | Alice)": 0}
    assert found["probability"].to_dict() == expected
    assert found["people"].to_dict() == {"P(cold | Q=a)": 2, "P(cold | Q=b)": 1, "P(cold | Alice)": 1}


@given(seed=st.integers(0, 10**6))
def test_whole_certainties_are_those_of_all_worlds(seed: int):
    """Every inference is true in every world, and everything that is, and was open before, is listed."""
    model, worlds, records = random_named(seed)
    found = model.solve().certain(integer=True, time_limit=AGES)
    assert found["decided"].all()
    expected: dict[str, float] = {}
    for kind, whom, q, written, values in subjects(worlds, records):
        shares = {value: worlds.share(kind, whom, value) for value in values}
        sure = [value for value, share in shares.items() if share.min() == 1]
        if sure:
            told = {sure[0]: 1.0} if len(values) > 1 else {}
        else:
            told = {value: 0.0 for value, share in shares.items() if share.max() == 0}
        for value, p in told.items():
            if kind != "others" or expected.get(f"P({value} | Q={q})") != p:
                expected[f"P({value} | {written})"] = p
    assert found["probability"].to_dict() == expected


@given(seed=st.integers(0, 10**6))
def test_whole_bounds_are_those_of_all_worlds(seed: int):
    """The interval over whole assignments is that over all worlds; that over distributions holds it."""
    model, worlds, records = random_named(seed)
    for kind, whom, _, _, values in subjects(worlds, records):
        if kind != "others":
            share = worlds.share(kind, whom, values[seed % len(values)])
            asked = spoken(kind, whom, values[seed % len(values)])
            assert model.bounds(asked, integer=True, time_limit=AGES) == pytest.approx(
                (share.min(), share.max()), abs=1e-6
            )
            low, high = model.bounds(asked)
            assert low - 1e-6 <= share.min()
            assert share.max() <= high + 1e-6


@given(seed=st.integers(0, 10**6))
def test_certainties_of_the_rows_are_those_of_bounds(seed: int):
    """Without whole numbers, too: of everybody, of names and of others what is listed is what bounds show."""
    model, worlds, records = random_named(seed)
    found = model.solve().certain()["probability"]
    expected: dict[str, float] = {}
    for kind, whom, q, written, values in subjects(worlds, records):
        told = {}
        for value in values:
            asked = spoken("q" if kind == "others" else kind, whom, value)
            n = 1
            if kind == "others":  # all with q, less those with a name
                names = [name for name, own in zip(worlds.names, worlds.q[worlds.owner[0]], strict=True) if own == q]
                n_q = int((worlds.q == q).sum())
                n = n_q - len(names)
                asked = n_q * asked - sum(P(value, who=name) for name in names)
            low, high = model.bounds(asked)
            if high < 1e-7 or low > n - 1e-7:
                told[value] = float(high > 1e-7)
        if 1.0 in told.values():
            told = {value: p for value, p in told.items() if p == 1 and len(values) > 1}
        for value, p in told.items():
            if kind != "others" or expected.get(f"P({value} | Q={q})") != p:
                expected[f"P({value} | {written})"] = p
    assert found.to_dict() == expected
