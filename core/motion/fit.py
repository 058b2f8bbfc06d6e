# SPDX-License-Identifier: GPL-3.0-or-later
"""The clip projected on the character's joints: least squares over the whole body, frame by frame.

For every frame, minimise over q the weighted sum over bodies of |p(q) - p*|² and of the squared angle between R(q) and
R*, the poses that the clip's bones ask for. Gauss-Newton on the manifold: for the rotation error e = log(R R*^T) in
world axes, the gradient J^T e is exact, since the left Jacobian's inverse, which relates a turn of R to a change of e,
leaves e itself as it is. Each frame starts from its own joint-by-joint answer or from the frame before, whichever is
better, and a step that makes things worse is halved.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.tree import BALL, FREE, HINGE, UNIVERSAL, VELOCITIES_OF_JOINT, Tree
from ..dynamics.functions import difference, integrate
from ..dynamics.kinematics import difference_positions, integrate_positions, update_positions
from ..dynamics.workspace import Workspace, make_workspace
from ..maths.dense import cholesky, cholesky_solve, copy_into
from ..maths.kernel import inlined_kernel, kernel
from ..maths.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply, quaternion_row
from ..maths.vectors import add, cross, dot, row, row_angular, subtract
from . import quaternions
from .body_plan import BodyPlan
from .clip import Clip
from .quaternions import Array
from .resample import smoothed

# What a body's place and orientation are trusted to: the errors that weigh the same.
PLACE = 0.010  # m
ENDS_PLACE = 0.003  # m, of hands and feet
TURN = math.radians(2.0)
CONVERGED = 1e-9  # m and rad
MOST_ITERATIONS = 50
VELOCITY_CUTOFF = 12.0  # Hz


@dataclass(frozen=True)
class Trajectory:
    """What a character does, sampled evenly."""

    rate: float  # samples per second
    q: Array  # (nf, nq)
    v: Array  # (nf, nv)
    first_frame: float = 0.0  # the source's own number of sample 0
    frames_per_sample: float = 1.0

    def frame(self, sample: float) -> float:
        """The source's number of a sample."""
        return self.first_frame + float(sample) * self.frames_per_sample

    def sample(self, frame: float) -> int:
        """The sample nearest to a frame by the source's number; below 0 or beyond the last where it has none."""
        return round((frame - self.first_frame) / self.frames_per_sample)

    def cut(self, start: int, stop: int) -> "Trajectory":
        """Samples start to stop - 1."""
        return Trajectory(self.rate, self.q[start:stop], self.v[start:stop], self.frame(start), self.frames_per_sample)


@dataclass(frozen=True)
class FitError:
    """How far the fitted character is from the clip, over the bodies that move by joints of their own."""

    turn: Array  # (nf, bodies) angle between body and bone, rad; nan for welded bodies
    place: Array  # (nf, bodies) distance of origins, m
    ends: tuple[int, ...]  # hands and feet among the bodies

    @property
    def turn_rms(self) -> float:
        """RMS angle over all jointed bodies and frames, rad."""
        return float(np.sqrt(np.nanmean(self.turn**2)))

    @property
    def ends_rms(self) -> float:
        """RMS distance of hands and feet, m."""
        return float(np.sqrt(np.mean(self.place[:, self.ends] ** 2)))

    @property
    def ends_worst(self) -> float:
        """Greatest distance of a hand or foot, m."""
        return float(self.place[:, self.ends].max())


def fit(plan: BodyPlan, clip: Clip) -> tuple[Trajectory, FitError]:
    """The trajectory of the plan's character nearest to a clip without damage."""
    if clip.skeleton.names != plan.skeleton.names:
        raise ValueError("The clip's skeleton is not the character's.")
    if not (np.isfinite(clip.position).all() and np.isfinite(clip.orientation).all()):
        raise ValueError("The clip has missing samples: repair it before fitting.")
    character = plan.character
    place, turn = (np.ascontiguousarray(target) for target in plan.body_targets(clip))
    ends = tuple(i for i, body in enumerate(character.bodies) if body.name.endswith(("_hand", "_foot")))
    welded = np.array([joint.kind == "fixed" for joint in character.joints])
    place_weight = np.full(len(character.bodies), PLACE**-2)
    place_weight[list(ends)] = ENDS_PLACE**-2
    turn_weight = np.where(welded, 0.0, TURN**-2)
    # a welded head goes where the trunk takes it
    place_weight[[i for i in np.flatnonzero(welded) if i not in ends]] = 0.0
    q = joint_by_joint(character, place, turn)
    work = make_workspace(character.tree)
    size = character.nv
    fit_frames(
        character.tree,
        work,
        place,
        turn,
        place_weight,
        turn_weight,
        q,
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros((size, 6)),
        np.zeros((2, character.nq)),
    )
    _unwrap(character, q)
    fitted_place, fitted_turn = body_poses(character, q)
    error = FitError(
        np.where(welded, np.nan, quaternions.angle(fitted_turn, turn)),
        np.linalg.norm(fitted_place - place, axis=2),
        ends,
    )
    v = velocities(character, q, clip.rate)
    return Trajectory(clip.rate, q, v, clip.first_frame, clip.frames_per_sample), error


def pose_at(character: Character, q: Array, sample: float) -> Array:
    """Positions at a sample of poses (nf, nq), fractions allowed."""
    low = min(int(sample), len(q) - 2)
    return integrate(character, q[low], difference(character, q[low], q[low + 1]), sample - low)


def velocities(character: Character, q: Array, rate: float, cutoff: float = VELOCITY_CUTOFF) -> Array:
    """Velocities (nf, nv) along positions (nf, nq): central differences, low-passed at `cutoff` Hz without lag."""
    v = np.zeros((len(q), character.nv))
    if len(q) > 1:
        central_differences(character.tree, q, rate, v)
    return np.ascontiguousarray(smoothed(v, rate, cutoff))


def body_poses(character: Character, q: Array) -> tuple[Array, Array]:
    """Origins (nf, nb, 3) and orientations (nf, nb, 4) of the bodies at positions (nf, nq)."""
    count = len(character.bodies)
    place, turn = np.zeros((len(q), count, 3)), np.zeros((len(q), count, 4))
    fill_body_poses(character.tree, make_workspace(character.tree), np.ascontiguousarray(q), place, turn)
    return place, turn


@kernel
def fill_body_poses(
    tree: Tree, work: Workspace, q: NDArray[np.float64], place: NDArray[np.float64], turn: NDArray[np.float64]
) -> None:
    """Poses of all bodies in all frames."""
    for frame in range(q.shape[0]):
        update_positions(tree, work, q[frame])
        for b in range(place.shape[1]):
            copy_into(work.position[b], place[frame, b])
            copy_into(work.quaternion[b], turn[frame, b])


@kernel
def central_differences(tree: Tree, q: NDArray[np.float64], rate: float, v: NDArray[np.float64]) -> None:
    """v_k = (q_{k+1} (-) q_{k-1}) rate / 2; one-sided at the ends."""
    last = q.shape[0] - 1
    for frame in range(last + 1):
        before, after = max(frame - 1, 0), min(frame + 1, last)
        difference_positions(tree, q[before], q[after], v[frame])
        for i in range(v.shape[1]):
            v[frame, i] *= rate / (after - before)


@inlined_kernel
def _cost(
    work: Workspace,
    place: NDArray[np.float64],
    turn: NDArray[np.float64],
    place_weight: NDArray[np.float64],
    turn_weight: NDArray[np.float64],
) -> float:
    """Weighted sum of squares at `work`'s pose."""
    cost = 0.0
    for b in range(place.shape[0]):
        e = subtract(row(work.position, b), row(place, b))
        cost += place_weight[b] * dot(e, e)
        if turn_weight[b] > 0.0:
            wanted = quaternion_conjugate(quaternion_row(turn, b))
            t = quaternion_log(quaternion_multiply(quaternion_row(work.quaternion, b), wanted))
            cost += turn_weight[b] * dot(t, t)
    return cost


@kernel
def fill_normal_equations(
    tree: Tree,
    work: Workspace,
    place: NDArray[np.float64],
    turn: NDArray[np.float64],
    place_weight: NDArray[np.float64],
    turn_weight: NDArray[np.float64],
    matrix: NDArray[np.float64],
    right: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> None:
    """J^T W J (lower triangle) and -J^T W e at `work`'s pose; `columns` (nv, 6) holds a body's Jacobian meanwhile."""
    for i in range(right.shape[0]):
        right[i] = 0.0
        for j in range(i + 1):
            matrix[i, j] = 0.0
    for b in range(place.shape[0]):
        wp, wt = place_weight[b], turn_weight[b]
        if wp == 0.0 and wt == 0.0:
            continue
        e = subtract(row(work.position, b), row(place, b))
        wanted = quaternion_conjugate(quaternion_row(turn, b))
        t = quaternion_log(quaternion_multiply(quaternion_row(work.quaternion, b), wanted))
        arm = subtract(row(work.position, b), row(work.position, 0))
        i = work.last_velocity[b]
        while i >= 0:
            angular = row_angular(work.motion, i)
            linear = add(row(work.motion, i), cross(angular, arm))
            for k in range(3):
                columns[i, k] = linear[k]
                columns[i, 3 + k] = angular[k]
            right[i] -= wp * dot(linear, e) + wt * dot(angular, t)
            i = tree.velocity_parent[i]
        i = work.last_velocity[b]
        while i >= 0:
            j = i
            while j >= 0:  # towards the root, so j <= i: the lower triangle
                matrix[i, j] += wp * dot(row(columns, i), row(columns, j)) + wt * dot(
                    row_angular(columns, i), row_angular(columns, j)
                )
                j = tree.velocity_parent[j]
            i = tree.velocity_parent[i]


@kernel
def fit_frames(
    tree: Tree,
    work: Workspace,
    place: NDArray[np.float64],
    turn: NDArray[np.float64],
    place_weight: NDArray[np.float64],
    turn_weight: NDArray[np.float64],
    q: NDArray[np.float64],
    matrix: NDArray[np.float64],
    step: NDArray[np.float64],
    columns: NDArray[np.float64],
    trial: NDArray[np.float64],
) -> None:
    """Improve q (nf, nq) frame by frame; `place` (nf, nb, 3), `turn` (nf, nb, 4), the rest is scratch."""
    for frame in range(q.shape[0]):
        now, following = trial[0], trial[1]
        update_positions(tree, work, q[frame])
        cost = _cost(work, place[frame], turn[frame], place_weight, turn_weight)
        if frame > 0:
            update_positions(tree, work, q[frame - 1])
            other = _cost(work, place[frame], turn[frame], place_weight, turn_weight)
            if other < cost:
                cost = other
                copy_into(q[frame - 1], q[frame])
        copy_into(q[frame], now)
        for _ in range(MOST_ITERATIONS):
            update_positions(tree, work, now)
            fill_normal_equations(
                tree, work, place[frame], turn[frame], place_weight, turn_weight, matrix, step, columns
            )
            for i in range(step.shape[0]):
                matrix[i, i] = matrix[i, i] * (1.0 + 1e-9) + 1e-6
            if not cholesky(matrix, matrix):
                break
            cholesky_solve(matrix, step)
            size = 0.0
            for i in range(step.shape[0]):
                size = max(size, abs(step[i]))
            scale = 1.0
            better = False
            while not better and scale > 1e-3:
                integrate_positions(tree, now, step, scale, following)
                update_positions(tree, work, following)
                other = _cost(work, place[frame], turn[frame], place_weight, turn_weight)
                better = other <= cost
                scale *= 0.5
            if not better:
                break
            cost = other
            copy_into(following, now)
            if size < CONVERGED:
                break
        copy_into(now, q[frame])


def joint_by_joint(character: Character, place: Array, turn: Array) -> Array:
    """Positions (nf, nq) that give each joint the rotation which its two bodies ask for, as far as its kind can."""
    tree = character.tree
    q = np.tile(character.neutral(), (len(place), 1))
    for b, (parent, kind) in enumerate(zip(tree.parent, tree.joint, strict=True)):
        start = tree.position_start[b]
        if kind == FREE:
            q[:, start : start + 3] = place[:, b]
            q[:, start + 3 : start + 7] = turn[:, b]
            continue
        # the joint's own rotation is what is left of the body's after its parent's and the rest pose
        base = (
            tree.offset_quaternion[b]
            if parent < 0
            else quaternions.multiply(turn[:, parent], tree.offset_quaternion[b])
        )
        own = quaternions.multiply(quaternions.conjugate(base), turn[:, b])
        if kind == BALL:
            q[:, start : start + 4] = quaternions.continuous(own)
        elif kind == HINGE:
            q[:, start] = _twist(own, tree.axis[b, 0])
        elif kind == UNIVERSAL:
            first, second = tree.axis[b]
            # the first turn carries the second axis around the first: where it has gone tells by how much
            carried = quaternions.rotate(own, second)
            across, aside = second - (second @ first) * first, np.cross(first, second)
            q[:, start] = np.arctan2(carried @ aside, carried @ across)
            undo = quaternions.exp(-q[:, start, None] * first)
            q[:, start + 1] = _twist(quaternions.multiply(undo, own), second)
    return q


def _twist(rotation: Array, axis: Array) -> Array:
    """Angle (n,) about `axis` of the rotation about it that is nearest to each."""
    sine, cosine = rotation[:, 1:] @ axis, rotation[:, 0]
    result: Array = 2.0 * np.arctan2(np.where(cosine < 0.0, -sine, sine), np.abs(cosine))
    return result


def _unwrap(character: Character, q: Array) -> None:
    """Angles without jumps of a whole turn, quaternions without jumps of sign; the first frame's angles within half."""
    tree = character.tree
    for start, kind in zip(tree.position_start, tree.joint, strict=True):
        if kind in {HINGE, UNIVERSAL}:
            stop = start + VELOCITIES_OF_JOINT[kind]
            angles = np.unwrap(q[:, start:stop], axis=0)
            q[:, start:stop] = angles - 2.0 * np.pi * np.round(np.median(angles, axis=0) / (2.0 * np.pi))
        elif kind in {BALL, FREE}:
            turn = slice(start + 3, start + 7) if kind == FREE else slice(start, start + 4)
            q[:, turn] = quaternions.continuous(q[:, turn])
