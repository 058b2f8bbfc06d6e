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

from .compiler import compiled

P = ParamSpec("P")
R = TypeVar("R")

COUNTING: dict[str, Any] = {"error_model": "numpy"}
OPTIONS: dict[str, Any] = {**COUNTING, "_nrt": False}
OTHERS_GO_ON: dict[str, Any] = {"nogil": True}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` in numba's nopython mode, cached on disk; it returns numbers, never an array."""
    return cast("Callable[P, R]", compiled(function, OPTIONS))


def wide_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The same for long loops that Python calls, in vectors of four doubles where the processor has them.

    Other threads go on meanwhile (`maths.beside`).
    """
    return cast("Callable[P, R]", compiled(function, {**OPTIONS, **OTHERS_GO_ON}, wide=True))


def allocating_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function that makes arrays or owns them, with reference counts. Nothing a step calls is one."""
    return cast("Callable[P, R]", compiled(function, COUNTING))


def wide_allocating_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function that makes arrays."""
    return cast("Callable[P, R]", compiled(function, {**COUNTING, **OTHERS_GO_ON}, wide=True))


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a small function so that callers absorb it (a cross product, a rotation of one vector)."""
    return cast("Callable[P, R]", compiled(function, {**OPTIONS, "inline": "never", "forceinline": True}))
