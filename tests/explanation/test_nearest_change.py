"""No change is cheaper than the nearest one, which flips the decision and obeys all constraints."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import keeptree as kt
from tests.reference import nearest_change as reference
from tests.strategies import random_rows, random_tree

GRID = np.arange(-8, 9) / 4


@st.composite
def problems(draw, missing=0.0):
    """Return a small tree, a sample, a row and constraints as the user gives them.

    Hypothesis draws only a seed; otherwise most trees would be stumps with few constraints.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = int(rng.integers(1, 4))
    tree = random_tree(
        seed=rng.integers(2**32),
        n_leaves=int(rng.integers(1, 10)),
        n_classes=int(rng.integers(2, 5)),
        n_features=n_features,
        n_nominal=int(rng.integers(n_features + 1)),
        missing=str(rng.choice(["error", "share", "share", "child", "mixed"]))
        if missing
        else "error",
        compare_dtype=str(rng.choice(["float64", "float32"])),
        grid=[None, [0.0, 1.0, 2.0], np.arange(-10, 11) / 10][rng.integers(3)],
    )
    X = random_rows(tree, rng.integers(2**32), n=12)
    if rng.random() < 0.3:
        X = np.rint(X)  # columns of whole numbers stay whole
    row = random_rows(tree, rng.integers(2**32), n=1, missing=missing)[0]
    arguments = {
        "fixed": [],
        "bounds": {},
        "increase_only": [],
        "decrease_only": [],
        "costs": {},
        "steps": {},
        "within_data": bool(rng.integers(2)),
        "max_changes": [None, None, 1, 2][rng.integers(4)],
    }
    for f, labels in enumerate(tree.categories):
        if rng.random() < 0.1:
            arguments["fixed"].append(f)
        if rng.random() < 0.3:
            arguments["costs"][f] = float(rng.choice([0.5, 3.0]))
        if labels is not None:
            if rng.random() < 0.3:  # costs from each category (row) to each other one (column)
                matrix = rng.choice([0.5, 1.0, 4.0], (len(labels), len(labels)))
                arguments["costs"][f] = np.where(np.eye(len(labels)), 0.0, matrix)
            if rng.random() < 0.4:
                chosen = rng.choice(labels, size=rng.integers(1, len(labels) + 1), replace=False)
                arguments[str(rng.choice(["bounds", "steps"]))][f] = chosen.tolist()
            continue
        if rng.random() < 0.4:
            arguments["bounds"][f] = tuple(sorted(rng.choice(GRID, 2)))
        if rng.random() < 0.4:
            arguments["steps"][f] = [1, 0.1, 0.25, [-1.5, 0.3, 2.0]][rng.integers(4)]
        if rng.random() < 0.3:
            arguments[str(rng.choice(["increase_only", "decrease_only"]))].append(f)
    return tree, X, row, arguments


def rules_of(tree, X, arguments):
    """Return the constraints of each column in the form that the reference expects."""
    rules = []
    for f, labels in enumerate(tree.categories):
        seen = X[:, f]
        rule = {
            "fixed": f in arguments["fixed"],
            "cost": arguments["costs"].get(f, 1.0),
            "may_rise": f not in arguments["decrease_only"],
            "may_fall": f not in arguments["increase_only"],
            "grid": None,
        }
        if labels is not None:
            allowed = arguments["bounds"].get(f, arguments["steps"].get(f, labels))
            rule["permitted"] = [
                label in allowed
                and not rule["fixed"]
                and (k in seen or not arguments["within_data"])
                for k, label in enumerate(labels)
            ]
        else:
            low, high = arguments["bounds"].get(f, (-np.inf, np.inf))
            if arguments["within_data"]:
                low, high = max(low, seen.min()), min(high, seen.max())
            rule["bounds"] = low, high
            whole = arguments["within_data"] and (seen == np.rint(seen)).all()
            step = arguments["steps"].get(f, 1 if whole else None)
            if isinstance(step, list):
                rule["grid"] = step
            elif step is not None:
                rule["grid"] = [round(k * step, 10) for k in range(-120, 121)]
        rules.append(rule)
    return rules


def check(tree, X, row, arguments, target=None):
    try:
        own = tree.decide(row[None])[0]
    except ValueError:
        with pytest.raises(ValueError, match="no value for"):
            kt.nearest_change(tree, tree.decode(row[None])[0], X=tree.decode(X))
        return
    metric = kt.Metric().fit(X, tree)
    rules = rules_of(tree, X, arguments)
    wanted = None if target is None else int(np.flatnonzero(tree.classes == target)[0])
    least = reference.nearest_change(tree, row, rules, metric, wanted, arguments["max_changes"])
    x = tree.decode(row[None])[0]
    change = kt.nearest_change(tree, x, target, X=tree.decode(X), **arguments)
    assert change.cost == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert change.found == np.isfinite(least)
    assert change.sentence
    json.dumps(change.to_dict(), allow_nan=False)
    if not change.found or not change.changes:
        return
    for point in (change.point, change.rounded):
        encoded = tree.encode(np.array([point], dtype=object if tree.has_nominal else float))[0]
        label = tree.decide(encoded[None])[0]
        assert label != own
        assert wanted is None or label == wanted
        assert_allowed(tree, row, encoded, rules, arguments["max_changes"])
    exact = tree.encode(np.array([change.point], dtype=object if tree.has_nominal else float))[0]
    assert reference.cost(tree, row, exact, rules, metric) == pytest.approx(change.cost)
    assert np.sqrt(sum(move.cost**2 for move in change.changes)) == pytest.approx(change.cost)
    assert {move.feature for move in change.changes} == moved_columns(row, exact)


def moved_columns(row, point):
    return set(np.flatnonzero((point != row) & ~np.isnan(row)).tolist())


def assert_allowed(tree, row, point, rules, max_changes):
    moved = moved_columns(row, point)
    assert np.array_equal(np.isnan(row), np.isnan(point))
    assert max_changes is None or len(moved) <= max_changes
    for f in moved:
        rule = rules[f]
        assert not rule["fixed"]
        if tree.categories[f] is not None:
            assert rule["permitted"][int(point[f])]
            continue
        assert rule["bounds"][0] <= point[f] <= rule["bounds"][1]
        assert rule["may_rise"] if point[f] > row[f] else rule["may_fall"]
        if rule["grid"] is not None:
            assert point[f] in rule["grid"]


@settings(max_examples=150, deadline=None)
@given(problems())
def test_no_point_that_satisfies_the_constraints_is_nearer(problem):
    check(*problem)


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_no_point_of_the_target_class_that_satisfies_the_constraints_is_nearer(problem, data):
    check(*problem, target=data.draw(st.sampled_from(problem[0].classes.tolist())))


@settings(max_examples=200, deadline=None)
@given(problems(missing=0.4))
def test_no_point_that_satisfies_the_constraints_is_nearer_if_values_are_missing(problem):
    check(*problem)


@settings(max_examples=40, deadline=None)
@given(problems(missing=0.3), st.integers(2, 4))
def test_alternatives_are_sorted_by_cost_and_none_passes_through_another(problem, n):
    tree, X, row, arguments = problem
    try:
        own = tree.decide(row[None])[0]
    except ValueError:
        return
    first = kt.nearest_change(tree, tree.decode(row[None])[0], X=tree.decode(X), n=n, **arguments)
    all_of_them = [first, *first.alternatives]
    assert len(all_of_them) <= n
    assert [c.cost for c in all_of_them] == sorted(c.cost for c in all_of_them)
    points = [tree.encode(np.array([c.point], dtype=object))[0] for c in all_of_them if c.changes]
    for i, point in enumerate(points):
        assert tree.decide(point[None])[0] != own
        assert_allowed(tree, row, point, rules_of(tree, X, arguments), arguments["max_changes"])
        for other in points[:i]:
            on_the_way = [
                other[f] == point[f]
                if tree.categories[f] is not None
                else min(row[f], point[f]) <= other[f] <= max(row[f], point[f])
                for f in moved_columns(row, other)
            ]
            assert not all(on_the_way)


@settings(max_examples=40, deadline=None)
@given(problems(missing=0.1), st.integers(0, 2**32 - 1))
def test_a_table_gives_the_same_changes_as_its_rows_one_by_one(problem, seed):
    tree, X, _, arguments = problem
    rows = random_rows(tree, seed, n=20, missing=0.1)
    rows = np.array([row for row in rows if reference.routes(tree, row)]).reshape(
        -1, tree.n_features
    )
    if len(rows) == 0:
        return
    many = kt.nearest_change(tree, tree.decode(rows), X=tree.decode(X), n_jobs=2, **arguments)
    assert len(many) == len(rows)
    for i, row in enumerate(tree.decode(rows)):
        one = kt.nearest_change(tree, row, X=tree.decode(X), **arguments)
        assert many[i].to_dict() == one.to_dict()
        assert many.cost[i] == one.cost
        assert many.leaf[i] == one.leaf
        assert many.predicted[i] == one.predicted
        assert many.n_changes[i] == len(one.changes)
        assert np.array_equal(many.point[i].astype(str), one.point.astype(str))


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)
    return X, y, tree, kt.DistanceKernelClassifier(tree).fit(X, y)


def test_the_original_model_changes_its_decision_at_every_exact_and_rounded_point(cancer):
    X, _, tree, model = cancer
    changes = kt.nearest_change(model, X)
    before = tree.predict(X)
    point = pd.DataFrame(changes.point, columns=X.columns)
    assert (tree.predict(point) != before).all()
    rounded = pd.DataFrame([change.rounded for change in changes], columns=X.columns)
    assert (tree.predict(rounded) == tree.predict(point)).all()


def test_without_constraints_the_cost_is_the_distance_to_the_boundary(cancer):
    X, _, _, model = cancer
    cost = kt.nearest_change(model, X, within_data=False).cost
    assert cost == pytest.approx(model.boundary_.distance(X), rel=1e-6, abs=1e-6)


def test_the_sentence_gives_a_value_with_few_digits_that_changes_the_decision(cancer):
    X, _, tree, model = cancer
    change = kt.nearest_change(model, X.iloc[3])
    move = "worst texture falls from 26.50 to 25.67 (−0.83)"
    said = f"Becomes benign if {move}, with nothing else changed."
    assert change.sentence == str(change) == said
    read = X.iloc[[3]].copy()
    read["worst texture"] = float(re.search(r"to (\S+)", move)[1])
    assert tree.predict(read)[0] == "benign"
    assert change.changes[0].after > 25.67  # the exact value is a float32 number


def test_rounded_values_are_close_to_the_exact_ones(cancer):
    X, _, _, model = cancer
    moves = [move for change in kt.nearest_change(model, X.iloc[:50]) for move in change.changes]
    assert len(moves) >= 50
    for move in moves:
        assert abs(move.rounded - move.after) <= 0.02 * abs(move.after - move.before)


def test_the_probability_is_that_of_the_model_at_the_point(cancer):
    X, _, _, model = cancer
    change = kt.nearest_change(model, X.iloc[3])
    expected = model.predict_proba(pd.DataFrame([change.point], columns=X.columns))[0]
    assert [change.probability[c] for c in model.classes_] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["row", "dict", "list", "shuffled dict", "Tree", "sklearn"])
def test_a_case_can_be_given_in_any_form(cancer, kind):
    X, _, tree, model = cancer
    row = X.iloc[3]
    x = {
        "row": row,
        "dict": row.to_dict(),
        "list": row.tolist(),
        "shuffled dict": row.sample(frac=1, random_state=0).to_dict(),
    }.get(kind, row)
    given = {"Tree": kt.keep(tree), "sklearn": tree}.get(kind, model)
    sample = None if given is model else X
    assert kt.nearest_change(given, x, X=sample).cost == pytest.approx(0.135160334)


def test_a_model_without_a_boundary_uses_the_scale_and_range_of_its_sample(cancer):
    X, y, tree, model = cancer
    smoothed = kt.SmoothedTreeClassifier(tree).fit(X, y)
    assert np.array_equal(kt.nearest_change(smoothed, X).cost, kt.nearest_change(model, X).cost)


def test_print_warns_if_another_class_stays_more_probable_after_the_change(cancer):
    X, _, _, model = cancer
    changes = kt.nearest_change(model, X[:60], n=2)
    for change in changes:
        first, other = str(change).splitlines()
        for text, told in ((first, change), (other, change.alternatives[0])):
            likeliest = max(told.probability, key=told.probability.get)
            assert ("but our estimate for it would be" in text) == (likeliest != told.predicted)
    assert any("but our estimate" in str(change) for change in changes)
    assert not all("but our estimate" in str(change) for change in changes)


def test_if_no_change_is_allowed_the_sentence_names_the_attribute_to_unlock(cancer):
    X, _, _, model = cancer
    change = kt.nearest_change(model, X.iloc[3], fixed=list(X))
    assert not change.found
    assert change.cost == np.inf
    assert change.predicted == change.decided == "malignant"
    assert change.loosen[0] == ("fixed", "worst texture")
    assert "unlock worst texture" in change.sentence
    assert change.to_dict()["cost"] is None


def test_the_sentence_says_if_the_tree_is_constant_or_several_constraints_block_a_change():
    tree = random_tree(0, n_leaves=1)
    X = random_rows(tree, 0)
    assert "always decides" in kt.nearest_change(tree, X[0], X=X).sentence
    data = load_iris()
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(data.data, data.target)
    # Class 2 needs a petal width that the bounds and the steps both rule out.
    change = kt.nearest_change(
        model, data.data[0], 2, X=data.data, bounds={3: (0, 1)}, steps={3: [0.1, 0.5]}
    )
    assert change.loosen == ()
    assert "more than one constraint" in change.sentence


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"bounds": {"worst texture": (26, 30)}}, "widen the bounds of worst texture"),
        ({"increase_only": ["worst texture"]}, "let worst texture fall"),
        ({"steps": {"worst texture": [26.2]}}, "allow other values of worst texture"),
    ],
)
def test_the_hint_names_the_constraint(cancer, arguments, hint):
    X, _, _, model = cancer
    others = [name for name in X if name != "worst texture"]
    assert hint in kt.nearest_change(model, X.iloc[3], fixed=others, **arguments).sentence


def test_the_sentence_says_how_many_changes_are_needed_if_the_limit_is_too_low(cancer):
    X, _, _, model = cancer
    fixed = ["worst texture", "mean concave points"]
    change = kt.nearest_change(model, X.iloc[17], max_changes=1, fixed=fixed)
    assert ("max_changes", None) in change.loosen
    assert "allow 2 changes" in change.sentence


def test_a_case_that_already_has_the_class_needs_no_change(cancer):
    X, _, _, model = cancer
    change = kt.nearest_change(model, X.iloc[3], target="malignant")
    assert change.found
    assert (change.cost, change.changes) == (0.0, ())
    assert "already" in change.sentence


def test_the_sentence_says_if_the_tree_never_decides_the_target_class(cancer):
    tree = random_tree(1, n_leaves=3, n_classes=2)
    tree = kt.Tree.from_dict({**tree.to_dict(), "label": [0] * tree.n_nodes})
    X = random_rows(tree, 0)
    assert "never decides class 10" in kt.nearest_change(tree, X[0], 10, X=X).sentence


def test_values_stay_within_the_observed_range_unless_allowed_beyond_it():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    tree = kt.keep(DecisionTreeClassifier().fit(X, [0, 0, 0, 1]))
    sample = X[:3]  # no possible value lies above the threshold 2.5
    inside = kt.nearest_change(tree, [1.0], X=sample)
    assert not inside.found
    assert "go beyond the observed values of x[0]" in inside.sentence
    assert kt.nearest_change(tree, [1.0], X=sample, within_data=False).found


def test_the_largest_observed_value_is_allowed_although_float32_rounds_it_up():
    X = np.array([[0.0], [0.1], [0.1]])
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1])
    moved = kt.keep(tree).to_dict()
    just_below = float(np.nextafter(np.float32(0.1), np.float32(0)))
    moved["threshold"][0] = just_below
    change = kt.nearest_change(kt.Tree.from_dict(moved), [0.0], X=X)
    assert change.changes[0].after == 0.1


def test_a_value_outside_its_bounds_may_stay_there():
    X = np.column_stack([np.arange(10.0), np.arange(10.0)])
    tree = DecisionTreeClassifier(max_features=None).fit(X[:, [0, 0]] * [1, 0], np.arange(10) > 4)
    change = kt.nearest_change(tree, [1.0, 99.0], X=X, bounds={1: (0, 5)})
    assert [move.feature for move in change.changes] == [0]
    assert change.point[1] == 99.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fixed": ["worst txture"]}, "did you mean 'worst texture'"),
        ({"fixed": "worst texture"}, r"give \['worst texture'\]"),
        ({"fixed": [99]}, "99, which is not a column"),
        ({"bounds": {"worst texture": (3, 2)}}, "the smallest is above the largest"),
        ({"bounds": {"worst texture": 3}}, r"give \(smallest, largest\)"),
        ({"bounds": [3]}, "not a dict"),
        ({"costs": {"worst texture": 0}}, "positive finite"),
        ({"steps": {"worst texture": -1}}, "positive finite"),
        ({"steps": {"worst texture": []}}, "list of finite values"),
        ({"steps": {"worst texture": "abc"}}, "list of finite values"),
        ({"max_changes": 0}, "at least 1"),
        ({"n": 0}, "at least 1"),
        ({"target": "maligant"}, "not a class"),
        ({"target": ["benign", "malignant"]}, "one per row"),
        ({"metric": 3}, "not a metric"),
    ],
)
def test_invalid_arguments_raise_a_clear_error(cancer, arguments, message):
    X, _, _, model = cancer
    with pytest.raises(ValueError, match=message):
        kt.nearest_change(model, X.iloc[3], **arguments)


def test_a_tree_without_a_model_needs_a_sample(cancer):
    X, y, tree, _ = cancer
    with pytest.raises(ValueError, match="give X, a sample that defines the scale"):
        kt.nearest_change(tree, X.iloc[3])
    scales = kt.Metric(scales=X.std(ddof=0).to_numpy())
    with pytest.raises(ValueError, match="within_data=False"):
        kt.nearest_change(tree, X.iloc[3], metric=scales)
    change = kt.nearest_change(tree, X.iloc[3], metric=scales, within_data=False)
    assert change.cost == pytest.approx(0.135160334)
    with pytest.raises(ValueError, match="regression tree"):
        kt.nearest_change(DecisionTreeRegressor(max_depth=2).fit(X, y == "benign"), X.iloc[3], X=X)
    with pytest.raises(ValueError, match="naive Bayes"):
        kt.nearest_change(kt.NBTreeClassifier().fit(X.iloc[:60, :1], y[:60]), [3.0])


def test_a_pipeline_that_cannot_be_folded_is_refused_with_advice(cancer):
    X, y, _, _ = cancer
    pipeline = make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=2)).fit(X, y)
    with pytest.raises(ValueError, match=r"kt\.keep\(pipeline, fold=False\)"):
        kt.nearest_change(pipeline, X.iloc[3], X=X)


def test_the_nearest_change_of_a_folded_pipeline_is_in_raw_values(cancer):
    X, y, _, _ = cancer
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, y)
    change = kt.nearest_change(pipeline, X.iloc[3], X=X)
    moved = X.iloc[[3]].copy()
    for step in change.changes:
        assert step.before == X.iloc[3][step.name]
        moved[step.name] = step.after
    assert pipeline.predict(moved)[0] != pipeline.predict(X.iloc[[3]])[0]


def test_the_cheapest_allowed_category_is_chosen():
    X = pd.DataFrame({"colour": list("rgbrgb") * 5, "size": range(30)})
    y = ["yes" if c == "r" else "no" for c in X["colour"]]
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    assert (
        kt.nearest_change(model, ["r", 3]).sentence
        == "Becomes no if colour changes from r to b, with nothing else changed."
    )
    labels = model.tree_.categories[0]
    costs = np.ones((3, 3)) - np.eye(3)
    costs[labels.index("r"), labels.index("b")] = 5.0
    assert kt.nearest_change(model, ["r", 3], costs={"colour": costs}).point[0] == "g"
    assert kt.nearest_change(model, ["r", 3], bounds={"colour": ["g"]}).point[0] == "g"
    assert kt.nearest_change(model, ["r", 3], steps={"colour": ["g", "r"]}).point[0] == "g"
    with pytest.raises(ValueError, match="have no order"):
        kt.nearest_change(model, ["r", 3], increase_only=["colour"])
    with pytest.raises(ValueError, match="not one of its categories"):
        kt.nearest_change(model, ["r", 3], bounds={"colour": ["pink"]})


def test_hostile_names_are_cleaned_in_sentences(hostile):
    X = pd.DataFrame({hostile: [0.0, 1.0, 2.0, 3.0]})
    y = np.array([f"{hostile}", "other"])[[0, 0, 1, 1]]
    change = kt.nearest_change(DecisionTreeClassifier().fit(X.to_numpy(), y), [0.0], X=X.to_numpy())
    change.sentence.encode("utf-8")
    assert "\n" not in change.sentence


def test_a_chain_of_three_thousand_tests_on_two_hundred_columns_can_be_searched():
    tree = random_tree(0, n_leaves=3000, n_features=200, chain=True)
    X = random_rows(tree, 1, n=20)
    changes = kt.nearest_change(tree, X, X=X)
    found = np.isfinite(changes.cost)
    assert found.any()
    assert (changes.predicted[found] != tree.predict(X)[found]).all()


def test_whole_numbers_stay_whole_unless_told_otherwise():
    # Thresholds of C4.5 are values of the sample. The next number above 65 is 65.00000000000001.
    rng = np.random.default_rng(0)
    age, insulin = rng.integers(20, 90, 300), rng.integers(0, 2, 300)
    X = pd.DataFrame({"age": age, "insulin": insulin.astype(bool)})
    y = np.where((age > 65) | (insulin == 1), "ill", "well")
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    case = {"age": 60, "insulin": False}
    changes = kt.nearest_change(model, case, n=2)
    found = {c.changes[0].name: c for c in (changes, *changes.alternatives)}
    assert found["insulin"].changes[0].after == 1
    older = found["age"].changes[0].after
    assert older == round(older) > 65
    assert "+0.0" not in str(found["age"])
    free = kt.nearest_change(model, case, fixed=["insulin"], steps={"age": 0.5})
    assert free.changes[0].after <= older
    anywhere = kt.nearest_change(model, case, fixed=["insulin"], within_data=False)
    assert anywhere.changes[0].after < older


def lacking_tree():
    """Return a tree that tests age only if the sex is known, and has a leaf for a missing sex."""
    return kt.Tree(
        kind=[1, 0, 1, 0, 0],
        feature=[0, -1, 1, -1, -1],
        threshold=[0.5, np.nan, 40.0, np.nan, np.nan],
        child_start=[0, 2, 2, 4, 4, 4],
        child=[1, 2, 3, 4],
        missing=[1, -2, 3, -2, -2],
        counts=[[6, 4], [4, 0], [2, 4], [2, 0], [0, 4]],
        classes=["no", "yes"],
        n_features=2,
        feature_names=["sex", "age"],
    )


def test_the_sentence_names_missing_values_that_fix_the_decision():
    tree, X = lacking_tree(), [[0.0, 30.0], [1.0, 50.0]]
    change = kt.nearest_change(tree, [np.nan, 30.0], X=X)
    assert change.sentence == (
        "While sex is missing, the tree always decides no, whatever else changes."
    )
    assert change.to_dict()["loosen"] == [["missing", "sex"]]
    wanted = kt.nearest_change(tree, [np.nan, 30.0], target="yes", X=X).sentence
    assert wanted == "While sex is missing, the tree never decides yes, whatever else changes."
    assert kt.nearest_change(tree, [1.0, np.nan], X=X).changes == ()
    both = kt.nearest_change(tree, [np.nan, np.nan], X=X).sentence
    assert both.startswith("While sex and age are missing, the tree always decides no")


@pytest.mark.parametrize("value", [1e39, -1e39, 1e300, -1e300])
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(random_state=0), kt.C45Classifier()])
def test_explanations_of_values_that_overflow_float32_agree_with_predict(learner, value):
    X, y = load_iris(return_X_y=True)
    model = kt.SmoothedTreeClassifier(learner, strength=1).fit(X, y)
    row = X[:1].copy()
    row[0, 2:] = value
    decided = model.predict(row)
    change = kt.nearest_change(model, row)
    assert np.isfinite(change.cost).all()
    assert (change.predicted != decided).all()
    for boundary in (kt.Boundary(model.tree_), kt.Boundary(model.tree_, grid="observed")):
        signed = boundary.fit(X).signed_distance(row)[0]
        assert np.isfinite(signed).all()
        assert model.classes_[signed.argmin()] == decided
    story = kt.explain(model, row[0]).to_dict()
    assert story["decision"]["class"] == decided
    assert np.isfinite([step["distance"] for step in story["path"]]).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_explanations_refuse_infinite_values_as_predict_does(value):
    X, y = load_iris(return_X_y=True)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(), strength=1).fit(X, y)
    row = X[:1].copy()
    row[0, 2] = value
    on_grid = kt.Boundary(model.tree_, grid="observed").fit(X)
    asked = (model.predict, model.predict_proba, on_grid.distance, on_grid.nearest)
    for call in (*asked, lambda x: kt.nearest_change(model, x), lambda x: kt.explain(model, x[0])):
        with pytest.raises(ValueError, match="Input X contains infinity: row 0"):
            call(row)
