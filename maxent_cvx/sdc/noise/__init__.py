"""Noise that is added to every record, and Bayes' rule for who knows how."""
