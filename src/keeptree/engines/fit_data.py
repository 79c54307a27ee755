"""Fit a model to files larger than memory, as ``keeptree fit --sample`` and ``--engine`` do."""

from contextlib import contextmanager
from importlib import import_module

from keeptree.choice import one_of
from keeptree.data.labels import rename_classes
from keeptree.data.source import as_data_file
from keeptree.engines.fitting import fit_table
from keeptree.engines.jobs import find_data, one_sentence
from keeptree.output import require_extra
from keeptree.probability.methods import make_method

ENGINES = ("local", "dask", "spark")


def fit_data(
    data,
    target,
    *,
    tree=None,
    method="kept",
    nominal=(),
    drop=(),
    labels=None,
    costs=None,
    engine="local",
    options=None,
    sample=1_000_000,
    random_state=0,
):
    """Fit a classifier to a file, a folder or a glob of CSV or Parquet files of any size.

    Parameters
    ----------
    data : str, Path or DataFile
        The files; for engines other than ``"local"``, anything that the engine can open.
    target, tree, method, nominal, drop, labels, costs
        As for :func:`~keeptree.fit_file`.
    engine : {"local", "dask", "spark"}, default="local"
        Engine that reads and counts the rows.
    options : dict, optional
        Options of the engine, as for :func:`~keeptree.predict_file`.
    sample, random_state
        As for :func:`~keeptree.fit_table`.

    Returns
    -------
    model : classifier
        The fitted classifier.
    """
    require_extra("pandas", "pyarrow", extra="files")
    file, model = as_data_file(data), make_method(method, tree, costs)
    _refuse_dialects(file)
    text = [*nominal, *_text_columns(tree)]
    table = find_data(file, engine, text)
    opener = _open_local if engine == "local" else _module(engine).open_data
    with one_sentence(engine), opener(table, options or {}) as (rows, _):
        found = fit_table(
            model,
            rows,
            target,
            sample=sample,
            nominal=nominal,
            drop=drop,
            random_state=random_state,
        )
    rename_classes(found, labels or {})
    return found


def _module(engine):
    return import_module(f"keeptree.engines.{one_of(ENGINES, engine, 'engine')}")


@contextmanager
def _open_local(data, options):
    """Yield the pyarrow Dataset of some files, which is read block by block."""
    from pyarrow import csv, dataset, float64, string, types

    if options:
        raise ValueError(f"The local engine has no option {next(iter(options))!r}.")
    if data.kind == ".parquet":
        yield dataset.dataset(data.files), None
        return
    # Integers in the first rows may be followed by fractions.
    first = dataset.dataset(data.files, format="csv").schema
    kinds = {f.name: float64() for f in first if types.is_integer(f.type)}
    kinds |= {name: string() for name in data.text if name in first.names}
    convert = csv.ConvertOptions(column_types=kinds, strings_can_be_null=True)
    reading = dataset.CsvFileFormat(convert_options=convert)
    yield dataset.dataset(data.files, format=reading), None


def _text_columns(tree):
    names, categories = getattr(tree, "feature_names", None), getattr(tree, "categories", None)
    if names is None or categories is None:
        return []
    return [name for name, labels in zip(names, categories, strict=True) if labels is not None]


def _refuse_dialects(file):
    given = list(file.given())
    if given:
        raise ValueError(
            f"--{given[0]} applies to files that are read as a whole; samples are drawn from "
            f"plain CSV or Parquet files."
        )
