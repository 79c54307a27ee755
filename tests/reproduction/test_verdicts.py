"""Verdicts: one rule, one table of limits, and the sentence that states it."""

import pytest

from reproduction.tables import Claims
from reproduction.verdicts import LIMITS, TOO_FEW, Claim, is_enough, judge, state_rule


@pytest.mark.parametrize(
    ("says", "good", "judged", "verdict"),
    [
        ("always", 10, 10, "holds"),
        ("always", 9, 10, "holds in part"),
        ("nearly always", 9, 10, "holds"),
        ("nearly always", 8, 10, "holds in part"),
        ("generally", 3, 4, "holds"),
        ("generally", 2, 4, "holds in part"),
        ("generally", 1, 4, "does not hold"),
        ("mostly", 2, 4, "holds"),
        ("mostly", 1, 4, "holds in part"),
        ("somewhere", 1, 40, "holds"),
        ("somewhere", 0, 40, "does not hold"),
        ("always", 0, 0, TOO_FEW),
    ],
)
def test_the_share_decides(says, good, judged, verdict):
    assert judge(says, good, judged) == verdict


def test_few_samples_or_missing_sets_are_too_few():
    assert is_enough(10, 100, 14, 14)
    assert not is_enough(9, 100, 14, 14)
    assert not is_enough(100, 100, 10, 14)
    assert judge("always", 10, 10, enough=False) == TOO_FEW


def test_the_rule_in_words_has_the_limits_of_the_table():
    for says, (whole, part) in LIMITS.items():
        assert f"“{says}”" in state_rule()
        if says != "somewhere":
            assert f"“{says}” holds from {whole:.0%} on, in part from {part:.0%} on" in state_rule()


def test_page_and_json_have_the_verdict_of_the_rule():
    claims = Claims((Claim("It is so.", "generally", 3, 4, "Seen."),))
    assert claims.to_dict()["claims"][0]["verdict"] == "holds"
    assert "| **holds** (3/4, “generally”) |" in claims.to_markdown()
    assert state_rule() in claims.to_markdown()
    assert "too few to say" in Claims(claims.claims, enough=False).to_markdown()
