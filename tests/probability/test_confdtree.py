"""ConfDTree agrees with the paper's numbers and, for all its options, with a naive reference."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree import blocks
from keeptree.probability import base
from keeptree.probability.confdtree_settings import OPTIONS
from keeptree.probability.smoothing import smoothed_nodes
from tests.fixtures import weka
from tests.reference.confdtree import NaiveConfDTree, paper_example
from tests.strategies import decode, random_rows, random_tree
from tests.tree.test_tree import mixed_tree

INTERVALS = ["combined", "normal", "t"]
CASE = [[9.9, 4.5]]  # the paper's case, of class C but sent to a leaf of A
quiet = pytest.mark.filterwarnings("ignore:No test of the tree can be checked")


def fitted(**options):
    tree, X, y = paper_example(missing=options.pop("missing", -2))
    return kt.ConfDTreeClassifier(tree, **options).fit(X, y)


# --- The paper's worked examples -------------------------------------------------------------


def test_the_sample_has_the_counts_and_the_interval_of_figure_1():
    model = fitted()
    np.testing.assert_array_equal(model.statistics_.count[1], [100, 100, 30])
    assert model.statistics_.mean[1, 0] == pytest.approx(4.75)
    low, high = model.intervals_.low[0, 1, 0], model.intervals_.high[0, 1, 0]
    assert (low, high) == pytest.approx((3.0, 6.5))
    assert model.intervals_.normal[:2].all()


def test_alternative_routes_give_the_numbers_of_figure_4():
    model = fitted()
    assert model.walk_.route_weight[1, 2] == pytest.approx(0.714421, abs=5e-7)
    assert model.walk_.route_weight[4, 2] == pytest.approx(8.3666, abs=5e-5)
    np.testing.assert_allclose(model.predict_proba(CASE), [[0.078672, 0, 0.921328]], atol=5e-7)
    assert model.tree_.predict_proba(CASE).tolist() == [[1, 0, 0]]
    assert model.predict(CASE).tolist() == ["A"]  # the tree decides


def test_a_certainty_fine_gives_the_numbers_of_figure_5():
    # The paper narrows the interval of C in the root until it no longer contains 9.9.
    model = fitted(z_other=0.5)
    np.testing.assert_allclose(model.predict_proba(CASE), [[0.9, 0.05, 0.05]], atol=1e-15)
    to_all = fitted(z_other=0.5, options={"fine_to": "all"}).predict_proba(CASE)
    np.testing.assert_allclose(to_all, [[0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3]], atol=1e-15)
    np.testing.assert_allclose(fitted(z_other=0.5, fine=0.4).predict_proba(CASE), [[0.6, 0.2, 0.2]])


def test_the_options_for_route_weights_follow_their_formulas():
    counts = fitted(options={"route_weight": "count"}).predict_proba(CASE)
    np.testing.assert_allclose(counts, [[30 / 100, 0, 70 / 100]])
    linear = fitted(options={"route_weight": "linear"}).predict_proba(CASE)
    share = (30**2 / 230) / (30**2 / 230 + 70)
    np.testing.assert_allclose(linear, [[share, 0, 1 - share]])


def test_tests_are_checked_above_a_missing_value_but_not_below_it():
    model = fitted(missing=-1)
    # X is missing at the root, so nothing is checked and the leaves are mixed by their shares.
    expected = (230 * np.array([1, 0, 0]) + 70 * np.array([0, 0, 1])) / 300
    np.testing.assert_allclose(model.predict_proba([[np.nan, 4.5]]), [expected])
    far = [[np.nan, -50.0]]  # would be far outside every interval of Y if it were checked
    np.testing.assert_array_equal(model.predict_proba(far), model.tree_.predict_proba(far))
    # Y is missing below the root, so the root is still checked and takes the alternative route.
    below = np.array([100, 100, 30]) / 230
    expected = 0.0786718 * below + 0.9213282 * np.array([0, 0, 1])
    np.testing.assert_allclose(model.predict_proba([[9.9, np.nan]]), [expected], atol=1e-6)


# --- The naive reference ---------------------------------------------------------------------


def random_options(rng):
    choices = {
        "minimum": ["every", "class", "node"],
        "t_for": ["mean", "individual", "prediction"],
        "tails": [1, 2],
        "normal_by": ["node", "class"],
        "fine_to": ["others", "all"],
        "route_weight": ["sqrt", "linear", "count"],
        "nominal": [False, True],
        "balance": [False, True],
        "m": [2, 5, 8],
        "z_other": [1.0, 1.7],
        "fine": [0.1, 0.3],
    }
    return {name: values[rng.integers(len(values))] for name, values in choices.items()}


@quiet
@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
def test_random_trees_agree_with_the_naive_reference(interval, n_classes):
    moved = 0
    for seed in range(8):
        rng = np.random.default_rng(100 * n_classes + seed)
        options = {} if seed == 0 else random_options(rng)
        missing = ["error", "share", "child", "mixed"][seed % 4]
        tree = random_tree(
            seed,
            n_leaves=int(rng.integers(2, 25)),
            n_classes=n_classes,
            n_nominal=seed % 3,
            missing=missing,
            compare_dtype=["float64", "float32"][seed % 2],
        )
        X = random_rows(tree, seed, n=120, missing=0.1 if seed % 4 else 0)
        y = rng.integers(n_classes, size=120)
        X[:, :2] += 0.7 * (y[:, None] % 3)
        weight = rng.integers(0, 3, size=120) if seed % 3 == 1 else np.ones(120)
        rows = random_rows(tree, seed + 1, n=40, missing=0.1 if seed % 4 else 0) + 0.0
        rows[:, :2] += 1
        top = {name: value for name, value in options.items() if name not in OPTIONS}
        rest = {name: value for name, value in options.items() if name in OPTIONS}
        model = kt.ConfDTreeClassifier(tree, interval, **top, options=rest)
        model.fit(decode(tree, X), tree.classes[y], weight)
        naive = NaiveConfDTree(tree, X, y, weight, interval=interval, **options)
        p = model.predict_proba(decode(tree, rows))
        np.testing.assert_allclose(p, naive.predict(rows), rtol=0, atol=1e-9)
        moved += (np.abs(p - tree.predict_proba(decode(tree, rows))) > 1e-9).any(axis=1).sum()
    assert moved > 10  # otherwise the comparison would be trivial


@quiet
@pytest.mark.parametrize("name", ["vehicle", "glass", "crx", "autos", "pima-missing"])
@pytest.mark.parametrize("interval", INTERVALS)
def test_real_j48_trees_agree_with_the_naive_reference(name, interval):
    data = weka.load(name)
    frame = data.frame
    train, test = data.train, data.unseen[:60]
    tree = kt.keep(kt.C45Classifier().fit(frame.iloc[train], data.y[train]))
    model = kt.ConfDTreeClassifier(tree, interval, options={"smoothing": "laplace"})
    model.fit(frame.iloc[train], data.y[train])
    naive = NaiveConfDTree(
        tree,
        tree.encode(frame.iloc[train]),
        np.searchsorted(tree.classes, data.y[train]),
        leaf_value=smoothed_nodes(tree, "laplace"),
        interval=interval,
    )
    expected = naive.predict(tree.encode(frame.iloc[test]))
    np.testing.assert_allclose(model.predict_proba(frame.iloc[test]), expected, rtol=0, atol=1e-9)


def test_statistics_agree_with_scipy(cancer, cancer_tree):
    X, y = cancer
    model = kt.ConfDTreeClassifier(cancer_tree).fit(X, y)
    tree = model.tree_
    passed = tree.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(tree.kind == 1):
        for c in range(2):
            values = X[passed[:, node] & (y == c), tree.feature[node]].astype(np.float32)
            values = values.astype(np.float64)
            assert model.statistics_.count[node, c] == len(values)
            if len(values) < 2:
                continue
            mean, sd = values.mean(), values.std(ddof=1)
            assert model.statistics_.mean[node, c] == pytest.approx(mean, rel=1e-12)
            assert model.statistics_.sd[node, c] == pytest.approx(sd, rel=1e-12)
            p = stats.kstest(values, stats.norm(mean, sd).cdf).pvalue if sd > 0 else 0
            assert (model.statistics_.normality[node, c] > 0.05) == (p > 0.05)
            assert abs(model.statistics_.normality[node, c] - p) < 0.036


# --- Cases that do not change ----------------------------------------------------------------


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_case_inside_every_interval_keeps_the_answer_of_the_tree_exactly(interval, cancer):
    X, y = cancer
    clf = DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5, random_state=0).fit(X, y)
    before = pickle.dumps(clf)
    model = kt.ConfDTreeClassifier(
        clf, interval, options={"minimum": "class", "t_for": "individual"}
    ).fit(X, y)
    p, plain = model.predict_proba(X), model.tree_.predict_proba(X)
    alone = np.array([not trace.changed for trace in model.trace(X)])
    assert 0 < alone.sum() < len(X)
    np.testing.assert_array_equal(p[alone], plain[alone])
    np.testing.assert_array_equal(p[alone], clf.predict_proba(X)[alone])
    np.testing.assert_array_equal(model.predict(X), clf.predict(X))
    assert pickle.dumps(clf) == before


def test_uncorrected_cases_with_missing_values_keep_the_answer_of_the_tree_exactly():
    for seed in range(5):
        tree = random_tree(seed, n_leaves=15, n_classes=3, n_nominal=1, missing="share")
        X = random_rows(tree, seed, n=200, missing=0.2)
        y = tree.classes[np.random.default_rng(seed).integers(3, size=200)]
        rows = decode(tree, X)
        model = kt.ConfDTreeClassifier(tree, options={"minimum": "class"}).fit(rows, y)
        alone = np.array([not trace.changed for trace in model.trace(rows)])
        assert alone.any()
        np.testing.assert_array_equal(
            model.predict_proba(rows)[alone], tree.predict_proba(rows)[alone]
        )


def test_no_node_is_visited_twice():
    # A chain is the worst case for a recursion that does not cache its results.
    tree = random_tree(3, n_leaves=300, n_classes=3, n_features=3, chain=True)
    X = random_rows(tree, 3, n=400)
    y = np.random.default_rng(0).integers(3, size=400)
    model = kt.ConfDTreeClassifier(tree, "t", m=2, options={"minimum": "class"}).fit(
        X, tree.classes[y]
    )
    changes, visits = model.walk_.correct(X, np.empty((400, 3)))
    assert changes.max() > 1
    assert visits.max() <= tree.n_nodes
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_deep_trees_are_traced_without_recursion():
    tree = random_tree(3, n_leaves=3000, n_classes=2, n_features=2, chain=True)
    X = random_rows(tree, 3, n=60)
    model = kt.ConfDTreeClassifier(tree, "t", m=2, options={"minimum": "class"})
    model.fit(X, tree.classes[np.arange(60) % 2])
    for trace, p in zip(model.trace(X), model.predict_proba(X), strict=True):
        np.testing.assert_allclose(trace.probability, p)


# --- The trace -------------------------------------------------------------------------------


def test_the_trace_describes_the_worked_example():
    (trace,) = fitted().trace(CASE)
    leaf, inside, other, root = trace.steps
    assert [step.node for step in trace.path] == [2, 1, 0]
    assert (leaf.action, inside.action, root.action) == ("leaf", "inside", "rerouted")
    assert (other.node, other.on_path) == (4, False)
    assert inside.interval == pytest.approx((3.0, 6.5))
    assert (inside.assigned, inside.kind, inside.test) == ("A", "normal", "Y <= 7.2")
    assert root.value == 9.9
    assert root.alternatives["C"] == pytest.approx((9.52, 11.52))
    assert root.weights == pytest.approx({1: 0.0786718, 4: 0.9213282}, abs=1e-6)
    np.testing.assert_array_equal(root.predictions[1], [1, 0, 0])
    np.testing.assert_array_equal(root.predictions[4], [0, 0, 1])
    np.testing.assert_allclose(trace.tree_probability, [1, 0, 0])
    assert str(trace).splitlines() == [
        "Leaf 2: p(A) = 1.000.",
        "Node 1, Y = 4.5: usual for class A, inside 3 to 6.5 (normal). No change.",
        "Node 0, X = 9.9: unusual for class A, outside 1.6 to 6.4 (normal), but usual for C, "
        "9.52 to 11.52. All branches are followed:",
        "  Leaf 4: p(C) = 1.000.",
        "Averaged: X <= 10 with weight 0.0787; X > 10 with weight 0.921. "
        "Now p(A) = 0.079, p(C) = 0.921.",
        "Result: p(A) = 0.079, p(C) = 0.921.",
    ]
    (fine,) = fitted(z_other=0.5).trace(CASE)
    assert fine.path[-1].action == "fined"
    assert "Fined: p(A) = 0.900, p(B) = 0.050, p(C) = 0.050." in str(fine)
    (calm,) = fitted().trace([[4.0, 4.5]])
    assert not calm.changed
    assert str(calm).endswith("Result: unchanged.")
    (gone,) = fitted(missing=-1).trace([[np.nan, 4.5]])
    assert "X is missing, so nothing below is corrected" in str(gone)
    with pytest.raises(NotFittedError):
        kt.ConfDTreeClassifier().trace(CASE)


@quiet
def test_every_trace_ends_with_the_probabilities():
    for seed in range(6):
        tree = random_tree(seed, n_leaves=20, n_classes=4, n_nominal=seed % 3, missing="mixed")
        X = decode(tree, random_rows(tree, seed, n=150, missing=0.1))
        y = tree.classes[np.random.default_rng(seed).integers(4, size=150)]
        model = kt.ConfDTreeClassifier(tree, options={"minimum": "class", "nominal": True}).fit(
            X, y
        )
        for trace, p in zip(model.trace(X), model.predict_proba(X), strict=True):
            np.testing.assert_array_equal(trace.probability, p)
            np.testing.assert_allclose(trace.steps[-1].probability, p, atol=1e-12)
            for step in trace.steps:
                if step.action == "rerouted":
                    mix = sum(w * step.predictions[c] for c, w in step.weights.items() if w > 0)
                    np.testing.assert_allclose(step.probability, mix, atol=1e-12)


def test_affected_cases_are_those_that_change_by_a_tenth():
    model = fitted(z_other=0.5)
    assert model.affected([CASE[0], [4.0, 4.5]]).tolist() == [True, False]
    assert not fitted(z_other=0.5, fine=0.09).affected(CASE).any()
    assert fitted(z_other=0.5, fine=0.09).affected(CASE, change=0.09).all()


def test_affected_uses_a_single_pool_of_threads(monkeypatch):
    model, pools = fitted(), []

    def map_rows(*arguments, **options):
        pools.append(arguments)
        return blocks.map_rows(*arguments, **options)

    monkeypatch.setattr(base, "map_rows", map_rows)
    model.affected(CASE)
    assert len(pools) == 1


# --- Extensions of the paper -----------------------------------------------------------------


def test_a_nominal_test_is_checked_only_if_requested():
    # 30 of 31 good cases are not red, so red is unusual for a case in a leaf that predicts good.
    data = mixed_tree().to_dict()
    tree = kt.Tree.from_dict({**data, "counts": [[32, 31], [0, 1], [32, 30], [30, 0], [2, 30]]})
    rows = [[0.5, "green"]] * 30 + [[1.5, "green"]] * 2 + [[1.5, "blue"]] * 30 + [[1.5, "red"]]
    y = ["bad"] * 32 + ["good"] * 31
    case = [[1.5, "red"]]
    plain = kt.ConfDTreeClassifier(tree, "t").fit(rows, y)
    np.testing.assert_array_equal(plain.predict_proba(case), [[0, 1]])
    model = kt.ConfDTreeClassifier(
        tree, "normal", options={"nominal": True, "normal_by": "class"}
    ).fit(rows, y)
    np.testing.assert_allclose(model.predict_proba(case), [[0.1, 0.9]])
    (trace,) = model.trace(case)
    assert trace.path[-1].interval == ("blue",)
    assert "colour = red: unusual for class good, outside blue (category)" in str(trace)


def test_balance_weights_cases_inversely_to_the_size_of_their_class():
    tree, X, y = paper_example()
    few = np.ones(300)
    few[:100] = 0.5  # halve the weight of A
    even = kt.ConfDTreeClassifier(tree, options={"balance": True}).fit(X, y)
    np.testing.assert_allclose(even.predict_proba(CASE), fitted().predict_proba(CASE))
    model = kt.ConfDTreeClassifier(tree, z_other=0.5, options={"balance": True}).fit(X, y, few)
    fine = 0.1 * 3 * 50 / 250  # A has less than a third of the cases, so its fine is smaller
    np.testing.assert_allclose(model.predict_proba(CASE), [[1 - fine, fine / 2, fine / 2]])
    route = kt.ConfDTreeClassifier(tree, options={"balance": True}).fit(X, y, few)
    n_c, total = 30 * 250 / 300, 50 * 250 / 150 + 130 * 250 / 300
    assert route.walk_.route_weight[1, 2] == pytest.approx(np.sqrt(n_c) * n_c / total)


def test_a_forest_is_the_mean_of_its_corrected_trees(iris):
    X, y = iris
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = RandomForestClassifier(7, max_leaf_nodes=6, random_state=0).fit(X, labels)
    before = pickle.dumps(forest)
    correction = kt.ConfDTreeClassifier(interval="t", options={"minimum": "class"})
    model = kt.ConfDTreeForestClassifier(forest, correction).fit(X, labels)
    each = [
        kt.ConfDTreeClassifier(kt.keep(tree), "t", options={"minimum": "class"})
        .fit(X, y)
        .predict_proba(X)
        for tree in forest.estimators_
    ]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), forest.predict(X))
    assert pickle.dumps(forest) == before
    most = kt.ConfDTreeForestClassifier(forest, correction, decide="probability").fit(X, labels)
    np.testing.assert_array_equal(
        most.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)]
    )
    costs = {"versicolor": {"virginica": 50}}
    dear = kt.ConfDTreeForestClassifier(forest, correction, decide="cost", costs=costs)
    expected = model.predict_proba(X) @ dear.fit(X, labels).cost_matrix
    np.testing.assert_array_equal(dear.predict(X), model.classes_[expected.argmin(axis=1)])
    assert (dear.predict(X) == "virginica").sum() < (labels == "virginica").sum()
    with pytest.raises(ValueError, match="costs is given, but decide='forest'"):
        dear.set_params(decide="forest").fit(X, labels)
    grown = kt.ConfDTreeForestClassifier(RandomForestClassifier(3, random_state=0)).fit(X, labels)
    assert len(grown.trees_) == 3
    with pytest.raises(ValueError, match="X has 3 columns, but the tree expects 4"):
        kt.ConfDTreeForestClassifier(forest).fit(X[:, :3], labels)


# --- Invalid input ---------------------------------------------------------------------------


def test_if_no_test_can_be_checked_the_probabilities_are_those_of_the_tree():
    tree, X, y = paper_example()
    with pytest.warns(UserWarning, match="No test of the tree can be checked") as caught:
        model = kt.ConfDTreeClassifier(tree, m=1000).fit(X, y)
    assert len(caught) == 1
    np.testing.assert_array_equal(model.predict_proba(X), tree.predict_proba(X))
    assert not model.affected(X).any()
    with pytest.warns(UserWarning, match="No test of any tree can be checked") as caught:
        kt.ConfDTreeForestClassifier(
            RandomForestClassifier(3, random_state=0), kt.ConfDTreeClassifier(m=1000)
        ).fit(X, y)
    assert len(caught) == 1


def test_a_constant_attribute_of_a_class_has_an_interval_of_one_point_or_is_not_normal():
    tree, X, y = paper_example()
    X = X.copy()
    X[y == "A", 0] = 0.1  # the sum of a hundred of these is not exactly 100 times 0.1
    t = kt.ConfDTreeClassifier(tree, "t").fit(X, y)
    assert t.intervals_.low[0, 0, 0] == t.intervals_.high[0, 0, 0] == 0.1
    inside, outside = t.predict_proba([[0.1, 4.75], [0.2, 4.75]])
    np.testing.assert_array_equal(inside, [1, 0, 0])
    assert outside[0] < 1
    normal = kt.ConfDTreeClassifier(tree, "normal").fit(X, y)
    assert normal.intervals_.takes_part.tolist() == [False, True, False, False, False]
    combined = kt.ConfDTreeClassifier(tree, "combined").fit(X, y)
    assert not combined.intervals_.normal[0].any()
    by_class = kt.ConfDTreeClassifier(tree, "combined", options={"normal_by": "class"}).fit(X, y)
    assert by_class.intervals_.normal[0].tolist() == [False, True, True]


def test_a_node_or_a_class_with_fewer_than_m_cases_is_not_checked():
    tree, X, y = paper_example()
    few = np.ones(300)
    few[204:230] = 0  # four cases of C remain below the root's left branch
    every = kt.ConfDTreeClassifier(tree).fit(X, y, few)
    assert every.intervals_.takes_part.tolist() == [True, False, False, False, False]
    each = kt.ConfDTreeClassifier(tree, options={"minimum": "class"}).fit(X, y, few)
    assert np.isnan(each.intervals_.low[0, 1]).tolist() == [False, False, True]
    whole = kt.ConfDTreeClassifier(tree, options={"minimum": "node"}).fit(X, y, few)
    assert not np.isnan(whole.intervals_.low[0, :2]).any()
    # A class without an interval is never corrected.
    naive = NaiveConfDTree(tree, X, np.repeat([0, 1, 2], 100), few, minimum="class")
    rows = np.column_stack([np.linspace(0, 12, 50), np.linspace(0, 14, 50)])
    np.testing.assert_allclose(each.predict_proba(rows), naive.predict(rows), atol=1e-12)


def test_an_alternative_route_without_a_rule_for_a_missing_value_is_shared():
    # Only the alternative route tests Y, which is missing in the case; the tree accepts the case.
    tree, X, y = paper_example()
    with pytest.raises(ValueError, match="has no value for 'Y'"):
        kt.ConfDTreeClassifier(tree).fit(X, y).predict_proba([[9.9, np.nan]])
    case = [[10.1, np.nan]]
    model = kt.ConfDTreeClassifier(tree, z_assigned=0.3, z_other=5.0).fit(X, y)
    assert model.trace(case)[0].path[-1].action == "rerouted"
    np.testing.assert_allclose(model.predict_proba(case).sum(), 1)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("level_assigned", [0, 1, 1.5, -0.1]),
        ("level_other", [0, 1, np.nan]),
        ("m", [1, 1.9, "all"]),
        ("z_assigned", [0, -1]),
        ("fine", [-0.1, 1.1]),
        ("interval", ["gaussian"]),
        ("tails", [3]),
        ("minimum", ["class-wise"]),
        ("smoothing", ["m-estimate"]),
    ],
)
def test_errors_name_parameters_that_are_out_of_range(name, values):
    tree, X, y = paper_example()
    for value in values:
        given = {name: value}
        model = kt.ConfDTreeClassifier(tree, **({"options": given} if name in OPTIONS else given))
        with pytest.raises(ValueError, match=f"The '{name}' parameter"):
            model.fit(X, y)


def test_an_unknown_option_is_refused_with_a_list_of_options():
    tree, X, y = paper_example()
    with pytest.raises(ValueError, match="has no option 'tail'; choose from minimum, t_for"):
        kt.ConfDTreeClassifier(tree, options={"tail": 1}).fit(X, y)
    with pytest.raises(ValueError, match="The 'options' parameter of ConfDTreeClassifier must be"):
        kt.ConfDTreeClassifier(tree, options="tails").fit(X, y)


def test_options_are_cloned_and_can_be_searched():
    tree, X, y = paper_example()
    options = {"smoothing": "laplace"}
    model = kt.ConfDTreeClassifier(tree, options=options)
    assert clone(model).options == options
    search = GridSearchCV(model, {"options": [None, options]}, scoring="neg_log_loss", cv=2)
    assert search.fit(X, y).best_params_["options"] in (None, options)


def test_huge_values_do_not_break_an_interval():
    tree, X, y = paper_example()
    X = X.copy()
    X[0, 0] = -1e300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kt.ConfDTreeClassifier(tree, "t").fit(X, y)
        p = model.predict_proba(np.array([[9.9, 4.5], [1e308, -1e308], [1e308, 1e308]]))
    assert np.isfinite(p).all()


@pytest.mark.parametrize("route_weight", ["sqrt", "linear", "count"])
def test_weights_of_any_size_give_finite_probabilities(route_weight):
    X, y = load_iris(return_X_y=True)
    model = kt.ConfDTreeClassifier(kt.C45Classifier(), options={"route_weight": route_weight})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = model.fit(X, y, sample_weight=np.full(len(X), 1e250)).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
