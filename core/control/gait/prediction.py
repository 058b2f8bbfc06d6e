# SPDX-License-Identifier: GPL-3.0-or-later
"""The stabiliser's kernel: predict, and search for what to add to ankle and knee. Carensac et al., section 3.1.

The prediction is the simulator's own contact problem (simulation/forecast.py), of the character itself or of a reduced
one that is put in the same state. `counts` tells what was done: laws seen, those unbalanced by the prediction, those
corrected, and samples tried.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.evolution import Evolution, ask, tell
from ...maths.evolution import begin as begin_search
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import add, cross, dot, row, row_angular, set_row, set_row_angular, subtract
from ...simulation.choice import remember_basis
from ...simulation.forecast import Forecast, add_joint, begin, with_extra
from ...simulation.workspace import Machine as Stepper
from .reduced import Mirror
from .sole import ACCEPTED, SLACKER, UNBALANCED, Shares, cost, quality

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SPREAD = 0.3  # of the first samples, of `reach`: 0.15 of a whole range
LAWS, LACKING, CORRECTED, TRIED = range(4)


class Leg(Structure):
    """What is judged and corrected; rows are the left and the right leg as it stands."""

    foot: Indices  # (2,) body of the model
    middle: Array  # (2, 2) of the sole, forward and left of the ankle in the foot's frame, m
    joint: Indices  # (2, n) velocities of the model: the ankle's but about the vertical, and the knee's
    whole: Indices  # (2, n) the same, of the whole character
    reach: Array  # (n,) torque at which a sample is 1, N m
    weight: float  # of the character, N
    limit: float  # share that each side of the sole is to bear


class Predictor(Structure):
    """One model beside the simulator; `stepper` is the model's, which for all of the character is `whole` itself."""

    whole: Stepper
    stepper: Stepper
    mirror: Mirror
    leg: Leg
    forecast: Forecast
    evolution: Evolution
    drawn: Array  # (generations, samples, n)
    counts: Indices  # (4,)


@kernel
def place_model(predictor: Predictor) -> None:
    """Put a reduced model where the character is; it is then to be prepared."""
    mirror, memory, whole = predictor.mirror, predictor.stepper.memory, predictor.whole.memory
    for i in range(mirror.position.shape[0]):
        memory.q[i] = whole.q[mirror.position[i]]
    for i in range(mirror.velocity.shape[0]):
        memory.v[i] = whole.v[mirror.velocity[i]]
    memory.clock[0] = whole.clock[0]
    memory.moving[0] = False


@kernel
def hang_weights(predictor: Predictor) -> None:
    """The weight of what was taken off, at its centre of mass, as an impulse on what carried it."""
    mirror, memory, system = predictor.mirror, predictor.stepper.memory, predictor.stepper.system
    bodies, whole = predictor.stepper.scratch.bodies, predictor.whole.scratch.bodies
    gravity, dt = system.tree.gravity, system.settings.dt
    memory.impulse[:] = 0.0
    for k in range(mirror.removed.shape[0]):
        composite, b = whole.composite[mirror.removed[k]], mirror.carrier[k]
        mass = composite[0]
        weight = (dt * mass * gravity[0], dt * mass * gravity[1], dt * mass * gravity[2])
        center = add(row(whole.position, 0), (composite[1] / mass, composite[2] / mass, composite[3] / mass))
        moment = cross(subtract(center, row(bodies.position, b)), weight)
        set_row(memory.impulse, b, add(row(memory.impulse, b), weight))
        set_row_angular(memory.impulse, b, add(row_angular(memory.impulse, b), moment))


@kernel
def predict(predictor: Predictor, torque: Array, implicit: Array, stance: int) -> Shares:
    """Shares of the standing sole's sides under a law (nv,); none where there is no answer."""
    if not _begin(predictor, torque, implicit):
        return 0.0, 0.0, 0.0, 0.0, 0.0
    return _shares(predictor, stance)


@kernel
def correct(predictor: Predictor, torque: Array, implicit: Array, stance: int) -> None:
    """Add to the torque (nv,) of a law what lets the standing sole bear on all its sides, where that can be found."""
    shares = predict(predictor, torque, implicit, stance)
    predictor.counts[LAWS] += 1
    if quality(shares, SLACKER * predictor.leg.limit) < UNBALANCED:
        return
    predictor.counts[LACKING] += 1
    forecast, leg = predictor.forecast, predictor.leg
    if _search(predictor, shares, stance):
        predictor.counts[CORRECTED] += 1
        for j in range(leg.reach.shape[0]):
            torque[leg.whole[stance, j]] += forecast.extra[j]


@kernel
def _begin(predictor: Predictor, torque: Array, implicit: Array) -> bool:
    """Forces under the law, as far as it concerns the model."""
    stepper, mirror, forecast = predictor.stepper, predictor.mirror, predictor.forecast
    for i in range(6, mirror.velocity.shape[0]):
        forecast.torque[i] = torque[mirror.velocity[i]]
        forecast.implicit[i] = implicit[mirror.velocity[i]]
    known = begin(stepper, forecast)
    if known and mirror.removed.shape[0] > 0:
        # a reduced model takes no step that would remember it
        limits = forecast.counts[1]
        active = limits + stepper.scratch.contacts.filled[0]
        remember_basis(stepper, limits, active)
    return known


@kernel
def _search(predictor: Predictor, initial: Shares, stance: int) -> bool:
    """By CMA-ES, generation by generation, until one brings an acceptable sample; then `forecast.extra` is it."""
    stepper, leg, forecast = predictor.stepper, predictor.leg, predictor.forecast
    evolution, drawn = predictor.evolution, predictor.drawn
    n = leg.reach.shape[0]
    for j in range(n):
        add_joint(stepper, forecast, j, leg.joint[stance, j])
    begin_search(evolution, SPREAD)
    for generation in range(drawn.shape[0]):
        ask(evolution, drawn[generation])
        for k in range(drawn.shape[1]):
            for j in range(n):
                forecast.extra[j] = leg.reach[j] * evolution.sample[k, j]
            evolution.cost[k] = np.inf
            if with_extra(stepper, forecast):
                evolution.cost[k] = cost(_shares(predictor, stance), initial, leg.limit)
        predictor.counts[TRIED] += drawn.shape[1]
        going_on = tell(evolution)
        best = evolution.order[0]
        if evolution.cost[best] < ACCEPTED:
            for j in range(n):
                forecast.extra[j] = leg.reach[j] * evolution.sample[best, j]
            return True
        if not going_on:
            return False
    return False


@kernel
def _shares(predictor: Predictor, stance: int) -> Shares:
    """Of the normal forces at the standing foot and what hangs from it."""
    leg, forecast, parent = predictor.leg, predictor.forecast, predictor.stepper.system.tree.parent
    contacts, bodies = predictor.stepper.scratch.contacts, predictor.stepper.scratch.bodies
    foot = leg.foot[stance]
    ankle = row(bodies.position, foot)
    forward = (bodies.rotation[foot, 0, 0], bodies.rotation[foot, 1, 0], bodies.rotation[foot, 2, 0])
    left = (bodies.rotation[foot, 0, 1], bodies.rotation[foot, 1, 1], bodies.rotation[foot, 2, 1])
    total = ahead = beside = 0.0
    for c in range(contacts.filled[0]):
        b = contacts.body[c]
        if b == foot or parent[b] == foot:
            arm = subtract(row(contacts.point, c), ankle)
            total += forecast.normal[c]
            if dot(arm, forward) > leg.middle[stance, 0]:
                ahead += forecast.normal[c]
            if dot(arm, left) > leg.middle[stance, 1]:
                beside += forecast.normal[c]
    if not total > 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    ahead, beside = ahead / total, beside / total
    return beside, 1.0 - beside, ahead, 1.0 - ahead, total / leg.weight
