# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
from heft.core.maths.angles import direction


def test_direction_has_the_same_bits_wherever_its_result_lies():
    places = np.random.default_rng(0).normal(size=(4001, 2, 3))
    apart = places[:, 1] - places[:, 0]
    expected = np.arctan2(apart[:, 1].copy(), apart[:, 0].copy())
    held = []  # memory grows, so that sooner or later a result lies right behind its argument
    for _ in range(50):
        way = places[:, 1] - places[:, 0]
        found = direction(way[:, 1], way[:, 0])  # numpy 1.26's own arctan2 differs there
        held += [way, found]
        assert found.tobytes() == expected.tobytes()
