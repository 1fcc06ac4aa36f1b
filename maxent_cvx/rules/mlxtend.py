"""Rules as mlxtend's ``association_rules`` returns them."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Set
from numbers import Integral
from typing import Any

import pandas as pd

from ..errors import RulesLeftOut, StatementError, TableError, amount, listing, shown, unknown_name
from .scores import SCORES

__all__ = ["least_scores", "read_items"]


def read_items(rules: pd.DataFrame, qi: tuple[str, ...], sa: tuple[str, ...], separator: str) -> pd.DataFrame:
    """Read rules of items "attribute_value", as mlxtend has them, into a column an attribute.

    Warns
    -----
    RulesLeftOut
        If rules that are not of the form QI => SA say something of the sensitive attribute. Rules among QI say
        nothing that those who know everybody's QI do not know.
    """
    columns = ["antecedents", "consequents", *SCORES]
    if not isinstance(rules, pd.DataFrame) or (missing := [name for name in columns if name not in rules.columns]):
        found = shown(rules) if not isinstance(rules, pd.DataFrame) else f"a table without {', '.join(missing)}"
        raise TableError(f"what association_rules returns is expected, with {', '.join(columns)}, not {found}")
    if rules.columns.has_duplicates:
        raise TableError(f"the rules have more than one column {listing(rules.columns[rules.columns.duplicated()])}")
    for items in ("antecedents", "consequents"):
        if strange := [some for some in rules[items] if not isinstance(some, Set | list | tuple)]:
            raise TableError(f"{items} must be sets of items, as association_rules gives them, not {shown(strange[0])}")
    if len(rules) and rules["confidence"].isna().all():
        raise TableError("the rules have no confidence; mine them by association_rules without support_only=True")
    known = {item: _read_item(item, (*qi, *sa), separator) for items in ("antecedents", "consequents")
             for some in rules[items] for item in some}  # fmt: skip
    kept, left_out = [], Counter[str]()
    for left, right, *scores in rules[columns].itertuples(index=False):
        given, then = dict(known[item] for item in left), dict(known[item] for item in right)
        if given.keys() <= set(qi) and then.keys() == set(sa):
            kept.append({**given, **then, **dict(zip(SCORES, scores, strict=True))})
        elif (given.keys() | then.keys()) & set(sa):
            left_out["sensitive values on the left" if given.keys() & set(sa) else "QI on the right"] += 1
    if left_out:
        kinds = ", ".join(f"{count} with {kind}" for kind, count in left_out.items())
        warnings.warn(
            f"{amount(left_out.total(), 'rule')} not read ({kinds}): only QI => SA is", RulesLeftOut, stacklevel=3
        )
    return pd.DataFrame(kept, columns=[*qi, *sa, *SCORES], dtype=object)


def least_scores(table: pd.DataFrame, said: dict[str, Any], exact: str) -> dict[str, Any]:
    """The thresholds as said, or, where none is, the least score that a rule has: true of these, if not of all rules.

    Parameters
    ----------
    table : DataFrame
        The rules.
    said : dict
        The thresholds, or None.
    exact : str
        What is said that the least scores do not do for, as "complete=True"; else empty.

    Raises
    ------
    StatementError
        If none is said, and the rules are to be all that there are, or are none.
    """
    unsaid = [f"{name}=..." for name in SCORES if said[name] is None]
    if unsaid and (exact or table.empty):
        raise StatementError(f"pass {' and '.join(unsaid)}, what was mined with: {exact or 'no rule'} does not tell it")
    return {name: table[name].min() if said[name] is None else said[name] for name in SCORES}


def _read_item(item: object, attributes: tuple[str, ...], separator: str) -> tuple[str, str]:
    """Read one item, "attribute_value"; the name of a column of truth values alone is that it is True."""
    if isinstance(item, Integral):
        raise StatementError(
            f"the item {item!r} is the number of a column; mine with the names of columns, "
            "apriori(..., use_colnames=True)"
        )
    fits = [
        name for name in attributes if isinstance(item, str) and (item == name or item.startswith(name + separator))
    ]
    if len(fits) > 1:
        raise StatementError(
            f"the item {item!r} may be of {listing(fits)}; name items by another separator, "
            "pandas.get_dummies(..., prefix_sep='='), and pass separator='='"
        )
    for name in fits:
        return name, "True" if item == name else str(item)[len(name + separator) :]
    error = str(unknown_name(f"item 'attribute{separator}value' of {', '.join(attributes)}", item, [])).partition(";")[
        0
    ]
    for name in attributes:
        if between := re.match(r"[\W_]+", str(item)[len(name) :] if str(item).startswith(name) else ""):
            raise StatementError(f"{error}; pass separator={between[0]!r}")
    raise StatementError(
        f"{error}; name every attribute in qi or sa, what stands between in separator=, and items as "
        "pandas.get_dummies names columns"
    )
