"""One partition and its surroundings as a view: its own terms, and a few that stand for all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ...errors import StatementError
from ...tables.coding import multi_index
from ...views import View
from ...views.partitioned.release_part import ReleasePart
from ..people import People
from .surroundings import Needed, Surroundings

__all__ = ["SeenPart"]


@dataclass(frozen=True, eq=False, repr=False)
class SeenPart(View):
    """The terms of one partition, in order, and behind them those that stand for the whole: no bucket has these.

    Its QI tuples are those of the partition, those of named people, and one for each combination of values by which a
    source labels rows. Such a tuple has the other attributes of nobody in particular, and as many records as the
    combination has in the whole beyond the tuples before: sums over what is told apart are those of the whole.

    Attributes
    ----------
    part : ReleasePart
    surroundings : Surroundings
    tuples : MultiIndex
        All QI tuples.
    records : ndarray
        Records of the whole of each.
    own : ndarray of int
        The places of the partition's QI tuples among them, ascending.
    of_name : ndarray of int
        The place of the QI tuple of every named person.
    """

    part: ReleasePart
    surroundings: Surroundings
    tuples: pd.MultiIndex
    records: np.ndarray
    own: np.ndarray
    of_name: np.ndarray
    noun: ClassVar[str] = "release"

    @classmethod
    def of(cls, part: ReleasePart, surroundings: Surroundings) -> SeenPart:
        """Surround a partition."""
        own, named, combined = part.quasi_identifiers, surroundings.named, surroundings.combinations
        if set(combined.columns) == set(part.qi):  # every QI tuple is told apart, and they are those of the whole
            tuples = multi_index(own.levels, list(combined.codes.T), list(own.names))
            of_name = combined.of(named.tuples(own))[surroundings.of_name]
            return cls(part, surroundings, tuples, combined.records, combined.of(own), of_name)
        at = named.of(own)  # of people with names, few of whom are in the partition
        places = np.full(len(named.codes), -1)
        places[at[at >= 0]] = np.flatnonzero(at >= 0)
        is_own = places >= 0
        places[~is_own] = len(own) + np.arange(int((~is_own).sum()))
        codes = [np.concatenate([own.codes[i], named.codes[~is_own, i]]) for i in range(own.nlevels)]
        apart = multi_index(own.levels, codes, list(own.names))
        records = np.concatenate([part.n_q, named.records[~is_own]])
        rest = combined.records - np.bincount(combined.of(apart), records, len(combined.codes)).astype(np.int64)
        others = combined.tuples(own)
        codes = [np.concatenate([mine, others.codes[i]]) for i, mine in enumerate(codes)]
        tuples = multi_index(own.levels, codes, list(own.names))
        records = np.concatenate([records, rest])
        return cls(part, surroundings, tuples, records, np.arange(len(own)), places[surroundings.of_name])

    @property
    def qi(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the release."""
        return self.part.qi

    @property
    def sensitive(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the release."""
        return self.part.sensitive

    @property
    def sensitive_values(self) -> pd.Index:  # type: ignore[override]
        """Those of the whole."""
        return self.part.sensitive_values

    @property
    def quasi_identifiers(self) -> pd.MultiIndex:  # type: ignore[override]
        """All QI tuples, where each of the whole is told apart."""
        self.need(self.qi)
        return self.tuples

    @property
    def n_q(self) -> np.ndarray:
        """Records of all QI tuples, where each of the whole is told apart."""
        self.need(self.qi)
        return self.records

    @property
    def n_s(self) -> np.ndarray:
        """Records of the whole with each sensitive value."""
        return self.part.n_s

    @property
    def n_records(self) -> int:
        """N, the records of the whole."""
        return self.part.n_records

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, buckets."""
        return {
            "q": (self.qi, self.tuples),
            "s": (self.sensitive, self.sensitive_values),
            "bucket": ((self.part.bucket,), self.part.buckets),
        }

    @property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Nothing that a partition could tell of the whole."""
        raise StatementError("what is said of single buckets cannot be divided among partitions; say it of people")

    def need(self, columns: tuple[str, ...] | list[str]) -> None:
        """Ask for combinations of values to be told apart, if they are not."""
        if missing := set(columns) - set(self.surroundings.combinations.columns):
            raise Needed(frozenset(missing))

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms of the partition, then those that stand for the whole, in a bucket of their own."""
        own, combined = self.part.terms(), self.surroundings.combinations
        named = np.zeros(len(self.surroundings.named.codes), dtype=np.int64)
        named[self.surroundings.of_name] = self.of_name
        (n, s_named), (c, s_rest) = self.surroundings.named.values.nonzero(), combined.values.nonzero()
        q = np.concatenate([named[n], len(self.tuples) - len(combined.codes) + c])
        s = np.concatenate([s_named, s_rest])
        q, s = np.divmod(np.unique(q * len(self.sensitive_values) + s), len(self.sensitive_values))
        return {
            "q": np.concatenate([self.own[own["q"]], q]),
            "s": np.concatenate([own["s"], s]),
            "bucket": np.concatenate([own["bucket"], np.full(len(q), len(self.part.buckets))]),
        }

    def people(self) -> People:
        """The named people of the whole; a combination stands for unnamed ones, even where nobody is left of it."""
        unnamed = self.records - np.bincount(self.of_name, minlength=len(self.tuples))
        if len(self.surroundings.combinations.columns) < len(self.qi):
            rest = slice(len(unnamed) - len(self.surroundings.combinations.codes), None)
            unnamed[rest] = np.maximum(unnamed[rest], 1)
        return People(self.surroundings.names, self.of_name, unnamed)
