"""The space of a model: its terms P(q, s, b), and linear expressions over them.

Every information source is written with two verbs. ``space.marginal(by)`` sums the terms into a
labelled :class:`~maxent_cvx.block.Block`; ``space.prob(value, given=...)`` is the CVXPY expression
for P(value | given). Both are sparse matrices: nothing here loops over terms, buckets or people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .block import Block
from .errors import StatementError, TableError, unknown_name
from .selection import choose
from .tables import Microdata, group_codes, multi_index, sort_distinct
from .views import Release

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Space"]


@dataclass(frozen=True, eq=False)
class Space:
    """The terms that can be non-zero, and the book-keeping of sums over them.

    Attributes
    ----------
    view : Release
        What is published.
    codes : dict of str to ndarray
        For every term, the positions of its "q", "s" and "bucket" in the view's indices.
    """

    view: Release
    codes: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, view: Release) -> Space:
        """Number the terms of a published view."""
        return cls(view, view.terms())

    def __len__(self) -> int:
        return len(self.codes["s"])

    def __repr__(self) -> str:
        return f"<Space: {len(self)} terms P(q, s, b) of {self.view!r}>"

    @property
    def n_records(self) -> int:
        """N, the number of people."""
        return self.view.n_records

    @cached_property
    def counts(self) -> cp.Variable:
        """The CVXPY variable N p, one entry a term, in people: conic solvers fail on raw p ~ 1e-5."""
        import cvxpy as cp  # takes a second to load, which closed forms and tables need not wait for

        return cp.Variable(len(self), nonneg=True, name="counts")

    @cached_property
    def p(self) -> cp.Expression:
        """The probabilities P(q, s, b), as a CVXPY expression."""
        return self.counts / self.n_records

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The labels of the terms: QI attributes, sensitive attribute, bucket."""
        return self._labels(["q", "s", "bucket"], slice(None))

    # -- the verbs -------------------------------------------------------------------------------

    def marginal(self, by: str | Sequence[str]) -> Block:
        """Sum the terms into P(by), one row for each combination of values that can occur.

        Parameters
        ----------
        by : str or list of str
            Column names, or the roles "q" (all QI attributes together), "s" and "bucket".

        Returns
        -------
        Block
            Probabilities, sorted by label.

        Raises
        ------
        UnknownName
            If a name is neither a column of the release nor a role.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> len(space.marginal(["q", "bucket"]) == release.p_qb)      # the QI-invariants, Eq. (4)
        9
        """
        names = _names(by)
        axes = [self._axis(name) for name in names]
        group = group_codes([codes for codes, _ in axes], [len(values) for _, values in axes])
        first = np.unique(group, return_index=True)[1]
        terms = np.arange(len(self))
        matrix = sp.csr_array((np.ones(len(self)), (group, terms)), shape=(len(first), len(self)))
        index = self._labels(names, first)
        label = f"P({', '.join(self._columns(names))})"
        return Block(self, matrix, index if index.nlevels > 1 else index.get_level_values(0), label)

    def conditional(self, of: str | Sequence[str], given: str | Sequence[str]) -> Block:
        """P(of | given) = P(of, given) / P(given), for every combination that can occur.

        Parameters
        ----------
        of : str or list of str
            As in :meth:`marginal`.
        given : str or list of str
            QI attributes, or "q" for all of them: P(given) is known from the release
            (Privacy-MaxEnt, section 4.1), which makes the expression linear.
        """
        of, given = _names(of), _names(given)
        if stranger := [name for name in given if name not in ("q", *self.view.qi)]:
            raise unknown_name("QI attribute to condition on", stranger[0], ["q", *self.view.qi])
        joint = self.marginal([*of, *given])
        tuples = self.view.quasi_identifiers
        levels = [self.view.qi.index(column) for column in self._columns(given)]
        group = group_codes([np.asarray(tuples.codes[i]) for i in levels], [len(tuples.levels[i]) for i in levels])
        share = np.bincount(group, weights=self.view.n_q) / self.n_records  # P(given)
        # All terms of a joint row have the same `given`: look it up at the row's first term.
        q = self.codes["q"][joint.matrix.indices[joint.matrix.indptr[:-1]]]
        matrix = sp.csr_array(sp.diags_array(1 / share[group[q]]) @ joint.matrix)
        label = f"P({', '.join(self._columns(of))} | {', '.join(self._columns(given))})"
        return Block(self, matrix, joint.index, label)

    def row(self, value: object, given: Mapping[str, object] | None = None) -> sp.csr_array:
        """Coefficients of P(value | given) on p, shape (1, terms); P(given) is a known constant.

        See :meth:`prob` for the arguments and errors.
        """
        view = self.view
        if isinstance(value, Mapping):
            if strangers := set(value) - {view.sa}:
                raise unknown_name("sensitive attribute", min(strangers, key=str), [view.sa])
            if not value:
                raise StatementError(f"{{}} names no sensitive attribute; write {{{view.sa!r}: value}}")
            value = value[view.sa]
        is_value = choose(value, view.sa).mask(view.sensitive_values, view.sa)
        q = self.people(given)
        at = np.flatnonzero(is_value[self.codes["s"]] & q[self.codes["q"]])
        share = view.n_q[q].sum() / self.n_records
        return sp.csr_array((np.full(len(at), 1 / share), at, [0, len(at)]), shape=(1, len(self)))

    def prob(self, value: object, given: Mapping[str, object] | None = None) -> cp.Expression:
        """P(value | given) as an affine CVXPY expression: the sum of P(q, s, b) over given's people, by P(given).

        Parameters
        ----------
        value : object
            A sensitive value, a list of them, or ``{attribute: value}``.
        given : dict, optional
            QI attribute to value, list of values, or pandas Interval; None is everybody.

        Raises
        ------
        UnknownName
            For an attribute that is not a QI, or a value that was not published.
        StatementError
            If nobody in the release is as described.

        Notes
        -----
        Privacy-MaxEnt, section 4.1, with P(given) taken from the release.
        """
        return (self.row(value, given) @ self.p)[0]

    def people(self, given: Mapping[str, object] | None) -> np.ndarray:
        """Mark the QI tuples that are as described; an error if there is nobody."""
        if given is not None and not isinstance(given, Mapping):
            raise StatementError(f"given must be a dictionary {{attribute: value}}, not {given!r}")
        tuples = self.view.quasi_identifiers
        mask = np.ones(len(tuples), dtype=bool)
        for attribute, chosen in (given or {}).items():
            if attribute not in self.view.qi:
                raise unknown_name("quasi-identifier of the release", attribute, self.view.qi)
            level = self.view.qi.index(attribute)
            chosen_values = choose(chosen, attribute).mask(tuples.levels[level], attribute)
            mask &= chosen_values[np.asarray(tuples.codes[level])]
        if not mask.any():
            asked = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in (given or {}).items())
            raise StatementError(
                f"nobody in the release has {asked}: each value occurs, but not together; "
                "P(value | given) would be 0/0: take a condition out"
            )
        return mask

    def count(self, records: pd.DataFrame) -> np.ndarray:
        """Count the original records of every term, people: the truth that a model is compared with.

        Parameters
        ----------
        records : DataFrame
            With the release's QI, sensitive and bucket columns.

        Raises
        ------
        TableError
            If they are not the records that were published.
        """
        view = self.view
        data = Microdata(records, view.qi, view.sa, view.bucket)
        group, labels = sort_distinct(data.frame[[*view.qi, view.sa, view.bucket]])
        at = self.index.get_indexer(labels)
        if (at < 0).any() or len(records) != self.n_records:
            raise TableError(
                f"{int((at < 0).sum())} combinations in these {len(records)} records are not terms of the release of "
                f"{self.n_records} people; pass the table that was published, with its buckets"
            )
        counts = np.bincount(at[group], minlength=len(self))
        for by, published in ((["q", "bucket"], view.n_qb), (["s", "bucket"], view.n_sb)):
            off = self.marginal(by).matrix @ counts != published.data
            if off.any():
                raise TableError(
                    f"in {int(off.sum())} of {len(off)} places these records are not what the release of "
                    f"{self.n_records} people counts by {' and '.join(by)}; pass the table that was published"
                )
        return counts

    # -- book-keeping ----------------------------------------------------------------------------

    def _columns(self, by: Sequence[str]) -> list[str]:
        """Write the roles "q", "s" and "bucket" as the columns that play them."""
        roles = {"q": self.view.qi, "s": (self.view.sa,), "bucket": (self.view.bucket,)}
        return list(dict.fromkeys(column for name in by for column in roles.get(name, (name,))))

    def _axis(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column or role, and the values that the codes stand for."""
        if name == "q":
            return self.codes["q"], self.view.quasi_identifiers
        return self._column({"s": self.view.sa, "bucket": self.view.bucket}.get(name, name))

    def _column(self, name: str) -> tuple[np.ndarray, pd.Index]:
        """Codes over the terms of one column, and its values."""
        view = self.view
        if name == view.sa:
            return self.codes["s"], view.sensitive_values
        if name == view.bucket:
            return self.codes["bucket"], view.buckets
        if name in view.qi:
            level = view.qi.index(name)
            codes = np.asarray(view.quasi_identifiers.codes[level])
            return codes[self.codes["q"]], view.quasi_identifiers.levels[level]
        raise unknown_name("column of the release", name, [*view.qi, view.sa, view.bucket, "q", "s", "bucket"])

    def _labels(self, by: Sequence[str], at: Any) -> pd.MultiIndex:
        """Label terms from their codes; the levels are shared with the view, not copied."""
        columns = self._columns(by)
        axes = [self._column(column) for column in columns]
        return multi_index([values for _, values in axes], [codes[at] for codes, _ in axes], columns)


def _names(by: str | Sequence[str]) -> list[str]:
    """Read one name or several; a sum over nothing in particular has no labels."""
    if names := [by] if isinstance(by, str) else list(by):
        return names
    raise StatementError("at least one name is needed, e.g. marginal(['q', 'bucket'])")
