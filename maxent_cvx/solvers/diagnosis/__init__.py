"""Explanations: contradictory rows, rows that force terms to zero, multipliers recovered from counts."""
