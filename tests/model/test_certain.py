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
from maxent_cvx.sources.statements import Event, Probability
from support.fig_4 import described
from support.patience import AGES
from support.random_models import QI, SA, publish, random_model, random_people


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


@dataclass(frozen=True)
class Worlds:
    """The value of every record in each world, and the record of each named person: one row per world."""

    records: pd.DataFrame
    values: np.ndarray
    owner: dict[str, np.ndarray]

    @classmethod
    def of(cls, records: pd.DataFrame, named: list[int]) -> Worlds:
        """All worlds: each bucket permutes its values, and a name may be on any record with its description."""
        per_bucket = [sorted(set(itertools.permutations(bucket[SA]))) for _, bucket in records.groupby("Bucket")]
        values = np.array([sum(parts, ()) for parts in itertools.product(*per_bucket)], dtype=object)
        alike = [np.flatnonzero((records[list(QI)] == records.loc[n, list(QI)]).all(axis=1)) for n in named]
        owners = np.array([owner for owner in itertools.product(*alike) if len(set(owner)) == len(owner)], dtype=int)
        owner = dict(zip((f"i{n}" for n in named), np.tile(owners, (len(values), 1)).T, strict=True))
        return cls(records, np.repeat(values, len(owners), axis=0), owner)

    def total(self, combination: Probability | Statement) -> np.ndarray:
        """The value of a combination of probabilities and numbers of people in every world."""
        return sum(a * self.share(event) for event, a in dict(combination.terms).items())

    def share(self, event: Event) -> np.ndarray:
        """P(value | given) in every world, or how many of the named people have the value."""
        has = np.isin(self.values, list(next(choice.values for _, choice in event.value)))
        if event.who is not None:
            return sum(has[np.arange(len(has)), self.owner[name]].astype(int) for name in event.who)
        of = np.logical_and.reduce(
            [np.ones(len(self.records), dtype=bool)]
            + [self.records[name].isin(list(choice.values)) for name, choice in event.given]
        )
        return has[:, of].mean(axis=1)

    def where(self, statements: list[Statement]) -> Worlds:
        """The worlds in which statements are true, but for rounding."""
        totals = [(self.total(one), one.low - 1e-9, one.high + 1e-9) for one in statements]
        holds = np.logical_and.reduce([(low <= total) & (total <= high) for total, low, high in totals])
        return Worlds(self.records, self.values[holds], {name: own[holds] for name, own in self.owner.items()})


def random_named(seed: int) -> tuple[MaxEnt, Worlds]:
    """Draw records with names for some of them, and true statements; keep the worlds that they leave."""
    records, named, statements = random_people(seed, most=6, buckets=(1, 2), size=4)
    model = MaxEnt(publish(records), people=described(records, named)).add(*statements)
    return model, Worlds.of(records, named).where(statements)


def subjects(worlds: Worlds) -> Iterator[tuple[str, Callable[[str], Probability], int, list[str]]]:
    """Yield those of whom something can be certain: label, expected number with a value, people, possible values."""
    for q, group in worlds.records.groupby(list(QI)):
        given, names = dict(zip(QI, q, strict=True)), [name for name in worlds.owner if int(name[1:]) in group.index]
        label, n = ", ".join(f"{name}={given[name]}" for name in sorted(given)), len(group)
        values = sorted(set(worlds.records.loc[worlds.records["Bucket"].isin(group["Bucket"]), SA]))

        def everybody(value: str, given: dict[str, object] = given, n: int = n) -> Probability:
            return n * P(value, given=given)

        yield label, everybody, n, values
        for name in names:
            yield name, lambda value, name=name: 1 * P(value, who=name), 1, values
        if 0 < len(names) < n:
            yield (
                f"(others), {label}",
                lambda value, names=names, of=everybody: of(value) - sum(P(value, who=name) for name in names),
                n - len(names), values,
            )  # fmt: skip


@pytest.mark.parametrize("integer", [True, False])
@given(seed=st.integers(0, 10**6))
def test_certainties_are_those_of_all_worlds_or_of_bounds(integer: bool, seed: int):
    """An inference is listed if it is 0 or 1 in all worlds, or in all distributions, and was not so without knowledge."""
    model, worlds = random_named(seed)
    certain = model.solve().certain(integer=integer, time_limit=AGES)
    expected: dict[str, tuple[float, int]] = {}
    for label, number, n, values in subjects(worlds):
        known = {}
        for value in values:
            total = number(value)
            low, high = (worlds.total(total).min(), worlds.total(total).max()) if integer else model.bounds(total)
            if high < 1e-7 or low > n - 1e-7:
                known[value] = float(high > 1e-7)
        if 1.0 in known.values():
            known = {value: p for value, p in known.items() if p == 1 and len(values) > 1}
        for value, p in known.items():
            of_all = expected.get(f"P({value} | {label.removeprefix('(others), ')})")
            if not label.startswith("(others)") or of_all is None or of_all[0] != p:
                expected[f"P({value} | {label})"] = p, n
    found = zip(certain["probability"], certain["people"], strict=True)
    assert dict(zip(certain.index, found, strict=True)) == expected
    assert not integer or certain["decided"].all()


@given(seed=st.integers(0, 10**6))
def test_integer_bounds_are_those_of_all_worlds(seed: int):
    """The interval over whole assignments is that over all worlds, and within that over distributions."""
    model, worlds = random_named(seed)
    for _, number, _, values in subjects(worlds):
        total = number(values[seed % len(values)])
        in_worlds = worlds.total(total)
        ends = model.bounds(total, integer=True, time_limit=AGES)
        assert ends == pytest.approx((in_worlds.min(), in_worlds.max()), abs=1e-6)
        low, high = model.bounds(total)
        assert low - 1e-6 <= in_worlds.min()
        assert in_worlds.max() <= high + 1e-6
