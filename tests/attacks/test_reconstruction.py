"""Reconstruction finds all records that agree with tables: enumeration, and the block of the article."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks import integer_tables
from maxent_cvx.attacks.integer_tables import TableRows, enumerated
from maxent_cvx.attacks.reconstruction import Statistic, reconstruct, tabulate

Record = tuple[object, ...]


def multisets(tables: Iterable[pd.DataFrame]) -> set[tuple[Record, ...]]:
    """Each table of records as a sorted tuple."""
    return {tuple(sorted(records.itertuples(index=False, name=None))) for records in tables}


class RandomTables:
    """A few people of a small domain, statistics of them, and a check of each statistic for a list of people."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        ages = sorted(rng.choice(np.arange(9), rng.integers(3, 6), replace=False).tolist())
        self.domain: dict[str, list[object]] = {"age": ages, "sex": ["F", "M"]}
        self.types = list(itertools.product(*self.domain.values()))
        n = int(rng.integers(2, 5))
        truth = [self.types[at] for at in rng.integers(0, len(self.types), n)]
        slack = int(rng.random() < 0.3)
        self.tables = [Statistic({}, (n - slack, n))]
        self.sizes = range(n - slack, n + 1)
        self.checks = [lambda people: True]
        for where in ({}, {"sex": "F"}, {"sex": "M"}, {"age": ages[:2]}, {"age": ages[1:]}):
            if rng.random() < 0.75:
                self._add(rng, where, truth)

    def _add(self, rng: np.random.Generator, where: dict[str, object], truth: list[Record]) -> None:
        def ages(people: Iterable[Record]) -> list[int]:
            return [a for a, s in people if s == where.get("sex", s) and a in where.get("age", [a])]

        true_ages = ages(truth)
        width = int(rng.integers(0, 2))
        count = (max(len(true_ages) - width, 0), len(true_ages) + width)
        averages = {"mean": statistics.mean, "median": statistics.median}
        published: dict[str, tuple[Fraction, Fraction]] = {}
        for name, average in averages.items():
            if true_ages and rng.random() < 0.6:
                half = Fraction(int(rng.integers(0, 3)), 4)
                value = Fraction(average(map(Fraction, true_ages)))
                published[name] = (value - half, value + half)
        has_count = bool(rng.random() < 0.7) or not published
        of = {"of": "age"} if published else {}
        self.tables.append(Statistic(where, count if has_count else None, **published, **of))

        def check(people: Iterable[Record]) -> bool:
            selected = list(map(Fraction, ages(people)))
            if has_count and not count[0] <= len(selected) <= count[1]:
                return False
            return all(selected and low <= averages[name](selected) <= high for name, (low, high) in published.items())

        self.checks.append(check)

    def enumerated(self) -> set[tuple[Record, ...]]:
        """All multisets of records that agree with the tables."""
        return {
            people
            for n in self.sizes
            for people in itertools.combinations_with_replacement(self.types, n)
            if all(check(people) for check in self.checks)
        }


def certain(solutions: Iterable[tuple[Record, ...]]) -> tuple[Record, ...]:
    """The records that all solutions have, with their least multiplicity."""
    first, *others = map(Counter, solutions)
    for other in others:
        first &= other
    return tuple(sorted(first.elements()))


def test_all_solutions_are_those_of_enumeration() -> None:
    """Solutions and certain records of random tables, some without counts, are those of enumeration."""
    sizes = []
    for seed in range(100):
        problem = RandomTables(seed)
        expected = problem.enumerated()
        sizes.append(len(expected))
        limit = 25 if len(expected) <= 25 else 3
        result = reconstruct(problem.tables, problem.domain, limit)
        assert result.decided
        assert result.complete == (len(expected) <= limit)
        assert result.unique == (len(expected) == 1)
        assert result.unique or str(len(result.solutions)) in str(result)
        listed = multisets(result.solutions)
        assert len(listed) == len(result.solutions) == min(limit, len(expected))
        assert listed == expected if result.complete else listed < expected
        assert multisets([result.certain]) == {certain(expected)}
    assert min(sizes) == 1
    assert max(sizes) > 25


#: The records of Table 4 of the article: age, sex, race, marital status.
SEVEN = [
    (8, "F", "black", "single"),
    (18, "M", "white", "single"),
    (24, "F", "white", "single"),
    (30, "M", "white", "married"),
    (36, "F", "black", "married"),
    (66, "F", "black", "married"),
    (84, "M", "black", "married"),
]
ATTRIBUTES = ["age", "sex", "race", "marital"]
DOMAIN = {"age": range(126), "sex": ["F", "M"], "race": ["black", "white"], "marital": ["married", "single"]}
ADULT = range(18, 126)
#: Table 1 of the article, (D) suppressed as fewer than three: of whom; people, median and mean age.
TABLE_1: dict[str, tuple[dict[str, object], tuple[float, float, float] | None]] = {
    "1A": ({}, (7, 30, 38)),
    "2A": ({"sex": "F"}, (4, 30, 33.5)),
    "2B": ({"sex": "M"}, (3, 30, 44)),
    "2C": ({"race": "black"}, (4, 51, 48.5)),
    "2D": ({"race": "white"}, (3, 24, 24)),
    "3A": ({"marital": "single", "age": ADULT}, None),
    "3B": ({"marital": "married", "age": ADULT}, (4, 51, 54)),
    "4A": ({"sex": "F", "race": "black"}, (3, 36, 36.7)),
    "4B": ({"sex": "M", "race": "black"}, None),
    "4C": ({"sex": "M", "race": "white"}, None),
    "4D": ({"sex": "F", "race": "white"}, None),
    "5A": ({"age": range(5)}, None),
    "5B": ({"age": range(18)}, None),
    "5C": ({"age": range(64, 126)}, None),
}
#: Nobody is married below 15 years.
MARRIED_CHILDREN = Statistic({"age": range(15), "marital": "married"}, 0)


def printed(without: tuple[str, ...] = (), suppressed: bool = True) -> list[Statistic]:
    """Table 1, with means and medians to one decimal."""
    table = [MARRIED_CHILDREN]
    for name, (where, line) in TABLE_1.items():
        if name in without or (line is None and not suppressed):
            continue
        if line is None:
            table.append(Statistic(where, "<3"))
        else:
            table.append(Statistic(where, int(line[0]), median=line[1], mean=line[2], of="age", decimals=1))
    return table


def test_the_seven_people_of_the_article_are_unique() -> None:
    """Table 1 of Garfinkel, Abowd and Martindale leaves the seven people of its solution, and no others."""
    result = reconstruct(printed(suppressed=False), DOMAIN)  # test_attack has the table with suppressed cells
    assert result.unique
    assert multisets(result.solutions) == multisets([result.certain]) == {tuple(sorted(SEVEN))}
    judgement = result.judge(pd.DataFrame(SEVEN, columns=ATTRIBUTES))
    assert judgement.right == 1
    assert judgement.baseline < 0.2
    assert result.error == 0


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", [True, False])
def test_without_statistic_4a_there_are_two_solutions(suppressed: bool) -> None:
    """Without statistic 4A nobody is certain: the two blocks have no record in common."""
    result = reconstruct(printed(("4A",), suppressed), DOMAIN, time_limit=600)
    assert result.complete
    other = [(2, "F", "black", "single"), (12, "M", "white", "single"), (24, "F", "white", "married")]
    other += [(30, "M", "black", "married"), (36, "F", "white", "single"), (72, "F", "black", "married")]
    other += [(90, "M", "black", "married")]
    assert multisets(result.solutions) == {tuple(sorted(SEVEN)), tuple(sorted(other))}
    assert not len(result.certain)


def test_published_tables_are_true_of_the_records() -> None:
    """If tables are suppressed, rounded or noisy, the records are among the solutions."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        people = pd.DataFrame({"age": rng.integers(0, 4, 4), "sex": rng.choice(["F", "M"], 4)})
        for how in ({}, {"suppressed": None, "decimals": None}, {"decimals": 0}, {"noise": 1}, {"suppressed": "<=1"}):
            tables = tabulate(
                people, [[], "sex", {"age": pd.Interval(1, 2, closed="both")}], of="age", seed=seed, **how
            )
            anyway = [Statistic({}, (4, 4))]
            result = reconstruct(tables + anyway, {"age": range(4), "sex": ["F", "M"]}, limit=40)
            assert result.complete
            assert multisets([people]) <= multisets(result.solutions)


def test_numbers_of_single_precision() -> None:
    """They are the numbers as written, in records, in the domain and in a statistic."""
    people = pd.DataFrame({"dose": np.array([0.1, 0.35, 0.35], "float32")})
    typed = people.astype(str).astype(float)
    tables = tabulate(people, [[], "dose"], of="dose", suppressed=None)
    assert str(tables) == str(tabulate(typed, [[], "dose"], of="dose", suppressed=None))
    for domain in (typed.drop_duplicates(), people.drop_duplicates(), {"dose": people["dose"].unique()}):
        assert multisets(reconstruct(tables, domain).solutions) == multisets([typed])
    assert str(Statistic({}, 3, mean=np.float32(36.7), decimals=1)) == str(Statistic({}, 3, mean=36.7, decimals=1))


def test_probabilities_are_shares_of_assignments() -> None:
    """Two people aged 1 to 3 with mean age 2 are (2, 2), (1, 3) and (3, 1), each with probability 1/3."""
    result = reconstruct(Statistic({}, 2, mean=2), {"age": [1, 2, 3]})
    assert result.complete
    assert result.table.loc[1].tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert result.table.loc[2].tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    # The baseline has a third of the people at each age, independently.
    assert result.baseline.loc[1].tolist() == pytest.approx([4 / 9, 4 / 9, 1 / 9])
    judgement = result.judge(pd.DataFrame({"age": [2, 2]}))
    assert judgement.right == pytest.approx(1 / 3)
    assert judgement.baseline == pytest.approx((5 / 9 + 1 / 9) / 2)
    calibration = judgement.calibration[judgement.calibration["records"] > 0]
    # "One is 1" and "one is 3", said 2/3, are wrong; "one is 2" and "two are 2", said 1/3, are right.
    assert calibration["records"].tolist() == [4]
    assert calibration["right"].tolist() == [0]


def test_values_that_are_pairs_are_no_intervals() -> None:
    """Tables by an attribute whose values are tuples have a group for each of them; intervals have words of their own."""
    places = pd.Series([("b", 2), ("a", 1), ("a", 1)])
    tables = tabulate(pd.DataFrame({"place": places}), [[], "place"], suppressed=None)
    assert str(tables[1]) == "<Statistic: place=('a', 1): 2 people>"
    assert reconstruct(tables, {"place": [("a", 1), ("b", 2)]}).unique
    table = mx.PublishedTable(places.value_counts().rename_axis("place").reset_index(name="n"))
    assert reconstruct(table, {"place": [("a", 1), ("b", 2)]}).unique
    assert str(Statistic({"age": pd.Interval(20, 30, closed="left")}, 3)) == "<Statistic: age in [20, 30): 3 people>"


@pytest.mark.parametrize("kept", [0, 1, 30])
def test_integer_programs_find_what_is_enumerated(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """If the enumeration does not finish in time, integer programs find the other solutions."""
    tables = [
        Statistic({}, 3),
        Statistic({"sex": "F"}, "<3"),
        Statistic({"age": [1, 2]}, (1, 3), mean=(1, Fraction(5, 3))),
    ]
    domain = {"age": [1, 2, 3], "sex": ["F", "M"]}
    expected = reconstruct(tables, domain, limit=100)
    assert expected.complete
    assert 10 < len(expected.solutions) < 100

    def interrupted(rows: TableRows) -> Iterator[np.ndarray]:
        people = np.concatenate(list(enumerated(rows)))
        yield people[:kept]
        yield people[kept:]

    monkeypatch.setattr(integer_tables, "ENUMERATION_SECONDS", 0.0)
    monkeypatch.setattr(integer_tables, "enumerated", interrupted)
    result = reconstruct(tables, domain, limit=100)
    assert result.complete
    assert multisets(result.solutions) == multisets(expected.solutions)
    assert multisets([result.certain]) == multisets([expected.certain])


def test_wrong_arguments() -> None:
    """Tables agree with some records of a domain that is not too large, and limit the number of people."""
    domain = {"age": range(5), "sex": ["F", "M"]}
    women = Statistic({"sex": "F"}, 2, mean=2)
    records = pd.DataFrame({"age": [1, 2], "sex": ["F", "M"]})
    for error, tables, values, options in [
        (mx.Infeasible, [Statistic({}, 2, mean=1), women], domain, {}),
        (mx.Infeasible, [Statistic({}, 2), Statistic({"sex": "F"}, 3)], domain, {}),
        (mx.Infeasible, [Statistic({}, 2), Statistic({"sex": "F"}, 0, mean=2)], domain, {}),
        (mx.Infeasible, [Statistic({}, 2), Statistic({"sex": "F", "age": [2]}, (0, 2), median=2)], records, {}),
        (mx.NotDecided, Statistic({}, 2), domain, {"time_limit": 0}),
        (mx.StatementError, Statistic({"sex": "F"}, 2), domain, {}),
        (mx.StatementError, Statistic({}, 3, mean=1.7), domain, {}),
        (mx.StatementError, Statistic({}, 2, median=1.7), domain, {}),
        (mx.TableError, Statistic({}, 3), {"x": range(1000), "y": range(1000)}, {}),
        (mx.TableError, Statistic({}, 3), pd.DataFrame({"x": [1, 1]}), {}),
        (mx.TableError, Statistic({}, 10**6), domain, {}),
        (mx.TableError, Statistic({}, 3, mean=1, of="sex"), domain, {}),
    ]:
        with pytest.raises(error):
            reconstruct(tables, values, **options)
    with pytest.raises(mx.TableError):
        reconstruct(Statistic({}, 2), domain, limit=100).judge(pd.DataFrame({"age": [1] * 3, "sex": "F"}))
