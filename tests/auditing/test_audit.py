"""An audit raises no alarm when nothing has changed, and names what has."""

import html
import json
import re
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.auditing.columns import compare_columns
from keeptree.auditing.count import AuditCount
from keeptree.data.reference import describe_columns
from keeptree.data.sample import Sample
from keeptree.explanation.unfamiliar import find_unseen


def draw(n, seed, *, income=0.0):
    """Return loans with numeric, integer and nominal columns, and outcomes that depend on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(3 + income, 0.5, n).round(1),
            "job": rng.choice(["craft", "none", "office"], n, p=[0.3, 0.2, 0.5]),
            "shoe": rng.integers(36, 47, n).astype(float),
        }
    )
    score = 0.05 * (frame["age"] - 45) + 0.1 * (frame["income"] - 20) + (frame["job"] == "office")
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "repaid", "default")
    return frame, outcome


@pytest.fixture(scope="module")
def model():
    X, y = draw(2000, 0)
    return kt.KeptTreeClassifier(kt.C45Classifier(min_samples_leaf=40)).fit(X, y)


def test_nothing_is_reported_when_nothing_has_changed(model):
    X, y = draw(1500, 1)
    result = kt.audit(model, X, y)
    assert not result.drift
    assert not result.inaccurate
    assert result.aged is None
    assert result.verdict.startswith("No alarm")
    assert abs(result.expected.accuracy - result.realised.accuracy) < 0.03
    assert result.expected.low < result.realised.accuracy < result.expected.high


def test_a_shifted_column_is_named_and_the_expected_accuracy_is_adjusted(model):
    X, y = draw(3000, 2, income=0.6)
    result = kt.audit(model, X, y)
    assert [column.name for column in result.columns if column.changed] == ["income"]
    assert result.drift
    assert not result.inaccurate
    assert "income" in result.verdict
    # Covariate shift: the probabilities stay valid, and so does the estimate.
    assert abs(result.expected.accuracy - result.realised.accuracy) < 0.02


def test_small_changes_are_reported_as_too_small_and_not_as_chance():
    """With many cases a change may be far beyond chance and still too small to matter."""
    X, y = draw(20_000, 60)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(min_samples_leaf=400)).fit(X, y)
    result = kt.audit(model, draw(20_000, 61, income=0.08)[0])
    income = next(column for column in result.columns if column.name == "income")
    assert income.p_values["distribution"] < 1e-6
    assert (income.changed, income.slight) == ((), ("distribution",))
    assert not result.drift
    assert "by more than chance in income, but by too little to matter" in result.verdict
    assert "look like" not in result.verdict
    assert "by more than chance, but by too little to matter:\n  income: distribution" in str(
        result
    )
    assert "within chance" not in result.to_html()
    assert "income changed by more than chance, but by too little" in result.to_html()
    assert [c["slight"] for c in result.to_dict()["columns"] if c["slight"]] == [["distribution"]]
    assert "within chance" in kt.audit(model, draw(2000, 62)[0]).to_html()


def test_a_label_shift_is_mentioned_without_outcomes(model):
    X, _ = draw_classes(1500, 30, 0.85)
    result = kt.audit(model, X)
    repaid = next(found for found in result.expected_classes if found.name == "repaid")
    assert repaid.share == pytest.approx(model.predict_proba(X)[:, 1].mean())
    assert repaid.share_before == pytest.approx((draw(2000, 0)[1] == "repaid").mean(), abs=0.02)
    assert repaid.changed
    assert result.drift
    now, before = f"{100 * repaid.share:.1f}%", f"{100 * repaid.share_before:.1f}%"
    told = f"the probabilities expect {now} of the cases to be repaid ({before} at fit)"
    assert told in result.verdict
    assert f"repaid {now} ({before} at fit). They have changed by more than chance" in str(result)
    assert f"repaid {now} ({before} at fit)" in result.to_html()
    assert result.to_dict()["expected_classes"][1]["changed"] is True


def test_the_expected_class_shares_are_compared_without_false_alarms(model):
    changed = [kt.audit(model, draw(n, 70)[0]).expected_classes for n in (1, 5, 30, 300, 3000)]
    assert not any(found.changed for classes in changed for found in classes)
    p_values = [
        next(iter(kt.audit(model, draw(500, seed)[0]).expected_classes)).p_value
        for seed in range(100, 140)
    ]
    assert 1 <= sum(p < 0.25 for p in p_values) <= 20  # neither too large nor too small


def test_the_expected_accuracy_is_not_trusted_beyond_the_training_sample(model, tmp_path):
    """The model has learned nothing about incomes in other units, however sure it seems."""
    X, y = draw(1000, 63)
    wrong = X.assign(income=X["income"] / 1000)
    result = kt.audit(model, wrong)
    assert result.expected.beyond > 0.95
    assert not result.expected.trusted
    assert result.inaccurate
    assert "the accuracy of the tree cannot be estimated, because" in result.verdict
    assert "Do not trust it" in str(result)
    assert result.to_dict()["expected"]["trusted"] is False
    assert "not trusted" in result.to_html()
    # Some cases with other units, or with unseen categories, are enough; a few are not.
    for step, trusted in ((5, False), (25, True)):
        some = np.arange(1000) % step == 0
        partly = X.assign(income=X["income"].mask(some, wrong["income"]))
        assert kt.audit(model, partly).expected.trusted == trusted
        gig = X.assign(job=X["job"].mask(some, "gig"))
        assert kt.audit(model, gig).expected.trusted == trusted
    # A column that the model does not read is irrelevant, and so are known outcomes.
    shoe = kt.audit(model, X.assign(shoe=400.0))
    assert "shoe" not in {model.tree_.feature_name(f) for f in model.read_columns.tolist()}
    assert shoe.expected.trusted
    seeing = kt.audit(model, gig, y)
    assert "cannot be estimated" not in seeing.verdict


def test_few_training_cases_do_not_make_the_expected_accuracy_doubtful():
    """With 60 training cases, many new cases are outside the range of some column by chance."""
    rng = np.random.default_rng(64)
    X, new = rng.normal(size=(60, 8)), rng.normal(size=(500, 8))
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(min_samples_leaf=2))
    model.fit(X, X.sum(axis=1) + rng.normal(size=60) > 0)
    result = kt.audit(model, new)
    assert len(model.read_columns) > 3
    assert result.expected.beyond > 0.05
    assert result.expected.trusted


def test_the_page_shows_the_leaves_that_the_text_names(model):
    result = kt.audit(model, draw(2000, 65)[0])
    largest = max(result.leaves, key=lambda leaf: leaf.share)
    leaves = [replace(leaf, moved=leaf is largest) for leaf in result.leaves]
    result = replace(result, leaves=tuple(leaves))
    assert f"Leaves whose expected accuracy changed:\n  {largest.rule}" in str(result)
    part = result.to_html().split('<section id="leaves">')[1].split("<details")
    assert "<h3>Expected accuracy changed</h3>" in part[0]
    assert f'class="changed">{escape(largest.rule)}<' in part[0]
    assert f"{len(leaves) - 1} other leaves as before" in part[1]
    assert part[1].count("<tr>") == len(leaves)  # with the head


def test_every_figure_of_the_page_has_a_label_on_narrow_screens(model):
    X, y = draw(500, 66)
    page = kt.audit(model, X, y).to_html()
    for table in page.split('<table class="stack">')[1:]:
        head, body = table.split("</thead>")
        names = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', head)[1:]
        for row in body.split("</table>")[0].split("</tr>")[:-1]:
            assert re.findall(r'<td data-label="(.*?)"', row) == names
            assert len(names) == row.count("<td")


def test_a_broken_sensor_new_categories_and_missing_values_are_distinguished(model):
    X, _ = draw(1000, 3)
    X["job"] = X["job"].where(np.arange(1000) % 10 > 0, "gig")
    X["shoe"] = X["shoe"].where(np.arange(1000) % 5 > 0)
    X["age"] = 300
    changed = {column.name: column.changed for column in kt.audit(model, X).columns}
    assert changed["job"] == ("unseen",)
    assert changed["shoe"] == ("missing",)
    assert set(changed["age"]) == {"distribution", "outside"}
    assert changed["income"] == ()


def test_a_concept_shift_and_its_leaves_are_detected_only_with_outcomes(model):
    X, y = draw(2000, 4)
    old = X["age"] > 50
    y = np.where(old, np.where(y == "repaid", "default", "repaid"), y)
    blind, seeing = kt.audit(model, X), kt.audit(model, X, y)
    assert not blind.drift
    assert not blind.inaccurate
    assert seeing.inaccurate
    assert seeing.aged == "tree"
    changed = [leaf for leaf in seeing.leaves if leaf.changed]
    assert changed
    assert "review the tree" in seeing.verdict


def draw_classes(n, seed, repaid):
    """Return cases with label shift, of which a share ``repaid`` is repaid."""
    X, y = draw(6 * n, seed)
    kept = [np.flatnonzero(y == "repaid")[: round(repaid * n)]]
    kept += [np.flatnonzero(y == "default")[: n - len(kept[0])]]
    rows = np.concatenate(kept)
    return X.iloc[rows].reset_index(drop=True), y[rows]


@pytest.mark.filterwarnings("ignore:The tree has no tests")
def test_a_tree_without_tests_is_not_said_to_separate_the_classes():
    X, y = draw(2000, 0)
    alone = kt.KeptTreeClassifier(kt.C45Classifier(max_depth=0)).fit(X[["age"]], y)
    X, y = draw_classes(1500, 30, 0.25)
    verdict = kt.audit(alone, X[["age"]], y).verdict
    assert "the shares of the classes have changed" in verdict
    assert "separates" not in verdict


@pytest.mark.parametrize("repaid", [0.25, 0.85])
def test_changed_class_shares_require_a_refit_but_no_new_tree(model, repaid):
    X, y = draw_classes(1500, 30, repaid)
    result = kt.audit(model, X, y)
    assert result.inaccurate
    assert result.aged == "classes"
    risen = max(result.classes, key=lambda found: found.share - found.share_before)
    share = f"{risen.name} {100 * risen.share:.1f}%, {100 * risen.share_before:.1f}% at fit"
    assert share in result.verdict
    assert "refit the model around the same tree" in result.verdict
    # The tree recognises the cases of each class as often as before.
    for found in result.classes:
        assert found.right / found.cases == pytest.approx(found.right_before, abs=0.05)
    # The verdict counts leaves whose decision is no longer their commonest class.
    other = [leaf for leaf in result.leaves if leaf.changed and leaf.commonest != leaf.decision]
    assert (f"review its decision in {len(other)} lea" in result.verdict) == bool(other)


def test_class_shares_that_the_probabilities_predict_raise_no_alarm(model):
    X, y = draw(3000, 31, income=0.6)
    result = kt.audit(model, X, y)
    moved = max(abs(found.share - found.share_before) for found in result.classes)
    assert moved > 0.05
    assert not any(found.changed for found in result.classes)
    assert result.aged in (None, "cases")


def test_a_recoded_column_is_reported_as_the_cause():
    X, y = draw(3000, 32)
    y = np.where(X["job"] == "office", "repaid", "default")
    y = np.where(np.arange(3000) % 10 == 0, "default", y)
    model = kt.KeptTreeClassifier(kt.C45Classifier(min_samples_leaf=40)).fit(X[:2000], y[:2000])
    new = X[2000:].assign(job=X["job"].replace({"office": "OFFICE"}))
    result = kt.audit(model, new, y[2000:])
    assert result.drift
    assert result.inaccurate
    assert result.aged in ("tree", "estimate")
    assert "check the changed columns" in result.verdict


def test_the_share_of_a_rare_class_is_compared_exactly():
    """A few more cases of a rare class than expected may be chance; three times as many are not."""
    rng = np.random.default_rng(33)
    X = pd.DataFrame({"a": rng.normal(size=4000), "b": rng.normal(size=4000)})
    y = np.where(rng.random(4000) < 0.01 + 0.05 * (X["a"] > 1.5), "fraud", "fair")
    model = kt.KeptTreeClassifier(kt.C45Classifier(min_samples_leaf=50)).fit(X[:3000], y[:3000])
    new, outcome = X[3000:], y[3000:].copy()
    assert not any(found.changed for found in kt.audit(model, new, outcome).classes)
    outcome[:40] = "fraud"
    changed = [found.name for found in kt.audit(model, new, outcome).classes if found.changed]
    assert "fraud" in changed


def test_a_leaf_that_improves_as_predicted_raises_no_alarm(model):
    """Far from the thresholds, decisions are more often right, as the probabilities predict."""
    X, y = draw(60_000, 34)
    p = model.predict_proba(X).max(axis=1)
    sure = np.flatnonzero(p > np.quantile(p, 0.6))[:4000]
    result = kt.audit(model, X.iloc[sure], y[sure])
    better = [leaf for leaf in result.leaves if leaf.changed and leaf.improved]
    assert better
    assert not result.inaccurate
    assert result.aged == "cases"


def test_an_older_model_without_class_sums_can_be_audited(model, tmp_path):
    kt.save(model, tmp_path / "model.json")
    old = kt.load(tmp_path / "model.json")
    old.expected_ = replace(old.expected_, classes=None)
    X, y = draw_classes(1500, 30, 0.25)
    result = kt.audit(old, X, y)
    assert result.inaccurate
    assert result.aged == "tree"
    assert all(found.share_before is None for found in result.classes)
    assert "at fit)" not in str(result).split("Realised accuracy")[1].split("Calibration")[0]
    result.to_html()
    blind = kt.audit(old, X)
    assert all(found.share_before is None for found in blind.expected_classes)
    assert not any(found.changed for found in blind.expected_classes)
    assert "Expected class shares: default" in str(blind)


def test_outcomes_may_be_missing_or_of_a_new_class(model):
    X, y = draw(1000, 5)
    y = y.astype(object)
    y[:400] = None
    y[400:450] = "fraud"
    result = kt.audit(model, X, y)
    assert result.realised.cases == 600
    assert result.realised.new_classes == 50
    assert sum(found.cases for found in result.classes) == 550
    assert result.inaccurate
    assert "50 cases belong to a class that the tree does not know" in result.verdict
    assert kt.audit(model, X, np.full(1000, None)).realised is None
    with pytest.raises(ValueError, match=r"None of the 1,000 outcomes .* \(.*repaid\); check"):
        kt.audit(model, X, np.zeros(1000))


def test_the_text_names_what_a_reader_needs_to_act(model):
    X, y = draw(800, 12)
    unused = next(c.name for c in kt.audit(model, X).columns if not c.tested)
    moved = kt.audit(model, X.assign(**{unused: X[unused].iloc[0]}))
    assert f"have changed in {unused}, which the model does not use" in moved.verdict
    assert "Without outcomes, a change in how the classes depend" in str(moved)
    part = max(moved.columns[-1].parts, key=lambda part: abs(part["now"] - part["before"]))
    stuck = next(line for line in str(moved).splitlines() if "stability index" in line)
    assert part["values"] in stuck
    assert "1 case is too few" in kt.audit(model, X[:1]).verdict
    outcome = y.astype(object)
    outcome[300:] = None
    partly = kt.audit(model, X, outcome)
    assert "of the 300 with a known outcome" in partly.verdict
    assert f"{100 * partly.classes[0].expected:.1f}% expected" in str(partly)


def test_sums_over_blocks_equal_a_naive_count(model):
    X, y = draw(300, 6)
    X.loc[::7, "income"] = np.nan
    count = AuditCount(model)
    codes = np.array([list(model.classes_).index(label) for label in y])
    for start in range(0, 300, 64):
        block = X[start : start + 64]
        rows = model.encode(block)
        count.add(rows, find_unseen(block, rows, model.tree_), codes[start : start + 64])
    p, decision, leaf = model.predict_proba(X), model.predict(X), model.tree_.apply(X)
    right = p[np.arange(300), [list(model.classes_).index(d) for d in decision]]
    assert count.leaf_expected.sum() == pytest.approx(right.sum())
    assert count.squares == pytest.approx((right**2).sum())
    assert count.leaf_right.sum() == (decision == y).sum()
    assert count.class_expected == pytest.approx(p.sum(axis=0))
    assert count.class_squares == pytest.approx((p**2).sum(axis=0))
    for node in np.unique(leaf):
        assert count.leaf_cases[node] == (leaf == node).sum()
        assert count.leaf_right[node] == ((leaf == node) & (decision == y)).sum()
        assert (
            count.leaf_classes[node].tolist()
            == np.bincount(codes[leaf == node], minlength=2).tolist()
        )
    reference = model.reference_
    k = list(model.feature_names_in_).index("income")
    naive = [(X["income"] <= point).sum() for point in reference.points[k]]
    assert count.below[k].tolist() == naive
    assert count.known[k] == X["income"].notna().sum()


def test_the_reference_statistics_of_a_small_sample_contain_no_rows(model):
    X, y = draw(9, 7)
    tree = model.tree_
    sample = Sample(tree, tree.encode(X), np.zeros(9, dtype=int))
    reference = describe_columns(sample)
    assert all(len(points) == 0 for points in reference.points)
    result = kt.audit(model, X, y)
    assert result.rows == 9


def test_columns_are_sorted_by_how_many_cases_they_decide(model):
    X, _ = draw(500, 8)
    rows = model.encode(X)
    count = AuditCount(model)
    count.add(rows, find_unseen(X, rows, model.tree_))
    tested = [column.tested for column in compare_columns(count)]
    assert tested == sorted(tested, reverse=True)
    root = model.tree_.feature_name(int(model.tree_.feature[0]))
    assert compare_columns(count)[0].name == root
    assert compare_columns(count)[0].tested == 1


def test_saved_models_and_data_files_give_the_same_audit(model, tmp_path):
    X, y = draw(700, 9, income=0.4)
    kt.save(model, tmp_path / "model.json")
    X.assign(outcome=y).to_csv(tmp_path / "new.csv", index=False)
    loaded = kt.load(tmp_path / "model.json")
    expected = kt.audit(model, X, y).to_dict()
    assert kt.audit(loaded, X, y).to_dict() == expected
    assert kt.audit_file(loaded, tmp_path / "new.csv", "outcome").to_dict() == expected


def test_wrapped_models_rankings_and_numpy_arrays_can_be_audited():
    X, y = draw(400, 10)
    numbers = X[["age", "income"]].to_numpy()
    tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(numbers, y)
    kept = kt.KeptTreeClassifier(FrozenEstimator(tree)).fit(numbers, y)
    assert kt.audit(FrozenEstimator(kept), numbers).expected.accuracy > 0.5
    rank = kt.GeometricRankClassifier(tree).fit(numbers, y)
    result = kt.audit(rank, numbers, y)
    # A ranking has no probabilities, so the expected accuracy comes from the leaves.
    smoothed = kt.SmoothedTreeClassifier(tree, smoothing="laplace").fit(numbers, y)
    assert result.expected.accuracy == pytest.approx(kt.audit(smoothed, numbers).expected.accuracy)
    assert result.expected.at_fit == pytest.approx(result.expected.accuracy)
    assert not result.inaccurate
    assert kt.audit(rank, numbers, np.where(y == "repaid", "default", "repaid")).inaccurate
    assert result.realised.accuracy == pytest.approx((tree.predict(numbers) == y).mean())
    json.dumps(result.to_dict(), allow_nan=False)
    assert "<h1>" in result.to_html()


def test_the_accuracy_at_fit_is_measured_out_of_fold():
    """A tree that memorises its sample is right on all of it, but not on new cases."""
    X, y = draw(1000, 35)
    learner = DecisionTreeClassifier(random_state=0)
    numbers = X[["age", "income", "shoe"]].to_numpy()
    model = kt.KeptTreeClassifier(learner).fit(numbers, y)
    assert (model.predict(numbers) == y).mean() > 0.99
    new, outcome = draw(4000, 36)
    result = kt.audit(model, new[["age", "income", "shoe"]].to_numpy(), outcome)
    assert result.expected.at_fit == pytest.approx(result.realised.accuracy, abs=0.04)
    assert not result.inaccurate


def test_a_kept_tree_without_its_learner_is_scored_on_halves_of_its_sample():
    X, y = draw(2000, 11)
    tree = kt.C45Classifier(min_samples_leaf=40).fit(X, y).tree_
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    assert not model.expected_.unseen
    new, _ = draw(4000, 12)
    assert abs(model.expected_.accuracy - kt.audit(model, new).expected.accuracy) < 0.015
    few = kt.KeptTreeClassifier(tree).fit(X[:3], y[:3])
    assert not few.expected_.unseen


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (lambda model, X, y: (model.tree_, X), "does not store its training sample"),
        (lambda model, X, y: (model, X, y[:-1]), "y has 199 outcomes, but X has 200 rows"),
        (lambda model, X, y: (model, X.drop(columns="job")), "job"),
    ],
)
def test_bad_input_is_refused(model, arguments, sentence):
    X, y = draw(200, 13)
    with pytest.raises((ValueError, TypeError), match=sentence):
        kt.audit(*arguments(model, X, y))
    with pytest.raises(ValueError, match="not a probability"):
        kt.audit(model, X, alpha=1.5)


def test_a_model_of_an_older_version_has_to_be_refitted(model, tmp_path):
    X, _ = draw(50, 14)
    kt.save(model, tmp_path / "model.json")
    old = kt.load(tmp_path / "model.json")
    del old.reference_, old.expected_
    kt.save(old, tmp_path / "old.json")
    with pytest.raises(ValueError, match="has no reference statistics"):
        kt.audit(kt.load(tmp_path / "old.json"), X)


def test_hostile_names_are_escaped_in_the_page():
    X, y = draw(300, 15)
    X = X.rename(columns={"job": "<script>alert(1)</script>"})
    y = np.where(y == "repaid", "<img src=x onerror=alert(2)>", y)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    page = kt.audit(model, X, y).to_html()
    assert "<script" not in page
    assert "<img" not in page


def test_the_shares_of_a_column_add_up_to_one_and_include_new_categories(model):
    X, _ = draw(600, 16)
    X["job"] = X["job"].where(np.arange(600) % 3 > 0, "gig")
    parts = {c.name: c.parts for c in kt.audit(model, X).columns}
    for found in parts.values():
        for which in ("before", "now"):
            assert sum(part[which] for part in found) == pytest.approx(1)
    assert parts["job"][-1]["values"] == "new categories"
    assert parts["job"][-1]["now"] == pytest.approx(1 / 3)


def test_columns_are_matched_by_name_and_extra_columns_are_listed(model, tmp_path):
    X, y = draw(600, 50)
    X["job"] = X["job"].where(np.arange(600) % 10 > 0, "gig")
    expected = kt.audit(model, X, y).to_dict()
    job = next(column for column in expected["columns"] if column["name"] == "job")
    assert job["new"] == ["gig"]
    assert kt.audit(model, X[X.columns[::-1]], y).to_dict() == expected
    wide = X[X.columns[::-1]].assign(shop="<b>", note=1.0)[["note", *X.columns[::-1], "shop"]]
    result = kt.audit(model, wide, y)
    assert result.ignored == ("note", "shop")
    ignored = {"ignored": ["note", "shop"], "likely_target": None}
    assert result.to_dict() == {**expected, **ignored}
    assert "does not know them: note, shop." in str(result)
    assert "does not know them: note, shop." in result.to_html()
    wide.assign(outcome=y).to_csv(tmp_path / "wide.csv", index=False)
    assert kt.audit_file(model, tmp_path / "wide.csv", "outcome").to_dict() == result.to_dict()


def test_a_list_of_rows_is_audited_block_by_block():
    X, y = draw(300, 51)
    numbers = X[["age", "income"]].to_numpy()
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(numbers, y)
    many = np.tile(numbers, (60, 1))
    assert kt.audit(model, many.tolist()).to_dict() == kt.audit(model, many).to_dict()


def test_large_numbers_are_written_with_all_digits():
    X, y = draw(400, 52)
    X["income"] = 1000 * X["income"] + 0.25
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(max_depth=2)).fit(X, y)
    result = kt.audit(model, X.assign(income=2 * X["income"]))
    income = next(column for column in result.columns if column.name == "income")
    assert re.fullmatch(r"> \d{5}\.\d+", income.parts[-1]["values"])
    assert not re.search(r"\de\d", str(result))


def test_few_outcomes_of_a_class_are_no_evidence_of_label_shift():
    X, y = draw_classes(1500, 30, 0.5)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(*draw_classes(2000, 31, 0.8))
    assert kt.audit(model, X, y).aged == "classes"
    few = np.r_[:45, -45:0]  # 45 of each class
    assert kt.audit(model, X.iloc[few], y[few]).aged != "classes"


def test_the_decisions_of_a_model_that_decides_by_cost_are_reported():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    costs = np.array([[0.0, 20.0], [1.0, 0.0]])
    model = kt.KeptTreeClassifier(decide="cost", costs=costs).fit(X[:300], y[:300])
    X, y = X[300:], y[300:].to_numpy()
    result, decided, by_tree = kt.audit(model, X, y), model.predict(X), model.tree_.predict(X)
    p, found = model.predict_proba(X), result.by_rule
    assert (decided != by_tree).any()
    assert found.differing == pytest.approx((decided != by_tree).mean())
    assert found.expected == pytest.approx(p[np.arange(len(p)), decided].mean())
    assert found.accuracy == pytest.approx((decided == y).mean())
    assert found.cost == pytest.approx(costs[y, decided].mean())
    assert found.tree_cost == pytest.approx(costs[y, by_tree].mean())
    assert found.expected_cost == pytest.approx((p @ costs).min(axis=1).mean())
    assert found.expected_tree_cost == pytest.approx((p @ costs)[np.arange(len(p)), by_tree].mean())
    told = "All this is about the tree's decisions. By cost, the model decides "
    assert told in str(result)
    assert f"cost {found.cost:.3g} a case ({found.tree_cost:.3g} by the tree)." in str(result)
    assert told in html.unescape(result.to_html())
    assert result.to_dict()["by_rule"]["rule"] == "cost"
    without = kt.audit(model, X)
    assert without.by_rule.accuracy is None
    assert "Of the known outcomes" not in str(without)


def test_a_model_that_decides_by_probability_has_no_costs_in_the_audit():
    X, y = load_breast_cancer(return_X_y=True)
    model = kt.SoftTreeClassifier(decide="probability").fit(X[:300], y[:300])
    found = kt.audit(model, X[300:], y[300:]).by_rule
    assert (found.rule, found.cost, found.expected_cost) == ("probability", None, None)
    assert kt.audit(kt.SoftTreeClassifier(model.tree_).fit(X, y), X, y).by_rule is None
