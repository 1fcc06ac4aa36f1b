"""Published statistics: answers of databases, noisy tables, randomized responses."""
