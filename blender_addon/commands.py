# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command heft …`: bake a file or many, make the demo, or check this computer and test the physics.

    blender --command heft bake SCENE.blend [--armature NAME] [--controller NAME] [--frames A:B] [--output OUT.blend]
                                            [--report DIR]
    blender --command heft batch JOBS.toml [--workers N] [--cluster ADDRESS] [--resume] [--list]
                                             [--cache DIR]
    blender --command heft clean FOLDER --out FOLDER [--rig auto] [--simulate] [--opensim] [--workers N]
                                             [--cluster ADDRESS] [--resume]
    blender --command heft demo [--output DIR]
    blender --command heft bench [--json FILE] [--only NAME]
    blender --command heft replay TRACE
    blender --command heft doctor

`bake` ends with 0 if all characters came to the end of their motion, with 3 if one fell, and with 1 if one could not be
baked; the others are saved all the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..core import cache, command_line
from ..core.batch import command as batch_command
from ..core.cache import code_version
from ..core.clean import command as clean_command
from ..core.command_line import DONE, FAILED, FELL, PACKAGES, ROOT, complain, say, there_is
from ..core.job import BakeResult
from ..core.worker.self_test import WHAT_TO_SEND
from ..core.worker.worker import python
from .baking import output
from .baking.gather import gather
from .baking.scenes import Scenes, armatures_to_bake
from .baking.session import Session
from .cleaning import BlenderFormat
from .exchange import ENDINGS
from .typed import as_kind, settings_on, shared_by
from .worker import keeper as keeping
from .worker import kernels
from .worker.keeper import keeper

PATIENCE = 600.0  # s: the first time physics is compiled
STRIP = 8  # pictures of a report's film strip


def run(arguments: Sequence[str], make_demo: Callable[[Path], None]) -> int:
    """Run the command line; the return value is Blender's exit status.

    The demo stands on this room, so it is handed in.
    """

    def demo(known: argparse.Namespace) -> int:
        make_demo(known.output)
        return DONE

    parsers = command_line.make_parsers("blender --command heft", "SCENE.blend", "OUT.blend", "the same file", int)
    parsers.commands["bake"].add_argument(
        "--armature", metavar="NAME", help="the armature to bake; by default all that were set up"
    )
    try:
        known = parsers.whole.parse_args(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else FAILED
    commands = {
        "bake": bake,
        "batch": batch,
        "clean": clean,
        "bench": command_line.bench,
        "demo": demo,
        "replay": replay,
        "doctor": doctor,
    }
    try:
        # RuntimeError is what Blender's operators raise
        return command_line.perform(commands, known, (ValueError, OSError, RuntimeError))
    finally:
        keeper.stop()


def bake(known: argparse.Namespace) -> int:
    """Open, bake, save. What one armature fails at is told at the end: what came of the others is kept."""
    bpy.ops.wm.open_mainfile(filepath=str(there_is(known.source).resolve()))
    armatures = armatures_to_bake(bpy.context.view_layer.objects, known.armature)
    for armature in armatures:
        configure(armature, known)
    session, failures = begun(armatures)
    written: list[tuple[bpy.types.Object, BakeResult]] = []
    if session is not None:
        session.wait()
    for turn in session.turns if session is not None else ():
        armature = turn.armature()
        if turn.result is None or armature is None:
            failures.append(f"{turn.name}: {turn.why}")
            continue
        try:
            action, target = output.write(bpy.context, armature, turn.gathered, turn.result, turn.controls)
        except ValueError as error:
            failures.append(str(error))
            continue
        on = "" if target == turn.name else f" on {target}"
        say(f"{turn.name}: {action}{on}. {turn.result.why}")
        written.append((armature, turn.result))
    if written:
        target = (known.output or known.source).resolve()
        bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)
        say(f"Saved {target}")
    if known.report is not None:
        for armature, result in written:
            say(f"Report: {write_report(bpy.context.scene, armature, result, known.report)}")
    for failure in failures:
        complain(failure)
    if failures:
        return FAILED
    return DONE if all(result.outcome == "completed" for _, result in written) else FELL


def begun(armatures: Sequence[bpy.types.Object]) -> tuple[Session | None, list[str]]:
    """Return a bake of all that can be read, if any, and what is wrong with the others."""
    together = shared_by(bpy.context.scene).together
    try:
        return Session(bpy.context, armatures, keeper, "bake", together=together), []
    except ValueError:
        if len(armatures) == 1:
            raise
    found, failures = [], []
    for armature in armatures:
        try:
            gather(bpy.context, [armature])
        except ValueError as error:
            failures.append(str(error))
        else:
            found.append(armature)
    return Session(bpy.context, found, keeper, "bake", together=together) if found else None, failures


def configure(armature: bpy.types.Object, known: argparse.Namespace) -> None:
    """Put the command line's choices into the armature's settings."""
    settings = settings_on(armature)
    if known.controller is not None:
        names = [
            item.identifier
            for item in as_kind(settings.bl_rna.properties["controller"], bpy.types.EnumProperty).enum_items
        ]
        if known.controller.upper() not in names:
            raise ValueError(f"There is no controller '{known.controller}'; choose from: {', '.join(names).lower()}.")
        settings.controller = known.controller.upper()
    if known.frames is not None:
        settings.use_frame_range = True
        settings.frame_start, settings.frame_end = known.frames


def write_report(scene: bpy.types.Scene, armature: bpy.types.Object, result: BakeResult, folder: Path) -> Path:
    """Write a page with plots, a rendered film strip and the figures as JSON; return the page.

    They go into a folder of the armature's name in `folder`. Only a figure with a mesh can be rendered.
    """
    from .film_strip import render_film_strip

    place = folder / bpy.path.clean_name(armature.name)
    place.mkdir(parents=True, exist_ok=True)
    (place / "report.json").write_text(result.report_text, encoding="utf-8")
    pictures = []
    if len(result.frames) and any(one.type == "MESH" and one.find_armature() == armature for one in scene.objects):
        times = np.linspace(result.frames[0], result.frames[-1], min(STRIP, len(result.frames)))
        frames = [round(frame) for frame in times.tolist()]
        pictures.append(render_film_strip(scene, frames, place / "film_strip.png", subject=armature).name)
    return result.write_page(place, pictures)


def batch(known: argparse.Namespace) -> int:
    """Bake all that a file asks for; what comes of a scene is saved as a scene too."""
    if known.cluster is None and known.cache is None:
        known.cache = kernels.cache_folder()
    with tempfile.TemporaryDirectory(prefix="heft") as folder:
        scenes = Scenes(Path(folder))
        return batch_command.batch(known, scenes.job, kernels.kernel_folder(), scenes.save_all)


def clean(known: argparse.Namespace) -> int:
    """Clean a folder of clips."""
    blender = BlenderFormat()
    return clean_command.clean(known, dict.fromkeys(ENDINGS, blender), kernels.kernel_folder())


def replay(known: argparse.Namespace) -> int:
    """Say what becomes of a trace's failed steps in the physics process."""
    say(answered("replay", {"trace": str(command_line.there_is(known.trace).resolve())})["text"])
    return DONE


def answered(task: str, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what the physics process answers."""
    worker = keeper.worker()
    worker.send(task, values)
    (answer, *_) = worker.wait(PATIENCE) or [None]
    if answer is None or answer.kind != "done":
        raise ValueError("The physics process is silent: restart Blender." if answer is None else answer.values["why"])
    return answer.values


def doctor(_: argparse.Namespace) -> int:
    """Say what is there, and try the physics process."""
    say(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}: {python()}")
    missing = command_line.versions(PACKAGES)
    if missing:
        raise ValueError(f"Not found: {', '.join(missing)}. Install the zip made for this version of Blender.")
    say(f"heft code {code_version()[:16]}, in {ROOT}")
    folder = kernels.cache_folder()
    say(f"Cache: {cache.size(folder) / 1e6 if folder.is_dir() else 0.0:.1f} MB in {folder}")
    say(f"Kernels: {kernels.kernel_folder() or 'where numba keeps its cache'}")
    later = [keeping.labels()[name] for name in keeping.missing()]
    say(f"Compiled: {'at the first bake of ' + ', '.join(later) if later else 'all methods'}")
    say(f"The physics process answers. {answered('self_test')['text']}")
    say(WHAT_TO_SEND)
    return DONE


_handles: list[object] = []


def register(make_demo: Callable[[Path], None]) -> None:
    """Add the command; Blender takes the handle to remove it."""
    _handles.append(bpy.utils.register_cli_command("heft", partial(run, make_demo=make_demo)))


def unregister() -> None:
    """Remove it."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
