"""What is true of the world, as far as this package goes."""
