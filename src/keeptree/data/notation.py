"""Units and date formats, which a model stores to read later files the same way."""

from dataclasses import dataclass

import numpy as np

from keeptree.data.dates import days_of, tell_format
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


def dated_columns(model):
    """Return the positions of the columns that a model read as days from the dates of a file."""
    notations = getattr(model, "notation_", None) or ()
    return [j for j, notation in enumerate(notations) if notation is not None and notation.date]


def with_days(X, model):
    """Return rows with dates as days since 1970-01-01 in the columns that the model read so.

    Parameters
    ----------
    X : data frame, array or list of rows
        Rows of the model's columns; other columns of a data frame are ignored.
    model : fitted model
        Model whose ``notation_`` says which columns were dates.
    """
    dated = dated_columns(model)
    if not dated:
        return X
    if not hasattr(X, "columns"):
        rows = np.asarray(X)
        if rows.dtype != object or rows.shape[1:] != (model.n_features_in_,):
            return X
        rows = rows.copy()
        for j in dated:
            rows[:, j] = days_of(rows[:, j])
        return rows
    names = [model.feature_names_in_[j] for j in dated]
    days = {
        name: days_of(X[name])
        for name in names
        if name in X.columns and np.asarray(X[name]).dtype.kind in "MO"
    }
    if not days:
        return X
    if hasattr(X, "assign"):
        return X.assign(**days)
    return X.with_columns([type(X[name])(name, values) for name, values in days.items()])


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
