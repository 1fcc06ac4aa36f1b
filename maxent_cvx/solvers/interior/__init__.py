"""An interior-point method for cone programs with exponential cones, where there is more than entropies."""
