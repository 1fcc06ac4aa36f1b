"""The space of a model: linear expressions over its terms, P(q, s, b) or P(q, s).

Every information source is written with two verbs. ``space.marginal(by)`` sums the terms into a
labelled :class:`~maxent_cvx.terms.blocks.block.Block`; ``space.prob(value, given=...)`` is the CVXPY expression
for P(value | given). Both are sparse matrices: nothing here loops over terms, buckets or people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import StatementError, arguments, unknown_name
from ..solvers.rows.sparse import compact
from ..tables.coding import group_codes
from .axes import as_names, level_of
from .blocks.block import Block
from .blocks.empty_groups import Groups
from .blocks.labelled import Provenance
from .blocks.labels import subset_keys
from .events import values_named
from .records import CountedTerms
from .truth import count_terms

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Space"]


@dataclass(frozen=True, eq=False, repr=False)  # the terms' own repr, which is shorter
class Space(CountedTerms):
    """The terms of a model, and linear expressions over them: marginals, conditionals, single probabilities.

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

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> block = space.marginal("Disease")
        >>> (block.matrix @ space.count(hospital)).tolist(), block.index.to_list()[:2]        # records of each value
        ([2.0, 3.0, 2.0, 1.0, 2.0], ['Breast Cancer', 'Flu'])
        """
        names = as_names(by)
        axes = [self.axes.of(name) for name in names]
        terms = np.arange(len(self))
        if "who" in names:
            terms = np.flatnonzero(self.codes["who"] < len(self.people))
        group = group_codes([codes[terms] for codes, _ in axes], [len(values) for _, values in axes])
        first = np.unique(group, return_index=True)[1]
        matrix = compact(sp.csr_array((np.ones(len(terms)), (group, terms)), shape=(len(first), len(self))))
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

        Raises
        ------
        UnknownName
            If a name is neither a column of the view nor a role, or what is given is no QI attribute.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> block = space.conditional("Disease", given="Gender")
        >>> block.label, len(block), block.index[2]
        ('P(Disease | Gender)', 10, ('Flu', 'female'))
        >>> len(space.conditional("s", given="q") <= 0.6)    # one row a pair that occurs
        22
        """
        of, given = as_names(of), as_names(given)
        if given == ["who"] and len(self.people):
            joint = self.marginal([*of, "who"])
            label = f"P({', '.join(self.axes.columns(of))} | who)"
            return replace(joint, matrix=joint.matrix * float(self.n_records), label=label)
        if stranger := [name for name in given if name not in ("q", *self.view.qi)]:
            raise unknown_name("QI attribute to condition on", stranger[0], ["q", *self.view.qi])
        joint = self.marginal([*of, *given])
        tuples = self.view.axes["q"][1]
        levels = [level_of(tuples, self.view.qi.index(column)) for column in self.axes.columns(given)]
        group = group_codes([codes for codes, _ in levels], [len(values) for _, values in levels])
        share = np.bincount(group, weights=self._records_of_tuples()) / self.n_records  # P(given)
        there = subset_keys(tuples, self.axes.columns(given))[np.unique(group, return_index=True)[1]]
        there = there if there.nlevels > 1 else there.get_level_values(0)
        # All terms of a joint row have the same `given`: look it up at the row's first term.
        q = self.codes["q"][joint.matrix.indices[joint.matrix.indptr[:-1]]]
        matrix = sp.csr_array(sp.diags_array(1 / share[group[q]]) @ joint.matrix)
        label = f"P({', '.join(self.axes.columns(of))} | {', '.join(self.axes.columns(given))})"
        return Block(self, matrix, joint.index, label, provenance=Provenance(groups=(Groups(there),)))

    def joint(self, members: sp.csr_array, s: np.ndarray) -> sp.csr_array:
        """Coefficients of P(Q, s) on p for many patterns, a set Q of QI tuples with a value s each.

        Parameters
        ----------
        members : csr_array, shape (patterns, QI tuples)
            1 for the tuples of each.
        s : ndarray of int, one a pattern
            The position of its sensitive value.

        Returns
        -------
        csr_array, shape (patterns, terms)

        Raises
        ------
        StatementError
            If the arrays do not fit the view's QI tuples and sensitive values.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> import numpy as np, scipy.sparse as sp
        >>> members = sp.csr_array(np.array([space.described({"Gender": g}) for g in ("male", "female")], dtype=float))
        >>> flu = release.sensitive_values.get_loc("Flu")
        >>> (space.joint(members, np.array([flu, flu])) @ space.count(hospital)).tolist()     # records of each
        [3.0, 0.0]
        """
        arguments.instance(members, sp.csr_array, "members")
        s = arguments.places(s, "s", len(self.view.sensitive_values), members.shape[0])
        if members.shape[1] != (n_tuples := len(self.view.axes["q"][1])):
            raise StatementError(f"members has {members.shape[1]} columns, not one a QI tuple ({n_tuples})")
        n_values = len(self.view.sensitive_values)
        pair = self.codes["q"] * n_values + self.codes["s"]  # P(q, s) is a sum of terms; of none, if it cannot be
        shape = (members.shape[1] * n_values, len(self))
        of_pair = sp.csr_array((np.ones(len(pair)), (pair, np.arange(len(pair)))), shape=shape)
        picked = members.indices.astype(np.int64) * n_values + np.repeat(s, np.diff(members.indptr))
        return sp.csr_array(sp.csr_array((members.data, picked, members.indptr), shape=(len(s), shape[0])) @ of_pair)

    def row(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> sp.csr_array:
        """Coefficients of P(value | given), or of P(value | who), on p, shape (1, terms); the divisor is a constant.

        Parameters
        ----------
        value, given, who
            As in :meth:`prob`, and with its errors.

        Returns
        -------
        csr_array, shape (1, terms)

        Raises
        ------
        UnknownName, StatementError
            As in :meth:`prob`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> row = space.row("Flu", given={"Gender": "male"})
        >>> row.shape, row.data.round(3).tolist()                # N / n(male) = 10 / 6, at three terms
        ((1, 27), [1.667, 1.667, 1.667])
        """
        if isinstance(given, Mapping) and (turned := [name for name in given if name in self.view.sensitive]):
            raise StatementError(
                f"{turned[0]!r} is sensitive: statements are of P({turned[0]} | quasi-identifiers); turn it round, "
                "with Bayes' rule where it is known the other way"
            )
        is_value = values_named(self.view, value)
        if who is None:
            axis, (those, people) = "q", self._described(given)
            share = people / self.n_records
        elif given is None and (pseudonyms := self.view.named(who)) is not None:
            axis, those, share = "q", pseudonyms, 1 / self.n_records
        elif given is None:
            axis, those, share = "who", np.append(self.people.find(who), False), 1 / self.n_records
        else:
            raise StatementError("the QI of named people are known already: leave `given` out, or `who`")
        entries = self._terms_of_values(np.flatnonzero(is_value))  # of few terms: only their people are looked up
        entries = entries[those[self.codes[axis][entries]]]
        row = sp.csr_array((np.full(len(entries), 1 / share), entries, [0, len(entries)]), shape=(1, len(self)))
        return compact(row)

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> cp.Expression:
        """P(value | given) as an affine CVXPY expression: the sum of P(q, s, b) over those as described, by P(given).

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

        Returns
        -------
        cvxpy.Expression
            A scalar.

        Raises
        ------
        UnknownName
            For an attribute that is not a QI, a value that was not published, or a person not named.
        StatementError
            If nobody in the release is as described, or the model names nobody.

        Notes
        -----
        Privacy-MaxEnt, section 4.1, with P(given) taken from the release; section 6, with P(i) = 1/N.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> flu = space.prob("Flu", given={"Gender": "male"})
        >>> flu.is_affine(), flu.shape
        (True, ())
        >>> post = mx.MaxEnt(release).add(lambda space: [space.prob("Flu", given={"Gender": "male"}) <= 0.25]).solve()
        >>> round(post.prob("Flu", given={"Gender": "male"}), 6)
        0.25
        """
        return (self.row(value, given, who) @ self.p)[0]

    def count(self, records: pd.DataFrame, id: str | None = None) -> np.ndarray:
        """Count the original records of every term: the truth that a model is compared with.

        Parameters
        ----------
        records : DataFrame
            With the view's columns: QI, sensitive, and the bucket of a release.
        id : str, optional
            The column of names; needed where the model names people.

        Returns
        -------
        ndarray, one a term
            Records.

        Raises
        ------
        TableError
            If they are not the records that were published.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi="Gender", sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> space.index[:2].tolist(), space.count(hospital)[:2].tolist()
        ([('female', 'Breast Cancer', 1), ('female', 'Flu', 1)], [1, 0])
        """
        view = self.view
        sums = {" and ".join(by): (self.marginal(by).matrix.dot, n.to_numpy()) for by, n in view.published.items()}
        return count_terms(view, self.people, self.index, sums, records, id)
