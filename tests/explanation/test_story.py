"""The story of a case agrees with the tree and the model, for all models and cases."""

import html
import json
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from keeptree.explanation.story_text import contributions, steps, story_text
from keeptree.explanation.wording import round_outwards, tell_move, tell_side
from tests.strategies import random_rows, random_tree, trees


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    return X, y, DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X, y)


MODELS = [
    kt.SmoothedTreeClassifier,
    kt.GeometricRankClassifier,
    kt.DistanceKernelClassifier,
    kt.ConfDTreeClassifier,
    kt.SoftTreeClassifier,
    kt.MarginTreeClassifier,
    kt.KeptTreeClassifier,
]


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_every_classifier_can_be_explained(cancer, kind):
    X, y, tree = cancer
    model = kind(tree).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        story = kt.explain(model, X.iloc[3], n=2)
    data = check(story)
    assert data["model"] == kind.__name__
    assert data["decision"]["class"] == tree.predict(X.iloc[[3]])[0]
    assert data["leaves"][0]["node"] == tree.apply(X.iloc[[3]])[0]
    if hasattr(model, "predict_proba"):
        p = dict(zip(model.classes_, model.predict_proba(X.iloc[[3]])[0], strict=True))
        assert data["probability"]["model"] == pytest.approx([p[c] for c in data["classes"]])
    assert data["probability"]["tree"] == pytest.approx(tree.predict_proba(X.iloc[[3]])[0])
    boundary = kt.Boundary(tree).fit(X)
    assert data["distance"] == pytest.approx(boundary.distance(X.iloc[[3]])[0], rel=1e-5)
    assert data["change"]["changes"][0]["name"] == "worst texture"


def check(story):
    """Check the properties of every story and return its data."""
    data = story.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    for text in (story.text, story.markdown, story.html):
        text.encode("utf-8")
        assert not re.search(r"(?i)\b(0 in 100|100 in 100|nan|inf)\b", text.split("</style>")[-1])
    assert_well_formed(story.html)
    assert str(story) == story.text
    return data


def assert_well_formed(html):
    """Check that tags are closed in order and that only expected tags occur."""
    opened, seen = [], set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.add(tag)
            opened.append(tag)

        def handle_startendtag(self, tag, attrs):
            seen.add(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(html)
    assert opened == []
    ours = "section style p strong span table thead tbody tr th td ol li h4 svg rect line details"
    assert seen <= {*ours.split(), "summary", "pre"}


def test_steps_give_their_distance_in_sd_and_in_the_unit_of_the_attribute(cancer):
    X, y, tree = cancer
    data = kt.explain(kt.DistanceKernelClassifier(tree).fit(X, y), X.iloc[3]).to_dict()
    texture = data["path"][2]
    assert texture["attribute"] == "worst texture"
    assert texture["margin"] == pytest.approx(26.5 - 25.67, abs=1e-6)
    assert texture["distance"] == pytest.approx((26.5 - 25.67) / X["worst texture"].std(ddof=0))
    assert texture["near"]
    assert not data["path"][0]["near"]
    assert texture["text"] == "worst texture 26.5 > 25.67, by 0.83"
    assert data["unit"] == "SD"


@settings(max_examples=60, deadline=None)
@given(trees(max_leaves=30, missing=("share", "child", "mixed")), st.integers(0, 2**32 - 1))
def test_the_path_is_that_of_the_tree_and_every_margin_has_the_right_sign(tree, seed):
    X = random_rows(tree, seed, n=20)
    row = random_rows(tree, seed + 1, n=1, missing=0.2)
    story = kt.explain(tree, tree.decode(row)[0], X=tree.decode(X))
    data = check(story)
    assert data["decision"]["index"] == tree.decide(row)[0]
    assert data["probability"]["tree"] == pytest.approx(tree.mix_proportions(row)[0])
    weights = tree.route_shares(row)
    assert sum(leaf["share"] for leaf in data["leaves"]) == pytest.approx(weights.sum())
    assert [step["node"] for step in data["path"]] == tree.path(data["leaves"][0]["node"])[:-1]
    shares = np.prod([step["share"] for step in data["path"]])
    assert shares == pytest.approx(data["leaves"][0]["share"])
    for step, child in zip(data["path"], tree.path(data["leaves"][0]["node"])[1:], strict=True):
        if step["margin"] is not None and tree.compare_dtype == "float64":
            assert (step["margin"] > 0) == (child == tree.children(step["node"])[1])


def test_the_story_says_if_the_estimate_disagrees(cancer):
    X, y, tree = cancer
    model = kt.DistanceKernelClassifier(tree).fit(X, y)
    p, decided = model.predict_proba(X), model.predict(X)
    doubtful = model.classes_[p.argmax(axis=1)] != decided
    assert 0 < doubtful.sum() < len(X)
    for i in [*np.flatnonzero(doubtful)[:5], *np.flatnonzero(~doubtful)[:5]]:
        story = kt.explain(model, X.iloc[i])
        assert (story.to_dict()["second_opinion"] is not None) == doubtful[i]
        assert ("Our estimate disagrees" in story.text) == doubtful[i]
        assert ("please look again" in story.text) == doubtful[i]
        assert ("kt-opinion" in story.html.split("</style>")[1]) == doubtful[i]


def test_contributions_add_up_to_the_log_odds(cancer):
    X, y, tree = cancer
    margin = kt.MarginTreeClassifier(tree).fit(X, y)
    data = kt.explain(margin, X.iloc[3]).to_dict()
    p = data["probability"]["model"][data["decision"]["index"]]
    total = sum(part["value"] for part in data["contributions"])
    assert total == pytest.approx(np.log(p / (1 - p)))
    kept = kt.KeptTreeClassifier(tree).fit(X, y)
    data = kt.explain(kept, X.iloc[3]).to_dict()
    p = data["probability"]["model"][data["decision"]["index"]]
    parts = [part for part in data["contributions"] if part["kind"] in ("start", "expert")]
    assert parts[0]["name"] == "Start: the shares of the classes in the sample"
    assert sum(part["value"] for part in parts) == pytest.approx(np.log(p / (1 - p)))


@pytest.mark.parametrize("coherent", [False, True])
@pytest.mark.parametrize("unused", ["soft", "margin"])
def test_an_expert_with_weight_0_plays_no_part_in_the_story(coherent, unused):
    X, y = load_iris(return_X_y=True)
    model = kt.KeptTreeClassifier(kt.C45Classifier(), coherent=coherent).fit(X[20:], y[20:])
    weights = np.where(np.array(model.pool_.names) == unused, 0.0, model.pool_.weights)
    model.pool_ = replace(model.pool_, weights=weights)
    story = kt.explain(model, X[70])
    data = check(story)
    parts = data["contributions"]
    assert {"soft", "margin", "kernel"} - {part.get("expert") for part in parts} == {unused}
    assert any(part["kind"] == "test" for part in parts) == (unused == "soft")
    assert f"({unused})" not in story.text
    assert ("within the margin" in story.text) == (unused == "soft")
    assert "contributed less" not in story.text or unused == "soft"
    logs = np.log(data["probability"]["model"])
    total = sum(part["value"] for part in parts if part["kind"] in ("start", "expert"))
    assert total == pytest.approx((logs - logs.mean())[data["decision"]["index"]])


def test_every_form_of_the_story_says_what_contributions_are_compared_with(cancer):
    X, y, tree = cancer
    story = kt.explain(kt.KeptTreeClassifier(tree).fit(X, y), X.iloc[3])
    for text in (story.text, story.markdown, story.html):
        assert "Start: the shares of the classes in the sample" in text
        assert "Tests, within the margin, compared with the mean training case" in text


@pytest.mark.parametrize("similar", [True, False])
def test_a_story_says_whether_the_soft_expert_averages_similar_trees(cancer, monkeypatch, similar):
    monkeypatch.setattr("keeptree.probability.kept.wants_similar_trees", lambda *_: similar)
    X, y, tree = cancer
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    parts = kt.explain(model, X.iloc[3]).to_dict()["contributions"]
    told = next(part["name"] for part in parts if part.get("expert") == "soft")
    assert ("similar trees" in told) == similar
    assert ("passes the tests" in told) != similar


def test_the_contribution_of_a_test_shows_its_answer_for_the_case(cancer):
    X, y, tree = cancer
    model = kt.KeptTreeClassifier(tree).fit(X, y)
    kept, case = model.tree_, X.iloc[3]
    story = kt.explain(model, case)
    tests = [part for part in story.to_dict()["contributions"] if part["kind"] == "test"]
    for part in tests:
        branch = kept.branch(kept.children(part["node"])[0])
        assert part["answer"] == ("yes" if case.iloc[branch.feature] <= branch.threshold else "no")
    assert {part["answer"] for part in tests} == {"yes", "no"}
    told = f"{tests[0]['name']} {tests[0]['answer']}"
    assert told in story.text
    assert html.escape(told) in story.html


def test_a_missing_value_has_no_answer_and_a_category_has_one():
    X = pd.DataFrame({"colour": list("rgb") * 40, "size": np.arange(120.0)})
    y = np.where(X["colour"] == "r", "yes", np.where(X["size"] > 60, "yes", "no"))
    model = kt.MarginTreeClassifier(kt.C45Classifier()).fit(X, y)
    for colour, expected in (("r", {"yes", "no"}), (None, {"not known"})):
        parts = kt.explain(model, {"colour": colour, "size": 12.0}).to_dict()["contributions"]
        answers = {part["answer"] for part in parts if part["name"].startswith("colour")}
        assert answers
        assert answers <= expected
        sizes = {part["answer"] for part in parts if part["name"].startswith("size")}
        assert sizes == {"yes"}


def test_numeric_labels_are_preceded_by_the_word_class():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    model = kt.SmoothedTreeClassifier(tree).fit(X, y)
    text = kt.explain(model, X[1]).text
    assert text.startswith("The tree decides class 0. Our estimate for class 0: ")
    leaf = r"Leaf \d+: class 0; \d+ training cases: \d+ of class 0 and \d+ of class 1\."
    assert re.search(leaf, text)
    assert "Becomes class 1 if" in text
    assert "stimate for class 1 would then" in text


def test_the_story_contains_the_trace_of_confdtree(cancer):
    X, y, tree = cancer
    model = kt.ConfDTreeClassifier(tree).fit(X, y)
    story = kt.explain(model, X.iloc[3])
    assert story.to_dict()["trace"]["text"] == str(model.trace(X.iloc[[3]])[0])
    assert "What ConfDTree did" in story.text


def test_constraints_apply_to_the_nearest_change(cancer):
    X, y, tree = cancer
    model = kt.SmoothedTreeClassifier(tree).fit(X, y)
    story = kt.explain(model, X.iloc[3], fixed=list(X))
    assert "unlock worst texture" in story.text


def test_a_story_lists_the_locked_columns(cancer):
    X, y, clf = cancer
    model = kt.SmoothedTreeClassifier(clf).fit(X, y)
    story = kt.explain(model, X.iloc[3], fixed=["worst texture", "mean radius"])
    told = "Locked: mean radius and worst texture."
    assert f"\n  {told}\n" in story.text
    assert f"- {told}" in story.markdown
    assert f"<p>{told}</p>" in story.html
    assert story.to_dict()["locked"] == ["mean radius", "worst texture"]
    assert "Locked" not in kt.explain(model, X.iloc[3]).text
    assert len(kt.explain(model, X.iloc[3], n=3).to_dict()["change"]["alternatives"]) == 2


def test_a_tree_without_a_sample_is_explained_without_distances_and_a_note_says_so(cancer):
    X, _, tree = cancer
    for alone in (tree, kt.keep(tree)):
        data = check(kt.explain(alone, X.iloc[3]))
        assert data["change"] is data["distance"] is data["probability"]["model"] is None
        assert "Give X" in data["notes"][0]
        assert check(kt.explain(alone, X.iloc[3], X=X))["change"]["found"]


def test_a_note_says_if_a_model_that_decides_by_cost_may_differ_from_the_story(cancer):
    X, y, tree = cancer
    costs = {"malignant": {"benign": 1000}}
    model = kt.SmoothedTreeClassifier(tree, decide="cost", costs=costs).fit(X, y)
    case = np.flatnonzero(model.predict(X) != tree.predict(X))[0]
    data = check(kt.explain(model, X.iloc[case]))
    assert data["decision"]["class"] == "benign"
    assert data["notes"][0].startswith("The model decides by cost")
    assert "The nearest change alters the tree's decision." in data["notes"][0]


def test_a_pipeline_is_explained_in_its_own_columns(cancer):
    X, y, _ = cancer
    pipeline = make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=2)).fit(X, y)
    data = check(kt.explain(kt.SmoothedTreeClassifier(pipeline).fit(X, y), X.iloc[[3]]))
    assert data["decision"]["class"] == pipeline.predict(X.iloc[[3]])[0]
    assert "pipeline" in data["notes"][0]
    assert data["change"] is None


@pytest.mark.parametrize("kind", [kt.MarginTreeClassifier, kt.ConfDTreeClassifier])
def test_a_model_inside_a_pipeline_is_explained_like_a_model_around_it(cancer, kind):
    X, y, _ = cancer
    X, y = X.iloc[:200, :4], y[:200]
    doubled = FunctionTransformer(lambda X: 2 * X, feature_names_out="one-to-one")
    steps = make_column_transformer((doubled, ["mean area", "mean texture"]))
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    around = kind(make_pipeline(steps, learner)).fit(X, y)
    behind = make_pipeline(steps, kind(learner)).fit(X, y)
    for x in (X.iloc[[3]], X.iloc[3], X.iloc[3].to_dict()):
        ours, theirs = (kt.explain(model, x).to_dict() for model in (around, behind))
        assert ours["trace"] == theirs["trace"]
        assert (ours["contributions"] is None) == (kind is kt.ConfDTreeClassifier)
        for a, b in zip(ours["contributions"] or (), theirs["contributions"] or (), strict=True):
            assert (a["name"], a["value"]) == (b["name"], pytest.approx(b["value"], abs=1e-5))


def test_the_story_of_a_single_leaf_says_that_the_decision_never_changes():
    tree = random_tree(0, n_leaves=1)
    X = random_rows(tree, 0)
    story = kt.explain(tree, X[0], X=X)
    data = check(story)
    assert data["always"]
    assert data["path"] == []
    assert "always decides" in story.text
    assert data["distance"] is None


def test_only_the_most_probable_of_many_classes_are_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 400)
    model = kt.SmoothedTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=6)).fit(X, y)
    story = kt.explain(model, X[0])
    check(story)
    assert "21 other classes" in story.text
    assert story.html.count("<svg") == 5
    X, y = load_digits(return_X_y=True)
    model = kt.MarginTreeClassifier(DecisionTreeClassifier(max_leaf_nodes=12)).fit(X[:300], y[:300])
    assert check(kt.explain(model, X[0]))["contributions"]


def test_classes_declared_in_another_order_are_not_mixed_up():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0] * 10})
    y = ["no", "no", "yes", "yes"] * 10
    tree = kt.keep(DecisionTreeClassifier().fit(X, y)).to_dict()
    tree["classes"]["values"] = tree["classes"]["values"][::-1]
    tree = kt.Tree.from_dict(tree)
    assert list(tree.classes) == ["no", "yes"]
    y = ["yes" if label == "no" else "no" for label in y]
    for kind in (kt.SmoothedTreeClassifier, kt.MarginTreeClassifier, kt.KeptTreeClassifier):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kind(tree).fit(X, y)
        data = kt.explain(model, [0.0]).to_dict()
        assert data["decision"]["class"] == "yes"
        p = model.predict_proba(X[:1])[0]
        assert data["probability"]["model"] == pytest.approx(p)
        parts = data["contributions"]
        if parts:
            kinds = {"start", "test" if kind is kt.MarginTreeClassifier else "expert"}
            total = sum(part["value"] for part in parts if part["kind"] in kinds)
            assert total == pytest.approx(np.log(p[1] / p[0]))


def test_nominal_and_missing_values_are_described_in_words():
    X = pd.DataFrame({"colour": list("rgb") * 20, "size": np.arange(60.0)})
    y = np.where(X["colour"] == "r", "yes", np.where(X["size"] > 30, "yes", "no"))
    model = kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y)
    text = kt.explain(model, {"colour": "g", "size": 12.0}).text
    assert "colour is g" in text
    story = kt.explain(model, {"colour": None, "size": 12.0})
    data = check(story)
    assert "not known" in story.text
    assert len(data["leaves"]) > 1
    assert data["values"][0]["value"] is None


def test_markup_in_the_data_is_escaped(hostile):
    X = pd.DataFrame({hostile: [0.0, 1.0, 2.0, 3.0] * 5, "other": 0.0})
    y = np.array([f"{hostile} a", f"{hostile} b"], dtype=object)[[0, 0, 1, 1] * 5]
    story = kt.explain(kt.SmoothedTreeClassifier(kt.C45Classifier()).fit(X, y), X.iloc[0])
    check(story)
    body = story.html.split("</style>")[1]
    assert "<script>" not in body
    assert "<script>" not in story.markdown
    assert "</title>" not in body


@pytest.mark.parametrize("x", ["table of two", "list", "frame"])
def test_explain_takes_exactly_one_case(x):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = kt.SmoothedTreeClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    if x == "table of two":
        with pytest.raises(ValueError, match="x has 2 rows"):
            kt.explain(model, X[:2])
        return
    one = X.iloc[0].tolist() if x == "list" else X.iloc[[0]]
    assert kt.explain(model, one).to_dict() == kt.explain(model, X.iloc[0]).to_dict()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (26.1, 25.67, "26.10 to 25.67 (−0.43)"),
        (26.1034, 25.67, "26.1034 to 25.6700 (−0.4334)"),
        (2.5, 45.0, "2.5 to 45.0 (+42.5)"),
        (3.0, 5.0, "3 to 5 (+2)"),
        (25.6701, 25.67, "25.6701 to 25.6700 (−0.0001)"),
        (1e-12, 2e-12, "1e−12 to 2e−12 (+1e−12)"),
        (-1.0, 2.5, "−1.0 to 2.5 (+3.5)"),
        (1e300, 2e300, "1e+300 to 2e+300 (+1e+300)"),
    ],
)
def test_a_change_is_written_with_as_many_decimals_as_it_needs(before, after, said):
    assert tell_move(before, after) == said


@pytest.mark.parametrize(
    ("value", "threshold", "said"),
    [
        (2.5, 44.8, "2.5 ≤ 44.8, by 42.3"),
        (4.05, 90.0, "4.05 ≤ 90, by 86"),
        (20.0, 65.5, "20 ≤ 65.5, by 45.5"),
        (0.0, 0.0, "0 ≤ 0, on the threshold"),
        (1.00000001, 1.00000002, "1.00000001 ≤ 1.00000002, by 1e−8"),
    ],
)
def test_a_step_shows_the_exact_value_and_threshold(value, threshold, said):
    assert tell_side(value, "≤", threshold) == said


@pytest.mark.parametrize("certain", [True, False])
def test_the_change_says_if_the_estimate_disagrees_with_the_new_decision(cancer, certain):
    X, y, tree = cancer
    model = kt.DistanceKernelClassifier(tree).fit(X, y)
    for i in range(60):
        story = kt.explain(model, X.iloc[i])
        change = story.to_dict()["change"]
        there = {entry["class"]: entry["probability"] for entry in change["probability"]}
        if (there[change["predicted"]] == max(there.values())) == certain:
            break
    else:
        raise AssertionError("no such case")
    assert ("The estimate for" in story.text) == certain
    assert ("our estimate for it would be only" in story.text) != certain
    assert ("would be only" in kt.nearest_change(model, X.iloc[i]).text) != certain


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_outward_rounding_stays_close_and_within_the_limits(before, after):
    if before == after:
        return

    low, high = (-np.inf, after) if after < before else (after, np.inf)
    number = round_outwards(before, after, low, high)
    assert low <= number <= high
    assert abs(number - after) <= 0.02 * abs(after - before)
    shown, needed = (repr(value).removesuffix(".0") for value in (number, after))
    assert len(shown) <= len(needed) or number == after


def test_contributions_that_round_to_zero_are_left_out_and_categories_have_no_sd(cancer):
    X, y, tree = cancer
    data = kt.explain(kt.KeptTreeClassifier(tree).fit(X, y), X.iloc[3]).to_dict()
    parts = [{**part, "value": 0.004} for part in data["contributions"]]
    assert contributions({**data, "contributions": parts}) is None
    assert "What raised" not in story_text({**data, "contributions": parts})
    rows, more = contributions({**data, "contributions": [{**parts[0], "value": 0.5}, *parts[1:]]})
    assert [row["text"] for row in rows] == ["+0.50"]
    assert more == sum(part["kind"] == "test" for part in parts)
    step = {**data["path"][0], "threshold": None, "distance": 1.0}
    assert steps({**data, "path": [step]})[0][1] is None


def test_every_form_of_the_story_shows_the_interval_of_the_estimate(cancer):
    X, y, _ = cancer
    learner = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
    model = kt.KeptTreeClassifier(learner).fit(X, y)
    story = kt.explain(model, X.iloc[73])
    data = check(story)
    ends = model.predict_interval(X.iloc[[73]])[0]
    assert data["interval"] == {"kind": "case", "confidence": 0.9, "ends": ends.tolist()}
    index = data["decision"]["index"]
    low, high = np.floor(100 * ends[index, 0]), np.ceil(100 * ends[index, 1])
    phrase = f"in 100; between {low:.0f} and {high:.0f}"
    for text in (story.text.replace("\n", " "), story.markdown, story.html):
        assert phrase in text
    assert (
        kt.explain(kt.SoftTreeClassifier(learner).fit(X, y), X.iloc[73]).to_dict()["interval"]
        is None
    )


def test_a_value_on_a_threshold_is_said_to_be_on_it_and_not_at_a_distance_of_0(cancer):
    X, y, _ = cancer
    rounded = X.round(0)
    model = kt.SmoothedTreeClassifier(kt.C45Classifier(min_samples_leaf=20)).fit(rounded, y)
    first = model.tree_.branch(1)
    name, case = first.name, rounded.iloc[0].copy()
    case[name] = first.threshold
    line = kt.explain(model, case).text.splitlines()[3]
    assert re.fullmatch(
        rf" *1. {name} ([0-9]+) ≤ \1, on the threshold \(0.0?[0-9]+ SD from the next value: "
        r"very close\)",
        line,
    )


def test_markdown_numbers_the_tests_of_the_path(cancer):
    X, y, tree = cancer
    text = kt.explain(kt.SmoothedTreeClassifier(tree).fit(X, y), X.iloc[3]).markdown
    part = text.partition("The path through the tree")[2].split("\n\n")[1].splitlines()
    assert len(part) > 1
    assert [line.split()[0] for line in part] == [f"{k}." for k in range(1, len(part) + 1)]


def test_markdown_lists_contributions_below_their_headings(cancer):
    X, y, tree = cancer
    text = kt.explain(kt.KeptTreeClassifier(tree).fit(X, y), X.iloc[3]).markdown
    part = text.partition("What raised or lowered the estimate")[2].split("\n\n")[1].splitlines()
    headings = [line for line in part if line.endswith(":")]
    assert len(headings) == 2
    assert all(line.startswith("- ") for line in headings)
    assert all(line.startswith("  - ") for line in part if line not in headings)
    assert len(part) > len(headings)


@pytest.mark.parametrize("rule", ["cost", "probability"])
def test_every_form_of_the_story_says_what_the_model_decides_by_its_rule(cancer, rule):
    X, y, tree = cancer
    costs = {"malignant": {"benign": 20}} if rule == "cost" else None
    model = kt.DistanceKernelClassifier(tree, decide=rule, costs=costs).fit(X, y)
    differs = model.predict(X) != tree.predict(X)
    for row, too in ((np.flatnonzero(differs)[0], ""), (np.flatnonzero(~differs)[0], ", too")):
        story = kt.explain(model, X.iloc[row])
        decided = model.predict(X.iloc[[row]])[0]
        found = check(story)["model_decision"]
        assert found["class"] == decided
        if rule == "cost":
            expected = model.predict_proba(X.iloc[[row]])[0] @ model.cost_matrix
            np.testing.assert_allclose(found["costs"], expected)
            too += f" (expected cost {expected.min():.3g}; {expected.max():.3g} for "
        else:
            too += "."
        for text in (story.text.replace("\n", " "), story.markdown, story.html):
            assert f"By {rule}, the model decides {decided}{too}" in text
    followed = kt.explain(kt.DistanceKernelClassifier(tree).fit(X, y), X.iloc[0])
    assert check(followed)["model_decision"] is None
    assert "the model decides" not in followed.text
    assert "he model decides" not in kt.explain(kt.keep(tree), X.iloc[0], X=X).text


def test_a_row_with_a_missing_category_is_read_by_steps_that_cannot_be_folded():
    rng = np.random.default_rng(0)
    colour = pd.Series(rng.choice(["red", "blue", "none"], 200)).replace("none", np.nan)
    X = pd.DataFrame({"colour": colour, "size": rng.normal(size=200)})
    y = (X["size"] > 0) ^ colour.isna()
    steps = make_column_transformer((OneHotEncoder(), ["colour"]), (SplineTransformer(), ["size"]))
    pipeline = make_pipeline(steps, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    model = kt.SmoothedTreeClassifier(pipeline).fit(X, y)
    row = int(colour.isna().argmax())
    assert kt.explain(model, X.iloc[row]).text == kt.explain(model, X.iloc[[row]]).text


def test_a_story_shows_the_label_of_an_unseen_category():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=200), "colour": rng.choice(list("rgb"), 200)})
    X.loc[::7, "colour"] = np.nan
    y = (X["colour"] == "r").to_numpy() & (X["size"] > -1).to_numpy()
    imputer = SimpleImputer(strategy="constant", fill_value="r")
    encode = make_pipeline(imputer, OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((encode, ["colour"]), remainder="passthrough")
    pipeline = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(X, y)
    model = kt.SmoothedTreeClassifier(pipeline).fit(X, y)
    assert "(other)" in model.tree_.categories[1]
    row = {"size": 0.0, "colour": "<purple>"}
    for case in (row, pd.Series(row), pd.DataFrame([row]), [0.0, "<purple>"]):
        story = kt.explain(model, case)
        assert "colour is <purple> (an unseen category)" in story.text
        assert "(other)" not in story.text + story.html
        assert "<purple>" not in story.html
        values = {item["attribute"]: item["value"] for item in story.to_dict()["values"]}
        assert values["colour"] == "<purple>"
    assert "unseen" not in kt.explain(model, X.iloc[1]).text


def test_the_story_and_the_report_show_an_interval_that_contains_the_estimate(cancer, tmp_path):
    """Also if it is poorly calibrated: here, the calibration cases have random classes."""
    X, y, tree = cancer
    model = kt.SoftTreeClassifier(tree).fit(X, y)
    model.calibrate(X, np.random.default_rng(0).permutation(y))
    for row in range(0, 569, 40):
        data = kt.explain(model, X.iloc[row]).to_dict()
        ends, p = np.array(data["interval"]["ends"]), np.array(data["probability"]["model"])
        assert ((ends[:, 0] <= p) & (p <= ends[:, 1])).all()
    for case in kt.report(model, X, y, tmp_path / "page.html")["cases"]:
        told = case["p"][np.argmax(case["p"]) if case["disagrees"] else case["decision"]]
        low, high = case["between"]
        assert low <= told <= high


def test_counts_of_weighted_cases_are_not_called_training_cases():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 1.8, "died", "alive")
    for weight, words in (("balanced", "weighted cases"), (None, "training cases")):
        tree = DecisionTreeClassifier(max_leaf_nodes=4, class_weight=weight, random_state=0)
        story = kt.explain(kt.keep(tree.fit(X, y)), X[0])
        assert words in str(story)
        assert ("training cases" in str(story)) == (weight is None)
