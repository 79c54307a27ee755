"""Build the distributions and check them as a user would install them: ``make dist``."""
