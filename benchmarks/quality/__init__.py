"""make quality: how good the probabilities of a kept tree are."""
