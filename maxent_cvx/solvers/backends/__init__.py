"""The table of solvers by name, and solvers of one's own."""
