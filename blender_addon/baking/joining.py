# SPDX-License-Identifier: GPL-3.0-or-later
"""Several characters as one company: their jobs, and who holds on to whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.job import CompanyJob
from ...core.motion import quaternions
from ...core.simulation.company import Hold
from ..scene.grabs import Reach
from .gather import Gathered


def company_of(found: Sequence[tuple[int, Gathered]], *, find_holds: bool = True) -> CompanyJob:
    """Return the jobs of armatures by session number; a hold begins where the hand is then.

    What hands hold in the actions is to be looked for, if `find_holds`.
    """
    number = {uid: k for k, (uid, _) in enumerate(found)}
    start = min(each.job.frames[0] / each.job.fps for _, each in found)
    holds = []
    for k, (_, each) in enumerate(found):
        later = each.job.frames[0] / each.job.fps - start
        for reach in each.reaches:
            other = number[reach.uid]
            holds.append(Hold(k, reach.grab_later(later), other, _body(reach, found[other][1], later + start)))
    return CompanyJob(tuple(each.job for _, each in found), tuple(holds), find_holds=find_holds)


def _body(reach: Reach, held: Gathered, since: float) -> str:
    """The held character's body whose bone is nearest to the hand, when it takes hold."""
    clip, bodies = held.job.clip, held.bodies
    frame = (since + reach.grab.start) * held.job.fps
    row = int(np.clip(round((frame - clip.first_frame) / clip.frames_per_sample), 0, len(clip.position) - 1))
    skeleton = clip.skeleton
    columns = [skeleton.index(bone) for bone in bodies]
    along = quaternions.rotate(
        quaternions.conjugate(skeleton.orientation[columns]), skeleton.tail[columns] - skeleton.head[columns]
    )
    heads, ways = clip.position[row, columns], quaternions.rotate(clip.orientation[row, columns], along)
    length = np.maximum(np.einsum("bk,bk->b", ways, ways), 1e-12)
    share = np.clip(np.einsum("bk,bk->b", reach.place - heads, ways) / length, 0.0, 1.0)
    away = np.linalg.norm(heads + share[:, None] * ways - reach.place, axis=1)
    return list(bodies.values())[int(away.argmin())]
