# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels for processes that test_compiler.py starts."""

import ctypes

from heft.core.maths.compiler import compiled
from heft.core.maths.kernel import kernel, wide_kernel

OPTIONS = {"error_model": "numpy"}
POINTED = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(abs)


@kernel
def inner(x):
    if x < 0.0:
        raise ValueError("A negative entry.")
    return 4.0 * x


@kernel
def outer(array):
    total = 0.0
    for i in range(array.shape[0]):
        total += inner(array[i])
    return total


@wide_kernel
def add_scaled(array, other, out):
    for i in range(array.shape[0]):
        for j in range(other.shape[0]):
            out[j] += array[i] * other[j]


def with_options(options):
    """Of a kernel that holds an address of this process, which cannot be kept."""

    def pointed(array):
        return POINTED(array[0])

    return compiled(pointed, options)
