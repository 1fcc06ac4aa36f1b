"""Random models of all kinds, each from a seed: what :mod:`tests.benchmarks.honesty` attacks certificates with."""
