"""Noise: every attribute of every record is moved at random along its domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import BadProbability, StatementError, TableError, UnknownName, listing, shown, unknown_name, whole
from ...tables.numbers import as_numbers
from ...views import QITable
from ..domain_technique import DomainTechnique
from ..domains import check_confidential, domain_of
from ..known import Known
from ..random_streams import draws
from .channel import Channel, noise_limit
from .noisy_table import NoisyTable

__all__ = ["BinomialNoise"]

#: How far a prior may be from a sum of 1.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class BinomialNoise(DomainTechnique):
    """p(d) = sum_r w_r P(d | y_r) / sum_r w_r: record r is of somebody like the person with probability w_r.

    Parameters
    ----------
    percent : float
        The noise of an attribute with the domain D is B - M/2 places, B binomial (M, 1/2), M being `percent` % of
        ``|D| - 1``, rounded to the nearest even number; in the middle of two, to the larger. So an attribute of two
        values has noise from 100 % on only.
    seed : int
        The same noise is drawn for the same seed.
    prior : Series, optional
        What the intruder takes for the distribution of the confidential attribute, by value; by default all values of
        the domain are equally likely, as in the paper's other techniques.

    Raises
    ------
    BadProbability, StatementError, TableError
        If an argument is out of range, or the prior no distribution; from `infer`, if no published record can be of
        anybody as described, or the prior makes values impossible that explain what is published.

    Notes
    -----
    CAE, section 5: noise on all attributes, numerical and categorical. A domain is ordered (see
    :class:`maxent_cvx.sdc.Published`), and values that noise moves beyond an end are published as that end.

    The paper prints algorithm 2 again for its algorithm 3, so this is derived here. The intruder knows T_a(x, y), the
    probability that the value x of attribute a is published as y, and pi, how frequent each combination x of the other
    attributes is in the population. Assumed is that records are independent of each other, x drawn from pi, and the
    confidential d from the prior, whatever x is; and that the person is any of the records r, equally likely. With Mo
    the combinations that match what is known, Bayes' rule says

        P(r, d | Y, x_r in Mo) ~ P(x_r in Mo, d_r = d, y_r) prod_(s != r) P(y_s) ~ P(x_r in Mo | y_r) P(d | y_rC),

    so that w_r = sum_(x in Mo) pi(x) prod_a T_a(x_a, y_ra) / sum_x pi(x) prod_a T_a(x_a, y_ra), over all attributes of
    the population that are published, known or not: what is published of the others tells, too, whose record it can be.
    And P(d | y) = P(d) T_C(d, y) / sum_d' P(d') T_C(d', y). Without noise p(d) is the frequency of d in Mo.

    That every person has exactly one record, an intruder could use as well, at the price of a permanent; and that d
    depends on x, with a prior for each x.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> technique = mx.sdc.BinomialNoise(percent=100)
    >>> noisy = technique.publish(people, confidential="Salary")
    >>> technique.infer(noisy, known={"Age": 37}, population=people[["Age"]]).round(3).to_dict()
    {50: 0.189, 77: 0.242, 80: 0.268, 107: 0.301}
    """

    percent: float
    seed: int = 0
    prior: pd.Series | None = None

    _published_as = NoisyTable

    def __post_init__(self) -> None:
        noise_limit(self.percent, 1)
        whole(self.seed, "seed", 0)
        if self.prior is None:
            return
        if not isinstance(self.prior, pd.Series):
            raise StatementError(f"prior must be a pandas Series, value to probability, not {shown(self.prior)}")
        if self.prior.index.has_duplicates:
            twice = self.prior.index[self.prior.index.duplicated()]
            raise TableError(f"prior has more than one probability of {listing(twice)}")
        if (p := as_numbers(self.prior, "prior").astype(float)).min(initial=0) < 0:
            raise BadProbability(f"prior: none below 0 is expected, and {p.min():.12g} is there")

    def publish(self, table: pd.DataFrame, confidential: str) -> NoisyTable:
        """Move every value, and shuffle the records.

        Parameters
        ----------
        table : DataFrame
            One row a person; all columns are published.
        confidential : str
            The confidential attribute.

        Returns
        -------
        NoisyTable
            Records in no order, with the domains and the channels of all attributes, which everybody knows.

        Raises
        ------
        TableError, UnknownName
            If the table lacks the attribute, or misses values.
        StatementError
            If `confidential` is not the name of one column.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> print(mx.sdc.BinomialNoise(percent=100).publish(people, confidential="Salary").table)
           Age  Salary
        0   50      50
        1   37     107
        2   37      77
        3   50      80
        """
        check_confidential(table, confidential)
        rng = draws("BinomialNoise", self.seed)
        order = rng.permutation(len(table))
        domains = {name: domain_of(table[name]) for name in table.columns}
        channels = {name: Channel(len(d), noise_limit(self.percent, len(d))) for name, d in domains.items()}
        moved = {
            name: domain.take(channels[name].draw(domain.get_indexer(pd.Index(table[name])), rng)[order])
            for name, domain in domains.items()
        }
        return NoisyTable(
            pd.DataFrame(moved).astype(table.dtypes), confidential, domains[confidential], domains, channels
        )

    def _shares(self, published: NoisyTable, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """sum_y w_y P(d | y), w being how many published records with y are of people like that."""
        if strangers := [name for name in person.values if name not in published.domains]:
            raise unknown_name("attribute of the published table", strangers[0], list(published.domains))
        of_y = published.of_people_like(person)
        if not of_y.sum() > 0:
            raise TableError(
                "no published record can be of anybody like that; pass the population whose records were published"
            )
        of_y /= of_y.sum()
        channel = published.channels[published.confidential]
        joint = channel.matrix * self._prior_of(published.domain)[:, None]  # P(d) T_C(d, y)
        every = np.asarray(joint.sum(axis=0))
        if (of_y[every == 0] > 0).any():
            raise BadProbability("the prior makes values impossible that explain what is published; raise it there")
        share = np.divide(of_y, every, out=np.zeros(len(of_y)), where=every > 0)
        return np.asarray(joint @ share)

    def _prior_of(self, domain: pd.Index) -> np.ndarray:
        """The prior over the domain."""
        if self.prior is None:
            return np.full(len(domain), 1 / len(domain))
        if len(missing := domain.difference(self.prior.index)):
            raise UnknownName(f"prior has no probability of {listing(missing)}; every value of the domain needs one")
        p = self.prior.reindex(domain).to_numpy(dtype=float)
        if abs(p.sum() - 1) > ROUNDING:
            raise BadProbability(
                f"prior: probabilities that sum to 1 over the domain are expected, not to {p.sum():.12g}"
            )
        return p
