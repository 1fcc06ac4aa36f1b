"""The dual Newton method as a solver that CVXPY calls, for entropies under linear constraints."""
