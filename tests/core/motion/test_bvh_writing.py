# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses written into BVH files: what is read back is what was written, and nothing else changed."""

import itertools

import numpy as np
import pytest
from heft.core.job.showing import matrices
from heft.core.motion import quaternions
from heft.core.motion.bvh import UP_IS_Y, UP_IS_Z, clip_of_bvh, parse_bvh_file, read_bvh_file
from heft.core.motion.bvh_writing import angles_of, write_bvh

from tests.core.motion.skeletons import CMU_UNIT, GOOD, needs_clips
from tests.core.motion.test_bvh import ARM


def turned_by(angles, axes):
    found = np.tile([1.0, 0.0, 0.0, 0.0], (len(angles), 1))
    for column, axis in enumerate(axes):
        found = quaternions.multiply(found, quaternions.exp(np.radians(angles[:, column])[:, None] * np.eye(3)[axis]))
    return found


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_angles_make_the_rotations_in_every_order(axes):
    turn = quaternions.normalize(np.random.default_rng(1).normal(size=(200, 4)))
    angles = angles_of(turn, list(axes), np.zeros(3))
    assert np.degrees(quaternions.angle(turned_by(angles, axes), turn)).max() < 1e-9


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("middle", [90.0, -90.0])
def test_where_two_axes_fall_together_the_rotation_is_still_right(axes, middle):
    asked = np.array([[30.0, middle, -50.0], [200.0, middle, 10.0]])
    angles = angles_of(turned_by(asked, axes), list(axes), np.zeros(3))
    assert np.degrees(quaternions.angle(turned_by(angles, axes), turned_by(asked, axes))).max() < 1e-5


def test_angles_go_on_from_frame_to_frame():
    """A joint that turns twice round about one axis, while another goes through a right angle and back."""
    time = np.linspace(0.0, 1.0, 400)
    asked = np.column_stack([720.0 * time, 120.0 * np.sin(np.pi * time), 40.0 * time])
    angles = angles_of(turned_by(asked, (2, 0, 1)), [2, 0, 1], np.zeros(3))
    assert angles == pytest.approx(asked, abs=1e-6)


def test_angles_start_near_those_of_the_file():
    turn = turned_by(np.array([[10.0, 20.0, 30.0]]), (0, 1, 2))
    assert angles_of(turn, [0, 1, 2], np.array([190.0, 160.0, 570.0])) == pytest.approx(
        np.array([[190.0, 160.0, 570.0]])
    )


@pytest.mark.parametrize(("turn", "unit"), [(UP_IS_Y, 0.01), (UP_IS_Z, 1.0)])
def test_what_is_written_is_read_back(turn, unit):
    file = parse_bvh_file(ARM, "arm.bvh")
    clip = clip_of_bvh(file, unit, turn)
    moved = matrices(clip.position + np.array([0.1, 0.2, 0.3]) * unit, clip.orientation)
    written = parse_bvh_file(write_bvh(file, unit, turn, np.array([1]), moved[1:]).decode(), "arm.bvh")
    again = clip_of_bvh(written, unit, turn)
    assert written.head == file.head
    assert written.lines[0] == file.lines[0]
    assert again.position[1] == pytest.approx(moved[1, :, :3, 3], abs=1e-6 * unit)
    assert quaternions.angle(again.orientation[1], clip.orientation[1]).max() < 1e-6


def test_a_joint_that_cannot_move_turns_so_that_its_child_is_where_it_should_be():
    """The arm's end is asked for 1 cm aside; its upper part, 2 m long, leans over to it."""
    file = parse_bvh_file(ARM, "arm.bvh")
    clip = clip_of_bvh(file, 1.0, UP_IS_Y)
    poses = matrices(clip.position, clip.orientation)[:1]
    poses[0, 2, 1, 3] += 0.01
    written = clip_of_bvh(
        parse_bvh_file(write_bvh(file, 1.0, UP_IS_Y, np.array([0]), poses).decode(), "arm.bvh"), 1.0, UP_IS_Y
    )
    assert np.linalg.norm(written.position[0, 2] - poses[0, 2, :3, 3]) < 1e-4
    assert quaternions.angle(written.orientation[0, 1], clip.orientation[0, 1]) == pytest.approx(0.005, abs=1e-5)


def test_a_joint_with_one_axis_turns_about_that_alone():
    file = parse_bvh_file(ARM, "arm.bvh")
    turn = turned_by(np.array([[35.0, 3.0]]), (1, 0))
    assert angles_of(turn, [1], np.zeros(1)) == pytest.approx(np.array([[35.0]]), abs=0.1)
    assert [len(joint.channels) for joint in file.joints] == [6, 3, 1]


def test_bytes_that_are_no_text_stay(tmp_path):
    path = tmp_path / "arm.bvh"
    path.write_bytes(ARM.encode().replace(b"Lower", b"Unterl\xe4nge"))
    file = read_bvh_file(path)
    assert "\ufffd" in file.joints[2].name
    clip = clip_of_bvh(file, 1.0, UP_IS_Y)
    written = write_bvh(file, 1.0, UP_IS_Y, np.array([1]), matrices(clip.position, clip.orientation)[1:])
    assert b"Unterl\xe4nge" in written


@needs_clips
def test_a_captured_walk_written_back_is_itself():
    file = read_bvh_file(GOOD[0])
    clip = clip_of_bvh(file, CMU_UNIT, UP_IS_Y)
    rows = np.arange(len(clip.position))
    written = write_bvh(file, CMU_UNIT, UP_IS_Y, rows, matrices(clip.position, clip.orientation))
    again = clip_of_bvh(parse_bvh_file(written.decode(), "again.bvh"), CMU_UNIT, UP_IS_Y)
    assert np.abs(again.position - clip.position).max() < 1e-6
