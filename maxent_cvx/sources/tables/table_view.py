"""The people whom a table counts, as a view: what there is when nothing is published but tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...errors import TableError, arguments, listing, unknown_name
from ...tables.columns import names
from ...views import QITable

__all__ = ["people_of"]


def people_of(cells: pd.DataFrame, is_total: np.ndarray, sa: str | Iterable[str], n_records: int | None) -> QITable:
    """Make the QI table of the totals over what is sensitive.

    Parameters
    ----------
    cells : DataFrame
        `low` and `high`, by attributes.
    is_total : ndarray of bool, shape (cells, attributes)
    sa : str or several
        The sensitive attributes.
    n_records : int, optional
        The number of people, if it is not among the cells.
    """
    attributes = [str(name) for name in cells.index.names]
    sensitive = names(sa, "sa")
    if strangers := [name for name in sensitive if name not in attributes]:
        raise unknown_name("attribute of the published table", strangers[0], attributes)
    if n_records is not None:
        arguments.whole(n_records, "n_records", 1, error=TableError)
    qi = [name for name in attributes if name not in sensitive]
    is_sensitive = np.array([name in sensitive for name in attributes])
    labels = {
        name: pd.unique(np.asarray(cells.index.get_level_values(name)[~total]))
        for name, total in zip(attributes, is_total.T, strict=True)
    }
    domain = _domain([labels[name] for name in sensitive])
    if not qi:
        total = _grand_total(cells, is_total, n_records)
        alone = next(name for name in ("people", "_people", "__people") if name not in attributes)
        everybody = pd.DataFrame({alone: ["everybody"], f"n of {alone}": [total]})
        return QITable(everybody, qi=alone, sa=sensitive, sa_values=domain, count=f"n of {alone}")
    if n_records is not None:
        raise TableError("n_records is for a table whose attributes are all sensitive; leave it out")
    of_people = np.flatnonzero((is_total == is_sensitive).all(axis=1))
    margin = cells.iloc[of_people]
    people = margin.index.to_frame(index=False)[qi].infer_objects()
    _check_margin(people, margin, [labels[name] for name in qi], sensitive)
    _check_sum(cells.iloc[np.flatnonzero(is_total.all(axis=1))], margin, math.prod(len(labels[name]) for name in qi))
    count = next(name for name in ("n", "_n", "__n") if name not in qi)
    people[count] = margin["low"].to_numpy().astype(np.int64)
    return QITable(people, qi=qi, sa=sensitive, sa_values=domain, count=count)


def _domain(values: list[np.ndarray]) -> list[object]:
    """All combinations of the values of the sensitive attributes."""
    return list(values[0]) if len(values) == 1 else list(itertools.product(*values))


def _grand_total(cells: pd.DataFrame, is_total: np.ndarray, n_records: int | None) -> int:
    """The number of people."""
    everybody = cells[is_total.all(axis=1)]
    if n_records is not None:
        if len(everybody) and not everybody["low"].iloc[0] <= n_records <= everybody["high"].iloc[0]:
            low, high = everybody.iloc[0]
            raise TableError(f"n_records={n_records}, and the published table counts {low:.0f} to {high:.0f} people")
        return n_records
    if not len(everybody) or everybody["low"].iloc[0] != everybody["high"].iloc[0]:
        raise TableError(
            "the published table has no grand total that is a number, and so no number of people; say it, n_records=..."
        )
    return int(everybody["low"].iloc[0])


def _check_margin(people: pd.DataFrame, margin: pd.DataFrame, values: list[np.ndarray], sa: tuple[str, ...]) -> None:
    """Check that the people of every quasi-identifier that the table names are published."""
    over = f"over {', '.join(map(repr, sa))}"
    if (vague := (margin["low"] != margin["high"]).to_numpy()).any():
        whom = listing(people[vague].itertuples(index=False, name=None))
        raise TableError(
            f"the total {over} of {whom} is suppressed or rounded, so that nobody knows how many people have these "
            f"quasi-identifiers; let all attributes be sensitive, sa={[*people.columns, *sa]}"
        )
    for name, some in zip(people.columns, values, strict=True):
        if missing := some[~pd.Index(some).isin(people[name])].tolist():
            raise TableError(
                f"the published table has no total {over} of {name}={listing(missing)}; add the row, or let all "
                f"attributes be sensitive, sa={[*people.columns, *sa]}"
            )


def _check_sum(everybody: pd.DataFrame, margin: pd.DataFrame, n_combinations: int) -> None:
    """Check that nobody is missing: the totals add up to the grand total, or there is one for every combination."""
    total = int(margin["low"].sum())
    if len(everybody):
        least, most = everybody["low"].iloc[0], everybody["high"].iloc[0]
        if not least <= total <= most or (least < most and len(margin) < n_combinations):
            raise TableError(
                f"the published totals over what is sensitive add up to {total} people, and the grand total is "
                f"{least:.0f} to {most:.0f}; add the totals that are missing"
            )
    elif len(margin) < n_combinations:
        raise TableError(
            f"the published table has {len(margin)} totals over what is sensitive, of {n_combinations} combinations "
            "of quasi-identifiers; add the others, 0 where there is nobody, or the grand total"
        )
