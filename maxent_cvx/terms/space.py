"""The space of a model: its terms, P(q, s, b) or P(q, s), and linear expressions over them.

Every information source is written with two verbs. ``space.marginal(by)`` sums the terms into a
labelled :class:`~maxent_cvx.terms.block.Block`; ``space.prob(value, given=...)`` is the CVXPY expression
for P(value | given). Both are sparse matrices: nothing here loops over terms, buckets or people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .. import arguments
from ..errors import StatementError, shown, unknown_name
from ..priors import QIDistribution
from ..tables.microdata import group_codes
from ..tables.selection import choose
from ..views import View
from .axes import Axes, level_of, several_names
from .block import Block
from .people import People
from .truth import count_terms

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Space"]


@dataclass(frozen=True, eq=False)
class Space:
    """The terms that can be non-zero, and the book-keeping of sums over them.

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

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> space = mx.MaxEnt(release).space
    >>> len(space.marginal(["q", "bucket"]) == release.p_qb)      # the QI-invariants, Eq. (4)
    9
    >>> of_gender = space.conditional("Disease", given="Gender")  # and what is true, from the records:
    >>> pd.Series(of_gender.matrix @ space.count(hospital) / 10, of_gender.index).round(2).head(3).to_dict()
    {('Breast Cancer', 'female'): 0.5, ('Breast Cancer', 'male'): 0.0, ('Flu', 'female'): 0.0}
    """

    view: View
    people: People
    codes: Mapping[str, np.ndarray]
    prior: np.ndarray | None = None

    @classmethod
    def of(cls, view: View, people: People | None = None, prior: QIDistribution | None = None) -> Space:
        """Number the terms of a published view, of named people apart from the others."""
        arguments.instance(view, View, "view", "make one with Release.from_buckets(...)")
        if people is not None:
            arguments.instance(people, People, "people")
        if prior is not None:
            arguments.instance(prior, QIDistribution, "prior")
        people = People.of(None, view) if people is None else people
        codes = people.split(view.terms()) if len(people) else view.terms()
        if prior is None:
            return cls(view, people, codes)
        believed = prior.of_tuples(view.quasi_identifiers, view.sensitive_values)
        return cls(view, people, codes, believed[codes["q"], codes["s"]])

    @cached_property
    def axes(self) -> Axes:
        """The columns and roles by which terms are named."""
        return Axes(self.view, self.people, self.codes)

    def __len__(self) -> int:
        return len(self.codes["s"])

    def __repr__(self) -> str:
        return f"<Space: {len(self)} terms {self.term} of {self.view!r}>"

    @property
    def term(self) -> str:
        """What a term is: P(q, s, b), or P(q, s) without buckets; P(i, q, s, b) where people are named."""
        return f"P({', '.join(['i'] * bool(len(self.people)) + [role[0] for role in self.view.axes])})"

    @cached_property
    def pseudonyms(self) -> np.ndarray:
        """For how many pseudonyms each term stands: the weights w of the entropy H = -sum p log(p / w).

        If somebody has a name, everybody has a pseudonym, and H is H(I, Q, S, B). A term then stands for one person
        with a name, or for all of a QI tuple who have none. If nobody has, H is H(Q, S, B): all are 1. Where the view
        is conditional, H is H(S | Q), and they are P(q).
        """
        if self.view.is_conditional:  # P(q) = n(q)/N is known: H(S | Q) = H(Q, S) - H(Q)
            return (self.view.n_q / self.n_records)[self.codes["q"]]
        if not len(self.people):
            return np.ones(len(self))
        return np.where(self.codes["who"] < len(self.people), 1.0, self.people.unnamed[self.codes["q"]])

    @cached_property
    def weights(self) -> np.ndarray:
        """The pseudonyms where some of the QI tuple have a name, and 1 elsewhere: the same distribution is best.

        The entropy changes by a constant, as P(q) is known, and people that nothing tells apart stay so.
        """
        return np.where((self.people.unnamed < self.view.n_q)[self.codes["q"]], self.pseudonyms, 1.0)

    @cached_property
    def believed(self) -> np.ndarray:
        """The prior; 1 without one, and instead of 0, where rows say that nobody is."""
        return np.ones(len(self)) if self.prior is None else np.where(self.prior > 0, self.prior, 1.0)

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """For every term the number of its group, and how many people each group has.

        A group is who has one conditional distribution: a person with a name, or the others of a QI tuple.
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
    def first_of_group(self) -> np.ndarray:
        """The first term of every group."""
        return np.unique(self.groups[0], return_index=True)[1]

    @property
    def n_records(self) -> int:
        """N, the number of people."""
        return self.view.n_records

    @cached_property
    def counts(self) -> cp.Variable:
        """The :class:`cvxpy.Variable` N p, one entry a term, in people: conic solvers fail on raw p ~ 1e-5."""
        import cvxpy as cp  # takes a second to load, which closed forms and tables need not wait for

        return cp.Variable(len(self), nonneg=True, name="counts")

    @cached_property
    def p(self) -> cp.Expression:
        """The probabilities P(q, s, b), a :class:`cvxpy.Expression`."""
        return self.counts / self.n_records

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The labels of the terms: QI attributes, sensitive attribute, bucket."""
        return self.axes.labels([*["who"][: len(self.people)], *self.view.axes], slice(None))

    # -- the verbs -------------------------------------------------------------------------------

    def marginal(self, by: str | Sequence[str]) -> Block:
        """Sum the terms into P(by), one row for each combination of values that can occur.

        Parameters
        ----------
        by : str or list of str
            Column names, or the roles "q" (all QI attributes together), "s", "bucket" and "who" (named
            people; those without a name have no row then).

        Returns
        -------
        Block
            Probabilities, sorted by label.

        Raises
        ------
        UnknownName
            If a name is neither a column of the view nor a role.
        """
        names = several_names(by)
        axes = [self.axes.of(name) for name in names]
        terms = np.arange(len(self))
        if "who" in names:
            terms = np.flatnonzero(self.codes["who"] < len(self.people))
        group = group_codes([codes[terms] for codes, _ in axes], [len(values) for _, values in axes])
        first = np.unique(group, return_index=True)[1]
        matrix = sp.csr_array((np.ones(len(terms)), (group, terms)), shape=(len(first), len(self)))
        index = self.axes.labels(names, terms[first])
        label = f"P({', '.join(self.axes.columns(names))})"
        return Block(self, matrix, index if index.nlevels > 1 else index.get_level_values(0), label)

    def conditional(self, of: str | Sequence[str], given: str | Sequence[str]) -> Block:
        """P(of | given) = P(of, given) / P(given), for every combination that can occur.

        Parameters
        ----------
        of : str or list of str
            As in :meth:`marginal`.
        given : str or list of str
            QI attributes, or "q" for all of them: P(given) is known from the release
            (Privacy-MaxEnt, section 4.1), which makes the expression linear. Or "who", for named people.

        Returns
        -------
        Block
            Probabilities, sorted by label.
        """
        of, given = several_names(of), several_names(given)
        if given == ["who"] and len(self.people):
            joint = self.marginal([*of, "who"])
            label = f"P({', '.join(self.axes.columns(of))} | who)"
            return replace(joint, matrix=joint.matrix * float(self.n_records), label=label)
        if stranger := [name for name in given if name not in ("q", *self.view.qi)]:
            raise unknown_name("QI attribute to condition on", stranger[0], ["q", *self.view.qi])
        joint = self.marginal([*of, *given])
        tuples = self.view.quasi_identifiers
        levels = [self.view.qi.index(column) for column in self.axes.columns(given)]
        group = group_codes([np.asarray(tuples.codes[i]) for i in levels], [len(tuples.levels[i]) for i in levels])
        share = np.bincount(group, weights=self.view.n_q) / self.n_records  # P(given)
        # All terms of a joint row have the same `given`: look it up at the row's first term.
        q = self.codes["q"][joint.matrix.indices[joint.matrix.indptr[:-1]]]
        matrix = sp.csr_array(sp.diags_array(1 / share[group[q]]) @ joint.matrix)
        label = f"P({', '.join(self.axes.columns(of))} | {', '.join(self.axes.columns(given))})"
        return Block(self, matrix, joint.index, label)

    def joint(self, members: sp.csr_array, s: np.ndarray) -> sp.csr_array:
        """Coefficients of P(Q, s) on p for many patterns, a set Q of QI tuples with a value s each.

        Parameters
        ----------
        members : csr_array, shape (patterns, QI tuples)
            1 for the tuples of each.
        s : ndarray of int, one a pattern
            The position of its sensitive value.
        """
        arguments.instance(members, sp.csr_array, "members")
        s = arguments.places(s, "s", len(self.view.sensitive_values), members.shape[0])
        if members.shape[1] != len(self.view.n_q):
            raise StatementError(f"members has {members.shape[1]} columns, not one a QI tuple ({len(self.view.n_q)})")
        n_values = len(self.view.sensitive_values)
        cell = self.codes["q"] * n_values + self.codes["s"]  # P(q, s) is a sum of terms; of none, if it cannot be
        shape = (members.shape[1] * n_values, len(self))
        of_cell = sp.csr_array((np.ones(len(cell)), (cell, np.arange(len(cell)))), shape=shape)
        picked = members.indices.astype(np.int64) * n_values + np.repeat(s, np.diff(members.indptr))
        return sp.csr_array(sp.csr_array((members.data, picked, members.indptr), shape=(len(s), shape[0])) @ of_cell)

    def row(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> sp.csr_array:
        """Coefficients of P(value | given), or of P(value | who), on p, shape (1, terms); the divisor is a constant.

        See :meth:`prob` for the arguments and errors.
        """
        if isinstance(given, Mapping) and (turned := [name for name in given if name in self.view.sensitive]):
            raise StatementError(
                f"{turned[0]!r} is sensitive: statements are of P({turned[0]} | quasi-identifiers); turn it round, "
                "with Bayes' rule where it is known the other way"
            )
        is_value = self._is_value(value)[self.codes["s"]]
        if who is None:
            q = self.described(given)
            at, share = is_value & q[self.codes["q"]], self.view.n_q[q].sum() / self.n_records
        elif given is None and (those := self.view.named(who)) is not None:
            at, share = is_value & those[self.codes["q"]], 1 / self.n_records
        elif given is None:
            named = np.append(self.people.find(who), False)
            at, share = is_value & named[self.codes["who"]], 1 / self.n_records
        else:
            raise StatementError("the QI of named people are known already: leave `given` out, or `who`")
        entries = np.flatnonzero(at)
        return sp.csr_array((np.full(len(entries), 1 / share), entries, [0, len(entries)]), shape=(1, len(self)))

    def _is_value(self, value: object) -> np.ndarray:
        """Mark the sensitive values that are meant."""
        values, attributes = self.view.sensitive_values, self.view.sensitive
        if not isinstance(value, Mapping):
            if len(attributes) > 1:
                raise StatementError(
                    f"{choose(value, 'the sensitive value')} may be of {' or '.join(map(repr, attributes))}; "
                    "write {attribute: value}"
                )
            value = {attributes[0]: value}
        if strangers := [name for name in value if name not in attributes]:
            raise unknown_name("sensitive attribute", strangers[0], attributes)
        if not value:
            raise StatementError(f"{{}} names no sensitive attribute; write {{{attributes[0]!r}: value}}")
        mask = np.ones(len(values), dtype=bool)
        for attribute, chosen in value.items():
            codes, level = level_of(values, attributes.index(attribute))
            mask &= choose(chosen, attribute).mask(level, attribute)[codes]
        return mask

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> cp.Expression:
        """P(value | given) as an affine CVXPY expression: the sum of P(q, s, b) over given's people, by P(given).

        Parameters
        ----------
        value : object
            A sensitive value, a list of them, or ``{attribute: value}``: of several sensitive attributes,
            any that are named, summed over the others.
        given : dict, optional
            QI attribute to value, list of values, or pandas Interval; None is everybody. Of a series, "release"
            stands for the people of some of its releases, numbered from 1.
        who : str, int, or a list of them, optional
            Instead: a named person, or a pseudonym of a series; of several, the sum, which is the expected number
            with the value.

        Raises
        ------
        UnknownName
            For an attribute that is not a QI, a value that was not published, or a person not named.
        StatementError
            If nobody in the release is as described, or the model names nobody.

        Notes
        -----
        Privacy-MaxEnt, section 4.1, with P(given) taken from the release; section 6, with P(i) = 1/N.
        """
        return (self.row(value, given, who) @ self.p)[0]

    def described(self, given: Mapping[str, object] | None) -> np.ndarray:
        """Mark the QI tuples that are as described; an error if there is nobody."""
        if given is not None and not isinstance(given, Mapping):
            raise StatementError(f"given must be a dictionary {{attribute: value}}, not {shown(given)}")
        tuples = self.view.quasi_identifiers
        mask = np.ones(len(tuples), dtype=bool)
        for attribute, chosen in (given or {}).items():
            if (known := self.view.described(attribute, chosen)) is not None:
                mask &= known
                continue
            if attribute not in self.view.qi:
                raise unknown_name(f"quasi-identifier of the {self.view.noun}", attribute, self.view.qi)
            codes, level = level_of(tuples, self.view.qi.index(attribute))
            mask &= choose(chosen, attribute).mask(level, attribute)[codes]
        if not mask.any():
            asked = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in (given or {}).items())
            raise StatementError(
                f"nobody in the {self.view.noun} has {asked}: each value occurs, but not together; "
                "P(value | given) would be 0/0: take a condition out"
            )
        return mask

    def count(self, records: pd.DataFrame, id: str | None = None) -> np.ndarray:
        """Count the original records of every term, people: the truth that a model is compared with.

        Parameters
        ----------
        records : DataFrame
            With the view's columns: QI, sensitive, and the bucket of a release.
        id : str, optional
            The column of names; needed where the model names people.

        Raises
        ------
        TableError
            If they are not the records that were published.
        """
        view = self.view
        sums = {" and ".join(by): (self.marginal(by).matrix.dot, n.to_numpy()) for by, n in view.published.items()}
        return count_terms(view, self.people, self.index, sums, records, id)
