"""Every constant of the solvers: tolerances, limits of size, and what steers the dual methods."""
