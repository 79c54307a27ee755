"""Short phrases of a report, as ``js/words.js`` says them too."""

from keeptree.text import in_hundred, plain_number, plural


def shown_class(p, positive):
    """Return the class whose probability is told: of two the positive, of more the likeliest."""
    return positive if len(p) == 2 else max(range(len(p)), key=p.__getitem__)


def class_text(label):
    """Return a label as it stands before a number: ``malignant``, ``class 1``.

    Examples
    --------
    >>> class_text("malignant"), class_text("1")
    ('malignant', 'class 1')
    """
    return f"class {label}" if label[:1] in "+-.0123456789" else label


def estimate_text(p, classes, positive):
    """Return ``malignant 58 in 100``."""
    chosen = shown_class(p, positive)
    return f"{class_text(classes[chosen]['label'])} {in_hundred(p[chosen])}"


def distance_text(distance):
    """Return a distance in two digits; a tiny one is only said to be tiny.

    Examples
    --------
    >>> distance_text(0.0712), distance_text(0.00002), distance_text(0.0)
    ('0.071', 'under 0.001', '0')
    """
    return "under 0.001" if 0 < distance < 0.001 else plain_number(distance, 2)


def case_distance(case):
    """Return the distance of a case; where a value is not known, only the least it can be."""
    return f"{'≥ ' if case['least'] else ''}{distance_text(case['distance'])}"


def rows_text(data):
    """Return what single cases the file holds."""
    if not data["rows"]:
        return (
            "None. Of single cases it has decision, probability and distance; of each attribute "
            "its range, median and histogram."
        )
    width = len(data["attributes"])
    if width == 0:
        return "None: the tree tests no attribute."
    parts = []
    if data["cases"]:
        parts.append(
            f"{len(data['cases'])} of {plural(data['n_test'], 'held-out case')} with "
            f"{plural(width, 'attribute')} each"
        )
    model = data["whatif"]["model"]
    if model is not None and model.get("rows"):
        parts.append(f"{plural(model['rows'], 'training row')} x {plural(width, 'attribute')}")
    return f"{'; '.join(parts)}." if parts else "None."
