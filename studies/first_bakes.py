# SPDX-License-Identifier: GPL-3.0-or-later
"""From enabling the extension to the first baked mannequin, by each method, in a Blender with nothing but the zip."""

import json
import sys
import tempfile
from pathlib import Path

from tests.blender import alone
from tests.blender.conftest import LINE, this_platform
from tools import build

TITLE = """# First bakes

The zip for this platform is installed into an empty Blender {line}, once for each method; then it is enabled, a
mannequin is added, set up and baked. Blender unpacks the packages that come with Heft when an extension is enabled for
the first time: seconds from there on do not hold that. Kernels: files that were compiled on the way. Written by
`run.py study first_bakes`.

| method | packages unpacked in s | enabled after s | baked after s | outcome | kernels compiled |
|---|---|---|---|---|---|
"""
SCRIPT = """
import json, sys, time
from pathlib import Path
import bpy
from _bpy_internal.extensions import wheel_manager

unpacking = 0.0
apply_action = wheel_manager.apply_action

def timed(*given, **named):
    global unpacking
    begin = time.perf_counter()
    apply_action(*given, **named)
    unpacking += time.perf_counter() - begin

wheel_manager.apply_action = timed
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=False)
begin = time.perf_counter()
bpy.ops.preferences.addon_enable(module="bl_ext.user_default.heft")
enabled = time.perf_counter() - begin - unpacking
from bl_ext.user_default.heft.blender_addon.worker import kernels
folder = kernels.kernel_folder()
shipped = {path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}}
bpy.context.scene.render.fps = 24
bpy.ops.heft.add_mannequin()
bpy.ops.heft.set_up()
rig = bpy.context.active_object
method = sys.argv[2].upper()
rig.heft.controller = method
if method == "COMBINATION":
    rig.heft.others.add().action = rig.animation_data.action.copy()
problem = ""
try:
    bpy.ops.heft.bake()
except RuntimeError as refused:
    problem = str(refused)
baked = time.perf_counter() - begin - unpacking
now = {path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}}
outcome = json.loads(rig.heft.report)["outcome"] if rig.heft.report and not problem else problem.strip()
print("FOUND", json.dumps([unpacking, enabled, baked, outcome, len(now - shipped)]))
"""


def study(_: Path) -> str:
    """Build the zip, and bake once with each method."""
    here = this_platform()
    if here is None:
        return TITLE.format(line=LINE) + "\nNo zip is built for this platform."
    archive = build.build(here, LINE, build.version_of_manifest())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "packages"
        packages.mkdir()
        alone.link_packages(packages)
        script = Path(folder) / "script.py"
        script.write_text(SCRIPT, encoding="utf-8")
        for method in ("lookahead", "momentum", "replanning", "balance", "gait", "combination"):
            done = alone.run(script, packages, Path(folder) / method, archive, method)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
            (found,) = (line for line in done.stdout.splitlines() if line.startswith("FOUND "))
            unpacking, enabled, baked, outcome, compiled = json.loads(found.removeprefix("FOUND "))
            rows.append(f"| {method} | {unpacking:.1f} | {enabled:.1f} | {baked:.1f} | {outcome} | {compiled} |")
    return TITLE.format(line=LINE) + "\n".join(rows) + "\n"
