"""Build what is published, and check it as its users get it: ``make dist``."""
