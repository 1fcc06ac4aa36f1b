"""Who of a population is in the data, and what is learnt of those who are, and of those who are not."""
