"""Who is exposed: people of whom an adversary infers a sensitive value, which nobody would have guessed anyway."""
