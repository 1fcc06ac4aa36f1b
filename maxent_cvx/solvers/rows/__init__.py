"""Rows of a linear system: where they come from, exact rational arithmetic on them, reductions over their entries."""
