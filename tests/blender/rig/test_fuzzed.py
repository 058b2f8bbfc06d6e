# SPDX-License-Identifier: GPL-3.0-or-later
"""Some of the thousand skeletons of the study `fuzzed_skeletons`: no error, roles right, of a person's size."""

import pytest

from tests.blender.rig.fuzzed import fuzzed, set_up


@pytest.mark.parametrize("seed", range(0, 400, 16))
def test_a_fuzzed_skeleton_is_set_up(seed):
    case = fuzzed(seed)
    found, stature = set_up(case)
    assert found == case.roles, case.what
    assert 0.2 < stature < 6.2  # legs of 0.1 to 3 m are taken as they are
