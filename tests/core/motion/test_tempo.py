# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame rates, told by the steps."""

from dataclasses import replace

import pytest
from heft.core.motion.tempo import likely_rate

from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu, needs_clips, still, wooden, wooden_roles


def test_what_makes_no_steps_tells_nothing():
    assert likely_rate(still(wooden()), wooden_roles()) is None


@needs_clips
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_captured_clips_play_at_their_rate(path):
    clip = cmu(path.name[:5])
    assert likely_rate(clip.cut(1, len(clip.position)), CMU_ROLES) is None


@needs_clips
@pytest.mark.parametrize("name", ["02_01", "16_18", "132_20", "39_11"])
def test_a_walk_of_120_frames_per_second_played_at_24_is_told(name):
    clip = replace(cmu(name), rate=24.0)
    assert likely_rate(clip.cut(1, len(clip.position)), CMU_ROLES) in {100.0, 120.0}
