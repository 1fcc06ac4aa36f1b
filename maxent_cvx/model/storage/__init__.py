"""Posteriors in files: labels of every type, checked before anything is decoded."""
