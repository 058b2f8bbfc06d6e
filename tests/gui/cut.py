# SPDX-License-Identifier: GPL-3.0-or-later
"""Cut the manual's pictures out of what the other scripts here took: `cut.py FOLDER`, into docs/pictures.

FOLDER is what was said after -o; those whose pictures are not there stay as they are. Each picture has the commit that
was checked out then: one that shows the same as before is a new file all the same, and `run.py pictures` knows of it.

PYTHON tests/gui/cut.py out/gui      with the Python of an environment in .venv
"""

import subprocess
import sys
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
GAP = 6  # pixels between those beside each other

VIEW = (285, 55, 1315, 775)  # the view without its left part, and the sidebar
PANEL = (1025, 80, 1290, 790)
FIGURE = (580, 120, 961, 720)

CUTS = {
    "overlay_push": (("overlay_push", VIEW),),
    "overlay_fall": (("overlay_fall", VIEW),),
    "scene": (("scene_stairs", (365, 55, 1315, 695)),),
    "motion": (("motion_contacts", (0, 55, 1312, 787)),),
    "playback": (("playback", (0, 55, 1312, 787)),),
    "set_up": (("heft_tab_set_up", (405, 62, 1315, 812)),),
    "stage": (("stage_pull", None),),
    "controls": (("controls_layer", (545, 62, 1315, 782)),),
    "controls_solving": (("controls_solving", (545, 62, 1315, 402)),),
    "controls_again": (("controls_hand", FIGURE), ("controls_again", FIGURE)),
    "motion_from": (("motion_from_baked", (405, 62, 1315, 812)),),
    "controllers": tuple((f"controller_{name}", PANEL) for name in ("lookahead", "replanning", "momentum", "balance")),
    "combine": (("controller_combination", (1027, 80, 1285, 500)),),
    "show_physics": (("physics_hovering", None),),
}


def taken_at() -> PngInfo:
    """What is written into each picture: the commit."""
    line = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    info = PngInfo()
    info.add_text("Commit", commit)
    return info


def cut(folder: Path) -> None:
    """All that are there."""
    for name, parts in CUTS.items():
        paths = [folder / f"{shot}.png" for shot, _ in parts]
        if not all(path.is_file() for path in paths):
            continue
        pieces = [
            Image.open(path).convert("RGB").crop(box) if box else Image.open(path).convert("RGB")
            for path, (_, box) in zip(paths, parts, strict=True)
        ]
        width = sum(piece.width for piece in pieces) + GAP * (len(pieces) - 1)
        whole = Image.new("RGB", (width, max(piece.height for piece in pieces)), "white")
        x = 0
        for piece in pieces:
            whole.paste(piece, (x, 0))
            x += piece.width + GAP
        whole.save(PICTURES / f"{name}.png", optimize=True, pnginfo=taken_at())


cut(Path(sys.argv[-1]))
