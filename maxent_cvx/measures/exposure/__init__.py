"""Who is exposed: people of whom an adversary infers a sensitive value, whose baseline is below a threshold."""
