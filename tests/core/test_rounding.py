# SPDX-License-Identifier: GPL-3.0-or-later
"""The same bits on every processor: a bake and all between, whatever kernels the outer environment asks for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from heft import core
from heft.core import rounding

from tools import environment

OUTER = [
    {},
    {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2", "OPENBLAS_L2_SIZE": "64"},
    {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
    {"OPENBLAS_CORETYPE": "Prescott", "NPY_ENABLE_CPU_FEATURES": "SSE42"},
]
BAKE = """
import hashlib
from heft import core
import numpy as np
from heft.core.job import BakeJob, precompute
from heft.core.motion.clip import Clip
from heft.core.worker.preparation import figure

digest = hashlib.sha256()

def add(value):
    if isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, dict):
        [add(one) for one in value.values()]
    elif hasattr(value, "__dataclass_fields__"):
        [add(getattr(value, name)) for name in value.__dataclass_fields__]
    elif isinstance(value, tuple | list):
        [add(one) for one in value]

bones = figure()
clip = Clip(bones, 24.0, np.tile(bones.head, (12, 1, 1)), np.tile(bones.orientation, (12, 1, 1)))
standing = BakeJob(clip=clip, roles={name: (name,) for name in bones.names})
add(precompute(standing))
add(core.run(standing))
print(digest.hexdigest())
"""


def bare():
    """The environment without what this process was given for its rounding."""
    names = {*rounding.PROCESS, "NPY_ENABLE_CPU_FEATURES", "OPENBLAS_L2_SIZE"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return kept | {"PYTHONPATH": str(Path(core.__file__).parents[2])}


def said(code, outer):
    """What another process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=bare() | outer, check=True)
    return done.stdout.strip()


def test_bakes_are_the_same_whatever_the_outer_environment_asks_for():
    found = {said(BAKE, outer) for outer in OUTER}
    assert len(found) == 1
    assert len(found.pop()) == 64


def test_this_process_and_those_of_run_py_and_the_worker_round_alike():
    assert rounding.FIXED
    assert rounding.NOTES == ()
    given = environment.variables("5.2")
    assert {name: given[name] for name in rounding.PROCESS} == rounding.PROCESS


@pytest.mark.skipif("OPENBLAS_CORETYPE" not in rounding.VARIABLES, reason="no other kernels here")
def test_numpy_before_heft_is_told_of_unless_it_rounds_alike_already():
    ask = "import numpy; from heft.core import rounding; print(rounding.FIXED, len(rounding.NOTES))"
    assert said(ask, {}) == "False 1"
    assert said(ask, {**rounding.VARIABLES, "OPENBLAS_CORETYPE": "Prescott"}) == "False 1"
    assert said(ask, rounding.VARIABLES) == "True 0"


@pytest.mark.skipif("NUMBA_CPU_NAME" not in rounding.compiled_for(), reason="no level that all processors here have")
def test_kernels_are_compiled_for_all_processors_unless_this_one_is_asked_for():
    ask = "import heft.core, numba; print(numba.config.CPU_NAME, numba.config.CPU_FEATURES)"
    level = rounding.KERNELS["NUMBA_CPU_NAME"]
    assert said(ask, {}) == level
    assert said(ask, {"HEFT_PROCESSOR": "own"}) == "None None"
