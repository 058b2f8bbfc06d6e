# SPDX-License-Identifier: GPL-3.0-or-later
"""What Set Up found broken in a motion, as an armature keeps it: stretches of frames, by what became of them."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..core.motion.damage import Repair

Intervals = list[tuple[float, float]]


def damage_text(repairs: Iterable[Repair]) -> str:
    """Return the stretches as text: {"mended": [[first, last], ...], "guessed": [...]}; "" where there are none."""
    frames: dict[str, set[float]] = {"mended": set(), "guessed": set()}
    for one in repairs:
        frames["guessed" if one.is_guess else "mended"].update(one.frames)
    frames["mended"] -= frames["guessed"]
    found = {kind: stretches(sorted(some)) for kind, some in frames.items() if some}
    return json.dumps(found) if found else ""


def damage_of(text: str) -> dict[str, Intervals]:
    """Return the stretches that such a text says."""
    return {kind: [(float(a), float(b)) for a, b in some] for kind, some in json.loads(text or "{}").items()}


def stretches(frames: Sequence[float]) -> Intervals:
    """Return first and last of frames that follow each other by no more than twice the least step."""
    step = min((b - a for a, b in pairwise(frames)), default=1.0)
    found: Intervals = []
    for frame in frames:
        if found and frame - found[-1][1] <= 2.0 * step:
            found[-1] = (found[-1][0], frame)
        else:
            found.append((frame, frame))
    return found
