# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pictures are older than the code that they show."""

from tools import pictures
from tools.environment import ROOT


def test_a_picture_that_came_before_the_code_is_told():
    assert pictures.older({"new": 20, "old": 10, "same": 15}, 15) == ["old"]


def test_the_pictures_and_what_they_show_are_there():
    names = {path.name for path in ROOT.glob(pictures.PICTURES)}
    assert {"tutorial_first_bake.png", "set_up.png"} <= names
    assert all((ROOT / room).is_dir() for room in pictures.SHOWN)
