"""Knowledge as text: statements are read as they are written; an error shows a line of Python for what has no notation."""

from __future__ import annotations

import math
import re

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Count, E, P, StatementError
from maxent_cvx.sources.parser import LINES, LOOKS_LIKE, read_knowledge, read_statement, without_comments
from maxent_cvx.terms.axes import mark_tuples
from support.helpers import refused

names = st.text(st.sampled_from("ab Pin=or|,():'\"\\#é<1."), min_size=1, max_size=6).filter(str.strip)
texts = st.one_of(
    names,
    st.sampled_from(["or", "in", "1", "True", "1e3", "nan", "50K+", "<=50K", "Lung cancer", "a or b"]),
    st.sampled_from(["a = b", "x ~ y", "Flu, weight 3", "it's", 'say "so"', "a) ~ 0.3 +- 1", "~", "+- 1", "delta 2"]),
)
numbers = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-5, 5)
values = st.one_of(texts, numbers, st.booleans())


@st.composite
def intervals(draw: st.DrawFn) -> pd.Interval:
    """Any pandas Interval of numbers."""
    ends = numbers | st.sampled_from([-math.inf, math.inf])
    low, high = sorted((draw(ends), draw(ends)))
    return pd.Interval(low, high, draw(st.sampled_from(["left", "right", "both", "neither"])))


@st.composite
def probabilities(draw: st.DrawFn):
    """P(...), E(...) or a count, of any shape."""
    chosen = values | st.lists(values, min_size=1, max_size=3) | intervals()
    value = draw(chosen | st.dictionaries(texts, chosen, min_size=1, max_size=2))
    if who := draw(st.lists(texts | st.integers(-5, 5), max_size=3, unique=True)):
        if draw(st.booleans()):
            return Count(value, who=who)
        return P(value, who=who[0]) if draw(st.booleans()) else E(draw(texts), who=who[0])
    among = draw(st.dictionaries(texts, chosen, max_size=3))
    return P(value, given=among) if draw(st.booleans()) else E(draw(texts), given=among)


@st.composite
def statements(draw: st.DrawFn) -> mx.Statement:
    """Statements of every form, hard and soft."""
    chance, cost, left = st.floats(0, 1), st.floats(1e-9, 1e9), draw(probabilities())
    kind = draw(st.sampled_from(["about", "between", "=", "<=", ">=", "against", "anything", "sd", "weight", "delta"]))
    if kind == "about":
        return left.about(draw(chance), draw(st.floats(0, 2)))
    if kind == "between":
        return left.between(*sorted((draw(chance), draw(chance))))
    if kind == "anything":
        return (left - 2 * draw(probabilities())).anything()
    if kind == "against":
        others = draw(st.lists(st.tuples(st.floats(0.01, 9), probabilities()), min_size=1, max_size=3))
        right = sum((a * p for a, p in others), start=P("z"))
        return left <= right if not left.same_as(right) else left <= 1
    if kind in ("sd", "weight", "delta"):
        costs = {"sd": draw(cost), "delta": draw(cost)} if kind == "delta" else {kind: draw(cost)}
        low, width = draw(st.floats(-1e3, 1e3)), draw(st.sampled_from([0.0, 0.1, np.inf]))
        sides = (-np.inf, low) if width and draw(st.booleans()) else (low, low + width)
        return (left - 2.5 * P("z", who="w")).missable(*sides, mx.soft(P("a") == 1, **costs).penalty)
    value = draw(chance)
    return {"=": left == value, "<=": left <= value, ">=": left >= value}[kind]


@settings(max_examples=60)
@given(statement=statements())
def test_what_is_written_is_read_as_the_same(statement: mx.Statement):
    """str(statement) is read as the same statement, to the last bit of every number."""
    again = read_statement(str(statement))
    assert again == statement
    assert str(again) == str(statement)


MEN, WOMEN, AGE = {"Gender": "male"}, {"Gender": "female"}, {"Disease": "Flu"}
FLU, OF_WOMEN = P("Flu", given=MEN), P("Flu", given=WOMEN)
READ = {
    "P(Flu | Gender=male) = 0.3 +- 0.05": FLU.about(0.3, 0.05),
    "P(Flu|Gender = male)=.3±5e-2  # heard of": FLU.about(0.3, 0.05),
    "0.2 <= P(Flu or HIV | Gender=male, Degree=college) <= 0.4": P(
        ["HIV", "Flu"], given={"Degree": "college", "Gender": "male"}
    ).between(0.2, 0.4),
    "P(HIV | Gender=male) <= 2 P(Flu | Gender=female)": P("HIV", given=MEN) <= 2 * OF_WOMEN,
    "P(Disease=Flu) == 0.2": P({"Disease": "Flu"}) == 0.2,
    "#(Disease=HIV, Salary=high: Alice, Bob) <= 1": Count({"Disease": "HIV", "Salary": "high"}, who=["Alice", "Bob"])
    <= 1,
    "#(HIV: Alice, Bob, Charlie) >= 2  #at least": Count("HIV", who=["Charlie", "Bob", "Alice"]) >= 2,
    "P(Flu or HIV|'Mary Ann')=1": P(["Flu", "HIV"], who="Mary Ann") == 1,
    "P(Flu | 17) <= P(Flu | Mary Ann)": P("Flu", who=17) <= P("Flu", who="Mary Ann"),
    "P('Lung cancer') >= 0.1 + 0.5 P(\"a, b\")": P("Lung cancer") >= 0.1 + 0.5 * P("a, b"),
    "P(Flu | Age in [20, 30), Zip=1 or 2 or '3') ≤ 1e-1": P(
        "Flu", given={"Age": pd.Interval(20, 30, "left"), "Zip": [1, 2, "3"]}
    )
    <= 0.1,
    "E(income | edu=college) = 42.9 +- 0.05": E("income", given={"edu": "college"}).about(42.9, 0.05),
    "E(income|Mary Ann) >= 1.5*E('home income')": E("income", who="Mary Ann") >= 1.5 * E("home income"),
    "-5 <= E(income | edu=college or none) <= 1e3": E("income", given={"edu": ["none", "college"]}).between(-5, 1000),
    "E(a) - 100 P(b) = -3": E("a") - 100 * P("b") == -3,
    "0.1 = P(Flu)": P("Flu") == 0.1,
    "P(Flu) = 0.3 # so\n +- 0.1 # they say": P("Flu").about(0.3, 0.1),
    "P(Flu | 007=1_0, 1.50=nan) = 0.3": P("Flu", given={"007": "1_0", "1.50": "nan"}) == 0.3,
    "P(Flu | Age in (-inf, 40]) = 0.3": P("Flu", given={"Age": pd.Interval(-math.inf, 40)}) == 0.3,
    "P(in [1, 2]) = 0.3": P(pd.Interval(1, 2, "both")) == 0.3,
    "P(Flu is anything) is anything": P("Flu is anything").anything(),
    "P(Flu | Zip=01067) = 5/12": P("Flu", given={"Zip": "01067"}) == 5 / 12,
    "1/4 <= P(Flu | Age>=07) <= 3/4": P("Flu", given={"Age": pd.Interval(7, math.inf, "left")}).between(0.25, 0.75),
    "P(Flu | Age > 37) = 0.3": P("Flu", given={"Age": pd.Interval(37, math.inf, "neither")}) == 0.3,
    "P(Flu | Age<=37) = 0.3": P("Flu", given={"Age": pd.Interval(-math.inf, 37, "right")}) == 0.3,
    "P(Flu | Age < -0.5) = 0.3": P("Flu", given={"Age": pd.Interval(-math.inf, -0.5, "neither")}) == 0.3,
    "P(Age >= 37) = 0.3": P({"Age": pd.Interval(37, math.inf, "left")}) == 0.3,
    "P(Age > 37) = 0.3": P({"Age": pd.Interval(37, math.inf, "neither")}) == 0.3,
    "P('Home town'<3, Age ≤ 5 | Mary) = 0.3": P(
        {"Home town": pd.Interval(-math.inf, 3, "neither"), "Age": pd.Interval(-math.inf, 5, "right")}, who="Mary"
    )
    == 0.3,
    "#(Age < 37: Ann, Bob) = 1": Count({"Age": pd.Interval(-math.inf, 37, "neither")}, who=["Ann", "Bob"]) == 1,
    "P('BMI > 30' | Age = 3) = 0.3": P("BMI > 30", given={"Age": 3}) == 0.3,
    "P(BMI > 30 or Flu > 40) = 0.3": P(["BMI > 30", "Flu > 40"]) == 0.3,
    "P(Flu | Born in [2024-01-31, 2024-03-01 12:30)) = 0.3": P(
        "Flu", given={"Born": pd.Interval(pd.Timestamp("2024-01-31"), pd.Timestamp("2024-03-01 12:30"), "left")}
    )
    == 0.3,
    "P(Flu | Gender=male) / P(Flu | Gender=female) between 2 and 3": (FLU / OF_WOMEN).between(2, 3),
    "P(Flu | Gender=male) / P(Flu | Gender=female) in [2, 3]": (FLU / OF_WOMEN).between(2, 3),
    "P(Flu | Gender=male) / (1 - P(Flu | Gender=male)) <= 0.5": FLU / (1 - FLU) <= 0.5,
    "(P(Flu) + P(HIV)) / P(Flu | Gender=male) >= 0.5": (P("Flu") + P("HIV")) / FLU >= 0.5,
    "P(Flu | Gender=male) between 0.2 and 0.4": FLU.between(0.2, 0.4),
    "-0.1 <= P(Flu | Gender=male) - P(Flu | Gender=female) <= 0.1": (FLU - OF_WOMEN).between(-0.1, 0.1),
    "abs(P(Flu | Gender=male) - P(Flu | Gender=female)) <= 0.1": abs(FLU - OF_WOMEN) <= 0.1,
    "|P(Flu | Gender=male) - 0.3| ≤ 1/10": FLU.between(0.2, 0.4),
    "mean(age | Disease=Flu) = 40": E("age", given=AGE) == 40,
    "average(age | Disease=Flu) <= 40": E("age", given=AGE) <= 40,
}


def test_read():
    """The papers' notation, intervals, relative risks, odds and means, and what people make of them."""
    for text, expected in READ.items():
        statement = read_statement(text)
        assert statement.identity == expected.identity, text
        assert read_statement(str(statement)).identity == statement.identity


def test_dates_in_ranges():
    """A range of dates that has one end only has the notation of numbers, and is read as the same range again."""
    born = pd.to_datetime(["2023-12-31", "2024-01-31", "2024-02-29", "9999-12-31"])
    texts = pd.DataFrame({"Born": born.strftime("%Y-%m-%d"), "Disease": list("abac"), "Ward": 1})
    for table in (texts, texts.assign(Born=born), texts.assign(Born=[day.date() for day in born])):
        release = mx.Release.from_buckets(table, qi="Born", sa="Disease", bucket="Ward")
        for text, n in {
            "Born >= 2024-01-31": 3, "Born > 2024-01-31": 2, "Born<=2024-01-31": 2, "'Born' < 2024-01-31": 1,
            "Born in (2024-01-01, 2024-02-29]": 2, "Born in [2024-01-31 00:01, inf)": 2, "Born = 2024-02-29": 1,
        }.items():  # fmt: skip
            statement = read_statement(f"P(a | {text}) = 0.5")
            assert read_statement(str(statement)).identity == statement.identity
            (event, _), *_ = statement.terms
            assert mark_tuples(release, dict(event.given)).sum() == n, (text, table["Born"].dtype)


#: Texts, and the character where reading stops.
MISTAKES = {
    "": 1,
    "Flu = 0.3": 1,
    "P(Flu | Gender=male = 0.3": 21,
    "P(Flu, HIV) = 0.3": 6,
    "P(Flu | male, Degree=college) = 0.3": 13,
    "P(Flu | Gender=male)": 21,
    "P(Flu | Gender=male) < 0.3": 22,
    "P(Flu) = 30%": 12,
    "P(Flu) = 0,3": 11,
    "P(Flu) between 1/4 and 1/0": 26,
    "P(Flu) <= 0.3 +- 0.1": 15,
    "P(Flu) = 0.3 +- x": 17,
    "0.4 >= P(Flu) >= 0.3": 15,
    "P(Flu | Age in 20-30) = 0.3": 16,
    "P(Flu | Age in [30, 20]) = 0.3": 21,
    "P(Flu | a=1, a=2) = 0.3": 14,
    "P(Flu | Born >= 31.01.2024) = 0.3": 17,
    "P(Flu | Born >= 2024-02-30) = 0.3": 17,
    "P(Flu | Born in [1, 2024-02-01]) = 0.3": 21,
    "P(Flu | Born in [2024-02-02, 2024-02-01]) = 0.3": 30,
    "P(Flu | ) = 0.3": 9,
    "P(Flu)=0.3 # a\nP(HIV)=0.2": 22,
    "P(a=1, a=2) = 0.3": 8,
    "#(HIV, Alice) = 1": 6,
    "#(HIV: Alice = 1": 14,
    "#(HIV: ) = 1": 8,
    "E(Flu = 3) = 0.3": 7,
    "P(Flu or) = 0.3": 9,
}


def test_mistakes_are_pointed_at():
    """The error says where reading stops."""
    for text, at in MISTAKES.items():
        with refused(StatementError, f"character {at}"):
            read_statement(without_comments(text))


@given(text=st.text(st.sampled_from("PE(Flu|a=1) <=+-0.3*or in[],:'\"#x\n"), max_size=30))
def test_any_text_is_read_or_refused(text: str):
    """Any text is a statement or an error of this package."""
    try:
        statement = read_statement(text)
    except mx.MaxEntError:
        return
    assert isinstance(statement, mx.Statement)


WITHOUT_NOTATION = [
    "odds ratio of men and women = 2",
    "(P(Flu) / (1 - P(Flu))) / (P(HIV) / (1 - P(HIV))) = 2",
    "RR in [2, 3]",
    "P(Flu | Gender=male) is twice P(Flu | Gender=female)",
    "P(Flu | Gender=male) = 0.3 (95% CI 0.2 to 0.4)",
    "H(Disease) >= 1",
    "gini(Disease) >= 0.3",
    "P(Flu) * P(HIV) = 0.1",
    "P(Flu)^2 <= 0.1",
    "max(P(Flu), P(HIV)) <= 0.3",
    "median(age | Disease=Flu) = 40",
    "corr(age, Flu) = 0.3",
    "if Ann=Flu then Bob=Flu",
    "count(Flu) = 3",
]


def test_what_has_no_notation():
    """The error has a line of Python; for a sentence it has the example of a statement, which can be read."""
    lines = [line for lines in LINES.values() for line in lines]
    for text in WITHOUT_NOTATION:
        with pytest.raises(StatementError) as caught:
            read_statement(text)
        assert any(line in str(caught.value) for line in lines), text
    assert read_statement(re.search('"(.*)"', LOOKS_LIKE)[1]) == (P("Flu", given={"Gender": "male"}) == 0.3)
    for text in ("flu if male", "Flu", "male implies flu", "everybody"):
        with pytest.raises(StatementError) as caught:
            read_statement(text)
        assert LOOKS_LIKE in str(caught.value), text


@pytest.mark.parametrize("line", [line for lines in LINES.values() for line in lines])
def test_lines_run(line):
    """Each line is knowledge that a model takes and can solve with, or an answer."""
    ages, genders = np.tile([20, 30, 40, 50, 60], 4), np.repeat(["male", "female"], 10)
    table = pd.DataFrame({"age": ages, "Gender": genders, "Disease": (["Flu"] * 3 + ["HIV"] * 7) * 2, "b": genders})
    release = mx.Release.from_buckets(table, qi=["age", "Gender"], sa="Disease", bucket="b")
    view = mx.QITable(table, qi=["age", "Gender"], sa="Disease", sa_values=["Flu", "HIV", "none"])
    people = {"Ann": {"age": 20, "Gender": "male"}, "Bob": {"age": 30, "Gender": "female"}}
    names = {
        "mx": mx, "P": P, "cp": cp, "math": math, "release": release, "people": people, "odds_of_women": 0.25,
        "reference": np.full(3, 1 / 3), "independent": np.full(6, 1 / 6),
    }  # fmt: skip
    said = eval(line, names)
    if isinstance(said, pd.DataFrame):
        assert np.allclose(said.sum(axis=1), 1)
    else:
        assert mx.MaxEnt(view, people=people).add(said).solve().certificate.holds


def test_knowledge_files(tmp_path, release):
    """A file has one statement per line, and comments; errors of the file, and of the model, name file and line."""
    path = tmp_path / "gossip.txt"
    text = '# what the neighbours say\n\nP(Flu | Gender=male) = 0.3  # so they say\nP("#1") >= 0.1\n'
    path.write_text(text, encoding="utf-8")
    assert mx.read_knowledge(path) == [FLU == 0.3, P("#1") >= 0.1]
    path.write_bytes("P('\u2028') = 0.3\r\n".encode("utf-8-sig"))
    assert read_knowledge(path) == [P("\u2028") == 0.3]
    for wrong in (b"P(Flu) = 0.3\nP(HIV\n", b"P(Fl\xfc) = 0.3"):
        path.write_bytes(wrong)
        with refused(StatementError, "gossip.txt"):
            read_knowledge(path)
    path.write_text("2 <= P(Flu | Gender=male) / P(Flu | Gendre=female) <= 3\n", encoding="utf-8")
    (statement,) = read_knowledge(path)
    with refused(mx.UnknownName, "gossip.txt, line 1"):
        mx.MaxEnt(release).add(statement)
