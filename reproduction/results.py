"""The rows of finished tasks, as arrays over samples."""

import numpy as np


class Results:
    """Values of every data set, tree and method, one per sample.

    Parameters
    ----------
    records : list of dict
        What :func:`keeptree.evaluation.runner.run` returns.

    Attributes
    ----------
    datasets : list of str
        Those with at least one finished task.
    failures : list of str
        One sentence for each task that failed.
    """

    def __init__(self, records):
        self.failures = [
            f"{_task_name(record['task'])}: {record['error']}"
            for record in records
            if "error" in record
        ]
        self._rows = {}
        for record in sorted(records, key=lambda record: record["task"]["sample"]):
            for row in record.get("rows", ()):
                key = (record["task"]["dataset"], row["tree"], row["method"])
                self._rows.setdefault(key, []).append(row)
        self.datasets = list(dict.fromkeys(dataset for dataset, _, _ in self._rows))

    def values(self, dataset, tree, method, field):
        """Return a field over the samples, NaN where a sample has none.

        Parameters
        ----------
        dataset, tree, method, field : str
            Which rows, and what of them.

        Returns
        -------
        values : ndarray of shape (n_samples, ...)
        """
        rows = self._rows[dataset, tree, method]
        return np.array([np.nan if row.get(field) is None else row[field] for row in rows])


def _task_name(task):
    return ", ".join(f"{key} {value}" for key, value in task.items())
