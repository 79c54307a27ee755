"""Make the pictures of the README and the guide again: make pictures (needs Chromium).

Those of docs/quality.md are drawn by ``make quality``, those of docs/reproduction.md by
``python -m reproduction``.
"""

from docs.images import (
    confdtree,
    evaluation,
    gallery,
    oblique,
    probability,
    report,
    story,
    surfaces,
    tutorials,
)

ALL = (surfaces, probability, confdtree, evaluation, gallery, oblique, report, story, tutorials)
for made in ALL:
    print(made.__name__, flush=True)
    made.main()
