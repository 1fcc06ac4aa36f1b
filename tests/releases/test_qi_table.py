"""People whose QI are known, and no table of values (Published rules, sections III.A and V.D)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, QITable, TableError, UnknownName
from support.helpers import refused
from support.rules import EXAMPLE_1, QI, people_of, random_table
from support.solving import examples

seeds = st.integers(0, 10**6)
VALUES = ["50K+", "50K-"]


def test_section_v_d():
    """The example of a QI-constraint: P(Doctorate, Female, 50K+) + P(Doctorate, Female, 50K-) = 4/12."""
    space = MaxEnt(people_of(EXAMPLE_1)).space
    rows = space.marginal("q") == space.view.published["q",] / 12
    at = list(rows.index).index(("Doctorate", "Female"))
    assert rows.matrix[[at]].toarray().sum() == 2
    assert rows.low[at] == rows.high[at] == pytest.approx(1 / 3)


def test_without_knowledge_anything_is_possible():
    """Every value is equally likely, and every probability lies between 0 and 1."""
    model = MaxEnt(people_of(EXAMPLE_1))
    assert (model.solve().conditional() == 0.5).to_numpy().all()
    assert model.bounds("P(50K+ | Gender=Female)") == (0, 1)
    assert model.bounds(P(VALUES)) == (1, 1)


def test_a_published_distribution():
    """SA-constraints, Eq. (9): everybody then has the distribution of all, and bounds are those of counting."""
    table = QITable(EXAMPLE_1, qi=QI, sa="Salary", sa_distribution=EXAMPLE_1["Salary"].value_counts(normalize=True))
    model = MaxEnt(table)
    assert list(model.describe().index) == ["quasi-identifiers", "published distribution"]
    np.testing.assert_allclose(model.solve().conditional()["50K+"], 9 / 12, atol=1e-9)
    low, high = model.bounds("P(50K- | Gender=Male)")  # three men, and three who earn less
    assert (low, high) == pytest.approx((0, 1), abs=1e-6)
    low, high = model.bounds("P(50K- | Gender=Female)")
    assert (low, high) == pytest.approx((0, 3 / 9), abs=1e-6)


def test_values_nobody_has():
    """A value that the distribution counts for nobody has no term, and probability 0."""
    table = QITable(EXAMPLE_1, qi=QI, sa="Salary", sa_distribution=pd.Series({"50K+": 12, "50K-": 0, "100K+": 0}))
    post = MaxEnt(table).solve()
    assert post.conditional().columns.tolist() == ["50K+", "50K-", "100K+"]
    assert post.prob("100K+") == 0


def test_several_attributes_are_matched_by_name():
    """A distribution whose levels are named may have them in another order."""
    frame = pd.DataFrame({"A": list("aabb"), "HIV": ["no", "no", "no", "yes"], "Rich": ["yes", "yes", "yes", "no"]})
    table = QITable(frame, qi="A", sa=["HIV", "Rich"], sa_distribution=frame[["Rich", "HIV"]].value_counts())
    assert MaxEnt(table).solve().prob(P({"HIV": "yes"})) == pytest.approx(0.25)
    with refused(TableError, "['HIV', 'Poor']"):
        other = frame.rename(columns={"Rich": "Poor"})
        QITable(frame, qi="A", sa=["HIV", "Rich"], sa_distribution=other[["HIV", "Poor"]].value_counts())


def test_a_column_called_like_a_count(tmp_path):
    """What could not be read back is not written."""
    frame = EXAMPLE_1.rename(columns={"Gender": "N P(q)"})
    post = MaxEnt(QITable(frame, qi=["Education", "N P(q)"], sa="Salary", sa_values=VALUES)).solve()
    with refused(TableError, "'N P(q)'", "rename"):
        post.save(tmp_path / "post.parquet")


def test_counted_people():
    """One row a QI tuple with its number of people says the same as one row a person."""
    counted = EXAMPLE_1.groupby(QI).size().rename("people").reset_index()
    one = QITable(counted, qi=QI, sa="Salary", sa_values=VALUES, count="people")
    other = QITable(EXAMPLE_1, qi=QI, sa="Salary", sa_values=VALUES)
    assert one.quasi_identifiers.equals(other.quasi_identifiers)
    assert (one.n_q == other.n_q).all()


def test_named_people():
    """Somebody known by name is one of those with the same QI; where values are counted, the others get the rest."""
    people = {"Ann": {"Education": "Doctorate", "Gender": "Female"}}
    n = EXAMPLE_1["Salary"].value_counts()
    table = QITable(EXAMPLE_1, qi=QI, sa="Salary", sa_distribution=n)
    post = MaxEnt(table, people=people).add(P("50K-", who="Ann") == 1).solve()
    assert post.people().loc["Ann", "50K-"] == pytest.approx(1)
    np.testing.assert_allclose(post.prob("50K-", given={"Gender": "Male"}), 2 / 11, atol=1e-8)
    assert post.space.term == "P(i, q, s)"


def test_several_sensitive_attributes():
    """Values are tuples then, and P speaks of one attribute."""
    pairs = [("Flu", "low"), ("Flu", "high"), ("HIV", "low")]
    table = QITable(EXAMPLE_1, qi=QI, sa=["Disease", "Income"], sa_values=pairs)
    post = MaxEnt(table).add(P({"Disease": "Flu"}) == 0.5).solve()
    assert post.prob(P({"Income": "low"})) == pytest.approx(0.75)


@examples(20)
@given(seed=seeds, distribution=st.booleans(), named=st.booleans())
def test_saved_and_loaded(seed: int, distribution: bool, named: bool, tmp_path_factory):
    """A posterior of a QI table is stored with its people, its values, and its distribution."""
    frame = random_table(np.random.default_rng(seed))
    qi = [column for column in frame if column != "S"]
    known = {"sa_distribution": frame["S"].value_counts()} if distribution else {"sa_values": ["x", "y", "z", "w"]}
    table = QITable(frame, qi=qi, sa="S", **known)
    people = {"Ann": dict(frame[qi].iloc[0])} if named else None
    knowledge = P(table.sensitive_values[0], given={"Q0": frame["Q0"].iloc[0]}) <= 0.9 + distribution / 10
    post = MaxEnt(table, people=people).add(knowledge).solve()
    path = tmp_path_factory.mktemp("saved") / "post.parquet"
    post.save(path)
    again = mx.load_posterior(path)
    pd.testing.assert_series_equal(again.joint(), post.joint())
    pd.testing.assert_frame_equal(again.conditional(), post.conditional())
    assert repr(again.space.view) == repr(table)


def test_measures():
    """Divergences compare with the original; without a published distribution there is no t-closeness."""
    post = MaxEnt(people_of(EXAMPLE_1)).solve()
    assert mx.measures.individual_divergence(post, EXAMPLE_1)["Masters", "Female"] == pytest.approx(
        1 - (-0.8 * np.log2(0.8) - 0.2 * np.log2(0.2))
    )
    assert mx.measures.disclosure(post)["t"].isna().all()
    assert mx.measures.disclosure(post)["max_p"].eq(0.5).all()
    with refused(TableError):
        mx.measures.overall_divergence(post, EXAMPLE_1.iloc[1:])


WRONG = [
    ({"sa_values": None}, TableError, ["sa_values", "'Salary'"]),
    ({"sa_values": []}, TableError, []),
    ({"sa_values": ["a", "a"]}, TableError, ["once"]),
    ({"sa_values": "50K+"}, TableError, ["list"]),
    ({"sa_values": [("50K+", "50K-")]}, TableError, ["tuples"]),
    ({"sa_values": [["50K+"], ["50K-"]]}, TableError, []),
    ({"qi": "Educatoin"}, UnknownName, ["'Education'"]),
    ({"sa": "Gender"}, TableError, ["'Gender'", "qi", "sa"]),
    ({"count": "people"}, UnknownName, ["'people'"]),
    ({"sa_distribution": {"50K+": 9, "50K-": 3}}, TableError, ["Series"]),
    ({"sa_distribution": pd.Series({"50K+": 9})}, TableError, []),
    ({"sa_distribution": pd.Series({"50K+": 9, "50K-": 2})}, TableError, ["12"]),
    ({"sa_distribution": pd.Series({"50K+": 0.76, "50K-": 0.24})}, TableError, ["about"]),
    ({"sa_distribution": pd.Series({"50K+": "many", "50K-": 3})}, TableError, []),
]


@pytest.mark.parametrize(("options", "error", "says"), WRONG)
def test_what_is_no_qi_table(options, error, says):
    """What was found, what is expected, and what to do."""
    with refused(error, *says):
        QITable(EXAMPLE_1, **({"qi": QI, "sa": "Salary", "sa_values": VALUES} | options))


def test_messages_speak_of_the_qi_table():
    """Errors name the view that the model is of."""
    model = MaxEnt(people_of(EXAMPLE_1))
    with refused(UnknownName, never="release"):
        model.add(P("50K+", given={"Gendr": "Male"}) == 0.5)
    with refused(UnknownName, never="bucket"):
        model.space.marginal("Bucket")
