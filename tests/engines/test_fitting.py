"""``kt.fit_table`` counts all rows and draws the same sample from every kind of table."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.engines.tally import Survey, Tally, count_batches, mix
from keeptree.saving import to_json
from tests.data.loans import draw
from tests.engines.clusters import CLUSTERS
from tests.engines.tables import LOCAL

NUMBERS = ["age", "owner"]
every_kind = pytest.mark.parametrize("kind", [k for k in LOCAL if k != "polars streaming"])


@pytest.fixture(scope="module")
def loans():
    return draw(3000, seed=5)[["id", "age", "owner", "area", "risk"]]


@pytest.fixture(scope="module")
def tree(loans):
    part = loans[:500]
    return kt.keep(kt.C45Classifier().fit(part[["age", "owner", "area"]], part["risk"]))


def fit(table, tree, **options):
    return kt.fit_table(kt.SoftTreeClassifier(tree), table, "risk", **options)


@every_kind
def test_all_rows_are_counted_and_the_decisions_stay_the_same(kind, loans, tree):
    model = fit(LOCAL[kind][0](loans), tree, sample=200)
    X, y = loans[["age", "owner", "area"]], loans["risk"]
    assert np.array_equal(model.tree_.counts, kt.keep(tree, X, y).counts)
    assert model.predict(X).tolist() == tree.predict(X).tolist()


def test_the_model_file_records_rows_sample_and_seed(loans, tree, tmp_path):
    kt.save(fit(loans, tree, sample=200, random_state=7), tmp_path / "model.json")
    source = kt.load(tmp_path / "model.json").tree_.source
    assert (source["counts"], source["sample"]) == ("3000 rows of data", "200 rows, seed 7")


@every_kind
def test_with_a_key_every_kind_of_table_draws_the_same_rows(kind, loans, tree):
    p = fit(loans, tree, sample=300, key="id").predict_proba(loans[["age", "owner", "area"]])
    shuffled = loans.sample(frac=1, random_state=0, ignore_index=True)
    other = fit(LOCAL[kind][0](shuffled), tree, sample=300, key="id")
    assert other.predict_proba(loans[["age", "owner", "area"]]).tobytes() == p.tobytes()


def test_the_sample_depends_on_the_seed_but_not_on_the_size_of_blocks(loans, tree):
    import pyarrow as pa

    table = pa.Table.from_pandas(loans)
    survey = Survey(None, ("id",), "risk", 100, None, 0)
    drawn = [
        count_batches(table.to_batches(max_chunksize=size), survey).sample(survey)
        for size in (1, 17, 5000)
    ]
    assert drawn[0].equals(drawn[1])
    assert drawn[1].equals(drawn[2])
    other = Survey(None, ("id",), "risk", 100, None, 1)
    assert not count_batches(table.to_batches(), other).sample(other).equals(drawn[0])


def test_the_sample_keeps_the_class_shares_and_has_no_duplicate_rows(loans):
    import pyarrow as pa

    rare = loans.assign(risk=np.where(loans.index % 500 == 3, "rare", loans["risk"]))
    survey = Survey(None, ("id",), "risk", 400, None, 3)
    drawn = count_batches(pa.Table.from_pandas(rare).to_batches(max_chunksize=100), survey)
    assert len(drawn.drawn) < 3 * 400 + 300  # rows that can no longer be drawn are dropped
    found = drawn.sample(survey).to_pandas()
    assert found["id"].is_unique
    share = rare["risk"].value_counts() / len(rare)
    count = found["risk"].value_counts()
    assert count["rare"] == 6  # all of them, because there are fewer than ten
    assert abs(count[["high", "low"]] - 400 * share[["high", "low"]]).max() < 1


def test_every_row_is_equally_likely_to_be_drawn():
    numbers = np.arange(200_000, dtype=np.uint64)
    for seed in (0, 1):
        share = (mix(numbers, seed) < np.uint64(2**62)).reshape(20, -1).mean(axis=1)
        assert abs(share - 0.25).max() < 6 * np.sqrt(0.25 * 0.75 / 10_000)
    both = (mix(numbers, 0) < np.uint64(2**62)) & (mix(numbers, 1) < np.uint64(2**62))
    assert abs(both.mean() - 0.0625) < 6 * np.sqrt(0.0625 / 200_000)


def test_a_fitted_learner_is_refitted_on_folds_of_the_sample(loans):
    X, y = loans[NUMBERS].astype(float), loans["risk"]
    clf = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y)
    table = X.assign(risk=y)
    whole = kt.fit_table(kt.KeptTreeClassifier(clf), table, "risk", sample=10_000)
    plain = kt.KeptTreeClassifier(clf).fit(X, y)
    assert whole.predict(X).tolist() == clf.predict(X).tolist()
    # The sample is the whole table in another order, so only the folds differ.
    assert list(whole.weights_.values())[:2] != [0.1, 0.4]
    assert abs(whole.predict_proba(X) - plain.predict_proba(X)).max() < 0.1


def test_an_unfitted_learner_grows_a_tree_on_the_sample_and_counts_all_rows(loans):
    table = loans.drop(columns="id")
    model = kt.fit_table(kt.SoftTreeClassifier(), table, "risk", sample=500)
    assert model.tree_.weight[0] == 3000
    assert model.tree_.source["sample"] == "500 rows, seed 0"


def test_serialising_a_tally_preserves_every_bit(loans, tree):
    import pyarrow as pa

    survey = Survey(to_json(tree), ("age", "owner", "area"), "risk", 50, None, 0)
    tally = count_batches(pa.Table.from_pandas(loans).to_batches(), survey)
    again = Tally.from_bytes(tally.to_bytes())
    assert again.drawn.equals(tally.drawn)
    assert again.counts.tobytes() == tally.counts.tobytes()
    assert (again.rows, again.classes) == (tally.rows, tally.classes)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"target": "rsik"}, "There is no column 'rsik'; did you mean 'risk'"),
        ({"sample": 3}, "sample=3 must be an integer of at least 10"),
        ({"random_state": -1}, "random_state=-1 must be a non-negative integer"),
        ({"table": {"risk": "high"}}, "The target 'risk' has only one value; at least two"),
        ({"table": {"risk": None}}, "The target 'risk' is None in row 1, but the tree knows high"),
        ({"table": {"risk": "huge"}}, "The target 'risk' is 'huge' in row 1, but the tree knows"),
    ],
)
def test_bad_arguments_raise_clear_errors(loans, tree, change, sentence):
    options = {"target": "risk", **change}
    table = loans.assign(**options.pop("table", {}))
    with pytest.raises(ValueError, match=sentence):
        kt.fit_table(kt.SoftTreeClassifier(tree), table, **options)


def test_only_keeptree_classifiers_are_accepted(loans):
    with pytest.raises(TypeError, match="needs a KeepTree classifier, got DecisionTreeClas"):
        kt.fit_table(DecisionTreeClassifier(), loans, "risk")


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_counts_and_draws_like_a_single_process(name, loans, tree):
    start, to_table, _ = CLUSTERS[name]
    parts = [loans[:1000], loans[1000:1000], loans[1000:1001], loans[1001:]]
    expected = fit(loans, tree, sample=300, key="id")
    with start() as running:
        model = fit(to_table(running, parts), tree, sample=300, key="id")
    X = loans[["age", "owner", "area"]]
    assert np.array_equal(model.tree_.counts, expected.tree_.counts)
    assert model.predict_proba(X).tobytes() == expected.predict_proba(X).tobytes()


def test_a_learner_is_not_refitted_on_far_more_rows_than_its_tree_was_grown_on(loans):
    """Trees grown on such folds are better than the kept tree, so their settings do not suit it."""
    X, y = loans[NUMBERS].astype(float), loans["risk"]
    clf = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X[:300], y[:300])
    model = kt.fit_table(kt.KeptTreeClassifier(clf), X.assign(risk=y), "risk", sample=1000)
    assert list(model.weights_.values())[:2] == [0.1, 0.4]  # the defaults
    assert model.tree_.weight[0] == 3000


def test_a_signed_tree_is_recognised_after_recounting(loans, tree, tmp_path):
    model = fit(loans, tree.sign("Ada Lovelace"), sample=200)
    kt.save(model, tmp_path / "model.json")
    found = kt.verify_file(tmp_path / "model.json")
    assert [signature.by for signature in found.before_recount] == ["Ada Lovelace"]
    assert not found.signed
    assert not found.foreign


@pytest.fixture(scope="module")
def small_tree(loans):
    part = loans[:250]
    return kt.keep(kt.C45Classifier().fit(part[["age", "owner", "area"]], part["risk"]))


def test_the_folds_of_a_ten_times_larger_sample_use_the_kept_tree(loans, small_tree):
    few, many = (fit(loans, small_tree, sample=n) for n in (2000, 2600))
    assert isinstance(few.estimator, kt.Tree)
    fold = clone(many.estimator).fit(loans[["age", "owner", "area"]][:50], loans["risk"][:50])
    assert fold.tree_.digest == many.tree_.digest


def test_settings_for_a_tree_without_a_learner_are_chosen_on_a_large_sample(loans, small_tree):
    model = kt.fit_table(kt.KeptTreeClassifier(small_tree), loans, "risk", sample=2600)
    assert list(model.weights_.values())[:2] != [0.1, 0.4]  # the defaults
    X = loans[["age", "owner", "area"]]
    assert model.predict(X).tolist() == small_tree.predict(X).tolist()
    assert model.calibration_ is None  # the tree may have seen some of these cases
    assert model.spread_ is None
