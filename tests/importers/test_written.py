"""Trees written by hand: reading, error messages, and round trips."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt
from tests.importers.neighbours import assert_same_partition, trying_rows
from tests.strategies import decode, random_rows, trees

LOANS = """\
age <= 45
  income <= 20000: refuse
  income > 20000
    owner = yes: grant
    owner in {no, unknown}: refuse
age > 45: grant"""


def loans(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "name": [f"n{i % 7}" for i in range(n)],
            "income": rng.integers(0, 60000, n).astype(float),
            "age": rng.integers(18, 80, n),
            "owner": rng.choice(["yes", "no", "unknown"], n),
        }
    )
    return X, np.where(X.age > 50, "grant", "refuse")


def test_the_tree_of_the_guide_is_read_and_printed_back():
    tree = kt.keep(LOANS)
    assert tree.feature_names == ("age", "income", "owner")
    assert tree.categories == (None, None, ("yes", "no", "unknown"))
    rows = [[45, 20000, "yes"], [45, 20001, "yes"], [45, 20001, "no"], [45.1, 0, "no"]]
    assert tree.predict(rows).tolist() == ["refuse", "grant", "refuse", "grant"]
    assert tree.to_text() == LOANS
    assert tree.weight[0] == 0, "the text has no counts"
    with pytest.raises(ValueError, match=r"no class counts; add them with kt\.keep\(tree, X, y\)"):
        tree.predict_proba([[30, 1000, "yes"]])


def test_a_file_is_read_like_its_text(tmp_path):
    path = tmp_path / "tree.txt"
    path.write_text(LOANS)
    assert kt.keep(path).to_dict() == kt.keep(str(path)).to_dict() == kt.keep(LOANS).to_dict()


def test_counts_columns_and_classes_come_from_the_data():
    X, y = loans()
    tree = kt.keep(LOANS, X, y)
    assert tree.feature_names == tuple(X.columns), (
        "all columns of X, so that models can be fitted to X"
    )
    assert tree.weight[0] == 200
    leaf = tree.apply(X)
    for node in np.flatnonzero(tree.kind == 0):
        cases = [np.sum(y[leaf == node] == label) for label in tree.classes]
        assert tree.counts[node].tolist() == cases
    assert tree.source["counts"] == "200 rows of data"
    assert kt.keep(tree.to_text()).to_text() == tree.to_text()


def test_a_classifier_counts_its_sample_if_the_tree_has_no_counts():
    X, y = loans()
    X = X[["age", "income", "owner"]]
    counted, blank = kt.keep(LOANS, X, y), kt.keep(LOANS)
    for model in (kt.SmoothedTreeClassifier, kt.KeptTreeClassifier):
        expected = model(counted).fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(model(replace(blank)).fit(X, y).predict_proba(X), expected)


def test_alternative_spellings_are_read():
    tree = kt.keep(
        "# signed off in May\n\n"
        "age<45 : refuse (2)\n"
        "age ≥ 45\n"
        "|\towner != yes or missing: refuse (3/1)\n"
        "|\towner = yes: grant (5)\n"
        "\n"
    )
    with pytest.raises(ValueError, match="no rule"):
        tree.apply([[None, "yes"]])
    assert tree.predict([[45, "yes"], [44.9, "yes"], [45, None]]).tolist() == [
        "grant", "refuse", "refuse",
    ]  # fmt: skip


def test_else_covers_all_other_categories():
    X, y = loans()
    text = "owner = yes: grant\nelse\n  age > 40: grant\n  else: refuse"
    tree = kt.keep(text, X, y)
    assert tree.to_text().splitlines()[1] == "owner in {no, unknown} or unseen"
    X.owner = "squatter"
    assert tree.predict(X).tolist() == np.where(X.age > 40, "grant", "refuse").tolist()


def test_less_than_is_printed_as_it_was_written():
    text = "x < 45: a\nx >= 45\n  y < 0: a\n  y >= 0: b"
    tree = kt.keep(text)
    assert tree.to_text() == tree.to_text(precision=None) == text
    assert tree.predict([[np.nextafter(45, 0), 0], [45, -5e-324], [45, -0.0]]).tolist() == list(
        "aab"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("incom <= 3: a\nincom > 3: b", "line 1, column 1: `incom` is not a column; did you"),
        ("age <= 3\n  salary > 1: a\n", "line 2, column 3: `salary` is not a column; the"),
        ("age <= 3: grant", "line 1, column 1: `age <= 3` has no counterpart; expected .*`age > 3"),
        ("age <= 3: grant\nage > 2: refuse", "line 2, column 1: `age > 2` overlaps `age <= 3` of"),
        ("age <= 3: grant\nage > 4: refuse", "`age > 4` and line 1 leave out values between them"),
        ("age < 3: grant\nage > 3: refuse", "leave out values between them; expected `age >= 3`"),
        ("age <= 3: grant\nincome > 3: refuse", "line 2, column 1: expected another branch of `ag"),
        ("age <= 3: grant\nage > 3: refuse\nage > 5: grant", "line 3, .*already has its two"),
        ("owner = yes: grant\nowner = no: refuse", "line 1, .*no branch of `owner` takes `unknown"),
        ("owner = yes: grant\nowner in {no, yes, unknown}: refuse", "line 2, .*covered by line 1"),
        ("owner = yes: grant\nowner = now: refuse\nelse: grant", "`now` is not a value of `owner`"),
        ("owner = yes: grant\nowner != yes: refus", "line 2, column 15: `refus` is not a value of"),
        ("owner = yes: grant\nowner != no: refuse", "line 2, .*`owner != no` leaves out `no`"),
        ("owner = yes: grant\nowner > 3: refuse", "line 2, .*compares numbers, but line 1 lists"),
        ("age <= old: grant\nage > old: refuse", "line 1, column 8: expected a number, not `old`"),
        ("age <= : grant\nage > 3: refuse", "line 1, column 8: expected a number"),
        ("age <= 3:\nage > 3: refuse", "line 1, column 10: expected a class after the colon"),
        ("age <= 3\nage > 3: refuse", "line 1, .*leads nowhere; expected `: class` at its end"),
        ("age <= 3: grant\n  age > 1: refuse\nage > 3: grant", "line 2, column 3: unexpected inde"),
        ("  age <= 3: grant\nage > 3: refuse", "line 2, column 1: the indentation matches no line"),
        ("owner = yes and age > 3: grant\nelse: refuse",
         "line 1, column 13: `and` joins two tests, but a branch has one; write `age > 3` in a "
         "line of its own, indented below `owner = yes`"),
        ("age > 3 OR owner in {no}: grant\nelse: refuse", "line 1, column 9: `OR` joins .* `else`"),
        ("owner = yes & age > 3: grant\nelse: refuse", "line 1, column 13: `&` joins two tests"),
        ("IF age > 3 AND owner = no THEN grant\nELSE refuse", "line 1, column 12: `AND` joins two"),
        ("if age > 3:\n  grant\nelse:\n  refuse",
         "line 2, column 3: .*; a class follows THEN or ELSE, as in `IF age > 45 THEN grant`"),
        ("IF age > 3 THEN IF owner = no THEN grant ELSE refuse\nELSE refuse",
         "line 1, column 17: an IF inside a branch needs a line of its own, as in `IF age <= 45 "
         "THEN` and, indented below, `IF owner = yes THEN grant`"),
        ("IF age > 3 grant\nELSE refuse", "line 1, column 12: unexpected `grant`; expected `THEN"),
        ("IF age > 3 THEN grant\nELSE IF incom > 3 THEN grant\nELSE refuse",
         "line 2, column 9: `incom` is not a column"),
        ("just words\nage > 3: refuse", "line 1, column 1: expected a test such as `age <= 45`"),
        ("else: grant\nage > 3: refuse", "line 1, .*`else` can only come after one"),
        ("owner in {yes, no: grant\nelse: refuse", "line 1, column 18: expected `,` or `}`"),
        ('"owner = yes: grant\nelse: refuse', "line 1, column 1: the quotation mark is never clos"),
        ("age <= 3: grant (1/2)\nage > 3: refuse", "more cases of other classes than cases"),
        ("age <= 3: grant (x)\nage > 3: refuse", r"line 1, column 17: expected cases such as `\(1"),
        ("age <= 3: grant (1) and\nage > 3: refuse", "unexpected `.1. and` after the class"),
        ("age <= 1e999: grant\nage > 1e999: refuse", "line 1, column 8: `1e999` is too large"),
        ("# nothing\n\n", "The text holds no tree: expected a test such as"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_the_column_and_what_was_expected(text, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        kt.keep(text, *loans())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "IF age <= 40 THEN refuse\nELSE IF owner = yes THEN grant\nELSE IF income > 20 THEN grant\n"
        "ELSE refuse",
        "if age <= 40: refuse\nelif owner = yes:  grant\nElse:\n  if income > 20 then grant\n"
        "  else refuse",
        "If age <= 40 Then: refuse\nElse\n  If owner = yes Then\n    If age > 40 Then grant\n"
        "    Else refuse\n  Else If income > 20\n    If age > 40 Then grant\n    Else refuse\n"
        "  Else: refuse",
        "age <= 40: refuse\nELSE\n  owner = yes: grant\n  Else\n    income > 20: grant\n"
        "    ELSE: refuse",
    ],
)
def test_if_then_and_else_are_read_in_any_case(text):
    X, y = loans()
    outline = (
        "age <= 40: refuse\nelse\n  owner = yes: grant\n  else\n    income > 20: grant\n"
        "    else: refuse"
    )
    expected = kt.keep(outline, X, y).predict(X)
    assert set(expected) == {"grant", "refuse"}
    np.testing.assert_array_equal(kt.keep(text, X, y).predict(X), expected)


@pytest.mark.parametrize(
    "text",
    [
        "IF age <= 40 THEN refuse ELSE IF owner = yes THEN grant ELSE IF income > 20 THEN grant "
        "ELSE refuse END IF",
        "IF (age <= 40) THEN refuse\nELSE IF (owner = yes) THEN grant\nELSE IF (income > 20) THEN "
        "grant\nELSE refuse\nEND IF;",
        "if (age <= 40): refuse\nelse\n  if (owner = yes) then grant\n  else\n"
        "    if income > 20 then grant else refuse\n    endif\n  endif\nendif",
        "IF age <= 40 THEN decision = refuse\nELSE IF owner = yes THEN decision = grant\n"
        'ELSE IF income > 20 THEN "decision" == "grant" ELSE decision = refuse',
    ],
)
def test_spellings_of_if_then_and_else_are_read(text, recwarn):
    X, y = loans()
    outline = (
        "age <= 40: refuse\nelse\n  owner = yes: grant\n  else\n    income > 20: grant\n"
        "    else: refuse"
    )
    tree = kt.keep(text, X, y)
    assert tree.to_text() == kt.keep(outline, X, y).to_text()
    assert not recwarn


def test_an_assignment_is_a_class_only_if_all_leaves_assign_to_the_same_name():
    assert kt.keep("IF age <= 3 THEN risk = 1 (2)\nELSE risk = 0 (3)").classes.tolist() == [0, 1]
    mixed = kt.keep("IF age <= 3 THEN risk = high\nELSE size = high")
    assert mixed.classes.tolist() == ["risk = high", "size = high"]
    X, y = loans()
    y = np.where(np.asarray(y) == "grant", "risk = low", "risk = high")
    known = kt.keep("IF age <= 40 THEN risk = high\nELSE risk = low", X, y)
    assert known.classes.tolist() == ["risk = high", "risk = low"]


def test_brackets_that_belong_to_a_name_stay():
    tree = kt.keep("IF (petal width (cm) <= 3) THEN a\nELSE b")
    assert tree.feature_names == ("petal width (cm)",)
    assert kt.keep("IF (x) <= 3 THEN a\nELSE b").feature_names == ("(x)",)


def test_names_and_labels_that_read_like_if_or_and_are_quoted():
    text = (
        '"if any" <= 3\n  a = "x and y > 3": p\n  a in {bed and breakfast, else if}: q\n'
        '"if any" > 3: "p or q is missing"'
    )
    assert kt.keep(text).to_text() == text


def test_a_category_that_is_not_in_the_data_raises_a_warning():
    X, y = loans()
    text = "owner = yes: grant\nowner in {no, unknown, lodger}: refuse"
    with pytest.warns(
        UserWarning, match="line 2: `lodger` is not a value of `owner` in the data, "
    ):
        tree = kt.keep(text, X, y)
    assert tree.to_text(precision=None).count("lodger") == 1
    with pytest.warns(
        UserWarning, match=r"`sold` is not .* in the data, which has grant, refuse\."
    ):
        kt.keep("owner = yes: grant\nelse: sold", X, y)


def test_text_needs_named_columns_and_a_file_must_exist():
    with pytest.raises(ValueError, match="give X as a data frame"):
        kt.keep(LOANS, np.zeros((3, 3)), [0, 1, 0])
    with pytest.raises(FileNotFoundError, match=r"no/such\.txt cannot be opened \(no such file"):
        kt.keep("no/such.txt")
    with pytest.raises(ValueError, match="both X and y"):
        kt.keep(LOANS, loans()[0])


def test_categories_excluded_by_an_earlier_test_may_be_left_out():
    text = "owner in {yes, no}\n  owner = yes: grant\n  owner = no: refuse\nowner = unknown: refuse"
    tree = kt.keep(text, *loans())
    assert kt.keep(text).to_text() == text
    assert tree.predict(loans()[0][:3]).shape == (3,)


def test_errors_by_class_are_read_and_errors_without_classes_raise_a_warning():
    text = "x <= 1: a (9/2 of b, 1 of c)\nx > 1\n  x <= 2: b (5)\n  x > 2: c (4/4 of a)"
    tree = kt.keep(text)
    assert tree.counts[[1, 3, 4]].tolist() == [[6, 2, 1], [0, 5, 0], [4, 0, 0]]
    assert tree.to_text() == text
    with pytest.warns(UserWarning, match=r"but not their classes.*X and y"):
        tree = kt.keep("x <= 1: a (9/3)\nx > 1\n  x <= 2: b (5)\n  x > 2: c (4/4)")
    assert tree.weight[0] == 0
    assert "not their classes" in tree.source["lost"]


def test_a_single_leaf_is_a_tree_over_the_columns_of_the_data():
    X, y = loans()
    tree = kt.keep(": grant", X, y)
    assert tree.to_text() == f": grant (200/{int(np.sum(y == 'refuse'))} of refuse)"
    assert kt.keep(tree.to_text(), X, y).to_text() == tree.to_text()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_exact_text_of_a_scikit_learn_tree_gives_the_same_decisions(load):
    X, y = load(return_X_y=True, as_frame=True)
    tree = kt.keep(DecisionTreeClassifier(random_state=0).fit(X, y))
    again = kt.keep(tree.to_text(precision=None), X, y)
    rows = trying_rows(tree, np.tile(X.to_numpy(), (5, 1)))
    assert_same_partition(again.apply(rows), tree.apply(rows))
    np.testing.assert_array_equal(again.predict(rows), tree.predict(rows))


MISSING = """\
refuse unseen area
colour in {red, green} or unseen
  age is known
    age < 45: grant
    age >= 45 or missing: refuse
  age is missing: ask
colour = blue
  area = north: grant
  area = south: refuse
  area is missing: ask
colour is missing: refuse"""


def test_branches_of_missing_and_unseen_values_are_read_and_printed_back():
    tree = kt.keep(MISSING)
    assert tree.to_text(precision=None) == MISSING
    assert tree.unknown.tolist() == [2 + 1, -1, -2]
    rows = [
        ["mauve", 30, "north"], ["red", None, "north"], [None, 30, "north"], ["blue", 1, None],
    ]  # fmt: skip
    assert tree.predict(rows).tolist() == ["grant", "ask", "refuse", "ask"]
    with pytest.raises(ValueError, match="west"):
        tree.predict([["red", 30, "west"]])


def test_a_double_equals_sign_means_equal():
    tree = kt.keep("IF owner == yes THEN grant\nELSE refuse")
    assert tree.to_text() == kt.keep("owner = yes: grant\nelse: refuse").to_text()


def test_categories_that_the_text_does_not_name_follow_else_or_not_equal():
    for rest in ("else", "owner != yes", "owner is unseen"):
        tree = kt.keep(f"owner = yes: grant\n{rest}: refuse")
        assert tree.predict([["yes"], ["no"]]).tolist() == ["grant", "refuse"]
        assert tree.to_text() == "owner = yes: grant\nowner is unseen: refuse"


def test_unseen_categories_count_as_missing_if_a_test_has_no_branch_for_them():
    tree = kt.keep("a = x or missing: p\nelse\n  a = y: p\n  a = z: q")
    assert tree.unknown.tolist() == [-1]
    assert tree.predict([["w"], ["z"]]).tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("age is known: grant\nage <= 3: refuse", "line 2, .*not a counterpart.*`age is missing`"),
        ("age is missing: grant\nelse or missing: refuse", "line 2, .*overlaps `age is missing`"),
        ("age is known or missing: grant\nelse: refuse", "line 1, column 14: unexpected `or missi"),
        ("age <= 3 or unseen: grant\nelse: refuse", "line 1, .*`or unseen` is for categories"),
        ("owner = yes or unseen: grant\nowner in {no, unknown} or unseen: refuse", "line 2, .*un"),
        ("owner is unseen: grant\nelse\n  owner = yes: grant\n  owner in {no, unknown}: refuse",
         None),
        ("owner in {yes, no} or unseen\n  owner = yes: grant\n  owner = no: refuse\n"
         "owner = unknown: grant", "line 2, .*takes unseen categories, as line 1 does; add"),
        ("refuse unseen age\nage <= 3: grant\nelse: refuse", "line 1, column 15: .*no categories"),
        ("refuse unseen owner\nowner = yes or unseen: grant\nelse: refuse", "line 2.*line 1 refus"),
        ("refuse unseen owner\n", "line 1, .*expected a test such as"),
    ],
)  # fmt: skip
def test_contradictions_about_missing_and_unseen_values_are_reported(text, sentence):
    if sentence is None:
        assert kt.keep(text, *loans()).to_text().startswith("owner is unseen: grant")
        return
    with pytest.raises(ValueError, match=sentence) as error:
        kt.keep(text, *loans())
    assert "\n" not in str(error.value)


NAMES = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=0, max_size=12)
    | st.sampled_from(["else", "a <= b", "x in {y}", "not in", 'say "hi"', "#1", "| a", "12", " ",
                       "if x", "IF a", "a and b > 3", "x or y is missing", "else if"]),
    min_size=5, max_size=5, unique=True,
)  # fmt: skip


def rules_for_missing_and_unseen(tree, seed):
    """Return the tree with branches that only missing values take, and a rule for unseen labels."""
    rng = np.random.default_rng(seed)
    threshold, table = tree.threshold.copy(), tree.category_child.copy()
    for node in np.flatnonzero(tree.missing >= -1):
        children, goes = tree.children(node), tree.missing[node]
        at = slice(tree.category_start[node], tree.category_start[node + 1])
        bare = goes if goes >= 0 else rng.choice(children)
        if tree.kind[node] == 2 and rng.random() < 0.4:
            table[at] = np.where(
                table[at] == bare, rng.choice(children[children != bare]), table[at]
            )
        elif tree.kind[node] == 1 and goes == children[1] and rng.random() < 0.4:
            threshold[node] = np.finfo(np.float64).max
    unknown = [-1 if c is None else rng.integers(-2, len(c)) for c in tree.categories]
    categories = [
        c if c is None or k < 0 or rng.random() < 0.5 else (*c[:k], "(other)", *c[k + 1 :])
        for c, k in zip(tree.categories, unknown, strict=True)
    ]
    return replace(
        tree, threshold=threshold, category_child=table, unknown=unknown, categories=categories
    )


@settings(max_examples=40, deadline=None)
@given(
    trees(missing=("error", "share", "child", "mixed")),
    st.integers(0, 2**32 - 1),
    NAMES,
    NAMES,
    st.integers(1, 17),
)
def test_printing_a_tree_that_was_read_gives_the_same_text(tree, seed, names, labels, precision):
    categories = [None if c is None else [*labels, *"fg"][: len(c)] for c in tree.categories]
    shuffled = [*labels, "9", "ninth"][: len(tree.classes)]
    tree = replace(
        tree,
        feature_names=names[: tree.n_features],
        categories=categories,
        classes=np.array(shuffled, dtype=object),
        declared=None,
    )
    if tree.n_leaves == 1:
        return
    for each in (tree, rules_for_missing_and_unseen(tree, seed)):
        for digits in (6, precision, None):
            text = each.to_text(precision=digits)
            assert kt.keep(text).to_text(precision=digits) == text


@pytest.mark.parametrize("name", ["x or y is missing", "is known", "x is unseen or missing"])
def test_a_column_named_like_a_test_may_refuse_unseen_categories(name):
    text = f'refuse unseen "{name}"\n"{name}" = red or missing: a\n"{name}" = blue: b'
    tree = kt.keep(text)
    assert tree.feature_names == (name,)
    assert tree.to_text(precision=None) == text


@settings(max_examples=100, deadline=None)
@given(trees(missing=("error", "share", "child", "mixed")), st.integers(0, 2**32 - 1))
def test_the_exact_text_reproduces_the_tree(tree, seed):
    if tree.n_leaves == 1:
        return
    tree = rules_for_missing_and_unseen(tree, seed)
    again = kt.keep(tree.to_text(precision=None))
    can_miss = 0.1 if (tree.missing[tree.kind != 0] != -2).all() else 0.0
    rows = trying_rows(tree, random_rows(tree, seed, missing=can_miss), seed, missing=can_miss > 0)
    rows = decode(tree, rows)
    for column in np.flatnonzero(tree.unknown >= (-1 if can_miss else 0)):
        if tree.categories[column] is not None:
            rows[::7, column] = "never seen"
    frame = pd.DataFrame(rows, columns=[f"x[{j}]" for j in range(tree.n_features)])
    frame = frame[list(again.feature_names)]
    assert_same_partition(again.apply(frame), tree.apply(rows))
    np.testing.assert_array_equal(again.predict(frame), tree.predict(rows))
    present = np.isin(tree.classes, again.classes)
    np.testing.assert_allclose(
        again.predict_proba(frame), tree.predict_proba(rows)[:, present], atol=1e-12
    )
    refusing = np.flatnonzero(
        (tree.unknown == -2) & np.isin(np.arange(tree.n_features), tree.feature)
    )
    for column in refusing:
        rows[0] = decode(tree, random_rows(tree, seed, n=1))[0]
        rows[0, column] = "never seen"
        frame = pd.DataFrame(rows[:1], columns=[f"x[{j}]" for j in range(tree.n_features)])
        for kept, row in ((tree, rows[:1]), (again, frame[list(again.feature_names)])):
            with pytest.raises(ValueError, match="never seen"):
                kept.apply(row)


@pytest.mark.parametrize("word", ["ELSE IF", "ELSEIF", "elif", "ELSIF"])
def test_a_second_test_may_follow_on_the_same_line(word):
    expected = kt.keep("IF a <= 1 THEN x\nELSE IF b <= 2 THEN y\nELSE z").to_text()
    assert kt.keep(f"IF a <= 1 THEN x {word} b <= 2 THEN y ELSE z").to_text() == expected
    assert kt.keep(f"IF a <= 1 THEN x\n{word} b <= 2 THEN y\nELSE z").to_text() == expected


def test_a_class_may_contain_the_word_else_after_or():
    assert kt.keep("IF a <= 1 THEN x or else y\nELSE z").classes.tolist() == ["x or else y", "z"]


@pytest.mark.parametrize("word", ["ELSE", "else:", "Else :"])
def test_the_last_else_of_a_line_may_have_branches_below_it(word):
    below = "IF b <= 2 THEN y\n  ELSE z"
    expected = kt.keep(f"IF a <= 1 THEN x\nELSE\n  {below}").to_text()
    for text in (
        f"IF a <= 1 THEN x {word}\n  {below}",
        f"IF a <= 1 THEN x {word}\n\n  {below}\n  END IF\nEND IF",
        f"IF a <= 1 THEN x {word}\n  IF b <= 2 THEN y ELSE z",
    ):
        assert kt.keep(text).to_text() == expected
    nested = "IF a <= 1 THEN x ELSE IF b <= 2 THEN y"
    expected = kt.keep(f"{nested} ELSE IF c <= 3 THEN p ELSE q").to_text()
    assert kt.keep(f"{nested} {word}\n  IF c <= 3 THEN p\n  ELSE q").to_text() == expected
    inside = "IF a <= 1 THEN\n  IF b <= 2 THEN y{}\n    IF c <= 3 THEN p ELSE q\nELSE x"
    expected = kt.keep(inside.format("\n  ELSE")).to_text()
    assert kt.keep(inside.format(f" {word}")).to_text() == expected


def test_a_class_may_end_in_else_if_nothing_follows_below_it():
    tree = kt.keep("IF a <= 1 THEN nobody else\nELSE y")
    assert tree.classes.tolist() == ["nobody else", "y"]
    with pytest.raises(ValueError, match=r"line 2, column 3: .*a class follows THEN or ELSE"):
        kt.keep("IF a <= 1 THEN x ELSE\n  y")


def test_brackets_around_a_test_are_ignored_and_must_match():
    expected = kt.keep("IF a <= 1 THEN x ELSE y").to_text()
    assert kt.keep("IF (a <= 1) THEN x ELSE y").to_text() == expected
    assert kt.keep("IF ((a <= 1) ) THEN x ELSE y").to_text() == expected
    assert kt.keep('IF ("a (mm)" <= 1) THEN x ELSE y').feature_names == ("a (mm)",)
    assert kt.keep("IF (a) <= 1 THEN x ELSE y").feature_names == ("(a)",)
    with pytest.raises(
        ValueError, match="line 1, column 4: the brackets of this test do not match"
    ):
        kt.keep("IF (a <= 1 THEN x ELSE y")
    with pytest.raises(ValueError, match="column 13: `AND` joins two tests"):
        kt.keep("IF (a <= 1) AND (b > 2) THEN x ELSE y")
