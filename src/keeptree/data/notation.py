"""How the numbers of a column are written in a data file: what a model remembers of it."""

from dataclasses import dataclass

from keeptree.data.dates import tell_format
from keeptree.savable import expect, saved_part


@saved_part
@dataclass(frozen=True)
class Notation:
    """How the numbers of a column are written in a data file.

    Parameters
    ----------
    unit : str
        The unit that every number has, such as ``"EUR"`` or ``"%"``.
    date : str
        The format of dates, which are read as days since 1970-01-01: ``"ISO"`` or one of strptime.
    """

    unit: str = ""
    date: str = ""

    def check(self):
        """Raise if it was read from a file and is damaged."""
        texts = isinstance(self.unit, str) and isinstance(self.date, str)
        expect(texts and len(self.unit) < 100 and len(self.date) < 100, "a notation is damaged")

    def tell(self):
        """What the model expects, in words."""
        if self.date:
            return f"a date such as {tell_format(self.date)}"
        return f"a number in {self.unit}" if self.unit else "a number"


def check_notations(model):
    """Check the notations of a model that was read from a file; an older one has none."""
    notations = getattr(model, "notation_", None)
    if notations is not None:
        fits = isinstance(notations, tuple) and len(notations) == model.n_features_in_
        expect(fits, "notation_ is damaged")
        for notation in notations:
            expect(notation is None or isinstance(notation, Notation), "notation_ is damaged")
            if notation is not None:
                notation.check()
