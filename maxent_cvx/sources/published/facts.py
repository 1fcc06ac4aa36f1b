"""What is true of a published view, whatever else is known: the sources that every model of it begins with."""

from __future__ import annotations

from ...errors import StatementError
from ...views import GroupedRelease, QITable, Release, ReleaseSeries, View
from ..base import Source
from .bucket_invariants import BucketInvariants
from .group_invariants import GroupInvariants, Population
from .published_rows import PublishedRows
from .qi_constraints import QIConstraints, SAConstraints
from .series_constraints import OtherRelations, SeriesConstraints

__all__ = ["facts_of"]


def facts_of(view: View) -> tuple[PublishedRows, *tuple[Source, ...]]:
    """List the facts: first what links the terms of a bucket, or a QI tuple, and no others; then the rest."""
    if isinstance(view, Release):
        return (BucketInvariants(view),)
    if isinstance(view, GroupedRelease):
        return (GroupInvariants(view), Population(view))
    if isinstance(view, QITable):
        return (QIConstraints(view), *([] if view.n_s is None else [SAConstraints(view)]))
    if isinstance(view, ReleaseSeries):
        return (SeriesConstraints(view), OtherRelations(view))
    raise StatementError(f"nothing is known of what a {type(view).__name__} says")
