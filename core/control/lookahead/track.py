# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference as look-ahead control follows it: frames, and steps that lead from each to the next without end.

Step k leads from frame k to frame k + 1. The last step leads to frame 0 of the next lap where the motion is cyclic, and
back to its own frame where it is not: there the motion has settled into a stance.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from ...character import Character
from ...character.tree import FREE
from ...dynamics import bias_force, point_jacobian
from ...motion.cycle import Cycle
from ...motion.gliding import planned_velocities, slipping
from ...motion.outside import velocities_given
from ...motion.reference import Reference
from ...motion.spacetime.help import HELPERS, helping
from ..corners import spread_over_corners
from ..track import checked_arrays

Array = NDArray[np.float64]

# Weight of an unbalanced root's newton against a newton of contact force.
BALANCE = 1e3

# Friction that a settled stance may use.
FRICTION = 0.5


@dataclass(frozen=True, eq=False)
class Track:
    """nf frames and as many steps, np points that may carry force."""

    dt: float  # s
    q: Array  # (nf, nq)
    v: Array  # (nf, nv)
    torque: Array  # (nf, motors) of the step from this frame
    force: Array  # (nf, np, 3) of the step from this frame, in the world, N
    loaded: NDArray[np.bool_]  # (nf, np) the point carries force in the step from this frame
    point_body: NDArray[np.int64]  # (np,)
    point_local: Array  # (np, 3) in the body's frame, m
    grip: NDArray[np.bool_]  # (np,) the point may pull as well as push
    help: NDArray[np.bool_] = field(
        default_factory=lambda: np.zeros(0, dtype=np.bool_)
    )  # (np,), or empty: the force on this point of the root is given by nothing
    slips: Array = field(
        default_factory=lambda: np.zeros((0, 0))
    )  # (nf, np), or empty: the share to which the point's sole slips in the step from this frame (motion/gliding.py)
    given: Array = field(
        default_factory=lambda: np.zeros((0, 0))
    )  # (nf, nv), or empty: what forces from outside change velocities by in the step from this frame
    cycle: Cycle | None = None  # how the next lap starts; None: the last frame holds
    stance: int = 0  # steps at the end that stop the motion and hold, and are no part of it

    @classmethod
    def of(cls, reference: Reference, *, corners: bool = True, settles: bool = True) -> "Track":
        """A reference's track: its period if it is cyclic, else all its frames and, if it `settles`, a stance.

        With `corners` the policy anticipates forces at all corners of a sole.
        """
        schedule, steps = reference.schedule, reference.steps
        cyclic = reference.cycle is not None
        frames = steps if cyclic else steps + 1
        rest = 0 if cyclic else 1  # the last frame has no step yet
        track = cls(
            dt=1.0 / reference.rate,
            q=reference.q[:frames],
            v=reference.v[:frames],
            torque=np.pad(reference.torque, ((0, rest), (0, 0))),
            force=np.pad(reference.force, ((0, rest), (0, 0), (0, 0))),
            loaded=np.concatenate((reference.carrying, _held_on(reference)))[:frames],
            point_body=schedule.body,
            point_local=schedule.position,
            grip=np.array([point.grab for point in schedule.points], dtype=np.bool_),
            help=helping(schedule.points),
            slips=_slipping(reference)[:frames],
            given=_given(reference)[:frames],
            cycle=reference.cycle,
        ).checked(reference.character)
        track = track if cyclic or not settles else track.settled(reference.character)
        return track.with_corners(reference.character) if corners else track

    @property
    def touching(self) -> NDArray[np.bool_]:
        """(nf, np) the point carries force, and touches something."""
        return self.loaded & ~self.help if len(self.help) else self.loaded

    def checked(self, character: Character) -> "Track":
        """The same in contiguous arrays, or ValueError saying what does not fit."""
        frames, points = len(self.q), len(self.point_body)
        motors = character.nv - (6 if character.tree.joint[0] == FREE else 0)
        shapes = {
            "q": (frames, character.nq),
            "v": (frames, character.nv),
            "torque": (frames, motors),
            "force": (frames, points, 3),
            "loaded": (frames, points),
            "point_body": (points,),
            "point_local": (points, 3),
            "grip": (points,),
            "help": (points,),
            "slips": (frames, points),
            "given": (frames, character.nv),
        }
        whole = self if len(self.help) else replace(self, help=np.zeros(points, dtype=np.bool_))
        whole = whole if self.slips.size else replace(whole, slips=np.zeros((frames, points)))
        whole = whole if self.given.size else replace(whole, given=np.zeros((frames, character.nv)))
        arrays = checked_arrays(whole, shapes, character)
        return Track(self.dt, cycle=self.cycle, stance=self.stance, **arrays)

    def with_corners(self, character: Character) -> "Track":
        """The same motion on the corners of its soles: a point in the middle of some shares its force among them.

        Then the policy may tilt a stance foot's pressure to either side, which two points per foot cannot express.
        """
        places, shares = spread_over_corners(character, self.point_body, self.point_local)
        frames, count = len(self.q), len(places)
        force = np.zeros((frames, count, 3))
        slips = np.zeros((frames, count))
        loaded, grip, helps = np.zeros((frames, count), np.bool_), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for to, sources in enumerate(shares):
            for p, share in sources:
                if p < self.slips.shape[1]:
                    slips[:, to] = np.maximum(slips[:, to], self.slips[:, p])
                force[:, to] += share * self.force[:, p]
                loaded[:, to] |= self.loaded[:, p]
                grip[to] |= self.grip[p]
                helps[to] |= p < len(self.help) and bool(self.help[p])
        return replace(
            self,
            force=force,
            loaded=loaded,
            point_body=np.array([body for body, _ in places], dtype=np.int64),
            point_local=np.array([place for _, place in places], dtype=np.float64).reshape(-1, 3),
            grip=grip,
            help=helps,
            slips=slips,
        )

    def guided(self) -> "Track":
        """The same with helpers who may act all along, and give nothing yet where none was planned.

        So feedback has a hand on the root, which holds errors of feet that roll or are caught while they are small.
        """
        if len(self.help) and self.help.any():
            return replace(self, loaded=self.loaded | self.help)
        frames, count = len(self.q), len(HELPERS)
        helps = np.ones(count, dtype=np.bool_)
        return replace(
            self,
            force=np.concatenate((self.force, np.zeros((frames, count, 3))), axis=1),
            loaded=np.column_stack((self.loaded, np.ones((frames, count), dtype=np.bool_))),
            point_body=np.append(self.point_body, np.zeros(count, dtype=np.int64)),
            point_local=np.concatenate((self.point_local, [point.position for point in HELPERS])),
            grip=np.append(self.grip, helps),
            slips=np.concatenate((self.slips, np.zeros((frames, count))), axis=1) if self.slips.size else self.slips,
            help=np.append(self.help if len(self.help) else np.zeros(len(self.grip), dtype=np.bool_), helps),
        )

    def settled(self, character: Character) -> "Track":
        """The track, going on after its last frame with a stance in that frame's pose, at rest, for ever.

        The last frame's own step is given the stance's controls: it had none, or none that would stop the motion.
        """
        if self.cycle is not None:
            raise ValueError("A cyclic motion never comes to rest.")
        stance = standing(character, self.q[-1], self.point_body, self.point_local, self.grip, self.loaded[-1], self.dt)
        parts = {name: getattr(self, name).copy() for name in ("torque", "force", "loaded")}
        for name, array in parts.items():
            array[-1] = getattr(stance, name)[0]
        return replace(
            self,
            q=np.concatenate((self.q, stance.q)),
            v=np.concatenate((self.v, stance.v)),
            torque=np.concatenate((parts["torque"], stance.torque)),
            force=np.concatenate((parts["force"], stance.force)),
            loaded=np.concatenate((parts["loaded"], stance.loaded)),
            slips=np.concatenate((self.slips, np.zeros((1, len(self.grip))))) if self.slips.size else self.slips,
            given=np.concatenate((self.given, np.zeros_like(self.given[:1]))) if self.given.size else self.given,
            stance=2,
        )


def _slipping(reference: Reference) -> Array:
    """To which share the soles of points (N + 1, np) slip in the step from each frame, by their planned places."""
    slips = slipping(reference.schedule, planned_velocities(reference.schedule, reference.rate))
    following = slips[1:2] if reference.cycle is not None else np.zeros_like(slips[:1])
    return np.concatenate((slips[1:], following))


def _given(reference: Reference) -> Array:
    """What forces from outside change velocities by (N + 1, nv) in the step from each frame."""
    character, acting = reference.character, reference.outside
    if not acting.points:
        return np.zeros((0, 0))
    given = velocities_given(character, reference.q, 1.0 / reference.rate, acting)
    return np.concatenate((given, np.zeros((1, character.nv))))


def _held_on(reference: Reference) -> NDArray[np.bool_]:
    """Points (1, np) that go on to carry after the last frame: those that touch there, and help that is given."""
    helps = helping(reference.schedule.points) & reference.carrying[-1]
    last: NDArray[np.bool_] = reference.schedule.active[-1] | helps
    return last[None]


def standing(
    character: Character,
    q: ArrayLike,
    point_body: ArrayLike,
    point_local: ArrayLike,
    grip: ArrayLike | None = None,
    loaded: ArrayLike | None = None,
    dt: float = 1.0 / 120.0,
) -> Track:
    """A single frame that holds: torques and contact forces at `q`, at rest, by least squares.

    Forces lie in friction's pyramid (a grip's anywhere), and are the smallest that balance the root as well as can be;
    torques then hold the joints exactly.
    """
    positions = np.array(q, dtype=np.float64)
    body, local = np.array(point_body, dtype=np.int64), np.array(point_local, dtype=np.float64).reshape(-1, 3)
    on = np.ones(len(body), np.bool_) if loaded is None else np.array(loaded, dtype=np.bool_)
    grips = np.zeros(len(body), np.bool_) if grip is None else np.array(grip, dtype=np.bool_)
    start = 6 if character.tree.joint[0] == FREE else 0
    bias = bias_force(character, positions, np.zeros(character.nv))
    force = np.zeros((len(body), 3))
    used = np.flatnonzero(on)
    generalized = np.zeros(character.nv)
    if len(used):
        J = np.concatenate([point_jacobian(character, positions, int(body[p]), local[p]) for p in used])
        edges = np.array([(FRICTION, 0, 1), (-FRICTION, 0, 1), (0, FRICTION, 1), (0, -FRICTION, 1)], dtype=np.float64)
        axes = np.concatenate((np.eye(3), -np.eye(3)))
        # (3 n, ...) forces of the shares, none negative, of edges and axes
        spread = scipy.linalg.block_diag(*((axes if grips[p] else edges).T for p in used))
        wrench = BALANCE * J.T[:start] @ spread
        system = np.concatenate((wrench, spread, 0.1 * np.eye(spread.shape[1])))
        target = np.concatenate((BALANCE * bias[:start], np.zeros(sum(spread.shape))))
        share, _ = scipy.optimize.nnls(system, target)
        force[used] = (spread @ share).reshape(-1, 3)
        generalized = J.T @ (spread @ share)
    return Track(
        dt=dt,
        q=positions[None],
        v=np.zeros((1, character.nv)),
        torque=(bias - generalized)[None, start:],
        force=force[None],
        loaded=on[None],
        point_body=body,
        point_local=local,
        grip=grips,
    ).checked(character)
