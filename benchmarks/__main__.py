"""make bench: print speed as ratios to a peer, measured on the same data in the same run."""

from benchmarks import (
    cold,
    confdtree,
    fitting,
    kept,
    learners,
    memory,
    nearest_change,
    other_learners,
    scoring,
)

for part in (
    scoring,
    confdtree,
    nearest_change,
    fitting,
    kept,
    learners,
    other_learners,
    memory,
    cold,
):
    part.main()
