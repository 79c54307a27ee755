"""Post-hoc classifiers: one file per method, on one thin base; the tree is never changed."""
