# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for the physics where files and failures are tested: what comes back is the keyed motion itself."""

import json
from types import SimpleNamespace

import numpy as np
from heft.core import archive
from heft.core.batch.pool import Event
from heft.core.job import BakeResult
from heft.core.job.result import FORMAT, VERSION
from heft.core.job.showing import matrices
from heft.core.report import metrics
from heft.core.report.frames import Forces, Support


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

    def send(self, *_):
        pass

    def stop(self):
        pass

    def wait(self, fails=()):
        """What a session waits with: every turn comes to its end, but for those named, each with why."""

        def wait(session):
            for turn in session.turns:
                turn.why = dict(fails).get(turn.name, "")
                turn.result = None if turn.why else result_of(turn.gathered.job)
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
