# SPDX-License-Identifier: GPL-3.0-or-later
"""All kernels that any bake needs, compiled by small bakes.

A kernel's type does not depend on what a scene holds, so one scene with some of everything does for all scenes. Steps
are ordered so that what is wanted first comes first. What a step compiles is kept as it goes; one that is stopped goes
on where it was.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..character import Character
from ..contact.terrain import HeightGrid, Mesh, Plane, RigidMotion
from ..control.method import DEFAULT, Method
from ..control.methods import METHODS
from ..dynamics import center_of_mass, center_of_mass_jacobian, inverse_dynamics
from ..job import BakeJob, MotionChoice, Scene, run
from ..maths import compiler
from ..motion import quaternions
from ..motion.clip import Clip, LocalPoses, Skeleton, from_local
from ..motion.playback import Playback
from ..simulation import Course, Foothold, Grab, Prop, Push, Slider, World
from ..simulation.company import Company

STEPPING = 48
RATE = 24.0  # frames a second
LIFTED = 0.8  # rad
PATIENT = 10  # niceness
RATE_OF_STEPS = 120.0  # steps of simulation a second
COMMON = 47  # entries that are compiled by whichever method comes first, besides its own: what a bar goes by


def figure() -> Skeleton:
    """Pelvis, chest, straight legs and straight arms."""
    bones = {
        "pelvis": ((0.0, 0.0, 0.95), (0.0, 0.0, 1.15), ""),
        "chest": ((0.0, 0.0, 1.15), (0.0, 0.0, 1.5), "pelvis"),
    }
    for side, x in (("L", 1.0), ("R", -1.0)):
        bones[f"thigh.{side}"] = ((0.1 * x, 0.0, 0.9), (0.1 * x, -0.02, 0.5), "pelvis")
        bones[f"shin.{side}"] = ((0.1 * x, -0.02, 0.5), (0.1 * x, 0.0, 0.08), f"thigh.{side}")
        bones[f"foot.{side}"] = ((0.1 * x, 0.0, 0.08), (0.1 * x, -0.18, 0.02), f"shin.{side}")
        bones[f"upper_arm.{side}"] = ((0.18 * x, 0.0, 1.45), (0.18 * x, 0.02, 1.15), "chest")
        bones[f"forearm.{side}"] = ((0.18 * x, 0.02, 1.15), (0.18 * x, 0.0, 0.9), f"upper_arm.{side}")
        bones[f"hand.{side}"] = ((0.18 * x, 0.0, 0.9), (0.18 * x, 0.0, 0.8), f"forearm.{side}")
    names = tuple(bones)
    return Skeleton(
        names=names,
        parent=np.array([names.index(parent) if parent else -1 for _, _, parent in bones.values()]),
        head=np.array([head for head, _, _ in bones.values()]),
        tail=np.array([tail for _, tail, _ in bones.values()]),
        orientation=np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1)),
    )


def stepping() -> Clip:
    """The figure steps in place, one leg after the other, twice."""
    skeleton = figure()
    time = np.arange(STEPPING + 1) / RATE
    place = np.tile(skeleton.parent_offset, (len(time), 1, 1))
    turn = np.tile(skeleton.parent_orientation, (len(time), 1, 1))
    for side, later in (("L", 0.0), ("R", 0.5)):
        bent = LIFTED * np.clip(np.sin(2.0 * np.pi * (time + later)), 0.0, None) ** 2
        for name, share in (("thigh", -0.5), ("shin", 1.0), ("foot", -0.5), ("upper_arm", 0.2)):
            bone = skeleton.names.index(f"{name}.{side}")
            angles = np.zeros((len(time), 3))
            angles[:, 0] = share * bent
            turn[:, bone] = quaternions.multiply(turn[:, bone], quaternions.exp(angles))
    still = Clip(skeleton, RATE, np.tile(skeleton.head, (len(time), 1, 1)), turn)
    return from_local(still, LocalPoses(place, quaternions.continuous(turn)))


def some_of_everything() -> Scene:
    """A scene that a figure meets within a second: each kind of ground, props, pushes, grabs."""
    corners = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [-9.0, 9.0, 0.0], [9.0, 9.0, 0.0]])
    ground = Mesh(corners, np.array([[0, 1, 2], [1, 3, 2]]), 0.9)
    lift = RigidMotion(np.array([[0.0, 0.0, -5.0], [0.0, 0.0, -4.5]]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), 2.0)
    return Scene(
        surfaces=(
            ground,
            Plane((0.0, 0.0, -5.0)),
            HeightGrid(np.zeros((3, 4)) - 9.0, 0.5),
            replace(ground, motion=lift),
        ),
        pushes=(Push.constant("pelvis", (20.0, 0.0, 0.0), 0.1, 0.1),),
        grabs=(Grab("left_hand", start=0.1, end=0.2), Grab("right_hand", start=0.1, end=0.2, kind="full")),
        props=(
            Prop.box("crate", (0.1, 0.2, 0.3), 5.0, (2.0, 0.0, 0.3)),
            Prop.sphere("ball", 0.1, 1.0, (3.0, 0.0, 0.1)),
        ),
        slider=Slider(np.array([0.0, 1.0]), np.array([0.2, 1.0])),
        course=Course(np.array([0.0, 1.0]), np.full(2, 0.7), np.zeros(2), np.array([0.0, 0.5])),
    )


def jobs(method: Method) -> list[BakeJob]:
    """Small bakes that together reach all kernels of a method.

    A walk cannot be so small: what takes nothing else is made of what the usual method does.
    """
    if method.needs.cycle:
        return jobs(METHODS[DEFAULT])
    clip, scene, needs = stepping(), some_of_everything(), method.needs
    one = BakeJob(
        clip,
        {name: (name,) for name in clip.skeleton.names},
        method=method.name,
        scene=scene if needs.props else replace(scene, props=(), grabs=()),
        ground="level",
        optimise=not needs.no_motion,
        rate=max(RATE_OF_STEPS, needs.least_rate),
        others=(clip,) if needs.blends else (),
        seconds=0.3,
    )
    once = [replace(one, settings=settings) for settings in ({}, *method.variants)]
    if needs.no_motion or needs.blends:
        return once
    if needs.follows_keys:
        once = [replace(job, playback=Playback(np.array([0.0, 0.1]), np.array([1.0, 0.5]), (0.15,))) for job in once]
    bare = Scene(slider=scene.slider, course=scene.course)
    if needs.places_feet:
        bare = replace(bare, footholds=(Foothold("left_foot", (0.1, 0.0, 0.0)),), pushes=scene.pushes)
    cyclic = replace(one, scene=bare, ground="auto", loop=True)
    if needs.switches:
        cyclic = replace(cyclic, others=(clip,), choices=(MotionChoice(0.0, 0), MotionChoice(0.1, 1)))
    return [*once, cyclic]


def prepare(methods: Sequence[str], tell: Callable[[str, float], None]) -> Iterator[str]:
    """Compile all kernels of these methods, one method after the other, and give each that is done.

    `tell` is called with the name of a method and the fraction of all that is done, whenever a kernel was compiled.
    """
    weights = [METHODS[method].kernels + (COMMON if k == 0 else 0) for k, method in enumerate(methods)]
    for k, method in enumerate(methods):
        begin, count = sum(weights[:k]), 0

        def compiled(method: str = method, begin: int = begin, most: int = weights[k]) -> None:
            nonlocal count
            count += 1
            tell(method, (begin + min(count, most)) / sum(weights))

        tell(method, begin / sum(weights))
        compiler.told.append(compiled)
        try:
            if k == 0:
                _ask()
            for job in jobs(METHODS[method]):
                run(job)
        finally:
            compiler.told.remove(compiled)
        yield method


def _ask() -> None:
    """What bakes ask of a character now and then, a step without a law, and one of two who touch."""
    character = Character.preset("muico29")
    q, v = character.neutral(), np.zeros(character.nv)
    center_of_mass(character, q)
    center_of_mass_jacobian(character, q)
    inverse_dynamics(character, q, v, v)
    World(character).step()
    near, beside = World(character), World(character)
    q[0] += 0.1
    beside.reset(q)
    Company([near, beside]).step({0: None, 1: None})


def go_last() -> None:
    """Let whatever else this computer does go first."""
    if hasattr(os, "nice"):
        os.nice(PATIENT)
