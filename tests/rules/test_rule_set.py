"""Rule sets: choosing, withholding and rounding keep the properties of the rules, or fewer of them, and never more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError
from support.helpers import refused

TABLE = pd.DataFrame(
    {
        "Education": ["Doctorate", None, "Masters"],
        "Gender": [None, "Female", "Male"],
        "Salary": ["50K+", "50K-", "50K+"],
        "support": [0.35, 0.2, 0.25],
        "confidence": [0.875, 0.625, 0.75],
    }
)


def rules(complete: bool = True, **more) -> mx.RuleSet:
    said = {"qi": ["Education", "Gender"], "sa": "Salary", "support": 0.1, "confidence": 0.6, "strict": True}
    return mx.RuleSet(TABLE, complete=complete, **said | more)


@given(st.lists(st.booleans(), min_size=3, max_size=3), st.booleans())
def test_some_of_the_rules(kept: list[bool], complete: bool):
    """A mask and positions keep the same rules, in their order; a set is complete only if none is left out."""
    mask = np.array(kept)
    some = rules(complete).at(mask)
    pd.testing.assert_frame_equal(some.table, rules(complete).at(np.flatnonzero(mask)).table)
    assert some.table.index.to_list() == [
        text for text, is_kept in zip(rules().table.index, kept, strict=True) if is_kept
    ]
    assert some.complete == (complete and all(kept))


def test_attributes_and_thresholds_stay():
    """Attributes, exact thresholds and the convention of the comparison are those of the original rules."""
    before = rules(attributes=[1, 2])
    made = (
        before.at(np.array([0, 2])),
        before.head(1),
        before.incomplete(),
        before.without_scores(),
        before.rounded(1),
    )
    for after in made:
        for name in ("qi", "sensitive", "thresholds", "strict", "attributes"):
            assert getattr(after, name) == getattr(before, name)


def test_rules_that_contradict_themselves():
    """Two rows that set the same attributes to the same values, and a score below its threshold, are refused."""
    with refused(TableError):
        mx.RuleSet(pd.concat([TABLE, TABLE.head(1)]), qi=["Gender", "Education"], sa="Salary", support=0, confidence=0)
    with refused(StatementError):
        rules(confidence=0.7)


def test_a_forged_first_line(tmp_path):
    """A file of rules that describes them in another way is refused by type."""
    long = '{"support": ' + "[" * 5000
    for first in ('{"support": "1/0"}', '{"support": "x"}', '{"luck": 1}', long, "{", '{"qi": {}}'):
        (tmp_path / "rules.csv").write_text(f"# {first}\nGender,Pay,confidence\nMale,50K+,0.8\n")
        with pytest.raises(mx.MaxEntError):
            mx.RuleSet.from_csv(tmp_path / "rules.csv")
