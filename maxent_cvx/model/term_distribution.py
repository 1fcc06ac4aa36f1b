"""A distribution over the terms of a model: its tables, the probability of any event, and its entropy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import xlogy

from ..errors import StatementError
from ..sources import Probability
from ..terms.space import Space
from ..views import ReleaseSeries

__all__ = ["TermDistribution"]


@dataclass(frozen=True, eq=False)
class TermDistribution:
    """P(q, s, b), by the number of records that each term is expected to hold.

    Attributes
    ----------
    space : Space
        The terms.
    counts : ndarray
        N P(q, s, b), records, one a term.
    """

    space: Space
    counts: np.ndarray

    def joint(self) -> pd.Series:
        """P(q, s, b) over the terms, probabilities, labelled by QI attributes, sensitive attribute and bucket.

        Without buckets P(q, s). Where people are named, P(i, q, s, b): the first label is "who", "(others)" for
        all those without a name.

        Returns
        -------
        Series
            A term each, as :attr:`maxent_cvx.Space.index` has them.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).solve().joint().head(3).round(3))
        Gender  Degree   Disease        Bucket
        female  college  Breast Cancer  1         0.025
                         Flu            1         0.050
                         Pneumonia      1         0.025
        Name: P(q, s, b), dtype: float64
        """
        return pd.Series(self.counts / self.space.n_records, index=self.space.index, name=self.space.term)

    @cached_property
    def table(self) -> np.ndarray:
        """N P(q, s), records, shape (QI tuples, sensitive values)."""
        return self._by_value(self.space.codes["q"], len(self.space.view.quasi_identifiers))

    def conditional(self) -> pd.DataFrame:
        """P(s | q) = sum_b P(q, s, b) / P(q), probabilities: a row a QI tuple, a column a sensitive value.

        Nothing is renormalised: rows sum to 1 as closely as the certificate's residual says.
        (Privacy-MaxEnt, section 3.1.)

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
        >>> print(post.conditional()[["Breast Cancer", "Flu"]].round(2))
        Disease             Breast Cancer   Flu
        Gender Degree
        female college                0.5  0.17
               graduate               0.0  0.33
               junior                 1.0  0.00
        male   college                0.0  0.44
               graduate               0.0  0.33
               high school            0.0  0.33
        """
        view = self.space.view
        index: pd.Index = view.quasi_identifiers
        if index.nlevels == 1:
            index = index.get_level_values(0)
        return pd.DataFrame(self.table / view.n_q[:, None], index=index, columns=view.sensitive_values)

    def people(self) -> pd.DataFrame:
        """P(s | i) for every named person i, or everybody in a series: a row a person, a column a sensitive value.

        Probabilities; nothing is renormalised, as in :meth:`conditional`. (Privacy-MaxEnt, section 6; Re-publishing,
        Problem 2.1.)

        Returns
        -------
        DataFrame

        Raises
        ------
        StatementError
            If the model names nobody.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> iris = {"Iris": {"Gender": "female", "Degree": "graduate"}}
        >>> mx.MaxEnt(release, people=iris).solve().people().loc["Iris"].round(3).to_dict()
        {'Breast Cancer': 0.0, 'Flu': 0.333, 'HIV': 0.333, 'Lung Cancer': 0.333, 'Pneumonia': 0.0}
        """
        people, view = self.space.people, self.space.view
        if isinstance(view, ReleaseSeries):
            return pd.DataFrame(self.table, index=view.persons, columns=view.sensitive_values)
        if not len(people):
            raise StatementError("the model names nobody; say who is known with MaxEnt(release, people={name: {...}})")
        table = self._by_value(self.space.codes["who"], len(people) + 1)[:-1]  # the last are those without a name
        return pd.DataFrame(table, index=people.names, columns=view.sensitive_values)

    def inferences(self) -> tuple[pd.DataFrame, np.ndarray]:
        """P(s | .) of all who are distinguishable: :meth:`conditional`, but of named people :meth:`people`.

        Returns
        -------
        DataFrame
            Probabilities. Where people are named a row a person, and one for the others of every QI tuple;
            the first level of the index is "who", "(others)" of those without a name.
        ndarray
            How many records share each row.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> allen = {"Allen": {"Gender": "male", "Degree": "college"}}
        >>> table, people = mx.MaxEnt(release, people=allen).add("P(Flu | Allen) = 0").solve().inferences()
        >>> print(table[["Flu"]].round(3).assign(people=people).tail(4))
        Disease                        Flu  people
        who      Gender Degree
        (others) male   college      0.423       2
                        graduate     0.333       1
                        high school  0.289       2
        Allen    male   college      0.000       1
        """
        if not len(self.space.people):
            return self.conditional(), self.space.view.n_q
        group, people = self.space.groups
        index = self.space.axes.labels(["who", "q"], self.space.first_of_group)
        table = self._by_value(group, len(people)) / people[:, None]
        return pd.DataFrame(table, index=index, columns=self.space.view.sensitive_values), people

    def prob(self, value: object, given: Mapping[str, object] | None = None, who: object = None) -> float:
        """P(value | given), or P(value | who), under the posterior; or the value of a combination of ``P(...)``.

        Parameters
        ----------
        value, given, who
            As of :meth:`maxent_cvx.Space.prob`; or as `value` alone a combination, ``P("Flu") - P("HIV")``.

        Returns
        -------
        float
            A probability; of several people in `who` the expected number with the value.

        Raises
        ------
        UnknownName, StatementError
            As :meth:`maxent_cvx.Space.prob`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4").solve()
        >>> round(post.prob("Flu", given={"Gender": "male"}), 6), round(post.prob(mx.P("Flu") - mx.P("HIV")), 6)
        (0.4, 0.1)
        """
        if not isinstance(value, Probability):
            return float((self.space.row(value, given, who) @ self.counts)[0] / self.space.n_records)
        if given is not None or who is not None:
            raise StatementError(f"{value} says already what is given; leave the other argument out")
        p = self.counts / self.space.n_records
        return value.constant + sum(float((event.row(self.space) @ p)[0]) * a for event, a in value.terms.items())

    @cached_property
    def entropy(self) -> float:
        """H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), nats (Eq. (3)); H(I, Q, S, B) where people are named.

        Of a series H(S | I) = -sum P(i) P(s | i) log P(s | i) (Re-publishing, Eq. (1)).

        Naming people adds no knowledge, but makes records distinguishable: H rises by sum P(q) log n(q).
        """
        p = self.counts / self.space.n_records
        return float(xlogy(p, self.space.multiplicities).sum() - xlogy(p, p).sum())

    def _by_value(self, group: np.ndarray, size: int) -> np.ndarray:
        """Sum the counts of groups of records, given the group of each term: shape (groups, sensitive values)."""
        n_values = len(self.space.view.sensitive_values)
        key = group * n_values + self.space.codes["s"]
        return np.bincount(key, self.counts, size * n_values).reshape(size, n_values)
