"""Run the Markdown pages as doctests, except files that the site's build generates or needs."""

collect_ignore = ["api", "conf.py", "gallery"]
