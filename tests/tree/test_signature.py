"""A signature records who approved which tree, whatever happens to the file afterwards."""

import dataclasses
from datetime import UTC, datetime

import pytest

import keeptree as kt
from keeptree.encoding import sealed
from tests.tree.test_tree import stump

AT = datetime(2026, 11, 16, 20, 15, tzinfo=UTC)


def test_signing_keeps_the_digest_and_does_not_change_the_original():
    tree = stump()
    signed = tree.sign(" Ada Lovelace ", "Approved.", AT).sign("Bob", at=AT)
    assert tree.signatures == ()
    assert signed.digest == tree.digest
    assert [s.by for s in signed.signatures] == ["Ada Lovelace", "Bob"]
    assert signed.signatures[0].to_dict() == {
        "by": "Ada Lovelace",
        "at": "2026-11-16T20:15:00+00:00",
        "note": "Approved.",
        "digest": tree.digest,
    }
    assert kt.Tree.from_dict(signed.to_dict()).signatures == signed.signatures


def test_a_changed_tree_keeps_a_signature_that_no_longer_matches():
    signed = stump().sign("Ada")
    other = dataclasses.replace(signed, threshold=[2.75, *signed.threshold[1:]])
    assert [s.by for s in other.signatures] == ["Ada"]
    assert other.signatures[0].digest != other.digest
    assert dataclasses.replace(signed, source={"model": "J48"}).digest == signed.digest


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"by": " "}, "by is empty"),
        ({"by": None}, "by must be text"),
        ({"by": "a\nb"}, "without control characters"),
        ({"by": "a" * 201}, "has 201 characters; at most 200"),
        ({"by": "Ada", "note": "\x00"}, "without control characters"),
        ({"by": "Ada", "at": "today"}, "datetime with a time zone"),
        ({"by": "Ada", "at": datetime(2026, 1, 1)}, "datetime with a time zone"),
    ],
)
def test_an_invalid_signature_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        stump().sign(**arguments)


@pytest.mark.parametrize(
    "change",
    [
        {"by": ""},
        {"at": "yesterday"},
        {"at": "2026-11-16T20:15:00"},
        {"note": 7},
        {"digest": "x" * 64},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_signature_raises_a_value_error(change):
    data = stump().sign("Ada").to_dict()
    data["signatures"] = [{**data["signatures"][0], **change}]
    with pytest.raises(ValueError, match=r"[Ss]ignature"):
        kt.Tree.from_dict(data)


def test_unknown_fields_and_a_wrong_digest_of_a_dictionary_are_refused():
    with pytest.raises(ValueError, match="unknown field 'colour'"):
        kt.Tree.from_dict({**stump().to_dict(), "colour": 1})
    document = sealed(stump().to_dict())
    assert kt.Tree.from_dict(document).digest == stump().digest
    with pytest.raises(ValueError, match="digest does not match"):
        kt.Tree.from_dict({**document, "n_features": 2})
