"""Draw the pictures that the guide shares with the gallery: python -m docs.images.gallery."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
PICTURES = {
    "methods.png": "1_probabilities/plot_1_surfaces.py",
    "sets.png": "1_probabilities/plot_6_sets.py",
    "distance.png": "2_decisions/plot_1_distance_plane.py",
    "nearest_change.png": "2_decisions/plot_2_nearest_change.py",
    "learners.png": "3_trees/plot_1_j48_and_cart.py",
}


def main():
    """Run each example and save its first figure."""
    for name, example in PICTURES.items():
        plt.close("all")  # also those that other scripts left open
        runpy.run_path(str(HERE.parents[1] / "examples" / example))
        plt.figure(1).savefig(HERE / name, dpi=120)


if __name__ == "__main__":
    main()
