"""What a published view says of its people, and what is true of whoever is named."""
