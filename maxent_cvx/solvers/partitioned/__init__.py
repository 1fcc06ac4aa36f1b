"""The same problem in partitions: maps over what each holds, reductions of one number a row of knowledge."""
