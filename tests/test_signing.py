"""keeptree sign and keeptree verify, for trees and for models that keep a signed tree."""

import json
import random
import warnings

import numpy as np
import pytest

import keeptree as kt
from keeptree.cli import main
from keeptree.encoding import sealed
from tests.test_saving import draw, fitted
from tests.tree.test_tree import mixed_tree


@pytest.fixture
def tree_file(tmp_path):
    mixed_tree().save(tmp_path / "tree.json")
    return tmp_path / "tree.json"


def edit(path, **changes):
    """Change entries of a file by somebody who recomputes its digest."""
    document = json.loads(path.read_text())
    document.pop("digest")
    path.write_text(json.dumps(sealed({**document, **changes})))


def test_sign_and_verify_on_the_command_line(tree_file, capsys):
    assert main(["verify", str(tree_file)]) == 0
    assert "Not signed; keeptree sign" in capsys.readouterr().out
    assert main(["verify", str(tree_file), "--signed"]) == 2
    assert "is not signed" in capsys.readouterr().err
    assert main(["sign", str(tree_file), "--by", "Ada", "--note", "Fit for use."]) == 0
    assert main(["sign", str(tree_file), "--by", "Bob"]) == 0
    capsys.readouterr()
    digest = mixed_tree().digest
    assert main(["verify", str(tree_file), "--signed", "--digest", digest[:12]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{tree_file}: a Tree in format 2, unchanged since it was saved."
    assert lines[1] == f"Digest of the tree: {digest}"
    assert lines[2].startswith("Signed by Ada on 20")
    assert lines[2].endswith(": Fit for use.")
    assert lines[3].startswith("Signed by Bob on 20")
    assert main(["verify", str(tree_file), "--digest", "0" * 12]) == 2
    assert main(["verify", str(tree_file), "--digest", "0"]) == 2


def test_a_tree_that_was_changed_after_it_was_signed_is_told_everywhere(tree_file, capsys):
    kt.sign_file(tree_file, by="Ada")
    threshold = [None if t is None else t + 1 for t in mixed_tree().to_dict()["threshold"]]
    edit(tree_file, threshold=threshold)
    with pytest.warns(UserWarning, match="what Ada signed is another tree"):
        assert kt.load(tree_file).signatures[0].by == "Ada"
    found = kt.verify_file(tree_file)
    assert [signature.by for signature in found.foreign] == ["Ada"]
    assert not found.signed
    assert main(["verify", str(tree_file), "--json"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["signatures"][0]["this_tree"] is False
    assert "What Ada signed is another tree" in captured.err
    with pytest.warns(UserWarning, match="another tree"):
        assert kt.sign_file(tree_file, by="Bob").signed
    assert [signature.by for signature in kt.verify_file(tree_file).foreign] == ["Ada"]


def test_a_model_carries_the_signatures_of_its_tree(tmp_path):
    X, y = draw()
    tree = kt.C45Classifier().fit(X, y).tree_.sign("Ada")
    model = kt.SmoothedTreeClassifier(tree).fit(X, y)
    kt.save(model, tmp_path / "model.json")
    assert [s.by for s in kt.verify_file(tmp_path / "model.json").signatures] == ["Ada"]
    found = kt.sign_file(tmp_path / "model.json", by="Bob", out=tmp_path / "signed.json")
    assert [s.by for s in found.signatures] == ["Ada", "Bob"]
    assert found.digest == tree.digest
    loaded = kt.load(tmp_path / "signed.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_forest_has_no_tree_to_sign(tmp_path):
    kt.save(fitted("forest", 80)[0], tmp_path / "model.json")
    assert kt.verify_file(tmp_path / "model.json").digest is None
    with pytest.raises(ValueError, match="several trees; sign the one you keep"):
        kt.sign_file(tmp_path / "model.json", by="Ada")


def test_every_flip_of_one_bit_is_found_or_changes_nothing(tree_file):
    kt.sign_file(tree_file, by="Ada", note="Fit for use.")
    content = tree_file.read_bytes()
    expected = kt.load(tree_file).to_dict()
    rng, refused = random.Random(0), 0
    for bit in rng.sample(range(8 * len(content)), 2000):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        tree_file.write_bytes(flipped)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert kt.load(tree_file).to_dict() == expected  # such as 1E-3 for 1e-3
        except ValueError:
            refused += 1
    assert refused > 1900


def test_the_file_of_a_tree_of_version_2_needs_its_digest(tree_file):
    document = json.loads(tree_file.read_text())
    del document["digest"]
    tree_file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="digest does not fit"):
        kt.load(tree_file)
