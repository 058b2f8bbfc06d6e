# SPDX-License-Identifier: GPL-3.0-or-later
"""The gallery's page, from what its scenes say of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tools.environment import ROOT

if TYPE_CHECKING:
    from heft.examples.gallery.scene import Scene

BEGIN = """# Gallery

Each film shows Heft's own mannequin after one press of **Bake**. To have the scenes as `.blend` files, run
`python3 run.py gallery`, and look into `out/gallery`. For one alone, run `python3 run.py gallery stairs`.
"""


def section(scene: Scene) -> str:
    """A scene: its film, and how it is done."""
    steps = "".join(f"{number}. {line}\n" for number, line in enumerate(scene.lines, 1))
    return f"\n## {scene.title}\n\n![{scene.title}](pictures/gallery/{scene.name}.webp)\n\n{steps}"


def files(root: Path = ROOT) -> dict[Path, str]:
    """The page, by where it belongs: scenes whose films are there."""
    from heft.examples.gallery import SCENES

    films = root / "docs" / "pictures" / "gallery"
    filmed = [scene for scene in SCENES if (films / f"{scene.name}.webp").is_file()]
    return {root / "docs" / "gallery.md": BEGIN + "".join(map(section, filmed))}
