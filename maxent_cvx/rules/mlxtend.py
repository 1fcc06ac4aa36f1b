"""Rules as mlxtend's ``association_rules`` returns them."""

from __future__ import annotations

import warnings
from collections import Counter

import pandas as pd

from ..errors import RulesLeftOut, StatementError, TableError, amount, listing, shown, unknown_name
from .scores import SCORES

__all__ = ["read_items"]


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


def _read_item(item: object, attributes: tuple[str, ...], separator: str) -> tuple[str, str]:
    """Read one item, "attribute_value"."""
    fits = [name for name in attributes if isinstance(item, str) and item.startswith(name + separator)]
    if len(fits) > 1:
        raise StatementError(
            f"the item {item!r} may be of {listing(fits)}; name items by another separator, "
            "pandas.get_dummies(..., prefix_sep='='), and pass separator='='"
        )
    for name in fits:
        return name, str(item)[len(name + separator) :]
    error = unknown_name(f"item 'attribute{separator}value' of {', '.join(attributes)}", item, [])
    raise StatementError(
        f"{str(error).partition(';')[0]}; name every attribute in qi or sa, and what stands between in separator="
    )
