"""Why: inferences that are certain, what statements are worth, what would have to be given up."""
