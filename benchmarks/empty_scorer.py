"""A scorer that does nothing, to measure the cost of an engine without a model."""

import numpy as np

from keeptree.engines.table import Request, TableScorer
from keeptree.saving import from_json


class EmptyScorer(TableScorer):
    """A scorer that returns zeros for every row."""

    def score_frame(self, frame):
        return {name: np.zeros(len(frame), kind) for name, kind in self._kinds().items()}

    def answer_batch(self, batch):
        import pyarrow as pa

        kinds = self._kinds().items()
        return {name: pa.array(np.zeros(batch.num_rows, kind)) for name, kind in kinds}

    def _kinds(self):
        return {name: np.dtype(kind) for name, kind in self.answers.items()}


class EmptyRequest(Request):
    """A request whose scorer is empty."""

    def packed(self):
        return EmptyRequest(super().packed().model, self.keep, self.distance, self.labels)

    def scorer(self, names):
        model = from_json(self.model) if isinstance(self.model, str) else self.model
        return EmptyScorer(self, model, tuple(names))
