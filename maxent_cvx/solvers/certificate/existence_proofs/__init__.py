"""Proofs that exact rows have a solution near an imprecise one, component by component."""
