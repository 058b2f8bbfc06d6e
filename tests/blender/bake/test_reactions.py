# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character reacts, from the properties to the job."""

import bpy
from heft.blender_addon.baking.gather import gather
from heft.core.job import BakeJob


def test_settings_of_reactions_reach_the_job(rig):
    (found,) = gather(bpy.context, [rig])
    assert found.job.recovery
    assert found.job.recovery_effort == BakeJob.recovery_effort
    assert found.job.looseness == {}
    rig.heft.recovery, rig.heft.recovery_effort = False, 9
    rig.heft.looseness, rig.heft.looseness_legs, rig.heft.looseness_arms = 0.5, 0.0, 0.5
    (found,) = gather(bpy.context, [rig])
    assert not found.job.recovery
    assert found.job.recovery_effort == 9
    assert found.job.looseness == {"trunk": 0.5, "arms": 0.25, "head": 0.5}


def test_only_methods_that_recover_show_reactions(rig):
    panel = bpy.types.HEFT_PT_controller_reactions
    assert panel.poll(bpy.context)
    rig.heft.controller = "MOMENTUM"
    assert not panel.poll(bpy.context)
