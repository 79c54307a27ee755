"""The command line as users see it: what it prints, what it writes, how it fails."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from keeptree import __version__, cli

SOURCE = str(Path(cli.__file__).parents[2])  # independent of the current folder


def keeptree(*arguments, cwd=None, code=0):
    """Run the command in its own process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "keeptree", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": SOURCE},
    )
    assert done.returncode == code, done.stderr
    # A busy machine may print progress.
    done.stderr = re.sub(r"(?m)^.* \(\d+ s\)\n", "", done.stderr)
    return done


def test_the_demo_prints_a_table_and_says_where_the_page_is(tmp_path):
    done = keeptree("demo", cwd=tmp_path)
    page = tmp_path / "keeptree-demo.html"
    assert list(tmp_path.iterdir()) == [page]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert f"Page: {page}" in done.stdout
    for word in ("AUC", "Brier score", "Log-loss", "Our estimate", "The tree's own", "Difference"):
        assert word in done.stdout
    assert done.stderr == ""


def test_json_prints_the_figures_and_nothing_else(tmp_path, capsys):
    out = tmp_path / "page.html"
    assert cli.main(["demo", "--json", "--out", str(out)]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["page"] == str(out)
    assert out.exists()
    page = out.read_text(encoding="utf-8")
    for row in figures["metrics"].values():
        assert f"{row['ours']['value']:.3f}" in page


def test_help_and_version_import_no_heavy_library():
    code = (
        "import sys, keeptree.cli\n"
        "try: keeptree.cli.main([sys.argv[1]])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = ('numpy', 'scipy', 'sklearn', 'numba', 'jinja2', 'rich')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    for option in ("--help", "--version"):
        done = subprocess.run(
            [sys.executable, "-c", code, option], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "[]"


def test_version_is_printed(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"keeptree {__version__}\n"


def test_every_command_has_help(capsys):
    for command in cli.COMMANDS:
        with pytest.raises(SystemExit, match="0"):
            cli.main([command.name, "--help"])
        assert f"usage: keeptree {command.name}" in capsys.readouterr().out


def test_without_a_command_the_help_is_shown(capsys):
    assert cli.main([]) == 0
    assert "demo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dmo"], "invalid choice: 'dmo'"),
        (["--bogus"], "unrecognized arguments: --bogus; see keeptree --help"),
        (["demo", "--bogus"], "unrecognized arguments: --bogus; see keeptree demo --help"),
        (["demo", "--out"], "argument --out: expected one argument; see keeptree demo --help"),
    ],
)
def test_wrong_arguments_give_a_one_line_error_and_exit_code_2(arguments, sentence, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_missing_folder_gives_a_one_line_error_and_exit_code_2(tmp_path, capsys):
    missing = tmp_path / "missing"
    assert cli.main(["demo", "--out", str(missing / "page.html")]) == 2
    printed = capsys.readouterr()
    assert printed.err == (
        f"keeptree demo: The folder {missing} does not exist; "
        "create it or choose another place for the file.\n"
    )
    assert printed.out == ""
    assert not missing.exists()


@pytest.mark.parametrize("library", ["jinja2", "rich"])
def test_a_missing_library_gives_an_error_with_the_install_command(
    library, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, library, None)  # how Python marks a module as not installed
    assert cli.main(["demo", "--out", str(tmp_path / "page.html")]) == 2
    printed = capsys.readouterr()
    assert printed.err == (
        f"keeptree demo: This needs {library}, which is not installed; "
        'run: pip install "keeptree[report]" (in a clone: pip install --editable ".[report]")\n'
    )
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where_an_error_arose(tmp_path):
    with pytest.raises(FileNotFoundError):
        cli.main(["--debug", "demo", "--out", str(tmp_path / "missing" / "page.html")])


def test_a_bug_is_not_mistaken_for_bad_input(monkeypatch):
    def broken(options):
        raise KeyError("a bug")

    command = cli.Command("broken", "fail", lambda parser: None, broken)
    monkeypatch.setattr(cli, "COMMANDS", [command])
    with pytest.raises(KeyError):
        cli.main(["broken"])


def test_a_tilde_in_the_output_path_is_expanded(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    rows = [f"{x},{'low' if x < 10 else 'high'}" for x in range(20)]
    (tmp_path / "data.csv").write_text("\n".join(["x,class", *rows]))
    assert cli.main(["grow", "data.csv", "--target", "class", "--out", "~/t.json"]) == 0
    assert "Saved as t.json." in capsys.readouterr().out
    assert (tmp_path / "t.json").exists()
    assert {p.name for p in tmp_path.iterdir()} == {"data.csv", "t.json"}


def test_a_grown_tree_never_overwrites_the_data(tmp_path, capsys):
    data = tmp_path / "data.csv"
    data.write_text("x,class\n1,a\n2,b\n3,a\n4,b\n")
    assert cli.main(["grow", str(data), "--target", "class", "--out", str(data)]) == 2
    assert "is read by this command; choose another file" in capsys.readouterr().err
    assert data.read_text().startswith("x,class")


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_a_reader_that_stops_early_causes_no_error():
    command = f"{sys.executable} -m keeptree --help | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.startswith("usage")


def test_a_pattern_expanded_by_the_shell_gives_advice_to_quote_it(tmp_path, capsys):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n1\n")
    with pytest.raises(SystemExit) as raised:
        cli.main(["predict", "m.json", *map(str, sorted(tmp_path.iterdir())), "--out", "o.csv"])
    assert raised.value.code == 2
    assert 'put quotes around a pattern, as in "parts/*.parquet"' in capsys.readouterr().err
