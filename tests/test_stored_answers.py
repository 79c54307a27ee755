"""A model in a file gives the same bits on every processor, and a refit on any number of cores."""

import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import keeptree as kt
from keeptree._compiled.native import load_native, processor_levels
from keeptree.probability.methods import METHODS
from tests import stored_answers

X86 = platform.machine().lower() in ("x86_64", "amd64")
# Settings that simulate a processor with only SSE vectors and no fused multiply-add, for our
# compiled functions, the machine code of a wheel, OpenBLAS, the C library and NumPy.
OLD_PROCESSOR = {
    "KEEPTREE_NATIVE": "0",
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
}


def answers_of_another_process(**environment):
    done = subprocess.run(
        [sys.executable, "-m", "tests.stored_answers"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_method_has_a_stored_file():
    stored = stored_answers.stored_answers()
    assert {f"{name}-{n}" for name in METHODS for n in (2, 3)} <= set(stored)


def test_stored_models_give_exactly_their_stored_predictions():
    assert stored_answers.answers() == stored_answers.stored_answers()


@pytest.mark.slow
@pytest.mark.skipif(
    not X86 or load_native() is not None, reason="needs x86-64 and functions compiled by numba"
)
def test_a_processor_without_fused_multiply_add_gives_the_same_bits():
    assert answers_of_another_process(**OLD_PROCESSOR) == stored_answers.stored_answers()


@pytest.mark.skipif(load_native() is None, reason="no machine code is installed")
@pytest.mark.parametrize("level", processor_levels())
def test_every_level_of_the_machine_code_gives_the_same_bits(level):
    found = answers_of_another_process(KEEPTREE_NATIVE=level)
    assert found == stored_answers.stored_answers()


@pytest.mark.parametrize("kind", ["KeptTreeClassifier", "MarginTreeClassifier"])
def test_a_refit_gives_the_same_bits_on_any_number_of_blas_threads(kind):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.tile(X, (4, 1)), np.tile(y, 4)  # large enough for BLAS to divide the work
    X = X * np.random.default_rng(0).uniform(0.9, 1.1, X.shape)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            model = getattr(kt, kind)(DecisionTreeClassifier(max_leaf_nodes=60, random_state=0))
            found.append(model.fit(X, y).predict_proba(X))
    assert np.array_equal(*found)
