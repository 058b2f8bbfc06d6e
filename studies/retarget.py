# SPDX-License-Identifier: GPL-3.0-or-later
"""One rig's motion on another: how far feet slide that stand in the source, and hands part that touch in it.

Captured clips are put on each rig, and from there on every other one: so every pair is tried, each way.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.motion import quaternions
from heft.core.motion.clip import Clip, Skeleton, scaled, scaled_skeleton
from heft.core.motion.counterparts import Body, body_of, changes
from heft.core.motion.followed_soles import Points, soles_of
from heft.core.motion.landmarks import leg_length
from heft.core.motion.quaternions import Array
from heft.core.motion.retarget import retarget
from heft.core.motion.roles import Roles, checked
from heft.core.rig.roles import detect_roles

from tests.blender.rig import rigs
from tests.core.motion.skeletons import CMU_ROLES, cmu, still

CLIPS = ("07_04", "08_05", "13_11", "16_11", "20_06", "36_01", "69_70", "83_55", "111_09", "113_01")
TUNED = ("02_01", "05_11", "16_18", "22_14", "39_11", "83_28", "115_06", "120_08", "132_20")
EVERY = 4  # samples of 120 a second
STANDS = 0.1  # m/s of the source's ball of the foot
SHORTEST = 0.1  # s that it stands
ASKED = 5e-3  # m
TOUCH = 0.1  # of the leg, between hands
LONGER = 1.15
PAGE = """# One rig's motion on another

{count} captured clips, put on each rig beside the repository and from there on every other one, each way. A foot slides
by as much as the joint of its toes, or its heel, strays on the ground from the source's, scaled, while that stands
(slower than {stands} m/s): the worst of all stances, asked at most 5 mm. Hands that touch, nearer than {touch:.0%} of a
leg: how far their distance is from the source's, scaled, at worst. None of these clips was tuned on. Written by `run.py
study retarget`.

| from | onto | balls mm, worst | of all stances over 5 mm | heels mm, worst | of all over 5 mm | hands apart mm |
|---|---|---|---|---|---|---|
{rows}

## The same body with legs and feet 15 % longer

The captured skeleton's own motion on it: strides, hips and feet are of other proportions than arms and trunk. The last
{tuned} clips were tuned on.

| clip | balls mm, worst | of all stances over 5 mm | heels mm, worst | of all over 5 mm | hands apart mm |
|---|---|---|---|---|---|
{longer}
"""


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    clips = {name: thinned(cmu(name)) for name in CLIPS}
    found = bodies(next(iter(clips.values())).skeleton)
    on = {
        (body, name): retarget(clip, CMU_ROLES, still(skeleton, len(clip.position), clip.rate), roles).clip
        for body, (skeleton, roles) in found.items()
        for name, clip in clips.items()
    }
    rows = []
    for theirs, ours in permutations(found, 2):
        each = [measured(on[theirs, name], found[theirs][1], *found[ours]) for name in CLIPS]
        rows.append(f"| {theirs} | {ours} | {told(each)} |")
    longer = long_legged(next(iter(clips.values())).skeleton)
    clips |= {name: thinned(cmu(name)) for name in TUNED}
    more = [f"| {name} | {told([measured(clip, CMU_ROLES, longer, CMU_ROLES)])} |" for name, clip in clips.items()]
    return PAGE.format(
        count=len(CLIPS), tuned=len(TUNED), stands=STANDS, touch=TOUCH, rows="\n".join(rows), longer="\n".join(more)
    )


def thinned(clip: Clip) -> Clip:
    """Without the inserted pose, at fewer samples."""
    clip = clip.cut(1, len(clip.position))
    return replace(clip, rate=clip.rate / EVERY, position=clip.position[::EVERY], orientation=clip.orientation[::EVERY])


def bodies(captured: Skeleton) -> dict[str, tuple[Skeleton, Roles]]:
    """The rigs and the roles of their bones."""
    skeletons = {
        "CMU (BVH)": captured,
        "Mixamo": rigs.mpfb_skeleton("mixamo"),
        "game engine": rigs.mpfb_skeleton("game_engine"),
        "CMU of MakeHuman": rigs.mpfb_skeleton("cmu_mb"),
        "Rigify's metarig of MakeHuman": rigs.mpfb_skeleton("human"),
        "VRM": rigs.vrm_skeleton()[0],
    }
    return {
        name: (skeleton, CMU_ROLES if skeleton is captured else detect_roles(skeleton, None, None, None).bones)
        for name, skeleton in skeletons.items()
    }


def long_legged(some: Skeleton) -> Skeleton:
    """Legs and feet longer, the rest as it is, on the same ground."""
    offset, tail = some.parent_offset.copy(), some.tail - some.head
    for role, bones in CMU_ROLES.items():
        for name in bones if role.startswith(("thigh", "shin", "foot")) else ():
            bone = some.index(name)
            offset[[child for child, parent in enumerate(some.parent) if parent == bone]] *= LONGER
            tail[bone] *= LONGER
    head = offset.copy()
    for bone, parent in enumerate(some.parent):
        if parent >= 0:
            head[bone] += head[parent]
    lift = np.array([0.0, 0.0, some.tail[:, 2].min() - (head + tail)[:, 2].min()])
    return replace(some, head=head + lift, tail=head + tail + lift)


class Measured(NamedTuple):
    """Slides of all stances, of balls and of heels, and distances of hands that touch, all off the source's, m."""

    balls: Array
    heels: Array
    apart: Array


def measured(clip: Clip, roles: Roles, skeleton: Skeleton, own: Roles) -> Measured:
    """Put a clip on a skeleton."""
    done = retarget(clip, roles, still(skeleton, len(clip.position), clip.rate), own)
    theirs = scaled_skeleton(clip.skeleton, done.ratio)
    leader, follower = body_of(theirs, checked(roles, theirs)), body_of(skeleton, checked(own, skeleton))
    moving = scaled(clip, done.ratio)
    soles = soles_of(leader, moving, follower)
    balls, heels = [], []
    for side in "LR":
        balls += slides(ball(moving, roles, side), ball(done.clip, own, side), clip.rate)
        points = soles[f"foot.{side}"]
        behind = heel(moving, leader, points.theirs, side), heel(done.clip, follower, points.ours, side)
        heels += slides(*behind, clip.rate)
    apart = [np.linalg.norm(one - other, axis=1) for one, other in (hands(clip, roles), hands(done.clip, own))]
    leg = leg_length(clip.skeleton, {role: [clip.skeleton.index(n) for n in names] for role, names in roles.items()})
    near = apart[0] < TOUCH * leg
    return Measured(np.array(balls), np.array(heels), np.abs(apart[1] - done.ratio * apart[0])[near])


def slides(theirs: Array, ours: Array, rate: float) -> list[float]:
    """How far a point (nf, 3) strays on the ground from another one, in each stance of that."""
    rows = np.flatnonzero(np.linalg.norm(np.gradient(theirs, axis=0), axis=1) * rate < STANDS)
    stances = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    away = (ours - theirs)[:, :2]
    return [float(np.ptp(away[stance], axis=0).max()) for stance in stances if len(stance) > SHORTEST * rate]


def heel(clip: Clip, body: Body, points: Points, side: str) -> Array:
    """Where a sole ends behind (nf, 3)."""
    foot = body.chains[f"foot.{side}"][0]
    return clip.position[:, foot] + quaternions.rotate(changes(body, clip.orientation)[:, foot], points.heel)


def ball(clip: Clip, roles: Roles, side: str) -> Array:
    """Where the toes begin (nf, 3); of a foot without toes, where it ends."""
    toes = roles.get(f"toe.{side}")
    bone = clip.skeleton.index((toes or roles[f"foot.{side}"])[0])
    if toes:
        return clip.position[:, bone]
    return clip.position[:, bone] + turned(clip, bone, clip.skeleton.tail[bone] - clip.skeleton.head[bone])


def hands(clip: Clip, roles: Roles) -> tuple[Array, Array]:
    """The middles of both hands (nf, 3), straight on from the forearm at rest."""
    found = []
    for side in "LR":
        forearm, hand = (clip.skeleton.index(roles[f"{part}.{side}"][0]) for part in ("forearm", "hand"))
        thigh, foot = (
            clip.skeleton.head[clip.skeleton.index(roles[f"{part}.{side}"][0])] for part in ("thigh", "foot")
        )
        way = clip.skeleton.head[hand] - clip.skeleton.head[forearm]
        palm = 0.1 * np.linalg.norm(thigh - foot) * way / np.linalg.norm(way)
        found.append(clip.position[:, hand] + turned(clip, hand, palm))
    return found[0], found[1]


def turned(clip: Clip, bone: int, way: Array) -> Array:
    """What is so at rest (3,), as the bone is turned (nf, 3)."""
    by = quaternions.multiply(clip.orientation[:, bone], quaternions.conjugate(clip.skeleton.orientation[bone])[None])
    return quaternions.rotate(by, way)


def told(each: Sequence[Measured]) -> str:
    """The worst of some clips."""
    balls, heels, apart = (np.concatenate(list(values)) for values in zip(*each, strict=True))
    worst = [
        f"{1000.0 * some.max(initial=0.0):.1f} | {int((some > ASKED).sum())} of {len(some)}" for some in (balls, heels)
    ]
    return " | ".join([*worst, f"{1000.0 * apart.max():.1f}" if len(apart) else "-"])
