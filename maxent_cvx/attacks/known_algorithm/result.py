"""What an algorithm that is known tells: probabilities, and how many assignments remain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ..result import AttackResult

__all__ = ["MinimalityResult", "worlds_of"]


@dataclass(frozen=True, eq=False, repr=False)
class MinimalityResult(AttackResult):
    """P(s | q, release, algorithm), beside what the release says without its algorithm.

    Attributes
    ----------
    table, baseline, records, error
        As of any :class:`maxent_cvx.attacks.AttackResult`: rows are QI tuples.
    worlds : DataFrame
        Of each bucket: `part`, equal for those of which the algorithm tells something together; how many assignments
        of values to people the part has (`log10_all`), and of how many of these the algorithm makes the release
        (`log10_left`, NaN where it is sampled, or a prior weighs them), decimal logarithms. The parts are independent
        of each other.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 30, 40, 50], "HIV": ["yes", "yes", "no", "no"]})
    >>> algorithm = partial(mx.disguise.mondrian, qi="Age", sa="HIV", k=2, l=2)
    >>> result = mx.attacks.minimality(algorithm(people), algorithm, population=people)
    >>> result                                   # who was cut off would have been alike: two tables of six
    <minimality of 4 records: the likeliest value has a probability of 0.50 on average, 0.50 without the attack>
    >>> print((10 ** result.worlds[["log10_all", "log10_left"]]).round().to_string(index=False))
     log10_all  log10_left
           6.0         2.0
    """

    worlds: pd.DataFrame

    title: ClassVar[str | None] = "minimality"


def worlds_of(buckets: pd.Index, part: np.ndarray, log_all: np.ndarray, log_left: np.ndarray) -> pd.DataFrame:
    """The table of assignments, from natural logarithms, one a bucket."""
    columns = {"part": part, "log10_all": log_all / np.log(10), "log10_left": log_left / np.log(10)}
    return pd.DataFrame(columns, index=buckets)
