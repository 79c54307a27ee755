"""Random data frames with typed columns, and random pipelines over them, to test folding."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from keeptree.importers import keep, unwrap
from keeptree.importers.folding import fold

COLOURS = ["red", "green", "blue", "pink", "grey", "black"]


def draw_frame(rng, n=150):
    """Return a frame with numeric, positive, integer and text columns, and binary labels."""
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, n).round(1),
            "balance": rng.normal(0, 1000, n),
            "income": rng.lognormal(9, 1, n) + 1,
            "rooms": rng.integers(1, 6, n),
            "colour": rng.choice(COLOURS[:5], n, p=[0.4, 0.3, 0.2, 0.05, 0.05]),
            "size": rng.choice(["S", "M", "L"], n),
            "id": [f"no {k}" for k in range(n)],
        }
    )
    gaps = rng.random(n) < 0.1
    frame["age"] = frame["age"].mask(rng.random(n) < 0.1)
    if rng.random() < 0.5:
        frame["colour"] = frame["colour"].mask(gaps, np.nan)
    score = (
        (frame["age"].fillna(30) > 38) * 1.0
        + frame["colour"].isin(["red", "pink"])
        + (frame["balance"].abs() > 800)
        + (frame["income"] > 12000)
        + (frame["size"] == "M") * (frame["rooms"] > 2)
    )
    return frame, (score + rng.normal(0, 0.5, n) > 2).astype(int)


def draw_numeric(rng):
    """Return a pipeline of one or two steps for numeric columns."""
    one = [
        lambda: StandardScaler(),
        lambda: MinMaxScaler((-1, 3), clip=bool(rng.integers(2))),
        lambda: MaxAbsScaler(),
        lambda: RobustScaler(),
        lambda: QuantileTransformer(n_quantiles=20, output_distribution="uniform"),
        lambda: QuantileTransformer(n_quantiles=30, output_distribution="normal"),
        lambda: PowerTransformer(),
        lambda: FunctionTransformer(
            [np.arcsinh, np.cbrt, np.negative, np.abs, np.floor, np.tanh, np.square][
                rng.integers(7)
            ]
        ),
        lambda: "passthrough",
    ]
    first = one[rng.integers(len(one))]()
    second = one[rng.integers(len(one))]() if rng.random() < 0.4 else "passthrough"
    return Pipeline([("first", first), ("second", second)])


def draw_bins(rng):
    """Return a discretiser after an imputer, because discretisers refuse missing values."""
    encode = ["onehot", "onehot-dense", "ordinal"][rng.integers(3)]
    bins = KBinsDiscretizer(4, encode=encode, quantile_method="averaged_inverted_cdf")
    return make_pipeline(SimpleImputer(), Binarizer(threshold=30) if rng.random() < 0.25 else bins)


def draw_encoder(rng):
    """Return a step for a nominal column."""
    one = [
        lambda: OneHotEncoder(),
        lambda: OneHotEncoder(drop="first", handle_unknown="ignore"),
        lambda: OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.1),
        lambda: OneHotEncoder(handle_unknown="ignore", max_categories=3, sparse_output=False),
        lambda: OrdinalEncoder(),
        lambda: OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
        ),
        lambda: TargetEncoder(random_state=0),
    ]
    encoder = one[rng.integers(len(one))]()
    if rng.random() < 0.4:
        strategy = {"strategy": "constant", "fill_value": "none"}
        imputer = SimpleImputer(
            **(strategy if rng.random() < 0.5 else {"strategy": "most_frequent"})
        )
        return make_pipeline(imputer, encoder)
    return encoder


def draw_pipeline(rng, missing_age=True):
    """Return an unfitted pipeline over the columns of draw_frame."""
    imputer = SimpleImputer(
        strategy=["mean", "median", "most_frequent", "constant"][rng.integers(4)],
        add_indicator=bool(rng.integers(2)),
    )
    age = make_pipeline(imputer, draw_numeric(rng)) if rng.random() < 0.6 else draw_numeric(rng)
    log = FunctionTransformer([np.log, np.log1p, np.sqrt, np.log10][rng.integers(4)])
    income = [log, PowerTransformer(method="box-cox"), make_pipeline(log, StandardScaler())]
    steps = [
        ("age", age, ["age"]),
        ("bins", draw_bins(rng), ["age", "balance"]),
        ("number", draw_numeric(rng), ["balance", "rooms"]),
        ("income", income[rng.integers(3)], slice("income", "income")),
        ("colour", draw_encoder(rng), ["colour"]),
        ("size", draw_encoder(rng), make_column_selector(pattern="size")),
        ("rooms", OneHotEncoder(handle_unknown="ignore"), ["rooms"]),
        ("id", "drop", ["id"]),
    ]
    both = FeatureUnion(
        [("scaled", StandardScaler()), ("ranks", QuantileTransformer(n_quantiles=10))]
    )
    steps.append(("both", both, ["balance", "income"]))
    kept = [step for step in steps if step[0] == "id" or rng.random() < 0.6]
    if len(kept) == 1:
        kept = steps
    columns = ColumnTransformer(kept, sparse_threshold=rng.random())
    after = [
        lambda: "passthrough",
        lambda: VarianceThreshold(),
        lambda: SelectKBest(f_classif, k="all"),
        lambda: StandardScaler(with_mean=False),
        lambda: MaxAbsScaler(),
    ]
    learner = DecisionTreeRegressor if rng.random() < 0.2 else DecisionTreeClassifier
    tree = learner(
        max_depth=int(rng.integers(1, 8)),
        min_samples_leaf=int(rng.integers(1, 5)),
        random_state=int(rng.integers(1000)),
    )
    chosen = after[rng.integers(len(after))]()
    return Pipeline([("columns", columns), ("after", chosen), ("tree", tree)])


def draw_fitted(rng):
    """Return a frame, labels and a pipeline fitted to them; None if a step refuses the frame."""
    frame, y = draw_frame(rng)
    pipeline = draw_pipeline(rng)
    try:
        return frame, y, pipeline.fit(frame, y)
    except ValueError:  # a step may not accept missing values
        return None


def folded(pipeline, X=None):
    """Return the result of folding a pipeline."""
    inner, steps = unwrap(pipeline)
    return fold(keep(inner), steps, X)


def probe_rows(frame, tree, rng, n=120):
    """Return raw rows at and beside every threshold of a folded tree.

    Values differ from a threshold by one ulp in float32 or float64. There are also missing values,
    unseen categories, zeros of both signs and very large numbers.
    """
    rows = frame.sample(n, replace=True, random_state=int(rng.integers(1 << 30)))
    rows = rows.reset_index(drop=True).astype({"rooms": float})
    for f, name in enumerate(tree.feature_names):
        if tree.categories[f] is None:
            values = special_numbers(tree.threshold[tree.feature == f])
        elif name == "rooms":
            values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.5, np.nan]
        else:
            known = [label for label in tree.categories[f] if label != "(other)"]
            values = [*known, "violet", np.nan]
        chosen = rng.random(n) < 0.5
        picked = rng.integers(len(values), size=n)
        column = rows[name].tolist()
        rows[name] = [values[k] if c else v for c, k, v in zip(chosen, picked, column, strict=True)]
    return rows


def special_numbers(thresholds):
    """Return the thresholds, their neighbours in float64 and float32, and extreme numbers."""
    single = thresholds.astype(np.float32)
    beside = [np.nextafter(single, np.float32(side)).astype(float) for side in (-np.inf, np.inf)]
    near = [np.nextafter(thresholds, side) for side in (-np.inf, np.inf)]
    values = np.concatenate([thresholds, *near, single.astype(float), *beside])
    values = values[np.isfinite(values) & (np.abs(values) < 1e308)]
    return np.concatenate([values, [0.0, -0.0, 1e300, -1e300, 1e-300, -3.5, np.nan]])


def pipeline_leaves(pipeline, rows):
    """Return the leaf of each row that the pipeline accepts, and the positions of these rows."""
    try:
        return pipeline[-1].apply(pipeline[:-1].transform(rows)), np.arange(len(rows))
    except (ValueError, TypeError):
        if len(rows) == 1:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    half = len(rows) // 2
    first, second = (pipeline_leaves(pipeline, part) for part in (rows[:half], rows[half:]))
    return np.append(first[0], second[0]), np.append(first[1], second[1] + half)
