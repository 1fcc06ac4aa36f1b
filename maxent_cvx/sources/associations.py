"""The strongest associations of the original data, as a bound on the adversary's knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.associations import Associations, mine_associations
from .._utils.errors import StatementError, join_names
from .._utils.formatting import TablePreview
from .._utils.validation import check_dataframe, check_int
from ..releases.readers import with_cells
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source


class StrongestAssociations(Source):
    """P(S | Q) = n(Q, S) / n(Q) for the top K+ associations Q => S and the top K- associations Q => not S.

    Parameters
    ----------
    original : DataFrame or Associations
        The microdata, with the release's QI and sensitive columns; or the result of
        :func:`~maxent_cvx.mine_associations`, to mine once for many models.
    positive, negative : int or None
        K+ and K-. None means all associations with enough support.
    min_support : int
        The minimum support of an association, in records: n(Q, S), or n(Q, not S).
    attributes : int or several, optional
        The allowed numbers T of QI attributes in an association; None means any number.

    Raises
    ------
    StatementError
        If an argument is invalid; when added to a model, if there are fewer associations than requested, or the
        records are not those of the view.
    UnknownName, TableError
        When added to a model, if the table does not have the view's columns.

    Notes
    -----
    Privacy-MaxEnt, section 4.4, Top-(K+, K-). Associations are ordered by confidence, then support,
    then fewer attributes, then names, so that a larger K includes all associations of a smaller one.

    Examples
    --------
    The two strongest associations of each sign, and the inference of an adversary who knows them:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> source = mx.StrongestAssociations(hospital, positive=2, negative=2, min_support=2)
    >>> mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease", min_support=2)
    >>> print(mined.table(2, 2)[["rule", "confidence", "support"]].round(2))
                                   rule  confidence  support
    0                Gender=male => Flu         0.5        3
    1    Gender=female => Breast Cancer         0.5        2
    2  Gender=male => not Breast Cancer         1.0        6
    3    Gender=male => not Lung Cancer         1.0        6
    >>> print(mx.MaxEnt(release).add(source).solve().conditional()[["Flu", "HIV"]].round(2))
    Disease              Flu   HIV
    Gender Degree
    female college      0.00  0.25
           graduate     0.00  0.50
           junior       0.00  0.00
    male   college      0.44  0.17
           graduate     1.00  0.00
           high school  0.33  0.25
    """

    def __init__(
        self,
        original: pd.DataFrame | Associations,
        positive: int | None = 50,
        negative: int | None = 50,
        min_support: int = 3,
        attributes: int | Iterable[int] | None = None,
    ) -> None:
        for sign, count in (("positive", positive), ("negative", negative)):
            if count is not None:
                check_int(count, sign, 0)
        if isinstance(original, Associations) and (min_support, attributes) != (3, None):
            raise StatementError("min_support and attributes are fixed after mining; pass them to mine_associations")
        self.original = original
        self.positive, self.negative = positive, negative
        self.min_support, self.attributes = min_support, attributes

    @property
    def label(self) -> str:
        """The name of the bound in the paper."""
        return f"Top-({self.positive}, {self.negative}) strongest associations"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per positive association, then one per negative association."""
        labels = "positive association", "negative association"
        for label, (members, s, p, names) in zip(labels, self._strongest(space), strict=True):
            share = members @ space.view.n_q / space.n_records  # P(Q), section 4.1
            matrix = sp.csr_array(sp.diags_array(1 / share) @ space.joint(members, s))
            yield Rows(matrix, p, p, label, pd.Index(names), space.view)

    def _strongest(self, space: Space) -> Iterator[tuple[sp.csr_array, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the QI tuples of each group Q, the value S, P(S | Q) and its name: first positive, then negative ones."""
        mined = self._mined(space)
        q, s = self._same_people(mined, space)
        for ranked, negative in mined.top(self.positive, self.negative):
            members = mined.members(ranked)
            members.indices = q[members.indices].astype(members.indices.dtype)  # the view's QI tuples
            n_qs = ranked["n_q"] - ranked["support"] if negative else ranked["support"]
            condition, value = mined.names(ranked)
            yield members, s[ranked["s"]], n_qs / ranked["n_q"], "P(" + value + " | " + condition + ")"

    def _tables(self) -> Iterable[TablePreview]:
        """Return the associations that are already mined, since a repr should not start to mine."""
        if not isinstance(self.original, Associations):
            return []
        return [self.original.first_rows(self.positive, self.negative)]

    def _same_people(self, mined: Associations, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Find the miner's QI tuples and sensitive values in the view, and check that the people are the same."""
        view = space.view
        if mined.qi != view.qi or mined.sensitive != view.sensitive:
            raise StatementError(
                f"the associations are about {list(mined.sensitive)} given {list(mined.qi)}, but the {view.noun} has "
                f"{list(view.sensitive)} given {list(view.qi)}; mine these columns, in this order"
            )
        q = view.quasi_identifiers.get_indexer(mined.tuples)
        s = view.sensitive_values.get_indexer(mined.sensitive_values)
        if (s < 0).any():
            strange = (
                f"{', '.join(mined.sensitive)} has the unpublished values {join_names(mined.sensitive_values[s < 0])}"
            )
        elif (q < 0).any():
            strange = f"{int((q < 0).sum())} of {len(q)} QI tuples were not published"
        elif len(q) < len(view.n_q) or not np.array_equal(mined.n_tuple, view.n_q[q]):
            strange = f"{int(mined.n_tuple.sum())} records have other QI counts than the {view.noun}'s {view.n_records}"
        elif view.n_s is not None and not np.array_equal(np.bincount(s, mined.n_value, len(view.n_s)), view.n_s):
            strange = f"their counts of {', '.join(mined.sensitive)} differ from the published counts"
        else:
            return q, s
        raise StatementError(
            f"the original records are not those of the {view.noun} ({strange}), but associations are only true of the "
            "records from which they were mined; pass the published table"
        )

    def _mined(self, space: Space) -> Associations:
        if isinstance(self.original, Associations):
            return self.original
        table, view = check_dataframe(self.original, "the original records"), space.view
        if view.generalized:
            table = with_cells(view, table)
        return mine_associations(
            table, qi=view.qi, sa=view.sensitive, min_support=self.min_support, attributes=self.attributes
        )
