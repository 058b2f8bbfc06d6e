# SPDX-License-Identifier: GPL-3.0-or-later
"""Batch files: what they ask for, and mistakes by their line before anything runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from heft.core.batch.plan import Plan
from heft.core.contact.terrain import make_terrain
from heft.core.job import BakeJob

from tests.core.batch.nights import NIGHT, night
from tests.core.job.jobs import waving_job


def test_lists_make_a_bake_for_each_combination(tmp_path):
    plan = Plan.read(night(tmp_path))
    assert plan.folder == tmp_path / "out"
    assert len(plan) == 2 * 2 * 3 * 2 + 2 * 2
    names = list(plan)
    assert names[:3] == ["stand-0N-1-none", "stand-0N-2-none", "stand-50N-1-none"]
    assert names[-1] == "saved-rate240-adaptation0.002"
    last = plan[names[-1]]
    assert last == replace(
        waving_job(), name=names[-1], rate=240.0, seconds=0.25, settings={"rehearsals": 0, "adaptation": 0.002}
    )


def test_what_is_chosen_is_in_the_job(tmp_path):
    plan = Plan.read(night(tmp_path))
    job = plan["stand2-100.5N-2-down"]
    assert isinstance(job, BakeJob)
    assert (job.name, job.seed, job.noise) == ("stand2-100.5N-2-down", 2, 0.01)
    assert job.frames == (2.0, 20.0)
    assert job.body.total_mass == 70.0
    assert job.reference == {"friction": 0.7}
    assert plan["stand-0N-1-none"].scene.pushes == ()
    assert plan["stand-0N-1-none"].scene.surfaces == ()
    (push,) = job.scene.pushes
    # the figure faces -Y, so its left is +X
    assert push.force == pytest.approx(np.array([[100.5, 0.0, 0.0]] * 2), abs=1e-9)
    assert (push.body, push.start, push.rate) == ("pelvis", 0.2, pytest.approx(10.0))
    assert job.ground == "level"


def test_terrain_lies_ahead(tmp_path):
    (mesh,) = Plan.read(night(tmp_path))["stand-0N-1-down"].scene.surfaces
    make_terrain([mesh])
    assert mesh.friction == 0.9
    # the figure stays in place, so ahead is where it faces; steps begin a metre on
    heights = {-0.5: 0.0, -1.2: -0.02, -1.7: -0.04, -2.2: -0.06, -50.0: -0.06}
    for y, height in heights.items():
        spans = [(a, b) for a, b in zip(mesh.vertices[::2], mesh.vertices[2::2], strict=False) if b[1] < y < a[1]]
        assert [a[2] for a, _ in spans] == [pytest.approx(height)]
    normals = np.cross(*(mesh.vertices[mesh.triangles[:, k]] - mesh.vertices[mesh.triangles[:, 0]] for k in (1, 2)))
    assert (normals[:, 2] >= -1e-12).all()


def test_a_slope_rises_by_its_angle(tmp_path):
    text = NIGHT.replace("rise = -0.02\ngoing = 0.5\ncount = 3", "slope = 10\nlength = 2.0\nstart = 0.5")
    (mesh,) = Plan.read(night(tmp_path, text))["stand-0N-1-down"].scene.surfaces
    assert mesh.vertices[:, 2].max() == pytest.approx(2.0 * math.tan(math.radians(10.0)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('output = "out"', "output = 3", "line 2: 'output' must be text, not 3."),
        ("# two", "outptu = 3\n# two", "line 1: there is no key 'outptu' here; choose from output, rigs"),
        ("unit = 1.0", "unit = -1.0", "line 5: 'unit' must be a positive number, not -1.0."),
        ("mass = 70", 'mass = "much"', "line 6: 'mass' must be a positive number, not 'much'."),
        ('pelvis = "Hips"', "pelvis = 1", "line 9: 'pelvis' must be a bone's name"),
        ('pelvis = "Hips"', 'pelvis = "Hip"', "line 8: with stand.bvh: The skeleton has no bone 'Hip'."),
        ('pelvis = "Hips"', 'tentacle = "Hips"', "line 8: with stand.bvh: There is no role 'tentacle'."),
        ("rise = -0.02", "riser = -0.02", "line 18: there is no key 'riser' here"),
        ("rise = -0.02", "", "line 17: a terrain needs a slope"),
        ("count = 3", "count = 0", "line 20: 'count' must be a whole number from 1 to 1000, not 0."),
        ("{clip}-{push}N", "{clip}-{pusch}N", "line 24: {pusch} in the name is unknown: use one of"),
        ("{clip}-{push}N", "{clip}/{push}N", "line 24: 'stand/0N-1-none' cannot be a file name"),
        ("{clip}-{push}N", "{push}N", "line 24: two bakes are named '0N-1-none'"),
        ("{clip}-{push}N-{seed}-{terrain}", "con", "line 24: 'con' cannot be a file name"),
        ('"stand*.bvh"', '"sit*.bvh"', "line 25: no file matches sit*.bvh."),
        ("{clip}-{push}N", "ü" * 100 + "{push}N", "line 24: 'üüü"),
        ('"stand*.bvh"', f'"{"x" * 900}"', "line 25: "),
        ('"stand*.bvh"', '"sit.bvh"', "line 25: there is no file sit.bvh."),
        ('"stand*.bvh"', '"night.toml"', "line 25: night.toml, line 1: expected 'HIERARCHY'"),
        ('rig = "legs"', 'rig = "arms"', "line 26: a clip needs a rig from [rigs]; choose from: legs."),
        ('rig = "legs"', "", "line 23: a clip needs a rig"),
        (
            'rig = "legs"',
            'rig = "legs"\njob = "saved.heftjob"',
            "line 23: a [[bake]] needs exactly one of clip, job, scene",
        ),
        (
            'rig = "legs"',
            'rig = "legs"\narmature = "A"',
            "line 27: 'armature' cannot be used with a clip: leave it out.",
        ),
        ('"lookahead"', '"magic"', "line 27: There is no method 'magic'"),
        ('"2:20"', '"2-20"', "line 28: '2-20' is not a frame range: write it like 1:100."),
        ('"2:20"', '"2:200"', "line 28: The range 2 to 200 reaches beyond the motion, which has frames 1 to 31."),
        ('["none", "down"]', '["none", "up"]', "line 29: there is no terrain 'up'; choose from none, down."),
        ("100.5]", '"x"]', "line 30: 'push' must be a number, not 'x'."),
        ("100.5]", "[1]]", "line 30: 'push' must be a number, not [1]."),
        ("push = [0, 50,\n        100.5]", "push = []", "line 30: the list of 'push' is empty"),
        ("seconds = 0.25", "push_seconds = 0.25", "line 43: 'push_seconds' needs a 'push', in newtons."),
        ("push_start = 0.2", "push_start = nan", "line 34: 'push_start' must be a number of at least 0"),
        ("seed = [1, 2]", "seed = [1, 2.5]", "line 35: 'seed' must be a whole number of at least 0, not 2.5."),
        ("seed = [1, 2]", "seed = [1, 1]", "line 24: two bakes are named"),
        ("{ rehearsals = 0 }", "{ rehearsal = 0 }", "line 37: There is no setting 'rehearsal' of look-ahead control"),
        ("{ rehearsals = 0 }", "{ rehearsals = true }", "line 37: The setting 'rehearsals' of look-ahead"),
        ("{ rehearsals = 0 }", "3", "line 37: 'settings' must be a table, not 3."),
        (
            "reference.friction = 0.7",
            "reference.friction = -1",
            "line 38: The setting friction must be finite and not negative",
        ),
        ('job = "saved.heftjob"', 'job = "stand.bvh"', "line 41: stand.bvh is not a bake job"),
        ("rate = [120, 240]", "rate = [120, 2]", "line 42: The simulation rate must be 30 to 2000"),
        ("adaptation = [0.001, 0.002]", "adaptation = [0.001, -1]", "line 46: The adaptation of look-ahead control"),
        ('job = "saved.heftjob"', 'scene = "saved.heftjob"', "line 41: Only Blender reads scenes"),
        ("[[bake]]", "[[bakes]]", "line 23: there is no key 'bakes' here"),
        (NIGHT, "", "line 1: nothing to bake: add a [[bake]]."),
        (NIGHT, "bake = 3", "line 1: 'bake' must be a list of [[bake]] tables"),
        ("seed = [1, 2]", f"seed = {list(range(100_000))}", "line 23: this makes more than 100000 bakes"),
    ],
)
def test_mistakes_are_told_by_their_line(tmp_path, old, new, message):
    assert old in NIGHT
    with pytest.raises(ValueError, match=r"^night\.toml, ") as raised:
        Plan.read(night(tmp_path, NIGHT.replace(old, new)))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_scenes_are_read_by_whoever_can(tmp_path):
    (tmp_path / "shot.blend").touch()
    asked = []

    def read(path, armature):
        asked.append((path.name, armature))
        if armature == "Bob":
            raise ValueError("There is no armature 'Bob'.")
        return waving_job()

    text = '[[bake]]\nscene = "shot.blend"\narmature = "Anna"\nseed = [1, 2, 3]\n'
    plan = Plan.read(night(tmp_path, text), read)
    assert [job.seed for job in plan.values()] == [1, 2, 3]
    assert asked == [("shot.blend", "Anna")]
    with pytest.raises(ValueError, match=r"line 2: shot\.blend: There is no armature 'Bob'"):
        Plan.read(night(tmp_path, text.replace("Anna", "Bob")), read)
