"""Breaches: how far the probability of a single value, or of a set of values, has moved for anybody."""

from __future__ import annotations

import math

import numpy as np

from .beliefs import Beliefs
from .measured import Measured, largest

__all__ = ["distance", "gamma", "log_ratio", "ratio", "rho2", "rho2_of_sets"]


def ratio(prior: Beliefs, post: Beliefs) -> Measured:
    """The largest P1(s | q) / P0(s | q); infinite where only P0 is 0, and nothing where both are."""
    value, low, high = _quotient(post.nonzero, prior.nonzero), *_ratios(prior, post)
    return largest(_or(value, -np.inf), _or(low, 0.0), _or(high, 0.0))


def log_ratio(prior: Beliefs, post: Beliefs) -> Measured:
    """The largest size of ln(P1(s | q) / P0(s | q)), nats; infinite where one of them is 0, nothing where both are."""
    with np.errstate(divide="ignore"):
        value = np.abs(np.log(_quotient(post.nonzero, prior.nonzero)))
        low, high = (np.log(end) for end in _ratios(prior, post))
    least = np.maximum(np.maximum(_or(low, -np.inf), -_or(high, np.inf)), 0.0)
    most = np.maximum(_or(high, np.inf), -_or(low, -np.inf))
    both_are_zero = (post.high == 0) & (prior.high == 0)
    return largest(_or(value, -np.inf), least, np.where(both_are_zero, 0.0, most))


def rho2(prior: Beliefs, post: Beliefs, rho1: float) -> Measured:
    """The largest P1(s | q) where P0(s | q) <= rho1."""
    at_most = _at_most(prior, rho1)
    return largest(*(np.where(mask, p, -np.inf) for mask, p in zip(at_most, _three(post), strict=True)))


def rho2_of_sets(prior: Beliefs, post: Beliefs, rho1: float, of_values: Measured) -> Measured:
    """An upper bound on P1(A | q) of every set A of values with P0(A | q) <= rho1: sets may hold shares of values.

    The best of these is Dantzig's for the knapsack problem: values in the order of P1 / P0, until rho1 is spent.
    """
    if math.isnan(of_values.value):
        return of_values
    value = _filled(prior.p, post.p, rho1 + float(prior.slack.max(initial=0.0)))
    most = float(_filled(prior.p, post.p, rho1 + prior.bound).max(initial=0.0)) + post.bound
    row = int(value.argmax())
    return Measured(min(float(value[row]), 1.0), of_values.low, min(most, 1.0), row)  # of an upper bound, 1 is another


def gamma(prior: Beliefs, post: Beliefs, d: float) -> Measured:
    """The least gamma with d / gamma <= P1 / P0 and P1 <= gamma wherever P0(s | q) <= d."""
    share = [(prior.nonzero, post.nonzero), (prior.low, post.high), (prior.high, post.low)]
    return largest(
        *(
            np.where(mask, np.maximum(p, _or(_quotient(d * before, after), 0.0)), -np.inf)
            for mask, p, (before, after) in zip(_at_most(prior, d), _three(post), share, strict=True)
        )
    )


def distance(value: np.ndarray, bound: float) -> Measured:
    """The largest of some distances, each off by at most the bound."""
    row = int(value.argmax())
    most = float(value[row])
    return Measured(most, max(most - bound, 0.0), min(most + bound, 1.0), row)


def _three(beliefs: Beliefs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The probabilities, the least and the most that they can be."""
    return beliefs.p, beliefs.low, beliefs.high


def _at_most(prior: Beliefs, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the prior is at most a threshold; where it is for certain; where it can be."""
    return prior.p - prior.slack <= threshold, prior.high <= threshold, prior.low <= threshold


def _quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide: infinite where only the divisor is 0, NaN where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(above / below)


def _ratios(prior: Beliefs, post: Beliefs) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most that each P1 / P0 can be."""
    return _quotient(post.low, prior.high), _quotient(post.high, prior.low)


def _or(table: np.ndarray, number: float) -> np.ndarray:
    """The table with a number in place of NaN."""
    return np.where(np.isnan(table), number, table)


def _filled(p0: np.ndarray, p1: np.ndarray, budget: float) -> np.ndarray:
    """The most of p1 that can be had for the budget, a row each; single values above it cannot."""
    p1 = np.where(p0 <= budget, p1, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(p1 / p0, nan=0.0, posinf=np.inf), axis=1, kind="stable")
        price, worth = np.take_along_axis(p0, order, axis=1), np.take_along_axis(p1, order, axis=1)
        left = budget - (np.cumsum(price, axis=1) - price)
        share = np.clip(np.where(price > 0, left / price, 1.0), 0.0, 1.0)
    return np.asarray((share * worth).sum(axis=1))
