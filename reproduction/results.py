"""The rows of finished tasks, as arrays over samples."""

import numpy as np

# All other fields are rounded to 6 digits.
DIGITS = {"areas": 5, "kappa": 4, "hits_and_errors": 4, "affected": 4}


def round_row(row):
    """Return a row rounded to the digits that the file of raw results keeps.

    Parameters
    ----------
    row : dict
        Values of one method on one sample.

    Returns
    -------
    row : dict

    Examples
    --------
    >>> round_row({"method": "tree", "leaves": 3, "auc": 0.123456789})
    {'method': 'tree', 'leaves': 3, 'auc': 0.123457}
    """
    return {name: _round(value, DIGITS.get(name, 6)) for name, value in row.items()}


class Results:
    """Values of every data set, tree and method, one per sample.

    Parameters
    ----------
    records : list of dict
        Records that :func:`keeptree.evaluation.runner.run` returned.
    about : dict, optional
        Description of the samples: ``datasets``, ``unavailable``, ``enough``.

    Attributes
    ----------
    datasets : list of str
        Data sets with at least one finished task.
    unavailable : list of str
        Data sets that were requested but are not available.
    enough : bool
        Whether there are enough samples and data sets for verdicts.
    about : dict
        Description of each data set.
    failures : list of str
        One sentence for each task that failed.
    """

    def __init__(self, records, about=None):
        about = about or {}
        self.about = about.get("datasets", {})
        self.unavailable = list(about.get("unavailable", ()))
        self.enough = about.get("enough", True)
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

    def has(self, dataset, tree, method="C4.5"):
        """Return whether a method has rows."""
        return (dataset, tree, method) in self._rows

    def values(self, dataset, tree, method, field):
        """Return a field over the samples, NaN where a sample has none.

        Parameters
        ----------
        dataset, tree, method, field : str
            Data set, tree and method of the rows, and the field to return.

        Returns
        -------
        values : ndarray of shape (n_samples, ...)
        """
        rows = self._rows[dataset, tree, method]
        return np.array([np.nan if row.get(field) is None else row[field] for row in rows])


def _task_name(task):
    return ", ".join(f"{key} {value}" for key, value in task.items())


def _round(value, digits):
    if isinstance(value, list):
        return [round(part, digits) for part in value]
    return round(float(value), digits) if isinstance(value, float | np.floating) else value
