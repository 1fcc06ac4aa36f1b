"""Sets of rows that force terms to zero: what else they force, as linear programs say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxent_cvx import MaxEnt, P, Release
from maxent_cvx.solvers.diagnosis.forcing_sets import ForcingSets
from maxent_cvx.solvers.parameters.tolerances import DIAGNOSIS
from maxent_cvx.solvers.program.linear_form import LinearForm
from support.solving import examples


def most(form: LinearForm, rows: np.ndarray, term: int) -> float:
    """The largest value of a term over the published rows and some rows of knowledge."""
    few = form.select_knowledge(rows)
    objective = -(np.arange(form.shape[1]) == term).astype(float)
    return -linprog(objective, A_eq=few.matrix.toarray(), b_eq=few.low, method="highs").fun


@examples(20)
@given(seed=st.integers(0, 10**6))
def test_two_statements_about_nested_groups(seed: int):
    """That none of the s are women, and that none of the others are, are two sets of two statements each.

    What P(s | a) and P(s | a, b) = 0 leave for the rest of a is all or nothing where the shares say so.
    """
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"a": rng.choice(list("uv"), 40), "b": rng.choice(list("xy"), 40), "s": rng.choice(list("12"), 40)}
    )
    table["bucket"] = np.arange(40) // 8
    table.loc[(table["a"] == "u") & (table["b"] == "x"), "s"] = "1"
    inside, outside = table[table["a"] == "u"], table[(table["a"] == "u") & (table["b"] == "y")]
    if not len(outside) or len(outside) == len(inside):
        return
    one = P("2", given={"a": "u"}) == (inside["s"] == "2").mean()
    other = P("2", given={"a": "u", "b": "y"}) == (outside["s"] == "2").mean()
    third = P("1", given={"a": "v"}) == float((table[table["a"] == "v"]["s"] == "1").mean())
    model = MaxEnt(Release.from_buckets(table, qi=["a", "b"], sa="s", bucket="bucket")).add(one, other, third)
    form, both = model.form, np.arange(model.form.n_facts, model.form.n_facts + 2)
    sets = ForcingSets(form)
    sets.add(both)
    sets.add(both)
    assert len(sets.found) == 1
    found = missed = 0
    for term in range(form.shape[1]):
        terms = np.arange(form.shape[1]) == term
        forced = most(form, both, term) < 1e-7
        irreducible = forced and all(most(form, both[both != row], term) > 0.5 for row in both)
        if sets.forcing(terms) is not None:
            assert irreducible
            found += 1
        missed += irreducible and sets.forcing(terms) is None
    assert found or not missed  # Newton's method may lack a proof; then the general search is asked
    assert sets.forcing(np.ones(form.shape[1], dtype=bool)) is None


def test_large_sets_are_not_examined():
    """A set of more rows than a problem for each is worth is not noted; the general search is then asked."""
    sets = ForcingSets(LinearForm.plain(sp.csr_array(np.eye(60)), np.zeros(60), np.zeros(60)))
    sets.add(np.arange(DIAGNOSIS.largest_set + 1))
    assert not sets.found
    sets.add(np.arange(DIAGNOSIS.largest_set))
    assert len(sets.found) == 1
