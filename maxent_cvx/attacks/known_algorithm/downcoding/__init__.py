"""Downcoding: which exact quasi-identifiers a generalised record has, if the algorithm that generalised it is known."""
