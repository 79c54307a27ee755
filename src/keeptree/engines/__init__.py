"""Models at work on data files of any size."""
