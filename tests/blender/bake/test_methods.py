# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties, panel and presets are made from the methods."""

from dataclasses import asdict

import bpy
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.properties import methods
from heft.core.control.methods import METHODS
from heft.core.settings import settings_of


def test_the_menu_holds_every_method_under_the_number_that_files_know(rig):
    items = rig.heft.bl_rna.properties["controller"].enum_items
    assert {item.identifier: item.value for item in items} == {
        "AUTO": 1000,
        "LOOKAHEAD": 0,
        "REPLANNING": 1,
        "MOMENTUM": 2,
        "BALANCE": 3,
        "GAIT": 4,
        "COMBINATION": 5,
        "STEERING": 6,
    }
    assert rig.heft.controller == "AUTO"


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_settings_come_back_as_the_core_has_them(rig, method):
    rig.heft.controller = method.name.upper()
    found = methods.values_in(rig.heft)
    assert found == asdict(method.settings())  # to the last bit
    assert method.choose(found) == method.settings()
    group = methods.group_in(rig.heft)
    for name, entry in settings_of(method.settings).items():
        assert group.bl_rna.properties[name].name == entry.label
        for one in entry.choices:
            setattr(group, name, one.value.upper())
            assert methods.values_in(rig.heft)[name] == one.value


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_what_can_be_dialled_can_be_baked(rig, method):
    """The least and the most that a panel lets one choose make sense to the core."""
    rig.heft.controller = method.name.upper()
    group = methods.group_in(rig.heft)
    for name, entry in settings_of(method.settings).items():
        for value in entry.bounds or ():
            setattr(group, name, value)
            method.choose(methods.values_in(rig.heft))
            group.property_unset(name)


def test_a_step_rate_is_raised_to_what_the_method_needs(rig):
    for method in METHODS.values():
        if method.needs.blends:
            continue
        rig.heft.controller, rig.heft.rate = method.name.upper(), 100
        (found,) = gather(bpy.context, [rig])
        assert found.job.rate == max(100.0, method.needs.least_rate)
