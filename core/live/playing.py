# SPDX-License-Identifier: GPL-3.0-or-later
"""`play`: a job acts on the stage, in real time, while somebody directs it."""

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cache import Cache
from ..control.loop import follow
from ..control.method import Method
from ..control.methods import method_named, others
from ..control.stage import Stage
from ..job import BakeJob
from ..job.choosing import resolved
from ..job.motion import Motion
from ..job.progress import Callback, Clock, ProgressReporter
from ..job.running import planned
from ..job.showing import bone_poses, way_at
from ..job.staging import late, stage_of
from ..simulation import Prop, World
from ..simulation.outcome import Simulation
from . import commands, inputs
from .forces import Done, Forces, room_for
from .hand import Grip, Hand
from .pace import Metronome
from .take import LONGEST, Take, staged

Array = NDArray[np.float64]

BALLS = 8  # in a take
LATER = 2.0 * LONGEST  # s: never, to balls that nobody has thrown
EVERY = 1.0 / 60.0  # s between pictures
STRONGEST = 500.0  # N that the mouse pulls with at most

# what has been done since it was last asked; waits for it so many seconds at most
Source = Callable[[float], Sequence[inputs.Input]]


@dataclass(frozen=True)
class Kit:
    """What a director has at hand."""

    ball_mass: float = 3.0  # kg
    ball_radius: float = 0.125  # m
    strongest: float = STRONGEST  # N


@dataclass(frozen=True, eq=False)
class Picture:
    """What is to be seen of a state."""

    seconds: float  # since the start
    pose: Array  # (nb, 4, 4) of the bones in the world
    balls: Array  # (n, 3) places of those that were thrown
    grip: Grip | None


@dataclass(frozen=True, eq=False)
class Played:
    """What came of it."""

    take: Take
    simulation: Simulation
    slipped: float  # s by which it ran later than a clock
    delays: Array  # (n,) s from a pull of the mouse to the step that feels it


def play(
    job: BakeJob,
    source: Source,
    show: Callable[[Picture], object] = lambda _: None,
    *,
    kit: Kit = Kit(),
    clock: Callable[[], float] | None = time.monotonic,
    progress: Callback | None = None,
    cache: str | Path | None = None,
    ready: Callable[[], object] = lambda: None,
) -> Played:
    """Play a job until End is among what `source` gives, or the motion is over.

    A gait cycle is repeated where the range has one. Without a `clock` it runs as fast as it can, and `source` is asked
    once before each step.
    """
    job, _ = resolved(job)
    method = _method(job)
    acting, motion, plan = _prepared(job, method, kit, ProgressReporter(progress), Cache(cache))
    stage = stage_of(acting, motion, method, _go_on)
    follower = method.start(plan, stage)
    world = method.stepper(follower, stage)
    assert isinstance(world, World)
    walks = commands.Commands(stage.scene.course) if method.needs.led else None
    director = _Director(acting, motion, stage, world, source, show, kit, clock, walks)
    with _undisturbed():
        ready()
        simulation = follow(follower, world, stage, director)
    seconds = max(simulation.recording.steps, 1) / acting.rate
    take = Take(
        seconds=seconds,
        loops=acting.loop,
        pushes=director.forces.taken(),
        balls=tuple(director.balls),
        course=None if walks is None else walks.taken(late(acting, motion) + seconds, acting.fps),
    )
    return Played(take, simulation, director.slipped, np.array(director.delays))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Do not look for garbage among all that there is now: in the middle of a step that takes a seventh of a second."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _go_on(share: float) -> bool:
    del share
    return True


def _method(job: BakeJob) -> Method:
    method = method_named(job.method)
    if not method.needs.directed:
        raise ValueError(
            f"{method.title} cannot be played on the stage: choose {others(lambda other: other.directed)}."
        )
    if job.others:
        raise ValueError("One action is played on the stage: remove the others.")
    return method


def _prepared(
    job: BakeJob, method: Method, kit: Kit, reporter: ProgressReporter, cache: Cache
) -> tuple[BakeJob, Motion, Any]:
    """The job as it acts, with its motion and plan; with a gait cycle if one is found."""
    if method.needs.led:
        job = replace(job, scene=replace(job.scene, course=commands.room_for(job.scene.course, LONGEST, job.fps)))
    one = staged(job, loops=method.needs.cycle)
    if not method.needs.led and job.path is None:
        cycle = staged(job, loops=True)
        try:
            return _with_room(cycle, kit, *planned(cycle, reporter, cache, Clock()))
        except ValueError:
            if job.loop:
                raise
    return _with_room(one, kit, *planned(one, reporter, cache, Clock()))


def _with_room(job: BakeJob, kit: Kit, motion: Motion, plan: Any) -> tuple[BakeJob, Motion, Any]:
    """The same with room in its scene for all that may be done."""
    root = motion.plan.character.bodies[0].name
    names = (f"Ball {number}" for number in count(1))
    free = (name for name in names if name not in {prop.name for prop in job.scene.props})
    balls = (
        Prop.sphere(name, kit.ball_radius, kit.ball_mass, (0.0, 0.0, 0.0), thrown=LATER) for name in islice(free, BALLS)
    )
    pushes = (*job.scene.pushes, *room_for(root, LONGEST, job.rate))
    scene = replace(job.scene, pushes=pushes, props=(*job.scene.props, *balls))
    return replace(job, scene=scene), motion, plan


class _Director:
    """Sees every state, and does before the next step what was asked for meanwhile."""

    def __init__(
        self,
        job: BakeJob,
        motion: Motion,
        stage: Stage,
        world: World,
        source: Source,
        show: Callable[[Picture], object],
        kit: Kit,
        clock: Callable[[], float] | None,
        walks: commands.Commands | None,
    ) -> None:
        self._job, self._motion, self._kit = job, motion, kit
        self._source, self._show = source, show
        self._clock, self._late = clock, late(job, motion)
        self._metronome = None if clock is None else Metronome(world.dt, clock)
        self._nq = stage.character.nq
        self._way: Array = np.zeros(3)  # from what is seen to what is simulated
        self.forces = Forces(world.system.pushes, world.body_index, job.rate, self._late)
        self._hand = Hand(stage.character, job.rate, self.forces, kit.strongest)
        self._shoves: list[tuple[Done, Array, int]] = []  # with how many samples are left
        self._slots = [throw for throw in world.throws if throw.start > LONGEST]
        self.balls: list[Prop] = []
        self._walks = walks
        self._over = False
        self._shown = -math.inf
        self._asked = 0.0  # when the pull was, that no step has felt yet
        self.delays: list[float] = []

    @property
    def slipped(self) -> float:
        """By how much it ran late, s."""
        return 0.0 if self._metronome is None else self._metronome.slipped

    def __call__(self, state: int, q: Array, frame: int, lap: int) -> bool:
        """A new state."""
        self._follow_way(frame, lap)
        self._picture(state, q, frame, lap)
        if self._metronome is not None and state == 0:
            self._metronome.begin()
        while True:
            wait = 0.0 if self._metronome is None else self._metronome.wait(state)
            for done in self._source(max(wait, 0.0)):
                self._do(done, state)
            if self._over:
                return False
            if self._metronome is None or self._metronome.wait(state) <= 0.0:
                break
        self._act(q)
        return True

    def _follow_way(self, frame: int, lap: int) -> None:
        """A motion in place is carried along to be simulated; who directs it sees it in its place."""
        if len(self._motion.way):
            self._way[:2] = way_at(self._motion, np.array([float(frame)]), np.array([lap], dtype=np.int64))[0]

    def _act(self, q: Array) -> None:
        """Force in the next step."""
        self._hand.act(q, self._way)
        if self._asked and self._hand.holds:
            self.delays.append(inputs.now() - self._asked)
        self._asked = 0.0
        going_on = []
        for force, newtons, left in self._shoves:
            if left == 0:
                self.forces.end(force)
            else:
                self.forces.go_on(force, newtons)
                going_on.append((force, newtons, left - 1))
        self._shoves = going_on

    def _do(self, done: inputs.Input, state: int) -> None:
        if isinstance(done, inputs.Hold):
            self._hand.take(done.body, done.point, done.place, state)
            self._asked = done.sent
        elif isinstance(done, inputs.Move):
            self._hand.move(done.place)
            self._asked = self._asked or done.sent
        elif isinstance(done, inputs.Release):
            self._hand.let_go()
        elif isinstance(done, inputs.Shove):
            force = self.forces.begin(done.body, done.point, state)
            if force is not None:
                samples = max(round(done.seconds * self._job.rate), 1)
                self._shoves.append((force, np.array(done.force), samples))
        elif isinstance(done, inputs.Throw):
            self._throw(done, state)
        elif isinstance(done, inputs.Command):
            if self._walks is not None:
                self._walks.give(done, state / self._job.rate)
        elif isinstance(done, inputs.Pace):
            if self._metronome is not None:
                self._metronome.set_speed(done.speed, state)
        elif isinstance(done, inputs.End):
            self._over = True

    def _throw(self, done: inputs.Throw, state: int) -> None:
        """A ball, if there is one left; its numbers as keys in Blender have them."""
        if len(self.balls) == len(self._slots):
            return
        place = np.array(self._way + done.place, dtype=np.float32)
        velocity = np.array(done.velocity, dtype=np.float32)
        slot = self._slots[len(self.balls)]
        start = self.forces.next_sample(state) / self._job.rate
        slot.start = start - self._late if self._late else start
        slot.q[:3], slot.v[:3] = place, velocity
        x, y, z = place.tolist()
        vx, vy, vz = velocity.tolist()
        self.balls.append(
            Prop.sphere(
                slot.body.name,
                self._kit.ball_radius,
                self._kit.ball_mass,
                (x, y, z),
                velocity=(vx, vy, vz, 0.0, 0.0, 0.0),
                thrown=start,
            )
        )

    def _picture(self, state: int, q: Array, frame: int, lap: int) -> None:
        """Show a state, unless another was shown just now."""
        if self._clock is not None:
            now = self._clock()
            if now - self._shown < EVERY:
                return
            self._shown = now
        own = np.ascontiguousarray(q[: self._nq])
        poses = bone_poses(self._motion, own[None], np.array([float(frame)]), np.array([lap], dtype=np.int64))
        there = [q[slot.positions][:3] - self._way for slot in self._slots[: len(self.balls)]]
        seconds = state / self._job.rate
        self._show(Picture(seconds, poses[0], np.array(there).reshape(-1, 3), self._hand.grip))
