"""Sums over all ways through layers of states, forwards and backwards, as of a hidden Markov chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Layer", "backwards", "drawn", "forwards"]


@dataclass(frozen=True, eq=False)
class Layer:
    """Every step from a state to one of the next layer, by an option.

    Attributes
    ----------
    source, option, target : ndarray of int
        One a step.
    weight : ndarray
        Of each option.
    n_targets : int
    """

    source: np.ndarray
    option: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    n_targets: int


def forwards(layers: list[Layer]) -> tuple[list[np.ndarray], float]:
    """The sum over all ways that lead to each state, from one state in the beginning.

    Returns
    -------
    sums : list of ndarray
        One a layer and one of the end, each scaled to sum to 1.
    log_total : float
        The logarithm of the sum over all ways to the end; minus infinity if there is none.
    """
    sums, log_total = [np.ones(1)], 0.0
    for layer in layers:
        step = sums[-1][layer.source] * layer.weight[layer.option]
        found = np.bincount(layer.target, step, layer.n_targets)
        if not (total := float(found.sum())):
            return sums, -np.inf
        sums.append(found / total)
        log_total += float(np.log(total))
    return sums, log_total


def backwards(layers: list[Layer], sums: list[np.ndarray], end: np.ndarray) -> list[np.ndarray]:
    """The share of all ways that take each option in each layer, if ways that end in a state count as `end` says."""
    shares = []
    after = end
    for layer, before in zip(layers[::-1], sums[-2::-1], strict=True):
        step = layer.weight[layer.option] * after[layer.target]
        through = np.bincount(layer.option, before[layer.source] * step, len(layer.weight))
        shares.append(through / through.sum())
        after = np.bincount(layer.source, step, len(before))
        after = after / after.max()
    return shares[::-1]


def drawn(layers: list[Layer], sums: list[np.ndarray], end: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw ways that end in given states, in proportion to their weights: the options of each layer.

    Parameters
    ----------
    layers, sums
        And what :func:`forwards` found.
    end : ndarray of int
        The last state of each way.
    rng : Generator
    """
    options, state = [], end
    for layer, before in zip(layers[::-1], sums[-2::-1], strict=True):
        order = np.argsort(layer.target, kind="stable")
        until = np.cumsum((before[layer.source] * layer.weight[layer.option])[order])
        first = np.searchsorted(layer.target[order], np.arange(layer.n_targets + 1))
        low, high = np.concatenate([[0.0], until])[first[state]], until[first[state + 1] - 1]
        step = np.searchsorted(until, low + rng.random(len(state)) * (high - low), side="right")
        step = order[np.clip(step, first[state], first[state + 1] - 1)]
        options.append(layer.option[step])
        state = layer.source[step]
    return options[::-1]
