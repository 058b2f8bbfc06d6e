# SPDX-License-Identifier: GPL-3.0-or-later
"""A possible motion as if it had been simulated: what was planned, told of as every simulation is.

Forces of step k act at the positions of frame k + 1, as in the one integrator (dynamics/stepping.py). Help is a force
and a moment on the root, in the root's coordinates of velocity: the force in the world, the moment in the root's frame.
"""

import numpy as np
from numpy.typing import NDArray

from ..control.stage import Observer, Stage
from ..dynamics import body_poses
from ..motion import quaternions
from ..motion.reference import Reference
from ..motion.spacetime.help import helping
from ..motion.tracks import ground_under, point_places
from ..simulation import Recording
from ..simulation.outcome import Followed, Simulation

Array = NDArray[np.float64]


def as_planned(reference: Reference, stage: Stage, observer: Observer) -> Simulation:
    """The reference where the stage has it, for as long as the stage lasts and the reference goes on."""
    steps = min(reference.steps, max(round(stage.seconds * stage.rate), 1))
    q = reference.q[: steps + 1].copy()
    lift = np.array([0.0, 0.0, stage.lift])
    if reference.character.bodies[0].joint.kind == "free":
        q[:, :3] += lift
    cancelled = False
    for k in range(steps + 1):
        if not observer(k, q[k], k, 0):
            steps, cancelled = k, True
            break
    q = q[: steps + 1]
    recording = _recording(reference, stage, q, steps, cancelled=cancelled)
    return Simulation(
        character=stage.character,
        terrain=stage.terrain,
        recording=recording,
        followed=Followed(q, np.arange(steps + 1, dtype=np.int64), np.zeros(steps + 1, dtype=np.int64)),
        cancelled=cancelled,
        lost=None,
        step_seconds=np.zeros(steps),
        help=_help(reference, q, steps),
    )


def _recording(reference: Reference, stage: Stage, q: Array, steps: int, *, cancelled: bool) -> Recording:
    character, schedule = reference.character, reference.schedule
    bearing = reference.carrying[:steps] & ~helping(schedule.points)
    places = point_places(character, q, schedule.points)[1:]
    radius = np.array([point.radius for point in schedule.points])
    gap = ground_under(stage.terrain, places, radius, reference.rate, 1.0 / reference.rate).height
    step, point = np.nonzero(bearing)
    body = schedule.body[point]
    force = reference.force[step, point]
    return Recording(
        outcome="cancelled" if cancelled else "completed",
        reason=f"The motion was cancelled after {steps} steps." if cancelled else "",
        tree=character.tree,
        rate=reference.rate,
        time=np.arange(steps + 1) / reference.rate,
        q=q,
        v=reference.v[: steps + 1].copy(),
        torque=reference.torque[:steps].copy(),
        wrench=_wrenches(reference, q, step, body, places[step, point], force),
        grab_force=np.zeros((steps, 0, 6)),
        residual=np.zeros(steps),
        lcp_residual=np.zeros(steps),
        unknowns=np.zeros(steps, dtype=np.int64),
        contact_start=np.concatenate([[0], np.cumsum(bearing.sum(axis=1))]).astype(np.int64),
        contact_key=point.astype(np.int64),
        contact_body=body,
        contact_other=np.full(len(step), -1, dtype=np.int64),
        contact_point=places[step, point],
        contact_force=force,
        contact_gap=gap[step, point],
    )


def _wrenches(
    reference: Reference, q: Array, step: NDArray[np.intp], body: NDArray[np.int64], place: Array, force: Array
) -> Array:
    """Force and moment (n, nb, 6) of all contacts on each body, about its origin."""
    bodies = len(reference.character.bodies)
    wrench = np.zeros((len(q) - 1, bodies, 6))
    origin = np.array([body_poses(reference.character, np.ascontiguousarray(row))[0] for row in q[1:]])
    origin = origin.reshape(-1, bodies, 3)
    np.add.at(wrench, (step, body), np.hstack([force, np.cross(place - origin[step, body], force)]))
    return wrench


def _help(reference: Reference, q: Array, steps: int) -> Array:
    """Force and moment (n, 6) on the root from nowhere."""
    found = np.zeros((steps, 6))
    points = np.flatnonzero(helping(reference.schedule.points))
    if len(points) == 0 or reference.character.bodies[0].joint.kind != "free":
        return found
    force = reference.force[:steps, points]
    local = reference.schedule.position[points]
    back = quaternions.conjugate(q[1:, None, 3:7])
    found[:, :3] = force.sum(axis=1)
    found[:, 3:] = np.cross(local, quaternions.rotate(back, force)).sum(axis=1)
    return found
