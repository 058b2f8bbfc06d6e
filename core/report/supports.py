# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion rested on that its scene lacks, as a report tells it: in words, and so that it can be put there."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..character import Character
from ..motion.boxes import Box
from ..motion.support import Support

DIGITS = 6  # after the point: micrometres


def to_data(supports: Sequence[Support], character: Character, bones: Mapping[str, str]) -> list[dict[str, Any]]:
    """The supports as JSON; `bones` are the rig's by the character's bodies.

    Places and sizes are in metres in the world. A box stands on its place, turned about the vertical by some radians.
    """
    return [
        {
            "kind": support.kind,
            "text": support.text,
            "frames": list(support.frames),
            "objects": [_box(box) for box in support.objects],
            "grabs": [
                {
                    "bone": bones.get(character.bodies[rest.point.body].name, ""),
                    "place": [round(x, DIGITS) for x in place],
                    "frames": [rest.start_frame, rest.end_frame],
                }
                for rest, place in zip(support.rests, support.held, strict=False)
            ],
        }
        for support in supports
    ]


def _box(box: Box) -> dict[str, Any]:
    x, y = box.along
    middle = 0.5 * (box.front - box.back), 0.5 * (box.left - box.right)
    place = (
        box.place[0] + x * middle[0] - y * middle[1],
        box.place[1] + y * middle[0] + x * middle[1],
        box.bottom,
    )
    size = box.front + box.back, box.left + box.right, box.top - box.bottom
    return {
        "name": box.name,
        "place": [round(value, DIGITS) for value in place],
        "turn": round(math.atan2(y, x), DIGITS),
        "size": [round(value, DIGITS) for value in size],
    }
