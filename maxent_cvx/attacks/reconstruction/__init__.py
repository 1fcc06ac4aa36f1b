"""Records reconstructed from published tables: statements about them, the integer program, and what it finds."""
