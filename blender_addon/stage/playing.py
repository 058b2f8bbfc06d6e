# SPDX-License-Identifier: GPL-3.0-or-later
"""A session on the stage: the job that is played, its pictures, and what its director does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core.control.methods import method_named
from ...core.job import BakeJob
from ...core.live import inputs
from ...core.live.take import Take
from ...core.motion.quaternions import Array
from ...core.worker import tasks
from ...core.worker.messages import Arrays, Message
from .. import redraw
from ..baking.gather import Gathered, gathering
from ..baking.session import Session, there
from ..scene.takes import Clock, write_take
from ..slices import AT_ONCE, Work
from ..typed import settings_on
from ..worker.keeper import Keeper

NOBODY = np.zeros((0, 3))


class Playing(Session):
    """One armature on the stage. It is over once there is a take, or why there is none."""

    def __init__(self, context: bpy.types.Context, armature: bpy.types.Object, keeper: Keeper) -> None:
        """Begin to read it; ValueError or OSError where that is not possible."""
        self._director = keeper
        settings = settings_on(armature).take
        self._kit = {"ball_mass": settings.ball_mass, "strongest": settings.strongest}
        self.plays = False  # the stage is set
        self.seconds = 0.0  # that have been played
        self.pace = 1.0
        self.hips: Array = np.zeros(3)  # where they are, m
        self.balls: Array = NOBODY  # (n, 3) m
        self.grip: Array | None = None  # (3, 3) from, to, newtons
        self._said: inputs.Command | None = None  # how fast to walk and where to
        self.take_made: Take | None = None
        self.fell = False
        super().__init__(context, [armature], keeper, "stage", at_once=AT_ONCE, wanted="nothing")

    def do(self, done: inputs.Input) -> None:
        """Tell the worker what the director does."""
        if self.plays and not self.over:
            self._director.worker().direct(inputs.to_values(done))

    @property
    def walks(self) -> inputs.Command | None:
        """How it is to walk, where the method goes along a course: as was said last, or as is keyed."""
        job = self.turn.gathered.job
        if not (self.plays and method_named(job.method).needs.led):
            return None
        return self._said or inputs.Command(0.0, *job.scene.course.at(self.seconds))

    def command(self, forward: float = 0.0, heading: float = 0.0) -> None:
        """Have the walk go so much faster, and turn so much further to the left."""
        now = self.walks
        if now is not None:
            needs = method_named(self.turn.gathered.job.method).needs
            speed = round(min(max(now.forward + forward, needs.slowest), needs.fastest), 3)
            self._said = replace(now, forward=speed, heading=now.heading + heading)
            self.do(self._said)

    def set_pace(self, pace: float) -> None:
        """Slow time down, or have it stand still."""
        self.pace = pace
        self.do(inputs.Pace(speed=pace))

    def keep(self, context: bpy.types.Context) -> None:
        """Write the take into the scene; ValueError, in words for the user, where that cannot be."""
        armature = self.turns[0].armature()
        if armature is not None and self.take_made is not None:
            write_take(context, armature, self.take_made, clock_of(self.turns[0].gathered.job))

    def _gathering(self, at_once: float) -> Work[list[Gathered]]:
        return gathering(bpy.context, [there(uid) for uid in self._uids], at_once=at_once, directed=True)

    def _request(self, job: BakeJob, cache: str) -> tuple[Mapping[str, Any], Arrays]:
        values, arrays = super()._request(job, cache)
        return {**values, "kit": self._kit}, arrays

    def _hear(self, message: Message) -> None:
        if message.kind == "ready":
            self.plays = True
            redraw.panels()
        elif message.kind == "picture":
            self.seconds = float(message.values["seconds"])
            self.turn.pose = message.arrays["pose"]
            job = self.turn.gathered.job
            self.hips = self.turn.pose[job.clip.skeleton.index(job.roles["pelvis"][0]), :3, 3]
            self.balls, self.grip = message.arrays["balls"], message.arrays.get("grip")
        else:
            super()._hear(message)

    def _take_answer(self, message: Message) -> None:
        self.turn.said = message.values
        self.take_made, self.fell = tasks.take_of(message), bool(message.values["fell"])
        self.grip = None
        self._end()


def clock_of(job: BakeJob) -> Clock:
    """How a job's frames and steps go together."""
    return Clock(job.frames[0], job.fps, job.rate)
