"""Published statistics of a number: quantiles, means with standard deviations, correlations."""
