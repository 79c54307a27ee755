"""make quality: measure how good the probabilities of a kept tree are."""
