"""make bench: speed as ratios to a peer on the same data, in the same run."""

from benchmarks import confdtree, fitting, learners, memory, other_learners, scoring

for part in (scoring, confdtree, fitting, learners, other_learners, memory):
    part.main()
