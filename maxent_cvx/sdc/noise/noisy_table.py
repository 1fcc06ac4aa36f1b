"""A table with noise on every value, and whose records these can be."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...errors import TableError, listing
from ...tables.columns import check_labels
from ..known import Known
from ..published import Published
from .channel import Channel
from .linkage import Linked, linked

__all__ = ["NoisyTable"]


@dataclass(frozen=True, eq=False, repr=False)
class NoisyTable(Published):
    """All records, with noise on every attribute, in no order.

    Attributes
    ----------
    table, confidential, domain : DataFrame, str, Index
        As of every :class:`~maxent_cvx.sdc.Published`.
    domains : dict of str to Index
        The domain of every attribute, in the order along which noise moves.
    channels : dict of str to Channel
        The noise of every attribute, which everybody knows.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> noisy = mx.sdc.BinomialNoise(percent=100).publish(people, confidential="Salary")
    >>> noisy
    <NoisyTable: 4 rows; 'Salary' is confidential, one of 4 values>
    >>> noisy.channels["Salary"], list(noisy.domains["Salary"])
    (Channel(places=4, limit=4), [50, 77, 80, 107])
    """

    domains: Mapping[str, pd.Index]
    channels: Mapping[str, Channel]
    _last: list[tuple[bytes, Linked]] = field(init=False, default_factory=list)

    def places(self, frame: pd.DataFrame, name: str) -> np.ndarray:
        """Where in its domain each value of an attribute is.

        Parameters
        ----------
        frame : DataFrame
            Records, of the population or published.
        name : str
            The attribute.

        Returns
        -------
        ndarray of int, one a record
            From 0.

        Raises
        ------
        TableError
            If a value is not in the domain.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> noisy = mx.sdc.BinomialNoise(percent=100).publish(people, confidential="Salary")
        >>> noisy.places(people, "Salary")
        array([1, 2, 0, 3])
        """
        check_labels(frame[name], f"a cell of column {name!r} of the population")
        at = self.domains[name].get_indexer(pd.Index(frame[name]))
        if (at < 0).any():
            raise TableError(
                f"{listing(pd.unique(frame[name][at < 0]))} of {name!r} is in the population, and not in the published "
                "domain; pass the population whose records were published"
            )
        return at

    def of_people_like(self, person: Known) -> np.ndarray:
        """sum_r P(x_r in Mo | y_r) [y_rC = c]: how many records of people like that have each published value.

        Parameters
        ----------
        person : Known
            What is known of somebody, and who in the population is like that.

        Returns
        -------
        ndarray, one a value of the domain
            Expected records; over the sum they are weights.

        Raises
        ------
        TableError
            If the population has values that are not in the domain.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> from maxent_cvx.sdc.known import Known
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> noisy = mx.sdc.BinomialNoise(percent=0).publish(people, confidential="Salary")
        >>> noisy.of_people_like(Known.of({"Age": 37}, people[["Age"]], "Salary"))           # two records, 77 and 80
        array([0., 1., 1., 0.])
        """
        names = [name for name in self.table.columns if name in person.frame.columns and name != self.confidential]
        true = [self.places(person.frame, name) for name in names]
        told = [self.places(self.table, name) for name in (*names, self.confidential)]
        share = person.weight / person.weight.sum()
        name = repr((names, len(share))).encode()
        about = hashlib.blake2b(b"".join([name, *(part.tobytes() for part in [*true, share, *told])])).digest()
        if not self._last or self._last[0][0] != about:  # it is the same whatever is known of a person
            channels = [self.channels[name] for name in names]
            found = linked(true, share, told[:-1], channels, told[-1], len(self.domain))
            self._last[:] = [(about, found)]
        return self._last[0][1].among(person.matching)
