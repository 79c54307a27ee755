"""Redraw the pictures of the README and the guide: make pictures (needs Chromium).

``make quality`` draws the pictures of docs/quality.md, and ``python -m reproduction`` those of
docs/reproduction.md.
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
