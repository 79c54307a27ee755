"""Raw results are written to a Parquet file and read back unchanged."""

from docs.results import gather
from reproduction.raw import read_raw, write_raw
from reproduction.results import round_row

ROWS = [
    {"tree": "normal", "method": "tree", "leaves": 7, "kappa": 1.2345, "accuracy": 0.912281},
    {"tree": "normal", "method": "laplace", "auc": 0.123457, "mse": 1.765432, "impossible": False,
     "areas": [0.0, 0.00123, 0.98765]},
]  # fmt: skip
RECORD = {
    "task": {"dataset": "wine", "data": "036047f034b6", "protocol": "paper", "sample": 3},
    "rows": ROWS,
    "seconds": 0.25,
}


def test_records_and_reports_round_trip(tmp_path):
    about = {"alvarez-2007": {"samples": 4, "seeds": "§ ü"}}
    write_raw(tmp_path / "raw.parquet", {"a.jsonl": [RECORD]}, about)
    records, reports = read_raw(tmp_path / "raw.parquet")
    assert records == {"a.jsonl": [RECORD]}
    assert reports == about


def test_rounding_keeps_the_digits_that_the_file_stores():
    row = {"method": "tree", "auc": 0.12345678, "areas": [0.123456], "leaves": 3, "kappa": 9.87654}
    expected = {"method": "tree", "auc": 0.123457, "areas": [0.12346], "leaves": 3, "kappa": 9.8765}
    assert round_row(row) == expected


def test_a_task_shared_by_two_reports_is_gathered_once(tmp_path):
    for name in ("alvarez-2005", "alvarez-2007"):
        write_raw(tmp_path / f"{name}.parquet", {"a.jsonl": [RECORD]}, {name: {}})
    records, reports = gather(tmp_path)
    assert records == {"a.jsonl": [RECORD]}
    assert set(reports) == {"alvarez-2005", "alvarez-2007"}
