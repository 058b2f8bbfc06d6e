# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are the thigh, the spine, the head: from what they are called and from how the skeleton is built.

The skeleton comes first: two limbs that mirror each other and stand on the floor are legs, a pair further up the trunk
is arms (or front legs, where it stands on the floor too). Names and proportions then cut each limb into its parts
together, so that a rig without names has its roles, and one with odd proportions as well. Left is where the toes say it
is; names are asked only when the feet say nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...core.motion.clip import Skeleton
from .chains import (
    ABSENT,
    Cut,
    Limb,
    arm_shape,
    bell,
    best_cut,
    front_leg_shape,
    hind_leg_shape,
    leg_shape,
)
from .names import LEFT, RIGHT, Name, read_name
from .shape import UP, Array, Body, Pair, Plane, limb_pairs, make_body, mirror_plane

MIDDLE_ROLES = ("pelvis", "spine", "chest", "neck", "head", "tail")
ARM_ROLES = ("clavicle", "upper_arm", "forearm", "hand")
LEG_ROLES = ("thigh", "shin", "foot", "toe")
ROLES = (
    *MIDDLE_ROLES,
    *(f"{role}.{side}" for side in (LEFT, RIGHT) for role in ARM_ROLES),
    *(f"{role}.{side}" for side in (LEFT, RIGHT) for role in LEG_ROLES),
)
"""Every role, in the order a panel shows them. Front legs take the arms' roles."""

BIPED, QUADRUPED = "BIPED", "QUADRUPED"
SURE = 0.5
FEWEST_DEFORMING = 8


@dataclass(frozen=True)
class Roles:
    """Bones of each role, ordered root to tip, and how sure each is."""

    bones: Mapping[str, tuple[str, ...]]  # only roles that were found
    score: Mapping[str, float] = field(default_factory=dict)  # 0 to 1
    unsure: tuple[str, ...] = ()  # sentences for the user
    body: str = BIPED
    left: tuple[float, float, float] = (1.0, 0.0, 0.0)  # direction of the figure's left at rest, in the world

    def __getitem__(self, role: str) -> tuple[str, ...]:
        """The bones of a role, none where it was not found."""
        return self.bones.get(role, ())


def detect_roles(
    skeleton: Skeleton,
    deform: Sequence[bool] | NDArray[np.bool_] | None = None,
    humanoid: Mapping[str, str] | None = None,
) -> Roles:
    """Find the roles of a skeleton.

    `deform` says which bones move a mesh, where that is known; `humanoid` is a VRM file's own mapping from its words
    for bones to names, which is taken at its word.
    """
    if humanoid:
        return roles_of_humanoid(skeleton, humanoid)
    names = [read_name(name) for name in skeleton.names]
    best: Roles | None = None
    for keep in candidate_bones(skeleton, names, deform):
        found = _roles_of_bones(skeleton, names, keep)
        if best is None or _worth(found) > _worth(best) + 1e-9:
            best = found
        if _worth(best) > 0.9 * len([r for r in ROLES if not r.startswith(("tail", "clavicle", "neck", "toe"))]) * SURE:
            break
    return best if best is not None else Roles({}, unsure=("No bones of a body were found.",))


def _worth(roles: Roles) -> float:
    return sum(roles.score.get(role, 0.0) for role in roles.bones)


def candidate_bones(
    skeleton: Skeleton, names: Sequence[Name], deform: Sequence[bool] | NDArray[np.bool_] | None
) -> list[NDArray[np.bool_]]:
    """Which bones may carry the body, from the strictest guess to all of them."""
    plain = np.array([not (name.control or name.riding) for name in names])
    marked = np.array([name.startswith("DEF-") for name in skeleton.names])
    guesses = []
    if (marked & plain).sum() >= FEWEST_DEFORMING:
        guesses.append(marked & plain)
    if deform is not None and (np.asarray(deform) & plain).sum() >= FEWEST_DEFORMING:
        guesses.append(np.asarray(deform) & plain)
    guesses += [plain, np.ones(len(names), dtype=bool)]
    unique: list[NDArray[np.bool_]] = []
    for guess in guesses:
        if guess.sum() >= 1 and not any(np.array_equal(guess, other) for other in unique):
            unique.append(guess)
    return unique


def _roles_of_bones(skeleton: Skeleton, names: Sequence[Name], keep: NDArray[np.bool_]) -> Roles:
    body = make_body(skeleton, keep)
    if len(body.kept) < 4:
        return Roles({}, unsure=("Too few bones for a body.",))
    plane, asymmetry = mirror_plane(body)
    stems = [(name.stem, name.side) for name in names]
    pairs = limb_pairs(body, plane, stems)
    legs, arms, four_legged = choose_limbs(body, names, pairs)
    if legs is None:
        return Roles({}, unsure=("No pair of legs was found.",))
    return _assemble(body, names, plane, asymmetry, legs, arms, four_legged)


def choose_limbs(body: Body, names: Sequence[Name], pairs: Sequence[Pair]) -> tuple[Pair | None, Pair | None, bool]:
    """Return the legs (of a quadruped, the hind ones), the arms (its front legs), and whether it stands on four."""
    head = body.skeleton.head
    floor = body.floor
    height = max(float(head[list(body.kept), 2].max()) - floor, 1e-9)
    longest = max((body.reach[pair.first[0]] for pair in pairs), default=1.0)

    def votes(pair: Pair, parts: Sequence[str]) -> float:
        scores = [max(names[b].score(part) for part in parts) for chain in pair.both for b in chain]
        return float(np.clip(sum(scores) / 4.0, -1.0, 1.0))

    def tip_height(pair: Pair) -> float:
        return (float(min(head[list(chain), 2].min() for chain in pair.both)) - floor) / height

    def size(pair: Pair) -> float:
        return body.reach[pair.first[0]] / longest

    legs_of = {
        pair: 2.0 * (1.0 - min(tip_height(pair) / 0.3, 1.0)) + size(pair) + 0.8 * votes(pair, LEG_ROLES)
        for pair in pairs
        if len(pair.first) >= 2
    }
    standing = [pair for pair in legs_of if tip_height(pair) < 0.15 and size(pair) > 0.35]
    if len(standing) >= 2:
        split = _front_and_hind(body, names, standing)
        if split is not None:
            return (*split, True)
    legs = max(legs_of, key=legs_of.__getitem__, default=None)
    if legs is None or legs_of[legs] < 1.2:
        return None, None, False

    def arm_score(pair: Pair) -> float:
        root = float(np.mean([head[chain[0], 2] for chain in pair.both]) - floor) / height
        hips = float(np.mean([head[chain[0], 2] for chain in legs.both]) - floor) / height
        return size(pair) + 0.8 * votes(pair, ARM_ROLES) + min(max((root - hips) / 0.3, -1.0), 1.0)

    inside = set(legs.first) | set(legs.second)
    others = [pair for pair in pairs if pair is not legs and pair.parent not in inside and not inside & set(pair.first)]
    limbs = [pair for pair in others if size(pair) > 0.3 and len(pair.first) >= 2 and arm_score(pair) > 0.8]
    return legs, max(limbs, key=arm_score, default=None), False


def _front_and_hind(body: Body, names: Sequence[Name], standing: Sequence[Pair]) -> tuple[Pair, Pair] | None:
    """The hind and the front pair of four legs, or None where the figure stands on two."""
    head = body.skeleton.head
    standing = sorted(standing, key=lambda pair: -body.reach[pair.first[0]])[:2]
    roots = [np.mean([head[chain[0]] for chain in pair.both], axis=0) for pair in standing]
    apart = roots[1] - roots[0]
    level = float(np.linalg.norm(apart[:2]))
    if level < 0.3 * body.reach[standing[0].first[0]] or abs(apart[2]) > 1.2 * level:
        return None
    along = np.array([*apart[:2], 0.0]) / level  # from the first pair to the second
    ahead = 0.0  # how far the second is the front one
    for pair in standing:
        for chain in pair.both:
            joints = head[list(chain)]
            length = max(float(np.linalg.norm(joints[-1] - joints[0])), 1e-9)
            ahead += 0.3 * float(np.clip((joints[-1] - joints[-2]) @ along / (0.1 * length), -1.0, 1.0))
    for sign, pair in ((-1.0, standing[0]), (1.0, standing[1])):
        own = [names[b] for chain in pair.both for b in chain]
        front = sum(n.front for n in own) + sum(max(n.score(r) for r in ARM_ROLES) > 0.5 for n in own)
        hind = sum(n.hind for n in own) + sum(max(n.score(r) for r in ("thigh", "shin")) > 0.4 for n in own)
        ahead += sign * float(np.clip((front - hind) / 2.0, -1.0, 1.0)) * 1.5
    # The head stands higher than the tail hangs.
    limbs = {b for pair in standing for chain in pair.both for b in chain}
    middle = [b for b in body.kept if b not in limbs and not names[b].parts.get("tail")]
    reach_ahead = [(float((head[b] - roots[1]) @ along), float(head[b, 2])) for b in middle]
    reach_behind = [(float((roots[0] - head[b]) @ along), float(head[b, 2])) for b in middle]
    top_ahead = max((z for d, z in reach_ahead if d > 0), default=-np.inf)
    top_behind = max((z for d, z in reach_behind if d > 0), default=-np.inf)
    if top_ahead != top_behind:
        ahead += 1.0 if top_ahead > top_behind else -1.0
    for bone in body.kept:
        for part, sign in (("head", 1.0), ("tail", -1.0)):
            if names[bone].parts.get(part, 0.0) >= 1.0:
                nearer = float((head[bone] - 0.5 * (roots[0] + roots[1])) @ along)
                ahead += 1.5 * sign * float(np.sign(nearer)) / max(sum(part in names[b].parts for b in body.kept), 1)
    return (standing[0], standing[1]) if ahead >= 0.0 else (standing[1], standing[0])


def _assemble(
    body: Body,
    names: Sequence[Name],
    plane: Plane,
    asymmetry: float,
    legs: Pair,
    arms: Pair | None,
    four_legged: bool,
) -> Roles:
    skeleton = body.skeleton
    bones: dict[str, tuple[str, ...]] = {}
    score: dict[str, float] = {}
    unsure: list[str] = []
    floor = min(body.floor, float(min(skeleton.head[list(c), 2].min() for c in legs.both)))

    cuts: list[tuple[tuple[str, ...], tuple[int, ...], Cut]] = []
    for chain in legs.both:
        limb = Limb(body, plane, chain[:10], floor)
        shape = hind_leg_shape if four_legged else leg_shape
        cuts.append((LEG_ROLES, chain, best_cut(LEG_ROLES, (True, True, False, False), limb, names, shape)))
    if arms is not None:
        for chain in arms.both:
            limb = Limb(body, plane, chain[:10], floor)
            shape = front_leg_shape if four_legged else arm_shape
            cuts.append((ARM_ROLES, chain, best_cut(ARM_ROLES, (False, True, True, False), limb, names, shape)))

    left_sign, sentences = _which_is_left(body, names, plane, legs, arms, cuts[:2])
    unsure += sentences
    sides = (LEFT, RIGHT) if left_sign > 0 else (RIGHT, LEFT)
    for index, (parts, chain, cut) in enumerate(cuts):
        side = sides[index % 2]
        present = [s for s in cut.starts if s != ABSENT]
        for part, start, said in zip(parts, cut.starts, cut.names, strict=True):
            if start == ABSENT:
                continue
            last = start == present[-1]
            end = start + 1 if last else min(s for s in present if s > start)
            role = f"{part}.{side}"
            bones[role] = tuple(skeleton.names[b] for b in chain[start:end])
            score[role] = _sureness(said, cut.shape)

    _label_middle(body, names, legs, arms, four_legged, bones, score)
    if asymmetry > 0.35:
        unsure.append("The rest pose is not symmetrical; left and right were paired by lengths.")
    for role, value in score.items():
        if value < SURE:
            unsure.append(f"{role} may not be '{bones[role][0]}'.")
    for role in _expected(four_legged, arms is not None):
        if role not in bones:
            unsure.append(f"No bone was found for {role}.")
    left = left_sign * plane.normal
    return Roles(
        {role: bones[role] for role in ROLES if role in bones},
        score,
        tuple(unsure),
        QUADRUPED if four_legged else BIPED,
        (float(left[0]), float(left[1]), float(left[2])),
    )


def _expected(four_legged: bool, has_arms: bool) -> list[str]:
    roles = ["pelvis", "head"]
    for side in (LEFT, RIGHT):
        roles += [f"thigh.{side}", f"shin.{side}", f"foot.{side}"]
        if has_arms or not four_legged:
            roles += [f"upper_arm.{side}", f"forearm.{side}", f"hand.{side}"]
    return roles


def _sureness(said: float, shape: float) -> float:
    """From 0 to 1: names and shape agree 1, one is silent or odd about 0.7, names against it less than a half."""
    return float(np.clip(0.5 + 0.4 * said + 0.4 * np.exp(shape / 4.0) - 0.2, 0.0, 1.0))


def _which_is_left(
    body: Body,
    names: Sequence[Name],
    plane: Plane,
    legs: Pair,
    arms: Pair | None,
    cuts: Sequence[tuple[tuple[str, ...], tuple[int, ...], Cut]],
) -> tuple[float, list[str]]:
    """1 where the plane's positive side is the figure's left, else -1; with what should be looked at.

    Left is up x forward. Forward is where the toes point; the knees, which bend forward, weigh less.
    """
    skeleton = body.skeleton
    forward_axis = np.cross(plane.normal, UP)  # facing this way, the positive side is the left: up x forward = normal
    feet = knees = 0.0
    for _, chain, cut in cuts:
        thigh, shin, foot, toe = cut.starts
        joints = np.concatenate([skeleton.head[list(chain)], skeleton.tail[chain[-1]][None]])
        length = float(np.linalg.norm(joints[shin] - joints[thigh])) if ABSENT not in (thigh, shin) else 1.0
        if foot != ABSENT:
            # The heel and the drawn tail of a last bone can mislead: joints first.
            ahead = joints[toe] - joints[foot] if toe != ABSENT else 0.5 * (joints[foot + 1] - joints[foot])
            feet += float(np.clip(ahead @ forward_axis / (0.1 * length), -1.0, 1.0)) / 2.0
            middle = 0.5 * (joints[thigh] + joints[foot])
            knees += float(np.clip((joints[shin] - middle) @ forward_axis / (0.1 * length), -1.0, 1.0)) / 2.0
    said = 0.0
    for pair in (legs, arms):
        if pair is not None:
            for sign, chain in ((1.0, pair.first), (-1.0, pair.second)):
                said += sum(sign * {LEFT: 1.0, RIGHT: -1.0}.get(names[b].side, 0.0) for b in chain)
    said = float(np.clip(said / 4.0, -1.0, 1.0))
    shape = 2.0 * feet + 0.3 * knees
    total = shape + 0.7 * said
    notes = []
    if abs(total) < 0.1:
        notes.append("Which way the figure faces is not clear: taken to be -Y, Blender's front.")
        return (1.0 if forward_axis[1] < 0.0 else -1.0), notes
    if said * total < 0.0 and abs(said) > 0.3:
        notes.append("Bones named left stand on the figure's right: sides were taken from its feet.")
    return (1.0 if total > 0.0 else -1.0), notes


def _label_middle(
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
        shoulders = max(free, key=lambda b: float(skeleton.head[b, 2]), default=hips)
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

    put("pelvis", pelvis, _sureness(max(names[b].score("pelvis") for b in pelvis), 0.0))
    if torso:
        put("chest", torso[-1:], _sureness(max(names[torso[-1]].score("chest"), 0.0), 0.0))
        put("spine", torso[:-1], _sureness(float(np.mean([names[b].score("spine") for b in torso[:-1] or torso])), 0.0))
    if upper:
        head_place, head_shape = _head_place(body, names, upper, _skull_height(skeleton, bones, four_legged))
        said = max((names[b].score("neck") for b in upper[:head_place]), default=0.0)
        put("neck", upper[:head_place], _sureness(said, 0.0))
        put("head", upper[head_place : head_place + 1], _sureness(names[upper[head_place]].score("head"), head_shape))
    taken = limb_bones | set(pelvis) | set(chain)
    above = [body.parent[pelvis[0]]] if body.parent[pelvis[0]] >= 0 else []
    tail = _tail(body, names, [*pelvis, *above], taken, four_legged)
    if tail and body.parent[tail[0]] in above:
        # What carries both the tail and the hips belongs to the hips.
        put("pelvis", [*above, *pelvis], score["pelvis"])
    put("tail", tail, _sureness(max((names[b].score("tail") for b in tail), default=0.0), 0.0))


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
        value = shape + 3.0 * names[bone].score("head") + 0.8 * face - 0.8 * later_face
        value -= 1.5 * max((names[b].score("head") for b in upper[:place]), default=0.0)
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


def roles_of_humanoid(skeleton: Skeleton, humanoid: Mapping[str, str]) -> Roles:
    """Roles from VRM's names for bones: hips, spine, chest, upperChest, leftUpperArm and so on."""
    known = set(skeleton.names)
    words = {word[:1].lower() + word[1:]: bone for word, bone in humanoid.items() if bone in known}
    torso = [words[word] for word in ("spine", "chest", "upperChest") if word in words]
    bones: dict[str, tuple[str, ...]] = {}
    for role in ("hips", "neck", "head"):
        if role in words:
            bones["pelvis" if role == "hips" else role] = (words[role],)
    if torso:
        bones["chest"] = (torso[-1],)
        if torso[:-1]:
            bones["spine"] = tuple(torso[:-1])
    parts = ("Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes")
    for side, word in ((LEFT, "left"), (RIGHT, "right")):
        for role, part in zip((*ARM_ROLES, *LEG_ROLES), parts, strict=True):
            if word + part in words:
                bones[f"{role}.{side}"] = (words[word + part],)
    ordered = {role: bones[role] for role in ROLES if role in bones}
    return Roles(ordered, dict.fromkeys(ordered, 1.0))


def facing(left: Array) -> Array:
    """The direction a figure faces whose left is `left`: left x up."""
    forward: Array = np.cross(left, UP)
    return forward
