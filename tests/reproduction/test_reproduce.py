"""A small but complete reproduction: files, resuming, unavailable data and bad input."""

import json
from pathlib import Path

import numpy
import pytest
import sklearn.datasets

from reproduction.__main__ import main
from reproduction.reproduce import PAPERS, get_reproduction, reproduce


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduction")
    report = reproduce(
        "alvarez-2007", samples=2, datasets=["wdbc", "wine"], out=out, n_jobs=1, progress=False
    )
    return out, report


def test_every_paper_is_registered_under_its_own_name():
    for name in PAPERS:
        paper = get_reproduction(name)
        assert paper.name == name
        assert paper.tables
        assert paper.protocols
        for coding in paper.datasets.values():
            assert coding.meaning


def test_the_report_is_written_as_markdown_json_and_pictures(done):
    out, report = done
    assert all(Path(path).is_file() for path in report["files"])
    assert {Path(path).suffix for path in report["files"]} == {".md", ".json", ".parquet", ".svg"}
    saved = json.loads((out / "alvarez-2007.json").read_text(encoding="utf-8"))
    assert saved == {key: value for key, value in report.items() if key != "files"}
    text = (out / "alvarez-2007.md").read_text(encoding="utf-8")
    for part in ("Table 1", "Table 2", "Table 3", "Claims", "Figure 1", "Figure 2", "Figure 3"):
        assert f"## {part}" in text
    assert "| wdbc | malignant | 569 | 2 | scikit-learn | 46f739354bc2 |" in text


def test_the_page_states_how_it_was_made(done):
    out, report = done
    text = (out / "alvarez-2007.md").read_text(encoding="utf-8")
    assert "2 samples of each data set" in text
    assert "a full run takes 100. This is a quick look" in text
    assert "**too few to say**" in text
    (run,) = report["runs"]
    assert run["tasks"] == 4
    assert run["packages"]["numpy"] == numpy.__version__
    assert f"commit {run['commit']}" in text
    assert "crc32(name) + k" in text


def test_every_cell_has_our_value_the_published_value_and_a_mark(done):
    _, report = done
    table = report["sections"][0]
    assert table["table"] == "1"
    assert list(table["rows"]) == ["wdbc", "wine"]
    for row in table["rows"].values():
        assert len(row) == 4
        for cell in row:
            assert cell["ours"]["n"] == 2
            assert cell["published"]["error"] > 0
            assert cell["agreement"] in {"same", "weaker", "other", "opposite"}
    assert table["agreement"]["all"]["total"] == 8
    assert table["agreement"]["certain"]["total"] == 4  # wdbc


def test_a_second_call_reuses_finished_tasks(done, monkeypatch):
    out, report = done
    before = (out / "alvarez-samples.jsonl").read_bytes()
    monkeypatch.setattr("reproduction.alvarez.draw_sample", None)  # any new work would fail
    again = reproduce("alvarez-2007", tables=["1"], samples=2, datasets=["wine"], out=out, n_jobs=1)
    assert (out / "alvarez-samples.jsonl").read_bytes() == before
    assert again["sections"][0]["rows"]["wine"] == report["sections"][0]["rows"]["wine"]
    assert again["failures"] == []


def test_one_sample_gives_values_but_no_verdict(tmp_path):
    report = reproduce(
        "alvarez-2007", tables=["1", "claims"], samples=1, datasets=["wine"], out=tmp_path, n_jobs=1
    )
    cells = report["sections"][0]["rows"]["wine"]
    assert {cell["agreement"] for cell in cells} == {"open"}
    assert report["sections"][1]["claims"][0]["verdict"] == "too few to say"


def test_finished_tasks_are_reported_without_measuring(done, monkeypatch):
    out, report = done
    monkeypatch.setattr("reproduction.alvarez.draw_sample", None)  # any new work would fail
    again = reproduce("alvarez-2007", tables=["1"], out=out, finished=True)
    assert list(again["sections"][0]["rows"]) == ["wdbc", "wine"]
    assert again["sections"][0] == report["sections"][0]
    assert {data["samples"] for data in again["datasets"].values()} == {2}


def test_an_unavailable_data_set_is_reported_and_the_others_are_measured(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    options = {"tables": ["III"], "samples": 1, "out": tmp_path, "n_jobs": 1}
    report = reproduce("katz-2012", datasets=["glass", "MiniBooNE"], **options)
    assert list(report["unavailable"]) == ["MiniBooNE"]
    assert list(report["sections"][0]["rows"]) == ["MiniBooNE", "glass"]
    page = (tmp_path / "katz-2012.md").read_text(encoding="utf-8")
    assert "Miniboone is not available" in page
    with pytest.raises(ValueError, match="None of the data sets is available"):
        reproduce("katz-2012", datasets=["MiniBooNE"], **options)


def test_a_report_without_results_is_refused(tmp_path):
    options = {"tables": ["1"], "samples": 1, "datasets": ["sonar"], "out": tmp_path, "n_jobs": 1}
    with pytest.raises(ValueError, match="No task of these is finished; run the command without"):
        reproduce("alvarez-2007", finished=True, **options)
    line = ",".join(["0.5"] * 60)
    (tmp_path / "sonar.csv").write_text(f"{line},R\n{line},M\n")  # too few cases to split
    with pytest.raises(ValueError, match=r"Every task failed; the first was dataset sonar, .*: "):
        reproduce("alvarez-2007", data_dir=tmp_path, **options)


def test_a_figure_alone_needs_no_samples(tmp_path):
    report = reproduce("alvarez-2007", figures=["3"], out=tmp_path)
    assert "samples" not in report
    assert not (tmp_path / "alvarez-samples.jsonl").exists()
    first = (tmp_path / "alvarez-2007-figure-3.svg").read_bytes()
    reproduce("alvarez-2007", figures=["3"], out=tmp_path)
    assert (tmp_path / "alvarez-2007-figure-3.svg").read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["einstein-1905"], "There is no paper 'einstein-1905' to reproduce; there are alvarez-"),
        (["alvarez-2007", "--table", "9"], "alvarez-2007 has no table '9'; it has 1, 2, 3"),
        (["alvarez-2007", "--figure", "x"], "alvarez-2007 has no figure 'x'; it has 1, 2, 3."),
        (["alvarez-2007", "--dataset", "titanic"], "has no data set 'titanic'; it has bupa"),
        (["alvarez-2007", "--samples", "0"], "samples=0 is too few; give at least 1."),
        (["alvarez-2007", "--protocol", "x"], "has no protocol 'x'; it has paper, plain."),
        (["alvarez-2007", "--data-dir", "nowhere"], "data folder nowhere does not exist"),
        (["alvarez-2007", "--samples", "many"], "invalid int value: 'many'"),
    ],
)
def test_bad_input_gives_a_one_line_error_and_exit_code_2(
    arguments, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code
    assert code == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_is_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["alvarez-2007", "--out", str(tmp_path / "file")]) == 2
    assert "cannot be created as a folder; choose another one." in capsys.readouterr().err


def test_the_command_prints_the_totals_or_json(done, capsys):
    out, _ = done
    call = ["alvarez-2007", "--table", "1", "--samples", "2", "--dataset", "wine",
            "--out", str(out), "--jobs", "1"]  # fmt: skip
    assert main(call) == 0
    printed = capsys.readouterr().out
    assert "Sign and significance agree in" in printed
    assert "| wine     |" in printed  # every cell, in aligned columns
    assert f"Written: {out / 'alvarez-2007.md'}" in printed
    assert main([*call, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sections"][0]["table"] == "1"
