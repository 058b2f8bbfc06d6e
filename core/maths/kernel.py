# SPDX-License-Identifier: GPL-3.0-or-later
"""The one way to compile a function: `@kernel`.

Compiled code is cached on disk, so that a machine compiles once per installed version. Division by zero gives an
infinity as in numpy, for the caller to find, rather than a branch in every inner loop. `fastmath` stays off: the same
job must give the same bits.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` in numba's nopython mode, cached on disk."""
    return cast("Callable[P, R]", numba.njit(cache=True, error_model="numpy")(function))


# numba's own options that its type hints leave out
WITHOUT_ENTRIES: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a module's private function: only kernels may call it, from Python it would crash.

    It is compiled without an entry from Python. Unpacking a workspace of dozens of arrays there takes longer to compile
    than most functions themselves.
    """
    return cast("Callable[P, R]", numba.njit(cache=True, error_model="numpy", **WITHOUT_ENTRIES)(function))


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a small function so that callers absorb it (a cross product, a rotation of one vector)."""
    return cast(
        "Callable[P, R]", numba.njit(cache=True, error_model="numpy", inline="never", forceinline=True)(function)
    )
