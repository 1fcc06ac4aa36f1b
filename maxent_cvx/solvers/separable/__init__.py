"""Sums of entropies over rows and bounds, in the logarithmic domain, for problems that come from CVXPY."""
