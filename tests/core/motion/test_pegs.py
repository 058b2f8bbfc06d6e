# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs that end at their shins get feet that are level and point to where the hips face."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.body_plan import make_body_plan
from heft.core.motion.pegs import with_feet
from heft.core.motion.prepare import prepare

from tests.core.motion.skeletons import skeleton, still, waving, wooden, wooden_roles


def footless():
    some = wooden()
    keep = [i for i, name in enumerate(some.names) if not name.startswith(("foot", "toe"))]
    rows = [
        (some.names[i], some.names[some.parent[i]] if some.parent[i] >= 0 else None, some.head[i], some.tail[i])
        for i in keep
    ]
    roles = {role: bones for role, bones in wooden_roles().items() if not role.startswith(("foot", "toe"))}
    return skeleton(rows), roles


def test_feet_are_level_and_point_ahead():
    some, roles = footless()
    clip, longer = with_feet(waving(some, size=0.3), roles)
    assert set(longer) - set(roles) == {"foot.L", "foot.R"}
    assert clip.skeleton.names[: len(some.names)] == some.names
    for side in "LR":
        foot = clip.skeleton.index(longer[f"foot.{side}"][0])
        assert clip.skeleton.head[foot] == pytest.approx(some.tail[some.index(f"shin.{side}")])
        up = quaternions.rotate(clip.orientation[:, foot], np.array([0.0, 0.0, 1.0]))
        assert up[:, 2] == pytest.approx(1.0)
        hips = clip.position[:, some.index("thigh.L")] - clip.position[:, some.index("thigh.R")]
        ahead = quaternions.rotate(clip.orientation[:, foot], np.array([1.0, 0.0, 0.0]))
        assert np.abs(np.sum(ahead * hips, axis=1)).max() < 1e-9
    assert clip.skeleton.tail[foot, 1] < clip.skeleton.head[foot, 1] - 0.1  # the mannequin faces -Y


def test_it_is_as_tall_and_as_heavy_as_with_feet_of_its_own():
    some, roles = footless()
    clip, longer = with_feet(still(some), roles)
    bare, whole = make_body_plan(clip.skeleton, longer), make_body_plan(wooden(), wooden_roles())
    assert bare.stature == pytest.approx(whole.stature, rel=1e-6)
    assert bare.character.total_mass == pytest.approx(whole.character.total_mass, rel=1e-6)
    assert abs(prepare(clip, longer).floor.height) < 0.02


def test_who_has_feet_keeps_them():
    clip = still(wooden())
    assert with_feet(clip, wooden_roles()) == (clip, wooden_roles())
    some, roles = footless()
    legless = {role: bones for role, bones in roles.items() if not role.startswith("shin")}
    assert with_feet(still(some), legless)[1] == legless
