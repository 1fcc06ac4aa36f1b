"""What is true of a published view, whatever else is known: the sources that every model of it begins with."""

from __future__ import annotations

from functools import singledispatch

from ...views import View
from ..base import Source
from .checked_view import check_view
from .published_counts import PublishedCounts, PublishedZeros
from .published_rows import PublishedRows

__all__ = ["published_sources"]


@singledispatch
def published_sources(view: View) -> tuple[PublishedRows, *tuple[Source, ...]]:
    """List what a view says of itself: first what links few terms, those of a bucket say; then the rest.

    A ``functools.singledispatch`` function: a kind of view that says more than its counts, or knows the answer to them,
    registers what it says, ``@published_sources.register(MyView)``. Its subclasses say the same.

    Parameters
    ----------
    view : View

    Returns
    -------
    tuple
        A :class:`PublishedRows`, and any sources. By default the counts that it publishes, after what can be checked of
        a view is checked.

    Raises
    ------
    TableError, StatementError
        If the view is not what every :class:`maxent_cvx.View` promises.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.sources import published_sources
    >>> people = mx.datasets.load_hospital()
    >>> table = mx.QITable(people, qi="Gender", sa="Disease", sa_distribution=people["Disease"].value_counts())
    >>> [source.label for source in published_sources(table)]
    ['quasi-identifiers', 'published distribution']
    """
    check_view(view)
    zeros = any((counts == 0).any() for counts in view.published.values())
    return PublishedCounts(view), *[PublishedZeros(view)][:zeros]
