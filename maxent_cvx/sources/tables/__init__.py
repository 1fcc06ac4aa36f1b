"""Contingency tables as statistical offices publish them: margins, suppressed and rounded cells."""
