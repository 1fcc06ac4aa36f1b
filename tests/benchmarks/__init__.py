"""Measurements: scripts that print ratios within one run. Never asserted as times; smoke-run by the tests."""
