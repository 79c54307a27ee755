"""keeptree sign and keeptree verify, for trees and for models that keep a signed tree."""

import json
import random
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

import keeptree as kt
from keeptree.cli import main
from keeptree.encoding import sealed
from keeptree.tree.signature import recounted_from
from tests.test_saving import draw, fitted
from tests.tree.test_tree import mixed_tree


@pytest.fixture
def tree_file(tmp_path):
    mixed_tree().save(tmp_path / "tree.json")
    return tmp_path / "tree.json"


def edit(path, **changes):
    """Change entries of a file and recompute its digest."""
    document = json.loads(path.read_text())
    document.pop("digest")
    path.write_text(json.dumps(sealed({**document, **changes})))


def test_sign_and_verify_work_on_the_command_line(tree_file, capsys):
    assert main(["verify", str(tree_file)]) == 0
    assert "Not signed; to sign it, run: keeptree sign" in capsys.readouterr().out
    assert main(["verify", str(tree_file), "--signed"]) == 2
    assert "is not signed" in capsys.readouterr().err
    assert main(["sign", str(tree_file), "--by", "Ada", "--note", "Fit for use."]) == 0
    assert main(["sign", str(tree_file), "--by", "Bob"]) == 0
    capsys.readouterr()
    digest = mixed_tree().digest
    assert main(["verify", str(tree_file), "--signed", "--digest", digest[:12]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{tree_file}: Tree, format version 2, unchanged since it was saved."
    assert lines[1] == f"Digest of the tree: {digest}"
    assert lines[2].startswith("Signed by Ada on 20")
    assert lines[2].endswith(": Fit for use.")
    assert lines[3].startswith("Signed by Bob on 20")
    assert main(["verify", str(tree_file), "--digest", "0" * 12]) == 2
    capsys.readouterr()
    assert main(["verify", str(tree_file), "--digest", "0"]) == 2
    said = capsys.readouterr()
    assert "too short" in said.err
    assert said.out == "", "a bad digest is refused before anything is printed"


def test_a_tree_changed_after_signing_is_reported_everywhere(tree_file, capsys):
    kt.sign_file(tree_file, by="Ada")
    threshold = [None if t is None else t + 1 for t in mixed_tree().to_dict()["threshold"]]
    edit(tree_file, threshold=threshold)
    with pytest.warns(UserWarning, match="Ada signed a different tree"):
        assert kt.load(tree_file).signatures[0].by == "Ada"
    found = kt.verify_file(tree_file)
    assert [signature.by for signature in found.foreign] == ["Ada"]
    assert not found.signed
    assert main(["verify", str(tree_file), "--json"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["signatures"][0]["this_tree"] is False
    assert "Ada signed another tree" in captured.err
    with pytest.warns(UserWarning, match="a different tree"):
        assert kt.sign_file(tree_file, by="Bob").signed
    assert [signature.by for signature in kt.verify_file(tree_file).foreign] == ["Ada"]


def test_keep_checks_the_digest_and_the_signatures_as_load_does(tree_file, capsys):
    kt.sign_file(tree_file, by="Ada")
    threshold = [None if t is None else t + 1 for t in mixed_tree().to_dict()["threshold"]]
    edit(tree_file, threshold=threshold)
    with pytest.warns(UserWarning, match="Ada signed a different tree"):
        kt.keep(tree_file)
    document = json.loads(tree_file.read_text())
    document.pop("digest")
    tree_file.write_text(json.dumps(document))
    for read in (kt.keep, kt.load, kt.Tree.load):
        with pytest.raises(
            ValueError, match=r"tree\.json.*digest does not match.*restore the orig"
        ):
            read(tree_file)
    assert main(["keep", str(tree_file), "--out", str(tree_file.with_name("new.json"))]) == 2
    assert "it was changed after it was saved" in capsys.readouterr().err


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
    with pytest.raises(ValueError, match="several trees; sign the file of a single"):
        kt.sign_file(tmp_path / "model.json", by="Ada")


def test_flipping_one_bit_is_detected_or_changes_nothing(tree_file):
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
                # Some flips are harmless, such as 1E-3 for 1e-3.
                assert kt.load(tree_file).to_dict() == expected
        except ValueError:
            refused += 1
    assert refused > 1900


def test_a_tree_file_of_version_2_needs_its_digest(tree_file):
    document = json.loads(tree_file.read_text())
    del document["digest"]
    tree_file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="digest does not match"):
        kt.load(tree_file)


@pytest.fixture
def recounted(tmp_path):
    """Return the file of a model whose signed tree was recounted over twice as many rows."""
    X, y = load_iris(return_X_y=True)
    tree = kt.keep(kt.C45Classifier().fit(X, y)).sign("Ada Lovelace")
    more = kt.keep(tree, np.tile(X, (2, 1)), np.tile(y, 2))
    kt.save(kt.SmoothedTreeClassifier(more).fit(X, y), tmp_path / "recounted.json")
    return tmp_path / "recounted.json", tree, more


def test_a_signature_from_before_a_recount_is_not_reported_as_foreign(recounted):
    path, tree, more = recounted
    assert more.digest != tree.digest
    found = kt.verify_file(path)
    assert (found.signed, found.foreign, len(found.before_recount)) == (False, (), 1)
    assert found.to_dict()["signatures"][0]["before_recount"]
    assert kt.sign_file(path, by="Ada Lovelace").signed


def test_verify_asks_to_sign_again_after_a_recount(recounted, capsys):
    path, *_ = recounted
    assert main(["verify", str(path)]) == 0
    assert "(before its class counts were recounted)" in capsys.readouterr().out
    assert main(["verify", str(path), "--signed"]) == 2
    assert "was signed before its class counts were recounted" in capsys.readouterr().err
    assert main(["sign", str(path), "--by", "Ada Lovelace"]) == 0
    assert main(["verify", str(path), "--signed"]) == 0


def test_a_recounted_tree_that_is_changed_afterwards_is_another_tree(recounted):
    _, _, more = recounted
    changed = replace(more, threshold=more.threshold + 0.5)
    assert recounted_from(more)
    assert recounted_from(changed) is None


def test_after_a_second_recount_the_signed_tree_is_still_known(recounted):
    _, tree, more = recounted
    X, y = load_iris(return_X_y=True)
    third = kt.keep(more, np.tile(X, (3, 1)), np.tile(y, 3))
    assert recounted_from(third) == tree.digest
