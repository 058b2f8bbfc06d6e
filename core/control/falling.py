# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body does that cannot be kept up: it reaches for the ground, bends its knees, tucks its chin, and goes limp.

People who are thrown put hands and forearms between themselves and the ground, on the side to which they fall, flex
hips, knees and trunk, and keep the head from it (E. T. Hsiao, S. N. Robinovitch, "Common protective movements govern
unexpected falls from standing height", Journal of Biomechanics 31, 1998). So each joint is drawn to a pose by a spring
whose torque is taken at the end of the step, which is stable at any stiffness. Once trunk or head have landed, muscles
let go; what resists then is what resists in a body without any.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.joint_roles import Role, role
from ..character.parts import Cone, Range
from ..character.tree import BALL, FREE, HINGE, carried_mass
from ..contact.detection import Contacts
from ..dynamics import body_poses
from ..motion.quaternions import conjugate, rotate
from ..simulation.law import AffineLaw, State

Array = NDArray[np.float64]

SLACK = 0.5  # N m s/rad for each kilogram that hangs from a limp joint
FAST = 30.0  # rad/s of its fastest joint, from which on a limp body stiffens as a whole: none turns much faster
STIFFNESS: Mapping[Role, float] = {
    "hip": 2.0,
    "knee": 1.5,
    "ankle": 0.5,
    "trunk": 4.0,
    "shoulder": 2.0,
    "elbow": 1.2,
}  # N m/rad per kg
DAMPED = 0.08  # s: damping by stiffness
BEGINS = 0.12  # s, that it takes until muscles pull as they are to
LETS_GO = 0.15  # s, in which they let go by a factor of e
LASTS = 0.6  # s, after which they do though neither trunk nor head has landed
SETTLES = 0.2  # s that the trunk has lain and not moved, from when on what still moves stiffens
ROLLS = 2.0  # m/s or rad/s of the trunk, from which on it does: who tumbles is limp, or he would roll like a log
PROPPED = 0.8  # s after which it does though only the head has
BEND: Mapping[Role, float] = {"knee": 0.4, "elbow": 0.25}  # of the way from straight to fully bent
TUCKED = 0.5  # how far trunk and head lean forward for each length upwards
DOWN, OUT = 0.8, 0.3  # how far arms reach down and aside for each length towards where the head falls
LANDED = 0.002  # m


class Falling:
    """A controller for a character that is lost, from the first law that it is asked for."""

    def __init__(self, character: Character) -> None:
        tree = character.tree
        self._tree = tree
        self._motors = slice(6 if character.bodies[0].joint.kind == "free" else 0, character.nv)
        self._slack = SLACK * carried_mass(tree)[self._motors]
        self._since: float | None = None
        self._landed: float | None = None  # trunk or head
        self._lies: float | None = None  # the trunk: who stands on the head is still to come down
        self._calm = 0.0  # s for which it has done so without moving
        position, orientation = body_poses(character, character.neutral())
        names = [body.name for body in character.bodies]
        roles = [role(name) for name in names]
        stiffness = np.zeros(character.nv)
        self._directed: list[tuple[int, Array, Array | None]] = []  # body, its limb's direction, and where to
        self._angles: list[tuple[int, int, float]] = []  # entry of q, of v, and target
        above = np.array([name in ("head", "neck") for name in names])
        self._core = above | np.array([tree.joint[b] == FREE or roles[b] == "trunk" for b in range(len(names))])
        self._trunk = self._core & ~above
        heads = [b for b, name in enumerate(names) if name == "head"]
        self._head = heads[0] if heads else 0
        left = _left(names, position)
        ahead = np.array([left[1], -left[0], 0.0])
        self._out: dict[int, Array] = {}  # which way is aside of an arm, in the root's frame
        for b, body in enumerate(character.bodies):
            limits, v = body.joint.limits, int(tree.velocity_start[b])
            stiffness[tree.velocity_body == b] = STIFFNESS[roles[b]] * character.total_mass
            limb = np.array(body.center_of_mass)
            if tree.joint[b] == BALL and np.linalg.norm(limb) > 0.0:
                limb = _unit(limb)
                parent = conjugate(orientation[tree.parent[b]])
                if roles[b] == "shoulder":
                    self._directed.append((b, limb, None))
                    side = math.copysign(1.0, float((position[b] - position[0]) @ left))
                    self._out[b] = rotate(conjugate(orientation[0]), side * left)
                elif self._core[b]:
                    up = rotate(orientation[b], limb) + TUCKED * ahead
                    self._directed.append((b, limb, rotate(parent, _unit(up))))
                elif isinstance(limits, Cone):
                    middle = rotate(tree.offset_quaternion[b], np.array(limits.center))
                    self._directed.append((b, np.array(limits.axis), middle))
            elif tree.joint[b] == HINGE and isinstance(limits, tuple) and roles[b] in BEND:
                self._angles.append((int(tree.position_start[b]), v, _bent(limits[0], BEND[roles[b]])))
        self._stiffness = stiffness[self._motors]

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Springs that weaken, and damping by the velocity after the step, so that it never drives."""
        speed = state.v[self._motors]
        tone = self._tone(state, contacts)
        if self._lies is not None:
            self._calm = max(self._calm + math.copysign(state.dt, ROLLS - float(np.abs(state.v[:6]).max())), 0.0)
        lies = self._calm / SETTLES
        slack = self._slack * (1.0 + (float(np.abs(speed).max(initial=0.0)) / FAST) ** 4 + lies**4)
        if tone < 1e-3:
            return AffineLaw(-slack * speed, implicit=state.dt * slack)
        away, drawn = self._away(state)
        stiffness = tone * self._stiffness * drawn
        damping = slack + DAMPED * stiffness
        torque = stiffness * (away - state.dt * speed) - damping * speed
        return AffineLaw(torque, implicit=state.dt * (damping + state.dt * stiffness))

    def _tone(self, state: State, contacts: Contacts) -> float:
        """How much muscles pull."""
        if self._since is None:
            self._since = state.time
        if self._landed is None or self._lies is None:
            n = int(contacts.filled[0])
            bodies = len(self._core)
            own = (contacts.body[:n] < bodies) & ((contacts.other[:n] < 0) | (contacts.other[:n] >= bodies))
            touching = contacts.body[:n][own & (contacts.gap[:n] < LANDED)]
            if self._landed is None and (self._core[touching].any() or state.time - self._since > LASTS):
                self._landed = state.time
            propped = self._landed is not None and state.time - self._landed > PROPPED
            if propped or self._trunk[touching].any():
                self._lies = state.time
        rise = min((state.time - self._since) / BEGINS, 1.0)
        return rise * (1.0 if self._landed is None else math.exp(-(state.time - self._landed) / LETS_GO))

    def _away(self, state: State) -> tuple[Array, Array]:
        """By how much each velocity's joint is away from where it is drawn, rad; and whether it is."""
        tree, quaternion, position = self._tree, state.work.quaternion, state.work.position
        away, drawn = np.zeros(len(state.v)), np.zeros(len(state.v))
        over = _unit(position[self._head] - position[0])
        to_ground = np.array([over[0], over[1], -DOWN])
        for b, limb, target in self._directed:
            own = slice(int(tree.velocity_start[b]), int(tree.velocity_start[b]) + 3)
            if target is None:
                wanted = _unit(to_ground + OUT * rotate(quaternion[0], self._out[b]))
            else:
                wanted = rotate(quaternion[tree.parent[b]], target)
            away[own] = rotate(conjugate(quaternion[b]), _turn(rotate(quaternion[b], limb), wanted))
            drawn[own] = 1.0
        for q, v, angle in self._angles:
            away[v], drawn[v] = angle - state.q_next[q], 1.0
        return away[self._motors], drawn[self._motors]


def _left(names: list[str], position: Array) -> Array:
    """Which way is left in the neutral pose."""
    across: Array = np.zeros(3)
    for name, place in zip(names, position, strict=True):
        across[:2] += place[:2] * (float(name.startswith("left_")) - float(name.startswith("right_")))
    return _unit(across)


def _unit(vector: Array) -> Array:
    result: Array = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return result


def _bent(limits: Range, share: float) -> float:
    """The angle that share of the way from straight to the farther limit."""
    straight, bent = sorted((limits.lower, limits.upper), key=abs)
    return straight + share * (bent - straight)


def _turn(a: Array, b: Array) -> Array:
    """The shortest turn, rad, that carries one direction to another; about nothing where they are opposite."""
    normal: Array = np.asarray(np.cross(a, b), dtype=np.float64)
    sine = float(np.linalg.norm(normal))
    result: Array = normal * (math.atan2(sine, float(a @ b)) / max(sine, 1e-9))
    return result
