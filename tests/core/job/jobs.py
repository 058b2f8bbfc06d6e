# SPDX-License-Identifier: GPL-3.0-or-later
"""Small jobs: the example's mannequin stands and waves, which takes a second to bake."""

from dataclasses import replace

import numpy as np
from heft.core.contact.terrain import HeightGrid, Mesh, Plane, RigidMotion
from heft.core.job import BakeJob, BodySettings, ContactInterval, Load, MotionChoice, Scene
from heft.core.motion import quaternions
from heft.core.motion.clip import LocalPoses, from_local
from heft.core.motion.playback import Playback
from heft.core.simulation import Foothold, Grab, Prop, Push, Slider

from tests.core.motion.skeletons import still, wooden, wooden_roles

UP, DOWN = (0.3, 0.6), (1.4, 1.7)  # s, in which it rises, and comes down
HEIGHT = 0.4  # m


def waving_clip(seconds=1.0, fps=30.0, first_frame=10.0):
    """Both arms swing; the rest stands still."""
    skeleton = wooden()
    frames = round(seconds * fps) + 1
    like = still(skeleton, frames, fps)
    time = np.arange(frames) / fps
    turn = np.tile(skeleton.parent_orientation, (frames, 1, 1))
    for name, side in (("upper_arm.L", 1.0), ("upper_arm.R", -1.0)):
        swing = np.zeros((frames, 3))
        swing[:, 0] = side * 0.4 * np.sin(2.0 * np.pi * time) ** 2
        turn[:, skeleton.index(name)] = quaternions.multiply(turn[:, skeleton.index(name)], quaternions.exp(swing))
    place = np.tile(skeleton.parent_offset, (frames, 1, 1))
    clip = from_local(like, LocalPoses(place, quaternions.continuous(turn)))
    return type(clip)(skeleton, fps, clip.position, clip.orientation, first_frame, 1.0)


def waving_job(**changes):
    """A job of half a second, if nothing else is said."""
    return BakeJob(waving_clip(0.5), wooden_roles(), **changes)


def lifted(clip):
    """The whole clip rises, hovers, and comes down."""
    time = np.arange(len(clip.position)) / clip.rate
    share = np.clip((time - UP[0]) / (UP[1] - UP[0]), 0.0, 1.0) - np.clip(
        (time - DOWN[0]) / (DOWN[1] - DOWN[0]), 0.0, 1.0
    )
    position = clip.position.copy()
    position[..., 2] += HEIGHT * (share * share * (3.0 - 2.0 * share))[:, None]
    return replace(clip, position=position)


def hovering_job(**changes):
    """One whose clip rises, hovers, and comes down."""
    return BakeJob(lifted(waving_clip(2.0)), wooden_roles(), **changes)


def lively_job():
    """One that says something in most fields, and can be run."""
    triangle = np.array([[-9.0, -9.0, 0.0], [18.0, -9.0, 0.0], [-9.0, 18.0, 0.0]])
    scene = Scene(
        surfaces=(Plane((0.0, 0.0, -5.0), friction=0.7), Mesh(triangle, np.array([[0, 1, 2]]), 0.9)),
        friction=0.8,
        pushes=(Push.constant("torso", (20.0, 0.0, 0.0), 0.1, 0.1),),
        grabs=(Grab("left_hand", start=0.1, end=0.2),),
        props=(Prop.box("crate", (0.1, 0.2, 0.3), 5.0, (2.0, 0.0, 0.3)),),
        loads=(Load("rucksack", "torso", 3.0, (-0.1, 0.0, 0.1), planned=True),),
    )
    return waving_job(
        name="lively",
        body=BodySettings("simple", "female", 61.0),
        scene=scene,
        ground="level",
        settings={"adaptation": 0.001, "policy": "lqr", "rehearsals": 0},
        reference={"friction": 0.6, "torque_limit": None},
        frame_start=11.0,
        frame_end=20.0,
        seconds=0.2,
        noise=0.02,
        seed=7,
    )


def full_job():
    """A job that says something in every field."""
    triangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    lift = RigidMotion(np.array([[0.0, 0.0, -5.0], [0.0, 0.0, -4.5]]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), 2.0, -1.0)
    scene = Scene(
        surfaces=(
            Plane(friction=0.7),
            HeightGrid(np.zeros((3, 4)) - 9.0, 0.5, (-1.0, 2.0), 0.3),
            Mesh(triangle, np.array([[0, 1, 2]]), 0.9, lift, "lift"),
        ),
        friction=0.8,
        pushes=(Push.constant("torso", (50.0, 0.0, 0.0), 0.1, 0.1),),
        grabs=(Grab("left_hand", start=0.1, anchor=(0.0, 0.0, 1.0)),),
        footholds=(Foothold("left_foot", (0.3, 0.1, 0.05)),),
        slider=Slider(np.array([0.0, 1.0]), np.array([0.2, 1.0])),
        props=(
            Prop.box("crate", (0.1, 0.2, 0.3), 5.0, (2.0, 0.0, 0.3)),
            Prop.sphere("ball", 0.1, 1.0, (3.0, 0.0, 0.1)),
        ),
        loads=(Load("rucksack", "torso", 8.0, (-0.2, 0.0, 0.1), planned=False),),
        gravity=(0.0, 0.0, -1.62),
    )
    return waving_job(
        name="everything",
        others=(waving_clip(0.3),),
        body=BodySettings(
            "full",
            "female",
            61.0,
            {"left_knee": "hinge"},
            {"foot.L": np.ones((4, 3))},
            on_floor=True,
            motions=(waving_clip(0.2),),
        ),
        contacts=(ContactInterval("left_foot_heel", 10.0, 20.0),),
        scene=scene,
        ground="level",
        settings={"adaptation": 0.001, "policy": "lqr", "reset_phase": True, "cycles": 3},
        reference={"friction": 0.6, "torque_limit": None},
        rate=240.0,
        frame_start=11.0,
        frame_end=20.0,
        loop=True,
        choices=(MotionChoice(1.0, 1), MotionChoice(2.5, 0)),
        seconds=4.0,
        playback=Playback(np.array([0.0, 0.5]), np.array([1.0, 0.5]), (0.25,)),
        noise=0.05,
        seed=3,
    )
