# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody who does things at random, and what a bake makes of it."""

import numpy as np
from heft.core.cache import Cache
from heft.core.control.loop import act
from heft.core.control.methods import method_named
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.job.running import planned
from heft.core.job.staging import stage_of
from heft.core.live import inputs
from heft.core.live.take import taken

BODIES = ("left_hand", "right_hand", "torso", "pelvis", "head", "left_foot", "right_shank")


class Anybody:
    """Pulls, shoves and throws by the dice, for some steps."""

    def __init__(self, seed, steps, near, bodies=BODIES, shove=60.0):
        self._dice, self._steps, self._near, self._bodies = np.random.default_rng(seed), steps, near, bodies
        self._shove = shove  # N
        self._at, self._holds = -1, False

    def __call__(self, _):
        self._at += 1
        if self._at >= self._steps:
            return [inputs.End()]
        dice, done = self._dice, []
        if dice.random() < 0.02:
            self._holds = not self._holds
            done.append(
                inputs.Hold(0.0, self._body(), self._offset(), self._place()) if self._holds else inputs.Release()
            )
        if dice.random() < 0.3:
            done.append(inputs.Move(0.0, self._place()))
        if dice.random() < 0.02:
            force = tuple(dice.normal(scale=self._shove, size=3))
            done.append(inputs.Shove(0.0, self._body(), self._offset(), force, float(dice.uniform(0.01, 0.2))))
        if dice.random() < 0.01:
            place, way = np.array(self._place()), dice.normal(size=3)
            way[2] = 0.0
            done.append(inputs.Throw(0.0, tuple(place - way), tuple(4.0 * way)))
        return done

    def _body(self):
        return self._bodies[self._dice.integers(len(self._bodies))]

    def _offset(self):
        return tuple(self._dice.normal(scale=0.05, size=3))

    def _place(self):
        return tuple(self._near + self._dice.normal(scale=0.3, size=3))


def baked(job, take, cache=None):
    """The simulation of a take's bake."""
    job = taken(job, take)
    method = method_named(job.method)
    motion, plan = planned(job, ProgressReporter(None), Cache(cache), Clock())
    return act(method, plan, stage_of(job, motion, method, lambda _: True), lambda *_: True)
