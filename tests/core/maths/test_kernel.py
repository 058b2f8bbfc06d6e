# SPDX-License-Identifier: GPL-3.0-or-later
"""What the compiler promises for kernels."""

import numpy as np
import pytest
from heft.core.maths.dense import copy_into
from heft.core.maths.kernel import allocating_kernel, kernel
from numba.core.errors import NumbaError


@kernel
def sum_of_doubled(array):
    return (2.0 * array).sum()


@allocating_kernel
def allocated_sum_of_doubled(array):
    return (2.0 * array).sum()


@kernel
def assign(source, target):
    target[:] = source


@kernel
def copy(source, target):
    copy_into(source, target)


def test_a_kernel_that_would_make_an_array_does_not_compile():
    with pytest.raises(NumbaError, match="NRT required"):
        sum_of_doubled(np.ones(3))
    assert allocated_sum_of_doubled(np.ones(3)) == 6.0


def test_copying_into_an_array_makes_none():
    source, target = np.arange(5.0), np.zeros(5)
    with pytest.raises(NumbaError, match="NRT required"):
        assign(source, target)
    copy(source, target)
    np.testing.assert_array_equal(target, source)
