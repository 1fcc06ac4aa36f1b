"""A model of a release in partitions: rows emitted, solved and asked partition by partition."""
