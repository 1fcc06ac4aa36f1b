"""One group, of whose tuples sentences are known."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from ...errors import number
from ..groups import Groups, some_world
from ..linked import impossible
from ..sentences.naming import Knowledge
from ..sentences.residuals import Residuals
from ..sentences.syntax import Sentence
from .conflict import contradiction
from .places import Place
from .rest import Rest
from .sweep import Conditioned, conditioned

__all__ = ["known_posterior"]


def known_posterior(group: pd.DataFrame, values: Sequence[Hashable], knowledge: object, limit: float) -> pd.DataFrame:
    """P(t : x) given the sentences, see :func:`maxent_cvx.worlds.posterior`."""
    one, signature, column = Groups.single(group, values)
    known = Knowledge.of(knowledge, group.index, group.columns, "tuple of the group")
    if not some_world(one.prior > 0, one.tuples.data, one.values.data):
        raise impossible(one.names)
    with np.errstate(divide="ignore"):
        rest = Rest(np.log(one.prior), one.tuples.data, one.values.data, "the group", number(limit, "limit"))
    place, u = _place(known.people, signature, column, rest, group.shape[1])
    residuals = Residuals()

    def having(sentences: list[Sentence]) -> Conditioned:
        true = residuals.every(residuals.of(sentence, known.positions) for sentence in sentences)
        return conditioned([place], residuals, true, rest.limit)

    found = having(known.sentences)
    if np.isinf(found.log_total):
        raise contradiction(known.sentences, lambda some: np.isfinite(having(some).log_total))
    _, c, share = found.taken[0]
    possible = share > 0
    log_weight = rest.log_weights(np.broadcast_to(u, (int(possible.sum()), len(u))), c[possible])
    table = np.zeros(group.shape)
    table[:, column] = rest.shares(u, c[possible], share[possible], log_weight)[signature]
    table[known.people] = place.of_values(found.shares[0])
    return pd.DataFrame(table, index=group.index, columns=group.columns)


def _place(
    named: np.ndarray, signature: np.ndarray, column: np.ndarray, rest: Rest, n_values: int
) -> tuple[Place, np.ndarray]:
    """The group, as those see it whom sentences name; and how many of them have each signature."""
    of_kind, kind = np.unique(signature[named], return_inverse=True)
    room = np.bincount(kind.reshape(-1), minlength=len(of_kind))
    signatures = np.eye(len(rest.tuples), dtype=np.int64)[of_kind]
    place = Place(
        people=named,
        kind=kind.reshape(-1),
        room=room,
        classes=column,
        left=rest.places,
        log_prior=rest.log_prior[of_kind],
        others=np.zeros(n_values),
        log_rest=lambda u, c: rest.log_weights(u @ signatures, c),
    )
    return place, room @ signatures
