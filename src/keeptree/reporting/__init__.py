"""Reports: ``collect`` gathers the results in a dict, ``render`` turns it into a page."""
