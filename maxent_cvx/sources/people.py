"""SameValue: two people who have the same sensitive value with a given probability."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError
from .._utils.formatting import format_value
from .._utils.validation import check_float
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source
from .statements import read_names

#: The maximum number of values that both people can have, since there is one row per subset of them.
MOST_VALUES = 12


class SameValue(Source):
    """P(not V | i) + P(V | j) >= c for every set V of values: two people i, j with P(S_i = S_j) >= c.

    Parameters
    ----------
    first, second : str or int
        Names of people, see :class:`maxent_cvx.MaxEnt`, or pseudonyms of a series.
    at_least : float
        The least probability c that both have the same value; 0.5 means "more often than not".

    Raises
    ------
    BadProbability
        If `at_least` is not a probability.
    StatementError
        If a name is invalid, or both are equal; when added to a model, if the two can share more than 12 values.
    UnknownName
        When added to a model, if nobody in it has such a name.

    Notes
    -----
    Two distributions have a coupling in which they agree with probability c if and only if all these rows are satisfied
    (Strassen, 1965), so the rows are complete for the two distributions alone. For two people in a release, they are
    **necessary, not sufficient**: a model has no term for the values of two people *together*, and the published
    buckets may allow less than the rows, as in the example. Later knowledge about one person changes the other only
    through these rows. Statements such as "the same, or else both healthy", or the probability that both have HIV,
    cannot be expressed; they need the possible worlds of both, not P(s | i). See also the notes of :func:`Count`.

    Examples
    --------
    A bucket has two people and two different values, so the two never share a value. The rows do not imply this:

    >>> import maxent_cvx as mx, pandas as pd
    >>> pair = pd.DataFrame({"Q": ["A", "B"], "S": ["x", "y"], "Bucket": [1, 1]})
    >>> release = mx.Release.from_buckets(pair, qi="Q", sa="S", bucket="Bucket")
    >>> model = mx.MaxEnt(release, people={"Alice": {"Q": "A"}, "Bob": {"Q": "B"}})
    >>> model.add(mx.SameValue("Alice", "Bob", at_least=1)).solve().people().loc["Alice"].round(6).to_dict()
    {'x': 0.5, 'y': 0.5}
    """

    def __init__(self, first: str | int, second: str | int, at_least: float = 0.5) -> None:
        read_names([first, second])
        self.first, self.second, self.at_least = first, second, check_float(at_least, "at_least", 0.0, 1.0)

    @property
    def label(self) -> str:
        """The two people and the probability."""
        return f"{format_value(self.first)} and {format_value(self.second)} alike with P >= {self.at_least:.12g}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per set of values that both can have, together with all values that only the first can have."""
        first, second = (self._by_value(space, name) for name in (self.first, self.second))
        has_first, has_second = (np.diff(p.indptr) > 0 for p in (first, second))
        values, view = space.view.sensitive_values, space.view
        if self.at_least == 1:
            either = np.flatnonzero(has_first | has_second)
            nothing = np.zeros(len(either))
            yield Rows((first - second)[either], nothing, nothing, self.label, values[either], view)
            return
        shared = np.flatnonzero(has_first & has_second)
        if len(shared) > MOST_VALUES:
            raise StatementError(
                f"{self.first!r} and {self.second!r} can share {len(shared)} values, too many for one row per set of "
                f"values (at most {MOST_VALUES}); state the few that matter: "
                f"P(value, who={self.first!r}) - P(value, who={self.second!r}) <= {1 - self.at_least:.12g}"
            )
        sets = np.zeros((2 ** len(shared), len(values)), dtype=bool)
        sets[:, shared] = (np.arange(len(sets))[:, None] >> np.arange(len(shared))) & 1
        of_first = sets | (has_first & ~has_second)
        concerned = of_first.any(axis=1)
        of_first, sets = of_first[concerned], sets[concerned]
        matrix = sp.csr_array((~of_first).astype(float)) @ first + sp.csr_array(sets.astype(float)) @ second
        names = pd.Index([" or ".join(map(format_value, values[chosen])) for chosen in of_first])
        low, high = np.full(len(names), self.at_least), np.full(len(names), np.inf)
        yield Rows(sp.csr_array(matrix), low, high, self.label, names, view)

    @staticmethod
    def _by_value(space: Space, name: str | int) -> sp.csr_array:
        """Return the coefficients of P(s | i), shape (sensitive values, terms)."""
        axis, is_person = space.named(name)
        at = np.flatnonzero(is_person[space.codes[axis]])
        entries = (np.full(len(at), float(space.n_records)), (space.codes["s"][at], at))
        return sp.csr_array(entries, shape=(len(space.view.sensitive_values), len(space)))
