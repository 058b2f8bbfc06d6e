# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment variables with which the same job gives the same bits on every processor.

OpenBLAS, in numpy and once more in scipy, and numpy's own functions (sine, exponential) choose among kernels by the
processor they find, and one kernel sums in another order than the next. So all of Heft's processes have them take those
for AVX2, which every processor since 2015 has, and one thread. A processor without AVX2 takes those for SSE4.2, which
Blender needs; it rounds differently in any case, as the system's own sine does there.

Kernels are compiled for the oldest processors that Blender runs on, so that what is shipped fits all, and farms of
different ones run the same code; but products of large matrices (`wide_kernel` and its like) are for AVX2 where the
processor has it, in half the time. A step with kernels for this very processor is 2 % faster. The bits are the same in
any case; HEFT_PROCESSOR=own in the environment asks for them.

They read this once, when they are loaded. So a new process is given `PROCESS`, and one that imports heft.core before
numpy sets `VARIABLES` for itself. Where numpy came first and was not told, `FIXED` is False and a result's notes say
so.

Standard library only, in the syntax of Python 3.7: run.py loads this file by itself.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path

# Names of numpy 1.26 to 2.3, and the one name since 2.4; it passes over those that it does not know.
BEYOND_AVX2 = (
    *("AVX512F", "AVX512CD", "AVX512_KNL", "AVX512_KNM", "AVX512_SKX"),
    *("AVX512_CLX", "AVX512_CNL", "AVX512_ICL", "AVX512_SPR", "X86_V4"),
)
AVX2_ON_WINDOWS = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE


def has_avx2() -> bool:
    """Whether this x86 processor, and the system on it, can run kernels for AVX2."""
    if sys.platform == "win32":
        return bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(AVX2_ON_WINDOWS))
    if sys.platform == "darwin":
        answer, size = ctypes.c_int(0), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
        ctypes.CDLL(None).sysctlbyname(b"hw.optional.avx2_0", ctypes.byref(answer), ctypes.byref(size), None, 0)
        return bool(answer.value)
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return {"avx2", "fma"} <= set(next((line for line in lines if line.startswith("flags")), "").split())


def variables() -> dict[str, str]:
    """What the environment of a process must say before numpy is loaded."""
    found = {
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_DISABLE_CPU_FEATURES": " ".join(BEYOND_AVX2),
        "NPY_ENABLE_CPU_FEATURES": "",  # numpy takes only one of the two
    }
    machine = platform.machine().lower()
    if machine in {"x86_64", "amd64"}:
        found["OPENBLAS_CORETYPE"] = "Haswell" if has_avx2() else "Nehalem"
    elif machine in {"aarch64", "arm64"}:
        found["OPENBLAS_CORETYPE"] = "ARMV8"
    return found


def compiled_for() -> dict[str, str]:
    """What the environment of a process must say before numba is loaded."""
    machine = platform.machine().lower()
    if os.environ.get("HEFT_PROCESSOR") == "own":
        return {}
    if machine in {"x86_64", "amd64"}:
        return {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
    if sys.platform == "darwin":
        return {"NUMBA_CPU_NAME": "apple-m1", "NUMBA_CPU_FEATURES": ""}
    return {}


VARIABLES = variables()
KERNELS = compiled_for()
PROCESS = {**VARIABLES, **KERNELS, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For a process of Heft's own: other builds of numpy read other names for their threads."""
if "numpy" not in sys.modules:
    os.environ.update(VARIABLES)
if "numba" not in sys.modules:
    os.environ.update(KERNELS)
FIXED = all(os.environ.get(name, "") == value for name, value in VARIABLES.items())
"""Whether this process's libraries round as on every processor."""
NOTES = (
    ()
    if FIXED
    else ("Results may differ on another processor, because numpy was imported before Heft: import Heft first.",)
)
