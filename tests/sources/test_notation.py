"""Knowledge as text: what is written is read as the same, and mistakes are pointed at."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Count, E, P, RepeatedStatement, StatementError
from maxent_cvx.sources.parser import read_knowledge, read_statement, without_comments
from support.helpers import refused

names = st.text(st.sampled_from("ab Pin=or|,():'\"\\#é<1."), min_size=1, max_size=6).filter(str.strip)
texts = st.one_of(
    names, st.sampled_from(["or", "in", "1", "True", "1e3", "nan", "50K+", "<=50K", "Lung cancer", "a or b"])
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


@given(data=st.data())
def test_what_is_written_is_read_as_the_same(data: st.DataObject):
    """str(statement) is read as the same statement, to the last bit of every number."""
    chance = st.floats(0, 1)
    left = data.draw(probabilities())
    kind = data.draw(st.sampled_from(["about", "between", "=", "<=", ">=", "against", "anything"]))
    if kind == "about":
        said = left.about(data.draw(chance), data.draw(st.floats(0, 2)))
    elif kind == "between":
        said = left.between(*sorted((data.draw(chance), data.draw(chance))))
    elif kind == "anything":
        said = (left - 2 * data.draw(probabilities())).anything()
    elif kind == "against":
        others = data.draw(st.lists(st.tuples(st.floats(0.01, 9), probabilities()), min_size=1, max_size=3))
        right = sum((a * p for a, p in others), start=P("z"))
        said = left <= right if not left.same_as(right) else left <= 1
    else:
        value = data.draw(chance)
        said = {"=": left == value, "<=": left <= value, ">=": left >= value}[kind]
    assert read_statement(str(said)) == said


MALE = {"Gender": "male"}
READ = {
    "P(Flu | Gender=male) = 0.3 +- 0.05": P("Flu", given=MALE).about(0.3, 0.05),
    "P(Flu|Gender = male)=.3±5e-2  # heard of": P("Flu", given=MALE).about(0.3, 0.05),
    "0.2 <= P(Flu or HIV | Gender=male, Degree=college) <= 0.4": P(
        ["HIV", "Flu"], given={"Degree": "college", "Gender": "male"}
    ).between(0.2, 0.4),
    "P(HIV | Gender=male) <= 2 P(Flu | Gender=female)": P("HIV", given=MALE)
    <= 2 * P("Flu", given={"Gender": "female"}),
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
    "-5 <= E(income | edu=college or none, Age in [20, 30)) <= 1e3": E(
        "income", given={"edu": ["none", "college"], "Age": pd.Interval(20, 30, "left")}
    ).between(-5, 1000),
    "E(a) - 100 P(b) = -3": E("a") - 100 * P("b") == -3,
    "0.1 = P(Flu)": P("Flu") == 0.1,
    "P(Flu) = 0.3 # so\n +- 0.1 # they say": P("Flu").about(0.3, 0.1),
    "P(Flu | 007=1_0, 1.50=nan) = 0.3": P("Flu", given={"007": "1_0", "1.50": "nan"}) == 0.3,
    "P(Flu | Age in (-inf, 40]) = 0.3": P("Flu", given={"Age": pd.Interval(-math.inf, 40)}) == 0.3,
    "P(in [1, 2]) = 0.3": P(pd.Interval(1, 2, "both")) == 0.3,
    "P(Flu is anything) is anything": P("Flu is anything").anything(),
    "P(Flu | Zip=01067) = 5/12": P("Flu", given={"Zip": "01067"}) == 5 / 12,
    "1/4 <= P(Flu | Age>=07) <= 3/4": P("Flu", given={"Age": pd.Interval(7, math.inf, "left")}).between(0.25, 0.75),
}


@pytest.mark.parametrize("text", READ)
def test_read(text: str):
    """The papers' notation, and what people make of it."""
    assert read_statement(text) == READ[text]


#: Texts, and the character where reading stops.
MISTAKES = {
    "": 1,
    "Flu = 0.3": 1,
    "P(Flu | Gender=male = 0.3": 21,
    "P(Flu, HIV) = 0.3": 6,
    "P(Flu | male, Degree=college) = 0.3": 13,
    "P(Flu | Gender=male)": 21,
    "P(Flu | Gender=male) < 0.3": 22,
    "P(Flu) = 0.3 0.4": 14,
    "P(Flu) = 30%": 12,
    "P(Flu) = 0,3": 11,
    "P(Flu) between 1/4 and 1/0": 26,
    "P(Flu) <= 0.3 +- 0.1": 15,
    "P(Flu) = 0.3 +- x": 17,
    "0.4 >= P(Flu) >= 0.3": 15,
    "P(Flu) * 2 = 0.3": 8,
    "P(Flu | Age in 20-30) = 0.3": 16,
    "P(Flu | Age in [30, 20]) = 0.3": 21,
    "P(Flu | a=1, a=2) = 0.3": 14,
    "P(Flu | ) = 0.3": 9,
    "P(Flu)=0.3 # a\nP(HIV)=0.2": 22,
    "P() = 0.3": 3,
    "P(a=1, a=2) = 0.3": 8,
    "#(HIV, Alice) = 1": 6,
    "#(HIV: Alice = 1": 14,
    "#(HIV: ) = 1": 8,
    "P(Time=10:30) = 1": 10,
    "E(Flu = 3) = 0.3": 7,
    "E() = 0.3": 3,
    "P(Flu or) = 0.3": 9,
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_pointed_at(text: str):
    """The error says where reading stops."""
    with refused(StatementError, f"character {MISTAKES[text]}"):
        read_statement(without_comments(text))


@given(text=st.text(st.sampled_from("PE(Flu|a=1) <=+-0.3*or in[],:'\"#x\n"), max_size=30))
def test_any_text_is_read_or_refused(text: str):
    """Nothing else than a statement or an error of this package comes of any text."""
    try:
        said = read_statement(text)
    except mx.MaxEntError:
        return
    assert isinstance(said, mx.Statement)


def test_model_takes_text(hospital):
    """Text is the statement it stands for; adding both is adding one."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3", "P(HIV) <= 2 P(Flu | Gender=female)")
    assert list(model.knowledge) == ["P(Flu | Gender=male) = 0.3", "P(HIV) <= 2 P(Flu | Gender=female)"]
    with pytest.warns(RepeatedStatement):
        model.add(P("Flu", given=MALE) == 0.3)
    assert model.solve().prob("Flu", given=MALE) == pytest.approx(0.3, abs=1e-9)
    with refused(mx.UnknownName):
        model.add("P(Fluu) = 0.3")


def test_knowledge_files(tmp_path):
    """A statement a line, with comments; an error names file and line."""
    path = tmp_path / "gossip.txt"
    path.write_text(
        '# what the neighbours say\n\nP(Flu | Gender=male) = 0.3  # so they say\nP("#1") >= 0.1\n', encoding="utf-8"
    )
    assert read_knowledge(path) == [P("Flu", given=MALE) == 0.3, P("#1") >= 0.1]
    assert mx.read_knowledge is read_knowledge
    path.write_text("P(Flu) = 0.3\nP(HIV\n", encoding="utf-8")
    with refused(StatementError):
        read_knowledge(path)
    path.write_bytes("P('\u2028') = 0.3\r\n".encode("utf-8-sig"))
    assert read_knowledge(path) == [P("\u2028") == 0.3]
    path.write_bytes(b"P(Fl\xfc) = 0.3")
    with refused(StatementError):
        read_knowledge(path)
