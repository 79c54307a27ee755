"""Evaluation: protocols, metrics that scikit-learn lacks, significance tests, comparisons."""
