# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that recover: what the report says of it, and that it changes nothing where nothing is to be recovered from."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import BakeJob, run
from heft.core.simulation import Prop, Push
from heft.core.simulation.looseness import natural
from heft.core.simulation.scene import Scene

from tests.core.job import beginners, golden
from tests.core.job.jobs import waving_clip
from tests.core.motion.skeletons import wooden_roles


def test_walk_that_a_push_fells_steps_aside_and_goes_on():
    job = replace(golden.kept("walk"), loop=True, seconds=4.5, settings={"rehearsals": 0})
    pushed = replace(job, scene=golden.pushed(250.0, 0.5 * np.pi))
    assert run(pushed).outcome == "fell"
    found = run(replace(pushed, recovery=True))
    assert found.outcome == "completed"
    (first, *_) = found.report["recoveries"]
    assert first["what"] == "left"
    start = found.frames[0]
    assert first["frame"] == start + 1.6 * job.fps  # as the push ends
    assert 0.05 < first["distance_m"] < 1.5
    assert f"cm to its left at frame {first['frame']:.0f}." in found.why


def test_who_falls_gets_up_and_walks_on():
    """The whole way, which takes eight seconds to simulate: down, up again, and on in the walk."""
    job = replace(golden.kept("walk"), loop=True, seconds=12.0, settings={"rehearsals": 0}, help="as_needed")
    pushed = replace(job, scene=golden.pushed(250.0, 0.5 * np.pi))
    found = run(replace(pushed, get_up=True))
    assert found.outcome == "completed"
    assert [one["what"] for one in found.report["recoveries"]] == ["rises", "up"]
    began, up = (one["frame"] for one in found.report["recoveries"])
    assert 2.0 < (up - began) / job.fps < 10.0
    assert found.report["upright_seconds"] < (began - found.frames[0]) / job.fps  # up to the fall, as of who stays down
    assert f"Was on its feet again at frame {up:.0f}." in found.why
    assert "While it got up, help carried" in found.why
    assert "from nowhere" not in found.why
    root = found.bones.index(job.roles["pelvis"][0])
    height = found.poses[:, root, 2, 3]
    assert height[: round(job.fps)].min() - 0.05 < height[-1] < height[: round(job.fps)].max() + 0.05
    assert height.min() < 0.4 * height[-1]


def test_who_falls_gets_up_by_the_motion_that_is_named():
    """A stranger to physics keyed it: from the back to sitting, to squatting, to standing, gliding as it goes."""
    push = Push.constant("torso", (0.0, 400.0, 0.0), 0.5, 0.3)
    job = BakeJob(waving_clip(9.0), wooden_roles(), scene=Scene(pushes=(push,)), recovery=False, get_up=True)
    rising = beginners.clip("getting up")
    found = run(replace(job, get_up_clip=rising))
    assert found.outcome == "completed"
    assert [one["what"] for one in found.report["recoveries"]] == ["rises", "up"]
    began, up = (round(one["frame"] - found.frames[0]) for one in found.report["recoveries"])
    # sitting with the knees up, and squatting, are poses that Heft's own way up does not have
    thigh, shank = (found.bones.index(bone) for bone in ("thigh.L", "shin.L"))

    def bend(heads, a, b, c):
        upper, lower = heads[:, b] - heads[:, a], heads[:, c] - heads[:, b]
        cosine = (upper * lower).sum(axis=1) / np.linalg.norm(upper, axis=1) / np.linalg.norm(lower, axis=1)
        return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))

    foot, pelvis = found.bones.index("foot.L"), found.bones.index(job.roles["pelvis"][0])
    heads = found.poses[began : up + 1, :, :3, 3]
    keyed = rising.position[:, [rising.skeleton.index(bone) for bone in found.bones]]
    for row in (21, 39):  # of the keys
        wanted = bend(keyed[row : row + 1], thigh, shank, foot)[0]
        height = keyed[row, pelvis, 2] - keyed[row, foot, 2]
        off = np.abs(bend(heads, thigh, shank, foot) - wanted) / 20.0
        off = np.maximum(off, np.abs(heads[:, pelvis, 2] - heads[:, foot, 2] - height) / 0.1)
        assert off.min() < 1.0
    end = found.poses[-1, pelvis, 2, 3]
    assert end == pytest.approx(found.poses[0, pelvis, 2, 3], abs=0.05)


def test_who_is_not_up_yet_at_the_end_has_fallen():
    job = replace(golden.kept("walk"), loop=True, seconds=6.5, settings={"rehearsals": 0}, help="as_needed")
    found = run(replace(job, scene=golden.pushed(250.0, 0.5 * np.pi), get_up=True))
    assert [one["what"] for one in found.report["recoveries"]] == ["rises"]
    assert found.outcome == "fell"
    assert found.fall is not None
    assert found.fall.seconds == found.report["upright_seconds"]


@pytest.mark.parametrize("eighth", [4, 5])
def test_recovery_does_not_fell_who_stands_without_it(eighth):
    """A plan that had been rehearsed to its end was replaced on the way, by one that fell."""
    angle = eighth * np.pi / 4.0
    push = Push.constant("torso", (100.0 * np.cos(angle), 100.0 * np.sin(angle), 0.0), 1.3, 0.1)
    job = replace(golden.kept("walk"), scene=Scene(pushes=(push,)), strength=3.0)
    assert run(job).outcome == "completed"
    assert run(replace(job, recovery=True, looseness=natural())).outcome == "completed"


def test_walk_that_is_pushed_shortly_before_its_end_walks_on():
    """Its plan reaches beyond the end, where it froze in the middle of a step: the chest turned by 88 degrees."""
    walk = replace(golden.kept("walk"), strength=3.0, looseness=natural(), settings={"rehearsals": 0})
    backwards = golden.heading() + np.pi
    push = Push.constant("torso", (100.0 * np.cos(backwards), 100.0 * np.sin(backwards), 0.0), 3.03, 0.1)
    calm, found = run(walk), run(replace(walk, scene=Scene(pushes=(push,)), recovery=True))
    assert found.outcome == "completed"
    assert found.report["recoveries"]
    chest = found.bones.index(walk.roles["chest"][0])
    turns = np.swapaxes(calm.poses[:, chest, :3, :3], 1, 2) @ found.poses[:, chest, :3, :3]
    off = np.degrees(np.arccos(np.clip(0.5 * (np.trace(turns, axis1=1, axis2=2) - 1.0), -1.0, 1.0)))
    assert off[-round(0.4 * found.fps) :].max() < 20.0


def test_without_a_push_the_bake_is_the_same_with_and_without_recovery():
    job = replace(golden.kept("walk"), seconds=1.0)
    found, without = run(replace(job, recovery=True)), run(job)
    np.testing.assert_array_equal(found.poses, without.poses)
    assert found.report["recoveries"] == []


def thrown_at(job, mass, speed, seconds):
    """A ball that comes from the walk's right and meets the chest after some seconds."""
    chest = job.clip.skeleton.index(job.roles["chest"][0])
    angle = golden.heading() + 0.5 * np.pi
    way = np.array([np.cos(angle), np.sin(angle), 0.0])
    x, y, z = job.clip.position[round(seconds * job.clip.rate), chest] - speed * seconds * way
    vx, vy, _ = speed * way
    velocity = (vx, vy, 0.5 * 9.81 * seconds, 0.0, 0.0, 0.0)
    return Prop.sphere("ball", 0.12, mass, (float(x), float(y), float(z)), velocity=velocity)


def test_walk_that_a_ball_fells_steps_aside_as_after_a_push():
    """6 kg at 8 m/s, of which a body that yields takes what the contacts give it."""
    job = replace(golden.kept("walk"), loop=True, seconds=3.5, settings={"rehearsals": 0})
    hit = replace(job, scene=Scene(props=(thrown_at(job, 6.0, 8.0, 0.9),)))
    assert run(hit).outcome == "fell"
    found = run(replace(hit, recovery=True))
    assert found.outcome == "completed"
    first = found.report["recoveries"][0]
    assert first["what"] == "left"
    assert 0.8 < (first["frame"] - found.frames[0]) / job.fps < 1.0
