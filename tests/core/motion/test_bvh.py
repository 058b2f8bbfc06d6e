# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files: what their numbers mean, and refusals that name the line."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.bvh import parse_bvh, read_bvh

from tests.core.motion.skeletons import CMU_UNIT, GOOD, needs_clips

ARM = """HIERARCHY
ROOT Base
{
	OFFSET 0 1 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT Upper Arm
	{
		OFFSET 0 0 0
		CHANNELS 3 Zrotation Yrotation Xrotation
		JOINT Lower
		{
			OFFSET 2 0 0
			CHANNELS 1 Yrotation
			End Site
			{
				OFFSET 0 0 3
			}
		}
	}
}
MOTION
Frames: 2
Frame Time: 0.0083333
0 0 0 0 0 0 0 0 0 0
1 2 3 0 0 0 90 0 90 -90
"""


def test_channels_turn_in_the_order_listed_and_y_up_becomes_z_up():
    clip = parse_bvh(ARM, "arm", unit=0.5)
    assert clip.skeleton.names == ("Base", "Upper Arm", "Lower")
    assert clip.rate == 120.0
    assert clip.first_frame == 1.0
    # (x, y, z) becomes (x, -z, y), in half units
    assert clip.skeleton.head == pytest.approx(np.array([[0, 0, 0.5], [0, 0, 0.5], [1, 0, 0.5]]))
    assert clip.skeleton.tail[1] == pytest.approx([1.0, 0, 0.5])
    assert clip.skeleton.tail[2] == pytest.approx([1.0, -1.5, 0.5])
    # a place of the root takes that of its offset
    assert clip.position[1, 0] == pytest.approx([0.5, -1.5, 1.0])
    # Z by 90, then X by 90 about the turned axis: the arm along X points up, whatever it does about itself
    assert clip.position[1, 2] - clip.position[1, 1] == pytest.approx([0, 0, 1.0], abs=1e-12)
    # forearm's end (0, 0, 3): turned by -90 about Y to -X, by 90 about X to itself, by 90 about Z to -Y; -Y is down
    end = clip.position[1, 2] + quaternions.rotate(clip.orientation[1, 2], np.array([0.0, -1.5, 0.0]))
    assert end - clip.position[1, 2] == pytest.approx([0, 0, -1.5], abs=1e-12)


def test_z_up_files_stay_as_they_are():
    clip = parse_bvh(ARM, "arm", up="Z")
    assert clip.skeleton.head[2] == pytest.approx([2, 1, 0])


def test_a_chain_through_joints_at_one_place_has_its_tail_at_the_first_that_lies_elsewhere():
    clip = parse_bvh(ARM, "arm")
    assert clip.skeleton.tail[0] == pytest.approx(clip.skeleton.head[2])


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("HIERARCHY", "HIERACHY", 1, "expected 'HIERARCHY'"),
        ("ROOT Base", "JOINT Base", 2, "expected 'ROOT'"),
        ("ROOT Base", "ROOT", 2, "needs a printable name"),
        ("JOINT Lower", "JOINT Base", 10, "two joints are named 'Base'"),
        ("OFFSET 0 1 0", "OFFSET 0 1", 4, "three numbers"),
        ("OFFSET 2 0 0", "OFFSET 2 zero 0", 12, "expected numbers, not '2 zero 0'"),
        ("OFFSET 0 0 3", "OFFSET 0 0 inf", 16, "expected numbers"),
        ("CHANNELS 1 Yrotation", "CHANNELS 2 Yrotation", 13, "CHANNELS"),
        ("CHANNELS 1 Yrotation", "CHANNELS 2 Yrotation Yrotation", 13, "each once"),
        ("CHANNELS 1 Yrotation", "CHANNELS 1 Wrotation", 13, "CHANNELS"),
        ("MOTION\n", "", 21, "unexpected 'Frames: 2'"),
        ("Frames: 2", "Frames: many", 22, "Frames:"),
        ("Frames: 2", "Frames: 3", 25, "expected 3 frames, found 2"),
        ("Frame Time: 0.0083333", "Frame Time: 0", 23, "cannot take 0 seconds"),
        ("1 2 3 0", "1 2 0", 25, "expected 10 numbers, not 9"),
        ("1 2 3 0", "1 2 x 0", 25, "expected numbers"),
        ("1 2 3 0", "1 2 nan 0", 25, "expected numbers"),
    ],
)
def test_a_wrong_file_is_refused_by_its_line(old, new, line, says):
    assert old in ARM
    with pytest.raises(ValueError, match=r"^arm, line \d+: .*\.$") as refusal:
        parse_bvh(ARM.replace(old, new, 1), "arm")
    assert f"line {line}:" in str(refusal.value)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_cut_off_anywhere_is_refused():
    for size in range(len(ARM) - len("1 2 3 0 0 0 90 0 90 -90\n")):
        with pytest.raises(ValueError, match="line"):
            parse_bvh(ARM[:size], "cut")


@needs_clips
def test_cmu_clips_have_31_joints_at_120_frames_per_second_and_face_minus_y():
    for path in GOOD[:3]:
        clip = read_bvh(path, CMU_UNIT)
        assert len(clip.skeleton.names) == 31
        assert clip.rate == 120.0
        foot, toe = (clip.skeleton.index(f"Left{name}") for name in ("Foot", "ToeBase"))
        toes = clip.position[0, toe] - clip.position[0, foot]
        assert np.argmax(np.abs(toes)) == 1
        assert toes[1] < 0.0
        assert 0.8 < clip.position[1:, 0, 2].mean() < 1.1
