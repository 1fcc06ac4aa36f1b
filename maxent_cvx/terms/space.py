"""Space: the terms P(q, s, b) or P(q, s) of a model, and linear expressions over them.

Information sources mainly use two methods. ``space.marginal(by)`` sums the terms into a labelled
:class:`~maxent_cvx.terms.block.Block`; ``space.prob(value, given=...)`` is the CVXPY expression for P(value | given).
Both use sparse matrices: nothing here loops over terms, buckets or people.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError, pluralize
from .._utils.formatting import MOST_ROWS, ReprMixin, TablePreview
from .._utils.tables import Microdata, group_codes, plain_index, sort_distinct
from .._utils.validation import check_dataframe, check_instance, check_known, check_label, check_positions, check_str
from ..priors import QIDistribution
from ..releases.base import BucketView, View
from ..releases.readers import with_cells
from ..solvers.sparse import compact, csr
from .axes import Axes, as_names, group_rows, level_of, subset_keys, tuples_described, values_named
from .block import Block, Groups, Provenance
from .people import People, counted_at, names_in

if TYPE_CHECKING:
    import cvxpy as cp


@dataclass(frozen=True, eq=False, repr=False)  # the terms' own repr, which is shorter
class Space(ReprMixin):
    """The terms of a model, and linear expressions over them: marginals, conditionals, single probabilities.

    Attributes
    ----------
    view : View
        The release.
    people : People
        The named people.
    codes : dict of str to ndarray
        For every term, the positions of its "q", "s" and (in a release) "bucket" in the view's indices, and, if people
        are named, of its "who" among the names.
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
    >>> of_gender = space.conditional("Disease", given="Gender")  # and the true shares, from the records:
    >>> pd.Series(of_gender.matrix @ space.count(hospital) / 10, of_gender.index).round(2).head(3).to_dict()
    {('Breast Cancer', 'female'): 0.5, ('Breast Cancer', 'male'): 0.0, ('Flu', 'female'): 0.0}
    """

    view: View
    people: People
    codes: Mapping[str, np.ndarray]
    prior: np.ndarray | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the codes, since SciPy cannot select by unpickled arrays, whose memory is a bytes object."""
        codes = {name: codes.copy() for name, codes in state["codes"].items()}
        self.__dict__.update(state, codes=codes)

    @classmethod
    def of(cls, view: View, people: People | None = None, prior: QIDistribution | None = None) -> Self:
        """Number the terms of a release, with separate terms for named people.

        Parameters
        ----------
        view : View
            The release.
        people : People, optional
            The named people; by default none.
        prior : QIDistribution, optional
            The adversary's beliefs before the release.

        Raises
        ------
        StatementError
            If an argument has the wrong type.
        UnknownName
            If the prior lacks a signature or a value.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Space.of(release)
        <Space: 27 terms P(q, s, b) of <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of
        'Disease'>>
        """
        check_instance(view, View, "view", "create one with Release.from_buckets(...)")
        if people is not None:
            check_instance(people, People, "people")
        if prior is not None:
            check_instance(prior, QIDistribution, "prior")
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

    @property
    def term(self) -> str:
        """The notation of a term: P(q, s, b), or P(q, s) without buckets; P(i, q, s, b) if people are named."""
        names = ["i"] * bool(len(self.people))
        for role in self.view.axes:
            names.append(role if role[0] in names else role[0])
        return f"P({', '.join(names)})"

    @cached_property
    def multiplicities(self) -> np.ndarray:
        """The number of interchangeable variables that each term stands for: w in the entropy H = -sum p log(p / w).

        If people are named, everybody has a pseudonym, and H is H(I, Q, S, B). A term then stands for one named person,
        or for all unnamed people with a QI tuple. If nobody is named, H is H(Q, S, B), and all multiplicities are 1. If
        the view is conditional, H is H(S | Q), and the multiplicities are P(q).
        """
        if self.view.is_conditional:  # P(q) = n(q)/N is known: H(S | Q) = H(Q, S) - H(Q)
            return (self.view.n_q / self.n_records)[self.codes["q"]]
        if not len(self.people):
            return np.broadcast_to(1.0, len(self))
        return np.where(self.codes["who"] < len(self.people), 1.0, self.people.unnamed[self.codes["q"]])

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights in the objective: multiplicities for QI tuples with named people, and 1 elsewhere.

        The solution is the same as with the multiplicities: as P(q) is known, the entropy changes by a constant only.
        Terms of tuples without named people remain interchangeable.
        """
        has_named = self.people.unnamed < self.view.n_q
        if not has_named.any():
            return np.broadcast_to(1.0, len(self))
        return np.where(has_named[self.codes["q"]], self.multiplicities, 1.0)

    @cached_property
    def prior_density(self) -> np.ndarray:
        """The prior p(s : x) of every term as a factor of its weight: 1 without a prior.

        It is 1 also if the prior is 0: separate rows set such terms to 0, and the logarithm must be finite.
        """
        return np.broadcast_to(1.0, len(self)) if self.prior is None else np.where(self.prior > 0, self.prior, 1.0)

    @property
    def pseudonyms(self) -> np.ndarray:
        """Deprecated alias of `multiplicities`."""
        warnings.warn("Space.pseudonyms is deprecated; use Space.multiplicities", DeprecationWarning, stacklevel=2)
        return self.multiplicities

    @property
    def believed(self) -> np.ndarray:
        """Deprecated alias of `prior_density`."""
        warnings.warn("Space.believed is deprecated; use Space.prior_density", DeprecationWarning, stacklevel=2)
        return self.prior_density

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of the group of every term, and the number of records of each group.

        A group is a named person, or the unnamed people with a QI tuple; it has one conditional distribution of s.
        """
        q, n_q = self.codes["q"], np.asarray(self.view.n_q)
        n_q = n_q.astype(np.result_type(n_q, np.int64), copy=False)  # sums and products of 16-bit counts would wrap
        if not len(self.people):
            return q, n_q
        who = self.codes["who"]
        group = np.where(who < len(self.people), len(n_q) + who, q)
        n_people = np.concatenate([self.people.unnamed, np.ones(len(self.people), dtype=n_q.dtype)])
        numbers, number = np.unique(group, return_inverse=True)
        return number, n_people[numbers]

    @cached_property
    def cells(self) -> np.ndarray:
        """For every term its group and its value as one number: group * n_values + s."""
        return self.groups[0] * len(self.view.sensitive_values) + self.codes["s"]

    @cached_property
    def _by_value(self) -> tuple[np.ndarray, np.ndarray]:
        """The terms sorted by sensitive value, ascending within each, and the position where each value begins."""
        s = self.codes["s"]
        ends = np.cumsum(np.bincount(s, minlength=len(self.view.sensitive_values)))
        narrow = s.astype(np.int16) if len(ends) < np.iinfo(np.int16).max else s  # which NumPy sorts by radix
        return np.argsort(narrow, kind="stable").astype(np.int32 if len(s) < 2**31 else np.int64), np.append(0, ends)

    def _terms_of_values(self, values: np.ndarray) -> np.ndarray:
        """Return the terms of some sensitive values, given by position, in ascending order."""
        order, starts = self._by_value
        if len(values) == len(starts) - 1:
            return np.arange(len(self))
        terms = [order[starts[value] : starts[value + 1]] for value in values.tolist()]
        return terms[0] if len(terms) == 1 else np.sort(np.concatenate([*terms, order[:0]]))

    @cached_property
    def first_of_group(self) -> np.ndarray:
        """The first term of every group."""
        return np.unique(self.groups[0], return_index=True)[1]

    @property
    def n_records(self) -> int:
        """N, the number of records."""
        return self.view.n_records

    @cached_property
    def _variable(self) -> cp.Variable:
        """The variable of the expressions of blocks, also where sources cannot use `counts`."""
        import cvxpy as cp  # loaded late: it takes a second, and closed forms and tables do not need it

        return cp.Variable(len(self), nonneg=True, name="counts")

    @property
    def counts(self) -> cp.Variable:
        """The :class:`cvxpy.Variable` N p, one entry per term, in records.

        These are counts, not probabilities, since p ~ 1e-5 is below the tolerances of conic solvers.
        """
        return self._variable

    @cached_property
    def p(self) -> cp.Expression:
        """The probabilities P(q, s, b), a :class:`cvxpy.Expression`."""
        return self.counts / self.n_records

    def _times_p(self, matrix: sp.csr_array) -> cp.Expression:
        """Return the expression ``matrix @ p``, in which the matrix is printed as "A", not as numbers."""
        import cvxpy as cp

        return cp.Constant(matrix, name="A") @ (self._variable / self.n_records)

    @cached_property
    def index(self) -> pd.MultiIndex:
        """The labels of the terms: QI attributes, sensitive attribute, bucket."""
        return self._labels(slice(None))

    def _labels(self, terms: slice) -> pd.MultiIndex:
        """Return the labels of some terms."""
        return self.axes.labels([*["who"][: len(self.people)], *self.view.axes], terms)

    def described(self, given: Mapping[str, object] | None) -> np.ndarray:
        """Mark the QI tuples that match a condition.

        Parameters
        ----------
        given : dict or None
            As in :meth:`prob`; None means everybody.

        Returns
        -------
        ndarray of bool, one per QI tuple

        Raises
        ------
        UnknownName
            If an attribute is not a QI attribute, or a value was not published.
        StatementError
            If nobody in the view matches.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> release.quasi_identifiers[space.described({"Gender": "female"})].to_list()
        [('female', 'college'), ('female', 'graduate'), ('female', 'junior')]
        """
        return self._described(given)[0]

    def records_described(self, given: Mapping[str, object] | None) -> int:
        """Count the records that match a condition, n(given).

        Parameters
        ----------
        given : dict or None
            As in :meth:`prob`; None means everybody.

        Raises
        ------
        UnknownName, StatementError
            As in :meth:`described`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Space.of(release).records_described({"Gender": "female"})
        4
        """
        return self._described(given)[1]

    def records_by(self, attribute: str, given: Mapping[str, object] | None = None) -> np.ndarray:
        """Count the records that match a condition by their value of a QI attribute, n(given, value).

        Parameters
        ----------
        attribute : str
            A QI attribute.
        given : dict, optional
            As in :meth:`prob`; None means everybody.

        Returns
        -------
        ndarray of int
            One per value, in the order of the attribute's level of ``view.quasi_identifiers``.

        Raises
        ------
        UnknownName, StatementError
            If the attribute is not a QI attribute, and as in :meth:`described`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Space.of(release).records_by("Degree", {"Gender": "female"}).tolist()    # college, graduate, ...
        [2, 1, 0, 1]
        """
        check_label(attribute, f"quasi-identifier of the {self.view.noun}", self.view.qi)
        codes, values = level_of(self.view.axes["q"][1], self.view.qi.index(attribute))
        self.view.tell_apart([attribute, *(given or {})])
        matches = self.described(given)
        return np.bincount(codes[matches], self._records_of_tuples()[matches], len(values)).astype(np.int64)

    def _described(self, given: Mapping[str, object] | None) -> tuple[np.ndarray, int]:
        """Mark the QI tuples that match a description, and count their records."""
        tuples = tuples_described(self.view, given)
        return tuples, int(self.view.n_q[tuples].sum())

    def _records_of_tuples(self) -> np.ndarray:
        """Return the number of records of each QI tuple."""
        return self.view.n_q

    def marginal(self, by: str | Sequence[str]) -> Block:
        """Sum the terms into P(by), one row per combination of values that can occur.

        Parameters
        ----------
        by : str or list of str
            Column names, or the roles "q" (all QI attributes together), "s", "bucket" and "who" (named people; unnamed
            people then have no row).

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
        self.view.tell_apart(names)
        axes = [self.axes.of(name) for name in names]
        terms = np.arange(len(self))
        if "who" in names and len(self.people):
            terms = np.flatnonzero(self.codes["who"] < len(self.people))
        group = group_codes([codes[terms] for codes, _ in axes], [len(values) for _, values in axes])
        first = np.unique(group, return_index=True)[1]
        matrix = compact(sp.csr_array((np.ones(len(terms)), (group, terms)), shape=(len(first), len(self))))
        index = self.axes.labels(names, terms[first])
        label = f"P({', '.join(self.axes.columns(names))})"
        return Block(self, matrix, plain_index(index), label)

    def conditional(self, of: str | Sequence[str], given: str | Sequence[str]) -> Block:
        """Return P(of | given) = P(of, given) / P(given), one row per combination that can occur.

        Parameters
        ----------
        of : str or list of str
            As in :meth:`marginal`.
        given : str or list of str
            QI attributes, or "q" for all of them: the release determines P(given) (Privacy-MaxEnt, section 4.1), which
            makes the expression linear. Alternatively "who", for named people.

        Returns
        -------
        Block
            Probabilities, sorted by label.

        Raises
        ------
        UnknownName
            If a name is neither a column of the view nor a role, or a condition is not a QI attribute.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> block = space.conditional("Disease", given="Gender")
        >>> block.label, len(block), block.index[2]
        ('P(Disease | Gender)', 10, ('Flu', 'female'))
        >>> len(space.conditional("s", given="q") <= 0.6)    # one row per pair that occurs
        22
        """
        of, given = as_names(of), as_names(given)
        if given == ["who"] and len(self.people):
            joint = self.marginal([*of, "who"])
            label = f"P({', '.join(self.axes.columns(of))} | who)"
            return replace(joint, matrix=joint.matrix * float(self.n_records), label=label)
        check_known(given, "QI attribute to condition on", ["q", *self.view.qi])
        joint = self.marginal([*of, *given])
        tuples = self.view.axes["q"][1]
        columns = self.axes.columns(given)
        group, first = group_rows(tuples, columns)
        share = np.bincount(group, weights=self._records_of_tuples()) / self.n_records  # P(given)
        given_tuples = plain_index(subset_keys(tuples, columns)[first])
        # All terms of a joint row have the same `given`: look it up at the row's first term.
        q = self.codes["q"][joint.matrix.indices[joint.matrix.indptr[:-1]]]
        matrix = sp.csr_array(sp.diags_array(1 / share[group[q]]) @ joint.matrix)
        label = f"P({', '.join(self.axes.columns(of))} | {', '.join(columns)})"
        return Block(self, matrix, joint.index, label, provenance=Provenance(groups=(Groups(given_tuples),)))

    def joint(self, members: sp.csr_array, s: np.ndarray) -> sp.csr_array:
        """Return the coefficients of P(Q, s) on p for many patterns, each a set Q of QI tuples with a value s.

        Parameters
        ----------
        members : csr_array, shape (patterns, QI tuples)
            1 for the QI tuples of each pattern.
        s : ndarray of int, one per pattern
            The position of the sensitive value of each pattern.

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
        check_instance(members, sp.csr_array, "members")
        s = check_positions(s, "s", len(self.view.sensitive_values), members.shape[0])
        if members.shape[1] != (n_tuples := len(self.view.axes["q"][1])):
            raise StatementError(f"members must have one column per QI tuple, {n_tuples}, not {members.shape[1]}")
        n_values = len(self.view.sensitive_values)
        pair = self.codes["q"] * n_values + self.codes["s"]  # P(q, s) is a sum of terms, an empty one if impossible
        shape = (members.shape[1] * n_values, len(self))
        of_pair = sp.csr_array((np.ones(len(pair)), (pair, np.arange(len(pair)))), shape=shape)
        picked = members.indices.astype(np.int64) * n_values + np.repeat(s, np.diff(members.indptr))
        return sp.csr_array(sp.csr_array((members.data, picked, members.indptr), shape=(len(s), shape[0])) @ of_pair)

    def named(self, who: object) -> tuple[str, np.ndarray]:
        """Mark people by name.

        Parameters
        ----------
        who : str, int, or a list of them
            Names of people, or pseudonyms of a series, each of which is a QI tuple.

        Returns
        -------
        str, ndarray of bool
            The role of the people, "who" or "q", and a mask of its codes.

        Raises
        ------
        UnknownName, StatementError
            As in :meth:`prob`.
        """
        pseudonyms = self.view.named(who)
        return ("who", np.append(self.people.find(who), False)) if pseudonyms is None else ("q", pseudonyms)

    def row(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> sp.csr_array:
        """Return the coefficients of P(value | given) or P(value | who) on p; the divisor is a constant.

        Parameters
        ----------
        value, given, who
            As in :meth:`prob`.

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
        terms, people = self.matching(value, given, who)
        data = np.full(len(terms), 1 / (people / self.n_records))
        return csr(data, terms, np.array([0, len(terms)]), (1, len(self)))

    def matching(
        self, value: object, given: Mapping[str, object] | None = None, who: object = None
    ) -> tuple[np.ndarray, int]:
        """Return the terms of P(value | given) or P(value | who), ascending, and the number of people in the condition."""
        if isinstance(given, Mapping) and (turned := [name for name in given if name in self.view.sensitive]):
            raise StatementError(
                f"{turned[0]!r} is sensitive and cannot be a condition, since statements are about "
                f"P({turned[0]} | quasi-identifiers); use Bayes' rule if you know the reverse"
            )
        is_value = values_named(self.view, value)
        if who is None:
            axis, (matches, people) = "q", self._described(given)
        elif given is None:
            (axis, matches), people = self.named(who), 1
        else:
            raise StatementError("pass either `given` or `who`, not both, as the QI of named people are known")
        terms = self._terms_of_values(np.flatnonzero(is_value))  # few terms, so that few people are looked up
        return terms[matches[self.codes[axis][terms]]], people

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> cp.Expression:
        """Return P(value | given) as an affine CVXPY expression: the sum of P(q, s, b) over matching q, by P(given).

        Parameters
        ----------
        value : object
            A sensitive value, a list of values, or ``{attribute: value}`` for some of several sensitive attributes,
            summed over the others.
        given : dict, optional
            A mapping of QI attributes to values, lists of values, or pandas Intervals; None means everybody. In a
            series, "release" selects the people of some releases, numbered from 1.
        who : str, int, or a list of them, optional
            Instead of `given`, a named person, or a pseudonym of a series. For several, the sum, which is the expected
            number of them with the value.

        Returns
        -------
        cvxpy.Expression
            A scalar.

        Raises
        ------
        UnknownName
            If an attribute is not a QI attribute, a value was not published, or a person is not named.
        StatementError
            If nobody in the release matches, or the model has no named people.

        Notes
        -----
        Privacy-MaxEnt, section 4.1, with P(given) from the release; section 6, with P(i) = 1/N.

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
        return self._times_p(self.row(value, given, who))[0]

    def count(self, records: pd.DataFrame, id: str | None = None) -> np.ndarray:
        """Count the original records of every term, the truth for comparisons with a model.

        Parameters
        ----------
        records : DataFrame
            Records with the view's columns: QI attributes, sensitive attributes, and the bucket of a release.
        id : str, optional
            The column of names; needed if the model has named people.

        Returns
        -------
        ndarray, one per term
            The number of records.

        Raises
        ------
        TableError
            If `records` are not the original records of the release.

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
        upper = {"s and bucket": view.at_most} if isinstance(view, BucketView) else {}
        sums = {
            (name := " and ".join(by)): (self.marginal(by).matrix.dot, n.to_numpy(), upper.get(name, False))
            for by, n in view.published.items()
        }
        if id is not None:
            check_str(id, "id")
        bucket = getattr(view, "bucket", None)
        check_dataframe(records, "the table")
        if isinstance(view, BucketView) and view.generalized:
            records = with_cells(view, records)
            q = view.quasi_identifiers.get_indexer(pd.MultiIndex.from_frame(records[list(view.qi)]))
            # Every cell is a group; of an unknown cell the group does not matter.
            records = records.assign(**{view.bucket: view.buckets[view.n_qb.indices[q]]})
        data = Microdata(records, view.qi, view.sensitive, bucket, None if id in view.qi else id)
        known = data.frame[view.columns]
        if len(self.people):
            known.insert(0, "who", names_in(data.frame, self.people, id))
        group, labels = sort_distinct(known)
        at = self.index.get_indexer(labels)
        strangers = f"{int((at < 0).sum())} of {len(at)} combinations in the original records"
        buckets = ", with its buckets" * ("bucket" in view.axes)
        return counted_at(at[group], len(self), sums, view, strangers, buckets)

    def _tables(self) -> Iterable[TablePreview]:
        first = self._labels(slice(0, MOST_ROWS))
        return [TablePreview(first.to_frame(index=False), "terms", len(self))]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {pluralize(len(self), 'term')} {self.term} of {self.view!r}>"
