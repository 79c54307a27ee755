"""Every alternative coding has data, and the chosen one gives the results of the tables."""

import numpy as np
import pytest

from reproduction.alvarez import CODINGS, read_set, score_sample
from reproduction.choices import CHOICES, BlindBootstrapSplit, score_choice
from reproduction.reproduce import reproduce


def test_every_choice_has_both_classes():
    for name, coding, _ in CHOICES.values():
        _, y = read_set(coding)
        assert 0 < y.mean() < 1, name


def test_every_data_set_with_alternatives_has_exactly_one_chosen_coding():
    for name in ("iris", "thyroid", "sat", "segment.", "vehicle", "wine"):
        chosen = [coding for label, (of, coding, protocol) in CHOICES.items()
                  if of == name and label.endswith("(chosen)")]  # fmt: skip
        assert chosen == [CODINGS[name]]


def test_the_chosen_coding_gives_the_results_of_the_tables():
    task = {"sample": 1, "protocol": "paper"}
    rows = score_choice({"dataset": "wine: cultivar 3 (chosen)", **task})
    table = {(row["tree"], row["method"]): row for row in score_sample({"dataset": "wine", **task})}
    for row in rows:
        same = table[row["tree"], row["method"]]
        assert (row["auc"], row["mse"]) == (same["auc"], same["mse"])


def test_a_blind_sample_leaks_copies():
    y = np.repeat([0, 1], [60, 30])
    train, test = next(BlindBootstrapSplit(1, random_state=0).split(y, y))
    assert len(train) + len(test) == len(y)
    assert set(train) & set(test)
    assert y[train].mean() == pytest.approx(1 / 3, abs=0.02)


def test_the_table_shows_the_results_of_every_choice(tmp_path):
    labels = [label for label in CHOICES if label.startswith("wine")]
    report = reproduce(
        "choices", samples=2, datasets=labels, out=tmp_path, n_jobs=1, progress=False
    )
    rows = report["sections"][0]["rows"]
    assert list(rows) == labels
    assert all(len(row) == 9 for row in rows.values())
    assert "wine: cultivar 1" in (tmp_path / "choices.md").read_text(encoding="utf-8")
