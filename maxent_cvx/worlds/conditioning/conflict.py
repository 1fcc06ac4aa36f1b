"""Sentences that cannot all be true, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from ...errors import Infeasible, listing
from ..sentences.syntax import Sentence

__all__ = ["contradiction"]


def contradiction(sentences: Sequence[Sentence], possible: Callable[[list[Sentence]], bool]) -> Infeasible:
    """The error that no world has all sentences true, with some that clash, of which none can be spared.

    Parameters
    ----------
    sentences : list of Sentence
        All together are true in no world; none at all would be.
    possible : function
        Whether there is a world in which some of them are true.
    """
    clash = list(dict.fromkeys(sentences))
    for one in list(clash):
        if not possible(without := [other for other in clash if other is not one]):
            clash = without
    written = [str(sentence) for sentence in clash]
    what = "cannot be true" if len(clash) == 1 else "cannot all be true, though any of them can be spared"
    error = Infeasible(
        f"{listing(written)} {what}: no possible world of the groups in which these people may be has it so; correct "
        f"{'the sentence' if len(clash) == 1 else 'one of the sentences'}, or leave it out"
    )
    error.conflict = pd.DataFrame(index=pd.Index(written, dtype=object, name="statement"))
    return error
