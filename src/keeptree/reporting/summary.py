"""The first thing a reader sees: three sentences drawn from the measured figures."""

from keeptree.reporting.quality import METRICS

_PROBABILITY_METRICS = (("brier", "Brier score"), ("log_loss", "log-loss"))


def summarise(data):
    """Return three sentences: the tree, its decisions and our ranking, the probabilities."""
    rows = {row["key"]: row for row in data["methods"]}
    own, ours = data["methods"][0], rows["kernel-global"]
    tree, decided, gain = data["tree"], data["decisions"], data["ranking_gain"]
    questions = f"{tree['max_depth']} question{'' if tree['max_depth'] == 1 else 's'}"
    kept = "is unchanged" if tree["unchanged"] else "was CHANGED, which must not happen"
    first = f"This tree asks at most {questions}, has {tree['n_leaves']} leaves and {kept}."
    second = (
        f"On {data['n_test']} held-out cases it decided {100 * decided['accuracy']:.0f} in 100 "
        f"correctly (95 % interval {100 * decided['low']:.0f} to {100 * decided['high']:.0f}); the "
        f"distance kernel {_verdict(gain['low'], gain['high'])} (AUC {ours['auc']:.3f} against "
        f"{own['auc']:.3f}; 95 % interval of the difference {_signed(gain['low'])} to "
        f"{_signed(gain['high'])})."
    )
    leaves = [row for row in data["methods"] if row["family"] == "leaves"]
    parts = [
        _against_leaves(ours, leaves, "brier", "the distance kernel's Brier score"),
        _against_leaves(ours, leaves, "log_loss", "its log-loss"),
    ]
    return [first, second, f"As a probability, {' and '.join(parts)}{_losses(rows, leaves)}."]


def _verdict(low, high):
    """What a 95 % interval of a gain allows to say, in the digits shown."""
    if round(low, 3) > 0:
        return "ranks them better than its leaves do"
    if round(high, 3) < 0:
        return "ranks them worse than its leaves do"
    return "ranks them with no clear difference from its leaves"


def _against_leaves(ours, leaves, key, name):
    """``its log-loss (0.214) beats the best of the leaves (Shrinkage, 0.241)``."""
    best = min(leaves, key=lambda row: row[key])
    a, b = _shown(ours, key), _shown(best, key)
    verb = "equals" if a == b else "beats" if float(a) < float(b) else "loses to"
    return f"{name} ({a}) {verb} the best of the leaves ({best['label']}, {b})"


def _losses(rows, leaves):
    """Where the separator variant is worse than the best of the leaves, said as plainly."""
    worse = [
        f"{name} ({_shown(rows['kernel-separator'], key)})"
        for key, name in _PROBABILITY_METRICS
        if float(_shown(rows["kernel-separator"], key))
        > min(float(_shown(row, key)) for row in leaves)
    ]
    return f"; the separator variant loses on {' and '.join(worse)}" if worse else ""


def _shown(row, key):
    return f"{row[key]:.{METRICS[key][1]}f}"


def _signed(value):
    return f"{value:+.3f}".replace("-", "−")
