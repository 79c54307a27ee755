"""Random damage, data and command lines; what may come out is an answer or one clear error."""
