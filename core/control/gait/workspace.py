# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel of a gait reads, remembers and writes."""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.detection import Contacts
from ...dynamics.workspace import Workspace
from ...maths.structure import Structure
from .biped import Biped
from .gains import Feedback
from .style import CHANNELS
from .velocity import BINS

Array = NDArray[np.float64]

PELVIS_PITCH, PELVIS_ROLL, PELVIS_YAW, TORSO_PITCH, TORSO_ROLL, TORSO_YAW, HEAD_PITCH = range(7)
STANCE_KNEE, SWING_FOOT, ARMS_OUT, STANCE_ARM, SWING_ARM, STANCE_ELBOW, SWING_ELBOW = range(7, len(CHANNELS))

LEFT, RIGHT = 0, 1


class Walk(Structure):
    """What is wanted, written before each step."""

    phases: Array  # (np,) of the key poses
    poses: Array  # (np, channels)
    step_seconds: Array  # (1,) s
    clearance: float  # m
    width: float  # m
    speed: Array  # (2,) forward and to the left, m/s
    curve: Array  # (2, BINS) learnt, added to it; the second away from the standing side
    offset: Array  # (1,) learnt, added to the speed forward
    heading: Array  # (1,) rad
    feedback: Feedback
    implicit: NDArray[np.bool_]  # (1,) whether PD looks at the step's end
    within: float  # share of the sole within which the ground's force stays
    pushing: float  # times as much that the ankle may ask for as the heel rises


class Memory(Structure):
    """What outlives a step of time."""

    stance: NDArray[np.int64]  # (1,) LEFT or RIGHT
    clock: Array  # (2,) s since the step began, and since the walk did
    start: Array  # (3,) swinging ankle from the centre of mass along the heading, height from the standing ankle, m
    lifted: Array  # (1,) phase at which it left the ground
    pitch: Array  # (1,) by which its toes were down as the step began, rad
    landed: Array  # (1,) bend of the standing knee as the step began, rad
    fresh: NDArray[np.bool_]  # (1,) the step begins: `start`, `pitch` and `landed` are to be found
    force: Array  # (2,) the ground's upward force, averaged, N; the centre's speed upwards before, m/s
    seen: Array  # (2, BINS) sums of speeds over the step
    counted: Array  # (BINS,) of them


class Scratch(Structure):
    """Arrays of one step, and the law."""

    pose: Array  # (channels,)
    goal: Array  # (nq,)
    speed: Array  # (nv,) goal's velocity
    error: Array  # (nv,)
    pd: Array  # (nv,) torque
    torque: Array  # (nv,) the law
    implicit: Array  # (nv,)


class Machine(Structure):
    """All that a law reads and writes."""

    tree: Tree
    bodies: Workspace
    contacts: Contacts
    biped: Biped
    walk: Walk
    memory: Memory
    work: Scratch


def make_memory() -> Memory:
    """Allocate."""
    return Memory(
        stance=np.zeros(1, dtype=np.int64),
        clock=np.zeros(2),
        start=np.zeros(3),
        lifted=np.zeros(1),
        pitch=np.zeros(1),
        landed=np.zeros(1),
        fresh=np.ones(1, dtype=np.bool_),
        force=np.zeros(2),
        seen=np.zeros((2, BINS)),
        counted=np.zeros(BINS),
    )


def make_scratch(nq: int, nv: int) -> Scratch:
    """Allocate."""
    return Scratch(
        pose=np.zeros(len(CHANNELS)),
        goal=np.zeros(nq),
        speed=np.zeros(nv),
        error=np.zeros(nv),
        pd=np.zeros(nv),
        torque=np.zeros(nv),
        implicit=np.zeros(nv),
    )
