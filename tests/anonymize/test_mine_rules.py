"""Mined rules follow their definition and agree with mlxtend; files of rules (Published rules, section V.A)."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, RuleSet, RulesLeftOut, StatementError, TableError, UnknownName
from support.rules import EXAMPLE_1, QI, is_rule, patterns, random_table, written_rules

seeds = st.integers(0, 10**6)
#: Thresholds as they are typed; many are hit exactly by small tables.
SHARES = ("0.1", "0.2", "0.25", "0.3", "0.5", "0.6", "0.75", "0.9", "1")


def mine(frame, support=0.3, confidence=0.8, **options) -> RuleSet:
    return mx.anonymize.mine_rules(frame, qi=QI, sa="Salary", support=support, confidence=confidence, **options)


def test_fig_1():
    """Fig. 1(b) lists the three rules above 0.3 and 0.8, by >, with their scores."""
    rules = mine(EXAMPLE_1, strict=True)
    assert rules.table.round(2)[["confidence", "support"]].to_dict("index") == {
        "Education=Doctorate => 50K+": {"confidence": 0.83, "support": 0.42},
        "Education=Doctorate, Gender=Female => 50K+": {"confidence": 1.0, "support": 0.33},
        "Gender=Female => 50K+": {"confidence": 0.89, "support": 0.67},
    }
    assert rules.complete
    assert rules.strict


@given(seed=seeds, s=st.sampled_from(SHARES), c=st.sampled_from(SHARES), strict=st.booleans(), data=st.data())
def test_all_rules_and_no_others(seed: int, s: str, c: str, strict: bool, data: st.DataObject):
    """The rules are those of all patterns of all subsets of attributes that satisfy the definition in fractions."""
    frame = random_table(np.random.default_rng(seed))
    qi = [column for column in frame if column != "S"]
    sizes = data.draw(st.none() | st.sets(st.integers(1, len(qi)), min_size=1))
    rules = mx.anonymize.mine_rules(
        frame, qi=qi, sa="S", support=float(s), confidence=float(c), strict=strict, attributes=sizes
    )
    expected = {
        key
        for key, (n_q, n_qx) in patterns(frame).items()
        if is_rule(n_q, n_qx, len(frame), s, c, strict=strict) and (sizes is None or len(key[0]) in sizes)
    }
    assert written_rules(rules) == expected
    table = rules.table
    assert table["confidence"].is_monotonic_decreasing


@given(seed=seeds, s=st.sampled_from([0.11, 0.23, 0.37]), c=st.sampled_from([0.31, 0.53, 0.77]))
def test_mlxtend_finds_the_same(seed: int, s: float, c: float):
    """Mlxtend finds the same rules of the form QI => SA with the same scores."""
    frequent = pytest.importorskip("mlxtend.frequent_patterns")
    frame = random_table(np.random.default_rng(seed))
    qi = [column for column in frame if column != "S"]
    ours = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=s, confidence=c)
    items = frequent.apriori(pd.get_dummies(frame), min_support=s, use_colnames=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = frequent.association_rules(items, metric="confidence", min_threshold=c) if len(items) else None
        if result is None or result.empty:
            assert not len(ours)
            return
        theirs = RuleSet.from_mlxtend(result, qi=qi, sa="S", support=s, confidence=c, complete=True)
    scores = ["support", "confidence"]
    pd.testing.assert_frame_equal(
        ours.table[scores].sort_index(), theirs.table[scores].astype(float).sort_index(), rtol=1e-12
    )


def test_rules_of_mlxtend_that_are_left_out():
    """Rules with sensitive values on the left are left out with a warning, rules among QI without."""
    frequent = pytest.importorskip("mlxtend.frequent_patterns")
    items = frequent.apriori(pd.get_dummies(EXAMPLE_1, dtype=bool), min_support=0.3, use_colnames=True)
    result = frequent.association_rules(items, metric="confidence", min_threshold=0.79)
    with pytest.warns(RulesLeftOut):
        rules = RuleSet.from_mlxtend(result, qi=QI, sa="Salary", support=0.3, confidence=0.8)
    assert set(rules.table.index) == set(mine(EXAMPLE_1).table.index)
    with pytest.raises(StatementError):
        RuleSet.from_mlxtend(result, qi=QI, sa="Salary", support=0.3, confidence=0.8, separator="=")
    with pytest.raises(TableError):
        RuleSet.from_mlxtend(EXAMPLE_1, qi=QI, sa="Salary", support=0.3, confidence=0.8)


def test_mlxtend_by_its_defaults():
    """Tables that are encoded and mined as in mlxtend's manual are read, with sets, lists or tuples of items."""
    frequent = pytest.importorskip("mlxtend.frequent_patterns")
    encoder = pytest.importorskip("mlxtend.preprocessing").TransactionEncoder()

    def mined(table: pd.DataFrame, **options) -> pd.DataFrame:
        """Take the defaults, but for few records."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return frequent.association_rules(frequent.apriori(table, min_support=0.3, **options))

    def read(rules: pd.DataFrame, **options) -> RuleSet:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RulesLeftOut)
            return RuleSet.from_mlxtend(rules, qi=QI, sa="Salary", **options)

    named = mined(pd.get_dummies(EXAMPLE_1), use_colnames=True)
    rules = read(named)
    assert 0 < len(rules) < len(mine(EXAMPLE_1))  # (4/12) / (5/12) is less than 0.8 in floating point
    assert set(rules.table.index) < set(mine(EXAMPLE_1).table.index)
    assert (rules.support, rules.confidence) == (rules.table["support"].min(), rules.table["confidence"].min())
    for sets in (list, tuple, set):
        assert len(read(named.assign(antecedents=named["antecedents"].map(sets)))) == len(rules)
    assert read(named, support=0.3, confidence=0.8, complete=True).complete
    records = EXAMPLE_1.to_numpy().tolist()
    transactions = pd.DataFrame(encoder.fit(records).transform(records), columns=encoder.columns_)
    for table, options in [
        (named, {"complete": True}),
        (named, {"strict": True}),
        (named.head(0), {"confidence": 0.8}),
        (mined(pd.get_dummies(EXAMPLE_1)), {}),
        (mined(pd.get_dummies(EXAMPLE_1, prefix_sep="="), use_colnames=True), {}),
        (mined(transactions, use_colnames=True), {}),
    ]:
        with pytest.raises(StatementError):
            read(table, **options)
    with pytest.raises(TableError):
        read(named.assign(confidence=np.nan))


@pytest.mark.parametrize("strict", [False, True])
def test_written_and_read(tmp_path, strict):
    """A file contains the rules, their thresholds and whether they are complete."""
    rules = mine(EXAMPLE_1, strict=strict)
    rules.to_csv(tmp_path / "rules.csv")
    again = RuleSet.from_csv(tmp_path / "rules.csv")
    pd.testing.assert_frame_equal(again.table, rules.table)
    assert (again.qi, again.sa, again.thresholds) == (rules.qi, rules.sa, rules.thresholds)
    assert again.complete
    with pytest.raises(StatementError):
        RuleSet.from_csv(tmp_path / "rules.csv", strict=not strict)


def test_a_plain_file_of_rules(tmp_path):
    """A table without metadata needs its columns as arguments, and is not taken to be complete."""
    path = tmp_path / "rules.csv"
    path.write_text("Education,Gender,Salary\nDoctorate,,50K+\n,Female,50K+\n")
    with pytest.raises(StatementError):
        RuleSet.from_csv(path)
    rules = RuleSet.from_csv(path, qi=QI, sa="Salary", support=0.3, confidence=0.8)
    assert list(rules.table.index) == ["Education=Doctorate => 50K+", "Gender=Female => 50K+"]
    assert not rules.complete
    with pytest.raises(TableError):
        RuleSet.from_csv(tmp_path / "other.csv")
    path.write_text("# {not json\nEducation\n")
    with pytest.raises(TableError):
        RuleSet.from_csv(path)


TABLE = pd.DataFrame({"Education": ["Doctorate", None], "Gender": [None, "Female"], "Salary": "50K+"})


@pytest.mark.parametrize(
    ("table", "options", "error"),
    [
        (TABLE.drop(columns="Gender"), {}, UnknownName),
        (TABLE.assign(Salary=["50K+", None]), {}, TableError),
        (TABLE.assign(Gender=None, Education=["a", None]), {}, TableError),
        (pd.concat([TABLE, TABLE]), {}, TableError),
        (TABLE.assign(support=0.2), {}, StatementError),
        (TABLE.assign(confidence=1.2), {}, StatementError),
        (TABLE, {"qi": ["Education", "Education"]}, TableError),
        (TABLE.assign(confidence="high"), {}, BadProbability),
        (TABLE, {"support": 604}, BadProbability),
        (TABLE, {"confidence": np.nan}, BadProbability),
        (TABLE, {"attributes": 2}, StatementError),
        ([1], {}, TableError),
        (TABLE.rename(columns={"Gender": "support"}), {"qi": ["Education", "support"]}, TableError),
    ],
)
def test_wrong_rule_sets(table, options, error):
    with pytest.raises(error):
        RuleSet(table, **{"qi": QI, "sa": "Salary", "support": 0.3, "confidence": 0.8, **options})
