"""Random damage, data and command lines, which must give a valid result or one clear error."""
