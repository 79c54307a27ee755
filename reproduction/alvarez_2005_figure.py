"""Figure 1 of Alvarez and Bernard (2005): ROC curves of the rankings of one sample."""

from sklearn.metrics import roc_curve

from keeptree.evaluation.ranking import auc
from keeptree.probability.geometric_rank import GeometricRankClassifier
from keeptree.probability.smoothing import SmoothedTreeClassifier
from reproduction.alvarez import TREES, draw_sample, weight_of_prior
from reproduction.pictures import BLUE, GREEN, MUTED, ORANGE, figure
from reproduction.tables import Picture


def draw_roc(folder, data_dir=None):
    """Draw smoothing, local and global ranking on a test sample of wdbc."""
    # The gains on this sample are close to the mean gains.
    sample = draw_sample("wdbc", 7, "plain", data_dir)
    scores = rank_sample(sample)
    name = "alvarez-2005-figure-1.svg"
    looks = {
        "m-estimate": {"color": ORANGE, "marker": "o", "markersize": 5, "linewidth": 1.4},
        "local ranking": {"color": GREEN, "linewidth": 1.8, "linestyle": (0, (4, 2)), "zorder": 3},
        "global ranking": {"color": BLUE, "linewidth": 2.2},
    }
    with figure(folder / name, ncols=2, figsize=(8.4, 4.4)) as (drawing, axes):
        for method, score in scores.items():
            x, y, _ = roc_curve(sample.y_test, score, drop_intermediate=False)
            label = f"{method}: AUC {auc(sample.y_test, score):.3f}"
            for ax in axes:
                ax.plot(x, y, label=label, **looks[method])
        axes[0].plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=":")
        axes[0].set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), title="The whole curve")
        axes[1].set(xlim=(-0.008, 0.25), ylim=(0.4, 1.02), title="Its beginning")
        for ax in axes:
            ax.set(xlabel="share of negatives", ylabel="share of positives")
        handles, labels = axes[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=3)
    caption = (
        "ROC curves of the rankings of one test sample of wdbc. Smoothing ranks leaf by leaf, "
        "so its curve is straight between the dots. Local ranking agrees with it at the dots and "
        "gains between them; global ranking ranks case by case."
    )
    return Picture("1", name, caption)


def rank_sample(sample):
    """Return the scores that three rankings of the normally pruned tree give the test cases.

    Parameters
    ----------
    sample : Sample
        Result of :func:`reproduction.alvarez.draw_sample`.

    Returns
    -------
    scores : dict of str to ndarray
    """
    tree = TREES["normal"].fit(sample.X_train, sample.y_train).tree_
    m = weight_of_prior(sample.y_train)
    smoothed = SmoothedTreeClassifier(tree, "m-estimate", m=m)
    local = GeometricRankClassifier(tree, "local", smoothing="m-estimate", m=m, grid=None)
    whole = GeometricRankClassifier(tree, grid=None)
    for model in (smoothed, local, whole):
        model.fit(sample.X_train, sample.y_train)
    return {
        "m-estimate": smoothed.predict_proba(sample.X_test)[:, 1],
        "local ranking": local.rank_score(sample.X_test, positive=1),
        "global ranking": whole.rank_score(sample.X_test, positive=1),
    }
