# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean Folder: the command of another Blender, begun, followed, stopped and gone on with."""

import sys
import time
from pathlib import Path

import bpy
import pytest
from heft.blender_addon import folder_run
from heft.core import command_line
from heft.operators import clean_folder
from heft.panels.folder import HEFT_PT_folder

from tests.blender.bake.test_panels import drawn

SAYS = """
import sys, time
print("1 of 2: a.bvh: Possible.", file=sys.stderr, flush=True)
time.sleep({seconds})
print("2 clips: 2 cleaned. Look at it", flush=True)
sys.exit({status})
"""


@pytest.fixture
def keeper(heft_enabled):
    """Nothing goes on before and after."""
    yield folder_run.keeper
    folder_run.unregister()


@pytest.fixture
def said(keeper, monkeypatch, tmp_path):
    """A program in place of Blender; how it was asked."""
    asked = {"seconds": 0.0, "status": 0}

    def words_for(folder, out, **options):
        asked.update(folder=folder, out=out, options=options)
        return [sys.executable, "-c", SAYS.format(**asked)]

    monkeypatch.setattr(clean_folder, "words_for", words_for)
    (tmp_path / "clips").mkdir()
    bpy.context.scene.heft.folder.source = str(tmp_path / "clips")
    return asked


def wait_for(found):
    until = time.monotonic() + 30.0
    while not found():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_in_background_mode_it_is_over_when_it_returns(said, keeper, tmp_path):
    assert bpy.ops.heft.clean_folder() == {"FINISHED"}
    assert said["folder"] == tmp_path / "clips"
    assert said["out"] == tmp_path / "clips cleaned"
    assert keeper.run.status == 0
    assert keeper.run.line == "2 clips: 2 cleaned. Look at it"


def test_its_settings_are_those_of_the_command(said, tmp_path):
    asked = bpy.context.scene.heft.folder
    asked.target, asked.simulate, asked.opensim, asked.workers = str(tmp_path / "out"), True, True, 3
    bpy.ops.heft.clean_folder()
    assert said["out"] == tmp_path / "out"
    assert said["options"] == {"simulate": True, "opensim": True, "workers": 3}


def test_the_command_understands_what_it_is_asked(keeper):
    words = folder_run.words_for(Path("in"), Path("out"), simulate=True, opensim=True, workers=3)
    parsers = command_line.make_parsers("heft", "S", "O", "the same", int)
    known = parsers.whole.parse_args(words[words.index("clean") :])
    assert (known.folder, known.out, known.simulate, known.opensim) == (Path("in"), Path("out"), True, True)
    assert (known.workers, known.resume) == (3, True)


def test_one_that_goes_on_is_followed_and_stopped(said, keeper):
    run = keeper.begin([sys.executable, "-c", SAYS.format(seconds=60.0, status=0)])
    wait_for(lambda: run.look() or run.fraction > 0.0)
    assert run.fraction == 0.5
    assert run.line == "1 of 2: a.bvh: Possible."
    assert not bpy.ops.heft.clean_folder.poll()
    shown = " ".join(drawn(HEFT_PT_folder))
    assert "50 %" in shown
    assert "1 of 2: a.bvh: Possible." in shown
    assert bpy.ops.heft.stop_cleaning() == {"FINISHED"}
    assert not keeper.running
    assert not bpy.ops.heft.stop_cleaning.poll()
    assert bpy.ops.heft.clean_folder.poll()


def test_one_that_fails_says_so(said, keeper):
    said["status"] = 1
    bpy.ops.heft.clean_folder()
    assert keeper.run.status == 1
    assert not keeper.running


def test_without_a_folder_there_is_nothing_to_clean(keeper):
    assert not bpy.ops.heft.clean_folder.poll()
    bpy.context.scene.heft.folder.source = "/there/is/none"
    with pytest.raises(RuntimeError, match="There is no folder"):
        bpy.ops.heft.clean_folder()
