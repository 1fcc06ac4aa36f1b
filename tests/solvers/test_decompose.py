"""A problem in independent parts has the answer of its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P
from maxent_cvx.solvers import SOLVERS
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.decompose import BEST_TO_WORST, solve_by_components
from maxent_cvx.solvers.dual.newton import newton
from maxent_cvx.solvers.program.linear_form import LinearForm
from maxent_cvx.solvers.size_limits import ATTEMPT_SIZES
from support.depot import SQUARE, p, publish
from support.random_models import random_model
from support.solving import examples

NEWTON = SOLVERS["DUAL_NEWTON"]
seeds = st.integers(0, 10**6)


def side_by_side(forms: list[LinearForm]) -> LinearForm:
    """Forms without a common term: published rows of all first, as a form has them."""
    matrix = sp.csr_array(sp.block_diag([form.matrix for form in forms]))
    low, high, weights = (np.concatenate([getattr(f, name) for f in forms]) for name in ("low", "high", "weights"))
    published = np.concatenate([np.arange(form.shape[0]) < form.n_published for form in forms])
    whole = replace(LinearForm.plain(matrix, low, high, weights), n_published=len(published))
    order = np.argsort(~published, kind="stable")
    return replace(whole.select(order), matrix=matrix[order], n_published=int(published.sum()))


def forms(seed: int, n: int) -> list[LinearForm]:
    """Random models, each with its own weights."""
    rng = np.random.default_rng(seed)
    found = [random_model(seed + i, statements=4, buckets=(1, 1))[0].form for i in range(n)]
    return [replace(form, weights=rng.exponential(size=form.shape[1]) + 0.1) for form in found]


@examples(25)
@given(seed=seeds, n=st.sampled_from([1, 2, 3, ATTEMPT_SIZES.most_components + 3]))
def test_the_whole_is_its_parts(seed: int, n: int):
    """Each part's answer is what it would be by itself, and so that of all together: more than 16 parts, too."""
    each = forms(seed, n)
    whole = side_by_side(each)
    by_parts, at_once = solve_by_components(NEWTON, whole, np.zeros(whole.shape[0])), newton(whole)
    alone = np.concatenate([newton(form).counts for form in each])
    assert by_parts.status is Status.OPTIMAL
    np.testing.assert_allclose(by_parts.counts, alone, atol=1e-4)  # entropy is flat at its top
    np.testing.assert_allclose(by_parts.counts, at_once.counts, atol=1e-4)
    assert whole.residual(by_parts.counts).max() <= 1e-6
    sure = by_parts.counts > 1e-6  # at a zero multipliers have no end
    np.testing.assert_allclose(by_parts.counts[sure], np.exp(whole.exponent(by_parts.multipliers))[sure], rtol=1e-6)
    numbers = {line.get("part", 0) for line in by_parts.log}
    assert numbers == set(range(len(numbers)))
    assert len(numbers) <= ATTEMPT_SIZES.most_components


class Scripted:
    """A backend that ends as it is told to, in order of the parts' sizes."""

    name, installed = "SCRIPTED", True

    def __init__(self, *ends: Status) -> None:
        self.ends = list(ends)

    def check(self, options: Any) -> None:
        """Take anything."""

    def solve(self, form: LinearForm, start: np.ndarray, **options: Any) -> Answer:
        """End as told."""
        status, n = self.ends.pop(0), len(self.ends)
        counts = None if status is Status.INFEASIBLE else np.zeros(form.shape[1])
        return Answer(status, counts, start, n, 1.0, 2.0, str(status), [np.ones(form.shape[0])], [{"iteration": 0}])


def three() -> LinearForm:
    """Three parts, of three, two and one term."""
    return side_by_side([LinearForm.plain(sp.csr_array(np.ones((1, n))), np.ones(1), np.ones(1)) for n in (1, 3, 2)])


@pytest.mark.parametrize("worst", [status for status in BEST_TO_WORST if status is not Status.INFEASIBLE])
def test_the_worst_end_is_that_of_all(worst: Status):
    """All parts are optimal, or the whole is not; times add up, and iterations are those of the longest."""
    form = three()
    found = solve_by_components(Scripted(Status.OPTIMAL, worst, Status.OPTIMAL), form, np.array([1.0, 2.0, 3.0]))
    assert found.status is worst
    assert found.iterations == 2
    assert (found.compile_seconds, found.solve_seconds) == (3.0, 6.0)
    assert found.message == ("optimal" if worst is Status.OPTIMAL else f"optimal; {worst}")
    np.testing.assert_array_equal(found.multipliers, [1, 2, 3])  # each part begins where the whole does
    assert sorted(proof.tolist() for proof in found.proofs) == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert [line["part"] for line in found.log] == [0, 1, 2]


def test_a_part_without_an_answer():
    """Where one part has no answer the whole has none, and the others are not waited for."""
    backend = Scripted(Status.OPTIMAL, Status.INFEASIBLE, Status.OPTIMAL)
    found = solve_by_components(backend, three(), np.zeros(3))
    assert found.status is Status.INFEASIBLE
    assert found.counts is None
    assert len(backend.ends) == 1


def test_every_status_has_a_rank():
    """No way to end is forgotten when ends are compared."""
    assert set(BEST_TO_WORST) == set(Status)


def test_a_contradiction_in_one_part():
    """A contradiction in one bucket is that of the model, whatever holds in the others."""
    twice = [*SQUARE, ("q3*4 q4*2", "s1*3 s2*3")]
    model = MaxEnt(publish(twice)).add(p("s1", "q1") == 0.4, p("s1", "q3") == 0.4)
    np.testing.assert_allclose(model.solve().prob(P("s1", {"Q": "q4"})), 0.7, atol=1e-9)  # 3 - 1.6 of 2
    with pytest.raises(Infeasible):
        model.add(p("s1", "q4") == 0.6).solve()
