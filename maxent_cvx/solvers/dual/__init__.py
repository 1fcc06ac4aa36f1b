"""Solvers of the dual: Newton and L-BFGS, their line search, and terms that vanish on the way."""
