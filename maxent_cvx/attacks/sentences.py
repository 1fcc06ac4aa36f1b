"""Sentences about the people of a release, who have no names but "person 1 of bucket 7", as text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ..views import Release
from ..worlds import Sentence, has
from ..worlds.worst.formula import Atom

__all__ = ["Wording"]


@dataclass(frozen=True)
class Wording:
    """Words for the people and values of a release. Within a bucket people are exchangeable, and numbered from 1."""

    release: Release

    def person(self, atom: Atom) -> str:
        """Name somebody."""
        return f"person {atom.person} of bucket {self.release.buckets[atom.bucket]}"

    def has(self, atom: Atom) -> Sentence:
        """Say that somebody has a value."""
        return has(self.person(atom), self.value(atom))

    def implies(self, premise: Atom, conclusion: Atom) -> Sentence:
        """Say that one atom implies another."""
        return self.has(premise).implies(self.has(conclusion))

    def value(self, atom: Atom) -> Hashable:
        """The label of a value, in Python's own types, which are written as they are typed."""
        label: Hashable = self.release.sensitive_values[atom.value]
        return tuple(map(_plain, label)) if isinstance(label, tuple) else label

    def described(self, target: Atom) -> dict[str, object]:
        """Whom an inference is about, and which value is inferred.

        The QI tuple is given where all people of the bucket have the same; otherwise it says nothing, None.
        """
        tuples = np.flatnonzero(self.release.n_qb[:, [target.bucket]].toarray()[:, 0])
        return {
            "person": self.person(target),
            "bucket": self.release.buckets[target.bucket],
            "quasi_identifiers": self.release.quasi_identifiers[tuples[0]] if len(tuples) == 1 else None,
            "value": self.value(target),
        }


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
