"""Certain inferences: which are listed, with which reasons, and about which people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Release, Statement
from maxent_cvx.sources.statements import Probability
from support.patience import AGES
from support.random_models import random_model


def span(model: MaxEnt, labels: list[str], inference: str) -> tuple[float, float]:
    """The bounds of an inference if only some of the statements are known."""
    return MaxEnt(model.view).add(*(model.knowledge[label] for label in labels)).bounds(inference)


@given(seed=st.integers(0, 10_000))
@example(seed=137)  # a proof that is not a multiple of small integers
def test_reasons_are_irreducible(seed: int):
    """The reasons force the inference, and no fewer of them do."""
    model, _ = random_model(seed, statements=5)
    for inference, row in model.solve().certain().iterrows():
        because = row["because"]
        assert because
        assert set(because) <= set(model.knowledge)
        assert span(model, because, str(inference)) == pytest.approx((row["probability"],) * 2, abs=1e-6)
        for label in because:
            low, high = span(model, [other for other in because if other != label], str(inference))
            assert high - low > 1e-6


def test_hospital(release):
    """Grace's bucket gives her away, as soon as men are known not to have breast cancer (section 1)."""
    people = {"Grace": {"Gender": "female", "Degree": "junior"}, "Cathy": {"Gender": "female", "Degree": "college"}}
    model = MaxEnt(release, people=people).add(P("Breast Cancer", given={"Gender": "male"}) == 0, label="common sense")
    model.add("P(Flu | Gender=female) = 0.25")
    certain = model.solve().certain()
    assert certain.loc["P(Breast Cancer | Grace)"].tolist() == [1, 1, ["common sense"]]
    assert certain.loc["P(Breast Cancer | Degree=junior, Gender=female)", "because"] == ["common sense"]
    both = ["common sense", "P(Flu | Gender=female) = 0.25"]
    assert sorted(certain.loc["P(Pneumonia | Cathy)", "because"]) == sorted(both)
    assert certain.loc["P(Pneumonia | Cathy)", "probability"] == 0
    assert "P(Flu | Grace)" not in certain.index  # another disease is certain already
    assert all(mx.MaxEnt(release, people=people).solve().certain().columns == certain.columns)


@pytest.mark.parametrize("solver", ["DUAL_LBFGS", "CLARABEL"])
def test_answers_that_are_not_exact(release, solver):
    """A certain inference is proved, so that an answer that is off by millionths of a person does not hide it."""
    model = MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(HIV | Gender=male) >= 0.1")
    rough = model.solve(solver, presolve=False, allow_inaccurate=True)
    assert rough.certain().equals(model.solve().certain())


def scaled(statement: Statement, factor: float) -> Statement:
    """The same statement, each coefficient and value multiplied."""
    terms = frozenset((event, a * factor) for event, a in statement.terms)
    return Statement(terms, statement.low * factor, statement.high * factor)


def test_a_statement_repeated_in_another_scale_is_no_reason():
    """Two of three people with half a flu each leave none to the third, whatever is known of him, in any scale."""
    table = pd.DataFrame({"Q": list("abc"), "S": ["flu", "hiv", "cold"], "B": 1})
    release = Release.from_buckets(table, qi=["Q"], sa="S", bucket="B")
    statements = ["P(flu | Q=b) >= 0.5", "P(flu | Q=c) >= 0.5", "P(flu | Q=a) <= 0.005"]
    certain = MaxEnt(release).add(*statements).solve().certain()
    assert certain["because"].to_dict() == {"P(flu | Q=a)": statements[:2]}
    for factor in (2, 0.1, 1 / 3):
        model = MaxEnt(release).add(*statements)
        for label in (statements[0], statements[2]):
            model.add(scaled(model.knowledge[label], factor), label=f"{label}, scaled")
        (because,) = model.solve().certain()["because"]
        assert sorted(label.removesuffix(", scaled") for label in because) == statements[:2]


# Everybody with a QI tuple, a named person, or the others; against all worlds.

#: Rounding of a value as typed.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Worlds:
    """The value of every record in each world, and the record of each named person: one row per world."""

    values: np.ndarray
    owner: np.ndarray
    q: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def of(cls, records: pd.DataFrame, people: dict[str, str]) -> Worlds:
        """All worlds: each bucket permutes its values, and a name may be on any record with its description."""
        per_bucket = [sorted(set(itertools.permutations(bucket["S"]))) for _, bucket in records.groupby("B")]
        values = np.array([sum(parts, ()) for parts in itertools.product(*per_bucket)], dtype=object)
        q = records["Q"].to_numpy()
        chosen = itertools.product(*(np.flatnonzero(q == described) for described in people.values()))
        owners = np.array([owner for owner in chosen if len(set(owner)) == len(owner)], dtype=int)
        return cls(
            np.repeat(values, len(owners), axis=0), np.tile(owners, (len(values), 1)), q, tuple(people)
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
    """Draw a statement that is true, and a function that says in which worlds it is."""
    events = list(dict.fromkeys(_event(rng, truth) for _ in range(int(rng.integers(1, 3)))))
    factors = [1.0, *rng.choice([1.0, -1.0, -0.5], len(events) - 1)]

    def total(worlds: Worlds) -> np.ndarray:
        return sum(a * worlds.share(*event) for a, event in zip(factors, events, strict=True))

    combination: Probability = sum((a * written(*event) for a, event in zip(factors[1:], events[1:], strict=True)),
                                   start=1 * written(*events[0]))  # fmt: skip
    value = float(total(truth)[0])
    form = rng.choice(["equal", "most", "least", "vague"])
    slack = float(rng.choice([0.0, 0.1, 0.3]))
    if form == "equal":
        return combination == value, lambda worlds: np.abs(total(worlds) - value) < ROUNDING
    if form == "most" and value + slack < sum(a for a in factors if a > 0):
        return combination <= value + slack, lambda worlds: total(worlds) < value + slack + ROUNDING
    if form == "least" and value - slack > sum(a for a in factors if a < 0):
        return combination >= value - slack, lambda worlds: total(worlds) > value - slack - ROUNDING
    return combination.about(value, 0.05), lambda worlds: np.abs(total(worlds) - value) < 0.05 + ROUNDING


def _event(rng: np.random.Generator, truth: Worlds) -> tuple[str, str, str]:
    value = str(rng.choice(truth.values[0]))
    if rng.random() < 0.6:
        return "who", str(rng.choice(truth.names)), value
    return "q", str(rng.choice(truth.q)), value


def written(kind: str, whom: str, value: str) -> Probability:
    """P(value | whom) as a statement has it."""
    return P(value, who=whom) if kind == "who" else P(value, given={"Q": whom})


def subjects(worlds: Worlds, records: pd.DataFrame) -> Iterator[tuple[str, str, str, str, int, list[str]]]:
    """Yield those of whom something can be certain: kind, whom, QI value, label, how many people, possible values."""
    owned = worlds.q[worlds.owner[0]]
    for q in sorted(records["Q"].unique()):
        here = records.loc[records["B"].isin(records.loc[records["Q"] == q, "B"]), "S"]
        values, n, n_named = sorted(here.unique()), int((worlds.q == q).sum()), int((owned == q).sum())
        yield "q", q, q, f"Q={q}", n, values
        for name, own in zip(worlds.names, owned, strict=True):
            if own == q:
                yield "who", name, q, name, 1, values
        if 0 < n_named < n:
            yield "others", q, q, f"(others), Q={q}", n - n_named, values


def linear_bounds(model: MaxEnt, worlds: Worlds, kind: str, whom: str, value: str) -> tuple[float, float]:
    """Bounds of P(value | whom) over distributions; the others are all with the tuple but those with a name."""
    if kind != "others":
        return model.bounds(written(kind, whom, value))
    named = [name for name, own in zip(worlds.names, worlds.q[worlds.owner[0]], strict=True) if own == whom]
    n = int((worlds.q == whom).sum())
    total = n * written("q", whom, value) - sum(P(value, who=name) for name in named)
    low, high = model.bounds(total)
    return low / (n - len(named)), high / (n - len(named))


@pytest.mark.parametrize("integer", [True, False])
@given(seed=st.integers(0, 10**6))
def test_certainties_are_those_of_all_worlds_or_of_bounds(integer: bool, seed: int):
    """An inference is listed if it is 0 or 1 in all worlds, or in all distributions, and was not so without knowledge."""
    model, worlds, records = random_named(seed)
    certain = model.solve().certain(integer=integer, time_limit=AGES)
    expected: dict[str, tuple[float, int]] = {}
    for kind, whom, q, label, n, values in subjects(worlds, records):
        known = {}
        for value in values:
            if integer:
                share = worlds.share(kind, whom, value)
                low, high = share.min(), share.max()
            else:
                low, high = linear_bounds(model, worlds, kind, whom, value)
            if high < 1e-7 or low > 1 - 1e-7:
                known[value] = float(high > 1e-7)
        if 1.0 in known.values():
            known = {value: p for value, p in known.items() if p == 1 and len(values) > 1}
        for value, p in known.items():
            if kind != "others" or expected.get(f"P({value} | Q={q})", (None,))[0] != p:
                expected[f"P({value} | {label})"] = p, n
    assert (
        dict(zip(certain.index, zip(certain["probability"], certain["people"], strict=True), strict=True)) == expected
    )
    assert not integer or certain["decided"].all()


@given(seed=st.integers(0, 10**6))
def test_integer_bounds_are_those_of_all_worlds(seed: int):
    """The interval over whole assignments is that over all worlds, and within that over distributions."""
    model, worlds, records = random_named(seed)
    for kind, whom, _, _, _, values in subjects(worlds, records):
        if kind != "others":
            value = values[seed % len(values)]
            share, probability = worlds.share(kind, whom, value), written(kind, whom, value)
            ends = model.bounds(probability, integer=True, time_limit=AGES)
            assert ends == pytest.approx((share.min(), share.max()), abs=1e-6)
            low, high = model.bounds(probability)
            assert low - 1e-6 <= share.min()
            assert share.max() <= high + 1e-6
