"""Small releases with named people, true statements about them, and every whole assignment that has both."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from maxent_cvx import MaxEnt, P, Release, Statement
from maxent_cvx.sources.statements import Probability

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
