"""What several randomized releases of the same people tell: ``python -m tests.benchmarks.randomized_again``.

Everybody's occupation in Adult is kept with a probability, or else drawn from all values, anew in each release, and the
releases are linked (by pseudonyms, or because everybody's quasi-identifiers are unique). By Bayes's rule, with the true
frequencies as prior: `right` is the share of people whose likeliest value is the true one, `said` its mean probability,
`sure` the share of whom a value has a probability above 0.9.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import maxent_cvx as mx

SA = "occupation"


def case(people: pd.DataFrame, kept: float, releases: int) -> dict[str, object]:
    """One row of the table."""
    share = people[SA].value_counts(normalize=True).sort_index()
    flip = pd.DataFrame(kept * np.eye(len(share)) + (1 - kept) / len(share), index=share.index, columns=share.index)
    log_p = np.tile(np.log(share.to_numpy()), (len(people), 1))
    for seed in range(releases):
        told = mx.anonymize.randomize(people, sa=SA, transition=flip, seed=seed)
        log_p += np.log(flip.to_numpy()[:, share.index.get_indexer(told)].T)
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    right = share.index.to_numpy()[p.argmax(axis=1)] == people[SA].to_numpy()
    return {
        "kept": kept, "releases": releases, "right": right.mean(), "without": share.max(), "said": p.max(axis=1).mean(),
        "sure": (p.max(axis=1) > 0.9).mean(),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=30_162)
    parser.add_argument("--kept", type=float, nargs="+", default=[1 / 3])
    parser.add_argument("--releases", type=int, nargs="+", default=[1, 2, 3, 5, 10])
    options = parser.parse_args(arguments)
    people = mx.datasets.load_adult().sample(options.records, random_state=0)
    found = pd.DataFrame([case(people, kept, releases) for kept in options.kept for releases in options.releases])
    print(found.round(3).to_string(index=False))
    return found


if __name__ == "__main__":
    main()
