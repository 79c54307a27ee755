"""The rule that decides whether a claim of a paper holds, holds in part, or does not hold."""

from dataclasses import dataclass

TOO_FEW = "too few to say"
# Strength of a claim -> smallest shares of the judged cases for "holds" and "holds in part".
LIMITS = {
    "tested": (1.0, 1.0),
    "always": (1.0, 0.5),
    "nearly always": (0.9, 0.5),
    "generally": (0.75, 0.5),
    "mostly": (0.5, 0.25),
    "somewhere": (1e-9, 1e-9),
}
LEAST_SAMPLES = 0.1  # smallest share of the samples of a full run
LEAST_SETS = 0.75  # smallest share of the data sets of the paper
LEAST_JUDGED = 5  # smallest number of significant cells, data sets, samples or draws


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, what we measured, and the verdict.

    Attributes
    ----------
    text : str
        Claim of the paper.
    says : str
        Strength of the claim, one of :data:`LIMITS`; "tested" if one significance test decides.
    good, judged : int
        Number of significant cells, data sets, samples or draws that support the claim, and number
        of those that can be judged. All or none of the data sets of a test support the claim.
    evidence : str
        What we measured.
    """

    text: str
    says: str
    good: int
    judged: int
    evidence: str

    @property
    def counts(self):
        """The basis of the verdict, in a few words."""
        if self.says == "tested":
            return f"one test over {self.judged} sets"
        return f"{self.good}/{self.judged}, “{self.says}”"

    def to_dict(self, enough=True):
        """Return the claim as JSON values."""
        return {
            "text": self.text,
            "says": self.says,
            "good": int(self.good),
            "judged": int(self.judged),
            "verdict": judge(self.says, self.good, self.judged, enough=enough),
            "evidence": self.evidence,
        }


def judge(says, good, judged, *, enough=True):
    """Return the verdict on a claim.

    Parameters
    ----------
    says : str
        One of :data:`LIMITS`.
    good, judged : int
        Number of cases that support the claim, and of those that can be judged.
    enough : bool
        Whether the samples and data sets suffice, see :func:`is_enough`.

    Returns
    -------
    verdict : {"holds", "holds in part", "does not hold", "too few to say"}

    Examples
    --------
    >>> judge("generally", 8, 10), judge("always", 8, 10), judge("always", 1, 1)
    ('holds', 'holds in part', 'too few to say')
    """
    if not enough or judged < LEAST_JUDGED:
        return TOO_FEW
    whole, part = LIMITS[says]
    share = good / judged
    return "holds" if share >= whole else "holds in part" if share >= part else "does not hold"


def is_enough(samples, full, n_sets, n_all):
    """Return whether there are enough samples and data sets for verdicts.

    Parameters
    ----------
    samples, full : int
        Number of samples of each set, and in a full run.
    n_sets, n_all : int
        Number of data sets measured, and in the paper.

    Returns
    -------
    enough : bool
    """
    return samples >= LEAST_SAMPLES * full and n_sets >= LEAST_SETS * n_all


def state_rule():
    """Return the rule in words."""
    parts = []
    for says, (whole, part) in LIMITS.items():
        if says == "somewhere":
            parts.append("“somewhere” holds if one case supports it")
        elif says != "tested":
            parts.append(f"“{says}” holds from {whole:.0%} and holds in part from {part:.0%}")
    return (
        "A verdict depends on the share of significant cells, data sets, samples or draws that "
        f"support the claim, as counted beside it: {'; '.join(parts)}. A claim that "
        "there is a trend over the data sets holds if one test finds it at the 5% level, and a "
        "claim that there is none holds if the test does not. The verdict is "
        f"“{TOO_FEW}” if fewer than {LEAST_JUDGED} can be judged, or with fewer than "
        f"{LEAST_SAMPLES:.0%} of the samples of a full run or {LEAST_SETS:.0%} of the data sets."
    )
