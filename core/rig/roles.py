# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are the thigh, the spine, the head: from what they are called and from how the skeleton is built.

Names come first: bones that are called parts of a leg, on the left and on the right, are the legs, whatever the rest
pose looks like, and left is what is called so. Shape decides what names leave open: two limbs that mirror each other
and stand on the floor are legs, a pair further up the trunk is arms (or front legs, where it stands on the floor too);
proportions cut a limb where its names allow more than one way; left is where the toes say it is. Where shape
contradicts the names the user is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..motion import quaternions
from ..motion.clip import Clip, Skeleton, turned_skeleton
from ..motion.rest_pose import poses_of
from .by_name import ends_elsewhere, named_pair, tells_parts
from .chains import (
    ABSENT,
    HINT,
    WORD,
    Cut,
    Limb,
    arm_shape,
    best_cut,
    front_leg_shape,
    hind_leg_shape,
    leg_shape,
)
from .limbs import choose_limbs, stands_on_four
from .middle import label_middle
from .names import LEFT, RIGHT, Name, read_names
from .role_names import ARM_ROLES, BIPED, LEG_ROLES, QUADRUPED, ROLES, SURE, Roles, sureness
from .shape import UP, Body, Pair, Plane, limb_pairs, make_body, mirror_plane

FEWEST_DEFORMING = 8
POSES = 9  # of the motion that are tried
UNCLEAR = "It is unclear which way the figure faces: -Y, Blender's front, is assumed."
ASKEW = "The rest pose is not symmetrical: left and right were paired by length."
DOUBT = 1.0  # of a role that is sure, by which a shape of which that is to be said is worth less
STILL = 1e-4  # rad, or of the skeleton's size
AROUND = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0))
STOOD_UP = tuple(quaternions.exp(0.5 * np.pi * np.array(axis)) for axis in AROUND)


def detect_roles(
    skeleton: Skeleton,
    deform: Sequence[bool] | NDArray[np.bool_] | None = None,
    humanoid: Mapping[str, str] | None = None,
    clip: Clip | None = None,
) -> Roles:
    """Find the roles of a skeleton.

    `deform` says which bones move a mesh, where that is known; `humanoid` is a VRM file's own mapping from its words
    for bones to names, which is taken at its word. Where the rest pose, which may be none, leaves roles open, poses out
    of the `clip` are tried as well, and the figure stood up from either side.
    """
    if humanoid:
        return roles_of_humanoid(skeleton, humanoid)
    best = _roles_at_rest(skeleton, deform)
    if clip is None:
        return best
    if _is_whole(best):
        return _without_still_roots(best, clip)
    shapes = [turned_skeleton(skeleton, turn) for turn in STOOD_UP] + poses_of(clip, POSES)
    for shape in shapes:
        found = _roles_at_rest(shape, deform)
        if _worth(found) > _worth(best) + 1e-9:
            best = found
    return _without_still_roots(best, clip)


def _without_still_roots(roles: Roles, clip: Clip) -> Roles:
    """The roles without bones at the head of the pelvis that stand still while what hangs from them moves."""
    pelvis = list(roles["pelvis"])

    def sways(name: str) -> float:
        bone = clip.skeleton.index(name)
        turn = quaternions.angle(clip.orientation[:, bone], clip.orientation[:1, bone]).max()
        size = float(np.linalg.norm(np.ptp(clip.skeleton.head, axis=0)))
        return float(turn) + float(np.linalg.norm(np.ptp(clip.position[:, bone], axis=0))) / max(size, 1e-9)

    while len(pelvis) > 1 and sways(pelvis[0]) < STILL < sways(pelvis[-1]):
        del pelvis[0]
    if len(pelvis) == len(roles["pelvis"]):
        return roles
    return replace(roles, bones={**roles.bones, "pelvis": tuple(pelvis)})


def _is_whole(roles: Roles) -> bool:
    """Whether every role that a figure has at least was found, and none is doubtful."""
    wanted = _expected(roles.body == QUADRUPED, has_arms=True)
    return not _doubts(roles) and all(roles.score.get(role, 0.0) >= SURE for role in wanted)


def _roles_at_rest(skeleton: Skeleton, deform: Sequence[bool] | NDArray[np.bool_] | None) -> Roles:
    names = read_names(skeleton.names)
    best: Roles | None = None
    for keep in _candidate_bones(skeleton, names, deform):
        found = _roles_of_bones(skeleton, names, keep)
        if best is None or _worth(found) > _worth(best) + 1e-9:
            best = found
        if _worth(best) > 0.9 * len([r for r in ROLES if not r.startswith(("tail", "clavicle", "neck", "toe"))]) * SURE:
            break
    return best if best is not None else Roles({}, unsure=("No bones of a body were found.",))


def _worth(roles: Roles) -> float:
    return sum(roles.score.get(role, 0.0) for role in roles.bones) - DOUBT * _doubts(roles)


def _doubts(roles: Roles) -> int:
    return sum(line in {UNCLEAR, ASKEW} for line in roles.unsure)


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
    hang = ends_elsewhere(body, names)
    if hang:
        body = make_body(skeleton, keep, hang)
    plane, asymmetry = mirror_plane(body)
    stems = [(name.stem, name.side) for name in names]
    pairs = limb_pairs(body, plane, stems)
    legs, arms, four_legged = choose_limbs(body, names, pairs)
    named_legs, named_arms = named_pair(body, names, LEG_ROLES), named_pair(body, names, ARM_ROLES)
    if named_legs is not None and named_arms is not None and set(named_legs.first) & set(named_arms.first):
        named_legs = named_arms = None
    if named_legs is None and legs is None:
        return Roles({}, unsure=("No pair of legs was found.",))
    sentences = []
    found = [_believed(*each) for each in ((named_legs, legs, named_arms), (named_arms, arms, named_legs))]
    for (pair, named), shaped, what in zip(found, (legs, arms), ("legs", "arms"), strict=True):
        if named and pair is not None and shaped is not None and not _same_limbs(pair, shaped):
            sentences.append(f"The shape suggests other {what}, but the bones' names decided: check them.")
    (chosen_legs, legs_named), (chosen_arms, arms_named) = found
    if chosen_legs is None:
        return Roles({}, unsure=("No pair of legs was found.",))
    if named_legs is not None and named_arms is not None:
        four_legged = chosen_arms is not None and stands_on_four(body, chosen_legs, chosen_arms)
    said = _Said(legs_named, arms_named, tuple(sentences))
    return _assemble(body, names, plane, asymmetry, chosen_legs, chosen_arms, four_legged, said)


class _Said(NamedTuple):
    """What of the limbs names have found."""

    legs: bool
    arms: bool
    sentences: tuple[str, ...]


def _believed(named: Pair | None, shaped: Pair | None, other: Pair | None) -> tuple[Pair | None, bool]:
    """The pair by its names, else by its shape unless names say that it is another limb; and whether by names."""
    if named is not None:
        return named, True
    if shaped is not None and other is not None and _same_limbs(shaped, other):
        return None, False
    return shaped, False


def _same_limbs(a: Pair, b: Pair) -> bool:
    """Whether two pairs are the same two limbs, on whichever sides."""
    return {bool(set(x) & set(y)) for x in a.both for y in b.both} == {True, False}


def _assemble(
    body: Body,
    names: Sequence[Name],
    plane: Plane,
    asymmetry: float,
    legs: Pair,
    arms: Pair | None,
    four_legged: bool,
    by_names: _Said,
) -> Roles:
    skeleton = body.skeleton
    bones: dict[str, tuple[str, ...]] = {}
    score: dict[str, float] = {}
    unsure: list[str] = list(by_names.sentences)
    if by_names.legs or by_names.arms:
        plane = _towards_first(body, plane, legs if by_names.legs or arms is None else arms)
        legs = legs if by_names.legs else _sorted_by(body, plane, legs)
        arms = arms if by_names.arms or arms is None else _sorted_by(body, plane, arms)
    floor = min(body.floor, float(min(skeleton.head[list(c), 2].min() for c in legs.both)))

    cuts: list[tuple[tuple[str, ...], tuple[int, ...], Cut]] = []
    for chain in legs.both:
        limb = Limb(body, plane, chain[:10], floor)
        shape = hind_leg_shape if four_legged else leg_shape
        trust = WORD if by_names.legs and tells_parts(names, chain, LEG_ROLES) else HINT
        cuts.append((LEG_ROLES, chain, best_cut(LEG_ROLES, (True, True, False, False), limb, names, shape, trust)))
    if arms is not None:
        for chain in arms.both:
            limb = Limb(body, plane, chain[:10], floor)
            shape = front_leg_shape if four_legged else arm_shape
            trust = WORD if by_names.arms and tells_parts(names, chain, ARM_ROLES) else HINT
            cuts.append((ARM_ROLES, chain, best_cut(ARM_ROLES, (False, True, True, False), limb, names, shape, trust)))

    named = by_names.legs or by_names.arms
    left_sign, sentences = _which_is_left(body, names, plane, legs, arms, cuts[:2], named=named)
    unsure += sentences
    sides = (LEFT, RIGHT) if left_sign > 0 else (RIGHT, LEFT)
    for index, (parts, chain, cut) in enumerate(cuts):
        side = sides[index % 2]
        present = [s for s in cut.starts if s != ABSENT]
        told = (by_names.legs if parts is LEG_ROLES else by_names.arms) and tells_parts(names, chain, parts)
        for part, start, said in zip(parts, cut.starts, cut.names, strict=True):
            if start == ABSENT:
                continue
            last = start == present[-1]
            end = start + 1 if last else min(s for s in present if s > start)
            role = f"{part}.{side}"
            bones[role] = tuple(skeleton.names[b] for b in chain[start:end])
            score[role] = sureness(said, cut.shape)
            if told and said > 0.0:
                score[role] = max(score[role], SURE)

    label_middle(body, names, legs, arms, four_legged, bones, score)
    if asymmetry > 0.35 and not named:
        unsure.append(ASKEW)
    for role, value in score.items():
        if value < SURE:
            unsure.append(f"{role} may not be '{bones[role][0]}': check it.")
    for role in _expected(four_legged, has_arms=arms is not None):
        if role not in bones:
            unsure.append(f"No bone was found for {role}: choose one.")
    left = left_sign * plane.normal
    return Roles(
        {role: bones[role] for role in ROLES if role in bones},
        score,
        tuple(unsure),
        QUADRUPED if four_legged else BIPED,
        (float(left[0]), float(left[1]), float(left[2])),
        (*by_names.sentences, *sentences) if named else (),
    )


def _expected(four_legged: bool, *, has_arms: bool) -> list[str]:
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
    *,
    named: bool,
) -> tuple[float, list[str]]:
    """1 where the plane's positive side is the figure's left, else -1; with what should be looked at.

    Left is what is called left: where limbs are `named`, that is the plane's positive side. Without names it is
    up x forward; forward is where the toes point; the knees, which bend forward, weigh less.
    """
    skeleton = body.skeleton
    forward_axis = np.cross(plane.normal, UP)  # facing this way, the positive side is the left: up x forward = normal
    feet = knees = 0.0
    for _, chain, cut in cuts:
        thigh, shin, foot, toe = cut.starts
        joints = np.concatenate([skeleton.head[list(chain)], skeleton.tail[chain[-1]][None]])
        length = float(np.linalg.norm(joints[shin] - joints[thigh])) if ABSENT not in (thigh, shin) else 1.0
        if length < 1e-9:  # channels alone place the joints: at rest they tell nothing
            continue
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
    said = 1.0 if named else float(np.clip(said / 4.0, -1.0, 1.0))
    shape = 2.0 * feet + 0.3 * knees
    if abs(said) > 0.3:
        notes = []
        if shape * said < -0.5:
            notes.append("By its feet, bones named left are on the figure's right; their names decided: check them.")
        return float(np.sign(said)), notes
    if abs(shape + 0.7 * said) < 0.1:
        return (1.0 if forward_axis[1] < 0.0 else -1.0), [UNCLEAR]
    return float(np.sign(shape + 0.7 * said)), []


def _towards_first(body: Body, plane: Plane, pair: Pair) -> Plane:
    """The plane with the first of the pair on its positive side."""
    first, second = (np.mean([plane.side(body.skeleton.head[b]) for b in chain]) for chain in pair.both)
    return plane if first >= second else Plane(-plane.normal, -plane.offset)


def _sorted_by(body: Body, plane: Plane, pair: Pair) -> Pair:
    """The pair with that limb first which lies on the plane's positive side."""
    first, second = (np.mean([plane.side(body.skeleton.head[b]) for b in chain]) for chain in pair.both)
    return pair if first >= second else Pair(pair.second, pair.first, pair.parent)


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
