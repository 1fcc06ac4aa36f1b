"""Association rules, mined from microdata to be published."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..errors import arguments
from ..rules.rule_set import RuleSet
from ..rules.rule_table import check_names
from ..rules.thresholds import Thresholds
from ..tables.columns import names
from ..tables.mining import mine_associations

__all__ = ["mine_rules"]


def mine_rules(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    support: float,
    confidence: float,
    strict: bool = False,
    attributes: int | Iterable[int] | None = None,
) -> RuleSet:
    """Find all rules Q => X with P(Q, X) >= support and P(X | Q) >= confidence; if `strict`, both by >.

    Parameters
    ----------
    table : DataFrame
        One row a person.
    qi, sa : str or list of str
        Column names; Q sets some of `qi`, and X is a value of `sa` (of several, a combination).
    support, confidence : float
        The thresholds, compared as integer numbers of records: 0.1 is one tenth exactly, and five sixths are
        ``Fraction(5, 6)``.
    strict : bool
        By > instead of >=.
    attributes : int or list of int, optional
        How many QI attributes a rule may set; None is any number.

    Returns
    -------
    RuleSet
        Complete, with exact scores; by confidence, then support, both descending, then fewer attributes, then names.

    Raises
    ------
    UnknownName, TableError
        If the table cannot play its role.
    BadProbability, StatementError
        If a threshold is no share of records, or `attributes` is out of range.

    Notes
    -----
    Published rules, section V.A.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Education": ["Doctorate", "Doctorate", "Masters"], "Salary": ["50K+", "50K+", "50K-"]})
    >>> rules = mx.disguise.mine_rules(people, qi="Education", sa="Salary", support=0.6, confidence=0.9)
    >>> rules.table["support"].round(2)
    rule
    Education=Doctorate => 50K+    0.67
    Name: support, dtype: float64
    """
    arguments.flag(strict, "strict")
    thresholds = Thresholds.of(support, confidence, strict)
    check_names([*names(qi, "qi"), *names(sa, "sa")])
    least = thresholds.least_support(max(len(table), 1)) if isinstance(table, pd.DataFrame) else 1
    mined = mine_associations(table, qi=qi, sa=sa, min_support=least, attributes=attributes, negative=False)
    ranked = mined.positive
    ranked = ranked[ranked["support"] >= thresholds.least(ranked["n_q"], len(table))]
    columns = {name: np.full(len(ranked), None, dtype=object) for name in mined.qi}
    first = mined.first(ranked)
    for i, cube in enumerate(mined.cubes):
        at = np.flatnonzero(ranked["cube"] == i)
        for attribute in cube.attributes if len(at) else ():
            level, codes = mined.tuples.levels[attribute], np.asarray(mined.tuples.codes[attribute])
            columns[mined.qi[attribute]][at] = level.to_numpy(dtype=object)[codes[first[at]]]
    values = mined.sensitive_values[ranked["s"]]
    found = pd.DataFrame(columns).assign(
        **{name: values.get_level_values(i).to_numpy(dtype=object) for i, name in enumerate(mined.sensitive)},
        support=ranked["support"] / len(table),
        confidence=ranked["support"] / ranked["n_q"],
    )
    return RuleSet(
        found, qi=mined.qi, sa=mined.sensitive, support=thresholds.support, confidence=thresholds.confidence,
        strict=strict, complete=True, attributes=attributes,
    )  # fmt: skip
