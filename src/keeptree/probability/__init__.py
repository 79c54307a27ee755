"""Post-hoc classifiers, one file per method, on a thin base class; none changes the tree."""
