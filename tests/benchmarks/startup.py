# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft adds to a start: importing the core in a new Python, and enabling the extension in Blender."""

import subprocess
import sys
from collections.abc import Iterator

from harness import Row, measure

TIMED_IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def import_us(module: str, times: int = 7) -> list[float]:
    """Sorted times of importing a module in new processes."""
    command = [sys.executable, "-c", TIMED_IMPORT.format(module)]
    return sorted(float(subprocess.run(command, capture_output=True, check=True).stdout) * 1e6 for _ in range(times))


def rows() -> Iterator[Row]:
    """Import and registration."""
    ours, numba = import_us("heft.core"), import_us("numba")
    yield Row("import heft.core, new process", ours[len(ours) // 2], ours[-1], "import numba", numba[len(numba) // 2])

    import bpy
    import heft

    def enable_and_disable() -> None:
        heft.register()
        heft.unregister()

    bpy.ops.wm.read_factory_settings(use_empty=True)
    yield Row("register and unregister in Blender", *measure(enable_and_disable))
