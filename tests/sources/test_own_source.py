"""A kind of knowledge of one's own, as somebody would write it who has only read the documentation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import maxent_cvx as mx


class AtMost(mx.Source):
    """P(value | q) <= limit for every q: nobody is more likely than that to have it."""

    def __init__(self, value, limit):
        self.value, self.limit = value, limit

    def rows(self, space):
        p = space.conditional("s", given="q")
        yield (p <= self.limit).at(p.index.get_level_values("Disease") == self.value)


@dataclass(frozen=True)
class AtLeast(mx.Source):
    """P(value | given) >= least."""

    value: str
    least: float
    gender: str = "male"

    def rows(self, space):
        """Emit one statement."""
        return [mx.P(self.value, given={"Gender": self.gender}) >= self.least]


def test_twice_in_one_model(release, tmp_path):
    """Two of one class, with other parameters, are held, solved with, priced and saved side by side."""
    model = mx.MaxEnt(release).add(AtMost("Flu", 0.4), AtMost("HIV", 0.3), AtLeast("Flu", 0.35), AtLeast("HIV", 0.1))
    names = ["AtMost('Flu', 0.4)", "AtMost('HIV', 0.3)", "AtLeast('Flu', 0.35, 'male')", "AtLeast('HIV', 0.1, 'male')"]
    assert list(model.knowledge) == names
    post = model.solve()
    assert post.conditional()["Flu"].max() <= 0.4 + 1e-9
    assert post.conditional()["HIV"].max() <= 0.3 + 1e-9
    assert post.prob("Flu", given={"Gender": "male"}) >= 0.35 - 1e-9
    prices = post.prices()
    assert prices.index.is_unique
    assert prices["price"]["AtMost('HIV', 0.3): HIV, male, graduate"] > 0
    post.save(tmp_path / "post.parquet")
    np.testing.assert_allclose(mx.load_posterior(tmp_path / "post.parquet").counts, post.counts)


def test_contract(release, hospital):
    """Both keep what every source promises, on data of which they are true, and fail where they are false."""
    space = mx.MaxEnt(release).space
    mx.testing.check_source(AtLeast("Flu", 0.5), space, truth=hospital)
    with pytest.raises(AssertionError):
        mx.testing.check_source(AtMost("Flu", 0.4), space, truth=hospital)
