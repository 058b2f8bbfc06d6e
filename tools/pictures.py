# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py pictures`: which of the manual's pictures are older than the code that they show, by the commits of both."""

import subprocess
import sys
from collections.abc import Mapping

from tools.environment import ROOT, say

PICTURES = "docs/pictures/*.png"  # of Blender's window
RENDERED = ("mannequin_", "path.")  # film strips, which no window shows
SHOWN = ("panels", "blender_addon/properties", "blender_addon/overlay")


def older(pictures: Mapping[str, int], changed: int) -> list[str]:
    """Those of the pictures, with the seconds of their last commits, that come before a change of the code."""
    return sorted(name for name, taken in pictures.items() if taken < changed)


def committed(*paths: str) -> int:
    """Seconds of the last commit that changed any of the paths; 0 where there is none."""
    line = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct", "--", *paths]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    return int(said) if said else 0


def taken() -> dict[str, int]:
    """The pictures of the window, and the seconds of their last commits."""
    return {path.name: committed(str(path)) for path in ROOT.glob(PICTURES) if not path.name.startswith(RENDERED)}


def main() -> int:
    """Tell; the exit status is 1 if there are any."""
    pictures = taken()
    late = older(pictures, committed(*SHOWN))
    say(f"{len(late)} of {len(pictures)} pictures of the window are older than {', '.join(SHOWN)}.")
    for name in late:
        say(f"  {name}")
    if late:
        say("Take them again with the scripts in tests/gui: each says how at its head.")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
