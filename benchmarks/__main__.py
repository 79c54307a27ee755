"""make bench: speed as ratios to scikit-learn's predict_proba on the same rows, in the same run."""

from benchmarks import confdtree, fitting, memory, scoring

for part in (scoring, confdtree, fitting, memory):
    part.main()
