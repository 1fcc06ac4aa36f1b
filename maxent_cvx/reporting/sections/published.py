"""What a view publishes, in a sentence or two."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...display import as_label
from ...errors import amount
from ...views import GroupedRelease, PartitionedRelease, QITable, Release, ReleaseSeries
from ...views.grouped import OUTSIDE

__all__ = ["people_in", "published_in_words"]


def people_in(view: Any) -> int:
    """How many people are in what is published; of a population, how many of them are."""
    if isinstance(view, GroupedRelease):
        outside = view.sensitive_values.to_flat_index() == OUTSIDE
        return int(view.n_s[~outside].sum())
    return int(view.n_records)


def published_in_words(view: Any) -> str:
    """Say what everybody can see, and what not."""
    qi, sa, n = _and(view.qi), _and(view.sensitive), f"{view.n_records:,}"
    if isinstance(view, Release | PartitionedRelease):
        buckets = len(view.buckets) if isinstance(view, Release) else view.n_buckets
        coarse = ", coarsened," if isinstance(view, Release) and view.generalized else ""
        held = "1 bucket" if buckets == 1 else f"{buckets:,} buckets"
        return (
            f"A table of {n} people in {held}. Of each bucket it is published who is in it, by {qi}{coarse} and how "
            f"often each value of {sa} occurs in it. Who of them has which value is not published{_told(view)}."
        )
    if isinstance(view, QITable):
        counted = "" if view.n_s is None else f", and how many people have each value of {sa}"
        return (
            f"The {qi} of {n} people is known{counted}. No record with a {sa} is published; what is, the statements "
            "below say."
        )
    if isinstance(view, GroupedRelease):
        return (
            f"Records of {people_in(view):,} people with coarsened {qi} and their {sa}; and it is known who lives "
            f"there: {n} people with their exact {qi}, from whom the {people_in(view):,} are. Who of them is in which "
            "group, and who is in none, is not published."
        )
    if isinstance(view, ReleaseSeries):
        return (
            f"{amount(len(view.releases), 'table')} of people who come and go, {n} in all, whose pseudonyms say who is "
            f"the same. Of each bucket of each table it is published who is in it and how often each value of {sa} "
            "occurs in it."
        )
    tables = "; ".join(" and ".join(roles) for roles in view.published)
    return f"A {view.noun} of {n} people: how many there are by each of these: {tables}. q stands for {qi}, s for {sa}."


def _told(view: Release | PartitionedRelease) -> str:
    """Say where it follows all the same: in buckets of which all people have the same value."""
    if not isinstance(view, Release):
        return ", but follows where all people of a bucket have the same"
    n = int((np.diff(sp.csc_array(view.n_sb > 0).indptr) == 1).sum())
    return f", but follows in {amount(n, 'bucket')}, where all people have the same" if n else ""


def _and(names: tuple[str, ...]) -> str:
    """Write "A, B and C"; of no name, that there is none."""
    if not names:
        return "pseudonym only"
    names = tuple(map(as_label, names))
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
