# SPDX-License-Identifier: GPL-3.0-or-later
"""States, torques and forces for others: centres of pressure by hand, and MuJoCo's inverse dynamics beside ours."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.job import run
from heft.core.report.dynamics import Dynamics

from tests.core.job.golden import kept
from tests.core.job.jobs import waving_job


def pressed(points, forces):
    """A gait28 that stands for one step on points of its second body."""
    character = Character.preset("gait28")
    count = len(points)
    return Dynamics(
        character=character,
        rate=100.0,
        q=np.tile(character.neutral(), (2, 1)),
        v=np.zeros((2, character.nv)),
        torque=np.zeros((1, character.nv - 6)),
        help=np.zeros((1, 6)),
        contact_start=np.array([0, count], dtype=np.int64),
        contact_body=np.ones(count, dtype=np.int64),
        contact_point=np.array(points, dtype=np.float64),
        contact_force=np.array(forces, dtype=np.float64),
    )


def test_the_centre_of_pressure_is_the_lever_of_two_scales():
    found = pressed([(0.0, 0.0, 0.0), (0.3, 0.0, 0.0)], [(5.0, 0.0, 100.0), (0.0, 0.0, 200.0)])
    assert found.forces()[0, 1] == pytest.approx([5.0, 0.0, 300.0])
    assert found.centers_of_pressure()[0, 1] == pytest.approx([0.2, 0.0, 0.0])
    assert np.isnan(found.centers_of_pressure()[0, 0]).all()


def test_states_that_do_not_fit_are_refused():
    whole = pressed([(0.0, 0.0, 0.0)], [(0.0, 0.0, 1.0)])
    with pytest.raises(ValueError, match="out of order"):
        replace(whole, contact_start=np.array([0, 2], dtype=np.int64))
    with pytest.raises(ValueError, match="no body"):
        replace(whole, contact_body=np.array([99], dtype=np.int64))
    with pytest.raises(ValueError, match="The q of a motion"):
        replace(whole, q=whole.q[:1])


@cache
def walked(simulate):
    """The walk of the example, made possible, or simulated too."""
    return run(replace(kept("walk"), simulate=simulate)).dynamics


@pytest.mark.parametrize("simulate", [False, True])
def test_mujocos_inverse_dynamics_gives_our_torques(simulate):
    """From our states, accelerations and contact forces; a free root is left nothing."""
    mujoco = pytest.importorskip("mujoco")
    dynamics = walked(simulate)
    character, accelerations = dynamics.character, dynamics.accelerations()
    model = mujoco.MjModel.from_xml_string(character.to_mjcf(contacts=False))
    data, jacobian = mujoco.MjData(model), np.zeros((3, character.nv))
    left = np.zeros((dynamics.steps, character.nv))
    for k in range(dynamics.steps):
        data.qpos[:], data.qvel[:], data.qacc[:] = dynamics.q[k + 1], dynamics.v[k], accelerations[k]
        mujoco.mj_inverse(model, data)
        left[k] = data.qfrc_inverse
        left[k, :6] -= dynamics.help[k]
        left[k, 6:] -= dynamics.torque[k]
        for row in range(dynamics.contact_start[k], dynamics.contact_start[k + 1]):
            body = int(dynamics.contact_body[row]) + 1
            mujoco.mj_jac(model, data, jacobian, None, dynamics.contact_point[row], body)
            left[k] -= jacobian.T @ dynamics.contact_force[row]
    assert np.abs(left[:, :6]).max() < 1e-8 * 9.81 * character.total_mass
    assert np.abs(left[:, 6:]).max() < 1e-6 * np.abs(dynamics.torque).max()


def test_velocities_change_by_the_accelerations_but_for_what_keeps_momentum():
    """Joints' rates change by them alone, the root's by a little more."""
    dynamics = walked(simulate=False)
    change = np.diff(dynamics.v, axis=0) * dynamics.rate
    off = change - dynamics.accelerations()
    assert np.abs(off[:, 6:]).max() == 0.0
    assert 0.0 < np.abs(off[:, :6]).max() < 0.1 * np.abs(change[:, :6]).max()


def test_results_of_version_1_open_without_states(tmp_path):
    from heft.core import archive
    from heft.core.job import BakeResult
    from heft.core.job.result import FORMAT

    done = run(waving_job(simulate=False))
    encoded = archive.pack(done, BakeResult, FORMAT, 2)
    assert archive.unpack(BakeResult, encoded, FORMAT, 2) == done
    assert done.dynamics is not None
    bare = replace(done, dynamics=None)
    assert archive.unpack(BakeResult, archive.pack(bare, BakeResult, FORMAT, 2), FORMAT, 2).dynamics is None
