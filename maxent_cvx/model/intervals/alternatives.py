"""Knowledge that is a disjunction: one of several sets of rows is true, and the source's own rows are a relaxation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import Infeasible, NotDecided
from ...sources import Custom
from ..adversary import Adversary

__all__ = ["has_alternatives", "over_alternatives"]

#: How many models are asked at most, one a choice of alternatives.
MOST = 1000


def has_alternatives(model: Adversary) -> bool:
    """Whether a source of the model is a disjunction."""
    return any(len(found) > 1 for found in _choices(model).values())


def over_alternatives(model: Adversary, ask: Callable[[Adversary], np.ndarray]) -> np.ndarray:
    """The least and the largest values over all choices of alternatives.

    Parameters
    ----------
    model : Adversary
    ask : callable
        From a model with a choice made to the least and the largest value of each expression, shape (2, expressions).

    Returns
    -------
    ndarray, shape (2, expressions)

    Raises
    ------
    Infeasible
        If all choices are.
    NotDecided
        If there are too many choices.
    """
    found, refused = [], None
    for one in _each(model):
        try:
            found.append(ask(one))
        except Infeasible as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return np.stack([np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0)])


def _choices(model: Adversary) -> dict[str, list[Any]]:
    """The alternatives of every source that has some, by its label."""
    sources = {label: getattr(source, "alternatives", None) for label, source in model.knowledge.items()}
    return {label: told(model.space) for label, told in sources.items() if told is not None}


def _always(rows: list[Any]) -> Callable[[object], list[Any]]:
    """A function of the space that gives these rows."""
    return lambda space: rows


def _each(model: Adversary) -> Iterator[Adversary]:
    """The model with each choice made."""
    choices = {label: found for label, found in _choices(model).items() if len(found) > 1}
    if (number := math.prod(map(len, choices.values()))) > MOST:
        raise NotDecided(
            f"there are {number} combinations of what {', '.join(choices)} can mean, more than the {MOST} that are "
            "tried; ask without integer=True, or for fewer of them at a time"
        )
    for chosen in itertools.product(*choices.values()):
        one = model.copy()
        for label, rows in zip(choices, chosen, strict=True):
            one.remove(label).add(Custom(_always(rows)), label=label)
        yield one
