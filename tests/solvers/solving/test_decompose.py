"""The answer to a problem with independent components consists of the answers to these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.attempts import BEST_TO_WORST, MOST_COMPONENTS, solve_by_components
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.newton import newton
from support.depot import SQUARE, p, publish
from support.random_models import random_model

NEWTON = SOLVERS["DUAL_NEWTON"]
seeds = st.integers(0, 10**6)


def side_by_side(forms: list[LinearForm]) -> LinearForm:
    """One form of several without common terms, the published rows of all first."""
    matrix = sp.csr_array(sp.block_diag([form.matrix for form in forms]))
    low, high, weights = (np.concatenate([getattr(f, name) for f in forms]) for name in ("low", "high", "weights"))
    published = np.concatenate([np.arange(form.shape[0]) < form.n_published for form in forms])
    form = replace(LinearForm.plain(matrix, low, high, weights), n_published=len(published))
    order = np.argsort(~published, kind="stable")
    return replace(form.select(order), coefficients=matrix[order], n_published=int(published.sum()))


def forms(seed: int, n: int) -> list[LinearForm]:
    """Random models, each with its own weights."""
    rng = np.random.default_rng(seed)
    found = [random_model(seed + i, statements=4, buckets=(1, 1))[0].form for i in range(n)]
    return [replace(form, weights=rng.exponential(size=form.shape[1]) + 0.1) for form in found]


@given(seed=seeds, n=st.sampled_from([1, 2, 3, MOST_COMPONENTS + 3]))
def test_components_are_solved_as_by_themselves(seed: int, n: int):
    """A component has the same answer by itself and in the whole problem, also among more than 16 components."""
    each = forms(seed, n)
    form = side_by_side(each)
    by_parts, at_once = solve_by_components(NEWTON, form, np.zeros(form.shape[0])), newton(form)
    alone = np.concatenate([newton(component).counts for component in each])
    assert by_parts.status is Status.OPTIMAL
    np.testing.assert_allclose(by_parts.counts, alone, atol=1e-4)  # entropy is flat at its top
    np.testing.assert_allclose(by_parts.counts, at_once.counts, atol=1e-4)
    assert form.residual(by_parts.counts).max() <= 1e-6
    sure = by_parts.counts > 1e-6  # at a zero the multipliers are infinite
    np.testing.assert_allclose(by_parts.counts[sure], np.exp(form.exponent(by_parts.multipliers))[sure], rtol=1e-6)
    assert [line["iteration"] for line in by_parts.log] == list(range(by_parts.iterations + 1))  # of all together
    running = [line["parts"] for line in by_parts.log]
    assert running[0] <= MOST_COMPONENTS
    assert running == sorted(running, reverse=True)


class Scripted:
    """A backend with given statuses, for components in the order of their sizes."""

    name, installed = "SCRIPTED", True

    def __init__(self, *ends: Status) -> None:
        self.ends = list(ends)

    def check(self, options: Any) -> None:
        """Accept any options."""

    def solve(self, form: LinearForm, start: np.ndarray, **options: Any) -> Answer:
        """Return an answer with the next status."""
        status, n = self.ends.pop(0), len(self.ends)
        counts = None if status is Status.INFEASIBLE else np.zeros(form.shape[1])
        return Answer(status, counts, start, n, 1.0, 2.0, str(status), [np.ones(form.shape[0])], [{"iteration": 0}])


def three() -> LinearForm:
    """Three components, of three, two and one term."""
    return side_by_side([LinearForm.plain(sp.csr_array(np.ones((1, n))), np.ones(1), np.ones(1)) for n in (1, 3, 2)])


@pytest.mark.parametrize("worst", [status for status in BEST_TO_WORST if status is not Status.INFEASIBLE])
def test_the_worst_status_is_that_of_all(worst: Status):
    """The status is the worst of all components; times add up, and iterations are the most of any component."""
    form = three()
    found = solve_by_components(Scripted(Status.OPTIMAL, worst, Status.OPTIMAL), form, np.array([1.0, 2.0, 3.0]))
    assert found.status is worst
    assert found.iterations == 2
    assert (found.compile_seconds, found.solve_seconds) == (3.0, 6.0)
    assert found.message == ("optimal" if worst is Status.OPTIMAL else f"optimal; {worst}")
    np.testing.assert_array_equal(found.multipliers, [1, 2, 3])  # each component starts from its part of the start
    assert sorted(proof.tolist() for proof in found.proofs) == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert [line["part"] for line in found.log] == [1, 2, 3]


def test_a_component_without_an_answer():
    """If a component has no answer the problem has none, and the other components are not solved."""
    backend = Scripted(Status.OPTIMAL, Status.INFEASIBLE, Status.OPTIMAL)
    found = solve_by_components(backend, three(), np.zeros(3))
    assert found.status is Status.INFEASIBLE
    assert found.counts is None
    assert len(backend.ends) == 1


def test_a_contradiction_in_one_component():
    """A contradiction in one bucket makes the model infeasible, whatever holds in the others."""
    twice = [*SQUARE, ("q3*4 q4*2", "s1*3 s2*3")]
    model = MaxEnt(publish(twice)).add(p("s1", "q1") == 0.4, p("s1", "q3") == 0.4)
    np.testing.assert_allclose(model.solve().prob(P("s1", {"Q": "q4"})), 0.7, atol=1e-9)  # 3 - 1.6 of 2
    with pytest.raises(Infeasible):
        model.add(p("s1", "q4") == 0.6).solve()
