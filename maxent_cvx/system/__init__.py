"""What the computer does around the mathematics: files that are written whole, progress that is shown."""
