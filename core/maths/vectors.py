# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors of three and 3x3 matrices as tuples.

Kernels work on tuples, which live in registers and allocate nothing; a matrix is nine numbers row by row. Arguments
are only indexed, so an array of three serves as well as a tuple.
"""

import numpy as np
from numpy.typing import NDArray

from .kernel import inlined_kernel

Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


@inlined_kernel
def row(array: NDArray[np.float64], i: int) -> Vector:
    """The first three entries of row i, for instance the linear part of a spatial vector."""
    return array[i, 0], array[i, 1], array[i, 2]


@inlined_kernel
def row_angular(array: NDArray[np.float64], i: int) -> Vector:
    """Entries 3 to 5 of row i: the angular part of a spatial vector."""
    return array[i, 3], array[i, 4], array[i, 5]


@inlined_kernel
def set_row(array: NDArray[np.float64], i: int, a: Vector) -> None:
    """Write `a` into the first three entries of row i."""
    array[i, 0], array[i, 1], array[i, 2] = a[0], a[1], a[2]


@inlined_kernel
def set_row_angular(array: NDArray[np.float64], i: int, a: Vector) -> None:
    """Write `a` into entries 3 to 5 of row i."""
    array[i, 3], array[i, 4], array[i, 5] = a[0], a[1], a[2]


@inlined_kernel
def matrix_at(array: NDArray[np.float64], i: int) -> Matrix:
    """Matrix i of a stack (n, 3, 3)."""
    return (
        array[i, 0, 0],
        array[i, 0, 1],
        array[i, 0, 2],
        array[i, 1, 0],
        array[i, 1, 1],
        array[i, 1, 2],
        array[i, 2, 0],
        array[i, 2, 1],
        array[i, 2, 2],
    )


@inlined_kernel
def set_matrix(array: NDArray[np.float64], i: int, a: Matrix) -> None:
    """Write `a` as matrix i of a stack (n, 3, 3)."""
    array[i, 0, 0], array[i, 0, 1], array[i, 0, 2] = a[0], a[1], a[2]
    array[i, 1, 0], array[i, 1, 1], array[i, 1, 2] = a[3], a[4], a[5]
    array[i, 2, 0], array[i, 2, 1], array[i, 2, 2] = a[6], a[7], a[8]


@inlined_kernel
def add(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined_kernel
def subtract(a: Vector, b: Vector) -> Vector:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined_kernel
def scale(s: float, a: Vector) -> Vector:
    """Multiple s a."""
    return s * a[0], s * a[1], s * a[2]


@inlined_kernel
def add_scaled(a: Vector, s: float, b: Vector) -> Vector:
    """Sum a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@inlined_kernel
def dot(a: Vector, b: Vector) -> float:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined_kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Cross product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined_kernel
def matrix_vector(m: Matrix, a: Vector) -> Vector:
    """Product m a."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inlined_kernel
def transposed_vector(m: Matrix, a: Vector) -> Vector:
    """Product m^T a."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inlined_kernel
def matrix_product(a: Matrix, b: Matrix) -> Matrix:
    """Product a b."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )
