"""Rows that are emitted partition by partition are the rows of the whole, term by term."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from maxent_cvx.model.partitioned_system import own_space
from support.parts import in_memory, in_parts, published, random_records, some_people, whole_of
from support.said import OF_PEOPLE, SAID


def check(records: pd.DataFrame, said: list[Any], n: int, people: Any = None) -> None:
    """Compare what partitions emit with the model in memory, every number of which must be the same."""
    release, whole = published(records), whole_of(published(records), n, people)
    posed, (model, form) = in_parts(whole, said), in_memory(release, said, people)
    first, k = form.n_published, form.shape[0] - form.n_published
    names = [posed.shared.name(i) for i in range(k)]
    assert names == [form.name(first + i) for i in range(k)]
    roles, found = list(model.space.codes), []
    place = {term: i for i, term in enumerate(zip(*(model.space.codes[role].tolist() for role in roles), strict=True))}
    columns, of_whole = form.known.rows(np.arange(k)).toarray(), form.published.toarray()
    for part, own in zip(posed.parts, whole.parts, strict=True):
        codes = dict(own_space(own, whole.marginals(frozenset())).codes)
        codes["q"] = own.q_numbers[codes["q"]]
        codes["bucket"] = release.buckets.get_indexer(own.buckets)[codes["bucket"]]
        at = np.array([place[term] for term in zip(*(codes[role].tolist() for role in roles), strict=True)])
        found += at.tolist()
        m = part.form.n_published
        assert np.array_equal(part.form.known.rows(np.arange(k)).toarray(), columns[:, at])
        there = np.abs(of_whole[:, at]).sum(axis=1) > 0
        rows = np.column_stack([form.low[:first], of_whole[:, at]])[there]
        mine = np.column_stack([part.form.low[:m], part.form.published.toarray()])
        assert sorted(map(tuple, mine)) == sorted(map(tuple, rows))
        assert np.array_equal(part.form.high[:m], part.form.low[:m])
        for side in ("low", "high", "scale", "side_error", "coefficient_error"):
            assert np.array_equal(getattr(part.form, side)[m:], getattr(form, side)[first:]), side
            assert np.array_equal(getattr(posed.shared, side), getattr(form, side)[first:]), side
        assert not part.form.side_error[:m].any()
        assert not form.side_error[:first].any()
        assert part.form.n_facts - m == posed.shared.n_facts == form.n_facts - first
        assert part.form.n_hard - m == posed.shared.n_hard == form.n_hard - first
        if form.penalties is not None:
            for one in (part.form.penalties, posed.shared.penalties):
                assert np.array_equal(one.variance, form.penalties.variance)
                assert np.array_equal(one.slope, form.penalties.slope)
        assert np.array_equal(part.form.weights, form.weights[at])
        counts, multipliers = part.closed_form
        assert np.array_equal(counts, model.posed.closed_form.counts[at])
        assert counts == pytest.approx(np.exp(part.form.published.T @ multipliers - 1) * part.form.weights)
        groups = model.posed.groups
        assert np.array_equal(part.groups.records[part.groups.of_term], groups.records[groups.of_term][at])
    assert sorted(found) == list(range(form.shape[1]))


@pytest.mark.parametrize("kind", SAID)
def test_rows_of_every_kind_are_those_of_the_whole(kind: str) -> None:
    """Side by side, the columns of partitions are those of the model in memory, to the last digit."""
    for seed, n in ((0, 1), (1, 3), (2, 7)):
        records = random_records(np.random.default_rng(seed))
        check(records, [SAID[kind](records)], n)
        check(records, [SAID[kind](records)], n, some_people(records))


@pytest.mark.parametrize("kind", OF_PEOPLE)
def test_rows_of_named_people_are_those_of_the_whole(kind: str) -> None:
    """The terms of a person are in all buckets of their quasi-identifiers, in whatever partition."""
    for seed in range(4):
        records = random_records(np.random.default_rng(seed))
        check(records, [OF_PEOPLE[kind]], 1 + 2 * seed, some_people(records))


@pytest.mark.parametrize("seed", range(6))
def test_many_sources_together_are_in_the_order_of_the_model_in_memory(seed: int) -> None:
    """Facts come first, then hard rows by source, then soft ones."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    said = [SAID[kind](records) for kind in rng.permutation(list(SAID))[:8]]
    check(records, said, 1 + seed, some_people(records) if seed % 2 else None)
