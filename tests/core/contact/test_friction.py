# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest
from heft.core.contact.friction import first_tangent
from hypothesis import given
from hypothesis import strategies as st

number = st.floats(-10, 10)


@given(st.tuples(number, number, number), st.tuples(number, number, number))
def test_the_direction_is_a_unit_tangent(normal, sliding):
    normal = np.add(normal, (0, 0, 1e-3))
    if np.linalg.norm(normal) < 1e-4:
        return
    normal /= np.linalg.norm(normal)
    tangent = np.array(first_tangent(tuple(normal), sliding))
    assert tangent @ normal == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(tangent) == pytest.approx(1.0, abs=1e-12)


def test_an_edge_of_the_pyramid_lies_along_the_sliding():
    assert first_tangent((0.0, 0.0, 1.0), (0.3, -0.4, 0.7)) == pytest.approx((0.6, -0.8, 0.0), abs=1e-12)


@pytest.mark.parametrize("sliding", [(0.0, 0.0, 0.0), (3e-4, -5e-4, 0.2), (np.nan, 0.0, 0.0)])
def test_a_contact_that_sticks_has_the_default_whatever_the_noise(sliding):
    assert first_tangent((0.0, 0.0, 1.0), sliding) == (1.0, 0.0, 0.0)
