"""Named people of a release, of whom sentences are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import number
from ...priors import QIDistribution
from ...terms.people import People
from ...views import Release
from ..sentences.naming import Knowledge
from ..sentences.residuals import Residuals
from ..sentences.syntax import Sentence
from .conflict import contradiction
from .links import parts
from .places import Place
from .published import Believed, Published
from .sweep import Conditioned, conditioned

__all__ = ["known_people"]


def known_people(
    release: Release,
    prior: QIDistribution | None,
    key: tuple[str, ...],
    people: People,
    knowledge: object,
    limit: float,
) -> pd.DataFrame:
    """P(s | person) given the sentences, see :func:`maxent_cvx.worlds.linkage`."""
    published = Published.of(release, prior, key, number(limit, "limit"))
    known = Knowledge.of(knowledge, people.names, release.sensitive_values, "person who is described")
    of_tuple, which = np.unique(people.q, return_inverse=True)
    linked = _Linked(published, published.believed(of_tuple), people.q, known, Residuals())
    expected = linked.believed.expected(of_tuple, published.tuples[of_tuple])
    share = (expected / expected.sum(axis=1, keepdims=True))[which.reshape(-1)]
    every = linked.parts()
    for part in every:
        log_total, share[part.people] = linked.conditioned(part, part.sentences)
        if np.isinf(log_total):
            raise contradiction(part.sentences, partial(linked.possible, part))
    linked.with_bystanders(every, share)
    return pd.DataFrame(share, index=people.names, columns=release.sensitive_values)


@dataclass(frozen=True, eq=False)
class _Part:
    """People whom sentences or buckets link, by their positions, and the sentences about them."""

    people: np.ndarray
    sentences: list[Sentence]


@dataclass(frozen=True, eq=False)
class _Linked:
    """Named people of a release with what is known of them.

    Attributes
    ----------
    published : Published
    believed : Believed
    q : ndarray of int
        Everybody's QI tuple.
    known : Knowledge
    residuals : Residuals
    """

    published: Published
    believed: Believed
    q: np.ndarray
    known: Knowledge
    residuals: Residuals

    def parts(self) -> list[_Part]:
        """Those whom sentences mention, in parts that are independent: neither a sentence nor a bucket links them."""
        about = [(n, person) for n, one in enumerate(self.known.sentences) for person in self.known.about(one)]
        if not about:
            return []
        sentence, person = np.array(about).T
        n, named = len(self.known.sentences), np.unique(person)
        by_sentence = sp.csr_array((np.ones(len(about)), (person, sentence)), shape=(len(self.q), n))
        links = sp.csr_array(sp.hstack([by_sentence[named], self.published.tuples[self.q[named]]]))
        of_person, of_link = parts(links)
        return [
            _Part(named[of_person == one], [self.known.sentences[i] for i in np.flatnonzero(of_link[:n] == one)])
            for one in np.unique(of_person)
        ]

    def conditioned(self, part: _Part, sentences: list[Sentence]) -> tuple[float, np.ndarray]:
        """The logarithm of what the worlds count in which sentences are true, and P(s | person) in them."""
        true = self.residuals.every(self.residuals.of(sentence, self.known.positions) for sentence in sentences)
        places = list(self._places(part))
        found: Conditioned = conditioned(places, self.residuals, true, self.published.limit)
        share = np.zeros((len(part.people), self.published.values.shape[0]))
        for place, of_class in zip(places, found.shares, strict=False):  # no shares, if there are no such worlds
            np.add.at(share, np.searchsorted(part.people, place.people), place.of_values(of_class))
        return found.log_total, share

    def possible(self, part: _Part, sentences: list[Sentence]) -> bool:
        """Whether there is a world in which some sentences are true."""
        return bool(np.isfinite(self.conditioned(part, sentences)[0]))

    def with_bystanders(self, every: list[_Part], share: np.ndarray) -> None:
        """Put in what is said of those whom no sentence mentions, but who may be in a bucket with others of a part."""
        mentioned = np.isin(np.arange(len(self.q)), [person for part in every for person in part.people])
        touched = [self.published.touched(self.q[part.people]) for part in every]
        for q in np.unique(self.q[~mentioned]).tolist():  # all with one QI tuple alike, whoever else is described
            own = self.published.buckets_of(q)
            beside = [part for part, of_part in zip(every, touched, strict=True) if np.isin(own, of_part).any()]
            if not beside:
                continue
            like = np.flatnonzero(~mentioned & (self.q == q))
            people = np.sort(np.concatenate([like[:1], *(part.people for part in beside)]))
            sentences = [sentence for part in beside for sentence in part.sentences]
            _, found = self.conditioned(_Part(people, sentences), sentences)
            share[like] = found[np.searchsorted(people, like[0])]

    def _places(self, part: _Part) -> Iterator[Place]:
        """Where they may be: buckets in which several of them may, and for everybody all others together."""
        q = self.q[part.people]
        mentioned = sorted({value for person, value in self.known.positions.values() if person in part.people})
        where = sp.csc_array(self.published.tuples[q])
        number_here = np.diff(where.indptr)
        for bucket in np.flatnonzero(number_here > 1).tolist():
            here = np.sort(where.indices[slice(*where.indptr[bucket : bucket + 2])])
            yield self.published.place(bucket, part.people[here], q[here], mentioned)
        for person, own in zip(part.people.tolist(), q.tolist(), strict=True):
            buckets = self.published.buckets_of(own)
            if len(alone := buckets[number_here[buckets] == 1]):
                yield self.believed.alone(person, own, alone, mentioned)
