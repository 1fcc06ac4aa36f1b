"""CVXPY's solvers as backends, and convex constraints replaced by their tangents."""
