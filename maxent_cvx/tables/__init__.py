"""From DataFrames to codes, numbers and choices of values; the lattice of patterns; the miner of associations."""
