# SPDX-License-Identifier: GPL-3.0-or-later
"""Other methods with planned steps: they follow the plans that look-ahead control would follow."""

from collections.abc import Callable

import numpy as np
from heft.core.character import Character
from heft.core.contact.detection import Contacts
from heft.core.control.law import AffineLaw, State
from heft.core.control.lookahead import LookAhead
from heft.core.control.lookahead import Track as Planned
from heft.core.control.method import Follower
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.motion_ahead import unrolled
from heft.core.control.stage import Stage
from heft.core.control.track import Track
from heft.core.dynamics import body_poses
from heft.core.motion.footholds import HIGHEST, heights_below
from heft.core.motion.quaternions import rotate
from heft.core.motion.reference import Reference
from heft.core.motion.spacetime.problem import allowed_forces
from heft.core.simulation.recording import Stepper

BESIDE = 0.01  # m, between places whose heights tell how the ground is tilted
STEEPEST = 0.3


class Laid(Follower):
    """The planner of look-ahead control decides on steps, and a follower of tracks takes them."""

    def __init__(self, reference: Reference, stage: Stage, follow: Callable[[Character, Track], Follower]) -> None:
        self._follow = follow
        self._motion = LookAhead(reference.character, Planned.of(reference), terrain=stage.terrain)
        self._planner = Recovering(self._motion, reference, stage)
        self._reference, self._terrain = reference, stage.terrain
        self._last = len(reference.q) // 2  # step after which the follower's track is made anew
        self._followed = None  # of its plans
        self._follower = follow(reference.character, Track.of(reference))
        self._done = 0  # steps of its track
        self.plans = 0

    @property
    def row(self) -> int:
        """The motion's frame."""
        return self._planner.row

    @property
    def lap(self) -> int:
        """And its lap."""
        return self._planner.lap

    def reference_state(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the follower is to be now."""
        return self._follower.reference_state()

    def between_steps(self, stepper: Stepper, goes_on: Callable[[], bool]) -> None:
        """Plan, and follow what is planned."""
        self._planner.between_steps(stepper, goes_on)
        detour = self._planner._detour
        if detour is not None and detour is not self._followed:
            plan = detour.plan.controller.track
            self._begin(self._track(plan.q, plan.loaded))
            self.plans += 1
        elif detour is None and (self._followed is not None or self._done >= self._last):
            whole = unrolled(self._motion, self._reference)
            loaded = allowed_forces(whole.active, periodic=False)
            self._begin(self._track(whole.q, np.concatenate((loaded, loaded[-1:]))))
            self._last = len(whole.q) // 2
        self._followed = detour

    def _begin(self, track: Track) -> None:
        self._follower, self._done = self._follow(self._motion.character, track), 0

    def _track(self, q: np.ndarray, loaded: np.ndarray) -> Track:
        """What is planned or coming as others follow it, with the ground's normals under its points."""
        plan = self._motion.track
        character = self._motion.character
        poses = [body_poses(character, one) for one in q]
        position, orientation = (np.array(parts) for parts in zip(*poses, strict=True))
        places = position[:, plan.point_body] + rotate(orientation[:, plan.point_body], plan.point_local)
        around = places[:, :, None] + np.array([(0.0, 0.0, HIGHEST), (BESIDE, 0.0, HIGHEST), (0.0, BESIDE, HIGHEST)])
        height = heights_below(self._terrain, around.reshape(-1, 3)).reshape((*places.shape[:2], 3))
        rise = (height[..., 1:] - height[..., :1]) / BESIDE
        rise = np.where(np.abs(rise) < STEEPEST, rise, 0.0)  # over an edge
        normal = np.concatenate((-rise, np.ones((*rise.shape[:2], 1))), axis=2)
        normal /= np.linalg.norm(normal, axis=2, keepdims=True)
        return Track(plan.dt, q, loaded, normal, plan.point_body, plan.point_local, plan.grip)

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of the follower; the planner keeps pace."""
        law = self._follower.law(state, contacts)
        self._done += 1
        detour = self._followed
        if detour is None:
            self._motion.place = self._motion.after(self._motion.place)
            return law
        detour.done += 1
        controller = detour.plan.controller
        controller.place = controller.after(controller.place)
        if detour.done == len(detour.plan.places) - 1:
            self._motion.place = detour.plan.places[-1]
            self._planner.give_up()
        return law
