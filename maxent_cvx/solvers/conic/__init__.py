"""The dual Newton method as a solver of CVXPY, for entropies under linear constraints."""
