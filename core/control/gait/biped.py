# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies of a character are the legs, the trunk and the arms of one that walks on two feet."""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.parts import Corner
from ...character.tree import BALL, FREE, HINGE, Tree
from ...dynamics import body_poses, mass_matrix
from ...maths.structure import Structure
from ...motion import quaternions
from .arms import hang_arms
from .erect import erect
from .gains import Gains

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SIDES = ("left", "right")
NONE = -1
LEFT = np.array([0.0, 1.0, 0.0])
ACROSS = 0.7  # cosine of the largest angle between a hinge's axis and the left for it to bend a hanging limb forward
UPRIGHT = 0.8  # cosine of the largest angle between the vertical and an axis that counts as vertical
# A ball's gains go with its axes' inertias, down to this share of the largest: a leg's twist needs little.
SLIGHTEST = 0.1
# PD that does not look at the step's end diverges where h Kd + h² Kp / 2 reaches twice the inertia I that it moves: of
# I / h and I / h² this share is damping at most, and a quarter of it stiffness.
BEARABLE = 0.9
# gait28's, for which the gains were found: kg, m, and a leg's moment of inertia about its hip, kg m²
MASS, LEG, SWINGING = 89.6, 0.976, 3.9


class Biped(Structure):
    """Arrays of two rows are the left and the right side's."""

    trunk: Indices  # (1,) body on the pelvis that carries the arms, -1 where that is the pelvis itself
    head: Indices  # (1,) -1 where it has no joint of its own
    thigh: Indices  # (2,)
    shank: Indices  # (2,)
    foot: Indices  # (2,)
    arm: Indices  # (2,) -1 for an arm without a ball, or a hinge across the way, at its shoulder
    elbow: Indices  # (2,) -1 for one without a hinge that bends an arm hanging down
    elbow_sign: Array  # (2,) of its bending
    upper_leg: Array  # (2, 3) hip to knee in the thigh's frame, m
    lower_leg: Array  # (2, 3) knee to ankle in the thigh's frame, the knee at zero, m
    knee_axis: Array  # (2, 3) in the thigh's frame
    knee_sign: Array  # (2,) 1 where the axis points left, -1 where right
    sole: Array  # (2, 4) from the ankle: heel, tip, half width, depth, m
    start: Array  # (nq,) pose that a walk begins in, which leads over to the base
    base: Array  # (nq,) pose that the key poses are angles from
    stiffness: Array  # (nv,)
    damping: Array  # (nv,)
    pelvis: Array  # (2,) stiffness and damping of the pelvis in the world
    mass: float  # kg
    height: float  # of the hips as it stands erect, m
    gravity: float  # m/s²
    apart: float  # half the distance of its ankles, m


def make_biped(character: Character, gains: Gains, start: Array, explicit_at: float | None = None) -> Biped:
    """ValueError says what a character lacks for walking.

    `explicit_at` is the rate, 1/s, of PD that does not look at the step's end: it gets what such a step can bear.
    """
    tree = character.tree
    if tree.joint[0] != FREE:
        raise ValueError("Only a character with a free root can walk.")
    if not character.gravity[2] < 0.0:
        raise ValueError("Walking needs gravity that points down.")
    thigh = np.array([_named(character, f"{side}_thigh") for side in SIDES])
    if (thigh == NONE).any():
        raise ValueError("To walk, a character needs bodies named left_thigh and right_thigh.")
    shank = np.array([_only_child(tree, b) for b in thigh])
    foot = np.array([_only_child(tree, b) for b in shank])
    for side, a, b in zip(SIDES, thigh, shank, strict=True):
        if tree.parent[a] != 0 or not (tree.joint[a] == BALL or _sideways(tree, a)) or tree.joint[b] != HINGE:
            raise ValueError(
                f"To walk, the {side} leg needs a ball joint at the hip (a hinge in a planar character) and a hinge at "
                "the knee."
            )
    arm = np.array([_arm(character, side) for side in SIDES])
    trunks = [b for b in np.flatnonzero(tree.parent == 0) if b not in thigh]
    if any(b in trunks for b in arm):
        trunks = [NONE]
    elif len(trunks) != 1:
        raise ValueError(f"To walk, the pelvis must carry one trunk besides the legs, not {len(trunks)}.")
    knee_frame = tree.offset_quaternion[shank]
    axis = quaternions.rotate(knee_frame, tree.axis[shank, 0])
    lower = quaternions.rotate(knee_frame, tree.offset_position[foot])
    hanging = body_poses(character, hang_arms(character, arm, character.neutral()))[1]
    elbow = np.array([_elbow(tree, int(b), hanging) for b in arm])
    sole = np.array([_sole(character, int(b)) for b in foot])
    neutral = erect(character, thigh, foot)
    place = body_poses(character, neutral)[0]
    height = float(place[thigh[0], 2] - place[foot[0], 2] + sole[0, 3])
    apart = 0.5 * float(np.linalg.norm(place[foot[0], :2] - place[foot[1], :2]))
    share = character.total_mass * height / (MASS * LEG)
    slow = np.sqrt(height / LEG)
    stiffness, damping = _joint_gains(character, gains, arm, (thigh, shank, foot))
    pelvis = share * np.array([gains.stiffness["pelvis"], slow * gains.damping["pelvis"]])
    stiffness, damping = share * stiffness, share * slow * damping
    inertia = np.diag(mass_matrix(character, neutral))
    for b in thigh:
        # a hip bears a body's weight and swings a leg: its gains go with the mean of both, which a heavy foot raises
        own = tree.velocity_body == b
        swinging = float(inertia[own].max()) / (SWINGING * height / LEG)
        stiffness[own] *= np.sqrt(swinging / share)
        damping[own] *= np.sqrt(swinging / share)
    if explicit_at is not None:
        # what an axis moves where all others are free; of the pelvis' three the middle one
        alone = 1.0 / np.diag(np.linalg.inv(mass_matrix(character, neutral)))
        bearable = BEARABLE * explicit_at * alone
        stiffness, damping = np.minimum(stiffness, 0.25 * explicit_at * bearable), np.minimum(damping, bearable)
        turning = float(np.median(bearable[3:6]))
        pelvis = np.minimum(pelvis, (0.25 * explicit_at * turning, turning))
    return Biped(
        trunk=np.array(trunks, dtype=np.int64),
        head=np.array([_jointed(tree, _named(character, "head"))]),
        thigh=thigh,
        shank=shank,
        foot=foot,
        arm=arm,
        elbow=elbow,
        elbow_sign=np.array([-np.sign(_leftward(tree, int(b), hanging)) for b in elbow]),
        upper_leg=tree.offset_position[shank].copy(),
        lower_leg=lower,
        knee_axis=axis,
        knee_sign=np.where(axis @ LEFT > 0.0, 1.0, -1.0),
        sole=sole,
        start=start,
        base=hang_arms(character, arm, start),
        stiffness=stiffness,
        damping=damping,
        pelvis=pelvis,
        mass=character.total_mass,
        height=float(height),
        gravity=-character.gravity[2],
        apart=float(apart),
    )


def _joint_gains(character: Character, gains: Gains, arm: Indices, leg: tuple[Indices, ...]) -> tuple[Array, Array]:
    """Of every velocity; a ball's axes in the proportion of what hangs from them in the neutral pose."""
    tree = character.tree
    group = [""]
    for b in range(1, len(tree.parent)):
        parent = int(tree.parent[b])
        if any(b in bodies for bodies in leg):
            group.append(("hip", "knee", "ankle")[next(k for k, bodies in enumerate(leg) if b in bodies)])
        elif group[parent] in {"ankle", "toes"}:
            group.append("toes")
        elif group[parent] in {"shoulder", "elbow"}:
            group.append("elbow")
        elif b in arm:
            group.append("shoulder")
        else:
            group.append("neck" if character.bodies[b].name == "head" else "waist")
    inertia = np.diag(mass_matrix(character, character.neutral()))
    stiffness, damping = np.zeros(character.nv), np.zeros(character.nv)
    for b in range(1, len(tree.parent)):
        own = np.flatnonzero(tree.velocity_body == b)
        if len(own) > 0:
            share = np.clip(inertia[own] / inertia[own].max(), SLIGHTEST, 1.0) if tree.joint[b] == BALL else 1.0
            stiffness[own] = share * gains.stiffness[group[b]]
            damping[own] = share * gains.damping[group[b]]
        if group[b] == "ankle" and tree.joint[b] == BALL:
            # the pelvis turns over the standing foot by this axis too
            stiffness[own[2]], damping[own[2]] = gains.stiffness["pelvis"], gains.damping["pelvis"]
    return stiffness, damping


def _named(character: Character, name: str) -> int:
    return next((b for b, body in enumerate(character.bodies) if body.name == name), NONE)


def _only_child(tree: Tree, parent: int) -> int:
    children = np.flatnonzero(tree.parent == parent)
    if len(children) != 1:
        raise ValueError("To walk, a leg needs a chain of thigh, shank and foot.")
    return int(children[0])


def _jointed(tree: Tree, body: int) -> int:
    """The body, if it hangs from a ball."""
    return body if body != NONE and tree.joint[body] == BALL else NONE


def _sideways(tree: Tree, body: int) -> bool:
    """Whether it hangs from a hinge across the way."""
    return bool(tree.joint[body] == HINGE and abs(tree.axis[body, 0] @ LEFT) > ACROSS)


def _arm(character: Character, side: str) -> int:
    body = max(_named(character, f"{side}_upper_arm"), _named(character, f"{side}_arm"))
    return body if body != NONE and _sideways(character.tree, body) else _jointed(character.tree, body)


def _elbow(tree: Tree, arm: int, turn: Array) -> int:
    """The hinge below the arm whose axis points sideways, bodies turned as they are with arms hanging."""
    for b in range(len(tree.parent)):
        if tree.parent[b] == arm != NONE and tree.joint[b] == HINGE and abs(_leftward(tree, b, turn)) > ACROSS:
            return b
    return NONE


def _leftward(tree: Tree, hinge: int, turn: Array) -> float:
    """How far the hinge's axis points to the pelvis' left, bodies turned so."""
    axis = quaternions.rotate(turn[hinge], tree.axis[hinge, 0])
    return float(axis @ quaternions.rotate(turn[0], LEFT))


def sole_corners(character: Character, foot: int) -> Array:
    """Corners (n, 3) of the foot and of what hangs from it, from the ankle."""
    tree, corners = character.tree, []
    for shape in character.contacts:
        if isinstance(shape, Corner):
            body, place = character.index(shape.body), np.array(shape.position)
            while body not in {foot, 0}:
                place = tree.offset_position[body] + quaternions.rotate(tree.offset_quaternion[body], place)
                body = int(tree.parent[body])
            if body == foot:
                corners.append(place)
    if not corners:
        raise ValueError("To walk, each foot needs contact points at the corners of its sole.")
    return np.array(corners)


def _sole(character: Character, foot: int) -> tuple[float, float, float, float]:
    x, y, z = sole_corners(character, foot).T
    return float(x.min()), float(x.max()), float(0.5 * (y.max() - y.min())), float(-z.min())
