"""The theorems of Privacy-MaxEnt, section 5, and properties of maximum entropy with more knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import entropy

from maxent_cvx import MaxEnt, P, StrongestAssociations
from support.problems import publish
from support.random_models import QI, SA, random_records, true_statements
from support.random_models import publish as publish_records
from support.solving import error

seeds = st.integers(0, 10**6)


@st.composite
def buckets(draw: st.DrawFn, most: int = 3) -> list[tuple[str, str]]:
    """One to three buckets of one to five people, in the notation of the depot."""
    drawn = []
    for _ in range(draw(st.integers(1, most))):
        n = draw(st.integers(1, 5))
        pick = [
            draw(st.lists(st.sampled_from([f"{name}{i}" for i in range(4)]), min_size=n, max_size=n)) for name in "qs"
        ]
        drawn.append((" ".join(pick[0]), " ".join(pick[1])))
    return drawn


def assignments(model: MaxEnt, bucket: tuple[str, str], number: int) -> np.ndarray:
    """Every assignment of a bucket (Def. 5.2) as counts of the model's terms, one a row."""
    qs, ss = bucket[0].split(), bucket[1].split()
    ways = []
    for order in sorted(set(permutations(ss))):
        given_ = pd.Series(1.0, index=pd.MultiIndex.from_arrays([qs, order, [number] * len(qs)]))
        ways.append(given_.groupby(level=[0, 1, 2]).sum().reindex(model.space.index.set_names([None] * 3)).fillna(0))
    return np.array(ways)


def rank(matrix: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(matrix)) if matrix.size else 0


def invariants(model: MaxEnt) -> np.ndarray:
    """The published rows, dense."""
    return model.form.matrix[: model.form.n_published].toarray()


# -- section 5.1 to 5.4: the published rows ----------------------------------------------------------


@given(published=buckets())
def test_soundness(published: Sequence[tuple[str, str]]):
    """Every assignment of every bucket satisfies the invariants of that bucket (Theorem 1)."""
    model = MaxEnt(publish(published))
    number_of = np.asarray(model.space.index.get_level_values("B"))
    matrix, value = invariants(model), model.form.low[: model.form.n_published]
    for b, bucket in enumerate(published, start=1):
        about_b = np.abs(matrix[:, number_of == b]).sum(axis=1) > 0
        for way in assignments(model, bucket, b):
            np.testing.assert_allclose((matrix @ way)[about_b], value[about_b], atol=1e-12)


@given(bucket=buckets(most=1))
def test_completeness(bucket: Sequence[tuple[str, str]]):
    """Assignments span (g-1)(h-1) dimensions, and the rank of the invariants is the rest, g+h-1 (Theorem 2).

    So an expression that is the same for all assignments is a combination of invariants.
    """
    model = MaxEnt(publish(bucket))
    g, h = (len(set(text.split())) for text in bucket[0])
    ways = assignments(model, bucket[0], 1)
    assert rank(ways[1:] - ways[0]) == (g - 1) * (h - 1)
    assert rank(invariants(model)) == g + h - 1
    assert len(model.space) == g * h


@given(bucket=buckets(most=1), data=st.data())
def test_conciseness(bucket: Sequence[tuple[str, str]], data: st.DataObject):
    """Without any one row of a bucket the rank is the same; without any two it is less (Theorem 3)."""
    rows = invariants(MaxEnt(publish(bucket)))
    first, second = data.draw(st.permutations(range(len(rows))).map(lambda order: order[:2]))
    assert rank(np.delete(rows, first, axis=0)) == rank(rows) == len(rows) - 1
    assert rank(np.delete(rows, [first, second], axis=0)) == rank(rows) - 1


# -- section 5.5: without knowledge, and where it does not reach --------------------------------------


@given(published=buckets())
def test_consistency(published: Sequence[tuple[str, str]]):
    """Without knowledge P(s | q, b) is the share of s in b for every q, Eq. (9), with and without presolve (Theorem 5)."""
    model = MaxEnt(publish(published))
    exact = []
    for q, s, b in model.space.index:
        qs, ss = published[b - 1][0].split(), published[b - 1][1].split()
        exact.append(qs.count(q) * ss.count(s) / len(ss))
    for presolve in (True, False):
        post = model.solve(presolve=presolve)
        assert error(post, np.array(exact)) <= post.certificate.bound + 1e-9


@given(published=buckets(), c=st.floats(0.2, 0.8), data=st.data())
def test_irrelevant_buckets(published: Sequence[tuple[str, str]], c: float, data: st.DataObject):
    """A bucket without a term of the knowledge keeps the answer it has without knowledge (Proposition 1)."""
    model = MaxEnt(publish(published))
    q, s, _ = data.draw(st.sampled_from(list(model.space.index)))
    # True of something between the answer so far and the assignment in the order as drawn, so that it can hold.
    pairs = [pair for qs, ss in published for pair in zip(qs.split(), ss.split(), strict=True)]
    drawn = pairs.count((q, s)) / sum(one == q for one, _ in pairs)
    before = model.solve()
    after = model.add(P(s, {"Q": q}) == c * before.prob(s, {"Q": q}) + (1 - c) * drawn).solve()
    for b, (qs, ss) in enumerate(published, start=1):
        if q not in qs.split() or s not in ss.split():
            here = np.asarray(model.space.index.get_level_values("B") == b)
            np.testing.assert_array_equal(after.counts[here], before.counts[here])


# -- more knowledge ----------------------------------------------------------------------------------


@given(seed=seeds)
@example(seed=44)  # two inequalities that say the same where two cells must vanish
def test_knowledge_never_raises_entropy(seed: int):
    """Each true statement more leaves fewer distributions, and so no more entropy; the truth remains one of them."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    model = MaxEnt(publish_records(records))
    truth = model.space.count(records)
    before = model.solve().entropy
    for statement in true_statements(rng, records, 4):
        if statement.label not in model.knowledge:
            after = model.add(statement).solve().entropy
            assert after <= before + 1e-6
            before = after
    assert before >= entropy(truth) - 1e-6


@given(seed=seeds)
def test_everything_known(seed: int):
    """All associations of all QI attributes determine P(s | q) of every q (section 4.4)."""
    records = random_records(np.random.default_rng(seed))
    post = MaxEnt(publish_records(records)).add(StrongestAssociations(records, None, None, min_support=1)).solve()
    truth = pd.crosstab([records[name] for name in QI], records[SA], normalize="index")
    np.testing.assert_allclose(post.conditional()[truth.columns], truth, atol=post.certificate.bound + 1e-6)
