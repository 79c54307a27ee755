"""Build the distributions and check them as users receive them: ``make dist``."""
