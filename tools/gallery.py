# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py gallery [NAME…]`: makes the gallery's scenes, bakes and films them.

The .blend files go to out/gallery, the films to docs/pictures/gallery, where docs/gallery.md shows them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import bpy
import heft

from tools.environment import ROOT, say
from tools.leaving import leave_after

FILMS = ROOT / "docs" / "pictures" / "gallery"
FILES = ROOT / "out" / "gallery"


def main() -> int:
    """Make those that are named, or all; 1 if somebody fell who should not."""
    heft.register()
    from heft.blender_addon.worker.keeper import keeper
    from heft.examples import demo
    from heft.examples.gallery import SCENES, filming

    parser = argparse.ArgumentParser(prog="run.py gallery")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(scene.name for scene in SCENES))
    parser.add_argument("--films", type=Path, default=FILMS, help="folder for the films")
    known = parser.parse_args()
    unknown = set(known.names) - {scene.name for scene in SCENES}
    if unknown:
        parser.error(f"there is no scene {', '.join(sorted(unknown))}")
    FILES.mkdir(parents=True, exist_ok=True)
    wrong = 0
    try:
        for scene in SCENES:
            if known.names and scene.name not in known.names:
                continue
            path = known.films / f"{scene.name}.webp"
            with demo.stage(scene.name):
                reports = filming.make(scene)
                blend = FILES / f"{scene.name}.blend"
                blend.unlink(missing_ok=True)
                bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False, compress=True)
                filming.film(scene, path)
            fell = any(report["outcome"] != "completed" for report in reports)
            wrong += fell != scene.falls
            told = " ".join(report["why"] for report in reports)
            say(f"  {path.stat().st_size / 1e3:.0f} kB{'' if fell == scene.falls else ', NOT AS MEANT'}. {told}")
    finally:
        keeper.stop()
    return 1 if wrong else 0


if __name__ == "__main__":
    leave_after(main)
