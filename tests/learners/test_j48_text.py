"""The text of a tree matches Weka's character by character."""

import numpy as np
import pandas as pd
import pytest

import keeptree as kt
from keeptree.learners.j48_text import _java_double, j48_text
from tests.fixtures import weka

SETTINGS = {"default": {}, "binary": {"binary_splits": True}}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", weka.data_sets())
def test_the_text_is_what_weka_prints(name, setting):
    data = weka.load(name)
    truth = data.trees[setting].text
    frame, y = data.frame.iloc[data.train], np.asarray(data.classes)[data.y[data.train]]
    y = pd.Categorical(y, categories=list(data.classes))
    model = kt.C45Classifier(**SETTINGS[setting]).fit(frame, y)
    assert j48_text(model.tree_, **SETTINGS[setting]).strip() == truth.strip()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0"), (2.5, "2.5"), (1234567.0, "1234567.0"), (1e7, "1.0E7"), (1.5e-5, "1.5E-5"),
     (123456789.0, "1.23456789E8"), (-2e10, "-2.0E10"), (1e300, "1.0E300")],
)  # fmt: skip
def test_numbers_are_written_as_java_writes_them(value, text):
    assert _java_double(value) == text
