# SPDX-License-Identifier: GPL-3.0-or-later
"""The one way to compile a function: `@kernel`.

Compiled code is cached on disk, so that a machine compiles once per installed version. Division by zero gives an
infinity as in numpy, for the caller to find, rather than a branch in every inner loop. `fastmath` stays off: the same
job must give the same bits.

Kernels neither make arrays nor own any. They are compiled without numba's runtime that counts references (NRT): to
count those of a workspace's arrays at every call costs more than the arithmetic. One that would allocate does not
compile ("NRT required but not enabled"), and that may be the copy behind `a[:] = b`, for which there is
`dense.copy_into`.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")

# numba's own options that its type hints leave out
OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy"}
WITHOUT_COUNTING: dict[str, Any] = {**OPTIONS, "_nrt": False}
WITHOUT_ENTRIES: dict[str, Any] = {**WITHOUT_COUNTING, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` in numba's nopython mode, cached on disk; it returns numbers, never an array."""
    return cast("Callable[P, R]", numba.njit(**WITHOUT_COUNTING)(function))


def allocating_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function that makes arrays or owns them, with reference counts. Nothing a step calls is one."""
    return cast("Callable[P, R]", numba.njit(**OPTIONS)(function))


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a module's private function: only kernels may call it, from Python it would crash.

    It is compiled without an entry from Python. Unpacking a workspace of dozens of arrays there takes longer to compile
    than most functions themselves.
    """
    return cast("Callable[P, R]", numba.njit(**WITHOUT_ENTRIES)(function))


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a small function so that callers absorb it (a cross product, a rotation of one vector)."""
    return cast("Callable[P, R]", numba.njit(**WITHOUT_COUNTING, inline="never", forceinline=True)(function))
