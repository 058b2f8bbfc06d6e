# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles that stand where each foot does: a figure whose legs are a little longer or shorter than its soles say."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Corner
from heft.core.motion.body_plan import make_body_plan
from heft.core.motion.clip import LocalPoses, from_local, to_local
from heft.core.motion.floor import Floor, estimate_floor, soles_of
from heft.core.motion.standing_soles import with_standing_soles

from tests.core.motion.skeletons import still, wooden, wooden_roles

PLAN = make_body_plan(wooden(), wooden_roles())


def standing(left, right):
    """A second of standing, with each leg longer by so much than the plan's, m."""
    clip = still(wooden(), 60, 60.0)
    local = to_local(clip)
    place = local.position.copy()
    for side, longer in (("L", left), ("R", right)):
        place[:, clip.skeleton.index(f"shin.{side}"), 2] -= longer
    return from_local(clip, LocalPoses(place, local.orientation))


def heights(character, clip):
    """Of each sole's middle over z = 0, at the median."""
    found = soles_of(replace(PLAN, character=character), clip)
    return np.median(found.mean(axis=2)[..., 2], axis=0)


@pytest.mark.parametrize(("left", "right"), [(0.013, -0.013), (0.018, 0.006), (-0.01, 0.004)])
def test_both_soles_stand_on_the_floor(left, right):
    clip = standing(left, right)
    floor = Floor(0.0, samples=120)
    before = heights(PLAN.character, clip)
    assert np.ptp(before) == pytest.approx(abs(left - right), abs=1e-3)
    assert heights(with_standing_soles(PLAN, clip, floor), clip) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_the_floor_stays_between_them():
    clip = standing(0.012, -0.012)
    floor = estimate_floor(PLAN, clip)
    assert heights(with_standing_soles(PLAN, clip, floor), clip) == pytest.approx(floor.height, abs=2e-3)


@pytest.mark.parametrize(
    ("clip", "floor"),
    [
        (standing(0.002, -0.002), Floor(0.0, samples=120)),  # as good as the floor is
        (standing(0.035, 0.0), Floor(0.0, samples=120)),  # it stands on something
        (standing(0.013, -0.013), Floor(0.0)),  # of a floor that no sole told of
        (standing(0.013, -0.013), Floor(0.0, samples=120, drift=(0.0, 0.0, 0.02))),
    ],
)
def test_soles_stay_where_little_tells_of_others(clip, floor):
    assert with_standing_soles(PLAN, clip, floor) is PLAN.character


def test_nothing_but_soles_is_moved():
    clip = standing(0.013, -0.013)
    found = with_standing_soles(PLAN, clip, Floor(0.0, samples=120))
    pairs = list(zip(PLAN.character.contacts, found.contacts, strict=True))
    assert all(one == other for one, other in pairs if not isinstance(one, Corner))
    assert all(one.position[:2] == other.position[:2] for one, other in pairs if isinstance(one, Corner))
    assert found.bodies == PLAN.character.bodies
