"""Short phrases of a report, as ``js/words.js`` says them too."""

from keeptree.text import in_hundred, plural


def shown_class(p, positive):
    """Return the class whose probability is told: of two the positive, of more the likeliest."""
    return positive if len(p) == 2 else max(range(len(p)), key=p.__getitem__)


def estimate_text(p, classes, positive):
    """Return ``malignant 58 in 100``."""
    chosen = shown_class(p, positive)
    return f"{classes[chosen]['label']} {in_hundred(p[chosen])}"


def rows_text(data):
    """Return what single cases the file holds."""
    if not data["rows"]:
        return "None: no value of a single case is in this file."
    parts = []
    width = len(data["attributes"])
    if data["cases"]:
        parts.append(
            f"{len(data['cases'])} of {plural(data['n_test'], 'held-out case')} with "
            f"{plural(width, 'attribute')} each"
        )
    model = data["whatif"]["model"]
    if model is not None and model.get("rows"):
        parts.append(f"{plural(model['rows'], 'training row')} x {plural(width, 'attribute')}")
    return f"{'; '.join(parts)}." if parts else "None."
