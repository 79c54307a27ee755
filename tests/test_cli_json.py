"""Every command with --json prints one JSON object with a schema and the documented keys."""

import json
import re
from pathlib import Path

import pytest

from keeptree.cli import COMMANDS, main
from keeptree.cli.program import Parser
from tests.data.loans import write_files

ROOT = Path(__file__).parents[1]
DATA = ["train.csv", "--target", "risk", "--nominal", "area"]
CALLS = {
    "report": [*DATA, "--out", "page.html", "--max-depth", "2"],
    "demo": ["--out", "demo.html"],
    "fit": [*DATA, "--method", "smoothed", "--out", "fitted.json"],
    "predict": ["model.json", "loans.csv", "--out", "scored.csv"],
    "explain": ["model.json", "loans.csv", "--row", "3"],
    "export": ["model.json", "--to", "tree.mmd", "--check", "0"],
    "grow": [*DATA, "--out", "grown.json"],
    "keep": ["tree.json", "--out", "kept.json"],
    "compare": [*DATA, "--models", "leaves,laplace", "--splits", "2", "--jobs", "1"],
    "sign": ["tree.json", "--by", "Ada", "--out", "signed.json"],
    "verify": ["tree.json"],
    "audit": ["model.json", "train.csv"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["fit", *DATA, "--method", "smoothed", "--out", "model.json"]) == 0
        assert main(["grow", *DATA, "--out", "tree.json"]) == 0
    return folder


def has_json(command):
    parser = Parser(prog=command.name)
    command.arguments(parser)
    return "--json" in parser.format_help()


def documented_keys(command):
    """Return the keys that the guide lists for a command; None if it refers to ``to_dict``."""
    guide = (ROOT / "docs/guide/commands.md").read_text().partition("## JSON")[2]
    (row,) = re.findall(rf"^\|[^|]*`{command}`[^|]*\|(.*)\|$", guide, re.MULTILINE)
    return None if "to_dict" in row else set(re.findall(r"`(\w+)`", row))


def test_every_command_with_json_is_tested_here():
    assert {command.name for command in COMMANDS if has_json(command)} == CALLS.keys()


@pytest.mark.parametrize("command", CALLS)
def test_json_is_one_object_that_starts_with_its_schema_and_has_the_documented_keys(
    command, folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    assert main([command, *CALLS[command], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert next(iter(printed)) == "schema"
    assert isinstance(printed["schema"], int)
    keys = documented_keys(command)
    assert keys is None or printed.keys() == keys | {"schema"}
