# SPDX-License-Identifier: GPL-3.0-or-later
"""Two seconds of physics whose outcome is known: whether it works on this computer, and rounds as on another."""

import hashlib
import time

from ..character import Character
from ..simulation import World

SECONDS = 2.0
LYING = 0.5  # m: the pelvis is no higher
CARRIED = 0.3  # of the weight, by which the ground's force may be off while the doll still settles

WHAT_TO_SEND = (
    "To report a bug, send all of this, what you did, what happened, and the file: the .blend or .heftjob, or the "
    "batch's .toml and batch.jsonl."
)


def self_test() -> str:
    """Drop a rag doll; a sentence, or ValueError where it does not come to lie as it must."""
    begun = time.perf_counter()
    character = Character.preset("muico29")
    world = World(character)
    while world.time < SECONDS:
        world.step()
    took = time.perf_counter() - begun
    height, weight = float(world.q[2]), 9.81 * character.total_mass
    carried = float(world.contacts.force[:, 2].sum())
    if not (height < LYING and abs(carried - weight) < CARRIED * weight):
        raise ValueError(
            f"The physics is wrong: a rag doll of {weight:.0f} N came to rest {height:.2f} m high, "
            f"carried by {carried:.0f} N. Report this as a bug."
        )
    state = hashlib.sha256(world.q.tobytes() + world.v.tobytes()).hexdigest()[:8]
    return f"{SECONDS:g} s of a falling rag doll took {took:.1f} s: passed. Computers that round alike show {state}."
