"""The model: what an adversary knows, solved, bounded, explained, saved."""
