"""Reports: ``collect`` turns models and held-out data into a dict, ``render`` draws the dict."""
