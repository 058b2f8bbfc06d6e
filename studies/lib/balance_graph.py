# SPDX-License-Identifier: GPL-3.0-or-later
"""The action graph of walk, march and stop, found from captured clips: a part of the study of balance control."""

import math
import time
from html import escape
from pathlib import Path

import numpy as np
from heft.core.character import Character
from heft.core.control.balance import Balance
from heft.core.control.balance.graph import ActionGraph, make_graph
from heft.core.control.track import Track
from heft.core.dynamics import difference
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.prepare import prepare
from heft.core.motion.reference import Reference
from heft.core.motion.retarget import retarget
from heft.core.motion.sequence import Choice, concatenate, standing
from heft.core.simulation import World
from heft.studies.lib.balance_ground import NOISE, RATE, REPLICAS

from tests.core.motion.skeletons import CMU_ROLES, cmu, still

WALK, MARCH, STOP = "02_01", "20_06", "16_08"
STANDING = 0.5  # s, from the end of the clip that stops
STRAYED = 0.25  # m
CHOICES = [("stop", 0.0), ("walk", 0.5), ("march", 5.0), ("walk", 9.5), ("stop", 13.0), ("march", 15.0), ("stop", 18.0)]
COURSE = [Choice(*choice) for choice in CHOICES]
LASTS = 21.0  # s

TITLE = "## Action graph"
TEXT = f"""
Figure 3-7 with transitions that were found: the walk of {WALK}, the march of {MARCH} and the end of {STOP}, all on the
body of {WALK}, put onto its skeleton as **Motion From** does it. An arrow is a bridge that a trial simulation
went over; the number is the distance of the two states in its middle, RMS over poses and velocities.

![Action graph](balance_graph.svg)
"""
SIZE, RADIUS = 300, 34  # pixels
ARROW = (
    '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#2a6fdb"/></marker></defs>'
)


def motions_on_one_body() -> tuple[Character, dict[str, Trajectory]]:
    """The clips on the skeleton of the walk, and the one character that does them all."""
    walk = cmu(WALK)
    clips = {WALK: walk}
    for name in (MARCH, STOP):
        clip = cmu(name)
        clips[name] = retarget(clip, CMU_ROLES, still(walk.skeleton, len(clip.position), clip.rate), CMU_ROLES).clip
    every = list(clips.values())
    done = {name: prepare(clip, CMU_ROLES, motions=every) for name, clip in clips.items()}
    return done[WALK].plan.character, {name: each.trajectory for name, each in done.items()}


def motions_of(character: Character, trajectories: dict[str, Trajectory]) -> dict[str, Reference]:
    """Two gaits, and standing as a cycle that goes nowhere."""
    gaits = {"walk": trajectories[WALK], "march": trajectories[MARCH]}
    found = {name: make_reference(character, gait, cyclic=True).reference for name, gait in gaits.items()}
    stopping = trajectories[STOP]
    frames = round(STANDING * RATE)
    end = make_reference(character, stopping.cut(len(stopping.q) - frames, len(stopping.q))).reference
    return found | {"stop": standing(end, frames)}


def drawn(graph: ActionGraph) -> str:
    """Motions on a circle, arrows bent to their left."""
    names = list(graph.motions)
    middle = 0.5 * SIZE
    places = {}
    for number, name in enumerate(names):
        angle = 2.0 * math.pi * number / len(names) - 0.5 * math.pi
        places[name] = middle + 95.0 * math.cos(angle), middle + 95.0 * math.sin(angle)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="12">',
        ARROW,
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for (first, second), bridge in graph.bridges.items():
        (a, b), (c, d) = places[first], places[second]
        length = math.hypot(c - a, d - b)
        x, y = (c - a) / length, (d - b) / length
        a, b, c, d = a + RADIUS * x + 8 * y, b + RADIUS * y - 8 * x, c - RADIUS * x + 8 * y, d - RADIUS * y - 8 * x
        e, f = 0.5 * (a + c) + 14 * y, 0.5 * (b + d) - 14 * x
        parts.append(
            f'<path d="M{a:.1f} {b:.1f}Q{e:.1f} {f:.1f} {c:.1f} {d:.1f}" fill="none" stroke="#2a6fdb" '
            'stroke-width="1.5" marker-end="url(#end)"/>'
        )
        parts.append(
            f'<text x="{e + 10 * y:.1f}" y="{f - 10 * x + 4:.1f}" text-anchor="middle">{bridge.distance:.2f}</text>'
        )
    for name, (x, y) in places.items():
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="#eef3fb" stroke="#2a6fdb"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="14">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def followed(character: Character, course: Track, seed: int) -> tuple[float, float]:
    """Seconds until it strays, and RMS of joints in degrees."""
    controller, world = Balance(character, course), World(character, rate=RATE)
    q, v = controller.reference_state()
    world.reset(q, v + np.random.default_rng(seed).normal(scale=NOISE, size=character.nv))
    joints = []
    for step in range(len(course.q) - 1):
        world.step(controller)
        error = difference(character, controller.reference_state()[0], world.q)
        if np.linalg.norm(error[:3]) > STRAYED:
            return step / RATE, float(np.degrees(np.sqrt(np.mean(joints))))
        joints.append(np.mean(error[6:] ** 2))
    return (len(course.q) - 1) / RATE, float(np.degrees(np.sqrt(np.mean(joints))))


def sections(folder: Path) -> list[str]:
    """The page's part."""
    character, trajectories = motions_on_one_body()
    motions = motions_of(character, trajectories)
    begun = time.perf_counter()
    graph = make_graph(motions)
    took = time.perf_counter() - begun
    (folder / "balance_graph.svg").write_text(drawn(graph), encoding="utf-8")
    page = [
        "",
        TITLE,
        TEXT,
        "| from | to | leaves at frame | enters at | lasts s | distance |",
        "|---|---|---|---|---|---|",
    ]
    for (first, second), bridge in graph.bridges.items():
        lasts = bridge.reference.steps / RATE
        page.append(f"| {first} | {second} | {bridge.leave} | {bridge.enter} | {lasts:.2f} | {bridge.distance:.3f} |")
    course = Track.of(concatenate(graph.sequence(COURSE, LASTS)))
    found = [followed(character, course, seed) for seed in range(REPLICAS)]
    whole = (len(course.q) - 1) / RATE
    complete = sum(seconds == whole for seconds, _ in found)
    words = " → ".join(name for name, _ in CHOICES)
    page += [
        "",
        f"Found in {took:.0f} s. A course of {whole:.1f} s, {words}: {complete} of {REPLICAS} starts with noise",
    ]
    page += [f"complete, joints within {np.median([joints for _, joints in found]):.2f}° RMS (median)."]
    return page
