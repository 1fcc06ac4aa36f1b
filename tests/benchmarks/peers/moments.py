"""Distributions of given moments: ``python -m tests.benchmarks.peers.moments``.

    die         Jaynes' die of a given mean: one equation in one unknown, by SciPy's brentq
    levels      a Boltzmann distribution: the mean energy of many levels, the same way
    density     on a grid of [-1, 1], with the means of the first powers; by Newton's method on the dual
    species     means of features of a landscape to within a band (Phillips, Anderson and Schapire 2006): the dual
                with an absolute penalty, by SciPy's L-BFGS-B on its positive and negative parts
    dense       --moments means of random features over very many outcomes; by Newton's method on the dual

Newton's method is SciPy's trust-exact on log sum exp, to a gradient of 1e-10. The columns are those of
:mod:`.comparing`.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.optimize
from scipy.special import logsumexp, softmax

from .comparing import CLARABEL, Comparison, Peer, compare, parser

#: The half width of the band, in standard deviations of a feature.
BAND = 0.05


def levels(n: int, mean: float) -> cp.Problem:
    """Maximise H(p), where sum k p_k is given; n = 6 and 4.5 are Jaynes' die (Brandeis lectures, 1962)."""
    p = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, np.arange(1, n + 1) @ p == mean])


def by_root(n: int, mean: float) -> np.ndarray:
    """p_k = exp(-b k) / Z: the one multiplier is the root of the mean."""
    energies = np.arange(1.0, n + 1)
    reach = 700 / n
    root = scipy.optimize.brentq(lambda b: softmax(-b * energies) @ energies - mean, -reach, reach, xtol=1e-15)
    return softmax(-root * energies)


def powers(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Legendre polynomials of degree 1 to k on a grid, and their means under two bumps."""
    grid = np.linspace(-1, 1, n)
    features = np.polynomial.legendre.legvander(grid, k)[:, 1:].T
    bumps = np.exp(-(((grid + 0.4) / 0.15) ** 2) / 2) + 0.6 * np.exp(-(((grid - 0.5) / 0.1) ** 2) / 2)
    return features, features @ (bumps / bumps.sum())


def landscape(n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standardised features of n cells, their means where a species was seen, and the band."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(k, n)).cumsum(axis=1)
    features = (features - features.mean(axis=1, keepdims=True)) / features.std(axis=1, keepdims=True)
    seen = rng.choice(n, 200, p=softmax(features[: min(3, k)].sum(axis=0)))
    return features, features[:, seen].mean(axis=1), np.full(k, BAND)


def posed(features: np.ndarray, means: np.ndarray) -> cp.Problem:
    """Maximise H(p), where the features have given means."""
    p = cp.Variable(features.shape[1])
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, features @ p == means])


def density(n: int, k: int) -> cp.Problem:
    return posed(*powers(n, k))


def species(n: int, k: int) -> cp.Problem:
    p = cp.Variable(n)
    features, means, band = landscape(n, k)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, cp.abs(features @ p - means) <= band])


def random_features(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Random features of n outcomes, and their means."""
    rng = np.random.default_rng(0)
    features, truth = rng.normal(size=(k, n)), rng.random(n) ** 4
    return features, features @ (truth / truth.sum())


def dense(n: int, k: int) -> cp.Problem:
    return posed(*random_features(n, k))


def dual(m: np.ndarray, features: np.ndarray, means: np.ndarray) -> tuple[float, np.ndarray]:
    """The value of log sum exp(m' features) - m' means, and its gradient."""
    exponent = m @ features
    return logsumexp(exponent) - m @ means, features @ softmax(exponent) - means


def minimised(features: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Minimise log sum exp(m' features) - m' means by trust-exact; the distribution of the multipliers."""

    def hessian(m: np.ndarray) -> np.ndarray:
        p = softmax(m @ features)
        mean = features @ p
        return (features * p) @ features.T - np.outer(mean, mean)

    solution = scipy.optimize.minimize(
        lambda m: dual(m, features, means), np.zeros(len(means)), jac=True, hess=hessian, method="trust-exact",
        options={"gtol": 1e-10},
    )  # fmt: skip
    return softmax(solution.x @ features)


def density_by_dual(n: int, k: int) -> np.ndarray:
    return minimised(*powers(n, k))


def dense_by_dual(n: int, k: int) -> np.ndarray:
    return minimised(*random_features(n, k))


def species_by_dual(n: int, k: int) -> np.ndarray:
    """Minimise log sum exp(m' f) - m' means + band' |m|, m = a - b, a, b >= 0."""
    features, means, band = landscape(n, k)

    def value(parts: np.ndarray) -> tuple[float, np.ndarray]:
        at, slope = dual(parts[:k] - parts[k:], features, means)
        return at + band @ (parts[:k] + parts[k:]), np.concatenate([slope + band, band - slope])

    options = {"ftol": 0.0, "gtol": 1e-11, "maxiter": 20_000, "maxfun": 50_000}
    solution = scipy.optimize.minimize(
        value, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * k), options=options
    )
    return softmax((solution.x[:k] - solution.x[k:]) @ features)


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    options = parser(__doc__)
    options.add_argument("--outcomes", type=int, nargs="+", default=[1_000, 100_000])
    options.add_argument("--moments", type=int, default=20, help="of the dense problem, and features of the landscape")
    options.add_argument("--powers", type=int, default=8, help="of the density")
    options.add_argument("--clarabel", type=int, default=1_000, help="most outcomes of problems CLARABEL is given")
    args = options.parse_args(arguments)
    root, newton = Peer("brentq", by_root), "trust-exact on the dual"
    comparisons = [Comparison("die", "6", levels, (6, 4.5), (root, CLARABEL))]
    for n in args.outcomes:
        conic = (CLARABEL,) if n <= args.clarabel else ()
        with_moments = f"{n:,} x {args.moments}"
        comparisons += [
            Comparison("levels", f"{n:,}", levels, (n, n / 20), (root, *conic)),
            Comparison("density", f"{n:,} x {args.powers}", density, (n, args.powers),
                       (Peer(newton, density_by_dual), *conic)),
            Comparison("species", with_moments, species, (n, args.moments),
                       (Peer("L-BFGS-B on the dual", species_by_dual), *conic)),
            Comparison("dense", with_moments, dense, (n, args.moments), (Peer(newton, dense_by_dual), *conic)),
        ]  # fmt: skip
    return compare(comparisons, args.together)


if __name__ == "__main__":
    main()
