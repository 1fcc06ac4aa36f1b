"""Linear forms: their connected components are those of the graph of rows and terms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.form import LinearForm
from support.random_models import random_model

seeds = st.integers(0, 10**6)


def as_by_the_graph(form: LinearForm, terms: np.ndarray) -> np.ndarray:
    """A number for each row and each term, the same where they are linked, by walks in the whole graph."""
    links = form.matrix.toarray() * terms
    graph = np.block([[np.zeros((len(links), len(links))), links], [links.T, np.zeros((links.shape[1],) * 2)]])
    return sp.csgraph.connected_components(sp.csr_array(graph), directed=False)[1]


def same_partition(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two numberings say the same of every pair."""
    return bool(((one[:, None] == one) == (other[:, None] == other)).all())


@given(seed=seeds, share=st.sampled_from([0.1, 0.3, 0.7, 1.0]), published=st.booleans())
def test_components(seed: int, share: float, published: bool):
    """Rows and terms are in one component if a walk over linking terms connects them; a second call agrees."""
    form = random_model(seed, statements=5)[0].form
    form = form if published else replace(form, n_published=0, n_facts=0)
    rng = np.random.default_rng(seed)
    for terms in rng.random((2, form.shape[1])) < share:
        for _ in range(2):
            assert same_partition(np.concatenate(form.components(terms)), as_by_the_graph(form, terms))
    assert same_partition(np.concatenate(form.components()), as_by_the_graph(form, np.ones(form.shape[1], dtype=bool)))
