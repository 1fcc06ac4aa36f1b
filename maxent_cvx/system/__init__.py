"""What surrounds the mathematics: files that are written as a whole, and progress bars."""
