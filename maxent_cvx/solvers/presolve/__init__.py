"""Presolve: bound propagation, redundant rows, aggregation of interchangeable terms, certificates of implied zeros."""
