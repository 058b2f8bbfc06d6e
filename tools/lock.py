# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py lock`: resolve pyproject.toml's dependencies for every platform and Python into locks/, in pip's format.

`develop.txt` is the environment of a developer; `wheels.txt` is what the extension's zips carry. Of osqp's requirements
Blender has numpy, and joblib and setuptools serve parts of it that Heft never imports.
"""

import subprocess
import sys

from tools.environment import ROOT, Trouble, explain, say

LEFT_OUT_OF_ZIPS = ("numpy", "joblib", "cloudpickle", "setuptools")


def resolve(output: str, *options: str) -> None:
    """Write one lock file; it names packages, versions and hashes, and no host."""
    say(f"Resolving locks/{output}")
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
        *("--generate-hashes", "--no-header", "--no-annotate", "--upgrade", *options),
        *("pyproject.toml", "--output-file", f"locks/{output}"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"resolving locks/{output} failed: {explain(done.stderr)}")


def main() -> None:
    """Resolve both files."""
    resolve("develop.txt", "--extra", "develop")
    resolve("wheels.txt", *(option for name in LEFT_OUT_OF_ZIPS for option in ("--no-emit-package", name)))


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(f"run.py lock: {trouble}")
