"""General helpers: tables, argument checks, errors, files, formatting."""
