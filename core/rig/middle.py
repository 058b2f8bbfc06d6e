# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles between the limbs: pelvis, spine, chest, neck, head and tail."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..motion.clip import Skeleton
from .chains import bell
from .names import LEFT, RIGHT, Name
from .role_names import sureness
from .shape import Body, Pair


def label_middle(
    body: Body,
    names: Sequence[Name],
    legs: Pair,
    arms: Pair | None,
    four_legged: bool,
    bones: dict[str, tuple[str, ...]],
    score: dict[str, float],
) -> None:
    """Label pelvis, spine, chest, neck, head and tail."""
    skeleton = body.skeleton
    limb_bones = {b for pair in (legs, arms) if pair is not None for chain in pair.both for b in chain}

    def put(role: str, chain: Sequence[int], sure: float) -> None:
        if chain:
            bones[role] = tuple(skeleton.names[b] for b in chain)
            score[role] = sure

    hips = legs.parent
    if arms is not None and arms.parent >= 0:
        shoulders = arms.parent
    else:
        free = [b for b in body.children.get(hips, []) if b not in limb_bones]
        lowest = max(free, key=lambda b: float(skeleton.head[b, 2]), default=hips)
        shoulders = _below_neck(body, names, lowest)
    meeting = body.common_ancestor([hips, shoulders])
    up_path = body.ancestors(shoulders)
    trunk = up_path[up_path.index(meeting) + 1 :] if meeting in up_path else up_path
    to_hips = body.ancestors(hips)
    pelvis = to_hips[to_hips.index(meeting) :] if meeting in to_hips else [hips]
    pelvis, trunk = _move_pelvis(body, names, pelvis, trunk)

    beyond = _way_to_head(body, shoulders, limb_bones | set(trunk) | set(pelvis), names, four_legged)
    # A trunk and what it goes on to are one chain; names may move the border: 3ds Max hangs collar bones from the neck.
    first_neck = len(trunk)
    chain = [*trunk, *beyond]
    for place in range(len(trunk) - 1, -1, -1):
        if names[chain[place]].parts.get("neck", 0.0) >= 1.0 and place > 0:
            first_neck = place
    while (
        first_neck < len(chain) - 1
        and set(names[chain[first_neck]].parts) & {"chest"}
        and (names[chain[first_neck]].score("chest") >= 1.0)
    ):
        first_neck += 1
    torso, upper = chain[:first_neck], chain[first_neck:]

    put("pelvis", pelvis, sureness(max(names[b].score("pelvis") for b in pelvis), 0.0))
    if torso:
        put("chest", torso[-1:], sureness(max(names[torso[-1]].score("chest"), 0.0), 0.0))
        put("spine", torso[:-1], sureness(float(np.mean([names[b].score("spine") for b in torso[:-1] or torso])), 0.0))
    if upper:
        head_place, head_shape = _head_place(body, names, upper, _skull_height(skeleton, bones, four_legged))
        said = max((names[b].score("neck") for b in upper[:head_place]), default=0.0)
        put("neck", upper[:head_place], sureness(said, 0.0))
        put("head", upper[head_place : head_place + 1], sureness(names[upper[head_place]].score("head"), head_shape))
    taken = limb_bones | set(pelvis) | set(chain)
    above = [body.parent[pelvis[0]]] if body.parent[pelvis[0]] >= 0 else []
    tail = _tail(body, names, [*pelvis, *above], taken, four_legged)
    if tail and body.parent[tail[0]] in above:
        # What carries both the tail and the hips belongs to the hips.
        put("pelvis", [*above, *pelvis], score["pelvis"])
    put("tail", tail, sureness(max((names[b].score("tail") for b in tail), default=0.0), 0.0))


def _below_neck(body: Body, names: Sequence[Name], lowest: int) -> int:
    """The bone of a trunk without arms that its neck, or its head, hangs from by name; its lowest where none does."""
    chain = body.chain(lowest)
    for place, bone in enumerate(chain):
        if place > 0 and max(names[bone].parts.get(part, 0.0) for part in ("neck", "head")) >= 1.0:
            return chain[place - 1]
    return lowest


def _move_pelvis(body: Body, names: Sequence[Name], pelvis: list[int], trunk: list[int]) -> tuple[list[int], list[int]]:
    """Let names and heights mend what the tree says of the pelvis.

    A root far below the hips is no part of it; a bone above the legs' parent that is named so is the pelvis, and what
    the tree took for it is the first of the spine (3ds Max hangs thighs from the lowest spine bone).
    """
    head = body.skeleton.head
    scale = max(body.reach.values())
    while len(pelvis) > 1 and np.linalg.norm(head[pelvis[0]] - head[pelvis[-1]]) > 0.15 * scale:
        pelvis = pelvis[1:]
    above = body.parent[pelvis[0]]
    if (
        above >= 0
        and names[pelvis[-1]].score("pelvis") < 0.5
        and names[pelvis[-1]].parts.get("spine", 0.0) >= 0.5
        and names[above].score("pelvis") >= 0.8
    ):
        trunk = [*pelvis, *trunk]
        pelvis = [above]
    above = body.parent[pelvis[0]]
    if (
        above >= 0
        and names[above].score("pelvis") >= 0.8
        and np.linalg.norm(head[above] - head[pelvis[0]]) < 0.15 * scale
    ):
        pelvis = [above, *pelvis]
    return pelvis, trunk


def _way_to_head(body: Body, shoulders: int, taken: set[int], names: Sequence[Name], four_legged: bool) -> list[int]:
    """The chain from the shoulders' bone to the top, past the limbs."""
    head = body.skeleton.head
    free = [b for b in body.children.get(shoulders, []) if b not in taken]

    def height(bone: int) -> float:
        below = [bone]
        top = float(head[bone, 2])
        while below:
            b = below.pop()
            top = max(top, float(head[b, 2]))
            below += body.children[b]
        return top

    def worth(bone: int) -> float:
        said = max((max(names[b].score("neck"), names[b].score("head"), 0.0) for b in body.chain(bone)), default=0.0)
        tail = max(names[b].score("tail") for b in body.chain(bone))
        return height(bone) - float(head[shoulders, 2]) + body.size * (said - max(tail, 0.0))

    if not free:
        return []
    start = max(free, key=worth)
    if not four_legged and worth(start) < -0.2 * body.size:
        return []
    chain = [start]
    while True:
        below = [b for b in body.children[chain[-1]] if b not in taken]
        named = [b for b in below if max(names[b].score("neck"), names[b].score("head")) > 0.5]
        if named:
            chain.append(body.longest_child(chain[-1], named))
        elif below and len(below) < 3 and not names[chain[-1]].parts.get("head", 0.0) >= 1.0:
            chain.append(body.longest_child(chain[-1], below))
        else:
            return chain


def _skull_height(
    skeleton: Skeleton, bones: Mapping[str, tuple[str, ...]], four_legged: bool
) -> tuple[float, float] | None:
    """Where a person's head starts and within how much, m: a fifth of the leg over the shoulders."""
    if four_legged or "upper_arm.L" not in bones:
        return None

    def height(role: str) -> float:
        return float(np.mean([skeleton.head[skeleton.index(bones[f"{role}.{side}"][0]), 2] for side in (LEFT, RIGHT)]))

    leg = height("thigh") - (height("foot") if "foot.L" in bones else height("shin"))
    if leg <= 0.0:  # lying, or upside down: heights say nothing
        return None
    return height("upper_arm") + 0.20 * leg, 0.08 * leg


def _head_place(
    body: Body, names: Sequence[Name], upper: Sequence[int], skull: tuple[float, float] | None
) -> tuple[int, float]:
    """Where in the chain beyond the shoulders the head starts: by name, by how far up, by a face that hangs from it."""
    joints = np.concatenate([body.skeleton.head[list(upper)], body.skeleton.tail[upper[-1]][None]])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(joints, axis=0), axis=1))])
    way /= max(float(way[-1]), 1e-9)
    faces = [len(body.children[bone]) >= 3 for bone in upper]
    best, best_score, best_shape = 0, -np.inf, 0.0
    for place, bone in enumerate(upper):
        if skull is None:
            shape = bell(float(way[place]), 0.7, 0.25)
        else:
            shape = bell(float(way[place]), 0.4, 0.25) + bell(float(body.skeleton.head[bone, 2]), *skull)
        if place == 0 and len(upper) > 1:
            shape -= 0.5
        face = any(faces[p] and way[p] - way[place] < 0.02 for p in range(place, len(upper)))
        later_face = any(faces[p] and way[p] - way[place] >= 0.02 for p in range(place, len(upper)))
        value = shape + 10.0 * names[bone].score("head") + 0.8 * face - 0.8 * later_face
        value -= 5.0 * max((names[b].score("head") for b in upper[:place]), default=0.0)
        if value > best_score + 1e-9:
            best, best_score, best_shape = place, value, shape
    return best, best_shape


def _tail(body: Body, names: Sequence[Name], roots: Sequence[int], taken: set[int], four_legged: bool) -> list[int]:
    """The chain that hangs behind: named so, or of a quadruped the longest that is left."""
    starts = [b for root in roots for b in body.children[root] if b not in taken]
    named = [b for b in body.kept if names[b].parts.get("tail", 0.0) > 0.5 and b not in taken]
    if named:
        top = min(named, key=lambda b: len(body.ancestors(b)))
        return body.chain(top)
    if not four_legged or not starts:
        return []
    chain = body.chain(max(starts, key=body.reach.__getitem__))
    return chain if len(chain) >= 2 else []
