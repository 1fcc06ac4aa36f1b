"""Experiments: one model after another, and what changes from one to the next."""
