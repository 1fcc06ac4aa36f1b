"""Noise: every attribute of every record is moved at random along its domain."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..errors import BadProbability, StatementError, TableError, UnknownName, listing, number, unknown_name, whole
from ..views import QITable
from .channel import Channel, noise_limit
from .known import Known
from .likelihood import likelihood
from .technique import Published, check_confidential, domain_of, expected

__all__ = ["BinomialNoise", "NoisyTable"]

#: How far a prior may be from a sum of 1.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class NoisyTable(Published):
    """All records, with noise on every attribute, in no order.

    Attributes
    ----------
    domains : dict of str to Index
        The domain of every attribute, in the order along which noise moves.
    channels : dict of str to Channel
        The noise of every attribute, which everybody knows.
    """

    domains: Mapping[str, pd.Index]
    channels: Mapping[str, Channel]
    _every: dict[object, np.ndarray] = field(default_factory=dict, repr=False)

    def places(self, frame: pd.DataFrame, name: str) -> np.ndarray:
        """Where in its domain each value of an attribute is."""
        at = self.domains[name].get_indexer(pd.Index(frame[name]))
        if (at < 0).any():
            raise TableError(
                f"{listing(pd.unique(frame[name][at < 0]))} of {name!r} is in the population, and not in the published "
                "domain; pass the population whose records were published"
            )
        return at

    def likelihood(self, names: tuple[str, ...], person: Known) -> tuple[np.ndarray, np.ndarray]:
        """P(x in Mo, y_r) and P(y_r) of what is published of some attributes, for every record r."""
        true = [self.places(person.frame, name) for name in names]
        told = [self.places(self.table, name) for name in names]
        channels = [self.channels[name] for name in names]
        share, those = person.weight / person.weight.sum(), person.matching
        matching = likelihood([place[those] for place in true], share[those], told, channels)
        population = hashlib.blake2b(b"".join(part.tobytes() for part in [*true, share])).digest()
        key = names, population
        if key not in self._every:  # is the same whatever the values are that are known
            self._every[key] = likelihood(true, share, told, channels)
        return matching, self._every[key]


@dataclass(frozen=True)
class BinomialNoise:
    """p(d) = sum_r w_r P(d | y_r) / sum_r w_r: record r is the person's with weight w_r = P(y_r | known) / P(y_r).

    Parameters
    ----------
    percent : float
        The noise of an attribute with the domain D is B - M/2 places, B binomial (M, 1/2), M being `percent` % of
        |D| - 1, rounded to the nearest even number; in the middle of two, to the larger. So an attribute of two values
        has noise from 100 % on only.
    seed : int
    prior : Series, optional
        What the intruder takes for the distribution of the confidential attribute, by value; by default all values of
        the domain are equally likely, as in the paper's other techniques.

    Raises
    ------
    BadProbability, StatementError
        If an argument is out of range.

    Notes
    -----
    CAE, section 5: noise on all attributes, numerical and categorical. A domain is ordered (see
    :class:`maxent_cvx.sdc.Published`), and values that noise moves beyond an end are published as that end.

    The paper prints algorithm 2 again for its algorithm 3, so this is derived here. The intruder knows T_a(x, y), the
    probability that the value x of attribute a is published as y, and pi, how frequent each combination x of the known
    attributes K is in the population. Records are independent, with x drawn from pi and the confidential value d from
    the prior; the person is any of the n records r, equally likely, and has known x_K. By Bayes' rule

        P(r, d | Y) ~ P(x_rK = x_K, d_r = d, y_r) prod_(s != r) P(y_s) ~ P(x_K, y_rK) P(d, y_rC) / (P(y_rK) P(y_rC)),

    where attributes that are not in K cancel. With P(x_K, y_rK) = pi(x_K) prod_(a in K) T_a(x_a, y_ra), its sum over
    all x for P(y_rK), its sum over Mo if what is known leaves several x_K, and P(d, y) = P(d) T_C(d, y), the sum over r
    is the equation above, with w_r = P(x_K, y_rK) / P(y_rK) and P(d | y_r) = P(d) T_C(d, y_rC) / sum_d' P(d') T_C(d',
    y_rC). Without noise it is the frequency of d in Mo.

    That every person has exactly one record, an intruder could use too, at the price of a permanent.
    """

    percent: float
    seed: int = 0
    prior: pd.Series | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= number(self.percent, "percent") <= 100:
            raise BadProbability(f"percent={self.percent!r}: from 0 to 100 is expected")
        whole(self.seed, "seed", 0)
        if self.prior is not None and not isinstance(self.prior, pd.Series):
            raise StatementError("prior must be a pandas Series, value to probability")

    def publish(self, table: pd.DataFrame, confidential: str) -> NoisyTable:
        """Move every value, and shuffle the records.

        Raises
        ------
        TableError, UnknownName
            If the table lacks the attribute, or misses values.
        """
        check_confidential(table, confidential)
        rng = np.random.default_rng(self.seed)
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

    def infer(
        self, published: NoisyTable, known: Mapping[str, object] | None, population: pd.DataFrame | QITable
    ) -> pd.Series:
        """P(value | noisy table, known), probabilities, by value; see :class:`maxent_cvx.sdc.Technique`.

        Raises
        ------
        StatementError, UnknownName
            If nobody is as described.
        TableError
            If no published record can be of anybody like that, or the population has other values.
        """
        noisy = expected(published, NoisyTable, "BinomialNoise")
        person = Known.of(known, population, noisy.confidential)
        names = tuple(sorted(person.values))
        if strangers := [name for name in names if name not in noisy.domains]:
            raise unknown_name("attribute of the published table", strangers[0], list(noisy.domains))
        weight = np.ones(len(noisy))
        if names:
            matching, every = noisy.likelihood(names, person)
            weight = np.divide(matching, every, out=np.zeros(len(noisy)), where=matching > 0)
        if not weight.sum() > 0:
            raise TableError(
                "no published record can be of anybody like that; pass the population whose records were published"
            )
        y = noisy.places(noisy.table, noisy.confidential)
        of_y = np.bincount(y, weight, len(noisy.domain)) / weight.sum()
        joint = noisy.channels[noisy.confidential].matrix * self._believed(noisy.domain)[:, None]  # P(d) T_C(d, y)
        every = np.asarray(joint.sum(axis=0))
        if (of_y[every == 0] > 0).any():
            raise BadProbability("the prior makes values impossible that explain what is published; raise it there")
        share = np.divide(of_y, every, out=np.zeros(len(of_y)), where=every > 0)
        return pd.Series(np.asarray(joint @ share), index=noisy.domain, name="probability")

    def _believed(self, domain: pd.Index) -> np.ndarray:
        """The prior over the domain."""
        if self.prior is None:
            return np.full(len(domain), 1 / len(domain))
        if len(missing := domain.difference(self.prior.index)):
            raise UnknownName(f"prior has no probability of {listing(missing)}; every value of the domain needs one")
        p = self.prior.reindex(domain).to_numpy(dtype=float)
        if not (p >= 0).all() or abs(p.sum() - 1) > ROUNDING:
            raise BadProbability(
                f"prior: probabilities that sum to 1 over the domain are expected, not to {p.sum():.12g}"
            )
        return p
