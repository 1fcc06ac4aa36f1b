"""Named people: who of those in a view somebody knows by name, and what each one's quasi-identifiers are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..display import Shown
from ..errors import LargeModel, StatementError, amount, listing, shown, unknown_name
from ..views import View
from .descriptions import OTHERS, checked_names, codes_in_view, described_table, is_name

__all__ = ["OTHERS", "People"]

#: From so many terms on, a model of named people is announced with its cost.
MANY_TERMS = 3_000_000
#: Memory and time of a solve, as measured with 100 to 1,000 people of Adult on one core of 2024.
GIGABYTES_PER_MILLION, SECONDS_PER_MILLION = 0.4, 5


@dataclass(frozen=True, eq=False)
class People(Shown):
    """The people who have a name, among those of a view.

    Naming i, who has QI tuple q, splits each term P(q, s, b) into P(i, q, s, b) and what is left for the others
    with q. Those are interchangeable, so that one term stands for all of them, with their number as its weight.
    (Privacy-MaxEnt, section 6, where every record has a pseudonym.)

    Attributes
    ----------
    names : Index
        Texts or integers, in the order in which they were given.
    q : ndarray of int
        The position of each one's QI tuple in the release.
    unnamed : ndarray of int
        How many records of each QI tuple have no name.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> people = mx.MaxEnt(release, people={"Iris": {"Gender": "female", "Degree": "graduate"}}).space.people
    >>> people.names.to_list(), release.quasi_identifiers[people.q].to_list()
    (['Iris'], [('female', 'graduate')])
    >>> people.unnamed.tolist()                            # nine of the ten records, by QI tuple
    [2, 0, 1, 3, 1, 2]
    """

    names: pd.Index
    q: np.ndarray
    unnamed: np.ndarray

    @classmethod
    def of(cls, described: Mapping[object, Mapping[str, object]] | pd.DataFrame | None, view: View) -> People:
        """Find the people of a view who are described.

        Parameters
        ----------
        described : dict of dict, or DataFrame
            All QI values of every person, by name: ``{"Alice": {"Gender": "male", "Degree": "college"}}``, or
            a table with a column for every QI attribute, indexed by name.
        view : View

        Raises
        ------
        UnknownName
            If an attribute is no quasi-identifier, or a value was not published.
        StatementError
            If a person is named twice, or lacks an attribute; if nobody in the release is as described, or
            fewer people than are named so.
        """
        if described is None or (isinstance(described, Mapping | pd.DataFrame) and not len(described)):
            return cls.at([], np.empty(0, dtype=np.int64), view)
        table = described_table(described, view)
        names = checked_names(table.index)
        levels = [
            codes_in_view(table[attribute], view.quasi_identifiers.levels[i]) for i, attribute in enumerate(view.qi)
        ]
        known = pd.MultiIndex.from_arrays([np.asarray(codes) for codes in view.quasi_identifiers.codes])
        q = known.get_indexer(pd.MultiIndex.from_arrays(levels))
        if (q < 0).any():
            raise StatementError(
                f"nobody in the {view.noun} has the {', '.join(view.qi)} of {listing(names[q < 0])}: "
                "each value occurs, but not together; correct the description"
            )
        found = cls.at(names, q, view)
        if (few := found.unnamed < 0).any():
            first = int(few.argmax())
            alike = names[q == first]
            raise StatementError(
                f"{len(alike)} people are described alike, {listing(alike)}, and the {view.noun} has "
                f"{int(view.n_q[first])} with that {', '.join(view.qi)}; correct the descriptions, or name fewer"
            )
        return found

    @classmethod
    def at(cls, names: Sequence[object] | pd.Index, q: np.ndarray, view: View) -> People:
        """Name people by the positions of their QI tuples."""
        return cls(pd.Index(names, dtype=object, name="who"), q, view.n_q - np.bincount(q, minlength=len(view.n_q)))

    def __repr__(self) -> str:
        return f"<People: {amount(len(self), 'person', 'people')} known by name, {int(self.unnamed.sum())} not>"

    def __len__(self) -> int:
        return len(self.names)

    def split(self, codes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Split the terms, sorted by bucket and QI tuple, into a copy for every person who has q.

        Returns
        -------
        dict
            Codes of "who" and of all roles, still sorted by bucket, then q; those without a name, whose
            code is the number of names, come after those who have one.

        Warns
        -----
        LargeModel
            If there are millions of terms.
        """
        by_q = np.argsort(self.q, kind="stable")
        named = np.bincount(self.q, minlength=len(self.unnamed))
        copies = (named + (self.unnamed > 0))[codes["q"]]
        if (n_terms := int(copies.sum())) >= MANY_TERMS:
            millions = n_terms / 1e6
            warnings.warn(
                f"{amount(len(self), 'named person', 'named people')} make {n_terms:,} terms, one for every value and "
                f"bucket that can be theirs: a solve takes about {GIGABYTES_PER_MILLION * millions:.0f} GB of memory "
                f"and {SECONDS_PER_MILLION * millions:.0f} seconds. Name only people of whom something is known: "
                "anybody else has the probabilities of the unnamed people with the same quasi-identifiers",
                LargeModel,
                stacklevel=5,
            )
        of = {axis: np.repeat(code, copies) for axis, code in codes.items()}
        q = of["q"]
        copy = np.arange(len(q)) - np.repeat(np.cumsum(copies) - copies, copies)
        first = np.cumsum(named) - named  # where the names of each QI tuple begin in `by_q`
        is_named = copy < named[q]
        who = np.full(len(q), len(self))
        who[is_named] = by_q[(first[q] + copy)[is_named]]
        order = np.lexsort((of["s"], copy, q, of.get("bucket", np.zeros(len(q)))))
        return {"who": who[order]} | {axis: code[order] for axis, code in of.items()}

    def find(self, who: object) -> np.ndarray:
        """Mark the named people, by name: one, or a list of them.

        Raises
        ------
        UnknownName
            If nobody has such a name.
        StatementError
            If the model names nobody.
        """
        names = who if isinstance(who, list | tuple | set | frozenset | pd.Index) else [who]
        wanted = list(names)
        if not len(self):
            raise StatementError(
                f"{', '.join(map(shown, wanted[:5]))} cannot be spoken of: the model names nobody; say who that is "
                "with MaxEnt(release, people={name: {attribute: value}}), or write attribute=value"
            )
        if unknown := [name for name in wanted if not is_name(name) or name not in self.names]:
            raise unknown_name("person whom the model names", unknown[0], self.names)
        return np.asarray(self.names.isin(wanted))
