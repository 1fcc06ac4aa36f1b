"""Values that were flipped at random before they were published: randomised response, PRAM."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, StatementError, TableError, arguments, listing, number, shown, unknown_name
from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source

__all__ = ["RandomizedResponse"]

#: Rounding that a row of a transition matrix is forgiven, whose sum is 1.
ROUNDING = 1e-9


class RandomizedResponse(Source):
    """``|P(Q, r, s) - T(s, r) P(Q, s)| <= w(Q)``: of those with Q and the value s, a share T(s, r) reports r.

    Parameters
    ----------
    transition : DataFrame
        T: a row for every sensitive value, a column for every value that can be reported, each row summing to 1.
    reported : str
        The QI attribute of the view that holds what people reported, which everybody can see.
    by : list of lists of str, optional
        The QI attributes that Q sets, one list a family of rows; by default [] (everybody), and each attribute alone.
    confidence : float or None
        With what probability all rows are true together. None takes shares for exact, w = 0, which a sample hardly is.

    Raises
    ------
    TableError, BadProbability
        If `transition` is no transition matrix.
    StatementError, UnknownName
        If an argument cannot be read; when added to a model, if `reported` is no QI, or values are missing.

    Notes
    -----
    Everybody reports r with probability T(s, r), independently of the others, so that by Hoeffding's inequality the
    number n(Q, r, s) is further than t from T(s, r) n(Q, s) with probability at most 2 exp(-2 t^2 / n(Q)); w = t / N,
    and the probabilities of all rows are added up (Bonferroni). Where T is 0 or 1 there is no doubt. (Privacy-MaxEnt's
    future work: randomised releases.)

    Examples
    --------
    Of 1,000 people 340 say yes; everybody says the truth with probability 3/4. If shares are taken for exact, 180 mean
    it, as .75 * 180 + .25 * 820 = 340; and of those who say yes 135 do.

    >>> import maxent_cvx as mx, pandas as pd
    >>> honest = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=["yes", "no"], columns=["yes", "no"])
    >>> said = pd.DataFrame({"Answer": ["yes", "no"], "People": [340, 660]})
    >>> view = mx.QITable(said, qi="Answer", sa="Truth", sa_values=["yes", "no"], count="People")
    >>> exact = mx.RandomizedResponse(honest, reported="Answer", confidence=None)
    >>> mx.MaxEnt(view).add(exact).solve().conditional().round(3)["yes"].to_dict()
    {'no': 0.068, 'yes': 0.397}
    >>> vague = mx.RandomizedResponse(honest, reported="Answer", confidence=0.95)
    >>> low, high = mx.MaxEnt(view).add(vague).bounds("P(yes)")
    >>> round(low, 3), round(high, 3)
    (0.053, 0.381)
    """

    def __init__(
        self,
        transition: pd.DataFrame,
        reported: str,
        by: Iterable[Sequence[str]] | None = None,
        confidence: float | None = 0.95,
    ) -> None:
        arguments.text(reported, "reported")
        if not isinstance(transition, pd.DataFrame):
            raise TableError(f"transition must be a DataFrame, true values by reported ones, not {shown(transition)}")
        if transition.index.has_duplicates or transition.columns.has_duplicates:
            raise TableError(
                "transition has a value twice; a row for every true value, a column for every reported one"
            )
        try:
            self.matrix = transition.to_numpy(dtype=float)
        except (OverflowError, TypeError, ValueError):  # pandas' own words would print what the table holds
            raise TableError("transition holds something that is no number; probabilities are expected") from None
        sums = self.matrix.sum(axis=1)
        if not (self.matrix >= 0).all() or (np.abs(sums - 1) > ROUNDING).any():
            first = int((np.abs(sums - 1) > ROUNDING).argmax())
            raise BadProbability(
                f"transition: rows of probabilities that sum to 1 are expected; {listing([transition.index[first]])} "
                f"sums to {sums[first]:.12g}, and the smallest entry is {self.matrix.min():.12g}"
            )
        if confidence is not None and not 0 < number(confidence, "confidence") < 1:
            raise BadProbability(f"confidence={confidence!r}: a probability between 0 and 1 is expected, or None")
        self.transition, self.reported, self.confidence = transition, reported, confidence
        several = None if by is None else arguments.list_of(by, "by", "lists of QI attributes")
        self.by = several if several is None else [_attributes(one) for one in several]

    @property
    def label(self) -> str:
        """The name of this source, with the attribute."""
        return f"randomised response {self.reported!r}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row for every group of people, true value and reported value.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            Probabilities, a block of rows a family of `by`; rows that say nothing are left out.

        Raises
        ------
        UnknownName
            If the view has no such quasi-identifiers.
        StatementError
            If several attributes are sensitive, or `transition` lacks a value of the view.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> honest = pd.DataFrame([[0.75, 0.25], [0.25, 0.75]], index=["yes", "no"], columns=["yes", "no"])
        >>> said = pd.DataFrame({"Answer": ["yes", "no"], "People": [340, 660]})
        >>> view = mx.QITable(said, qi="Answer", sa="Truth", sa_values=["yes", "no"], count="People")
        >>> source = mx.RandomizedResponse(honest, reported="Answer", confidence=None)
        >>> [(rows.name(0), len(rows), rows.relation) for rows in source.rows(mx.MaxEnt(view).space)]
        [('reported Answer: yes, yes', 4, '==')]
        """
        view = space.view
        if self.reported not in view.qi:
            raise unknown_name(f"quasi-identifier of the {view.noun} (given as reported)", self.reported, view.qi)
        if len(view.sensitive) > 1:
            raise StatementError("randomised response is of one sensitive attribute, and the view has several")
        reports = view.quasi_identifiers.levels[view.qi.index(self.reported)]
        for what, have, need in (
            ("a row for", self.transition.index, view.sensitive_values),
            ("a column for", self.transition.columns, reports),
        ):
            if len(missing := need.difference(have)):
                raise StatementError(f"transition has not {what} {listing(missing)}; every value of the view needs one")
        others = [name for name in view.qi if name != self.reported]
        families = [[], *([name] for name in others)] if self.by is None else self.by
        for name in (name for family in families for name in family):
            if name == self.reported:
                raise StatementError(f"by has {name!r}, which is what people report: of those who report r all do")
            if name not in others:
                raise unknown_name(f"quasi-identifier of the {view.noun} (given in by)", name, others)
        blocks = [self._family(space, family) for family in families]
        n_rows = sum(len(labels) for _, labels, _, _ in blocks)
        for matrix, labels, sure, people in blocks:
            t = np.zeros(len(labels))
            if self.confidence is not None and n_rows:
                t = np.where(sure, 0.0, np.sqrt(people * math.log(2 * n_rows / (1 - self.confidence)) / 2))
            width = t / space.n_records
            useful = t < people  # a wider row says nothing
            yield Rows(matrix, -width, width, f"reported {self.reported}", labels, view).at(np.flatnonzero(useful))

    def _family(self, space: Space, by: list[str]) -> tuple[sp.csr_array, pd.Index, np.ndarray, np.ndarray]:
        """P(Q, r, s) - T(s, r) P(Q, s) of all groups; their labels, whether T is 0 or 1, and n(Q)."""
        view = space.view
        sensitive = view.sensitive[0]
        true = space.marginal([*by, sensitive])
        reported = space.marginal([*by, sensitive, self.reported])
        n, r = len(true), len(self.transition.columns)
        labels = true.index.to_frame(index=False)
        every = labels.loc[np.repeat(np.arange(n), r)].reset_index(drop=True)
        every[self.reported] = np.tile(np.asarray(self.transition.columns, dtype=object), n)
        wanted = pd.MultiIndex.from_frame(every.astype(object))
        at = pd.MultiIndex.from_frame(reported.index.to_frame().astype(object)).get_indexer(wanted)
        pick = sp.csr_array(
            (np.ones((at >= 0).sum()), (np.flatnonzero(at >= 0), at[at >= 0])), shape=(n * r, len(reported))
        )
        of = self.transition.index.get_indexer(pd.Index(labels[sensitive]))
        share = self.matrix[of].ravel()
        repeat = sp.csr_array((share, (np.arange(n * r), np.repeat(np.arange(n), r))), shape=(n * r, n))
        matrix = sp.csr_array(pick @ reported.matrix - repeat @ true.matrix)
        people = np.full(n, float(space.n_records))
        if by:
            n_q = pd.Series(view.n_q, index=view.quasi_identifiers).groupby(level=by).sum()
            keys = labels[by[0]] if len(by) == 1 else pd.MultiIndex.from_frame(labels[by])
            people = n_q.reindex(keys).to_numpy(dtype=float)
        return matrix, wanted, (share == 0) | (share == 1), np.repeat(people, r)


def _attributes(given: object) -> list[str]:
    """Read one attribute, or a list of them, which may be empty."""
    found = [given] if isinstance(given, str) else arguments.list_of(given, "by", "lists of QI attributes")
    return [arguments.text(name, "an attribute in by") for name in found]
