"""DUAL_NEWTON beside the methods of its users' fields, a file a field; docs/reference/comparisons.md has the tables."""
