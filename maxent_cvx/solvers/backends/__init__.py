"""The registry of solvers by name; CVXPY's solvers, and the adapter for solvers from outside the package."""
