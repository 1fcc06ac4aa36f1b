"""P(in the release) is exact where groups do not overlap, and of maximum entropy where they do."""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx

RANGES = [(20, 29), (20, 39), (30, 39), (25, 34), (20, 24)]


def published(sizes: dict[tuple[int, int], int]) -> mx.Release:
    """So many records of each range of ages."""
    cells = [f"[{low}, {high}]" for (low, high), n in sizes.items() for _ in range(n)]
    return mx.Release.from_generalized(pd.DataFrame({"Age": cells, "S": "x"}), qi="Age", sa="S")


def enumerated(sizes: dict[tuple[int, int], int], ages: list[int]) -> np.ndarray | None:
    """P(in) of every person, over all choices of different people for the groups."""
    inside, total = np.zeros(len(ages)), 0

    def fill(left: list[tuple[tuple[int, int], int]], used: frozenset[int]) -> None:
        nonlocal total
        if not left:
            total += 1
            inside[list(used)] += 1
            return
        ((low, high), n), *rest = left
        free = [i for i, age in enumerate(ages) if low <= age <= high and i not in used]
        for chosen in combinations(free, n):
            fill(rest, used | set(chosen))

    fill(list(sizes.items()), frozenset())
    return inside / total if total else None


def test_groups_that_do_not_overlap_are_exact() -> None:
    """n(g) / (people covered) equals the share of choices of people, one by one."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        ages = sorted(rng.integers(20, 45, 9).tolist())
        sizes = {r: int(rng.integers(1, 3)) for r in [(20, 29), (30, 39)]}
        if (exact := enumerated(sizes, ages)) is not None:
            result = mx.attacks.membership(published(sizes), pd.DataFrame({"Age": ages}))
            np.testing.assert_allclose(result.p.loc[ages], exact, atol=1e-12)
            assert result.error == 0.0
            assert result.delta == pytest.approx((exact.min(), exact.max()))


def by_cvxpy(sizes: dict[tuple[int, int], int], ages: list[int]) -> np.ndarray:
    """Maximum entropy over who is in which group, person by person."""
    can = np.array([[low <= age <= high for low, high in sizes] for age in ages])
    x, out = cp.Variable(can.shape, nonneg=True), cp.Variable(len(ages), nonneg=True)
    rows = [cp.sum(x, axis=0) == list(sizes.values()), cp.sum(x, axis=1) + out == 1, x[~can] == 0]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(x[can])) + cp.sum(cp.entr(out))), rows).solve(solver="CLARABEL")
    return 1 - out.value


def test_overlapping_groups_have_the_maximum_entropy_answer_near_to_that_of_worlds() -> None:
    """Equal to CVXPY over single people; that of worlds is another one, within some hundredths on average."""
    rng, distances = np.random.default_rng(1), []
    for _ in range(25):
        ages = sorted(rng.integers(20, 40, 9).tolist())
        chosen = rng.choice(len(RANGES), 2, replace=False)
        sizes = {RANGES[i]: int(rng.integers(1, 4)) for i in chosen}
        if (exact := enumerated(sizes, ages)) is None:
            continue
        result = mx.attacks.membership(published(sizes), pd.DataFrame({"Age": ages}))
        np.testing.assert_allclose(result.p.loc[ages], by_cvxpy(sizes, ages), atol=1e-4)
        distances += np.abs(result.p.loc[ages] - exact).tolist()
    assert len(distances) > 150
    assert 0 < np.mean(distances) < 0.03


def test_releases_of_every_kind_say_the_same() -> None:
    """With a population or without, exact QI, counts in place of rows."""
    voters = pd.DataFrame({"Age": [21, 25, 25, 33, 41, 52]})
    table = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "[30, 49]"], "S": ["a", "b", "a"]})
    release = mx.Release.from_generalized(table, qi="Age", sa="S")
    result = mx.attacks.membership(release, voters)
    grouped = mx.attacks.membership(mx.Release.from_generalized(table, qi="Age", sa="S", population=voters))
    counted = mx.attacks.membership(release, voters.value_counts().rename("n").reset_index(), count="n")
    for other in (grouped, counted):
        pd.testing.assert_frame_equal(result.table, other.table)
        assert result.records.tolist() == other.records.tolist()
    exact = mx.Release.from_buckets(
        pd.DataFrame({"Age": [25, 41], "S": ["a", "b"], "B": 1}), qi="Age", sa="S", bucket="B"
    )
    assert mx.attacks.membership(exact, voters).p.to_dict() == {21: 0.0, 25: 0.5, 33: 0.0, 41: 1.0, 52: 0.0}


def test_wrong_arguments() -> None:
    """No population, two of them, other people, too few people."""
    release = published({(20, 29): 2})
    voters = pd.DataFrame({"Age": [21, 25, 33]})
    table = pd.DataFrame({"Age": ["[20, 29]"], "S": ["a"]})
    four = pd.DataFrame({"Age": [21, 25, 33, 34]})
    grouped = mx.Release.from_generalized(table, qi="Age", sa="S", population=voters)
    for error, view, population, count in [
        (mx.StatementError, release, None, None),
        (mx.StatementError, grouped, voters, None),
        (mx.TableError, release, voters.iloc[1:], None),
        (mx.UnknownName, release, voters, "n"),
        (mx.Infeasible, published({(20, 24): 1, (20, 29): 2, (30, 39): 1}), four, None),
        (mx.TableError, published({(20, 24): 1, (20, 29): 2}), voters, None),
    ]:
        with pytest.raises(error):
            mx.attacks.membership(view, population, count=count)
    result = mx.attacks.membership(release, voters)
    for people in ([19], [21, 21]):
        with pytest.raises(mx.TableError):
            result.judge(pd.DataFrame({"Age": people}))
