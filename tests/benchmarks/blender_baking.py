# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator Bake in background mode, end to end, beside the length of what it bakes: ten seconds of a walk.

The first bake, which compiles and prepares, is not counted: reference and gains come from the cache then. What is not
the physics' own time is Blender's side: reading the action and the scene, talking to the worker, writing the new
action.
"""

import json
import statistics
import time
from collections.abc import Iterator

from harness import Row

SECONDS = 10.0
REPEATS = 5


def rows() -> Iterator[Row]:
    """Medians and the slowest of five bakes."""
    import bpy
    import heft
    from heft.examples import mannequin, walk

    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig)
    bpy.context.scene.render.fps = walk.FRAMES_PER_SECOND
    bpy.context.view_layer.objects.active = rig
    rig.heft.loop, rig.heft.loop_seconds = True, SECONDS
    bpy.ops.heft.bake()
    whole, ours = [], []
    for _ in range(REPEATS):
        start = time.perf_counter()
        bpy.ops.heft.bake()
        whole.append(1e6 * (time.perf_counter() - start))
        ours.append(whole[-1] - 1e6 * sum(json.loads(rig.heft.report)["seconds"].values()))
    heft.unregister()
    name = f"{SECONDS:.0f} s, the motion itself"
    yield Row(f"bake {SECONDS:.0f} s of walk, gains ready", statistics.median(whole), max(whole), name, 1e6 * SECONDS)
    yield Row("of which Blender's side", statistics.median(ours), max(ours), name, 1e6 * SECONDS)
