# SPDX-License-Identifier: GPL-3.0-or-later
"""`Stabiliser`: torque at the standing ankle and knee that keeps the ground's force off the sole's edges.

Carensac et al., section 3.1. It looks one step ahead, before each: a law that it finds balanced is left as it is, and
so is one for which it finds nothing acceptable.
"""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import BALL, VELOCITIES_OF_JOINT
from ...contact.detection import Contacts
from ...dynamics import body_poses
from ...maths.evolution import make_evolution
from ...motion import quaternions
from ...simulation import World
from ...simulation.forecast import make_forecast
from ...simulation.law import State
from ...simulation.stepper import begin_step
from ...simulation.workspace import Machine
from .biped import UPRIGHT, Biped, sole_corners
from .prediction import Leg, Predictor, correct, hang_weights, place_model, predict
from .reduced import reduce, removed_bodies
from .sole import LIMIT, Shares

Array = NDArray[np.float64]

SEED, GENERATIONS = 1, 7  # of the samples, the same before each step; at most 50 of them
# Torque that a sample of 1 stands for, at the ankle's axes and the knee, of the weight times the legs' length: half the
# widths of the ranges in the authors' program.
ANKLE, KNEE = 0.025, 0.09
TOUCHING = 1e-3  # m


class Stabiliser:
    """Of one character, by one of reduced.MODELS."""

    def __init__(self, character: Character, biped: Biped, model: str = "M0", limit: float = LIMIT) -> None:
        self.character, self.biped, self.model, self.limit = character, biped, model, limit
        self.counts = np.zeros(4, dtype=np.int64)  # prediction.py
        self._joints = [_joints(character, biped, side) for side in (0, 1)]
        self._of: Machine | None = None
        self._predictors: dict[tuple[str, int], tuple[Predictor, Machine]] = {}  # with their models' steppers

    def clear(self) -> None:
        """Forget what a reduced model remembers of the step before."""
        self._of = None
        self.counts[:] = 0

    def correct(self, state: State, contacts: Contacts, stance: int, torque: Array, implicit: Array) -> None:
        """Change the torque (nv,) of a law in place."""
        correct(self._prepared(state, contacts, stance), torque, implicit, stance)

    def predict(self, state: State, contacts: Contacts, stance: int, torque: Array, implicit: Array) -> Shares:
        """How the ground's force would lie under the sole: left, right, front, back, and all of the weight."""
        shares: Shares = predict(self._prepared(state, contacts, stance), torque, implicit, stance)
        return shares

    def _prepared(self, state: State, contacts: Contacts, stance: int) -> Predictor:
        """The predictor for this leg, with its model where the character is."""
        if state.machine is not self._of:
            self._of = state.machine
            self._predictors.clear()
        model, side = self.model, stance
        if model == "M6":
            model = "M3" if self._touches(state, contacts, 1 - stance) else "M4"
        if model in {"M0", "M1", "M2", "M3"}:
            side = 0  # one serves both
        if (model, side) not in self._predictors:
            self._predictors[model, side] = self._make(state, model, side)
        predictor, stepper = self._predictors[model, side]
        if stepper is not state.machine:
            place_model(predictor)
            begin_step(stepper)
            hang_weights(predictor)
        return predictor

    def _touches(self, state: State, contacts: Contacts, side: int) -> bool:
        foot, count = self.biped.foot[side], contacts.filled[0]
        body = contacts.body[:count]
        under = (body == foot) | (state.tree.parent[body] == foot)
        return bool((under & (contacts.gap[:count] < TOUCHING)).any())

    def _make(self, state: State, model: str, stance: int) -> tuple[Predictor, Machine]:
        """A model that predicts in the world of a state."""
        character, biped, whole = self.character, self.biped, state.machine
        smaller, mirror = reduce(character, removed_bodies(model, character, biped, 1 - stance))
        stepper = whole if len(mirror.removed) == 0 else _machine(smaller, whole)
        system = stepper.system
        velocities, joints = len(system.tree.velocity_body), np.array(self._joints)
        weight = biped.mass * biped.gravity
        reach = np.full(joints.shape[1], ANKLE)
        reach[-1] = KNEE
        corners = [sole_corners(character, int(foot))[:, :2] for foot in biped.foot]
        leg = Leg(
            foot=_places(biped.foot, mirror.body),
            middle=np.array([0.5 * (places.min(axis=0) + places.max(axis=0)) for places in corners]),
            joint=_places(joints, mirror.velocity),
            whole=joints,
            reach=weight * biped.height * reach,
            weight=weight,
            limit=self.limit,
        )
        evolution = make_evolution(joints.shape[1])
        drawn = np.random.default_rng(SEED).normal(size=(GENERATIONS, *evolution.sample.shape))
        contacts, unknowns = stepper.room
        forecast = make_forecast(velocities, contacts, unknowns, joints.shape[1])
        return Predictor(whole, stepper, mirror, leg, forecast, evolution, drawn, self.counts), stepper


def _machine(character: Character, whole: Machine) -> Machine:
    """A world like that of the machine `whole`, for another character, without what else there is in it."""
    system = whole.system
    settings = system.settings
    world = World(
        character,
        system.terrain,
        rate=1.0 / settings.dt,
        contacts="anticipating" if settings.anticipating else "touching",
        sides=int(settings.sides),
        restitution=settings.restitution,
        margin=settings.margin,
        depth=settings.depth,
    )
    return world.state().machine


def _joints(character: Character, biped: Biped, side: int) -> list[int]:
    """Velocities of the ankle but about the vertical, then the knee's."""
    tree, (foot, shank) = character.tree, (int(biped.foot[side]), int(biped.shank[side]))
    turn = body_poses(character, character.neutral())[1][foot]
    axes = tree.axis[foot] if tree.joint[foot] != BALL else np.eye(3)
    start, count = int(tree.velocity_start[foot]), VELOCITIES_OF_JOINT[tree.joint[foot]]
    ankle = [start + k for k in range(count) if abs(quaternions.rotate(turn, axes[k])[2]) < UPRIGHT]
    return [*ankle, int(tree.velocity_start[shank])]


def _places(wanted: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each stands in an ascending list; -1 for what is not there."""
    place = np.minimum(np.searchsorted(among, wanted), len(among) - 1)
    return np.where(among[place] == wanted, place, -1)
