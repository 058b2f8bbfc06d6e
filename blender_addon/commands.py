# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command heft …`: bake a file or many, make the demo, or say what Heft finds on this computer.

    blender --command heft bake SCENE.blend [--armature NAME] [--controller NAME] [--frames A:B] [--output OUT.blend]
                                            [--report DIR]
    blender --command heft batch JOBS.toml [--workers N] [--cluster ADDRESS] [--resume] [--list]
                                             [--cache DIR]
    blender --command heft demo [--output DIR]
    blender --command heft doctor

`bake` ends with 0 if all characters came to the end of their motion, with 3 if one fell, and with 1 on an error.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ..core.batch import command as batch_command
from ..core.batch.journal import SUFFIX, Entry
from ..core.batch.plan import Plan
from ..core.job import BakeJob, BakeResult, cache
from ..core.job.cache import code_version
from ..core.worker.self_test import WHAT_TO_SEND
from ..core.worker.worker import ROOT, python
from .baking.gather import Gathered, gather
from .worker import kernels
from .worker.keeper import keeper, labels

DONE, FAILED, FELL = 0, 1, 3
SELF_TEST = 600.0  # s: the first time physics is compiled
STRIP = 8  # pictures of a report's film strip
PACKAGES = ("numpy", "scipy", "osqp", "numba", "llvmlite")


def run(arguments: Sequence[str], make_demo: Callable[[Path], None]) -> int:
    """Do what the command line asks for; the return value is Blender's exit status.

    The demo stands on this room, so it is handed in.
    """
    parser = argparse.ArgumentParser(prog="blender --command heft", description="Gives keyframes weight.")
    commands = parser.add_subparsers(dest="command", required=True)
    bake = commands.add_parser("bake", help="bake a file's characters")
    bake.add_argument("scene", type=Path, metavar="SCENE.blend")
    bake.add_argument("--armature", metavar="NAME", help="the armature to bake; all that were set up if not given")
    bake.add_argument("--controller", metavar="NAME", help="the method, such as lookahead")
    bake.add_argument("--frames", type=frame_range, metavar="A:B", help="first and last frame to simulate")
    bake.add_argument("--output", type=Path, metavar="OUT.blend", help="where to save; the same file if not given")
    bake.add_argument("--report", type=Path, metavar="DIR", help="a folder for reports with plots")
    batch_command.add_arguments(commands.add_parser("batch", help="bake all that a file asks for"))
    demo = commands.add_parser("demo", help="bake a walk with a push and over a step: a file, a film strip, a film")
    demo.add_argument("--output", type=Path, default=Path("out"), metavar="DIR", help="the folder to write into")
    commands.add_parser("doctor", help="say what Heft finds on this computer")
    try:
        known = parser.parse_args(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else FAILED
    try:
        if known.command == "demo":
            make_demo(known.output)
            return DONE
        return {"bake": run_bake, "batch": run_batch, "doctor": run_doctor}[known.command](known)
    except (ValueError, OSError, RuntimeError) as error:  # RuntimeError is what Blender's operators raise
        sys.stderr.write(f"heft: {error}\n")
        return FAILED
    finally:
        keeper.stop()


def frame_range(text: str) -> tuple[int, int]:
    """Return what `A:B` says."""
    first, colon, last = text.partition(":")
    try:
        found = int(first), int(last)
    except ValueError:
        found = None
    if found is None or not colon or found[1] <= found[0]:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of frames such as 1:100")
    return found


def run_bake(known: argparse.Namespace) -> int:
    """Open, bake, save."""
    from .baking import output
    from .baking.session import Session

    if not known.scene.is_file():
        raise ValueError(f"There is no file {known.scene}.")
    bpy.ops.wm.open_mainfile(filepath=str(known.scene.resolve()))
    armatures = armatures_to_bake(bpy.context.view_layer.objects, known.armature)
    for armature in armatures:
        configure(armature, known)
    session = Session(bpy.context, armatures, keeper, "bake")
    session.wait()
    status = DONE
    for turn in session.turns:
        armature = turn.armature()
        if turn.result is None or armature is None:
            raise ValueError(f"{turn.name}: {turn.why}")
        name = output.write(bpy.context, armature, turn.gathered, turn.result)
        say(f"{turn.name}: {name}. {turn.result.why}")
        if known.report is not None:
            say(f"Report: {write_report(bpy.context.scene, armature, turn.result, known.report)}")
        status = status if turn.result.outcome == "completed" else FELL
    target = (known.output or known.scene).resolve()
    bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)
    say(f"Saved {target}")
    return status


def armatures_to_bake(objects: Sequence[bpy.types.Object], name: str | None) -> list[bpy.types.Object]:
    """Return the armature of that name, else those that were set up, else the only one."""
    armatures = [one for one in objects if one.type == "ARMATURE" and one.heft.proxy_of is None]
    there = ", ".join(one.name for one in armatures)
    if name is not None:
        named = [one for one in armatures if one.name == name]
        if not named:
            raise ValueError(f"There is no armature '{name}' in the scene; there are: {there or 'none'}.")
        return named
    found = [one for one in armatures if one.heft.character] or armatures
    if not found:
        raise ValueError("There is no armature in the scene.")
    if len(found) > 1 and not found[0].heft.character:
        raise ValueError(f"There are several armatures, name one by --armature: {there}.")
    return found


def configure(armature: bpy.types.Object, known: argparse.Namespace) -> None:
    """Put the command line's choices into the armature's settings."""
    settings = armature.heft
    if known.controller is not None:
        names = [item.identifier for item in settings.bl_rna.properties["controller"].enum_items]
        if known.controller.upper() not in names:
            raise ValueError(f"There is no controller '{known.controller}'; there are: {', '.join(names).lower()}.")
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


def run_batch(known: argparse.Namespace) -> int:
    """Bake all that a file asks for; what comes of a scene is saved as a scene too."""
    if known.cluster is None and known.cache is None:
        known.cache = kernels.cache_folder()
    return batch_command.batch(known, read_scene, kernels.kernel_folder(), save_scenes)


def read_scene(path: Path, name: str | None) -> BakeJob:
    """Return the job of a file's armature."""
    return open_and_gather(path, name)[1].job


def save_scenes(plan: Plan, entries: Mapping[str, Entry]) -> None:
    """Save each scene with its bake as a new action, beside the bake, unless it is there already."""
    from .baking import output

    for name, entry in entries.items():
        choice = plan.choice(name)
        result, target = plan.folder / f"{name}{SUFFIX}", (plan.folder / f"{name}.blend").resolve()
        if "scene" not in choice or entry.failed:
            continue
        if target.is_file() and target.stat().st_mtime >= result.stat().st_mtime:
            continue
        if target == choice["scene"].resolve():
            raise ValueError(f"{target.name} would be written over: choose another output folder or name.")
        armature, gathered = open_and_gather(choice["scene"], choice.get("armature"))
        output.write(bpy.context, armature, gathered, BakeResult.load(result))
        bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)


def open_and_gather(path: Path, name: str | None) -> tuple[bpy.types.Object, Gathered]:
    """Open a file and read one armature of it."""
    bpy.ops.wm.open_mainfile(filepath=str(path.resolve()))
    armatures = armatures_to_bake(bpy.context.view_layer.objects, name)
    if len(armatures) > 1:
        raise ValueError(
            f"several armatures were set up, choose by armature = ...: {', '.join(a.name for a in armatures)}."
        )
    return armatures[0], gather(bpy.context, armatures)[0]


def run_doctor(_: argparse.Namespace) -> int:
    """Say what is there, and try the physics process."""
    say(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}: {python()}")
    missing = []
    for name in PACKAGES:
        try:
            say(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise ValueError(f"Not found: {', '.join(missing)}. Install the zip made for this Blender.")
    say(f"heft code {code_version()[:16]}, in {ROOT}")
    folder = kernels.cache_folder()
    say(f"Cache: {cache.size(folder) / 1e6 if folder.is_dir() else 0.0:.1f} MB in {folder}")
    say(f"Kernels: {kernels.kernel_folder() or 'kept where numba is told'}")
    later = ", ".join(labels()[name] for name in missing())
    say(f"Compiled: {'at the first bake of ' + later if later else 'all'}")
    worker = keeper.worker()
    worker.send("self_test")
    (answer, *_) = worker.wait(SELF_TEST) or [None]
    if answer is None or answer.kind != "done":
        raise ValueError("The physics process does not answer." if answer is None else answer.values["why"])
    say(f"The physics process answers. {answer.values['text']}")
    say(WHAT_TO_SEND)
    return DONE


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


_handles: list[object] = []


def register(make_demo: Callable[[Path], None]) -> None:
    """Add the command; Blender takes the handle to remove it."""
    _handles.append(bpy.utils.register_cli_command("heft", partial(run, make_demo=make_demo)))


def unregister() -> None:
    """Remove it."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
