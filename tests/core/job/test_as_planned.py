# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that make a motion possible and do not simulate it."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import Progress, Scene, run
from heft.core.job.job import BakeJob
from heft.core.motion.path import Path
from heft.core.simulation import Push

from tests.core.job.golden import kept
from tests.core.job.jobs import hovering_job, waving_job


def test_what_comes_of_it_is_the_reference_with_its_forces():
    job = waving_job(simulate=False)
    done = run(job)
    assert done.outcome == "completed"
    assert done.report["simulated"] is False
    assert done.report["joint_rms_deg"] < 1e-9
    assert "not" not in done.why
    assert "Possible, with forces and torques" in done.why
    assert np.abs(done.poses - done.reference).max() < 1e-12
    weight = 9.81 * done.dynamics.character.total_mass
    assert done.dynamics.forces()[:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.02)


def test_momentum_changes_by_what_acts_and_nothing_else():
    """The force that the centre of mass needs is what the ground and help give."""
    dynamics = run(hovering_job(simulate=False)).dynamics
    assert np.abs(dynamics.help).max() > 100.0  # it hovers
    from heft.core.dynamics import center_of_mass_jacobian

    character = dynamics.character
    velocity = np.array(
        [center_of_mass_jacobian(character, q) @ v for q, v in zip(dynamics.q[1:], dynamics.v[1:], strict=True)]
    )
    needed = np.diff(velocity, axis=0) * dynamics.rate * character.total_mass
    needed[:, 2] += 9.81 * character.total_mass
    given = dynamics.forces().sum(axis=1)[1:] + dynamics.help[1:, :3]
    assert np.abs(given - needed).max() < 0.02 * 9.81 * character.total_mass


def test_a_damaged_clip_tells_what_was_mended():
    walk = kept("walk")
    broken = walk.clip.position.copy()
    foot = walk.clip.skeleton.index(walk.roles["foot.L"][0])
    broken[20, foot] = np.nan
    clip = replace(walk.clip, position=broken)
    done = run(replace(walk, clip=clip, simulate=False))
    (repair,) = done.report["repairs"]
    assert walk.roles["foot.L"][0] in repair["bones"]
    assert repair["frames"] == [clip.frame(20)]
    assert repair["what"] in done.report["notes"]


def test_it_is_cancelled_like_any_other():
    seen: list[Progress] = []

    def stop(progress):
        seen.append(progress)
        return progress.stage != "simulate"

    assert run(waving_job(simulate=False), stop).outcome == "cancelled"
    assert seen[-1].stage == "simulate"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"loop": True}, "loop"),
        ({"path": Path(np.array([[0.0, 0.0], [4.0, 0.0]]))}, "follow a path"),
        ({"scene": Scene(pushes=(Push.constant("torso", (9.0, 0.0, 0.0), 0.1, 0.1),))}, "be pushed"),
        ({"optimise": False}, "neither made possible nor simulated"),
    ],
)
def test_what_makes_no_sense_without_a_simulation_is_refused(changes, what):
    with pytest.raises(ValueError, match=what):
        waving_job(simulate=False, **changes)


def test_older_jobs_are_simulated():
    assert kept("walk").simulate
    assert BakeJob(kept("walk").clip, kept("walk").roles).simulate
