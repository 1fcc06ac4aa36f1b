"""The bound is a theorem: no P(s | q) is further from the exact solution for the rows as typed.

The exact answer is that of an oracle in extended precision, to which every typed double is the rational that it is.
``python -m tests.benchmarks.honesty --number 5000`` draws as many models of each kind as it is asked for.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import maxent_cvx as mx
from maxent_cvx import Inaccurate, MaxEnt, P, Release
from maxent_cvx.terms.rows import Rows
from support.oracle import oracle
from tests.benchmarks.drawing import KINDS, drawn
from tests.benchmarks.honesty import ANSWERED, FAILURES, WELL_POSED, judged

#: Models of each kind that every run of the tests draws.
EVERY_TIME = {
    "wide": 25, "tame": 15, "vague": 8, "views": 15, "convex": 3, "cancelling": 10, "soft": 5,
    "dense": 3, "sparse": 4, "degenerate": 4, "boundary": 10, "infeasible": 8,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_exceeded(kind: str):
    """For coefficients from 1e-9 to 1e9, for dense rows and dependent ones, at the boundary, beyond it, and others."""
    cases = [case for seed in range(EVERY_TIME[kind]) if (case := drawn(kind, seed)) is not None]
    outcomes = [judged(case) for case in cases]
    assert not [outcome for outcome in outcomes if outcome.word in FAILURES]
    if kind == "infeasible":  # there is no answer
        assert {outcome.word for outcome in outcomes} == {"infeasible"}
        return
    posed = [outcome for outcome in outcomes if outcome.moves < WELL_POSED]
    limit = ANSWERED if kind == "tame" else 1e-4
    answered = [outcome for outcome in posed if outcome.word == "answered" and outcome.bound <= limit]
    assert len(answered) >= 0.9 * len(posed) > 0  # honesty is not achieved by refusing all


def test_soft_inequalities_alone_that_cannot_be_met():
    """A model whose only soft rows are inequalities, far from what the release allows at great cost, has an answer."""
    assert judged(drawn("soft", 88012)).word == "answered"


def test_beside_a_constant(release: Release):
    """As P(any disease) = 1, c P(Flu | male) + P(any disease) = 1 + 0.2 c means P(Flu | male) = 0.2, up to rounding.

    1 + 0.2e-17 is 1 in doubles: as typed, P(Flu | male) = 0, which the buckets exclude; nothing is certified.
    """
    flu, anything = P("Flu", given={"Gender": "male"}), P(sorted(set(mx.datasets.load_hospital().Disease)))
    for c in (1.0, 1e-3, 1e-5, 1e-7, 1e-8, 1e-9, 1e-11, 1e-13, 1e-15):
        statement = c * flu + anything == 1 + 0.2 * c
        exact = (Fraction(statement.low) - 1) / Fraction(c)  # the side as typed, without P(any disease) = 1
        post = MaxEnt(release).add(statement).solve()
        assert abs(post.prob(flu) - float(exact)) <= post.certificate.bound <= 1e-8
        assert post.certificate.backward == 0
    with pytest.raises((mx.Infeasible, mx.Inaccurate)):
        MaxEnt(release).add(1e-17 * flu + anything == 1 + 0.2e-17).solve()


def test_named_as_almost_certain():
    """P(flu | Alice) = 1 - 1e-9 leaves a billionth for the other values, which is not rounded to zero."""
    people = pd.DataFrame({"Q": list("aab"), "S": ["flu", "hiv", "cold"], "B": 1})
    release = Release.from_buckets(people, qi=["Q"], sa="S", bucket="B")
    model = MaxEnt(release, people={"Alice": {"Q": "a"}}).add(P("flu", who="Alice") == 1 - 1e-9)
    post = model.solve()
    assert post.people().loc["Alice", "flu"] == pytest.approx(1 - 1e-9, abs=1e-12)
    assert post.certificate.bound <= 1e-6
    exact = oracle(model, post.counts)
    error = max(abs(float(a - b)) for a, b in zip(post.counts, exact.counts, strict=True))
    assert error <= post.certificate.bound


def test_the_last_digits_of_what_is_fixed():
    """A value that the release determines may be typed with nine digits; `backward` reports the change of the rows."""
    people = pd.DataFrame({"Q": list("aaab"), "S": ["flu", "flu", "hiv", "cold"], "B": [1, 1, 1, 2]})
    release = Release.from_buckets(people, qi=["Q"], sa="S", bucket="B")
    for off in (2e-9, -2e-9, 1e-12):
        post = MaxEnt(release).add(P("flu", given={"Q": "a"}) == 2 / 3 + off).solve()
        assert post.prob("flu", given={"Q": "a"}) == pytest.approx(2 / 3, abs=1e-8)
        assert 0 < post.certificate.backward <= 2 * abs(off)


# -- cases that were once wrong ---------------------------------------------------------------------------------------


def of_men(young: int, old: int, women: int) -> Release:
    """One bucket: as many men of 20 with flu as with HIV and gout, and so of 40; some women with flu, one with HIV."""
    values = ["Flu", "HIV", "Gout"]
    counts = {
        ("m", 20): dict.fromkeys(values, young),
        ("m", 40): dict.fromkeys(values, old),
        ("f", 20): {"Flu": women, "HIV": 1},
    }
    rows = [(*who, s) for who, number in counts.items() for s, n in number.items() for _ in range(n)]
    table = pd.DataFrame(rows, columns=["Sex", "Age", "Disease"]).assign(Bucket=1)
    return Release.from_buckets(table, qi=["Sex", "Age"], sa="Disease", bucket="Bucket")


def flu_of_men(**more: int) -> mx.sources.Probability:
    return P("Flu", given={"Sex": "m", **more})


def test_terms_that_cancel():
    """The law of total probability changes no answer, however its coefficients are rounded."""
    for young, old, women in ((7, 9, 3), (1, 7, 3), (21, 43, 7)):
        release, share = of_men(young, old, women), young / (young + old)
        average = share * flu_of_men(Age=20) + (1 - share) * flu_of_men(Age=40)
        plain = MaxEnt(release).solve().conditional()
        for said in (flu_of_men() == average, flu_of_men() <= average):
            np.testing.assert_allclose(MaxEnt(release).add(said).solve().conditional(), plain, atol=1e-12)


def test_a_statement_plus_terms_that_cancel():
    """A statement plus a large multiple of an expression that is 0 is the same statement."""
    release, hiv = of_men(6, 10, 3), P("HIV", given={"Sex": "m"})
    once = MaxEnt(release).add(hiv == 0.3125).solve()
    for c in (1e2, 1e4, 1e6, 1e8, 2e8):
        nothing = c * flu_of_men() - 0.375 * c * flu_of_men(Age=20) - 0.625 * c * flu_of_men(Age=40)
        twice = MaxEnt(release).add(hiv == 0.3125).add(nothing + hiv == 0.3125).solve()
        apart = np.abs(once.conditional() - twice.conditional()).to_numpy().max()
        assert apart <= once.certificate.bound + twice.certificate.bound + 1e-15


@pytest.mark.parametrize("e", [1e-17, 1e-20, 1e-30])
def test_rows_that_differ_by_less_than_a_unit_in_the_last_place(e: float):
    """Two own rows that differ by e (P(b) - 3 P(g)) = 0 imply P(b) = 3 P(g): refused, or answered accordingly."""
    people = pd.DataFrame({"Sex": list("mmmmffff")})
    model = MaxEnt(mx.QITable(people, qi=["Sex"], sa="S", sa_values=["Flu", "HIV", "Gout"]))
    flu, hiv, gout = (model.space.row(s, {"Sex": "m"}).toarray() for s in ("Flu", "HIV", "Gout"))
    side = np.array([0.25])
    for i, row in enumerate((flu, flu + e * hiv - 3 * e * gout)):
        model.add(Rows(sp.csr_array(row), side, side, f"own {i}"), label=f"own {i}")
    try:
        post = model.solve()
    except Inaccurate:
        return
    off = abs(post.prob("HIV", {"Sex": "m"}) - 0.5625)
    assert off <= post.certificate.bound


def test_little_slack():
    """A redundant inequality with hardly any slack does not prevent a certificate."""
    hiv, flu = P("HIV", given={"Sex": "m"}), flu_of_men(Age=20)
    for slack in (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10):
        model = MaxEnt(of_men(4, 5, 2)).add(1.7 * hiv + 0.3 * flu == 0.6).add(1.7 * hiv + 0.3 * flu <= 0.6 + slack)
        assert model.solve().certificate.bound <= 1e-6
