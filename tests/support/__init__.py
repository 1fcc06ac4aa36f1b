"""What the tests have in common: models, tables, oracles, and how errors are looked at."""
