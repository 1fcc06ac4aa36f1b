"""Helpers that belong to no concept: tables, checks of arguments, errors, files, formatting."""
