# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of captured clips through `heft clean`, read again by Blender and by MuJoCo."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import heft
import numpy as np
from heft.blender_addon import commands, exchange
from heft.core.clean.delivery import ARRAYS, MUJOCO, Out
from heft.core.clean.rows import FAILED, Row, is_worse
from heft.core.clean.sources import Source, Take
from heft.registration import make_demo

from studies.lib import cleaned
from studies.lib.journal import Journal
from tools.environment import ROOT

CLIPS = ROOT.parent / "shared" / "clips"
SETS = {
    "walks, dances, jumps (cmu)": ("cmu/*.bvh", 1),
    "every fourth of the harder (cmu-hard)": ("cmu-hard/*.bvh", 4),
    "damaged on purpose": ("damaged/*.bvh", 1),
    "other makers' skeletons": ("skeletons/**/*.bvh", 1),
    "glTF: people": ("rigs/gltf/[CR]*.glb", 1),
    "glTF: 44 actions keyed by hand": ("rigs/mesh2motion/*.glb", 1),
    "the mannequin's walk as FBX, glTF and .blend": ("", 1),
}
SOURCES = ("core", "blender_addon")  # on which the answers depend
SKATE, FLOAT, PENETRATION = 0.5, 2.6, 1.0  # mm a frame, mm, mm

INTRODUCTION = f"""# Folders, cleaned

`heft clean` with default settings. Means over a clip's frames, before and after; counted is what is over {SKATE} mm a
frame of skate, {FLOAT} mm of float, {PENETRATION} mm of penetration. Float is the literature's: it counts every jump,
and what hangs from bars or sits on chairs that are not there. Outside flights: the same without frames in which nothing
touches or helps the cleaned body. Worse: skate, penetration, or float outside flights more than in the source; longer
flights: float more than in the source and nothing else worse. Torques: how far MuJoCo's inverse dynamics of what was
written differs from our torques, RMS over all steps and joints, as a share of their RMS; contact: what is left over at
the root when contact forces and help are taken off, as a share of the weight; by differences: the same with differences
of velocities in place of the accelerations that were written. Read back: how far the farthest joint of the written
file, as Blender's own importer has it, is from the arrays. Written by `run.py study clean`.

| clips | motions | refused | skate at most | over | float at most | over | outside flights at most | over | \
penetration at most | over | worse | longer flights | help over 2 % | torques off at most % | contact off at most % | \
by differences % | read back at most mm |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


class Figure(NamedTuple):
    """One of the literature's."""

    name: str
    said: str
    most: float
    unit: str
    digits: int


FIGURES = (
    Figure("skate", "skate", SKATE, "mm a frame", 2),
    Figure("float", "float", FLOAT, "mm", 1),
    Figure("float_outside_flights", "outside flights", FLOAT, "mm", 1),
    Figure("penetration", "penetration", PENETRATION, "mm", 2),
)
WATCHED = ("skate", "float_outside_flights", "penetration")


class Found(NamedTuple):
    """What was found of a motion that was cleaned."""

    row: Row
    off: cleaned.Off
    back: float  # mm


def files_of(pattern: str, every: int) -> list[Path]:
    """The clips of a set."""
    return sorted(CLIPS.glob(pattern))[::every]


def make_walks(folder: Path) -> None:
    """The mannequin's walk, as three kinds of files."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.heft.add_mannequin()
    rig = bpy.context.active_object
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"), copy=True)
    for name in ("walk.fbx", "walk.glb"):
        exchange.save_file(folder / name, {rig.animation_data.action.name: rig.name})


def cleaned_set(pattern: str, every: int, place: Path) -> list[Found]:
    """Clean a set; what was found of each of its motions, those that were refused too."""
    folder, out = place / "clips", place / "out"
    folder.mkdir(parents=True)
    if pattern:
        for path in files_of(pattern, every):
            target = folder / path.relative_to(CLIPS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    else:
        make_walks(folder)
    commands.run(["clean", str(folder), "--out", str(out), "--workers", "1"], partial(make_demo))
    return list(judged(folder, out))


def told_of(pattern: str, every: int) -> list[Found]:
    """The same in a folder that is gone afterwards: what JSON can say."""
    with tempfile.TemporaryDirectory() as place:
        return cleaned_set(pattern, every, Path(place))


def judged(folder: Path, out: Path) -> Iterator[Found]:
    """Each row of the table, with what others say of what was written."""
    for row in json.loads((out / "clips.json").read_text(encoding="utf-8")):
        if row["outcome"] == FAILED:
            yield Found(row, cleaned.Off(0.0, 0.0, 0.0), 0.0)
            continue
        path = folder / row["file"]
        take = Take(Source(path, Path(row["file"])), row["take"])  # type: ignore[arg-type]
        arrays, mjcf = (Out(out).beside(take, ending) for ending in (ARRAYS, MUJOCO))
        off = cleaned.inverse_dynamics(arrays, mjcf)
        yield Found(row, off, cleaned.read_back(path, out / row["file"], arrays, row["take"]))


def line_of(name: str, found: list[Found]) -> str:
    """A set's row."""
    rows: list[dict[str, Any]] = [dict(one.row) for one in found if one.row["outcome"] != FAILED]
    cells: list[str] = [name, str(len(found)), str(len(found) - len(rows))]
    for figure in FIGURES:
        values = np.array([row[f"{figure.name}_after_mm"] for row in rows])
        cells += [f"{values.max():.{figure.digits}f}", str(int((values > figure.most).sum()))]
    worse = [any(is_worse(row, f"{one}_after_mm") for one in WATCHED) for row in rows]
    cells.append(str(sum(worse)))
    longer = [is_worse(row, "float_after_mm") and not other for row, other in zip(rows, worse, strict=True)]
    cells.append(str(sum(longer)))
    cells.append(str(sum(row["help_mean_percent"] > 2.0 for row in rows)))
    good = [one for one in found if one.row["outcome"] != FAILED]
    cells += [f"{100.0 * max(values):.2f}" for values in zip(*(one.off for one in good), strict=True)]
    cells.append(f"{max(one.back for one in good):.4f}")
    return "| " + " | ".join(cells) + " |\n"


def worth_a_look(found: list[Found]) -> Iterator[str]:
    """A line for each motion that misses something, and what."""
    for one in found:
        row = one.row
        label = f"{row['file']} {row['take']}".strip()
        if row["outcome"] == FAILED:
            yield f"- {label}: {row['why']}\n"
            continue
        said = []
        for figure in FIGURES:
            before, after = row[f"{figure.name}_before_mm"], row[f"{figure.name}_after_mm"]
            if after > figure.most or is_worse(row, f"{figure.name}_after_mm"):
                said.append(f"{figure.said} {before:.2f} to {after:.2f} {figure.unit}")
        if one.off.torques > 0.01 or one.off.contact > 0.01:
            said.append(f"torques {100.0 * one.off.torques:.2f} %, contact {100.0 * one.off.contact:.2f} % off")
        if one.back > 0.1:
            said.append(f"{one.back:.3f} mm off when read back")
        if said:
            helped = f" (help {row['help_mean_percent']:.1f} %)" if row["help_mean_percent"] > 2.0 else ""
            yield f"- {label}: {', '.join(said)}{helped}\n"


def study(_: Path) -> str:
    """Clean every set, one after another."""
    heft.register()
    lines, looks = "", ""
    journal = Journal("clean", [*(ROOT / room for room in SOURCES), Path(__file__), Path(cleaned.__file__)])
    for name, (pattern, every) in SETS.items():
        told = journal.find(name, partial(told_of, pattern, every))
        found = [Found(row, cleaned.Off(*off), back) for row, off, back in told]
        lines += line_of(name, found)
        looks += "".join(worth_a_look(found))
    return f"{INTRODUCTION}{lines}\n## What misses something\n\n{looks}"
