"""Generalised values as tools write them: in each dialect they stand for the same exact values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import TableError
from maxent_cvx.releases.generalized import coverage, label_of, read_hierarchies
from support.helpers import refused

AGES = pd.Index(range(15, 35))


def covers(cell, values, attribute, hierarchies):
    """Mark the exact values that one generalised value covers."""
    return coverage([cell], values, attribute, hierarchies.get(attribute, {}))[0]


def values_of(cell: object, values: pd.Index = AGES, nodes: dict | None = None) -> list:
    """The exact values that a generalised one stands for."""
    return values[covers(cell, values, "Age", {"Age": nodes or {}})].tolist()


def test_a_number_is_the_nearest_of_32_bits():
    """Among numbers of 32 bits, 0.1 is the nearest of these, as in P."""
    doses = pd.Index(np.array([0.1, 0.4], "float32"))
    for cell in ("0.1", 0.1, np.float32(0.1), "{0.1}", frozenset({0.1})):
        assert covers(cell, doses, "Dose", {}).tolist() == [True, False], cell


def test_one_value_in_each_dialect():
    """Each way to write a set of ages from 15 to 34 is read (intervals are drawn below), and nothing else."""
    for cell, expected in [
        ("18 - 20", [18, 19, 20]),
        ("18\u201320", [18, 19, 20]),
        ("18 to 20", [18, 19, 20]),
        ("[17.5, 20.5]", [18, 19, 20]),
        ("(31, Inf]", [32, 33, 34]),
        ("[-inf, 17)", [15, 16]),
        (">= 33", [33, 34]),
        ("17", [17]),
        ("17.0", [17]),
        (17, [17]),
        (17.0, [17]),
        (frozenset({18, 19}), [18, 19]),
        ("{14, 15, 16}", [15, 16]),
        (frozenset({14, 15, 16}), [15, 16]),
        (frozenset({"14", "15", "16"}), [15, 16]),
        (pd.Interval(18, 20, closed="left"), [18, 19]),
        ("2*", list(range(20, 30))),
        *((every, list(AGES)) for every in ("*", "**", None, math.nan)),
    ]:
        assert values_of(cell) == expected, cell
    # Cells that stand for nobody, and a mean, as microaggregation publishes.
    for cell in (
        "20-18",
        "[20, 18]",
        "40-50",
        "(20, 20]",
        "18,99",
        frozenset({14}),
        frozenset({18, "x"}),
        "{18, x}",
        "teens",
        24.5,
    ):
        with refused(TableError):
            values_of(cell)


def test_a_month_is_its_days():
    """A month is an interval of dates; among texts of months, it is one of these."""
    days = ["2023-12-31", "2024-01-01", "2024-01-31", "2024-02-01"]
    for dates in (days, pd.to_datetime(days), pd.to_datetime(days).tz_localize("UTC")):
        assert values_of("2024-01", pd.Index(dates)) == pd.Index(dates)[1:3].tolist()
    assert values_of("2024-01", pd.Index(["2023-12", "2024-01"])) == ["2024-01"]


def test_times_before_standard_time():
    """Local mean time differs from UTC by seconds too: by -04:56:02 in New York, until 1883."""
    times = pd.to_datetime(["1747-06-09", "1850-01-20", "1900-01-01"]).tz_localize("America/New_York")
    cell = pd.Interval(*times[:2], closed="both")
    assert values_of(cell, times) == values_of(str(cell), times) == times[:2].tolist()
    assert values_of("[1747-06-09 04:56:02, 1747-06-09 04:56:02]", times) == times[:1].tolist()


def test_a_text_that_is_a_value_itself():
    """A text with two readings is an error unless a hierarchy decides; with one reading it is a value."""
    for cell, values in {
        "1-2": ["1", "2", "1-2"],
        "a,b": ["a", "b", "a,b"],
        "{a, b}": ["a", "b", "{a, b}"],
        "a*": ["ab", "a*"],
    }.items():
        domain = pd.Index(values)
        with refused(TableError):
            values_of(cell, domain)
        assert values_of(cell, pd.Index([cell, "other"])) == [cell]
        for below in ([cell], values[:-1]):
            assert values_of(cell, domain, {cell: frozenset(below)}) == below
            assert values_of(cell, domain, read_hierarchies({"Age": {cell: below}})["Age"]) == below


def readings(cell: str, values: list[str]) -> list[set[str]]:
    """Every way to read a text of digits, "-", "," and "*", by definition."""
    results = [{cell} & set(values)]
    if (ends := cell.split("-")) and len(ends) == 2 and all(end.isdigit() for end in ends):
        results.append({v for v in values if v.isdigit() and int(ends[0]) <= int(v) <= int(ends[1])})
    if "," in cell and (items := [item for item in cell.split(",") if item]) and set(items) <= set(values):
        results.append(set(items))
    if "*" in cell:
        parts, stars = cell.split("*"), itertools.product(("", *"12-,*"), repeat=cell.count("*"))
        results.append({"".join(map("".join, itertools.zip_longest(parts, cut, fillvalue=""))) for cut in stars})
        results[-1] &= set(values)
    return [one for one in results if one]


texts = st.text("12-,*", min_size=1, max_size=4)


@given(cell=texts, values=st.sets(texts, min_size=1, max_size=8))
def test_no_reading_is_lost(cell: str, values: set[str]):
    """A reading contains all values that a text may stand for; a text with several readings is an error."""
    listed = sorted(values)
    ways = readings(cell, listed)
    try:
        result = set(values_of(cell, pd.Index(listed)))
    except TableError:
        if len({frozenset(way) for way in ways}) == 1 and "*" not in cell:
            raise
        return
    assert all(way <= result for way in ways)
    assert result


ends = st.integers(-40, 40)


@given(domain=st.sets(st.integers(-50, 50), min_size=1), low=ends, width=st.integers(0, 40), halves=st.booleans())
def test_intervals_there_and_back(domain: set[int], low: int, width: int, halves: bool):
    """An interval, in each dialect that has it, is read as the numbers in it; of whole numbers, and of halves."""
    high = low + width
    x = np.array(sorted(domain)) / (2 if halves else 1)
    values = pd.Index(x)
    texts: dict[str, np.ndarray] = {}
    left, right = {True: "[", False: "("}, {True: "]", False: ")"}
    away, away_right = {True: "[", False: "]"}, {True: "]", False: "["}
    for low_in, high_in in itertools.product((True, False), repeat=2):
        expected = ((x >= low) if low_in else (x > low)) & ((x <= high) if high_in else (x < high))
        written = [
            f"{left[low_in]}{low}, {high}{right[high_in]}",
            f"{left[low_in]}{low},{high}{right[high_in]}",
            f"{away[low_in]}{low}, {high}{away_right[high_in]}",
            f"{left[low_in]}{low:.1f}, {high:.3e}{right[high_in]}",
        ]
        if low_in and high_in:
            written += [f"{low:.1f}-{high:.1f}", f"{low:.1f} to {high:.1f}"]
            written += [f"{low}-{high}"] * (not ((x > high) & (x < high + 1)).any())
        texts |= dict.fromkeys(written, expected)
    for sign, expected in {"<": x < low, "<=": x <= low, ">": x > low, ">=": x >= low, "+": x >= low}.items():
        texts[f"{low}+" if sign == "+" else f"{sign}{low}"] = expected
    some = [text for text, expected in texts.items() if expected.any()]
    np.testing.assert_array_equal(
        coverage(some, values, "Age", {}), [texts[text] for text in some] or np.empty((0, len(x)))
    )
    for text in texts.keys() - set(some):
        with refused(TableError):
            covers(text, values, "Age", {})


AWKWARD = ["b c", "k, l", 'say "x"', "or", "7", "{z}", "back\\slash", "u, v"]
words = st.text("abcdeXYZ", min_size=1, max_size=3) | st.sampled_from(AWKWARD)


@given(data=st.data(), domain=st.sets(words, min_size=2, max_size=9))
def test_sets_there_and_back(data, domain: set[str]):
    """A set is read as its items, with braces or without, and as this package writes it; of numbers, too."""
    values = sorted(domain)
    chosen = data.draw(st.sets(st.sampled_from(values), min_size=1))
    numbers = {value: i for i, value in enumerate(values)}
    for names, known in ((chosen, values), ({numbers[name] for name in chosen}, list(numbers.values()))):
        expected = [value in names for value in known]
        listed = [str(name) for name in sorted(names)]
        texts = [label_of(frozenset(names))]
        if chosen.isdisjoint(AWKWARD) or names is not chosen:
            texts += ["{" + ", ".join(listed) + "}", ",".join(listed)]
        for text in texts:
            assert covers(text, pd.Index(known), "A", {}).tolist() == expected


def test_hierarchies_in_every_form(tmp_path):
    """A hierarchy is a dictionary, a table, levels as of ANJANA, or a file of ARX with semicolons, commas or tabs."""
    table = pd.DataFrame({0: [17, 18, 19, 20], 1: ["teens", "teens", "teens", "older"], 2: ["any"] * 4})
    forms = [table, {level: table[level] for level in table}, {level: table[level].tolist() for level in table}]
    forms += [{0: range(17, 21), 1: table[1], 2: table[2]}]
    for teens in ([17, 18, 19], range(17, 20), table[0].head(3), np.arange(17, 20), pd.array([17, 18, 19])):
        forms += [{"any": ["teens", "older"], "teens": teens, "older": 20}]
    for i, separator in enumerate(";,\t"):
        path = tmp_path / f"age{i}.csv"
        table.to_csv(path, sep=separator, header=False, index=False)
        forms += [path, str(path)]
    for hierarchy in forms:
        nodes = {"Age": read_hierarchies({"Age": hierarchy})["Age"]}
        for cell, expected in {"teens": [17, 18, 19], "older": [20], "any": [17, 18, 19, 20], 18: [18]}.items():
            for values in (pd.Index([17, 18, 19, 20, 21]), pd.Index(["17", "18", "19", "20", "21"])):
                assert values[covers(cell, values, "Age", nodes)].astype(int).tolist() == expected


def test_a_star_is_a_character_of_values_of_one_length():
    """Two runs of stars are read as one is: if all values have the mask's length, a star is one character."""
    values = pd.Index(["0100", "0110", "1100"])
    assert [values_of(mask, values) for mask in ("0*0*", "01*", "01**")] == [
        ["0100"],
        ["0100", "0110"],
        ["0100", "0110"],
    ]
    with refused(TableError):
        values_of("0*0*", values.append(pd.Index(["01101"])))


def test_ends_of_ranges_in_single_precision():
    """0.4 in 32 bits is above 0.4: whether [0, 0.4] contains it must be decided; elsewhere the precision does not matter."""
    values = pd.Index(np.array([0.1, 0.4, 0.9], "float32"))
    assert values_of("[0, 0.5]", values) == values[:2].tolist()
    for cell in ("[0, 0.4]", "<=0.4", "(0.4, 1]"):
        with refused(TableError):
            values_of(cell, values)
    assert values_of("[0, 0.4]", pd.Index(values.to_series().astype(str).astype(float))) == [0.1, 0.4]
    assert values_of("[0, 0.4]", values.astype(float)) == values[:1].tolist()


def test_many_stars_end_at_once():
    """Matching masks takes polynomial time, in contrast to a regular expression with backtracking."""
    values = pd.Index(["a" * 5_000 + "c", "a" * 5_000 + "b", "1" * 5_000 + "x"])
    assert covers("*a" * 2_000 + "*b", values, "text", {}).tolist() == [False, True, False]
