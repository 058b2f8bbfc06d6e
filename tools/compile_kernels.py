# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile all kernels of a copy of the extension, and say as JSON which files hold them: `compile_kernels.py FOLDER`.

`run.py build` runs this by its path, in a process whose numba compiles for what a zip promises. The copy is imported as
`heft`, as the worker of an installed extension does it.
"""

import importlib.util
import json
import sys


def main(root: str) -> None:
    """Import the copy, compile, tell."""
    spec = importlib.util.spec_from_file_location("heft", f"{root}/__init__.py", submodule_search_locations=[root])
    if spec is None or spec.loader is None:
        raise ImportError(f"There is no package in {root}.")
    module = sys.modules["heft"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from heft.blender_addon.worker import shipped
    from heft.core.control.methods import METHODS
    from heft.core.maths.compiler import kept_files
    from heft.core.worker.preparation import prepare

    methods = list(prepare(list(METHODS), lambda *_: None))
    print(json.dumps({"methods": methods, "files": list(map(str, kept_files())), "fits": shipped.fits()}))


if __name__ == "__main__":
    main(sys.argv[1])
