"""Units and date formats, which a model stores to read later files the same way."""

from dataclasses import dataclass

from keeptree.data.dates import tell_format
from keeptree.savable import expect, saved_part


@saved_part
@dataclass(frozen=True)
class Notation:
    """Unit or date format of a column in data files.

    Parameters
    ----------
    unit : str
        Unit of every number, such as ``"EUR"`` or ``"%"``.
    date : str
        Date format: ``"ISO"`` or a strptime format. Dates become days since 1970-01-01.
    """

    unit: str = ""
    date: str = ""

    def check(self):
        """Raise a ValueError if the content of a file is damaged."""
        texts = isinstance(self.unit, str) and isinstance(self.date, str)
        expect(texts and len(self.unit) < 100 and len(self.date) < 100, "a notation is damaged")

    def tell(self):
        """Describe what the model expects in a cell."""
        if self.date:
            return f"a date such as {tell_format(self.date)}"
        return f"a number in {self.unit}" if self.unit else "a number"


def check_notations(model):
    """Check the notations of a loaded model; older models have none."""
    notations = getattr(model, "notation_", None)
    if notations is not None:
        fits = isinstance(notations, tuple) and len(notations) == model.n_features_in_
        expect(fits, "notation_ is damaged")
        for notation in notations:
            expect(notation is None or isinstance(notation, Notation), "notation_ is damaged")
            if notation is not None:
                notation.check()
