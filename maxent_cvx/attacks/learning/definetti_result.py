"""What the deFinetti attack infers, and how it came to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from ..result import AttackResult

__all__ = ["DeFinettiResult"]


@dataclass(frozen=True, eq=False, repr=False)
class DeFinettiResult(AttackResult):
    """P(s | bucket, QI tuple) by a model that was learnt from the release alone: :func:`~maxent_cvx.attacks.definetti`.

    Attributes
    ----------
    table, baseline, records, error
        As of every attack; the baseline is the bucket's shares, n(s, b) / n(b). The error is 0: probabilities are exact
        over the worlds as the model weighs them. How right the model is, `judge` says.
    log : DataFrame
        A row an iteration: `change`, the largest of any probability; `log_likelihood` of what is published, nats;
        `objective`, which naive Bayes also adds the smoothing to, and which never falls then.
    converged : bool
        Whether the last change was within the tolerance.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> found = mx.attacks.definetti(release, iterations=2)
    >>> found.converged, found.log["objective"].is_monotonic_increasing
    (False, True)
    """

    log: pd.DataFrame
    converged: bool

    title: ClassVar[str] = "deFinetti attack"

    @property
    def sentence(self) -> str:
        """What was found, in words, and whether it would still change."""
        end = "converged" if self.converged else f"last changed by {self.log['change'].iloc[-1]:.1g}"
        return f"{super().sentence}; {len(self.log)} iterations, {end}"
