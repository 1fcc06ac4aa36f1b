"""CVXPY's solvers as backends, the problem in CVXPY's terms, and convex constraints linearised at the solution."""
