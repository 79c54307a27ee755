"""KeepTree's exp and log are accurate, and their operations are never fused or reordered."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keeptree._compiled.elementary import exp, log, log1p

FUNCTIONS = {"exp": exp, "log": log, "log1p": log1p}
EXACT = {"exp": np.exp, "log": np.log, "log1p": np.log1p}
DOMAINS = {
    "exp": st.floats(-708, 709),
    "log": st.floats(np.finfo(float).tiny, np.finfo(float).max),
    "log1p": st.floats(0, np.finfo(float).max),
}


@pytest.mark.skipif(
    np.finfo(np.longdouble).precision < 18, reason="needs a long double of higher precision"
)
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(deadline=None)  # the first call compiles
@given(data=st.data())
def test_results_are_accurate_to_the_last_place(name, data):
    x = data.draw(DOMAINS[name])
    exact = EXACT[name](np.longdouble(x))
    unit = np.spacing(max(abs(float(exact)), np.finfo(float).tiny))
    assert abs(np.longdouble(FUNCTIONS[name](x)) - exact) <= 1.5 * unit


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(deadline=None)  # the first call compiles
@given(data=st.data())
def test_machine_code_rounds_every_step_as_python_does(name, data):
    x = data.draw(DOMAINS[name])
    in_python = getattr(FUNCTIONS[name], "py_func", FUNCTIONS[name])
    assert float(FUNCTIONS[name](x)).hex() == float(in_python(x)).hex()


def test_arguments_outside_the_range_give_the_limit():
    assert [exp(x) for x in (-math.inf, -800.0, 0.0, 800.0)] == [0.0, 0.0, 1.0, math.inf]
    assert [log(1.0), log(math.inf), log1p(0.0), log1p(math.inf)] == [0.0, math.inf, 0.0, math.inf]
    assert math.isnan(exp(math.nan))
