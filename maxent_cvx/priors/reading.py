"""Read tables of prior probabilities in every form in which they are given, and check that they are distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..errors import BadProbability, TableError, arguments, listing, shown
from ..tables.columns import names

__all__ = ["AttributeSet", "attribute_sets", "checked", "tables_given"]

#: How far the sum of a row may be from 1, for rounding.
ROUNDING = 1e-9
#: QI attributes: one, or a list of them.
AttributeSet = str | Iterable[str]


def tables_given(tables: tuple[Any, ...]) -> Iterable[tuple[tuple[str, ...], Any]]:
    """Read every form in which tables are given as attribute sets with a table each."""
    for table in tables:
        if isinstance(table, pd.DataFrame):
            yield tuple(table.index.names), table  # type: ignore[arg-type]  # checked later
        elif isinstance(table, Mapping):
            for attributes, one in table.items():
                if isinstance(attributes, set | frozenset) and len(attributes) > 1:
                    raise TableError(f"{shown(attributes)} has no order, and its signatures have; write a tuple")
                yield names(attributes, "an attribute set"), one
        else:
            raise TableError(f"a prior is a dictionary or a DataFrame, not {shown(table)}")


def attribute_sets(qi: Any) -> list[tuple[str, ...]]:
    """Read one attribute set, or a list of them."""
    is_one = isinstance(qi, str | bytes | pd.DataFrame) or not arguments.is_several(qi)
    sets = [qi] if is_one else list(qi)
    if is_one or all(isinstance(name, str) for name in sets):
        return [names(qi if is_one else sets, "qi")]
    return [names(one, "an attribute set") for one in sets]


def checked(table: Any, attributes: tuple[str, ...]) -> pd.DataFrame:
    """Check one table, and index it by its signatures."""
    where = f"the prior by {', '.join(map(str, attributes))}"
    if not all(isinstance(name, str) for name in attributes) or len(set(attributes)) < len(attributes):
        raise TableError(
            f"{listing(attributes)} are no attribute set: name QI attributes, each once; of a DataFrame they are the "
            "names of its index"
        )
    if isinstance(table, Mapping):
        if strange := [row for row in table.values() if not isinstance(row, Mapping | pd.Series)]:
            raise TableError(f"{where} holds {shown(strange[0])} for a signature; {{value: probability}} is expected")
        keys = list(table)
        of_values = {x: None for row in table.values() for x in row.keys()}  # noqa: SIM118 (a Series, too)
        entries = [[row.get(x, np.nan) for x in of_values] for row in table.values()]
        table = pd.DataFrame(entries, index=_signatures(keys, attributes, where), columns=pd.Index(list(of_values)))
    if not isinstance(table, pd.DataFrame):
        raise TableError(f"{where} must be a dictionary or a DataFrame, not {shown(table)}")
    if table.empty:
        raise TableError(f"{where} is empty")
    if table.index.nlevels != len(attributes):
        raise TableError(f"{where} needs an index of {len(attributes)} levels, and has {table.index.nlevels}")
    if set(table.index.names) == set(attributes) and table.index.names != list(attributes):
        table = table.reorder_levels(list(attributes))
    for what, labels in (("signature", table.index), ("value", table.columns)):
        if labels.has_duplicates:
            raise TableError(f"{where} has a {what} twice: {listing(labels[labels.duplicated()].unique())}")
    if (missing := table.isna()).any(axis=None):
        first = int(missing.any(axis=1).to_numpy().argmax())
        raise TableError(
            f"{where} lacks entries ({int(missing.to_numpy().sum())}), of {_label(table.index[first])} that of "
            f"{listing(table.columns[missing.iloc[first]])}; write 0 for what cannot be"
        )
    if any(map(pd.api.types.is_complex_dtype, table.dtypes)):  # to_numpy(float) would drop the imaginary parts
        raise BadProbability(f"{where} must hold real numbers, and has complex ones")
    try:
        p = table.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"{where} must hold numbers: {error}") from error
    if (bad := ~((p >= 0) & (p <= 1))).any():
        i, x = np.argwhere(bad)[0]
        raise BadProbability(
            f"{where} says {p[i, x]:g} for {_label(table.columns[x])} of {_label(table.index[i])}; "
            "from 0 to 1 is expected"
        )
    total = p.sum(axis=1)
    if (off := np.abs(total - 1) > ROUNDING).any():
        i = int(off.argmax())
        raise BadProbability(
            f"{where} sums to {total[i]:.10g} over the values of {_label(table.index[i])}, not to 1 "
            f"(so in {int(off.sum())} of {len(total)} rows); divide each row by its sum, or add the missing values"
        )
    index = table.index if isinstance(table.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([table.index])
    return pd.DataFrame(p, index=index.set_names(list(attributes)), columns=table.columns)


def _signatures(keys: list[Any], attributes: tuple[str, ...], where: str) -> pd.MultiIndex:
    """Read the keys of a dictionary as signatures."""
    tuples = [key if isinstance(key, tuple) else (key,) for key in keys]
    if odd := [key for key, one in zip(keys, tuples, strict=True) if len(one) != len(attributes)]:
        raise TableError(f"{where} has the signature {shown(odd[0])}; {len(attributes)} values are expected")
    return pd.MultiIndex.from_tuples(tuples, names=attributes)


def _label(label: object) -> str:
    """Write a signature, or a value."""
    return listing(label if isinstance(label, tuple) else (label,))
