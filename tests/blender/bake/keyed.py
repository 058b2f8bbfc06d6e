# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for the physics where files and failures are tested: what comes back is the keyed motion itself."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from heft.core import archive, integrate
from heft.core.batch.pool import Event
from heft.core.job import BakeResult
from heft.core.job.result import FORMAT, VERSION
from heft.core.job.showing import matrices
from heft.core.motion.body_plan import make_body_plan
from heft.core.motion.fit import fit
from heft.core.motion.residuals import take_residuals, with_residuals
from heft.core.report import metrics
from heft.core.report.frames import Forces, Support
from scipy.ndimage import gaussian_filter1d


def result_of(job):
    first = round((job.frames[0] - job.clip.first_frame) / job.clip.frames_per_sample)
    count = round(job.frames[1] - job.frames[0]) + 1
    poses = matrices(job.clip.position, job.clip.orientation)[first : first + count]
    none = np.zeros(count + 1, dtype=np.int64)
    report = metrics.nothing() | {"outcome": "completed", "why": "Stayed up.", "sentences": [], "notes": []}
    return BakeResult(
        name=job.name,
        fps=job.fps,
        frames=job.frames[0] + np.arange(count),
        bones=job.clip.skeleton.names,
        figure=np.zeros((0, 2), dtype=np.int64),
        poses=poses,
        reference=poses,
        props=(),
        prop_poses=np.zeros((count, 0, 4, 4)),
        curves={},
        torques={},
        center_of_mass=np.zeros((count, 3)),
        support=Support(none, np.zeros((0, 3))),
        forces=Forces(none, (), np.zeros((0, 3)), np.zeros((0, 3))),
        fall=None,
        report_text=json.dumps(report),
    )


class KeyedWorker:
    """Keeper and worker in one: takes what is sent and says nothing."""

    def worker(self):
        return self

    def give_way(self):
        pass

    def send_made(self, *_):
        pass

    def stop(self):
        pass

    def wait(self, fails=(), gives=result_of):
        """What a session waits with: every turn comes to its end, but for those named, each with why."""

        def wait(session):
            for turn in session.turns:
                turn.why = dict(fails).get(turn.name, "")
                turn.result = None if turn.why else gives(turn.gathered.job)
            session._at = len(session.turns)

        return wait


class KeyedPool(SimpleNamespace):
    """Does one job at a time, at once."""

    size = 1

    def give(self, name, job):
        result = result_of(job)
        content = archive.pack(result, BakeResult, FORMAT, VERSION)
        self.said = Event(name, report=result.report, result=content)

    def wait(self):
        return self.said

    def close(self):
        pass


def disturbed(job, seed=0, degrees=5.0):
    """A result in which the character's joints turn by so much off the keyed motion, smoothly, and its root by half."""
    rng = np.random.default_rng(seed)
    plan = make_body_plan(job.clip.skeleton, job.roles, clip=job.clip, detail=job.body.detail)
    trajectory, _ = fit(plan, job.clip)
    noise = gaussian_filter1d(rng.normal(size=trajectory.v.shape), 6.0, axis=0, mode="nearest")
    noise *= np.radians(degrees) / noise.std()
    noise[:, :3] *= 0.5
    q = np.array([integrate(plan.character, *each, 1.0) for each in zip(trajectory.q, noise, strict=True)])
    moved = with_residuals(plan, replace(trajectory, q=q), take_residuals(plan, job.clip, trajectory))
    result = result_of(job)
    first = round(job.frames[0] - job.clip.first_frame)
    poses = matrices(moved.position, moved.orientation)[first : first + len(result.frames)]
    return replace(result, poses=poses)
