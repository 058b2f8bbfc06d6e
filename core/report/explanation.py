# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened in a simulation, and what to try, in sentences for animators."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..motion.quaternions import conjugate, rotate
from ..sentences import Sentence, say
from ..simulation import Push
from ..simulation.outcome import Recovery, Simulation
from . import metrics, source
from .failure import Trouble
from .metrics import Saturated

Array = NDArray[np.float64]

AFTER_PUSH = 2.0  # s, within which a push is to blame for a fall
STRAYED = 0.10  # m: a larger distance from its path is reported
SLID = 0.005  # m
TOLD = 2  # joints that gave all they have
STRONG = 10.0  # N, of a push that can be to blame
MILLIMETRES, CENTIMETRES = 1e3, 1e2
NOTHING: Mapping[str, str] = MappingProxyType({})


FELL = {
    "forwards": "Fell forward at frame {frame:.0f} ({seconds:.1f} s)",
    "backwards": "Fell backward at frame {frame:.0f} ({seconds:.1f} s)",
    "left": "Fell to its left at frame {frame:.0f} ({seconds:.1f} s)",
    "right": "Fell to its right at frame {frame:.0f} ({seconds:.1f} s)",
    "down": "Fell down at frame {frame:.0f} ({seconds:.1f} s)",
}

STEPPED = {
    "ahead": "Stepped {centimetres:.0f} cm farther ahead at frame {frame:.0f}.",
    "back": "Stepped {centimetres:.0f} cm shorter at frame {frame:.0f}.",
    "left": "Stepped {centimetres:.0f} cm to its left at frame {frame:.0f}.",
    "right": "Stepped {centimetres:.0f} cm to its right at frame {frame:.0f}.",
    "home": "Went {centimetres:.0f} cm back towards its path from frame {frame:.0f} on.",
    "rises": "Began to get up at frame {frame:.0f}.",
    "up": "Was on its feet again at frame {frame:.0f}.",
    "caught": "Caught itself on its feet at frame {frame:.0f}.",
}

ADDED = {
    "ahead": "Took {count:.0f} steps, {centimetres:.0f} cm ahead, from frame {frame:.0f} on.",
    "back": "Took {count:.0f} steps, {centimetres:.0f} cm back, from frame {frame:.0f} on.",
    "left": "Took {count:.0f} steps, {centimetres:.0f} cm to its left, from frame {frame:.0f} on.",
    "right": "Took {count:.0f} steps, {centimetres:.0f} cm to its right, from frame {frame:.0f} on.",
    "home": "Took {count:.0f} steps, {centimetres:.0f} cm back to its place, from frame {frame:.0f} on.",
}

SANK = "'{what}' sank {centimetres:.1f} cm in at frame {frame:.0f}."
PROP_SANK = "A prop sank {centimetres:.1f} cm in at frame {frame:.0f}."


def explain(
    simulation: Simulation,
    figures: dict[str, Any],
    pushes: Sequence[Push],
    frame_at: Callable[[float], float],
    doubts: Sequence[Sentence] = (),
    trouble: Trouble | None = None,
    called: Mapping[str, str] = NOTHING,
    saturated: Sequence[Saturated] = (),
) -> list[Sentence]:
    """What happened. `frame_at` gives the scene's frame of a time; `doubts` say what was wrong with the reference.

    `trouble` is what came first if it failed, or what it was helped against (failure.py); `called` has the rig's
    names for bodies and joints.
    """
    first = [] if trouble is None else [trouble.sentence(frame_at, simulation.recording.rate, called)]
    outcome, seconds = figures["outcome"], figures["simulated_seconds"]
    if outcome == "cancelled":
        return [say("Cancelled after {seconds:.1f} s of motion.", seconds=seconds)]
    if outcome == "diverged":
        broke = "The simulation stopped at frame {frame:.0f}: {reason}"
        return [say(broke, frame=frame_at(seconds), reason=simulation.recording.reason), *first, *doubts]
    steps = [_stepped(recovery, frame_at) for recovery in simulation.recoveries]
    steps += [_helped_up(simulation, rising) for rising in metrics.risings(simulation)]
    steps += [_gave_all(one, frame_at, called) for one in saturated[:TOLD]]
    if outcome == "fell":
        pushed = _last_push(pushes, (simulation.lost or 0) / simulation.recording.rate)
        if pushed is not None and (trouble is None or trouble.kind != "hit"):
            first = []  # what goes wrong after a push is what the push does
        return [_fall(simulation, pushed, frame_at, called), *steps, *first, *doubts]
    fell = [_fell(simulation, lost, frame_at) for lost in simulation.falls]
    return [*fell, *steps, *doubts] if fell else [*_completed(figures, frame_at, called), *first, *steps, *doubts]


def _stepped(recovery: Recovery, frame_at: Callable[[float], float]) -> Sentence:
    frame = frame_at(recovery.time)
    if recovery.what in {"caught", "rises", "up"}:
        return say(STEPPED[recovery.what], frame=frame)
    centimetres = CENTIMETRES * recovery.distance
    if recovery.added > 0:
        return say(ADDED[recovery.what], count=recovery.added, frame=frame, centimetres=centimetres)
    return say(STEPPED[recovery.what], frame=frame, centimetres=centimetres)


def _helped_up(simulation: Simulation, rising: slice) -> Sentence:
    share = metrics.help_shares(simulation)[rising]
    text = "While it got up, help carried {mean:.0f} % of its weight on average, {most:.0f} % at most."
    return say(text, mean=100.0 * float(share.mean()), most=100.0 * float(share.max(initial=0.0)))


def _gave_all(one: Saturated, frame_at: Callable[[float], float], called: Mapping[str, str]) -> Sentence:
    text = "'{what}' gave all its strength for {seconds:.2f} s, first at frame {frame:.0f}."
    return say(text, what=called.get(one.joint, one.joint), seconds=one.seconds, frame=frame_at(one.start))


def _completed(
    figures: dict[str, Any], frame_at: Callable[[float], float], called: Mapping[str, str]
) -> list[Sentence]:
    stayed = "Stayed up to the end: joints {degrees:.1f}° RMS off the motion, feet slid at most {millimetres:.0f} mm."
    slid = MILLIMETRES * figures["max_foot_slide_m"]
    sentences = [say(stayed, degrees=figures["joint_rms_deg"], millimetres=slid)]
    if not figures.get("follows", True):
        sentences = [say("Stayed up to the end: feet slid at most {millimetres:.0f} mm.", millimetres=slid)]
    elif not figures.get("simulated", True):
        possible = "Possible, with forces and torques: {off:.0f} mm from the source, feet slid at most {slid:.0f} mm."
        sentences = [say(possible, off=figures["source_error_mm"], slid=slid)]
    wrong = source.faults(figures) if source.NUMBERS[0] in figures else ()

    def at(name: str, template: str, **values: float) -> None:
        worst = figures["worst"].get(name)
        if worst is not None:
            what = called.get(worst.what, worst.what)
            sentences.append(say(template, what=what, frame=frame_at(worst.time), **values))

    if "slides" in wrong:
        at("max_foot_slide_m", "'{what}' slid {millimetres:.0f} mm by frame {frame:.0f}.", millimetres=slid)
    if "sinks" in wrong:
        deep = CENTIMETRES * figures["max_penetration_m"]
        props = not figures["worst"]["max_penetration_m"].what  # only the character's bodies are named there
        at("max_penetration_m", PROP_SANK if props else SANK, centimetres=deep)
    strayed = figures["root_max_m"]
    if strayed > STRAYED:
        far = "It strayed up to {centimetres:.0f} cm from its path, most at frame {frame:.0f}."
        at("root_max_m", far, centimetres=CENTIMETRES * strayed)
    elif "far" in wrong:
        off = "Its bones are {millimetres:.0f} mm from the action on average."
        sentences.append(say(off, millimetres=figures["source_error_mm"]))
    return sentences


def _fell(simulation: Simulation, lost: int, frame_at: Callable[[float], float]) -> Sentence:
    time = lost / simulation.recording.rate
    return say("{fell}.", fell=say(FELL[_direction(simulation, lost)], frame=frame_at(time), seconds=time))


def _fall(
    simulation: Simulation, push: Push | None, frame_at: Callable[[float], float], called: Mapping[str, str]
) -> Sentence:
    lost = simulation.lost or 0
    time = lost / simulation.recording.rate
    fell = say(FELL[_direction(simulation, lost)], frame=frame_at(time), seconds=time)
    if push is None:
        return say("{fell}.", fell=fell)
    strength = float(np.linalg.norm(push.force, axis=1).max())
    after = "{fell}, after the {newtons:.0f} N push on '{body}': try a weaker or shorter push."
    return say(after, fell=fell, newtons=strength, body=called.get(push.body, push.body))


def _direction(simulation: Simulation, lost: int) -> str:
    """The direction in which it left its reference, as the character sees it: a key of `FELL`."""
    wanted = simulation.followed.q[lost]
    away = simulation.recording.q[lost, :3] - wanted[:3]
    forward, left, up = rotate(conjugate(wanted[3:7]), away)
    ways = {"forwards": forward, "backwards": -forward, "left": left, "right": -left}
    ways |= {"down": -1.5 * up}  # a body that sinks hardly moves aside
    return max(ways, key=lambda way: float(ways[way]))


def _last_push(pushes: Sequence[Push], time: float) -> Push | None:
    """The last push before a time, if it is recent."""
    recent = []
    for push in pushes:
        strong = np.flatnonzero(np.linalg.norm(push.force, axis=1) > STRONG)
        if len(strong):
            begun, ended = push.start + strong[0] / push.rate, push.start + strong[-1] / push.rate
            if begun <= time <= ended + AFTER_PUSH:
                recent.append((begun, push))
    return max(recent, key=lambda pair: pair[0])[1] if recent else None
