# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest
from heft.core.contact.friction import friction_directions
from hypothesis import given
from hypothesis import strategies as st

number = st.floats(-10, 10)


def directions(normal, sliding, sides):
    out = np.full((sides, 3), np.nan)
    friction_directions(tuple(normal), tuple(sliding), sides, out)
    return out


@given(st.tuples(number, number, number), st.tuples(number, number, number), st.sampled_from([4, 6]))
def test_directions_are_unit_tangents_evenly_spread(normal, sliding, sides):
    normal = np.add(normal, (0, 0, 1e-3))
    if np.linalg.norm(normal) < 1e-4:
        return
    normal /= np.linalg.norm(normal)
    out = directions(normal, sliding, sides)
    np.testing.assert_allclose(out @ normal, 0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(out[sides // 2 :], -out[: sides // 2])
    neighbours = (out * np.roll(out, -1, axis=0)).sum(1)
    np.testing.assert_allclose(neighbours, np.cos(2 * np.pi / sides), atol=1e-9)


@pytest.mark.parametrize("sides", [4, 6])
def test_an_edge_of_the_pyramid_opposes_the_sliding(sides):
    sliding = np.array([0.3, -0.4, 0.7])
    out = directions((0, 0, 1), sliding, sides)
    np.testing.assert_allclose(out[0], [0.6, -0.8, 0], atol=1e-12)
    np.testing.assert_allclose(out[sides // 2], [-0.6, 0.8, 0], atol=1e-12)


def test_a_contact_that_sticks_has_the_default_whatever_the_noise():
    still = directions((0, 0, 1), (0, 0, 0), 4)
    np.testing.assert_array_equal(directions((0, 0, 1), (3e-4, -5e-4, 0.2), 4), still)
    np.testing.assert_array_equal(still[0], [1, 0, 0])
    np.testing.assert_array_equal(directions((0, 0, 1), (np.nan, 0, 0), 4), still)
