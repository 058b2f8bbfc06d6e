# SPDX-License-Identifier: GPL-3.0-or-later
"""Other makers' skeletons and files: rest poses, names removed, damage, units, motion in place, time to set up."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from heft.core.job import BakeJob, run
from heft.core.motion import quaternions
from heft.core.motion.body_plan import plausible_scale
from heft.core.motion.bvh import read_bvh
from heft.core.motion.clip import Clip, scaled, to_local
from heft.core.motion.damage import repair
from heft.core.motion.roles import Roles
from heft.core.motion.upright import stood_up, up_of
from heft.core.rig.roles import detect_roles

from tests.core.motion.skeletons import CLIPS, CMU_ROLES, CMU_UNIT, GOOD, scrambled

IN_PLACE = ("02_01", "07_04", "132_20", "20_06", "35_17", "09_02")  # four walks and two runs
EVERY = 8  # of the clips that are baked
SMOOTH = np.radians(3.0)  # between samples: less than that is no damage
SECONDS = 1.0
FRAMES, BONES = 5000, 100
INTRODUCTION = """# Other makers' skeletons

What Heft makes of files that nobody made for it. Written by `run.py study any_skeleton`, on captured clips that lie
beside the repository; what Set Up makes of generated ones is in the tests (`test_makers.py`) and in
[fuzzed skeletons](fuzzed_skeletons.md).

"""


def whole(path: Path) -> tuple[Clip, Roles]:
    """A clip without damage, standing, in metres, and its roles."""
    if "cmu" in path.parts[-2]:
        return repair(read_bvh(path, CMU_UNIT).cut(1, 10**6), CMU_ROLES)[0], CMU_ROLES
    clip = read_bvh(path, 1.0)
    found = detect_roles(clip.skeleton, None, None, clip).bones
    clip = stood_up(clip, up_of(clip, found))
    return repair(scaled(clip, plausible_scale(clip, found)), found)[0], found


def every_clip() -> list[Path]:
    """All clips of whole skeletons beside the repository."""
    return GOOD + sorted((CLIPS / "skeletons").glob("*/*.bvh"))


def of_scrambled() -> Iterator[str]:
    """Rest poses turned at random at every joint: how far the bake is from that of the file as it is."""
    yield "## Rest poses turned at random at every joint\n"
    yield f"Asked: a bake within 0.5 degrees and 5 mm. The first {SECONDS} s of every eighth clip.\n"
    yield "| clip | outcome | degrees | mm |\n|---|---|---|---|"
    worst = [0.0, 0.0]
    for path in every_clip()[::EVERY]:
        clip, roles = whole(path)
        clip = clip.cut(0, 1 + round(SECONDS * clip.rate))
        plain, other = (run(BakeJob(each, roles)) for each in (clip, scrambled(clip)))
        carried = [plain.bones.index(name) for names in roles.values() for name in names]
        ours, theirs = plain.poses[:, carried], other.poses[:, carried]
        count = min(len(ours), len(theirs))
        # the bones' frames lie otherwise in them: turns from the first frame on are compared
        turns = [quaternions.from_matrix(each[:count, :, :3, :3]) for each in (ours, theirs)]
        from_first = [quaternions.multiply(turn, quaternions.conjugate(turn[:1])) for turn in turns]
        angle = float(np.degrees(quaternions.angle(*from_first)).max())
        away = 1000.0 * float(np.linalg.norm(ours[:count, :, :3, 3] - theirs[:count, :, :3, 3], axis=2).max())
        worst = [max(worst[0], angle), max(worst[1], away)]
        yield f"| {path.stem} | {plain.outcome}, {other.outcome} | {angle:.2f} | {away:.1f} |"
    yield f"\nWorst: {worst[0]:.2f} degrees, {worst[1]:.1f} mm.\n"


def of_names() -> Iterator[str]:
    """Names removed: how many roles shape alone finds as names do."""
    yield "## Names removed\n\n| clip | roles found as by names |\n|---|---|"
    every = [path for path in every_clip() if path not in GOOD[1:]]
    for path in every:
        clip, roles = whole(path)
        plain = tuple(f"bone {number}" for number in range(len(clip.skeleton.names)))
        nameless = replace(clip, skeleton=replace(clip.skeleton, names=plain))
        found = detect_roles(nameless.skeleton, None, None, nameless).bones
        wanted = {role: tuple(plain[clip.skeleton.index(name)] for name in names) for role, names in roles.items()}
        right = sum(found.get(role) == names for role, names in wanted.items())
        yield f"| {path.stem} | {right} of {len(wanted)} |"


def of_damage() -> Iterator[str]:
    """Damage: nothing refused, and what is smooth stays."""
    yield "\n## Damage\n\nAsked: no clip refused; bones within 2 degrees of the file where the file is smooth.\n"
    refused, off, count, told = 0, 0, 0, []
    for path in sorted((CLIPS / "cmu-hard").glob("*.bvh")):
        clip = read_bvh(path, CMU_UNIT).cut(1, 10**6)
        try:
            mended, _ = repair(clip, CMU_ROLES)
        except ValueError as error:
            refused += 1
            told.append(f"- {path.stem}: {error}")
            continue
        start = round(mended.first_frame - clip.first_frame)
        before, after = (to_local(each).orientation for each in (clip.cut(start, start + len(mended.position)), mended))
        away = quaternions.angle(before, after)
        quick = np.zeros(away.shape, dtype=bool)
        steps = quaternions.angle(before[1:], before[:-1]) > SMOOTH
        reach = round(0.1 * clip.rate)
        for sample, bone in np.argwhere(steps):
            quick[max(sample - reach, 0) : sample + reach + 1, bone] = True
        wrong = (away > np.radians(2.0)) & ~quick
        off, count = off + int(wrong.sum()), count + int((~quick).sum())
        if wrong.any():
            share = 100.0 * wrong.sum() / max((~quick).sum(), 1)
            names = ", ".join(clip.skeleton.names[bone] for bone in np.flatnonzero(wrong.any(axis=0))[:4])
            told.append(f"- {path.stem}: {share:.2f} % of its smooth samples, {names}")
    yield f"Refused: {refused} of 100. Of {count} samples of bones that are smooth for a tenth of a second around,"
    yield f"{100.0 * off / max(count, 1):.3f} % were turned by more than 2 degrees: bones that had been turned over.\n"
    yield "\n".join(told)


def of_place() -> Iterator[str]:
    """Motion in place: the bake against that of the motion that travels, less its way."""
    yield "\n## Motion in place\n\nRoot motion removed. Asked: within 1 cm of the bake that travels, less its way.\n"
    yield "| clip | mean of all bones, mm | worst frame, mm |\n|---|---|---|"
    for name in IN_PLACE:
        clip, roles = whole(next(path for path in GOOD if path.name.startswith(name)))
        hips = clip.position[:, clip.skeleton.index(roles["pelvis"][0]), :2]
        position = clip.position.copy()
        position[..., :2] -= hips[:, None]
        travels, stays = (run(BakeJob(each, roles)) for each in (clip, replace(clip, position=position)))
        count = min(len(travels.frames), len(stays.frames))
        rows = np.round(travels.frames[:count] - clip.first_frame).astype(int)
        less = travels.poses[:count, :, :3, 3].copy()
        less[..., :2] -= hips[rows][:, None]
        away = 1000.0 * np.linalg.norm(stays.poses[:count, :, :3, 3] - less, axis=2)
        yield f"| {name} | {away.mean():.1f} | {away.mean(axis=1).max():.1f} |"


def of_time() -> Iterator[str]:
    """How long it takes to tell all of a clip of many frames and bones."""
    yield "\n## Time\n"
    yield f"Processor time of {FRAMES} frames on {BONES} bones, for roles, axis, unit and repair:"
    clip, _ = whole(GOOD[0])
    times = 1 + FRAMES // len(clip.position)
    skeleton, more = clip.skeleton, BONES - len(clip.skeleton.names)
    hand = skeleton.index("LeftHand")
    skeleton = replace(
        skeleton,
        names=(*skeleton.names, *(f"finger {number}" for number in range(more))),
        parent=np.concatenate([skeleton.parent, np.full(more, hand)]),
        **{
            part: np.concatenate([values, np.repeat(values[hand : hand + 1], more, axis=0)])
            for part, values in (
                ("head", skeleton.head),
                ("tail", skeleton.tail),
                ("orientation", skeleton.orientation),
            )
        },
    )
    parts = []
    for values in (clip.position, clip.orientation):
        wide = np.concatenate([values, np.repeat(values[:, hand : hand + 1], more, axis=1)], axis=1)
        parts.append(np.concatenate([wide, wide[::-1]] * times)[:FRAMES])
    long = replace(clip, skeleton=skeleton, position=parts[0], orientation=parts[1])
    start = time.process_time()
    found = detect_roles(long.skeleton, None, None, long).bones
    up_of(long, found)
    plausible_scale(long, found)
    repair(long, found)
    yield f"{time.process_time() - start:.2f} s. (Set Up in Blender reads 500 frames at most.)"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    parts: tuple[Callable[[], Iterator[str]], ...] = (of_scrambled, of_names, of_damage, of_place, of_time)
    return INTRODUCTION + "\n".join(line for part in parts for line in part())
