# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of a simulation in a sentence that an animator understands, and what to try."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..motion.quaternions import conjugate, rotate
from ..simulation import Push
from .failure import Trouble
from .simulation import Simulation

Array = NDArray[np.float64]

AFTER_PUSH = 2.0  # s, within which a push is to blame for a fall
STRAYED = 0.10  # m: further from its way than this is worth a word
SLID = 0.005  # m
STRONG = 10.0  # N, of a push that can be to blame
MILLIMETRES, CENTIMETRES = 1e3, 1e2


def explain(
    simulation: Simulation,
    figures: dict[str, Any],
    pushes: Sequence[Push],
    frame_at: Callable[[float], float],
    doubts: str = "",
    trouble: Trouble | None = None,
) -> str:
    """The sentence. `frame_at` gives the scene's frame of a time; `doubts` says what was wrong with the reference.

    `trouble` is what came first if it failed (failure.py).
    """
    told = "" if trouble is None else _capital(trouble.told(frame_at, simulation.recording.rate))
    outcome, seconds = figures["outcome"], figures["simulated_seconds"]
    if outcome == "cancelled":
        return f"Cancelled after {seconds:.1f} s of motion."
    if outcome == "diverged":
        return _sentences(
            f"The simulation broke off at frame {frame_at(seconds):.0f}: {simulation.recording.reason}", told, doubts
        )
    if outcome == "fell":
        return _sentences(_fall(simulation, pushes, frame_at), told, doubts)
    return _sentences(_completed(figures), doubts)


def _completed(figures: dict[str, Any]) -> str:
    told = f"Stayed up to the end; joints within {figures['joint_rms_deg']:.1f}° of the motion"
    told += f", feet slid at most {MILLIMETRES * figures['max_foot_slide_m']:.0f} mm."
    strayed = figures["root_max_m"]
    if strayed > STRAYED:
        told += f" It strayed up to {CENTIMETRES * strayed:.0f} cm from its way."
    return told


def _fall(simulation: Simulation, pushes: Sequence[Push], frame_at: Callable[[float], float]) -> str:
    recording = simulation.recording
    lost = simulation.lost or 0
    time = lost / recording.rate
    told = f"Fell {_direction(simulation, lost)} at frame {frame_at(time):.0f} ({time:.1f} s)"
    push = _last_push(pushes, time)
    if push is not None:
        strength = float(np.linalg.norm(push.force, axis=1).max())
        return f"{told}, after the push of {strength:.0f} N on '{push.body}': try a weaker or shorter one"
    return told


def _direction(simulation: Simulation, lost: int) -> str:
    """Which way it went from where it should have been, seen from where it faced."""
    wanted = simulation.followed.q[lost]
    away = simulation.recording.q[lost, :3] - wanted[:3]
    forward, left, up = rotate(conjugate(wanted[3:7]), away)
    ways = {"forwards": forward, "backwards": -forward, "to its left": left, "to its right": -left}
    ways |= {"down": -1.5 * up}  # a body that sinks hardly moves aside
    return max(ways, key=lambda way: float(ways[way]))


def _last_push(pushes: Sequence[Push], time: float) -> Push | None:
    """The push that began last before a time, if it is not long over."""
    recent = []
    for push in pushes:
        strong = np.flatnonzero(np.linalg.norm(push.force, axis=1) > STRONG)
        if len(strong):
            begun, ended = push.start + strong[0] / push.rate, push.start + strong[-1] / push.rate
            if begun <= time <= ended + AFTER_PUSH:
                recent.append((begun, push))
    return max(recent, key=lambda pair: pair[0])[1] if recent else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentences(*parts: str) -> str:
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)
