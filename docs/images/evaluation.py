"""Draw the pictures of the guide's page on evaluation: python -m docs.images.evaluation."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from sklearn.datasets import load_breast_cancer

from keeptree.evaluation import PairedDifferenceDisplay, ReliabilityDisplay, compare
from keeptree.evaluation.models import make_models

HERE = Path(__file__).parent
METRICS = ["auc", "brier", "log_loss", "reliability"]


def main():
    """Compare on the Wisconsin breast cancer data and draw."""
    bunch = load_breast_cancer()
    y = bunch.target_names[bunch.target]
    found = compare(make_models(), bunch.data, y, metrics=METRICS, positive="malignant")
    print(found)
    displays = {"differences": PairedDifferenceDisplay, "reliability": ReliabilityDisplay}
    for name, display in displays.items():
        figure = display.from_comparison(found).figure_
        figure.savefig(HERE / f"evaluation_{name}.png", dpi=100)


if __name__ == "__main__":
    main()
