"""Presolve: bounds, redundant rows, terms that nothing tells apart aggregated, proofs that terms are zero."""
