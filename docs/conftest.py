"""Pytest reads the Markdown pages as doctests; what the site's build makes or needs is left out."""

collect_ignore = ["api", "conf.py", "gallery"]
