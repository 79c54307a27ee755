"""A short run of each part of the fuzzer; ``make fuzz`` runs them for minutes."""

import pytest

from keeptree.encoding import sealed
from tools.fuzz import files
from tools.fuzz.__main__ import run_case
from tools.fuzz.check import FindingError, ask

CASES = {"files": 300, "estimators": 60, "commands": 12}


@pytest.mark.parametrize("part", CASES)
def test_a_short_run_finds_nothing(part, tmp_path):
    outcomes = {run_case(part, 0, number, tmp_path) for number in range(CASES[part])}
    assert len(outcomes) > 1  # some cases are refused, others are not


def test_a_seed_and_a_number_reproduce_a_case(tmp_path):
    written = []
    for _ in range(2):
        run_case("files", 1, 2, tmp_path)
        written.append((tmp_path / "damaged.json").read_bytes())
    assert written[0] == written[1]


def test_a_probability_that_is_not_finite_is_found():
    class Broken:
        def predict_proba(self, rows):
            return [[float("nan"), 1.0]] * len(rows)

    with pytest.raises(FindingError, match="not finite"):
        ask(Broken(), [0, 0])


def test_an_undocumented_error_is_found(tmp_path, monkeypatch):
    def fail(path):
        raise KeyError(path)

    monkeypatch.setattr("keeptree.load", fail)
    with pytest.raises(KeyError):
        run_case("files", 0, 0, tmp_path)


def test_damaged_files_can_have_a_matching_digest():
    assert b'"digest"' in files.resealed(sealed({"a": 1}))
