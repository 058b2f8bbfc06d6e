# SPDX-License-Identifier: GPL-3.0-or-later
"""`LookAhead`: a track's policy as a controller, with its place in the motion and in the world."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...character import Character
from ...contact.detection import Contacts
from ...contact.terrain import Terrain
from ...dynamics.workspace import Workspace
from ...motion.cycle import Cycle
from ...simulation.outcome import Simulation
from ..law import AffineLaw, NoLawError, State
from ..method import Follower
from .height import Landing, ground_height, height_at, next_landings, point_places
from .law import update_law
from .phase import SEARCH, is_overdue, next_touchdown
from .policy import HELP, Policy
from .precompute import precompute
from .settings import Settings
from .slipping import Slipping
from .track import Track
from .workspace import Choices, Machine, make_scratch

Array = NDArray[np.float64]

# Time in which the reference's height follows the ground, s; that before a landing in which it goes there; and at most
# how fast, m/s.
GROUND_TIME = 0.1
AHEAD = 0.1
FASTEST = 0.6
# Steps of time that differ by more than this share are not the same.
SAME_STEP = 1e-9


class Place(NamedTuple):
    """Where in the motion the controller is, and how the reference's coordinates lie in the world."""

    frame: int
    anchor: tuple[float, float, float, float]  # x, y, z, yaw
    lap: int = 0  # of a cycle, or of a motion that goes on


class Onward(NamedTuple):
    """How a motion that is no cycle goes on after its last frame: as after an earlier one, moved."""

    last: int
    frame: int  # which the last is like
    step: Cycle  # from that to the last
    rise: float  # m


class LookAhead(Follower):
    """Look-ahead policy and contact adaptation (Muico et al. 2009, section 4.3). One step of the world, one frame.

    The controller counts frames by itself: `seek` a frame when its world is reset.
    """

    def __init__(
        self,
        character: Character,
        track: Track,
        settings: Settings | None = None,
        policy: Policy | None = None,
        terrain: Terrain | None = None,
    ) -> None:
        self.character = character
        self.track = track.checked(character)
        self.settings = (settings or Settings()).checked()
        self.policy = policy or precompute(character, self.track, self.settings)
        self._helped = _helped(self.policy)
        self._scratch = make_scratch(character.tree, self.policy, 0)
        self._machine: Machine | None = None
        self._anchor = np.zeros(4)
        places = point_places(character, self.track)
        self._point_height = list(np.ascontiguousarray(places[..., 2]))  # rows: each step asks for one
        self._touching = list(self.track.touching)
        self._slipping = Slipping(self.track)
        self._landings = next_landings(self.track, places)
        self.terrain = terrain  # known ahead of the feet, or felt under them alone
        self.onward: Onward | None = None  # None: the last frame holds
        self.place = Place(0, (0.0, 0.0, 0.0, 0.0))
        self.resets: list[tuple[float, int]] = []  # time, and frames skipped; -1 for one in which it waited
        self._waited = 0  # frames in a row
        self.rehearsed = ""  # what rehearsals found, in a sentence

    def seek(self, frame: int = 0, anchor: ArrayLike = (0.0, 0.0, 0.0, 0.0)) -> None:
        """Go to a frame, with the reference's coordinates at x, y, z, yaw in the world."""
        if not 0 <= frame < len(self.track.q):
            raise ValueError(f"The frame must lie between 0 and {len(self.track.q) - 1}, not {frame}.")
        x, y, z, yaw = np.asarray(anchor, dtype=np.float64).tolist()
        self.place = Place(frame, (x, y, z, yaw))
        self.resets.clear()
        self._slipping.forget()
        self._waited = 0

    def reference_state(self, place: Place | None = None) -> tuple[Array, Array]:
        """Where the reference is now, or at another place: q (nq,) and v (nv,) in the world."""
        frame, anchor, _ = place or self.place
        q, v = self.track.q[frame].copy(), self.track.v[frame].copy()
        if self.track.torque.shape[1] < self.character.nv:
            q[:7], v[:3] = _moved(anchor, q[:7], v[:3])
        return q, v

    @property
    def row(self) -> int:
        """The track's frame in which the character is to be now."""
        return self.row_of(self.place)

    @property
    def lap(self) -> int:
        """How many times a cycle has been walked."""
        return self.lap_of(self.place)

    def row_of(self, place: Place) -> int:
        """The track's frame at a place: the last one where the motion goes on after it."""
        return place.frame if self.onward is None or place.lap == 0 else self.onward.last

    def lap_of(self, place: Place) -> int:
        """How many times a cycle has been walked before a place."""
        return 0 if self.track.cycle is None else place.lap

    @property
    def predicted_force(self) -> Array:
        """Forces (n, 3) [chi~] of the last step at the points that it expected to be loaded, in track's axes."""
        motors = self.track.torque.shape[1]
        return self._scratch.control[motors:].reshape(-1, 3).copy()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step; and on to the next frame."""
        machine = self._ready(state, contacts)
        frame = self.place.frame
        after = self.after(self.place)
        anchor = self._anchor
        anchor[0], anchor[1], anchor[2], anchor[3] = after.anchor  # one by one: numpy takes longer over a tuple
        scratch = self._scratch
        valid = update_law(machine, frame, anchor, state.q, state.v, state.q_next, state.dt)
        if not valid:
            raise NoLawError(f"The policy of frame {frame} gives no torques at {state.time:.4f} s.")
        if self.settings.await_touchdown and self._waits(state, contacts):
            self.place = self._moved(self.place, after)
        else:
            self.place = after
        motors, n = len(scratch.torque), int(contacts.filled[0])
        torque = self._with_help(frame, scratch.torque)
        return AffineLaw(torque, scratch.gain[: motors * 3 * n].reshape(motors, 3 * n))

    def go_on(self, state: State, contacts: Contacts) -> tuple[Place, Place]:
        """On to the next frame without a law, for who has one of another kind: the places before and after."""
        self._ready(state, contacts)
        before, self.place = self.place, self.after(self.place)
        return before, self.place

    def _ready(self, state: State, contacts: Contacts) -> Machine:
        """The kernels' pointer, with the place brought to where feet and ground have it before the step."""
        if abs(state.dt - self.track.dt) > SAME_STEP * self.track.dt:
            raise ValueError(
                f"The track steps by {self.track.dt} s, but the world by {state.dt} s: use the same rate for both."
            )
        self.place = self._going_on(self.place)
        if self.settings.reset_phase:
            self._reset_phase(state, contacts)
        self._slipping.ease(self.place.frame, state, contacts)
        machine = self._machine_on(state.work, contacts)
        if self.settings.follow_ground:
            self._follow_ground(machine, state)
        return machine

    def _with_help(self, frame: int, torque: Array) -> Array:
        """Torques of all velocities (nv,) where help acts on the root in the step from this frame; else as they are."""
        if not self._helped[frame]:
            return torque
        count = int(self.policy.points[frame])
        helps = self.policy.grip[self.policy.point[frame, :count]] == HELP
        nv, motors = self.character.nv, len(torque)
        columns = np.repeat(helps, 3)
        J = self._scratch.jacobian[: nv * 3 * count].reshape(nv, 3 * count)[: nv - motors, columns]
        force = self._scratch.control[motors : motors + 3 * count][columns]
        return np.concatenate((J @ force, torque))

    def notes(self, simulation: Simulation) -> tuple[str, ...]:
        """What rehearsals found."""
        del simulation
        return (self.rehearsed,) if self.rehearsed else ()

    def _machine_on(self, work: Workspace, contacts: Contacts) -> Machine:
        """The kernels' pointer to this policy on a world's arrays; a world keeps the same ones from step to step."""
        machine = self._machine
        if machine is None or machine.bodies is not work or machine.contacts is not contacts:
            self._scratch = make_scratch(self.character.tree, self.policy, len(contacts.gap))
            choices = _choices(self.settings)
            machine = Machine(self.character.tree, work, contacts, self.policy, choices, self._scratch)
            self._machine = machine
        return machine

    def after(self, place: Place) -> Place:
        """The frame after this one, in the coordinates of its lap."""
        place = self._going_on(place)
        frame = place.frame + 1
        if frame < len(self.track.q):
            return Place(frame, place.anchor, place.lap)
        cycle = self.track.cycle
        if cycle is None:
            return place
        return Place(0, _moved_on(place.anchor, cycle), place.lap + 1)

    def _going_on(self, place: Place) -> Place:
        """The place, or the one like it earlier in the motion from which that goes on after its last frame."""
        onward = self.onward
        if onward is None or place.frame < onward.last:
            return place
        return Place(onward.frame, _moved_on(place.anchor, onward.step, onward.rise), place.lap + 1)

    def _reset_phase(self, state: State, contacts: Contacts) -> None:
        """Move on to a foot's touchdown when it touches early; the root keeps its offset from the reference."""
        skipped = next_touchdown(self.track, self.place.frame, contacts)
        if skipped == 0:
            return
        now = self.place
        for _ in range(skipped):
            self.place = self.after(self.place)
        self.place = self._moved(self.place, now)
        self.resets.append((state.time, skipped))

    def _waits(self, state: State, contacts: Contacts) -> bool:
        """Whether this frame is to be had once more, since a foot that should touch does not."""
        if self._waited == SEARCH or not is_overdue(self.track, self.place.frame, contacts):
            self._waited = 0
            return False
        self._waited += 1
        self.resets.append((state.time, -1))
        return True

    def _moved(self, place: Place, to: Place) -> Place:
        """A place in the motion, but with its root above where another place has it."""
        shift = self.reference_state(to)[0][:2] - self.reference_state(place)[0][:2]
        x, y, z, yaw = place.anchor
        return place._replace(anchor=(x + float(shift[0]), y + float(shift[1]), z, yaw))

    def _follow_ground(self, machine: Machine, state: State) -> None:
        """Let the anchor's height follow the ground.

        That is the ground under the points that the reference stands on, where they touch; shortly before a foot lands,
        that under the place where it is going to.
        """
        frame, (x, y, z, yaw), lap = self.place
        landing = self._landings[frame]
        if self.terrain is not None and landing is not None and landing.frames * state.dt < AHEAD:
            found, share = self._height_ahead(landing, state), 1.0 / landing.frames
        else:
            found = ground_height(machine, self._touching[frame], self._point_height[frame])
            share = min(1.0, state.dt / GROUND_TIME)
        if not math.isnan(found):
            most = FASTEST * state.dt
            z += min(max(share * (found - z), -most), most)
            self.place = Place(frame, (x, y, z, yaw), lap)

    def _height_ahead(self, landing: Landing, state: State) -> float:
        """Height of the ground where a foot will land if the root stays as far off its reference, less the foot's."""
        assert self.terrain is not None
        x, y, z, yaw = self.place.anchor
        c, s = math.cos(yaw), math.sin(yaw)
        off_x, off_y = (state.q[:2] - self.reference_state()[0][:2]).tolist()
        px, py, pz = landing.place.tolist()
        there = (x + c * px - s * py + off_x, y + s * px + c * py + off_y)
        height: float = height_at(self.terrain, *there, pz + z, state.time) - pz
        return height


def _helped(policy: Policy) -> list[bool]:
    """Whether help acts in the step from each frame."""
    used = np.arange(policy.point.shape[1]) < policy.points[:, None]
    found: list[bool] = ((policy.grip[policy.point] == HELP) & used).any(axis=1).tolist()
    return found


def _choices(settings: Settings) -> Choices:
    return Choices(
        adaptation=settings.adaptation,
        linear=settings.policy == "lqr",
        about_reference=settings.about_reference,
        possible_forces=settings.possible_forces,
    )


def _moved_on(
    anchor: tuple[float, float, float, float], step: Cycle, rise: float = 0.0
) -> tuple[float, float, float, float]:
    """An anchor a step later."""
    x, y, z, yaw = anchor
    c, s = np.cos(yaw), np.sin(yaw)
    dx, dy = step.shift
    return (x + c * dx - s * dy, y + s * dx + c * dy, z + rise, yaw + step.turn)


def _moved(anchor: tuple[float, float, float, float], pose: Array, velocity: Array) -> tuple[Array, Array]:
    """A free root's pose (7,) and linear velocity (3,) from the reference's coordinates to the world's."""
    x, y, z, yaw = anchor
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    qw, qx, qy, qz = pose[3:].tolist()
    c, s = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    turned = (c * qw - s * qz, c * qx - s * qy, c * qy + s * qx, c * qz + s * qw)
    return np.concatenate((turn @ pose[:3] + (x, y, z), turned)), turn @ velocity
