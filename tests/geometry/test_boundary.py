"""Boundary agrees with the naive reference and has the properties of a distance."""

import pickle
from multiprocessing.pool import ThreadPool
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from keeptree import Boundary, Metric, Tree, keep
from keeptree.geometry import program
from tests.reference import boundary as reference
from tests.strategies import decode, random_rows, random_tree, trees

CASES = [
    # leaves, classes, features, nominal, compare_dtype, grid
    (2, 2, 1, 0, "float64", None),
    (30, 2, 4, 0, "float32", None),
    (60, 3, 5, 2, "float64", None),
    (40, 26, 6, 3, "float32", [0.0, 1.0, 2.0]),
    (25, 4, 3, 3, "float64", None),
    (500, 2, 6, 0, "float64", None),
    (300, 5, 8, 2, "float32", np.arange(-10, 11) / 10),
]

NAMES = ("point", "distance", "leaf", "separator", "predicted")


def make(case, seed=0, **more):
    leaves, classes, features, nominal, dtype, grid = case
    return random_tree(
        seed, leaves, classes, features, nominal, compare_dtype=dtype, grid=grid, **more
    )


def fitted(tree, X, metric="standard", **more):
    return Boundary(tree, metric, **more).fit(decode(tree, X))


def own_class(tree, X):
    return tree.label[tree.route(X)]


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def stump(labels=(0, 1), **more):
    tree = {
        "kind": [1, 0, 0],
        "feature": [0, -1, -1],
        "threshold": [2.5, np.nan, np.nan],
        "child_start": [0, 2, 2, 2],
        "child": [1, 2],
        "missing": [-2, -2, -2],
        "counts": [[5, 4], [5, 0], [0, 4]],
        "label": [0, *labels],
        "classes": ["no", "yes"],
        "n_features": 2,
        "feature_names": ["age", "income"],
    }
    return Tree(**{**tree, **more})


@pytest.mark.parametrize("case", CASES, ids=str)
def test_distances_agree_with_a_loop_over_all_leaves(case):
    tree = make(case)
    X = random_rows(tree, 1, n=40)
    boundary = fitted(tree, X)
    expected = reference.signed_distance(tree, boundary.metric_, X)
    rows = decode(tree, X)
    close(boundary.signed_distance(rows), expected)
    close(boundary.distance(rows), 0.0 - expected.min(axis=1))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nearest_leaf_and_separator_agree_with_a_loop_over_all_leaves(case):
    tree = make(case, seed=3)
    X = random_rows(tree, 4, n=25)
    boundary = fitted(tree, X)
    own = own_class(tree, X)
    leaves, least = reference.nearest_leaf(tree, boundary.metric_, X, own)
    nearest = boundary.nearest(decode(tree, X))
    close(nearest.distance, least)
    all_leaves = reference.reachable_leaves(tree)
    expected = [
        -1 if leaf is None else reference.separator(tree, boundary.metric_, x, leaf, all_leaves)
        for x, leaf in zip(X, leaves, strict=True)
    ]
    np.testing.assert_array_equal(nearest.separator, expected)
    distance, separator = boundary.nearest_separators(X)
    np.testing.assert_array_equal(distance, nearest.distance)
    np.testing.assert_array_equal(separator, nearest.separator)


@pytest.mark.parametrize("case", CASES[1:], ids=str)
def test_constant_and_duplicated_columns_agree_with_the_reference(case):
    tree = make(case, seed=3)
    X = random_rows(tree, 6, n=25)
    numeric = [f for f, labels in enumerate(tree.categories) if labels is None]
    for f in numeric[2:]:
        X[:, f] = X[:, numeric[1]]
    for f in numeric[:1]:
        tests = tree.threshold[tree.feature == f]
        X[:, f] = tests[0] if len(tests) else 0.1  # on a threshold
    boundary, rows = fitted(tree, X), decode(tree, X)
    np.testing.assert_array_equal(boundary.metric_.scale_[numeric[:1]], 1.0)
    close(boundary.signed_distance(rows), reference.signed_distance(tree, boundary.metric_, X))
    leaves, least = reference.nearest_leaf(tree, boundary.metric_, X, own_class(tree, X))
    nearest, all_leaves = boundary.nearest(rows), reference.reachable_leaves(tree)
    close(nearest.distance, least)
    expected = [
        reference.separator(tree, boundary.metric_, x, leaf, all_leaves)
        for x, leaf in zip(X, leaves, strict=True)
    ]
    np.testing.assert_array_equal(nearest.separator, expected)
    assert (tree.predict(decode(tree, nearest.point)) != tree.predict(rows)).all()


@settings(max_examples=60, deadline=None)
@given(trees(missing=("error", "child", "share", "mixed")), st.integers(0, 999))
def test_any_tree_agrees_with_the_reference_even_with_missing_values(tree, seed):
    X = random_rows(
        tree, seed, n=12, missing=0.0 if (tree.missing == -2)[tree.kind > 0].any() else 0.2
    )
    boundary = fitted(tree, X)
    expected = reference.signed_distance(tree, boundary.metric_, X)
    close(boundary.signed_distance(decode(tree, X)), expected)
    single = boundary.algebraic_distance(X)
    expected = expected[:, : single.shape[1]]
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(single[~finite], expected[~finite])
    np.testing.assert_allclose(single[finite], expected[finite], atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(trees(missing=("error", "child", "share", "mixed")), st.integers(0, 999))
def test_the_nearest_point_really_has_another_class_and_lies_at_the_stated_distance(tree, seed):
    allowed = not (tree.missing == -2)[tree.kind > 0].any()
    X = random_rows(tree, seed, n=20, missing=0.2 if allowed else 0.0)
    boundary = fitted(tree, X)
    nearest = boundary.nearest(decode(tree, X))
    there = np.isfinite(nearest.distance)
    assert np.isnan(nearest.point[~there]).all()
    assert (nearest.leaf[~there] == -1).all()
    before = tree.predict(decode(tree, X))
    np.testing.assert_array_equal(nearest.predicted[~there], before[~there])
    if not there.any():
        return
    point = nearest.point[there]
    after = tree.predict(decode(tree, point))
    np.testing.assert_array_equal(after, nearest.predicted[there])
    assert (after != before[there]).all()
    np.testing.assert_array_equal(tree.route(point), nearest.leaf[there])
    for x, p, d in zip(X[there], point, nearest.distance[there], strict=True):
        moved = measure(tree, boundary.metric_, x, p)
        # The point lies one float32 beyond the threshold, where the distance ends.
        assert moved == pytest.approx(d, rel=1e-6, abs=1e-6)


def measure(tree, metric, x, p):
    """Return the distance between two encoded cases; a missing value costs nothing."""
    total = 0.0
    for f, labels in enumerate(tree.categories):
        if np.isnan(x[f]) or x[f] == p[f]:
            continue
        if labels is None:
            total += (abs(x[f] - p[f]) * metric.factor_[f]) ** 2
        else:
            total += metric.category_costs_[f][int(x[f]), int(p[f])] ** 2
    return np.sqrt(total)


@pytest.mark.parametrize("case", [CASES[1], CASES[2]], ids=str)
def test_points_and_leaves_are_computed_lazily_and_survive_another_fit(case):
    tree = make(case, missing="mixed")
    X = random_rows(tree, 15, n=3000, missing=0.02)
    rows = np.tile(X, (12, 1))  # more than one block of rows per thread
    boundary = fitted(tree, X)
    expected = arrays(boundary.nearest(decode(tree, X)))
    boundary.set_params(n_jobs=2)
    nearest = boundary.nearest(decode(tree, rows))
    assert "point" not in vars(nearest)
    copy = pickle.loads(pickle.dumps(nearest))
    boundary.fit(decode(tree, X[:2]))
    for a, b, c in zip(arrays(nearest), arrays(copy), expected, strict=True):
        np.testing.assert_array_equal(a, np.concatenate([c] * 12))
        np.testing.assert_array_equal(a, b)
    assert nearest.point is nearest.point
    with pytest.raises(AttributeError):
        nearest.distance = 0


def test_unchanged_coordinates_keep_their_input_value():
    tree = make(CASES[1])
    X = random_rows(tree, 5, n=50, on_threshold=0.0)
    nearest = fitted(tree, X).nearest(X)
    same = nearest.point == X
    assert same.any()
    # Each changed coordinate lies just beyond a threshold of the tree.
    thresholds = tree.threshold[tree.kind == 1]
    gaps = np.abs(nearest.point[~same][:, None] - thresholds).min(axis=1)
    assert gaps.max() < 1e-6


def test_moving_less_than_the_distance_never_changes_the_class():
    rng = np.random.default_rng(0)
    for case in (CASES[1], CASES[5]):
        tree = make(case)
        X = random_rows(tree, 6, n=60, on_threshold=0.0)
        boundary = fitted(tree, X)
        direction = rng.normal(size=(50, *X.shape))
        direction /= np.linalg.norm(direction, axis=2, keepdims=True)
        reach = boundary.distance(X)[:, None] * 0.999 * rng.random((50, len(X), 1))
        for step in direction * reach / boundary.metric_.factor_:
            np.testing.assert_array_equal(tree.predict(X + step), tree.predict(X))


@pytest.mark.parametrize("case", CASES[:6], ids=str)
def test_the_sign_agrees_with_the_tree_where_the_distance_is_positive(case):
    tree = make(case)
    X = random_rows(tree, 7, n=200)
    boundary = fitted(tree, X)
    h, inside = boundary.class_distances(X), own_class(tree, X)
    away = boundary.distance(decode(tree, X)) > 0
    assert away.any()
    assert (h[away, inside[away]] < 0).all()
    h[np.arange(len(h)), inside] = 1.0
    assert (h[away] > 0).all()
    single = boundary.algebraic_distance(X)
    if single.shape[1] == 1:
        single = np.column_stack([single, -single])
    assert (single[away, inside[away]] <= 0).all()


def test_shifting_data_and_thresholds_together_gives_identical_results():
    tree = make(CASES[5])
    X = random_rows(tree, 8, n=100).round(6) * 2**20
    shift = 2.0**40  # exact: shifted whole numbers still fit into 53 bits
    scaled = {"threshold": np.round(tree.threshold, 6) * 2**20}
    plain = rebuilt(tree, **scaled)
    moved = rebuilt(tree, threshold=np.round(scaled["threshold"]) + shift)
    plain = rebuilt(tree, threshold=np.round(scaled["threshold"]))
    X = np.round(X)
    own = Metric(scales=np.full(tree.n_features, 3.0))
    a, b = fitted(plain, X, own), fitted(moved, X + shift, own)
    assert np.array_equal(a.signed_distance(X), b.signed_distance(X + shift))
    assert np.array_equal(a.nearest(X).separator, b.nearest(X + shift).separator)


def rebuilt(tree, **changes):
    names = ("kind", "feature", "threshold", "child_start", "child", "missing", "counts", "label")
    names += ("classes", "n_features", "categories", "compare_dtype")
    names += ("category_start", "category_child")
    return Tree(**{**{name: getattr(tree, name) for name in names}, **changes})


@pytest.mark.parametrize("case", [CASES[1], CASES[2], CASES[6]], ids=str)
def test_results_do_not_depend_on_memory_layout_threads_or_blocks(case):
    tree = make(case)
    X = random_rows(tree, 9, n=1500)
    boundary = fitted(tree, X)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    whole = results(boundary, X)
    for same in (np.asfortranarray(X), wide[:, ::2], frozen, X[::-1].copy()[::-1]):
        assert equal(results(boundary, same), whole)
    parts = [results(boundary, X[a:b]) for a, b in ((0, 1), (1, 130), (130, 999), (999, 1500))]
    assert equal([np.concatenate(p) for p in zip(*parts, strict=True)], whole)
    many = np.tile(X, (30, 1))  # more than one block of rows per thread
    assert equal(results(boundary, many, n_jobs=2), [np.concatenate([part] * 30) for part in whole])


@pytest.mark.parametrize("case", [CASES[1], CASES[5]], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_huge_value_does_not_affect_other_rows_of_its_block(case, order):
    tree = make(case)
    X = random_rows(tree, 9, n=300)
    with_huge = np.array(X, order=order)
    with_huge[100, 0] = 1e300
    boundary = fitted(tree, X)
    others = np.delete(np.arange(len(X)), 100)
    for dtype in (np.float32, np.float64):
        got, alone = (boundary.algebraic_distance(rows, dtype)[others] for rows in (with_huge, X))
        np.testing.assert_array_equal(got, alone)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shift", [0, 2**20])
def test_single_precision_is_accurate_for_any_offset_and_scale_of_the_data(dtype, shift):
    tree = make(CASES[1])
    X = random_rows(tree, 8, n=200)
    width = np.array([1.0, 2.0**10, 2.0**60, 2.0**-60])
    move = np.where(width < 1, 0, shift * width)
    threshold = np.where(
        tree.feature < 0, np.nan, tree.threshold * width[tree.feature] + move[tree.feature]
    )
    moved = rebuilt(tree, threshold=threshold, compare_dtype=dtype)
    boundary = fitted(moved, X * width + move)
    single, double = (
        boundary.algebraic_distance(X * width + move, t) for t in (np.float32, np.float64)
    )
    np.testing.assert_allclose(single, double, atol=1e-6)


def results(boundary, X, n_jobs=None):
    boundary = fitted_again(boundary, n_jobs)
    signed, single = boundary.algebraic_distance(X, np.float64), boundary.algebraic_distance(X)
    distance, separator = boundary.nearest_separators(X)
    return [signed, single, distance, separator]


def arrays(nearest):
    return [getattr(nearest, name) for name in NAMES]


def fitted_again(boundary, n_jobs):
    boundary.n_jobs = n_jobs
    return boundary


def equal(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_searching_a_large_tree_and_evaluating_all_of_it_give_identical_results(case, monkeypatch):
    tree = make(case, missing="mixed")
    X = random_rows(tree, 13, n=300, missing=0.05)
    rows, wanted = decode(tree, X), tree.classes[np.arange(len(X)) % len(tree.classes)]

    def everything():
        boundary = fitted(tree, X)
        target = boundary.nearest(rows, target=wanted)
        return [*results(boundary, X), *arrays(boundary.nearest(rows)), *arrays(target)]

    monkeypatch.setattr(program, "_MANY", {True: (10**9,) * 2, False: (10**9,) * 2})
    run = everything()
    monkeypatch.setattr(program, "_MANY", {True: (-1, -1), False: (-1, -1)})
    searched = everything()
    for a, b in zip(run, searched, strict=True):
        np.testing.assert_array_equal(a, b)


def test_concurrent_calls_return_the_same_as_serial_calls():
    tree = make(CASES[2])
    X = random_rows(tree, 10, n=3000)
    boundary = fitted(tree, X)
    rows = decode(tree, X)

    def score(_):
        return [
            boundary.signed_distance(rows),
            boundary.distance(rows),
            *arrays(boundary.nearest(rows)),
        ]

    serial = score(0)
    with ThreadPool(4) as pool:
        for concurrent in pool.map(score, range(8)):
            assert equal(concurrent, serial)


def test_eight_threads_can_use_a_new_boundary_at_the_same_time():
    warm = make(CASES[2], missing="mixed")
    X = random_rows(warm, 14, n=2000, missing=0.02)
    rows = decode(warm, X)

    def score(boundary):
        nearest = boundary.nearest(rows)
        return [
            boundary.tree_.predict(rows), boundary.tree_.predict_proba(rows),
            boundary.signed_distance(rows), nearest.point, nearest.leaf, nearest.separator,
        ]  # fmt: skip

    serial = score(fitted(warm, X))
    for _ in range(3):
        cold = Boundary(rebuilt(warm)).fit(rows)  # a tree that has not cached anything yet

        start = Barrier(8)

        def together(_, cold=cold, start=start):
            start.wait()
            return score(cold)

        with ThreadPool(8) as pool:
            for concurrent in pool.map(together, range(8), chunksize=1):
                for a, b in zip(concurrent, serial, strict=True):
                    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_memory_map_is_read_in_place(tmp_path, order):
    tree = make(CASES[1])
    X = random_rows(tree, 11, n=300)
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    boundary = fitted(tree, X)
    fitted_there = Boundary(tree).fit(mapped)
    np.testing.assert_allclose(fitted_there.metric_.scale_, boundary.metric_.scale_, rtol=1e-14)
    assert np.shares_memory(boundary.tree_.encode(mapped), mapped)
    assert np.array_equal(boundary.signed_distance(mapped), boundary.signed_distance(X))
    assert equal(arrays(boundary.nearest(mapped)), arrays(boundary.nearest(X)))


def test_distances_are_correct_for_a_chain_of_ten_thousand_tests():
    n = 10_000
    inner = np.arange(n)
    kind = np.concatenate([np.ones(n, int), np.zeros(n + 1, int)])
    child = np.column_stack([inner + n, inner + 1])
    child[-1, 1] = 2 * n
    counts = np.zeros((2 * n + 1, 2))
    counts[n:, 0] = 1
    counts[:n, 0] = np.arange(n + 1, 1, -1)
    tree = Tree(
        kind=kind,
        feature=np.where(kind, 0, -1),
        threshold=np.where(kind, np.concatenate([inner, np.zeros(n + 1)]), np.nan),
        child_start=np.concatenate([2 * inner, np.full(n + 2, 2 * n)]),
        child=child.ravel(),
        missing=np.full(2 * n + 1, -2),
        counts=counts,
        label=np.concatenate([np.zeros(n, int), np.arange(n + 1) % 2]),
        classes=[0, 1],
        n_features=1,
    )
    X = np.array([[-3.0], [0.25], [1234.5], [9998.9], [20000.0]])
    boundary = Boundary(tree, Metric(scales=[2.0])).fit(X)
    np.testing.assert_allclose(boundary.distance(X), [1.5, 0.125, 0.25, 0.05, 5000.5], atol=1e-12)
    np.testing.assert_array_equal(boundary.nearest(X).separator, [0, 0, 1234, 9999, 9999])
    assert boundary.program_.double.n_slots <= 3


def test_slots_grow_logarithmically_with_the_number_of_leaves():
    tree = make((500, 9, 6, 2, "float64", None))
    assert fitted(tree, random_rows(tree, 0)).program_.double.n_slots <= 12


def test_a_tree_with_one_leaf_or_one_class_has_no_boundary():
    leaf = Tree(
        kind=[0], feature=[-1], threshold=[np.nan], child_start=[0, 0], child=[], missing=[-2],
        counts=[[3, 4, 0]], classes=["a", "b", "c"], n_features=2,
    )  # fmt: skip
    X = np.array([[1.0, 2.0], [3.0, np.nan]])
    for tree, h in ((leaf, [np.inf, -np.inf, np.inf]), (stump((1, 1)), [np.inf, -np.inf])):
        boundary = Boundary(tree).fit(X)
        np.testing.assert_array_equal(boundary.signed_distance(X), [h, h])
        np.testing.assert_array_equal(boundary.distance(X), [np.inf, np.inf])
        nearest = boundary.nearest(X)
        np.testing.assert_array_equal(nearest.leaf, [-1, -1])
        np.testing.assert_array_equal(nearest.separator, [-1, -1])
        np.testing.assert_array_equal(nearest.predicted, tree.classes[[1, 1]])
        assert np.isnan(nearest.point).all()
    one = Tree(
        kind=[0], feature=[-1], threshold=[np.nan], child_start=[0, 0], child=[], missing=[-2],
        counts=[[3]], classes=["a"], n_features=1,
    )  # fmt: skip
    np.testing.assert_array_equal(Boundary(one).fit([[1.0]]).signed_distance([[1.0]]), [[-np.inf]])


def test_a_class_without_a_leaf_is_infinitely_far():
    tree = stump(classes=["no", "yes", "never"], counts=np.ones((3, 3)) * [[2], [1], [1]])
    boundary = Boundary(tree).fit([[1.0, 0.0], [4.0, 0.0]])
    h = boundary.signed_distance([[1.0, 0.0]])
    np.testing.assert_allclose(h[:, tree.declared], [[-1.0, 1.0, np.inf]])
    np.testing.assert_array_equal(tree.classes[boundary.region_classes_], ["no", "yes"])
    assert boundary.nearest([[1.0, 0.0]], target="never").distance[0] == np.inf


def test_a_leaf_that_no_float32_reaches_is_not_a_region():
    gap = np.float64(np.float32(1.0)) + 1e-12  # no float32 lies in (1, 1 + 1e-12]
    tree = Tree(
        kind=[1, 0, 1, 0, 0], feature=[0, -1, 0, -1, -1],
        threshold=[1.0, np.nan, gap, np.nan, np.nan],
        child_start=[0, 2, 2, 4, 4, 4], child=[1, 2, 3, 4], missing=[-2] * 5,
        counts=[[2, 1], [1, 0], [1, 1], [0, 1], [1, 0]], classes=[0, 1], n_features=1,
    )  # fmt: skip
    X = np.array([[0.0], [3.0]])
    assert np.isfinite(Boundary(tree).fit(X).distance(X)).all()
    narrow = rebuilt(tree, compare_dtype="float32")
    np.testing.assert_array_equal(Boundary(narrow).fit(X).distance(X), [np.inf, np.inf])


def test_a_case_on_a_threshold_has_distance_zero_and_moves_just_beyond_it():
    boundary = Boundary(stump(), Metric(scales=[2.0, 1.0])).fit(np.eye(2))
    nearest = boundary.nearest([[2.5, 0.0], [3.5, 0.0]])
    np.testing.assert_array_equal(nearest.distance, [0.0, 0.5])
    np.testing.assert_array_equal(nearest.point, [[np.nextafter(2.5, 3), 0.0], [2.5, 0.0]])
    np.testing.assert_array_equal(nearest.predicted, ["yes", "no"])
    np.testing.assert_array_equal(boundary.signed_distance([[2.5, 0.0]]), [[0.0, 0.0]])


def test_the_nearest_point_has_the_target_class_and_a_case_of_that_class_does_not_move():
    tree = make(CASES[2])
    X = random_rows(tree, 12, n=60)
    rows, boundary = decode(tree, X), fitted(tree, X)
    own, h = own_class(tree, X), reference.signed_distance(tree, boundary.metric_, X)
    wanted = np.arange(len(X)) % 3
    one_each = boundary.nearest(rows, target=wanted * 10)
    for c in range(3):
        nearest = boundary.nearest(rows, target=10 * c)
        close(nearest.distance, np.where(own == c, 0.0, np.maximum(h[:, c], 0.0)))
        np.testing.assert_array_equal(nearest.predicted, 10 * c)
        np.testing.assert_array_equal(tree.predict(decode(tree, nearest.point)), 10 * c)
        assert np.array_equal(nearest.point[own == c], X[own == c])
        assert (nearest.separator[own == c] == -1).all()
        both = arrays(one_each), arrays(nearest)
        assert equal(*([a[wanted == c] for a in one] for one in both))


def test_a_missing_value_costs_nothing_and_is_filled_only_if_necessary():
    tree = stump(missing=[1, -2, -2])
    boundary = Boundary(tree).fit([[1.0, 0.0], [4.0, 0.0]])
    X = np.array([[np.nan, 7.0]])
    np.testing.assert_array_equal(boundary.signed_distance(X), [[0.0, 0.0]])
    there = boundary.nearest(X)
    np.testing.assert_array_equal(there.point, [[np.nextafter(2.5, 3), 7.0]])
    stay = boundary.nearest(X, target="no")
    np.testing.assert_array_equal(stay.point, X)


def test_shares_equal_up_to_rounding_give_the_first_class_as_in_the_tree():
    counts = [[24_999_999, 25_000_001], [24_999_999, 0], [0, 25_000_001]]
    tree = stump(missing=[-1, -2, -2], counts=counts)
    X = np.array([[np.nan, 7.0]])
    nearest = Boundary(tree).fit([[1.0, 0.0], [4.0, 0.0]]).nearest(X)
    np.testing.assert_array_equal(tree.predict(X), ["no"])
    np.testing.assert_array_equal(nearest.predicted, ["yes"])
    np.testing.assert_array_equal(tree.predict(nearest.point), ["yes"])


def test_the_separator_is_found_with_values_rounded_as_the_model_compares_them():
    tree = stump(compare_dtype="float32", threshold=[1 + 1e-8, np.nan, np.nan])
    boundary = Boundary(tree).fit([[1.0, 0.0], [4.0, 0.0]])
    X = np.array([[1 + 3e-8, 0.0]])  # above the threshold, but not when rounded to float32
    nearest = boundary.nearest(X)
    assert 0 < nearest.distance[0] < 1e-8
    np.testing.assert_array_equal(nearest.separator, [0])
    np.testing.assert_array_equal(boundary.nearest_separators(X)[1], [0])


def test_huge_values_give_finite_distances():
    for dtype in ("float64", "float32"):
        boundary = Boundary(stump(compare_dtype=dtype)).fit([[1.0, 0.0], [4.0, 0.0]])
        X = np.array([[1e300, 0.0], [-1e300, 0.0], [1.7e308, 0.0], [3.4e38, 0.0]])
        h, single = boundary.signed_distance(X), boundary.algebraic_distance(X)
        assert np.isfinite(h).all()
        assert np.isfinite(single).all()
        np.testing.assert_array_equal(np.sign(h[:, 0]), [1, -1, 1, 1])
        np.testing.assert_array_equal(np.sign(single[:, 0]), [1, -1, 1, 1])
        assert np.isfinite(boundary.nearest(X).distance).all()


def test_nearest_points_of_a_scikit_learn_tree_agree_with_its_own_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).round(1)
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=600) > 0.5).astype(int)
    model = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(X, y)
    boundary = Boundary(model).fit(X)
    nearest = boundary.nearest(X)
    assert (model.predict(nearest.point) != model.predict(X)).all()
    np.testing.assert_array_equal(model.apply(nearest.point), nearest.leaf)
    close(boundary.signed_distance(X), reference.signed_distance(keep(model), boundary.metric_, X))


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_error_for_infinity_names_row_and_column_even_if_no_test_uses_the_column(
    bad, column, order
):
    boundary = Boundary(stump()).fit(np.eye(2))
    X = np.zeros((300, 2), order=order)
    X[270, column] = bad
    name = ("age", "income")[column]
    message = f"Input X contains infinity: row 270, column '{name}'"
    for call in (boundary.distance, boundary.signed_distance, boundary.nearest, boundary.fit):
        with pytest.raises(ValueError, match=message):
            call(X)
    with pytest.raises(ValueError, match=message):
        boundary.algebraic_distance(X)


def test_the_error_for_a_missing_value_without_a_rule_names_the_row():
    boundary = Boundary(stump()).fit(np.eye(2))
    X = np.zeros((300, 2))
    X[123, 1] = np.nan  # no test uses this column
    assert np.isfinite(boundary.distance(X)).all()
    X[271, 0] = np.nan
    for call in (boundary.distance, boundary.signed_distance, boundary.nearest):
        with pytest.raises(ValueError, match="Row 271 has no value for 'age'"):
            call(X)


def test_labels_are_converted_to_class_codes_of_the_tree(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    labels = np.array(["yes", "no"])[y]
    boundary, samples = Boundary(DecisionTreeClassifier(max_depth=2).fit(X, labels)), []
    monkeypatch.setattr(boundary, "fit_sample", samples.append)
    boundary.fit(X, labels.tolist())
    np.testing.assert_array_equal(samples[0].y, 1 - y)
    boundary.fit(X)
    assert samples[1].y is None
    with pytest.raises(ValueError, match="does not know the labels"):
        boundary.fit(X, y)


def test_a_pipeline_is_refused_because_its_tree_tests_transformed_columns():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    model = make_pipeline(PCA(), DecisionTreeClassifier(max_depth=2)).fit(X * 100, y)
    with pytest.raises(ValueError, match=r"give kt.keep\(pipeline, fold=False\) and the tra"):
        Boundary(model).fit(X * 100)
    rows = model[:-1].transform(X * 100)
    assert Boundary(keep(model, fold=False)).fit(rows).n_features_in_ == 2
    scaled = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X * 100, y)
    assert Boundary(scaled).fit(X * 100).n_features_in_ == 2  # the number of raw columns
    alone = make_pipeline(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert Boundary(alone).fit(X).n_features_in_ == 2  # nothing is transformed


def test_an_invalid_target_metric_or_tree_raises_a_clear_error():
    boundary = Boundary(stump()).fit(np.eye(2))
    with pytest.raises(ValueError, match="target 'perhaps' is not a class of the tree"):
        boundary.nearest(np.eye(2), target="perhaps")
    with pytest.raises(ValueError, match="target has shape"):
        boundary.nearest(np.eye(2), target=["no"] * 3)
    with pytest.raises(ValueError, match="is not a metric"):
        Boundary(stump(), metric="manhattan").fit(np.eye(2))
    with pytest.raises(ValueError, match="is not a metric"):
        Boundary(stump(), metric=3).fit(np.eye(2))
    with pytest.raises(ValueError, match="columns"):
        boundary.distance(np.ones((2, 3)))
    with pytest.raises(ValueError, match="regression tree"):
        Boundary(DecisionTreeRegressor(max_depth=2).fit(np.eye(3), [1, 2, 3])).fit(np.eye(3))
    with pytest.raises(ValueError, match="y has 3 labels, but X has 2 rows"):
        Boundary(stump()).fit(np.eye(2), [0, 1, 1])


def test_a_category_that_need_not_change_stays_even_if_another_costs_nothing():
    tree = Tree(
        kind=[1, 0, 2, 0, 0], feature=[1, -1, 0, -1, -1], threshold=[0.0, *[np.nan] * 4],
        child_start=[0, 2, 2, 4, 4, 4], child=[1, 2, 3, 4], missing=[-2] * 5,
        category_start=[0, 0, 0, 3, 3, 3], category_child=[3, 3, 4],
        counts=[[4, 4], [2, 0], [2, 4], [0, 4], [2, 0]], classes=["no", "yes"], n_features=2,
        categories=[("a", "b", "c"), None],
    )  # fmt: skip
    alike = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]  # changing a into b costs nothing
    metric = Metric(scales=[1.0, 1.0], nominal={0: alike})
    X = np.array([["b", -1.0], ["a", 1.0]], dtype=object)
    nearest = Boundary(tree, metric).fit(X).nearest(X[:1])
    np.testing.assert_array_equal(nearest.point, [[1.0, np.nextafter(0.0, 1.0)]])
    assert nearest.predicted[0] == "yes"
