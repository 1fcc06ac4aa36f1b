"""The registry of solvers by name, and the adapter for solvers from outside the package."""
