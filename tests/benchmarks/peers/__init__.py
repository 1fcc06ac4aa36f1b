"""DUAL_NEWTON beside methods of other fields, one module per field; docs/benchmarks.md has the results."""
