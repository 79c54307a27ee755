"""The .632 bootstrap: cases that were left out, mixed with the cases that were learned from."""

from keeptree.evaluation.metrics import CURVES

LEFT_OUT = 0.632  # 1 - 1/e: the share of the cases that a bootstrap sample holds


def mix_resubstitution(rows, split):
    """Return the rows of bootstrap samples as estimates of the .632 bootstrap.

    Parameters
    ----------
    rows : list of dict
        Of a comparison; those of ``split`` are of models that were fitted and tested on all cases.
    split : int
        Number of that split, which is taken out.

    Returns
    -------
    rows : list of dict
        Values are 0.632 times that of the cases left out plus 0.368 times that of all cases;
        curves stay those of the cases left out.

    Examples
    --------
    >>> rows = [{"split": 0, "model": "m", "metric": "accuracy", "value": 0.5},
    ...         {"split": 1, "model": "m", "metric": "accuracy", "value": 1.0}]
    >>> mix_resubstitution(rows, 1)
    [{'split': 0, 'model': 'm', 'metric': 'accuracy', 'value': 0.68...}]
    """
    apparent = {(r["model"], r["metric"]): r["value"] for r in rows if r["split"] == split}
    return [
        row if row["metric"] in CURVES else {**row, "value": _mix(row, apparent)}
        for row in rows
        if row["split"] != split
    ]


def _mix(row, apparent):
    seen, unseen = apparent.get((row["model"], row["metric"])), row["value"]
    if seen is None or unseen is None:
        return None
    return LEFT_OUT * unseen + (1 - LEFT_OUT) * seen
