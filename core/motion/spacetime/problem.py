# SPDX-License-Identifier: GPL-3.0-or-later
"""The optimisation as kernels see it: the clip, the contacts and the weights in flat arrays; and the present iterate.

Frames are 0 to N, steps 0 to N - 1. The force of step k changes v_{k+1}, and v_{k+1} sets q_{k+2}: a point may carry
force in step k only if it is held at k + 1 and at k + 2, or it would have to push on while it leaves the ground.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.parts import Cone, Corner
from ...character.tree import FREE
from ...contact.terrain import Terrain, nearest_points
from ...dynamics.kinematics import difference_positions
from ...dynamics.limits import JointLimits, make_limits
from ...maths.structure import Structure
from ..cycle import Cycle
from ..fit import body_poses
from ..gliding import gliding, planned_velocities, sliding_axes, slipping
from ..outside import NOTHING, Outside
from ..quaternions import rotate
from ..schedule import ContactPoint, ContactSchedule
from .effort import Effort
from .help import HELPERS
from .settings import Settings
from .surface import on_balls

Array = NDArray[np.float64]

NO_CLEARANCE = -1e9  # m: a point that may be anywhere
HELP_WEIGHT = 1e-3  # per squared newton, where help only shows what a clip lacks
GROUND_REACH = 2.0  # m: how far from the clip's own points the ground is looked for


class Problem(Structure):
    """Arrays over frames (N + 1), steps (N), velocities (nv), motors, and points (np): the schedule's, then others."""

    dt: float
    motors_start: int  # first velocity with a motor: 6 above a free root
    clip_q: Array  # (N + 1, nq)
    clip_v: Array  # (N + 1, nv)
    frame_weight: Array  # (N + 1,) 1; 0 for the last frame of a cycle, which is the first
    pose_weight: Array  # (nv,)
    clip_place: Array  # (N + 1, nb, 3) of the bodies
    place_weight: float  # of each
    velocity_weight: Array  # (nv,)
    torque_weight: float
    torque_smoothing: float
    torque_limit: float  # infinite where there is none
    strength: Array  # (motors,) what each is to give at most; infinite where nothing is known
    strength_weight: float  # of what it gives beyond that
    effort_weight: Array  # (motors,) of torques beyond those that the motion takes by itself
    effort_torque: Array  # (N, motors) these
    force_weight: Array  # (np, 3) along two tangents and the normal
    force_smoothing: float
    outside_first: int  # from this point on something from outside acts on them (outside.py)
    help_first: int  # from this point on they are help, weighed by the iterate; np where there is none
    point_body: NDArray[np.int64]  # (np,)
    point_local: Array  # (N + 1, np, 3) in the body's frame
    radius: Array  # (np,) of a ball around the point, which stays above the ground too
    grab: NDArray[np.bool_]  # (np,) carries force in all directions
    held: NDArray[np.bool_]  # (N + 1, np)
    watched: NDArray[np.bool_]  # (np,) stays above the ground where not held; of a ball, the centre does
    place: Array  # (N + 1, np, 3)
    axes: Array  # (N + 1, np, 3, 3) rows: two tangents and the normal of the ground
    force_axes: Array  # (N + 1, np, 3, 3) the same for forces, which differ where feet glide (gliding.py)
    glides: NDArray[np.bool_]  # (N + 1, np) held in height only: its way along the ground is wished
    clearance: Array  # (N + 1, np) least height over the ground where not held
    held_weight: float
    glide_weight: float  # of a gliding point off its planned way
    clearance_weight: float
    ground_price: float  # of depth under the ground beyond what is allowed, 1/m
    force_count: NDArray[np.int64]  # (N,) points that may carry force in the step
    force_point: NDArray[np.int64]  # (N, np) which they are
    faces: Array  # (sides, 3) the pyramid of friction: face . (two tangents, normal) >= 0
    limits: JointLimits  # (nl,)
    limit_margin: Array  # (nl,) least gap, rad
    limit_weight: float


class Iterate(Structure):
    """States, controls, and what goes with their inequalities."""

    q: Array  # (N + 1, nq)
    v: Array  # (N + 1, nv)
    torque: Array  # (N, motors)
    force: Array  # (N, np, 3) along the contact's axes, N
    torque_target: Array  # (N, motors) the smoothed torque of an iteration before
    force_target: Array  # (N, np, 3)
    slack: Array  # (N, np, sides) of the faces
    multiplier: Array  # (N, np, sides) of the faces
    torque_slack: Array  # (N, motors, 2) below the upper limit and above the lower
    torque_multiplier: Array  # (N, motors, 2)
    place_multiplier: Array  # (N + 1, np, 3) of held points
    ground_slack: Array  # (N + 1, np) of points over the ground
    ground_excess: Array  # (N + 1, np) by how much the slack is more than the height
    ground_multiplier: Array  # (N + 1, np)
    help_weight: Array  # (N,) per squared newton of help


def make_problem(
    character: Character,
    q: Array,
    v: Array,
    rate: float,
    schedule: ContactSchedule,
    terrain: Terrain,
    settings: Settings,
    cycle: Cycle | None,
    *,
    helped: bool = False,
    places: Array | None = None,
    strength: Array | None = None,
    effort: Effort | None = None,
    outside: Outside = NOTHING,
) -> Problem:
    """Flatten; all arguments are checked, but for the ground under held points: ValueError where there is none.

    `helped` lets dear forces from nowhere act on the root, at all times: what they do shows what a clip lacks.
    `places` (N + 1, nb, 3) are where the bodies are wanted, if not where the poses have them, and `strength` (motors,)
    what motors give at most. `effort` says what torques are to be spared, `outside` what acts besides, which the solver
    is told too.
    """
    tree = character.tree
    frames = len(q)
    outside = outside.lasting(frames)
    points = schedule.points + _watched_corners(character, schedule) + outside.points + (HELPERS if helped else ())
    scheduled, count = len(schedule.points), len(points)
    help_first = count - (len(HELPERS) if helped else 0)
    known = slice(help_first - len(outside.points), help_first)
    held = np.zeros((frames, count), np.bool_)
    held[:, :scheduled] = schedule.active
    local = np.tile(np.array([point.position for point in points]).reshape(-1, 3), (frames, 1, 1))
    local[:, known] = outside.local
    place = point_positions(character, q, points, local)
    own_way = place[:, :scheduled].copy()
    place[held] = schedule.place[schedule.active]
    held[:, known] = outside.held
    place[:, known][outside.held] = outside.place[outside.held]
    grab = np.array([point.grab for point in points], dtype=np.bool_)
    ground, normal = _ground(terrain, place, held, points)
    clearance, kept = np.zeros((frames, count)), on_balls(points)
    for i, point in enumerate(points):
        if i < scheduled:
            clearance[:, i] = least_heights(held[:, i], own_way[:, i], settings, rate, cycle)
        clearance[:, i] = NO_CLEARANCE if point.grab or kept[i] else clearance[:, i] + point.radius
    allowed = allowed_forces(held, periodic=cycle is not None)
    allowed[:, help_first:] = True
    allowed[:, known] |= ~outside.held.any(axis=0)
    force_count, force_point = _packed(allowed)
    motors_start = 6 if tree.joint[0] == FREE else 0
    velocity_weight = np.full(character.nv, settings.velocity)
    if motors_start:
        velocity_weight[:2] = settings.velocity_level
    force_weight = np.tile((settings.force_tangential, settings.force_tangential, settings.force_normal), (count, 1))
    force_weight[grab] = settings.force_normal
    force_weight[known] = outside.weight[:, None]
    axes = _contact_axes(normal, grab)
    ways, slips = np.zeros(place.shape), np.zeros(held.shape)
    ways[:, :scheduled] = planned_velocities(schedule, rate)
    slips[:, :scheduled] = slipping(schedule, ways[:, :scheduled])
    frame_weight = np.ones(frames)
    if cycle is not None:
        frame_weight[-1] = 0.0
    limits = make_limits(character.bodies, tree)
    motors = character.nv - motors_start
    spared = Effort(np.zeros(motors), np.zeros((frames - 1, motors))) if effort is None else effort
    return Problem(
        dt=1.0 / rate,
        motors_start=motors_start,
        clip_q=q,
        clip_v=v,
        frame_weight=frame_weight,
        pose_weight=_pose_weights(character, settings),
        clip_place=np.ascontiguousarray(body_poses(character, q)[0] if places is None else places),
        place_weight=settings.place,
        velocity_weight=velocity_weight,
        torque_weight=settings.torque,
        torque_smoothing=settings.torque_smoothing,
        torque_limit=math.inf if settings.torque_limit is None else settings.torque_limit,
        strength=np.full(motors, math.inf) if strength is None else strength,
        strength_weight=settings.strength,
        effort_weight=spared.weight,
        effort_torque=spared.torque,
        force_weight=force_weight,
        force_smoothing=settings.force_smoothing,
        outside_first=known.start,
        help_first=help_first,
        point_body=np.array([point.body for point in points], dtype=np.int64),
        point_local=local,
        radius=np.array([point.radius for point in points]),
        grab=grab,
        held=held,
        watched=~(grab | kept),
        place=np.where(held[:, :, None], place, ground),
        axes=axes,
        force_axes=sliding_axes(axes, ways, slips, settings.friction),
        glides=gliding(ways),
        clearance=clearance,
        held_weight=settings.held,
        glide_weight=settings.glide,
        clearance_weight=settings.clearance,
        ground_price=settings.ground,
        force_count=force_count,
        force_point=force_point,
        faces=friction_faces(settings.friction, settings.friction_sides),
        limits=limits,
        limit_margin=_limit_margins(character, schedule, settings, limits),
        limit_weight=settings.limit,
    )


def point_positions(
    character: Character, q: Array, points: Sequence[ContactPoint], local: Array | None = None
) -> Array:
    """Where the points are (frames, np, 3) in the world; or at `local` (frames, np, 3) in their bodies."""
    index = [point.body for point in points]
    if local is None:
        local = np.array([point.position for point in points]).reshape(-1, 3)
    origin, orientation = body_poses(character, q)
    result: Array = origin[:, index] + rotate(orientation[:, index], local)
    return result


def _ground(
    terrain: Terrain, place: Array, held: NDArray[np.bool_], points: Sequence[ContactPoint]
) -> tuple[Array, Array]:
    """The ground nearest to each point (N + 1, np, 3), and its normal there; far below where there is none."""
    found = nearest_points(terrain, place.reshape(-1, 3), GROUND_REACH)
    missing = (found.surface < 0).reshape(held.shape)
    needed = held & np.array([not point.grab for point in points], dtype=np.bool_)
    for i, point in enumerate(points):
        frames = np.flatnonzero(missing[:, i] & needed[:, i])
        if len(frames) > 0:
            raise ValueError(
                f"'{point.name}' should stand on the ground in frames {frames[0]} to {frames[-1]}, but there is none "
                f"within {GROUND_REACH:g} m of it: extend the ground, or switch the contact off."
            )
    below = place - np.array([0.0, 0.0, GROUND_REACH])
    ground = np.where(missing[:, :, None], below, found.point.reshape(place.shape))
    normal = np.where(missing[:, :, None], (0.0, 0.0, 1.0), found.normal.reshape(place.shape))
    return ground, normal


def make_iterate(character: Character, problem: Problem, barrier: float) -> Iterate:
    """Start on the clip, with its own finite differences as velocities and the weight shared among the contacts."""
    frames, count = problem.held.shape
    steps, motors = frames - 1, character.nv - problem.motors_start
    v = np.empty((frames, character.nv))
    for k in range(steps):
        difference_positions(character.tree, problem.clip_q[k], problem.clip_q[k + 1], v[k])
    v[:-1] /= problem.dt
    v[-1] = problem.clip_v[-1]
    force = np.zeros((steps, count, 3))
    weight = character.total_mass * float(np.linalg.norm(character.gravity))
    for k in range(steps):
        active = problem.force_point[k, : problem.force_count[k]]
        grounded = active[~problem.grab[active]]
        force[k, grounded, 2] = weight / max(1, int((active < problem.help_first).sum()))
    slack = np.maximum(force @ problem.faces.T, 0.05 * weight)
    room = min(problem.torque_limit, 1e6)
    torque_slack = np.full((steps, motors, 2), room)
    return Iterate(
        q=problem.clip_q.copy(),
        v=v,
        torque=np.zeros((steps, motors)),
        force=force,
        torque_target=np.zeros((steps, motors)),
        force_target=force.copy(),
        slack=slack,
        multiplier=barrier / slack,
        torque_slack=torque_slack,
        torque_multiplier=barrier / torque_slack,
        place_multiplier=np.zeros((frames, count, 3)),
        ground_slack=np.full((frames, count), 0.01),
        ground_excess=np.full((frames, count), 0.01),
        ground_multiplier=np.full((frames, count), min(0.01, 0.5 * problem.ground_price)),
        help_weight=np.full(steps, HELP_WEIGHT),
    )


def friction_faces(friction: float, sides: int) -> Array:
    """Faces of the pyramid inscribed in Coulomb's cone whose edges lie at multiples of 2 pi / sides from a tangent.

    Four sides: |f_x| + |f_y| <= mu f_n, as in Muico et al. 2009, appendix A. Rows are scaled to 1 along a tangent edge.
    """
    angle = (2.0 * np.arange(sides) + 1.0) * math.pi / sides
    half = math.cos(math.pi / sides)
    return np.column_stack((-np.cos(angle) / half, -np.sin(angle) / half, np.full(sides, friction)))


def _watched_corners(character: Character, schedule: ContactSchedule) -> tuple[ContactPoint, ...]:
    """Corners of bodies that may stand, where they are not scheduled themselves: they stay above the ground."""
    standing = {point.body for point in schedule.points if not point.grab}
    known = {(point.body, point.position) for point in schedule.points}
    corners = (contact for contact in character.contacts if isinstance(contact, Corner))
    watched = (ContactPoint(corner.name, character.index(corner.body), corner.position) for corner in corners)
    return tuple(point for point in watched if point.body in standing and (point.body, point.position) not in known)


def least_heights(
    held: NDArray[np.bool_], way: Array, settings: Settings, rate: float, cycle: Cycle | None = None
) -> Array:
    """Height (nf,) to be kept by a point on its way (nf, 3): nothing beside a stance, rising smoothly to all of it.

    It is reached with time, or sooner with the way along the ground from the place that was left, or to that which is
    to be reached: a foot that is not there yet slides where it lands.
    """
    frame, first = np.arange(len(held)), 0
    if cycle is not None:  # a lap before it, and one after
        held, first = np.concatenate((held[:-1], held, held[1:])), len(held) - 1
        way = np.concatenate((cycle.move_points_back(way[:-1]), way, cycle.move_points(way[1:])))
    on = np.flatnonzero(held)
    if len(on) == 0:
        return np.full(len(frame), settings.clearance_height)
    nearest = on[np.clip(np.searchsorted(on, first + frame)[:, None] - np.array([1, 0]), 0, len(on) - 1)]
    time = np.abs(nearest - (first + frame)[:, None]).min(axis=1)
    x = (time - 1.0) / max(1.0, settings.clearance_ramp * rate)
    if settings.clearance_way > 0.0:
        away = np.linalg.norm((way[nearest] - way[first + frame][:, None])[..., :2], axis=2).min(axis=1)
        x = np.maximum(x, away / settings.clearance_way)
    x = np.clip(x, 0.0, 1.0)
    result: Array = settings.clearance_height * x * x * (3.0 - 2.0 * x)
    return result


def allowed_forces(held: NDArray[np.bool_], *, periodic: bool) -> NDArray[np.bool_]:
    """Points (N, np) held at k + 1 and k + 2. After the last frame comes the second of a cycle, or nothing changes."""
    after = np.concatenate((held, held[1:2] if periodic else held[-1:]))
    result: NDArray[np.bool_] = after[1:-1] & after[2:]
    return result


def _packed(allowed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many points (N,), and which, first in the rows of (N, np)."""
    point = np.zeros(allowed.shape, np.int64)
    for k, row in enumerate(allowed):
        active = np.flatnonzero(row)
        point[k, : len(active)] = active
    return allowed.sum(axis=1).astype(np.int64), point


def _contact_axes(normal: Array, grab: NDArray[np.bool_]) -> Array:
    """Two tangents and the normal: the first tangent is the world's X (or Y) axis laid into the plane."""
    axis = np.where(np.abs(normal[..., :1]) < 0.8, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    first = axis - (axis * normal).sum(axis=-1, keepdims=True) * normal
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    axes = np.ascontiguousarray(np.stack((first, np.cross(normal, first), normal), axis=-2))
    axes[:, grab] = np.eye(3)
    return axes


def _pose_weights(character: Character, settings: Settings) -> Array:
    """Between least and most, by the share of the mass that a joint moves; for a free root by factors of its own."""
    tree = character.tree
    moved = tree.mass.copy()
    for b in range(len(moved) - 1, 0, -1):
        moved[tree.parent[b]] += moved[b]
    share = moved[tree.velocity_body] / moved[0]
    weights: Array = settings.pose_least + (settings.pose_most - settings.pose_least) * share
    if tree.joint[0] == FREE:
        weights[:3] *= settings.root_place
        weights[3:6] *= settings.root_turn
    return weights


def _limit_margins(character: Character, schedule: ContactSchedule, settings: Settings, limits: JointLimits) -> Array:
    """How far (nl,) inside its range each limit is met: hinges between the root and a held point must not lock."""
    tree = character.tree
    supporting = set()
    for point in schedule.points:
        b = point.body
        while b >= 0:
            supporting.add(b)
            b = int(tree.parent[b])
    margin = np.zeros(len(limits.body))
    for i, b in enumerate(limits.body):
        joint = character.bodies[b].joint
        if (
            joint.kind == "hinge"
            and b in supporting
            and joint.limits is not None
            and not isinstance(joint.limits, Cone)
        ):
            margin[i] = min(settings.limit_margin, 0.25 * (joint.limits[0].upper - joint.limits[0].lower))
    return margin
