"""Verdicts follow one rule, whose limits are in a table and in the sentence that states it."""

import pytest

from reproduction.tables import Claims
from reproduction.verdicts import (
    LEAST_JUDGED,
    LIMITS,
    TOO_FEW,
    Claim,
    is_enough,
    judge,
    state_rule,
)


@pytest.mark.parametrize(
    ("says", "good", "judged", "verdict"),
    [
        ("always", 10, 10, "holds"),
        ("always", 9, 10, "holds in part"),
        ("nearly always", 9, 10, "holds"),
        ("nearly always", 8, 10, "holds in part"),
        ("generally", 6, 8, "holds"),
        ("generally", 4, 8, "holds in part"),
        ("generally", 2, 8, "does not hold"),
        ("mostly", 4, 8, "holds"),
        ("mostly", 2, 8, "holds in part"),
        ("somewhere", 1, 40, "holds"),
        ("somewhere", 0, 40, "does not hold"),
        ("tested", 16, 16, "holds"),
        ("tested", 0, 16, "does not hold"),
        ("always", 0, 0, TOO_FEW),
        ("always", 1, 1, TOO_FEW),
        ("always", LEAST_JUDGED - 1, LEAST_JUDGED - 1, TOO_FEW),
        ("always", LEAST_JUDGED, LEAST_JUDGED, "holds"),
    ],
)
def test_the_verdict_follows_the_share_that_agrees(says, good, judged, verdict):
    assert judge(says, good, judged) == verdict


def test_few_samples_or_missing_data_sets_give_no_verdict():
    assert is_enough(10, 100, 14, 14)
    assert not is_enough(9, 100, 14, 14)
    assert not is_enough(100, 100, 10, 14)
    assert judge("always", 10, 10, enough=False) == TOO_FEW


def test_the_stated_rule_has_the_limits_of_the_table():
    for says, (whole, part) in LIMITS.items():
        if says not in ("somewhere", "tested"):
            assert (
                f"“{says}” holds from {whole:.0%} and holds in part from {part:.0%}" in state_rule()
            )
    assert "“somewhere”" in state_rule()
    assert f"fewer than {LEAST_JUDGED} can be judged" in state_rule()


def test_page_and_json_show_the_verdict_that_the_rule_gives():
    claims = Claims(
        (
            Claim("It is so.", "generally", 6, 8, "Seen."),
            Claim("They are correlated.", "tested", 9, 9, "Tested."),
            Claim("Once.", "always", 1, 1, "One cell."),
        )
    )
    verdicts = [claim["verdict"] for claim in claims.to_dict()["claims"]]
    assert verdicts == ["holds", "holds", TOO_FEW]
    page = claims.to_markdown()
    assert "**holds** (6/8, “generally”)" in page
    assert "**holds** (one test over 9 sets)" in page
    assert state_rule() in page
    assert {
        claim["verdict"] for claim in Claims(claims.claims, enough=False).to_dict()["claims"]
    } == {TOO_FEW}
