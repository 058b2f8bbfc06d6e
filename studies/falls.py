# SPDX-License-Identifier: GPL-3.0-or-later
"""Falls from random pushes on flat ground, slopes and stairs: how deep bodies sink, whether all come to rest."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.batch.terrains import BEHIND, BEYOND, Profile, extruded, ramp, stairs
from heft.core.character import Character
from heft.core.character.parts import Capsule, Corner
from heft.core.contact.terrain import make_terrain
from heft.core.control.loop import AFTER_FALL, STILL, TUMBLES, follow
from heft.core.control.stage import Stage
from heft.core.dynamics import body_poses
from heft.core.report import metrics
from heft.core.simulation import Push
from heft.core.simulation.outcome import Simulation
from heft.core.simulation.scene import Scene
from heft.studies.lib.journal import Journal
from heft.studies.lib.pushed import Pushed, captured

from tests.core.motion.skeletons import CLIPS, GOOD

Array = np.ndarray

WALKS = ("02_01", "132_20")
HARD = (500.0, 2000.0)  # N, of pushes that fell
START = 1.2  # m from where a walk starts to where its ground changes
GROUNDS: dict[str, Profile] = {
    "flat": [(START, 0.0), (START + 1.0, 0.0)],
    "slope up, 10 degrees": ramp(START, 10.0, 30.0),
    "slope down, 10 degrees": ramp(START, -10.0, 30.0),
    "stairs up": stairs(START, 0.17, 0.29, 30),
    "stairs down": stairs(START, -0.17, 0.29, 30),
}
A_PART = 25  # falls that are kept together
PARTS = 8  # of each ground
NEVER = 1e9  # s, of who does not come to rest while it is watched
DEEP = 0.01  # m
BETWEEN = 3  # m, capsules along which depths are looked at in so many places between their ends


class Fall(NamedTuple):
    """How one went, from the first state of the loss on."""

    number: int
    depth: float  # m, of the deepest point of any body in the ground, by the ground's own profile
    deepest: str  # which body that is
    own: float  # m, of the deepest body in another of its own
    between: str  # which
    beyond: float  # m, of the same, deeper than the walk itself has those two in each other
    rest: float  # s until all joints are still, and stay so; a billion where they never are
    fastest: float  # rad/s or m/s
    share: float  # of the joints' limits


@cache
def walk(clip: str) -> Pushed:
    """Ready to be pushed."""
    return Pushed.of(captured(clip, loop=True, seconds=12.0), 1, 9.0)


def thrown(ground: str, number: int) -> tuple[Pushed, Stage]:
    """A random push and where it acts; the same for the same number."""
    random = np.random.default_rng([list(GROUNDS).index(ground), number])
    pushed = walk(WALKS[number % len(WALKS)])
    newtons, angle, up = random.uniform(*HARD), random.uniform(0.0, 2.0 * np.pi), random.uniform(-0.2, 0.2)
    force = (newtons * np.cos(angle), newtons * np.sin(angle), newtons * up)
    start, seconds, height = random.uniform(0.1, 1.1), random.uniform(0.1, 0.2), random.uniform(0.0, 0.3)
    push = Push.constant("torso", force, start, seconds, (0.0, 0.0, height))
    terrain = make_terrain([extruded(GROUNDS[ground], *way(pushed), 1.0)])
    return pushed, replace(pushed.stage, terrain=terrain, scene=Scene(pushes=(push,)))


def fallen(ground: str, number: int) -> tuple[Pushed, Simulation]:
    """What becomes of such a push."""
    pushed, stage = thrown(ground, number)
    pushed.controller.seek()
    return pushed, follow(pushed.controller, stage.world(), stage, lambda *_: True)


@cache
def walking(clip: str) -> tuple[Array, Array]:
    """All bodies' places and orientations over the walk."""
    reference = walk(clip).reference
    poses = zip(*(body_poses(reference.character, q) for q in reference.q), strict=True)
    return tuple(np.array(part) for part in poses)


def way(pushed: Pushed) -> tuple[Array, float]:
    """Where a walk starts (2,), and where it goes, an angle from X."""
    shift = pushed.reference.cycle.shift
    return pushed.reference.q[0, :2], float(np.arctan2(shift[1], shift[0]))


def in_the_ground(
    character: Character, poses: tuple[Array, Array], profile: Profile, way: tuple[Array, float]
) -> Array:
    """Depths (nf, ns) of shapes in an extruded profile, m."""
    origin, heading = way
    depths = []
    for shape in character.contacts:
        b = character.index(shape.body)
        ends = (shape.start, shape.end) if isinstance(shape, Capsule) else (shape.position,)
        radius = 0.0 if isinstance(shape, Corner) else shape.radius
        shares = np.linspace(0.0, 1.0, BETWEEN + 2) if len(ends) > 1 else [0.0]
        places = [np.array(ends[0]) + share * (np.array(ends[-1]) - np.array(ends[0])) for share in shares]
        world = np.stack([poses[0][:, b] + rotated(poses[1][:, b], place) for place in places], axis=1)
        along = (world[..., 0] - origin[0]) * np.cos(heading) + (world[..., 1] - origin[1]) * np.sin(heading)
        depths.append((radius - above(profile, along, world[..., 2])).max(axis=1))
    return np.stack(depths, axis=1)


def above(profile: Profile, along: Array, height: Array) -> Array:
    """How far points are from the ground, negative below it."""
    points = np.array([(-BEHIND, profile[0][1]), *profile, (profile[-1][0] + BEYOND, profile[-1][1])])
    at = np.stack((along, height), axis=-1)
    nearest = np.full(along.shape, np.inf)
    for a, b in pairwise(points):
        share = np.clip((at - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-12), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(at - a - share[..., None] * (b - a), axis=-1))
    below = height < np.interp(along, upright(points[:, 0]), points[:, 1])
    return np.where(below, -nearest, nearest)


def upright(along: Array) -> Array:
    """Places that are the same twice, as the edges of steps are, drawn apart by what is no width."""
    return along + 1e-9 * np.arange(len(along))


def rotated(quaternion: Array, vector: Array) -> Array:
    """By each of (n, 4), w-x-y-z."""
    w, axis = quaternion[:, :1], quaternion[:, 1:]
    cross = 2.0 * np.cross(axis, vector)
    return vector + w * cross + np.cross(axis, cross)


def in_one_another(character: Character, poses: tuple[Array, Array]) -> tuple[Array, list[tuple[str, str]]]:
    """Depths (nf, np) of capsules and balls of bodies in each other.

    Those that a joint joins are left out, and those with one between them that overlap as they stand.
    """
    segments, radii, names = [], [], []
    neutral = body_poses(character, character.neutral())
    still = []
    for shape in character.contacts:
        if isinstance(shape, Corner):
            continue
        b = character.index(shape.body)
        ends = (shape.start, shape.end) if isinstance(shape, Capsule) else (shape.position, shape.position)
        segments.append([poses[0][:, b] + rotated(poses[1][:, b], np.array(end)) for end in ends])
        still.append([neutral[0][b] + rotated(neutral[1][b][None], np.array(end))[0] for end in ends])
        radii.append(shape.radius)
        names.append(shape.body)
    parent = {
        body.name: character.bodies[p].name
        for body, p in zip(character.bodies, character.tree.parent.tolist(), strict=True)
        if p >= 0
    }
    found, pairs = [], []
    for i, j in combinations(range(len(names)), 2):
        a, b = names[i], names[j]
        if a == b or parent.get(a) == b or parent.get(b) == a:
            continue
        touch = radii[i] + radii[j]
        above = (parent.get(a), parent.get(b))
        close = above[0] == above[1] or b == parent.get(above[0]) or a == parent.get(above[1])
        if close and touch - segments_apart(*(np.array(end)[None] for end in (*still[i], *still[j])))[0] > 0.0:
            continue
        found.append(touch - segments_apart(*segments[i], *segments[j]))
        pairs.append((a, b))
    return np.stack(found, axis=1), pairs


def segments_apart(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distances (n,) of segments: C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = ((x * y).sum(axis=1) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = (u * w).sum(axis=1), (v * w).sum(axis=1)
    cross, tiny = uu * vv - uv * uv, 1e-12
    s = np.clip(np.where(cross > tiny, (uv * vw - uw * vv) / np.maximum(cross, tiny), 0.0), 0.0, 1.0)
    t = np.where(vv > tiny, (uv * s + vw) / np.maximum(vv, tiny), 0.0)
    clipped = np.clip(t, 0.0, 1.0)
    again = np.where(uu > tiny, (uv * clipped - uw) / np.maximum(uu, tiny), 0.0)
    s = np.where(t == clipped, s, np.clip(again, 0.0, 1.0))
    return np.linalg.norm(w + s[:, None] * u - clipped[:, None] * v, axis=1)


def measured(ground: str, number: int) -> Fall | None:
    """None if it stays up."""
    pushed, simulation = fallen(ground, number)
    if simulation.lost is None:
        return None
    recording, first, character = simulation.recording, simulation.lost, pushed.reference.character
    poses = tuple(np.array(part) for part in zip(*(body_poses(character, q) for q in recording.q[first:]), strict=True))
    depth = in_the_ground(character, poses, GROUNDS[ground], way(pushed))
    own, pairs = in_one_another(character, poses)
    walked, _ = in_one_another(character, walking(WALKS[number % len(WALKS)]))
    speed = np.abs(recording.v[first:]).max(axis=1)
    moving = np.flatnonzero(speed >= STILL)
    return Fall(
        number,
        float(depth.max()),
        character.contacts[int(depth.max(axis=0).argmax())].body,
        float(own.max()),
        " in ".join(pairs[int(own.max(axis=0).argmax())]),
        float((own.max(axis=0) - np.maximum(walked.max(axis=0), 0.0)).max()),
        float(moving[-1] + 1) / recording.rate if speed[-1] < STILL else NEVER,
        float(speed.max()),
        float(metrics.torque_shares(simulation).max()),
    )


def part(ground: str, first: int) -> list[Fall]:
    """Of those that fall of so many pushes."""
    found = (measured(ground, number) for number in range(first, first + A_PART))
    return [fall for fall in found if fall is not None]


def line(ground: str, falls: Sequence[Fall]) -> str:
    """A row of the page."""
    names = ("depth", "own", "beyond", "rest")
    depth, own, beyond, rest = (np.array([getattr(fall, name) for fall in falls]) for name in names)
    depth, own, beyond, lies = 1e3 * depth, 1e3 * own, 1e3 * beyond, rest[rest < NEVER]
    return (
        f"| {ground} | {len(falls)} | {np.median(depth):.1f} | {depth.max():.1f} | {(depth > 1e3 * DEEP).sum()} "
        f"| {own.max():.0f} | {(own > 1e3 * DEEP).sum()} "
        f"| {beyond.max():.0f} | {(beyond > 1e3 * DEEP).sum()} | {np.median(lies):.1f}, {lies.max():.1f} "
        f"| {(rest > AFTER_FALL).sum()} | {(rest == NEVER).sum()} "
        f"| {max(fall.fastest for fall in falls):.0f} | {max(fall.share for fall in falls):.9f} |"
    )


def study(folder: Path) -> str:
    """The page; what was found already is kept in out/studies. No part is begun after HEFT_STUDY_SECONDS."""
    del folder
    if not GOOD:
        return f"# Falls\n\nThe clips are not at {CLIPS}.\n"
    journal = Journal.of("falls")
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    found: dict[str, list[Fall]] = {ground: [] for ground in GROUNDS}
    for k in range(PARTS):
        for ground, falls in found.items():
            question = f"{ground} {k}"
            if time.monotonic() < end or journal.knows(question):
                falls += [Fall(*one) for one in journal.find(question, partial(part, ground, k * A_PART))]
    page = [INTRODUCTION.rstrip("\n"), *(line(ground, falls) for ground, falls in found.items() if falls)]
    worst = sorted((fall for falls in found.values() for fall in falls), key=lambda fall: -fall.depth)[:5]
    page += ["", "The deepest: " + ", ".join(f"{fall.deepest} {1e3 * fall.depth:.0f} mm" for fall in worst) + "."]
    return "\n".join(page) + "\n"


INTRODUCTION = f"""# Falls

{" and ".join(WALKS)}, captured walks as cycles under look-ahead control without recovery, are pushed at the torso by
{HARD[0]:g} to {HARD[1]:g} N for 0.1 to 0.2 s, at random heights, to random sides, at random moments, as they come to where the ground
changes. Each that falls is watched for {AFTER_FALL:g} s from the start of the fall, and if it moves then until it lies still, {TUMBLES:g} s
at most; still is what is slower than {STILL:g} rad/s or m/s at every joint. Depths are measured on the ground's own
profile, at five places of each capsule, not by the contacts that the simulation finds; of bodies in each other on those
that no joint joins. The walks have arms up to 2.6 cm in the hips, and thighs 1.1 cm in each other, since shapes are
thicker than what they stand for; "beyond the walk" is what is deeper than that. Written by `run.py study falls`.

| ground | falls | depth, mm: median | most | over 1 cm | in its own, mm: most | over 1 cm | beyond the walk, mm: most | over 1 cm | s until it lies: median, most | after 2 s | never | fastest, rad/s | torque by limit |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501
