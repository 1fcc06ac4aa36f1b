"""What surrounds the mathematics: files that are written as a whole, progress bars, and several processes."""
