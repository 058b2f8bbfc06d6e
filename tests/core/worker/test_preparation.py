# SPDX-License-Identifier: GPL-3.0-or-later
"""After the preparation no bake of any method compiles anything: whatever the ground, the scene and the character."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from heft.core import Character, World
from heft.core.contact.terrain import HeightGrid, Mesh, Plane, RigidMotion
from heft.core.control.method import DEFAULT
from heft.core.control.methods import METHODS
from heft.core.job import BakeJob, CompanyJob, Scene, run, run_together
from heft.core.maths import compiler
from heft.core.motion.playback import Playback
from heft.core.simulation import Course, Grab, Prop, Push, Slider
from heft.core.worker.preparation import COMMON, jobs, prepare

from tests.core.job import golden
from tests.core.job.jobs import hovering_job, waving_clip, waving_job
from tests.core.motion.skeletons import dog, still

ROOT = Path(__file__).parents[3]
ALONE = {"momentum"}  # they move the character alone, and know no props
TWO_LEGS = {"momentum", "balance"}
ANY_MOTION = [name for name, method in METHODS.items() if not method.needs.cycle]  # others want a whole walk


@pytest.fixture(scope="module")
def told():
    """All methods are prepared; what was told on the way."""
    found = []
    done = list(prepare(list(METHODS), lambda method, share: found.append((method, share))))
    assert done == list(METHODS)
    return found


@pytest.fixture
def compiled(told):
    """A function that gives the entries that had to be made ready since: from the disk or by compiling."""
    before = {entry: set(entry.overloads) for entry in compiler.entries}

    def since():
        return [entry.py_func.__name__ for entry in compiler.entries if set(entry.overloads) - before.get(entry, set())]

    return since


def test_two_who_touch(compiled):
    one, other = waving_job(), waving_job(name="other")
    moved = replace(other.clip, position=other.clip.position + np.array([0.6, 0.0, 0.0]))
    done = run_together(CompanyJob((one, replace(other, clip=moved))))
    assert all("Other characters touched it" in each.report["notes"][0] for each in done)
    assert compiled() == []


def job_of(method, **changes):
    """A second of a figure that waves, with what the method needs."""
    own = {
        "gait": {"rate": 300.0, "optimise": False, "scene": Scene(course=Course.straight(0.5))},
        "combination": {"others": (waving_clip(0.5),), "scene": Scene(slider=Slider(np.zeros(1), np.full(1, 0.5)))},
    }.get(method, {})
    if "scene" in own and "scene" in changes:
        changes["scene"] = replace(changes["scene"], course=own["scene"].course, slider=own["scene"].slider)
    return waving_job(**({"method": method, "seconds": 0.3} | own | changes))


def refusal(job):
    """Run it; what is said where it cannot be."""
    try:
        run(job)
    except ValueError as refused:
        return str(refused)
    return ""


def flat(scene):
    """Level ground."""
    return scene


def mesh(scene):
    """Two triangles."""
    corners = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [-9.0, 9.0, 0.0], [9.0, 9.0, 0.0]])
    return replace(scene, surfaces=(Mesh(corners, np.array([[0, 1, 2], [1, 3, 2]])),))


def moving(scene):
    """A plane, a height field, and a mesh that rises."""
    lift = RigidMotion(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.02]]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), 2.0)
    (ground,) = mesh(scene).surfaces
    below = Plane((0.0, 0.0, -1.0)), HeightGrid(np.zeros((2, 2)) - 2.0, 1.0)
    return replace(scene, surfaces=(*below, replace(ground, motion=lift)))


def pushed(scene):
    """From the side."""
    return replace(scene, pushes=(Push.constant("torso", (0.0, 60.0, 0.0), 0.05, 0.1),))


@pytest.mark.parametrize("method", ANY_MOTION)
@pytest.mark.parametrize("around", [flat, mesh, moving, pushed])
def test_ground_and_pushes(compiled, method, around):
    assert refusal(job_of(method, scene=around(Scene()))) == ""
    assert compiled() == []


@pytest.mark.parametrize("method", [name for name in ANY_MOTION if name not in ALONE])
def test_props_and_grabs(compiled, method):
    scene = Scene(
        props=tuple(Prop.box(f"crate {k}", (0.1, 0.2, 0.3), 5.0, (2.0, 0.2 * k, 0.3 + 0.6 * k)) for k in range(2)),
        grabs=(Grab("left_hand", end=0.2), Grab("right_hand", start=0.1, kind="full", other="crate 0")),
    )
    assert refusal(job_of(method, scene=scene)) == ""
    assert compiled() == []


@pytest.mark.parametrize("method", [name for name in ANY_MOTION if name != "gait"])
def test_four_legs(compiled, method):
    skeleton, roles = dog()
    clip = still(skeleton, 12, 30.0)
    scene = Scene(slider=Slider(np.zeros(1), np.full(1, 0.5)))
    others = (clip,) if method == "combination" else ()
    refused = refusal(BakeJob(clip, roles, method=method, seconds=0.2, others=others, scene=scene))
    assert not refused or method in TWO_LEGS, refused
    assert compiled() == []


@pytest.mark.parametrize("name", ["simbicon2d", "gymnast2", "balance3"])
def test_planar_characters(compiled, name):
    world = World(Character.preset(name), [Plane()])
    for _ in range(3):
        world.step()
    assert compiled() == []


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("lookahead", {"settings": {"policy": "lqr", "rehearsals": 2}, "noise": 0.02}),
        ("replanning", {"playback": Playback(np.array([0.0, 0.2]), np.array([1.0, 0.5]), (0.1,)), "optimise": False}),
        ("balance", {"loop": True, "others": (waving_clip(0.3),), "choices": ((0.0, 0), (0.1, 1))}),
        ("gait", {"settings": {"stabiliser": True, "prediction": "M6"}}),
        ("combination", {"settings": {"choose": True}}),
    ],
)
def test_what_a_method_can_besides(compiled, method, changes):
    assert refusal(job_of(method, **changes)) == ""
    assert compiled() == []


@pytest.mark.parametrize("given", ["as_needed", "as_keyed"])
def test_help(compiled, given):
    assert refusal(hovering_job(help=given)) == ""
    assert compiled() == []


def test_recovery(compiled):
    walk = replace(golden.kept("walk"), loop=True, seconds=2.5, settings={"rehearsals": 0}, looseness={"arms": 0.5})
    done = run(replace(walk, scene=golden.pushed(250.0, 0.5 * np.pi), recovery=True))
    assert done.report["recoveries"]
    (push,) = golden.pushed(100.0, 0.5 * np.pi).pushes
    done = run(replace(walk, scene=Scene(pushes=(replace(push, rate=push.rate / 3.0),)), recovery=True))
    assert done.report["recoveries"]
    assert compiled() == []


def test_a_steered_walk(compiled, few_tours):
    turning = Course(np.array([0.0, 1.0, 1.0]), np.full(3, 1.3), np.zeros(3), np.array([0.0, 0.0, 0.3]))
    walk = replace(golden.kept("walk"), method="steering", settings={"sharpest": 15.0}, seconds=3.0)
    assert refusal(replace(walk, scene=Scene(course=turning))) == ""
    assert compiled() == []


def test_every_method_has_its_jobs_and_none_is_refused():
    for name, method in METHODS.items():
        assert method.kernels > 0
        assert {job.method for job in jobs(method)} == {DEFAULT if method.needs.cycle else name}


def test_what_is_told_grows_from_nothing_to_less_than_all(told):
    methods, shares = zip(*told, strict=True)
    assert list(dict.fromkeys(methods)) == list(METHODS)
    assert shares[0] == 0.0
    assert list(shares) == sorted(shares)
    assert shares[-1] <= 1.0


def test_the_bar_goes_by_about_as_many_kernels_as_there_are():
    """Counted in a process of its own, in which no other test has called any."""
    script = ROOT / "tools" / "compile_kernels.py"
    done = subprocess.run([sys.executable, "-P", str(script), str(ROOT)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["methods"] == list(METHODS)
    reached = sum(name.endswith(".nbi") for name in found["files"])
    assert 0.8 * reached < COMMON + sum(method.kernels for method in METHODS.values()) < 1.2 * reached
