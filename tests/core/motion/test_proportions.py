# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of proportions unlike people's: large heads on short legs, giants, robots of boxes, legs of beasts."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.motion.body_plan import is_unlike_a_person
from heft.core.motion.clip import scaled
from heft.core.motion.labels import label
from heft.core.motion.prepare import prepare

from tests.core.motion.skeletons import still, wooden, wooden_roles

LEGS = ("thigh", "shin", "foot", "toe")


def short_legged(share=0.45, head=2.5):
    """Legs of less than half their length, a head two and a half times as large, on the same floor."""
    some = wooden()
    place, tail = some.head.copy(), some.tail.copy()
    hips = some.head[some.index("pelvis"), 2]
    for index, name in enumerate(some.names):
        if name.partition(".")[0] in LEGS:
            place[index, 2] *= share
            tail[index, 2] *= share
        else:
            place[index, 2] -= (1.0 - share) * hips
            tail[index, 2] -= (1.0 - share) * hips
    skull = some.index("head")
    tail[skull] = place[skull] + head * (tail[skull] - place[skull])
    return replace(some, head=place, tail=tail)


def digitigrade():
    """Ankles a quarter of the way up: it stands on its toes as beasts do, with a long foot."""
    some = wooden()
    place, tail = some.head.copy(), some.tail.copy()
    for side in "LR":
        shin, foot, toe = (some.index(f"{part}.{side}") for part in ("shin", "foot", "toe"))
        ankle = place[foot] + [0.0, 0.12, 0.15]
        tail[shin] = place[foot] = ankle
        tail[foot] = place[toe]
    return replace(some, head=place, tail=tail)


def boxes(some, size):
    """The corners of a box around each bone, half as wide as `size` says for its part."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (0, 1)], dtype=float)
    found = {}
    for name, head, tail in zip(some.names, some.head, some.tail, strict=True):
        wide = size.get(name.partition(".")[0], 0.05)
        along = tail - head
        found[name] = head + corners[:, 2:] * along + wide * corners * [1.0, 1.0, 0.0]
    return found


@pytest.mark.parametrize("make", [short_legged, digitigrade])
def test_it_stands_on_its_feet(make):
    clip = still(make(), 120, 60.0)
    found = prepare(clip, wooden_roles())
    assert abs(found.floor.height) < 0.03
    schedule = label(found.plan.character, found.trajectory)
    feet = [active for point, active in zip(schedule.points, schedule.active.T, strict=True) if point.foot]
    assert np.mean(feet) > 0.7
    assert found.error.ends_rms < 0.01


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_dwarfs_and_giants_weigh_by_their_size(factor):
    plain = prepare(still(wooden(), 60, 60.0), wooden_roles()).plan
    other = prepare(scaled(still(wooden(), 60, 60.0), factor), wooden_roles()).plan
    assert other.stature == pytest.approx(factor * plain.stature, rel=1e-6)
    assert other.character.total_mass == pytest.approx(factor**2 * plain.character.total_mass, rel=1e-3)


def test_builds_unlike_peoples_are_told():
    person = still(wooden(), 10)
    assert not is_unlike_a_person(person, wooden_roles())
    assert is_unlike_a_person(still(short_legged(), 10), wooden_roles())
    assert is_unlike_a_person(person, wooden_roles() | {"spine": (), "tail": ("spine",)})
    legs_alone = {role: bones for role, bones in wooden_roles().items() if "arm" not in role}
    assert not is_unlike_a_person(person, legs_alone)


def test_a_skinned_figure_may_weigh_what_its_mesh_does():
    """A head of a fifth of a metre on each side of its bone weighs a third of all."""
    some = short_legged()
    mesh = boxes(some, {"head": 0.2, "chest": 0.12, "pelvis": 0.12, "spine": 0.12})
    tables = prepare(still(some, 60, 60.0), wooden_roles()).plan.character
    volumes = prepare(still(some, 60, 60.0), wooden_roles(), vertices=mesh, masses_from_mesh=True).plan.character

    def share(character):
        return sum(body.mass for body in character.bodies if body.name == "head") / character.total_mass

    assert share(volumes) > 3.0 * share(tables)
