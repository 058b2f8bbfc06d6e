# SPDX-License-Identifier: GPL-3.0-or-later
"""What is broken in a clip: found and mended, with a line that says where, what and by how much.

A despike compares each bone's rotation in its parent, and each root's place, with their running medians over an eighth
of a second. The window is mirrored at the clip's ends, so that a bad sample there is outvoted as well. What the median
follows is no spike: a limb that turns over within a frame or two and stays there (`turns`). Of a hand or a toe that is
noise of the capture and is smoothed over. What is no quicker than limbs move in kicks, flips and spins is left alone.
Only a clip without any whole frame is refused.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from . import quaternions
from .clip import Clip, LocalPoses, Skeleton, from_local, to_local
from .quaternions import Array
from .roles import Roles, ancestors
from .turns import QUICK, mend

WINDOW = 0.125  # s, of the running median
FULL_RATE = 120.0  # samples per second: the fewer there are, the further a limb rightly goes between two
SPIKE_ANGLE, LARGEST_SPIKE_ANGLE = math.radians(25.0), math.radians(120.0)  # at the full rate, and at any
SPIKE_DISTANCE = 0.12  # m
QUICK_BODY = (
    9.0  # m/s: with few frames the top of a quick jump leaves the median, too, but no body goes there like that
)
LONGEST_GAP = 0.1  # s, that is filled by interpolation
FLIP_ANGLE = math.radians(60.0)  # between samples at the full rate, see _flip_angle
TURNED_OVER = math.radians(100.0)  # between the samples around a spike: it did not come back
LEAST_RATE = 60.0  # samples per second from which on a turn over several samples is told from a quick move
SMOOTHED = 0.05  # s, on either side of a hand's flip
FIRST_POSE_ANGLE = math.radians(10.0)
EXTREMITY = 0.08  # of the skeleton's extent: what reaches no further than this is a hand, a toe, a face

Mask = NDArray[np.bool_]
Kind = Literal["first pose", "zero pose", "missing", "root spike", "flip", "turned back", "filled", "noise"]


class DamagedClip(ValueError):
    """There is nothing in the clip to go by; the message names frame and bone."""


@dataclass(frozen=True)
class Repair:
    """What was wrong and what was done about it."""

    kind: Kind
    frames: tuple[float, ...]  # by the source's numbers
    bones: tuple[str, ...]
    text: str  # one line for the report
    degrees: float = 0.0  # by which a bone was turned, at most
    is_guess: bool = False  # more was filled in than anyone can know


def repair(clip: Clip, roles: Roles | None = None) -> tuple[Clip, list[Repair]]:
    """The clip without its damage, and what was done; DamagedClip if it has no whole frame.

    `roles` tells hands and toes from other bones; without them, short ends of the skeleton are taken for such.
    """
    with np.errstate(invalid="ignore"):
        local = to_local(clip)
    clip, repairs = _without_lost_frames(clip, local)
    if len(clip.position) < 3:
        return clip, repairs
    if repairs:
        local = to_local(clip)
    small = _extremities(clip.skeleton, roles)
    for step in (_despiked, _without_turns, _without_noise):
        local, found = step(clip, local, small)
        repairs += found
    return (from_local(clip, local), repairs) if repairs else (clip, repairs)


def _without_lost_frames(clip: Clip, local: LocalPoses) -> tuple[Clip, list[Repair]]:
    """Frames without data and a pose inserted before the motion: cut off at the ends, filled in between."""
    repairs = []
    missing = np.isnan(clip.position.sum(axis=2)) | np.isnan(clip.orientation.sum(axis=2))
    zero = _zero_poses(clip, local)
    lost = missing.any(axis=1) | zero
    inserted = np.zeros_like(lost)
    inserted[0] = _is_inserted(local, lost)
    lost |= inserted
    if lost.all():
        raise DamagedClip(
            f"No frame of the clip is complete: {clip.where(0, int(np.argmax(missing[0])))} is missing. "
            "Export it again."
        )
    for kind, mask, bones, what in (
        ("missing", np.logical_or.reduce(missing, axis=1), np.flatnonzero(missing.any(axis=0)), "missing"),
        ("zero pose", zero, np.arange(len(clip.skeleton.names)), "the rest pose at the origin"),
        ("first pose", inserted, np.arange(len(clip.skeleton.names)), "a pose inserted before the motion"),
    ):
        for start, stop in _runs(mask):
            inside = _good_before(lost, start) and _good_before(lost[::-1], len(lost) - stop)
            frames = _frames(clip, np.arange(start, stop))
            done = "interpolated" if inside else "left out"
            guess = bool(inside and (stop - start) / clip.rate > LONGEST_GAP)
            if guess:
                done = f"filled in over {(stop - start) / clip.rate:.1f} s, which is only a guess"
            line = f"{_say(frames, clip.frames_per_sample)}: {what}, {done}"
            whose = tuple(clip.skeleton.names[b] for b in bones)
            repairs.append(Repair(kind, frames, whose, line, is_guess=guess))  # type: ignore[arg-type]
    if not repairs:
        return clip, repairs
    good = np.flatnonzero(~lost)
    start, stop = int(good[0]), int(good[-1]) + 1
    filled, trimmed = clip.cut(start, stop), lost[start:stop]
    if trimmed.any():
        bare = Clip(
            clip.skeleton,
            clip.rate,
            np.where(trimmed[:, None, None], 0.0, filled.position),
            np.where(trimmed[:, None, None], np.array([1.0, 0.0, 0.0, 0.0]), filled.orientation),
            filled.first_frame,
            filled.frames_per_sample,
        )
        mask = np.repeat(trimmed[:, None], len(clip.skeleton.names), axis=1)
        filled = from_local(bare, _interpolated(to_local(bare), mask, mask))
    return filled, repairs


def _zero_poses(clip: Clip, local: LocalPoses) -> Mask:
    """Frames in which every channel is zero: the rest pose, its root at rest or at the origin, amid other poses."""
    skeleton = clip.skeleton
    with np.errstate(invalid="ignore"):
        turned = quaternions.angle(local.orientation, skeleton.parent_orientation)
        roots = skeleton.parent < 0
        place = clip.position[:, roots]
        at_rest = (np.abs(place - skeleton.head[roots]).max(axis=(1, 2)) < 1e-3) | (
            np.abs(place).max(axis=(1, 2)) < 1e-3
        )
        zero = (turned.max(axis=1) < math.radians(0.1)) & at_rest
        turns = quaternions.angle(local.orientation[1:], local.orientation[:-1])
        stride = np.linalg.norm(np.diff(place, axis=0), axis=2).max(axis=1)
    leaps = np.sum(turns > FIRST_POSE_ANGLE, axis=1)
    ordinary = ~(zero[1:] | zero[:-1]) & np.isfinite(stride)
    if not (zero.any() and ordinary.any()):
        return np.zeros_like(zero)
    jump = (leaps >= 4) & (leaps > 3.0 * np.percentile(leaps[ordinary], 95.0))
    jump |= (stride > SPIKE_DISTANCE) & (stride > 3.0 * np.percentile(stride[ordinary], 95.0))
    # A clip may rest; it does not leap into its rest pose and out again.
    result = np.zeros(len(zero), dtype=np.bool_)
    for start, stop in _runs(zero):
        leaps_in, leaps_out = start == 0 or jump[start - 1], stop == len(zero) or jump[stop - 1]
        result[start:stop] = leaps_in and leaps_out and stop - start < len(zero)
    return result


def _is_inserted(local: LocalPoses, lost: Mask) -> bool:
    """Whether the first sample is a pose apart: many bones leap from it, and no step after it is like that."""
    good = np.flatnonzero(~lost[:32])
    if len(good) < 4 or good[0] > 0:
        return False
    orientation = local.orientation[good]
    leaps = np.sum(quaternions.angle(orientation[1:], orientation[:-1]) > FIRST_POSE_ANGLE, axis=1)
    return bool(leaps[0] >= 4 and leaps[0] > 3 * leaps[1:].max())


def _despiked(clip: Clip, local: LocalPoses, small: Mask) -> tuple[LocalPoses, list[Repair]]:
    slowness = max(1.0, FULL_RATE / clip.rate)
    half = max(1, round(0.5 * WINDOW * clip.rate))
    size = min(2 * half + 1, 2 * ((len(clip.position) - 1) // 2) + 1)
    turned = np.zeros(local.orientation.shape[:2], dtype=np.bool_)
    quick = quaternions.angle(local.orientation[1:], local.orientation[:-1]).max(axis=0) > QUICK / clip.rate
    for bone in np.flatnonzero(quick):  # no other has a spike that is as quick as no limb
        turn = local.orientation[:, bone]
        matrices = quaternions.matrix(turn).reshape(len(turn), 9)
        middle = median_filter(matrices, size=(size, 1), mode="mirror").reshape(-1, 3, 3)
        turned[:, bone] = quaternions.angle(turn, quaternions.from_matrix(middle)) > min(
            SPIKE_ANGLE * slowness, LARGEST_SPIKE_ANGLE
        )
    moved = np.zeros_like(turned)
    for root in np.flatnonzero(clip.skeleton.parent < 0):
        place, more = local.position[:, root], size // 2
        middle = median_filter(_going_on(place, more), size=(size, 1))[more : more + len(place)]
        moved[:, root] = np.linalg.norm(place - middle, axis=1) > SPIKE_DISTANCE
        if clip.rate < LEAST_RATE:
            steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
            for start, stop in _runs(moved[:, root]):
                moved[start:stop, root] = steps[max(start - 1, 0) : stop].max() > QUICK_BODY / clip.rate
    turned &= _as_quick_as_no_limb(local, turned, clip.rate)
    spikes = turned & ~_staying(local, turned & ~small)
    repairs = [
        *_lines(clip, "root spike", moved, "jumps and comes back, interpolated"),
        *_lines(clip, "flip", spikes & ~small, "flips and comes back, interpolated"),
        *_lines(clip, "noise", spikes & small, "flips and comes back, interpolated"),
    ]
    return (_interpolated(local, spikes | moved, moved), repairs) if repairs else (local, repairs)


def _going_on(place: Array, more: int) -> Array:
    """A path (nf, 3) that goes on at both ends as it came, mirrored but for its usual speed there.

    Only mirrored, what runs would seem to turn back within one sample.
    """
    more = min(more, len(place) - 1)
    samples = np.arange(1, more + 1)[:, None]
    first, last = (np.median(np.diff(ends, axis=0), axis=0) for ends in (place[: 2 * more], place[-2 * more :]))
    before = place[1 : more + 1] - 2.0 * samples * first
    after = place[-2 : -more - 2 : -1] + 2.0 * samples * last
    return np.concatenate([before[::-1], place, after])


def _as_quick_as_no_limb(local: LocalPoses, turned: Mask, rate: float) -> Mask:
    """Of the runs in which a bone leaves its median, those that it enters or leaves quicker than a limb moves."""
    result = np.zeros_like(turned)
    for bone in np.flatnonzero(turned.any(axis=0)):
        steps = quaternions.angle(local.orientation[1:, bone], local.orientation[:-1, bone])
        for start, stop in _runs(turned[:, bone]):
            result[start:stop, bone] = steps[max(start - 1, 0) : stop].max() > QUICK / rate
    return result


def _without_turns(clip: Clip, local: LocalPoses, small: Mask) -> tuple[LocalPoses, list[Repair]]:
    """Mend bones that turn over and stay so, hands and toes aside."""
    turn, repairs = local.orientation.copy(), []
    for bone in np.flatnonzero(~small):
        broken = _turns(turn[:, bone], clip.rate)
        if not broken.any():
            continue
        skeleton = clip.skeleton
        along = skeleton.tail[bone] - skeleton.head[bone]
        along = quaternions.rotate(quaternions.conjugate(skeleton.orientation[bone]), along / np.linalg.norm(along))
        mended = mend(turn[:, bone], broken, clip.rate, along, skeleton.parent_orientation[bone])
        away = np.degrees(quaternions.angle(mended.turn, turn[:, bone]))
        changed = away > 1.0
        turn[:, bone] = mended.turn
        for kind, mask, what in (
            ("turned back", mended.turned_back & changed, "was flipped, turned back"),
            ("filled", mended.filled & changed, "flips, filled in from both sides"),
        ):
            if mask.any():
                frames, degrees = _frames(clip, np.flatnonzero(mask)), float(away[mask].max())
                said = _say(frames, clip.frames_per_sample)
                text = f"{said}: bone '{skeleton.names[bone]}' {what}, by up to {degrees:.0f}°"
                longest = max(stop - start for start, stop in _runs(mask)) / clip.rate
                guess = kind == "filled" and longest > LONGEST_GAP
                if guess:
                    text += f", over {longest:.1f} s, which is only a guess"
                repairs.append(Repair(kind, frames, (skeleton.names[bone],), text, degrees, guess))  # type: ignore[arg-type]
    return (LocalPoses(local.position, turn), repairs) if repairs else (local, repairs)


def _turns(turn: Array, rate: float) -> Mask:
    """The samples of a bone within a turn, or first after one: a leap, or over some samples more than a limb can."""
    steps = np.zeros(len(turn))
    steps[1:] = quaternions.angle(turn[1:], turn[:-1])
    result: Mask = steps > _flip_angle(rate)
    if rate >= LEAST_RATE:
        for start, stop in _runs(steps > QUICK / rate):
            if quaternions.angle(turn[start - 1], turn[stop - 1]) > TURNED_OVER:
                result[start:stop] = True
    return result


def _without_noise(clip: Clip, local: LocalPoses, small: Mask) -> tuple[LocalPoses, list[Repair]]:
    """Smooth over what is left of the flips of hands and toes."""
    step = np.zeros(local.orientation.shape[:2])
    step[1:] = quaternions.angle(local.orientation[1:], local.orientation[:-1])
    flips = (step > _flip_angle(clip.rate)) & small
    reach = round(SMOOTHED * clip.rate)
    mask = np.zeros_like(flips)
    for frame, bone in np.argwhere(flips):
        mask[max(frame - reach, 1) : frame + reach, bone] = True
    repairs = _lines(clip, "noise", flips, "flips over within one frame, smoothed")
    return (_interpolated(local, mask, np.zeros_like(mask)), repairs) if repairs else (local, repairs)


def _staying(local: LocalPoses, turned: Mask) -> Mask:
    """Of the runs in which a bone leaves its median, those after which it has turned over."""
    result = np.zeros_like(turned)
    for bone in np.flatnonzero(turned.any(axis=0)):
        turn = local.orientation[:, bone]
        for start, stop in _runs(turned[:, bone]):
            ends = (max(start - 1, 0), min(stop, len(turn) - 1))
            result[start:stop, bone] = quaternions.angle(turn[ends[0]], turn[ends[1]]) > TURNED_OVER
    return result


def _flip_angle(rate: float) -> float:
    """More than a joint can turn between two samples: less at high rates, never quite half a turn."""
    return float(min(FLIP_ANGLE * math.sqrt(FULL_RATE / rate), math.radians(150.0)))


def _extremities(skeleton: Skeleton, roles: Roles | None) -> Mask:
    """Hands, toes and all that hangs from them; any other short end of the skeleton."""
    count = len(skeleton.names)
    reach = np.linalg.norm(skeleton.tail - skeleton.head, axis=1)
    for bone in range(count):
        for above in ancestors(skeleton, bone):
            reach[above] = max(reach[above], float(np.linalg.norm(skeleton.tail[bone] - skeleton.head[above])))
    extent = float(np.linalg.norm(np.ptp(np.concatenate([skeleton.head, skeleton.tail]), axis=0)))
    small: Mask = reach < EXTREMITY * extent
    if roles is not None:
        for role, chain in roles.items():
            for name in chain:
                if name in skeleton.names:
                    small[skeleton.names.index(name)] = role.startswith(("hand", "toe"))
    for bone, parent in enumerate(skeleton.parent):
        small[bone] |= bool(parent >= 0 and small[parent])
    return small


def _interpolated(local: LocalPoses, turned: Mask, moved: Mask) -> LocalPoses:
    """Masked rotations and places of bones between the nearest good ones; at the clip's ends the nearest one."""
    place, turn = local.position.copy(), local.orientation.copy()
    for bone in np.flatnonzero(turned.any(axis=0)):
        bad, before, after, part = _neighbours(turned[:, bone])
        a = turn[before, bone]
        way = quaternions.log(quaternions.multiply(quaternions.conjugate(a), turn[after, bone]))
        turn[bad, bone] = quaternions.multiply(a, quaternions.exp(part[:, None] * way))
    for bone in np.flatnonzero(moved.any(axis=0)):
        bad, before, after, part = _neighbours(moved[:, bone])
        place[bad, bone] = place[before, bone] + part[:, None] * (place[after, bone] - place[before, bone])
    return LocalPoses(place, quaternions.continuous(turn))


def _neighbours(bad: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Array]:
    """Masked samples, the good ones before and after each, and where between the two it lies."""
    index, good = np.flatnonzero(bad), np.flatnonzero(~bad)
    slot = np.searchsorted(good, index)
    before, after = good[np.maximum(slot - 1, 0)], good[np.minimum(slot, len(good) - 1)]
    before, after = np.minimum(before, after), np.maximum(before, after)
    return index, before, after, np.clip((index - before) / np.maximum(after - before, 1), 0.0, 1.0)


def _lines(clip: Clip, kind: Kind, mask: Mask, what: str) -> list[Repair]:
    """One line per bone."""
    repairs = []
    for bone in np.flatnonzero(mask.any(axis=0)):
        frames = _frames(clip, np.flatnonzero(mask[:, bone]))
        name = clip.skeleton.names[bone]
        repairs.append(Repair(kind, frames, (name,), f"{_say(frames, clip.frames_per_sample)}: bone '{name}' {what}"))
    return repairs


def _runs(mask: Mask) -> list[tuple[int, int]]:
    """Start and stop of every run of true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _good_before(lost: Mask, index: int) -> bool:
    return bool((~lost[:index]).any())


def _frames(clip: Clip, samples: NDArray[np.int64]) -> tuple[float, ...]:
    return tuple(clip.frame(int(sample)) for sample in samples)


def _say(frames: tuple[float, ...], step: float) -> str:
    """Frames in words, neighbours, which are a step apart, as ranges."""
    runs: list[list[float]] = []
    for frame in frames:
        if runs and frame - runs[-1][1] < 1.5 * step:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    words = [f"{start:g}" if start == stop else f"{start:g}-{stop:g}" for start, stop in runs]
    shown = ", ".join(words[:12]) + (", ..." if len(words) > 12 else "")
    return f"frame{'s' if len(frames) > 1 else ''} {shown}"
