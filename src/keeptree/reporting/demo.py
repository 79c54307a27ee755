"""The demo: a report on a small tree for the Wisconsin breast cancer data."""

from keeptree.output import check_writable, require_extra

SEED, HELD_OUT, LEAVES, SMALLEST_LEAF = 0, 1 / 3, 9, 5


def demo(out="keeptree-demo.html"):
    """Grow a small tree, keep it and write a report on held-out data.

    Parameters
    ----------
    out : str or Path, default="keeptree-demo.html"
        HTML file to write; its folder must exist.

    Returns
    -------
    data : dict
        Result of :func:`keeptree.report`.
    """
    require_extra("jinja2", "pandas", extra="report")
    check_writable(out)
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    from keeptree.reporting.from_data import report_data

    bunch = load_breast_cancer(as_frame=True)
    learner = DecisionTreeClassifier(
        max_leaf_nodes=LEAVES, min_samples_leaf=SMALLEST_LEAF, random_state=SEED
    )
    return report_data(
        bunch.data,
        bunch.target_names[bunch.target],
        tree=learner,
        out=out,
        test_size=HELD_OUT,
        random_state=SEED,
        target="Wisconsin breast cancer",
        positive="malignant",
        methods="demo",
        about={
            "Data": "Wisconsin diagnostic breast cancer (Wolberg, Street and Mangasarian 1995), as "
            f"it ships with scikit-learn: {len(bunch.data)} cases, {bunch.data.shape[1]} "
            "attributes measured on cell nuclei.",
            "Learner": f"scikit-learn's DecisionTreeClassifier(max_leaf_nodes={LEAVES}, "
            f"min_samples_leaf={SMALLEST_LEAF}, random_state={SEED}).",
            "Meaning": "One split of one data set is an illustration, not evidence.",
        },
    )
