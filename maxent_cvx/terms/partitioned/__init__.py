"""The space of one partition, and what sources must know of the others to say there what they say of the whole."""
