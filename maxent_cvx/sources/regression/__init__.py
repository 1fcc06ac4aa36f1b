"""What is published of a regression: coefficients, and the score equations that they solve."""
