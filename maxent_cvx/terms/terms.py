"""The terms of a model: one variable P(q, s, b), or P(q, s), for each combination that can be non-zero."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from ..display import MOST_ROWS, FirstRows, Shown
from ..errors import amount, arguments
from ..priors import QIDistribution
from ..views import View
from .axes import Axes
from .people import People

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Terms"]


@dataclass(frozen=True, eq=False)
class Terms(Shown):
    """The terms that can be non-zero: what each is about, how it weighs in the entropy, and its label.

    Attributes
    ----------
    view : View
        What is published.
    people : People
        Who is known by name.
    codes : dict of str to ndarray
        For every term, the positions of its "q", "s" and (of a release) "bucket" in the view's indices; and of its
        "who" among the names, if people are named.
    prior : ndarray or None
        For every term the prior probability p(s : x) of its value, given the signature of its QI tuple.
    """

    view: View
    people: People
    codes: Mapping[str, np.ndarray]
    prior: np.ndarray | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the codes: NumPy leaves unpickled arrays on top of bytes, and SciPy cannot select by these."""
        codes = {name: codes.copy() for name, codes in state["codes"].items()}
        self.__dict__.update(state, codes=codes)

    @classmethod
    def of(cls, view: View, people: People | None = None, prior: QIDistribution | None = None) -> Self:
        """Number the terms of a published view, of named people apart from the others.

        Parameters
        ----------
        view : View
            What is published.
        people : People, optional
            Who is known by name; by default nobody.
        prior : QIDistribution, optional
            What the adversary takes for likely before anything is published.

        Returns
        -------
        Space

        Raises
        ------
        StatementError
            If something is not what it should be.
        UnknownName
            If the prior has nothing to say about a signature, or a value.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Space.of(release)
        <Space: 27 terms P(q, s, b) of <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of
        'Disease'>>
        """
        arguments.instance(view, View, "view", "make one with Release.from_buckets(...)")
        if people is not None:
            arguments.instance(people, People, "people")
        if prior is not None:
            arguments.instance(prior, QIDistribution, "prior")
        people = People.of(None, view) if people is None else people
        codes = people.split(view.terms()) if len(people) else view.terms()
        if prior is None:
            return cls(view, people, codes)
        of_tuples = prior.of_tuples(view.quasi_identifiers, view.sensitive_values)
        return cls(view, people, codes, of_tuples[codes["q"], codes["s"]])

    @cached_property
    def axes(self) -> Axes:
        """The columns and roles by which terms are named."""
        return Axes(self.view, self.people, self.codes)

    def __len__(self) -> int:
        return len(self.codes["s"])

    def _tables(self) -> Iterable[FirstRows]:
        first = self._labels(slice(0, MOST_ROWS))
        return [FirstRows(first.to_frame(index=False), "terms", len(self))]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {amount(len(self), 'term')} {self.term} of {self.view!r}>"

    @property
    def term(self) -> str:
        """What a term is: P(q, s, b), or P(q, s) without buckets; P(i, q, s, b) where people are named."""
        return f"P({', '.join(['i'] * bool(len(self.people)) + [role[0] for role in self.view.axes])})"

    @cached_property
    def multiplicities(self) -> np.ndarray:
        """How many interchangeable variables each term stands for: the w of the entropy H = -sum p log(p / w).

        If somebody has a name, everybody has a pseudonym, and H is H(I, Q, S, B). A term then stands for one person
        with a name, or for all of a QI tuple who have none. If nobody has, H is H(Q, S, B): all are 1. Where the view
        is conditional, H is H(S | Q), and they are P(q).
        """
        if self.view.is_conditional:  # P(q) = n(q)/N is known: H(S | Q) = H(Q, S) - H(Q)
            return (self.view.n_q / self.n_records)[self.codes["q"]]
        if not len(self.people):
            return np.broadcast_to(1.0, len(self))
        return np.where(self.codes["who"] < len(self.people), 1.0, self.people.unnamed[self.codes["q"]])

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of the objective: the multiplicities of QI tuples some of whom have a name, and 1 elsewhere.

        The same distribution is best: P(q) is known, so that the entropy changes by a constant only. And terms of
        tuples without names stay interchangeable.
        """
        some = self.people.unnamed < self.view.n_q
        if not some.any():
            return np.broadcast_to(1.0, len(self))
        return np.where(some[self.codes["q"]], self.multiplicities, 1.0)

    @cached_property
    def prior_density(self) -> np.ndarray:
        """The prior p(s : x) of every term as a factor of its weight: 1 without a prior.

        Also 1 where the prior is 0: rows of their own say that such terms are 0, and a logarithm needs a number.
        """
        return np.broadcast_to(1.0, len(self)) if self.prior is None else np.where(self.prior > 0, self.prior, 1.0)

    @property
    def pseudonyms(self) -> np.ndarray:
        """Deprecated: the earlier name of `multiplicities`."""
        warnings.warn("Space.pseudonyms is deprecated; use Space.multiplicities", DeprecationWarning, stacklevel=2)
        return self.multiplicities

    @property
    def believed(self) -> np.ndarray:
        """Deprecated: the earlier name of `prior_density`."""
        warnings.warn("Space.believed is deprecated; use Space.prior_density", DeprecationWarning, stacklevel=2)
        return self.prior_density

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """For every term the number of its group, and how many records each group has.

        A group shares one conditional distribution P(s | ...): a person with a name, or the others of a QI tuple.
        """
        q, n_q = self.codes["q"], self.view.n_q
        if not len(self.people):
            return q, n_q
        who = self.codes["who"]
        group = np.where(who < len(self.people), len(n_q) + who, q)
        every = np.concatenate([self.people.unnamed, np.ones(len(self.people), dtype=n_q.dtype)])
        some, number = np.unique(group, return_inverse=True)
        return number, every[some]

    @cached_property
    def cells(self) -> np.ndarray:
        """For every term its group and its value as one number: group * n_values + s."""
        return self.groups[0] * len(self.view.sensitive_values) + self.codes["s"]

    @cached_property
    def _by_value(self) -> tuple[np.ndarray, np.ndarray]:
        """The terms in the order of their sensitive values, ascending within each, and where each value begins."""
        s = self.codes["s"]
        ends = np.cumsum(np.bincount(s, minlength=len(self.view.sensitive_values)))
        narrow = s.astype(np.int16) if len(ends) < np.iinfo(np.int16).max else s  # which NumPy sorts by radix
        return np.argsort(narrow, kind="stable").astype(np.int32 if len(s) < 2**31 else np.int64), np.append(0, ends)

    def _terms_of_values(self, values: np.ndarray) -> np.ndarray:
        """The terms of some sensitive values, given by their numbers, in ascending order."""
        order, starts = self._by_value
        if len(values) == len(starts) - 1:
            return np.arange(len(self))
        found = [order[starts[value] : starts[value + 1]] for value in values.tolist()]
        return found[0] if len(found) == 1 else np.sort(np.concatenate([*found, order[:0]]))

    @cached_property
    def first_of_group(self) -> np.ndarray:
        """The first term of every group."""
        return np.unique(self.groups[0], return_index=True)[1]

    @property
    def n_records(self) -> int:
        """N, the number of records."""
        return self.view.n_records

    @cached_property
    def counts(self) -> cp.Variable:
        """The :class:`cvxpy.Variable` N p, one entry a term, in records.

        Counts and not probabilities: conic solvers lose p ~ 1e-5 in their tolerances.
        """
        import cvxpy as cp  # takes a second to load, which closed forms and tables need not wait for

        return cp.Variable(len(self), nonneg=True, name="counts")

    @cached_property
    def p(self) -> cp.Expression:
        """The probabilities P(q, s, b), a :class:`cvxpy.Expression`."""
        return self.counts / self.n_records

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The labels of the terms: QI attributes, sensitive attribute, bucket."""
        return self._labels(slice(None))

    def _labels(self, terms: slice) -> pd.MultiIndex:
        """The labels of some of the terms."""
        return self.axes.labels([*["who"][: len(self.people)], *self.view.axes], terms)
