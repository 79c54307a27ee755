"""Draw the picture of the guide to probabilities: python -m docs.images.probability."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import keeptree as kt


def main():
    """Draw the distance kernel's probabilities on the Wisconsin breast cancer data."""
    data = load_breast_cancer(as_frame=True)
    y = data.target_names[data.target]
    parts = train_test_split(data.data, y, test_size=1 / 3, stratify=y, random_state=0)
    X_train, X_test, y_train, y_test = parts
    clf = DecisionTreeClassifier(max_leaf_nodes=9, min_samples_leaf=5, random_state=0)
    model = kt.DistanceKernelClassifier(clf.fit(X_train, y_train)).fit(X_train, y_train)
    display = kt.DistanceKernelDisplay.from_estimator(model, X_test, y_test, positive="malignant")
    display.figure_.set_size_inches(8, 3.8)
    display.figure_.savefig(Path(__file__).parent / "probability.png", dpi=130)


if __name__ == "__main__":
    main()
