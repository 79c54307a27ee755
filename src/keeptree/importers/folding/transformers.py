"""Describe scikit-learn's transformers column by column.

For each transformer, a function ``(step, columns) -> columns`` tells from which input each output
is computed, and between which numbers the output is monotone. The fitted transformer itself
computes the values.
"""

from dataclasses import replace

import numpy as np
import scipy.special

from keeptree.data.labels import is_missing, label_kind, plain
from keeptree.importers.folding.derived import Link, spread
from keeptree.importers.folding.floats import before


class CannotFoldError(ValueError):
    """Raised for a pipeline step that cannot be folded into the tests of its tree."""


# NumPy functions, and the points between which they are monotone; some are undefined beyond.
_ZERO, _ONE = before(0.0), before(1.0)
_UFUNCS = {
    **dict.fromkeys([np.log, np.log2, np.log10, np.sqrt], (_ZERO,)),
    **dict.fromkeys([np.absolute, np.fabs, np.square, np.cosh], (0.0,)),
    **dict.fromkeys([np.arcsin, np.arccos, np.arctanh], (before(-1.0), 1.0)),
    **dict.fromkeys([np.exp, np.exp2, np.expm1, np.cbrt, np.sinh, np.tanh], ()),
    **dict.fromkeys([np.arctan, np.arcsinh, np.deg2rad, np.rad2deg, np.degrees, np.radians], ()),
    **dict.fromkeys([np.negative, np.positive, np.floor, np.ceil, np.trunc, np.rint, np.sign], ()),
    np.log1p: (before(-1.0),),
    np.arccosh: (_ONE,),
    np.reciprocal: (_ZERO, 0.0),
    scipy.special.cbrt: (),
    scipy.special.exp10: (),
    scipy.special.exp2: (),
    scipy.special.expit: (),
    scipy.special.expm1: (),
    scipy.special.log1p: (before(-1.0),),
    scipy.special.logit: (_ZERO, 1.0),
    scipy.special.ndtr: (),
    scipy.special.ndtri: (_ZERO, 1.0),
}


def read_step(name, step, columns):
    """Return the columns after a fitted step.

    Parameters
    ----------
    name : str
        Name of the step.
    step : fitted transformer, "passthrough" or None
        Step to read.
    columns : list of Derived
        Input columns of the step.

    Returns
    -------
    columns : list of Derived
        Output columns in order. Steps that cannot be folded raise a CannotFoldError.
    """
    if step is None or isinstance(step, str):
        return [] if step == "drop" else columns
    for base in type(step).__mro__:
        read = _READERS.get(f"{base.__module__}.{base.__qualname__}")
        if read is not None:
            return read(name, step, columns)
        if "transform" in vars(base):  # a subclass may have its own transform
            break
    raise _cannot(name, step)


def _cannot(name, step, why="a step must compute each of its columns from a single raw column"):
    """Return the error for a step that cannot be folded."""
    return CannotFoldError(
        f"Cannot fold the step {name!r} ({type(step).__name__}) into the tests of the tree: {why}; "
        "keep(pipeline, fold=False) gives the tree of the transformed columns."
    )


def _continue(step, columns, sources, cuts=None, fuzzy=False):
    """Return the columns that a step computes from the inputs ``sources``, with new cuts."""
    width, sparse = len(columns), any(column.sparse for column in columns)
    gives_sparse = Link(step, width, 0, 0, sparse=sparse).gives_sparse()
    if sparse:  # some steps do not change the zeros of a sparse matrix
        cuts = [np.append(c, [_ZERO, 0.0]) for c in cuts or [()] * width]
    if cuts is None:
        new = [column.cuts for column in columns]
    else:
        found = spread(columns, [np.asarray(values, dtype=np.float64) for values in cuts])
        new = [np.append(c.cuts, f) for c, f in zip(columns, found, strict=True)]
    return [
        columns[j].then(Link(step, width, j, k, fuzzy, sparse), cuts=new[j], sparse=gives_sparse)
        for k, j in enumerate(sources)
    ]


def _monotone(name, step, columns):
    return _continue(step, columns, range(len(columns)))


def _quantiles(name, step, columns):
    # Where two segments meet, rounding may decrease the result slightly.
    cuts = [np.concatenate([before(q), q]) for q in step.quantiles_.T]
    fuzzy = step.output_distribution == "normal"
    return _continue(step, columns, range(len(columns)), cuts, fuzzy)


def _power(name, step, columns):
    cut = 0.0 if step.method == "box-cox" else _ZERO
    return _continue(step, columns, range(len(columns)), [[cut]] * len(columns), fuzzy=True)


def _function(name, step, columns):
    if step.func is None:
        return columns
    try:
        cuts = _UFUNCS.get(step.func)
    except TypeError:  # an unhashable function cannot be looked up
        cuts = None
    if cuts is None or step.kw_args:
        function = getattr(step.func, "__name__", repr(step.func))
        raise _cannot(name, step, f"{function} is not among the monotone functions of NumPy")
    return _continue(step, columns, range(len(columns)), [cuts] * len(columns), fuzzy=True)


def _bins(name, step, columns):
    if step.encode == "ordinal":
        return _monotone(name, step, columns)
    sources = np.repeat(np.arange(len(columns)), step.n_bins_)
    cuts = [before(np.asarray(edges, dtype=np.float64)[1:-1]) for edges in step.bin_edges_]
    return _continue(step, columns, sources, cuts)


def _imputed(name, step, columns):
    kept = np.arange(len(columns))
    if not step.keep_empty_features:
        kept = kept[[not is_missing(value) for value in step.statistics_]]
    indicated = step.indicator_.features_ if step.add_indicator else []
    made = _continue(step, _marked(step, columns), [*kept, *indicated])
    for k, j in enumerate(kept):  # an imputer does not change numbers
        made[k] = replace(made[k], keeps_values=columns[j].keeps_values)
    return made[: len(kept)] + [replace(column, only_missing=True) for column in made[len(kept) :]]


def _indicated(name, step, columns):
    made = _continue(step, _marked(step, columns), step.features_)
    return [replace(column, only_missing=True) for column in made]


def _marked(step, columns):
    """Return the columns with the value that an imputer treats as missing."""
    mark = plain(step.missing_values)
    if is_missing(mark):
        return [column.with_missing(mark) for column in columns]
    cuts = [before(float(mark)), float(mark)] if label_kind(mark) == "numbers" else []
    found = spread(columns, [np.array(cuts)] * len(columns))
    return [column.with_mark(mark, points) for column, points in zip(columns, found, strict=True)]


def _ordinal(name, step, columns):
    return _continue(step, _told_apart(step, columns), range(len(columns)))


def _one_hot(name, step, columns):
    infrequent = getattr(step, "infrequent_categories_", [None] * len(columns))
    dropped = [None] * len(columns) if step.drop_idx_ is None else step.drop_idx_
    width = [
        len(labels) - (0 if few is None else len(few) - 1) - (drop is not None)
        for labels, few, drop in zip(step.categories_, infrequent, dropped, strict=True)
    ]
    return _continue(step, _told_apart(step, columns), np.repeat(np.arange(len(columns)), width))


def _target_means(name, step, columns):
    outputs = len(step.encodings_) // len(columns)
    return _continue(step, _told_apart(step, columns), np.repeat(np.arange(len(columns)), outputs))


def _told_apart(step, columns):
    """Return the columns with the labels that an encoder distinguishes."""
    known = [[_label(v) for v in labels if not is_missing(v)] for labels in step.categories_]
    cuts = [
        np.array([[before(float(v)), float(v)] for v in labels if label_kind(v) == "numbers"])
        for labels in known
    ]
    found = spread(columns, [points.ravel() for points in cuts])
    for j, labels in enumerate(step.categories_):
        if any(label is None for label in labels.tolist()):
            columns = [*columns[:j], columns[j].with_missing(None), *columns[j + 1 :]]
    return [c.with_labels(k, f) for c, k, f in zip(columns, known, found, strict=True)]


def _label(value):
    """Return a label in the form that its encoder recognises."""
    # An encoder fitted to NumPy's dates knows only these, not Python's.
    return value if isinstance(value, np.datetime64) else plain(value)


def _selected(name, step, columns):
    return [columns[j] for j in step.get_support(indices=True)]


def _pipeline(name, pipeline, columns):
    for inner, step in pipeline.steps:
        columns = read_step(inner, step, columns)
    return columns


def _union(name, union, columns):
    if union.transformer_weights:
        raise _cannot(name, union, "it has transformer_weights")
    parts = [read_step(inner, step, columns) for inner, step in union.transformer_list]
    made = [column for part in parts for column in part]
    return _in_one_matrix(made, any(column.sparse for column in made))


def _column_transformer(name, transformer, columns):
    if transformer.transformer_weights:
        raise _cannot(name, transformer, "it has transformer_weights")
    names = list(getattr(transformer, "feature_names_in_", ()))
    made = {}
    for inner, step, wanted in transformer.transformers_:
        chosen = _chosen(wanted, names, len(columns))
        if len(chosen):
            made[inner] = read_step(inner, step, [columns[j] for j in chosen])
    order = sorted(made, key=lambda inner: transformer.output_indices_[inner].start)
    together = [column for inner in order for column in made[inner]]
    return _in_one_matrix(together, transformer.sparse_output_)


def _in_one_matrix(columns, sparse):
    return [replace(column, sparse=sparse) for column in columns]


def _chosen(wanted, names, width):
    """Return the positions of the columns that a ColumnTransformer passes to a step."""
    if isinstance(wanted, slice):
        ends = (wanted.start, wanted.stop)
        if any(isinstance(end, str) for end in ends):
            start, stop = (None if end is None else names.index(end) for end in ends)
            wanted = slice(start, None if stop is None else stop + 1)
        return np.arange(width)[wanted]
    wanted = np.atleast_1d(np.asarray(wanted, dtype=object))
    if len(wanted) and all(isinstance(name, str) for name in wanted):
        return np.array([names.index(name) for name in wanted])
    masked = len(wanted) and all(isinstance(entry, bool | np.bool_) for entry in wanted)
    return np.arange(width)[wanted.astype(bool if masked else np.int64)]


_READERS = {
    "sklearn.compose._column_transformer.ColumnTransformer": _column_transformer,
    "sklearn.feature_selection._base.SelectorMixin": _selected,
    "sklearn.frozen._frozen.FrozenEstimator": lambda name, step, columns: read_step(
        name, step.estimator, columns
    ),
    "sklearn.impute._base.MissingIndicator": _indicated,
    "sklearn.impute._base.SimpleImputer": _imputed,
    "sklearn.pipeline.FeatureUnion": _union,
    "sklearn.pipeline.Pipeline": _pipeline,
    "sklearn.preprocessing._data.Binarizer": _monotone,
    "sklearn.preprocessing._data.MaxAbsScaler": _monotone,
    "sklearn.preprocessing._data.MinMaxScaler": _monotone,
    "sklearn.preprocessing._data.PowerTransformer": _power,
    "sklearn.preprocessing._data.QuantileTransformer": _quantiles,
    "sklearn.preprocessing._data.RobustScaler": _monotone,
    "sklearn.preprocessing._data.StandardScaler": _monotone,
    "sklearn.preprocessing._discretization.KBinsDiscretizer": _bins,
    "sklearn.preprocessing._encoders.OneHotEncoder": _one_hot,
    "sklearn.preprocessing._encoders.OrdinalEncoder": _ordinal,
    "sklearn.preprocessing._function_transformer.FunctionTransformer": _function,
    "sklearn.preprocessing._target_encoder.TargetEncoder": _target_means,
}
