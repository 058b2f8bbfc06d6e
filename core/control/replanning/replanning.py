# SPDX-License-Identifier: GPL-3.0-or-later
"""`Replanning`: a track followed by plans that are made anew at every step."""

from collections.abc import Iterable
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import FREE
from ...contact.detection import Contacts
from ...dynamics import difference
from ...dynamics.workspace import Workspace
from ...motion.playback import Playback
from ...simulation.outcome import Simulation
from ..law import AffineLaw, NoLawError, State
from ..method import Follower
from ..track import Track
from .editing import transition
from .law import Goal, Machine, Points, Weights, make_scratch, update_law
from .modes import subtree_stiffness
from .settings import Settings
from .unfelt import Unfelt

Array = NDArray[np.float64]

# Steps of time that differ by more than this share are not the same.
SAME_STEP = 1e-9
# Windows that served, s: feet that step, feet that stay, hands that hold.
STEPPING, STANDING, HANGING = 8.0 / 120.0, 16.0 / 120.0, 24.0 / 120.0
# s after a push in which the motion may be slower, and then in which it comes back to its speed: a reference that is
# faster from one step to the next throws a walk over that has survived the push
SLOWED, QUICKENED = 1.0, 1.0


class Replanning(Follower):
    """Modal-space control (Jain and Liu 2011). One step of the world, one frame of the track.

    The controller counts frames by itself: `seek` a frame when its world is reset. While the track is followed both it,
    `track`, and how it is played, `playback`, may be exchanged: nothing was computed beforehand (section 6).
    """

    def __init__(self, character: Character, track: Track, settings: Settings | None = None) -> None:
        if character.tree.joint[0] != FREE:
            raise ValueError("Replanning control needs a character with a free root.")
        self.character = character
        self.settings = (settings or Settings()).checked()
        self.track = track
        self.window = self._steps_of(self.settings.window or default_window(self.track))
        self.frame = 0.0  # which the character is to be in now; between frames where the pace is not one
        self.pace = 1.0  # frames of the track in the last step
        self.playback = Playback()
        self.lift = 0.0  # m that the reference is raised by in the world
        self.iterations = 0  # of the last contact plan
        self._surprises: tuple[float, ...] = ()
        self._catches: list[float] = []
        self._passed = 0.0
        self.unfelt: Unfelt | None = None
        self._machine_of: tuple[Workspace, Contacts, Track] | None = None

    @property
    def track(self) -> Track:
        """What is followed."""
        return self._track

    @track.setter
    def track(self, track: Track) -> None:
        self._track = self._given = track.checked(self.character)

    def seek(
        self,
        frame: int = 0,
        lift: float = 0.0,
        surprises: Iterable[float] = (),
        catches: Iterable[float] = (),
        playback: Playback | None = None,
        unfelt: Unfelt | None = None,
    ) -> None:
        """Go to a frame of the track that was given.

        `surprises` are the times, in s, of pushes: felt after the delay, and slowing it down. `catches` are those when
        hands take hold, from which on the motion is gone over to. Moments of `playback` count from the track's first
        frame. `unfelt` tells where the body would be without a push; without it, it takes itself to be where the
        reference is until it feels one.
        """
        if not 0 <= frame < len(self.track.q):
            raise ValueError(f"The frame must lie between 0 and {len(self.track.q) - 1}, not {frame}.")
        self.frame, self.pace, self.lift = float(frame), 1.0, float(lift)
        self._surprises, self._catches = tuple(surprises), sorted(catches)
        self.playback = playback or Playback()
        self.unfelt = unfelt
        self._passed = self.frame  # transitions up to here are over, or never were
        self._track = self._given

    @property
    def squares(self) -> Array:
        """Squared frequencies (nv,) of the last plan's modes, (rad/s)²; the first six are rigid."""
        return self._scratch.modes.square.copy()

    def pose(self, frame: float) -> Array:
        """Where the reference is at a frame, q (nq,) in the world."""
        q = self.track.pose(self.character, frame)
        q[2] += self.lift
        return q

    @property
    def row(self) -> int:
        """The track's row of where the character is to be now."""
        return self.track.row(self.frame)

    @property
    def lap(self) -> int:
        """How many times a cyclic motion has repeated."""
        return self.track.lap(self.frame)

    def reference_state(self) -> tuple[Array, Array]:
        """Where the reference is now: q (nq,) and the v (nv,) that leads to the next step's."""
        q = self.pose(self.frame)
        return q, difference(self.character, q, self.pose(self.frame + self.pace)) / self.track.dt

    def notes(self, simulation: Simulation) -> tuple[str, ...]:
        """What was keyed and cannot be seen."""
        del simulation
        if self.playback.transitions and self.settings.transition == 0.0:
            return (
                "Transition is keyed on, but with a Transition Time of 0 s the body snaps to the action: raise it.",
            )
        return ()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step; and on to the next frame."""
        if abs(state.dt - self.track.dt) > SAME_STEP * self.track.dt:
            raise ValueError(
                f"The track steps by {self.track.dt} s, but the world by {state.dt} s: use the same rate for both."
            )
        self._go_over(state)
        machine = self._machine_on(state.work, contacts)
        self.pace = self.playback.speed_at(self.frame * self.track.dt) * self._slowed(self._since_push(state.time))
        self._aim(state)
        self.iterations = update_law(machine, state.q_next, state.v, state.dt)
        if self.iterations < 0:
            raise NoLawError(f"No plan was found at {state.time:.4f} s.")
        self.frame += self.pace
        scratch = self._scratch
        motors, n = len(scratch.torque), int(contacts.filled[0])
        return AffineLaw(scratch.torque, scratch.gain[: motors * 3 * n].reshape(motors, 3 * n))

    def _go_over(self, state: State) -> None:
        """Once hands have taken hold, or at a transition, blend the body's own way with the rest of the motion."""
        track = self._track
        here = int(self.frame) + 1
        if self._catches and state.time >= self._catches[0] + 0.5 * state.dt:
            self._catches.pop(0)
        elif self._until() < here:
            self._passed = float(here)
        else:
            return
        if self.settings.transition > 0.0 and track.cycle is None and here < len(track.q):
            rest = replace(track, q=track.q[here:], loaded=track.loaded[here:], normal=track.normal[here:])
            q = state.q_next.copy()
            q[2] -= self.lift
            gone_over = transition(self.character, track, here, (q, state.v), rest, self.settings.transition)
            self._track = gone_over.checked(self.character)

    def _aim(self, state: State) -> None:
        """Fill the goal. The state of step k, q_{k+1} and v_k, is that of the reference a step from here."""
        goal, track, here = self._goal, self.track, self.frame + self.pace
        last = self._until()
        end = min(here + self.window * self.pace, last)
        goal.q_next[:] = self.pose(min(here + self.pace, last))
        goal.q_before_end[:] = self.pose(end - self.pace)
        goal.q_end[:] = self.pose(end)
        goal.q_felt[:], goal.v_felt[:] = self._felt(state)
        # a hand may miss: with forces of a grip that is still to come, arms would brace for a bar that is not there
        held = track.loaded[track.row(max(self.frame - self.pace, 0.0))]
        for k in range(self.window):
            goal.loaded[k] = track.loaded[track.row(min(self.frame + k * self.pace, last))] & (held | ~track.grip)
        goal.normal[:] = track.normal[track.row(here)]

    def _felt(self, state: State) -> tuple[Array, Array]:
        """Where the body takes itself to be, q_{k+1} and v_k."""
        if self._since_push(state.time) >= self.settings.delay:
            if self.unfelt is not None:
                self.unfelt.end()
            return state.q_next, state.v
        if self.unfelt is None:
            q = self.pose(self.frame + self.pace)
            return q, difference(self.character, self.pose(self.frame), q) / self.track.dt
        if not self.unfelt.going:
            self.unfelt.begin(self._unaware())
        return self.unfelt.state()

    def _unaware(self) -> "Replanning":
        """The same controller in a world of its own, where there is nothing to be felt later."""
        other = copy(self)
        settings = replace(self.settings, delay=0.0)
        vars(other).update(settings=settings, _catches=list(self._catches), unfelt=None, _machine_of=None)
        return other

    def _until(self) -> float:
        """The last frame that plans look at: from a transition on it is another motion."""
        frames = (moment / self.track.dt for moment in self.playback.transitions)
        return next((frame - 1.0 for frame in frames if frame > self._passed), np.inf)

    def _slowed(self, since: float) -> float:
        """Share of its speed that the motion has at some time, s, after a push (section 7.3)."""
        back = min(max((since - SLOWED) / QUICKENED, 0.0), 1.0)
        return 1.0 - self.settings.slowing * (1.0 - back)

    def _since_push(self, time: float) -> float:
        """Seconds since the last push began."""
        return min((time - start for start in self._surprises if start <= time), default=np.inf)

    def _machine_on(self, work: Workspace, contacts: Contacts) -> Machine:
        """The kernels' pointer to a plan on a world's arrays; a world keeps the same ones from step to step."""
        if self._machine_of is None or any(
            a is not b for a, b in zip(self._machine_of, (work, contacts, self._track), strict=True)
        ):
            nq, nv, points = self.character.nq, self.character.nv, len(self.track.point_body)
            settings, dt = self.settings, self.track.dt
            self._goal = Goal(
                q_next=np.zeros(nq),
                q_before_end=np.zeros(nq),
                q_end=np.zeros(nq),
                q_felt=np.zeros(nq),
                v_felt=np.zeros(nv),
                loaded=np.zeros((self.window, points), dtype=np.bool_),
                normal=np.zeros((points, 3)),
            )
            self._scratch = make_scratch(nv, len(contacts.gap), points, self.window)
            self._scratch.problem.weight[:] = np.repeat(
                (settings.translation, settings.rotation, settings.velocity), (3, 3, 6)
            )
            weights = Weights(
                threshold=settings.threshold,
                position_low=settings.position_low,
                velocity_low=settings.velocity_low,
                effort_low=settings.effort_low,
                force=settings.force / (1000.0 * dt) ** 2,  # of kilonewtons, on impulses
                effort_correction=settings.effort_correction,
                bracing=settings.bracing,
                friction=settings.friction,
            )
            self._machine = Machine(
                self.character.tree,
                work,
                contacts,
                Points(self.track.point_body, self.track.point_local, self.track.grip),
                subtree_stiffness(self.character.tree),
                weights,
                self._goal,
                self._scratch,
            )
            self._machine_of = (work, contacts, self._track)
        return self._machine

    def _steps_of(self, seconds: float) -> int:
        return max(round(seconds / self.track.dt), 1)


def default_window(track: Track) -> float:
    """Seconds to plan ahead: a long window steadies what holds or stands, a short one knows the next step."""
    feet = track.loaded[:, ~track.grip]
    if (track.loaded & track.grip).any() and not feet.any():
        return HANGING
    changes = track.cycle is not None or bool((feet != feet[:1]).any())
    return STEPPING if changes else STANDING
