"""Compare models on a data file, as ``keeptree compare`` does."""

import json
import warnings
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec

from keeptree.data.cases import read_cases
from keeptree.data.labels import find_class, label_names, name_classes, plain
from keeptree.data.source import as_data_file
from keeptree.data.training import read_training
from keeptree.evaluation.comparison import DEFAULT_METRICS, compare
from keeptree.evaluation.displays import (
    LearningDisplay,
    MeanRocDisplay,
    PairedDifferenceDisplay,
    ReliabilityDisplay,
)
from keeptree.evaluation.fitted import as_classifier, compare_fitted
from keeptree.evaluation.learning import learning_curve
from keeptree.evaluation.metrics import cost_metric, find_metrics
from keeptree.evaluation.models import make_models
from keeptree.evaluation.preparation import read_classes
from keeptree.evaluation.tables import finite
from keeptree.output import install_command, replacing, user_path, write_text
from keeptree.probability.costs import read_costs
from keeptree.progress import step
from keeptree.saving import load
from keeptree.text import clean


def compare_file(
    path,
    target,
    out="keeptree-compare",
    *,
    models=None,
    metrics=DEFAULT_METRICS,
    costs=None,
    learning=None,
    nominal=(),
    drop=(),
    positive=None,
    labels=None,
    **options,
):
    """Compare models on a data file.

    Parameters
    ----------
    path : str, Path or DataFile
        Data file; see :func:`keeptree.data.frame.read_frame`.
    target : str
        Column of the class.
    out : str or Path
        Output folder, created if necessary. Every finished fit
        is stored in ``results.jsonl``, so that the same call resumes after an interruption.
    models : list of str, optional
        Models to compare, by their names in ``keeptree.evaluation.models.MODELS``.
    metrics : list of str
        Metrics to compute, by their names in ``keeptree.evaluation.METRICS``.
    costs : array-like or dict, optional
        Costs by true class (row) and predicted class (column), or by name as in
        :class:`~keeptree.KeptTreeClassifier`; adds the mean cost of a case.
    learning : {"arithmetic", "geometric"}, optional
        Also draw learning curves on this schedule.
    nominal : sequence of str
        Numeric columns to read as categories.
    drop : sequence of str
        Columns to ignore, such as an identifier.
    positive : str, optional
        Positive class of a two-class problem, as written in the file.
    labels : dict of str to str, optional
        Class as written in the file -> display name.
    **options
        Passed to :func:`~keeptree.evaluation.compare`.

    Returns
    -------
    comparison : Comparison
        Result of the comparison.
    files : list of Path
        Files that were written.
    """
    with step("Reading the data"):
        X, y, _ = read_training(path, target, nominal, drop)
    classes = read_classes(y)[1]
    names = label_names(classes, labels or {}, name_classes(classes, target))
    models = make_models(models, X)
    measured = {**find_metrics(metrics)}
    if costs is not None:
        measured["cost"] = cost_metric(read_costs(costs, classes))
    drawn = find_metrics(["confusion", "reliability", "roc"])
    if positive is not None:
        options["positive"] = find_class(positive, classes)
    with _folder(out) as folder:
        options["results"] = folder / "results.jsonl"
        comparison = compare(models, X, y, metrics={**measured, **drawn}, **options)
        curve = None
        if learning is not None:
            options.pop("baseline", None)
            curve = learning_curve(models, X, y, sizes=learning, metrics=measured, **options)
        named = dict(zip(map(plain, classes), names, strict=True))
        return comparison, _write(
            folder, f"{as_data_file(path).name}: {target}", comparison, curve, named
        )


def compare_saved(path, target, models, **options):
    """Compare saved models and trees on a data file that none of them has seen.

    Parameters
    ----------
    path : str, Path or DataFile
        Held-out cases; each model reads its own columns.
    target : str
        Column of the true class.
    models : list of str or Path
        Files written by :func:`~keeptree.save` or :meth:`~keeptree.Tree.save`.
    **options
        Passed to :func:`~keeptree.evaluation.compare_fitted`.

    Returns
    -------
    comparison : FittedComparison
        Result of the comparison; the models are named as given.
    """
    names = list(map(str, models))
    if len(set(names)) < len(names):
        raise ValueError("The same file is given twice; give different models.")
    with step("Reading the models"):
        found = {name: as_classifier(load(name)) for name in names}
    with step("Reading the data"):
        cases = {name: _read_for(name, model, path, target) for name, model in found.items()}
    tables = {name: X for name, (X, _) in cases.items()}
    return compare_fitted(found, tables, cases[names[0]][1], **options)


def _read_for(name, model, path, target):
    try:
        return read_cases(model, path, target)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


@contextmanager
def _folder(path):
    """Create a folder for the block, and remove it again if it stays empty."""
    path = user_path(path).absolute()
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file; give the name of a folder to write to.")
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield path
    finally:
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


@step("Writing tables and pictures")
def _write(out, title, comparison, curve, names):
    pictures, shown = {}, [names[label] for label in comparison.labels]
    if find_spec("matplotlib"):
        pictures = _pictures(replace(comparison, labels=shown), curve)
    else:
        warnings.warn(
            "The pictures are left out because matplotlib is not installed; run: "
            f"{install_command('plot')}",
            stacklevel=3,
        )
    text = [f"# {clean(title)}", "", comparison.to_markdown()]
    figures = {"title": title, "class_names": shown, **comparison.to_dict()}
    if curve is not None:
        text += ["## Learning curves: means ± standard errors", "", curve.to_markdown()]
        figures["learning"] = finite(curve.points())
    text += [f"![{name}]({name}.png)\n" for name in pictures]
    write_text(out / "comparison.md", "\n".join(text))
    write_text(out / "comparison.json", json.dumps(figures, indent=1, allow_nan=False) + "\n")
    written = [out / "comparison.md", out / "comparison.json"]
    for name, figure in pictures.items():
        written.append(out / f"{name}.png")
        with replacing(written[-1]) as temporary:
            figure.savefig(temporary, format="png", dpi=150)
    return written


def _pictures(comparison, curve):
    """Return the figures by name; some need several models, or probabilities."""
    draw = {
        "roc": MeanRocDisplay.from_comparison,
        "reliability": ReliabilityDisplay.from_comparison,
    }
    if len(comparison.models) > 1 and comparison.n_splits > 1:
        draw = {"differences": PairedDifferenceDisplay.from_comparison, **draw}
    figures = {}
    for name, display in draw.items():
        try:
            figures[name] = display(comparison).figure_
        except ValueError:  # no model has such a curve
            continue
    if curve is not None:
        figures["learning"] = LearningDisplay.from_curve(curve).figure_
    return figures
