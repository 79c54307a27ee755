"""Compare folded trees with their pipelines on a million rows: ``python -m benchmarks.folding``."""

import sys
import time
import warnings

import numpy as np

from tests.importers.random_pipelines import draw_fitted, folded, pipeline_leaves, probe_rows

ROWS = 1_000_000
PER_PIPELINE = 40_000


def compare(seed):
    """Return the number of rows that a random pipeline accepts, and the number that differ."""
    rng = np.random.default_rng(seed)
    drawn = draw_fitted(rng)
    if drawn is None:
        return 0, 0
    frame, _, pipeline = drawn
    tree, origin = folded(pipeline, frame)
    rows = probe_rows(frame, tree, rng, 400)
    answered = pipeline_leaves(pipeline, rows)[1]
    if not len(answered):
        return 0, 0
    # Shuffling the columns of accepted rows gives new rows with acceptable values.
    part = rows.iloc[answered].reset_index(drop=True)
    picks = rng.integers(len(part), size=(PER_PIPELINE, part.shape[1]))
    mixed = part.iloc[picks[:, 0]].reset_index(drop=True)
    for k, name in enumerate(part.columns):
        mixed[name] = part[name].to_numpy()[picks[:, k]]
    leaves = pipeline[-1].apply(pipeline[:-1].transform(mixed))
    return len(mixed), int((origin[tree.apply(mixed)] != leaves).sum())


def main(rows):
    """Print how many rows were compared and how many differ."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    done = differences = pipelines = seed = 0
    start = time.perf_counter()
    while done < rows:
        n, wrong = compare(seed)
        done, differences, pipelines, seed = (
            done + n,
            differences + wrong,
            pipelines + (n > 0),
            seed + 1,
        )
        print(
            f"\r{done} rows, {pipelines} pipelines, {differences} differences", end="", flush=True
        )
    print(f", {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
