# SPDX-License-Identifier: GPL-3.0-or-later
"""`Performer`: a policy acting on a route, step by step."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import FREE
from ...dynamics import point_jacobian
from ...dynamics.limits import make_limits
from ...dynamics.workspace import make_workspace
from ...simulation.pushes import Push, make_pushes
from .forces import make_force_work
from .machine import Machine, Memory, Outcome
from .model import STATE
from .performing import FAILED, GOING, step
from .policy import Policy
from .pose import make_pose_work
from .recovery import extrapolated
from .route import Route
from .states import states

Array = NDArray[np.float64]

STRONGEST = 2.5  # body weights that the law may ask for


class Touches(NamedTuple):
    """Contacts of a step, n points."""

    key: NDArray[np.int64]  # (n,) numbers that last from step to step
    body: NDArray[np.int64]  # (n,)
    other: NDArray[np.int64]  # (n,) -1: all touch the ground
    point: Array  # (n, 3) in the world, m
    force: Array  # (n, 3) N
    gap: Array  # (n,) m, above where the ground is meant to be
    wrench: Array  # (nb, 6) on each body: force, and moment about its origin
    speed: float  # of the fastest of the points after the step, m/s: they are to stand still
    rays: int  # of the forces


class Performer:
    """A character that follows a route by a policy; its arrays are made once."""

    def __init__(
        self,
        character: Character,
        policy: Policy,
        route: Route,
        pushes: Sequence[Push] = (),
        *,
        flexible: bool = True,
        aside: bool = True,
    ) -> None:
        tree, points = character.tree, len(route.body)
        nv, rays = character.nv, policy.rays.point.shape[1]
        limbs = len(route.limb_body)
        names = {body.name: b for b, body in enumerate(character.bodies)}
        self.character, self.policy, self.route = character, policy, route
        self.going = GOING
        self.begun = False
        self._first = 6 if tree.joint[0] == FREE else 0
        self.machine = Machine(
            tree=tree,
            limits=make_limits(character.bodies, tree),
            pushes=make_pushes(pushes, names),
            policy=policy,
            route=route,
            flexible=flexible,
            aside=aside and len(pushes) > 0,
            rehearsed=np.zeros((len(route.q), 3)),
            strongest=STRONGEST * character.total_mass * float(np.linalg.norm(character.gravity)),
            bodies=make_workspace(tree),
            next=make_workspace(tree),
            forces=make_force_work(rays),
            pose=make_pose_work(nv, limbs, rays, self._first),
            memory=Memory(
                q=np.zeros(character.nq),
                v=np.zeros(nv),
                x=np.zeros(STATE),
                segment=np.zeros(2, dtype=np.int64),
                step=np.zeros(1, dtype=np.int64),
                clock=np.zeros(4),
                shift=np.zeros(3),
                moved=np.zeros((limbs, 3)),
                base=np.zeros(3),
            ),
            outcome=Outcome(
                force=np.zeros((points, 3)),
                place=np.zeros((points, 3)),
                wrench=np.zeros((2, 6)),
                torque=np.zeros(nv),
                wanted=np.zeros(character.nq),
            ),
            local=np.zeros(STATE),
            goal=np.zeros(STATE),
            momentum=np.zeros(6),
            before=np.zeros(nv),
            off=np.zeros(nv),
            difference=np.zeros(nv),
            ahead=np.zeros(character.nq),
        )

    def reset(self, q: Array, v: Array) -> None:
        """Start anew in a state."""
        if self.machine.aside:
            self._rehearse(q, v)
        self._start(q, v)

    def _rehearse(self, q: Array, v: Array) -> None:
        """See where the body goes unpushed."""
        self._start(q, v)
        machine = self.machine._replace(pushes=make_pushes((), {}), aside=False)
        memory, route = machine.memory, self.route
        rows, going = [], True
        while going:
            at = memory.clock[1]
            center = extrapolated(memory.x, self.character.total_mass, route.falling, route.height)
            going = step(machine) == GOING
            rows.append((at, *center, memory.clock[2] - at))
        at, *columns = np.array(rows).T
        frames = np.arange(len(route.q))
        self.machine.rehearsed[:] = np.stack([np.interp(frames, at, column) for column in columns], axis=1)

    def _start(self, q: Array, v: Array) -> None:
        memory = self.machine.memory
        self.begun = True
        for array in (*memory, self.machine.forces.ray):
            array[:] = 0
        memory.q[:], memory.v[:] = q, v
        memory.x[:] = states(self.character.tree, q[None], v[None], self.route.dt)[0]
        self.machine.outcome.wanted[:] = self.route.q[0]
        self.going = GOING

    def step(self) -> bool:
        """One step; False where it gave no valid state or the motion is over."""
        self.going = step(self.machine)
        return self.going == GOING

    @property
    def failed(self) -> bool:
        """Whether the last step gave no valid state."""
        return self.going == FAILED

    @property
    def over(self) -> bool:
        """Whether there is no step left to take."""
        return self.going != GOING

    @property
    def at(self) -> float:
        """The frame of the reference [t_d]."""
        return min(float(self.machine.memory.clock[1]), len(self.route.q) - 1.0)

    @property
    def q(self) -> Array:
        """Positions; a copy."""
        return self.machine.memory.q.copy()

    @property
    def v(self) -> Array:
        """Velocities; a copy."""
        return self.machine.memory.v.copy()

    @property
    def torque(self) -> Array:
        """Of the motors in the last step; a copy."""
        return self.machine.outcome.torque[self._first :].copy()

    def wanted(self) -> Array:
        """Where the reference has the character now, moved as its segments are."""
        route, memory = self.route, self.machine.memory
        s = int(memory.segment[0])
        span = route.last[s] - route.first[s]
        share = min(max((self.at - route.first[s]) / span, 0.0), 1.0)
        pose = self.machine.outcome.wanted.copy()
        pose[:3] += memory.base + (1.0 - share) * route.origin[s] + share * route.origin[s + 1]
        return pose

    @property
    def aside(self) -> float:
        """By how much the farthest step was moved so far to catch the body, m."""
        return float(np.linalg.norm(self.machine.memory.moved, axis=1).max(initial=0.0))

    def touches(self) -> Touches:
        """The contacts of the last step."""
        route, outcome, bodies = self.route, self.machine.outcome, self.machine.bodies
        k, point = self._loaded()
        meant = self._meant(k, point)
        wrench = np.zeros((len(self.character.bodies), 6))
        for p in point:
            body = route.body[p]
            wrench[body, :3] += outcome.force[p]
            wrench[body, 3:] += np.cross(outcome.place[p] - bodies.position[body], outcome.force[p])
        velocity = [
            point_jacobian(self.character, self.machine.memory.q, int(route.body[p]), route.local[p])
            @ self.machine.memory.v
            for p in point
        ]
        return Touches(
            key=point,
            body=route.body[point],
            other=np.full(len(point), -1, dtype=np.int64),
            point=outcome.place[point],
            force=outcome.force[point],
            gap=outcome.place[point, 2] - meant[:, 2],
            wrench=wrench,
            speed=max((float(np.linalg.norm(v)) for v in velocity), default=0.0),
            rays=int(self.policy.rays.number[k]),
        )

    def pulled(self) -> tuple[int, float]:
        """The body whose points bear weight furthest from where they are to, and how far, m."""
        k, point = self._loaded()
        off = np.linalg.norm(self.machine.outcome.place[point] - self._meant(k, point), axis=1)
        if len(off) == 0:
            return 0, 0.0
        return int(self.route.body[point[np.argmax(off)]]), float(off.max())

    def _meant(self, k: int, point: NDArray[np.int64]) -> Array:
        """Where points that bear weight are to be after step k."""
        found: Array = self.route.place[k + 1, point] + self.machine.memory.moved[self.route.limb[point]]
        return found

    def _loaded(self) -> tuple[int, NDArray[np.int64]]:
        """The reference's step that the last step was, and the points that may bear weight in it."""
        k = int(self.machine.memory.step[0])
        return k, np.flatnonzero(self.route.loaded[k])
