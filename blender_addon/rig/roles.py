# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are the thigh, the spine, the head: from what they are called and from how the skeleton is built.

The skeleton comes first: two limbs that mirror each other and stand on the floor are legs, a pair further up the trunk
is arms (or front legs, where it stands on the floor too). Names and proportions then cut each limb into its parts
together, so that a rig without names has its roles, and one with odd proportions as well. Left is where the toes say it
is; names are asked only when the feet say nothing.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.motion.clip import Skeleton
from .chains import (
    ABSENT,
    Cut,
    Limb,
    arm_shape,
    best_cut,
    front_leg_shape,
    hind_leg_shape,
    leg_shape,
)
from .limbs import choose_limbs
from .middle import label_middle
from .names import LEFT, RIGHT, Name, read_name
from .role_names import ARM_ROLES, BIPED, LEG_ROLES, QUADRUPED, ROLES, SURE, Roles, sureness
from .shape import UP, Body, Pair, Plane, limb_pairs, make_body, mirror_plane

FEWEST_DEFORMING = 8


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
    for keep in _candidate_bones(skeleton, names, deform):
        found = _roles_of_bones(skeleton, names, keep)
        if best is None or _worth(found) > _worth(best) + 1e-9:
            best = found
        if _worth(best) > 0.9 * len([r for r in ROLES if not r.startswith(("tail", "clavicle", "neck", "toe"))]) * SURE:
            break
    return best if best is not None else Roles({}, unsure=("No bones of a body were found.",))


def _worth(roles: Roles) -> float:
    return sum(roles.score.get(role, 0.0) for role in roles.bones)


def _candidate_bones(
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
            score[role] = sureness(said, cut.shape)

    label_middle(body, names, legs, arms, four_legged, bones, score)
    if asymmetry > 0.35:
        unsure.append("The rest pose is not symmetrical: left and right were paired by length.")
    for role, value in score.items():
        if value < SURE:
            unsure.append(f"{role} may not be '{bones[role][0]}': check it.")
    for role in _expected(four_legged, arms is not None):
        if role not in bones:
            unsure.append(f"No bone was found for {role}: choose one.")
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
        notes.append("It is unclear which way the figure faces: -Y, Blender's front, is assumed.")
        return (1.0 if forward_axis[1] < 0.0 else -1.0), notes
    if said * total < 0.0 and abs(said) > 0.3:
        notes.append("Bones named left are on the figure's right: its feet decided which side is which.")
    return (1.0 if total > 0.0 else -1.0), notes


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
