"""People whose QI are known, and no table of values (Published rules, sections III.A and V.D)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maxent_cvx import MaxEnt, QITable, TableError, UnknownName
from support.helpers import refused
from support.rules import EXAMPLE_1, QI, people_of

VALUES = ["50K+", "50K-"]


def test_section_v_d():
    """The example of a QI-constraint: P(Doctorate, Female, 50K+) + P(Doctorate, Female, 50K-) = 4/12."""
    space = MaxEnt(people_of(EXAMPLE_1)).space
    rows = space.marginal("q") == space.view.published["q",] / 12
    at = list(rows.index).index(("Doctorate", "Female"))
    assert rows.matrix[[at]].toarray().sum() == 2
    assert rows.low[at] == rows.high[at] == pytest.approx(1 / 3)


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


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"sa_values": None}, TableError),
        ({"sa_values": []}, TableError),
        ({"sa_values": ["a", "a"]}, TableError),
        ({"sa_values": ["a", "\ud800"]}, TableError),
        ({"sa_values": "50K+"}, TableError),
        ({"sa_values": [("50K+", "50K-")]}, TableError),
        ({"sa_values": [["50K+"], ["50K-"]]}, TableError),
        ({"qi": "Educatoin"}, UnknownName),
        ({"sa": "Gender"}, TableError),
        ({"count": "people"}, UnknownName),
        ({"sa_distribution": {"50K+": 9, "50K-": 3}}, TableError),
        ({"sa_distribution": pd.Series({"50K+": 9})}, TableError),
        ({"sa_distribution": pd.Series({"50K+": 9, "50K-": 2})}, TableError),
        ({"sa_distribution": pd.Series({"50K+": 0.76, "50K-": 0.24})}, TableError),
        ({"sa_distribution": pd.Series({"50K+": "many", "50K-": 3})}, TableError),
    ],
)
def test_what_is_no_qi_table(options, error):
    """Values, roles, counts and distributions that do not fit are refused."""
    with refused(error):
        QITable(EXAMPLE_1, **({"qi": QI, "sa": "Salary", "sa_values": VALUES} | options))
